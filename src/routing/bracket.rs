//! The bracket of a type: the interval that its values fill in the canonical order. A comparison other than in `$expr`
//! stays inside the bracket of its operand.

use crate::model::{Document, Value, canonical_type};

use super::intervals::{Interval, Intervals};

/// The least and the greatest value of a bracket. Where a type has no greatest value, the least of the next type stands for
/// it, and `open` is true.
pub(super) struct Bracket {
    pub(super) low: Value,
    pub(super) high: Value,
    pub(super) open: bool,
}

fn binary() -> Value {
    Value::Binary { subtype: 0, bytes: Vec::new() }
}

fn pattern() -> Value {
    Value::Regex { pattern: Box::default(), options: Box::default() }
}

fn pointer() -> Value {
    Value::DbPointer { namespace: Box::default(), id: [0; 12] }
}

fn object() -> Value {
    Value::Document(Document::default())
}

fn array() -> Value {
    Value::Array(crate::model::Array::default())
}

fn scoped() -> Value {
    Value::JavaScriptWithScope(String::new(), Box::default())
}

/// The bracket of the type with that code; `None` for an unknown code and for arrays, which are indexed by their elements.
fn bracket_of_code(code: i32) -> Option<Bracket> {
    let closed = |low, high| Some(Bracket { low, high, open: false });
    let open = |low, high| Some(Bracket { low, high, open: true });
    match code {
        1 | 16 | 18 | 19 => closed(Value::Double(f64::NAN), Value::Double(f64::INFINITY)),
        2 | 14 => open(Value::String(String::new()), object()),
        3 => open(object(), array()),
        5 => open(binary(), Value::ObjectId([0; 12])),
        6 => closed(Value::Undefined, Value::Undefined),
        7 => closed(Value::ObjectId([0; 12]), Value::ObjectId([0xff; 12])),
        8 => closed(Value::Bool(false), Value::Bool(true)),
        9 => closed(Value::Date(i64::MIN), Value::Date(i64::MAX)),
        10 => closed(Value::Null, Value::Null),
        11 => open(pattern(), pointer()),
        12 => open(pointer(), Value::JavaScript(String::new())),
        13 => open(Value::JavaScript(String::new()), scoped()),
        15 => open(scoped(), Value::MaxKey),
        17 => closed(
            Value::Timestamp { seconds: 0, increment: 0 },
            Value::Timestamp { seconds: u32::MAX, increment: u32::MAX },
        ),
        -1 => closed(Value::MinKey, Value::MinKey),
        127 => closed(Value::MaxKey, Value::MaxKey),
        _ => None,
    }
}

const CODES: [i32; 17] = [1, 2, 3, 5, 6, 7, 8, 9, 10, 11, 12, 13, 15, 17, -1, 127, 4];

/// The bracket that holds `value`; `None` for arrays.
pub(super) fn bracket_of(value: &Value) -> Option<Bracket> {
    let class = canonical_type(value);
    CODES.iter().filter_map(|&code| bracket_of_code(code)).find(|bracket| canonical_type(&bracket.low) == class)
}

/// The bounds of `$type` with these codes. An array's elements are indexed, so they can be anything.
pub(super) fn type_bounds(codes: &[i32]) -> Intervals {
    if codes.contains(&4) {
        return Intervals::everything();
    }
    let brackets = codes.iter().filter_map(|&code| bracket_of_code(code));
    Intervals::union(brackets.map(|bracket| Interval::new(bracket.low, bracket.high, (true, true))))
}

/// Whether the interval is one or more whole brackets (of more than one value each).
pub(super) fn is_whole_brackets(interval: &Interval) -> bool {
    if interval.is_point() {
        return false;
    }
    let starts = |bracket: &Bracket| same(&bracket.low, &interval.low) || starts_at_infinity(&interval.low);
    let ends = |bracket: &Bracket| same(&bracket.high, &interval.high);
    let both = matches!(interval.low, Value::Bool(_)) || matches!(interval.high, Value::Bool(_));
    let inclusive = interval.low_inclusive && interval.high_inclusive;
    let known = || CODES.iter().filter_map(|&code| bracket_of_code(code));
    (inclusive || !both) && known().any(|bracket| starts(&bracket)) && known().any(|bracket| ends(&bracket))
}

fn same(left: &Value, right: &Value) -> bool {
    crate::model::compare(left, right).is_eq()
}

/// `$lt` and `$gt` leave NaN out, which is one value.
fn starts_at_infinity(value: &Value) -> bool {
    same(value, &Value::Double(f64::NEG_INFINITY))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_value_lies_in_the_bracket_of_its_type() {
        for value in
            [Value::Int32(5), Value::String("x".into()), Value::Bool(true), Value::Date(0), binary(), pattern()]
        {
            let bracket = bracket_of(&value).expect("a bracket");
            assert!(crate::model::compare(&bracket.low, &value).is_le(), "{value:?}");
            assert!(crate::model::compare(&value, &bracket.high).is_le(), "{value:?}");
        }
        assert!(bracket_of(&array()).is_none());
    }

    #[test]
    fn brackets_are_whole_only_from_end_to_end() {
        let whole = |codes: &[i32]| is_whole_brackets(&type_bounds(codes).as_slice()[0]);
        assert!(whole(&[2]) && whole(&[1]) && whole(&[9]) && whole(&[8]) && whole(&[2, 3]));
        assert!(!whole(&[10]));
        let half = Interval::new(Value::Int32(5), Value::Double(f64::INFINITY), (true, true));
        assert!(!is_whole_brackets(&half));
        assert!(!is_whole_brackets(&Interval::new(Value::Bool(false), Value::Bool(true), (false, true))));
    }

    #[test]
    fn arrays_may_hold_anything() {
        assert!(type_bounds(&[2, 4]).is_everything());
    }
}
