//! The text of a slow operation: operation, namespace, then items up to `<n>ms`.
//!
//! A text that servers print whole is read from the left. Where that fails, or where the server took the middle out of an
//! overlong line, documents are kept as far as they go, and plan and counters are read from the right.

use memchr::memmem;
use nom::bytes::complete::{tag, take_while, take_while1};
use nom::character::complete::{char, digit1, satisfy};
use nom::combinator::{not, opt, recognize};
use nom::sequence::terminated;
use nom::{Input, Parser};

use crate::model::{Document, Field, Node, Value};
use crate::syntax::SyntaxError;
use crate::syntax::shell::{Failure, Step, Text, between, complaint, refuse};
use crate::text::{Located, Span};

use super::document::{Reading, array, behind_each, blanks, document, expected};
use super::{plan, value};

/// What the server logs slow.
pub(in crate::syntax) const OPERATIONS: [&str; 7] =
    ["query", "getmore", "insert", "update", "remove", "command", "killcursors"];

/// Where the middle of an overlong line was.
const SEAM: &str = " .......... ";

/// The text of a slow operation.
#[derive(Debug)]
pub(super) struct SlowText<'a> {
    /// `query`, `command` …
    pub(super) operation: Located<&'a str>,
    /// `shop.orders`; empty if there is none.
    pub(super) namespace: Located<&'a str>,
    /// Documents, plan and counters by their labels.
    pub(super) items: Document,
    /// How long it took.
    pub(super) millis: Located<u64>,
    /// Where the server took out the middle, and the names of the members that were open there.
    pub(super) cut: Option<Located<String>>,
}

/// Whether a text is that of a slow operation: it begins with one, and ends with how long it took.
pub(super) fn is_slow(text: &str) -> bool {
    let (first, rest) = text.split_once(' ').unwrap_or((text, ""));
    OPERATIONS.contains(&first) && millis(rest).is_some()
}

/// Where the digits of the time stand at the end of `text`.
fn millis(text: &str) -> Option<(usize, u64)> {
    let text = text.trim_end_matches(' ').strip_suffix("ms")?;
    let start = text.trim_end_matches(|c: char| c.is_ascii_digit()).len();
    let before = &text[..start];
    (before.is_empty() || before.ends_with(' ')).then_some(())?;
    Some((start, text[start..].parse().ok()?))
}

/// Reads the whole of `input`, as servers print it.
pub(super) fn whole<'a>(line: &'a str, input: Text<'a>) -> Result<SlowText<'a>, SyntaxError> {
    let failed = |error| complaint(line, 0, error);
    let (end, millis) = ended(input).map_err(failed)?;
    let (mut rest, mut slow) = begin(input, millis).map_err(failed)?;
    let reading = Reading::default();
    loop {
        let (start, _) = blanks(rest).map_err(failed)?;
        if start.location_offset() >= end {
            return match (start.location_offset() == end, slow.items.fields.is_empty()) {
                (true, false) => Ok(slow),
                (true, true) => Err(failed(expected(start, "an item such as `query:` or `nreturned:`"))),
                (false, _) => Err(failed(expected(start, "how long it took, such as `120ms`"))),
            };
        }
        if start.location_offset() == rest.location_offset() {
            return Err(failed(expected(start, "a blank")));
        }
        let (after, field) = item(start, &reading).map_err(failed)?;
        slow.items.fields.extend(field);
        rest = after;
    }
}

/// Reads what can be read.
pub(super) fn in_part<'a>(line: &'a str, input: Text<'a>) -> Result<SlowText<'a>, SyntaxError> {
    let failed = |error| complaint(line, 0, error);
    let (end, millis) = ended(input).map_err(failed)?;
    let (front, mut slow) = begin(input, millis).map_err(failed)?;
    let at = front.location_offset().min(end);
    let seam = memmem::find(front.as_bytes(), SEAM.as_bytes()).map(|seam| at + seam);
    let stop = seam.unwrap_or(end);
    let head = &line[..stop];
    let reading = Reading::tolerant();
    let mut rest = Text::new_extra(head, 0).take_from(at);
    while reading.stopped().is_none() {
        let (start, _) = blanks(rest).map_err(failed)?;
        let Ok((after, field)) = item(start, &reading) else { break };
        slow.items.fields.extend(field);
        rest = after;
    }
    let at = rest.location_offset();
    let stopped = seam.map_or_else(|| reading.stopped().unwrap_or(at), |seam| seam + SEAM.len());
    slow.cut = seam.map(|seam| {
        let label = reading.stopped().and(slow.items.fields.last()).map(|field| field.name.clone());
        let path = label.into_iter().chain(Some(reading.path()).filter(|path| !path.is_empty()));
        Located::new(path.collect::<Vec<_>>().join("."), Span::new(seam + 1, seam + SEAM.len() - 1))
    });
    counters(&line[..end], stopped.min(end), &mut slow.items);
    Ok(slow)
}

/// Plan and counters at the end of `text`, none of them before `from`.
fn counters(text: &str, from: usize, items: &mut Document) {
    let start = from + tail(&text[from..]);
    let plan = memmem::rfind(&text.as_bytes()[from..start], b"planSummary: ").map(|at| from + at);
    if let Some((_, field)) = plan.and_then(|at| item(Text::new_extra(text, 0).take_from(at), &Reading::default()).ok())
    {
        items.fields.extend(field);
    }
    let mut rest = Text::new_extra(text, 0).take_from(start);
    while !rest.is_empty() {
        let Ok((input, _)) = blanks(rest) else { return };
        let Ok((after, field)) = item(input, &Reading::default()) else { return };
        items.fields.extend(field);
        rest = after;
    }
}

/// Where the counters at the end of `text` begin: seen from the right, everything that is `name:value`.
fn tail(text: &str) -> usize {
    let mut start = text.len();
    loop {
        let rest = text[..start].trim_end_matches(' ');
        let open = if rest.ends_with('}') { opening(rest) } else { Some(rest.len()) };
        let Some(word) = open.map(|open| rest[..open].rfind(' ').map_or(0, |at| at + 1)) else { return start };
        let label = &rest[word..];
        let is_plain = label.split_once(':').is_some_and(|(name, value)| is_label(name) && !value.is_empty());
        // 2.4 prints `numYields: 5`.
        let before = rest[..word].trim_end_matches(' ');
        let name = before.rfind(' ').map_or(0, |at| at + 1);
        let is_apart = label.bytes().all(|byte| byte.is_ascii_digit()) && !label.is_empty();
        start = match before[name..].strip_suffix(':') {
            _ if is_plain || label == "locks(micros)" => word,
            Some(apart) if is_apart && is_label(apart) => name,
            _ => return start,
        };
    }
}

/// The bracket that the one at the end of `text` closes.
fn opening(text: &str) -> Option<usize> {
    let mut depth = 0_usize;
    for (at, byte) in text.bytes().enumerate().rev() {
        match byte {
            b'}' => depth += 1,
            b'{' => {
                depth -= 1;
                if depth == 0 {
                    return Some(at);
                }
            }
            _ => {}
        }
    }
    None
}

fn is_label(name: &str) -> bool {
    name.starts_with(is_label_start) && name.bytes().all(|byte| is_label_char(byte as char))
}

fn is_label_start(c: char) -> bool {
    c.is_ascii_alphabetic() || c == '_'
}

fn is_label_char(c: char) -> bool {
    c.is_ascii_alphanumeric() || c == '_'
}

/// The offset at which the items end, and how long the operation took.
fn ended(input: Text<'_>) -> Result<(usize, Located<u64>), nom::Err<Failure>> {
    let Some((start, value)) = millis(input.into_fragment()) else {
        return Err(expected(input.take_from(input.len()), "how long it took, such as `120ms`"));
    };
    let digits = input.into_fragment()[start..].find('m').unwrap_or(0);
    let start = input.location_offset() + start;
    Ok((start, Located::new(value, Span::new(start, start + digits))))
}

/// Operation and namespace, which goes on up to the first item.
fn begin(input: Text<'_>, millis: Located<u64>) -> Step<'_, SlowText<'_>> {
    let (rest, word) = take_while(|c: char| c.is_ascii_lowercase())(input)?;
    if !OPERATIONS.contains(word.fragment()) || !rest.starts_with(' ') {
        return refuse(input, "an operation such as `query` or `command`");
    }
    let operation = Located::new(word.into_fragment(), between(input, rest));
    let text = rest.into_fragment();
    let starts_item = |rest: &Text<'_>| label(*rest).is_ok() || rest.starts_with("locks(micros)");
    let end = behind_each(b' ', rest).find(starts_item).map_or(text.len(), |item| text.len() - item.len());
    let name = text[..end].trim_matches(' ');
    let start = rest.location_offset() + text.len() - text.trim_start_matches(' ').len();
    let start = if name.is_empty() { rest.location_offset() } else { start };
    let namespace = Located::new(name, Span::new(start, start + name.len()));
    let after = rest.take_from(end - 1);
    Ok((after, SlowText { operation, namespace, items: Document::default(), millis, cut: None }))
}

/// `name:`
fn label(input: Text<'_>) -> Step<'_, Text<'_>> {
    let (rest, name) = recognize((satisfy(is_label_start), take_while(is_label_char))).parse(input)?;
    let (rest, _) = char(':')(rest)?;
    Ok((rest, name))
}

/// One item; words that label nothing are passed over.
fn item<'a>(input: Text<'a>, reading: &Reading) -> Step<'a, Option<Field>> {
    let labelled: Step<'_, Text<'_>> = label(input);
    let Ok((rest, name)) = labelled else { return unlabelled(input).map(|(rest, ())| (rest, None)) };
    let name_span = between(input, input.take_from(name.len()));
    let name = name.into_fragment();
    let (rest, _) = blanks(rest)?;
    let (rest, node) = match name {
        "command" => command(rest, reading)?,
        "planSummary" => {
            let (after, _) = plan::plans(rest)?;
            (after, text_node(rest, after, ""))
        }
        "exception" => return exception(rest),
        _ => item_value(rest, reading)?,
    };
    Ok((rest, Some(Field { name: name.to_owned(), name_span, node })))
}

/// `locks(micros)`, `moved`
fn unlabelled(input: Text<'_>) -> Step<'_, ()> {
    let word = take_while1(is_label_char);
    let parsed: Step<'_, _> = (word, opt(tag("(micros)")), char(' ')).parse(input);
    match parsed {
        Ok((rest, _)) => Ok((input.take_from(input.len() - rest.len() - 1), ())),
        Err(_) => refuse(input, "an item such as `planSummary:` or `nreturned:1`"),
    }
}

/// `find { find: "c" }`: the name stands again outside the braces.
fn command<'a>(input: Text<'a>, reading: &Reading) -> Step<'a, Node> {
    if input.starts_with('"') {
        return quoted(input);
    }
    let name = (take_while1(is_label_char), char(' '));
    let (rest, _) = opt(name).parse(input)?;
    document(rest, reading, 0)
}

/// The value of an item that nothing special is known of.
fn item_value<'a>(input: Text<'a>, reading: &Reading) -> Step<'a, Node> {
    match input.as_bytes().first() {
        Some(b'{') => document(input, reading, 0),
        Some(b'[') => array(input, reading, 0),
        Some(b'"') => quoted(input),
        _ => {
            let (rest, word) =
                take_while1(|c| c != ' ')(input).map_err(|_: nom::Err<Failure>| expected(input, "a value"))?;
            Ok((rest, text_node(input, rest, word.into_fragment())))
        }
    }
}

/// A word or a number from `start` to `end`.
fn text_node(start: Text<'_>, end: Text<'_>, word: &str) -> Node {
    let span = between(start, end);
    let text = &start.into_fragment()[..span.len()];
    let is_number = !word.is_empty() && word.bytes().all(|byte| byte.is_ascii_digit());
    let value = if is_number { value::number(word) } else { Value::String(text.to_owned()) };
    Node { value, span }
}

/// A text in quotes, which ends where another item begins.
fn quoted(input: Text<'_>) -> Step<'_, Node> {
    let ends = |rest: &Text<'_>| {
        let rest = *rest;
        let labelled = (char(' '), blanks, label);
        let mut labelled = labelled;
        let next: Step<'_, _> = labelled.parse(rest);
        next.is_ok()
            || millis(rest.into_fragment())
                .is_some_and(|(at, _)| rest.into_fragment()[..at].trim_matches(' ').is_empty())
    };
    let Some(rest) = behind_each(b'"', input.take_from(1)).find(ends) else { return refuse(input, "a text that ends") };
    let text = &input.into_fragment()[1..input.len() - rest.len() - 1];
    Ok((rest, Node { value: Value::String(text.to_owned()), span: between(input, rest) }))
}

/// `exception: <any text> code:11000`
fn exception(input: Text<'_>) -> Step<'_, Option<Field>> {
    let Some(at) = memmem::find(input.as_bytes(), b" code:") else { return refuse(input, "an error with its code") };
    let start = input.take_from(at + 1);
    let (digits, _) = (label, blanks).parse(start)?;
    let numbered: Step<'_, Text<'_>> = terminated(digit1, not(satisfy(|c| c != ' '))).parse(digits);
    let (rest, code) = numbered.map_err(|_| expected(digits, "the code of an error"))?;
    let node = Node { value: value::number(code.into_fragment()), span: between(digits, rest) };
    Ok((rest, Some(Field { name: "errCode".to_owned(), name_span: between(start, digits), node })))
}
