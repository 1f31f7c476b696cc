//! The values of aggregation operators on constant strings, arrays and documents.
//! `None` for what is not computed here, and for what a server refuses to compute. A missing value is `Undefined`.

use crate::model::{Array, Document, Field, Node, Value, compare};

/// The value of `{ operator: operands }`.
pub(super) fn evaluate(operator: &str, operands: &[Value]) -> Option<Value> {
    match (operator, operands) {
        ("$type", [value]) => Some(Value::String(type_name(value)?.to_owned())),
        ("$size", [Value::Array(array)]) => count(array.items.len()),
        ("$isArray", [value]) => Some(Value::Bool(matches!(value, Value::Array(_)))),
        ("$arrayElemAt", [Value::Array(array), at]) => element(array, integer(at)?),
        ("$first", [Value::Array(array)]) => element(array, 0),
        ("$last", [Value::Array(array)]) => element(array, -1),
        ("$in", [value, Value::Array(array)]) => {
            Some(Value::Bool(array.items.iter().any(|item| compare(&item.value, value).is_eq())))
        }
        ("$concatArrays", _) => concatenated(operands),
        ("$reverseArray", [Value::Array(array)]) => Some(array_of(array.items.iter().rev().cloned().collect())),
        ("$mergeObjects", _) => merged(operands),
        ("$strLenCP", [Value::String(text)]) => count(text.chars().count()),
        ("$strLenBytes", [Value::String(text)]) => count(text.len()),
        ("$substrCP", [Value::String(text), start, length]) => {
            let (start, length) = (usize::try_from(integer(start)?).ok()?, usize::try_from(integer(length)?).ok()?);
            Some(Value::String(text.chars().skip(start).take(length).collect()))
        }
        ("$trim" | "$ltrim" | "$rtrim", [Value::Document(given)]) => trimmed(operator, given),
        ("$indexOfCP", [Value::String(text), Value::String(part)]) => match text.find(part.as_str()) {
            Some(at) => count(text[..at].chars().count()),
            None => Some(Value::Int32(-1)),
        },
        ("$split", [Value::String(text), Value::String(by)]) if !by.is_empty() => Some(array_of(
            text.split(by.as_str()).map(|part| Node::synthetic(Value::String(part.to_owned()))).collect(),
        )),
        ("$dateFromString", [Value::Document(given)]) if given.fields.len() == 1 => {
            date(given.get("dateString")?.as_str()?).map(Value::Date)
        }
        _ => None,
    }
}

/// A date of ISO 8601, with or without a time; without an offset it is UTC.
fn date(text: &str) -> Option<i64> {
    let timestamp = text.parse::<jiff::Timestamp>().ok().or_else(|| {
        let local: jiff::civil::DateTime = text.parse().ok()?;
        jiff::tz::TimeZone::UTC.to_timestamp(local).ok()
    });
    timestamp.map(jiff::Timestamp::as_millisecond)
}

fn type_name(value: &Value) -> Option<&'static str> {
    match value {
        Value::Undefined => Some("missing"),
        Value::Redacted => None,
        value => Some(value.type_name()),
    }
}

fn count(number: usize) -> Option<Value> {
    i32::try_from(number).ok().map(Value::Int32)
}

fn integer(value: &Value) -> Option<i64> {
    match value {
        Value::Int32(number) => Some(i64::from(*number)),
        Value::Int64(number) => Some(*number),
        _ => None,
    }
}

fn array_of(items: Vec<Node>) -> Value {
    Value::Array(Array { items, partial: false })
}

/// The element at a place, counted from the end if negative; missing beyond the ends.
fn element(array: &Array, at: i64) -> Option<Value> {
    let length = i64::try_from(array.items.len()).ok()?;
    let place = usize::try_from(if at < 0 { at + length } else { at }).ok();
    let found = place.and_then(|place| array.items.get(place));
    Some(found.map_or(Value::Undefined, |node| node.value.clone()))
}

fn concatenated(operands: &[Value]) -> Option<Value> {
    let mut items = Vec::new();
    for operand in operands {
        match operand {
            Value::Array(array) => items.extend_from_slice(&array.items),
            Value::Null | Value::Undefined => return Some(Value::Null),
            _ => return None,
        }
    }
    Some(array_of(items))
}

/// The members of all documents; of equal names the last value, at the place of the first.
fn merged(operands: &[Value]) -> Option<Value> {
    let mut fields: Vec<Field> = Vec::new();
    let documents = match operands {
        [Value::Array(array)] => array.items.iter().map(|item| &item.value).collect(),
        _ => operands.iter().collect::<Vec<_>>(),
    };
    for document in documents {
        match document {
            Value::Null | Value::Undefined => {}
            Value::Document(document) => {
                for field in &document.fields {
                    match fields.iter_mut().find(|known| known.name == field.name) {
                        Some(known) => known.node = field.node.clone(),
                        None => fields.push(field.clone()),
                    }
                }
            }
            _ => return None,
        }
    }
    Some(Value::Document(Document { fields, partial: false }))
}

/// `$trim` and its kin, of blanks or of the given characters.
fn trimmed(operator: &str, given: &Document) -> Option<Value> {
    let input = given.get("input")?.as_str()?;
    let characters = match given.get("chars") {
        Some(characters) => Some(characters.as_str()?),
        None => None,
    };
    let goes = |character: char| match characters {
        Some(characters) => characters.contains(character),
        None => character.is_whitespace() || character == '\0',
    };
    let kept = match operator {
        "$ltrim" => input.trim_start_matches(goes),
        "$rtrim" => input.trim_end_matches(goes),
        _ => input.trim_matches(goes),
    };
    Some(Value::String(kept.to_owned()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::syntax::ext_json;

    fn evaluated(operator: &str, operands: &str) -> Option<Value> {
        let operands = ext_json::parse(operands, 0).expect("extended JSON");
        let operands = operands.as_array().expect("operands").items.iter().map(|item| item.value.clone());
        evaluate(operator, &operands.collect::<Vec<_>>())
    }

    #[test]
    fn strings_arrays_and_documents_give_what_a_server_computes() {
        for (operator, operands, expected) in [
            ("$type", "[5.5]", r#""double""#),
            ("$size", "[[1, 2]]", "2"),
            ("$arrayElemAt", "[[1, 2, 3], -1]", "3"),
            ("$first", "[[7, 8]]", "7"),
            ("$in", "[2, [1, 2.0]]", "true"),
            ("$concatArrays", "[[1], [2]]", "[1, 2]"),
            ("$mergeObjects", r#"[{"a": 1, "b": 2}, null, {"a": 3}]"#, r#"{"a": 3, "b": 2}"#),
            ("$substrCP", r#"["häuser", 1, 2]"#, r#""äu""#),
            ("$trim", r#"[{"input": "  x "}]"#, r#""x""#),
            ("$indexOfCP", r#"["äb", "b"]"#, "1"),
            ("$dateFromString", r#"[{"dateString": "2020-01-01"}]"#, r#"{"$date": "2020-01-01T00:00:00Z"}"#),
            ("$dateFromString", r#"[{"dateString": "2020-01-01T00:00:00Z"}]"#, r#"{"$date": "2020-01-01T00:00:00Z"}"#),
        ] {
            let value = evaluated(operator, operands).unwrap_or_else(|| panic!("{operator}"));
            let expected = ext_json::parse(expected, 0).expect("extended JSON").value;
            assert!(compare(&value, &expected).is_eq(), "{operator}: {value:?}");
        }
    }

    #[test]
    fn an_element_beyond_the_ends_is_missing() {
        assert!(matches!(evaluated("$arrayElemAt", "[[1], 1]"), Some(Value::Undefined)));
        assert!(matches!(evaluated("$last", "[[]]"), Some(Value::Undefined)));
    }
}
