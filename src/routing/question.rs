//! One statement to route, with everything its verdict depends on; and the steps that reads and writes share.

use crate::catalog::Collection;
use crate::model::{ChunkMap, Namespace, Node, ServerVersion, ShardKey, Statement, Value};

use super::chunks::Shards;
use super::collation::Collation;
use super::convert::convert_expressions;
use super::fold::Constants;
use super::normalise::normalise;
use super::predicate::{Condition, Predicate};
use super::print::explain;
use super::reading::{Gap, Reader, Reading, first_gap, hides_values};
use super::reason::{gap_cause, reason};
use super::schema::convert_schemas;
use super::target::{Target, Targeting};
use super::verdict::{Class, FieldBounds, Reason, RouterError, Verdict};
use super::versions;

/// A statement on a sharded collection.
#[derive(Clone, Copy)]
pub(super) struct Question<'a> {
    pub(super) statement: &'a Statement,
    pub(super) collection: &'a Collection,
    pub(super) key: &'a ShardKey,
    pub(super) all_shards: Option<&'a [String]>,
    pub(super) version: ServerVersion,
    /// Whether bounds and ranges are spelled out.
    pub(super) explain: bool,
    /// The collection whose reads by a pipeline are asked for, if the statement itself runs on another one.
    pub(super) foreign: Option<&'a Namespace>,
}

/// A filter as written, and with its `$expr` converted.
pub(super) struct Filter {
    pub(super) written: Predicate,
    converted: Predicate,
    pub(super) gap: Option<Gap>,
    hides_values: bool,
    rules: Vec<&'static str>,
}

/// What a lost collation may be in the wide reading: any but the simple one.
fn some_collation() -> &'static Node {
    static SOME: std::sync::OnceLock<Node> = std::sync::OnceLock::new();
    SOME.get_or_init(|| Node::synthetic(Value::String("lost".to_owned())))
}

impl<'a> Question<'a> {
    pub(super) fn chunks(self) -> Option<&'a ChunkMap> {
        self.collection.chunks.as_ref().filter(|map| !map.chunks.is_empty())
    }

    /// The names of a set of shards.
    pub(super) fn names(shards: &Shards<'_>) -> Vec<String> {
        shards.iter().map(|&shard| shard.to_owned()).collect()
    }

    /// Every shard of the cluster; without that knowledge nothing, since a shard without chunks may be among them.
    pub(super) fn whole_cluster(self) -> Option<Vec<String>> {
        let mut names = self.all_shards?.to_vec();
        names.sort();
        names.dedup();
        Some(names)
    }

    /// The filter of a statement.
    pub(super) fn filter(self, written: Predicate) -> Filter {
        let now = self.statement.now.filter(|_| versions::now_is_constant(self.version)).map(Value::Date);
        let constants = Constants::new(self.statement.let_variables.as_ref(), now);
        let mut converted = written.clone();
        convert_expressions(&mut converted, &constants, self.version);
        convert_schemas(&mut converted);
        let gap = first_gap(&converted);
        Filter { hides_values: hides_values(&converted), rules: version_rules(&written), written, converted, gap }
    }

    /// The filter given with the statement, or one that holds for everything.
    pub(super) fn own_filter(self) -> Filter {
        let given = self.statement.filter.as_ref();
        self.filter(given.map_or_else(|| Predicate::everything(self.statement.name_span), Predicate::parse))
    }

    /// The collation in force. A lost one may be any.
    pub(super) fn collation(self, reading: Reading) -> Collation<'a> {
        let given = self.statement.collation.as_ref();
        if given.is_none() && self.statement.options_partial && reading == Reading::Wide {
            return Collation::Explicit(some_collation());
        }
        // A pipeline that runs on another collection has that one's collation, and the default of that one is not known.
        let default = self.collection.collation.as_ref().filter(|_| self.foreign.is_none());
        Collation::in_force(given, default)
    }

    pub(super) fn targeting(self, reading: Reading) -> Targeting<'a> {
        Targeting {
            key: self.key,
            collation: self.collation(reading),
            version: self.version,
            hashed_under_collation: self.statement.verb == crate::model::Verb::FindAndModify,
        }
    }

    /// The verdict on a filter by itself, as a read has it.
    pub(super) fn filter_verdict(self, filter: &Filter, target: &Target, reading: Reading) -> Verdict {
        let mut reason = reason(&filter.written, self.key, self.collation(reading), target);
        reason.version_rules.clone_from(&filter.rules);
        if self.explain {
            explain(&mut reason, target);
        }
        if target.is_max_key {
            reason.version_rules.push(versions::MAX_KEY.text);
        }
        let error = target.has_too_many_ranges().then_some(RouterError { code: 17439, name: "Location17439" });
        Verdict {
            class: target.class(),
            shards: self.chunks().map(|map| Self::names(&target.shards(map))),
            at_most: target.at_most(),
            error,
            two_phase: false,
            reason,
        }
    }
}

fn version_rules(written: &Predicate) -> Vec<&'static str> {
    let mut rules = Vec::new();
    if written.any(&|part| matches!(part.condition, Condition::Expr(_))) {
        rules.extend([versions::EXPR_EQUALITY.text, versions::EXPR_RANGES.text]);
    }
    let is_now =
        |part: &super::Expression| matches!(&part.kind, super::ExpressionKind::Variable(name) if name == "NOW");
    if written.any(&|part| matches!(&part.condition, Condition::Expr(expression) if expression.any(&is_now))) {
        rules.push(versions::EXPR_NOW.text);
    }
    rules
}

impl Filter {
    /// The normalised filter, its gaps filled.
    pub(super) fn read(&self, key: &ShardKey, reading: Reading) -> Predicate {
        let mut predicate = self.converted.clone();
        if self.gap.is_some() {
            Reader::new(key, reading).fill(&mut predicate, false);
        }
        normalise(predicate)
    }

    /// The one answer that both readings of the filter give, or that there is none. `gap` is one outside the filter.
    pub(super) fn settle(&self, gap: Option<Gap>, verdict: impl Fn(Reading) -> Verdict) -> Verdict {
        let wide = verdict(Reading::Wide);
        let Some(gap) = self.gap.clone().or(gap) else { return wide };
        let narrow = verdict(Reading::Narrow);
        self.agreement(&gap, wide, &narrow)
    }

    fn agreement(&self, gap: &Gap, mut wide: Verdict, narrow: &Verdict) -> Verdict {
        for (field, other) in wide.reason.bindings.iter_mut().zip(&narrow.reason.bindings) {
            if field.bounds != other.bounds {
                field.bounds = FieldBounds::Unknown;
                field.intervals.clear();
            }
        }
        let is_everywhere = wide.class == Class::Broadcast;
        if wide.shards != narrow.shards || (self.hides_values && !is_everywhere) {
            wide.shards = None;
        }
        if wide.class != narrow.class {
            wide.class = Class::Unknown;
            (wide.shards, wide.at_most) = (None, None);
            wide.reason.cause = gap_cause(gap);
            hide_values(&mut wide.reason);
        }
        wide.error = wide.error.filter(|_| wide.error == narrow.error);
        wide.two_phase &= narrow.two_phase;
        if self.hides_values {
            hide_values(&mut wide.reason);
        }
        wide
    }
}

/// Takes out what stands for values that the record does not hold.
fn hide_values(reason: &mut Reason) {
    reason.ranges.clear();
    reason.bindings.iter_mut().for_each(|field| field.intervals.clear());
}
