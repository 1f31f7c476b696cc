//! 128-bit decimals, as far as ordering, hashing and printing need them.

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
