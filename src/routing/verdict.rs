//! The answer of the router, and why: data from the steps of the procedure, never re-derived.

use std::fmt;

use crate::text::Span;

/// Where a statement goes, independent of where chunks lie.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Class {
    /// The collection is declared to lie on one shard.
    Unsharded,
    /// One key value: one shard, wherever chunks are.
    Targeted,
    /// The key space is bounded: one shard or several, by placement.
    MultiShard,
    /// Nothing can tell: redacted, truncated or not understood.
    Unknown,
    /// Nothing bounds the key space: every owning shard.
    Broadcast,
}

impl Class {
    /// The name in reports and baselines.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Unsharded => "unsharded",
            Self::Targeted => "targeted",
            Self::MultiShard => "multi-shard",
            Self::Unknown => "unknown",
            Self::Broadcast => "broadcast",
        }
    }
}

impl fmt::Display for Class {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// An error that the router raises instead of contacting shards.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RouterError {
    /// MongoDB's error code.
    pub code: i32,
    /// MongoDB's name of the code.
    pub name: &'static str,
}

/// How one field of the shard key is bounded.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum FieldBounds {
    /// Not at all: MinKey to MaxKey.
    Free,
    /// To this many single values.
    Points(usize),
    /// To this many intervals, of which some are more than a point.
    Intervals(usize),
    /// To whole type brackets or the complement of points: next to nothing is ruled out.
    NearlyFree,
    /// No value can match.
    Empty,
    /// What is left of a cut or redacted record does not tell.
    Unknown,
}

/// How one field of the shard key is bounded, and by what.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FieldBinding {
    /// The key field's path.
    pub path: String,
    /// Its bounds.
    pub bounds: FieldBounds,
    /// The first of them as MongoDB prints them, `[5, inf.0]`; none unless [`super::Cluster::explain`] asks for them.
    pub intervals: Vec<String>,
    /// The predicates in the record that mention the field (name and value), used or not.
    pub predicates: Vec<Span>,
}

/// Why the class is what it is. Spans lie in the record.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Cause {
    /// The collection is not sharded.
    Unsharded,
    /// One value for every key field.
    SingleKey,
    /// Bounds on a prefix of the key: some ranges.
    KeyRanges {
        /// How many ranges of the whole key.
        ranges: usize,
    },
    /// The filter can match nothing: one shard is asked.
    Unsatisfiable,
    /// An insert: one shard per document.
    Insert,
    /// There is no filter, or an empty one.
    NoFilter,
    /// The filter does not mention any key field.
    NoKeyField,
    /// Later key fields are mentioned, the first is not.
    PrefixHole {
        /// The predicates on later key fields.
        present: Vec<Span>,
    },
    /// One branch of an `$or` has no usable predicate on the first key field, so the whole `$or` has none.
    OrBranchWithoutKey {
        /// The `$or`, its name included.
        or: Span,
        /// The branch.
        branch: Span,
    },
    /// A range, regex, `$ne` … on a hashed first field.
    RangeOnHashed {
        /// The predicate.
        predicate: Span,
    },
    /// Predicates on the first key field that rule out next to nothing (`$ne`, `$nin`, `$not`, `$exists: true`, `$type`, `/x/`).
    NearlyFree {
        /// The predicate.
        predicate: Span,
        /// The operator as the user knows it: `$ne`, `regex`, `$type` …
        operator: String,
    },
    /// A string, object or array value of a key field under a non-simple collation.
    Collation {
        /// The predicate.
        predicate: Span,
        /// The collation given with the command; `None` is the collection's default.
        collation: Option<Span>,
    },
    /// The key field is there, but in a form that the router cannot use (`$expr`, `$where`, `{a: {b: v}}` …).
    Hidden {
        /// The predicate.
        predicate: Span,
        /// The form: `$expr`, `$where`, `sub-document` …
        form: String,
    },
    /// The pipeline has a `$match` on the key behind a stage that it cannot move past.
    MatchBehindStage {
        /// The `$match`.
        matching: Span,
        /// The stage in the way.
        stage: Span,
        /// Its name, such as `$limit`.
        name: String,
    },
    /// A multi-write that is not targeted goes to every shard of the cluster.
    MultiWrite,
    /// A write by `_id` alone, where `_id` is not the key: every shard.
    IdOnlyWrite,
    /// A single write or findAndModify without the key: an error up to 7.0, a two-phase search later.
    SingleWriteWithoutKey,
    /// An upsert without the full key.
    UpsertWithoutKey,
    /// A stage that always asks every shard (`$changeStream`, `$currentOp` …).
    WholeClusterStage {
        /// The stage.
        stage: Span,
        /// Its name.
        name: String,
    },
    /// The record is cut, and what was lost could decide.
    Truncated,
    /// A redacted literal decides.
    Redacted {
        /// The literal.
        literal: Span,
    },
    /// Something is not understood, and it could decide.
    NotUnderstood {
        /// What.
        part: Span,
        /// Why, for the reader.
        why: String,
    },
    /// A document without `_id`, which is part of the key: the server makes it up.
    GeneratedId,
    /// The batch's statements are not in the record.
    StatementsMissing,
}

/// Why a verdict is what it is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Reason {
    /// What decided.
    pub cause: Cause,
    /// How each key field is bounded, in key order; empty where the procedure ended before bounds.
    pub bindings: Vec<FieldBinding>,
    /// Rules that differ between server versions and that this verdict used, as text for the reader
    /// (`single writes without the key: two-phase since 7.1`).
    pub version_rules: Vec<&'static str>,
    /// The first of the key ranges as MongoDB prints values, `[5, MinKey] .. [5, MaxKey]`; none unless
    /// [`super::Cluster::explain`] asks for them.
    pub ranges: Vec<String>,
}

/// What the router does with a statement.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Verdict {
    /// Independent of chunks.
    pub class: Class,
    /// Exactly the shards contacted, sorted; `None` without a chunk map.
    pub shards: Option<Vec<String>>,
    /// Without a chunk map: at most this many shards, where the class bounds it (`$in` of 3: at most 3).
    pub at_most: Option<usize>,
    /// The router refuses.
    pub error: Option<RouterError>,
    /// A read on all targeted shards picks a document, then one shard writes (since 7.1).
    pub two_phase: bool,
    /// Why.
    pub reason: Reason,
}
