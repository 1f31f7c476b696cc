//! What records that are about the same add up to: how many there are, when they came, how long they took, and which
//! applications sent them. One record is a sum too, so that a tally counts nothing but sums.

use compact_str::CompactString;
use smallvec::{SmallVec, smallvec};

use crate::model::{Origin, ServerVersion};
use crate::report::ClassCount;
use crate::rules::Cost;
use crate::text::RecordPos;

use super::durations::Bucket;
use super::stats::joined;

/// What a record tells for itself, whatever it is about.
#[derive(Debug, Clone)]
pub struct Occurrence {
    /// Where it stands.
    pub position: RecordPos,
    /// Bytes before it on its first line.
    pub lead: u32,
    /// Whose operation it is about.
    pub origin: Origin,
    /// When it was written, in milliseconds since 1970.
    pub time: Option<i64>,
    /// `durationMillis`.
    pub millis: u64,
    /// `appName`.
    pub application: Option<CompactString>,
    /// `nShards`.
    pub observed_shards: Option<u64>,
    /// The version that the process told of itself.
    pub logged: Option<ServerVersion>,
}

impl Occurrence {
    /// The part of `durationMillis` that the statement at that place among so many takes.
    fn part(&self, at: usize, statements: usize) -> u64 {
        let statements = statements.max(1) as u64;
        self.millis / statements + u64::from((at as u64) < self.millis % statements)
    }
}

/// The sum of some records that are about the same.
#[derive(Debug, Clone, Default)]
pub struct Sums {
    /// The longest of them.
    pub longest: u64,
    /// Earliest and latest time of a record, in milliseconds since 1970.
    pub seen: Option<(i64, i64)>,
    /// Least and greatest `nShards`.
    pub observed_shards: Option<(u64, u64)>,
    /// How long each of them took.
    pub durations: SmallVec<[Bucket; 4]>,
    /// Their numbers and times, by application: each is there once.
    pub shares: SmallVec<[Share; 1]>,
}

/// The part of one application in a sum.
#[derive(Debug, Clone)]
pub struct Share {
    /// The application, if it is named.
    pub application: Option<CompactString>,
    /// Its records.
    pub records: ClassCount,
    /// Their time, by statement.
    parts: SmallVec<[u64; 1]>,
    /// The limits, by place, that count them.
    pub limits: Vec<usize>,
}

impl Share {
    /// Nothing yet, of records with so many statements.
    #[must_use]
    pub fn new(application: Option<CompactString>, statements: usize, limits: Vec<usize>) -> Self {
        Self { application, records: ClassCount::default(), parts: smallvec![0; statements], limits }
    }

    /// What the statement at that place takes of it.
    #[must_use]
    pub fn cost(&self, at: usize) -> Cost {
        Cost { calls: self.records.count, millis: self.parts[at] }
    }

    fn add(&mut self, one: &Occurrence) {
        self.records.count += 1;
        self.records.millis += one.millis;
        match self.parts.as_mut_slice() {
            [part] => *part += one.millis,
            parts => {
                let statements = parts.len();
                parts.iter_mut().enumerate().for_each(|(at, part)| *part += one.part(at, statements));
            }
        }
    }
}

impl Sums {
    /// One record, with the share that it is all of.
    #[must_use]
    pub fn one(one: &Occurrence, share: Share) -> Self {
        let mut sums = Self { shares: smallvec![share], ..Self::default() };
        sums.add(one, 0);
        sums
    }

    /// Adds a record to the share at that place.
    pub fn add(&mut self, one: &Occurrence, share: usize) {
        self.longest = self.longest.max(one.millis);
        self.seen = joined(self.seen, one.time.map(|time| (time, time)));
        self.observed_shards = joined(self.observed_shards, one.observed_shards.map(|n| (n, n)));
        self.durations.push(Bucket::of(one.millis));
        self.shares[share].add(one);
    }

    /// Forgets all records.
    pub fn clear(&mut self) {
        self.durations.clear();
        self.shares.clear();
        (self.longest, self.seen, self.observed_shards) = (0, None, None);
    }

    /// All records.
    #[must_use]
    pub fn records(&self) -> ClassCount {
        let mut all = ClassCount::default();
        for Share { records, .. } in &self.shares {
            all.count += records.count;
            all.millis += records.millis;
        }
        all
    }

    /// What the statement at that place takes of them.
    #[must_use]
    pub fn cost(&self, at: usize) -> Cost {
        let mut all = Cost::default();
        self.shares.iter().for_each(|share| all.add(share.cost(at)));
        all
    }
}

#[cfg(test)]
mod tests {
    use crate::text::SourceId;

    use super::*;

    #[test]
    fn the_time_of_a_record_is_shared_out_among_its_statements_and_nothing_of_it_is_lost() {
        let record = |millis: u64| Occurrence {
            position: RecordPos { source: SourceId(0), offset: 0, line: 1 },
            lead: 0,
            origin: Origin::Direct,
            time: None,
            millis,
            application: None,
            observed_shards: None,
            logged: None,
        };
        for statements in [1, 3, 7] {
            let mut sums = Sums::one(&record(10), Share::new(None, statements, Vec::new()));
            [1, 0, 1000].into_iter().for_each(|millis| sums.add(&record(millis), 0));
            let parts: Vec<u64> = (0..statements).map(|at| sums.cost(at).millis).collect();
            assert_eq!((parts.iter().sum::<u64>(), sums.records().millis, sums.cost(0).calls), (1011, 1011, 4));
            assert!(parts.is_sorted_by(|a, b| a >= b) && parts[0] - parts[statements - 1] <= 4, "{parts:?}");
        }
    }
}
