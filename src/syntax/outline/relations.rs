//! What several literals of one field are to each other: two bounds make an empty range or one value, two branches of an
//! `$or` name the same value, a list names one value twice. Routing depends on it, so it is part of the key.

use std::hash::Hasher;

use rustc_hash::FxHasher;

use super::literal::{Class, is_alike, is_told_by_text, relation};

/// A literal that stands for itself no longer: only its class is in the key.
#[derive(Debug, Clone, Copy)]
struct Erased<'l> {
    /// The last name of the path of its field, and which statement of a batch it is in.
    field: (&'l [u8], u32),
    class: Class,
    text: &'l [u8],
}

/// The erased literals of one record.
#[derive(Debug)]
pub(super) struct Relations<'l> {
    erased: Vec<Erased<'l>>,
    /// How many different values each list has.
    lists: Vec<u64>,
    /// Literals of different names may come to be about one field: a stage of a pipeline renames it.
    pub(super) names_may_meet: bool,
}

/// So many erased literals are held against each other; a record with more of them is left to the full reader.
const MOST: usize = 48;

impl<'l> Relations<'l> {
    pub(super) fn new() -> Self {
        Self { erased: Vec::with_capacity(16), lists: Vec::new(), names_may_meet: false }
    }

    /// A literal of a field in a filter.
    pub(super) fn add(&mut self, field: (&'l [u8], u32), class: Class, text: &'l [u8]) {
        self.erased.push(Erased { field, class, text });
    }

    /// A literal elsewhere: it matters only beside one of a filter.
    pub(super) fn add_beside(&mut self, field: (&'l [u8], u32), class: Class, text: &'l [u8]) {
        if self.erased.len() <= MOST && self.erased.iter().any(|known| known.field == field) {
            self.add(field, class, text);
        }
    }

    /// A list of so many different values.
    pub(super) fn add_list(&mut self, distinct: u64) {
        self.lists.push(distinct);
    }

    /// Writes what they are to each other; `None` if they are too many.
    pub(super) fn write(&self, n_shards: Option<u64>, key: &mut Vec<u8>) -> Option<()> {
        if self.erased.len() > MOST {
            return None;
        }
        for (at, one) in self.erased.iter().enumerate() {
            for (distance, other) in self.erased[at + 1..].iter().enumerate() {
                if one.field != other.field && !self.names_may_meet {
                    continue;
                }
                key.extend([at as u8, (at + 1 + distance) as u8]);
                match relation(one.class, one.text, other.text).filter(|_| one.class == other.class) {
                    Some(order) => key.push(order as u8),
                    None => {
                        key.push(2);
                        key.extend_from_slice(one.text);
                        key.push(0);
                        key.extend_from_slice(other.text);
                        key.push(0);
                    }
                }
            }
        }
        self.write_lists(n_shards, key);
        Some(())
    }

    /// The observed number of shards is held against the number of values, and products of many values are limited.
    fn write_lists(&self, n_shards: Option<u64>, key: &mut Vec<u8>) {
        let product = self.lists.iter().fold(1_u64, |product, count| product.saturating_mul(*count));
        let cap = if product > 100_000 { u64::MAX } else { n_shards.map_or(0, |shards| shards + 1) };
        if cap > 0 {
            self.lists.iter().for_each(|count| key.extend((*count).min(cap).to_le_bytes()));
        }
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
