//! Text to model: the only place that knows nom and serde_json.

mod case;
mod comment;
pub mod declaration;
mod document;
pub mod dump;
mod error;
mod explain;
pub mod ext_json;
pub mod frame;
mod guess;
mod heading;
pub mod index_list;
pub mod legacy;
pub mod operation;
mod outline;
mod place;
mod plain_json;
mod profile;
pub mod recognize;
mod record;
mod scanner;
pub mod shard_key;
pub mod shell;
mod shell_talk;
mod split;
mod structured;
mod wrapped;

pub use case::{case_id, parse_case};
pub use comment::{SentFrom, sent_from};
pub use error::SyntaxError;
pub use guess::looks_like;
pub use heading::{Heading, heading, is_idle, is_whole};
pub use outline::{Found, Marks, Outline, Outliner, Pattern, Patterns, Told, clean, is_idle_text};
pub use record::{Fact, Part, Record, Role, Trouble, read_record};
