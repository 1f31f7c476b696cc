//! A tolerant reading of a record: objects, arrays, keys and values as byte ranges. It takes JSON, the shell's
//! documents and lines of words with documents among them; it judges nothing, and bytes that fit nowhere become
//! parts of a value. One pass, and memory that does not grow with the record: of what no label touches only a
//! preview is kept, the rest is counted.

use std::ops::Range;

use memchr::memchr2;

/// Containers nested deeper than this are taken as plain values.
const MAX_DEPTH: usize = 200;
/// Of a run of untouched items, so many are kept at its start …
const HEAD: usize = 8;
/// … and so many at its end.
const TAIL: usize = 4;

/// What a node is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    /// Neither of the others; what it is does not matter here.
    Scalar,
    /// `{ … }`
    Object,
    /// `[ … ]`
    Array,
    /// The record itself: words and documents beside each other.
    Line,
}

/// A value with its key, if it has one.
#[derive(Debug, Clone)]
pub(super) struct Node {
    pub(super) key: Option<Range<usize>>,
    pub(super) value: Range<usize>,
    pub(super) kind: Kind,
    pub(super) items: Vec<Item>,
    /// Whether a label begins or ends in it.
    pub(super) touched: bool,
    /// Whether a container ends with its bracket.
    pub(super) closed: bool,
}

/// What a container holds.
#[derive(Debug, Clone)]
pub(super) enum Item {
    Node(Node),
    /// So many untouched items.
    Gap(usize, Range<usize>),
}

impl Node {
    fn new(kind: Kind, key: Option<Range<usize>>, start: usize) -> Self {
        Self { key, value: start..start, kind, items: Vec::new(), touched: false, closed: false }
    }

    /// Key and value.
    pub(super) fn range(&self) -> Range<usize> {
        self.key.as_ref().map_or(self.value.start, |key| key.start)..self.value.end
    }

    /// The nodes among the items.
    pub(super) fn nodes(&self) -> impl Iterator<Item = &Node> {
        self.items.iter().filter_map(Item::node)
    }

    fn push(&mut self, node: Node) {
        self.touched |= node.touched;
        self.items.push(Item::Node(node));
        let run = self.items.iter().rev().take_while(|item| !item.is_touched()).count();
        if run > HEAD + 1 + TAIL {
            self.close_up(self.items.len() - run + HEAD);
        }
    }

    /// Adds the item after the gap at `gap` to it; makes the gap if there is none.
    fn close_up(&mut self, gap: usize) {
        let (count, range) = match &self.items[gap] {
            Item::Gap(count, range) => (*count, range.clone()),
            Item::Node(node) => (1, node.range()),
        };
        let next = self.items.remove(gap + 1).range();
        self.items[gap] = Item::Gap(count + 1, range.start..next.end);
    }

    /// Forgets what no preview shows.
    fn prune(&mut self) {
        if self.touched {
            return;
        }
        for below in self.items.iter_mut().filter_map(Item::node_mut) {
            for deep in below.items.iter_mut().filter_map(Item::node_mut) {
                let count = deep.items.iter().map(Item::count).sum();
                if count > 0 {
                    deep.items = vec![Item::Gap(count, deep.value.clone())];
                }
            }
        }
    }
}

impl Item {
    pub(super) fn node(&self) -> Option<&Node> {
        match self {
            Self::Node(node) => Some(node),
            Self::Gap(..) => None,
        }
    }

    fn node_mut(&mut self) -> Option<&mut Node> {
        match self {
            Self::Node(node) => Some(node),
            Self::Gap(..) => None,
        }
    }

    pub(super) fn is_touched(&self) -> bool {
        self.node().is_some_and(|node| node.touched)
    }

    pub(super) fn range(&self) -> Range<usize> {
        match self {
            Self::Node(node) => node.range(),
            Self::Gap(_, range) => range.clone(),
        }
    }

    pub(super) fn count(&self) -> usize {
        match self {
            Self::Node(_) => 1,
            Self::Gap(count, _) => *count,
        }
    }
}

/// Reads `record`; `touches` are the bytes where labels begin and end, sorted. `None` if brackets and quotes do not
/// match or there are none: then the text itself says more than a tree of it.
pub(super) fn read(record: &[u8], touches: &[usize]) -> Option<Node> {
    let mut reader = Reader { record, touches, at: 0, stack: vec![Node::new(Kind::Line, None, 0)], pending: None };
    reader.run()?;
    reader.flush();
    let mut root = reader.stack.pop().filter(|_| reader.stack.is_empty())?;
    root.value = 0..record.len();
    root.touched = true;
    if root.nodes().all(|node| node.kind == Kind::Scalar) {
        return None;
    }
    Some(root)
}

struct Reader<'a> {
    record: &'a [u8],
    touches: &'a [usize],
    at: usize,
    /// Containers that are open, the record itself first.
    stack: Vec<Node>,
    /// A key or value that may still grow or turn out to be a key.
    pending: Option<Pending>,
}

struct Pending {
    key: Option<Range<usize>>,
    value: Option<Range<usize>>,
}

impl Reader<'_> {
    fn run(&mut self) -> Option<()> {
        while let Some(&byte) = self.record.get(self.at) {
            match byte {
                b'{' | b'[' if self.stack.len() <= MAX_DEPTH => self.open(byte),
                b'{' | b'[' => self.skip_container(),
                b'}' | b']' => self.close(byte)?,
                b',' => {
                    self.flush();
                    self.at += 1;
                }
                b':' => self.colon(),
                b' ' | b'\t' | b'\r' | b'\n' => self.space(),
                b'"' => {
                    let end = string_end(self.record, self.at)?;
                    self.scalar(end);
                }
                b'\'' | b'`' if self.begins_value() => {
                    // In the lines of a log an apostrophe is a character like others.
                    let end = quote_end(self.record, self.at).unwrap_or_else(|| word_end(self.record, self.at));
                    self.scalar(end);
                }
                _ => self.scalar(word_end(self.record, self.at)),
            }
        }
        Some(())
    }

    fn in_line(&self) -> bool {
        self.stack.len() == 1
    }

    /// Whether a string of the shell can begin here.
    fn begins_value(&self) -> bool {
        !self.in_line() && self.pending.as_ref().is_none_or(|pending| pending.value.is_none())
    }

    fn open(&mut self, byte: u8) {
        let kind = if byte == b'{' { Kind::Object } else { Kind::Array };
        // `find { … }` in a line of words: the word is an item of its own.
        if self.pending.as_ref().is_some_and(|pending| pending.value.is_some()) {
            self.flush();
        }
        let key = self.pending.take().and_then(|pending| pending.key);
        self.stack.push(Node::new(kind, key, self.at));
        self.at += 1;
    }

    fn close(&mut self, byte: u8) -> Option<()> {
        self.flush();
        let mut node = self.stack.pop()?;
        let fits = matches!((node.kind, byte), (Kind::Object, b'}') | (Kind::Array, b']'));
        self.at += 1;
        node.value.end = self.at;
        node.closed = true;
        node.touched |= self.is_touched(&node.range());
        node.prune();
        self.stack.last_mut().filter(|_| fits)?.push(node);
        Some(())
    }

    fn colon(&mut self) {
        self.at += 1;
        match &mut self.pending {
            Some(Pending { key: key @ None, value }) => *key = value.take(),
            Some(Pending { value, key: Some(key) }) => {
                let start = value.as_ref().map_or(key.end, |value| value.start);
                *value = Some(start..self.at);
            }
            None => self.pending = Some(Pending { key: None, value: Some(self.at - 1..self.at) }),
        }
    }

    /// Between the words of a line white space separates; elsewhere it means nothing.
    fn space(&mut self) {
        let next = self.record[self.at..].iter().position(|byte| !byte.is_ascii_whitespace());
        let next = next.map_or(self.record.len(), |next| self.at + next);
        // `is_ascii_whitespace` knows the form feed, which the caller does not: always move on.
        self.at = next.max(self.at + 1);
        let complete = self.pending.as_ref().is_some_and(|pending| pending.value.is_some());
        if self.in_line() && complete && self.record.get(self.at) != Some(&b':') {
            self.flush();
        }
    }

    /// A value, or more of one: `ISODate("…")` is three scalars without a separator.
    fn scalar(&mut self, end: usize) {
        let pending = self.pending.get_or_insert(Pending { key: None, value: None });
        let start = pending.value.as_ref().map_or(self.at, |value| value.start);
        pending.value = Some(start..end);
        self.at = end;
    }

    fn skip_container(&mut self) {
        let mut depth = 0_usize;
        let mut at = self.at;
        while let Some(&byte) = self.record.get(at) {
            match byte {
                b'"' => {
                    at = string_end(self.record, at).unwrap_or(self.record.len());
                    continue;
                }
                b'{' | b'[' => depth += 1,
                b'}' | b']' => depth -= 1,
                _ => {}
            }
            at += 1;
            if depth == 0 {
                break;
            }
        }
        self.scalar(at);
    }

    fn flush(&mut self) {
        let Some(Pending { key, value }) = self.pending.take() else { return };
        let empty = key.as_ref().map_or(self.at, |key| (key.end + 1).min(self.at));
        let mut node = Node::new(Kind::Scalar, key, empty);
        node.value = value.unwrap_or(empty..empty);
        node.touched = self.is_touched(&node.range());
        if let Some(parent) = self.stack.last_mut() {
            parent.push(node);
        }
    }

    fn is_touched(&self, range: &Range<usize>) -> bool {
        let next = self.touches.partition_point(|&touch| touch < range.start);
        self.touches.get(next).is_some_and(|&touch| touch < range.end)
    }
}

/// One past the closing quote.
fn string_end(record: &[u8], start: usize) -> Option<usize> {
    let mut at = start + 1;
    loop {
        at += memchr2(b'"', b'\\', record.get(at..)?)?;
        if record[at] == b'"' {
            return Some(at + 1);
        }
        at += 2;
    }
}

/// One past the quote that closes a string of the shell; those in quotes end on their line.
fn quote_end(record: &[u8], start: usize) -> Option<usize> {
    let quote = record[start];
    let mut at = start + 1;
    loop {
        match record.get(at)? {
            b'\\' => at += 1,
            b'\n' if quote != b'`' => return None,
            byte if *byte == quote => return Some(at + 1),
            _ => {}
        }
        at += 1;
    }
}

fn word_end(record: &[u8], start: usize) -> usize {
    let stop =
        |byte: &u8| matches!(byte, b'{' | b'}' | b'[' | b']' | b',' | b':' | b'"' | b' ' | b'\t' | b'\r' | b'\n');
    record[start..].iter().position(stop).map_or(record.len(), |len| start + len.max(1))
}
