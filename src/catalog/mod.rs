//! What is known about the cluster: keys, indexes, chunks, shards, version. Merged from all declarations of a run.

mod collection;
mod lookup;

pub use collection::{Collection, IndexList, Sharding};
pub use lookup::{Catalog, NamespaceMap};
