//! Documents and arrays of the text log that have one reading, in one pass. What else there is (code, strings with quotes in
//! them, what was cut) is left to `document.rs`, which tells what is wrong and where.

use crate::model::{Array, Document, Field, Node, Value};
use crate::syntax::scanner::behind_blanks;
use crate::text::Span;

use super::{spelling, value};

/// Deeper values are left to others.
const MAX_DEPTH: usize = 64;

/// The document or array that `text` begins with, and its length; spans are those of `text`, moved by `base` bytes.
pub(super) fn read(text: &str, base: usize) -> Option<(Node, usize)> {
    let (node, end) = Reader { text, base }.value(0, 0)?;
    // Where a string before the last bracket ends depends on what is behind that.
    let goes_on = text.as_bytes().get(end).is_none_or(|next| matches!(next, b' ' | b',' | b'}' | b']'));
    goes_on.then_some((node, end))
}

/// The value that is the whole of `text`.
pub(super) fn whole(text: &str) -> Option<Node> {
    let (node, end) = Reader { text, base: 0 }.value(0, 0)?;
    (end == text.len()).then_some(node)
}

/// The item at that place of the array that is the whole of `text`.
pub(super) fn item(text: &str, at: usize) -> Option<Node> {
    let reader = Reader { text, base: 0 };
    let (mut items, mut found) = (0.., None);
    (reader.byte(0)? == b'[').then_some(())?;
    let end = reader.parts(0, b']', 0, |start| {
        if items.next() != Some(at) {
            return spelling::end_of_value(text.as_bytes(), start);
        }
        let (node, end) = reader.value(start, 1)?;
        found = Some(node);
        Some(end)
    })?;
    found.filter(|_| end == text.len())
}

#[derive(Clone, Copy)]
struct Reader<'a> {
    text: &'a str,
    base: usize,
}

impl Reader<'_> {
    fn byte(self, at: usize) -> Option<u8> {
        self.text.as_bytes().get(at).copied()
    }

    fn span(self, start: usize, end: usize) -> Span {
        Span::new(self.base + start, self.base + end)
    }

    /// The value that begins at `start`, and where it ends.
    fn value(self, start: usize, depth: usize) -> Option<(Node, usize)> {
        let (value, end) = match self.byte(start)? {
            b'{' => self.document(start, depth)?,
            b'[' => self.array(start, depth)?,
            first => {
                let end = spelling::end_of_simple(self.text.as_bytes(), start, first)?;
                (simple(&self.text[start..end])?, end)
            }
        };
        Some((Node { value, span: self.span(start, end) }, end))
    }

    fn document(self, open: usize, depth: usize) -> Option<(Value, usize)> {
        let mut document = Document::default();
        let end = self.parts(open, b'}', depth, |start| {
            let colon = spelling::end_of_name(self.text.as_bytes(), start)?;
            let begin = behind_blanks(self.text.as_bytes(), colon + 1);
            let name = &self.text[start..colon];
            let (node, end) = self.value(begin, depth + 1)?;
            document.fields.push(Field { name: name.to_owned(), name_span: self.span(start, colon), node });
            Some(end)
        })?;
        Some((Value::Document(document), end))
    }

    fn array(self, open: usize, depth: usize) -> Option<(Value, usize)> {
        let mut array = Array::default();
        let end = self.parts(open, b']', depth, |start| {
            let (node, end) = self.value(start, depth + 1)?;
            array.items.push(node);
            Some(end)
        })?;
        Some((Value::Array(array), end))
    }

    /// What stands between brackets, part by part: `part` tells where the one ends that begins at a place.
    fn parts(
        self,
        open: usize,
        close: u8,
        depth: usize,
        mut part: impl FnMut(usize) -> Option<usize>,
    ) -> Option<usize> {
        let bytes = self.text.as_bytes();
        let mut at = behind_blanks(bytes, open + 1);
        (depth <= MAX_DEPTH).then_some(())?;
        if self.byte(at)? == close {
            return Some(at + 1);
        }
        loop {
            at = behind_blanks(bytes, part(at)?);
            match self.byte(at)? {
                b',' => at = behind_blanks(bytes, at + 1),
                next if next == close => return Some(at + 1),
                _ => return None,
            }
        }
    }
}

/// A value without parts that is the whole of `text`.
fn simple(text: &str) -> Option<Value> {
    Some(match text.as_bytes()[0] {
        b'0'..=b'9' | b'-' => value::number(text),
        b'"' => value::string(&text[1..text.len() - 1]),
        b'/' => {
            let (pattern, options) = text[1..].split_once('/')?;
            Value::Regex { pattern: pattern.into(), options: options.into() }
        }
        _ => match (text.strip_suffix(')'), text.split_once('|')) {
            (Some(call), _) => {
                let (name, arguments) = call.split_once('(')?;
                value::typed(name, arguments)
            }
            (None, Some((millis, increment))) => value::old_timestamp(millis.strip_prefix("Timestamp ")?, increment),
            (None, None) => value::constant(text)?,
        },
    })
}
