//! Records that a container runtime has split into several lines, put together again. Kubernetes marks all but the last with
//! `P` in its columns (`2026-11-30T08:17:00.824513Z stdout P {"t":…`); docker's `json-file` leaves out the line end in all
//! but the last (`{"log":"{\"t\":…","stream":"stdout"}`), its other log drivers and many shippers mark parts by a member.
//! Spans are mapped back into the physical lines. Parts have to follow each other: other lines between them part them.

use std::sync::LazyLock;

use regex::bytes::Regex;

use crate::text::Span;

use super::ext_json::{raw_members, span_in};
use super::frame::begins_record;
use super::place;
use super::record::Record;
use super::wrapped::{USUAL, Unescaped};

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
    if !text.contains('\n') || Split::begin(text.lines().next()?.as_bytes()).is_none() {
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
        return Unescaped::new(text, quoted_text(&members)?).map(Piece::Quoted);
    }
    let (_, _, content) = columns(line.as_bytes())?;
    let content = line.get(content..)?;
    Some(Piece::Plain { start: span_in(text, 0, content).range().start, text: content.to_owned() })
}

/// Who wrote a part of a record that goes on in the next line.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Runtime {
    /// `{"log":"…","stream":"stdout",…}`
    Docker,
    /// `2026-11-30T08:17:00.824513Z stdout P …`
    Kubernetes {
        /// `stdout`, not `stderr`.
        is_output: bool,
    },
    /// An object that says so beside its text: `"partial_message":"true"`, `"logtag":"P"` …
    Marked {
        /// What the parts of one record have in common, if they are told.
        id: Option<String>,
    },
}

/// A record whose first parts have been read.
#[derive(Debug, Clone)]
pub(super) struct Split {
    runtime: Runtime,
    /// Of docker's parts of a JSON record: what is open in it. Some who write such lines leave out the end of the last, too.
    json: Option<Json>,
}

impl Split {
    /// The record that begins in `line` and goes on in the next one.
    pub(super) fn begin(line: &[u8]) -> Option<Self> {
        let (runtime, _) = runtime(line).filter(|(_, goes_on)| *goes_on)?;
        let json =
            (runtime == Runtime::Docker).then(|| docker_text(line)).flatten().and_then(|text| Json::begin(&text));
        Some(Self { runtime, json })
    }

    /// Whether `line` is a further part, and if so, whether the record goes on behind it.
    pub(super) fn read(&mut self, line: &[u8]) -> Option<bool> {
        let found = runtime(line);
        // Where parts have no name, the last one has no mark either.
        let is_rest =
            self.runtime == Runtime::Marked { id: None } && matches!(found, None | Some((Runtime::Docker, _)));
        if !is_rest && found.as_ref().is_none_or(|(found, _)| *found != self.runtime) {
            return None;
        }
        let line = String::from_utf8_lossy(line);
        let piece = piece(&line, &line)?;
        let text = piece.text();
        if begins_record(text.as_bytes()) {
            return None;
        }
        Some(match (&mut self.json, found) {
            (Some(json), _) => !json.closes_in(text) && !text.ends_with('\n'),
            (None, Some((_, goes_on))) => goes_on && !is_rest,
            (None, None) => false,
        })
    }
}

/// The runtime that a line is of, and whether the record goes on in the next line; `None` for a line of another kind.
fn runtime(line: &[u8]) -> Option<(Runtime, bool)> {
    if let Some((id, goes_on)) = mark(line) {
        return Some((Runtime::Marked { id }, goes_on));
    }
    if is_docker(line) {
        return Some((Runtime::Docker, is_docker_part(line)));
    }
    let (is_output, goes_on, _) = columns(line)?;
    Some((Runtime::Kubernetes { is_output }, goes_on))
}

/// Whether a line begins as docker's do, blanks behind the colon aside.
fn is_docker(line: &[u8]) -> bool {
    line.strip_prefix(br#"{"log":"#).is_some_and(|rest| rest.trim_ascii_start().starts_with(b"\""))
}

/// What the members of an object say of its text: the name of the record that it is a part of, and whether that goes on.
/// Docker's log drivers write `partial_message`, `partial_id` and `partial_last` (journald: in upper case), collectors of
/// Kubernetes `logtag` or `_partial`.
fn mark(line: &[u8]) -> Option<(Option<String>, bool)> {
    static MARKS: LazyLock<Regex> = LazyLock::new(|| {
        Regex::new(r#""(partial_message|CONTAINER_PARTIAL_MESSAGE|logtag|_partial)""#).expect("the pattern is valid")
    });
    if line.first() != Some(&b'{') || line.starts_with(b"{\"t\":") || !MARKS.is_match(line) {
        return None;
    }
    let members = raw_members(std::str::from_utf8(line).ok()?).ok()?;
    let given = |name: &str| {
        let found = members.iter().find(|(member, _)| member.trim_matches('"') == name);
        found.map(|(_, value)| value.trim_matches('"'))
    };
    let is_true = |name: &str| given(name).map(|value| value.eq_ignore_ascii_case("true"));
    if let Some(tag) = given("logtag") {
        return Some((None, tag.starts_with('P')));
    }
    let docker = ["partial_message", "partial_id", "partial_last"];
    let journald = ["CONTAINER_PARTIAL_MESSAGE", "CONTAINER_PARTIAL_ID", "CONTAINER_PARTIAL_LAST"];
    let drivers = [docker, journald].into_iter();
    let of_driver = drivers.filter(|[message, ..]| is_true(message) == Some(true)).map(|[_, id, last]| {
        // Each part of a record, the last one too, has its name.
        (given(id).map(str::to_owned), is_true(last) != Some(true))
    });
    of_driver.chain(is_true("_partial").map(|goes_on| (None, goes_on))).next()
}

/// The member that holds the text of a line.
fn quoted_text<'a>(members: &[(&'a str, &'a str)]) -> Option<&'a str> {
    let value = |name: &&str| members.iter().find(|(member, _)| member.trim_matches('"') == *name);
    let mut found = USUAL.iter().filter_map(value).map(|(_, value)| *value);
    found.find(|value| value.starts_with('"'))
}

/// Docker cuts a line every 16 kB, and ends the last part with the line's own end. Others who write such lines leave the end
/// out always; then only a JSON record shows whether it is whole.
fn is_docker_part(line: &[u8]) -> bool {
    const PART: usize = 16 * 1024;
    /// Characters that were cut in two are replaced, by longer ones.
    const REPLACED: usize = 12;
    if ends_its_line(line) {
        return false;
    }
    docker_text(line).filter(|text| !text.ends_with('\n')).is_some_and(|text| {
        text.len().abs_diff(PART) <= REPLACED || Json::begin(&text).is_some_and(|json| json.depth > 0)
    })
}

/// Whether the text in one of docker's lines ends with a line's end, as almost all do.
fn ends_its_line(line: &[u8]) -> bool {
    /// What docker writes behind the text is short.
    const BEHIND: usize = 120;
    let behind = &line[line.len().saturating_sub(BEHIND)..];
    memchr::memmem::find(behind, br#"\n","stream":""#).is_some() || behind.ends_with(br#"\n"}"#)
}

fn docker_text(line: &[u8]) -> Option<String> {
    if !is_docker(line) {
        return None;
    }
    let line = std::str::from_utf8(line).ok()?;
    let (_, log) = raw_members(line).ok()?.into_iter().find(|(name, _)| *name == "\"log\"")?;
    Unescaped::new(line, log).map(|inner| inner.text)
}

/// What is open in the first parts of a JSON record.
#[derive(Debug, Clone, Default)]
struct Json {
    depth: usize,
    in_string: bool,
    is_escaped: bool,
}

impl Json {
    /// Of a text that begins as a record of the structured log does.
    fn begin(text: &str) -> Option<Self> {
        let mut json = Self::default();
        text.starts_with("{\"t\":").then(|| json.closes_in(text))?;
        Some(json)
    }

    /// Reads on; whether the record ends in `text`.
    fn closes_in(&mut self, text: &str) -> bool {
        for byte in text.bytes() {
            match byte {
                _ if self.is_escaped => self.is_escaped = false,
                b'\\' if self.in_string => self.is_escaped = true,
                b'"' => self.in_string = !self.in_string,
                _ if self.in_string => {}
                b'{' | b'[' => self.depth += 1,
                b'}' | b']' => self.depth = self.depth.saturating_sub(1),
                _ => {}
            }
            if self.depth == 0 {
                return true;
            }
        }
        false
    }
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
