//! A cursor over one line of JSON that is read once, from left to right. It takes only what every JSON reader takes: whatever
//! is odd in the least (control characters, names with escapes, numbers in unusual spellings, deep nesting) ends the walk
//! with `None`, and the line is left to the full reader. So nothing that it steps over can be malformed.

/// Deeper values are left to the full reader.
const MAX_DEPTH: usize = 64;

/// A string of the line, without its quotes.
#[derive(Debug, Clone, Copy)]
pub(super) struct Text<'l> {
    /// As the line has it.
    pub(super) raw: &'l [u8],
    /// Something in it is escaped.
    pub(super) is_escaped: bool,
}

/// Where the walk stands.
#[derive(Debug, Clone, Copy)]
pub(super) struct Scanner<'l> {
    pub(super) line: &'l [u8],
    pub(super) at: usize,
}

impl<'l> Scanner<'l> {
    pub(super) fn new(line: &'l [u8]) -> Self {
        Self { line, at: 0 }
    }

    /// The next byte that is no blank, which is not taken.
    #[inline]
    pub(super) fn peek(&mut self) -> Option<u8> {
        while *self.line.get(self.at)? == b' ' {
            self.at += 1;
        }
        Some(self.line[self.at])
    }

    /// Takes `byte`, which must come next.
    #[inline]
    pub(super) fn take(&mut self, byte: u8) -> Option<()> {
        (self.peek()? == byte).then(|| self.at += 1)
    }

    /// Takes `byte` if it comes next.
    pub(super) fn takes(&mut self, byte: u8) -> Option<bool> {
        let comes = self.peek()? == byte;
        self.at += usize::from(comes);
        Some(comes)
    }

    /// Takes a string.
    #[inline]
    pub(super) fn string(&mut self) -> Option<Text<'l>> {
        self.take(b'"')?;
        let start = self.at;
        let mut is_escaped = false;
        loop {
            self.at = end_of_run(self.line, self.at)?;
            if self.line[self.at] == b'"' {
                break;
            }
            is_escaped = true;
            self.escape()?;
        }
        let raw = &self.line[start..self.at];
        self.at += 1;
        Some(Text { raw, is_escaped })
    }

    /// Takes one escape, a backslash and what belongs to it.
    fn escape(&mut self) -> Option<()> {
        match self.line.get(self.at + 1)? {
            b'"' | b'\\' | b'/' | b'b' | b'f' | b'n' | b'r' | b't' => self.at += 2,
            b'u' => {
                let digits = self.line.get(self.at + 2..self.at + 6)?;
                digits.iter().all(u8::is_ascii_hexdigit).then_some(())?;
                self.at += 6;
            }
            _ => return None,
        }
        Some(())
    }

    /// Takes a member's name and the colon behind it. Names with escapes are not taken: they would have to be decoded.
    pub(super) fn name(&mut self) -> Option<&'l [u8]> {
        let name = self.string()?;
        self.take(b':')?;
        (!name.is_escaped).then_some(name.raw)
    }

    /// After a member or an item: takes the comma, or the end of the list that it stands in. Whether the list goes on.
    pub(super) fn goes_on(&mut self, end: u8) -> Option<bool> {
        let next = self.peek()?;
        self.at += 1;
        match next {
            b',' => Some(true),
            _ if next == end => Some(false),
            _ => None,
        }
    }

    /// Takes a number; its text.
    pub(super) fn number(&mut self) -> Option<&'l [u8]> {
        self.peek()?;
        let start = self.at;
        self.at += usize::from(self.line[self.at] == b'-');
        let whole = self.digits()?;
        if whole.len() > 1 && whole[0] == b'0' {
            return None;
        }
        if self.line.get(self.at) == Some(&b'.') {
            self.at += 1;
            self.digits()?;
        }
        if matches!(self.line.get(self.at), Some(b'e' | b'E')) {
            self.at += 1;
            self.at += usize::from(matches!(self.line.get(self.at), Some(b'+' | b'-')));
            self.digits()?;
        }
        Some(&self.line[start..self.at])
    }

    /// Takes digits, at least one.
    fn digits(&mut self) -> Option<&'l [u8]> {
        let rest = &self.line[self.at..];
        let count = rest.iter().position(|byte| !byte.is_ascii_digit()).unwrap_or(rest.len());
        self.at += count;
        (count > 0).then(|| &rest[..count])
    }

    fn word(&mut self, word: &[u8]) -> Option<()> {
        self.line[self.at..].starts_with(word).then(|| self.at += word.len())
    }

    /// Steps over any value; its text.
    pub(super) fn value(&mut self) -> Option<&'l [u8]> {
        self.peek()?;
        let start = self.at;
        self.skip(0)?;
        Some(&self.line[start..self.at])
    }

    fn skip(&mut self, depth: usize) -> Option<()> {
        if depth > MAX_DEPTH {
            return None;
        }
        match self.peek()? {
            b'"' => drop(self.string()?),
            b'{' => {
                self.at += 1;
                if self.takes(b'}')? {
                    return Some(());
                }
                loop {
                    self.string()?;
                    self.take(b':')?;
                    self.skip(depth + 1)?;
                    if !self.goes_on(b'}')? {
                        break;
                    }
                }
            }
            b'[' => {
                self.at += 1;
                if self.takes(b']')? {
                    return Some(());
                }
                loop {
                    self.skip(depth + 1)?;
                    if !self.goes_on(b']')? {
                        break;
                    }
                }
            }
            b't' => self.word(b"true")?,
            b'f' => self.word(b"false")?,
            b'n' => self.word(b"null")?,
            _ => drop(self.number()?),
        }
        Some(())
    }
}

/// Where the next quote or backslash is. Most strings of a log are short, so this looks at eight bytes at a time and has
/// nothing to set up.
#[inline]
fn end_of_run(line: &[u8], mut at: usize) -> Option<usize> {
    const ONES: u64 = u64::MAX / 255;
    const HIGHS: u64 = ONES << 7;
    let zeros = |word: u64| word.wrapping_sub(ONES) & !word;
    while let Some(chunk) = line.get(at..).and_then(<[u8]>::first_chunk::<8>) {
        let word = u64::from_le_bytes(*chunk);
        let found = (zeros(word ^ (ONES * b'"' as u64)) | zeros(word ^ (ONES * b'\\' as u64))) & HIGHS;
        if found != 0 {
            return Some(at + found.trailing_zeros() as usize / 8);
        }
        at += 8;
    }
    line[at..].iter().position(|byte| matches!(byte, b'"' | b'\\')).map(|found| at + found)
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
