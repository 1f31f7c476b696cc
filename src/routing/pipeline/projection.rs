//! What `$project`, `$addFields`, `$set`, `$unset` and `$group` do to paths.

use std::collections::BTreeSet;

use crate::model::{Document, Field, Node, Value};

use super::super::parse::MAX_DEPTH;
use super::changes::{Changes, Touched, is_at_or_below, join};

/// What one leaf of a `$project` asks for.
enum Leaf<'a> {
    Keep(String),
    Drop(String),
    Compute(String, &'a Node),
    Hidden,
}

/// `$project`: an inclusion or an exclusion, which the first leaf other than `_id` decides. `None` if a hidden literal does.
pub(super) fn project(spec: &Document) -> Option<Changes> {
    let mut leaves = Vec::new();
    collect("", spec, 0, &mut leaves);
    let mut kept = BTreeSet::new();
    let mut dropped = BTreeSet::new();
    let mut changes = Changes::default();
    let (mut computes, mut names_id) = (false, false);
    for leaf in leaves {
        match leaf {
            Leaf::Keep(path) => {
                names_id |= is_at_or_below(&path, "_id");
                kept.insert(path);
            }
            Leaf::Drop(path) => drop(dropped.insert(path)),
            Leaf::Compute(path, node) => {
                computes = true;
                names_id |= is_at_or_below(&path, "_id");
                changes.compute(&path, node);
            }
            Leaf::Hidden => return None,
        }
    }
    let includes = computes || kept.iter().any(|path| path != "_id") || dropped.is_empty();
    if includes && dropped.iter().all(|path| path == "_id") {
        if dropped.is_empty() && !names_id {
            kept.insert("_id".to_owned());
        }
        changes.touched = Touched::AllBut(kept);
        return Some(changes);
    }
    Some(Changes { touched: Touched::Only(dropped), ..Changes::default() })
}

fn collect<'a>(parent: &str, spec: &'a Document, depth: usize, leaves: &mut Vec<Leaf<'a>>) {
    for Field { name, node, .. } in &spec.fields {
        let path = join(parent, name);
        leaves.push(match &node.value {
            Value::Redacted => Leaf::Hidden,
            Value::Bool(_) | Value::Int32(_) | Value::Int64(_) | Value::Double(_) if node.is_truthy() => {
                Leaf::Keep(path)
            }
            Value::Bool(_) | Value::Int32(_) | Value::Int64(_) | Value::Double(_) => Leaf::Drop(path),
            Value::Decimal128(number) if number.is_zero() => Leaf::Drop(path),
            Value::Decimal128(_) => Leaf::Keep(path),
            Value::Document(inner) if is_nested(inner) && depth < MAX_DEPTH => {
                collect(&path, inner, depth + 1, leaves);
                continue;
            }
            _ => Leaf::Compute(path, node),
        });
    }
}

/// Whether a document spells out sub-paths, and is no expression.
fn is_nested(document: &Document) -> bool {
    document.first().is_some_and(|field| !field.name.starts_with('$'))
}

/// `$addFields` and `$set`.
pub(super) fn add_fields(spec: &Document) -> Changes {
    let mut changes = Changes::default();
    for field in &spec.fields {
        changes.compute(&field.name, &field.node);
    }
    changes
}

/// `$unset`: a path or a list of paths. `None` if one is hidden.
pub(super) fn unset(spec: &Node) -> Option<Changes> {
    let paths = match &spec.value {
        Value::Array(array) => array.items.as_slice(),
        _ => std::slice::from_ref(spec),
    };
    let paths: Option<Vec<&str>> = paths.iter().map(Node::as_str).collect();
    paths.map(Changes::only)
}

/// `$group`: nothing is kept; fields that are part of the key live on as `_id` or below it.
pub(super) fn group(id: Option<&Node>) -> Changes {
    let mut changes = Changes { touched: Touched::AllBut(BTreeSet::new()), ..Changes::default() };
    if let Some(id) = id {
        changes.compute("_id", id);
        changes.makes_id = match &id.value {
            Value::Document(document) if is_nested(document) => document.fields.len() == 1,
            _ => true,
        };
    }
    changes
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::syntax::ext_json;

    fn projected(spec: &str) -> Changes {
        let node = ext_json::parse(spec, 0).expect("extended JSON");
        project(node.as_document().expect("a document")).expect("nothing hidden")
    }

    #[test]
    fn an_inclusion_keeps_what_it_lists_and_the_id() {
        let changes = projected(r#"{"a": 1, "n": "$b"}"#);
        for (after, before) in [("a.x", Some("a.x")), ("_id", Some("_id")), ("n", Some("b")), ("b", None)] {
            assert_eq!(changes.origin(after).as_deref(), before, "{after}");
        }
    }

    #[test]
    fn an_exclusion_keeps_what_it_does_not_list() {
        for spec in [r#"{"a": {"x": 0}}"#, r#"{"a.x": false}"#, r#"{"_id": 0, "a.x": 0}"#] {
            let changes = projected(spec);
            assert_eq!(changes.origin("a.x"), None, "{spec}");
            assert_eq!(changes.origin("a.y").as_deref(), Some("a.y"), "{spec}");
        }
    }

    #[test]
    fn dropping_the_id_alone_is_an_exclusion_and_beside_others_is_not() {
        assert_eq!(projected(r#"{"_id": 0}"#).origin("a").as_deref(), Some("a"));
        assert_eq!(projected(r#"{"_id": 0, "b": 1}"#).origin("a"), None);
        assert_eq!(projected(r#"{"_id": 0, "b": 1}"#).origin("_id"), None);
        assert_eq!(projected(r#"{"_id": {"$add": ["$a", 1]}}"#).origin("_id"), None);
        assert_eq!(projected(r#"{"_id": 0, "n": "$a"}"#).origin("n").as_deref(), Some("a"));
    }

    #[test]
    fn an_inclusion_below_the_id_keeps_no_more_of_it() {
        for spec in [r#"{"_id.x": 1}"#, r#"{"_id": {"x": 1}, "a": 1}"#] {
            let changes = projected(spec);
            assert_eq!(changes.origin("_id"), None, "{spec}");
            assert_eq!(changes.origin("_id.x").as_deref(), Some("_id.x"), "{spec}");
        }
    }
}
