//! A few short rows that stand for a long record. A log line is one line of 1 to 16 kB or much more, and the renderer
//! prints whole lines, so it never sees one: it gets an [`Excerpt`], in which labelled values and their neighbours are
//! kept and the rest is elided, everything is safe to print, and every label is mapped exactly.
//! Works on bytes and accepts any; time is linear in the record, memory in the excerpt.

mod canvas;
mod cut;
mod lines;
mod record;
mod room;
mod tree;

use std::ops::Range;

use memchr::memchr_iter;

use canvas::Canvas;
use room::Marks;

/// The rows, ready to be printed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Excerpt {
    /// Rows, separated by `\n`, escaped.
    pub text: String,
    /// For each row the line of the source that it begins in; `None` where that is the line of the row before it, or
    /// where the row stands for lines that are left out.
    pub lines: Vec<Option<u64>>,
    /// For each label the byte range of `text` that shows it.
    pub labels: Vec<Range<usize>>,
}

/// What an excerpt is made for.
#[derive(Debug, Clone, Copy)]
pub struct Layout {
    /// Columns for a row.
    pub width: usize,
    /// `…` instead of three dots.
    pub unicode: bool,
    /// Keep the lines as they are.
    pub as_lines: bool,
    /// The line of the source's first byte.
    pub first_line: u64,
}

impl Excerpt {
    /// The part of `source` that `labels` (byte ranges) are in.
    #[must_use]
    pub fn new(source: &[u8], labels: &[Range<usize>], layout: Layout) -> Self {
        let marks = Marks { ellipsis: if layout.unicode { "…" } else { "..." } };
        let labels: Vec<_> = labels.iter().map(|label| clamp(label, source.len())).collect();
        let touches = touches(&labels);
        let root = if layout.as_lines { None } else { tree::read(source, &touches) };
        let canvas = match root {
            Some(root) => record::lay_out(source, &root, &labels, layout.width, marks),
            None => {
                let mut canvas = Canvas::new(source);
                lines::lay_out(&mut canvas, &labels, &touches, layout.width, marks);
                canvas
            }
        };
        let (text, rows, labels) = canvas.finish(&labels);
        Self { text, lines: line_numbers(source, &rows, layout.first_line), labels }
    }
}

fn clamp(label: &Range<usize>, len: usize) -> Range<usize> {
    let start = label.start.min(len);
    start..label.end.clamp(start, len)
}

/// The first and last byte of every label, sorted.
fn touches(labels: &[Range<usize>]) -> Vec<usize> {
    let last = |label: &Range<usize>| label.end.saturating_sub(1).max(label.start);
    let mut touches: Vec<_> = labels.iter().flat_map(|label| [label.start, last(label)]).collect();
    touches.sort_unstable();
    touches.dedup();
    touches
}

fn line_numbers(source: &[u8], rows: &[Option<usize>], first_line: u64) -> Vec<Option<u64>> {
    let (mut at, mut line, mut last) = (0, first_line, None);
    let number = |row: &Option<usize>| {
        let offset = (*row)?.max(at);
        line += memchr_iter(b'\n', &source[at..offset]).count() as u64;
        at = offset;
        (last.replace(line) != Some(line)).then_some(line)
    };
    rows.iter().map(number).collect()
}
