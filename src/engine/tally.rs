//! Counting judged records: classes, shapes and diagnostics. Tallies of parts of the input merge into that of the whole;
//! sums are integers and every choice of an example has a total order, so neither chunk size nor thread count shows.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use rustc_hash::{FxHashMap, FxHashSet};

use crate::report::ClassCount;
use crate::routing::Class;
use crate::rules::{KeyUse, Rule, jumbo_or_failed_migration, scan_on_every_shard, sort_in_memory};
use crate::syntax::Trouble;
use crate::text::{Fingerprint, RecordPos};

use super::durations::Durations;
use super::judge::{About, Judged, JudgedStatement, Raised, Standing};
use super::limit::Measured;
use super::plans::Plans;
use super::roster::{Crowd, Folding};
use super::stats::{
    Group, GroupKey, OTHER_COLLECTIONS, ShapeExample, ShapeStats, Surpassed, Worst, index, is_worse, joined, rank,
};
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
