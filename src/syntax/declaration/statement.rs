//! The types of declarations. They say what a statement says; whether a server would take it is for the rules.

use crate::model::{IndexSpec, Node};
use crate::syntax::error::SyntaxError;
use crate::text::{Located, Span};

use super::zone::ZoneStatement;

/// What one script declares.
#[derive(Debug, Clone, Default)]
pub struct Declarations {
    /// The declarations, in order.
    pub statements: Vec<Declared>,
    /// What it says about zones, in order.
    pub zones: Vec<ZoneStatement>,
    /// Malformed statements about sharding, indexes or zones, in place.
    pub errors: Vec<SyntaxError>,
    /// Where the other statements stand, which were passed over.
    pub passed_over: Vec<Span>,
}

/// One declaration.
#[derive(Debug, Clone)]
pub struct Declared {
    /// What it is about.
    pub target: Target,
    /// What it says.
    pub what: Declaration,
    /// The whole statement, as far as it was understood.
    pub span: Span,
}

/// The collection that a declaration is about; both names may be globs.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Target {
    /// The database, unless the script leaves it to the connection (`db.orders` without a `use`).
    pub database: Option<String>,
    /// The collection.
    pub collection: String,
    /// Where it is named.
    pub span: Span,
}

/// How a shard key comes about.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum KeyChange {
    /// `shardCollection`.
    Shard,
    /// `refineCollectionShardKey`: replaces the key before it.
    Refine,
    /// `reshardCollection`: replaces the key before it.
    Reshard,
}

/// What a declaration says about its collection.
#[derive(Debug, Clone)]
pub enum Declaration {
    /// It is sharded.
    Key {
        /// For the first time, or anew.
        change: KeyChange,
        /// The key pattern as written, valid or not.
        pattern: Node,
        /// The `unique` that was given, and where.
        unique: Option<Located<bool>>,
    },
    /// It lies on one shard.
    Unsharded,
    /// It has these indexes.
    Indexes(Vec<IndexSpec>),
    /// It was created with these properties.
    Created {
        /// The default collation.
        collation: Option<Node>,
        /// The index by which it is clustered.
        clustered: Option<Box<IndexSpec>>,
    },
}
