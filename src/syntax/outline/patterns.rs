//! What lines of known outlines look like: text that is always the same, and gaps. A line that follows one of the patterns
//! has the outline of the line that it was made of, and is recognised with a few comparisons, without its names being read
//! one by one.
//!
//! A pattern is stricter than an outline: blanks and the names of what decides nothing are text of it too. Gaps are read by
//! the functions that the walk over a line uses, and what literals are to each other is written down anew for each line, so
//! nothing is recognised that the walk would tell apart.

use std::ops::Range;

use crate::text::Span;

use super::aside::Asides;
use super::clock::Clock;
use super::gap::{Filling, Gap};
use super::literal::Class;
use super::relations::{Distinct, Relations};
use super::tree::{Piece, Reader, Tree};
use super::{Marks, Outliner, Told, Values};
use crate::syntax::scanner::{Scanner, Spelling, end_of_number, end_of_string, end_of_word};

/// The pattern of one line.
#[derive(Debug)]
pub struct Pattern {
    pub(super) pieces: Vec<Piece>,
    pub(super) recipe: Recipe,
    pub(super) n_shards: Option<u64>,
}

impl Pattern {
    /// About how much of the heap it takes.
    #[must_use]
    pub fn bytes(&self) -> usize {
        size_of_val(self.pieces.as_slice()) + size_of_val(self.recipe.literals.as_slice())
    }
}

/// Where a literal is to be found in another line of the pattern.
#[derive(Debug, Clone)]
pub(super) enum Kept {
    /// In a gap: the place among those with literals.
    InGap(usize),
    /// Everywhere the same.
    Text(Box<[u8]>),
}

/// A literal of a field.
#[derive(Debug, Clone)]
pub(super) struct KeptLiteral {
    pub(super) field: (Box<[u8]>, u32),
    pub(super) class: Class,
    pub(super) text: Kept,
}

/// What it takes to tell what the literals of a line are to each other.
#[derive(Debug, Clone, Default)]
pub(super) struct Recipe {
    pub(super) literals: Vec<KeptLiteral>,
    /// Lists, by their places among the gaps with literals.
    pub(super) lists: Vec<usize>,
    pub(super) meeting: Vec<u32>,
    pub(super) expressions: Vec<(u32, Box<[u8]>)>,
    /// It is the same whatever stands in the gaps.
    pub(super) is_constant: bool,
}

/// Where what a literal is told by lies, and how many different members it has if it is a list.
#[derive(Debug, Clone, Copy)]
pub(super) struct Filled {
    pub(super) start: usize,
    pub(super) end: usize,
    pub(super) count: u64,
}

impl Filled {
    /// What was read of a gap of `line`, if it is one with a literal.
    fn of(gap: Gap, filling: &Filling<'_>, line: &[u8]) -> Option<Self> {
        let start = filling.text.as_ptr().addr() - line.as_ptr().addr();
        gap.is_of_literals().then(|| Self { start, end: start + filling.text.len(), count: filling.count })
    }
}

impl Recipe {
    /// The literals of a line with these fillings.
    fn relations<'a>(&'a self, line: &'a [u8], filled: &[Filled]) -> Relations<'a> {
        let mut relations = Relations::new();
        for KeptLiteral { field: (name, scope), class, text } in &self.literals {
            let text = match text {
                Kept::InGap(at) => &line[filled[*at].start..filled[*at].end],
                Kept::Text(text) => text,
            };
            relations.add((name, *scope), *class, text, None);
        }
        self.lists.iter().for_each(|at| relations.add_list(filled[*at].count, 0));
        self.meeting.iter().for_each(|scope| relations.meet(*scope));
        self.expressions.iter().for_each(|(scope, text)| relations.add_expression(*scope, text));
        relations
    }
}

/// The gaps of a line that may follow a pattern.
struct Gaps<'g, 'l> {
    /// At the start of the line.
    start: Scanner<'l>,
    marks: Marks,
    asides: &'g mut Asides,
    distinct: &'g mut Distinct,
    clock: &'g mut Clock,
    /// What was read last, if anything of it matters.
    read: Filling<'l>,
    /// Where those on the way stand,
    places: &'g mut Vec<(usize, usize)>,
    /// the literals among them,
    filled: &'g mut Vec<Filled>,
    /// what of others is written at the end of the key,
    ending: &'g mut Vec<u8>,
    /// and what the record tells for itself.
    values: Values<'l>,
}

impl<'l> Gaps<'_, 'l> {
    /// The end of any value.
    #[inline]
    fn end_of_any(&mut self, node: usize, at: usize) -> Option<usize> {
        let line = self.start.line;
        if self.start.spelling == Spelling::Json {
            match line.get(at)? {
                b'0'..=b'9' => return end_of_number(line, at),
                b'"' => return end_of_string(line, at),
                b't' => return end_of_word(line, at, b"true"),
                b'f' => return end_of_word(line, at, b"false"),
                _ => {}
            }
        }
        let mut ahead = Scanner { at, ..self.start };
        self.asides.value(node, &mut ahead)?;
        Some(ahead.at)
    }

    fn fill(&mut self, gap: Gap, node: usize, at: usize) -> Option<(usize, u32)> {
        let mut ahead = Scanner { at, ..self.start };
        self.read = match gap {
            Gap::Time => {
                let (time, millis) = self.clock.time(&mut ahead)?;
                self.values.millis = millis;
                Filling::plain(time)
            }
            Gap::Item if matches!(ahead.peek(), Some(b'{' | b'[')) => {
                self.asides.value(node, &mut ahead).map(Filling::plain)?
            }
            _ => gap.read(&mut ahead, self.marks, self.distinct)?,
        };
        Some((ahead.at, self.read.outcome))
    }
}

impl Reader for Gaps<'_, '_> {
    #[inline]
    fn read(&mut self, gap: Gap, node: usize, at: usize) -> Option<(usize, u32)> {
        match gap {
            Gap::Any => Some((self.end_of_any(node, at)?, 0)),
            _ => self.fill(gap, node, at),
        }
    }

    #[inline]
    fn keep(&mut self, gap: Gap, start: usize, end: usize) {
        self.places.push((start, end));
        if gap == Gap::Any {
            return;
        }
        if gap.has_side() {
            self.ending.push(self.read.side);
        }
        match Filled::of(gap, &self.read, self.start.line) {
            Some(one) => self.filled.push(one),
            None => self.values.take(gap, &self.read),
        }
    }
}

/// Lines' patterns, for each the number of the key of its lines, and something about the line that it was made of.
#[derive(Debug)]
pub struct Patterns<P> {
    tree: Tree,
    asides: Asides,
    ends: Vec<End<P>>,
    found: u64,
    learned: u64,
}

/// A line that follows a pattern. How its outline ends the outliner knows that looked at it.
#[derive(Debug, Clone, Copy)]
pub struct Found<'l> {
    /// The number of its outline's key: that is the same for all lines of a pattern.
    pub key: u32,
    /// Its pattern.
    pub pattern: u32,
    /// What it tells for itself.
    pub told: Told<'l>,
}

impl<P> Default for Patterns<P> {
    fn default() -> Self {
        Self { tree: Tree::default(), asides: Asides::default(), ends: Vec::new(), found: 0, learned: 0 }
    }
}

/// The end of a line.
#[derive(Debug)]
struct End<P> {
    recipe: Recipe,
    n_shards: Option<u64>,
    /// Where the gaps were in the line that the pattern was made of.
    gaps: Box<[(usize, usize)]>,
    about: P,
    /// The number of the key.
    key: u32,
}

/// So much text is kept, in bytes, and so many nodes.
const MOST_TEXT: usize = 1 << 20;
const MOST_NODES: usize = 1 << 15;

impl<P> Patterns<P> {
    /// What a line tells, and which key its outline has, if it follows a pattern. It must not have control characters.
    pub fn find<'l>(&mut self, line: &'l str, outliner: &mut Outliner, marks: Marks) -> Option<Found<'l>> {
        let Outliner { distinct, filled, places, ending, clock, .. } = outliner;
        filled.clear();
        places.clear();
        ending.clear();
        let mut gaps = Gaps {
            start: Scanner::of_line(line.as_bytes()),
            marks,
            asides: &mut self.asides,
            distinct,
            clock,
            read: Filling::plain(&[]),
            places,
            filled,
            ending,
            values: Values::default(),
        };
        let pattern = self.tree.follow(line.as_bytes(), &mut gaps)?;
        let mut values = gaps.values;
        let end = &self.ends[pattern as usize];
        values.n_shards = end.n_shards;
        if !end.recipe.is_constant {
            let relations = end.recipe.relations(line.as_bytes(), filled);
            relations.write(marks.values_beside(end.n_shards), ending)?;
        }
        values.write_application(marks, ending);
        self.found += 1;
        Some(Found { key: end.key, pattern, told: values.told(line, clock)? })
    }

    /// What is kept about the line that a pattern was made of.
    #[must_use]
    pub fn about(&self, pattern: u32) -> &P {
        &self.ends[pattern as usize].about
    }

    /// Where in the line that was found last stands what stood at `span` in the one that its pattern was made of; `None` if
    /// that begins or ends within a gap.
    #[must_use]
    pub fn moved(&self, pattern: u32, span: Span, outliner: &Outliner) -> Option<Span> {
        let gaps = &self.ends[pattern as usize].gaps;
        let moved = |at: usize| {
            let next = gaps.partition_point(|(_, end)| *end <= at);
            if gaps.get(next).is_some_and(|(start, _)| *start < at) {
                return None;
            }
            Some(match next.checked_sub(1) {
                Some(before) => at - gaps[before].1 + outliner.places[before].1,
                None => at,
            })
        };
        let Range { start, end } = span.range();
        Some(Span::new(moved(start)?, moved(end)?))
    }

    /// Whether there is use in another pattern: lines that differ in what is taken for text are not worth it.
    #[must_use]
    pub fn is_worth_it(&self) -> bool {
        self.learned <= 1024 + self.found / 16
    }

    /// Makes the pattern of a line known whose key has that number; returns its own, if it is a new one. `about` is kept with
    /// it.
    pub fn learn(&mut self, line: &str, pattern: &Pattern, key: u32, about: impl FnOnce() -> P) -> Option<u32> {
        let Pattern { pieces, recipe, n_shards } = pattern;
        let (text, nodes) = self.tree.size();
        if text + line.len() > MOST_TEXT || nodes + 2 * pieces.len() > MOST_NODES {
            (self.tree, self.asides, self.ends) = (Tree::default(), Asides::default(), Vec::new());
        }
        self.learned += 1;
        let next = u32::try_from(self.ends.len()).expect("there are fewer than nodes");
        (self.tree.insert(line.as_bytes(), pieces, next) == next).then(|| {
            let (recipe, n_shards) = (recipe.clone(), *n_shards);
            let gaps = pieces.iter().map(|piece| (piece.start, piece.end)).collect();
            self.ends.push(End { recipe, n_shards, gaps, about: about(), key });
            next
        })
    }
}
