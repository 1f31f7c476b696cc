//! Which fields of an index could serve a statement, in the order equality, sort, range; and whether an index does.
//!
//! Reads conjunctions only: where a filter has an `$or`, a text search or something not understood, nothing is said.
//! Whether a server would choose the index is not foretold.

use std::fmt;

use crate::catalog::Collection;
use crate::model::{Document, IndexSpec, Node, ShardKey, Statement, Value, Verb};
use crate::routing::{Comparison, Condition, Operator, Predicate};

use super::fan_out::filter_of;

/// The fields that a statement compares and sorts by. No field is in two of the lists.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Access {
    /// Fields compared with one value or with a list of values, sorted.
    pub equality: Vec<String>,
    /// Fields sorted by, in order.
    pub sort: Vec<(String, Direction)>,
    /// Fields bounded by ranges, sorted.
    pub range: Vec<String>,
    /// All fields that are compared with something, sorted; some of them are sorted by as well.
    pub compared: Vec<String>,
    /// Some of them may be compared with strings, which a collation orders.
    pub has_strings: bool,
    /// The collation asked for, as [`collation_words`] writes it; `None` is that of the collection.
    pub collation: Option<String>,
}

/// The direction of a field in a sort or an index.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Direction {
    /// `1`.
    Up,
    /// `-1`.
    Down,
}

/// A key pattern of an index: fields with their direction.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct Pattern(pub Vec<(String, Direction)>);

impl Access {
    /// What `statement` compares and sorts by; `None` where that is not known, or where no index would help.
    #[must_use]
    pub fn of(statement: &Statement) -> Option<Self> {
        if statement.verb == Verb::Insert || statement.view_pipeline.is_some() || statement.options_partial {
            return None;
        }
        let mut access = Self::default();
        if let Some(filter) = filter_of(statement) {
            access.collect(&Predicate::parse(filter))?;
        }
        if let Some(sort) = sort_of(statement).and_then(Node::as_document) {
            access.sort = sorted_fields(sort)?;
        }
        access.collation = statement.collation.as_ref().map(collation_words);
        access.settle();
        let helps = !access.equality.is_empty() || !access.range.is_empty() || !access.sort.is_empty();
        helps.then_some(access)
    }

    /// The order that `statement` asks for, alone: what an index can serve where its filter is not understood. `None` for views.
    #[must_use]
    pub fn of_sort(statement: &Statement) -> Option<Self> {
        let sort = sorted_fields(sort_of(statement)?.as_document()?)?;
        (statement.view_pipeline.is_none() && !sort.is_empty()).then(|| Self { sort, ..Self::default() })
    }

    /// `None` if a part of the filter is not a conjunction of comparisons with fields.
    fn collect(&mut self, predicate: &Predicate) -> Option<()> {
        match &predicate.condition {
            Condition::And(members) => members.iter().try_for_each(|member| self.collect(member)),
            Condition::Field(path, operator) => {
                match operator {
                    Operator::Compare(comparison, node) => {
                        self.has_strings |= is_collated(node);
                        let is_equality = *comparison == Comparison::Eq;
                        if is_equality { &mut self.equality } else { &mut self.range }.push(path.clone());
                    }
                    Operator::In(list) => {
                        self.has_strings |= list.iter().any(is_collated);
                        self.equality.push(path.clone());
                    }
                    Operator::Regex { pattern: Some(pattern), flags }
                        if pattern.starts_with('^') && !flags.contains('i') =>
                    {
                        self.has_strings = true;
                        self.range.push(path.clone());
                    }
                    Operator::Geo => return None,
                    _ => {}
                }
                Some(())
            }
            Condition::Or(_) | Condition::Text | Condition::Opaque(..) | Condition::Lost(_) => None,
            _ => Some(()),
        }
    }

    /// An equality makes the field's place in a sort or a range meaningless, and a sorted field need not be told again.
    fn settle(&mut self) {
        self.compared = self.equality.iter().chain(&self.range).cloned().collect();
        self.compared.sort();
        self.compared.dedup();
        self.equality.sort();
        self.equality.dedup();
        self.sort.retain(|(path, _)| !self.equality.contains(path));
        let is_placed =
            |path: &String| self.equality.contains(path) || self.sort.iter().any(|(sorted, _)| sorted == path);
        self.range.retain(|path| !is_placed(path));
        self.range.sort();
        self.range.dedup();
    }

    /// The index in the order equality, sort, range. Equalities on fields of the shard key come first, in its order, so that
    /// one index may serve both.
    #[must_use]
    pub fn index(&self, key: Option<&ShardKey>) -> Pattern {
        let of_key = |path: &String| key.and_then(|key| key.position(path)).unwrap_or(usize::MAX);
        let mut equality = self.equality.clone();
        equality.sort_by_key(&of_key);
        let up = |path: String| (path, Direction::Up);
        let fields = equality.into_iter().map(up).chain(self.sort.iter().cloned());
        Pattern(fields.chain(self.range.iter().cloned().map(up)).collect())
    }

    /// Whether an index of that pattern finds the documents by one of the compared fields, and yields them in the order asked
    /// for.
    #[must_use]
    pub fn is_served_by(&self, pattern: &Pattern) -> bool {
        let fields = &pattern.0;
        let bound = fields.iter().take_while(|(path, _)| self.equality.contains(path)).count();
        let streams = follows(&fields[bound..], &self.sort, false) || follows(&fields[bound..], &self.sort, true);
        let finds = match (self.equality.is_empty(), fields.first()) {
            (false, _) => bound > 0,
            (true, Some((first, _))) => self.range.is_empty() || self.range.contains(first) || !self.sort.is_empty(),
            (true, None) => false,
        };
        finds && streams
    }
}

/// Whether fields of an index begin with those of a sort, all in its direction or all against it.
fn follows(fields: &[(String, Direction)], sort: &[(String, Direction)], reversed: bool) -> bool {
    fields.len() >= sort.len()
        && fields.iter().zip(sort).all(|(field, sorted)| field.0 == sorted.0 && (field.1 == sorted.1) != reversed)
}

/// Whether a collation may have a say in comparisons with a value.
fn is_collated(node: &Node) -> bool {
    matches!(node.value, Value::String(_) | Value::Document(_) | Value::Array(_) | Value::Symbol(_))
}

/// A collation as the shell would write it, what goes without saying left out: `{ locale: "en", strength: 2 }`. Two that order
/// alike have the same words.
#[must_use]
pub fn collation_words(collation: &Node) -> String {
    const DEFAULTS: [(&str, &str); 8] = [
        ("strength", "3"),
        ("caseLevel", "false"),
        ("caseFirst", "\"off\""),
        ("numericOrdering", "false"),
        ("alternate", "\"non-ignorable\""),
        ("maxVariable", "\"punct\""),
        ("normalization", "false"),
        ("backwards", "false"),
    ];
    let fields = collation.as_document().map(|document| document.fields.as_slice()).unwrap_or_default();
    let word = |node: &Node| match (&node.value, node.as_i64()) {
        (Value::String(text), _) => format!("\"{text}\""),
        (Value::Bool(truth), _) => truth.to_string(),
        (_, number) => number.map_or_else(|| "…".to_owned(), |number| number.to_string()),
    };
    let value = |name: &str| fields.iter().find(|field| field.name == name).map(|field| word(&field.node));
    let locale = value("locale").unwrap_or_else(|| "\"simple\"".to_owned());
    let others = DEFAULTS.iter().filter_map(|(name, default)| {
        value(name).filter(|value| value != default).map(|value| format!(", {name}: {value}"))
    });
    format!("{{ locale: {locale}{} }}", others.collect::<String>())
}

/// The sort of a find, or the `$sort` behind the leading `$match` of a pipeline.
pub(super) fn sort_of(statement: &Statement) -> Option<&Node> {
    match statement.verb {
        Verb::Find | Verb::FindAndModify => statement.sort.as_ref(),
        Verb::Aggregate => {
            let stages = statement.pipeline.as_ref()?.as_array()?.items.iter().filter_map(Node::as_document);
            stages.skip_while(|stage| stage.get("$match").is_some()).map(|stage| stage.get("$sort")).next()?
        }
        _ => None,
    }
}

/// Whether a sort orders by fields: not by insertion (`$natural`), not by a computed score (`$meta`).
pub(super) fn is_by_fields(sort: &Document) -> bool {
    !sort.is_empty() && sort.fields.iter().all(|field| field.name != "$natural" && field.node.as_i64().is_some())
}

fn sorted_fields(sort: &Document) -> Option<Vec<(String, Direction)>> {
    if sort.is_empty() {
        return Some(Vec::new());
    }
    let direction = |node: &Node| if node.as_i64() < Some(0) { Direction::Down } else { Direction::Up };
    is_by_fields(sort).then(|| sort.fields.iter().map(|field| (field.name.clone(), direction(&field.node))).collect())
}

impl Pattern {
    /// The pattern of an index that every query can use: plain fields, not sparse, partial, hidden or collated.
    #[must_use]
    pub fn of_usable(collection: &Collection, index: &IndexSpec) -> Option<Self> {
        let is_restricted = index.sparse.is_some() || index.hidden.is_some() || index.partial_filter.is_some();
        if is_restricted || collection.index_collation(index).is_some() {
            return None;
        }
        let field = |field: &crate::model::Field| match field.node.as_i64() {
            Some(number) if number > 0 => Some((field.name.clone(), Direction::Up)),
            Some(number) if number < 0 => Some((field.name.clone(), Direction::Down)),
            _ => None,
        };
        index.key.fields.iter().map(field).collect::<Option<Vec<_>>>().map(Self)
    }

    /// All such patterns of a collection; `_id` always has one.
    #[must_use]
    pub fn all_of(collection: &Collection) -> Vec<Self> {
        let by_id = Self(vec![("_id".to_owned(), Direction::Up)]);
        let indexes = collection.indexes.specs.iter();
        let known = indexes.filter_map(|(_, index)| Self::of_usable(collection, index));
        known.chain(std::iter::once(by_id)).collect()
    }
}

impl fmt::Display for Pattern {
    /// As the shell prints it: `{ customerId: 1, createdAt: -1 }`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("{ ")?;
        for (i, (path, direction)) in self.0.iter().enumerate() {
            let comma = if i == 0 { "" } else { ", " };
            let quote = if path.chars().all(|c| c.is_alphanumeric() || c == '_') { "" } else { "\"" };
            let number = if *direction == Direction::Up { "1" } else { "-1" };
            write!(f, "{comma}{quote}{path}{quote}: {number}")?;
        }
        f.write_str(" }")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn pattern(fields: &[(&str, Direction)]) -> Pattern {
        Pattern(fields.iter().map(|(path, direction)| ((*path).to_owned(), *direction)).collect())
    }

    fn access(equality: &[&str], sort: &[(&str, Direction)], range: &[&str]) -> Access {
        let names = |list: &[&str]| list.iter().map(|name| (*name).to_owned()).collect();
        Access { equality: names(equality), sort: pattern(sort).0, range: names(range), ..Access::default() }
    }
    use Direction::{Down, Up};

    #[test]
    fn an_index_in_the_order_equality_sort_range_serves() {
        let wanted = access(&["status"], &[("at", Down)], &["total"]);
        assert_eq!(wanted.index(None).to_string(), "{ status: 1, at: -1, total: 1 }");
        assert!(wanted.is_served_by(&wanted.index(None)));
        assert!(wanted.is_served_by(&pattern(&[("status", Up), ("at", Up)])), "an index is read backwards too");
        assert!(!wanted.is_served_by(&pattern(&[("status", Up), ("total", Up), ("at", Down)])));
        assert!(!wanted.is_served_by(&pattern(&[("at", Down)])), "it does not find by status");
    }

    #[test]
    fn two_directions_are_kept_or_both_reversed() {
        let wanted = access(&[], &[("a", Up), ("b", Down)], &[]);
        assert!(wanted.is_served_by(&pattern(&[("a", Down), ("b", Up)])));
        assert!(!wanted.is_served_by(&pattern(&[("a", Up), ("b", Up)])));
    }

    #[test]
    fn a_range_alone_needs_its_field_in_front() {
        let wanted = access(&[], &[], &["total"]);
        assert!(wanted.is_served_by(&pattern(&[("total", Down), ("x", Up)])));
        assert!(!wanted.is_served_by(&pattern(&[("x", Up), ("total", Up)])));
    }
}
