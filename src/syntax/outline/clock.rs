//! Times of records: as long as the minute stays the same, only seconds are read.

/// Reads times; remembers the last minute.
#[derive(Debug, Default)]
pub(super) struct Clock {
    /// `2026-11-30T08:17` and the zone, and what that is in milliseconds since 1970.
    minute: Vec<u8>,
    zone: Vec<u8>,
    millis: i64,
}

/// The length of `2026-11-30T08:17`.
const MINUTE: usize = 16;

impl Clock {
    /// Milliseconds since 1970 of a time that [`super::literal::is_date`] takes for one.
    pub(super) fn millis(&mut self, time: &[u8]) -> Option<i64> {
        let number = |digits: &[u8]| digits.iter().fold(0, |sum, digit| sum * 10 + i64::from(digit - b'0'));
        let (minute, rest) = time.split_at_checked(MINUTE)?;
        let (millis, zone) = match rest {
            [b':', a, b, b'.', c, d, e, zone @ ..] => (number(&[*a, *b, *c, *d, *e]), zone),
            [b':', a, b, zone @ ..] => (number(&[*a, *b]) * 1000, zone),
            _ => return None,
        };
        if minute != self.minute || zone != self.zone {
            let text = [minute, b":00", zone].concat();
            let start: jiff::Timestamp = std::str::from_utf8(&text).ok()?.parse().ok()?;
            *self = Self { minute: minute.to_vec(), zone: zone.to_vec(), millis: start.as_millisecond() };
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
