//! JSON as servers print it, read in one pass. What is spelled in another way (tabs and line ends between tokens, names with
//! escapes, deep nesting) or malformed is left to `serde_json`, which knows what is wrong with it.

use crate::model::{Array, Document, Field, Node, Value};
use crate::text::Span;

use super::ext_json::{decoded, number, unwrapped, wrapped};
use super::scanner::Scanner;

/// Deeper values are left to others.
const MAX_DEPTH: usize = 64;

/// The members of the object that is the whole of `text`: names with their quotes, and values, still raw.
pub(super) fn members(text: &str) -> Option<Vec<(&str, &str)>> {
    let mut scanner = scanner(text)?;
    let mut members = Vec::with_capacity(16);
    scanner.take(b'{')?;
    if !scanner.takes(b'}')? {
        loop {
            let name = quoted(text, &mut scanner)?;
            scanner.take(b':')?;
            let value = scanner.value()?.len();
            members.push((name, &text[scanner.at - value..scanner.at]));
            if !scanner.goes_on(b'}')? {
                break;
            }
        }
    }
    is_over(&mut scanner).then_some(members)
}

/// The value that is the whole of `text`, in which its spans are, moved by `base`.
pub(super) fn value(text: &str, base: usize) -> Option<Node> {
    let mut reader = Reader { text, base, scanner: scanner(text)? };
    let node = reader.node(0)?;
    is_over(&mut reader.scanner).then_some(node)
}

/// The item at that place of the array that `text` is.
pub(super) fn item(text: &str, at: usize) -> Option<Node> {
    let mut scanner = Scanner::new(text.as_bytes());
    scanner.take(b'[')?;
    for _ in 0..at {
        scanner.value()?;
        scanner.goes_on(b']')?.then_some(())?;
    }
    let item = scanner.value()?.len();
    let start = scanner.at - item;
    value(&text[start..scanner.at], start)
}

/// A scanner at the beginning of a text without control characters, which a string may not have.
fn scanner(text: &str) -> Option<Scanner<'_>> {
    // Not `any`: without a way out of the loop it takes many bytes at a time.
    let has_control = text.bytes().fold(false, |found, byte| found | (byte < 0x20));
    (!has_control).then(|| Scanner::new(text.as_bytes()))
}

fn is_over(scanner: &mut Scanner<'_>) -> bool {
    scanner.peek().is_none()
}

fn quoted<'a>(text: &'a str, scanner: &mut Scanner<'_>) -> Option<&'a str> {
    let length = scanner.string()?.raw.len() + 2;
    Some(&text[scanner.at - length..scanner.at])
}

struct Reader<'a> {
    text: &'a str,
    base: usize,
    scanner: Scanner<'a>,
}

impl Reader<'_> {
    fn span(&self, start: usize) -> Span {
        Span::new(self.base + start, self.base + self.scanner.at)
    }

    fn node(&mut self, depth: usize) -> Option<Node> {
        if depth > MAX_DEPTH {
            return None;
        }
        let next = self.scanner.peek()?;
        let start = self.scanner.at;
        let value = match next {
            b'{' => match wrapped(&self.text[start..]) {
                Some((value, length)) => {
                    self.scanner.at += length;
                    value
                }
                None => self.object(depth)?,
            },
            b'[' => self.array(depth)?,
            b'"' => Value::String(decoded(quoted(self.text, &mut self.scanner)?).ok()?),
            b't' | b'f' | b'n' => match self.scanner.value()? {
                b"true" => Value::Bool(true),
                b"false" => Value::Bool(false),
                _ => Value::Null,
            },
            _ => {
                let length = self.scanner.number()?.len();
                number(&self.text[self.scanner.at - length..self.scanner.at])
            }
        };
        Some(Node { value, span: self.span(start) })
    }

    fn object(&mut self, depth: usize) -> Option<Value> {
        self.scanner.take(b'{')?;
        let mut fields = Vec::new();
        if !self.scanner.takes(b'}')? {
            loop {
                self.scanner.peek()?;
                let start = self.scanner.at;
                let name = decoded(quoted(self.text, &mut self.scanner)?).ok()?;
                let name_span = self.span(start);
                self.scanner.take(b':')?;
                let node = self.node(depth + 1)?;
                fields.push(Field { name, name_span, node });
                if !self.scanner.goes_on(b'}')? {
                    break;
                }
            }
        }
        let document = Document { fields, partial: false };
        Some(unwrapped(&document).unwrap_or(Value::Document(document)))
    }

    fn array(&mut self, depth: usize) -> Option<Value> {
        self.scanner.take(b'[')?;
        let mut items = Vec::new();
        if !self.scanner.takes(b']')? {
            loop {
                items.push(self.node(depth + 1)?);
                if !self.scanner.goes_on(b']')? {
                    break;
                }
            }
        }
        Some(Value::Array(Array { items, partial: false }))
    }
}
