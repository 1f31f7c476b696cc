//! The values of aggregation operators on constants: the usual arithmetic, conversions and strings.
//! `None` for what is not computed here, and for what a server refuses to compute.

use crate::model::{Decimal128, Value, compare};

use super::compound;

/// The value of `{ operator: operands }`.
pub(super) fn evaluate(operator: &str, operands: &[Value]) -> Option<Value> {
    match (operator, operands) {
        ("$add", _) => add(operands),
        ("$multiply", _) => numbers(operands)?
            .try_fold(Value::Int32(1), |product, next| arithmetic(&product, next, i64::checked_mul, |a, b| a * b)),
        ("$subtract", [left, right]) => subtract(left, right),
        ("$divide", [left, right]) => {
            let divisor = double(right)?;
            (divisor != 0.0 && !is_decimal(left) && !is_decimal(right))
                .then(|| Value::Double(double(left).unwrap_or(f64::NAN) / divisor))
        }
        ("$mod", [left, right]) if compare(right, &Value::Int32(0)).is_ne() => {
            arithmetic(left, right, i64::checked_rem, |a, b| a % b)
        }
        ("$abs", [number]) => match number {
            Value::Double(n) => Some(Value::Double(n.abs())),
            _ => Some(integer(number.clone(), exact(number)?.checked_abs()?)),
        },
        ("$concat", _) => operands.iter().map(text).collect::<Option<String>>().map(Value::String),
        ("$toLower", [Value::String(text)]) => Some(Value::String(text.to_ascii_lowercase())),
        ("$toUpper", [Value::String(text)]) => Some(Value::String(text.to_ascii_uppercase())),
        ("$not", [value]) => Some(Value::Bool(!truth(value))),
        ("$ne", [left, right]) => Some(Value::Bool(compare(left, right).is_ne())),
        ("$cmp", [left, right]) => Some(Value::Int32(compare(left, right) as i32)),
        ("$max" | "$min" | "$sum" | "$avg", [Value::Array(array)]) => {
            accumulated(operator, &array.items.iter().map(|item| &item.value).collect::<Vec<_>>())
        }
        ("$max" | "$min" | "$sum" | "$avg", _) => accumulated(operator, &operands.iter().collect::<Vec<_>>()),
        ("$pow", [base, exponent]) => power(base, exponent),
        ("$isNumber", [value]) => Some(Value::Bool(double(value).is_some() || is_decimal(value))),
        ("$floor" | "$ceil" | "$round" | "$trunc" | "$sqrt" | "$exp" | "$ln", [number]) => of_one(operator, number),
        ("$round" | "$trunc", [number, places]) if compare(places, &Value::Int32(0)).is_eq() => {
            of_one(operator, number)
        }
        ("$convert", [Value::Document(given)]) if given.fields.len() == 2 => {
            let name = given.get("to")?.as_str()?;
            let (_, by_name) = CONVERSIONS.iter().find(|(to, _)| *to == name)?;
            convert(by_name, &given.get("input")?.value)
        }
        (_, [value]) => convert(operator, value).or_else(|| compound::evaluate(operator, operands)),
        _ => compound::evaluate(operator, operands),
    }
}

/// The functions of one number. Nulls stay null; whole numbers need no rounding.
fn of_one(operator: &str, value: &Value) -> Option<Value> {
    let function: fn(f64) -> f64 = match operator {
        _ if matches!(value, Value::Null | Value::Undefined) => return Some(Value::Null),
        "$sqrt" | "$ln" if double(value)? < 0.0 => return None,
        "$sqrt" => f64::sqrt,
        "$ln" => f64::ln,
        "$exp" => f64::exp,
        _ if exact(value).is_some() => return Some(value.clone()),
        "$floor" => f64::floor,
        "$ceil" => f64::ceil,
        "$trunc" => f64::trunc,
        _ => f64::round_ties_even,
    };
    double(value).map(|number| Value::Double(function(number)))
}

fn power(base: &Value, exponent: &Value) -> Option<Value> {
    let exactly = exact(base).zip(exact(exponent).and_then(|exponent| u32::try_from(exponent).ok()));
    match exactly.and_then(|(base, exponent)| base.checked_pow(exponent)) {
        Some(number) => Some(integer(base.clone(), number)),
        None => Some(Value::Double(double(base)?.powf(double(exponent)?))),
    }
}

/// `$max`, `$min`, `$sum` and `$avg`: nulls do not count, and of sums nothing but numbers does.
fn accumulated(operator: &str, operands: &[&Value]) -> Option<Value> {
    let present = operands.iter().copied().filter(|value| !matches!(value, Value::Null | Value::Undefined));
    match operator {
        "$max" => return Some(present.max_by(|a, b| compare(a, b)).cloned().unwrap_or(Value::Null)),
        "$min" => return Some(present.min_by(|a, b| compare(a, b)).cloned().unwrap_or(Value::Null)),
        _ if operands.iter().any(|value| is_decimal(value)) => return None,
        _ => {}
    }
    let numbers: Vec<&Value> = present.filter(|value| double(value).is_some()).collect();
    let sum = (numbers.iter())
        .try_fold(Value::Int32(0), |sum, number| arithmetic(&sum, number, i64::checked_add, |a, b| a + b))?;
    match (operator, numbers.len()) {
        ("$sum", _) => Some(sum),
        (_, 0) => Some(Value::Null),
        #[allow(clippy::cast_precision_loss)]
        (_, count) => Some(Value::Double(double(&sum)? / count as f64)),
    }
}

fn truth(value: &Value) -> bool {
    !matches!(value, Value::Null | Value::Undefined | Value::Bool(false)) && compare(value, &Value::Int32(0)).is_ne()
}

fn numbers(operands: &[Value]) -> Option<impl Iterator<Item = &Value>> {
    operands.iter().all(|operand| double(operand).is_some()).then(|| operands.iter())
}

fn is_decimal(value: &Value) -> bool {
    matches!(value, Value::Decimal128(_))
}

#[allow(clippy::cast_precision_loss)]
fn double(value: &Value) -> Option<f64> {
    match value {
        Value::Double(number) => Some(*number),
        _ => exact(value).map(|number| number as f64),
    }
}

fn exact(value: &Value) -> Option<i64> {
    match value {
        Value::Int32(number) => Some(i64::from(*number)),
        Value::Int64(number) => Some(*number),
        _ => None,
    }
}

/// An integer of the type of `like`, or the next wider one if it does not fit.
fn integer(like: Value, number: i64) -> Value {
    match (like, i32::try_from(number)) {
        (Value::Int32(_), Ok(number)) => Value::Int32(number),
        _ => Value::Int64(number),
    }
}

/// Integers stay integers and widen as needed; with a double, and beyond 64 bits, the result is a double.
fn arithmetic(
    left: &Value,
    right: &Value,
    exactly: fn(i64, i64) -> Option<i64>,
    roughly: fn(f64, f64) -> f64,
) -> Option<Value> {
    match (exact(left), exact(right)) {
        (Some(a), Some(b)) => Some(exactly(a, b).map_or_else(
            || double(left).zip(double(right)).map_or(Value::Null, |(a, b)| Value::Double(roughly(a, b))),
            |result| {
                if matches!(left, Value::Int64(_)) { Value::Int64(result) } else { integer(right.clone(), result) }
            },
        )),
        _ => Some(Value::Double(roughly(double(left)?, double(right)?))),
    }
}

/// A sum; at most one date among the operands, which makes it a date.
fn add(operands: &[Value]) -> Option<Value> {
    let mut date = None;
    let mut sum = Value::Int32(0);
    for operand in operands {
        match operand {
            Value::Date(millis) if date.is_none() => date = Some(*millis),
            Value::Null => return Some(Value::Null),
            number if is_decimal(&sum) || is_decimal(number) => {
                sum = decimal_sum(decimal(&sum)?, decimal(number)?)?.into();
            }
            number => sum = arithmetic(&sum, number, i64::checked_add, |a, b| a + b)?,
        }
    }
    match date {
        Some(millis) => Some(Value::Date(millis.checked_add(rounded(&sum)?)?)),
        None => Some(sum),
    }
}

fn decimal(value: &Value) -> Option<Decimal128> {
    match value {
        Value::Decimal128(number) => Some(**number),
        _ => exact(value).map(Decimal128::from_integer),
    }
}

/// A sum that 34 digits hold exactly; one that has to be rounded is not computed.
fn decimal_sum(left: Decimal128, right: Decimal128) -> Option<Decimal128> {
    use Decimal128::{Finite, Infinity, NaN};
    const BEYOND: i128 = 10_i128.pow(34);
    let (parts, lowest) = match (left, right) {
        (NaN, _) | (_, NaN) => return Some(NaN),
        (Infinity { negative: a }, Infinity { negative: b }) if a != b => return Some(NaN),
        (infinite @ Infinity { .. }, _) | (_, infinite @ Infinity { .. }) => return Some(infinite),
        (Finite { exponent: a, .. }, Finite { exponent: b, .. }) => ([left, right], a.min(b)),
    };
    let mut sum = 0_i128;
    for part in parts {
        let Finite { negative, coefficient, exponent } = part else { return None };
        let power = 10_i128.checked_pow(u32::try_from(exponent.checked_sub(lowest)?).ok()?)?;
        let scaled = i128::try_from(coefficient).ok()?.checked_mul(power)?;
        sum = if negative { sum.checked_sub(scaled)? } else { sum.checked_add(scaled)? };
    }
    let fits = sum.abs() < BEYOND;
    fits.then_some(Finite { negative: sum < 0, coefficient: sum.unsigned_abs(), exponent: lowest })
}

fn subtract(left: &Value, right: &Value) -> Option<Value> {
    match (left, right) {
        (Value::Date(a), Value::Date(b)) => Some(Value::Int64(a.checked_sub(*b)?)),
        (Value::Date(a), number) => Some(Value::Date(a.checked_sub(rounded(number)?)?)),
        _ => arithmetic(left, right, i64::checked_sub, |a, b| a - b),
    }
}

/// A number of milliseconds; fractions are rounded.
#[allow(clippy::cast_possible_truncation)]
fn rounded(value: &Value) -> Option<i64> {
    match value {
        Value::Double(number) => Some(number.round() as i64),
        _ => exact(value),
    }
}

fn text(value: &Value) -> Option<String> {
    match value {
        Value::String(text) => Some(text.clone()),
        _ => None,
    }
}

/// The types that `$convert` names, and the operators that convert to them.
const CONVERSIONS: [(&str, &str); 8] = [
    ("int", "$toInt"),
    ("long", "$toLong"),
    ("double", "$toDouble"),
    ("decimal", "$toDecimal"),
    ("string", "$toString"),
    ("bool", "$toBool"),
    ("date", "$toDate"),
    ("objectId", "$toObjectId"),
];

/// `$toInt` and its kin.
#[allow(clippy::cast_possible_truncation)]
fn convert(operator: &str, value: &Value) -> Option<Value> {
    if matches!(value, Value::Null) {
        return operator.starts_with("$to").then_some(Value::Null);
    }
    match operator {
        "$toInt" => i32::try_from(whole(value)?).ok().map(Value::Int32),
        "$toLong" => whole(value).map(Value::Int64),
        "$toDouble" => match value {
            Value::String(text) => text.parse().ok().map(Value::Double),
            Value::Bool(truth) => Some(Value::Double(f64::from(u8::from(*truth)))),
            _ => double(value).map(Value::Double),
        },
        "$toDecimal" => match value {
            Value::String(text) => text.parse::<Decimal128>().ok().map(Value::from),
            Value::Decimal128(_) => Some(value.clone()),
            _ => exact(value).map(|number| Value::from(Decimal128::from_integer(number))),
        },
        "$toString" => match value {
            Value::String(_) => Some(value.clone()),
            Value::Bool(truth) => Some(Value::String(truth.to_string())),
            Value::ObjectId(id) => Some(Value::String(id.iter().map(|byte| format!("{byte:02x}")).collect())),
            _ => exact(value).map(|number| Value::String(number.to_string())),
        },
        "$toBool" => Some(Value::Bool(truth(value))),
        "$toDate" => match value {
            Value::Date(_) => Some(value.clone()),
            Value::Int64(millis) => Some(Value::Date(*millis)),
            Value::Double(millis) => Some(Value::Date(*millis as i64)),
            Value::ObjectId([a, b, c, d, ..]) => {
                Some(Value::Date(i64::from(u32::from_be_bytes([*a, *b, *c, *d])) * 1000))
            }
            _ => None,
        },
        "$toObjectId" => match value {
            Value::ObjectId(_) => Some(value.clone()),
            Value::String(text) => object_id(text).map(Value::ObjectId),
            _ => None,
        },
        _ => None,
    }
}

/// An integer, from numbers by dropping the fraction.
#[allow(clippy::cast_possible_truncation)]
fn whole(value: &Value) -> Option<i64> {
    match value {
        Value::String(text) => text.parse().ok(),
        Value::Bool(truth) => Some(i64::from(*truth)),
        Value::Double(number) => (number.abs() < 9.2e18).then(|| number.trunc() as i64),
        _ => exact(value),
    }
}

fn object_id(text: &str) -> Option<[u8; 12]> {
    let mut id = [0; 12];
    if text.len() != 24 || !text.is_ascii() {
        return None;
    }
    for (byte, at) in id.iter_mut().zip((0..24).step_by(2)) {
        *byte = u8::from_str_radix(&text[at..at + 2], 16).ok()?;
    }
    Some(id)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn roundings_powers_and_accumulations_are_those_of_a_server() {
        for (operator, operands, expected) in [
            ("$round", vec![Value::Double(4.5)], 4.0),
            ("$round", vec![Value::Double(5.5)], 6.0),
            ("$floor", vec![Value::Double(-1.5)], -2.0),
            ("$sqrt", vec![Value::Int32(25)], 5.0),
            ("$pow", vec![Value::Int32(2), Value::Int32(10)], 1024.0),
            ("$pow", vec![Value::Int32(2), Value::Int32(-1)], 0.5),
            ("$max", vec![Value::Int32(3), Value::Null, Value::Double(5.0)], 5.0),
            ("$avg", vec![Value::Int32(3), Value::Int32(4)], 3.5),
            ("$sum", vec![Value::Int32(3), Value::Bool(true)], 3.0),
        ] {
            let value = evaluate(operator, &operands).unwrap_or_else(|| panic!("{operator}"));
            assert!(compare(&value, &Value::Double(expected)).is_eq(), "{operator}: {value:?}");
        }
    }

    #[test]
    fn decimals_are_added_exactly_or_not_at_all() {
        let decimal = |text: &str| Value::from(text.parse::<Decimal128>().expect("a decimal"));
        let plus_one = |text: &str| evaluate("$add", &[decimal(text), Value::Int32(1)]);
        for (number, expected) in [("5.5", "6.5"), ("-0.1", "0.9"), ("NaN", "NaN"), ("-Infinity", "-Infinity")] {
            let sum = plus_one(number).unwrap_or_else(|| panic!("{number}"));
            assert!(compare(&sum, &decimal(expected)).is_eq(), "{number}: {sum:?}");
        }
        assert!(plus_one("1E+400").is_none());
    }

    #[test]
    fn integers_widen_only_when_they_have_to() {
        let add = |a, b| evaluate("$add", &[a, b]);
        assert!(matches!(add(Value::Int32(2), Value::Int32(3)), Some(Value::Int32(5))));
        assert!(matches!(add(Value::Int32(i32::MAX), Value::Int32(1)), Some(Value::Int64(2_147_483_648))));
        assert!(matches!(add(Value::Int64(2), Value::Int32(3)), Some(Value::Int64(5))));
        assert!(matches!(add(Value::Int32(2), Value::Double(0.5)), Some(Value::Double(2.5))));
        assert!(matches!(add(Value::Date(5), Value::Int32(3)), Some(Value::Date(8))));
    }

    #[test]
    fn what_a_server_refuses_has_no_value() {
        assert!(evaluate("$toInt", &[Value::String("x".into())]).is_none());
        assert!(evaluate("$divide", &[Value::Int32(1), Value::Int32(0)]).is_none());
        assert!(evaluate("$unheardOf", &[Value::Int32(1)]).is_none());
    }
}
