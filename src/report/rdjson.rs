//! Reviewdog's diagnostic format, one object. Columns are those of the report: 1-based, in bytes of UTF-8, the end exclusive.
//! Some of reviewdog's reporters post messages as Markdown, so they are written as such.

use std::io;

use serde::Serialize;

use super::RenderOptions;
use super::data::{Diagnostic, LimitResult, Report};
use super::escape::escape;
use super::inline;
use super::json::write_pretty;
use super::pages::page;
use super::place::{NO_FILE, Place};
use crate::rules::Severity;

#[derive(Serialize)]
struct DiagnosticResult {
    source: Source,
    diagnostics: Vec<Finding>,
}

#[derive(Serialize)]
struct Source {
    name: &'static str,
}

#[derive(Serialize)]
struct Finding {
    message: String,
    location: FindingLocation,
    severity: &'static str,
    code: Code,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    related_locations: Vec<Related>,
}

#[derive(Serialize)]
struct FindingLocation {
    path: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    range: Option<FindingRange>,
}

#[derive(Serialize)]
struct FindingRange {
    start: Position,
    #[serde(skip_serializing_if = "Option::is_none")]
    end: Option<Position>,
}

#[derive(Serialize)]
struct Position {
    line: u64,
    #[serde(skip_serializing_if = "Option::is_none")]
    column: Option<u64>,
}

#[derive(Serialize)]
struct Code {
    value: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    url: Option<String>,
}

#[derive(Serialize)]
struct Related {
    message: String,
    location: FindingLocation,
}

pub fn render(report: &Report, options: &RenderOptions, out: &mut dyn io::Write) -> io::Result<()> {
    let findings = report.diagnostics.iter().filter_map(|diagnostic| finding(diagnostic, options));
    let exceeded = report.limits.iter().filter(|limit| limit.exceeded).map(exceeded);
    let diagnostics = findings.chain(exceeded).collect();
    write_pretty(&DiagnosticResult { source: Source { name: env!("CARGO_PKG_NAME") }, diagnostics }, out)?;
    writeln!(out)
}

fn finding(diagnostic: &Diagnostic, options: &RenderOptions) -> Option<Finding> {
    let (place, is_application) = Place::of(diagnostic, &options.root)?;
    let shown = usize::from(!is_application);
    let related = diagnostic.example.labels.iter().skip(shown).map(|label| Related {
        message: inline::markdown(&label.text),
        location: location(&Place::at(&label.location, &options.root)),
    });
    Some(Finding {
        message: message(diagnostic),
        location: location(&place),
        severity: match diagnostic.severity {
            Severity::Error => "ERROR",
            Severity::Warning => "WARNING",
            Severity::Info => "INFO",
        },
        code: Code { value: diagnostic.code, url: page(diagnostic.code) },
        related_locations: related.collect(),
    })
}

/// A limit that is exceeded, which stands nowhere.
fn exceeded(limit: &LimitResult) -> Finding {
    Finding {
        message: inline::markdown(&limit.words()),
        location: FindingLocation { path: NO_FILE.to_owned(), range: None },
        severity: "ERROR",
        code: Code { value: "max-broadcast-share", url: None },
        related_locations: Vec::new(),
    }
}

fn message(diagnostic: &Diagnostic) -> String {
    let mut text = inline::markdown(&diagnostic.message);
    text.extend(diagnostic.shape.as_ref().map(|shape| format!(": {}", inline::code(shape))));
    text.extend(diagnostic.standing().map(|standing| format!("; {standing}")));
    text.extend(diagnostic.help.as_ref().map(|help| format!("; {}", inline::markdown(help))));
    text
}

fn location(place: &Place) -> FindingLocation {
    let end = place.range.map(|range| Position { line: range.end_line, column: Some(range.end_column) });
    let start = Position { line: place.line, column: place.range.map(|range| range.column) };
    let range = place.is_in_file().then_some(FindingRange { start, end });
    FindingLocation { path: escape(place.file_or_name()), range }
}
