//! shardlint judges MongoDB queries against a shard key: which go to one shard, which to several, which to all, and why.
//!
//! The road that data takes, each stage a module that may only use those to its left:
//!
//! ```text
//! bytes ── input ──▶ records ── syntax ──▶ events ── routing ──▶ verdicts ── rules ──▶ findings ── engine ──▶ diagnostics ── report ──▶ bytes
//!                                           ▲
//!  declarations (sharding.js, shardlint.toml, dumps) ── syntax ──▶ catalog ┘
//! ```

pub mod baseline;
pub mod catalog;
pub mod cli;
pub mod config;
pub mod engine;
pub mod input;
pub mod model;
pub mod report;
pub mod routing;
pub mod rules;
pub mod syntax;
pub mod text;
