//! Data to bytes. A reporter is pure: the same [`Report`] and options give the same bytes; no clock, no globals.
//!
//! Whatever comes from an input (names, shapes, snippets, comments, paths) may have been chosen by an attacker, so
//! every text format shows control characters, bidirectional overrides and invalid UTF-8 escaped, never raw.

mod comparison;
mod concise;
mod data;
mod escape;
mod excerpt;
mod frame;
mod github;
mod gitlab;
mod identity;
mod inline;
mod json;
mod jsonl;
mod junit;
mod markdown;
mod pages;
mod place;
mod pretty;
#[cfg(test)]
mod properties;
mod rdjson;
mod redact;
mod retouch;
mod sarif;
mod statistics;
mod summary;
mod wording;
mod wrap;

use std::io;
use std::path::PathBuf;

use crate::rules::Severity;

pub use comparison::comparison;
pub use data::{
    Change, ChangeKind, ClassCount, Comparison, Diagnostic, Example, ExampleLabel, KeyCoverage, LimitResult, Location,
    NotChecked, ProcessRow, Report, SeenOnShards, ShapeRow, Summary, UnreadLine,
};
pub use escape::{escape, escape_bytes};
pub use json::{schema, write_pretty};
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
    /// SARIF 2.1.0, for code scanning.
    Sarif,
    /// JUnit XML, for the tests' tab of a CI system.
    Junit,
    /// Workflow commands of GitHub Actions.
    Github,
    /// GitLab's Code Quality report.
    Gitlab,
    /// Reviewdog's diagnostic format.
    Rdjson,
    /// A comment for a pull request.
    Markdown,
}

impl Format {
    /// Whether such reports leave the team's machines: then literals are hidden unless asked for.
    #[must_use]
    pub fn is_for_sharing(self) -> bool {
        !matches!(self, Self::Pretty | Self::Concise | Self::Json | Self::Jsonl)
    }

    /// Whether a table of rules can be written in it.
    #[must_use]
    pub fn has_statistics(self) -> bool {
        !self.is_for_sharing() || self == Self::Markdown
    }
}

/// What the command line decided about the looks. Machine formats ignore colour and width.
#[derive(Debug, Clone, PartialEq, Eq)]
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
    /// Write the diagnostics; formats for people leave them out where they have been told already.
    pub diagnostics: bool,
    /// Types instead of literals; `None`: in formats for sharing.
    pub redact: Option<bool>,
    /// The working directory: places below it are linked, others are mere text.
    pub root: PathBuf,
    /// The severity from which findings fail a run; `None` if none does.
    pub fails_from: Option<Severity>,
}

impl RenderOptions {
    /// Whether a finding of that severity fails the run.
    #[must_use]
    pub fn fails(&self, severity: Severity) -> bool {
        self.fails_from.is_some_and(|least| severity >= least)
    }
}

impl Default for RenderOptions {
    fn default() -> Self {
        Self {
            color: false,
            unicode: true,
            width: 100,
            top: 10,
            summary: true,
            diagnostics: true,
            redact: None,
            root: PathBuf::new(),
            fails_from: Some(Severity::Error),
        }
    }
}

/// Writes `report` to `out`.
///
/// # Errors
///
/// Those of `out`.
pub fn render(report: &Report, format: Format, options: &RenderOptions, out: &mut dyn io::Write) -> io::Result<()> {
    let shown = redact::shown(report, options.redact.unwrap_or(format.is_for_sharing()));
    match format {
        Format::Pretty => pretty::render(&shown, options, out),
        Format::Concise => concise::render(&shown, options, out),
        Format::Json => json::render(&shown, out),
        Format::Jsonl => jsonl::render(&shown, out),
        Format::Sarif => sarif::render(report, &shown, options, out),
        Format::Junit => junit::render(&shown, options, out),
        Format::Github => github::render(&shown, options, out),
        Format::Gitlab => gitlab::render(&shown, options, out),
        Format::Rdjson => rdjson::render(&shown, options, out),
        Format::Markdown => markdown::render(&shown, options, out),
    }
}
