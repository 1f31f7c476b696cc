//! `shardlint.toml`: where it is found, what it may say, what is wrong with it in place. What its values mean for a run is
//! settled here too; that flags and the environment overrule them is the command line's business.

mod discover;
mod file;
mod leaves;
mod read;
mod resolve;

pub use discover::discover;
pub use file::{File, Ignore, Part, Rules, Strings};
pub use leaves::Leaf;
pub use read::{Config, Problem};
pub use resolve::Resolved;

/// The name of the file.
pub const NAME: &str = "shardlint.toml";
