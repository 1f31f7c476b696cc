//! What reports look like: the pictures, the machine formats, and the properties that hold for any input.

mod build;
mod machine;
mod pictures;
mod properties;
