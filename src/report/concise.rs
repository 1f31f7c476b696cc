//! One line per diagnostic, as compilers write them, so that editors can jump to it; then one line of summary.

use std::io;

use super::RenderOptions;
use super::comparison::counts;
use super::data::{Diagnostic, Report};
use super::escape::escape;
use super::place::Place;
use super::pretty::totals;
use super::wording::{counted, duration, number, percent};

pub fn render(report: &Report, options: &RenderOptions, out: &mut dyn io::Write) -> io::Result<()> {
    let whole = report.summary.classes.values().map(|class| class.millis).sum();
    for diagnostic in report.told().filter(|_| options.diagnostics) {
        line(diagnostic, whole, options, out)?;
    }
    if options.summary { total(report, out) } else { Ok(()) }
}

fn line(diagnostic: &Diagnostic, whole: u64, options: &RenderOptions, out: &mut dyn io::Write) -> io::Result<()> {
    let times = if options.unicode { "×" } else { "x" };
    let Some(primary) = diagnostic.example.labels.first() else { return Ok(()) };
    let at = &primary.location;
    write!(out, "{}:{}:{}: {}: ", escape(&at.path), at.line, at.column, diagnostic.severity)?;
    write!(out, "{} [{}]", escape(&diagnostic.message), diagnostic.code)?;
    if diagnostic.count > 0 {
        write!(out, " ({}{times}", number(diagnostic.count))?;
        if let Some(share) = percent(diagnostic.millis, whole).filter(|_| diagnostic.millis > 0) {
            write!(out, ", {share} of time")?;
        }
        write!(out, ")")?;
    }
    if let Some(place) = Place::sent_from(diagnostic, &options.root) {
        write!(out, ", sent from {}", escape(&place))?;
    }
    writeln!(out)
}

fn total(report: &Report, out: &mut dyn io::Write) -> io::Result<()> {
    if let Some(comparison) = &report.comparison {
        writeln!(out, "since the baseline: {}", counts(comparison))?;
    }
    let summary = &report.summary;
    let whole = summary.classes.values().map(|class| class.millis).sum();
    write!(out, "{}; {} lines: ", totals(report), number(summary.lines))?;
    write!(out, "{} slow queries ({}), ", number(summary.slow_queries), duration(whole))?;
    if summary.explains > 0 {
        write!(out, "{}, ", counted(summary.explains, "explain"))?;
    }
    write!(out, "{} other records, ", number(summary.other_records))?;
    writeln!(out, "{} not understood", number(summary.not_understood))
}
