//! 128-bit decimals, as far as ordering, hashing and printing need them.

use std::str::FromStr;

/// A Decimal128: sign, 34 digits, exponent; or NaN or an infinity.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
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
