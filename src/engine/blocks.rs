//! Chunks of lines to blocks of whole records: what stands on several lines (a printed document, a record that a container
//! runtime has split) is never cut between two blocks. Which records there are does not depend on the size of the chunks;
//! of a document that is too long only its place and length are told.

use std::collections::VecDeque;
use std::ops::Range;

use memchr::{memchr, memchr_iter, memrchr};

use crate::input::{Chunk, LINE_CAP, Piece};
use crate::syntax::frame::{Frame, Line};
use crate::syntax::{Heading, heading};
use crate::text::{RecordPos, SourceId};

/// Some whole lines.
#[derive(Debug, Clone)]
pub struct Lines {
    /// Where the first one begins.
    pub pos: RecordPos,
    /// They, with their line ends.
    pub bytes: Vec<u8>,
}

/// Lines, and which of them make one record together.
#[derive(Debug, Clone)]
pub struct Block {
    /// The lines.
    pub lines: Lines,
    frames: Vec<Framed>,
    runs: Vec<Run>,
    /// Bytes of the first line that stand in the block before.
    lead: usize,
    /// The last line goes on in the next block.
    is_cut: bool,
}

/// A record on several lines.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Framed {
    range: Range<usize>,
    is_split: bool,
}

/// A record of the structured log that has to be read and tells nothing of the process, or some of which nothing matters.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Run {
    range: Range<usize>,
    lines: u64,
    heading: Heading,
}

/// One record of a block, or several of which nothing matters.
#[derive(Debug, Clone, Copy)]
pub struct BlockRecord<'a> {
    /// Where it begins.
    pub position: RecordPos,
    /// Bytes before it on its first line.
    pub lead: u32,
    /// It, without its line end.
    pub bytes: &'a [u8],
    /// Lines that no other record of the block counts.
    pub lines: u64,
    /// Each of its lines is a record of the runtime that split it.
    pub is_split: bool,
    /// What it is, as far as that is known: if it is idle, so is each of its lines.
    pub heading: Heading,
}

/// What a stream consists of.
#[derive(Debug, Clone)]
pub enum Blocked {
    /// Whole records.
    Block(Block),
    /// A line or a document that is too long to be kept.
    Oversize {
        /// Where it begins.
        position: RecordPos,
        /// Its length in bytes.
        length: u64,
        /// Its lines.
        lines: u64,
    },
}

impl Block {
    /// The records in order: each line is one, unless it is a part of one on several lines. Those that do not have to be read
    /// come together.
    pub fn records(&self) -> impl Iterator<Item = BlockRecord<'_>> {
        let bytes = self.lines.bytes.as_slice();
        let (mut at, mut line) = (0, self.lines.pos.line);
        let mut frames = self.frames.iter().peekable();
        let mut runs = self.runs.iter().peekable();
        std::iter::from_fn(move || {
            if let Some(Run { range, lines, heading }) = runs.next_if(|run| run.range.start == at) {
                let position = RecordPos { offset: self.lines.pos.offset + at as u64, line, ..self.lines.pos };
                (at, line) = (range.end, line + lines);
                let (bytes, heading) = (without_line_end(&bytes[range.clone()]), *heading);
                return Some(BlockRecord { position, lead: 0, bytes, lines: *lines, is_split: false, heading });
            }
            let line_end = at + bytes.get(at..).filter(|rest| !rest.is_empty()).map(line_length)?;
            let Some(frame) = frames.next_if(|frame| frame.range.start < line_end) else {
                let position = RecordPos { offset: self.lines.pos.offset + at as u64, line, ..self.lines.pos };
                let lead = if at == 0 { self.lead } else { 0 };
                let record = without_line_end(&bytes[at..line_end]);
                (at, line) = (line_end, line + 1);
                let (lead, heading) = (narrow(lead), Heading::Other);
                return Some(BlockRecord { position, lead, bytes: record, lines: 1, is_split: false, heading });
            };
            let Framed { range, is_split } = frame;
            let before = newlines(&bytes[at..range.start]);
            let position =
                RecordPos { offset: self.lines.pos.offset + range.start as u64, line: line + before, ..self.lines.pos };
            let lead = match memrchr(b'\n', &bytes[..range.start]) {
                Some(newline) => range.start - newline - 1,
                None => range.start + self.lead,
            };
            let mut next = range.end;
            let rest_end = next + line_length(&bytes[next..]);
            let is_behind = next > 0 && bytes[next - 1] == b'\n';
            if !is_behind && frames.peek().is_none_or(|frame| frame.range.start >= rest_end) {
                next = rest_end;
            }
            let is_unended = next == bytes.len() && !bytes.ends_with(b"\n") && !self.is_cut;
            let lines = newlines(&bytes[at..next]) + u64::from(is_unended);
            (at, line) = (next, line + lines);
            let record = without_line_end(&bytes[range.clone()]);
            let (lead, heading) = (narrow(lead), Heading::Other);
            Some(BlockRecord { position, lead, bytes: record, lines, is_split: *is_split, heading })
        })
    }

    /// The stretches in which records may tell of the process.
    pub fn stretches(&self) -> impl Iterator<Item = Range<usize>> {
        let starts = std::iter::once(0).chain(self.runs.iter().map(|run| run.range.end));
        let ends = self.runs.iter().map(|run| run.range.start).chain(std::iter::once(self.lines.bytes.len()));
        starts.zip(ends).map(|(start, end)| start..end).filter(|stretch| !stretch.is_empty())
    }

    /// The record that the byte at `offset` belongs to.
    pub fn record_at(&self, offset: usize) -> &[u8] {
        let bytes = &self.lines.bytes;
        if let Some(frame) = self.frames.iter().find(|frame| frame.range.contains(&offset)) {
            return &bytes[frame.range.clone()];
        }
        let start = memrchr(b'\n', &bytes[..offset]).map_or(0, |newline| newline + 1);
        without_line_end(&bytes[start..offset + line_length(&bytes[offset..])])
    }
}

fn narrow(bytes: usize) -> u32 {
    u32::try_from(bytes).unwrap_or(u32::MAX)
}

fn line_length(bytes: &[u8]) -> usize {
    memchr(b'\n', bytes).map_or(bytes.len(), |newline| newline + 1)
}

fn newlines(bytes: &[u8]) -> u64 {
    memchr_iter(b'\n', bytes).count() as u64
}

fn without_line_end(line: &[u8]) -> &[u8] {
    line.strip_suffix(b"\n").map_or(line, |line| line.strip_suffix(b"\r").unwrap_or(line))
}

/// A record that has begun and not ended in what was read.
#[derive(Debug)]
struct Open {
    frame: Frame,
    /// Where it begins, in the bytes that are held.
    start: usize,
}

/// What is held of an open record.
#[derive(Debug)]
struct Held {
    /// From the beginning of its first line on, or from its own beginning if another record ends on that line.
    lines: Lines,
    lead: usize,
    open: Open,
}

/// An open record that was let go, for it is too long.
#[derive(Debug)]
struct Dropped {
    position: RecordPos,
    length: u64,
    line_ends: u64,
    is_line_ended: bool,
}

/// The blocks of one input, in order.
pub struct Blocks {
    source: SourceId,
    /// The number of the line that comes next.
    line: u64,
    cap: usize,
    held: Option<Held>,
    dropped: Option<Dropped>,
    ready: VecDeque<Blocked>,
}

impl Blocks {
    /// Those of a source of which nothing has been taken in.
    #[must_use]
    pub fn new(source: SourceId) -> Self {
        Self { source, line: 1, cap: LINE_CAP, held: None, dropped: None, ready: VecDeque::new() }
    }

    /// Takes in what comes next.
    pub fn take(&mut self, piece: Piece) {
        match piece {
            Piece::Lines(Chunk { offset, bytes }) => {
                let pos = self.position(offset);
                self.line += self.lay_out(Lines { pos, bytes });
            }
            Piece::Oversize { offset, length } => {
                self.end();
                let position = self.position(offset);
                self.line += 1;
                self.ready.push_back(Blocked::Oversize { position, length, lines: 1 });
            }
        }
    }

    /// Nothing more comes: what is open ends here.
    pub fn end(&mut self) {
        let Some(Held { lines, lead, open }) = self.held.take() else { return };
        if self.dropped.is_some() {
            self.drop_more(&lines);
            return self.end_dropped();
        }
        let frame = Framed { range: open.start..lines.bytes.len(), is_split: open.frame.is_split() };
        self.give(Block { lines, frames: vec![frame], runs: Vec::new(), lead, is_cut: false });
    }

    /// What is whole by now.
    pub fn ready(&mut self) -> impl Iterator<Item = Blocked> + use<'_> {
        self.ready.drain(..)
    }

    fn position(&self, offset: u64) -> RecordPos {
        RecordPos { source: self.source, offset, line: self.line }
    }

    /// Finds the records in some more lines. Returns how many lines those are.
    fn lay_out(&mut self, lines: Lines) -> u64 {
        let (mut lines, lead, scanned, open) = match self.held.take() {
            None => (lines, 0, 0, None),
            Some(Held { lines: mut held, lead, open }) => {
                let scanned = held.bytes.len();
                held.bytes.extend_from_slice(&lines.bytes);
                (held, lead, scanned, Some(open))
            }
        };
        let Records { frames, runs, open, line_count } = records(&lines.bytes, scanned, open);
        if self.dropped.is_some() {
            let is_over = frames.first().map(|frame| frame.range.end);
            self.go_on_dropping(lines, is_over, open);
            return line_count;
        }
        let Some(mut open) = open else {
            self.give(Block { lines, frames, runs, lead, is_cut: false });
            return line_count;
        };
        let line_start = memrchr(b'\n', &lines.bytes[..open.start]).map_or(0, |newline| newline + 1);
        let is_cut = frames.last().is_some_and(|frame| frame.range.end > line_start);
        let at = if is_cut { open.start } else { line_start };
        let rest = split_off(&mut lines, at);
        let held_lead = at - line_start + if line_start == 0 { lead } else { 0 };
        open.start -= at;
        self.give(Block { lines, frames, runs, lead, is_cut });
        self.hold(Held { lines: rest, lead: held_lead, open });
        line_count
    }

    /// Lines of which the first belong to a record that was let go: all, unless it `ends` in there.
    fn go_on_dropping(&mut self, mut lines: Lines, ends: Option<usize>, open: Option<Open>) {
        let mut end = ends.unwrap_or(lines.bytes.len());
        if ends.is_some() && !lines.bytes[..end].ends_with(b"\n") {
            end += line_length(&lines.bytes[end..]);
        }
        let rest = split_off(&mut lines, end);
        self.drop_more(&lines);
        match open.filter(|_| ends.is_none()) {
            Some(open) => self.held = Some(Held { lines: rest, lead: 0, open: Open { start: 0, ..open } }),
            None => {
                self.end_dropped();
                self.lay_out(rest);
            }
        }
    }

    fn give(&mut self, block: Block) {
        if !block.lines.bytes.is_empty() {
            self.ready.push_back(Blocked::Block(block));
        }
    }

    fn hold(&mut self, mut held: Held) {
        if held.lines.bytes.len() > self.cap {
            let end = held.lines.bytes.len();
            let nothing = split_off(&mut held.lines, end);
            self.drop_more(&held.lines);
            held = Held { lines: nothing, lead: 0, open: Open { start: 0, ..held.open } };
        }
        self.held = Some(held);
    }

    fn drop_more(&mut self, lines: &Lines) {
        let begun = Dropped { position: lines.pos, length: 0, line_ends: 0, is_line_ended: true };
        let dropped = self.dropped.get_or_insert(begun);
        dropped.length += lines.bytes.len() as u64;
        dropped.line_ends += newlines(&lines.bytes);
        dropped.is_line_ended = lines.bytes.last().map_or(dropped.is_line_ended, |last| *last == b'\n');
    }

    fn end_dropped(&mut self) {
        if let Some(Dropped { position, length, line_ends, is_line_ended }) = self.dropped.take() {
            let lines = line_ends + u64::from(!is_line_ended);
            self.ready.push_back(Blocked::Oversize { position, length, lines });
        }
    }
}

/// Cuts lines in two.
fn split_off(lines: &mut Lines, at: usize) -> Lines {
    let bytes = lines.bytes.split_off(at);
    let pos =
        RecordPos { offset: lines.pos.offset + at as u64, line: lines.pos.line + newlines(&lines.bytes), ..lines.pos };
    Lines { pos, bytes }
}

/// What is known of the records in some lines.
struct Records {
    /// Those on several lines.
    frames: Vec<Framed>,
    /// Those that are told by how they begin.
    runs: Vec<Run>,
    /// The one that is still open at the end.
    open: Option<Open>,
    /// Lines that were passed over.
    line_count: u64,
}

/// The records in `bytes`, of which those before `scanned` are known to belong to the open one.
fn records(bytes: &[u8], scanned: usize, mut open: Option<Open>) -> Records {
    let (mut frames, mut runs) = (Vec::new(), Vec::new());
    let (mut at, mut line_count) = (scanned, 0);
    let mut idle = Idle::default();
    while at < bytes.len() {
        let end = at + line_length(&bytes[at..]);
        let line = without_line_end(&bytes[at..end]);
        let Some(Open { frame, start }) = &mut open else {
            match heading(line) {
                Heading::Idle => idle.add(at),
                Heading::Telling => {
                    idle.end(at, &mut runs);
                    runs.push(Run { range: at..end, lines: 1, heading: Heading::Telling });
                }
                Heading::Other => {
                    idle.end(at, &mut runs);
                    open = Frame::begin(line).map(|(frame, offset)| Open { frame, start: at + offset });
                }
            }
            (at, line_count) = (end, line_count + 1);
            continue;
        };
        match frame.read(line) {
            Line::Inside => {}
            Line::Ends(offset) => {
                frames.push(Framed { range: *start..at + offset, is_split: frame.is_split() });
                open = rest_of_line(line, offset, at, &mut frames);
            }
            Line::Foreign => {
                frames.push(Framed { range: *start..at, is_split: frame.is_split() });
                open = None;
                continue;
            }
        }
        (at, line_count) = (end, line_count + 1);
    }
    idle.end(at, &mut runs);
    Records { frames, runs, open, line_count }
}

/// Lines in which nothing matters that follow on each other.
#[derive(Default)]
struct Idle {
    start: usize,
    lines: u64,
}

impl Idle {
    /// One that begins at `at`.
    fn add(&mut self, at: usize) {
        if self.lines == 0 {
            self.start = at;
        }
        self.lines += 1;
    }

    /// At `at` begins something else.
    fn end(&mut self, at: usize, runs: &mut Vec<Run>) {
        if self.lines > 0 {
            runs.push(Run { range: self.start..at, lines: self.lines, heading: Heading::Idle });
            self.lines = 0;
        }
    }
}

/// Documents that follow on the line on which another ended; the one that goes on behind the line, if any.
fn rest_of_line(line: &[u8], mut from: usize, line_start: usize, frames: &mut Vec<Framed>) -> Option<Open> {
    while let Some((start, next)) = Frame::next_on_line(line, from) {
        match next {
            Ok(end) => {
                frames.push(Framed { range: line_start + start..line_start + end, is_split: false });
                from = end;
            }
            Err(frame) => return Some(Open { frame, start: line_start + start }),
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use crate::input::Chunks;

    use super::*;

    /// Offset, line, lead, lines and text of each record; an oversize one by its length.
    fn records(text: &str, size: usize, cap: usize) -> Vec<(u64, u64, u32, u64, String)> {
        let reader = Box::new(std::io::Cursor::new(text.as_bytes().to_vec()));
        let mut blocks = Blocks { cap, ..Blocks::new(SourceId(0)) };
        let mut whole = Vec::new();
        for piece in Chunks::new("x".to_owned(), reader, size) {
            blocks.take(piece.expect("readable"));
            whole.extend(blocks.ready());
        }
        blocks.end();
        whole.extend(blocks.ready());
        let mut records = Vec::new();
        for blocked in whole {
            match blocked {
                Blocked::Block(block) => block.records().for_each(|record| {
                    let (mut offset, mut line) = (record.position.offset, record.position.line);
                    let text = String::from_utf8_lossy(record.bytes).into_owned();
                    if record.heading != Heading::Idle {
                        return records.push((offset, line, record.lead, record.lines, text));
                    }
                    assert_eq!(text.lines().count() as u64, record.lines, "{text}");
                    for idle in text.split_inclusive('\n') {
                        records.push((offset, line, 0, 1, idle.trim_end().to_owned()));
                        (offset, line) = (offset + idle.len() as u64, line + 1);
                    }
                }),
                Blocked::Oversize { position, length, lines } => {
                    records.push((position.offset, position.line, 0, lines, format!("<{length}>")));
                }
            }
        }
        records
    }

    /// The same, once it is known not to depend on the size of chunks.
    fn steady(text: &str) -> Vec<(u64, u64, u32, u64, String)> {
        let whole = records(text, 1 << 20, LINE_CAP);
        for size in 1..60 {
            assert_eq!(records(text, size, LINE_CAP), whole, "chunk size {size} of {text}");
        }
        let lines = text.lines().count() as u64;
        assert_eq!(whole.iter().map(|record| record.3).sum::<u64>(), lines, "{text}");
        for (offset, line, lead, _, record) in &whole {
            let offset = usize::try_from(*offset).expect("small");
            assert!(text[offset..].starts_with(record.as_str()), "{record} at {offset}");
            assert_eq!(text[..offset].matches('\n').count() as u64 + 1, *line, "{record}");
            let start = text[..offset].rfind('\n').map_or(0, |newline| newline + 1);
            assert_eq!(offset - start, *lead as usize, "{record}");
        }
        whole
    }

    fn texts(text: &str) -> Vec<String> {
        steady(text).into_iter().map(|record| record.4).collect()
    }

    #[test]
    fn a_document_on_several_lines_is_one_record_among_lines() {
        let text = "{\"t\":{\"$date\":\"a\"},\"x\":[\nprose\n{\n  a: 'x}',\n  \"b\": [ 1,\n 2 ] }\n\n{ \"c\" : 1 }\n";
        let document = "{\n  a: 'x}',\n  \"b\": [ 1,\n 2 ] }";
        assert_eq!(texts(text), ["{\"t\":{\"$date\":\"a\"},\"x\":[", "prose", document, "", "{ \"c\" : 1 }"]);
    }

    /// A record of the structured log.
    fn structured(id: u32) -> String {
        let begin = r#"{"t":{"$date":"2026-11-30T08:17:00.824Z"},"s":"I",  "c":"NETWORK",  "id":"#;
        format!(r#"{begin}{id},   "ctx":"conn1"}}"#)
    }

    #[test]
    fn records_that_need_not_be_read_are_counted_and_keep_their_places_among_the_others() {
        let (idle, slow, version) = (structured(22943), structured(51803), structured(23403));
        let document = "{\n  a: 1\n}";
        let records = [&idle, &idle, &slow, document, &idle, "prose", &version, &idle, "", &slow, &slow, &idle];
        assert_eq!(texts(&records.join("\n")), records);
        assert_eq!(
            texts(&records.join("\n").replace('\n', "\r\n")),
            records.map(|record| record.replace('\n', "\r\n"))
        );
    }

    #[test]
    fn only_records_that_may_tell_of_the_process_are_searched_for_it() {
        let (idle, slow, version) = (structured(22943), structured(51803), structured(23403));
        let text = [&*idle, &version, &idle, &slow, "prose", &slow, ""].join("\n");
        let mut blocks = Blocks::new(SourceId(0));
        blocks.take(Piece::Lines(Chunk { offset: 0, bytes: text.clone().into_bytes() }));
        let Some(Blocked::Block(block)) = blocks.ready().next() else { panic!("a block") };
        let searched: Vec<&str> = block.stretches().map(|stretch| &text[stretch]).collect();
        assert_eq!(searched, [format!("{version}\n"), "prose\n".to_owned()]);
    }

    #[test]
    fn elements_of_an_array_are_records_wherever_its_brackets_stand() {
        for text in [
            "[\n  {\n    a: 1\n  },\n  {\n    a: 1\n  }\n]\n",
            "[{\n    a: 1\n  },\n{\n    a: 1\n  }]",
            "[ {\n    a: 1\n  }, {\n    a: 1\n  } ]\r\n",
            "[direct: mongos] shop> [\n  {\n    a: 1\n  },\n  {\n    a: 1\n  }, { b: 2 }\n]\nshop> \n",
        ] {
            let found = texts(text);
            let elements: Vec<_> = found.iter().filter(|record| *record == "{\n    a: 1\n  }").collect();
            assert_eq!(elements.len(), 2, "{text}: {found:?}");
        }
    }

    #[test]
    fn a_document_that_is_cut_ends_where_a_log_or_another_document_goes_on() {
        for next in ["{\"t\":{\"$date\":\"a\"}}", "2019-06-18T12:02:00.506+0100 I x", "mongos> db.c.find()", "{ a: 1 }"]
        {
            assert_eq!(texts(&format!("{{\n  a: {{\n    b: 1\n{next}\n")), ["{\n  a: {\n    b: 1", next], "{next}");
        }
        assert_eq!(texts("{\n  a: \"cut\n{\n  b: `x\n}`\n}"), ["{\n  a: \"cut", "{\n  b: `x\n}`\n}"]);
    }

    #[test]
    fn a_record_that_a_container_runtime_split_is_joined_up_to_its_last_part() {
        let (part, last) = ("2026-11-30T08:17:00.8Z stdout P {\"t\"", "2026-11-30T08:17:00.8Z stdout F :1}");
        assert_eq!(
            texts(&format!("{part}\n{part}\n{last}\n{last}\n")),
            [format!("{part}\n{part}\n{last}"), last.to_owned()]
        );
        let part = format!(r#"{{"log":"{}","stream":"stdout"}}"#, "x".repeat(16 * 1024));
        let (last, whole) = (r#"{"log":":1}\n","stream":"stdout"}"#, r#"{"log":"{\"t\":1}","stream":"stdout"}"#);
        let text = format!("{whole}\n{part}\n{last}\n{whole}\n{last}\n");
        let found: Vec<String> = records(&text, 1 << 20, LINE_CAP).into_iter().map(|record| record.4).collect();
        assert_eq!(found, [whole, &format!("{part}\n{last}"), whole, last]);
    }

    #[test]
    fn a_document_over_the_cap_is_told_by_its_length_only() {
        let long = format!("{{\n{}}}", "  a: 1,\n".repeat(20));
        let text = format!("x\n{long}\ny\n{long}");
        for size in 1..80 {
            let found = records(&text, size, 100);
            let shown: Vec<_> = found.iter().map(|record| (record.1, record.3, record.4.as_str())).collect();
            assert_eq!(shown, [(1, 1, "x"), (2, 22, "<164>"), (24, 1, "y"), (25, 22, "<163>")], "chunk size {size}");
        }
    }
}
