//! Counting judged records: classes, shapes and diagnostics. Tallies of parts of the input merge into that of the whole;
//! sums are integers and every choice of an example has a total order, so neither chunk size nor thread count shows.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use rustc_hash::{FxHashMap, FxHashSet};

use crate::report::ClassCount;
use crate::routing::Class;
use crate::rules::{
    Access, Finding, KeyUse, Rule, Severity, jumbo_or_failed_migration, scan_on_every_shard, sort_in_memory,
};
use crate::syntax::Trouble;
use crate::text::{Fingerprint, RecordPos, Span};

use super::durations::Durations;
use super::judge::{About, Judged, JudgedStatement, Raised, Standing};
use super::limit::Measured;
use super::plans::Plans;
use super::roster::{Crowd, Folding};
use super::sums::{Occurrence, Share, Sums};
use super::usage::Usage;

/// What was counted.
#[derive(Debug, Clone, Default)]
pub struct Tally {
    /// Records by standing, in the order of [`Standing::ALL`].
    pub classes: [ClassCount; 6],
    /// Statements by shape.
    pub shapes: FxHashMap<Fingerprint, Box<ShapeStats>>,
    /// By namespace: all shapes together that are not told apart.
    pub others: BTreeMap<String, Box<ShapeStats>>,
    /// How many shapes that are.
    pub folded: Crowd,
    /// By namespace: who carries the shard key, and where calls go.
    pub usage: Usage,
    /// Findings by rule and group.
    pub groups: FxHashMap<GroupKey, Box<Group>>,
    /// Findings that suppressions hid.
    pub hidden: FxHashSet<GroupKey>,
    /// The entries of the configuration, by place, that hid some of them.
    pub used: BTreeSet<usize>,
    /// What was counted for the limits, by place.
    pub limits: BTreeMap<usize, Measured>,
}

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

/// The bytes of a record, copied once for all that keep them.
struct Bytes<'a> {
    bytes: &'a [u8],
    kept: Option<Arc<[u8]>>,
}

impl Bytes<'_> {
    fn keep(&mut self) -> Arc<[u8]> {
        Arc::clone(self.kept.get_or_insert_with(|| Arc::from(self.bytes)))
    }
}

/// How much a tally keeps.
#[derive(Debug, Clone, Copy, Default)]
pub struct Keep {
    /// One diagnostic per finding instead of one per shape.
    pub per_event: bool,
    /// An example of each shape.
    pub shape_examples: bool,
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
type Rank = (Reverse<Severity>, Reverse<u64>, RecordPos, Span);

impl Worst {
    fn rank(&self) -> Rank {
        (Reverse(self.severity), Reverse(self.millis), self.position, place(&self.finding))
    }
}

fn rank(raised: &Raised, one: &Occurrence) -> Rank {
    (Reverse(raised.severity()), Reverse(one.millis), one.position, place(&raised.finding))
}

/// What examples surpass: records behind a position that take no longer than so many milliseconds. Examples are only ever
/// replaced by better ones, so what is surpassed once stays so.
#[derive(Debug, Clone, Copy)]
pub struct Surpassed {
    behind: RecordPos,
    millis: u64,
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
    fn of(raised: &Raised, statement: &JudgedStatement, event: Option<RecordPos>) -> Self {
        let group = if raised.by_shape { raised.group } else { statement.fingerprint };
        Self { code: raised.rule.code, group, event }
    }
}

impl Tally {
    /// Whether a record would become the example of a shape or of a diagnostic.
    #[must_use]
    pub fn would_show(&self, statements: &[JudgedStatement], one: &Occurrence) -> bool {
        statements.iter().any(|statement| {
            let known = self.worst_of_shape(statement);
            known.is_none_or(|worst| is_worse(statement.standing, one.position, worst))
                || statement.raised.iter().any(|raised| {
                    let known = self.worst_of_group(raised, statement);
                    known.is_none_or(|worst| rank(raised, one) < worst.rank())
                })
        })
    }

    /// Which records with these statements are surpassed by the examples; `None` if an example is missing or not as bad.
    #[must_use]
    pub fn surpassed(&self, statements: &[JudgedStatement], one: &Occurrence) -> Option<Surpassed> {
        let mut surpassed = Surpassed { behind: one.position, millis: u64::MAX };
        for statement in statements {
            let (standing, position, _) =
                self.worst_of_shape(statement).filter(|worst| worst.0 >= statement.standing)?;
            if *standing == statement.standing {
                surpassed.behind = surpassed.behind.max(*position);
            }
            for raised in &statement.raised {
                let known = self.worst_of_group(raised, statement);
                let worst = known.filter(|worst| worst.severity >= raised.severity())?;
                if worst.severity == raised.severity() {
                    surpassed.behind = surpassed.behind.max(worst.position);
                    surpassed.millis = surpassed.millis.min(worst.millis);
                }
            }
        }
        Some(surpassed)
    }

    fn worst_of_shape(&self, statement: &JudgedStatement) -> Option<&(Standing, RecordPos, String)> {
        self.shapes.get(&statement.fingerprint).and_then(|stats| stats.worst.as_ref())
    }

    fn worst_of_group(&self, raised: &Raised, statement: &JudgedStatement) -> Option<&Worst> {
        self.groups.get(&GroupKey::of(raised, statement, None)).and_then(|group| group.worst.as_ref())
    }

    /// Counts records that are about the same. If each of their findings is a diagnostic of its own, it is one record: `event`.
    pub fn count(&mut self, about: About<'_>, sums: &Sums, event: Option<RecordPos>) {
        let (records, count) = (sums.records(), &mut self.classes[index(about.standing)]);
        count.count += records.count;
        count.millis += records.millis;
        self.count_limits(about.standing, sums);
        for (at, statement) in about.statements.iter().enumerate() {
            for hidden in &statement.hidden {
                self.hidden.insert(GroupKey { code: hidden.code, group: hidden.group, event });
                self.used.extend(hidden.entry);
            }
            self.count_shape(about, at, sums);
            self.usage.count(statement, at, sums);
            for raised in &statement.raised {
                let (group, cost) = (self.group(raised, statement, event), sums.cost(at));
                group.count += cost.calls;
                group.millis += cost.millis;
                group.seen = joined(group.seen, sums.seen);
            }
        }
    }

    fn count_limits(&mut self, standing: Standing, sums: &Sums) {
        for Share { records, limits, .. } in &sums.shares {
            let is_broadcast = standing == Standing::Judged(Class::Broadcast);
            let broadcast = if is_broadcast { *records } else { ClassCount::default() };
            for &place in limits {
                self.limits.entry(place).or_default().add(Measured { broadcast, total: *records });
            }
        }
    }

    fn count_shape(&mut self, about: About<'_>, at: usize, sums: &Sums) {
        let (statement, cost) = (&about.statements[at], sums.cost(at));
        let stats = self.shape(statement);
        stats.share_access(statement.access.as_ref());
        stats.standings[index(statement.standing)] += cost.calls;
        stats.millis += cost.millis;
        stats.max_millis = stats.max_millis.max(sums.longest);
        sums.durations.iter().for_each(|duration| stats.durations.add(*duration));
        stats.observed_shards = joined(stats.observed_shards, sums.observed_shards);
        if let Some(carried) = statement.carried {
            stats.key_use.count(carried, cost);
        }
        about.plan.iter().for_each(|plan| stats.plans.add(plan, cost.calls));
        if let Some(shards) = &statement.shards {
            let all = stats.shards.get_or_insert_default();
            all.extend(shards.iter().cloned());
        }
    }

    /// Shows a record wherever it is the worst so far. Its bytes are copied only where it becomes an example.
    pub fn show(&mut self, judged: &Judged, record: &[u8], keep: Keep) {
        let mut record = Bytes { bytes: record, kept: None };
        let (one, event) = (&judged.own, keep.per_event.then_some(judged.own.position));
        for statement in judged.statements.iter() {
            let stats = self.shape(statement);
            if stats.worst.as_ref().is_none_or(|worst| is_worse(statement.standing, one.position, worst)) {
                stats.worst = Some((statement.standing, one.position, statement.reason.clone()));
                stats.example = keep.shape_examples.then(|| ShapeExample {
                    record: record.keep(),
                    lead: one.lead,
                    place: statement.place,
                    comment: judged.comment.clone(),
                });
            }
            for raised in &statement.raised {
                let group = self.group(raised, statement, event);
                if group.worst.as_ref().is_none_or(|worst| rank(raised, one) < worst.rank()) {
                    group.worst = Some(Worst {
                        severity: raised.severity(),
                        millis: one.millis,
                        position: one.position,
                        lead: one.lead,
                        finding: raised.finding.clone(),
                        record: record.keep(),
                        comment: judged.comment.clone(),
                        standing: statement.standing,
                    });
                }
            }
        }
    }

    /// The shape of a statement, of which nothing may have been counted yet.
    fn shape(&mut self, statement: &JudgedStatement) -> &mut ShapeStats {
        self.shapes.entry(statement.fingerprint).or_insert_with(|| {
            Box::new(ShapeStats {
                namespace: statement.namespace.clone(),
                operation: statement.operation,
                shape: statement.shape.text.clone(),
                fingerprint: statement.fingerprint,
                standings: [0; 6],
                millis: 0,
                max_millis: 0,
                durations: Durations::default(),
                observed_shards: None,
                shards: None,
                key_use: KeyUse::default(),
                plans: Plans::default(),
                access: statement.access.clone(),
                worst: None,
                example: None,
            })
        })
    }

    /// The group of a finding, of which nothing may have been counted yet.
    fn group(&mut self, raised: &Raised, statement: &JudgedStatement, event: Option<RecordPos>) -> &mut Group {
        self.groups.entry(GroupKey::of(raised, statement, event)).or_insert_with(|| {
            Box::new(Group {
                rule: raised.rule,
                namespace: statement.namespace.clone(),
                operation: statement.operation,
                shape: raised.by_shape.then(|| statement.shape.text.clone()),
                fingerprint: raised.group,
                count: 0,
                millis: 0,
                seen: None,
                worst: None,
            })
        })
    }

    /// Counts a message on a chunk that does not move.
    pub fn add_trouble(
        &mut self,
        rule: &'static Rule,
        trouble: &Trouble,
        namespace: String,
        (position, lead): (RecordPos, u32),
        record: &[u8],
    ) {
        let reason = if trouble.jumbo { "jumbo" } else { trouble.reason.as_deref().unwrap_or_default() };
        let fingerprint = Fingerprint::of(&["message-1", rule.code, &namespace, reason]);
        let key = GroupKey { code: rule.code, group: fingerprint, event: None };
        let worst = || Worst {
            severity: rule.severity,
            millis: 0,
            position,
            lead,
            finding: jumbo_or_failed_migration::logged(trouble),
            record: Arc::from(record),
            comment: None,
            standing: Standing::Undeclared,
        };
        let group = self.groups.entry(key).or_insert_with(|| {
            Box::new(Group {
                rule,
                namespace,
                operation: "",
                shape: None,
                fingerprint,
                count: 0,
                millis: 0,
                seen: None,
                worst: Some(worst()),
            })
        });
        group.count += 1;
    }

    /// Adds the counts of a later part of the input.
    pub fn merge(&mut self, later: Self) {
        for (count, more) in self.classes.iter_mut().zip(later.classes) {
            count.count += more.count;
            count.millis += more.millis;
        }
        self.hidden.extend(later.hidden);
        self.used.extend(later.used);
        for (place, measured) in later.limits {
            self.limits.entry(place).or_default().add(measured);
        }
        for (fingerprint, stats) in later.shapes {
            match self.shapes.get_mut(&fingerprint) {
                Some(mine) => mine.merge(*stats),
                None => drop(self.shapes.insert(fingerprint, stats)),
            }
        }
        for (namespace, stats) in later.others {
            match self.others.get_mut(&namespace) {
                Some(mine) => mine.merge(*stats),
                None => drop(self.others.insert(namespace, stats)),
            }
        }
        self.folded.merge(later.folded);
        self.usage.merge(later.usage);
        self.merge_groups(later.groups.into_iter());
    }

    /// Adds what shards tell of operations that the router has counted: how they found and sorted the documents, which no
    /// router knows.
    pub fn merge_plans(&mut self, of_shards: Self) {
        const OF_SHARDS: [&str; 2] = [sort_in_memory::RULE.code, scan_on_every_shard::RULE.code];
        self.merge_groups(of_shards.groups.into_iter().filter(|(key, _)| OF_SHARDS.contains(&key.code)));
        for (fingerprint, stats) in of_shards.shapes {
            if let Some(mine) = self.shapes.get_mut(&fingerprint) {
                mine.plans.merge(stats.plans);
            }
        }
    }

    fn merge_groups(&mut self, later: impl Iterator<Item = (GroupKey, Box<Group>)>) {
        for (key, group) in later {
            match self.groups.get_mut(&key) {
                Some(mine) => mine.merge(*group),
                None => drop(self.groups.insert(key, group)),
            }
        }
    }

    /// Puts the diagnostics on each namespace together, which were counted by shape.
    pub fn join_namespaces(&mut self) {
        let groups = std::mem::take(&mut self.groups);
        self.merge_groups(groups.into_iter().map(|(key, group)| (GroupKey { group: group.fingerprint, ..key }, group)));
    }

    /// Counts the shapes that are folded together, by namespace, and their diagnostics by rule and namespace. Those of
    /// namespaces of which nothing is declared, which there may be any number of, are all counted together.
    pub fn fold(&mut self, folding: &Folding) {
        let mut became: FxHashMap<Fingerprint, (Fingerprint, bool)> = FxHashMap::default();
        for (shape, stats) in self.shapes.extract_if(|shape, _| folding.folds(*shape)) {
            let other = Box::new(stats.folded());
            became.insert(shape, (other.fingerprint, other.namespace == OTHER_COLLECTIONS));
            self.folded.add(shape);
            match self.others.get_mut(&other.namespace) {
                Some(known) => known.merge(*other),
                None => drop(self.others.insert(other.namespace.clone(), other)),
            }
        }
        // Nothing is found or hidden but what belongs to a shape that is counted.
        if became.is_empty() {
            return;
        }
        let of_others = |key: &GroupKey| became.get(&key.group).map(|&(group, _)| GroupKey { group, ..*key });
        let groups: Vec<_> = self.groups.extract_if(|key, _| of_others(key).is_some()).collect();
        let folded = groups.into_iter().filter_map(|(key, group)| {
            let (fingerprint, is_undeclared) = *became.get(&key.group)?;
            let folded = Box::new(group.folded(fingerprint, is_undeclared));
            Some((GroupKey { group: fingerprint, ..key }, folded))
        });
        self.merge_groups(folded);
        self.hidden = std::mem::take(&mut self.hidden).into_iter().map(|key| of_others(&key).unwrap_or(key)).collect();
    }

    /// All records counted.
    #[must_use]
    pub fn records(&self) -> u64 {
        self.classes.iter().map(|class| class.count).sum()
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
    fn folded(self) -> Self {
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
    fn share_access(&mut self, other: Option<&Access>) {
        if let (Some(mine), Some(other)) = (&mut self.access, other) {
            mine.has_strings |= other.has_strings;
        }
    }

    fn merge(&mut self, later: Self) {
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
    fn folded(self, fingerprint: Fingerprint, is_undeclared: bool) -> Self {
        let shape = self.shape.map(|_| OTHER_SHAPES.to_owned());
        let namespace = if is_undeclared { OTHER_COLLECTIONS.to_owned() } else { self.namespace };
        Self { operation: OTHER, shape, fingerprint, namespace, ..self }
    }

    fn merge(&mut self, later: Self) {
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
fn is_worse(standing: Standing, position: RecordPos, known: &(Standing, RecordPos, String)) -> bool {
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
