//! What is different from a baseline: `baseline diff`, and the member `baseline` of the JSON report.

use std::io;

use schemars::JsonSchema;
use serde::Serialize;

use super::Format;
use super::data::{Change, ChangeKind, Comparison, Report};
use super::escape::escape;
use super::json::{write_line, write_pretty};
use super::wording::number;

/// The counts and the list, as programs read them.
#[derive(Serialize, JsonSchema)]
pub struct ComparisonObject<'a> {
    path: &'a str,
    worse: u64,
    new: u64,
    better: u64,
    unclear: u64,
    gone: u64,
    changes: Vec<ChangeObject<'a>>,
}

#[derive(Serialize, JsonSchema)]
struct ChangeObject<'a> {
    change: &'static str,
    namespace: &'a str,
    operation: Option<&'a str>,
    shape: Option<&'a str>,
    subject: Option<&'a str>,
    fingerprint: Option<&'a str>,
    was: Option<&'static str>,
    now: Option<&'static str>,
    rules: &'a [String],
}

impl<'a> ComparisonObject<'a> {
    pub fn new(comparison: &'a Comparison) -> Self {
        Self {
            path: &comparison.baseline,
            worse: comparison.count(ChangeKind::Worse),
            new: comparison.count(ChangeKind::New),
            better: comparison.count(ChangeKind::Better),
            unclear: comparison.count(ChangeKind::Unclear),
            gone: comparison.count(ChangeKind::Gone),
            changes: comparison.changes.iter().map(ChangeObject::new).collect(),
        }
    }
}

impl<'a> ChangeObject<'a> {
    fn new(change: &'a Change) -> Self {
        let is_shape = change.operation.is_some();
        Self {
            change: change.kind.name(),
            namespace: &change.namespace,
            operation: change.operation.as_deref(),
            shape: is_shape.then_some(change.what.as_str()),
            subject: (!is_shape).then_some(change.what.as_str()),
            fingerprint: change.fingerprint.as_deref(),
            was: change.was,
            now: change.now,
            rules: &change.rules,
        }
    }
}

/// Writes what is different, one line for each change; as JSON in one object, as JSON lines in one object for each.
///
/// # Errors
///
/// Those of `out`.
pub fn comparison(report: &Report, format: Format, out: &mut dyn io::Write) -> io::Result<()> {
    let nothing = Comparison::default();
    let comparison = report.comparison.as_ref().unwrap_or(&nothing);
    match format {
        Format::Json => {
            write_pretty(&ComparisonObject::new(comparison), out)?;
            writeln!(out)
        }
        Format::Jsonl => comparison.changes.iter().try_for_each(|change| {
            write_line(&ChangeObject::new(change), out)?;
            writeln!(out)
        }),
        _ => {
            let width = comparison.changes.iter().map(|change| classes(change).chars().count()).max().unwrap_or(0);
            comparison.changes.iter().try_for_each(|change| line(change, width, out))?;
            writeln!(out, "{}", counts(comparison))
        }
    }
}

/// `new      broadcast   find on shop.orders: { status: ? } [SL101]`
fn line(change: &Change, width: usize, out: &mut dyn io::Write) -> io::Result<()> {
    write!(out, "{:8} {:width$}  ", change.kind.name(), classes(change))?;
    match &change.operation {
        Some(operation) => write!(out, "{operation} on {}: {}", escape(&change.namespace), escape(&change.what))?,
        None => {
            let parts = [change.namespace.as_str(), change.what.as_str()];
            let parts: Vec<String> = parts.iter().filter(|part| !part.is_empty()).map(|part| escape(part)).collect();
            write!(out, "{}", parts.join(": "))?;
        }
    }
    if change.rules.is_empty() { writeln!(out) } else { writeln!(out, " [{}]", escape(&change.rules.join(", "))) }
}

fn classes(change: &Change) -> String {
    match (change.was, change.now) {
        (Some(was), Some(now)) if was != now => format!("{was} -> {now}"),
        (_, Some(class)) | (Some(class), None) => class.to_owned(),
        (None, None) => String::new(),
    }
}

/// `1 worse, 2 new, 0 better, 3 gone`
pub fn counts(comparison: &Comparison) -> String {
    let count = |kind: ChangeKind| format!("{} {}", number(comparison.count(kind)), kind.name());
    let shown = ChangeKind::ALL
        .into_iter()
        .filter(|kind| *kind != ChangeKind::Unclear || comparison.count(ChangeKind::Unclear) > 0);
    shown.map(count).collect::<Vec<_>>().join(", ")
}
