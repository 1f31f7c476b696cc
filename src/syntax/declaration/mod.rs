//! What scripts declare about a cluster, statement by statement, with a span on everything that a finding may point at.

mod arguments;
mod command;
mod index;
mod interpret;
mod method;
mod statement;
mod zone;

pub(super) use index::listed_index;
pub use interpret::declarations;
pub use statement::{Declaration, Declarations, Declared, KeyChange, Target};
pub use zone::ZoneStatement;
