//! The classes of literals. Two literals of one class are alike to routing, rules and shapes as long as each stands alone;
//! what several literals of one field are to each other is told by `relation`. A literal that is unusual in any way has no
//! class and stays in the key as it is.

use std::cmp::Ordering;

use crate::syntax::scanner::Text;

/// The class of a literal, as the byte that stands for it in a key.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Class {
    /// Text that is neither empty nor redacted nor begins with `$`.
    Text = 1,
    /// A whole number but 0 that a 32-bit integer holds.
    Int,
    /// A whole number that only a 64-bit integer holds.
    Long,
    /// `0`.
    Zero,
    /// A number with a point that is not 0.
    Double,
    /// `{"$numberDecimal": …}`, not 0.
    Decimal,
    /// `{"$oid": …}`, not all zeros.
    ObjectId,
    /// `{"$date": …}`.
    Date,
    /// `{"$uuid": …}`.
    Uuid,
    /// A regular expression that begins with `^` and letters.
    AnchoredRegex,
    /// A regular expression of letters.
    Regex,
    /// A list of literals of one class.
    List,
    /// `null`, `true`, `false`: itself in the key.
    Word,
    /// No class: the literal itself is in the key.
    Verbatim,
}

/// The class of a string that is compared with a field.
pub(super) fn of_text(text: Text<'_>) -> Class {
    let is_plain = !matches!(text.raw, [] | [b'$' | b'\\', ..] | b"###");
    // An escape of the form `\u…` can spell anything, half characters too.
    if is_plain && !(text.is_escaped && has_unicode_escape(text.raw)) { Class::Text } else { Class::Verbatim }
}

fn has_unicode_escape(raw: &[u8]) -> bool {
    memchr::memmem::find(raw, b"\\u").is_some()
}

/// The class of a number.
pub(super) fn of_number(text: &[u8]) -> Class {
    let digits = text.strip_prefix(b"-").unwrap_or(text);
    if let Some(point) = memchr::memchr(b'.', digits) {
        return if is_fraction(digits, point) { Class::Double } else { Class::Verbatim };
    }
    match digits {
        b"0" if digits.len() == text.len() => Class::Zero,
        [b'1'..=b'9', rest @ ..] if rest.iter().all(u8::is_ascii_digit) => match rest.len() {
            0..=8 => Class::Int,
            10..=16 => Class::Long,
            _ => Class::Verbatim,
        },
        _ => Class::Verbatim,
    }
}

/// Whether it is digits around a point, few enough to be exact, and not 0.
fn is_fraction(digits: &[u8], point: usize) -> bool {
    let (whole, rest) = (&digits[..point], &digits[point + 1..]);
    let all = |part: &[u8]| !part.is_empty() && part.iter().all(u8::is_ascii_digit);
    digits.len() <= 15 && all(whole) && all(rest) && digits.iter().any(|digit| matches!(digit, b'1'..=b'9'))
}

/// The class of `{"name": "text"}`, if that is a wrapper of extended JSON.
pub(super) fn of_wrapper(name: &[u8], text: &[u8]) -> Option<Class> {
    match name {
        b"$oid" => is_wrapped(Class::ObjectId, text).then_some(Class::ObjectId),
        b"$uuid" => is_wrapped(Class::Uuid, text).then_some(Class::Uuid),
        b"$date" => is_wrapped(Class::Date, text).then_some(Class::Date),
        b"$numberDecimal" => is_decimal(text).then_some(Class::Decimal),
        _ => None,
    }
}

/// Whether it is a number with a point, few enough digits and not 0.
pub(super) fn is_decimal(text: &[u8]) -> bool {
    let digits = text.strip_prefix(b"-").unwrap_or(text);
    memchr::memchr(b'.', digits).is_some_and(|point| is_fraction(digits, point))
}

/// Whether the text in a wrapper of that class is spelled in the usual way, and no special value.
pub(super) fn is_wrapped(class: Class, text: &[u8]) -> bool {
    match class {
        Class::ObjectId => text.len() == 24 && is_lower_hex(text) && text.iter().any(|digit| *digit != b'0'),
        Class::Uuid => is_uuid(text),
        Class::Date => is_date(text),
        _ => false,
    }
}

fn is_lower_hex(text: &[u8]) -> bool {
    // Not `all`: without a way out of the loop it takes many bytes at a time.
    let digit = |byte: u8| u8::from(byte.wrapping_sub(b'0') < 10) | u8::from(byte.wrapping_sub(b'a') < 6);
    text.iter().fold(1, |all, byte| all & digit(*byte)) == 1
}

fn is_uuid(text: &[u8]) -> bool {
    let parts = [0..8, 9..13, 14..18, 19..23, 24..36];
    text.len() == 36
        && [8, 13, 18, 23].iter().all(|at| text[*at] == b'-')
        && parts.into_iter().all(|part| is_lower_hex(&text[part]))
        && text.iter().any(|byte| !matches!(byte, b'0' | b'-'))
}

/// Whether a text is surely a time: `2026-11-30T08:17:00.824Z`, or with an offset.
pub(super) fn is_date(text: &[u8]) -> bool {
    text.split_at_checked(19).is_some_and(|(moment, rest)| is_moment(moment) && is_end_of_date(rest))
}

/// Whether a text is surely the stamp of a line of the text log: `2026-11-30T08:17:00.824+0000`.
pub(super) fn is_stamp(text: &[u8]) -> bool {
    let is_end = |rest: &[u8]| match rest {
        [b'.', a, b, c, zone @ ..] if [a, b, c].iter().all(|digit| digit.is_ascii_digit()) => match zone {
            b"Z" => true,
            [b'+' | b'-', b'0' | b'1', h, b'0'..=b'5', m] => h.is_ascii_digit() && m.is_ascii_digit(),
            _ => false,
        },
        _ => false,
    };
    text.split_at_checked(19).is_some_and(|(moment, rest)| is_moment(moment) && is_end(rest))
}

/// Whether a text is a time in milliseconds since 1970 as legacy documents have it, of the usual size.
pub(super) fn is_time(text: &[u8]) -> bool {
    (10..=14).contains(&text.len()) && text[0] != b'0' && text.iter().all(u8::is_ascii_digit)
}

/// `2026-11-30T08:17:00`, every part in range.
fn is_moment(stamp: &[u8]) -> bool {
    let pair = |at: usize| match stamp[at..at + 2] {
        [tens @ b'0'..=b'9', ones @ b'0'..=b'9'] => (tens - b'0') * 10 + (ones - b'0'),
        _ => u8::MAX,
    };
    let punctuated =
        stamp[4] == b'-' && stamp[7] == b'-' && stamp[10] == b'T' && stamp[13] == b':' && stamp[16] == b':';
    let is_leap_year = pair(2) % 4 == 0 && (pair(2) != 0 || pair(0) % 4 == 0);
    let days = match pair(5) {
        2 => 28 + u8::from(is_leap_year),
        4 | 6 | 9 | 11 => 30,
        1..=12 => 31,
        _ => 0,
    };
    let in_range = (10..=89).contains(&pair(0)) && pair(2) < 100 && (1..=days).contains(&pair(8));
    punctuated && in_range && pair(11) < 24 && pair(14) < 60 && pair(17) < 60
}

/// `.824Z`, `Z`, `.824+00:00`.
fn is_end_of_date(text: &[u8]) -> bool {
    let zone = match text {
        [b'.', a, b, c, zone @ ..] if [a, b, c].iter().all(|digit| digit.is_ascii_digit()) => zone,
        zone => zone,
    };
    match zone {
        b"Z" => true,
        [b'+' | b'-', b'0' | b'1', h, b':', b'0'..=b'5', m] => h.is_ascii_digit() && m.is_ascii_digit(),
        _ => false,
    }
}

/// The class of a regular expression: whether it begins with a literal prefix, where that is plain to see.
pub(super) fn of_regex(pattern: &[u8]) -> Class {
    let (is_anchored, rest) = pattern.strip_prefix(b"^").map_or((false, pattern), |rest| (true, rest));
    let is_literal = !rest.is_empty() && rest.iter().all(|byte| byte.is_ascii_alphanumeric() || *byte == b'-');
    match (is_literal, is_anchored) {
        (true, true) => Class::AnchoredRegex,
        (true, false) => Class::Regex,
        (false, _) => Class::Verbatim,
    }
}

/// What two literals are to each other.
pub(super) enum Relation {
    /// How they compare in the order of BSON.
    Order(Ordering),
    /// Their types tell.
    OfTypes,
    /// Their texts do not tell it for sure.
    Unknown,
}

/// What two literals are to each other, as far as their texts tell.
pub(super) fn relation(one: (Class, &[u8]), other: (Class, &[u8])) -> Relation {
    let ((class, a), (other, b)) = (one, other);
    match (family(class), family(other)) {
        (Some(mine), Some(theirs)) if mine != theirs => return Relation::OfTypes,
        (Some(_), Some(_)) => {}
        _ => return Relation::Unknown,
    }
    let number = |text: &[u8]| std::str::from_utf8(text).ok()?.parse::<i64>().ok();
    let order = match (class, other) {
        (Class::Int | Class::Long | Class::Zero, Class::Int | Class::Long | Class::Zero) => {
            number(a).zip(number(b)).map(|(a, b)| a.cmp(&b))
        }
        _ if class != other => None,
        _ => (is_told_by_text(class, a) && is_told_by_text(class, b) && is_alike(class, a, b)).then(|| a.cmp(b)),
    };
    order.map_or(Relation::Unknown, Relation::Order)
}

/// The types that are compared by value with each other; `None` where a class is of several types.
fn family(class: Class) -> Option<u8> {
    Some(match class {
        Class::Int | Class::Long | Class::Zero | Class::Double | Class::Decimal => 0,
        // A regular expression bounds strings.
        Class::Text | Class::Regex | Class::AnchoredRegex => 1,
        Class::ObjectId => 2,
        Class::Date => 3,
        Class::Uuid => 4,
        Class::Word => 5,
        Class::List | Class::Verbatim => return None,
    })
}

/// Whether texts of this class are equal or in order just as their values are, given that they are alike.
pub(super) fn is_told_by_text(class: Class, text: &[u8]) -> bool {
    match class {
        Class::Int | Class::Long | Class::ObjectId | Class::Uuid => true,
        Class::Date => text.ends_with(b"Z") || is_time(text),
        Class::Text => memchr::memchr(b'\\', text).is_none(),
        _ => false,
    }
}

/// Whether two texts of one class are spelled in the same form.
pub(super) fn is_alike(class: Class, a: &[u8], b: &[u8]) -> bool {
    class != Class::Date || a.len() == b.len()
}
