//! A diagnostic drawn by ariadne. What ariadne gets wrong for excerpts is put right by [`super::retouch`].

use std::fmt;
use std::io::{self, Write as _};

use ariadne::{CharSet, Color, Config, Fmt as _, IndexType, Label, LabelAttach, ReportKind};
use unicode_width::UnicodeWidthChar;

use super::RenderOptions;
use super::escape::columns;
use super::excerpt::Excerpt;
use super::retouch::{ARROW, MESSAGE, PLACE, Retouch};
use super::wrap::wrap;
use crate::rules::Severity;

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

/// Chooses a character of a label, given its first and one past its last.
type Spot = fn(usize, usize) -> usize;

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
        self.header(options, out)?;
        // ariadne's own header is coloured even where it is told not to.
        let drawn = drawn.split_once('\n').map_or("", |(_, rows)| rows);
        for row in Retouch::new(&self.sections, options.width).rows(drawn) {
            writeln!(out, "{}", row.trim_end_matches(' '))?;
        }
        Ok(())
    }

    /// `[SL101] error: …`
    fn header(&self, options: &RenderOptions, out: &mut dyn io::Write) -> io::Result<()> {
        let head = format!("[{}] {}:", self.code, self.severity);
        let rows = wrap(&format!("{head} {}", self.message), options.width.saturating_sub(4).max(24));
        for (at, row) in rows.iter().enumerate() {
            match row.strip_prefix(&head).filter(|_| options.color && at == 0) {
                Some(message) => writeln!(out, "{}{message}", head.as_str().fg(color(self.severity)))?,
                None => writeln!(out, "{:indent$}{row}", "", indent = at.min(1) * 4)?,
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
        let spots: [(LabelAttach, Spot); 3] = [
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
    fn faults(&self, spot: Spot, width: usize) -> usize {
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
