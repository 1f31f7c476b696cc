//! What an explain observed besides the query: who wrote it, which shards the router asked, and how an index was bounded.
//! Observations stand beside a prediction and are compared with it, never mixed into it.

use crate::text::{Located, Span};

use super::value::{Node, Value};
use super::version::ServerVersion;

/// The plan of an explain.
#[derive(Debug, Clone, Default)]
pub struct Plan {
    /// The version of the process that explained.
    pub version: Option<ServerVersion>,
    /// The shards that the router asked, each where its name stands. Empty in an explain of a mongod.
    pub shards: Vec<Located<String>>,
    /// The shards that scan the whole collection while others use an index, each where its plan says `COLLSCAN`.
    pub scanning: Vec<Located<String>>,
    /// `indexBounds` of the index scans of one shard, field by field.
    pub bounds: Vec<IndexBounds>,
    /// What each shard did, in the order of the explain.
    pub parts: Vec<ShardPlan>,
    /// Where the parts of a pipeline are merged (`mergeType`): `mongos`, `anyShard` …
    pub merge: Option<Located<String>>,
}

/// What one shard did.
#[derive(Debug, Clone)]
pub struct ShardPlan {
    /// The shard's name.
    pub shard: String,
    /// How it finds documents, as `planSummary` of a log would say it. Differs where another index is used, and where one of
    /// them scans.
    pub access: Located<String>,
    /// `executionTimeMillis`.
    pub millis: Option<Located<u64>>,
    /// `totalDocsExamined`.
    pub examined: Option<u64>,
}

/// How an index scan bounded one field of its index.
#[derive(Debug, Clone)]
pub struct IndexBounds {
    /// The field's path.
    pub field: String,
    /// The list of intervals.
    pub span: Span,
    /// The intervals, in the order of the scan.
    pub intervals: Vec<IndexInterval>,
}

/// One interval of index bounds, as printed: a descending scan goes from the greater value to the lesser.
#[derive(Debug, Clone)]
pub struct IndexInterval {
    /// Where the scan of it begins, and whether that value belongs to it.
    pub first: (Node, bool),
    /// Where it ends, and whether that value belongs to it.
    pub last: (Node, bool),
}

impl IndexBounds {
    /// Whether every value of the field is scanned.
    #[must_use]
    pub fn is_everything(&self) -> bool {
        let is_end = |node: &Node| matches!(node.value, Value::MinKey | Value::MaxKey);
        matches!(self.intervals.as_slice(), [all] if is_end(&all.first.0) && is_end(&all.last.0))
    }
}
