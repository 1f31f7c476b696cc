//! Dumps of what a cluster knows about itself: documents of the config database, lists of indexes, `sh.status()`; as
//! (extended) JSON or as a shell prints them, prompts and banners included, several kinds in one text and in any order.
//! Says only what the text says: how chunks join their collections, and what contradicts what, is for the catalog.

mod document;
mod measured;
mod printed;

mod status;

use crate::model::{Distribution, KeyCharacteristics, Node, WrittenZoneRange};
use crate::text::{Located, Span};

use super::error::SyntaxError;
use super::index_list::ListedIndexes;
use printed::First;

/// What one text of dumps tells, in the order of the text.
#[derive(Debug, Clone, Default)]
pub struct Dump {
    /// Collections that it says to be sharded, or not to be.
    pub collections: Vec<DumpedCollection>,
    /// Chunks.
    pub chunks: Vec<DumpedChunk>,
    /// Shards of the cluster.
    pub shards: Vec<DumpedShard>,
    /// Ranges of zones.
    pub zones: Vec<WrittenZoneRange>,
    /// Databases, each with its primary shard.
    pub primaries: Vec<(String, Located<String>)>,
    /// Complete lists of indexes.
    pub indexes: Vec<ListedIndexes>,
    /// What was measured of keys.
    pub characteristics: Vec<Measured<KeyCharacteristics>>,
    /// How collections are spread over shards.
    pub distributions: Vec<Measured<Distribution>>,
    /// `collections` holds all of `config.collections`: what it does not name is not sharded.
    pub complete: bool,
    /// What was malformed.
    pub errors: Vec<SyntaxError>,
    /// Values that are no dump of anything known.
    pub passed_over: Vec<Span>,
}

/// A measurement, and the collection if the text names it.
#[derive(Debug, Clone)]
pub struct Measured<T> {
    /// The collection.
    pub namespace: Option<String>,
    /// What was measured.
    pub value: T,
}

/// One collection.
#[derive(Debug, Clone)]
pub struct DumpedCollection {
    /// Its name.
    pub namespace: Located<String>,
    /// The key; `None` if the collection is not sharded (any more).
    pub key: Option<Node>,
    /// Whether the key is unique.
    pub unique: Option<Located<bool>>,
    /// The default collation.
    pub collation: Option<Node>,
    /// The identity by which chunks name it since 5.0.
    pub uuid: Option<Vec<u8>>,
}

/// The collection of a chunk, as far as the chunk names it.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub enum ChunkOf {
    /// By name, as up to 4.4 and in `sh.status()`.
    Namespace(String),
    /// By the collection's identity, since 5.0.
    Uuid(Vec<u8>),
    /// Not at all: a projection left it out.
    Unnamed,
}

/// One chunk.
#[derive(Debug, Clone)]
pub struct DumpedChunk {
    /// Its collection.
    pub of: ChunkOf,
    /// Lower bound, a document.
    pub min: Node,
    /// Upper bound, a document, exclusive.
    pub max: Node,
    /// The shard that owns it.
    pub shard: String,
    /// It is marked as too large to move.
    pub jumbo: bool,
    /// The whole chunk.
    pub span: Span,
}

/// One shard.
#[derive(Debug, Clone)]
pub struct DumpedShard {
    /// Its name.
    pub name: Located<String>,
    /// The zones it belongs to; `None` if its document may have been printed without them.
    pub zones: Option<Vec<String>>,
}

/// Reads all dumps in `text`. It never fails as a whole: what is malformed is told in `errors`.
#[must_use]
pub fn dumps(text: &str) -> Dump {
    let mut dump = Dump::default();
    let status = status::begin(text).unwrap_or(text.len());
    let printed = printed::read(&text[..status]);
    document::collect(&text[..status], &printed, &mut dump);
    measured::printed_distribution(&text[..status], &mut dump);
    dump.errors.extend(printed.error);
    status::read(text, status, &mut dump);
    dump
}

/// Whether a text, which may be cut, begins as a dump does.
#[must_use]
pub fn begins_dump(text: &str) -> bool {
    match printed::first_value(text) {
        Some(First::Value(node)) => document::is_dumped(&node),
        Some(First::Report) => true,
        None => false,
    }
}

#[cfg(test)]
mod tests;
