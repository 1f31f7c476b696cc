//! ariadne, and what has to be put right after it. It numbers the rows of an excerpt instead of the lines of the
//! input, in the gutter and in the header, and it does not wrap; so the header gets the true place, the gutter the
//! true line or nothing, and messages that would leave the terminal are continued below.

use std::fmt;
use std::io::{self, Write as _};

use ariadne::{CharSet, Color, Config, IndexType, Label, LabelAttach, ReportKind};
use unicode_width::UnicodeWidthChar;

use super::RenderOptions;
use super::escape::columns;
use super::excerpt::Excerpt;
use crate::rules::Severity;

/// Stands for the place in a header. No escaped text contains it.
const PLACE: char = '\u{1}';
/// Stands before a label's message.
const MESSAGE: char = '\u{2}';

/// A diagnostic, ready to be drawn. All texts are escaped.
#[derive(Debug)]
pub struct Frame<'a> {
    pub severity: Severity,
    pub code: &'a str,
    pub message: String,
    /// The first one has the primary label.
    pub sections: Vec<Section>,
    pub help: Option<String>,
    pub note: Option<String>,
}

/// The rows of one source.
#[derive(Debug)]
pub struct Section {
    /// `file:line:column`
    pub place: String,
    pub excerpt: Excerpt,
    /// For each label of the excerpt what it says.
    pub messages: Vec<String>,
}

/// The name of a source as ariadne sees it.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
struct SourceName(usize);

impl fmt::Display for SourceName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{PLACE}")
    }
}

impl Frame<'_> {
    /// Columns that stand before a row whose section shows lines up to `line`.
    pub fn gutter(line: u64) -> usize {
        line.to_string().len() + 4
    }

    /// Draws it.
    pub fn draw(&self, options: &RenderOptions, out: &mut dyn io::Write) -> io::Result<()> {
        let drawn = self.ariadne(options)?;
        let numbers = self.sections.iter().flat_map(|section| &section.excerpt.lines).flatten();
        let digits = numbers.max().map_or(1, |line| line.to_string().len());
        let mut retouch = Retouch { sections: &self.sections, section: None, row: 0, digits, pad: 0 };
        let lines: Vec<String> = drawn.lines().map(|line| retouch.line(line)).collect();
        for (at, line) in lines.iter().enumerate() {
            let below = lines.get(at + 1).map(String::as_str);
            for row in wrap_message(line, below, options.width) {
                writeln!(out, "{}", row.trim_end_matches(' '))?;
            }
        }
        Ok(())
    }

    fn ariadne(&self, options: &RenderOptions) -> io::Result<String> {
        let config = Config::new()
            .with_color(options.color)
            .with_char_set(if options.unicode { CharSet::Unicode } else { CharSet::Ascii })
            .with_label_attach(self.attachment())
            .with_index_type(IndexType::Char);
        let kind = ReportKind::Custom(self.severity.name(), color(self.severity));
        let mut report = ariadne::Report::build(kind, (SourceName(0), 0..0))
            .with_config(config)
            .with_code(self.code)
            .with_message(&self.message);
        for (at, section) in self.sections.iter().enumerate() {
            report.add_labels(self.labels(at, section));
        }
        if let Some(help) = &self.help {
            report.set_help(help);
        }
        if let Some(note) = &self.note {
            report.set_note(note);
        }
        let sources = self.sections.iter().enumerate();
        let sources = sources.map(|(at, section)| (SourceName(at), section.excerpt.text.clone()));
        let mut drawn = Vec::new();
        report.finish().write(ariadne::sources(sources), &mut drawn)?;
        drawn.flush()?;
        Ok(String::from_utf8_lossy(&drawn).into_owned())
    }

    /// A section's labels from top to bottom: in any other order ariadne would show the section twice.
    fn labels(&self, source: usize, section: &Section) -> Vec<Label<(SourceName, std::ops::Range<usize>)>> {
        let text = &section.excerpt.text;
        let mut order: Vec<usize> = (0..section.messages.len()).collect();
        let row = |at: &usize| text[..section.excerpt.labels[*at].end].matches('\n').count();
        order.sort_by_key(|at| (row(at), section.excerpt.labels[*at].start));
        let label = |at: usize| {
            let range = &section.excerpt.labels[at];
            // Offsets in characters: ariadne panics on some byte offsets in text that is not ASCII.
            let start = text[..range.start].chars().count();
            let span = start..start + text[range.clone()].chars().count();
            let primary = source == 0 && at == 0;
            Label::new((SourceName(source), span))
                .with_message(format!("{MESSAGE}{}", section.messages[at]))
                .with_color(if primary { color(self.severity) } else { Color::Cyan })
        };
        order.into_iter().map(label).collect()
    }

    /// An arrow cannot start at a character without width.
    fn attachment(&self) -> LabelAttach {
        let middle_has_width = |section: &Section, range: &std::ops::Range<usize>| {
            let text = &section.excerpt.text[range.clone()];
            text.chars().nth(text.chars().count() / 2).is_none_or(|c| c.width() != Some(0))
        };
        let all = self.sections.iter().all(|s| s.excerpt.labels.iter().all(|range| middle_has_width(s, range)));
        if all { LabelAttach::Middle } else { LabelAttach::Start }
    }
}

fn color(severity: Severity) -> Color {
    match severity {
        Severity::Error => Color::Red,
        Severity::Warning => Color::Yellow,
        Severity::Info => Color::Blue,
    }
}

/// Puts the true places into what ariadne drew, line by line.
struct Retouch<'a> {
    sections: &'a [Section],
    /// The section that is being drawn.
    section: Option<usize>,
    row: usize,
    /// Digits of the greatest line number.
    digits: usize,
    /// Columns by which the gutter is too narrow.
    pad: usize,
}

impl Retouch<'_> {
    fn line(&mut self, line: &str) -> String {
        if let Some(place) = line.find(PLACE) {
            return self.header(line, place);
        }
        if self.section.is_none() {
            return line.to_owned();
        }
        self.gutter(line)
    }

    /// `╭─[ \u{1}:1:1 ]`
    fn header(&mut self, line: &str, place: usize) -> String {
        let section = self.section.map_or(0, |section| section + 1);
        self.section = Some(section);
        self.row = 0;
        let margin = line.len() - line.trim_start_matches(' ').len();
        // Two columns of the margin are not digits.
        self.pad = (self.digits + 2).saturating_sub(margin);
        let (before, after) = (&line[..place], &line[place + PLACE.len_utf8()..]);
        let after = after.trim_start_matches(|c: char| c == ':' || c == '?' || c.is_ascii_digit());
        let place = self.sections.get(section).map_or("", |section| &section.place);
        format!("{:pad$}{before}{place}{after}", "", pad = self.pad)
    }

    fn gutter(&mut self, line: &str) -> String {
        let start = visible_start(line);
        let rest = &line[start..];
        let digits = rest.len() - rest.trim_start_matches(|c: char| c.is_ascii_digit()).len();
        if digits > 0 {
            let row: usize = rest[..digits].parse().unwrap_or(1);
            let section = self.section.and_then(|section| self.sections.get(section));
            let number = section.and_then(|section| *section.excerpt.lines.get(row - 1)?);
            let number = number.map_or_else(String::new, |line| line.to_string());
            let number = format!("{number:>digits$}");
            // The spaces that align ariadne's own number stand directly before it.
            return format!(
                "{:pad$}{}{number}{}",
                "",
                &line[..start],
                &rest[digits..],
                pad = (self.digits.max(digits) - number.len()).min(self.pad + digits)
            );
        }
        let first = rest.chars().next().unwrap_or(' ');
        if matches!(first, '─' | '-') {
            return format!("{}{}{rest}", &line[..start], first.to_string().repeat(self.pad));
        }
        format!("{:pad$}{line}", "", pad = self.pad)
    }
}

/// Offset of the first character that is neither a space nor part of a colour code.
fn visible_start(line: &str) -> usize {
    let mut at = 0;
    loop {
        let rest = &line[at..];
        if rest.starts_with(' ') {
            at += 1;
        } else if rest.starts_with('\u{1b}') {
            at += rest.find('m').map_or(rest.len(), |end| end + 1);
        } else {
            return at;
        }
    }
}

/// Columns of `line` without its colour codes.
fn visible_columns(line: &str) -> usize {
    columns(&without_color(line))
}

fn without_color(line: &str) -> String {
    let mut text = String::new();
    let mut parts = line.split('\u{1b}');
    text.extend(parts.next());
    text.extend(parts.filter_map(|part| part.split_once('m')).map(|(_, text)| text));
    text
}

/// Breaks a label's message at `width`; the rows of the continuation keep the arrows of the labels below it.
fn wrap_message(line: &str, below: Option<&str>, width: usize) -> Vec<String> {
    let Some((before, message)) = line.split_once(MESSAGE) else { return vec![line.to_owned()] };
    let indent = visible_columns(before);
    let room = width.saturating_sub(indent).max(24);
    let mut parts = wrap(message, room).into_iter();
    let mut rows = vec![format!("{before}{}", parts.next().unwrap_or_default())];
    let margin = below.map(without_color).filter(|below| is_margin(below)).unwrap_or_default();
    let margin: String = margin.chars().take(indent).collect();
    rows.extend(parts.map(|part| format!("{margin:indent$}{part}")));
    rows
}

/// Whether `line` holds arrows only.
fn is_margin(line: &str) -> bool {
    line.chars().all(|c| matches!(c, ' ' | '│' | '|' | '┆' | ':'))
}

/// Breaks `text` between words so that no row is wider than `width`, unless a word is.
pub fn wrap(text: &str, width: usize) -> Vec<String> {
    let mut rows: Vec<String> = Vec::new();
    for word in text.split(' ') {
        match rows.last_mut() {
            Some(row) if columns(row) + 1 + columns(word) <= width => {
                row.push(' ');
                row.push_str(word);
            }
            _ => rows.push(word.to_owned()),
        }
    }
    rows
}
