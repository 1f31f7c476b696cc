//! Where a record begins and ends that stands on more than one line. Told by brackets, quotes and columns alone, line by
//! line, so that nothing has to be held in memory but the record itself; what it is, `read_record` says.
//!
//! Almost all lines of a log are passed over at their last byte. A document that is never closed ends where the next record
//! begins.

use super::shell_talk::typed;
use super::split::Split;

/// A record on several lines that has begun.
#[derive(Debug, Clone)]
pub struct Frame {
    kind: Kind,
    /// The last visible byte so far.
    last: u8,
}

#[derive(Debug, Clone)]
enum Kind {
    Document(Brackets),
    Split(Split),
}

/// What a further line is to a record that has begun.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Line {
    /// All of it belongs to the record, which goes on.
    Inside,
    /// The record ends so many bytes behind the line's beginning.
    Ends(usize),
    /// It belongs to something else.
    Foreign,
}

impl Frame {
    /// The record that begins in `line` (its line end excluded) and goes on behind it, and the offset of its beginning.
    #[must_use]
    pub fn begin(line: &[u8]) -> Option<(Self, usize)> {
        /// Printers begin a new line early; what is longer is a line that was cut.
        const FIRST_LINE: usize = 1000;
        let last = *line.iter().rev().find(|byte| !byte.is_ascii_whitespace())?;
        if matches!(last, b'{' | b'[' | b'(' | b',') && line.len() <= FIRST_LINE && !is_record(line) {
            return Self::document(line, last);
        }
        Split::begin(line).map(|split| (Self { kind: Kind::Split(split), last }, 0))
    }

    fn document(line: &[u8], last: u8) -> Option<(Self, usize)> {
        let start = document_start(line)?;
        Self::behind(line, start, last)
    }

    /// A document that begins at `start` and goes on behind the line.
    fn behind(line: &[u8], start: usize, last: u8) -> Option<(Self, usize)> {
        let mut brackets = Brackets::default();
        match brackets.read(&line[start..]) {
            Some(_) => None,
            None => Some((Self { kind: Kind::Document(brackets), last }, start)),
        }
    }

    /// Reads on.
    pub fn read(&mut self, line: &[u8]) -> Line {
        match &mut self.kind {
            // A split record goes on up to the first part that says it is the last.
            Kind::Split(split) => match split.read(line) {
                Some(true) => Line::Inside,
                Some(false) => Line::Ends(line.len()),
                None => Line::Foreign,
            },
            Kind::Document(brackets) => {
                if begins_anew(line, self.last, brackets) {
                    return Line::Foreign;
                }
                self.last = line.iter().rev().find(|byte| !byte.is_ascii_whitespace()).copied().unwrap_or(self.last);
                brackets.read(line).map_or(Line::Inside, Line::Ends)
            }
        }
    }

    /// Whether its lines are records that a container runtime has split.
    #[must_use]
    pub fn is_split(&self) -> bool {
        matches!(self.kind, Kind::Split(_))
    }

    /// What follows on the same line behind a document that ended at `from`: one that is whole (and where it ends), or one
    /// that goes on (and where it begins).
    #[must_use]
    pub fn next_on_line(line: &[u8], from: usize) -> Option<(usize, Result<usize, Self>)> {
        let between = |byte: &u8| byte.is_ascii_whitespace() || matches!(byte, b',' | b'[' | b']' | b')' | b';');
        let start = from + line.get(from..)?.iter().position(|byte| !between(byte))?;
        if line[start] != b'{' {
            return None;
        }
        let mut brackets = Brackets::default();
        let last = line.iter().rev().find(|byte| !byte.is_ascii_whitespace()).copied().unwrap_or(b'{');
        Some(match brackets.read(&line[start..]) {
            Some(length) => (start, Ok(start + length)),
            None => (start, Err(Self { kind: Kind::Document(brackets), last })),
        })
    }
}

/// Where the document begins that a line begins with: behind blanks, a prompt, and brackets of an array around it.
fn document_start(line: &[u8]) -> Option<usize> {
    /// A prompt is short.
    const PROMPT: usize = 200;
    let is_before = |byte: &u8| byte.is_ascii_whitespace() || matches!(byte, b'[' | b',' | 0xef | 0xbb | 0xbf);
    let first = line.iter().position(|byte| !is_before(byte))?;
    if line[first] == b'{' {
        return Some(first);
    }
    let begin = String::from_utf8_lossy(&line[..line.len().min(PROMPT)]).into_owned();
    let typed = typed(begin.trim_start()).filter(|typed| typed.starts_with(['{', '[']))?;
    let at = memchr::memmem::find(line, typed.as_bytes())?;
    line[at..].iter().position(|byte| !is_before(byte)).map(|offset| at + offset).filter(|&start| line[start] == b'{')
}

/// Whether a line begins another record, though brackets are open: printed documents are indented, and nothing in them
/// begins like a line of a log.
fn begins_anew(line: &[u8], last_before: u8, brackets: &Brackets) -> bool {
    let Some(first) = line.first() else { return false };
    match first {
        b'{' if is_record(line) || line.starts_with(b"{\"log\":\"") => true,
        b'{' | b'[' => !matches!(last_before, b'{' | b'[' | b'(' | b',' | b':'),
        b'0'..=b'9' => is_stamp(line) && !brackets.in_template,
        _ if brackets.in_template => false,
        b'A'..=b'Z' | b'a'..=b'z' => {
            if is_ctime(line) {
                return true;
            }
            let text = String::from_utf8_lossy(&line[..line.len().min(200)]);
            text.contains('>') && typed(&text).is_some_and(|typed| !typed.is_empty())
        }
        _ => false,
    }
}

/// Whether a text begins as a line of a log does, of whichever format.
pub(super) fn begins_record(text: &[u8]) -> bool {
    is_record(text) || is_stamp(text) || is_ctime(text)
}

/// Whether a line begins as a record of the structured log does.
fn is_record(line: &[u8]) -> bool {
    line.starts_with(b"{\"t\":{\"$date\"") || line.starts_with(b"{\"t\": {\"$date\"")
}

/// `Mon Aug  5 20:21:43`
fn is_ctime(line: &[u8]) -> bool {
    const DAYS: [&[u8]; 7] = [b"Mon ", b"Tue ", b"Wed ", b"Thu ", b"Fri ", b"Sat ", b"Sun "];
    DAYS.iter().any(|day| line.starts_with(day)) && line.get(13) == Some(&b':') && line.get(16) == Some(&b':')
}

/// `2019-06-18T12:02:00`
fn is_stamp(line: &[u8]) -> bool {
    const FORM: &[u8] = b"0000-00-00T00:00:00";
    line.len() > FORM.len()
        && FORM.iter().zip(line).all(|(form, byte)| if *form == b'0' { byte.is_ascii_digit() } else { form == byte })
}

/// How deep brackets are open. Strings in `"` and `'` end with their line, whatever their end has become; those in `` ` `` go on.
#[derive(Debug, Clone, Default)]
struct Brackets {
    depth: usize,
    in_template: bool,
}

impl Brackets {
    /// Reads on; the offset behind the bracket that closes the first one.
    fn read(&mut self, line: &[u8]) -> Option<usize> {
        let mut at = 0;
        // What a slash means depends on what stands before it.
        let mut before = b'{';
        if self.in_template {
            at = self.template(line, 0);
        }
        while let Some(&byte) = line.get(at) {
            match byte {
                b'{' | b'[' | b'(' => self.depth += 1,
                b'}' | b']' | b')' => {
                    self.depth = self.depth.saturating_sub(1);
                    if self.depth == 0 {
                        return Some(at + 1);
                    }
                }
                b'"' | b'\'' => at = quoted(line, at).unwrap_or(line.len()),
                b'`' => {
                    self.in_template = true;
                    at = self.template(line, at + 1);
                    continue;
                }
                b'/' if matches!(before, b':' | b'[' | b',' | b'(' | b'{') => at = regex(line, at).unwrap_or(at),
                _ => {}
            }
            if !byte.is_ascii_whitespace() {
                before = byte;
            }
            at += 1;
        }
        None
    }

    /// Behind the end of the template, or the end of the line.
    fn template(&mut self, line: &[u8], from: usize) -> usize {
        match ended(line, from, b'`') {
            Some(end) => {
                self.in_template = false;
                end + 1
            }
            None => line.len(),
        }
    }
}

/// The place of the closing quote.
fn quoted(line: &[u8], open: usize) -> Option<usize> {
    ended(line, open + 1, line[open])
}

/// The place of the first `end` from `from` on before which no backslash stands.
fn ended(line: &[u8], from: usize, end: u8) -> Option<usize> {
    let mut at = from;
    loop {
        at += memchr::memchr2(end, b'\\', line.get(at..)?)?;
        if line[at] == end {
            return Some(at);
        }
        at += 2;
    }
}

/// The place of the slash that ends a regular expression; in a class it is a character like others.
fn regex(line: &[u8], open: usize) -> Option<usize> {
    let (mut at, mut in_class) = (open + 1, false);
    while let Some(byte) = line.get(at) {
        match byte {
            b'\\' => at += 1,
            b'[' => in_class = true,
            b']' => in_class = false,
            b'/' if !in_class => return Some(at),
            _ => {}
        }
        at += 1;
    }
    None
}
