//! Records that a container runtime has split into several lines, put together again. Kubernetes marks all but the last with
//! `P` in its columns (`2026-11-30T08:17:00.824513Z stdout P {"t":…`); docker's `json-file` leaves out the line end in all
//! but the last (`{"log":"{\"t\":…","stream":"stdout"}`). Spans are mapped back into the physical lines.

use crate::text::Span;

use super::ext_json::{raw_members, span_in};
use super::place;
use super::record::Record;
use super::wrapped::Unescaped;

/// What one line adds to the record: a text, and where its bytes stand.
enum Piece {
    /// As it stands in the line.
    Plain { start: usize, text: String },
    /// From a JSON string.
    Quoted(Unescaped),
}

impl Piece {
    fn text(&self) -> &str {
        match self {
            Self::Plain { text, .. } => text,
            Self::Quoted(inner) => &inner.text,
        }
    }

    fn outer(&self, at: usize) -> usize {
        match self {
            Self::Plain { start, .. } => start + at,
            Self::Quoted(inner) => inner.outer(Span::new(at, at)).range().start,
        }
    }
}

/// Reads several lines that hold one record with `read`; `None` if they are none such.
pub(super) fn read(text: &str, read: impl Fn(&str) -> Record) -> Option<Record> {
    if !text.contains('\n') || is_partial(text.lines().next()?.as_bytes()).is_none() {
        return None;
    }
    let pieces: Vec<Piece> = text.lines().map(|line| piece(text, line)).collect::<Option<_>>()?;
    let mut ends = Vec::with_capacity(pieces.len());
    let mut joined = String::new();
    for piece in &pieces {
        joined.push_str(piece.text());
        ends.push(joined.len());
    }
    let place = |at: usize, is_end: bool| {
        // An end belongs to the piece before it.
        let index = ends.partition_point(|end| if is_end { *end < at } else { *end <= at }).min(pieces.len() - 1);
        let begin = if index == 0 { 0 } else { ends[index - 1] };
        pieces[index].outer(at.max(begin) - begin)
    };
    let outer = |span: Span| {
        let start = place(span.range().start, false);
        Span::new(start, if span.is_empty() { start } else { place(span.range().end, true).max(start) })
    };
    let mut record = read(&joined);
    place::record(&mut record, &outer);
    Some(record)
}

fn piece(text: &str, line: &str) -> Option<Piece> {
    if line.starts_with('{') {
        let members = raw_members(line).ok()?;
        let (_, log) = members.into_iter().find(|(name, _)| *name == "\"log\"")?;
        return Unescaped::new(text, log).map(Piece::Quoted);
    }
    let (_, _, content) = columns(line.as_bytes())?;
    let content = line.get(content..)?;
    Some(Piece::Plain { start: span_in(text, 0, content).range().start, text: content.to_owned() })
}

/// Who wrote a part of a record that goes on in the next line: parts of different streams may stand between each other.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Runtime {
    /// `{"log":"…","stream":"stdout",…}`
    Docker,
    /// `2026-11-30T08:17:00.824513Z stdout P …`
    Kubernetes {
        /// `stdout`, not `stderr`.
        is_output: bool,
    },
}

/// The runtime that a line is of, and whether the record goes on in the next line; `None` for a line of another kind.
pub(super) fn runtime(line: &[u8]) -> Option<(Runtime, bool)> {
    if line.starts_with(br#"{"log":""#) {
        return Some((Runtime::Docker, is_docker_part(line)));
    }
    let (is_output, goes_on, _) = columns(line)?;
    Some((Runtime::Kubernetes { is_output }, goes_on))
}

/// Docker cuts a line every 16 kB, and ends the last part with the line's own end. Others who write such lines leave the end
/// out always.
fn is_docker_part(line: &[u8]) -> bool {
    const PART: usize = 16 * 1024;
    /// Characters that were cut in two are replaced, by longer ones.
    const REPLACED: usize = 12;
    if line.len() < PART {
        return false;
    }
    let length = || {
        let line = std::str::from_utf8(line).ok()?;
        let members = raw_members(line).ok()?;
        let (_, log) = members.into_iter().find(|(name, _)| *name == "\"log\"")?;
        Unescaped::new(line, log).filter(|inner| !inner.text.ends_with('\n')).map(|inner| inner.text.len())
    };
    length().is_some_and(|length| length.abs_diff(PART) <= REPLACED)
}

/// The same for a line whose record goes on.
pub(super) fn is_partial(line: &[u8]) -> Option<Runtime> {
    runtime(line).filter(|(_, goes_on)| *goes_on).map(|(runtime, _)| runtime)
}

/// The columns of Kubernetes: whether the stream is `stdout`, whether the record goes on, and where its text begins.
fn columns(line: &[u8]) -> Option<(bool, bool, usize)> {
    /// `2026-11-30T08:17:00.824513123+00:00`
    const STAMP: usize = 40;
    if !line.first()?.is_ascii_digit() {
        return None;
    }
    let blank = memchr::memchr(b' ', &line[..line.len().min(STAMP)])?;
    let rest = &line[blank + 1..];
    let is_output = rest.starts_with(b"stdout ");
    if !is_output && !rest.starts_with(b"stderr ") {
        return None;
    }
    let goes_on = match rest.get(7)? {
        b'P' => true,
        b'F' => false,
        _ => return None,
    };
    // The last part may be empty, and a blank at the end of a line is easily lost.
    let text = if rest.len() == 8 { 8 } else { 9 };
    (rest.len() == 8 || rest[8] == b' ').then_some((is_output, goes_on, blank + 1 + text))
}
