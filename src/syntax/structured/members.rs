//! The members of a JSON object of the line, still raw: a value is parsed only if somebody asks for it.

use std::borrow::Cow;
use std::fmt;

use serde::de::{DeserializeSeed, Deserializer, MapAccess, Visitor};
use serde_json::value::RawValue;

use crate::model::{Node, Value};
use crate::syntax::SyntaxError;
use crate::syntax::ext_json::{self, RawMembers};
use crate::text::{Located, Span};

/// One member: its name unescaped and raw, and its value.
#[derive(Debug, Clone)]
pub(super) struct Member<'a> {
    pub(super) name: Cow<'a, str>,
    pub(super) raw_name: &'a RawValue,
    pub(super) value: Content<'a>,
}

/// The value of a member.
#[derive(Debug, Clone)]
pub(super) enum Content<'a> {
    /// Delimited, and not looked into.
    Raw(&'a RawValue),
    /// An object that was opened while the line was read, which saves reading it again.
    Opened(Members<'a>),
}

/// The members of one object, in order. `line` is the physical line that all of them are slices of.
#[derive(Debug, Clone)]
pub(super) struct Members<'a> {
    pub(super) line: &'a str,
    pub(super) list: Vec<Member<'a>>,
}

impl<'a> Members<'a> {
    /// The members of the record that is the whole of `text`, a slice of `line`. The attributes and the commands among
    /// them are opened at once, if they are objects, as they nearly always are.
    pub(super) fn of_record(line: &'a str, text: &'a str) -> Result<Self, SyntaxError> {
        let mut deserializer = serde_json::Deserializer::from_str(text);
        let opened = Opening { line, level: 0 }.deserialize(&mut deserializer);
        match opened.and_then(|members| deserializer.end().map(|()| members)) {
            Ok(members) => Ok(members),
            Err(_) => Self::read(line, text),
        }
    }

    /// The members of the object that is the whole of `text`, a slice of `line`.
    fn read(line: &'a str, text: &'a str) -> Result<Self, SyntaxError> {
        let base = ext_json::span_in(line, 0, text).start as usize;
        let RawMembers(raw) = serde_json::from_str(text).map_err(|error| ext_json::malformed(text, base, &error))?;
        let list = raw.into_iter().map(|(name, value)| Member::new(name, Content::Raw(value)));
        Ok(Self { line, list: list.collect() })
    }

    /// The members of `raw`, if it is an object.
    pub(super) fn of(line: &'a str, raw: &'a RawValue) -> Option<Self> {
        raw.get().starts_with('{').then(|| Self::read(line, raw.get()).ok()).flatten()
    }

    /// The member of that name; of several the last, as JSON readers do.
    pub(super) fn member(&self, name: &str) -> Option<&Member<'a>> {
        self.list.iter().rev().find(|member| member.name == name)
    }

    /// The raw value of that name, unless it was opened.
    pub(super) fn raw(&self, name: &str) -> Option<&'a RawValue> {
        self.member(name)?.raw()
    }

    /// Whether there is a member of that name.
    pub(super) fn has(&self, name: &str) -> bool {
        self.member(name).is_some()
    }

    /// The members of the object of that name.
    pub(super) fn object(&self, name: &str) -> Option<Cow<'_, Members<'a>>> {
        match &self.member(name)?.value {
            Content::Raw(raw) => Members::of(self.line, raw).map(Cow::Owned),
            Content::Opened(members) => Some(Cow::Borrowed(members)),
        }
    }

    /// Where the value of that name stands.
    pub(super) fn place(&self, name: &str) -> Option<Span> {
        let member = self.member(name)?;
        match &member.value {
            Content::Raw(raw) => Some(self.span(raw.get())),
            Content::Opened(members) => {
                let name_end = self.span(member.raw_name.get()).end as usize;
                let start = name_end + self.line[name_end..].find('{')?;
                let inside = match members.list.last() {
                    Some(last) => self.span(last.raw()?.get()).end as usize,
                    None => start + 1,
                };
                Some(Span::new(start, inside + self.line[inside..].find('}')? + 1))
            }
        }
    }

    /// The parsed value of that name; `None` if it is nested too deeply.
    pub(super) fn node(&self, name: &str) -> Option<Node> {
        ext_json::parse_raw(self.line, 0, self.raw(name)?).ok()
    }

    /// The string of that name.
    pub(super) fn string(&self, name: &str) -> Option<Cow<'a, str>> {
        let text = self.raw(name)?.get();
        text.starts_with('"').then(|| decoded(text))
    }

    /// The whole number of that name, and where it stands.
    pub(super) fn number(&self, name: &str) -> Option<Located<i64>> {
        let raw = self.raw(name)?;
        let value = match raw.get().parse() {
            Ok(number) => number,
            Err(_) => self.node(name)?.as_i64()?,
        };
        Some(Located::new(value, self.span(raw.get())))
    }

    /// A counter: a number that is not negative.
    pub(super) fn counter(&self, name: &str) -> Option<Located<u64>> {
        let number = self.number(name)?;
        u64::try_from(number.value).ok().map(|value| Located::new(value, number.span))
    }

    /// Where `true` stands, if that is the value of that name.
    pub(super) fn truth(&self, name: &str) -> Option<Span> {
        self.raw(name).filter(|raw| raw.get() == "true").map(|raw| self.span(raw.get()))
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

impl<'a> Member<'a> {
    fn new(name: &'a RawValue, value: Content<'a>) -> Self {
        Self { name: decoded(name.get()), raw_name: name, value }
    }

    /// The raw value, unless it was opened.
    pub(super) fn raw(&self) -> Option<&'a RawValue> {
        match self.value {
            Content::Raw(raw) => Some(raw),
            Content::Opened(_) => None,
        }
    }
}

/// Reads an object, and opens the objects of the names that are listed for its level.
#[derive(Clone, Copy)]
struct Opening<'a> {
    line: &'a str,
    level: usize,
}

impl<'a> DeserializeSeed<'a> for Opening<'a> {
    type Value = Members<'a>;

    fn deserialize<D: Deserializer<'a>>(self, deserializer: D) -> Result<Self::Value, D::Error> {
        deserializer.deserialize_map(self)
    }
}

impl<'a> Visitor<'a> for Opening<'a> {
    type Value = Members<'a>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an object")
    }

    fn visit_map<A: MapAccess<'a>>(self, mut map: A) -> Result<Self::Value, A::Error> {
        const OPENED: [&[&str]; 3] = [&["\"attr\""], &["\"command\"", "\"originatingCommand\""], &[]];
        let mut list = Vec::with_capacity(24);
        while let Some(name) = map.next_key::<&'a RawValue>()? {
            let value = if OPENED[self.level].contains(&name.get()) {
                Content::Opened(map.next_value_seed(Self { level: self.level + 1, ..self })?)
            } else {
                Content::Raw(map.next_value()?)
            };
            list.push(Member::new(name, value));
        }
        Ok(Members { line: self.line, list })
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
