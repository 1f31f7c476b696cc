//! Reads: find, count, distinct, mapReduce and aggregate. The filter decides, and of a pipeline only what can move to the front.

use crate::model::Verb;
use crate::text::Span;

use super::pipeline::{LeadingFilter, Obstacle, foreign_filters, leading_filter};
use super::predicate::Predicate;
use super::question::Question;
use super::reading::Gap;
use super::verdict::{Cause, Class, Verdict};

/// The verdict on a read.
pub(super) fn route_read(question: Question<'_>) -> Verdict {
    let statement = question.statement;
    if let Some(foreign) = question.foreign {
        let reads = foreign_filters(statement, foreign, question.key, question.version);
        let verdicts = reads.into_iter().map(|leading| route_leading(question, leading));
        return verdicts.reduce(both).unwrap_or_else(|| route_leading(question, LeadingFilter::default()));
    }
    if statement.verb == Verb::Aggregate || statement.view_pipeline.is_some() {
        return route_leading(question, leading_filter(statement, question.key));
    }
    let filter = question.own_filter();
    let gap = lost_options(question, statement.filter.is_none());
    filter.settle(gap, |reading| {
        let target = question.targeting(reading).target(&filter.read(question.key, reading));
        question.filter_verdict(&filter, &target, reading)
    })
}

/// Options that were cut off matter if one of them could have been the filter or the collation.
fn lost_options(question: Question<'_>, no_filter: bool) -> Option<Gap> {
    let statement = question.statement;
    (statement.options_partial && (no_filter || statement.collation.is_none())).then_some(Gap::Lost)
}

/// The worse of two verdicts, with the shards of both. Two single keys need not lie on one shard.
fn both(left: Verdict, right: Verdict) -> Verdict {
    let at_most = left.at_most.zip(right.at_most).map(|(left, right)| left + right);
    let are_targeted = left.class == Class::Targeted && right.class == Class::Targeted;
    let (left_shards, right_shards) = (left.shards.clone(), right.shards.clone());
    let mut worse = if left.class >= right.class { left } else { right };
    worse.at_most = at_most;
    if are_targeted {
        worse.class = Class::MultiShard;
        worse.reason.cause = Cause::KeyRanges { ranges: at_most.unwrap_or(2) };
    }
    worse.shards = left_shards.zip(right_shards).map(|(mut all, more)| {
        all.extend(more);
        all.sort();
        all.dedup();
        all
    });
    worse
}

fn route_leading(question: Question<'_>, leading: LeadingFilter) -> Verdict {
    let written = leading.predicate.unwrap_or_else(|| Predicate::everything(question.statement.name_span));
    let filter = question.filter(written);
    let mut verdict = filter.settle(lost_options(question, false), |reading| {
        let target = question.targeting(reading).target(&filter.read(question.key, reading));
        question.filter_verdict(&filter, &target, reading)
    });
    if let Some(every) = leading.every_shard {
        verdict.class = Class::Broadcast;
        verdict.reason.cause = Cause::WholeClusterStage { stage: every.stage, name: every.name };
        if every.even_chunkless {
            verdict.shards = question.whole_cluster();
        }
        return verdict;
    }
    if leading.partial && verdict.class != Class::Targeted {
        unknown(&mut verdict, Cause::Truncated);
        return verdict;
    }
    if let Some(blocked) = leading.blocked.filter(|_| verdict.class == Class::Broadcast) {
        match blocked.obstacle {
            Obstacle::Certain => {
                verdict.reason.cause =
                    Cause::MatchBehindStage { matching: blocked.matching, stage: blocked.stage, name: blocked.name };
            }
            Obstacle::Hidden(literal) => unknown(&mut verdict, Cause::Redacted { literal }),
            Obstacle::NotUnderstood => unknown(&mut verdict, not_understood(blocked.stage, &blocked.name)),
        }
    }
    verdict
}

fn not_understood(part: Span, name: &str) -> Cause {
    Cause::NotUnderstood { part, why: format!("the stage `{name}`") }
}

fn unknown(verdict: &mut Verdict, cause: Cause) {
    verdict.class = Class::Unknown;
    verdict.shards = None;
    verdict.at_most = None;
    verdict.reason.cause = cause;
}
