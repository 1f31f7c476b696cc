//! Extended JSON (canonical, relaxed, and as the structured log prints it) to [`Node`], with a span on every name and value.
//!
//! What is spelled as servers do it is read in one pass (`plain_json`). For all else `serde_json` does the lexing: each level is
//! read as borrowed `RawValue`s, whose distance from the start of the text is their span. Wrappers such as `{"$oid": …}` become their BSON type only where they have exactly the members of the
//! wrapper; a user's document that merely looks like one stays a document.

use std::fmt;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD as BASE64;
use serde::de::{Deserializer, MapAccess, Visitor};
use serde_json::value::RawValue;

use crate::model::{Array, Decimal128, Document, Field, Node, Value};
use crate::text::Span;

use super::error::SyntaxError;
use super::plain_json;

/// Deeper nesting than this is refused; BSON itself allows 200 levels.
const MAX_DEPTH: usize = 250;

/// Reads one JSON value that is the whole of `text`; spans are those of `text`, moved by `base` bytes.
///
/// # Errors
/// If `text` is no JSON value, or is nested too deeply.
pub fn parse(text: &str, base: usize) -> Result<Node, SyntaxError> {
    plain_json::value(text, base).map_or_else(|| by_levels(text, base), Ok)
}

/// The item at that place of the array that `text` is; `None` if there is none, or if it is not spelled as servers do. What
/// stands behind it is not looked at.
#[must_use]
pub fn item(text: &str, at: usize) -> Option<Node> {
    plain_json::item(text, at)
}

/// Reads a value that is a part of `text`, of which spans are.
///
/// # Errors
/// If it is no JSON value, or is nested too deeply.
pub(super) fn parse_part(text: &str, part: &str) -> Result<Node, SyntaxError> {
    parse(part, span_in(text, 0, part).start as usize)
}

/// The members of an object in order: names with their quotes, and values, still raw.
pub(super) fn raw_members(text: &str) -> Result<Vec<(&str, &str)>, serde_json::Error> {
    if let Some(members) = plain_json::members(text) {
        return Ok(members);
    }
    let RawMembers(members) = serde_json::from_str(text)?;
    Ok(members.into_iter().map(|(name, value)| (name.get(), value.get())).collect())
}

/// Reads a value level by level.
fn by_levels(text: &str, base: usize) -> Result<Node, SyntaxError> {
    let raw: &RawValue = serde_json::from_str(text).map_err(|error| malformed(text, base, &error))?;
    Reader { text, base }.node(raw, 0)
}

/// The members of a JSON object in order, names and values still raw.
struct RawMembers<'a>(Vec<(&'a RawValue, &'a RawValue)>);

impl<'de> serde::Deserialize<'de> for RawMembers<'de> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Members;
        impl<'de> Visitor<'de> for Members {
            type Value = RawMembers<'de>;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("an object")
            }

            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Self::Value, A::Error> {
                let mut members = Vec::new();
                while let Some(member) = map.next_entry()? {
                    members.push(member);
                }
                Ok(RawMembers(members))
            }
        }
        deserializer.deserialize_map(Members)
    }
}

/// Where `part`, a slice of `text`, stands, moved by `base`.
pub(super) fn span_in(text: &str, base: usize, part: &str) -> Span {
    let start = part.as_ptr() as usize - text.as_ptr() as usize + base;
    Span::new(start, start + part.len())
}

/// The complaint of `serde_json` with its place in `text`.
pub(super) fn malformed(text: &str, base: usize, error: &serde_json::Error) -> SyntaxError {
    let line_start = text.split_inclusive('\n').take(error.line().saturating_sub(1)).map(str::len).sum::<usize>();
    let mut at = (line_start + error.column().saturating_sub(1)).min(text.len());
    while !text.is_char_boundary(at) {
        at -= 1;
    }
    let mut end = (at + 1).min(text.len());
    while !text.is_char_boundary(end) {
        end += 1;
    }
    let message = error.to_string();
    let message = message.split(" at line ").next().unwrap_or_default();
    SyntaxError::new(Span::new(base + at, base + end), format!("invalid JSON: {message}"))
}

struct Reader<'a> {
    text: &'a str,
    base: usize,
}

impl<'a> Reader<'a> {
    fn node(&self, raw: &'a RawValue, depth: usize) -> Result<Node, SyntaxError> {
        let text = raw.get();
        let span = span_in(self.text, self.base, text);
        if depth > MAX_DEPTH {
            return Err(SyntaxError::new(span, format!("nested more than {MAX_DEPTH} levels deep")));
        }
        let value = match text.as_bytes()[0] {
            b'{' => self.object(text, depth)?,
            b'[' => self.array(text, depth)?,
            b'"' => Value::String(self.decoded(text)?),
            b't' => Value::Bool(true),
            b'f' => Value::Bool(false),
            b'n' => Value::Null,
            _ => number(text),
        };
        Ok(Node { value, span })
    }

    fn object(&self, text: &'a str, depth: usize) -> Result<Value, SyntaxError> {
        let RawMembers(members) = self.read(text)?;
        let mut fields = Vec::with_capacity(members.len());
        for (name, value) in members {
            fields.push(Field {
                name: self.decoded(name.get())?,
                name_span: span_in(self.text, self.base, name.get()),
                node: self.node(value, depth + 1)?,
            });
        }
        let document = Document { fields, partial: false };
        Ok(unwrapped(&document).unwrap_or(Value::Document(document)))
    }

    fn array(&self, text: &'a str, depth: usize) -> Result<Value, SyntaxError> {
        let raw: Vec<&'a RawValue> = self.read(text)?;
        let items = raw.into_iter().map(|item| self.node(item, depth + 1)).collect::<Result<_, _>>()?;
        Ok(Value::Array(Array { items, partial: false }))
    }

    fn decoded(&self, quoted: &'a str) -> Result<String, SyntaxError> {
        decoded(quoted).map_err(|error| malformed(quoted, span_in(self.text, self.base, quoted).start as usize, &error))
    }

    fn read<T: serde::Deserialize<'a>>(&self, text: &'a str) -> Result<T, SyntaxError> {
        let base = span_in(self.text, self.base, text).start as usize;
        serde_json::from_str(text).map_err(|error| malformed(text, base, &error))
    }
}

/// The text of a JSON string. A lone surrogate, which JSON can spell and UTF-8 cannot hold, becomes U+FFFD.
pub(super) fn decoded(quoted: &str) -> Result<String, serde_json::Error> {
    let inner = &quoted[1..quoted.len() - 1];
    if !inner.contains('\\') {
        return Ok(inner.to_owned());
    }
    serde_json::from_str(quoted)
        .or_else(|error| serde_json::from_str(quoted).map(|Lossy(text)| text).map_err(|_| error))
}

/// A string read as bytes, which `serde_json` allows to hold lone surrogates.
struct Lossy(String);

impl<'de> serde::Deserialize<'de> for Lossy {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Bytes;
        impl Visitor<'_> for Bytes {
            type Value = Lossy;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a string")
            }

            fn visit_bytes<E>(self, bytes: &[u8]) -> Result<Lossy, E> {
                Ok(Lossy(String::from_utf8_lossy(bytes).into_owned()))
            }
        }
        deserializer.deserialize_bytes(Bytes)
    }
}

/// A JSON number: with a point or exponent a double, else the smallest integer type that holds it.
pub(super) fn number(text: &str) -> Value {
    if text.contains(['.', 'e', 'E']) {
        return Value::Double(text.parse().unwrap_or(f64::NAN));
    }
    match text.parse::<i64>() {
        Ok(n) => i32::try_from(n).map_or(Value::Int64(n), Value::Int32),
        Err(_) => Value::Double(text.parse().unwrap_or(f64::NAN)),
    }
}

/// The BSON value that an extended JSON wrapper stands for; `None` if the document is none.
pub(super) fn unwrapped(document: &Document) -> Option<Value> {
    let [first, rest @ ..] = document.fields.as_slice() else { return None };
    if !first.name.starts_with('$') {
        return None;
    }
    match rest {
        [] => single(&first.name, &first.node),
        [second] => double(first, second),
        _ => None,
    }
}

fn single(name: &str, node: &Node) -> Option<Value> {
    let text = node.as_str();
    match name {
        "$oid" => object_id(text?).map(Value::ObjectId),
        "$numberInt" => text?.parse().ok().map(Value::Int32),
        "$numberLong" => text.map_or_else(|| node.as_i64(), |text| text.parse().ok()).map(Value::Int64),
        "$numberDouble" => text?.parse().ok().map(Value::Double),
        "$numberDecimal" => text?.parse::<Decimal128>().ok().map(Value::from),
        "$date" => date(node).map(Value::Date),
        "$timestamp" => timestamp(node),
        "$binary" => binary(node),
        "$uuid" => uuid(text?).map(|bytes| Value::Binary { subtype: 4, bytes }),
        "$regularExpression" => regex(node),
        "$minKey" => node.as_i64().map(|_| Value::MinKey),
        "$maxKey" => node.as_i64().map(|_| Value::MaxKey),
        "$undefined" => matches!(node.value, Value::Bool(true)).then_some(Value::Undefined),
        "$symbol" => text.map(|text| Value::Symbol(text.to_owned())),
        "$code" => text.map(|text| Value::JavaScript(text.to_owned())),
        "$dbPointer" => {
            let pointer = node.as_document()?;
            let (namespace, id) = (pointer.get("$ref")?.as_str()?.into(), pointer.get("$id")?);
            let Value::ObjectId(id) = id.value else { return None };
            Some(Value::DbPointer { namespace, id })
        }
        _ => None,
    }
}

fn double(first: &Field, second: &Field) -> Option<Value> {
    match (first.name.as_str(), second.name.as_str()) {
        ("$code", "$scope") => Some(Value::JavaScriptWithScope(
            first.node.as_str()?.to_owned(),
            Box::new(second.node.as_document()?.clone()),
        )),
        ("$ref", "$id") => {
            Some(Value::DbPointer { namespace: first.node.as_str()?.into(), id: object_id(second.node.as_str()?)? })
        }
        ("$binary", "$type") => Some(Value::Binary {
            bytes: BASE64.decode(first.node.as_str()?).ok()?,
            subtype: u8::from_str_radix(second.node.as_str()?, 16).ok()?,
        }),
        _ => None,
    }
}

/// The value of the wrapper that `text` begins with, if it is one of those that servers write most and is spelled as they do;
/// and its length.
pub(super) fn wrapped(text: &str) -> Option<(Value, usize)> {
    let inner = |before: &str, length: usize| {
        let (inner, behind) = text.strip_prefix(before)?.split_at_checked(length)?;
        behind.starts_with("\"}").then_some((inner, before.len() + length + 2))
    };
    if let Some((digits, length)) = inner("{\"$oid\":\"", 24) {
        return Some((Value::ObjectId(object_id(digits)?), length));
    }
    if let Some((digits, length)) = inner("{\"$uuid\":\"", 36) {
        return Some((Value::Binary { subtype: 4, bytes: uuid(digits)? }, length));
    }
    let (time, length) = inner("{\"$date\":\"", 24)?;
    Some((Value::Date(moment(time)?), length))
}

/// Twelve bytes from 24 hexadecimal digits.
pub(super) fn object_id(text: &str) -> Option<[u8; 12]> {
    let mut bytes = [0; 12];
    (text.len() == 24).then(|| digits(text.as_bytes(), &mut bytes))??;
    Some(bytes)
}

/// Sixteen bytes from `8-4-4-4-12` hexadecimal digits.
pub(super) fn uuid(text: &str) -> Option<Vec<u8>> {
    let lengths_fit = text.split('-').map(str::len).eq([8, 4, 4, 4, 12]) || text.len() == 32;
    lengths_fit.then(|| hex(&text.replace('-', ""))).flatten()
}

/// Bytes from hexadecimal digits.
pub(super) fn hex(text: &str) -> Option<Vec<u8>> {
    let mut bytes = vec![0; text.len() / 2];
    text.len().is_multiple_of(2).then(|| digits(text.as_bytes(), &mut bytes))??;
    Some(bytes)
}

/// Puts bytes together from pairs of hexadecimal digits.
fn digits(text: &[u8], bytes: &mut [u8]) -> Option<()> {
    text.iter().all(u8::is_ascii_hexdigit).then_some(())?;
    let digit = |byte: u8| if byte.is_ascii_digit() { byte - b'0' } else { (byte | 0x20) - b'a' + 10 };
    for (byte, pair) in bytes.iter_mut().zip(text.chunks_exact(2)) {
        *byte = digit(pair[0]) << 4 | digit(pair[1]);
    }
    Some(())
}

fn moment(text: &str) -> Option<i64> {
    text.parse::<jiff::Timestamp>().ok().map(jiff::Timestamp::as_millisecond)
}

fn date(node: &Node) -> Option<i64> {
    match &node.value {
        Value::String(text) => moment(text),
        _ => node.as_i64(),
    }
}

fn timestamp(node: &Node) -> Option<Value> {
    let document = node.as_document()?;
    let part = |name| u32::try_from(document.get(name)?.as_i64()?).ok();
    Some(Value::Timestamp { seconds: part("t")?, increment: part("i")? })
}

fn binary(node: &Node) -> Option<Value> {
    let document = node.as_document()?;
    let bytes = BASE64.decode(document.get("base64")?.as_str()?).ok()?;
    let subtype = u8::from_str_radix(document.get("subType")?.as_str()?, 16).ok()?;
    Some(Value::Binary { subtype, bytes })
}

fn regex(node: &Node) -> Option<Value> {
    let document = node.as_document()?;
    let part = |name| document.get(name)?.as_str().map(Box::from);
    Some(Value::Regex { pattern: part("pattern")?, options: part("options")? })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn value(text: &str) -> Value {
        parse(text, 0).expect("valid").value
    }

    #[test]
    fn an_item_of_a_list_is_read_as_in_the_whole_list() {
        let text = r#"[1, {"a":[3,4]},"x]",{"$oid":"0123456789abcdef01234567"} ,[5]]"#;
        let Value::Array(whole) = value(text) else { panic!("a list") };
        let read = |at| item(text, at).map(|node| format!("{:?}", node.value));
        for (at, node) in whole.items.iter().enumerate() {
            assert_eq!(read(at), Some(format!("{:?}", node.value)), "{at}");
        }
        assert_eq!((read(5), item("[]", 0).is_none(), item("7", 0).is_none()), (None, true, true));
    }

    #[test]
    fn every_span_cuts_the_text_it_names() {
        let text = r#" {"a\u0041": [1, {"b" : "x\ty"}], "é": {"$oid":"0123456789abcdef01234567"}} "#;
        let node = parse(text, 100).expect("valid");
        let cut = |span: Span| &text[span.start as usize - 100..span.end as usize - 100];
        let document = node.as_document().expect("a document");
        assert_eq!(cut(document.fields[0].name_span), r#""a\u0041""#);
        assert_eq!(document.fields[0].name, "aA");
        assert_eq!(cut(document.fields[0].node.span), r#"[1, {"b" : "x\ty"}]"#);
        let inner = document.fields[0].node.as_array().expect("an array").items[1].as_document().expect("inner");
        assert_eq!((cut(inner.fields[0].name_span), cut(inner.fields[0].node.span)), (r#""b""#, r#""x\ty""#));
        assert_eq!(cut(document.fields[1].node.span), r#"{"$oid":"0123456789abcdef01234567"}"#);
    }

    #[test]
    fn wrappers_become_their_bson_type() {
        assert!(matches!(value(r#"{"$numberLong":"5"}"#), Value::Int64(5)));
        assert!(matches!(value(r#"{"$numberDouble":"-Infinity"}"#), Value::Double(x) if x == f64::NEG_INFINITY));
        assert!(matches!(value(r#"{"$date":"1970-01-01T01:00:00.005+01:00"}"#), Value::Date(5)));
        assert!(matches!(value(r#"{"$date":{"$numberLong":"-62135596800000"}}"#), Value::Date(-62_135_596_800_000)));
        assert!(matches!(
            value(r#"{"$timestamp":{"t":4294967295,"i":3}}"#),
            Value::Timestamp { seconds: u32::MAX, increment: 3 }
        ));
        assert!(
            matches!(value(r#"{"$uuid":"00010203-0405-0607-0809-0a0b0c0d0e0f"}"#), Value::Binary { subtype: 4, bytes } if bytes.len() == 16)
        );
        assert!(
            matches!(value(r#"{"$binary":{"base64":"AQI=","subType":"80"}}"#), Value::Binary { subtype: 0x80, bytes } if bytes == [1, 2])
        );
        assert!(matches!(value(r#"{"$maxKey":1}"#), Value::MaxKey));
        assert!(matches!(value("9007199254740993"), Value::Int64(9_007_199_254_740_993)));
        assert!(matches!(value("5.0"), Value::Double(5.0)));
    }

    #[test]
    fn a_document_that_only_looks_like_a_wrapper_stays_a_document() {
        for text in [r#"{"$oid":1}"#, r#"{"$oid":"zz"}"#, r#"{"$date":"x"}"#, r#"{"$gt":5}"#, r#"{"$minKey":1,"a":2}"#]
        {
            assert!(matches!(value(text), Value::Document(_)), "{text}");
        }
    }

    #[test]
    fn bad_json_is_located_and_deep_nesting_refused() {
        let error = parse("{\"a\": tru}", 10).expect_err("bad");
        assert!((10..=20).contains(&error.span.start), "{error:?}");
        let deep = format!("{}{}", "[".repeat(5000), "]".repeat(5000));
        assert!(parse(&deep, 0).expect_err("deep").message.contains("nested"));
    }

    #[test]
    fn a_lone_surrogate_is_kept_readable() {
        assert!(matches!(value(r#""a\ud800b""#), Value::String(text) if text.starts_with('a') && text.ends_with('b')));
    }

    proptest::proptest! {
        #[test]
        fn what_is_read_in_one_pass_is_read_alike_level_by_level(
            parts in proptest::collection::vec(proptest::sample::select(vec![
                "{", "}", "[", "]", ",", ":", " ", "\t", "\"a\"", "\"$oid\"", "\"$date\"", "\"$numberLong\"", "\"0123456789abcdef01234567\"",
                "\"x\\u00e9\\ud800\"", "\"\\q\"", "\"\u{1}\"", "\"é\"", "1", "-0", "01", "1.5e3", "1.", "true", "nul", "null", "\"2024-05-14T09:12:03.481Z\"",
                "{\"a\":1}", "[1,{\"b\":[]}]", "{\"$date\":\"2024-05-14T09:12:03.481Z\"}", "{\"$numberLong\":\"5\"}",
            ]), 0..12)
        ) {
            let text = parts.concat();
            for text in [text.clone(), format!("{{\"k\":{text}}}"), format!("[{text}]"), format!("{{{text}}}")] {
                if let Some(node) = plain_json::value(&text, 7) {
                    let other = by_levels(&text, 7).expect("read by levels");
                    proptest::prop_assert_eq!(format!("{node:?}"), format!("{other:?}"), "{}", text);
                }
                if let Some(members) = plain_json::members(&text) {
                    let RawMembers(others) = serde_json::from_str(&text).expect("read by levels");
                    let others: Vec<_> = others.into_iter().map(|(name, value)| (name.get(), value.get())).collect();
                    proptest::prop_assert_eq!(members, others, "{}", text);
                }
            }
        }
    }

    #[test]
    fn what_servers_print_is_read_in_one_pass() {
        let text = r#"{"find":"orders","filter":{"a":{"$in":[1,-2.5,"x\"y",null,{"$oid":"0123456789abcdef01234567"}]}},"e":{}, "f": [] }"#;
        assert!(plain_json::value(text, 0).is_some());
        assert_eq!(plain_json::members(text).expect("members").len(), 4);
    }
}
