//! Data to bytes. A reporter is pure: the same [`Report`] and options give the same bytes; no clock, no globals.
//!
//! Whatever comes from an input (names, shapes, snippets, comments, paths) may have been chosen by an attacker, so
//! every text format shows control characters, bidirectional overrides and invalid UTF-8 escaped, never raw.

mod concise;
mod data;
mod escape;
mod excerpt;
mod frame;
mod json;
mod jsonl;
mod pretty;
#[cfg(test)]
mod properties;
mod retouch;
mod statistics;
mod summary;
mod wording;
mod wrap;

use std::io;

pub use data::{
    Change, ChangeKind, ClassCount, Comparison, Diagnostic, Example, ExampleLabel, LimitResult, Location, NotChecked,
    Report, ShapeRow, Summary, UnreadLine,
};
pub use escape::{escape, escape_bytes};
pub use json::write_pretty;
pub use statistics::statistics;

/// How a report is written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Format {
    /// For people: excerpts with labels, then the summary.
    Pretty,
    /// One line per diagnostic, `path:line:col: severity: message [code]`.
    Concise,
    /// One object, the contract of `check --format json`.
    Json,
    /// One object per line: diagnostics, shapes, and the summary last.
    Jsonl,
}

/// What the command line decided about the looks. Machine formats ignore it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RenderOptions {
    /// Write colour codes.
    pub color: bool,
    /// Draw with box characters and `…`; otherwise with ASCII.
    pub unicode: bool,
    /// Columns of the terminal.
    pub width: usize,
    /// How many shapes the summary lists.
    pub top: usize,
    /// Write the summary after the diagnostics.
    pub summary: bool,
}

impl Default for RenderOptions {
    fn default() -> Self {
        Self { color: false, unicode: true, width: 100, top: 10, summary: true }
    }
}

/// Writes `report` to `out`.
///
/// # Errors
///
/// Those of `out`.
pub fn render(report: &Report, format: Format, options: &RenderOptions, out: &mut dyn io::Write) -> io::Result<()> {
    match format {
        Format::Pretty => pretty::render(report, options, out),
        Format::Concise => concise::render(report, options, out),
        Format::Json => json::render(report, out),
        Format::Jsonl => jsonl::render(report, out),
    }
}
