//! The file as a tree of keys: which keys are unknown, and, for `--show-settings`, every value with its line.

use std::collections::BTreeSet;

use serde_json::Value;
use toml::Spanned;
use toml::de::{DeArray, DeTable, DeValue};

use crate::text::{LineIndex, Span};

/// A value of the file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Leaf {
    /// `rules.severity.SL301`, `ignore[0].reason`.
    pub path: String,
    /// As it is written.
    pub value: String,
    /// 1-based line.
    pub line: u64,
}

/// A key that means nothing.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct UnknownKey {
    /// The key.
    pub name: String,
    /// Where it stands.
    pub span: Span,
    /// The keys that mean something there.
    pub known: Vec<String>,
}

/// All values, in the order of the file.
pub fn leaves(text: &str, document: &DeTable<'_>) -> Vec<Leaf> {
    let mut found = Vec::new();
    of_table(text, document, "", &mut found);
    found.sort_by_key(|(start, _)| *start);
    found.into_iter().map(|(_, leaf)| leaf).collect()
}

fn of_table(text: &str, table: &DeTable<'_>, path: &str, found: &mut Vec<(usize, Leaf)>) {
    for (key, value) in table {
        let name = key.get_ref();
        let is_bare = name.bytes().all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_'));
        let name = if is_bare { name.to_string() } else { format!("{name:?}") };
        let path = if path.is_empty() { name } else { format!("{path}.{name}") };
        of_value(text, value, &path, found);
    }
}

fn of_value(text: &str, value: &Spanned<DeValue<'_>>, path: &str, found: &mut Vec<(usize, Leaf)>) {
    match value.get_ref() {
        DeValue::Table(table) => of_table(text, table, path, found),
        DeValue::Array(array) if is_of_tables(array) => {
            for (place, element) in array.iter().enumerate() {
                of_value(text, element, &format!("{path}[{place}]"), found);
            }
        }
        _ => {
            let span = value.span();
            let line = LineIndex::locate(text.as_bytes(), span.start).line;
            let value = text.get(span.clone()).unwrap_or_default().to_owned();
            found.push((span.start, Leaf { path: path.to_owned(), value, line }));
        }
    }
}

fn is_of_tables(array: &DeArray<'_>) -> bool {
    !array.is_empty() && array.iter().all(|element| element.get_ref().is_table())
}

/// All keys that the schema does not know.
pub fn unknown_keys(document: &DeTable<'_>, schema: &Value) -> Vec<UnknownKey> {
    let mut found = Vec::new();
    unknown_in(document, schema, schema, &mut found);
    found.sort_by_key(|key| key.span);
    found
}

fn unknown_in(table: &DeTable<'_>, schema: &Value, root: &Value, found: &mut Vec<UnknownKey>) {
    // A table whose names are the user's own has no `properties`.
    let Some(properties) = resolved(schema, root)["properties"].as_object() else { return };
    for (key, value) in table {
        match properties.get(key.get_ref().as_ref()) {
            Some(schema) => unknown_below(value.get_ref(), schema, root, found),
            None => found.push(UnknownKey {
                name: key.get_ref().to_string(),
                span: Span::new(key.span().start, key.span().end),
                known: properties.keys().cloned().collect::<BTreeSet<_>>().into_iter().collect(),
            }),
        }
    }
}

fn unknown_below(value: &DeValue<'_>, schema: &Value, root: &Value, found: &mut Vec<UnknownKey>) {
    match value {
        DeValue::Table(table) => unknown_in(table, schema, root, found),
        DeValue::Array(array) => {
            let items = &resolved(schema, root)["items"];
            array.iter().for_each(|element| unknown_below(element.get_ref(), items, root, found));
        }
        _ => {}
    }
}

/// The schema that a `$ref` names, if it is one.
fn resolved<'a>(schema: &'a Value, root: &'a Value) -> &'a Value {
    let named = schema["$ref"].as_str().and_then(|name| name.strip_prefix('#'));
    named.and_then(|pointer| root.pointer(pointer)).unwrap_or(schema)
}
