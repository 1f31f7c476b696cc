//! Values that decide nothing are stepped over. They must be well-formed nevertheless; most of them look like one that was
//! stepped over before, but for its strings and numbers, and are recognised by that.

use crate::syntax::scanner::Scanner;

use super::gap::{Filling, Gap};
use super::tree::{Piece, Tree};

/// Values that were stepped over.
#[derive(Debug, Default)]
pub(super) struct Aside {
    tree: Tree,
    pieces: Vec<Piece>,
    found: u64,
    learned: u64,
}

/// So much text is kept, in bytes, and so many nodes.
const MOST_TEXT: usize = 1 << 17;
const MOST_NODES: usize = 1 << 12;

impl Aside {
    /// Steps over any value; its text.
    pub(super) fn value<'l>(&mut self, scanner: &mut Scanner<'l>) -> Option<&'l [u8]> {
        if !matches!(scanner.peek()?, b'{' | b'[') {
            return scanner.value();
        }
        let start = *scanner;
        let read = |gap: Gap, ahead: &mut Scanner<'l>| {
            let text = if gap == Gap::Text { ahead.string()?.raw } else { ahead.number()? };
            Some(Filling::plain(text))
        };
        if self.tree.follow(scanner, read, |_, _, _| {}).is_some() {
            self.found += 1;
            return Some(&scanner.line[start.at..scanner.at]);
        }
        *scanner = start;
        let text = scanner.value()?;
        if self.learned <= 256 + self.found / 16 {
            self.learn(text);
        }
        Some(text)
    }

    /// Remembers a value that is well-formed.
    fn learn(&mut self, text: &[u8]) {
        self.pieces.clear();
        let mut scanner = Scanner::new(text);
        while let Some(&next) = text.get(scanner.at) {
            let start = scanner.at;
            let (gap, is_read) = match next {
                b'"' => (Gap::Text, scanner.string().is_some()),
                b'-' | b'0'..=b'9' => (Gap::Number, scanner.number().is_some()),
                _ => {
                    scanner.at += 1;
                    continue;
                }
            };
            let end = scanner.at;
            // A name is text of the pattern.
            let is_name = gap == Gap::Text && scanner.peek() == Some(b':');
            if is_read && !is_name {
                self.pieces.push(Piece { start, end, gap, outcome: 0 });
            }
        }
        let (size, nodes) = self.tree.size();
        if size + text.len() > MOST_TEXT || nodes + 2 * self.pieces.len() > MOST_NODES {
            self.tree = Tree::default();
        }
        self.learned += 1;
        self.tree.insert(text, &self.pieces, 0);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_value_is_stepped_over_if_and_only_if_it_is_json_whatever_was_seen_before_it() {
        let values = [
            r#"{"a":1,"b":{"c":"x"},"d":[1,2,{"e":null}]}"#,
            r#"{"a":-12.5e3,"b":{"c":"a longer \"text\""},"d":[1,2,{"e":null}]}"#,
            r#"{"a":1,"b":{"c":"x"},"d":[1,2,{"e":true}]}"#,
            r#"{"a":"1","b":{}}"#,
            r#"[]"#,
            r#"[{}]"#,
            r#"{"a" : 1 , "b" : { "c" : "x" } }"#,
            r#"12"#,
        ];
        let broken = [
            r#"{"a":01,"b":{"c":"x"},"d":[1,2,{"e":null}]}"#,
            r#"{"a":1,"b":{"c":"\x"},"d":[1,2,{"e":null}]}"#,
            r#"{"a":1,"b":{"c":"x"},"d":[1,2,{"e":null]}"#,
            r#"{"a":1,"b":{"c":"x"}"#,
            r#"{"a":1 "b":{}}"#,
        ];
        let mut aside = Aside::default();
        for _ in 0..3 {
            for text in values {
                let line = format!("{text},\"more\":1}}");
                let mut scanner = Scanner::new(line.as_bytes());
                assert_eq!(aside.value(&mut scanner), Some(text.as_bytes()), "{text}");
                assert_eq!(scanner.at, text.len(), "{text}");
            }
            for text in broken {
                assert_eq!(aside.value(&mut Scanner::new(text.as_bytes())), None, "{text}");
            }
        }
        assert!(aside.found >= 2 * 7, "most are recognised");
    }
}
