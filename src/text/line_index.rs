//! From byte offsets to lines and columns, as people and editors count them.

use memchr::{memchr_iter, memrchr};

/// A place in a text: 1-based line and 1-based column, the column in bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct LineColumn {
    /// 1-based line.
    pub line: u64,
    /// 1-based column, in bytes of that line.
    pub column: u64,
}

/// Answers which line and column a byte of a text has.
#[derive(Debug, Clone)]
pub struct LineIndex {
    starts: Vec<usize>,
}

impl LineIndex {
    /// Reads `text` once.
    #[must_use]
    pub fn new(text: &[u8]) -> Self {
        let mut starts = vec![0];
        starts.extend(memchr_iter(b'\n', text).map(|at| at + 1));
        Self { starts }
    }

    /// Line and column of the byte at `offset`.
    #[must_use]
    pub fn line_column(&self, offset: usize) -> LineColumn {
        let line = self.starts.partition_point(|&start| start <= offset).max(1);
        LineColumn { line: line as u64, column: (offset - self.starts[line - 1]) as u64 + 1 }
    }

    /// Line and column of `offset` in a short text, without building an index.
    #[must_use]
    pub fn locate(text: &[u8], offset: usize) -> LineColumn {
        let before = &text[..offset.min(text.len())];
        let start = memrchr(b'\n', before).map_or(0, |at| at + 1);
        LineColumn { line: memchr_iter(b'\n', before).count() as u64 + 1, column: (before.len() - start) as u64 + 1 }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_and_columns_are_one_based_and_count_bytes() {
        let text = "ab\n\u{e9}x\n".as_bytes();
        let index = LineIndex::new(text);
        for (offset, line, column) in [(0, 1, 1), (2, 1, 3), (3, 2, 1), (5, 2, 3), (7, 3, 1)] {
            let at = LineColumn { line, column };
            assert_eq!(index.line_column(offset), at);
            assert_eq!(LineIndex::locate(text, offset), at);
        }
    }
}
