//! ariadne, and what has to be put right after it. It numbers the rows of an excerpt instead of the lines of the
//! input, in the gutter and in the header, and it does not wrap; so the header gets the true place, the gutter the
//! true line or nothing, and messages that would leave the terminal are continued below.

use std::fmt;
use std::io::{self, Write as _};

use ariadne::{CharSet, Color, Config, Fmt as _, IndexType, Label, LabelAttach, ReportKind};
use unicode_width::UnicodeWidthChar;

use super::RenderOptions;
use super::escape::columns;
use super::excerpt::Excerpt;
use super::wrap::wrap;
use crate::rules::Severity;

/// Stands for the place in a header. No escaped text contains it.
const PLACE: char = '\u{1}';
/// Length of the arrow before a message.
const ARROW: usize = 3;
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
        // ariadne's own header is coloured even where it is told not to.
        let lines: Vec<String> = drawn.lines().skip(1).map(|line| retouch.line(line)).collect();
        self.header(options, out)?;
        for (at, line) in lines.iter().enumerate() {
            let below = lines.get(at + 1).map(String::as_str);
            for row in place_message(line, below, options.width) {
                writeln!(out, "{}", row.trim_end_matches(' '))?;
            }
        }
        Ok(())
    }

    /// `[SL101] error: …`
    fn header(&self, options: &RenderOptions, out: &mut dyn io::Write) -> io::Result<()> {
        let head = format!("[{}] {}:", self.code, self.severity);
        let rows = wrap(&format!("{head} {}", self.message), options.width);
        for (at, row) in rows.iter().enumerate() {
            match row.strip_prefix(&head).filter(|_| options.color && at == 0) {
                Some(message) => writeln!(out, "{}{message}", head.as_str().fg(color(self.severity)))?,
                None => writeln!(out, "{row}")?,
            }
        }
        Ok(())
    }

    fn ariadne(&self, options: &RenderOptions) -> io::Result<String> {
        let config = Config::new()
            .with_color(options.color)
            .with_char_set(if options.unicode { CharSet::Unicode } else { CharSet::Ascii })
            .with_label_attach(self.attachment(options.width))
            .with_index_type(IndexType::Char);
        let kind = ReportKind::Custom(self.severity.name(), color(self.severity));
        let mut report = ariadne::Report::build(kind, (SourceName(0), 0..0)).with_config(config);
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
        let sources = sources.map(|(at, section)| (SourceName(at), format!("{}\n", section.excerpt.text)));
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
            // An empty label gets a caret of its own, at the end of a row too: there is a line end.
            let span = start..start + text[range.clone()].chars().count().max(1);
            let primary = source == 0 && at == 0;
            Label::new((SourceName(source), span))
                .with_message(format!("{MESSAGE}{}", section.messages[at]))
                .with_color(if primary { color(self.severity) } else { Color::Cyan })
        };
        order.into_iter().map(label).collect()
    }

    /// Where arrows start: in the middle of labels, unless messages have no room there, labels would share an arrow, or
    /// the character there has no width to draw it under.
    fn attachment(&self, width: usize) -> LabelAttach {
        let spots: [(LabelAttach, fn(usize, usize) -> usize); 3] = [
            (LabelAttach::Middle, |start, end| usize::midpoint(start, end)),
            (LabelAttach::Start, |start, _| start),
            (LabelAttach::End, |start, end| end.saturating_sub(1).max(start)),
        ];
        let rate =
            |spot: &fn(usize, usize) -> usize| self.sections.iter().map(|s| s.faults(*spot, width)).sum::<usize>();
        spots.iter().min_by_key(|(_, spot)| rate(spot)).map_or(LabelAttach::Middle, |(attach, _)| *attach)
    }
}

impl Section {
    /// What is wrong with arrows that start at the characters that `spot` chooses, the worst with most weight.
    fn faults(&self, spot: fn(usize, usize) -> usize, width: usize) -> usize {
        let text = &self.excerpt.text;
        let mut taken = Vec::new();
        let mut faults = 0;
        for (range, message) in self.excerpt.labels.iter().zip(&self.messages) {
            let row = text[..range.start].rfind('\n').map_or(0, |at| at + 1);
            let start = text[row..range.start].chars().count();
            let at = spot(start, start + text[range.clone()].chars().count());
            let before: String = text[row..].chars().take(at).collect();
            let no_width = text[row..].chars().nth(at).is_some_and(|c| c.width() == Some(0));
            let gutter = self.excerpt.lines.iter().flatten().max().map_or(0, |line| Frame::gutter(*line));
            let overflows = gutter + columns(&before) + ARROW + 2 + columns(message) > width;
            faults +=
                usize::from(no_width) * 100 + usize::from(taken.contains(&(row, at))) * 10 + usize::from(overflows);
            taken.push((row, at));
        }
        faults
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

/// Moves a label's message next to its arrow, and breaks it at `width`. The rows of the continuation keep the arrows of
/// the labels below it.
fn place_message(line: &str, below: Option<&str>, width: usize) -> Vec<String> {
    let Some((before, message)) = line.split_once(MESSAGE) else { return vec![line.to_owned()] };
    let before = shorten_arrow(before);
    let indent = visible_columns(&before);
    let room = width.saturating_sub(indent).max(24);
    let mut parts = wrap(message, room).into_iter();
    let mut rows = vec![format!("{before}{}", parts.next().unwrap_or_default())];
    let below = below.map(without_color).filter(|below| is_margin(below));
    let margin = below.unwrap_or_else(|| gutter_of(&without_color(&before)).to_owned());
    let margin: String = margin.chars().take(indent).collect();
    rows.extend(parts.map(|part| format!("{margin:indent$}{part}")));
    rows
}

/// ariadne draws arrows up to the end of the longest label, which may leave no room for a message.
fn shorten_arrow(before: &str) -> String {
    let shaft = before.trim_end_matches(' ');
    let end = if shaft.ends_with('m') { "\u{1b}[0m" } else { "" };
    let Some(last) = shaft.trim_end_matches(end).chars().next_back() else { return before.to_owned() };
    let start = if end.is_empty() {
        shaft.len() - last.len_utf8()
    } else {
        shaft[..shaft.len() - end.len()].rfind('\u{1b}').unwrap_or(0)
    };
    let piece = &shaft[start..];
    let bare = shaft.trim_end_matches(piece);
    let pieces = (shaft.len() - bare.len()) / piece.len();
    if !matches!(last, '─' | '-') || pieces <= ARROW {
        return before.to_owned();
    }
    format!("{bare}{} ", piece.repeat(ARROW))
}

/// The margin up to its line.
fn gutter_of(line: &str) -> &str {
    let end = line.find(['│', '|', '┆', ':']).unwrap_or(0);
    let bar = line[end..].chars().next().map_or(0, char::len_utf8);
    &line[..end + bar]
}

/// Whether `line` holds arrows only.
fn is_margin(line: &str) -> bool {
    line.chars().all(|c| matches!(c, ' ' | '│' | '|' | '┆' | ':'))
}
