//! The text log of MongoDB 2.2 to 4.2: columns, then words.
//!
//! A slow operation is read item by item and then seen as the structured record that a later server would have written, so
//! that everything behind that is the same. Other lines count; the few that tell version and role are read.

pub mod bounds;
mod document;
mod header;
mod items;
mod plain;
pub mod plan;
mod slow;
pub(in crate::syntax) mod spelling;
mod value;

use nom::Input;
use nom::bytes::complete::tag;
use nom::character::complete::{char, digit1};
use nom::combinator::opt;
use nom::{Parser, branch::alt};

use crate::model::{Document, Node, Value};

use super::error::SyntaxError;
use super::record::{Fact, Record};
use super::shell::{Step, Text, complaint, must};
use super::structured;

pub(super) use items::OPERATIONS;
pub(super) use slow::attributes;

/// Reads a value in the text log's syntax that is the whole of `text` and has no other reading. Its spans are not those of
/// `text`.
#[must_use]
pub fn whole_value(text: &str) -> Option<Node> {
    plain::whole(text).or_else(|| by_itself(text))
}

/// The item at that place of the array that `text` is; `None` if there is none, or if it has several readings.
#[must_use]
pub fn item(text: &str, at: usize) -> Option<Node> {
    plain::item(text, at)
}

fn by_itself(text: &str) -> Option<Node> {
    // What a value is depends on what stands around it.
    let document = whole_document(&format!("{{ x: {text} }}"))?;
    let Value::Document(Document { fields, .. }) = document.value else { return None };
    let [field]: [_; 1] = fields.try_into().ok()?;
    Some(field.node)
}

/// Reads a document of the text log's syntax as far as it goes; what is not read makes it partial.
pub(super) fn cut_document(text: &str) -> Option<Node> {
    let (_, node) = document::document(Text::new_extra(text, 0), &document::Reading::tolerant(), 0).ok()?;
    Some(node)
}

/// Reads a document of the text log's syntax that is the whole of `text` and has no other reading; spans are those of `text`.
fn whole_document(text: &str) -> Option<Node> {
    let (rest, node) = document::document(Text::new_extra(text, 0), &document::Reading::default(), 0).ok()?;
    let is_whole = rest.is_empty() && node.as_document().is_some_and(|document| !document.partial);
    is_whole.then_some(node)
}

/// Reads a line of the text log; `None` if it does not begin as one.
#[must_use]
pub(super) fn read(line: &str) -> Option<Record> {
    let end = line.trim_end_matches(|c: char| c.is_ascii_whitespace() || c == '\0').len();
    let line = &line[..end];
    let start = line.len() - line.trim_start_matches(['\u{feff}', '\0']).len();
    let (text, header) = header::header(Text::new_extra(line, 0).take_from(start)).ok()?;
    let overlong = overlong(text).ok().map(|(rest, ())| rest);
    let body = overlong.unwrap_or(text);
    if !items::is_slow(body.fragment()) {
        let fact = match fact(body.into_fragment()) {
            Fact::Plain if header.context.is_empty() => Fact::Vague,
            fact => fact,
        };
        return Some(Record::Other(fact));
    }
    let read = match overlong {
        Some(body) => items::in_part(line, body),
        None => items::whole(line, body).or_else(|error| {
            let part = items::in_part(line, body)?;
            if part.items.fields.is_empty() { Err(error) } else { Ok(part) }
        }),
    };
    Some(match read {
        Ok(slow) => Record::Slow(Box::new(slow::event(line, &header, slow))),
        Err(error) => Record::Bad(error),
    })
}

/// Reads only the form of a line with a slow operation, strictly: the language of `grammar/legacy_line.pest`.
///
/// # Errors
/// If `line` is not of that form.
pub fn parse_form(line: &str) -> Result<(), SyntaxError> {
    let columns =
        must(Text::new_extra(line, 0), "stamp and thread of a log line", header::header(Text::new_extra(line, 0)));
    let (text, _) = columns.map_err(|error| complaint(line, 0, error))?;
    items::whole(line, text).map(|_| ())
}

/// `warning: log line attempted (54k) over max size (10k), printing beginning and end ... `
fn overlong(input: Text<'_>) -> Step<'_, ()> {
    fn size(input: Text<'_>) -> Step<'_, ()> {
        let (rest, _) = (char('('), digit1, alt((tag("kB"), tag("k"))), char(')')).parse(input)?;
        Ok((rest, ()))
    }
    let (rest, _) = (tag("warning: log line attempted "), size, tag(" over max size "), size).parse(input)?;
    let (rest, _) = (opt(char(',')), tag(" printing beginning and end ... ")).parse(rest)?;
    Ok((rest, ()))
}

/// What a line without a slow operation tells about the process.
fn fact(text: &str) -> Fact {
    if text.starts_with("***** SERVER RESTARTED *****") {
        return Fact::Restart;
    }
    if let Some(version) = text.strip_prefix("db version v").or_else(|| text.strip_prefix("mongos db version v")) {
        let version = version.split([' ', ',']).next().unwrap_or_default();
        return version.parse().map_or(Fact::Plain, Fact::Version);
    }
    let Some(options) = text.strip_prefix("options: ") else { return Fact::Plain };
    let read = document::document(Text::new_extra(options, 0), &document::Reading::tolerant(), 0);
    read.ok().and_then(|(_, options)| structured::role(&options)).unwrap_or(Fact::Plain)
}
