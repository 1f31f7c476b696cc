//! A question to the router that carries its own cluster: what `route --cases` reads and what the recorded truth consists of.

use super::chunk::ChunkMap;
use super::namespace::Namespace;
use super::shard_key::ShardKey;
use super::statement::Statement;
use super::value::Node;
use super::version::ServerVersion;

/// One case of `route --cases` (the members are told in `oracle/README.md` of the recordings).
#[derive(Debug, Clone)]
pub struct RoutingCase {
    /// The operation.
    pub statement: Statement,
    /// The key of `statement.namespace` (with `outer`: of the foreign collection).
    pub shard_key: ShardKey,
    /// All chunks, if known.
    pub chunks: Option<ChunkMap>,
    /// All shards of the cluster, chunkless ones too, if known.
    pub all_shards: Option<Vec<String>>,
    /// The collection's default collation.
    pub collection_collation: Option<Node>,
    /// The command ran on this unsharded collection; the question is where the foreign collection of its pipeline is read.
    pub outer: Option<Namespace>,
    /// The version whose rules hold.
    pub version: ServerVersion,
}
