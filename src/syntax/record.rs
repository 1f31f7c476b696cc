//! Which format is this record, and what does it tell? Stateless: one line in, one [`Record`] out. Each format is tried in
//! turn, the structured log first; most of its lines are passed over without being read.

use std::borrow::Cow;

use crate::model::{Event, ServerVersion};

use crate::text::Span;

use super::error::SyntaxError;
use super::heading::is_idle;
use super::{document, legacy, split, structured, wrapped};

/// The role of the process that wrote a log.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Role {
    /// A mongos.
    Router,
    /// A mongod of a shard.
    Shard,
    /// A mongod of the config server.
    Config,
}

/// What a record other than a slow query tells about the process.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Fact {
    /// Nothing that matters here.
    Plain,
    /// A stamp without a thread, or what a shell prints between values: it may stand in a log, and in much that is none.
    Vague,
    /// Build Info (23403): the version.
    Version(ServerVersion),
    /// Options (21951): the role, and the name of the replica set of a shard.
    Role(Role, Option<String>),
    /// SERVER RESTARTED (20698): version and role may change after it.
    Restart,
    /// A chunk that does not move.
    Trouble(Box<Trouble>),
}

/// A message on a chunk that cannot be moved, or on a migration that failed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Trouble {
    /// The collection, if the message names it.
    pub namespace: Option<String>,
    /// Why, in words that do not differ from one failure to the next.
    pub reason: Option<String>,
    /// When, in milliseconds since 1970.
    pub time_millis: Option<i64>,
    /// A chunk was marked as too large.
    pub jumbo: bool,
    /// Where the message says so.
    pub span: Span,
}

/// One record of a log.
#[derive(Debug, Clone)]
pub enum Record {
    /// A slow query (51803, a line of the text log, a profiler document).
    Slow(Box<Event>),
    /// The output of explain.
    Explain(Box<Event>),
    /// A record of another kind, blank lines among them.
    Other(Fact),
    /// No known format explains it.
    Bad(SyntaxError),
    /// An array or a reply, record by record.
    Several(Vec<Part>),
}

/// One of several records in a text.
#[derive(Debug, Clone)]
pub struct Part {
    /// Where it stands in the text.
    pub span: Span,
    /// The record; its spans begin where `span` does.
    pub record: Record,
}

/// Reads one record: a line, its line end excluded, or a document on several lines. Spans are those of the text, bytes that
/// are no UTF-8 included.
#[must_use]
pub fn read_record(line: &[u8]) -> Record {
    if is_idle(line) || line.iter().all(|byte| byte.is_ascii_whitespace() || *byte == 0) {
        return Record::Other(Fact::Plain);
    }
    let text = as_text(line);
    split::read(&text, unsplit).unwrap_or_else(|| unsplit(&text))
}

/// Reads a record that no container runtime has split.
fn unsplit(text: &str) -> Record {
    bare(text).unwrap_or_else(|error| {
        document::read(text, |line| bare(line).unwrap_or_else(Record::Bad))
            .or_else(|| wrapped::read(text, inner))
            .unwrap_or_else(|| {
                // Of a document on several lines it says little what its first line is not.
                let error = document::unknown(text).unwrap_or(error);
                Record::Bad(wrapped::split_by_runtime(text, error))
            })
    })
}

/// Reads what stands in a string of another line: a line of a log, or a document.
fn inner(line: &str) -> Result<Record, SyntaxError> {
    bare(line).or_else(|error| {
        let is_document = line.trim_start().starts_with('{');
        match is_document.then(|| document::read(line, |line| bare(line).unwrap_or_else(Record::Bad))).flatten() {
            Some(Record::Bad(error)) => Err(error),
            Some(record) => Ok(record),
            None => Err(error),
        }
    })
}

/// Reads a line that stands for itself, perhaps behind columns of a container or of syslog.
fn bare(line: &str) -> Result<Record, SyntaxError> {
    if line.bytes().all(|byte| byte.is_ascii_whitespace()) {
        return Ok(Record::Other(Fact::Plain));
    }
    structured::read(line).or_else(|error| legacy::read(line).ok_or(error))
}

/// The line as text. Bytes that are no UTF-8 become `?`, one for one, so that spans stay true.
fn as_text(line: &[u8]) -> Cow<'_, str> {
    if let Ok(text) = std::str::from_utf8(line) {
        return Cow::Borrowed(text);
    }
    let mut text = String::with_capacity(line.len());
    for chunk in line.utf8_chunks() {
        text.push_str(chunk.valid());
        text.extend(chunk.invalid().iter().map(|_| '?'));
    }
    Cow::Owned(text)
}
