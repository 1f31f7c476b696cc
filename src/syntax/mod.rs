//! Text to model: the only place that knows nom and serde_json.

mod case;
pub mod declaration;
pub mod dump;
mod error;
pub mod ext_json;
mod guess;
pub mod index_list;
pub mod legacy;
pub mod operation;
mod outline;
pub mod recognize;
mod record;
pub mod shard_key;
pub mod shell;
mod structured;
mod wrapped;

pub use case::{case_id, parse_case};
pub use error::SyntaxError;
pub use guess::looks_like;
pub use outline::{Outline, Outliner};
pub use record::{Fact, Record, Role, read_record};
