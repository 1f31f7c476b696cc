//! A text shown as it is: the lines that labels touch, long ones cut around the labels. For declarations, and for
//! records that are no documents.

use std::ops::Range;

use memchr::{memchr, memrchr};

use super::canvas::Canvas;
use super::cut;
use super::room::Marks;

const TAB: usize = 4;

/// Writes the lines in which one of `touches` lies. An empty row stands for lines that are left out.
pub(super) fn lay_out(canvas: &mut Canvas<'_>, labels: &[Range<usize>], touches: &[usize], width: usize, marks: Marks) {
    let source = canvas.source();
    let mut end_of_last = None;
    for &touch in touches {
        let touch = touch.min(source.len());
        if end_of_last.is_some_and(|end| touch < end) {
            continue;
        }
        let start = memrchr(b'\n', &source[..touch]).map_or(0, |at| at + 1);
        if let Some(end) = end_of_last {
            if start < end {
                continue;
            }
            canvas.end_row();
            if start > end {
                canvas.end_row();
            }
        }
        let end = memchr(b'\n', &source[touch..]).map_or(source.len(), |at| touch + at + 1);
        line(canvas, start..end, labels, width, marks);
        end_of_last = Some(end);
    }
}

/// Writes one line; its end is a piece without text, so that a label on it stays on this row.
fn line(canvas: &mut Canvas<'_>, range: Range<usize>, labels: &[Range<usize>], width: usize, marks: Marks) {
    let source = canvas.source();
    let mut end = range.end;
    if !range.is_empty() && source[end - 1] == b'\n' {
        end -= 1;
        if end > range.start && source[end - 1] == b'\r' {
            end -= 1;
        }
    }
    let text = range.start..end;
    let mut at = text.start;
    for part in cut::parts(source, text.clone(), labels, width.saturating_sub(2)) {
        if part.start > at {
            canvas.replace(at..part.start, marks.ellipsis);
        }
        copy(canvas, part.clone());
        at = part.end;
    }
    if at < text.end {
        canvas.replace(at..text.end, marks.ellipsis);
    }
    canvas.replace(end..range.end, "");
}

/// Copies with tabs made spaces.
fn copy(canvas: &mut Canvas<'_>, range: Range<usize>) {
    let mut at = range.start;
    while let Some(tab) = memchr(b'\t', &canvas.source()[at..range.end]).map(|tab| at + tab) {
        canvas.copy(at..tab);
        let spaces = TAB - canvas.row_columns() % TAB;
        canvas.replace(tab..tab + 1, &"    "[..spaces]);
        at = tab + 1;
    }
    canvas.copy(at..range.end);
}
