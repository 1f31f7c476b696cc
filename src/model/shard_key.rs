//! Shard keys: ordered fields, each ranged or hashed, with spans into the declaration.

use std::fmt;

use crate::text::{Located, Span};

use super::decimal::Decimal128;
use super::value::{Field, Node, Value};

/// How a field of a shard key orders documents.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum KeyKind {
    /// `field: 1`: by value.
    Ranged,
    /// `field: "hashed"`: by the 64-bit hash of the value.
    Hashed,
}

/// One field of a shard key.
#[derive(Debug, Clone)]
pub struct KeyField {
    /// The dotted path.
    pub path: String,
    /// Ranged or hashed.
    pub kind: KeyKind,
    /// Where the field stands in the declaration.
    pub span: Span,
}

/// A valid shard key: at least one field, at most one of them hashed.
#[derive(Debug, Clone)]
pub struct ShardKey {
    /// The fields in order.
    pub fields: Vec<KeyField>,
    /// Where the whole pattern stands in the declaration.
    pub span: Span,
}

impl ShardKey {
    /// Most fields that a key can have: the limit of the index behind it.
    pub const MAX_FIELDS: usize = 32;

    /// Reads a key pattern by the rules that hold in every version.
    ///
    /// # Errors
    /// Each part of the pattern that a server refuses, with what was expected.
    pub fn from_pattern(pattern: &Node) -> Result<Self, Vec<Located<String>>> {
        let Some(document) = pattern.as_document() else {
            let message = "a shard key is a document of fields, such as `{ a: 1 }`".to_owned();
            return Err(vec![Located::new(message, pattern.span)]);
        };
        let mut refused = Vec::new();
        if document.is_empty() {
            refused.push(Located::new("a shard key has at least one field".to_owned(), pattern.span));
        }
        let mut fields: Vec<KeyField> = Vec::new();
        for Field { name, name_span, node } in &document.fields {
            let span = name_span.join(node.span);
            if let Some(message) = refused_path(name) {
                refused.push(Located::new(message, *name_span));
            }
            match kind_of(node) {
                None => refused.push(Located::new("expected 1 or `\"hashed\"`".to_owned(), node.span)),
                Some(KeyKind::Hashed) if fields.iter().any(|field| field.kind == KeyKind::Hashed) => {
                    refused.push(Located::new("a shard key has at most one hashed field".to_owned(), span));
                }
                Some(kind) => fields.push(KeyField { path: name.clone(), kind, span }),
            }
        }
        if let Some(extra) = document.fields.get(Self::MAX_FIELDS) {
            let message = format!("a shard key has at most {} fields", Self::MAX_FIELDS);
            refused.push(Located::new(message, extra.name_span));
        }
        if refused.is_empty() { Ok(Self { fields, span: pattern.span }) } else { Err(refused) }
    }

    /// The position of the field with that path.
    #[must_use]
    pub fn position(&self, path: &str) -> Option<usize> {
        self.fields.iter().position(|field| field.path == path)
    }

    /// Whether any field is hashed.
    #[must_use]
    pub fn is_hashed(&self) -> bool {
        self.fields.iter().any(|field| field.kind == KeyKind::Hashed)
    }

    /// The first field, the one that has to be bound for the router to rule anything out.
    #[must_use]
    pub fn first(&self) -> &KeyField {
        &self.fields[0]
    }
}

/// Why no key field can have this path.
fn refused_path(path: &str) -> Option<String> {
    if path.is_empty() {
        return Some("a key field has a name".to_owned());
    }
    for (depth, part) in path.split('.').enumerate() {
        if part.is_empty() {
            return Some(format!("`{path}` has an empty part; dots stand between names only"));
        }
        let is_reference = depth > 0 && matches!(part, "$id" | "$ref" | "$db");
        if part.starts_with('$') && !is_reference {
            return Some(format!("no part of a key field starts with `$`, and `{path}` has `{part}`"));
        }
    }
    None
}

/// The kind that a value of the pattern stands for. Like the server, this takes every number whose integer part is 1.
fn kind_of(node: &Node) -> Option<KeyKind> {
    let is_one = match &node.value {
        Value::Int32(n) => *n == 1,
        Value::Int64(n) => *n == 1,
        Value::Double(n) => n.trunc() == 1.0,
        Value::Decimal128(number) => match **number {
            #[allow(clippy::cast_precision_loss)]
            Decimal128::Finite { negative: false, coefficient, exponent } => {
                (coefficient as f64 * 10f64.powi(exponent)).round_ties_even() == 1.0
            }
            _ => false,
        },
        _ => false,
    };
    let is_hashed = node.as_str() == Some("hashed");
    is_one.then_some(KeyKind::Ranged).or(is_hashed.then_some(KeyKind::Hashed))
}

impl fmt::Display for ShardKey {
    /// As the shell prints it: `{ customerId: 1, _id: "hashed" }`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("{ ")?;
        for (i, field) in self.fields.iter().enumerate() {
            let comma = if i == 0 { "" } else { ", " };
            let kind = match field.kind {
                KeyKind::Ranged => "1",
                KeyKind::Hashed => "\"hashed\"",
            };
            let bare = field.path.chars().all(|c| c.is_alphanumeric() || c == '_' || c == '$');
            let quote = if bare { "" } else { "\"" };
            write!(f, "{comma}{quote}{}{quote}: {kind}", field.path)?;
        }
        f.write_str(" }")
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::Document;

    fn pattern(fields: &[(&str, Value)]) -> Node {
        let mut at = 2;
        let mut members = Vec::new();
        for (name, value) in fields {
            let name_span = Span::new(at, at + name.len());
            let span = Span::new(name_span.range().end + 2, name_span.range().end + 3);
            at = span.range().end + 2;
            members.push(Field { name: (*name).to_owned(), name_span, node: Node { value: value.clone(), span } });
        }
        let document = Document { fields: members, partial: false };
        Node { value: Value::Document(document), span: Span::new(0, at) }
    }

    fn one() -> Value {
        Value::Int32(1)
    }

    fn hashed() -> Value {
        Value::String("hashed".to_owned())
    }

    #[test]
    fn every_number_that_the_server_takes_for_one_makes_a_ranged_field() {
        let decimal = Value::from(Decimal128::Finite { negative: false, coefficient: 10, exponent: -1 });
        for value in [one(), Value::Int64(1), Value::Double(1.0), decimal] {
            let key = ShardKey::from_pattern(&pattern(&[("a", value)])).expect("a key");
            assert_eq!(key.first().kind, KeyKind::Ranged);
        }
    }

    #[test]
    fn the_fields_keep_their_order_kind_and_place() {
        let node = pattern(&[("a.b", one()), ("_id", hashed())]);
        let key = ShardKey::from_pattern(&node).expect("a key");
        assert_eq!(key.to_string(), "{ \"a.b\": 1, _id: \"hashed\" }");
        assert_eq!(key.span, node.span);
        assert_eq!(key.first().span, Span::new(2, 8));
    }

    #[test]
    fn a_refusal_points_at_the_part_that_is_wrong() {
        let refused = |fields: &[(&str, Value)]| {
            ShardKey::from_pattern(&pattern(fields))
                .expect_err("refused")
                .into_iter()
                .map(|e| e.span)
                .collect::<Vec<_>>()
        };
        assert_eq!(refused(&[("a", Value::Int32(-1))]), [Span::new(5, 6)]);
        assert_eq!(refused(&[("a.", one())]), [Span::new(2, 4)]);
        assert_eq!(refused(&[("a", hashed()), ("b", hashed())]), [Span::new(8, 12)]);
        assert_eq!(refused(&[]), [Span::new(0, 2)]);
        assert_eq!(refused(&[("a", Value::Bool(true)), ("$b", one())]).len(), 2);
    }

    #[test]
    fn parts_of_references_may_start_with_a_dollar_below_the_first_level() {
        for (path, valid) in
            [("a.$id", true), ("$id", false), ("a.$b", false), ("a$", true), ("a..b", false), (".a", false)]
        {
            assert_eq!(ShardKey::from_pattern(&pattern(&[(path, one())])).is_ok(), valid, "{path}");
        }
    }

    #[test]
    fn a_key_has_no_more_fields_than_an_index() {
        let names: Vec<String> = (0..33).map(|n| format!("f{n}")).collect();
        let fields: Vec<(&str, Value)> = names.iter().map(|name| (name.as_str(), one())).collect();
        assert!(ShardKey::from_pattern(&pattern(&fields[..32])).is_ok());
        assert!(ShardKey::from_pattern(&pattern(&fields)).is_err());
    }
}
