//! What several literals of one field are to each other: two bounds make an empty range or one value, two branches of an
//! `$or` name the same value, a list names one value twice. Routing depends on it, so it is part of the key.

use std::hash::Hasher;

use memchr::memmem;
use rustc_hash::FxHasher;
use smallvec::SmallVec;

use super::literal::{Class, Relation, is_alike, is_told_by_text, relation};
use super::patterns::{Kept, KeptLiteral, Recipe};

/// A literal that stands for itself no longer: only its class is in the key.
#[derive(Debug, Clone, Copy)]
struct Erased<'l> {
    /// The last name of the path of its field, and its scope: which statement of a batch or which pipeline it is in.
    field: (&'l [u8], u32),
    class: Class,
    text: &'l [u8],
    /// The gap that it fills, by its place among those of the line.
    gap: Option<usize>,
}

/// The erased literals of one record.
#[derive(Debug)]
pub(super) struct Relations<'l> {
    erased: SmallVec<[Erased<'l>; 12]>,
    /// Literals elsewhere, before the filter of their scope.
    early: Vec<Erased<'l>>,
    /// Scopes in which there were too many of them.
    crowded: Vec<u32>,
    /// How many different values each list has, and the gap that it fills.
    lists: SmallVec<[(u64, usize); 4]>,
    /// Scopes in which literals of different names may come to be about one field: a stage of a pipeline renames it.
    meeting: Vec<u32>,
    /// Expressions and schemas, which compare fields too, and their scopes.
    expressions: Vec<(u32, &'l [u8])>,
    scopes: u32,
}

/// So many erased literals are held against each other; a record with more of them is left to the full reader.
const MOST: usize = 48;

impl<'l> Relations<'l> {
    pub(super) fn new() -> Self {
        Self {
            erased: SmallVec::new(),
            early: Vec::new(),
            crowded: Vec::new(),
            lists: SmallVec::new(),
            meeting: Vec::new(),
            expressions: Vec::new(),
            scopes: 0,
        }
    }

    /// Another scope: literals in different ones have nothing to do with each other.
    pub(super) fn new_scope(&mut self) -> u32 {
        self.scopes += 1;
        self.scopes
    }

    /// Lets names meet in a scope.
    pub(super) fn meet(&mut self, scope: u32) {
        self.meeting.push(scope);
    }

    /// An expression beside the fields of a filter.
    pub(super) fn add_expression(&mut self, scope: u32, text: &'l [u8]) {
        self.expressions.push((scope, text));
    }

    /// A literal of a field in a filter.
    pub(super) fn add(&mut self, field: (&'l [u8], u32), class: Class, text: &'l [u8], gap: Option<usize>) {
        self.erased.push(Erased { field, class, text, gap });
    }

    /// A literal elsewhere: it matters only beside one of a filter.
    pub(super) fn add_beside(&mut self, field: (&'l [u8], u32), class: Class, text: &'l [u8], gap: Option<usize>) {
        if self.erased.iter().any(|known| known.field.1 == field.1) {
            if self.erased.len() <= MOST && self.erased.iter().any(|known| known.field == field) {
                self.add(field, class, text, gap);
            }
        } else if self.early.len() < MOST {
            self.early.push(Erased { field, class, text, gap });
        } else if self.crowded.last() != Some(&field.1) {
            self.crowded.push(field.1);
        }
    }

    /// Adds what stands before the filter that it matters beside; `None` if there may be more of that.
    pub(super) fn add_early(&mut self) -> Option<()> {
        let of_filters = self.erased.len();
        let is_known = |known: &[Erased<'l>], field| known[..of_filters].iter().any(|known| known.field == field);
        for early in std::mem::take(&mut self.early) {
            if is_known(&self.erased, early.field) {
                self.erased.push(early);
            }
        }
        (!self.erased.iter().any(|erased| self.crowded.contains(&erased.field.1))).then_some(())
    }

    /// A list of so many different values.
    pub(super) fn add_list(&mut self, distinct: u64, gap: usize) {
        self.lists.push((distinct, gap));
    }

    /// Writes what they are to each other, and on which side of `mark` numbers of values lie; `None` if they are too many.
    pub(super) fn write(&self, mark: u64, key: &mut Vec<u8>) -> Option<()> {
        if self.erased.len() > MOST {
            return None;
        }
        for (one, other) in self.pairs() {
            let (a, b) = (&self.erased[one], &self.erased[other]);
            key.extend([one as u8, other as u8]);
            match relation((a.class, a.text), (b.class, b.text)) {
                Relation::Order(order) => key.push(order as u8),
                Relation::OfTypes => key.push(3),
                Relation::Unknown => {
                    key.push(2);
                    key.extend_from_slice(a.text);
                    key.push(0);
                    key.extend_from_slice(b.text);
                    key.push(0);
                }
            }
        }
        self.write_beside_expressions(key);
        self.write_lists(mark, key);
        Some(())
    }

    /// Literals that may be about one field, by their places.
    fn pairs(&self) -> impl Iterator<Item = (usize, usize)> + '_ {
        let may_meet = |one: &Erased<'_>, other: &Erased<'_>| {
            one.field.1 == other.field.1 && (one.field.0 == other.field.0 || self.meeting.contains(&one.field.1))
        };
        (0..self.erased.len()).flat_map(move |one| {
            let later = one + 1..self.erased.len();
            later.filter(move |other| may_meet(&self.erased[one], &self.erased[*other])).map(move |other| (one, other))
        })
    }

    /// How to tell the same of another line of the same pattern, of which `places` says where its literals are.
    pub(super) fn recipe(&self, place: impl Fn(usize) -> usize) -> Recipe {
        let kept = |erased: &Erased<'_>| KeptLiteral {
            field: (erased.field.0.into(), erased.field.1),
            class: erased.class,
            text: erased.gap.map_or_else(|| Kept::Text(erased.text.into()), |gap| Kept::InGap(place(gap))),
        };
        Recipe {
            literals: self.erased.iter().map(kept).collect(),
            lists: self.lists.iter().map(|(_, gap)| place(*gap)).collect(),
            meeting: self.meeting.clone(),
            expressions: self.expressions.iter().map(|(scope, text)| (*scope, (*text).into())).collect(),
            is_constant: self.pairs().next().is_none() && self.lists.is_empty() && self.expressions.is_empty(),
        }
    }

    /// Literals of fields that an expression may name are written out: what it compares them with is not looked at.
    fn write_beside_expressions(&self, key: &mut Vec<u8>) {
        for (scope, text) in &self.expressions {
            let names = |field: &[u8]| memmem::find(text, field).is_some() || memchr::memchr(b'\\', text).is_some();
            let is_named = |erased: &&Erased<'_>| {
                erased.field.1 == *scope && (self.meeting.contains(scope) || names(erased.field.0))
            };
            for erased in self.erased.iter().filter(is_named) {
                key.push(4);
                key.extend_from_slice(erased.text);
            }
            key.push(5);
        }
    }

    /// Numbers of values are held against the observed number of shards and other marks; products of many are limited.
    fn write_lists(&self, mark: u64, key: &mut Vec<u8>) {
        let product = self.lists.iter().fold(1_u64, |product, (count, _)| product.saturating_mul(*count));
        let cap = if product > 100_000 { u64::MAX } else { mark.max(1) + 1 };
        self.lists.iter().for_each(|(count, _)| key.extend((*count).min(cap).to_le_bytes()));
    }
}

/// Counts the different texts of a list.
#[derive(Debug, Default)]
pub(super) struct Distinct {
    /// Open addressing: index of a text plus one, valid if the round is the current one.
    slots: Vec<(u32, u32)>,
    round: u32,
}

impl Distinct {
    /// How many different values the literals of one class have; `None` where their texts do not tell.
    pub(super) fn count(&mut self, class: Class, texts: &[&[u8]]) -> Option<u64> {
        let first = texts.first()?;
        if !texts.iter().all(|text| is_told_by_text(class, text) && is_alike(class, first, text)) {
            return None;
        }
        let size = (texts.len() * 2).next_power_of_two().max(16);
        if self.slots.len() < size || self.round == u32::MAX {
            (self.slots, self.round) = (vec![(0, 0); size], 0);
        }
        self.round += 1;
        let mask = self.slots.len() - 1;
        let mut count = 0;
        for (index, text) in texts.iter().enumerate() {
            let mut hasher = FxHasher::default();
            hasher.write(text);
            let mut slot = hasher.finish() as usize & mask;
            loop {
                match self.slots[slot] {
                    (round, known) if round == self.round && texts[known as usize] != *text => slot = (slot + 1) & mask,
                    (round, _) if round == self.round => break,
                    _ => {
                        self.slots[slot] = (self.round, u32::try_from(index).ok()?);
                        count += 1;
                        break;
                    }
                }
            }
        }
        Some(count)
    }
}
