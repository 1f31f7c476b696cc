//! What has to be put right after ariadne. It numbers the rows of an excerpt instead of the lines of the input, in the
//! gutter and in the header, and it neither wraps nor keeps messages near their labels; so the header gets the true
//! place, the gutter the true line or nothing, arrows are shortened, and long messages are continued below.
//! Knows how ariadne 0.6 draws, hence the pinned version.

use super::escape::columns;
use super::frame::Section;
use super::wrap::wrap;

/// Stands for the place in a header. No escaped text contains it.
pub const PLACE: char = '\u{1}';
/// Stands before a label's message.
pub const MESSAGE: char = '\u{2}';
/// Length of the arrow before a message.
pub const ARROW: usize = 3;

/// Goes through a drawing line by line.
pub struct Retouch<'a> {
    sections: &'a [Section],
    /// The section that is being drawn.
    section: Option<usize>,
    /// Digits of the greatest line number.
    digits: usize,
    /// Columns by which the gutter is too narrow.
    pad: usize,
    /// Columns of the terminal.
    width: usize,
}

impl<'a> Retouch<'a> {
    pub fn new(sections: &'a [Section], width: usize) -> Self {
        let greatest = sections.iter().flat_map(|section| &section.excerpt.lines).flatten().max();
        let digits = greatest.map_or(1, |line| line.to_string().len());
        Self { sections, section: None, digits, pad: 0, width }
    }

    /// The rows to print for what ariadne drew, which begins with the first section.
    pub fn rows(mut self, drawn: &str) -> Vec<String> {
        let lines: Vec<String> = drawn.lines().map(|line| self.line(line)).collect();
        let below = lines.iter().skip(1).map(|line| Some(line.as_str())).chain([None]);
        lines.iter().zip(below).flat_map(|(line, below)| place_message(line, below, self.width)).collect()
    }

    fn line(&mut self, line: &str) -> String {
        if let Some(place) = line.find(PLACE) {
            return self.header(line, place);
        }
        self.gutter(line)
    }

    /// `╭─[ \u{1}:1:1 ]`
    fn header(&mut self, line: &str, place: usize) -> String {
        let section = self.section.map_or(0, |section| section + 1);
        self.section = Some(section);
        let margin = line.len() - line.trim_start_matches(' ').len();
        // Two columns of the margin are not digits.
        self.pad = (self.digits + 2).saturating_sub(margin);
        let (before, after) = (&line[..place], &line[place + PLACE.len_utf8()..]);
        let after = after.trim_start_matches(|c: char| c == ':' || c == '?' || c.is_ascii_digit());
        let place = self.sections.get(section).map_or("", |section| &section.place);
        format!("{:pad$}{before}{place}{after}", "", pad = self.pad)
    }

    fn gutter(&self, line: &str) -> String {
        let start = visible_start(line);
        let (before, rest) = line.split_at(start);
        let digits = rest.len() - rest.trim_start_matches(|c: char| c.is_ascii_digit()).len();
        let pad = self.pad;
        if digits > 0 {
            let row: usize = rest[..digits].parse().unwrap_or(1);
            let section = self.section.and_then(|section| self.sections.get(section));
            let number = section.and_then(|section| *section.excerpt.lines.get(row - 1)?);
            let number = number.map_or_else(String::new, |line| line.to_string());
            // The spaces before ariadne's number make room for it.
            let margin = columns(&without_color(before)) + digits - 1 + pad;
            let color = before.trim_matches(' ');
            return format!(" {color}{number:>margin$}{}", &rest[digits..]);
        }
        match rest.chars().next() {
            Some(corner @ ('─' | '-')) => format!("{before}{}{rest}", corner.to_string().repeat(pad)),
            _ => format!("{:pad$}{line}", ""),
        }
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
