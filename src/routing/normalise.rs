//! The form in which the router looks at a filter: nested conjunctions flattened, small lists simplified, constants worked
//! out, members sorted. Negations are never moved inwards.

use std::cmp::Ordering;

use crate::model::{Node, Value};

use super::predicate::{Comparison, Condition, InList, Negation, Operator, Predicate};

/// Normalises a predicate, bottom up.
pub(super) fn normalise(mut predicate: Predicate) -> Predicate {
    for child in predicate.children_mut() {
        let inner = std::mem::replace(child, Predicate::everything(child.span));
        *child = normalise(inner);
    }
    let span = predicate.span;
    predicate.condition = match predicate.condition {
        Condition::And(members) => return conjunction(members, predicate.span),
        Condition::Or(branches) => return disjunction(branches, predicate.span),
        Condition::Nor(mut branches) => match branches.pop() {
            Some(only) if branches.is_empty() => Condition::Not(Negation::Nor, Box::new(only)),
            last => {
                branches.extend(last);
                branches.sort_by(order);
                Condition::Nor(branches)
            }
        },
        Condition::ElemMatchValue(path, mut members) => {
            members.sort_by(order);
            Condition::ElemMatchValue(path, members)
        }
        Condition::Field(path, Operator::In(list)) => Condition::Field(path, simplified_in(list)),
        other => other,
    };
    Predicate::new(predicate.condition, span)
}

fn conjunction(members: Vec<Predicate>, span: crate::text::Span) -> Predicate {
    let mut flat = Vec::with_capacity(members.len());
    for member in members {
        match member.condition {
            Condition::Always(true) => {}
            Condition::Always(false) => return Predicate::new(Condition::Always(false), span),
            Condition::And(nested) => flat.extend(nested),
            _ => flat.push(member),
        }
    }
    only_or(flat, span, Condition::And)
}

fn disjunction(branches: Vec<Predicate>, span: crate::text::Span) -> Predicate {
    let mut flat = Vec::with_capacity(branches.len());
    for branch in branches {
        match branch.condition {
            Condition::Always(false) => {}
            Condition::Always(true) => return Predicate::new(Condition::Always(true), span),
            Condition::Or(nested) => flat.extend(nested),
            _ => flat.push(branch),
        }
    }
    if flat.is_empty() {
        return Predicate::new(Condition::Always(false), span);
    }
    only_or(equalities_to_in(flat, span), span, Condition::Or)
}

/// The only member, or all of them sorted.
fn only_or(mut members: Vec<Predicate>, span: crate::text::Span, list: fn(Vec<Predicate>) -> Condition) -> Predicate {
    match members.pop() {
        Some(only) if members.is_empty() => only,
        last => {
            members.extend(last);
            members.sort_by(order);
            Predicate::new(list(members), span)
        }
    }
}

/// Branches that are equalities or regexes on the path of the first such branch become one `$in`. Not so an equality with
/// a regex, which in an `$in` would match as a regex.
fn equalities_to_in(branches: Vec<Predicate>, span: crate::text::Span) -> Vec<Predicate> {
    let path_of = |branch: &Predicate| match &branch.condition {
        Condition::Field(_, Operator::Compare(Comparison::Eq, Node { value: Value::Regex { .. }, .. })) => None,
        Condition::Field(path, Operator::Compare(Comparison::Eq, _) | Operator::Regex { pattern: Some(_), .. }) => {
            Some(path.clone())
        }
        _ => None,
    };
    let Some(path) = branches.iter().find_map(path_of) else { return branches };
    let is_alike = |branch: &Predicate| path_of(branch).as_ref() == Some(&path);
    if branches.iter().filter(|branch| is_alike(branch)).count() < 2 {
        return branches;
    }
    let (alike, mut rest): (Vec<_>, Vec<_>) = branches.into_iter().partition(is_alike);
    let members = alike.into_iter().filter_map(|branch| match branch.condition {
        Condition::Field(_, Operator::Compare(_, operand)) => Some(operand),
        Condition::Field(_, Operator::Regex { pattern, flags }) => pattern.map(|pattern| Node {
            value: Value::Regex { pattern: pattern.into(), options: flags.into() },
            span: branch.span,
        }),
        _ => None,
    });
    let list = InList::new(members.collect(), false);
    rest.push(Predicate::new(Condition::Field(path, Operator::In(list)), span));
    rest
}

/// Without duplicates; one value is an equality, one regex a regex.
fn simplified_in(list: InList) -> Operator {
    let list = list.sorted();
    let only = list.iter().next().filter(|_| list.len() == 1);
    match only.map(|only| (only, &only.value)) {
        Some((_, Value::Regex { pattern, options })) => {
            Operator::Regex { pattern: Some(pattern.to_string()), flags: options.to_string() }
        }
        Some((only, _)) => Operator::Compare(Comparison::Eq, only.clone()),
        None => Operator::In(list),
    }
}

/// The order in which members stand: by kind, then path, then their own members pairwise, then fewer members first.
fn order(left: &Predicate, right: &Predicate) -> Ordering {
    rank(left).cmp(&rank(right)).then_with(|| left.path().cmp(&right.path())).then_with(|| {
        let (a, b) = (left.children(), right.children());
        let unequal = a.iter().zip(b).map(|(a, b)| order(a, b)).find(|order| order.is_ne());
        unequal.unwrap_or_else(|| a.len().cmp(&b.len()))
    })
}

fn rank(predicate: &Predicate) -> u8 {
    match &predicate.condition {
        Condition::And(_) => 0,
        Condition::Or(_) => 1,
        Condition::ElemMatchObject(..) => 2,
        Condition::ElemMatchValue(..) => 3,
        Condition::Field(_, operator) => operator_rank(operator),
        Condition::Not(..) => 15,
        Condition::Nor(_) => 16,
        Condition::JsonSchema(_) | Condition::Text | Condition::Opaque(..) | Condition::Lost(_) => 19,
        Condition::Where => 20,
        Condition::SampleRate | Condition::Expr(_) => 21,
        Condition::Always(_) => 22,
    }
}

fn operator_rank(operator: &Operator) -> u8 {
    match operator {
        Operator::Size => 4,
        Operator::Compare(comparison, _) => match comparison {
            Comparison::Eq => 5,
            Comparison::Lte => 6,
            Comparison::Lt => 7,
            Comparison::Gt => 8,
            Comparison::Gte => 9,
        },
        Operator::Regex { .. } => 10,
        Operator::Mod => 11,
        Operator::Exists(_) => 12,
        Operator::In(_) => 13,
        Operator::Bits => 14,
        Operator::Type(_) => 17,
        Operator::Geo => 18,
        Operator::ExprCompare(comparison, _) => match comparison {
            Comparison::Eq => 23,
            Comparison::Gt => 24,
            Comparison::Gte => 25,
            Comparison::Lt => 26,
            Comparison::Lte => 27,
        },
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::syntax::ext_json;

    #[test]
    fn an_equality_with_a_regex_stays_a_branch_of_its_own() {
        let filter =
            r#"{"$or": [{"a": {"$eq": {"$regularExpression": {"pattern": "x", "options": ""}}}}, {"a": 5}, {"a": 6}]}"#;
        let predicate = normalise(Predicate::parse(&ext_json::parse(filter, 0).expect("extended JSON")));
        let Condition::Or(branches) = &predicate.condition else { panic!("{predicate:?}") };
        let [equality, list] = branches.as_slice() else { panic!("{branches:?}") };
        assert!(matches!(&equality.condition, Condition::Field(_, Operator::Compare(Comparison::Eq, _))));
        assert!(matches!(&list.condition, Condition::Field(_, Operator::In(list)) if list.len() == 2));
    }
}
