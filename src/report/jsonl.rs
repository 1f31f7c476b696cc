//! One object per line, so that a stream can be followed: diagnostics, then shapes, the comparison with the baseline, limits,
//! the summary last.
//! The members are those of `check --format json`, with a `type` before them.

use std::io;

use serde::Serialize;

use super::comparison::ComparisonObject;
use super::data::Report;
use super::json::{DiagnosticObject, LimitObject, ShapeObject, SummaryObject, write_line};

pub fn render(report: &Report, out: &mut dyn io::Write) -> io::Result<()> {
    for diagnostic in &report.diagnostics {
        line("diagnostic", DiagnosticObject::new(diagnostic), out)?;
    }
    for shape in &report.shapes {
        line("shape", ShapeObject::new(shape), out)?;
    }
    if let Some(comparison) = &report.comparison {
        line("baseline", ComparisonObject::new(comparison), out)?;
    }
    for limit in &report.limits {
        line("limit", LimitObject::new(limit), out)?;
    }
    line("summary", SummaryObject::new(&report.summary), out)
}

#[derive(Serialize)]
struct Typed<T> {
    r#type: &'static str,
    #[serde(flatten)]
    object: T,
}

fn line(r#type: &'static str, object: impl Serialize, out: &mut dyn io::Write) -> io::Result<()> {
    write_line(&Typed { r#type, object }, out)?;
    writeln!(out)
}
