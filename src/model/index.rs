//! An index as declared by `createIndex` or listed by `getIndexes`.

use crate::text::Span;

use super::value::{Document, Node};

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
    /// `clustered: true`: the collection is clustered by this key.
    pub clustered: bool,
    /// The whole specification.
    pub span: Span,
}
