//! An index as declared by `createIndex` or listed by `getIndexes`.

use std::fmt;

use crate::text::Span;

use super::value::{Document, Node, Value};

/// An index specification. The key pattern keeps its values as written: `{ a: -1 }` does not serve the shard key `{ a: 1 }`.
#[derive(Debug, Clone)]
pub struct IndexSpec {
    /// The key pattern: paths with 1, -1, `"hashed"`, `"text"`, `"2dsphere"` …
    pub key: Document,
    /// Where the key pattern stands in the declaration.
    pub key_span: Span,
    /// The name, if one was given.
    pub name: Option<String>,
    /// `unique: true`, and where the option stands.
    pub unique: Option<Span>,
    /// `prepareUnique: true`, and where the option stands.
    pub prepare_unique: Option<Span>,
    /// `sparse: true`, and where the option stands.
    pub sparse: Option<Span>,
    /// `hidden: true`, and where the option stands.
    pub hidden: Option<Span>,
    /// `partialFilterExpression`.
    pub partial_filter: Option<Node>,
    /// `collation`.
    pub collation: Option<Node>,
    /// `seed` of a hashed index other than 0 (an option of old servers).
    pub hash_seed: Option<Span>,
    /// Known to be multikey (explain output, `multikey: true` of dumps), and where that stands.
    pub multikey: Option<Span>,
    /// `expireAfterSeconds`: documents expire by this index.
    pub expires: Option<Span>,
    /// `clustered: true`: the collection is clustered by this key.
    pub clustered: bool,
    /// `wildcardProjection` of a wildcard index.
    pub wildcard_projection: Option<Node>,
    /// The whole specification.
    pub span: Span,
}

impl IndexSpec {
    /// An index without options.
    #[must_use]
    pub fn plain(key: Document, key_span: Span, span: Span) -> Self {
        Self {
            key,
            key_span,
            name: None,
            unique: None,
            prepare_unique: None,
            sparse: None,
            hidden: None,
            partial_filter: None,
            collation: None,
            hash_seed: None,
            multikey: None,
            expires: None,
            clustered: false,
            wildcard_projection: None,
            span,
        }
    }

    /// The name, or the one that the server makes up: `customerId_1_createdAt_-1`.
    #[must_use]
    pub fn name_or_default(&self) -> String {
        self.name.clone().unwrap_or_else(|| {
            let parts: Vec<String> =
                self.key.fields.iter().map(|field| format!("{}_{}", field.name, direction(&field.node))).collect();
            parts.join("_")
        })
    }
}

impl fmt::Display for IndexSpec {
    /// The key pattern as the shell prints it: `{ customerId: 1, text: "text" }`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("{ ")?;
        for (i, field) in self.key.fields.iter().enumerate() {
            let comma = if i == 0 { "" } else { ", " };
            let quote = if field.name.chars().all(|c| c.is_alphanumeric() || c == '_' || c == '$') { "" } else { "\"" };
            let mark = if field.node.as_str().is_some() { "\"" } else { "" };
            write!(f, "{comma}{quote}{}{quote}: {mark}{}{mark}", field.name, direction(&field.node))?;
        }
        f.write_str(" }")
    }
}

/// The value of one part of a key pattern.
fn direction(node: &Node) -> String {
    match &node.value {
        Value::String(kind) => kind.clone(),
        Value::Double(number) => number.to_string(),
        _ => node.as_i64().map_or_else(|| "…".to_owned(), |number| number.to_string()),
    }
}
