//! Collations: chunks are ordered by the simple one, so under any other the values of strings say nothing about chunks.

use crate::model::{Node, Value};

/// The collation of a statement, as far as it is not the simple one.
#[derive(Debug, Clone, Copy)]
pub(super) enum Collation<'a> {
    /// Bytes decide.
    Simple,
    /// Another one, given with the statement.
    Explicit(&'a Node),
    /// Another one, the collection's default.
    Default,
}

impl<'a> Collation<'a> {
    /// The collation in force: that of the statement, else that of the collection.
    pub(super) fn in_force(explicit: Option<&'a Node>, default: Option<&Node>) -> Self {
        match explicit {
            Some(given) if is_simple(given) => Self::Simple,
            Some(given) => Self::Explicit(given),
            None if default.is_none_or(is_simple) => Self::Simple,
            None => Self::Default,
        }
    }

    pub(super) fn is_simple(self) -> bool {
        matches!(self, Self::Simple)
    }
}

/// Whether a collation is the simple one; an empty document or null is none at all.
pub(super) fn is_simple(collation: &Node) -> bool {
    match &collation.value {
        Value::Document(document) => {
            document.fields.is_empty() || document.get("locale").and_then(Node::as_str) == Some("simple")
        }
        Value::Null | Value::Undefined => true,
        _ => false,
    }
}

/// Whether both say the same: same members with the same values, in any order.
pub(super) fn same_collation(left: &Node, right: &Node) -> bool {
    match (left.as_document(), right.as_document()) {
        (Some(left), Some(right)) => {
            left.fields.len() == right.fields.len()
                && left.fields.iter().all(|field| {
                    right
                        .get(&field.name)
                        .is_some_and(|other| crate::model::compare(&field.node.value, &other.value).is_eq())
                })
        }
        _ => is_simple(left) && is_simple(right),
    }
}

/// Whether comparing to this value depends on the collation.
pub(super) fn depends_on_collation(value: &Value) -> bool {
    matches!(value, Value::String(_) | Value::Symbol(_) | Value::Document(_) | Value::Array(_))
}
