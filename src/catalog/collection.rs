//! One declared collection.

use rustc_hash::FxHashSet;

use crate::model::{ChunkMap, Distribution, IndexSpec, KeyCharacteristics, Node, ShardKey, ZoneRange};
use crate::text::{Located, SourceId, Span};

use super::pattern;

/// How a collection is spread.
#[derive(Debug, Clone)]
pub enum Sharding {
    /// Sharded by a key.
    Sharded(ShardKey),
    /// A key was declared, but no server takes it (`Collection::key_pattern` has it).
    Invalid,
    /// Declared to lie on one shard.
    Unsharded,
    /// Only indexes are known; nothing says whether it is sharded.
    Undeclared,
}

/// The indexes of a collection, as far as declarations tell them.
#[derive(Debug, Clone, Default)]
pub struct IndexList {
    /// Each with the declaration source it was read from.
    pub specs: Vec<(SourceId, IndexSpec)>,
    /// A dump listed them all; otherwise only statements are known.
    pub complete: bool,
}

impl IndexList {
    pub(super) fn add(&mut self, source: SourceId, indexes: &[IndexSpec]) {
        self.specs.extend(indexes.iter().map(|index| (source, index.clone())));
    }

    /// Of indexes that are declared several times the first declaration stays.
    pub(super) fn drop_repeated(&mut self) {
        let mut known = FxHashSet::default();
        self.specs.retain(|(_, index)| known.insert(pattern::identity(index)));
    }
}

/// One declared collection. `pattern` may be a glob.
#[derive(Debug, Clone)]
pub struct Collection {
    /// The namespace, or a glob over namespaces.
    pub pattern: String,
    /// How it is spread.
    pub sharding: Sharding,
    /// The key pattern as written, valid or not.
    pub key_pattern: Option<Node>,
    /// The source whose statement declared the sharding (or the first index).
    pub source: SourceId,
    /// The key was declared unique: where.
    pub unique_key: Option<Located<bool>>,
    /// The collection's default collation, if declared.
    pub collation: Option<Node>,
    /// Known indexes.
    pub indexes: IndexList,
    /// Known chunks.
    pub chunks: Option<ChunkMap>,
    /// What was measured of the key's values.
    pub characteristics: Option<(SourceId, KeyCharacteristics)>,
    /// How much each shard holds.
    pub distribution: Option<(SourceId, Distribution)>,
    /// Chunks that are marked as too large to move.
    pub jumbo: Vec<(SourceId, Span)>,
    /// The ranges of zones, in the order of the key. The router never reads them.
    pub zones: Vec<ZoneRange>,
}

impl Collection {
    /// Whether it is known how its documents are spread: by a valid key, or not at all.
    #[must_use]
    pub fn says_where_documents_lie(&self) -> bool {
        matches!(self.sharding, Sharding::Sharded(_) | Sharding::Unsharded)
    }

    /// Whether the pattern stands for several namespaces.
    #[must_use]
    pub fn is_glob(&self) -> bool {
        self.pattern.contains(['*', '?', '[', '{'])
    }

    /// Whether the pattern leaves the database open.
    pub(super) fn is_of_any_database(&self) -> bool {
        let database = self.pattern.split('.').next().unwrap_or_default();
        database.contains(['*', '?', '[', '{'])
    }

    /// Whether it is declared to lie on one shard.
    #[must_use]
    pub fn is_unsharded(&self) -> bool {
        matches!(self.sharding, Sharding::Unsharded)
    }

    /// A collection of which only the name is known.
    #[must_use]
    pub fn new(pattern: &str, source: SourceId) -> Self {
        Self {
            pattern: pattern.to_owned(),
            sharding: Sharding::Undeclared,
            key_pattern: None,
            source,
            unique_key: None,
            collation: None,
            indexes: IndexList::default(),
            chunks: None,
            characteristics: None,
            distribution: None,
            jumbo: Vec::new(),
            zones: Vec::new(),
        }
    }

    /// A collection of which only the key is known.
    #[must_use]
    pub fn sharded(pattern: &str, key: ShardKey, source: SourceId) -> Self {
        Self { sharding: Sharding::Sharded(key), ..Self::new(pattern, source) }
    }

    /// The key, if the collection is sharded.
    #[must_use]
    pub fn shard_key(&self) -> Option<&ShardKey> {
        match &self.sharding {
            Sharding::Sharded(key) => Some(key),
            Sharding::Unsharded | Sharding::Undeclared | Sharding::Invalid => None,
        }
    }

    /// Takes over what a more general declaration says and this one leaves open.
    pub(super) fn complete_from(&mut self, general: &Self) {
        if matches!(self.sharding, Sharding::Undeclared) {
            self.sharding = general.sharding.clone();
            self.key_pattern = general.key_pattern.clone();
            self.unique_key = general.unique_key.clone();
            self.source = general.source;
        }
        self.collation = self.collation.take().or_else(|| general.collation.clone());
        if !self.indexes.complete {
            self.indexes.specs.extend(general.indexes.specs.iter().cloned());
            self.indexes.drop_repeated();
            self.indexes.complete = general.indexes.complete;
        }
    }
}
