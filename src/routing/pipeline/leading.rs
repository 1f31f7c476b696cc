//! The filter of an optimised pipeline's first stage, and what keeps a later `$match` on the shard key from being it.

use crate::model::{Document, Node, ShardKey, Statement, Verb};
use crate::text::Span;

use super::super::predicate::{Condition, Predicate};
use super::changes::overlap;
use super::optimise::optimise;
use super::split::dependencies;
use super::stage::{Effect, Part, Stage, conjunction};

/// What the router targets an aggregate with.
#[derive(Debug, Clone, Default)]
pub(in super::super) struct LeadingFilter {
    /// The filter; `None` if the first stage has none.
    pub(in super::super) predicate: Option<Predicate>,
    /// The first `$match` on the key that cannot move to the front.
    pub(in super::super) blocked: Option<BlockedMatch>,
    /// The first stage asks every shard, whatever follows.
    pub(in super::super) every_shard: Option<EveryShard>,
    /// A `$match` may have been cut off that would have moved to the front.
    pub(in super::super) partial: bool,
}

/// A `$match` on the shard key behind a stage that it cannot move past.
#[derive(Debug, Clone)]
pub(in super::super) struct BlockedMatch {
    /// The `$match`.
    pub(in super::super) matching: Span,
    /// The stage in the way.
    pub(in super::super) stage: Span,
    /// Its name.
    pub(in super::super) name: String,
    /// How sure that is.
    pub(in super::super) obstacle: Obstacle,
}

/// Whether a stage is known to be in the way.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in super::super) enum Obstacle {
    /// It is.
    Certain,
    /// A hidden literal in it decides.
    Hidden(Span),
    /// The stage is not understood.
    NotUnderstood,
}

/// A first stage that asks every shard.
#[derive(Debug, Clone)]
pub(in super::super) struct EveryShard {
    /// The stage.
    pub(in super::super) stage: Span,
    /// Its name.
    pub(in super::super) name: String,
    /// Shards that own nothing of the collection are asked too.
    pub(in super::super) even_chunkless: bool,
}

/// The filter with which the router targets `statement`: an aggregate, or another read of a view.
pub(in super::super) fn leading_filter(statement: &Statement, key: &ShardKey) -> LeadingFilter {
    let mut stages = Vec::new();
    let mut cut = false;
    for pipeline in [&statement.view_pipeline, &statement.pipeline].into_iter().flatten() {
        let (more, partial) = Stage::read(pipeline);
        stages.extend(more);
        cut |= partial;
    }
    if statement.verb != Verb::Aggregate
        && let Some(filter) = &statement.filter
    {
        let parts = vec![Part { predicate: Predicate::parse(filter), stage: filter.span }];
        stages.push(Stage { name: "$match", span: filter.span, spec: filter, effect: Effect::Match(parts) });
    }
    lead(stages, cut, key)
}

/// The filter with which a pipeline is targeted; `cut` tells that stages at its end were lost.
pub(super) fn lead(mut stages: Vec<Stage<'_>>, cut: bool, key: &ShardKey) -> LeadingFilter {
    let every_shard = stages.first().and_then(every_shard);
    optimise(&mut stages);
    LeadingFilter {
        predicate: stages.first().and_then(own_filter),
        blocked: (1..stages.len()).find_map(|at| blocked(&stages, at, key)),
        every_shard,
        partial: cut && key.fields.iter().any(|field| is_reachable(&stages, &field.path)),
    }
}

fn every_shard(first: &Stage<'_>) -> Option<EveryShard> {
    let even_chunkless = match first.name {
        "$changeStream" | "$currentOp" | "$listLocalSessions" | "$queryStats" | "$shardedDataDistribution" => true,
        "$collStats" | "$indexStats" | "$planCacheStats" => false,
        _ => return None,
    };
    Some(EveryShard { stage: first.span, name: first.name.to_owned(), even_chunkless })
}

fn own_filter(first: &Stage<'_>) -> Option<Predicate> {
    if let Some(parts) = first.parts() {
        return Some(conjunction(parts));
    }
    let spec = first.spec.as_document().filter(|_| first.name == "$geoNear")?;
    let lost = || spec.partial.then(|| Predicate::new(Condition::Lost(None), first.span));
    spec.get("query").map(Predicate::parse).or_else(lost)
}

/// The `$match` at `at`, if it is about the key and something keeps it from the front.
fn blocked(stages: &[Stage<'_>], at: usize, key: &ShardKey) -> Option<BlockedMatch> {
    let parts = stages[at].parts()?;
    let before = &stages[..at];
    let in_the_way = match &stages[at].effect {
        Effect::RedactCopy(_) => stages[at..].iter().find(|stage| matches!(stage.effect, Effect::Redacts))?,
        _ => before.last()?,
    };
    let obstacle = match &in_the_way.effect {
        Effect::Unknown => Obstacle::NotUnderstood,
        Effect::Hidden(literal) => Obstacle::Hidden(*literal),
        _ => match in_the_way.changes().and_then(|changes| changes.hidden) {
            Some(literal) => Obstacle::Hidden(literal),
            None => Obstacle::Certain,
        },
    };
    let part = match obstacle {
        Obstacle::Hidden(_) => parts.first(),
        _ => parts.iter().find(|part| is_on_key(part, before, key)),
    }?;
    let name = in_the_way.name.to_owned();
    Some(BlockedMatch { matching: part.stage, stage: in_the_way.span, name, obstacle })
}

/// Whether a condition is about a key field, by the name it has here or by the one that the value had at the front.
fn is_on_key(part: &Part, before: &[Stage<'_>], key: &ShardKey) -> bool {
    let is_key = |path: &str| key.fields.iter().any(|field| overlap(&field.path, path));
    dependencies([&part.predicate]).into_iter().any(|path| {
        let made_by_group = before.last().is_some_and(|stage| stage.name == "$group") && path.starts_with("_id");
        let origin = before.iter().rev().try_fold(path.clone(), |path, stage| stage.origin(&path));
        origin.is_some_and(|origin| is_key(&origin)) || (is_key(&path) && !made_by_group)
    })
}

/// Whether a `$match` behind the last stage could move to the front and be about this key field there.
fn is_reachable(stages: &[Stage<'_>], key_field: &str) -> bool {
    let mut names = std::collections::BTreeSet::from([key_field.to_owned()]);
    for (at, stage) in stages.iter().enumerate() {
        let may_be_cut = at + 1 == stages.len() && stage.spec.as_document().is_some_and(is_cut);
        match &stage.effect {
            Effect::Stops => return false,
            Effect::Redacts if at > 0 => return false,
            Effect::Transforms(None) if !may_be_cut => return false,
            _ => {}
        }
        if let Some(changes) = stage.changes().filter(|changes| !may_be_cut && changes.hidden.is_none()) {
            names = names.iter().flat_map(|name| changes.names_after(name)).collect();
        }
    }
    !names.is_empty()
}

fn is_cut(document: &Document) -> bool {
    document.partial || document.fields.last().is_some_and(|field| is_cut_node(&field.node))
}

fn is_cut_node(node: &Node) -> bool {
    node.as_document().is_some_and(is_cut) || node.as_array().is_some_and(|array| array.partial)
}
