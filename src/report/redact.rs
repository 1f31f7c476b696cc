//! A report without the literals of queries: types stand in their place, for reports that are shared. Places stay true.
//! What is shown is written anew from the parsed record, in which only names, counters and the server's own words are kept;
//! of a record that cannot be parsed, only what the labels point at. Declarations are the team's own files and stay as
//! they are.

use std::borrow::Cow;
use std::ops::Range;

use super::data::{Diagnostic, Example, ExampleLabel, Report};
use crate::model::{Document, Node, Value};
use crate::rules::{has_literals, with_literals, without_literals};
use crate::syntax::{ext_json, shell};

/// The report as it is shown: with the literals that findings quote, or with types in their place and in the examples.
pub fn shown(report: &Report, redact: bool) -> Cow<'_, Report> {
    if redact {
        return Cow::Owned(redacted(report));
    }
    if !report.diagnostics.iter().any(quotes) {
        return Cow::Borrowed(report);
    }
    let mut shown = report.clone();
    shown.diagnostics.iter_mut().for_each(|diagnostic| reword(diagnostic, with_literals));
    Cow::Owned(shown)
}

fn redacted(report: &Report) -> Report {
    let mut shared = report.clone();
    for diagnostic in &mut shared.diagnostics {
        reword(diagnostic, without_literals);
        diagnostic.comment = diagnostic.sent_from().map(|place| place.to_string());
        if !diagnostic.example.is_declaration {
            diagnostic.example = example(diagnostic);
        }
    }
    shared
}

fn quotes(diagnostic: &Diagnostic) -> bool {
    let labels = diagnostic.example.labels.iter().map(|label| label.text.as_str());
    let mut texts = labels.chain([diagnostic.message.as_str()]).chain(diagnostic.help.as_deref());
    texts.any(has_literals)
}

fn reword(diagnostic: &mut Diagnostic, word: fn(&str) -> Cow<'_, str>) {
    let labels = diagnostic.example.labels.iter_mut().map(|label| &mut label.text);
    for text in labels.chain([&mut diagnostic.message]).chain(&mut diagnostic.help) {
        *text = word(text).into_owned();
    }
}

fn example(diagnostic: &Diagnostic) -> Example {
    let example = &diagnostic.example;
    let (record, places) = match typed_record(&example.record) {
        Some(writer) => {
            let places = example.labels.iter().map(|label| writer.place(label.start..label.end)).collect();
            (writer.out, places)
        }
        None => fragments(diagnostic),
    };
    let labels = example.labels.iter().zip(places).map(|(label, place)| match label.other_source {
        Some(_) => label.clone(),
        None => ExampleLabel {
            snippet: record.as_bytes()[place.clone()].to_vec(),
            start: place.start,
            end: place.end,
            ..label.clone()
        },
    });
    Example { labels: labels.collect(), record: record.into_bytes().into(), ..*example }
}

/// The record as a JSON-like text; `None` if it is no JSON.
fn typed_record(record: &[u8]) -> Option<Writer<'_>> {
    let text = std::str::from_utf8(record).ok()?;
    // A container or syslog may have put a prefix before the object.
    let start = text.find('{')?;
    let object = text[start..].trim_end_matches(|c: char| c.is_ascii_whitespace() || c == '\0');
    let node = ext_json::parse(object, start).ok()?;
    let mut writer = Writer { source: text, out: String::new(), places: Vec::new() };
    writer.node(&node, Part::Record);
    Some(writer)
}

/// Only what the labels point at, each typed by itself.
fn fragments(diagnostic: &Diagnostic) -> (String, Vec<Range<usize>>) {
    let mut record = String::new();
    let mut places = Vec::new();
    for label in &diagnostic.example.labels {
        if !record.is_empty() {
            record.push_str(" … ");
        }
        let start = record.len();
        record.push_str(&fragment(&label.snippet, diagnostic));
        places.push(start..record.len());
    }
    (record, places)
}

fn fragment(snippet: &[u8], diagnostic: &Diagnostic) -> String {
    let Ok(text) = std::str::from_utf8(snippet) else { return "<bytes>".to_owned() };
    if diagnostic.operation == Some(text) || PLAN_STAGES.contains(&text) {
        return text.to_owned();
    }
    match shell::parse(text, 0) {
        Ok(node) => {
            let mut writer = Writer { source: text, out: String::new(), places: Vec::new() };
            writer.node(&node, Part::Data);
            writer.out
        }
        Err(_) => "<text>".to_owned(),
    }
}

/// Plan summaries that name no index.
const PLAN_STAGES: [&str; 6] = ["COLLSCAN", "EOF", "IDHACK", "COUNT_SCAN", "DISTINCT_SCAN", "EXPRESS"];

/// What a document of a log record is, and so what of it may be shown.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Part {
    /// The record itself.
    Record,
    /// `attr`: namespace, plan and counters are the server's words.
    Attributes,
    /// `locks`, `storage`: counters all through.
    Counters,
    /// A command: its first member names the collection.
    Command,
    /// Whatever a client sent.
    Data,
}

impl Part {
    /// What the member `name` of such a document is; `None` if it may be shown as it is.
    fn member(self, name: &str, value: &Value, is_first: bool) -> Option<Self> {
        let is_text = matches!(value, Value::String(_));
        let is_counter = matches!(value, Value::Int32(_) | Value::Int64(_) | Value::Double(_) | Value::Bool(_));
        match (self, name) {
            (Self::Record, "attr") => Some(Self::Attributes),
            (Self::Record, "t" | "s" | "c" | "id" | "ctx") => None,
            (Self::Attributes, "command" | "originatingCommand") => Some(Self::Command),
            (Self::Attributes, "locks" | "storage" | "flowControl") => Some(Self::Counters),
            (Self::Attributes, "ns" | "type" | "planSummary" | "queryHash" | "planCacheKey" | "protocol")
                if is_text =>
            {
                None
            }
            (Self::Attributes | Self::Counters, _) if is_counter => None,
            (Self::Counters, _) => Some(Self::Counters),
            (Self::Command, "$db") if is_text => None,
            (Self::Command, _) if is_first && is_text => None,
            _ => Some(Self::Data),
        }
    }
}

/// Writes a value anew, and remembers what went where.
struct Writer<'a> {
    source: &'a str,
    out: String,
    /// Ranges of the source and what they became, and whether it is the same text.
    places: Vec<(Range<usize>, Range<usize>, bool)>,
}

impl Writer<'_> {
    fn node(&mut self, node: &Node, part: Part) {
        let start = self.out.len();
        match &node.value {
            Value::Document(document) => self.document(document, part),
            Value::Array(array) => {
                self.out.push('[');
                for (at, item) in array.items.iter().enumerate() {
                    self.out.push_str(if at > 0 { "," } else { "" });
                    self.node(item, Part::Data);
                }
                self.out.push(']');
            }
            value => self.out.push_str(&type_of(value)),
        }
        self.places.push((node.span.range(), start..self.out.len(), false));
    }

    fn document(&mut self, document: &Document, part: Part) {
        self.out.push('{');
        for (at, field) in document.fields.iter().enumerate() {
            self.out.push_str(if at > 0 { "," } else { "" });
            self.kept(field.name_span.range());
            self.out.push(':');
            match part.member(&field.name, &field.node.value, at == 0) {
                Some(part) => self.node(&field.node, part),
                None => self.kept(field.node.span.range()),
            }
        }
        self.out.push('}');
    }

    fn kept(&mut self, range: Range<usize>) {
        let start = self.out.len();
        self.out.push_str(self.source.get(range.clone()).unwrap_or_default());
        self.places.push((range, start..self.out.len(), true));
    }

    /// Where a range of the source went: exactly, or with the smallest value that holds it.
    fn place(&self, range: Range<usize>) -> Range<usize> {
        let holds = |from: &Range<usize>| from.start <= range.start && range.end <= from.end;
        let smallest = self.places.iter().filter(|(from, ..)| holds(from)).min_by_key(|(from, ..)| from.len());
        match smallest {
            Some((from, to, true)) => to.start + range.start - from.start..to.start + range.end - from.start,
            Some((_, to, false)) => to.clone(),
            None => 0..self.out.len(),
        }
    }
}

/// The type's name; a type of one value is that value.
fn type_of(value: &Value) -> Cow<'static, str> {
    match value {
        Value::Undefined | Value::Null => Cow::Borrowed(value.type_name()),
        Value::MinKey => Cow::Borrowed("MinKey"),
        Value::MaxKey => Cow::Borrowed("MaxKey"),
        Value::Redacted => Cow::Borrowed("###"),
        value => Cow::Owned(format!("<{}>", value.type_name())),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn typed(record: &str) -> String {
        typed_record(record.as_bytes()).expect("JSON").out
    }

    #[test]
    fn names_and_counters_stay_and_literals_become_types() {
        let record = r#"{"t":{"$date":"2024-05-14T09:12:03.481Z"},"s":"I","c":"COMMAND","id":51803,"ctx":"conn1","msg":"Slow query","attr":{"type":"command","ns":"shop.orders","appName":"secret","command":{"find":"orders","filter":{"a":"secret","b":{"$in":[1,2.5,{"$oid":"0123456789abcdef01234567"}]},"c":null},"$db":"shop"},"planSummary":"COLLSCAN","errMsg":"secret","nShards":4,"locks":{"r":{"w":1}},"durationMillis":310}}"#;
        assert_eq!(
            typed(record),
            r#"{"t":{"$date":"2024-05-14T09:12:03.481Z"},"s":"I","c":"COMMAND","id":51803,"ctx":"conn1","msg":<string>,"attr":{"type":"command","ns":"shop.orders","appName":<string>,"command":{"find":"orders","filter":{"a":<string>,"b":{"$in":[<int>,<double>,<objectId>]},"c":null},"$db":"shop"},"planSummary":"COLLSCAN","errMsg":<string>,"nShards":4,"locks":{"r":{"w":1}},"durationMillis":310}}"#
        );
    }

    #[test]
    fn a_command_whose_name_has_no_text_shows_only_its_type() {
        assert_eq!(
            typed(r#"{"attr":{"command":{"find":7,"x":"secret"}}}"#),
            r#"{"attr":{"command":{"find":<int>,"x":<string>}}}"#
        );
    }

    #[test]
    fn a_range_goes_with_the_smallest_value_that_holds_it() {
        let record = r#"{"attr":{"planSummary":"IXSCAN { a: 1 }","command":{"find":"c","filter":{"a":"secret"}}}}"#;
        let writer = typed_record(record.as_bytes()).expect("JSON");
        let shown = |text: &str| {
            let start = record.find(text).expect("in the record");
            &writer.out[writer.place(start..start + text.len())]
        };
        assert_eq!(shown("IXSCAN { a: 1 }"), "IXSCAN { a: 1 }");
        assert_eq!(shown(r#"{"a":"secret"}"#), r#"{"a":<string>}"#);
        assert_eq!(shown("secret"), "<string>");
        assert_eq!(shown("\"filter\""), "\"filter\"");
    }
}
