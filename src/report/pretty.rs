//! For people: each diagnostic with an excerpt of its worst example, then the summary.

use std::io;

use super::RenderOptions;
use super::data::{Diagnostic, ExampleLabel, Report};
use super::escape::escape;
use super::excerpt::{Excerpt, Layout};
use super::frame::{Frame, Section};
use super::place::Place;
use super::summary;
use super::wording::{counted, duration, number, percent};
use super::wrap::wrap;

pub fn render(report: &Report, options: &RenderOptions, out: &mut dyn io::Write) -> io::Result<()> {
    let whole = report.summary.classes.values().map(|class| class.millis).sum();
    for diagnostic in report.told().filter(|_| options.diagnostics) {
        frame(report, diagnostic, whole, options).draw(options, out)?;
        writeln!(out)?;
    }
    if options.summary {
        summary::render(report, options, out)?;
    }
    Ok(())
}

/// One diagnostic, drawn.
pub fn picture(report: &Report, diagnostic: &Diagnostic, options: &RenderOptions) -> io::Result<String> {
    let whole = report.summary.classes.values().map(|class| class.millis).sum();
    let mut drawn = Vec::new();
    frame(report, diagnostic, whole, options).draw(options, &mut drawn)?;
    Ok(String::from_utf8_lossy(&drawn).into_owned())
}

fn frame<'a>(report: &Report, diagnostic: &'a Diagnostic, whole: u64, options: &RenderOptions) -> Frame<'a> {
    let sections = sections(report, diagnostic, options);
    let gutter = sections.iter().flat_map(|section| &section.excerpt.lines).flatten().max();
    // `Help: ` and `Note: ` take six columns.
    let width = options.width.saturating_sub(Frame::gutter(gutter.copied().unwrap_or(1)) + 6).max(24);
    Frame {
        severity: diagnostic.severity,
        code: diagnostic.code,
        message: escape(&diagnostic.message),
        sections,
        help: diagnostic.help.as_ref().map(|help| wrap(&escape(help), width).join("\n")),
        note: note(diagnostic, whole, width, options),
    }
}

/// One section for the record and one for each declaration that a label points into; the primary label's first.
fn sections(report: &Report, diagnostic: &Diagnostic, options: &RenderOptions) -> Vec<Section> {
    let labels = &diagnostic.example.labels;
    let mut sources: Vec<Option<usize>> = Vec::new();
    for label in labels {
        if !sources.contains(&label.other_source) {
            sources.push(label.other_source);
        }
    }
    sources.into_iter().filter_map(|source| section(report, diagnostic, source, options)).collect()
}

fn section(
    report: &Report,
    diagnostic: &Diagnostic,
    source: Option<usize>,
    options: &RenderOptions,
) -> Option<Section> {
    let example = &diagnostic.example;
    let labels: Vec<&ExampleLabel> = example.labels.iter().filter(|label| label.other_source == source).collect();
    let ranges: Vec<_> = labels.iter().map(|label| label.start..label.end).collect();
    let (text, as_lines, first_line) = match source {
        None => (&*example.record, example.is_declaration, example.line),
        Some(index) => (report.declarations.get(index)?.1.as_slice(), true, 1),
    };
    let location = &labels.first()?.location;
    let last_line = labels.iter().map(|label| label.location.end_line).max()?;
    let width = options.width.saturating_sub(Frame::gutter(last_line)).max(24);
    Some(Section {
        place: format!("{}:{}:{}", escape(&location.path), location.line, location.column),
        excerpt: Excerpt::new(text, &ranges, Layout { width, unicode: options.unicode, as_lines, first_line }),
        messages: labels.iter().map(|label| escape(&label.text)).collect(),
    })
}

/// How often, how long, where from, and whether it is new.
fn note(diagnostic: &Diagnostic, whole: u64, width: usize, options: &RenderOptions) -> Option<String> {
    let mut notes = Vec::new();
    // A declaration is there; how often is no news.
    if diagnostic.count > 0 && !diagnostic.example.is_declaration {
        notes.push(seen(diagnostic, whole));
    }
    let named = diagnostic.sent_from().map(|place| place.to_string());
    let sent_from = Place::sent_from(diagnostic, &options.root);
    notes.extend(sent_from.map(|place| format!("sent from `{}`", escape(&place))));
    if let Some(comment) = diagnostic.comment.as_ref().filter(|comment| named.as_ref() != Some(comment)) {
        notes.push(format!("the query's comment is `{}`", escape(comment)));
    }
    notes.extend(diagnostic.standing());
    let notes: Vec<String> = notes.iter().flat_map(|note| wrap(note, width)).collect();
    (!notes.is_empty()).then(|| notes.join("\n"))
}

/// `seen 1,204 times, 14 min (31 % of the time)`
fn seen(diagnostic: &Diagnostic, whole: u64) -> String {
    let mut text = match diagnostic.count {
        1 => "seen once".to_owned(),
        n => format!("seen {} times", number(n)),
    };
    if diagnostic.millis > 0 {
        text.push_str(&format!(", {}", duration(diagnostic.millis)));
        if let Some(share) = percent(diagnostic.millis, whole) {
            text.push_str(&format!(" ({share} of the time)"));
        }
    }
    text
}

/// `3 errors, 1 warning`, `no findings; 12 in the baseline`
pub fn totals(report: &Report) -> String {
    use crate::rules::Severity::{Error, Info, Warning};
    let count = |severity| report.told().filter(|d| d.severity == severity).count() as u64;
    let parts: Vec<String> = [(Error, "error"), (Warning, "warning"), (Info, "info")]
        .into_iter()
        .map(|(severity, noun)| (count(severity), noun))
        .filter(|(n, _)| *n > 0)
        .map(|(n, noun)| counted(n, noun))
        .collect();
    let told = if parts.is_empty() { "no findings".to_owned() } else { parts.join(", ") };
    match report.diagnostics.len() - report.told().count() {
        0 => told,
        known => format!("{told}; {} in the baseline", number(known as u64)),
    }
}
