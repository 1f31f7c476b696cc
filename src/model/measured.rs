//! What servers and people have measured of a sharded collection: the values of its key, and how much each shard holds.

use crate::text::Span;

/// What was measured of the values of a key: by `analyzeShardKey`, or by grouping the documents by them.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct KeyCharacteristics {
    /// The whole of it.
    pub span: Span,
    /// The fields of the key that was measured, in order, where that shows.
    pub fields: Option<Vec<String>>,
    /// How many documents there are.
    pub documents: Option<u64>,
    /// How many different values there are; with a cut list nobody knows.
    pub distinct: Option<u64>,
    /// The most frequent values, as printed, and their documents.
    pub most_common: Vec<(String, u64)>,
    /// The size of a document, in bytes.
    pub document_bytes: Option<u64>,
    /// Whether values grow in the order in which documents were inserted.
    pub monotonic: Option<bool>,
}

/// How much of a collection one shard holds.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct ShardPart {
    /// The shard's name.
    pub shard: String,
    /// Bytes, if known.
    pub bytes: Option<u64>,
    /// Documents, if known.
    pub documents: Option<u64>,
    /// Chunks, if known.
    pub chunks: Option<u64>,
}

/// How a collection is spread over shards, as a server has told it.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Distribution {
    /// The whole of it.
    pub span: Span,
    /// By shard.
    pub parts: Vec<ShardPart>,
}
