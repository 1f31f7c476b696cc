//! Comparing key patterns by what they say: `1`, `1.0` and `NumberLong(1)` are one direction.

use crate::model::{IndexSpec, Node, Value};

/// Whether two patterns have the same fields with the same values in the same order.
pub(super) fn same(left: &Node, right: &Node) -> bool {
    text(left) == text(right)
}

/// Whether a pattern begins with all fields of another one.
pub(super) fn begins_with(longer: &Node, shorter: &Node) -> bool {
    let (longer, shorter) = (parts(longer), parts(shorter));
    longer.starts_with(&shorter)
}

/// What tells indexes apart: the pattern, and which of some options are given.
pub(super) fn identity(index: &IndexSpec) -> (Vec<String>, [bool; 4]) {
    let fields = index.key.fields.iter().map(|field| part(&field.name, &field.node)).collect();
    let flags =
        [index.unique.is_some(), index.sparse.is_some(), index.partial_filter.is_some(), index.collation.is_some()];
    (fields, flags)
}

/// A pattern as the shell prints it.
pub(super) fn text(pattern: &Node) -> String {
    match parts(pattern).as_slice() {
        [] => "{}".to_owned(),
        parts => format!("{{ {} }}", parts.join(", ")),
    }
}

fn parts(pattern: &Node) -> Vec<String> {
    let fields = pattern.as_document().map(|document| document.fields.as_slice()).unwrap_or_default();
    fields.iter().map(|field| part(&field.name, &field.node)).collect()
}

fn part(name: &str, node: &Node) -> String {
    let bare = !name.is_empty() && name.chars().all(|c| c.is_alphanumeric() || c == '_' || c == '$');
    let quote = if bare { "" } else { "\"" };
    let value = match (&node.value, node.as_i64()) {
        (_, Some(n)) => n.to_string(),
        (Value::String(kind), _) => format!("\"{kind}\""),
        (Value::Double(x), _) => x.to_string(),
        (Value::Bool(b), _) => b.to_string(),
        (Value::Document(_), _) => text(node),
        _ => "…".to_owned(),
    };
    format!("{quote}{name}{quote}: {value}")
}
