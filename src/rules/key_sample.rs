//! What the values of shard key fields look like: types counted in full, and a sample of the values for everything else.
//!
//! The sample is the same wherever the input is cut and however many threads read it: of all observations those are kept
//! whose place in the input has the least hashes, [`SAMPLE`] of them. Up to that many nothing is left out; beyond, a
//! share taken from it is off by at most [`FieldValues::margin`] percent points, 19 times out of 20.

use std::cmp::Ordering;
use std::collections::{BTreeMap, BinaryHeap};
use std::hash::Hasher;

use siphasher::sip::SipHasher13;
use smallvec::{SmallVec, smallvec};

use crate::model::{ShardKey, Value, canonical_type, compare};
use crate::text::{RecordPos, SourceId};

use super::key_values::{KeyValue, Seen};

/// So many observations of a field are kept.
pub const SAMPLE: usize = 1024;

/// One value that was seen, and when.
#[derive(Debug, Clone)]
pub struct Observation {
    /// Where the record stands, and which value of it this is.
    place: Place,
    /// When it was logged, in milliseconds since 1970.
    time: Option<i64>,
    /// The value, in a box: the heap moves observations about.
    pub value: Box<KeyValue>,
}

/// Where a value stands in the input, behind the hash of that: where the least hashes are is the sample.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct Place {
    rank: u64,
    source: SourceId,
    number: u32,
    offset: u64,
}

impl Place {
    fn of(position: RecordPos, number: usize) -> Self {
        let RecordPos { source, offset, .. } = position;
        let mut hasher = SipHasher13::new();
        hasher.write_u32(source.0);
        hasher.write_u64(offset);
        hasher.write_u64(number as u64);
        Self { rank: hasher.finish(), source, number: u32::try_from(number).unwrap_or(u32::MAX), offset }
    }
}

impl Ord for Observation {
    fn cmp(&self, other: &Self) -> Ordering {
        self.place.cmp(&other.place)
    }
}

impl PartialOrd for Observation {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl PartialEq for Observation {
    fn eq(&self, other: &Self) -> bool {
        self.place == other.place
    }
}

impl Eq for Observation {}

/// The values of one field of a key.
#[derive(Debug, Clone, Default)]
pub struct FieldValues {
    /// By where and by BSON type (a number of any kind is a number), all of them.
    types: BTreeMap<(Seen, u8), u64>,
    /// Those whose places have the least hashes, the greatest of these first.
    sample: BinaryHeap<Observation>,
}

/// Tells of most records that no value of a statement will be kept, without a look at the samples: what these do not keep any
/// more they never will.
#[derive(Debug, Clone)]
pub struct Sieve {
    /// How many values the statements before it show.
    first: usize,
    /// By number of a value: the greatest hash of a place that may be kept.
    bounds: SmallVec<[u64; 2]>,
}

impl Sieve {
    /// One for a statement that shows values such as these. Nothing is kept out yet.
    #[must_use]
    pub fn new(known: &[KeyValue], first: usize) -> Self {
        let sampled = numbered(known, first).filter(|(_, value)| value.seen != Seen::Range);
        let end = sampled.map(|(number, _)| number + 1).max().unwrap_or(first);
        Self { first, bounds: smallvec![u64::MAX; end - first] }
    }

    /// Whether a value of the record there may be kept.
    #[must_use]
    pub fn passes(&self, position: RecordPos) -> bool {
        let mut bounds = self.bounds.iter().zip(self.first..);
        bounds.any(|(bound, number)| Place::of(position, number).rank <= *bound)
    }
}

/// The values of a collection's key, by field; behind them, if there are several fields, all together.
#[derive(Debug, Clone, Default)]
pub struct KeyValues {
    fields: Vec<FieldValues>,
}

impl KeyValues {
    /// Counts the types of the values that so many records show alike.
    pub fn count(&mut self, values: &[KeyValue], records: u64) {
        for value in values {
            *self.field_mut(value.field).types.entry((value.seen, value.kind)).or_default() += records;
        }
    }

    /// Keeps those of the values of a record that belong to the samples; `value` makes them, by their places among `known`,
    /// which have their types. The number beside the position tells statements of one record apart: how many values those
    /// before it showed.
    pub fn sample(
        &mut self,
        known: &[KeyValue],
        (position, first): (RecordPos, usize),
        time: Option<i64>,
        mut value: impl FnMut(usize) -> Option<KeyValue>,
    ) {
        for (at, (number, of)) in numbered(known, first).enumerate().filter(|(_, (_, of))| of.seen != Seen::Range) {
            let (place, field) = (Place::of(position, number), self.field_mut(of.field));
            if field.would_keep(place)
                && let Some(value) = value(at)
            {
                field.keep(Observation { place, time, value: Box::new(value) });
            }
        }
    }

    /// Which of these values would be in a sample, by their places.
    pub fn wanted(&self, known: &[KeyValue], (position, first): (RecordPos, usize)) -> impl Iterator<Item = usize> {
        let is_wanted = move |(at, (number, value)): (usize, (usize, &KeyValue))| {
            let field = self.fields.get(value.field);
            let is_wanted =
                value.seen != Seen::Range && field.is_none_or(|field| field.would_keep(Place::of(position, number)));
            is_wanted.then_some(at)
        };
        numbered(known, first).enumerate().filter_map(is_wanted)
    }

    /// Lets a sieve for these values know what is kept by now.
    pub fn tighten(&self, known: &[KeyValue], sieve: &mut Sieve) {
        sieve.bounds.fill(0);
        for (number, value) in numbered(known, sieve.first).filter(|(_, value)| value.seen != Seen::Range) {
            let bound = self.fields.get(value.field).map_or(u64::MAX, FieldValues::bound);
            let widest = &mut sieve.bounds[number - sieve.first];
            *widest = bound.max(*widest);
        }
    }

    fn field_mut(&mut self, field: usize) -> &mut FieldValues {
        if self.fields.len() <= field {
            self.fields.resize(field + 1, FieldValues::default());
        }
        &mut self.fields[field]
    }

    /// Adds what was seen in another part of the input.
    pub fn merge(&mut self, later: Self) {
        if self.fields.len() < later.fields.len() {
            self.fields.resize(later.fields.len(), FieldValues::default());
        }
        for (mine, later) in self.fields.iter_mut().zip(later.fields) {
            mine.merge(later);
        }
    }

    /// The types of the values of the field at that place of the key, ends of ranges with them.
    #[must_use]
    pub fn typed(&self, at: usize) -> Option<&FieldValues> {
        self.fields.get(at)
    }

    /// The values of the field at that place of the key.
    #[must_use]
    pub fn field(&self, at: usize) -> Option<&FieldValues> {
        self.fields.get(at).filter(|values| !values.sample.is_empty())
    }

    /// The values of the whole key.
    #[must_use]
    pub fn whole(&self, key: &ShardKey) -> Option<&FieldValues> {
        self.field(if key.fields.len() == 1 { 0 } else { key.fields.len() })
    }
}

impl FieldValues {
    /// Whether the value at that place would be in the sample.
    fn would_keep(&self, place: Place) -> bool {
        self.sample.len() < SAMPLE || self.sample.peek().is_some_and(|last| place < last.place)
    }

    /// Values whose places have greater hashes are not kept any more.
    fn bound(&self) -> u64 {
        self.sample.peek().filter(|_| self.sample.len() >= SAMPLE).map_or(u64::MAX, |last| last.place.rank)
    }

    /// Keeps what was found to belong to the sample.
    fn keep(&mut self, observation: Observation) {
        if self.sample.len() < SAMPLE {
            self.sample.push(observation);
        } else if let Some(mut last) = self.sample.peek_mut() {
            *last = observation;
        }
    }

    fn merge(&mut self, later: Self) {
        for (kind, count) in later.types {
            *self.types.entry(kind).or_default() += count;
        }
        for observation in later.sample {
            if self.would_keep(observation.place) {
                self.keep(observation);
            }
        }
    }

    /// The sample in the order of the input.
    #[must_use]
    pub fn in_order(&self) -> Vec<&Observation> {
        let mut all: Vec<&Observation> = self.sample.iter().collect();
        all.sort_by_key(|Observation { time, place, .. }| (*time, place.source, place.offset, place.number));
        all
    }

    /// How many values were seen, without the ends of ranges.
    #[must_use]
    pub fn total(&self) -> u64 {
        self.types.iter().filter(|((seen, _), _)| *seen != Seen::Range).map(|(_, count)| count).sum()
    }

    /// How many of them are in the sample.
    #[must_use]
    pub fn sampled(&self) -> u64 {
        self.sample.len() as u64
    }

    /// By how many percent points a share may be off; 0 if nothing was left out.
    #[must_use]
    pub fn margin(&self) -> u64 {
        // Twice the greatest standard deviation of a share among n: 1/sqrt(n).
        if self.total() <= self.sampled() { 0 } else { 100_u64.div_ceil(self.sampled().isqrt().max(1)) }
    }

    /// How many values of each BSON type were seen, most frequent first; null and the ends of the order left out.
    #[must_use]
    pub fn types(&self) -> Vec<(&'static str, u64)> {
        let mut sums: BTreeMap<&'static str, u64> = BTreeMap::new();
        for ((_, code), count) in &self.types {
            if let Some(name) = type_name(*code) {
                *sums.entry(name).or_default() += count;
            }
        }
        let mut all: Vec<_> = sums.into_iter().collect();
        all.sort_by_key(|(name, count)| (std::cmp::Reverse(*count), *name));
        all
    }

    /// The different values of the sample with their numbers, most frequent first.
    #[must_use]
    pub fn by_value(&self) -> Vec<(&Value, u64)> {
        let mut sums: BTreeMap<u64, (&Value, u64)> = BTreeMap::new();
        let mut sample: Vec<&Observation> = self.sample.iter().collect();
        sample.sort_unstable();
        for observation in sample {
            sums.entry(observation.value.hash).or_insert((&observation.value.value, 0)).1 += 1;
        }
        let mut all: Vec<_> = sums.into_iter().collect();
        all.sort_by_key(|(hash, (_, count))| (std::cmp::Reverse(*count), *hash));
        all.into_iter().map(|(_, value)| value).collect()
    }

    /// Whether the inserted values grow with time. Servers of an application run side by side, so values are compared with
    /// those a sixteenth of the series later.
    #[must_use]
    pub fn growth(&self) -> Growth {
        let inserted = self.in_order().into_iter().filter(|observation| observation.value.seen == Seen::Insert);
        let inserted: Vec<&KeyValue> = inserted.map(|observation| &*observation.value).collect();
        let mut growth = Growth { values: inserted.len() as u64, ..Growth::default() };
        // Two distances, because series that take turns are each alone at one of them.
        let distance = (inserted.len() / 16).max(1);
        for distance in [distance, distance + 1] {
            for (before, after) in inserted.iter().zip(inserted.iter().skip(distance)) {
                growth.pairs += 1;
                growth.rising += u64::from(compare(&before.value, &after.value).is_le());
            }
        }
        let mut hashes: Vec<u64> = inserted.iter().map(|value| value.hash).collect();
        hashes.sort_unstable();
        hashes.dedup();
        growth.distinct = hashes.len() as u64;
        growth
    }
}

/// How a series of values goes on.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Growth {
    /// Values in the series.
    pub values: u64,
    /// Different ones among them.
    pub distinct: u64,
    /// Pairs that were compared.
    pub pairs: u64,
    /// Those of which the later is no less.
    pub rising: u64,
}

/// Values with their numbers in the record, by which their places are told apart. Those of different fields begin at the same
/// number: so the samples of all fields are, as a rule, of the same records, and few records have to be read for them.
fn numbered(values: &[KeyValue], first: usize) -> impl Iterator<Item = (usize, &KeyValue)> {
    let mut next: SmallVec<[usize; 8]> = SmallVec::new();
    values.iter().map(move |value| {
        next.resize(next.len().max(value.field + 1), first);
        let number = next[value.field];
        next[value.field] += usize::from(value.seen != Seen::Range);
        (number, value)
    })
}

/// The name of a canonical type; `None` for what is no value of a document that could be mistaken for another type.
fn type_name(code: u8) -> Option<&'static str> {
    let of = |value: &Value| canonical_type(value);
    let names: [(Value, &str); 8] = [
        (Value::Int32(0), "number"),
        (Value::String(String::new()), "string"),
        (Value::Document(crate::model::Document::default()), "document"),
        (Value::Array(crate::model::Array::default()), "array"),
        (Value::Binary { subtype: 0, bytes: Vec::new() }, "binary"),
        (Value::ObjectId([0; 12]), "ObjectId"),
        (Value::Bool(false), "bool"),
        (Value::Date(0), "date"),
    ];
    names.iter().find(|(value, _)| of(value) == code).map(|(_, name)| *name)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::text::SourceId;

    fn place(n: u64) -> RecordPos {
        RecordPos { source: SourceId(0), offset: n * 100, line: n }
    }

    fn observed(values: impl Iterator<Item = (u64, Value)>) -> KeyValues {
        let mut all = KeyValues::default();
        for (n, value) in values {
            let time = i64::try_from(n).expect("small");
            let value = [KeyValue::new(0, Seen::Insert, &value)];
            all.count(&value, 1);
            all.sample(&value, (place(n), 0), Some(time), |at| Some(value[at].clone()));
        }
        all
    }

    #[test]
    fn the_sample_is_the_same_wherever_the_input_is_cut() {
        let value = |n: u64| (n, Value::Int64(i64::try_from(n % 700).expect("small")));
        let whole = observed((0..5000).map(value));
        let places = |values: &KeyValues| {
            let mut places: Vec<_> = values.fields[0].sample.iter().map(|observation| observation.place).collect();
            places.sort_unstable();
            places
        };
        for cut in [1, 900, 2500, 4999] {
            let mut parts = observed((0..cut).map(value));
            parts.merge(observed((cut..5000).map(value)));
            assert_eq!(places(&parts), places(&whole), "cut at {cut}");
            assert_eq!(parts.fields[0].total(), 5000);
        }
        assert_eq!((whole.fields[0].sampled(), whole.fields[0].margin()), (1024, 4));
    }

    #[test]
    fn numbers_of_any_type_are_one_value_and_long_strings_differ_by_their_ends() {
        let numbers = observed([(0, Value::Int32(5)), (1, Value::Int64(5)), (2, Value::Double(5.0))].into_iter());
        assert_eq!(numbers.fields[0].by_value().len(), 1);
        let text = |end: &str| Value::String("x".repeat(100) + end);
        assert_eq!(observed([(0, text("a")), (1, text("b"))].into_iter()).fields[0].by_value().len(), 2);
    }

    #[test]
    fn growth_tells_counters_from_coarse_and_from_scattered_values() {
        let growth = |next: fn(u64) -> i64| observed((0..100).map(|n| (n, Value::Int64(next(n))))).fields[0].growth();
        let counter = growth(|n| n.cast_signed());
        assert_eq!(counter, Growth { values: 100, distinct: 100, pairs: 187, rising: 187 });
        let coarse = growth(|n| (n / 25).cast_signed());
        assert_eq!((coarse.rising, coarse.distinct), (187, 4));
        let swapped = growth(|n| (n ^ 1).cast_signed());
        assert_eq!(swapped.rising, swapped.pairs, "neighbours may change places");
        assert!(growth(|n| (n * 7919 % 100).cast_signed()).rising < 180);
        let turns = growth(|n| ((n % 2) * 1000 + n / 2).cast_signed());
        assert!(turns.rising < 150, "two series that take turns are not one that grows");
    }

    #[test]
    fn what_a_sieve_keeps_out_no_sample_would_keep() {
        let of = |n: u64| {
            [
                KeyValue::new(0, Seen::Filter, &Value::Int64(n.cast_signed())),
                KeyValue::new(0, Seen::Filter, &Value::Null),
            ]
        };
        let mut all = KeyValues::default();
        let mut sieve = Sieve::new(&of(0), 3);
        let mut kept_out = 0;
        for n in 0..5000 {
            let (known, at) = (of(n), (place(n), 3));
            if sieve.passes(place(n)) {
                all.sample(&known, at, None, |at| Some(known[at].clone()));
                all.tighten(&known, &mut sieve);
            } else {
                assert_eq!(all.wanted(&known, at).count(), 0);
                kept_out += 1;
            }
        }
        assert!(kept_out > 2000, "{kept_out}");
    }
}
