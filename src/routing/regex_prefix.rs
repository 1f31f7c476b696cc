//! The literal beginning that every match of a regex has, as far as the server sees it.

/// The prefix that a pattern with these flags pins down; empty if it pins down none.
pub(super) fn literal_prefix(pattern: &str, flags: &str) -> String {
    let (rest, multiline_allowed) = match (pattern.strip_prefix("\\A"), pattern.strip_prefix('^')) {
        (Some(rest), _) => (rest, true),
        (None, Some(rest)) => (rest, false),
        (None, None) => return String::new(),
    };
    let known = |flag: char| matches!(flag, 's' | 'x') || (flag == 'm' && multiline_allowed);
    if !flags.chars().all(known) || has_unescaped_alternative(rest) {
        return String::new();
    }
    take_literals(rest, flags.contains('x'))
}

/// A `|` anywhere ends the analysis, even one inside `[..]` or `\Q..\E`; only a backslash right before it hides it.
fn has_unescaped_alternative(pattern: &str) -> bool {
    let mut characters = pattern.chars();
    while let Some(character) = characters.next() {
        match character {
            '\\' => drop(characters.next()),
            '|' => return true,
            _ => {}
        }
    }
    false
}

fn take_literals(pattern: &str, extended: bool) -> String {
    let mut prefix = String::new();
    let mut rest = pattern;
    while let Some(character) = rest.chars().next() {
        rest = &rest[character.len_utf8()..];
        match character {
            '*' | '?' => {
                prefix.pop();
                break;
            }
            '^' | '$' | '.' | '[' | '(' | ')' | '+' | '{' => break,
            '\\' => match rest.chars().next() {
                Some('Q') => {
                    let (literal, after) = rest[1..].split_once("\\E").unwrap_or((&rest[1..], ""));
                    prefix.push_str(literal);
                    rest = after;
                }
                // `\E` without its `\Q` means nothing.
                Some('E') => rest = &rest[1..],
                Some(escaped) if !escaped.is_ascii_alphanumeric() => {
                    prefix.push(escaped);
                    rest = &rest[escaped.len_utf8()..];
                }
                _ => break,
            },
            '#' if extended => break,
            blank if extended && blank.is_ascii_whitespace() => {}
            literal => prefix.push(literal),
        }
    }
    prefix
}

/// The upper end of the strings that begin with `prefix`, which is not empty: its last byte plus one. Where that is no UTF-8
/// text, the greatest character behind the prefix stands for it; no key lies between the two.
pub(super) fn successor(prefix: &str) -> String {
    let mut bytes = prefix.as_bytes().to_vec();
    if let Some(last) = bytes.last_mut() {
        *last = last.saturating_add(1);
    }
    String::from_utf8(bytes).unwrap_or_else(|_| format!("{prefix}\u{10ffff}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn literals_count_until_the_first_thing_that_can_vary() {
        for (pattern, flags, prefix) in [
            ("^ab*", "", "a"),
            ("^a+", "", "a"),
            ("^ab{2}", "", "ab"),
            ("\\Aab", "m", "ab"),
            ("^ab", "m", ""),
            ("^ab", "i", ""),
            ("ab", "", ""),
            ("^a|b", "", ""),
            ("^a[|]", "", ""),
            ("^a\\|b", "", "a|b"),
            ("^a\\.b", "", "a.b"),
            ("^a\\db", "", "a"),
            ("^\\Qa.b\\Ec", "", "a.bc"),
            ("^a b #c", "x", "ab"),
            ("^a b", "s", "a b"),
            ("^?", "", ""),
        ] {
            assert_eq!(literal_prefix(pattern, flags), prefix, "/{pattern}/{flags}");
        }
    }

    #[test]
    fn the_successor_is_the_last_byte_plus_one() {
        assert_eq!(successor("ab"), "ac");
        assert_eq!(successor("a\u{7f}"), "a\u{7f}\u{10ffff}");
    }
}
