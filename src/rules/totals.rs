//! What a whole run says about one collection: the input of rules that look at all of its queries together.
//! The engine counts and merges; here are the sums and what one statement adds to them.

use crate::catalog::{Catalog, Collection};
use crate::model::{ServerVersion, Verb};
use crate::routing::{Cause, Class, FieldBounds, Verdict};

use super::access::Access;
use super::finding::Finding;
use super::key_sample::{FieldValues, KeyValues};
use super::thresholds::Thresholds;

/// Calls and their time.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Cost {
    /// Statements.
    pub calls: u64,
    /// Sum of their parts of `durationMillis`.
    pub millis: u64,
}

impl Cost {
    /// One call.
    #[must_use]
    pub fn one(millis: u64) -> Self {
        Self { calls: 1, millis }
    }

    /// Adds the calls of another.
    pub fn add(&mut self, other: Self) {
        self.calls += other.calls;
        self.millis += other.millis;
    }
}

/// What one statement carries of the shard key.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Carried {
    /// The first field is bounded.
    pub first: bool,
    /// Every field is bound to one value or to a list of them.
    pub whole: bool,
    /// The first field stands in a range, whether the router can use it or not.
    pub ranged: bool,
}

impl Carried {
    /// What a statement with this verdict carries. `None` for inserts, which always carry the key, and where it is unknown.
    #[must_use]
    pub fn of(verb: Verb, verdict: &Verdict) -> Option<Self> {
        if verb == Verb::Insert || matches!(verdict.class, Class::Unsharded | Class::Unknown) {
            return None;
        }
        let bindings = &verdict.reason.bindings;
        let is_bound = |bounds: &FieldBounds| {
            matches!(bounds, FieldBounds::Points(_) | FieldBounds::Intervals(_) | FieldBounds::Empty)
        };
        let is_point = |bounds: &FieldBounds| matches!(bounds, FieldBounds::Points(_) | FieldBounds::Empty);
        let first = bindings.first().map(|binding| &binding.bounds);
        let in_range = matches!(first, Some(FieldBounds::Intervals(_)));
        Some(Self {
            first: first.is_some_and(is_bound),
            whole: !bindings.is_empty() && bindings.iter().all(|binding| is_point(&binding.bounds)),
            ranged: in_range || matches!(verdict.reason.cause, Cause::RangeOnHashed { .. }),
        })
    }
}

/// How many calls carry the shard key.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct KeyUse {
    /// All calls with a filter to route, of which it is known.
    pub all: Cost,
    /// Those that bound the key's first field.
    pub first: Cost,
    /// Those that bind the whole key.
    pub whole: Cost,
    /// Those with a range on the key's first field.
    pub ranged: Cost,
}

impl KeyUse {
    /// Counts some statements that carry the same.
    pub fn count(&mut self, carried: Carried, cost: Cost) {
        self.all.add(cost);
        let parts =
            [(carried.first, &mut self.first), (carried.whole, &mut self.whole), (carried.ranged, &mut self.ranged)];
        parts.into_iter().filter(|(counts, _)| *counts).for_each(|(_, sum)| sum.add(cost));
    }

    /// Adds the calls of another.
    pub fn add(&mut self, other: &Self) {
        self.all.add(other.all);
        self.first.add(other.first);
        self.whole.add(other.whole);
        self.ranged.add(other.ranged);
    }
}

/// One shape of a collection's queries.
#[derive(Debug, Clone)]
pub struct ShapeTotals<'a> {
    /// `find` …
    pub operation: &'static str,
    /// The value-free text.
    pub shape: &'a str,
    /// All its calls.
    pub cost: Cost,
    /// Those that carry the key.
    pub key_use: KeyUse,
    /// What it compares and sorts by, if indexes of the collection are known.
    pub access: Option<&'a Access>,
}

/// Everything that a run says about one collection.
#[derive(Debug, Default)]
pub struct NamespaceTotals<'a> {
    /// Its name, after `--ns-map`.
    pub namespace: &'a str,
    /// Its shapes, the costliest first.
    pub shapes: Vec<ShapeTotals<'a>>,
    /// How many calls carry the key.
    pub key_use: KeyUse,
    /// Calls by class: targeted, multi-shard, broadcast.
    pub targeted: Cost,
    /// Calls that some shards may have to answer.
    pub multi_shard: Cost,
    /// Calls that every shard answers.
    pub broadcast: Cost,
    /// The values of its key that were seen.
    pub values: Option<&'a KeyValues>,
    /// By shard, if a chunk map is known: each call counts for every shard that is asked.
    pub shards: Vec<(&'a str, Cost)>,
}

/// One declared collection after all input has been read.
#[derive(Debug, Clone, Copy)]
pub struct NamespaceContext<'a> {
    /// What the run says about it; empty if no query on it was read.
    pub totals: &'a NamespaceTotals<'a>,
    /// The declaration.
    pub collection: &'a Collection,
    /// Everything declared.
    pub catalog: &'a Catalog,
    /// Whose rules hold.
    pub version: ServerVersion,
    /// From where on rules speak.
    pub thresholds: &'a Thresholds,
}

impl NamespaceContext<'_> {
    /// How many shards a broadcast asks, if known: owners of chunks, else the declared number of shards.
    #[must_use]
    pub fn shard_count(&self) -> Option<usize> {
        let owners = self.collection.chunks.as_ref().map(crate::model::ChunkMap::owner_count);
        owners.or_else(|| self.catalog.shards.as_ref().map(Vec::len)).or(self.catalog.shard_count)
    }

    /// The values of the key's first field, if there are enough to prove something.
    pub(super) fn first_values(&self) -> Option<&FieldValues> {
        self.totals.values?.field(0).filter(|values| values.total() >= self.thresholds.fewest_values)
    }

    /// The values of the whole key, if there are enough to prove something.
    pub(super) fn whole_values(&self) -> Option<&FieldValues> {
        let key = self.collection.shard_key()?;
        self.totals.values?.whole(key).filter(|values| values.total() >= self.thresholds.fewest_values)
    }

    /// Whether there are calls enough to speak of shares.
    pub(super) fn has_calls_enough(&self) -> bool {
        self.totals.key_use.all.calls >= self.thresholds.fewest_calls
    }
}

/// All collections after all input has been read.
#[derive(Debug, Clone, Copy)]
pub struct ClusterContext<'a> {
    /// Those that are declared, by name.
    pub collections: &'a [NamespaceContext<'a>],
    /// Those that are known not to be sharded, by name, with their calls.
    pub unsharded: &'a [(&'a str, Cost)],
    /// Everything declared.
    pub catalog: &'a Catalog,
    /// From where on rules speak.
    pub thresholds: &'a Thresholds,
}

/// A finding on a collection, and the calls that it is about.
#[derive(Debug, Clone)]
pub struct NamespaceFinding {
    /// The finding; it points into a declaration.
    pub finding: Finding,
    /// The calls.
    pub cost: Cost,
}

/// A part of a whole in percent, rounded down; nothing of nothing is nothing.
pub(super) fn percent(part: u64, whole: u64) -> u64 {
    let share = (u128::from(part) * 100).checked_div(u128::from(whole));
    share.map_or(0, |share| u64::try_from(share).unwrap_or(u64::MAX))
}

/// `1 call`, `12 calls`.
pub(super) fn calls(n: u64) -> String {
    if n == 1 { "1 call".to_owned() } else { format!("{n} calls") }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shares_are_rounded_down_and_never_divide_by_nothing() {
        assert_eq!((percent(799, 1000), percent(1, 0), percent(u64::MAX, u64::MAX)), (79, 0, 100));
    }

    #[test]
    fn a_call_counts_for_what_it_carries() {
        let mut uses = KeyUse::default();
        uses.count(Carried { first: true, whole: false, ranged: true }, Cost::one(5));
        uses.count(Carried { first: true, whole: true, ranged: false }, Cost::one(7));
        assert_eq!((uses.all, uses.first), (Cost { calls: 2, millis: 12 }, Cost { calls: 2, millis: 12 }));
        assert_eq!((uses.whole.millis, uses.ranged.millis), (7, 5));
    }
}
