//! Which format is this record, and what does it tell?

use crate::model::{Event, ServerVersion};

use super::error::SyntaxError;

/// The role of the process that wrote a log.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Role {
    /// A mongos.
    Router,
    /// A mongod of a shard.
    Shard,
    /// A mongod of the config server.
    Config,
}

/// What a record other than a slow query tells about the process.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Fact {
    /// Nothing that matters here.
    Plain,
    /// Build Info (23403): the version.
    Version(ServerVersion),
    /// Options (21951): the role.
    Role(Role),
    /// SERVER RESTARTED (20698): version and role may change after it.
    Restart,
}

/// One record of a log.
#[derive(Debug, Clone)]
pub enum Record {
    /// A slow query (51803).
    Slow(Box<Event>),
    /// A record of another kind, blank lines among them.
    Other(Fact),
    /// No known format explains it.
    Bad(SyntaxError),
}
