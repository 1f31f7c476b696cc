//! Intervals of `indexBounds` as explain prints them in strings: `[5, 5]`, `("a", MaxKey]`, `[new Date(0), inf.0)`.
//! Their values are spelled as in legacy documents, with nothing escaped. The language is that of
//! `grammar/index_bounds.pest`.

use nom::branch::alt;
use nom::bytes::complete::tag;
use nom::character::complete::char;
use nom::{Err, Parser};

use crate::model::{IndexInterval, Node, Value};
use crate::syntax::error::SyntaxError;
use crate::syntax::shell::{Failure, Step, Text, between, complaint};

use super::document::{Place, Reading, array, document, ends_by_itself, expected, group, regex, string};

/// Reads an interval that is the whole of `text`; spans are those of `text`, moved by `base` bytes.
///
/// # Errors
/// If `text` is no interval: where reading failed and what was expected there.
pub fn parse(text: &str, base: usize) -> Result<IndexInterval, SyntaxError> {
    interval(Text::new_extra(text, base)).map(|(_, interval)| interval).map_err(|error| complaint(text, base, error))
}

fn interval(input: Text<'_>) -> Step<'_, IndexInterval> {
    let open: Step<'_, char> = alt((char('['), char('('))).parse(input);
    let (rest, open) = open.map_err(|_: Err<Failure>| expected(input, "`[` or `(`"))?;
    let (rest, first) = value(rest, Place::First)?;
    let comma: Step<'_, Text<'_>> = tag(", ")(rest);
    let (rest, _) = comma.map_err(|_: Err<Failure>| expected(rest, "`, ` and the other end"))?;
    let (rest, last) = value(rest, Place::Last)?;
    let close: Step<'_, char> = alt((char(']'), char(')'))).parse(rest);
    let (rest, close) = close.map_err(|_: Err<Failure>| expected(rest, "`]` or `)`"))?;
    if !rest.is_empty() {
        return Err(expected(rest, "the end"));
    }
    Ok((rest, IndexInterval { first: (first, open == '['), last: (last, close == ']') }))
}

fn value(input: Text<'_>, place: Place) -> Step<'_, Node> {
    match input.chars().next() {
        Some('{') => return document(input, &Reading::default(), 0),
        Some('[') => return array(input, &Reading::default(), 0),
        Some('"') => return string(input, place).map(|(rest, (node, _))| (rest, node)),
        _ => {}
    }
    let read = ends_by_itself(input).or_else(|_| collation_key(input)).or_else(|_| regex(input, place));
    let (rest, value) = read.map_err(|_| expected(input, "a value"))?;
    Ok((rest, Node { value, span: between(input, rest) }))
}

/// What a string is compared by under a collation says nothing about the string.
fn collation_key(input: Text<'_>) -> Step<'_, Value> {
    let (rest, _) = tag("CollationKey")(input)?;
    let (rest, _) = group(rest, b"(", b")")?;
    Ok((rest, Value::Redacted))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn intervals_of_real_explains_are_read_with_their_ends() {
        for (text, first, last) in [
            ("[5, 5]", true, true),
            ("(-inf.0, 1.5)", false, false),
            ("[\"a\", \"b\")", true, false),
            ("[\"say \"x\" y\", \"z\"]", true, true),
            ("[MinKey, MaxKey]", true, true),
            ("[MaxKey, MinKey]", true, true),
            ("[new Date(1796026781000), ObjectId('6b0d36d1f6ae615295ebb65e')]", true, true),
            ("[CollationKey(0x2c), CollationKey(0x2c)]", true, true),
            ("[/a, b/, /a, b/i]", true, true),
            ("[{ a: 1, b: [ 2 ] }, []]", true, true),
            ("[undefined, null]", true, true),
        ] {
            let interval = parse(text, 0).unwrap_or_else(|error| panic!("{text}: {error}"));
            assert_eq!((interval.first.1, interval.last.1), (first, last), "{text}");
            let span = interval.first.0.span.join(interval.last.0.span);
            assert_eq!(&text[span.range()], &text[1..text.len() - 1]);
        }
    }

    #[test]
    fn what_is_no_interval_is_refused_where_it_goes_wrong() {
        for (text, at) in [("", 0), ("5, 5", 0), ("[5]", 2), ("[5, 5", 5), ("[5, ]", 4), ("[5, 5] ", 6), ("[a, b]", 1)]
        {
            let error = parse(text, 0).expect_err(text);
            assert_eq!(error.span.start, at, "{text}: {error}");
        }
    }
}
