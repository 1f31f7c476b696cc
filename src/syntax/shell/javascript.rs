//! Any JavaScript, as far as it has to be told apart from what follows it: balanced brackets, strings, templates, regular
//! expressions and comments, and where a statement ends without a semicolon. It understands nothing and builds nothing.

use nom::branch::alt;
use nom::bytes::complete::{tag, take_while, take_while1};
use nom::character::complete::{char, satisfy};
use nom::combinator::{not, opt, peek, recognize};
use nom::{Input, Parser};

use super::failure::{Failure, Step, Text, must, refuse};
use super::lexical::{blank, gap, identifier, is_word, regex, word};

/// Deeper nesting than this is refused. BSON itself allows 200 levels.
pub(super) const MAX_DEPTH: usize = 250;

/// Runs one level of a recursive reader with room on the stack, however small the thread's is.
pub(super) fn with_room<T>(level: impl FnOnce() -> T) -> T {
    const RED_ZONE: usize = 128 * 1024;
    const GROWTH: usize = 2 * 1024 * 1024;
    stacker::maybe_grow(RED_ZONE, GROWTH, level)
}

/// Refuses what is nested too deeply, before the stack does.
pub(super) fn within_depth(input: Text<'_>, depth: usize) -> Step<'_, ()> {
    if depth < MAX_DEPTH {
        return Ok((input, ()));
    }
    let message = format!("nested more than {MAX_DEPTH} levels deep; expected something flatter");
    Err(nom::Err::Failure(Failure::told(input, message)))
}

/// Everything up to the end of the statement: a `;`, or a line end that JavaScript takes for one.
pub(super) fn tail(input: Text<'_>) -> Step<'_, ()> {
    let mut rest = input;
    loop {
        let (after, ()) = blank(rest)?;
        rest = match element(after) {
            Ok((after, ())) => after,
            Err(nom::Err::Error(_)) => {
                let (after, ()) = gap(rest)?;
                if continuation(after).is_err() {
                    return Ok((rest, ()));
                }
                match element(after) {
                    Ok((after, ())) => after,
                    Err(nom::Err::Error(_)) => return Ok((rest, ())),
                    Err(error) => return Err(error),
                }
            }
            Err(error) => return Err(error),
        };
    }
}

/// A statement of which nothing is understood; at least one token.
pub(super) fn statement(input: Text<'_>) -> Step<'_, ()> {
    let (rest, ()) = element(input)?;
    tail(rest)
}

/// One token or bracketed group outside all brackets, with the line ends behind it that do not end the statement.
fn element(input: Text<'_>) -> Step<'_, ()> {
    match head(input) {
        Err(nom::Err::Error(_)) => {}
        done => return done,
    }
    if let Ok((rest, ())) = keyword(input) {
        return Ok((rest, ()));
    }
    match operand(input, 0) {
        Err(nom::Err::Error(_)) => {}
        Err(error) => return Err(error),
        Ok((rest, ())) => {
            let (after, ()) = gap(rest)?;
            return match division(after) {
                Ok((after, ())) => gap(after),
                Err(_) => Ok((rest, ())),
            };
        }
    }
    let pair: Step<'_, _> = alt((tag("++"), tag("--"))).parse(input);
    if let Ok((rest, _)) = pair {
        return Ok((rest, ()));
    }
    let operator: Step<'_, _> = satisfy(|c| "=+-*%&|^<>?:,.!~".contains(c)).parse(input);
    if let Ok((rest, _)) = operator {
        return gap(rest);
    }
    let (rest, _) = satisfy(|c| is_plain(c) && c != ';' && c != '\n')(input)?;
    Ok((rest, ()))
}

/// The head of a control statement or function, whose body may begin on another line.
fn head(input: Text<'_>) -> Step<'_, ()> {
    let (rest, name) = identifier(input)?;
    let rest = match *name.fragment() {
        "if" | "for" | "while" | "with" | "switch" | "catch" => group(gap(rest)?.0, 0)?.0,
        "function" => {
            let (rest, _) = opt(char('*')).parse(gap(rest)?.0)?;
            let (rest, _) = opt(identifier).parse(gap(rest)?.0)?;
            group(gap(rest)?.0, 0)?.0
        }
        "do" | "else" | "try" | "finally" => rest,
        _ => return refuse(input, "a control statement"),
    };
    gap(rest)
}

/// A word that an operand follows: a `/` behind it begins a regular expression.
fn keyword(input: Text<'_>) -> Step<'_, ()> {
    const KEYWORDS: [&str; 10] =
        ["return", "typeof", "case", "in", "of", "delete", "void", "throw", "new", "instanceof"];
    let (rest, name) = identifier(input)?;
    if KEYWORDS.contains(name.fragment()) { Ok((rest, ())) } else { refuse(input, "a keyword") }
}

/// Something that a division may follow.
fn operand(input: Text<'_>, depth: usize) -> Step<'_, ()> {
    match input.chars().next() {
        Some('"' | '\'') => quoted(input),
        Some('`') => template(input, depth),
        Some('(' | '[' | '{') => group(input, depth),
        Some('/') => regex(input).map(|(rest, _)| (rest, ())),
        _ => {
            let (rest, _) = take_while1(is_word)(input)?;
            Ok((rest, ()))
        }
    }
}

fn division(input: Text<'_>) -> Step<'_, ()> {
    let (rest, _) = char('/')(input)?;
    let (rest, ()) = not(char('*')).parse(rest)?;
    Ok((rest, ()))
}

/// A character that opens, closes and begins nothing.
fn is_plain(c: char) -> bool {
    !is_word(c) && !matches!(c, '(' | ')' | '[' | ']' | '{' | '}' | '"' | '\'' | '`' | '/')
}

/// Whether the next line goes on with the statement before it.
fn continuation(input: Text<'_>) -> Step<'_, ()> {
    let mark = recognize(satisfy(|c| ".,=*%&|^<>?:([`".contains(c)));
    let plus = recognize((char('+'), not(char('+'))));
    let minus = recognize((char('-'), not(char('-'))));
    let clause = alt((word("else"), word("catch"), word("finally")));
    let (rest, _) = peek(alt((mark, plus, minus, clause))).parse(input)?;
    Ok((rest, ()))
}

/// A bracketed group and all that is in it.
pub(in crate::syntax) fn group(input: Text<'_>, depth: usize) -> Step<'_, ()> {
    let (rest, open) = satisfy(|c| matches!(c, '(' | '[' | '{'))(input)?;
    let close = match open {
        '(' => ')',
        '[' => ']',
        _ => '}',
    };
    match with_room(|| inner(rest, depth + 1))? {
        (rest, ()) if rest.is_empty() => {
            let message = format!("this `{open}` is never closed; expected `{close}` before the end of the text");
            Err(nom::Err::Failure(Failure::told(input, message)))
        }
        (rest, ()) => close_with(rest, close),
    }
}

/// The rest of a group that `close` closes.
pub(super) fn closing(input: Text<'_>, close: char, depth: usize) -> Step<'_, ()> {
    let (rest, ()) = inner(input, depth + 1)?;
    close_with(rest, close)
}

fn close_with(input: Text<'_>, close: char) -> Step<'_, ()> {
    let what = match close {
        ')' => "`)`",
        ']' => "`]`",
        _ => "`}`",
    };
    let (rest, _) = must(input, what, char(close)(input))?;
    Ok((rest, ()))
}

/// Everything up to the bracket that closes the group.
fn inner(input: Text<'_>, depth: usize) -> Step<'_, ()> {
    within_depth(input, depth)?;
    let mut rest = input;
    loop {
        let (after, ()) = gap(rest)?;
        rest = match inner_element(after, depth) {
            Ok((after, ())) => after,
            Err(nom::Err::Error(_)) => return Ok((after, ())),
            Err(error) => return Err(error),
        };
    }
}

fn inner_element(input: Text<'_>, depth: usize) -> Step<'_, ()> {
    if let Ok((rest, ())) = keyword(input) {
        return Ok((rest, ()));
    }
    match operand(input, depth) {
        Err(nom::Err::Error(_)) => {}
        Err(error) => return Err(error),
        Ok((rest, ())) => {
            let (after, ()) = gap(rest)?;
            return division(after).or(Ok((rest, ())));
        }
    }
    let (rest, _) = satisfy(is_plain)(input)?;
    Ok((rest, ()))
}

/// A string whose escapes do not matter.
fn quoted(input: Text<'_>) -> Step<'_, ()> {
    let (mut rest, quote) = satisfy(|c| matches!(c, '"' | '\''))(input)?;
    loop {
        (rest, _) = take_while(|c| c != quote && c != '\\' && c != '\n')(rest)?;
        rest = match rest.chars().next() {
            Some(c) if c == quote => return Ok((rest.take_from(1), ())),
            Some('\\') if rest.len() > 1 => escaped(rest)?.0,
            _ => {
                let message = "this string is never closed; expected the same quote again on its line";
                return Err(nom::Err::Failure(Failure::told(input, message)));
            }
        };
    }
}

/// A backslash and the character (or line end) after it.
fn escaped(input: Text<'_>) -> Step<'_, ()> {
    let line_end = recognize(tag("\r\n"));
    let (rest, _) = (char('\\'), alt((line_end, recognize(satisfy(|_| true))))).parse(input)?;
    Ok((rest, ()))
}

fn template(input: Text<'_>, depth: usize) -> Step<'_, ()> {
    let (mut rest, _) = char('`')(input)?;
    loop {
        (rest, _) = take_while(|c| c != '`' && c != '\\' && c != '$')(rest)?;
        rest = match rest.chars().next() {
            Some('`') => return Ok((rest.take_from(1), ())),
            Some('\\') if rest.len() > 1 => escaped(rest)?.0,
            Some('$') if rest.starts_with("${") => group(rest.take_from(1), depth)?.0,
            Some('$') => rest.take_from(1),
            _ => {
                let message = "this template is never closed; expected a closing backtick";
                return Err(nom::Err::Failure(Failure::told(input, message)));
            }
        };
    }
}
