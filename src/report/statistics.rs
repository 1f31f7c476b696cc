//! `--statistics`: findings per rule instead of the findings.

use std::collections::BTreeMap;
use std::io::{self, Write};

use serde::Serialize;

use super::data::{Diagnostic, Report};
use super::wording::counted;
use super::{Format, RenderOptions};

#[derive(Debug, Clone, Serialize)]
struct Row {
    code: &'static str,
    rule: &'static str,
    /// Diagnostics: shapes, namespaces or declarations.
    diagnostics: u64,
    /// Findings.
    count: u64,
    millis: u64,
    /// Of the time of all slow queries, in per mille.
    time_per_mille: u64,
}

/// Writes one row for each rule that found something, by code.
///
/// In a format that has no place for a table ([`Format::has_statistics`]) the lines are those for people.
///
/// # Errors
///
/// Those of `out`.
pub fn statistics(report: &Report, format: Format, options: &RenderOptions, out: &mut dyn Write) -> io::Result<()> {
    let total: u64 = report.summary.classes.values().map(|class| class.millis).sum();
    let rows = rows(&report.diagnostics, total);
    match format {
        Format::Json => {
            serde_json::to_writer_pretty(&mut *out, &rows)?;
            writeln!(out)
        }
        Format::Jsonl => rows.iter().try_for_each(|row| {
            serde_json::to_writer(&mut *out, row)?;
            writeln!(out)
        }),
        Format::Markdown => {
            writeln!(out, "| rule | places | findings | of the time |\n|---|--:|--:|--:|")?;
            rows.iter().try_for_each(|row| {
                let Row { code, rule, diagnostics, count, time_per_mille: share, .. } = row;
                writeln!(out, "| {code} {rule} | {diagnostics} | {count} | {}.{} % |", share / 10, share % 10)
            })
        }
        _ => {
            let width = rows.iter().map(|row| row.rule.len()).max().unwrap_or(0);
            let bold = if options.color { ("\u{1b}[1m", "\u{1b}[0m") } else { ("", "") };
            rows.iter().try_for_each(|row| {
                let Row { code, rule, diagnostics, count, time_per_mille: share, .. } = row;
                let (whole, tenths) = (share / 10, share % 10);
                writeln!(
                    out,
                    "{}{code}{}  {rule:width$}  {:>10}  {count:>9}\u{d7}  {whole:>3}.{tenths} % of the time",
                    bold.0,
                    bold.1,
                    counted(*diagnostics, "place"),
                )
            })
        }
    }
}

fn rows(diagnostics: &[Diagnostic], total_millis: u64) -> Vec<Row> {
    let mut rows: BTreeMap<&'static str, Row> = BTreeMap::new();
    for diagnostic in diagnostics {
        let Diagnostic { code, rule, .. } = *diagnostic;
        let row =
            rows.entry(code).or_insert(Row { code, rule, diagnostics: 0, count: 0, millis: 0, time_per_mille: 0 });
        row.diagnostics += 1;
        row.count += diagnostic.count;
        row.millis += diagnostic.millis;
        row.time_per_mille = (row.millis * 1000).checked_div(total_millis).unwrap_or(0);
    }
    rows.into_values().collect()
}
