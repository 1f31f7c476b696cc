//! The baseline: what a project knows and has accepted, as a file that people review. Holds a run against it: which
//! findings are new, which shapes are worse, better, gone. Judging and layout are left to others.

mod compare;
mod file;
mod revise;

pub use compare::{Gate, Held, compare};
pub use file::{Baseline, FindingEntry, Hash, Recorded, ShapeEntry, Unusable, looks_like_baseline};
pub use revise::{pruned, recorded, updated};
