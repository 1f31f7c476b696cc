//! MongoDB's canonical BSON order: by type class first, numbers across all numeric types, then by value.
//! It is the order of an index without collation, and so of chunks. NaN is the least number, -0 equals 0.

use std::cmp::Ordering;

use super::decimal::Decimal128;
use super::value::{Document, Field, Value};

/// The class of a type in the canonical order; equal for all numeric types.
#[must_use]
pub fn canonical_type(value: &Value) -> u8 {
    match value {
        Value::MinKey => 0,
        Value::Undefined => 1,
        Value::Null => 5,
        Value::Double(_) | Value::Int32(_) | Value::Int64(_) | Value::Decimal128(_) => 10,
        Value::String(_) | Value::Symbol(_) => 15,
        Value::Document(_) => 20,
        Value::Array(_) => 25,
        Value::Binary { .. } => 30,
        Value::ObjectId(_) => 35,
        Value::Bool(_) => 40,
        Value::Date(_) => 45,
        Value::Timestamp { .. } => 47,
        Value::Regex { .. } => 50,
        Value::DbPointer { .. } => 55,
        Value::JavaScript(_) => 60,
        Value::JavaScriptWithScope(..) => 65,
        // A hidden value has no place in the order; one end is as good as another.
        Value::Redacted => 126,
        Value::MaxKey => 127,
    }
}

/// Compares two values as an index without collation does.
#[must_use]
pub fn compare(left: &Value, right: &Value) -> Ordering {
    canonical_type(left).cmp(&canonical_type(right)).then_with(|| compare_same_type(left, right))
}

fn compare_same_type(left: &Value, right: &Value) -> Ordering {
    match (left, right) {
        (Value::String(a) | Value::Symbol(a), Value::String(b) | Value::Symbol(b))
        | (Value::JavaScript(a), Value::JavaScript(b)) => a.cmp(b),
        (Value::Document(a), Value::Document(b)) => compare_documents(a, b),
        (Value::Array(a), Value::Array(b)) => a
            .items
            .iter()
            .zip(&b.items)
            .map(|(x, y)| compare(&x.value, &y.value))
            .find(|order| order.is_ne())
            .unwrap_or_else(|| a.items.len().cmp(&b.items.len())),
        (Value::Binary { subtype: s, bytes: a }, Value::Binary { subtype: t, bytes: b }) => {
            a.len().cmp(&b.len()).then_with(|| s.cmp(t)).then_with(|| a.cmp(b))
        }
        (Value::ObjectId(a), Value::ObjectId(b)) => a.cmp(b),
        (Value::Bool(a), Value::Bool(b)) => a.cmp(b),
        (Value::Date(a), Value::Date(b)) => a.cmp(b),
        (Value::Timestamp { seconds: s, increment: i }, Value::Timestamp { seconds: t, increment: j }) => {
            (s, i).cmp(&(t, j))
        }
        (Value::Regex { pattern: p, options: f }, Value::Regex { pattern: q, options: g }) => (p, f).cmp(&(q, g)),
        (Value::DbPointer { namespace: n, id: a }, Value::DbPointer { namespace: m, id: b }) => {
            n.len().cmp(&m.len()).then_with(|| n.cmp(m)).then_with(|| a.cmp(b))
        }
        (Value::JavaScriptWithScope(a, s), Value::JavaScriptWithScope(b, t)) => {
            a.cmp(b).then_with(|| compare_documents(s, t))
        }
        _ => compare_numbers(left, right),
    }
}

/// Compares two documents member by member: type, name, value; then the shorter comes first.
#[must_use]
pub fn compare_documents(left: &Document, right: &Document) -> Ordering {
    let member = |(a, b): (&Field, &Field)| {
        let (x, y) = (&a.node.value, &b.node.value);
        canonical_type(x).cmp(&canonical_type(y)).then_with(|| a.name.cmp(&b.name)).then_with(|| compare(x, y))
    };
    let unequal = left.fields.iter().zip(&right.fields).map(member).find(|order| order.is_ne());
    unequal.unwrap_or_else(|| left.fields.len().cmp(&right.fields.len()))
}

/// Numbers by value; whatever is no number is equal.
fn compare_numbers(left: &Value, right: &Value) -> Ordering {
    match (left, right) {
        (Value::Decimal128(a), _) => decimal_of(right).map_or(Ordering::Equal, |b| (**a).cmp(&b)),
        (_, Value::Decimal128(b)) => decimal_of(left).map_or(Ordering::Equal, |a| a.cmp(&**b)),
        (Value::Double(a), Value::Double(b)) => compare_doubles(*a, *b),
        (Value::Double(a), _) => integer_of(right).map_or(Ordering::Equal, |b| compare_integer(b, *a).reverse()),
        (_, Value::Double(b)) => integer_of(left).map_or(Ordering::Equal, |a| compare_integer(a, *b)),
        _ => integer_of(left).cmp(&integer_of(right)),
    }
}

fn integer_of(value: &Value) -> Option<i64> {
    match value {
        Value::Int32(n) => Some(i64::from(*n)),
        Value::Int64(n) => Some(*n),
        _ => None,
    }
}

/// The number as the server converts it before it compares it with a decimal: 34 digits of a double.
fn decimal_of(value: &Value) -> Option<Decimal128> {
    match value {
        Value::Decimal128(decimal) => Some(**decimal),
        Value::Double(double) => Some(Decimal128::from_double(*double)),
        _ => integer_of(value).map(Decimal128::from_integer),
    }
}

fn compare_doubles(a: f64, b: f64) -> Ordering {
    a.partial_cmp(&b).unwrap_or_else(|| b.is_nan().cmp(&a.is_nan()))
}

/// An integer against a double, without rounding either.
#[allow(clippy::cast_possible_truncation)]
fn compare_integer(a: i64, b: f64) -> Ordering {
    const LIMIT: f64 = 9_223_372_036_854_775_808.0;
    if b.is_nan() || b < -LIMIT {
        return Ordering::Greater;
    }
    if b >= LIMIT {
        return Ordering::Less;
    }
    a.cmp(&(b.trunc() as i64)).then_with(|| compare_doubles(0.0, b.fract()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::syntax::ext_json;

    fn value(text: &str) -> Value {
        ext_json::parse(text, 0).expect("extended JSON").value
    }

    #[test]
    fn types_are_ordered_before_values() {
        let rising = [
            r#"{"$minKey":1}"#,
            r#"{"$undefined":true}"#,
            "null",
            r#"{"$numberDouble":"NaN"}"#,
            r#"{"$numberDouble":"-Infinity"}"#,
            "-1",
            r#"{"$numberDecimal":"-0.5"}"#,
            "0",
            r#"{"$numberDouble":"0.1"}"#,
            "1",
            r#"{"$numberDouble":"9007199254740992.0"}"#,
            r#"{"$numberLong":"9007199254740993"}"#,
            r#"{"$numberDecimal":"9007199254740993.5"}"#,
            r#"{"$numberLong":"9223372036854775807"}"#,
            r#"{"$numberDouble":"9.3e+18"}"#,
            r#"{"$numberDecimal":"1E+400"}"#,
            r#"{"$numberDouble":"Infinity"}"#,
            r#""""#,
            r#""a""#,
            r#""ab""#,
            "{}",
            r#"{"a":2}"#,
            r#"{"b":1}"#,
            r#"{"a":"x"}"#,
            "[]",
            "[1]",
            "[1,1]",
            r#"{"$binary":{"base64":"/w==","subType":"80"}}"#,
            r#"{"$binary":{"base64":"AAA=","subType":"00"}}"#,
            r#"{"$oid":"000000000000000000000000"}"#,
            "false",
            "true",
            r#"{"$date":{"$numberLong":"-1"}}"#,
            r#"{"$date":{"$numberLong":"0"}}"#,
            r#"{"$timestamp":{"t":0,"i":1}}"#,
            r#"{"$regularExpression":{"pattern":"a","options":""}}"#,
            r#"{"$maxKey":1}"#,
        ];
        for (i, left) in rising.iter().enumerate() {
            for (j, right) in rising.iter().enumerate() {
                assert_eq!(compare(&value(left), &value(right)), i.cmp(&j), "{left} and {right}");
            }
        }
    }

    #[test]
    fn equal_numbers_of_different_types_are_equal() {
        let equal = ["0", r#"{"$numberDouble":"-0.0"}"#, r#"{"$numberLong":"0"}"#, r#"{"$numberDecimal":"-0E+10"}"#];
        let five = ["5", "5.0", r#"{"$numberDecimal":"5.00"}"#, r#"{"$numberDecimal":"0.5E+1"}"#];
        for group in [equal, five] {
            for left in group {
                for right in group {
                    assert_eq!(compare(&value(left), &value(right)), Ordering::Equal, "{left} and {right}");
                }
            }
        }
    }

    #[test]
    fn a_double_is_not_the_decimal_that_it_prints_as() {
        assert_eq!(compare(&value("0.1"), &value(r#"{"$numberDecimal":"0.1"}"#)), Ordering::Greater);
        assert_eq!(compare(&value("0.5"), &value(r#"{"$numberDecimal":"0.5"}"#)), Ordering::Equal);
    }
}
