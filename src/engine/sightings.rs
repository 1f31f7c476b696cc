//! Which shards saw the same operation of a client, where no router's log tells. Records of several shards are of one
//! operation if they show the same statement, and the same key of the operation or, without one, the same session at the same
//! time; where a record names neither, the same statement at the same time is as good, since it is routed alike.
//!
//! A shard logs an operation only if it was slow there, so what is seen is the least that was asked. In memory are [`MOST`]
//! sightings: of all seconds those with the least hashes, the same ones for every shard, wherever the input is cut.

use std::collections::{BTreeMap, BTreeSet};
use std::hash::Hasher;

use rustc_hash::FxHashMap;
use siphasher::sip::SipHasher13;

use crate::model::{OperationName, Origin};
use crate::report::SeenOnShards;
use crate::text::{Fingerprint, SourceId};

use super::judge::Judged;
use super::sums::Occurrence;

/// So many sightings are kept.
const MOST: usize = 8192;
/// Operations are kept or left out by the second in which they began.
const SECOND: i64 = 1000;
/// Clocks of two shards differ by so many milliseconds at most.
const SKEW: i64 = 100;

/// All seconds are from here on.
const NEVER: (u64, i64) = (0, i64::MIN);

/// One statement, as one shard logged it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct Sighting {
    shape: Fingerprint,
    /// A hash of the statement's text.
    statement: u64,
    name: Name,
    /// In milliseconds since 1970.
    began: i64,
    ended: i64,
    source: SourceId,
    /// A hash of the shard's version, which its members share.
    version: Option<u64>,
}

/// A hash of what names the operation.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Name {
    /// No other operation has it.
    Key(u64),
    /// Others of the same session have it too.
    Session(u64),
    /// Nothing but the statement, and the comment that came with it.
    Statement(u64),
}

/// What was seen.
#[derive(Debug, Clone, Default)]
pub struct Sightings {
    /// By the second, which stands behind its hash.
    seconds: BTreeMap<(u64, i64), Vec<Sighting>>,
    kept: usize,
    /// Seconds from here on are left out.
    end: Option<(u64, i64)>,
}

impl Sightings {
    /// What there is to see in the logs of that many processes: of one, nothing.
    #[must_use]
    pub fn among(logs: usize) -> Self {
        Self { end: (logs < 2).then_some(NEVER), ..Self::default() }
    }

    /// Whether a record would be kept.
    #[must_use]
    pub fn would_keep(&self, one: &Occurrence) -> bool {
        one.origin == Origin::ThroughRouter && self.would_keep_if_routed(one)
    }

    /// Whether a record would be kept if it turns out to have come through a router.
    #[must_use]
    pub fn would_keep_if_routed(&self, one: &Occurrence) -> bool {
        self.end != Some(NEVER) && began(one).is_some_and(|began| self.holds(second(began)))
    }

    fn holds(&self, second: (u64, i64)) -> bool {
        self.end.is_none_or(|end| second < end)
    }

    /// Takes in a record that was judged by itself.
    pub fn see(&mut self, judged: &Judged, record: &[u8]) {
        let one = &judged.own;
        let Some(began) = began(one).filter(|_| self.would_keep(one) && !judged.continues) else { return };
        let name = name(judged);
        let seen = judged.statements.iter().filter(|statement| statement.operation != "insert").map(|statement| {
            let text = record.get(statement.place.range()).unwrap_or_default();
            let ended = one.time.unwrap_or(began);
            let (shape, statement) = (statement.fingerprint, hash(&[text]));
            let version = judged.shard_version.as_ref().map(|version| hash(&[version.as_bytes()]));
            Sighting { shape, statement, name, began, ended, source: one.position.source, version }
        });
        let of_second = self.seconds.entry(second(began)).or_default();
        let before = of_second.len();
        of_second.extend(seen);
        self.kept += of_second.len() - before;
        self.shrink();
    }

    /// Adds what was seen elsewhere.
    pub fn merge(&mut self, other: Self) {
        for (second, mut seen) in other.seconds {
            self.kept += seen.len();
            self.seconds.entry(second).or_default().append(&mut seen);
        }
        self.end = self.end.into_iter().chain(other.end).min();
        while self.seconds.last_key_value().is_some_and(|(last, _)| !self.holds(*last)) {
            self.drop_last();
        }
        self.shrink();
    }

    /// What is left out by one part of the input is left out by the whole, which has as many before it and more.
    fn shrink(&mut self) {
        while self.kept > MOST {
            self.end = self.seconds.last_key_value().map(|(last, _)| *last);
            self.drop_last();
        }
    }

    fn drop_last(&mut self) {
        self.kept -= self.seconds.pop_last().map_or(0, |(_, seen)| seen.len());
    }

    /// For each shape, the shards on which its operations were seen. `shards` tells them by log; two logs of one shard have the
    /// same number.
    #[must_use]
    pub fn by_shape(self, shards: &BTreeMap<SourceId, usize>) -> FxHashMap<Fingerprint, SeenOnShards> {
        let of = shards.values().collect::<BTreeSet<_>>().len() as u64;
        let mut found: FxHashMap<Fingerprint, SeenOnShards> = FxHashMap::default();
        if of < 2 {
            return found;
        }
        let end = self.end;
        let mut all: Vec<Sighting> = self.seconds.into_values().flatten().collect();
        all.sort_unstable();
        let alike = all.chunk_by(|a, b| (a.shape, a.statement, a.name) == (b.shape, b.statement, b.name));
        for operation in alike.flat_map(|alike| operations(alike, shards)) {
            if !is_whole(&operation, end) {
                continue;
            }
            let seen = count_shards(&operation, shards);
            let first = SeenOnShards { min: seen, max: seen, of, operations: 0, named: 0 };
            let shape = found.entry(operation[0].shape).or_insert(first);
            (shape.min, shape.max) = (shape.min.min(seen), shape.max.max(seen));
            shape.operations += 1;
            shape.named += u64::from(!matches!(operation[0].name, Name::Statement(_)));
        }
        found
    }
}

/// On how many shards an operation was seen. Two members of a shard may have logged it: a router hedges some reads.
fn count_shards(operation: &[Sighting], shards: &BTreeMap<SourceId, usize>) -> u64 {
    let mut seen: Vec<&Sighting> = Vec::new();
    for sighting in operation {
        let is_same = |other: &&Sighting| {
            shards.get(&other.source) == shards.get(&sighting.source)
                || (sighting.version.is_some() && other.version == sighting.version)
        };
        if !seen.iter().any(is_same) {
            seen.push(sighting);
        }
    }
    seen.len() as u64
}

/// Parts sightings of the same statement under the same name, sorted by time, into operations: at the same time, and one for
/// each shard.
fn operations(alike: &[Sighting], shards: &BTreeMap<SourceId, usize>) -> Vec<Vec<Sighting>> {
    let mut operations: Vec<Vec<Sighting>> = Vec::new();
    for sighting in alike {
        let is_same = |operation: &Vec<Sighting>| {
            let ended = operation.iter().map(|other| other.ended).max().unwrap_or(sighting.began);
            let shard = |of: &Sighting| shards.get(&of.source).copied();
            let is_other_shard = operation.iter().all(|other| shard(other) != shard(sighting));
            matches!(sighting.name, Name::Key(_)) || (is_other_shard && sighting.began <= ended.saturating_add(SKEW))
        };
        match operations.iter_mut().find(|operation| is_same(operation)) {
            Some(operation) => operation.push(*sighting),
            None => operations.push(vec![*sighting]),
        }
    }
    operations
}

/// Whether all sightings of an operation were kept, also those that another clock puts into another second.
fn is_whole(operation: &[Sighting], end: Option<(u64, i64)>) -> bool {
    let Some(end) = end else { return true };
    let times = operation.iter().flat_map(|seen| [seen.began.saturating_sub(SKEW), seen.began.saturating_add(SKEW)]);
    times.map(second).all(|second| second < end)
}

fn began(one: &Occurrence) -> Option<i64> {
    one.time.map(|time| time.saturating_sub(i64::try_from(one.millis).unwrap_or(i64::MAX)))
}

fn second(time: i64) -> (u64, i64) {
    let second = time.div_euclid(SECOND);
    (hash(&[&second.to_le_bytes()]), second)
}

fn name(judged: &Judged) -> Name {
    match &judged.operation_name {
        Some(OperationName::Key(key)) => Name::Key(hash(&[key.as_bytes()])),
        Some(OperationName::Session(session)) => Name::Session(hash(&[session.as_bytes()])),
        None => Name::Statement(hash(&[judged.comment.as_deref().unwrap_or_default().as_bytes()])),
    }
}

fn hash(parts: &[&[u8]]) -> u64 {
    let mut hasher = SipHasher13::new();
    parts.iter().for_each(|part| hasher.write(part));
    hasher.finish()
}
