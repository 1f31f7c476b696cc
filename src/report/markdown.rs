//! A comment for a pull request: the headline, what changed since the baseline, a table of findings, and the costliest ones
//! drawn and folded away. The layout is the template beside this file; whatever comes from an input gets into it as
//! Markdown that cannot render, link or mention. It stays below the length that GitHub and GitLab take.

use std::io;

use minijinja::{Environment, Value, context};
use serde::Serialize;

use super::RenderOptions;
use super::data::{Change, ChangeKind, Diagnostic, Report};
use super::escape::escape;
use super::inline::{cell, code, fenced, markdown};
use super::pages::page;
use super::place::Place;
use super::pretty::{picture, totals};
use super::summary::{CLASSES, lines};
use super::wording::{counted, duration, number, percent};
use super::wrap::cut;
use crate::rules::Severity;

const TEMPLATE: &str = include_str!("markdown.md.jinja");

/// Findings in the table.
const MOST_ROWS: usize = 30;
/// Findings that are drawn.
const MOST_PICTURES: usize = 5;
/// Characters of all pictures together: GitHub refuses comments of more than 65,536.
const ROOM: usize = 40_000;
/// Columns of a shape in the table.
const SHAPE_WIDTH: usize = 160;
/// Columns of a message in the table.
const MESSAGE_WIDTH: usize = 300;
/// Columns of a name.
const NAME_WIDTH: usize = 120;
/// Changes that are told one by one.
const MOST_CHANGES: usize = 20;

#[derive(Serialize)]
struct Row {
    mark: String,
    finding: String,
    calls: String,
    time: String,
    place: String,
}

#[derive(Serialize)]
struct Picture {
    title: String,
    text: String,
}

#[derive(Serialize)]
struct Class {
    name: &'static str,
    calls: String,
    calls_share: String,
    time: String,
    time_share: String,
}

pub fn render(report: &Report, options: &RenderOptions, out: &mut dyn io::Write) -> io::Result<()> {
    let mut findings: Vec<&Diagnostic> = report.diagnostics.iter().collect();
    // What this change brings comes first; the order is otherwise that of the report.
    findings.sort_by_key(|diagnostic| diagnostic.new == Some(false));
    let rows: Vec<Row> = findings.iter().take(MOST_ROWS).map(|diagnostic| row(diagnostic, options)).collect();
    let queries = report.summary.classes.values().map(|class| class.count).sum();
    let page = context! {
        icon => icon(report),
        headline => headline(report),
        changes => changes(report),
        limits => limits(report),
        rows_left => (findings.len() > rows.len()).then(|| number((findings.len() - rows.len()) as u64)),
        rows => rows,
        pictures => pictures(report, &findings, options)?,
        classes => classes(report),
        queries => format!("{} by class", counted(queries, "operation")),
        footer => footer(report),
    };
    let mut environment = Environment::new();
    environment.set_trim_blocks(false);
    // Everything in the context is Markdown already.
    environment.set_auto_escape_callback(|_| minijinja::AutoEscape::None);
    let text = environment.render_str(TEMPLATE, Value::from_serialize(page)).map_err(io::Error::other)?;
    writeln!(out, "{}", text.trim_end())
}

fn icon(report: &Report) -> &'static str {
    if report.limits.iter().any(|limit| limit.exceeded) {
        return mark(Severity::Error);
    }
    let news = report.diagnostics.iter().filter(|diagnostic| diagnostic.new != Some(false));
    news.map(|diagnostic| diagnostic.severity).max().map_or("✅", mark)
}

fn mark(severity: Severity) -> &'static str {
    match severity {
        Severity::Error => "🔴",
        Severity::Warning => "🟡",
        Severity::Info => "🔵",
    }
}

/// `2 new findings, 3 known`; without a baseline what was found.
fn headline(report: &Report) -> String {
    let count = |new| report.diagnostics.iter().filter(|d| d.new == Some(new)).count() as u64;
    let (new, known) = (count(true), count(false));
    match (new, known) {
        (0, 0) if report.comparison.is_some() => "nothing new".to_owned(),
        (0, 0) => totals(report),
        (0, known) => format!("nothing new, {} known", counted(known, "finding")),
        (new, 0) => format!("{} since the baseline", counted(new, "new finding")),
        (new, known) => format!("{} since the baseline, {} known", counted(new, "new finding"), number(known)),
    }
}

/// What routes otherwise than the baseline says; what is new stands in the table, what is gone is counted.
fn changes(report: &Report) -> Vec<String> {
    let Some(comparison) = &report.comparison else { return Vec::new() };
    let is_told = |kind| matches!(kind, ChangeKind::Worse | ChangeKind::Better | ChangeKind::Unclear);
    let told: Vec<&Change> = comparison.changes.iter().filter(|change| is_told(change.kind)).collect();
    let mut changes: Vec<String> = told.iter().take(MOST_CHANGES).map(|change| told_change(change)).collect();
    if told.len() > MOST_CHANGES {
        changes.push(format!("… {} more", number((told.len() - MOST_CHANGES) as u64)));
    }
    let gone = comparison.count(ChangeKind::Gone);
    if gone > 0 {
        changes.push(format!("{} gone; `shardlint baseline prune` forgets what is gone", number(gone)));
    }
    changes
}

fn told_change(change: &Change) -> String {
    let what = code(&short(&change.what, SHAPE_WIDTH));
    let name = code(&short(&change.namespace, NAME_WIDTH));
    let on = match &change.operation {
        Some(operation) => format!("{} on {name} {what}", code(operation)),
        None => format!("{what} of {name}"),
    };
    let classes = match (change.was, change.now) {
        (Some(was), Some(now)) => format!(": was {was}, is **{now}**"),
        _ => String::new(),
    };
    format!("{}: {on}{classes}", change.kind.name())
}

/// The limits that are exceeded.
fn limits(report: &Report) -> Vec<String> {
    let exceeded = report.limits.iter().filter(|limit| limit.exceeded);
    exceeded.map(|limit| markdown(&limit.words())).collect()
}

/// The beginning of a text, escaped.
fn short(text: &str, width: usize) -> String {
    cut(&escape(text), width, "…")
}

fn row(diagnostic: &Diagnostic, options: &RenderOptions) -> Row {
    let code_link = match page(diagnostic.code) {
        Some(url) => format!("[{}]({url})", diagnostic.code),
        None => diagnostic.code.to_owned(),
    };
    let mut finding = format!("{code_link} {}", cell(&markdown(&short(&diagnostic.message, MESSAGE_WIDTH))));
    if let Some(shape) = &diagnostic.shape {
        finding.push_str(&format!("<br>{}", cell(&code(&short(shape, SHAPE_WIDTH)))));
    }
    let state = match diagnostic.new {
        Some(true) => " new",
        Some(false) => " known",
        None => "",
    };
    let place = Place::of(diagnostic, &options.root)
        .map(|(place, _)| format!("{}:{}", short(shown(&place), NAME_WIDTH), place.line));
    let counts = diagnostic.count > 0 && !diagnostic.example.is_declaration;
    Row {
        mark: format!("{}{state}", mark(diagnostic.severity)),
        finding,
        calls: if counts { number(diagnostic.count) } else { String::new() },
        time: if counts { duration(diagnostic.millis) } else { String::new() },
        place: cell(&place.map_or_else(String::new, |place| code(&place))),
    }
}

fn shown(place: &Place) -> &str {
    place.file.as_deref().unwrap_or(&place.path)
}

fn pictures(report: &Report, findings: &[&Diagnostic], options: &RenderOptions) -> io::Result<Vec<Picture>> {
    let plain = RenderOptions { color: false, unicode: true, width: 100, ..options.clone() };
    let mut pictures = Vec::new();
    let mut room = ROOM;
    for diagnostic in findings.iter().filter(|d| d.new != Some(false)).take(MOST_PICTURES) {
        let text = fenced(&picture(report, diagnostic, &plain)?);
        let Some(left) = room.checked_sub(text.len()) else { break };
        room = left;
        let mut title = format!("{} {}", diagnostic.code, diagnostic.rule);
        if diagnostic.count > 0 && !diagnostic.example.is_declaration {
            let seen = counted(diagnostic.count, "call");
            title.push_str(&format!(": {seen}, {}", duration(diagnostic.millis)));
        }
        pictures.push(Picture { title, text });
    }
    Ok(pictures)
}

fn classes(report: &Report) -> Vec<Class> {
    let classes = &report.summary.classes;
    let count = classes.values().map(|class| class.count).sum();
    let millis = classes.values().map(|class| class.millis).sum();
    let rows = CLASSES.iter().filter_map(|name| {
        let class = classes.get(name).filter(|class| class.count > 0)?;
        Some(Class {
            name,
            calls: number(class.count),
            calls_share: percent(class.count, count).unwrap_or_default(),
            time: duration(class.millis),
            time_share: percent(class.millis, millis).unwrap_or_default(),
        })
    });
    rows.collect()
}

/// Every line accounted for, and whose rules held.
fn footer(report: &Report) -> String {
    let summary = &report.summary;
    let mut text = format!("shardlint {}; lines: {}", env!("CARGO_PKG_VERSION"), lines(summary));
    if summary.suppressed > 0 {
        text.push_str(&format!("; {} suppressed", number(summary.suppressed)));
    }
    if !summary.server_version.is_empty() {
        let assumed = if summary.version_assumed { " (assumed)" } else { "" };
        text.push_str(&format!("; MongoDB {}{assumed}", markdown(&summary.server_version)));
    }
    text
}
