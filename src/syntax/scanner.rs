//! A cursor over one line of JSON that is read once, from left to right. It takes only what every JSON reader takes: whatever
//! is odd in the least (control characters, names with escapes, numbers in unusual spellings, deep nesting) ends the walk
//! with `None`, and the line is left to the full reader. So nothing that it steps over can be malformed.
//!
//! The same cursor goes over lines of the text log: there names and values are spelled as `legacy/spelling.rs` says.

use memchr::memchr2;
use wide::u8x16;

use super::legacy::spelling;

/// Deeper values are left to the full reader.
const MAX_DEPTH: usize = 64;

/// A string of the line, without its quotes.
#[derive(Debug, Clone, Copy)]
pub(in crate::syntax) struct Text<'l> {
    /// As the line has it.
    pub(in crate::syntax) raw: &'l [u8],
    /// Something in it is escaped.
    pub(in crate::syntax) is_escaped: bool,
}

/// How names and values are spelled.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::syntax) enum Spelling {
    /// As in the structured log.
    Json,
    /// As in the text log.
    Legacy,
}

/// Where the walk stands.
#[derive(Debug, Clone, Copy)]
pub(in crate::syntax) struct Scanner<'l> {
    pub(in crate::syntax) line: &'l [u8],
    pub(in crate::syntax) at: usize,
    pub(in crate::syntax) spelling: Spelling,
}

impl<'l> Scanner<'l> {
    pub(in crate::syntax) fn new(line: &'l [u8]) -> Self {
        Self { line, at: 0, spelling: Spelling::Json }
    }

    /// Over a whole line: one of the text log, unless it begins with a bracket.
    pub(in crate::syntax) fn of_line(line: &'l [u8]) -> Self {
        let spelling = if line.first() == Some(&b'{') { Spelling::Json } else { Spelling::Legacy };
        Self { spelling, ..Self::new(line) }
    }

    /// Whether nothing is left.
    pub(in crate::syntax) fn is_at_end(&self) -> bool {
        self.at == self.line.len()
    }

    /// The next byte that is no blank, which is not taken.
    #[inline]
    pub(in crate::syntax) fn peek(&mut self) -> Option<u8> {
        while *self.line.get(self.at)? == b' ' {
            self.at += 1;
        }
        Some(self.line[self.at])
    }

    /// Takes `byte`, which must come next.
    #[inline]
    pub(in crate::syntax) fn take(&mut self, byte: u8) -> Option<()> {
        (self.peek()? == byte).then(|| self.at += 1)
    }

    /// Takes `byte` if it comes next.
    #[inline]
    pub(in crate::syntax) fn takes(&mut self, byte: u8) -> Option<bool> {
        let comes = self.peek()? == byte;
        self.at += usize::from(comes);
        Some(comes)
    }

    /// Takes a string.
    #[inline(always)]
    pub(in crate::syntax) fn string(&mut self) -> Option<Text<'l>> {
        // Most have no blank before them and nothing escaped in them.
        if self.spelling == Spelling::Json && self.line.get(self.at) == Some(&b'"') {
            let start = self.at + 1;
            let end = end_of_run(self.line, start)?;
            if self.line[end] == b'"' {
                self.at = end + 1;
                return Some(Text { raw: &self.line[start..end], is_escaped: false });
            }
        }
        self.other_string()
    }

    #[inline(never)]
    fn other_string(&mut self) -> Option<Text<'l>> {
        self.take(b'"')?;
        let start = self.at;
        let run = end_of_run(self.line, start)?;
        if self.spelling == Spelling::Legacy {
            self.at = spelling::end_of_string(self.line, start, run)? + 1;
            return Some(Text { raw: &self.line[start..self.at - 1], is_escaped: false });
        }
        let is_escaped = self.line[run] != b'"';
        self.at = if is_escaped { end_of_escaped(self.line, run)? } else { run + 1 };
        Some(Text { raw: &self.line[start..self.at - 1], is_escaped })
    }

    /// Takes a member's name and the colon behind it. Names with escapes are not taken: they would have to be decoded.
    pub(in crate::syntax) fn name(&mut self) -> Option<&'l [u8]> {
        if self.spelling == Spelling::Legacy {
            self.peek()?;
            let start = self.at;
            let end = spelling::end_of_name(self.line, start)?;
            self.at = end + 1;
            return Some(&self.line[start..end]);
        }
        let name = self.string()?;
        self.take(b':')?;
        (!name.is_escaped).then_some(name.raw)
    }

    /// After a member or an item: takes the comma, or the end of the list that it stands in. Whether the list goes on.
    #[inline]
    pub(in crate::syntax) fn goes_on(&mut self, end: u8) -> Option<bool> {
        let next = self.peek()?;
        self.at += 1;
        match next {
            b',' => Some(true),
            _ if next == end => Some(false),
            _ => None,
        }
    }

    /// Takes a number; its text.
    #[inline(always)]
    pub(in crate::syntax) fn number(&mut self) -> Option<&'l [u8]> {
        self.peek()?;
        let start = self.at;
        self.at = end_of_number(self.line, start)?;
        Some(&self.line[start..self.at])
    }

    /// Steps over any value; its text.
    #[inline]
    pub(in crate::syntax) fn value(&mut self) -> Option<&'l [u8]> {
        let first = self.peek()?;
        let start = self.at;
        self.at = match (self.spelling, first) {
            (Spelling::Json, b'"') => end_of_string(self.line, start)?,
            (Spelling::Json, b'0'..=b'9') => end_of_number(self.line, start)?,
            (Spelling::Json, _) => end_of_value(self.line, start)?,
            (Spelling::Legacy, _) => spelling::end_of_value(self.line, start)?,
        };
        Some(&self.line[start..self.at])
    }
}

/// Where the next quote or backslash is.
#[inline(always)]
pub(in crate::syntax) fn end_of_run(line: &[u8], start: usize) -> Option<usize> {
    // Most strings of a log are short: sixteen bytes are looked at at once, with nothing to set up.
    let mut at = start;
    for _ in 0..NEAR {
        let Some(next) = line.get(at..).and_then(<[u8]>::first_chunk::<16>) else { break };
        let bytes = u8x16::new(*next);
        let found = (bytes.cmp_eq(u8x16::splat(b'"')) | bytes.cmp_eq(u8x16::splat(b'\\'))).move_mask();
        if found != 0 {
            return Some(at + found.trailing_zeros() as usize);
        }
        at += 16;
    }
    far_end_of_run(line, at)
}

/// So many times that.
const NEAR: usize = 4;

#[inline(never)]
fn far_end_of_run(line: &[u8], start: usize) -> Option<usize> {
    memchr2(b'"', b'\\', line.get(start..)?).map(|at| start + at)
}

/// Where the value ends that begins at `at`.
fn end_of_value(line: &[u8], at: usize) -> Option<usize> {
    let simple = |line: &[u8], at, first| match first {
        b'"' => end_of_string(line, at),
        b'0'..=b'9' | b'-' => end_of_number(line, at),
        b't' => end_of_word(line, at, b"true"),
        b'f' => end_of_word(line, at, b"false"),
        b'n' => end_of_word(line, at, b"null"),
        _ => None,
    };
    end_of_parts(line, at, simple, behind_name)
}

/// Where the value ends that begins at `at`, in a syntax of objects and arrays: `simple` tells where a value without parts ends,
/// by its first byte too, and `behind_name` where the value of a member begins.
#[inline]
pub(in crate::syntax) fn end_of_parts(
    line: &[u8],
    mut at: usize,
    simple: impl Fn(&[u8], usize, u8) -> Option<usize>,
    behind_name: impl Fn(&[u8], usize) -> Option<usize>,
) -> Option<usize> {
    // One bit for each level, the innermost last: whether it is an object.
    let (mut levels, mut depth) = (0_u64, 0);
    loop {
        match *line.get(at)? {
            open @ (b'{' | b'[') => {
                let is_object = open == b'{';
                at = behind_blanks(line, at + 1);
                if *line.get(at)? != open + 2 {
                    if depth == MAX_DEPTH {
                        return None;
                    }
                    (levels, depth) = (levels << 1 | u64::from(is_object), depth + 1);
                    if is_object {
                        at = behind_name(line, at)?;
                    }
                    continue;
                }
                at += 1;
            }
            first => at = simple(line, at, first)?,
        }
        loop {
            if depth == 0 {
                return Some(at);
            }
            at = behind_blanks(line, at);
            let (next, is_object) = (*line.get(at)?, levels & 1 == 1);
            at += 1;
            if next == b',' {
                at = behind_blanks(line, at);
                if is_object {
                    at = behind_name(line, at)?;
                }
                break;
            }
            if next != if is_object { b'}' } else { b']' } {
                return None;
            }
            (levels, depth) = (levels >> 1, depth - 1);
        }
    }
}

#[inline]
pub(in crate::syntax) fn behind_blanks(line: &[u8], mut at: usize) -> usize {
    while line.get(at) == Some(&b' ') {
        at += 1;
    }
    at
}

/// Where the value of the member begins that begins at `at`.
#[inline]
fn behind_name(line: &[u8], at: usize) -> Option<usize> {
    if *line.get(at)? != b'"' {
        return None;
    }
    let end = behind_blanks(line, end_of_string(line, at)?);
    (*line.get(end)? == b':').then(|| behind_blanks(line, end + 1))
}

/// Where the string ends that begins at `at`, its quotes included.
#[inline]
pub(in crate::syntax) fn end_of_string(line: &[u8], at: usize) -> Option<usize> {
    let end = end_of_run(line, at + 1)?;
    if line[end] == b'"' { Some(end + 1) } else { end_of_escaped(line, end) }
}

/// Where a string ends whose first escape is at `at`.
#[inline(never)]
fn end_of_escaped(line: &[u8], mut at: usize) -> Option<usize> {
    while line[at] != b'"' {
        at += match line.get(at + 1)? {
            b'"' | b'\\' | b'/' | b'b' | b'f' | b'n' | b'r' | b't' => 2,
            b'u' => {
                let digits = line.get(at + 2..at + 6)?;
                digits.iter().all(u8::is_ascii_hexdigit).then_some(6)?
            }
            _ => return None,
        };
        at = end_of_run(line, at)?;
    }
    Some(at + 1)
}

/// Where the number ends that begins at `at`.
#[inline]
pub(in crate::syntax) fn end_of_number(line: &[u8], at: usize) -> Option<usize> {
    let end = behind_digits(line, at);
    let is_usual =
        end > at && !matches!(line.get(end), Some(b'.' | b'e' | b'E')) && (line[at] != b'0' || end == at + 1);
    if is_usual { Some(end) } else { end_of_unusual(line, at) }
}

/// Behind the digits that stand at `at`, if there are any.
#[inline]
pub(in crate::syntax) fn behind_digits(line: &[u8], mut at: usize) -> usize {
    if let Some(first) = line.get(at..).and_then(<[u8]>::first_chunk::<16>) {
        let digits = u8x16::new(*first) - u8x16::splat(b'0');
        let count = digits.min(u8x16::splat(9)).cmp_eq(digits).move_mask().trailing_ones() as usize;
        at += count;
        if count < 16 {
            return at;
        }
    }
    while line.get(at).is_some_and(u8::is_ascii_digit) {
        at += 1;
    }
    at
}

/// A number that is negative, or has a fraction or an exponent.
#[inline(never)]
fn end_of_unusual(line: &[u8], at: usize) -> Option<usize> {
    let digits = |at: usize| Some(behind_digits(line, at)).filter(|end| *end > at);
    let start = at + usize::from(line.get(at) == Some(&b'-'));
    let mut end = digits(start)?;
    if line[start] == b'0' && end > start + 1 {
        return None;
    }
    if line.get(end) == Some(&b'.') {
        end = digits(end + 1)?;
    }
    if matches!(line.get(end), Some(b'e' | b'E')) {
        end += 1;
        end = digits(end + usize::from(matches!(line.get(end), Some(b'+' | b'-'))))?;
    }
    Some(end)
}

/// Where `word` ends, if it begins at `at`.
#[inline]
pub(in crate::syntax) fn end_of_word(line: &[u8], at: usize, word: &[u8]) -> Option<usize> {
    line[at..].starts_with(word).then(|| at + word.len())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_value_is_stepped_over_if_and_only_if_it_is_json() {
        for text in [
            "0",
            "-0.5e+3",
            "12345678901234567890",
            r#""""#,
            r#""a\"b\\c\u00e9 long enough for eight""#,
            "true",
            "null",
            r#"{}"#,
            r#"[]"#,
            r#"{"a":[1, 2,{"b" : null}],"c":"d"}"#,
            r#"[[[["x"]]]]"#,
        ] {
            assert_eq!(Scanner::new(text.as_bytes()).value(), Some(text.as_bytes()), "{text}");
            assert!(serde_json::from_str::<serde_json::Value>(text).is_ok(), "{text}");
        }
        for text in [
            "",
            "-",
            "01",
            "1.",
            ".5",
            "1e",
            "tru",
            r#"""#,
            r#""\x""#,
            r#""\u12g4""#,
            "{",
            r#"{"a"}"#,
            r#"{"a":}"#,
            r#"{"a":1,}"#,
            "[1,]",
            "[1 2]",
            r#"{"a":1]"#,
            "nul",
        ] {
            assert_eq!(Scanner::new(text.as_bytes()).value(), None, "{text}");
        }
    }

    #[test]
    fn deep_nesting_is_left_to_others() {
        let deep = format!("{}{}", "[".repeat(1000), "]".repeat(1000));
        assert_eq!(Scanner::new(deep.as_bytes()).value(), None);
    }
}
