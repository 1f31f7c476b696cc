//! One value for every field of the key, read from the equalities of a filter: the router's first attempt.

use crate::model::{Document, Node, ShardKey, Value};
use crate::text::Span;

use super::predicate::{Comparison, Condition, Operator, Predicate};

/// One value for every key field, not yet hashed, and the predicates they stand in.
pub(super) type FullKey<'a> = Vec<(&'a Value, Span)>;

/// The full key, if the equalities of the normalised filter give one.
///
/// Two equalities on one key path, or on paths of which one lies below the other, spoil it: bounds decide then.
pub(super) fn full_key<'a>(predicate: &'a Predicate, key: &ShardKey) -> Option<FullKey<'a>> {
    let mut equalities = Vec::new();
    collect(predicate, key, &mut equalities)?;
    let supplies = |field: &str, equality: &Equality<'_>| is_at_or_below(field, equality.0);
    let spoils = |field: &str| equalities.iter().filter(|equality| supplies(field, equality)).count() > 1;
    if key.fields.iter().any(|field| spoils(&field.path)) {
        return None;
    }
    key.fields
        .iter()
        .map(|field| {
            let (path, operand, span) = equalities.iter().find(|(path, ..)| is_at_or_below(&field.path, path))?;
            let value = value_at(&operand.value, field.path[path.len()..].trim_start_matches('.'))?;
            is_key_value(value).then_some((value, *span))
        })
        .collect()
}

type Equality<'a> = (&'a str, &'a Node, Span);

/// The equalities on paths at or above a key path; `None` if there is one below a key path, which never goes with a value
/// of the key.
fn collect<'a>(predicate: &'a Predicate, key: &ShardKey, found: &mut Vec<Equality<'a>>) -> Option<()> {
    match &predicate.condition {
        Condition::Field(path, Operator::Compare(Comparison::Eq, operand)) => {
            if key.fields.iter().any(|field| is_at_or_below(&field.path, path)) {
                found.push((path, operand, predicate.span));
            } else if key.fields.iter().any(|field| is_at_or_below(path, &field.path)) {
                return None;
            }
            Some(())
        }
        Condition::And(members) => members.iter().try_for_each(|member| collect(member, key, found)),
        _ => Some(()),
    }
}

/// Whether `path` is `ancestor` or a path below it.
pub(super) fn is_at_or_below(path: &str, ancestor: &str) -> bool {
    path.strip_prefix(ancestor).is_some_and(|rest| rest.is_empty() || rest.starts_with('.'))
}

/// The value at a dotted path inside a value; not through arrays. The empty path is the value itself.
pub(super) fn value_at<'a>(value: &'a Value, path: &str) -> Option<&'a Value> {
    if path.is_empty() {
        return Some(value);
    }
    let (name, rest) = path.split_once('.').unwrap_or((path, ""));
    match value {
        Value::Document(document) => value_at(&document.get(name)?.value, rest),
        _ => None,
    }
}

/// Whether a value can stand in a key: no array, no regex, no document that cannot be stored.
fn is_key_value(value: &Value) -> bool {
    match value {
        Value::Array(_) | Value::Regex { .. } | Value::Undefined => false,
        Value::Document(document) => is_storable(document),
        _ => true,
    }
}

/// Names that begin with `$` cannot be stored, but for those of a reference.
pub(super) fn is_storable(document: &Document) -> bool {
    document.fields.iter().all(|field| {
        (!field.name.starts_with('$') || matches!(field.name.as_str(), "$ref" | "$id" | "$db"))
            && match &field.node.value {
                Value::Document(inner) => is_storable(inner),
                Value::Array(array) => array.items.iter().all(|item| match &item.value {
                    Value::Document(inner) => is_storable(inner),
                    _ => true,
                }),
                _ => true,
            }
    })
}
