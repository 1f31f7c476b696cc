//! Which shapes are told apart: the first so many that the input shows. All later ones are counted together, as the other
//! shapes of their collections. Threads tell what they see for the first time, and who merges their parts in the order of the
//! input decides; so it does not show who read what, nor where the input was cut.

use std::collections::BTreeSet;

use rustc_hash::FxHashSet;

use crate::text::Fingerprint;

use super::judge::Judged;

/// The shapes that one thread has seen.
#[derive(Debug, Default)]
pub struct Newcomers {
    seen: FxHashSet<Fingerprint>,
    /// Those that it had not seen before, in the order of the input.
    fresh: Vec<Fingerprint>,
    /// The roster is full: nobody asks any more.
    is_closed: bool,
}

impl Newcomers {
    /// Notes the shapes of a record, whether or not it turns out to be a duplicate: that is known only later.
    pub fn note(&mut self, judged: &Judged) {
        if self.is_closed {
            return;
        }
        for statement in judged.statements.iter() {
            if self.seen.insert(statement.fingerprint) {
                self.fresh.push(statement.fingerprint);
            }
        }
    }

    /// What was seen for the first time since this was last asked.
    #[must_use]
    pub fn take(&mut self) -> Vec<Fingerprint> {
        std::mem::take(&mut self.fresh)
    }

    /// Notes nothing from now on.
    pub fn close(&mut self) {
        if !self.is_closed {
            *self = Self { is_closed: true, ..Self::default() };
        }
    }
}

/// The shapes that are told apart.
#[derive(Debug)]
pub struct Roster {
    most: usize,
    shapes: FxHashSet<Fingerprint>,
}

impl Roster {
    /// An empty one, with places for `most` shapes.
    #[must_use]
    pub fn new(most: usize) -> Self {
        Self { most, shapes: FxHashSet::default() }
    }

    /// Takes in the newcomers of the next part of the input. They are all shapes once it becomes full.
    pub fn admit(&mut self, newcomers: Vec<Fingerprint>) -> Option<&FxHashSet<Fingerprint>> {
        if self.shapes.len() >= self.most {
            return None;
        }
        for shape in newcomers {
            self.shapes.insert(shape);
            if self.shapes.len() >= self.most {
                return Some(&self.shapes);
            }
        }
        None
    }
}

/// Counts different shapes in bounded space: exactly up to [`Crowd::EXACT`], beyond from how close together the least
/// fingerprints lie, off by at most 3.2 %, 19 times out of 20. Merges in any order.
#[derive(Debug, Clone, Default)]
pub struct Crowd {
    least: BTreeSet<Fingerprint>,
}

impl Crowd {
    /// Up to so many are counted one by one.
    pub const EXACT: usize = 4096;

    /// Counts a shape, if it is not one that was counted before.
    pub fn add(&mut self, shape: Fingerprint) {
        self.least.insert(shape);
        if self.least.len() > Self::EXACT {
            self.least.pop_last();
        }
    }

    /// Adds what was counted elsewhere.
    pub fn merge(&mut self, other: Self) {
        other.least.into_iter().for_each(|shape| self.add(shape));
    }

    /// How many there are, and whether that is exact.
    #[must_use]
    pub fn count(&self) -> (u128, bool) {
        let kept = self.least.len() as u128;
        match self.least.last() {
            Some(last) if self.least.len() >= Self::EXACT => {
                // If n of 2^128 numbers are taken, the least k of them reach about to k/n of the way.
                (((kept - 1) << 64) / ((last.0 >> 64).max(1)), false)
            }
            _ => (kept, true),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shape(n: u32) -> Fingerprint {
        Fingerprint::of(&["shape", &n.to_string()])
    }

    #[test]
    fn the_first_shapes_are_admitted_and_the_roster_closes_once() {
        let mut roster = Roster::new(3);
        assert!(roster.admit(vec![shape(1), shape(2), shape(1)]).is_none());
        let full = roster.admit(vec![shape(2), shape(3), shape(4)]).cloned().expect("full");
        assert_eq!(full, [1, 2, 3].map(shape).into_iter().collect());
        assert!(roster.admit(vec![shape(5)]).is_none());
    }

    #[test]
    fn a_crowd_is_counted_exactly_while_small_and_closely_when_large_however_it_is_cut() {
        let count = |range: std::ops::Range<u32>| {
            let mut crowd = Crowd::default();
            range.for_each(|n| crowd.add(shape(n)));
            crowd
        };
        assert_eq!(count(0..1000).count(), (1000, true));
        let whole = count(0..200_000);
        let mut parts = count(0..120_000);
        parts.merge(count(100_000..200_000));
        assert_eq!(parts.count(), whole.count());
        let (about, is_exact) = whole.count();
        assert!(!is_exact && about.abs_diff(200_000) < 6_400, "{about}");
    }
}
