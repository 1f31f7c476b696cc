//! What has to hold for any bytes whatever, one function for each fuzz target. A function panics where it does not hold.
//!
//! That nothing panics is the least of it: spans lie inside what was read, values that were read and printed are read
//! again as the same, accounts add up, and neither threads nor the size of chunks show. The functions are plain, so that
//! `tests/replay.rs` runs them on the seeds without a fuzzer.

#![forbid(unsafe_code)]

mod check;
mod declarations;
mod documents;
mod log_line;
mod print;
mod route;
pub mod seeds;
mod shell;
mod spans;

pub use check::check;
pub use declarations::declarations;
pub use documents::documents;
pub use log_line::{legacy, structured};
pub use route::route;
pub use shell::shell_document;

/// A target: its name in `fuzz_targets/`, and what has to hold.
pub type Target = (&'static str, fn(&[u8]));

/// All targets.
pub const TARGETS: [Target; 7] = [
    ("shell_document", shell_document),
    ("declarations", declarations),
    ("structured", structured),
    ("legacy", legacy),
    ("documents", documents),
    ("route", route),
    ("check", check),
];
