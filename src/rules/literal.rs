//! Literals of queries in the words of a finding. A rule that quotes one writes it by [`literal`], which keeps the value and
//! its type apart until a report decides which of them is shown. The marks between are noncharacters, which Unicode sets
//! aside for use inside a program; text from outside cannot forge them into more than a replacement of itself.

use std::borrow::Cow;

const OPEN: char = '\u{fdd0}';
const TYPE: char = '\u{fdd1}';
const CLOSE: char = '\u{fdd2}';

/// A value as it is shown, and its type, which is shown where literals are not.
#[must_use]
pub fn literal(shown: &str, of_type: &str) -> String {
    let shown = shown.replace([OPEN, TYPE, CLOSE], "\u{fffd}");
    format!("{OPEN}{shown}{TYPE}<{of_type}>{CLOSE}")
}

/// Whether a text quotes literals.
#[must_use]
pub fn has_literals(text: &str) -> bool {
    text.contains(OPEN)
}

/// The text with its literals.
#[must_use]
pub fn with_literals(text: &str) -> Cow<'_, str> {
    resolved(text, |shown, _| shown)
}

/// The text with types in the place of literals.
#[must_use]
pub fn without_literals(text: &str) -> Cow<'_, str> {
    resolved(text, |_, of_type| of_type)
}

fn resolved(text: &str, choose: for<'t> fn(&'t str, &'t str) -> &'t str) -> Cow<'_, str> {
    if !has_literals(text) {
        return Cow::Borrowed(text);
    }
    let mut parts = text.split(OPEN);
    let mut out = parts.next().unwrap_or_default().to_owned();
    for part in parts {
        let (marked, rest) = part.split_once(CLOSE).unwrap_or((part, ""));
        // Without a type it is none of ours, and nobody knows what it is.
        let (shown, of_type) = marked.split_once(TYPE).unwrap_or(("", ""));
        out.push_str(choose(shown, of_type));
        out.push_str(rest);
    }
    Cow::Owned(out)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_literal_is_shown_as_itself_or_as_its_type() {
        let text = format!("`{}` and `{}` are hot", literal("\"acme\"", "string"), literal("7", "int"));
        assert_eq!(with_literals(&text), "`\"acme\"` and `7` are hot");
        assert_eq!(without_literals(&text), "`<string>` and `<int>` are hot");
        assert_eq!(with_literals("plain"), "plain");
    }

    #[test]
    fn marks_in_a_value_do_not_end_it() {
        let text = literal("a\u{fdd2}secret", "string");
        assert_eq!(without_literals(&text), "<string>");
    }

    #[test]
    fn marks_that_nobody_wrote_show_nothing() {
        assert_eq!(without_literals("a\u{fdd0}b"), "a");
        assert_eq!(with_literals("a\u{fdd0}b\u{fdd2}c"), "ac");
    }
}
