//! What reports look like: the pictures that people see and the formats that programs read.

#![allow(clippy::unwrap_used)] // A test that cannot go on has failed.

#[path = "../binary/mod.rs"]
mod binary;
mod build;
mod exchange;
mod hostile;
mod machine;
mod pictures;
mod places;
mod schemas;
mod secrets;
