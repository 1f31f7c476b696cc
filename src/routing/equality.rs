//! One value for every field of the key, read from the equalities of a filter: the router's first attempt.

use crate::model::{Document, Field, Node, ShardKey, Value};
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

/// Names that begin with `$` cannot be stored, but for those of a reference at the front.
fn is_storable(document: &Document) -> bool {
    let behind_reference = &document.fields[reference_length(&document.fields)..];
    behind_reference.iter().all(|field| !field.name.starts_with('$') && is_storable_value(&field.node.value))
}

fn is_storable_value(value: &Value) -> bool {
    match value {
        Value::Document(document) => is_storable(document),
        Value::Array(array) => array.items.iter().all(|item| is_storable_value(&item.value)),
        _ => true,
    }
}

/// How many members at the front are a reference: `$ref`, `$id` and perhaps `$db`. What is inside `$id` is not looked at.
fn reference_length(fields: &[Field]) -> usize {
    let is_text = |field: &Field, name: &str| field.name == name && matches!(field.node.value, Value::String(_));
    match fields {
        [collection, id, database, ..]
            if is_text(collection, "$ref") && id.name == "$id" && is_text(database, "$db") =>
        {
            3
        }
        [collection, id, ..] if is_text(collection, "$ref") && id.name == "$id" => 2,
        _ => 0,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::syntax::ext_json;

    #[test]
    fn names_with_a_dollar_spoil_a_value_unless_they_are_a_whole_reference_at_the_front() {
        let is_value = |text: &str| is_key_value(&ext_json::parse(text, 0).expect("extended JSON").value);
        for text in [
            r#"{"$ref": "x", "$id": {"$foo": 1}}"#,
            r#"{"$ref": "x", "$id": 1, "$db": "d", "y": 1}"#,
            r#"{"x": {"$ref": "x", "$id": 1}}"#,
        ] {
            assert!(is_value(text), "{text}");
        }
        for text in [
            r#"{"$db": 1}"#,
            r#"{"x": {"$id": 1}}"#,
            r#"{"$id": 1, "$ref": "x"}"#,
            r#"{"$ref": 5, "$id": 1}"#,
            r#"{"$ref": "x", "$id": 1, "$db": 5}"#,
            r#"{"x": 1, "$ref": "x", "$id": 1}"#,
            r#"{"x": [[{"$foo": 1}]]}"#,
        ] {
            assert!(!is_value(text), "{text}");
        }
    }
}
