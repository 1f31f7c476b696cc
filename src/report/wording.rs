//! Numbers as people read them: `1,204`, `14 min`, `31 %`. Integer arithmetic only.

/// With thousands separators.
pub fn number(n: u64) -> String {
    let digits = n.to_string();
    let mut text = String::with_capacity(digits.len() + digits.len() / 3);
    for (at, digit) in digits.chars().enumerate() {
        if at > 0 && (digits.len() - at).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

/// `3 records`, `1 record`.
pub fn counted(n: u64, noun: &str) -> String {
    format!("{} {noun}{}", number(n), if n == 1 { "" } else { "s" })
}

/// A duration with two units at most.
pub fn duration(millis: u64) -> String {
    let seconds = millis / 1000;
    match seconds {
        0 => format!("{millis} ms"),
        1..=9 => format!("{}.{} s", seconds, millis % 1000 / 100),
        10..=59 => format!("{seconds} s"),
        60..=599 => two_units(seconds / 60, "min", seconds % 60, "s"),
        600..=3599 => format!("{} min", seconds / 60),
        3600..=86_399 => two_units(seconds / 3600, "h", seconds % 3600 / 60, "min"),
        _ => two_units(seconds / 86_400, "d", seconds % 86_400 / 3600, "h"),
    }
}

fn two_units(large: u64, large_unit: &str, small: u64, small_unit: &str) -> String {
    if small == 0 {
        return format!("{} {large_unit}", number(large));
    }
    format!("{} {large_unit} {small} {small_unit}", number(large))
}

/// `part` of `whole`; `None` if there is no whole.
pub fn percent(part: u64, whole: u64) -> Option<String> {
    if whole == 0 {
        return None;
    }
    let permille = (u128::from(part) * 1000 + u128::from(whole) / 2) / u128::from(whole);
    Some(match permille {
        0 if part > 0 => "<0.1 %".to_owned(),
        1..=99 => format!("{}.{} %", permille / 10, permille % 10),
        _ => format!("{} %", (permille + 5) / 10),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_have_thousands_separators() {
        for (n, text) in [(0, "0"), (999, "999"), (1204, "1,204"), (u64::MAX, "18,446,744,073,709,551,615")] {
            assert_eq!(number(n), text);
        }
    }

    #[test]
    fn durations_have_units_that_fit() {
        for (millis, text) in [
            (0, "0 ms"),
            (812, "812 ms"),
            (3_450, "3.4 s"),
            (59_999, "59 s"),
            (61_000, "1 min 1 s"),
            (843_000, "14 min"),
            (7_500_000, "2 h 5 min"),
            (86_400_000, "1 d"),
        ] {
            assert_eq!(duration(millis), text);
        }
    }

    #[test]
    fn percentages_are_rounded_and_never_hide_that_there_is_something() {
        for (part, whole, text) in
            [(31, 100, "31 %"), (1, 3000, "<0.1 %"), (42, 1000, "4.2 %"), (0, 7, "0 %"), (7, 7, "100 %")]
        {
            assert_eq!(percent(part, whole).as_deref(), Some(text));
        }
        assert_eq!(percent(1, 0), None);
    }
}
