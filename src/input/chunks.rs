//! A stream of bytes in chunks that end where a line ends, each with its place in the stream.
//!
//! Which lines there are does not depend on the size of the chunks. A line longer than [`LINE_CAP`] is not held in
//! memory: its place and length are all that is told of it. Lines are not counted here: whoever passes over them does.

use std::io::{ErrorKind, Read};

use memchr::{memchr, memrchr};

use super::error::InputError;

/// How much is read at once, in bytes.
pub const DEFAULT_CHUNK_SIZE: usize = 1 << 18;
/// The longest line that is kept, its line end included, in bytes.
pub const LINE_CAP: usize = 64 << 20;

/// Some whole lines.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Chunk {
    /// Where the first line begins, in bytes.
    pub offset: u64,
    /// The lines with their line ends; the last one of a stream may have none.
    pub bytes: Vec<u8>,
}

/// What a stream consists of.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Piece {
    /// Some whole lines.
    Lines(Chunk),
    /// One line that is too long to be kept.
    Oversize {
        /// Where it begins, in bytes.
        offset: u64,
        /// Its length in bytes, the line end included.
        length: u64,
    },
}

/// The chunks of one input, in order.
pub struct Chunks {
    name: String,
    reader: Box<dyn Read + Send>,
    size: usize,
    cap: usize,
    /// Where what is read next begins.
    offset: u64,
    /// What was read behind the last line end.
    rest: Vec<u8>,
    at_start: bool,
    /// Nothing more will come, perhaps because reading failed.
    ended: bool,
    failure: Option<InputError>,
}

/// So much is read at first into a buffer that has no memory yet, in bytes: most files are small.
const AT_FIRST: usize = 8 << 10;

/// Bytes that were read. Behind them are others that the buffer held before: memory that is used again need not be zeroed.
struct Buffer {
    bytes: Vec<u8>,
    filled: usize,
}

impl Buffer {
    fn read(&self) -> &[u8] {
        &self.bytes[..self.filled]
    }

    /// Room for up to `most` bytes more: at once if the buffer has held as much before, else it grows twofold from `least` on.
    fn room(&mut self, least: usize, most: usize) -> &mut [u8] {
        let end = self.filled + most.min(least.max(self.bytes.len()));
        if self.bytes.len() < end {
            self.bytes.reserve(self.filled + most - self.bytes.len());
            self.bytes.resize(end, 0);
        }
        &mut self.bytes[self.filled..end]
    }
}

impl Chunks {
    /// The chunks of `reader`, of about `size` bytes each; `name` is for error messages.
    #[must_use]
    pub fn new(name: String, reader: Box<dyn Read + Send>, size: usize) -> Self {
        let size = size.clamp(1, LINE_CAP);
        let (offset, rest) = (0, Vec::new());
        Self { name, reader, size, cap: LINE_CAP, offset, rest, at_start: true, ended: false, failure: None }
    }

    /// What was read behind the last line end, in one of the `spare` buffers.
    fn buffer(&mut self, spare: &mut Vec<Vec<u8>>) -> Buffer {
        let mut buffer = Buffer { bytes: spare.pop().unwrap_or_default(), filled: 0 };
        buffer.room(self.rest.len(), self.rest.len()).copy_from_slice(&self.rest);
        buffer.filled = self.rest.len();
        self.rest.clear();
        buffer
    }

    /// Reads until `buffer` has grown by `count` bytes, nothing more comes, or nothing more comes for now: a reader says so
    /// by failing with `WouldBlock`, and is read again later.
    fn fill(&mut self, buffer: &mut Buffer, count: usize) {
        let goal = buffer.filled + count;
        while !self.ended && buffer.filled < goal {
            match self.reader.read(buffer.room(AT_FIRST, goal - buffer.filled)) {
                Ok(0) => self.ended = true,
                Ok(count) => buffer.filled += count,
                Err(error) if error.kind() == ErrorKind::Interrupted => {}
                Err(error) if error.kind() == ErrorKind::WouldBlock => return,
                Err(source) => {
                    let offset = self.offset + buffer.filled as u64;
                    self.failure = Some(InputError::Broken { name: self.name.clone(), offset, source });
                    self.ended = true;
                }
            }
        }
    }

    /// The next lines in `buffer`; what follows the last line end is kept for later.
    fn lines(&mut self, mut buffer: Buffer, end: usize) -> Piece {
        self.rest.extend_from_slice(&buffer.read()[end..]);
        buffer.bytes.truncate(end);
        let chunk = Chunk { offset: self.offset, bytes: buffer.bytes };
        self.offset += end as u64;
        Piece::Lines(chunk)
    }

    /// Reads on to the end of a line of which `buffer`, longer than the cap, is the beginning or the whole.
    fn oversize(&mut self, mut buffer: Buffer) -> Piece {
        let offset = self.offset;
        let mut length = 0;
        loop {
            if let Some(end) = memchr(b'\n', buffer.read()) {
                length += end as u64 + 1;
                self.rest.extend_from_slice(&buffer.read()[end + 1..]);
                break;
            }
            length += buffer.filled as u64;
            buffer.filled = 0;
            if self.ended {
                break;
            }
            self.fill(&mut buffer, self.size);
        }
        self.offset += length;
        Piece::Oversize { offset, length }
    }

    /// Refuses UTF-16 by its byte order mark, or by its zeros.
    fn refuse_utf16(&mut self, buffer: &[u8]) -> Option<InputError> {
        let is_utf16 = match buffer {
            [0xff, 0xfe, ..] | [0xfe, 0xff, ..] => true,
            [a, 0, b, 0, ..] | [0, a, 0, b, ..] => *a != 0 && *b != 0,
            _ => false,
        };
        if !is_utf16 {
            return None;
        }
        self.ended = true;
        self.failure = None;
        Some(InputError::Utf16 { name: self.name.clone() })
    }

    /// What comes next, in one of the `spare` buffers, if there are any: memory that is used again costs nothing to get.
    ///
    /// # Errors
    /// If reading fails. What was read before that has been handed on.
    pub fn read(&mut self, spare: &mut Vec<Vec<u8>>) -> Option<Result<Piece, InputError>> {
        if self.ended && self.rest.is_empty() {
            return self.failure.take().map(Err);
        }
        let mut buffer = self.buffer(spare);
        let first_read = self.size.max(if self.at_start { 4 } else { 1 }).saturating_sub(buffer.filled);
        self.fill(&mut buffer, first_read);
        while self.at_start && buffer.filled < 4 && !self.ended {
            self.fill(&mut buffer, self.size);
        }
        if std::mem::take(&mut self.at_start)
            && let Some(error) = self.refuse_utf16(buffer.read())
        {
            return Some(Err(error));
        }
        let mut searched = 0;
        loop {
            let first_end = memchr(b'\n', &buffer.read()[searched..]).map(|at| searched + at + 1);
            if first_end.unwrap_or(buffer.filled) > self.cap {
                return Some(Ok(self.oversize(buffer)));
            }
            if first_end.is_some() {
                let end = memrchr(b'\n', buffer.read()).map_or(buffer.filled, |at| at + 1);
                return Some(Ok(self.lines(buffer, end)));
            }
            if self.ended {
                break;
            }
            searched = buffer.filled;
            self.fill(&mut buffer, self.size);
        }
        if buffer.filled == 0 {
            return self.failure.take().map(Err);
        }
        let end = buffer.filled;
        Some(Ok(self.lines(buffer, end)))
    }
}

impl Iterator for Chunks {
    type Item = Result<Piece, InputError>;

    fn next(&mut self) -> Option<Self::Item> {
        self.read(&mut Vec::new())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn chunks(bytes: &[u8], size: usize, cap: usize) -> Chunks {
        let reader = Box::new(std::io::Cursor::new(bytes.to_vec()));
        Chunks { cap, ..Chunks::new("x".to_owned(), reader, size) }
    }

    /// Offset and text of each line; an oversize line by its length.
    fn lines(bytes: &[u8], size: usize, cap: usize) -> Vec<(u64, String)> {
        let mut lines = Vec::new();
        for piece in chunks(bytes, size, cap) {
            match piece.expect("readable") {
                Piece::Lines(Chunk { mut offset, bytes }) => {
                    for line in String::from_utf8_lossy(&bytes).split_inclusive('\n') {
                        lines.push((offset, line.to_owned()));
                        offset += line.len() as u64;
                    }
                }
                Piece::Oversize { offset, length } => lines.push((offset, format!("<{length}>"))),
            }
        }
        lines
    }

    #[test]
    fn lines_and_their_places_do_not_depend_on_the_size_of_chunks() {
        let text = b"one\r\n\ntwo two two\nthree\n\nlast";
        let expected = [(0, "one\r\n"), (5, "\n"), (6, "two two two\n"), (18, "three\n"), (24, "\n"), (25, "last")]
            .map(|(offset, text)| (offset, text.to_owned()));
        for size in 1..40 {
            assert_eq!(lines(text, size, LINE_CAP), expected, "chunk size {size}");
        }
    }

    #[test]
    fn a_line_over_the_cap_is_told_by_its_length_only() {
        for size in 1..=10 {
            let long = "x".repeat(100);
            let text = format!("a\n{long}\nb\n{long}");
            let expected = [(0, "a\n"), (2, "<101>"), (103, "b\n"), (105, "<100>")];
            let expected = expected.map(|(offset, text)| (offset, text.to_owned()));
            assert_eq!(lines(text.as_bytes(), size, 10), expected, "chunk size {size}");
        }
    }

    #[test]
    fn an_empty_input_has_no_lines_and_a_final_newline_begins_none() {
        assert!(lines(b"", 10, LINE_CAP).is_empty());
        assert_eq!(lines(b"a\n", 10, LINE_CAP).len(), 1);
        assert_eq!(lines(b"\n", 10, LINE_CAP).len(), 1);
    }

    /// Delivers its pieces one by one, and has nothing for now in between.
    struct Hesitant(Vec<&'static [u8]>, bool);

    impl Read for Hesitant {
        fn read(&mut self, buffer: &mut [u8]) -> std::io::Result<usize> {
            self.1 = !self.1;
            if self.1 {
                return Err(ErrorKind::WouldBlock.into());
            }
            let Some(piece) = self.0.first_mut() else { return Ok(0) };
            let count = std::io::Read::read(piece, buffer)?;
            if piece.is_empty() {
                self.0.remove(0);
            }
            Ok(count)
        }
    }

    #[test]
    fn whole_lines_are_handed_on_while_there_is_nothing_more_for_now() {
        let reader = Hesitant(vec![b"o", b"ne\ntw", b"o\n", b"three"], false);
        let chunks = Chunks::new("x".to_owned(), Box::new(reader), 1 << 20);
        let pieces = chunks.map(|piece| match piece {
            Ok(Piece::Lines(chunk)) => (chunk.offset, String::from_utf8_lossy(&chunk.bytes).into_owned()),
            other => panic!("{other:?}"),
        });
        let expected = [(0, "one\n"), (4, "two\n"), (8, "three")].map(|(offset, text)| (offset, text.to_owned()));
        assert_eq!(pieces.collect::<Vec<_>>(), expected);
    }

    #[test]
    fn a_buffer_that_is_spare_is_read_into_and_one_is_taken_only_for_lines() {
        let mut spare = vec![vec![b'x'; 3], Vec::with_capacity(1000)];
        let mut chunks = chunks(b"abc\nd\n", 4, LINE_CAP);
        let mut lines = Vec::new();
        while let Some(piece) = chunks.read(&mut spare) {
            let Ok(Piece::Lines(chunk)) = piece else { panic!("{piece:?}") };
            lines.push((chunk.bytes.capacity() >= 1000, chunk.bytes.clone()));
            spare.push(chunk.bytes);
        }
        assert_eq!(lines, [(true, b"abc\n".to_vec()), (true, b"d\n".to_vec())]);
        assert_eq!(spare.len(), 2);
    }

    #[test]
    fn what_was_read_of_one_input_does_not_show_in_the_next() {
        let mut spare = Vec::new();
        for text in ["a line that is long\nanother\n", "b\n", "c\nd", "a line that is long\n"] {
            let mut chunks = chunks(text.as_bytes(), 7, LINE_CAP);
            let mut read = String::new();
            while let Some(Ok(Piece::Lines(chunk))) = chunks.read(&mut spare) {
                read.push_str(&String::from_utf8_lossy(&chunk.bytes));
                spare.push(chunk.bytes);
            }
            assert_eq!(read, text);
        }
    }

    #[test]
    fn utf_16_is_refused() {
        for text in [&b"\xff\xfe{\0"[..], b"\xfe\xff\0{", b"{\0\"\0t\0"] {
            let mut chunks = chunks(text, 100, LINE_CAP);
            assert!(matches!(chunks.next(), Some(Err(InputError::Utf16 { .. }))), "{text:?}");
            assert!(chunks.next().is_none());
        }
    }
}
