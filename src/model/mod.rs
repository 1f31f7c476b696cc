//! The domain: BSON values with spans, namespaces, shard keys, indexes, operations and events.
//! No parsing and no printing of reports; the names are those of the MongoDB manual.

mod case;
mod chunk;
mod decimal;
mod event;
mod index;
mod measured;
mod namespace;
mod order;
mod plan;
mod shape;
mod shard_key;
mod statement;
mod value;
mod version;
mod zone;

pub use case::RoutingCase;
pub use chunk::{Chunk, ChunkMap};
pub use decimal::Decimal128;
pub use event::{Event, OperationName, Origin, Traffic};
pub use index::IndexSpec;
pub use measured::{Distribution, KeyCharacteristics, ShardPart};
pub use namespace::Namespace;
pub use order::{canonical_type, compare, compare_documents};
pub use plan::{IndexBounds, IndexInterval, Plan, ShardPlan};
pub use shape::Shape;
pub use shard_key::{KeyField, KeyKind, ShardKey};
pub use statement::{Statement, Verb};
pub use value::{Array, Document, Field, Node, Value};
pub use version::ServerVersion;
pub use zone::{WrittenZoneRange, ZoneRange};
