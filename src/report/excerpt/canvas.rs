//! The text of an excerpt while it is written, and for each piece of it the bytes of the source that it stands for.
//! Mapping a range of the source into the text is a search over these pieces, so no label can be misplaced by a
//! piece that grew (an escape) or shrank (an elision).

use std::ops::Range;

use crate::report::escape::{columns, escape_each};

/// A piece of the excerpt: what it stands for, and where it is shown.
#[derive(Debug, Clone)]
struct Piece {
    source: Range<usize>,
    shown: Range<usize>,
}

/// Rows being written.
#[derive(Debug)]
pub(super) struct Canvas<'a> {
    source: &'a [u8],
    text: String,
    pieces: Vec<Piece>,
    row_start: usize,
    row: usize,
}

impl<'a> Canvas<'a> {
    pub(super) fn new(source: &'a [u8]) -> Self {
        Self { source, text: String::new(), pieces: Vec::new(), row_start: 0, row: 0 }
    }

    /// The bytes that the excerpt is of.
    pub(super) fn source(&self) -> &'a [u8] {
        self.source
    }

    /// Writes `range` of the source, escaped.
    pub(super) fn copy(&mut self, range: Range<usize>) {
        let (text, pieces) = (&mut self.text, &mut self.pieces);
        escape_each(&self.source[range.clone()], |part, shown| {
            let start = text.len();
            text.push_str(shown);
            let source = range.start + part.start..range.start + part.end;
            pieces.push(Piece { source, shown: start..text.len() });
        });
    }

    /// Writes `shown` instead of `range` of the source.
    pub(super) fn replace(&mut self, range: Range<usize>, shown: &str) {
        let start = self.text.len();
        self.text.push_str(shown);
        self.pieces.push(Piece { source: range, shown: start..self.text.len() });
    }

    /// Writes what stands for nothing in the source.
    pub(super) fn decorate(&mut self, shown: &str) {
        self.text.push_str(shown);
    }

    /// Begins the next row.
    pub(super) fn end_row(&mut self) {
        let end = self.text.trim_end_matches(' ').len().max(self.row_start);
        let shown_end = self.pieces.last().map_or(0, |piece| piece.shown.end);
        self.text.truncate(end.max(shown_end));
        self.text.push('\n');
        self.row_start = self.text.len();
        self.row += 1;
    }

    /// Index of the row being written.
    pub(super) fn row(&self) -> usize {
        self.row
    }

    /// Columns of the row being written.
    pub(super) fn row_columns(&self) -> usize {
        columns(&self.text[self.row_start..])
    }

    /// Offset of the first byte of the source that the row at `row` of the text shows.
    fn source_of_row(&self, row: Range<usize>) -> Option<usize> {
        let first = self.pieces.partition_point(|piece| piece.shown.start < row.start);
        self.pieces.get(first).filter(|piece| piece.shown.start <= row.end).map(|piece| piece.source.start)
    }

    /// Where the source's `start..end` is shown; for an empty range what stands there, for what is not shown the place
    /// where it would be.
    fn map(&self, start: usize, end: usize) -> Range<usize> {
        let first = self.pieces.partition_point(|piece| piece.source.end <= start);
        let past = self.pieces.partition_point(|piece| piece.source.start < end);
        match (self.pieces.get(first), self.pieces[..past].last()) {
            (Some(piece), _) if start == end => piece.shown.clone(),
            (Some(piece), Some(last)) if first < past => piece.shown.start..last.shown.end,
            (Some(piece), _) => piece.shown.start..piece.shown.start,
            (None, _) => self.text.len()..self.text.len(),
        }
    }

    /// The finished text, the place in the source of each row, and where each of `labels` is shown.
    pub(super) fn finish(self, labels: &[Range<usize>]) -> (String, Vec<Option<usize>>, Vec<Range<usize>>) {
        let spans = labels.iter().map(|label| self.map(label.start, label.end)).collect();
        let mut offset = 0;
        let mut rows = Vec::new();
        for row in self.text.split('\n') {
            let end = offset + row.len();
            rows.push(self.source_of_row(offset..end));
            offset = end + 1;
        }
        (self.text, rows, spans)
    }
}
