//! Positions in text, and the specified hash behind fingerprints. Depends on nothing else in the crate.

mod fingerprint;
mod line_index;
mod span;

pub use fingerprint::Fingerprint;
pub use line_index::{LineColumn, LineIndex};
pub use span::{Located, RecordPos, SourceId, Span};
