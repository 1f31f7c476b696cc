//! Shard keys: ordered fields, each ranged or hashed, with spans into the declaration.

use std::fmt;

use crate::text::{Located, Span};

use super::value::Node;

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
    /// Reads a key pattern by the rules that hold in every version (`shard-key-rules.md` 1).
    ///
    /// # Errors
    /// Each part of the pattern that a server refuses, with what was expected.
    pub fn from_pattern(_pattern: &Node) -> Result<Self, Vec<Located<String>>> {
        Err(Vec::new())
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

    /// Whether both have the same fields of the same kinds in the same order.
    #[must_use]
    pub fn same_pattern(&self, other: &Self) -> bool {
        self.fields.len() == other.fields.len()
            && self.fields.iter().zip(&other.fields).all(|(a, b)| a.path == b.path && a.kind == b.kind)
    }
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
