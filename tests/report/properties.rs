//! What holds for any input.
