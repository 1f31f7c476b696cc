//! Foreign text made safe to print. What a terminal would act on or could not show (control characters, escape
//! sequences, bidirectional overrides, invisible characters, invalid UTF-8) is shown as `\u{1b}` or `\xff`.
//! What is left has a width that does not depend on its neighbours, so carets stay under the text they mean.
//! Nor is it a command to the runner of a build, which reads what programs print: `::error::` at the start of a word,
//! `##[error]` and `##vso[…]` anywhere.

use std::ops::Range;

use unicode_width::{UnicodeWidthChar, UnicodeWidthStr};

/// Columns of `text`, which must be escaped text.
pub fn columns(text: &str) -> usize {
    text.chars().map(|c| c.width().unwrap_or(0)).sum()
}

/// `text`, safe to print.
#[must_use]
pub fn escape(text: &str) -> String {
    escape_bytes(text.as_bytes())
}

/// `bytes`, safe to print.
#[must_use]
pub fn escape_bytes(bytes: &[u8]) -> String {
    let mut shown = String::with_capacity(bytes.len());
    escape_each(bytes, |_, text| shown.push_str(text));
    shown
}

/// Calls `each` with the range of every character of `bytes` (of every byte that belongs to none) and what to print
/// for it.
pub fn escape_each(bytes: &[u8], mut each: impl FnMut(Range<usize>, &str)) {
    let mut at = 0;
    let mut buffer = String::new();
    let mut before = None;
    let mut runner = Runner::default();
    for chunk in bytes.utf8_chunks() {
        for c in chunk.valid().chars() {
            buffer.clear();
            if is_plain(before, c) && !runner.would_act(c) {
                buffer.push(c);
                before = Some(c);
            } else {
                push_escaped(&mut buffer, c);
                before = Some('}');
            }
            each(at..at + c.len_utf8(), &buffer);
            at += c.len_utf8();
        }
        for byte in chunk.invalid() {
            each(at..at + 1, &format!("\\x{byte:02x}"));
            before = Some('f');
            at += 1;
        }
    }
}

/// What a runner that looks for commands in a program's output has read so far.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Runner {
    /// Nothing of a word.
    #[default]
    Blank,
    /// A word that is no command.
    Word,
    /// `:` at the start of a word.
    Colon,
    /// `#`.
    Hash,
    /// `##` and perhaps letters.
    Hashes,
}

impl Runner {
    /// Reads on; whether `c` completes the mark of a command.
    pub fn would_act(&mut self, c: char) -> bool {
        let acts = matches!((*self, c), (Self::Colon, ':') | (Self::Hashes, '['));
        *self = match (*self, c) {
            (Self::Hash | Self::Hashes, '#') => Self::Hashes,
            (Self::Hashes, c) if c.is_ascii_alphabetic() => Self::Hashes,
            (_, '#') => Self::Hash,
            (Self::Blank, ':') => Self::Colon,
            (_, c) if c.is_whitespace() => Self::Blank,
            _ => Self::Word,
        };
        acts
    }
}

fn push_escaped(buffer: &mut String, c: char) {
    match c {
        '\t' => buffer.push_str("\\t"),
        '\r' => buffer.push_str("\\r"),
        '\n' => buffer.push_str("\\n"),
        _ => buffer.extend(c.escape_unicode()),
    }
}

/// Whether `c` can be printed as it is after `before`.
fn is_plain(before: Option<char>, c: char) -> bool {
    if c.is_ascii() {
        return !c.is_ascii_control();
    }
    if is_invisible(c) || !is_printable(c) {
        return false;
    }
    let Some(before) = before else {
        return c.width().is_some_and(|width| width > 0);
    };
    // Emoji modifiers and their like change the width of what they follow, in some terminals.
    c.is_alphabetic() || pair_width(before, c) == before.width().unwrap_or(0) + c.width().unwrap_or(0)
}

/// The standard library knows what is printable, but tells only by its escapes. A character at the start of a string
/// is treated differently, hence the letter before it.
fn is_printable(c: char) -> bool {
    let mut text = [0; 5];
    text[0] = b'a';
    let len = c.encode_utf8(&mut text[1..]).len();
    std::str::from_utf8(&text[..=len]).is_ok_and(|text| text.escape_debug().count() == 2)
}

fn pair_width(a: char, b: char) -> usize {
    let mut text = [0; 8];
    let first = a.encode_utf8(&mut text).len();
    let second = b.encode_utf8(&mut text[first..]).len();
    std::str::from_utf8(&text[..first + second]).map_or(0, UnicodeWidthStr::width)
}

/// Marks and letters that Unicode calls printable though nothing can be seen of them.
fn is_invisible(c: char) -> bool {
    matches!(c, '\u{34f}' | '\u{115f}' | '\u{1160}' | '\u{17b4}' | '\u{17b5}' | '\u{180b}'..='\u{180f}' | '\u{3164}'
        | '\u{fe00}'..='\u{fe0f}' | '\u{ffa0}' | '\u{fff0}'..='\u{fffb}' | '\u{e0000}'..='\u{e0fff}')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_terminal_acts_on_is_escaped() {
        for (raw, shown) in [
            ("a\u{1b}[31mb", "a\\u{1b}[31mb"),
            ("\u{202e}abc\u{2066}", "\\u{202e}abc\\u{2066}"),
            ("a\tb\r\n", "a\\tb\\r\\n"),
            ("\u{9b}31m", "\\u{9b}31m"),
            ("x\u{7f}\u{0}", "x\\u{7f}\\u{0}"),
            ("a\u{200b}b\u{feff}", "a\\u{200b}b\\u{feff}"),
            ("a\u{2028}b", "a\\u{2028}b"),
        ] {
            assert_eq!(escape(raw), shown);
        }
    }

    #[test]
    fn what_the_runner_of_a_build_acts_on_is_escaped() {
        for (raw, shown) in [
            ("::error::x", ":\\u{3a}error::x"),
            ("a ::add-mask::x", "a :\\u{3a}add-mask::x"),
            ("##[error]x", "##\\u{5b}error]x"),
            ("a##vso[task.x]", "a##vso\\u{5b}task.x]"),
            ("a::b # c [d] ### #1[x]", "a::b # c [d] ### #1[x]"),
        ] {
            assert_eq!(escape(raw), shown);
        }
    }

    #[test]
    fn letters_of_every_script_stay_as_they_are() {
        for text in ["größe", "訂單", "заказ", "क्षेत्र", "e\u{301}té", "🍎🍊", "🇩🇪", "…"]
        {
            assert_eq!(escape(text), text);
        }
    }

    #[test]
    fn a_combining_mark_without_a_letter_is_escaped() {
        assert_eq!(escape("\u{301}a"), "\\u{301}a");
    }

    #[test]
    fn invalid_utf_8_is_shown_byte_by_byte_with_its_place() {
        let mut parts = Vec::new();
        escape_each(b"a\xff\xc3\xa9\xe2\x82", |range, text| parts.push((range, text.to_owned())));
        let expected = [(0..1, "a"), (1..2, "\\xff"), (2..4, "é"), (4..5, "\\xe2"), (5..6, "\\x82")];
        assert_eq!(parts, expected.map(|(range, text)| (range, text.to_owned())));
    }

    #[test]
    fn joined_and_modified_emoji_are_taken_apart() {
        assert_eq!(escape("👨\u{200d}👩"), "👨\\u{200d}👩");
        assert_eq!(escape("👍🏽"), "👍\\u{1f3fd}");
        assert_eq!(escape("❤\u{fe0f}"), "❤\\u{fe0f}");
    }
}
