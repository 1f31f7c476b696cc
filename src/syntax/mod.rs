//! Text to model: the only place that knows nom and serde_json.

mod error;
pub mod ext_json;
mod record;
pub mod shell;

pub use error::SyntaxError;
pub use record::{Fact, Record, Role};
