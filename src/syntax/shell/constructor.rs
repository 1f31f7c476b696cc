//! The types that both shells name: `ObjectId("…")`, `ISODate("…")`, `NumberLong(5)`, `Binary.createFromBase64("…")` …
//! One table from names to functions of the arguments; a wrong argument is told in place.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD as BASE64;
use jiff::civil;
use jiff::tz::TimeZone;

use crate::model::{Decimal128, Document, Field, Node, Value};
use crate::syntax::error::SyntaxError;
use crate::syntax::ext_json;
use crate::text::Span;

use super::evaluate::number;

/// What a name stands for that needs no arguments.
pub(super) fn constant(name: &str) -> Option<Value> {
    Some(match name {
        "true" => Value::Bool(true),
        "false" => Value::Bool(false),
        "null" => Value::Null,
        "undefined" => Value::Undefined,
        "NaN" => Value::Double(f64::NAN),
        "Infinity" => Value::Double(f64::INFINITY),
        "MinKey" => Value::MinKey,
        "MaxKey" => Value::MaxKey,
        _ => return None,
    })
}

/// The value that a type of the shell makes of its arguments; `span` is that of the whole call.
pub(super) fn call(name: &str, arguments: &[Node], span: Span) -> Result<Value, SyntaxError> {
    let given = Arguments { all: arguments, span };
    match name {
        "ObjectId" | "ObjectID" => object_id(&given),
        "ISODate" | "Date" => date(&given),
        "Date.now" => Ok(Value::Double(now_millis())),
        "NumberLong" | "Long" | "Long.fromString" | "Long.fromNumber" => given.whole(i64::MIN).map(Value::Int64),
        "NumberInt" | "Int32" => int32(&given),
        "Double" | "NumberDouble" => given.double().map(Value::Double),
        "Number" => given.double().map(number),
        "NumberDecimal" | "Decimal128" | "Decimal128.fromString" => decimal(&given),
        "UUID" | "LUUID" | "CSUUID" | "JUUID" => uuid(name, &given),
        "BinData" => binary(given.subtype(0)?, given.text(1, "base64")?, &given, 1, base64),
        "HexData" => binary(given.subtype(0)?, given.text(1, "hexadecimal digits")?, &given, 1, ext_json::hex),
        "Binary.createFromBase64" => binary(given.subtype(1)?, given.text(0, "base64")?, &given, 0, base64),
        "Binary.createFromHexString" => {
            binary(given.subtype(1)?, given.text(0, "hexadecimal digits")?, &given, 0, ext_json::hex)
        }
        "MD5" => binary(5, given.text(0, "hexadecimal digits")?, &given, 0, ext_json::hex),
        "Buffer.from" => buffer(&given),
        "Binary" => rebranded(&given),
        "Timestamp" => timestamp(&given),
        "MinKey" => Ok(Value::MinKey),
        "MaxKey" => Ok(Value::MaxKey),
        "RegExp" | "BSONRegExp" => regex(&given),
        "Symbol" | "BSONSymbol" => given.text(0, "a string").map(|text| Value::Symbol(text.to_owned())),
        "String" => given.text(0, "a string").map(|text| Value::String(text.to_owned())),
        "Code" => code(&given),
        "DBRef" => db_ref(&given),
        "DBPointer" => db_pointer(&given),
        _ => Err(SyntaxError::new(
            span,
            format!("`{name}` is not a value; expected a literal or a type of the shell, such as `ObjectId(…)`"),
        )),
    }
}

/// The arguments of one call.
struct Arguments<'a> {
    all: &'a [Node],
    span: Span,
}

impl<'a> Arguments<'a> {
    fn get(&self, index: usize) -> Option<&'a Node> {
        self.all.get(index)
    }

    /// A complaint about one argument, or about the call if it is missing.
    fn expected<T>(&self, index: usize, what: &str) -> Result<T, SyntaxError> {
        let span = self.get(index).map_or(self.span, |node| node.span);
        Err(SyntaxError::new(span, format!("expected {what}")))
    }

    fn text(&self, index: usize, what: &str) -> Result<&'a str, SyntaxError> {
        self.get(index).and_then(Node::as_str).map_or_else(|| self.expected(index, what), Ok)
    }

    /// A whole number, or text of one, not below `least`.
    fn whole(&self, least: i64) -> Result<i64, SyntaxError> {
        let found = match self.get(0) {
            None => Some(0),
            Some(node) => node.as_str().map_or_else(|| node.as_i64(), |text| text.trim().parse().ok()),
        };
        found.filter(|n| *n >= least).map_or_else(|| self.expected(0, "a whole number"), Ok)
    }

    fn double(&self) -> Result<f64, SyntaxError> {
        #[allow(clippy::cast_precision_loss)]
        let found = match self.get(0).map(|node| &node.value) {
            Some(Value::String(text)) => text.trim().parse().ok(),
            Some(Value::Double(x)) => Some(*x),
            Some(Value::Int32(n)) => Some(f64::from(*n)),
            Some(Value::Int64(n)) => Some(*n as f64),
            _ => None,
        };
        found.map_or_else(|| self.expected(0, "a number"), Ok)
    }

    /// A binary subtype; 0 if absent.
    fn subtype(&self, index: usize) -> Result<u8, SyntaxError> {
        let Some(node) = self.get(index) else { return Ok(0) };
        node.as_i64()
            .and_then(|n| u8::try_from(n).ok())
            .map_or_else(|| self.expected(index, "a subtype from 0 to 255"), Ok)
    }
}

#[allow(clippy::cast_precision_loss)]
fn now_millis() -> f64 {
    jiff::Timestamp::now().as_millisecond() as f64
}

/// Without an argument the shell makes a new one, which begins with the seconds since 1970.
fn object_id(given: &Arguments<'_>) -> Result<Value, SyntaxError> {
    let Some(node) = given.get(0) else {
        let seconds = u32::try_from(jiff::Timestamp::now().as_second()).unwrap_or(u32::MAX);
        let mut id = [0; 12];
        id[..4].copy_from_slice(&seconds.to_be_bytes());
        return Ok(Value::ObjectId(id));
    };
    let id = match &node.value {
        Value::ObjectId(id) => Some(*id),
        _ => node.as_str().and_then(ext_json::object_id),
    };
    id.map(Value::ObjectId).map_or_else(|| given.expected(0, "24 hexadecimal digits"), Ok)
}

/// A date from text, from milliseconds, or from year, month (0 to 11), day, hour, minute, second, millisecond.
fn date(given: &Arguments<'_>) -> Result<Value, SyntaxError> {
    let millis = match given.all {
        [] => Some(jiff::Timestamp::now().as_millisecond()),
        [Node { value: Value::Date(millis), .. }] => Some(*millis),
        [node] => node.as_str().map_or_else(|| node.as_i64(), date_from_text),
        parts => date_from_parts(parts),
    };
    millis.map(Value::Date).map_or_else(|| given.expected(0, "a date such as `2024-01-31T12:00:00Z`"), Ok)
}

/// ISO 8601 in its long and short form; without an offset it is UTC.
fn date_from_text(text: &str) -> Option<i64> {
    if let Ok(timestamp) = text.parse::<jiff::Timestamp>() {
        return Some(timestamp.as_millisecond());
    }
    let local = text.strip_suffix('Z').unwrap_or(text);
    let datetime = local.parse::<civil::DateTime>().ok()?;
    Some(TimeZone::UTC.to_timestamp(datetime).ok()?.as_millisecond())
}

fn date_from_parts(parts: &[Node]) -> Option<i64> {
    let part = |index: usize, absent: i64| parts.get(index).map_or(Some(absent), Node::as_i64);
    let (year, month) = (i16::try_from(part(0, 0)?).ok()?, i8::try_from(part(1, 0)?.checked_add(1)?).ok()?);
    let month_start = civil::Date::new(year, month, 1).ok()?.at(0, 0, 0, 0);
    let first = TimeZone::UTC.to_timestamp(month_start).ok()?.as_millisecond();
    let hours = part(2, 1)?.checked_sub(1)?.checked_mul(24)?.checked_add(part(3, 0)?)?;
    let minutes = hours.checked_mul(60)?.checked_add(part(4, 0)?)?;
    let seconds = minutes.checked_mul(60)?.checked_add(part(5, 0)?)?;
    seconds.checked_mul(1000)?.checked_add(part(6, 0)?)?.checked_add(first)
}

fn int32(given: &Arguments<'_>) -> Result<Value, SyntaxError> {
    let whole = given.whole(i64::from(i32::MIN))?;
    i32::try_from(whole).map(Value::Int32).or_else(|_| given.expected(0, "a whole number of 32 bits"))
}

fn decimal(given: &Arguments<'_>) -> Result<Value, SyntaxError> {
    let text = match given.get(0) {
        Some(Node { value: Value::String(text), .. }) => text.clone(),
        _ => given.double()?.to_string(),
    };
    text.parse::<Decimal128>().map(Value::from).or_else(|_| given.expected(0, "a decimal number"))
}

fn uuid(name: &str, given: &Arguments<'_>) -> Result<Value, SyntaxError> {
    if given.all.is_empty() {
        return given.expected(0, &format!("the digits of the UUID; `{name}()` would make a random one"));
    }
    let subtype = if name == "UUID" { 4 } else { 3 };
    let bytes = ext_json::uuid(given.text(0, "32 hexadecimal digits")?);
    bytes.map(|bytes| Value::Binary { subtype, bytes }).map_or_else(|| given.expected(0, "32 hexadecimal digits"), Ok)
}

fn base64(text: &str) -> Option<Vec<u8>> {
    BASE64.decode(text).ok()
}

fn binary(
    subtype: u8,
    text: &str,
    given: &Arguments<'_>,
    index: usize,
    decode: fn(&str) -> Option<Vec<u8>>,
) -> Result<Value, SyntaxError> {
    match decode(text) {
        Some(bytes) => Ok(Value::Binary { subtype, bytes }),
        None => given.expected(index, "the bytes in base64 or hexadecimal digits, as the type has it"),
    }
}

/// Node's `Buffer.from(text, encoding)`, which old versions of mongosh print inside `Binary(…)`.
fn buffer(given: &Arguments<'_>) -> Result<Value, SyntaxError> {
    let text = given.text(0, "a string")?;
    match given.get(1).and_then(Node::as_str) {
        Some("hex") => binary(0, text, given, 0, ext_json::hex),
        Some("base64") => binary(0, text, given, 0, base64),
        _ => Ok(Value::Binary { subtype: 0, bytes: text.as_bytes().to_vec() }),
    }
}

/// `Binary(bytes, subtype)`.
fn rebranded(given: &Arguments<'_>) -> Result<Value, SyntaxError> {
    let subtype = given.subtype(1)?;
    match given.get(0).map(|node| &node.value) {
        Some(Value::Binary { bytes, .. }) => Ok(Value::Binary { subtype, bytes: bytes.clone() }),
        Some(Value::String(text)) => Ok(Value::Binary { subtype, bytes: text.as_bytes().to_vec() }),
        _ => given.expected(0, "bytes, such as `Buffer.from(\"0a\", \"hex\")`"),
    }
}

/// `Timestamp(seconds, increment)` or `Timestamp({ t: seconds, i: increment })`.
fn timestamp(given: &Arguments<'_>) -> Result<Value, SyntaxError> {
    let document = given.get(0).and_then(Node::as_document);
    let part = |index: usize, name: &str| {
        let node = document.map_or_else(|| given.get(index), |document| document.get(name));
        node.map_or(Some(0), Node::as_i64).and_then(|n| u32::try_from(n).ok())
    };
    match (part(0, "t"), part(1, "i")) {
        (Some(seconds), Some(increment)) => Ok(Value::Timestamp { seconds, increment }),
        (None, _) => given.expected(0, "seconds since 1970"),
        (_, None) => given.expected(1, "an increment from 0 to 4294967295"),
    }
}

fn regex(given: &Arguments<'_>) -> Result<Value, SyntaxError> {
    if let [Node { value: regex @ Value::Regex { .. }, .. }] = given.all {
        return Ok(regex.clone());
    }
    let pattern = given.text(0, "a pattern")?.to_owned();
    let options = if given.get(1).is_some() { given.text(1, "flags")?.to_owned() } else { String::new() };
    Ok(Value::Regex { pattern: pattern.into(), options: options.into() })
}

fn code(given: &Arguments<'_>) -> Result<Value, SyntaxError> {
    let source = match given.get(0).map(|node| &node.value) {
        Some(Value::String(source) | Value::JavaScript(source)) => source.clone(),
        _ => return given.expected(0, "the source of a function"),
    };
    match given.get(1) {
        None => Ok(Value::JavaScript(source)),
        Some(scope) => match scope.as_document() {
            Some(scope) => Ok(Value::JavaScriptWithScope(source, Box::new(scope.clone()))),
            None => given.expected(1, "a scope document"),
        },
    }
}

/// A reference is a plain document: `{ $ref, $id, $db }`.
fn db_ref(given: &Arguments<'_>) -> Result<Value, SyntaxError> {
    given.text(0, "a collection's name")?;
    if given.all.len() < 2 {
        return given.expected(1, "a collection's name and an `_id`");
    }
    let members = ["$ref", "$id", "$db"].into_iter().zip(given.all);
    let fields = members
        .map(|(name, node)| Field { name: name.to_owned(), name_span: given.span, node: node.clone() })
        .collect();
    Ok(Value::Document(Document { fields, partial: false }))
}

fn db_pointer(given: &Arguments<'_>) -> Result<Value, SyntaxError> {
    let namespace = given.text(0, "a namespace")?.into();
    match given.get(1).map(|node| &node.value) {
        Some(Value::ObjectId(id)) => Ok(Value::DbPointer { namespace, id: *id }),
        _ => given.expected(1, "an `ObjectId`"),
    }
}
