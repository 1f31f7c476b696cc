//! The members of an object of the line, still raw: JSON is parsed only if somebody asks for a value. What the reader of
//! legacy text has parsed already is seen through the same methods, so that everything behind them is written once.

use std::borrow::Cow;

use crate::model::{Document, Field, Node, Value};
use crate::syntax::SyntaxError;
use crate::syntax::ext_json;
use crate::text::{Located, Span};

/// A value of the line.
#[derive(Debug, Clone, Copy)]
pub(super) enum Raw<'a> {
    /// JSON that nobody has asked for yet.
    Json(&'a str),
    /// A value that is parsed already.
    Read(&'a Node),
}

impl<'a> Raw<'a> {
    /// Where it stands in `line`.
    pub(super) fn span(self, line: &str) -> Span {
        match self {
            Raw::Json(raw) => ext_json::span_in(line, 0, raw),
            Raw::Read(node) => node.span,
        }
    }

    /// Its text in `line`.
    pub(super) fn text(self, line: &'a str) -> &'a str {
        match self {
            Raw::Json(raw) => raw,
            Raw::Read(node) => &line[node.span.range()],
        }
    }

    /// The parsed value; `None` if it is nested too deeply.
    pub(super) fn node(self, line: &str) -> Option<Node> {
        match self {
            Raw::Json(raw) => ext_json::parse_part(line, raw).ok(),
            Raw::Read(node) => Some(node.clone()),
        }
    }

    /// The text of a string.
    pub(super) fn string(self) -> Option<Cow<'a, str>> {
        match self {
            Raw::Json(raw) => raw.starts_with('"').then(|| decoded(raw)),
            Raw::Read(node) => node.as_str().map(Cow::Borrowed),
        }
    }

    /// Whether it is a document or an array; a UUID is none, though JSON spells it as one.
    pub(super) fn has_members(self) -> bool {
        match self {
            Raw::Json(raw) => raw.starts_with('[') || raw.starts_with('{') && !raw.contains("\"$uuid\""),
            Raw::Read(node) => matches!(node.value, Value::Document(_) | Value::Array(_)),
        }
    }

    fn is_true(self) -> bool {
        match self {
            Raw::Json(raw) => raw == "true",
            Raw::Read(node) => matches!(node.value, Value::Bool(true)),
        }
    }
}

/// One member: its name, where that stands, and its value.
#[derive(Debug, Clone)]
pub(super) struct Member<'a> {
    pub(super) name: Cow<'a, str>,
    pub(super) name_span: Span,
    pub(super) value: Raw<'a>,
}

/// The members of one object, in order. `line` is the physical line that all of them stand in.
#[derive(Debug, Clone)]
pub(super) struct Members<'a> {
    pub(super) line: &'a str,
    pub(super) list: Vec<Member<'a>>,
    /// Members after the last one may have been lost.
    pub(super) partial: bool,
}

impl<'a> Members<'a> {
    /// The members of the object that is the whole of `text`, a slice of `line`.
    pub(super) fn read(line: &'a str, text: &'a str) -> Result<Self, SyntaxError> {
        let base = ext_json::span_in(line, 0, text).start as usize;
        let raw = ext_json::raw_members(text).map_err(|error| ext_json::malformed(text, base, &error))?;
        let member = |(name, value): (&'a str, &'a str)| Member {
            name: decoded(name),
            name_span: ext_json::span_in(line, 0, name),
            value: Raw::Json(value),
        };
        Ok(Self { line, list: raw.into_iter().map(member).collect(), partial: false })
    }

    /// The members of `raw`, if it is an object.
    pub(super) fn of(line: &'a str, raw: Raw<'a>) -> Option<Self> {
        match raw {
            Raw::Json(raw) => raw.starts_with('{').then(|| Self::read(line, raw).ok()).flatten(),
            Raw::Read(node) => node.as_document().map(|document| Self::of_document(line, document)),
        }
    }

    /// The members of a document that was read from `line`.
    pub(super) fn of_document(line: &'a str, document: &'a Document) -> Self {
        let member = |field: &'a Field| Member {
            name: Cow::Borrowed(&field.name),
            name_span: field.name_span,
            value: Raw::Read(&field.node),
        };
        Self { line, list: document.fields.iter().map(member).collect(), partial: document.partial }
    }

    /// The member of that name; of several the last, as JSON readers do.
    pub(super) fn member(&self, name: &str) -> Option<&Member<'a>> {
        self.list.iter().rev().find(|member| member.name == name)
    }

    /// The raw value of that name.
    pub(super) fn raw(&self, name: &str) -> Option<Raw<'a>> {
        self.member(name).map(|member| member.value)
    }

    /// Whether there is a member of that name.
    pub(super) fn has(&self, name: &str) -> bool {
        self.member(name).is_some()
    }

    /// The members of the object of that name.
    pub(super) fn object(&self, name: &str) -> Option<Members<'a>> {
        Members::of(self.line, self.raw(name)?)
    }

    /// The parsed value of that name; `None` if it is nested too deeply.
    pub(super) fn node(&self, name: &str) -> Option<Node> {
        self.raw(name)?.node(self.line)
    }

    /// The string of that name.
    pub(super) fn string(&self, name: &str) -> Option<Cow<'a, str>> {
        self.raw(name)?.string()
    }

    /// The whole number of that name, and where it stands.
    pub(super) fn number(&self, name: &str) -> Option<Located<i64>> {
        let raw = self.raw(name)?;
        let value = match raw.text(self.line).parse() {
            Ok(number) => number,
            Err(_) => self.node(name)?.as_i64()?,
        };
        Some(Located::new(value, raw.span(self.line)))
    }

    /// A counter: a number that is not negative.
    pub(super) fn counter(&self, name: &str) -> Option<Located<u64>> {
        let number = self.number(name)?;
        u64::try_from(number.value).ok().map(|value| Located::new(value, number.span))
    }

    /// Where `true` stands, if that is the value of that name.
    pub(super) fn truth(&self, name: &str) -> Option<Span> {
        self.raw(name).filter(|raw| raw.is_true()).map(|raw| raw.span(self.line))
    }

    /// The time of that name in milliseconds since 1970: `{"$date": …}` or its bare text.
    pub(super) fn time_millis(&self, name: &str) -> Option<i64> {
        match self.node(name)?.value {
            Value::Date(millis) => Some(millis),
            Value::String(text) => text.parse::<jiff::Timestamp>().ok().map(jiff::Timestamp::as_millisecond),
            _ => None,
        }
    }

    /// Where `part`, a slice of the line, stands.
    pub(super) fn span(&self, part: &str) -> Span {
        ext_json::span_in(self.line, 0, part)
    }
}

/// The text of a JSON string, borrowed where nothing is escaped.
fn decoded(quoted: &str) -> Cow<'_, str> {
    let inner = &quoted[1..quoted.len() - 1];
    if !inner.contains('\\') {
        return Cow::Borrowed(inner);
    }
    // A lone surrogate cannot be decoded; the escaped text is as good a name as any.
    serde_json::from_str(quoted).map_or(Cow::Borrowed(inner), Cow::Owned)
}
