//! Moves `$match` stages forward as the router's optimiser does: one stage after the other is looked at together with its
//! successor, and after each move the optimiser goes back one stage. The order of the looks is part of the result (a copy
//! put before a `$redact` is never looked at again), so it is kept.

use crate::model::Document;

use super::super::predicate::{Condition, Operator, Predicate};
use super::changes::{Changes, is_at_or_below};
use super::split::{dependencies, redact_safe, split};
use super::stage::{Effect, Join, Part, Stage};

/// Moves what can move.
pub(super) fn optimise(stages: &mut Vec<Stage<'_>>) {
    let mut at = 0;
    while at < stages.len() {
        at = look_at(stages, at);
    }
}

/// Looks at one stage and its successor; returns where to look next.
fn look_at(stages: &mut Vec<Stage<'_>>, at: usize) -> usize {
    if at + 1 == stages.len() {
        return at + 1;
    }
    if is_empty_match(&stages[at]) && !matches!(stages[at + 1].effect, Effect::Match(_)) {
        stages.remove(at);
        return at;
    }
    if push_match_before(stages, at) {
        return at.saturating_sub(1);
    }
    let (stage, rest) = stages[at..].split_first_mut().expect("`at` is an index of `stages`");
    let next = &mut rest[0];
    match (&mut stage.effect, &mut next.effect) {
        (Effect::Match(parts), Effect::Match(more)) => {
            parts.append(more);
            stages.remove(at + 1);
            at.saturating_sub(1)
        }
        (Effect::Unites(beyond), Effect::Match(_) | Effect::Transforms(_)) => {
            beyond.push(next.clone());
            stages.swap(at, at + 1);
            at.saturating_sub(1)
        }
        (Effect::Redacts, Effect::Match(parts)) => match safe_copy(parts) {
            None => at + 1,
            Some(copy) => {
                let copy = next.with(Effect::RedactCopy(copy));
                stages.insert(at, copy);
                at + 2
            }
        },
        (Effect::Joins(join), _) => {
            let taken = take_unwind(join, next) || take_conditions(join, next);
            if taken {
                stages.remove(at + 1);
                return at;
            }
            at + 1
        }
        _ => at + 1,
    }
}

/// Whether a stage is `{$match: {}}`, which vanishes. One that holds for everything but says something does not, nor
/// do two that have become one.
fn is_empty_match(stage: &Stage<'_>) -> bool {
    let says_nothing = |document: &Document| document.fields.is_empty() && !document.partial;
    matches!(&stage.effect, Effect::Match(parts) if parts.len() == 1 && parts[0].is_everything())
        && stage.spec.as_document().is_some_and(says_nothing)
}

/// Moves what can move of the `$match` behind a stage.
fn push_match_before(stages: &mut Vec<Stage<'_>>, at: usize) -> bool {
    let [stage, next, ..] = &mut stages[at..] else {
        return false;
    };
    let (Some(changes), Effect::Match(parts)) = (stage.changes(), &mut next.effect) else {
        return false;
    };
    if parts.iter().any(|part| part.predicate.any(&is_text)) || (changes.makes_id && parts.iter().any(asks_for_id)) {
        return false;
    }
    let touched = changes.touched_among(&dependencies(parts.iter().map(|part| &part.predicate)));
    let (mut front, mut rest) = (Vec::new(), Vec::new());
    for Part { predicate, stage } in std::mem::take(parts) {
        let (before, behind) = split(predicate, &touched);
        front.extend(before.map(|predicate| Part { predicate: renamed(predicate, changes), stage }));
        rest.extend(behind.map(|predicate| Part { predicate, stage }));
    }
    let (moves, stays) = (!front.is_empty(), !rest.is_empty());
    *parts = rest;
    if moves {
        let moved = next.with(Effect::Match(front));
        if !stays {
            stages.remove(at + 1);
        }
        stages.insert(at, moved);
    }
    moves
}

fn renamed(mut predicate: Predicate, changes: &Changes) -> Predicate {
    if !changes.renames.is_empty() {
        predicate.rename_paths(&|path| changes.name_before(path));
    }
    predicate
}

fn is_text(predicate: &Predicate) -> bool {
    matches!(predicate.condition, Condition::Text)
}

fn asks_for_id(part: &Part) -> bool {
    part.predicate
        .any(&|predicate| matches!(&predicate.condition, Condition::Field(path, Operator::Exists(_)) if path == "_id"))
}

fn safe_copy(parts: &[Part]) -> Option<Vec<Part>> {
    let safe = parts.iter().filter_map(|part| Some(Part { predicate: redact_safe(&part.predicate)?, ..part.clone() }));
    let safe: Vec<Part> = safe.collect();
    (!safe.is_empty()).then_some(safe)
}

/// Makes an `$unwind` of the joined documents part of the `$lookup`.
fn take_unwind(join: &mut Join, next: &Stage<'_>) -> bool {
    let plain = match next.spec.as_document() {
        None => next.spec.as_str(),
        Some(spec) => {
            let keeps = spec.get("preserveNullAndEmptyArrays").is_some_and(|keep| keep.is_truthy());
            let path = spec.get("path").and_then(|path| path.as_str());
            path.filter(|_| !keeps && spec.get("includeArrayIndex").is_none())
        }
    };
    let path = plain.and_then(|path| path.strip_prefix('$'));
    if join.unwound || next.name != "$unwind" || path != Some(join.target.as_str()) {
        return false;
    }
    join.unwound = true;
    true
}

/// Makes a `$match` on nothing but the joined documents part of the `$lookup`.
fn take_conditions(join: &mut Join, next: &mut Stage<'_>) -> bool {
    let Effect::Match(parts) = &mut next.effect else {
        return false;
    };
    if !join.unwound || !parts.iter().all(|part| is_only_below(&part.predicate, &join.target)) {
        return false;
    }
    let below = |path: &str| Some(path.strip_prefix(join.target.as_str())?.strip_prefix('.')?.to_owned());
    parts.iter_mut().for_each(|part| part.predicate.rename_paths(&below));
    join.conditions.append(parts);
    true
}

fn is_only_below(predicate: &Predicate, target: &str) -> bool {
    match predicate.path() {
        Some(path) => path != target && is_at_or_below(path, target),
        None => {
            let members = predicate.children();
            !members.is_empty() && members.iter().all(|member| is_only_below(member, target))
        }
    }
}
