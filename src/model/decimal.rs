//! 128-bit decimals, as far as ordering, hashing and printing need them.

use std::cmp::Ordering;
use std::str::FromStr;

/// A Decimal128: sign, 34 digits, exponent; or NaN or an infinity.
#[derive(Debug, Clone, Copy)]
pub enum Decimal128 {
    /// Not a number.
    NaN,
    /// Positive or negative infinity.
    Infinity {
        /// Below zero.
        negative: bool,
    },
    /// `coefficient` times ten to the `exponent`.
    Finite {
        /// Below zero (or -0).
        negative: bool,
        /// At most 34 digits.
        coefficient: u128,
        /// The power of ten.
        exponent: i32,
    },
}

/// A text that is no decimal number.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("`{0}` is no decimal number")]
pub struct InvalidDecimal(String);

/// The most digits that a coefficient holds.
const DIGITS: usize = 34;

impl FromStr for Decimal128 {
    type Err = InvalidDecimal;

    /// `1.10`, `-5E+3`, `NaN`, `Infinity`; more than 34 digits are rounded half to even.
    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let invalid = || InvalidDecimal(text.to_owned());
        let (negative, unsigned) = match text.strip_prefix('-') {
            Some(rest) => (true, rest),
            None => (false, text.strip_prefix('+').unwrap_or(text)),
        };
        match unsigned.to_ascii_lowercase().as_str() {
            "nan" => return Ok(Self::NaN),
            "inf" | "infinity" => return Ok(Self::Infinity { negative }),
            _ => {}
        }
        let (mantissa, exponent) = unsigned.split_once(['e', 'E']).unwrap_or((unsigned, "0"));
        let exponent: i32 = exponent.strip_prefix('+').unwrap_or(exponent).parse().map_err(|_| invalid())?;
        let (whole, fraction) = mantissa.split_once('.').unwrap_or((mantissa, ""));
        let digits = format!("{whole}{fraction}");
        if digits.is_empty() || !digits.bytes().all(|b| b.is_ascii_digit()) {
            return Err(invalid());
        }
        let exponent = exponent.saturating_sub(i32::try_from(fraction.len()).map_err(|_| invalid())?);
        let (coefficient, dropped) = rounded(digits.trim_start_matches('0'));
        Ok(Self::Finite { negative, coefficient, exponent: exponent.saturating_add(dropped) })
    }
}

/// The first 34 digits, rounded half to even, and how many digits were dropped.
fn rounded(digits: &str) -> (u128, i32) {
    let value = |digits: &str| digits.bytes().fold(0u128, |sum, digit| sum * 10 + u128::from(digit - b'0'));
    if digits.len() <= DIGITS {
        return (value(digits), 0);
    }
    let (kept, rest) = digits.split_at(DIGITS);
    let coefficient = value(kept);
    let above_half =
        rest.as_bytes()[0] > b'5' || (rest.starts_with('5') && rest[1..].bytes().any(|digit| digit != b'0'));
    let tie_to_even = rest.starts_with('5') && coefficient % 2 == 1;
    (coefficient + u128::from(above_half || tie_to_even), i32::try_from(rest.len()).unwrap_or(i32::MAX))
}

impl Decimal128 {
    /// Whether it is 0 or -0, of any exponent.
    #[must_use]
    pub fn is_zero(self) -> bool {
        matches!(self, Self::Finite { coefficient: 0, .. })
    }

    /// An integer, exactly.
    #[must_use]
    pub fn from_integer(integer: i64) -> Self {
        Self::Finite { negative: integer < 0, coefficient: u128::from(integer.unsigned_abs()), exponent: 0 }
    }

    /// A double, rounded to 34 digits.
    #[must_use]
    pub fn from_double(double: f64) -> Self {
        if double.is_nan() {
            return Self::NaN;
        }
        if double.is_infinite() {
            return Self::Infinity { negative: double < 0.0 };
        }
        format!("{double:.33e}").parse().unwrap_or(Self::NaN)
    }

    /// The nearest integer, ties to even, within 64 bits: beyond them the nearest limit, and 0 for NaN.
    #[must_use]
    pub fn to_integer(self) -> i64 {
        let (negative, magnitude) = match self {
            Self::NaN => return 0,
            Self::Infinity { negative } => (negative, u128::MAX),
            Self::Finite { negative, coefficient, exponent } => (negative, scaled(coefficient, exponent)),
        };
        match i64::try_from(magnitude) {
            Ok(magnitude) if negative => -magnitude,
            Ok(magnitude) => magnitude,
            Err(_) if negative => i64::MIN,
            Err(_) => i64::MAX,
        }
    }

    /// Where the first digit stands: 0 for 1 to 9, 1 for 10 to 99.
    fn magnitude(coefficient: u128, exponent: i32) -> i64 {
        i64::from(coefficient.checked_ilog10().unwrap_or(0)) + i64::from(exponent)
    }
}

/// `coefficient` times ten to the `exponent`, rounded half to even; saturating.
fn scaled(coefficient: u128, exponent: i32) -> u128 {
    let power = 10u128.checked_pow(exponent.unsigned_abs());
    if exponent >= 0 {
        return match power {
            _ if coefficient == 0 => 0,
            Some(power) => coefficient.saturating_mul(power),
            None => u128::MAX,
        };
    }
    let Some(power) = power else { return 0 };
    let (whole, rest) = (coefficient / power, coefficient % power);
    match (rest * 2).cmp(&power) {
        Ordering::Less => whole,
        Ordering::Equal => whole + whole % 2,
        Ordering::Greater => whole + 1,
    }
}

impl PartialEq for Decimal128 {
    fn eq(&self, other: &Self) -> bool {
        self.cmp(other).is_eq()
    }
}

impl Eq for Decimal128 {}

impl PartialOrd for Decimal128 {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for Decimal128 {
    /// By value: NaN is the least, 1.0 equals 1.00, -0 equals 0.
    fn cmp(&self, other: &Self) -> Ordering {
        // Below, at and above zero; then the distance from zero.
        let rank = |decimal: &Self| match *decimal {
            Self::NaN => -3,
            Self::Infinity { negative: true } => -2,
            Self::Finite { coefficient: 0, .. } => 0,
            Self::Finite { negative: true, .. } => -1,
            Self::Finite { negative: false, .. } => 1,
            Self::Infinity { negative: false } => 2,
        };
        rank(self).cmp(&rank(other)).then_with(|| match (*self, *other) {
            (
                Self::Finite { negative, coefficient: a, exponent: m },
                Self::Finite { coefficient: b, exponent: n, .. },
            ) if a != 0 => {
                let distance = compare_magnitudes((a, m), (b, n));
                if negative { distance.reverse() } else { distance }
            }
            _ => Ordering::Equal,
        })
    }
}

/// Two numbers above zero. With equal leading places the shorter coefficient can be lengthened without overflow.
fn compare_magnitudes((a, m): (u128, i32), (b, n): (u128, i32)) -> Ordering {
    Decimal128::magnitude(a, m).cmp(&Decimal128::magnitude(b, n)).then_with(|| {
        let lengthened = |coefficient: u128, by: i32| {
            u32::try_from(by)
                .ok()
                .and_then(|by| 10u128.checked_pow(by))
                .map_or(coefficient, |p| coefficient.saturating_mul(p))
        };
        lengthened(a, m.saturating_sub(n)).cmp(&lengthened(b, n.saturating_sub(m)))
    })
}
