//! Messages as Markdown in which foreign text stays text. The messages put user text in backticks, so what stands there
//! becomes a code span; of the rest, every word that is more than letters, digits and common punctuation becomes one too.
//! A code span holds no backtick and no line end, so nothing in it renders, links, or mentions anybody.

use super::escape::escape;

/// `text` as Markdown; line ends and what terminals act on are escaped.
pub fn markdown(text: &str) -> String {
    let escaped = escape(text);
    let parts: Vec<&str> = escaped.split('`').collect();
    let mut out = String::new();
    for (at, part) in parts.iter().enumerate() {
        // An odd number of backticks leaves the last one without a partner.
        let is_code = at % 2 == 1 && at + 1 < parts.len();
        if is_code {
            push_code(part, &mut out);
        } else {
            words(part, &mut out);
        }
    }
    out
}

/// `text` as a code span; a backtick in it becomes an apostrophe.
pub fn code(text: &str) -> String {
    let text = escape(text).replace('`', "'");
    // A span of blanks alone, or none at all, would be no span.
    if text.trim().is_empty() { "`' '`".to_owned() } else { format!("`{text}`") }
}

/// Markdown as a table cell. A `|` ends a cell even in a code span, and a backslash before it may itself be escaped.
pub fn cell(markdown: &str) -> String {
    markdown.replace('|', "\\u{7c}")
}

/// A fenced block of `text`, whose lines stay lines.
pub fn fenced(text: &str) -> String {
    let longest = text.split(|c| c != '`').map(str::len).max().unwrap_or(0);
    let fence = "`".repeat(longest.max(2) + 1);
    format!("{fence}text\n{}\n{fence}", text.trim_end_matches('\n'))
}

fn words(text: &str, out: &mut String) {
    for (at, word) in text.split(' ').enumerate() {
        if at > 0 {
            out.push(' ');
        }
        if is_harmless(word) { out.push_str(word) } else { push_code(word, out) }
    }
}

/// Two spans that touch would become one.
fn push_code(text: &str, out: &mut String) {
    if out.ends_with('`') {
        out.push(' ');
    }
    out.push_str(&code(text));
}

/// Letters and digits, in them a hyphen, an apostrophe or (between digits) a point or comma; punctuation around them.
fn is_harmless(word: &str) -> bool {
    let inner = word.trim_start_matches('(').trim_end_matches([',', '.', ';', ':', ')', '%', '?']);
    let chars: Vec<char> = inner.chars().collect();
    let neighbours =
        |at: usize, is: fn(&char) -> bool| at > 0 && is(&chars[at - 1]) && chars.get(at + 1).is_some_and(is);
    chars.iter().enumerate().all(|(at, c)| match c {
        '.' | ',' => neighbours(at, char::is_ascii_digit),
        '-' | '\'' => neighbours(at, |c| c.is_alphanumeric()),
        c => c.is_alphanumeric() || matches!(c, '…' | '×'),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn messages_keep_their_looks() {
        for text in [
            "`find` on `shop.orders` is sent to all 4 shards (MongoDB 7.0)",
            "it doesn't matter, 1,204 times: multi-shard, 4.2 % of the time",
            "move it to the front; `$match` first",
        ] {
            assert_eq!(markdown(text), text);
        }
    }

    #[test]
    fn whatever_would_render_link_or_mention_becomes_code() {
        for (text, shown) in [
            ("`a`b <img src=x> c`", "`a`b `<img` `src=x>` c"),
            ("`a`<img>", "`a` `<img>`"),
            ("see [me](http://evil.example)", "see `[me](http://evil.example)`"),
            ("hi @everyone #12 www.evil.example :tada:", "hi `@everyone` `#12` `www.evil.example` `:tada:`"),
            ("**bold** a_b_c a|b", "`**bold**` `a_b_c` `a|b`"),
            ("two\nlines", "`two\\nlines`"),
        ] {
            assert_eq!(markdown(text), shown, "{text}");
        }
    }

    #[test]
    fn a_backtick_without_a_partner_begins_no_span() {
        assert_eq!(markdown("an open ` end"), "an open  end");
    }

    #[test]
    fn a_cell_has_no_bar_that_could_end_it() {
        assert_eq!(cell(&code("a\\|b")), "`a\\\\u{7c}b`");
    }

    #[test]
    fn a_fence_is_longer_than_any_run_of_backticks_in_it() {
        assert_eq!(fenced("a ```` b\n"), "`````text\na ```` b\n`````");
        assert_eq!(fenced("plain"), "```text\nplain\n```");
    }
}
