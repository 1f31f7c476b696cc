//! Texts with gaps, kept as one tree: what many have in common is there once, and is compared once.
//!
//! Following a text touches little memory: nodes are small and stand in one list, the texts of all in one other.

use super::gap::Gap;
use super::wording::{Texts, Wording};

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
    /// Those of all nodes.
    texts: Texts,
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
    text: Wording,
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

const ROOT: Node = Node { before: None, outcome: 0, text: Wording::EMPTY, child: NONE, sibling: NONE, end: NONE };

impl Default for Tree {
    fn default() -> Self {
        Self { nodes: vec![ROOT], texts: Texts::default() }
    }
}

/// Whoever follows a text reads its gaps.
pub(super) trait Reader {
    /// Reads what stands at `at` as such a gap, which is before the node of that number: where it ends, and what of it decides.
    /// `None` if it is no such gap.
    fn read(&mut self, gap: Gap, node: usize, at: usize) -> Option<(usize, u32)>;

    /// Keeps what was read last: it is on the way.
    fn keep(&mut self, gap: Gap, start: usize, end: usize);
}

impl Tree {
    /// Bytes of text and nodes.
    pub(super) fn size(&self) -> (usize, usize) {
        (self.texts.len(), self.nodes.len())
    }

    /// Follows the line to its end; the number of the text that it is.
    #[inline]
    pub(super) fn follow(&self, line: &[u8], reader: &mut impl Reader) -> Option<u32> {
        let (mut at, mut node) = (0, &self.nodes[0]);
        loop {
            at = self.texts.end(&node.text, line, at)?;
            let (mut next, mut tried, mut read) = (node.child, None, None);
            node = loop {
                let Some(child) = self.nodes.get(next as usize) else {
                    return (node.end != NONE && at == line.len()).then_some(node.end);
                };
                match child.before {
                    None if line.get(at).is_some_and(|byte| u32::from(*byte) == child.outcome) => break child,
                    None => {}
                    Some(gap) => {
                        if tried != Some(gap) {
                            (tried, read) = (Some(gap), reader.read(gap, next as usize, at));
                        }
                        if let Some((end, outcome)) = read
                            && outcome == child.outcome
                        {
                            reader.keep(gap, at, end);
                            at = end;
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
            let Node { text: known, child, end, .. } = *self.node(at.node);
            let is_empty = known.len() == 0;
            let known = &self.texts.text(&known)[at.offset..];
            let common = known.iter().zip(text).take_while(|(a, b)| a == b).count();
            (at.offset, text) = (at.offset + common, &text[common..]);
            let Some(first) = text.first() else { return at };
            // One that was put in just now may have any text.
            let is_new = at.node != 0 && is_empty && child == NONE && end == NONE;
            if is_new {
                self.node(at.node).text = self.texts.add(text);
                return Place { offset: text.len(), ..at };
            }
            self.split(at);
            at = Place { node: self.follower(at.node, None, u32::from(*first)), offset: 0 };
        }
    }

    /// Makes the text of a node end at a place within it.
    fn split(&mut self, at: Place) {
        let node = *self.node(at.node);
        if at.offset == node.text.len() {
            return;
        }
        let (before, behind) = self.texts.split(&node.text, at.offset);
        let first = u32::from(self.texts.text(&behind)[0]);
        let child = self.add(Node { before: None, outcome: first, text: behind, sibling: NONE, ..node });
        *self.node(at.node) = Node { text: before, child, end: NONE, ..node };
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
}

#[cfg(test)]
mod tests {
    use crate::syntax::scanner::end_of_number;

    use super::*;

    /// A text in which `#` stands for a number; in the tree it is a gap.
    fn with_gaps(text: &str) -> (Vec<u8>, Vec<Piece>) {
        let gap = |(start, _): (usize, &str)| Piece { start, end: start + 1, gap: Gap::Number, outcome: 0 };
        (text.replace('#', "7").into_bytes(), text.match_indices('#').map(gap).collect())
    }

    struct Numbers<'l>(&'l [u8]);

    impl Reader for Numbers<'_> {
        fn read(&mut self, _gap: Gap, _node: usize, at: usize) -> Option<(usize, u32)> {
            end_of_number(self.0, at).map(|end| (end, 0))
        }

        fn keep(&mut self, _gap: Gap, _start: usize, _end: usize) {}
    }

    fn find(tree: &Tree, text: &str) -> Option<u32> {
        tree.follow(text.as_bytes(), &mut Numbers(text.as_bytes()))
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
                assert_eq!(find(&tree, &text), Some(first as u32), "{known} after {text}");
            }
        }
        for text in ["", "{", "{\"a\":true}", "{\"a\":1", "{\"ab\":1,\"d\":1}", "{\"a\":\"1\"}"] {
            assert_eq!(find(&tree, text), None, "{text}");
        }
    }
}
