//! Texts with gaps, kept as one tree: what many have in common is there once, and is compared once.
//!
//! Following a text touches little memory: nodes are small and stand in one list, their texts in one other, and texts are
//! compared sixteen bytes at a time.

use wide::u8x16;

use super::gap::{Filling, Gap};
use crate::syntax::scanner::Scanner;

/// A gap of a text.
#[derive(Debug, Clone, Copy)]
pub(super) struct Piece {
    pub(super) start: usize,
    pub(super) end: usize,
    pub(super) gap: Gap,
    /// What was read of it that decides.
    pub(super) outcome: u32,
}

/// Texts with gaps, and the number of each.
#[derive(Debug)]
pub(super) struct Tree {
    nodes: Vec<Node>,
    /// The texts of all nodes, and some bytes more, so that each can be looked at beyond its end.
    texts: Vec<u8>,
}

/// The place of a node in the list.
type Id = u32;

/// No node, or no end.
const NONE: u32 = u32::MAX;

/// Some text, what leads to it, and what follows on it.
#[derive(Debug, Clone, Copy)]
struct Node {
    /// What has to be read before the text; what of it decides. The text's first byte, if nothing has to be.
    before: Option<Gap>,
    outcome: u32,
    /// Where the text stands.
    start: u32,
    length: u32,
    /// Those that may follow are a list: its first, and the next one in the list that this is in.
    child: Id,
    sibling: Id,
    /// The number of the text that may end here.
    end: u32,
}

/// A place in the tree: so many bytes into the text of a node.
#[derive(Debug, Clone, Copy)]
struct Place {
    node: Id,
    offset: usize,
}

/// So many bytes of a text are looked at at once.
pub(super) const WIDTH: usize = 16;

const ROOT: Node = Node { before: None, outcome: 0, start: 0, length: 0, child: NONE, sibling: NONE, end: NONE };

impl Default for Tree {
    fn default() -> Self {
        Self { nodes: vec![ROOT], texts: vec![0; WIDTH] }
    }
}

/// Whether `line` begins with the first `length` bytes of `padded`, which is longer by [`WIDTH`] at least.
#[inline]
pub(super) fn begins_with(line: &[u8], padded: &[u8], length: usize) -> bool {
    let whole = length / WIDTH;
    let (line_chunks, padded_chunks) = (line.as_chunks::<WIDTH>().0, padded.as_chunks::<WIDTH>().0);
    let (Some((line_chunks, [a, ..])), Some((padded_chunks, [b, ..]))) =
        (line_chunks.split_at_checked(whole), padded_chunks.split_at_checked(whole))
    else {
        // The line ends soon.
        return line.get(..length).is_some_and(|rest| rest == &padded[..length]);
    };
    let rest = u8x16::new(*a).cmp_eq(u8x16::new(*b)).move_mask().trailing_ones() as usize;
    // Not `==`, which calls a function for a few bytes.
    rest >= length % WIDTH && line_chunks.iter().zip(padded_chunks).all(|(a, b)| a == b)
}

impl Tree {
    /// Bytes of text and nodes.
    pub(super) fn size(&self) -> (usize, usize) {
        (self.texts.len(), self.nodes.len())
    }

    /// Follows what comes next as far as a text of the tree goes; its number. `read` reads a gap, if it is one of that kind,
    /// at a place of the tree; `take` takes where those on the way stand and what was read of them.
    pub(super) fn follow<'l>(
        &self,
        scanner: &mut Scanner<'l>,
        mut read: impl FnMut(Gap, usize, &mut Scanner<'l>) -> Option<Filling<'l>>,
        mut take: impl FnMut(Gap, (usize, usize), &Filling<'l>),
    ) -> Option<u32> {
        let line = scanner.line;
        let mut node = &self.nodes[0];
        loop {
            let length = node.length as usize;
            if !begins_with(&line[scanner.at..], &self.texts[node.start as usize..], length) {
                return None;
            }
            scanner.at += length;
            let (mut next, mut tried, mut filled, mut end) = (node.child, None, None, 0);
            node = loop {
                let Some(child) = self.nodes.get(next as usize) else { return (node.end != NONE).then_some(node.end) };
                match child.before {
                    None if line.get(scanner.at).is_some_and(|byte| u32::from(*byte) == child.outcome) => break child,
                    None => {}
                    Some(gap) => {
                        if tried != Some(gap) {
                            let mut ahead = *scanner;
                            filled = read(gap, next as usize, &mut ahead);
                            (tried, end) = (Some(gap), ahead.at);
                        }
                        if let Some(filling) = &filled
                            && filling.outcome == child.outcome
                        {
                            take(gap, (scanner.at, end), filling);
                            scanner.at = end;
                            break child;
                        }
                    }
                }
                next = child.sibling;
            };
        }
    }

    /// Puts in a text with gaps. Its number is `number`, or the one that it has already.
    pub(super) fn insert(&mut self, text: &[u8], pieces: &[Piece], number: u32) -> u32 {
        let mut at = Place { node: 0, offset: 0 };
        let mut done = 0;
        for piece in pieces {
            at = self.grow(at, &text[done..piece.start]);
            self.split(at);
            let node = self.follower(at.node, Some(piece.gap), piece.outcome);
            (at, done) = (Place { node, offset: 0 }, piece.end);
        }
        at = self.grow(at, &text[done..]);
        self.split(at);
        let end = &mut self.node(at.node).end;
        if *end == NONE {
            *end = number;
        }
        *end
    }

    fn node(&mut self, id: Id) -> &mut Node {
        &mut self.nodes[id as usize]
    }

    /// Follows `text` from a place in the tree, and puts in what is missing.
    fn grow(&mut self, mut at: Place, mut text: &[u8]) -> Place {
        loop {
            let Node { start, length, child, end, .. } = *self.node(at.node);
            let known = &self.texts[start as usize..][at.offset..length as usize];
            let common = known.iter().zip(text).take_while(|(a, b)| a == b).count();
            (at.offset, text) = (at.offset + common, &text[common..]);
            let Some(first) = text.first() else { return at };
            // One that was put in just now may have any text.
            let is_new = at.node != 0 && length == 0 && child == NONE && end == NONE;
            if is_new {
                let start = self.add_text(text);
                let node = self.node(at.node);
                (node.start, node.length) = (start, text.len() as u32);
                return Place { offset: text.len(), ..at };
            }
            self.split(at);
            at = Place { node: self.follower(at.node, None, u32::from(*first)), offset: 0 };
        }
    }

    /// Makes the text of a node end at a place within it.
    fn split(&mut self, at: Place) {
        let node = *self.node(at.node);
        let before = at.offset as u32;
        if before == node.length {
            return;
        }
        let (start, length) = (node.start + before, node.length - before);
        let first = u32::from(self.texts[start as usize]);
        let behind = Node { before: None, outcome: first, start, length, sibling: NONE, ..node };
        let child = self.add(behind);
        *self.node(at.node) = Node { length: before, child, end: NONE, ..node };
    }

    /// The node that follows on another one so; if there is none, one without a text is put in.
    fn follower(&mut self, id: Id, before: Option<Gap>, outcome: u32) -> Id {
        let (mut last, mut next) = (NONE, self.node(id).child);
        while next != NONE {
            let child = self.node(next);
            if child.before == before && child.outcome == outcome {
                return next;
            }
            (last, next) = (next, child.sibling);
        }
        let new = self.add(Node { before, outcome, ..ROOT });
        // What was seen first is seen most often.
        match last {
            NONE => self.node(id).child = new,
            last => self.node(last).sibling = new,
        }
        new
    }

    fn add(&mut self, node: Node) -> Id {
        self.nodes.push(node);
        Id::try_from(self.nodes.len() - 1).expect("whoever fills a tree bounds it")
    }

    fn add_text(&mut self, text: &[u8]) -> u32 {
        let start = self.texts.len() - WIDTH;
        self.texts.truncate(start);
        self.texts.extend_from_slice(text);
        self.texts.extend([0; WIDTH]);
        u32::try_from(start).expect("whoever fills a tree bounds it")
    }
}

#[cfg(test)]
mod tests {
    use crate::syntax::outline::Marks;
    use crate::syntax::outline::relations::Distinct;

    use super::*;

    /// A text in which `#` stands for a number; in the tree it is a gap.
    fn with_gaps(text: &str) -> (Vec<u8>, Vec<Piece>) {
        let gap = |(start, _): (usize, &str)| Piece { start, end: start + 1, gap: Gap::Number, outcome: 0 };
        (text.replace('#', "7").into_bytes(), text.match_indices('#').map(gap).collect())
    }

    fn find(tree: &Tree, text: &str) -> Option<(u32, usize)> {
        let mut scanner = Scanner::new(text.as_bytes());
        fn read<'l>(gap: Gap, _place: usize, ahead: &mut Scanner<'l>) -> Option<Filling<'l>> {
            let marks = Marks { application: false, values: 0, skipped: 0, examined: 0, returned: 0 };
            gap.read(ahead, marks, &mut Distinct::default())
        }
        tree.follow(&mut scanner, read, |_, _, _| {}).map(|number| (number, scanner.at))
    }

    #[test]
    fn every_text_is_found_whatever_was_put_in_before_and_after_it_and_no_other() {
        let texts =
            ["{\"a\":#}", "{\"a\":null}", "{\"ab\":#,\"c\":#}", "{\"ab\":#}", "{\"a\":#,\"b\":#}", "x", "{\"a\":#}"];
        let mut tree = Tree::default();
        for (number, text) in texts.iter().enumerate() {
            let (bytes, pieces) = with_gaps(text);
            let first = texts.iter().position(|other| other == text).expect("itself");
            assert_eq!(tree.insert(&bytes, &pieces, number as u32), first as u32, "{text}");
            for (first, known) in texts[..=number].iter().enumerate() {
                let first = texts[..first].iter().position(|other| other == known).unwrap_or(first);
                let text = known.replace('#', "12345");
                assert_eq!(find(&tree, &text), Some((first as u32, text.len())), "{known} after {text}");
            }
        }
        for text in ["", "{", "{\"a\":true}", "{\"a\":1", "{\"ab\":1,\"d\":1}", "{\"a\":\"1\"}"] {
            assert_eq!(find(&tree, text), None, "{text}");
        }
    }

    #[test]
    fn texts_of_any_length_are_compared_to_their_ends() {
        let text: Vec<u8> = (b'a'..=b'z').cycle().take(70).collect();
        let padded = [text.as_slice(), &[0; WIDTH]].concat();
        for length in 0..=text.len() {
            assert!(begins_with(&text[..length], &padded, length));
            assert!(begins_with(&text, &padded, length));
            assert!(length == 0 || !begins_with(&text[..length - 1], &padded, length));
            for wrong in 0..length {
                let mut other = text.clone();
                other[wrong] = b'-';
                assert!(!begins_with(&other, &padded, length), "{length} {wrong}");
                assert!(!begins_with(&other[..length], &padded, length), "{length} {wrong}");
                assert!(begins_with(&other, &padded, wrong), "{length} {wrong}");
            }
        }
    }
}
