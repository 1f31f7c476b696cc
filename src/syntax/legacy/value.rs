//! What the values of a legacy document are worth. What the server shortened, or somebody has edited beyond recognition,
//! becomes a value that is not known.

use crate::model::{Decimal128, Value};
use crate::syntax::ext_json;

/// Strings longer than 160 bytes are cut to so many, and dots.
const CUT_STRING: usize = 150;

/// A string; the dots at the end of a long one stand for what the server cut.
pub(super) fn string(content: &str) -> Value {
    // The cut falls on a whole character, which may lie a few bytes before.
    let is_cut = content.len() <= CUT_STRING + 3 && content.len() + 4 > CUT_STRING + 3 && content.ends_with("...");
    if is_cut { Value::Redacted } else { Value::String(content.to_owned()) }
}

/// A word that is a value.
pub(super) fn constant(word: &str) -> Option<Value> {
    Some(match word {
        "true" => Value::Bool(true),
        "false" => Value::Bool(false),
        "null" => Value::Null,
        "undefined" => Value::Undefined,
        "MinKey" => Value::MinKey,
        "MaxKey" => Value::MaxKey,
        "BinData" | "EOO" | "..." => Value::Redacted,
        _ => return None,
    })
}

/// A number: with a point, an exponent or no digits a double.
pub(super) fn number(text: &str) -> Value {
    match text {
        "inf" | "inf.0" => Value::Double(f64::INFINITY),
        "-inf" | "-inf.0" => Value::Double(f64::NEG_INFINITY),
        _ if text.contains("nan") => Value::Double(f64::NAN),
        _ => ext_json::number(text),
    }
}

/// `ObjectId('…')` and its like.
pub(super) fn typed(name: &str, arguments: &str) -> Value {
    let quoted = arguments.trim_matches(['\'', '"']);
    let known = match name {
        "ObjectId" => ext_json::object_id(quoted).map(Value::ObjectId),
        "new Date" => arguments.parse().ok().map(Value::Date),
        "ISODate" => quoted.parse::<jiff::Timestamp>().ok().map(|time| Value::Date(time.as_millisecond())),
        "Timestamp" => timestamp(arguments),
        "BinData" => binary(arguments),
        "UUID" => ext_json::uuid(quoted).map(|bytes| Value::Binary { subtype: 4, bytes }),
        "NumberLong" => quoted.parse().ok().map(Value::Int64),
        "NumberInt" => quoted.parse().ok().map(Value::Int32),
        "NumberDecimal" => quoted.parse::<Decimal128>().ok().map(Value::from),
        _ => None,
    };
    known.unwrap_or(Value::Redacted)
}

/// `seconds, increment`
fn timestamp(arguments: &str) -> Option<Value> {
    let (seconds, increment) = arguments.split_once(", ")?;
    Some(Value::Timestamp { seconds: seconds.parse().ok()?, increment: increment.parse().ok()? })
}

/// `subtype, HEX`; dots at the end stand for what the server cut.
fn binary(arguments: &str) -> Option<Value> {
    let (subtype, digits) = arguments.split_once(", ")?;
    Some(Value::Binary { subtype: subtype.parse().ok()?, bytes: ext_json::hex(digits)? })
}

/// Before 3.6: the seconds in milliseconds, and the increment.
pub(super) fn old_timestamp(millis: &str, increment: &str) -> Value {
    let seconds = millis.parse::<u64>().ok().and_then(|millis| u32::try_from(millis / 1000).ok());
    match (seconds, increment.parse()) {
        (Some(seconds), Ok(increment)) => Value::Timestamp { seconds, increment },
        _ => Value::Redacted,
    }
}

/// JavaScript as it is; anything else that has no quotes is not known.
pub(super) fn code(text: &str) -> Value {
    let is_code = text.contains(['(', '.', ' ', ';']) && !text.ends_with("...");
    if is_code { Value::JavaScript(text.trim_end().to_owned()) } else { Value::Redacted }
}
