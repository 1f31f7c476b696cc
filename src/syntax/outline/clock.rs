//! Times of records: as long as the minute stays the same, only seconds are read.

use smallvec::SmallVec;

use super::gap;
use crate::syntax::scanner::Scanner;

/// Reads times; remembers the last minute.
#[derive(Debug, Default)]
pub(super) struct Clock {
    /// `2026-11-30T08:17` and the zone, and what that is in milliseconds since 1970.
    minute: [u8; MINUTE],
    zone: SmallVec<[u8; 8]>,
    millis: i64,
}

/// The length of `2026-11-30T08:17`.
const MINUTE: usize = 16;

impl Clock {
    /// Takes `{"$date":"…"}`; its text, and milliseconds since 1970 if it is of the minute that is remembered.
    pub(super) fn time<'l>(&self, scanner: &mut Scanner<'l>) -> Option<(&'l [u8], Option<i64>)> {
        const BEFORE: &[u8; 10] = b"{\"$date\":\"";
        let rest = &scanner.line[scanner.at..];
        let length = MINUTE + b":00.000".len() + self.zone.len();
        // In the text log zones have no colon.
        let is_of_json = matches!(self.zone.len(), 1 | 6);
        if is_of_json
            && let Some((before, rest)) = rest.split_first_chunk()
            && before == BEFORE
            && let Some((text, behind)) = rest.split_at_checked(length)
            && behind.starts_with(b"\"}")
            && let Some(millis) = self.of_minute(text)
        {
            scanner.at += BEFORE.len() + length + 2;
            return Some((text, Some(millis)));
        }
        gap::time(scanner).map(|text| (text, None))
    }

    /// Milliseconds since 1970 of a time in the minute that is remembered.
    fn of_minute(&self, time: &[u8]) -> Option<i64> {
        let (minute, rest) = time.split_first_chunk()?;
        let (&[colon, a, b, point, c, d, e], zone) = rest.split_first_chunk()?;
        let digits = [a, b, c, d, e].map(|digit| digit.wrapping_sub(b'0'));
        let is_like = *minute == self.minute && colon == b':' && point == b'.' && zone == self.zone.as_slice();
        let is_usual = is_like && digits[0] < 6 && digits.iter().all(|digit| *digit < 10);
        is_usual.then(|| self.millis + digits.iter().fold(0, |sum, digit| sum * 10 + i64::from(*digit)))
    }

    /// Milliseconds since 1970 of a time that [`super::literal::is_date`] takes for one.
    pub(super) fn millis(&mut self, time: &[u8]) -> Option<i64> {
        if let Some(millis) = self.of_minute(time) {
            return Some(millis);
        }
        let number = |digits: &[u8]| digits.iter().fold(0, |sum, digit| sum * 10 + i64::from(digit - b'0'));
        let (minute, rest) = time.split_first_chunk::<MINUTE>()?;
        let (millis, zone) = match rest {
            [b':', a, b, b'.', c, d, e, zone @ ..] => (number(&[*a, *b, *c, *d, *e]), zone),
            [b':', a, b, zone @ ..] => (number(&[*a, *b]) * 1000, zone),
            _ => return None,
        };
        if *minute != self.minute || zone != self.zone.as_slice() {
            let text = [minute, &b":00"[..], zone].concat();
            let start: jiff::Timestamp = std::str::from_utf8(&text).ok()?.parse().ok()?;
            *self = Self { minute: *minute, zone: zone.into(), millis: start.as_millisecond() };
        }
        Some(self.millis + millis)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_time_is_the_same_whatever_was_read_before_it() {
        let texts = [
            "2024-05-14T09:12:03.481Z",
            "2024-05-14T09:12:59Z",
            "2024-05-14T09:12:00.000+02:30",
            "2024-05-14T09:13:00.001Z",
            "1969-12-31T23:59:59.999-01:00",
        ];
        let mut clock = Clock::default();
        for text in texts.iter().chain(texts.iter().rev()) {
            let whole: jiff::Timestamp = text.parse().expect("a time");
            assert_eq!(clock.millis(text.as_bytes()), Some(whole.as_millisecond()), "{text}");
        }
    }
}
