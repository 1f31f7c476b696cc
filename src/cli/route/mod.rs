//! `shardlint route`: what would the router do with this operation? For people one that is typed as in the shell, for
//! programs cases in JSON lines.

mod cases;
mod typed;

use std::path::PathBuf;

use clap::{Args, ValueEnum};

use crate::model::ServerVersion;

use super::args::ColorWhen;

const EXAMPLES: &str = "\
Examples:
  shardlint route --schema sharding.js 'db.orders.find({ status: \"A\" }).sort({ ts: -1 })'
  shardlint route --shard-key 'shop.orders={ customerId: 1 }' --explain 'db.orders.find({ customerId: { $in: [1, 2] } })'
  shardlint route --cases cases.jsonl";

/// The arguments of `route`.
#[derive(Debug, Args)]
#[command(before_help = EXAMPLES)]
pub struct RouteArgs {
    /// An operation as typed into the shell; `-` or nothing reads it from standard input.
    #[arg(value_name = "OPERATION", conflicts_with = "cases")]
    operation: Option<String>,
    /// Answer the cases in FILE, JSON lines (`-` for standard input), with one JSON line each.
    #[arg(long, value_name = "FILE")]
    cases: Option<PathBuf>,
    /// A shard key: 'shop.orders={ customerId: 1, _id: 1 }', or 'crm.accounts=unsharded'.
    #[arg(long, value_name = "NS=KEY")]
    shard_key: Vec<String>,
    /// A file with declarations.
    #[arg(long, value_name = "[NS=]FILE")]
    schema: Vec<String>,
    /// The server version whose rules hold; otherwise the newest.
    #[arg(long, value_name = "VERSION")]
    server_version: Option<ServerVersion>,
    /// Show the bounds of each key field and the key ranges.
    #[arg(long)]
    explain: bool,
    /// Text, or JSON for programs.
    #[arg(long, short = 'f', value_name = "FORMAT", default_value = "text")]
    format: RouteFormat,
    /// Colours.
    #[arg(long, value_name = "WHEN", default_value = "auto")]
    color: ColorWhen,
}

/// The formats of an answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum RouteFormat {
    /// For people.
    Text,
    /// One object for each statement, in an array.
    Json,
}

/// Runs `route`.
///
/// # Errors
/// If the question cannot be understood: no such operation, no key declared for its collection, unreadable cases.
pub fn route(args: &RouteArgs) -> anyhow::Result<u8> {
    match &args.cases {
        Some(cases) => cases::answer(cases),
        None => typed::answer(args),
    }
}
