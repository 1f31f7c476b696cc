//! Breaking lines of escaped text at a width.

use super::escape::columns;

/// Breaks `text` between words so that no row is wider than `width`, unless a word is. What stands in backticks is one
/// word if it fits.
pub fn wrap(text: &str, width: usize) -> Vec<String> {
    let split = |word| if columns(word) > width { word.split(' ').collect() } else { vec![word] };
    fill(words(text).into_iter().flat_map(split), width)
}

/// Puts `pieces` in rows, none wider than `width` unless a piece is.
pub fn fill<'a>(pieces: impl IntoIterator<Item = &'a str>, width: usize) -> Vec<String> {
    let mut rows: Vec<String> = Vec::new();
    for piece in pieces {
        match rows.last_mut() {
            Some(row) if columns(row) + 1 + columns(piece) <= width => {
                row.push(' ');
                row.push_str(piece);
            }
            _ => rows.push(piece.to_owned()),
        }
    }
    rows
}

/// Splits at the spaces that are not in backticks.
fn words(text: &str) -> Vec<&str> {
    let mut words = Vec::new();
    let (mut start, mut quoted) = (0, false);
    for (at, c) in text.char_indices() {
        match c {
            '`' => quoted = !quoted,
            ' ' if !quoted => {
                words.push(&text[start..at]);
                start = at + 1;
            }
            _ => {}
        }
    }
    words.push(&text[start..]);
    words
}

/// The beginning of `text` in `width` columns, with `ellipsis` at its end if something is missing.
pub fn cut(text: &str, width: usize, ellipsis: &str) -> String {
    if columns(text) <= width {
        return text.to_owned();
    }
    let mut used = columns(ellipsis);
    let fits = |c: &char| {
        used += columns(c.encode_utf8(&mut [0; 4]));
        used <= width
    };
    let mut shown: String = text.chars().take_while(fits).collect();
    shown.push_str(ellipsis);
    shown
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quoted_text_is_not_broken_if_it_fits() {
        assert_eq!(wrap("add it to `{ a: 1, b: 1 }` now", 18), ["add it to", "`{ a: 1, b: 1 }`", "now"]);
        assert_eq!(wrap("the `very long key here` ends", 10), ["the `very", "long key", "here` ends"]);
    }

    #[test]
    fn a_backtick_without_a_partner_does_no_harm() {
        assert_eq!(wrap("an `open one and more", 8), ["an `open", "one and", "more"]);
    }

    #[test]
    fn a_cut_text_fits_with_its_mark() {
        assert_eq!(cut("訂單訂單", 5, "…"), "訂單…");
        assert_eq!(cut("short", 5, "…"), "short");
    }
}
