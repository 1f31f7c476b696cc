//! Bytes: which files an argument stands for, what is inside a `.gz` or `.zst`, and newline-aligned chunks of it.
//!
//! Offsets and lines are those of the decompressed stream. What the bytes mean is not known here.

mod chunks;
mod discover;
mod error;
mod follow;
mod open;

pub use chunks::{Chunk, Chunks, DEFAULT_CHUNK_SIZE, LINE_CAP, Piece};
pub use discover::{Discovery, discover};
pub use error::InputError;
pub use follow::Generations;
pub use open::Input;
