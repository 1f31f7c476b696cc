//! What is known about the cluster: keys, indexes, chunks, shards, version. Merged from all declarations of a run.

mod builder;
mod chunks;
mod collection;
mod dump;
mod index_support;
mod lookup;
mod pattern;
mod unique_index;
mod zones;

pub use builder::{Builder, Conflict};
pub use collection::{Collection, IndexList, Sharding};
pub use index_support::{Candidate, Support, Unfit, is_simple_collation, starts_with_key};
pub use lookup::{Catalog, NamespaceMap, nearest};
pub use unique_index::{RefusedUniqueKey, is_led_by_id, keeps_uniqueness};
