//! The value-free text of a statement. Equal shapes route alike (but for values that lie on different chunks) and have equal
//! fingerprints in every release; `docs/fingerprints.md` is the specification.

mod expression;
mod filter;
mod pipeline;
mod statement;
mod writer;

pub use statement::Shape;
