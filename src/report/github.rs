//! Workflow commands of GitHub Actions, which become annotations beside the code. GitHub shows ten of each level per step
//! and drops the rest without a word, so the rest is counted here in a line of its own.

use std::io;

use super::RenderOptions;
use super::data::{Diagnostic, Report};
use super::escape::escape;
use super::place::Place;
use super::pretty::totals;
use super::wording::counted;
use crate::rules::Severity;

/// How many annotations of one level GitHub shows of one step.
const LIMIT: usize = 10;

/// The commands, by severity.
const LEVELS: [(Severity, &str, &str); 3] = [
    (Severity::Error, "error", "error"),
    (Severity::Warning, "warning", "warning"),
    (Severity::Info, "notice", "info"),
];

pub fn render(report: &Report, options: &RenderOptions, out: &mut dyn io::Write) -> io::Result<()> {
    let mut hidden = Vec::new();
    for (severity, command, noun) in LEVELS {
        // What is new is what a reviewer of this change should see first.
        let (known, new): (Vec<&Diagnostic>, Vec<&Diagnostic>) =
            report.diagnostics.iter().filter(|d| d.severity == severity).partition(|d| d.new == Some(false));
        let all: Vec<&Diagnostic> = new.into_iter().chain(known).collect();
        all.iter().take(LIMIT).try_for_each(|diagnostic| annotation(diagnostic, command, options, out))?;
        if all.len() > LIMIT {
            hidden.push(counted((all.len() - LIMIT) as u64, &format!("more {noun}")));
        }
    }
    for limit in report.limits.iter().filter(|limit| limit.exceeded) {
        writeln!(out, "::error title=limit::{}", data(&escape(&limit.words())))?;
    }
    if !hidden.is_empty() {
        writeln!(out, "{} not annotated: GitHub shows {LIMIT} of each level per step", hidden.join(", "))?;
    }
    writeln!(out, "{}", totals(report))
}

fn annotation(
    diagnostic: &Diagnostic,
    command: &str,
    options: &RenderOptions,
    out: &mut dyn io::Write,
) -> io::Result<()> {
    let mut properties = Vec::new();
    let place = Place::of(diagnostic, &options.root).map(|(place, _)| place);
    if let Some(place) = &place
        && let Some(file) = &place.file
    {
        properties.push(("file", escape(file)));
        properties.push(("line", place.line.to_string()));
        if let Some(range) = place.range {
            properties.push(("endLine", range.end_line.to_string()));
            // GitHub counts columns within one line only.
            if range.end_line == place.line {
                properties.push(("col", range.column.to_string()));
                properties.push(("endColumn", range.end_column.to_string()));
            }
        }
    }
    properties.push(("title", format!("{} {}", diagnostic.code, diagnostic.rule)));
    let properties: Vec<String> =
        properties.iter().map(|(name, value)| format!("{name}={}", property(value))).collect();
    let elsewhere = place.filter(|place| place.file.is_none());
    writeln!(out, "::{command} {}::{}", properties.join(","), data(&text(diagnostic, elsewhere.as_ref())))
}

/// The message, the shape, what it was before, what to do; each in a line of its own.
fn text(diagnostic: &Diagnostic, elsewhere: Option<&Place>) -> String {
    let mut lines = vec![escape(&diagnostic.message)];
    lines.extend(diagnostic.shape.as_ref().map(|shape| escape(shape)));
    lines.extend(diagnostic.standing());
    lines.extend(elsewhere.map(|place| format!("{}:{}", escape(&place.path), place.line)));
    lines.extend(diagnostic.help.as_ref().map(|help| escape(help)));
    lines.join("\n")
}

/// The text of a command, escaped as GitHub's toolkit does.
fn data(text: &str) -> String {
    text.replace('%', "%25").replace('\r', "%0D").replace('\n', "%0A")
}

/// The value of a command's property.
fn property(text: &str) -> String {
    data(text).replace(':', "%3A").replace(',', "%2C")
}
