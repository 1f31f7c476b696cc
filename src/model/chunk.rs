//! Where the chunks of a collection lie.

use super::value::Value;

/// One chunk: `[min, max)` in shard-key space, and its owner.
#[derive(Debug, Clone)]
pub struct Chunk {
    /// Lower bound, one value per key field (hashes for hashed fields).
    pub min: Vec<Value>,
    /// Upper bound, exclusive.
    pub max: Vec<Value>,
    /// The owner's name.
    pub shard: String,
}

/// All chunks of a collection, sorted by `min`.
#[derive(Debug, Clone, Default)]
pub struct ChunkMap {
    /// The chunks, sorted.
    pub chunks: Vec<Chunk>,
}

impl ChunkMap {
    /// How many shards own at least one chunk.
    #[must_use]
    pub fn owner_count(&self) -> usize {
        let mut owners: Vec<&str> = self.chunks.iter().map(|chunk| chunk.shard.as_str()).collect();
        owners.sort_unstable();
        owners.dedup();
        owners.len()
    }
}
