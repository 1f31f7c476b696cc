//! The shell's tokens: blanks and comments, names, strings, numbers and regular expressions, by the rules of JavaScript.
//! Nothing here is recursive.

use nom::Parser;
use nom::branch::alt;
use nom::bytes::complete::{tag, tag_no_case, take_until, take_while, take_while1};
use nom::character::complete::{char, digit0, digit1, hex_digit1, satisfy};
use nom::combinator::{not, opt, recognize};

use super::failure::{Failure, Step, Text, must, refuse};

/// Whether a name may hold `c`.
pub(super) fn is_word(c: char) -> bool {
    is_word_start(c) || c.is_ascii_digit()
}

fn is_word_start(c: char) -> bool {
    c.is_alphabetic() || c == '_' || c == '$'
}

/// A blank that does not end a line. Pasted text often has no-break spaces and byte-order marks.
fn is_blank(c: char) -> bool {
    matches!(c, ' ' | '\t' | '\r' | '\u{a0}' | '\u{feff}')
}

/// Blanks, line ends and comments, as many as there are.
pub(in crate::syntax) fn gap(input: Text<'_>) -> Step<'_, ()> {
    skip(input, |c| is_blank(c) || c == '\n', true)
}

/// Blanks and block comments up to the end of the line.
pub(super) fn blank(input: Text<'_>) -> Step<'_, ()> {
    skip(input, is_blank, false)
}

fn skip(input: Text<'_>, is_skipped: fn(char) -> bool, line_comments: bool) -> Step<'_, ()> {
    let mut rest = input;
    loop {
        let (after, _) = take_while(is_skipped)(rest)?;
        let after = if line_comments { opt(line_comment).parse(after)?.0 } else { after };
        let (after, _) = opt(block_comment).parse(after)?;
        if after.location_offset() == rest.location_offset() {
            return Ok((after, ()));
        }
        rest = after;
    }
}

/// `// …` up to the end of the line, which is left.
pub(super) fn line_comment(input: Text<'_>) -> Step<'_, Text<'_>> {
    recognize((tag("//"), take_while(|c| c != '\n'))).parse(input)
}

fn block_comment(input: Text<'_>) -> Step<'_, Text<'_>> {
    let (rest, open) = tag("/*")(input)?;
    let closed: Step<'_, _> = (take_until("*/"), tag("*/")).parse(rest);
    match closed {
        Ok((rest, _)) => Ok((rest, open)),
        Err(_) => Err(nom::Err::Failure(Failure::told(input, "this comment is never closed; expected `*/` after it"))),
    }
}

/// A name such as `customerId`, `_id` or `$set`.
pub(in crate::syntax) fn identifier(input: Text<'_>) -> Step<'_, Text<'_>> {
    recognize((satisfy(is_word_start), take_while(is_word))).parse(input)
}

/// Exactly the word `expected`, not the beginning of a longer one.
pub(in crate::syntax) fn word<'a>(expected: &'static str) -> impl Fn(Text<'a>) -> Step<'a, Text<'a>> {
    move |input| {
        let (rest, found) = identifier(input)?;
        if *found.fragment() == expected { Ok((rest, found)) } else { refuse(input, expected) }
    }
}

/// A punctuation mark with blanks, line ends and comments before it.
pub(in crate::syntax) fn mark<'a>(input: Text<'a>, mark: char, what: &'static str) -> Step<'a, ()> {
    let (rest, ()) = gap(input)?;
    let (rest, _) = must(rest, what, char(mark)(rest))?;
    Ok((rest, ()))
}

/// A number without sign, as written: decimal with an optional fraction and exponent, or hexadecimal.
pub(super) fn number(input: Text<'_>) -> Step<'_, Text<'_>> {
    let exponent = || opt((tag_no_case("e"), opt(satisfy(|c| c == '+' || c == '-')), digit1));
    let hexadecimal = recognize((tag_no_case("0x"), hex_digit1));
    let whole = recognize((digit1, opt((char('.'), digit0)), exponent()));
    let fraction = recognize((char('.'), digit1, exponent()));
    let (rest, digits) = alt((hexadecimal, whole, fraction)).parse(input)?;
    let (rest, ()) = not(satisfy(is_word)).parse(rest)?;
    Ok((rest, digits))
}

/// A regular expression literal: pattern and flags.
pub(super) fn regex(input: Text<'_>) -> Step<'_, (&str, &str)> {
    let (mut rest, _) = char('/')(input)?;
    let begin = rest.location_offset();
    let mut in_class = false;
    loop {
        let escape = |input| recognize((char('\\'), satisfy(|c| c != '\n'))).parse(input);
        let plain = satisfy(|c| c != '\n' && c != '\\' && (in_class || c != '/'));
        let next: Step<'_, Text<'_>> = alt((escape, recognize(plain))).parse(rest);
        let Ok((after, taken)) = next else { break };
        match *taken.fragment() {
            "[" => in_class = true,
            "]" => in_class = false,
            "*" if rest.location_offset() == begin => return refuse(input, "a regular expression"),
            _ => {}
        }
        rest = after;
    }
    let end = rest.location_offset();
    if begin == end {
        return refuse(input, "a regular expression");
    }
    if in_class {
        return unclosed(input, "this regular expression is never closed; expected `/` on the same line");
    }
    let Ok((rest, _)) = char::<_, Failure>('/')(rest) else {
        return unclosed(input, "this regular expression is never closed; expected `/` on the same line");
    };
    let (rest, flags) = take_while(|c: char| c.is_ascii_alphabetic())(rest)?;
    let from = begin - input.location_offset();
    Ok((rest, (&input.fragment()[from..from + (end - begin)], flags.into_fragment())))
}

fn unclosed<'a, T>(input: Text<'a>, message: &'static str) -> Step<'a, T> {
    Err(nom::Err::Failure(Failure::told(input, message)))
}

/// A string in single or double quotes, or a template without substitutions; its text, unescaped.
pub(super) fn string(input: Text<'_>) -> Step<'_, String> {
    let (mut rest, quote) = satisfy(|c| matches!(c, '"' | '\'' | '`'))(input)?;
    let mut text = String::new();
    loop {
        let ends_run = |c| c == quote || c == '\\' || if quote == '`' { c == '$' } else { c == '\n' };
        let (after, run) = take_while(|c| !ends_run(c))(rest)?;
        text.push_str(run.fragment());
        match after.chars().next() {
            Some(c) if c == quote => return Ok((char(quote)(after)?.0, text)),
            Some('\\') => rest = escape(after, &mut text)?.0,
            Some('$') if !after.starts_with("${") => {
                text.push('$');
                rest = char('$')(after)?.0;
            }
            Some('$') => {
                let message = "a substitution has no value here; expected a plain string";
                return Err(nom::Err::Failure(Failure::told(after, message)));
            }
            _ => return unclosed(input, "this string is never closed; expected the same quote again on its line"),
        }
    }
}

/// One escape sequence. Surrogates that do not form a pair become U+FFFD, as when a shell writes them out.
fn escape<'a>(input: Text<'a>, text: &mut String) -> Step<'a, ()> {
    let (rest, _) = char('\\')(input)?;
    if let Ok((rest, _)) = tag::<_, _, Failure>("\r\n")(rest) {
        return Ok((rest, ()));
    }
    let (after, c) = must(rest, "an escaped character", satisfy(|_| true)(rest))?;
    let plain = match c {
        'n' => '\n',
        't' => '\t',
        'r' => '\r',
        'b' => '\u{8}',
        'f' => '\u{c}',
        'v' => '\u{b}',
        '0' => '\0',
        '\n' => return Ok((after, ())),
        'x' => return two_digits(after, text),
        'u' => return unicode(after, text),
        other => other,
    };
    text.push(plain);
    Ok((after, ()))
}

fn two_digits<'a>(input: Text<'a>, text: &mut String) -> Step<'a, ()> {
    let (rest, code) = must(input, "two hexadecimal digits", digits(input, 2))?;
    text.push(char::from_u32(code).unwrap_or(char::REPLACEMENT_CHARACTER));
    Ok((rest, ()))
}

fn unicode<'a>(input: Text<'a>, text: &mut String) -> Step<'a, ()> {
    if let Ok((rest, _)) = char::<_, Failure>('{')(input) {
        let (rest, code) = must(rest, "one to six hexadecimal digits", braced(rest))?;
        text.push(char::from_u32(code).unwrap_or(char::REPLACEMENT_CHARACTER));
        return Ok((rest, ()));
    }
    let (rest, high) = must(input, "four hexadecimal digits", digits(input, 4))?;
    let second: Step<'_, _> = tag("\\u")(rest).and_then(|(rest, _)| digits(rest, 4));
    if let (0xd800..=0xdbff, Ok((rest, low @ 0xdc00..=0xdfff))) = (high, second) {
        let code = 0x10000 + ((high - 0xd800) << 10) + (low - 0xdc00);
        text.push(char::from_u32(code).unwrap_or(char::REPLACEMENT_CHARACTER));
        return Ok((rest, ()));
    }
    text.push(char::from_u32(high).unwrap_or(char::REPLACEMENT_CHARACTER));
    Ok((rest, ()))
}

/// `{1f600}` behind its opening brace.
fn braced(input: Text<'_>) -> Step<'_, u32> {
    let (rest, found) = take_while1(|c: char| c.is_ascii_hexdigit())(input)?;
    let (rest, _) = must(rest, "`}`", char('}')(rest))?;
    match u32::from_str_radix(found.fragment(), 16) {
        Ok(code) if found.len() <= 6 => Ok((rest, code)),
        _ => refuse(input, "one to six hexadecimal digits"),
    }
}

fn digits(input: Text<'_>, count: usize) -> Step<'_, u32> {
    let found = input.fragment().get(..count).filter(|found| found.bytes().all(|b| b.is_ascii_hexdigit()));
    match found.and_then(|found| u32::from_str_radix(found, 16).ok()) {
        Some(code) => Ok((nom::Input::take_from(&input, count), code)),
        None => refuse(input, "hexadecimal digits"),
    }
}
