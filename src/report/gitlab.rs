//! GitLab's Code Quality report: an array of issues, each with a fingerprint by which GitLab compares two pipelines.
//! Its paths are those of the repository, so a place elsewhere is given by its last name.

use std::collections::BTreeMap;
use std::io;

use serde::Serialize;

use super::RenderOptions;
use super::data::{Diagnostic, LimitResult, Report};
use super::escape::escape;
use super::json::write_pretty;
use super::place::{NO_FILE, Place};
use crate::rules::Severity;
use crate::text::Fingerprint;

#[derive(Serialize)]
struct Issue {
    description: String,
    check_name: &'static str,
    fingerprint: String,
    severity: &'static str,
    location: IssueLocation,
}

#[derive(Serialize)]
struct IssueLocation {
    path: String,
    lines: Lines,
}

#[derive(Serialize)]
struct Lines {
    begin: u64,
    #[serde(skip_serializing_if = "Option::is_none")]
    end: Option<u64>,
}

pub fn render(report: &Report, options: &RenderOptions, out: &mut dyn io::Write) -> io::Result<()> {
    let mut seen = BTreeMap::new();
    let findings = report.diagnostics.iter().filter_map(|diagnostic| {
        let (place, _) = Place::of(diagnostic, &options.root)?;
        let identity = diagnostic.identity();
        let ordinal = *seen.entry(identity.clone()).and_modify(|n| *n += 1).or_insert(1_u32);
        // Two issues of one fingerprint would be one to GitLab.
        let fingerprint = if ordinal == 1 { identity } else { format!("{identity}-{ordinal}") };
        Some(issue(diagnostic, &place, fingerprint))
    });
    let exceeded = report.limits.iter().filter(|limit| limit.exceeded).map(exceeded);
    let issues: Vec<Issue> = findings.chain(exceeded).collect();
    write_pretty(&issues, out)?;
    writeln!(out)
}

fn issue(diagnostic: &Diagnostic, place: &Place, fingerprint: String) -> Issue {
    Issue {
        description: description(diagnostic),
        check_name: diagnostic.code,
        fingerprint,
        severity: match diagnostic.severity {
            Severity::Error => "major",
            Severity::Warning => "minor",
            Severity::Info => "info",
        },
        location: IssueLocation {
            path: escape(place.file_or_name()),
            lines: Lines { begin: place.line, end: place.range.map(|range| range.end_line) },
        },
    }
}

/// The issue of a limit that is exceeded, which stands nowhere. It stays the same issue while the share changes.
fn exceeded(limit: &LimitResult) -> Issue {
    let measure = if limit.by_time { "time" } else { "count" };
    Issue {
        description: escape(&limit.words()),
        check_name: "max-broadcast-share",
        fingerprint: Fingerprint::of(&["limit-1", &limit.scope, &limit.limit, measure]).to_string(),
        severity: "major",
        location: IssueLocation { path: NO_FILE.to_owned(), lines: Lines { begin: 1, end: None } },
    }
}

fn description(diagnostic: &Diagnostic) -> String {
    let mut text = escape(&diagnostic.message);
    text.extend(diagnostic.shape.as_ref().map(|shape| format!(": {}", escape(shape))));
    text.extend(diagnostic.standing().map(|standing| format!("; {standing}")));
    text
}
