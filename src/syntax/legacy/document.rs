//! Documents as servers up to 4.2 print them: bare keys, strings in which nothing is escaped, `ObjectId('…')`,
//! `new Date(…)`, `Timestamp(…)`.
//!
//! A string ends at the first quote behind which the document can go on. Where the quotes inside do not pair, another
//! reading may be the true one, and the document counts as partial. Form only: what the types are worth is told by `value.rs`. The language is that of
//! `grammar/legacy_line.pest`.

use std::cell::{Cell, RefCell};

use nom::branch::alt;
use nom::bytes::complete::{tag, take_while, take_while1};
use nom::character::complete::{char, digit1, none_of};
use nom::combinator::{opt, peek, recognize};
use nom::{Err, Input, Parser};

use crate::model::{Array, Document, Field, Node, Value};
use crate::syntax::shell::{Failure, Step, Text, between, refuse};

use super::{plain, value};

/// The server prints at most 100 levels.
const MAX_DEPTH: usize = 200;

/// What stands behind a value.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Place {
    /// A key, or the end of a document.
    Member,
    /// Another value, or the end of an array.
    Element,
    /// The last value of an interval.
    First,
    /// The bracket that ends an interval, and the text.
    Last,
}

/// How to read, and how far it went.
#[derive(Debug, Default)]
pub(super) struct Reading {
    /// What cannot be read ends the documents that are open, and is no failure.
    tolerant: bool,
    /// Where reading ended early.
    stopped: Cell<Option<usize>>,
    /// The names on the way to that place, innermost first.
    path: RefCell<Vec<String>>,
}

impl Reading {
    /// Keeps what can be read of a document that does not end.
    pub(super) fn tolerant() -> Self {
        Self { tolerant: true, ..Self::default() }
    }

    /// Where reading ended early, as an offset in the text.
    pub(super) fn stopped(&self) -> Option<usize> {
        self.stopped.get()
    }

    /// The names of the members that were open there.
    pub(super) fn path(&self) -> String {
        self.path.borrow().iter().rev().map(String::as_str).collect::<Vec<_>>().join(".")
    }

    /// Ends the open documents at `input`, if reading is tolerant.
    fn give_up<'a, T>(&self, input: Text<'a>, error: Err<Failure>, so_far: T) -> Step<'a, T> {
        if !self.tolerant {
            return Err(error);
        }
        self.stopped.set(Some(input.location_offset()));
        Ok((input, so_far))
    }

    /// Adds `name` to the way to the place where reading ended, if it ended below it.
    fn note(&self, name: impl FnOnce() -> String) {
        if self.stopped.get().is_some() {
            self.path.borrow_mut().push(name());
        }
    }
}

/// A document or array that has one reading; inside of others that was tried already.
fn at_once(input: Text<'_>, depth: usize) -> Option<(Text<'_>, Node)> {
    (depth == 0).then_some(())?;
    let (node, length) = plain::read(input.into_fragment(), between(input, input).range().start)?;
    Some((input.take_from(length), node))
}

/// `{ a: 1, b: { c: "x" } }`
pub(super) fn document<'a>(input: Text<'a>, reading: &Reading, depth: usize) -> Step<'a, Node> {
    if let Some(read) = at_once(input, depth) {
        return Ok(read);
    }
    let (rest, _) = char('{')(input).map_err(|_: Err<Failure>| expected(input, "a document"))?;
    let mut document = Document::default();
    let (rest, ()) = level(rest, reading, depth, '}', |rest| {
        let (rest, (field, is_sure)) = member(rest, reading, depth)?;
        reading.note(|| field.name.clone());
        document.partial |= !is_sure;
        document.fields.push(field);
        Ok((rest, ()))
    })?;
    document.partial |= reading.stopped().is_some();
    Ok((rest, Node { value: Value::Document(document), span: between(input, rest) }))
}

/// `[ 1, "x" ]`
pub(super) fn array<'a>(input: Text<'a>, reading: &Reading, depth: usize) -> Step<'a, Node> {
    if let Some(read) = at_once(input, depth) {
        return Ok(read);
    }
    let (rest, _) = char('[')(input).map_err(|_: Err<Failure>| expected(input, "an array"))?;
    let mut array = Array::default();
    let (rest, ()) = level(rest, reading, depth, ']', |rest| {
        let (rest, (item, is_sure)) = value(rest, reading, depth + 1, Place::Element)?;
        reading.note(|| array.items.len().to_string());
        array.partial |= !is_sure;
        array.items.push(item);
        Ok((rest, ()))
    })?;
    array.partial |= reading.stopped().is_some();
    Ok((rest, Node { value: Value::Array(array), span: between(input, rest) }))
}

/// What stands between brackets: `part`s with commas between them, and the closing bracket.
fn level<'a>(
    start: Text<'a>,
    reading: &Reading,
    depth: usize,
    close: char,
    mut part: impl FnMut(Text<'a>) -> Step<'a, ()>,
) -> Step<'a, ()> {
    if depth > MAX_DEPTH {
        let error = Err::Error(Failure::told(start, format!("expected at most {MAX_DEPTH} levels")));
        return reading.give_up(start, error, ());
    }
    let (mut rest, _) = blanks(start)?;
    let end: Step<'a, char> = char(close)(rest);
    if let Ok((rest, _)) = end {
        return Ok((rest, ()));
    }
    loop {
        rest = match part(rest) {
            Ok((after, ())) => after,
            Err(error) => return reading.give_up(rest, error, ()),
        };
        if reading.stopped().is_some() {
            return Ok((rest, ()));
        }
        let next = (blanks, alt((char(','), char(close))), blanks).parse(rest);
        let (after, found) = match next {
            Ok((after, (_, found, _))) => (after, found),
            Err(_) => return reading.give_up(rest, expected(rest, "`,` or a closing bracket"), ()),
        };
        if found == close {
            // Only the blanks in front of the bracket belong to it.
            let (rest, _) = (blanks, char(close)).parse(rest)?;
            return Ok((rest, ()));
        }
        rest = after;
    }
}

/// `a.b: 1`; whether there is no other reading.
fn member<'a>(input: Text<'a>, reading: &Reading, depth: usize) -> Step<'a, (Field, bool)> {
    let (rest, name) = key(input)?;
    let name_span = between(input, rest);
    let (rest, _) = (char(':'), blanks).parse(rest)?;
    let name = name.strip_prefix('"').and_then(|name| name.strip_suffix('"')).unwrap_or(name).to_owned();
    match value(rest, reading, depth + 1, Place::Member) {
        Ok((rest, (node, is_sure))) => Ok((rest, (Field { name, name_span, node }, is_sure))),
        Err(error) => {
            reading.path.borrow_mut().clear();
            reading.path.borrow_mut().push(name);
            Err(error)
        }
    }
}

/// The text of a key: bare, or in quotes where somebody has edited the line; the colon behind it is left.
fn key(input: Text<'_>) -> Step<'_, &str> {
    let quoted = (char('"'), take_while(|c| c != '"'), char('"'), peek(char(':')));
    let quoted: Step<'_, Text<'_>> = recognize(quoted).parse(input);
    if let Ok((rest, name)) = quoted {
        return Ok((rest, name.into_fragment()));
    }
    let text = input.into_fragment();
    let bytes = text.as_bytes();
    let end = bytes.iter().enumerate().position(|(at, byte)| match byte {
        b'{' | b'}' | b'"' | b',' => true,
        b':' => bytes.get(at + 1).is_some_and(|next| *next == b' '),
        _ => false,
    });
    match end {
        Some(end) if bytes[end] == b':' => Ok((input.take_from(end), &text[..end])),
        _ => refuse(input, "a key"),
    }
}

/// A value; whether there is no other reading.
fn value<'a>(input: Text<'a>, reading: &Reading, depth: usize, place: Place) -> Step<'a, (Node, bool)> {
    match input.as_bytes().first() {
        Some(b'{') => return document(input, reading, depth).map(sure),
        Some(b'[') => return array(input, reading, depth).map(sure),
        Some(b'"') => return string(input, place),
        _ => {}
    }
    let simple = scalar(input).or_else(|_| regex(input, place)).or_else(|_| code(input, place));
    let (rest, value) = simple.map_err(|_| expected(input, "a value"))?;
    Ok((rest, (Node { value, span: between(input, rest) }, true)))
}

fn sure<'a>((rest, node): (Text<'a>, Node)) -> (Text<'a>, (Node, bool)) {
    (rest, (node, true))
}

/// The first quote behind which the document can go on ends a string. If that is not the true end, the quotes inside do not
/// pair.
pub(super) fn string<'a>(input: Text<'a>, place: Place) -> Step<'a, (Node, bool)> {
    let end = behind_each(b'"', input.take_from(1)).find(|rest| goes_on(*rest, place));
    let Some(rest) = end else { return Err(expected(input, "a string that ends")) };
    let content = &input.into_fragment()[1..input.len() - rest.len() - 1];
    let is_sure = content.matches('"').count().is_multiple_of(2);
    Ok((rest, (Node { value: value::string(content), span: between(input, rest) }, is_sure)))
}

/// What is left behind each `byte` of `input`. Each state is made from the one before: on its way it counts line ends, which
/// from the beginning each time would take long in a long line.
pub(super) fn behind_each(byte: u8, input: Text<'_>) -> impl Iterator<Item = Text<'_>> {
    let mut rest = input;
    std::iter::from_fn(move || {
        rest = rest.take_from(memchr::memchr(byte, rest.as_bytes())? + 1);
        Some(rest)
    })
}

/// Whether a document or array can go on at `input`: with its end, or a comma and what has to follow.
fn goes_on(input: Text<'_>, place: Place) -> bool {
    let text = input.into_fragment();
    match place {
        Place::Member | Place::Element => {}
        Place::First => return text.strip_prefix(", ").is_some_and(begins_bound),
        Place::Last => return matches!(text, "]" | ")"),
    }
    let close = if place == Place::Member { '}' } else { ']' };
    let mut behind = (blanks, opt(alt((tag(","), tag("}"), tag("]")))));
    let next: Step<'_, _> = (blanks, alt((char(','), char(close)))).parse(input);
    match next {
        Ok((rest, (_, ','))) => {
            let Ok((start, _)) = blanks(rest) else { return false };
            match place {
                Place::Member => key(start).is_ok(),
                _ => begins_value(start),
            }
        }
        // Behind a bracket there is a blank, another one, or nothing.
        Ok((rest, _)) => {
            let next: Step<'_, _> = behind.parse(rest);
            next.is_ok_and(|(after, (gap, mark))| !gap.is_empty() || mark.is_some() || after.is_empty())
        }
        Err(_) => false,
    }
}

fn begins_bound(text: &str) -> bool {
    text.starts_with(|c: char| c.is_ascii_alphanumeric() || matches!(c, '"' | '{' | '[' | '/' | '-'))
}

/// Whether a value that is no code can begin here.
fn begins_value(input: Text<'_>) -> bool {
    let first = input.as_bytes().first().copied().unwrap_or(b' ');
    matches!(first, b'"' | b'{' | b'[' | b'/') || scalar(input).is_ok()
}

/// A value that shows where it ends.
pub(super) fn ends_by_itself(input: Text<'_>) -> Step<'_, Value> {
    alt((call, stamp, word, number)).parse(input)
}

/// The same in a document or an array.
fn scalar(input: Text<'_>) -> Step<'_, Value> {
    let (rest, value) = ends_by_itself(input)?;
    let (_, _) = peek((blanks, alt((char(','), char('}'), char(']'))))).parse(rest)?;
    Ok((rest, value))
}

/// `ObjectId('…')`, `new Date(…)`: a type and what is in its parentheses.
fn call(input: Text<'_>) -> Step<'_, Value> {
    const TYPES: [&str; 12] = [
        "ObjectId",
        "new Date",
        "Timestamp",
        "BinData",
        "UUID",
        "DBRef",
        "CodeWScope",
        "ISODate",
        "NumberLong",
        "NumberInt",
        "NumberDecimal",
        "HexData",
    ];
    let text = input.into_fragment();
    let Some(name) = TYPES.iter().find(|name| text.starts_with(**name)) else { return refuse(input, "a type") };
    let (rest, arguments) = group(input.take_from(name.len()), b"(", b")")?;
    let arguments = &arguments[1..arguments.len() - 1];
    Ok((rest, value::typed(name, arguments)))
}

/// What stands between brackets that match, with these.
pub(super) fn group<'a>(input: Text<'a>, open: &[u8], close: &[u8]) -> Step<'a, &'a str> {
    let text = input.into_fragment();
    let mut depth = 0_usize;
    for (at, byte) in text.bytes().enumerate() {
        if open.contains(&byte) {
            depth += 1;
        } else if depth == 0 {
            break;
        } else if close.contains(&byte) {
            depth -= 1;
            if depth == 0 {
                return Ok((input.take_from(at + 1), &text[..=at]));
            }
        }
    }
    refuse(input, "brackets that match")
}

/// `Timestamp 1450975902000|10`, as before 3.6.
fn stamp(input: Text<'_>) -> Step<'_, Value> {
    let (rest, (_, millis, _, increment)) = (tag("Timestamp "), digit1, char('|'), digit1).parse(input)?;
    Ok((rest, value::old_timestamp(millis.into_fragment(), increment.into_fragment())))
}

/// `true`, `MinKey`, and what stands for a value that was not printed.
fn word(input: Text<'_>) -> Step<'_, Value> {
    let dots = recognize(tag("..."));
    let (rest, word) = alt((dots, take_while1(|c: char| c.is_ascii_alphabetic()))).parse(input)?;
    match value::constant(word.into_fragment()) {
        Some(value) => Ok((rest, value)),
        None => refuse(input, "a word that is a value"),
    }
}

/// `-1`, `2.5`, `1e+20`, `inf.0`
fn number(input: Text<'_>) -> Step<'_, Value> {
    let exponent = (alt((char('e'), char('E'))), opt(alt((char('+'), char('-')))), digit1);
    let finite = recognize((digit1, opt((char('.'), digit1)), opt(exponent)));
    let infinite = recognize((alt((tag("inf"), tag("nan"))), opt(tag(".0"))));
    let (rest, text) = recognize((opt(char('-')), alt((finite, infinite)))).parse(input)?;
    Ok((rest, value::number(text.into_fragment())))
}

/// `/^a/i`, in which slashes are not escaped either.
pub(super) fn regex(input: Text<'_>, place: Place) -> Step<'_, Value> {
    let text = input.into_fragment();
    if !text.starts_with('/') {
        return refuse(input, "a regular expression");
    }
    for behind in behind_each(b'/', input.take_from(1)) {
        let (rest, options) = take_while(|c: char| c.is_ascii_lowercase())(behind)?;
        if goes_on(rest, place) {
            let pattern = text[1..text.len() - behind.len() - 1].into();
            let options = options.into_fragment().into();
            return Ok((rest, Value::Regex { pattern, options }));
        }
    }
    refuse(input, "a regular expression that ends")
}

/// Raw JavaScript, and anything else that begins with a letter: up to where the document goes on.
fn code(input: Text<'_>, place: Place) -> Step<'_, Value> {
    let (_, _) = peek(nom::character::complete::satisfy(|c| c.is_ascii_alphabetic())).parse(input)?;
    let mut rest = input;
    while !goes_on(rest, place) {
        rest = code_part(rest)?.0;
    }
    let text = &input.into_fragment()[..input.len() - rest.len()];
    Ok((rest, value::code(text)))
}

/// Brackets that match and what is in them, blanks, or another character. Where the document goes on, it does so before the
/// first of the blanks.
fn code_part(input: Text<'_>) -> Step<'_, ()> {
    if input.starts_with(' ') {
        return blanks(input).map(|(rest, _)| (rest, ()));
    }
    if let Ok((rest, _)) = group(input, b"([{", b")]}") {
        return Ok((rest, ()));
    }
    let (rest, _) = none_of("([{)]}")(input)?;
    Ok((rest, ()))
}

pub(super) fn blanks(input: Text<'_>) -> Step<'_, Text<'_>> {
    take_while(|c| c == ' ')(input)
}

pub(super) fn expected(input: Text<'_>, what: &'static str) -> Err<Failure> {
    Err::Error(Failure::expected(input, what))
}
