//! Documents that are records of their own: explain output, profiler documents, records of a log in a list, replies that hold
//! such or lines of a log.
//! In JSON, extended JSON or as a shell prints them; alone, in an array, on one line or on many.

use std::sync::LazyLock;

use memchr::memmem::Finder;

use crate::model::{Document, Node};
use crate::text::Span;

use super::error::SyntaxError;
use super::record::{Fact, Part, Record};
use super::shell_talk::{is_chatter, typed};
use super::wrapped::{self, Unescaped};
use super::{explain, ext_json, place, profile, shell};

/// Reads a document, an array of them, or what stands around documents; `None` if the text is nothing of that kind.
/// `read_line` reads a line of a log that stands in a string.
pub(super) fn read(text: &str, read_line: impl Fn(&str) -> Record) -> Option<Record> {
    let is_whole = text.contains('\n');
    if !is_whole && is_talk(text.trim()) {
        return Some(Record::Other(Fact::Vague));
    }
    let value = value(text);
    if value.is_empty() {
        // The brackets of an array around records, on lines of their own, are no sign of a log.
        return Some(Record::Other(Fact::Vague));
    }
    if !value.starts_with(['{', '[', '"', '\'']) {
        return None;
    }
    if !is_whole && !may_hold_records(value) {
        return None;
    }
    match parsed(text, value) {
        Ok(node) => Reader { text, read_line }.value(&node),
        Err(error) if is_whole => Some(Record::Bad(error)),
        Err(_) => None,
    }
}

/// The complaint about a document on several lines that is none of those known.
pub(super) fn unknown(text: &str) -> Option<SyntaxError> {
    let start = text.find('{').filter(|_| text.trim_end().contains('\n'))?;
    let message = "a document, but neither a log record, a profiler document nor explain output";
    Some(SyntaxError::new(Span::new(start, start + 1), message))
}

/// The text without what a list or a prompt puts around a value.
fn value(text: &str) -> &str {
    let blank = |c: char| c.is_whitespace() || c == '\0' || c == '\u{feff}';
    let mut value = text.trim_matches(blank);
    if let Some(typed) = typed(value.lines().next().unwrap_or_default()).filter(|typed| typed.starts_with(['{', '['])) {
        value = &value[ext_json::span_in(value, 0, typed).range().start..];
    }
    let end = |c: char| blank(c) || matches!(c, ',' | ';');
    value = value.trim_end_matches(end).trim_start_matches(|c: char| blank(c) || c == ',');
    // Brackets whose partners stand on other lines.
    while let Some(inner) = value.strip_prefix('[').filter(|_| !closes(value)) {
        value = inner.trim_start_matches(blank);
    }
    while let Some(inner) = value.strip_suffix([']', ')']).filter(|inner| !opens(inner)) {
        value = inner.trim_end_matches(end);
    }
    value
}

/// Whether an array that a text begins with ends in it, as far as the last character tells.
fn closes(text: &str) -> bool {
    text.ends_with(']')
}

/// Whether an array begins with a text that lacks only its end.
fn opens(text: &str) -> bool {
    text.starts_with('[') || text.starts_with(|c: char| c.is_ascii_alphabetic())
}

/// Whether a line is what a shell prints around values, and holds none itself.
fn is_talk(line: &str) -> bool {
    let line = line.trim_start_matches('\u{feff}');
    let holds_value = typed(line).is_some_and(|typed| typed.starts_with(['{', '[']));
    is_elision(line) || is_chatter(line) && !holds_value
}

/// `... 3 more items`
fn is_elision(text: &str) -> bool {
    text.strip_prefix("... ").is_some_and(|rest| rest.ends_with(" more items") || rest.ends_with(" more item"))
}

/// Whether a line holds a name that one of the documents known here has.
fn may_hold_records(text: &str) -> bool {
    const NAMES: [&str; 15] = [
        "\"msg\"",
        "queryPlanner",
        "nscanned",
        "splitPipeline",
        "stages",
        "firstBatch",
        "nextBatch",
        "totalLinesWritten",
        "\"op\"",
        "op:",
        "'op'",
        // Escaped, in a string; and of lines of the text log.
        "\\\"msg\\\"",
        "\"values\"",
        "\"events\"",
        "\"hits\"",
    ];
    static FINDERS: LazyLock<Vec<Finder<'static>>> =
        LazyLock::new(|| NAMES.iter().map(|name| Finder::new(name.as_bytes())).collect());
    text.starts_with(['"', '\'', '[']) || FINDERS.iter().any(|name| name.find(text.as_bytes()).is_some())
}

/// JSON, else as a shell prints it: the complaint of the reader that came further.
fn parsed(text: &str, value: &str) -> Result<Node, SyntaxError> {
    let base = ext_json::span_in(text, 0, value).start as usize;
    ext_json::parse(value, base).or_else(|json| {
        shell::parse(value, base).map_err(|shell| {
            let error = if shell.span.start > json.span.start { shell } else { json };
            let is_cut = error.message.contains("EOF") || error.message.ends_with("the end of the text");
            if !is_cut {
                return error;
            }
            let message = "this document does not end: it was cut, or its brackets do not match; expected all of it";
            SyntaxError::new(Span::new(base, base + 1), message)
        })
    })
}

struct Reader<'a, F> {
    text: &'a str,
    read_line: F,
}

impl<F: Fn(&str) -> Record> Reader<'_, F> {
    fn value(&self, node: &Node) -> Option<Record> {
        if let Some(array) = node.as_array() {
            return match array.items.as_slice() {
                // Loki's pair of a time and a line.
                [time, line] if time.as_str().is_some() && line.as_str().is_some() => self.line(line),
                [] => Some(Record::Other(Fact::Vague)),
                items => self.all(items),
            };
        }
        if node.as_str().is_some() {
            return self.line(node);
        }
        let document = node.as_document()?;
        self.document(node, document).or_else(|| self.reply(document)).or_else(|| self.row(node))
    }

    fn document(&self, node: &Node, document: &Document) -> Option<Record> {
        if explain::is_explain(document) {
            return Some(Record::Explain(Box::new(explain::event(self.text, node, document))));
        }
        if profile::is_profile(document) {
            return Some(Record::Slow(Box::new(profile::event(self.text, node, document))));
        }
        let is_record = ["t", "id", "msg"].iter().all(|name| document.get(name).is_some());
        is_record.then(|| {
            let mut record = (self.read_line)(&self.text[node.span.range()]);
            place::record(&mut record, &|span| span.shifted(node.span.range().start));
            record
        })
    }

    /// What a command replied: a batch of documents, or the lines that `getLog` has kept.
    fn reply(&self, document: &Document) -> Option<Record> {
        let cursor = document.get("cursor").and_then(Node::as_document);
        let batch = cursor.and_then(|cursor| cursor.get("firstBatch").or_else(|| cursor.get("nextBatch")));
        let lines = document.get("log").filter(|_| document.get("totalLinesWritten").is_some());
        self.all(&batch.or(lines).or_else(|| exported(document))?.as_array()?.items)
    }

    /// One row of a list that a log service exported.
    fn row(&self, node: &Node) -> Option<Record> {
        let text = self.text.get(node.span.range()).filter(|text| text.len() < self.text.trim().len())?;
        let known = |line: &str| match (self.read_line)(line) {
            Record::Bad(error) => Err(error),
            record => Ok(record),
        };
        let mut record = wrapped::read(text, known).filter(|record| !matches!(record, Record::Bad(_)))?;
        place::record(&mut record, &|span| span.shifted(node.span.range().start));
        Some(record)
    }

    /// Records side by side, if the first is one that is known.
    fn all(&self, nodes: &[Node]) -> Option<Record> {
        let mut parts = Vec::with_capacity(nodes.len());
        for node in nodes {
            match self.value(node) {
                Some(Record::Several(inner)) => parts.extend(inner),
                Some(record) => parts.push(part(node.span, record)),
                None if parts.is_empty() => return None,
                None => {
                    let message = "neither a log record, a profiler document nor explain output";
                    let error = SyntaxError::new(node.span, message);
                    parts.push(part(node.span, Record::Bad(error)));
                }
            }
        }
        Some(if parts.is_empty() { Record::Other(Fact::Plain) } else { Record::Several(parts) })
    }

    /// A line of a log in a string.
    fn line(&self, node: &Node) -> Option<Record> {
        let inner = Unescaped::new(self.text, self.text.get(node.span.range())?)?;
        Some(inner.mapped((self.read_line)(&inner.text)))
    }
}

/// The rows of what CloudWatch, Elastic and Loki export in one object.
fn exported(document: &Document) -> Option<&Node> {
    let below = |name: &str, list: &str| document.get(name)?.as_document()?.get(list);
    let lists = [document.get("events"), below("hits", "hits"), below("data", "result"), document.get("values")];
    lists.into_iter().flatten().next()
}

/// A record of a text with spans that begin where the record does.
fn part(span: Span, mut record: Record) -> Part {
    let start = span.start;
    let within = |at: u32| at.max(start) - start;
    place::record(&mut record, &|span| Span { start: within(span.start), end: within(span.end) });
    Part { span, record }
}
