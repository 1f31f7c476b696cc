//! Bounds and key ranges as a server's `explain` prints bounds: `(5, inf.0]`, `[5, MinKey] .. [5, MaxKey]`.

use std::fmt::Display;

use crate::model::{Decimal128, Document, Value};

use super::intervals::{Interval, Intervals};
use super::target::{Reach, Target};
use super::verdict::Reason;

/// More ranges than this are not printed.
const MOST_RANGES: usize = 100;
/// More intervals of one field than this are not printed.
const MOST_INTERVALS: usize = 20;

/// Spells out the bounds of each key field and the key ranges.
pub(super) fn explain(reason: &mut Reason, target: &Target) {
    reason.ranges = printed_ranges(&target.reach);
    for (position, field) in reason.bindings.iter_mut().enumerate() {
        field.intervals = match (&target.reach, &target.bounds) {
            (Reach::Key(key), _) => printed_intervals(&Intervals::points([key[position].clone()])),
            (_, Some(bounds)) => printed_intervals(&bounds[position]),
            (_, None) => printed_intervals(&Intervals::everything()),
        };
    }
}

fn printed_intervals(intervals: &Intervals) -> Vec<String> {
    intervals.as_slice().iter().take(MOST_INTERVALS).map(printed_interval).collect()
}

fn printed_interval(interval: &Interval) -> String {
    let open = if interval.low_inclusive { '[' } else { '(' };
    let close = if interval.high_inclusive { ']' } else { ')' };
    format!("{open}{}, {}{close}", printed(&interval.low), printed(&interval.high))
}

/// The ranges of a reach, the first of them.
fn printed_ranges(reach: &Reach) -> Vec<String> {
    match reach {
        Reach::Key(key) => {
            let key = list(key.iter());
            vec![format!("{key} .. {key}")]
        }
        Reach::Ranges(ranges) => (0..ranges.len().min(MOST_RANGES))
            .map(|index| {
                let (low, high) = ranges.range(index);
                format!("{} .. {}", list(low.into_iter()), list(high.into_iter()))
            })
            .collect(),
        Reach::Nothing | Reach::Everything => Vec::new(),
    }
}

fn list<'a>(values: impl Iterator<Item = &'a Value>) -> String {
    format!("[{}]", joined(values.map(printed)))
}

fn joined(parts: impl Iterator<Item = String>) -> String {
    parts.collect::<Vec<_>>().join(", ")
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

/// A value as a server prints it in bounds.
fn printed(value: &Value) -> String {
    match value {
        Value::MinKey => "MinKey".to_owned(),
        Value::MaxKey => "MaxKey".to_owned(),
        Value::Undefined => "undefined".to_owned(),
        Value::Null => "null".to_owned(),
        Value::Bool(truth) => truth.to_string(),
        Value::Int32(number) => number.to_string(),
        Value::Int64(number) => number.to_string(),
        Value::Double(number) => printed_double(*number),
        Value::Decimal128(number) => printed_decimal(number),
        Value::String(text) | Value::Symbol(text) => format!("\"{text}\""),
        Value::ObjectId(id) => format!("ObjectId('{}')", hex(id)),
        Value::Date(millis) => format!("new Date({millis})"),
        Value::Timestamp { seconds, increment } => format!("Timestamp({seconds}, {increment})"),
        Value::Binary { subtype, bytes } => format!("BinData({subtype}, {})", hex(bytes)),
        Value::Regex { pattern, options } => format!("/{pattern}/{options}"),
        Value::Document(document) => printed_document(document),
        Value::Array(array) if array.items.is_empty() => "[]".to_owned(),
        Value::Array(array) => format!("[ {} ]", joined(array.items.iter().map(|item| printed(&item.value)))),
        Value::DbPointer { namespace, id } => format!("DBRef('{namespace}',{})", hex(id)),
        Value::JavaScript(code) | Value::JavaScriptWithScope(code, _) => code.clone(),
        Value::Redacted => "###".to_owned(),
    }
}

fn printed_document(document: &Document) -> String {
    if document.fields.is_empty() {
        return "{}".to_owned();
    }
    let members = document.fields.iter().map(|field| format!("{}: {}", field.name, printed(&field.node.value)));
    format!("{{ {} }}", joined(members))
}

/// Doubles are told from integers by a fraction, even those that have none.
fn printed_double(number: f64) -> String {
    let text = format!("{number:?}").to_lowercase();
    match text.split_once('e') {
        Some((digits, power)) if !power.starts_with('-') => format!("{}e+{power}.0", digits.trim_end_matches(".0")),
        Some((digits, power)) => format!("{}e{power}.0", digits.trim_end_matches(".0")),
        None if number.is_finite() => text,
        None => format!("{text}.0"),
    }
}

fn printed_decimal(number: &Decimal128) -> String {
    let signed = |negative: bool, digits: &dyn Display| format!("{}{digits}", if negative { "-" } else { "" });
    match number {
        Decimal128::NaN => "NaN".to_owned(),
        Decimal128::Infinity { negative } => signed(*negative, &"Infinity"),
        Decimal128::Finite { negative, coefficient, exponent: 0 } => signed(*negative, coefficient),
        Decimal128::Finite { negative, coefficient, exponent } => {
            format!("{}E{exponent:+}", signed(*negative, coefficient))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::syntax::ext_json;

    #[test]
    fn values_are_printed_as_a_server_prints_them_in_bounds() {
        for (value, expected) in [
            ("5", "5"),
            ("5.0", "5.0"),
            (r#"{"$numberDouble": "Infinity"}"#, "inf.0"),
            (r#"{"$numberDouble": "-Infinity"}"#, "-inf.0"),
            (r#"{"$numberDouble": "NaN"}"#, "nan.0"),
            (r#"{"$numberDouble": "1e300"}"#, "1e+300.0"),
            (r#"{"$numberDouble": "1e15"}"#, "1000000000000000.0"),
            (r#"{"$oid": "0123456789abcdef01234567"}"#, "ObjectId('0123456789abcdef01234567')"),
            (r#"{"x": 1, "y": "s"}"#, r#"{ x: 1, y: "s" }"#),
            (r#"[1, "x"]"#, r#"[ 1, "x" ]"#),
            ("{}", "{}"),
            ("[]", "[]"),
            (r#"{"$regularExpression": {"pattern": "^a", "options": "i"}}"#, "/^a/i"),
            (r#"{"$minKey": 1}"#, "MinKey"),
        ] {
            assert_eq!(printed(&ext_json::parse(value, 0).expect("extended JSON").value), expected);
        }
    }

    #[test]
    fn an_interval_is_printed_with_the_brackets_of_its_ends() {
        let low_open = Interval::new(Value::Int32(5), Value::Double(f64::INFINITY), (false, true));
        assert_eq!(printed_interval(&low_open), "(5, inf.0]");
        assert_eq!(printed_interval(&Interval::point(Value::Null)), "[null, null]");
    }
}
