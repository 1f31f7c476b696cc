//! What reports look like: the pictures that people see and the formats that programs read.

mod build;
mod machine;
mod pictures;
