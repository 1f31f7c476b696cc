//! What is counted for a shape and for a diagnostic, and which records they show: every choice of an example has a total
//! order, and sums merge, so it does not show who counted what.

use std::cmp::Reverse;
use std::collections::BTreeSet;
use std::sync::Arc;

use crate::rules::{Access, Finding, KeyUse, Rule, Severity};
use crate::text::{Fingerprint, RecordPos, Span};

use super::durations::Durations;
use super::judge::{JudgedStatement, Raised, Standing};
use super::plans::Plans;
use super::sums::Occurrence;

/// What is counted for one shape.
#[derive(Debug, Clone)]
pub struct ShapeStats {
    /// After `--ns-map`.
    pub namespace: String,
    /// `find` …
    pub operation: &'static str,
    /// The value-free text.
    pub shape: String,
    /// Names namespace, operation and shape.
    pub fingerprint: Fingerprint,
    /// Statements by standing, in the order of [`Standing::ALL`].
    pub standings: [u64; 6],
    /// Sum of the statements' parts of `durationMillis`.
    pub millis: u64,
    /// The longest record.
    pub max_millis: u64,
    /// How long each record took.
    pub durations: Durations,
    /// Least and greatest `nShards`.
    pub observed_shards: Option<(u64, u64)>,
    /// All shards contacted, if a chunk map is known.
    pub shards: Option<BTreeSet<String>>,
    /// How many of them carry the shard key.
    pub key_use: KeyUse,
    /// How its operations found their documents.
    pub plans: Plans,
    /// What an index could do for it, where indexes of the collection are known.
    pub access: Option<Access>,
    /// The worst standing, the first record that had it, and its reason. `None` only while another tally, which is merged
    /// with this one in the end, knows a record before all of these.
    pub worst: Option<(Standing, RecordPos, String)>,
    /// That record, if the run keeps one for each shape.
    pub example: Option<ShapeExample>,
}

/// A record of a shape.
#[derive(Debug, Clone)]
pub struct ShapeExample {
    /// Its bytes.
    pub record: Arc<[u8]>,
    /// So many bytes stand before it in its line.
    pub lead: u32,
    /// The filter in it; without one, the command's name.
    pub place: Span,
    /// `comment` of the command.
    pub comment: Option<String>,
}

/// What makes findings one diagnostic.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct GroupKey {
    /// The rule's code.
    pub code: &'static str,
    /// The shape, or the namespace.
    pub group: Fingerprint,
    /// Set with `--per-event`.
    pub event: Option<RecordPos>,
}

/// The findings of one diagnostic.
#[derive(Debug, Clone)]
pub struct Group {
    /// The rule.
    pub rule: &'static Rule,
    /// After `--ns-map`.
    pub namespace: String,
    /// `find` …
    pub operation: &'static str,
    /// The shape, if the group is one.
    pub shape: Option<String>,
    /// The fingerprint that names the group in a baseline.
    pub fingerprint: Fingerprint,
    /// Statements.
    pub count: u64,
    /// Sum of their parts of `durationMillis`.
    pub millis: u64,
    /// Earliest and latest time of a record, in milliseconds since 1970.
    pub seen: Option<(i64, i64)>,
    /// The worst example. `None` only while another tally, which is merged with this one in the end, knows a worse one.
    pub worst: Option<Worst>,
}

/// The example that a diagnostic shows: the most serious, then the longest, then the first.
#[derive(Debug, Clone)]
pub struct Worst {
    /// How serious.
    pub severity: Severity,
    /// `durationMillis` of the record.
    pub millis: u64,
    /// Where the record stands.
    pub position: RecordPos,
    /// Bytes before it on its first line.
    pub lead: u32,
    /// The finding.
    pub finding: Finding,
    /// The record's bytes.
    pub record: Arc<[u8]>,
    /// `comment` of the command.
    pub comment: Option<String>,
    /// The class of the statement.
    pub standing: Standing,
}

/// Of one record the first statement comes first.
pub type Rank = (Reverse<Severity>, Reverse<u64>, RecordPos, Span);

impl Worst {
    /// Its rank among the examples of its diagnostic: the least is shown.
    pub fn rank(&self) -> Rank {
        (Reverse(self.severity), Reverse(self.millis), self.position, place(&self.finding))
    }
}

/// The rank of a record as the example of a finding.
pub fn rank(raised: &Raised, one: &Occurrence) -> Rank {
    (Reverse(raised.severity()), Reverse(one.millis), one.position, place(&raised.finding))
}

/// What examples surpass: records behind a position that take no longer than so many milliseconds. Examples are only ever
/// replaced by better ones, so what is surpassed once stays so.
#[derive(Debug, Clone, Copy)]
pub struct Surpassed {
    /// Where the last of the examples stands that are as serious.
    pub behind: RecordPos,
    /// How long the shortest of these took.
    pub millis: u64,
}

impl Surpassed {
    /// Whether a record is not shown.
    #[must_use]
    pub fn hides(&self, one: &Occurrence) -> bool {
        one.position > self.behind && one.millis <= self.millis
    }
}

fn place(finding: &Finding) -> Span {
    finding.labels.first().map(|label| label.span).unwrap_or_default()
}

impl GroupKey {
    /// That of a finding on a statement. Findings on its namespace are counted by shape too, until the end: what is not told
    /// apart is not told apart by namespace either.
    pub fn of(raised: &Raised, statement: &JudgedStatement, event: Option<RecordPos>) -> Self {
        let group = if raised.by_shape { raised.group } else { statement.fingerprint };
        Self { code: raised.rule.code, group, event }
    }
}

/// The operation of shapes that are not told apart.
const OTHER: &str = "other";
/// What stands for the text of their shapes.
const OTHER_SHAPES: &str = "other shapes";
/// What stands for the namespace of those of which nothing is declared. No namespace is written so.
pub const OTHER_COLLECTIONS: &str = "other collections";

impl ShapeStats {
    /// The same, as one of the other shapes of its namespace.
    pub fn folded(self) -> Self {
        let is_undeclared = self.standings[index(Standing::Undeclared)] > 0;
        let namespace = if is_undeclared { OTHER_COLLECTIONS.to_owned() } else { self.namespace };
        Self {
            operation: OTHER,
            shape: OTHER_SHAPES.to_owned(),
            fingerprint: Fingerprint::of(&["other-1", &namespace]),
            access: None,
            namespace,
            ..self
        }
    }

    /// Shapes do not tell what their values are: any of them may have been compared with a string.
    pub fn share_access(&mut self, other: Option<&Access>) {
        if let (Some(mine), Some(other)) = (&mut self.access, other) {
            mine.has_strings |= other.has_strings;
        }
    }

    /// Adds what another tally counted.
    pub fn merge(&mut self, later: Self) {
        self.share_access(later.access.as_ref());
        for (count, more) in self.standings.iter_mut().zip(later.standings) {
            *count += more;
        }
        self.millis += later.millis;
        self.max_millis = self.max_millis.max(later.max_millis);
        self.durations.merge(later.durations);
        self.observed_shards = joined(self.observed_shards, later.observed_shards);
        self.key_use.add(&later.key_use);
        self.plans.merge(later.plans);
        if let Some(shards) = later.shards {
            self.shards.get_or_insert_default().extend(shards);
        }
        let is_worse = |(standing, position, _): &(Standing, RecordPos, String)| {
            self.worst.as_ref().is_none_or(|worst| is_worse(*standing, *position, worst))
        };
        if later.worst.as_ref().is_some_and(is_worse) {
            self.worst = later.worst;
            self.example = later.example;
        }
    }

    /// Statements of all classes.
    #[must_use]
    pub fn count(&self) -> u64 {
        self.standings.iter().sum()
    }
}

impl Group {
    /// The same, as a group of the other shapes of a namespace.
    pub fn folded(self, fingerprint: Fingerprint, is_undeclared: bool) -> Self {
        let shape = self.shape.map(|_| OTHER_SHAPES.to_owned());
        let namespace = if is_undeclared { OTHER_COLLECTIONS.to_owned() } else { self.namespace };
        Self { operation: OTHER, shape, fingerprint, namespace, ..self }
    }

    /// Adds what another tally counted.
    pub fn merge(&mut self, later: Self) {
        self.count += later.count;
        self.millis += later.millis;
        self.seen = joined(self.seen, later.seen);
        let is_worse = |later: &Worst| self.worst.as_ref().is_none_or(|worst| later.rank() < worst.rank());
        if later.worst.as_ref().is_some_and(is_worse) {
            self.worst = later.worst;
        }
    }
}

/// Whether a record of that standing at `position` tells the class of a shape rather than `known`.
pub fn is_worse(standing: Standing, position: RecordPos, known: &(Standing, RecordPos, String)) -> bool {
    (Reverse(standing), position) < (Reverse(known.0), known.1)
}

/// The place of a standing in [`Standing::ALL`].
#[must_use]
pub fn index(standing: Standing) -> usize {
    Standing::ALL.iter().position(|&s| s == standing).expect("ALL lists every standing")
}

/// The least and greatest of both.
pub fn joined<T: Ord + Copy>(a: Option<(T, T)>, b: Option<(T, T)>) -> Option<(T, T)> {
    match (a, b) {
        (Some(a), Some(b)) => Some((a.0.min(b.0), a.1.max(b.1))),
        (one, other) => one.or(other),
    }
}
