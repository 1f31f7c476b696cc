//! Zones: named groups of shards, and the ranges of a collection's key that the balancer keeps on them. The router never
//! reads them: they decide where chunks may lie, not which chunks an operation asks for.

use crate::text::{Located, SourceId, Span};

use super::value::{Node, Value};

/// A range of a zone as it was written.
#[derive(Debug, Clone)]
pub struct WrittenZoneRange {
    /// The collection.
    pub namespace: Located<String>,
    /// The lower bound, a document.
    pub min: Node,
    /// The upper bound, a document, exclusive.
    pub max: Node,
    /// The zone's name.
    pub zone: Located<String>,
    /// The whole declaration.
    pub span: Span,
}

/// A range of a zone in shard-key space: `[min, max)`.
#[derive(Debug, Clone)]
pub struct ZoneRange {
    /// Lower bound, one value for each key field; MinKey where the declaration has the first fields only.
    pub min: Vec<Value>,
    /// Upper bound, exclusive.
    pub max: Vec<Value>,
    /// The zone's name.
    pub zone: String,
    /// Where it was declared.
    pub source: SourceId,
    /// The whole declaration.
    pub span: Span,
}
