//! Which predicates bound the key: the first assignment in the query planner's order. Narrower ones are not looked for.
//!
//! At a conjunction the first usable `$or` decides alone, with the conjunction's own predicates pushed into its branches; an
//! `$or` is usable only if every branch is, and its bounds are the union per field.

use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::rc::Rc;

use crate::model::ShardKey;
use crate::text::Span;

use super::bounds::{BoundsBuilder, Unusable};
use super::intervals::{Interval, Intervals};
use super::predicate::{Condition, Predicate};

/// The bounds of each key field; `None` for a field that is free.
pub(super) type FieldBoundsList = Vec<Option<Intervals>>;

/// Chooses bounds for one filter, and remembers what stood in the way.
pub(super) struct Chooser<'a> {
    key: &'a ShardKey,
    builder: BoundsBuilder,
    /// Predicates on key fields that have no bounds: the field's position, where, and why.
    pub(super) rejected: Vec<(usize, Span, Unusable)>,
    /// The first `$or` with a usable branch and one without a predicate on the first key field: both spans.
    pub(super) failed_or: Option<(Span, Span)>,
}

/// A predicate that has bounds on a key field.
#[derive(Clone)]
struct Usable {
    field: usize,
    bounds: Rc<Intervals>,
}

/// An `$or` of a conjunction: the path it is below, and whether it stands inside an `$elemMatch`.
struct Alternative<'p> {
    or: &'p Predicate,
    branches: &'p [Predicate],
    prefix: String,
    /// The predicates that are pushed into its branches.
    scope: Rc<Vec<Usable>>,
}

impl<'a> Chooser<'a> {
    pub(super) fn new(key: &'a ShardKey, builder: BoundsBuilder) -> Self {
        Self { key, builder, rejected: Vec::new(), failed_or: None }
    }

    /// The bounds that a normalised filter puts on the key; `None` if no assignment is usable.
    pub(super) fn choose(&mut self, predicate: &Predicate) -> Option<FieldBoundsList> {
        if predicate.any(&|part| matches!(part.condition, Condition::Text)) {
            return None;
        }
        self.conjunction(predicate, "", &[])
    }

    /// The bounds of a conjunction (a lone predicate is a conjunction of one) below `prefix`, with predicates handed down.
    fn conjunction(&mut self, predicate: &Predicate, prefix: &str, handed: &[Usable]) -> Option<FieldBoundsList> {
        let mut own = Vec::new();
        let mut alternatives = Vec::new();
        self.collect(predicate, prefix, &mut own, &mut alternatives);
        let pushed = self.together(handed.iter().chain(&own).cloned().collect());
        for alternative in &alternatives {
            // What stands outside an `$elemMatch` is not pushed into it.
            let inside = alternative.prefix != prefix;
            let scope = if inside { &alternative.scope } else { &pushed };
            if let Some(bounds) = self.disjunction(alternative, scope) {
                return Some(bounds);
            }
        }
        let bounds_first = |usable: &Usable| usable.field == 0;
        (!own.is_empty() && pushed.iter().any(bounds_first)).then(|| {
            let mut bounds = vec![None; self.key.fields.len()];
            pushed.into_iter().for_each(|Usable { field, bounds: all }| bounds[field] = Some(all.as_ref().clone()));
            bounds
        })
    }

    /// One list of bounds for each field that has any: what all of its predicates leave.
    fn together(&self, predicates: Vec<Usable>) -> Vec<Usable> {
        let mut lists: Vec<Vec<Rc<Intervals>>> = vec![Vec::new(); self.key.fields.len()];
        predicates.into_iter().for_each(|usable| lists[usable.field].push(usable.bounds));
        let lists = lists.into_iter().enumerate();
        lists.filter_map(|(field, lists)| Some(Usable { field, bounds: common(lists)? })).collect()
    }

    fn disjunction(&mut self, alternative: &Alternative<'_>, handed: &[Usable]) -> Option<FieldBoundsList> {
        let mut union: Vec<Option<Vec<Interval>>> = vec![Some(Vec::new()); self.key.fields.len()];
        let mut any_usable = false;
        let mut unusable = None;
        for branch in alternative.branches {
            let Some(bounds) = self.conjunction(branch, &alternative.prefix, handed) else {
                unusable = unusable.or(Some(branch.span));
                continue;
            };
            any_usable = true;
            for (all, bounds) in union.iter_mut().zip(bounds) {
                match (all.as_mut(), bounds) {
                    (Some(all), Some(bounds)) => all.extend(bounds.into_intervals()),
                    _ => *all = None,
                }
            }
        }
        if let Some(branch) = unusable {
            if any_usable && self.failed_or.is_none() {
                self.failed_or = Some((alternative.or.span, branch));
            }
            return None;
        }
        Some(union.into_iter().map(|intervals| intervals.map(Intervals::union)).collect())
    }
}

/// What all lists have in common; `None` if there is no list. The two shortest come first, again and again: the shorter list
/// is what an intersection costs, and thousands of short ones grow together like the branches of a tree.
fn common(mut lists: Vec<Rc<Intervals>>) -> Option<Rc<Intervals>> {
    let length = |list: &Rc<Intervals>| Reverse(list.as_slice().len());
    let mut shortest: BinaryHeap<(Reverse<usize>, usize)> =
        lists.iter().enumerate().map(|(at, list)| (length(list), at)).collect();
    while let Some((_, first)) = shortest.pop() {
        let Some((_, second)) = shortest.pop() else { return Some(lists[first].clone()) };
        lists[first] = Rc::new(lists[first].intersection(&lists[second]));
        shortest.push((length(&lists[first]), first));
    }
    None
}

impl Chooser<'_> {
    /// The usable predicates of a conjunction and its `$or`s, both also from its `$elemMatch` objects.
    fn collect<'p>(
        &mut self,
        predicate: &'p Predicate,
        prefix: &str,
        own: &mut Vec<Usable>,
        alternatives: &mut Vec<Alternative<'p>>,
    ) {
        match &predicate.condition {
            Condition::And(members) => {
                members.iter().for_each(|member| self.collect(member, prefix, own, alternatives));
            }
            Condition::Or(branches) => alternatives.push(Alternative {
                or: predicate,
                branches,
                prefix: prefix.to_owned(),
                scope: Rc::default(),
            }),
            Condition::ElemMatchObject(path, inner) => {
                let prefix = join(prefix, path);
                let (mut inside, mut nested) = (Vec::new(), Vec::new());
                self.collect(inner, &prefix, &mut inside, &mut nested);
                let scope = Rc::new(inside.clone());
                let here = nested.into_iter().map(|alternative| {
                    let scope = if alternative.prefix == prefix { scope.clone() } else { alternative.scope };
                    Alternative { scope, ..alternative }
                });
                alternatives.extend(here.collect::<Vec<_>>());
                own.extend(inside);
            }
            _ => own.extend(self.usable(predicate, prefix)),
        }
    }

    /// The bounds of a predicate on a key field, if it has any.
    fn usable(&mut self, predicate: &Predicate, prefix: &str) -> Option<Usable> {
        let path = join(prefix, subject(predicate)?);
        let field = self.key.position(&path)?;
        match self.builder.bounds(predicate, self.key.fields[field].kind) {
            Ok(bounds) => Some(Usable { field, bounds: Rc::new(bounds) }),
            Err(why) => {
                self.rejected.push((field, predicate.span, why));
                None
            }
        }
    }
}

/// The field that a predicate without members of its own is about.
pub(super) fn subject(predicate: &Predicate) -> Option<&str> {
    match &predicate.condition {
        Condition::Field(path, _) | Condition::ElemMatchValue(path, _) => Some(path),
        Condition::Not(_, inner) => match &inner.condition {
            Condition::Field(path, _) | Condition::ElemMatchValue(path, _) => Some(path),
            _ => None,
        },
        _ => None,
    }
}

fn join<'p>(prefix: &str, path: &'p str) -> std::borrow::Cow<'p, str> {
    if prefix.is_empty() { path.into() } else { format!("{prefix}.{path}").into() }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::ServerVersion;
    use crate::routing::normalise::normalise;
    use crate::syntax::ext_json;

    /// How many intervals the filter leaves of the key `{ a: 1 }`.
    fn intervals(filter: &str) -> Option<usize> {
        let key = ShardKey::from_pattern(&ext_json::parse(r#"{"a":1}"#, 0).expect("JSON")).expect("a key");
        let builder = BoundsBuilder { collated: false, version: ServerVersion::NEWEST };
        let predicate = normalise(Predicate::parse(&ext_json::parse(filter, 0).expect("JSON")));
        let bounds = Chooser::new(&key, builder).choose(&predicate)?;
        bounds[0].as_ref().map(|bounds| bounds.as_slice().len())
    }

    #[test]
    fn thousands_of_predicates_on_the_key_and_thousands_of_branches_are_put_together_in_time() {
        const MANY: usize = 20_000;
        let list = |one: &dyn Fn(usize) -> String| (0..MANY).map(one).collect::<Vec<_>>().join(",");
        let unequal = list(&|n| format!(r#"{{"a":{{"$ne":{n}}}}}"#));
        assert_eq!(intervals(&format!(r#"{{"$and":[{unequal}]}}"#)), Some(MANY + 1));
        let branches = list(&|n| format!(r#"{{"a":{{"$gte":{n},"$lt":{}}}}}"#, n + 1));
        let together = format!(r#"{{"$and":[{unequal},{{"$or":[{branches}]}}]}}"#);
        assert_eq!(intervals(&together), Some(MANY), "each branch lacks its lower end");
        let ranges = list(&|n| format!(r#"{{"a":{{"$gt":{n}}}}}"#));
        assert_eq!(intervals(&format!(r#"{{"$and":[{ranges}]}}"#)), Some(1));
    }
}
