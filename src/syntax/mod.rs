//! Text to model: the only place that knows nom and serde_json.

mod error;
pub mod ext_json;
mod guess;
mod record;
pub mod shell;
mod structured;

pub use error::SyntaxError;
pub use guess::looks_like;
pub use record::{Fact, Record, Role, read_record};
