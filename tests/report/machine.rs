//! The formats that programs read.
