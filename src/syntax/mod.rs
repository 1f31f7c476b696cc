//! Text to model: the only place that knows nom and serde_json.

mod error;
mod record;

pub use error::SyntaxError;
pub use record::{Fact, Record, Role};
