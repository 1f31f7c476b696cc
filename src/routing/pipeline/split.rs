//! Takes a `$match` apart: what does not depend on the paths that a stage touches, what does, and what may be copied to the
//! front of a `$redact`.

use std::collections::BTreeSet;

use crate::model::{Node, Value};
use crate::text::Span;

use super::super::expression::ExpressionKind;
use super::super::predicate::{Condition, Operator, Predicate};
use super::changes::overlap;

/// All paths whose values decide.
pub(super) fn dependencies<'p>(predicates: impl IntoIterator<Item = &'p Predicate>) -> BTreeSet<String> {
    let mut paths = BTreeSet::new();
    for predicate in predicates {
        predicate.visit_paths(&mut |path| {
            paths.insert(path.to_owned());
        });
    }
    paths
}

/// The part of a predicate that does not depend on the `touched` paths, and the rest. An AND is split member by member, a
/// `$nor` branch by branch.
pub(super) fn split(predicate: Predicate, touched: &BTreeSet<String>) -> (Option<Predicate>, Option<Predicate>) {
    if is_independent(&predicate, touched) {
        return (Some(predicate), None);
    }
    let span = predicate.span;
    match predicate.condition {
        Condition::And(members) => {
            let (mut front, mut rest) = (Vec::new(), Vec::new());
            for member in members {
                let (before, behind) = split(member, touched);
                front.extend(before);
                rest.extend(behind);
            }
            (all_of(front, span), all_of(rest, span))
        }
        Condition::Nor(branches) => {
            let (front, rest) = branches.into_iter().partition(|branch| is_independent(branch, touched));
            (none_of(front, span), none_of(rest, span))
        }
        condition => (None, Some(Predicate::new(condition, span))),
    }
}

fn all_of(mut members: Vec<Predicate>, span: Span) -> Option<Predicate> {
    match members.len() {
        0 | 1 => members.pop(),
        _ => Some(Predicate::new(Condition::And(members), span)),
    }
}

fn none_of(branches: Vec<Predicate>, span: Span) -> Option<Predicate> {
    (!branches.is_empty()).then(|| Predicate::new(Condition::Nor(branches), span))
}

fn is_independent(predicate: &Predicate, touched: &BTreeSet<String>) -> bool {
    if predicate.any(&stays) {
        return false;
    }
    let mut independent = true;
    predicate.visit_paths(&mut |path| independent &= !touched.iter().any(|touched| overlap(path, touched)));
    independent
}

/// Whether a predicate of this kind never moves, not even past a stage that changes nothing.
fn stays(predicate: &Predicate) -> bool {
    match &predicate.condition {
        Condition::Field(_, Operator::Size)
        | Condition::ElemMatchObject(..)
        | Condition::ElemMatchValue(..)
        | Condition::Always(_)
        | Condition::Where
        | Condition::Text
        | Condition::JsonSchema(_)
        | Condition::SampleRate => true,
        Condition::Expr(expression) => expression.any(&|inner| match &inner.kind {
            ExpressionKind::Operator(name, _) => name == "$rand",
            ExpressionKind::Path(path) => path.is_empty(),
            _ => false,
        }),
        _ => false,
    }
}

/// The part of a predicate that gives the same answer before fields are redacted. What is hidden or not understood is
/// copied as such: it could be safe.
pub(super) fn redact_safe(predicate: &Predicate) -> Option<Predicate> {
    if predicate.path().is_some_and(has_array_index) {
        return None;
    }
    let condition = match &predicate.condition {
        Condition::And(members) => Condition::And(some_safe(members)?),
        Condition::Or(branches) => Condition::Or(branches.iter().map(redact_safe).collect::<Option<Vec<_>>>()?),
        Condition::ElemMatchObject(path, inner) => {
            Condition::ElemMatchObject(path.clone(), Box::new(redact_safe(inner)?))
        }
        Condition::ElemMatchValue(path, members) => Condition::ElemMatchValue(path.clone(), some_safe(members)?),
        Condition::Field(path, operator) => safe_operator(path, operator)?,
        Condition::Opaque(..) | Condition::Lost(_) => predicate.condition.clone(),
        _ => return None,
    };
    Some(Predicate::new(condition, predicate.span))
}

fn some_safe(members: &[Predicate]) -> Option<Vec<Predicate>> {
    let safe: Vec<Predicate> = members.iter().filter_map(redact_safe).collect();
    (!safe.is_empty()).then_some(safe)
}

fn safe_operator(path: &str, operator: &Operator) -> Option<Condition> {
    let safe = match operator {
        Operator::Compare(_, operand) => safe_operand(operand),
        Operator::In(list) => list.iter().try_fold(true, |all, member| Some(all & safe_operand(member)?)),
        Operator::Regex { .. } | Operator::Mod | Operator::Bits | Operator::Type(_) | Operator::Exists(Some(true)) => {
            Some(true)
        }
        Operator::Exists(Some(false)) | Operator::ExprCompare(..) | Operator::Size | Operator::Geo => Some(false),
        Operator::Exists(None) => None,
    };
    match safe {
        Some(true) => Some(Condition::Field(path.to_owned(), operator.clone())),
        Some(false) => None,
        None => Some(Condition::Opaque(Some(path.to_owned()), "a hidden literal behind `$redact`".to_owned())),
    }
}

/// Whether a comparison with this operand may be copied; `None` if the operand is hidden.
fn safe_operand(operand: &Node) -> Option<bool> {
    match operand.value {
        Value::Redacted => None,
        Value::Null | Value::Undefined | Value::Array(_) | Value::Document(_) => Some(false),
        _ => Some(true),
    }
}

/// Redacting members of an array would shift the positions of others.
fn has_array_index(path: &str) -> bool {
    path.split('.').any(|name| !name.is_empty() && name.bytes().all(|byte| byte.is_ascii_digit()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::syntax::ext_json;

    fn predicate(text: &str) -> Predicate {
        Predicate::parse(&ext_json::parse(text, 0).expect("extended JSON"))
    }

    fn paths(predicate: Option<Predicate>) -> Vec<String> {
        dependencies(&predicate).into_iter().collect()
    }

    fn split_by(text: &str, touched: &str) -> (Vec<String>, Vec<String>) {
        let (front, rest) = split(predicate(text), &BTreeSet::from([touched.to_owned()]));
        (paths(front), paths(rest))
    }

    #[test]
    fn the_members_of_an_and_move_one_by_one_and_an_or_only_whole() {
        assert_eq!(split_by(r#"{"a": 5, "q.x": 1}"#, "q"), (vec!["a".into()], vec!["q.x".into()]));
        assert_eq!(split_by(r#"{"$or": [{"a": 5}, {"q": 1}]}"#, "q"), (vec![], vec!["a".into(), "q".into()]));
        assert_eq!(split_by(r#"{"a": {"$gt": 5}, "$or": [{"b": 1}]}"#, "q"), (vec!["a".into(), "b".into()], vec![]));
    }

    #[test]
    fn a_nor_moves_branch_by_branch_and_never_splits_a_branch() {
        assert_eq!(split_by(r#"{"$nor": [{"a": 5}, {"q": 1}]}"#, "q"), (vec!["a".into()], vec!["q".into()]));
        assert_eq!(split_by(r#"{"$nor": [{"a": 5, "q": 1}]}"#, "q"), (vec![], vec!["a".into(), "q".into()]));
    }

    #[test]
    fn array_operators_constants_and_random_numbers_stay() {
        for text in [
            r#"{"a": {"$size": 1}}"#,
            r#"{"a": {"$elemMatch": {"$gt": 1}}}"#,
            r#"{"$alwaysFalse": 1}"#,
            r#"{"$sampleRate": 0.5}"#,
            r#"{"$expr": {"$lt": ["$a", {"$rand": {}}]}}"#,
            r#"{"$or": [{"a": 5}, {"a": {"$size": 1}}]}"#,
        ] {
            assert!(split(predicate(text), &BTreeSet::new()).0.is_none(), "{text}");
        }
    }

    #[test]
    fn only_what_redaction_cannot_change_is_copied() {
        for (text, expected) in [
            (r#"{"a": 5, "b": null, "c": {"$ne": 1}}"#, vec!["a"]),
            (r#"{"a": {"$in": [1, [2]]}, "b": {"$in": [1, 2]}}"#, vec!["b"]),
            (r#"{"$or": [{"a": 1, "b": {"$ne": 2}}, {"c": 1}]}"#, vec!["a", "c"]),
            (r#"{"$or": [{"a": 1}, {"b": {"$ne": 2}}]}"#, vec![]),
            (r#"{"$nor": [{"a": 1}], "$expr": {"$eq": ["$a", 1]}}"#, vec![]),
            (r#"{"a.0": 1, "b": {"$exists": true}, "c": {"$exists": false}}"#, vec!["b"]),
        ] {
            assert_eq!(paths(redact_safe(&predicate(text))), expected, "{text}");
        }
    }
}
