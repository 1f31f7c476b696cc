//! Log lines inside JSON strings, as container runtimes and log services write them: `{"log":"{\"t\":…}\n","stream":"stdout"}`.
//!
//! The string is decoded, read as any line, and every span of what was read is mapped back through the escapes, so that it
//! names bytes of the physical line. One string deep; objects around it may be nested.

use crate::text::Span;

use super::error::SyntaxError;
use super::ext_json::{raw_members, span_in};
use super::place;
use super::record::Record;
use super::structured;

/// The members that are known to hold lines; others are looked at after them.
pub(super) const USUAL: [&str; 5] = ["log", "message", "line", "MESSAGE", "msg"];

/// So many objects may stand around the string (`_source.message`).
const MAX_DEPTH: usize = 3;

/// The text of a JSON string, and where each part of it stands in the line.
#[derive(Debug)]
pub(super) struct Unescaped {
    pub(super) text: String,
    /// Offset in the text and offset in the line, where both began to run in step.
    steps: Vec<(usize, usize)>,
}

/// Reads a line that holds a record in an object, or another line in a JSON string, with `read`; `None` if it holds none
/// that `read` knows.
pub(super) fn read(line: &str, read: impl Fn(&str) -> Result<Record, SyntaxError>) -> Option<Record> {
    // Collectors write time and tag in front of the object.
    let object = line[line.find('{')?..].trim();
    let candidates = candidates(object, 0)?;
    if let Some(record) = candidates.objects.iter().find_map(|json| structured::of_object(line, json).ok()) {
        return Some(record);
    }
    let mut refused = None;
    for Candidate { quoted, is_usual } in candidates.strings {
        let inner = Unescaped::new(line, quoted)?;
        // Other strings may hold a time, which looks like the beginning of a line.
        if !is_usual && !inner.text.trim_start().starts_with('{') && !inner.text.contains(" [") {
            continue;
        }
        // The line's end is no part of it.
        match read(inner.text.trim_end_matches(['\r', '\n'])) {
            Ok(record) => return Some(inner.mapped(record)),
            Err(error) if refused.is_none() && (is_usual || inner.text.trim_start().starts_with('{')) => {
                refused = Some(Record::Bad(inner.complaint(error)));
            }
            Err(_) => {}
        }
    }
    refused
}

/// A string that may hold a line.
struct Candidate<'a> {
    /// As the line has it, with its quotes.
    quoted: &'a str,
    /// Its member is known to hold lines.
    is_usual: bool,
}

/// What may hold a record.
struct Candidates<'a> {
    /// The likeliest first.
    strings: Vec<Candidate<'a>>,
    objects: Vec<&'a str>,
}

/// The strings of an object and of those in it, and these.
fn candidates(object: &str, depth: usize) -> Option<Candidates<'_>> {
    let members = raw_members(object).ok()?;
    let rank = |name: &str| {
        let name = name.trim_matches('"');
        USUAL.iter().position(|usual| *usual == name).unwrap_or(USUAL.len())
    };
    let mut members: Vec<_> = members.into_iter().map(|(name, value)| (rank(name), value)).collect();
    members.sort_by_key(|(rank, _)| *rank);
    let strings = members.iter().filter(|(_, value)| value.starts_with('"'));
    let candidate = |&(rank, quoted): &(usize, _)| Candidate { quoted, is_usual: rank < USUAL.len() };
    let mut found = Candidates { strings: strings.map(candidate).collect(), objects: Vec::new() };
    if depth < MAX_DEPTH {
        for (_, object) in members.iter().filter(|(_, value)| value.starts_with('{')) {
            found.objects.push(object);
            if let Some(below) = candidates(object, depth + 1) {
                found.strings.extend(below.strings);
                found.objects.extend(below.objects);
            }
        }
    }
    Some(found)
}

impl Unescaped {
    /// Decodes `quoted`, a JSON string that is a part of `line`, or one of the shell. A lone surrogate becomes U+FFFD.
    pub(super) fn new(line: &str, quoted: &str) -> Option<Self> {
        let raw = quoted.get(1..quoted.len() - 1)?;
        let start = span_in(line, 0, raw).start as usize;
        let mut inner = Self { text: String::with_capacity(raw.len()), steps: vec![(0, start)] };
        let mut at = 0;
        while let Some(escape) = memchr::memchr(b'\\', &raw.as_bytes()[at..]).map(|found| at + found) {
            inner.text.push_str(&raw[at..escape]);
            inner.step(start + escape);
            let (decoded, length) = unescaped(&raw[escape..])?;
            inner.text.push(decoded);
            at = escape + length;
            inner.step(start + at);
        }
        inner.text.push_str(&raw[at..]);
        Some(inner)
    }

    /// From the end of the text so far on, the line stands at `outer`.
    fn step(&mut self, outer: usize) {
        self.steps.push((self.text.len(), outer));
    }

    fn place(&self, at: u32) -> usize {
        let at = at as usize;
        let next = self.steps.partition_point(|(inner, _)| *inner <= at);
        let (inner, outer) = self.steps[next.saturating_sub(1)];
        let limit = self.steps.get(next).map_or(usize::MAX, |(_, outer)| *outer);
        (outer + (at - inner)).min(limit)
    }

    /// Where a span of the text stands in the line.
    pub(super) fn outer(&self, span: Span) -> Span {
        Span::new(self.place(span.start), self.place(span.end))
    }

    fn complaint(&self, mut error: SyntaxError) -> SyntaxError {
        error.span = self.outer(error.span);
        if self.text.ends_with('\n') { error } else { goes_on(error) }
    }

    /// A record that was read from the text, as one of the line.
    pub(super) fn mapped(&self, record: Record) -> Record {
        match record {
            Record::Bad(error) => Record::Bad(self.complaint(error)),
            mut record => {
                place::record(&mut record, &|span| self.outer(span));
                record
            }
        }
    }
}

/// Complains about a runtime that split the line, if that is what `error` is about.
fn goes_on(error: SyntaxError) -> SyntaxError {
    if !error.message.contains("EOF") {
        return error;
    }
    SyntaxError::new(error.span, "the record goes on in another line: container runtimes split lines over 16 kB")
}

/// The same for a line as Kubernetes keeps it, `2026-11-30T08:17:00.824513Z stdout P {"t":…`, where `P` says so.
pub(super) fn split_by_runtime(line: &str, error: SyntaxError) -> SyntaxError {
    let mut columns = line.split(' ').skip(1);
    let is_split = matches!((columns.next(), columns.next()), (Some("stdout" | "stderr"), Some("P")));
    if is_split { goes_on(error) } else { error }
}

/// The character that the escape at the beginning of `text` stands for, and how long the escape is.
fn unescaped(text: &str) -> Option<(char, usize)> {
    let escaped = text.chars().nth(1)?;
    let decoded = match escaped {
        'n' => '\n',
        't' => '\t',
        'r' => '\r',
        'b' => '\u{8}',
        'f' => '\u{c}',
        'u' => return Some(unicode(text)),
        other => other,
    };
    Some((decoded, 1 + escaped.len_utf8()))
}

/// `\u00e9`, or two of them that are one character.
fn unicode(text: &str) -> (char, usize) {
    let unit = |at: usize| u16::from_str_radix(text.get(at + 2..at + 6)?, 16).ok();
    // In a string of the shell other things may follow.
    let Some(first) = unit(0) else { return (char::REPLACEMENT_CHARACTER, 2) };
    let second = text.get(6..).filter(|rest| rest.starts_with("\\u")).and_then(|_| unit(6));
    let pair = second.and_then(|second| char::decode_utf16([first, second]).next()?.ok());
    match (char::from_u32(u32::from(first)), pair) {
        (Some(single), _) => (single, 6),
        (None, Some(pair)) => (pair, 12),
        (None, None) => (char::REPLACEMENT_CHARACTER, 6),
    }
}
