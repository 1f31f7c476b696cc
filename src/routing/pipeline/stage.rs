//! The stages of a pipeline as the router's optimiser sees them: what each does to documents, and so what a `$match` behind
//! it can do. Stages that a server replaces by others (`$count`, `$sortByCount`, `$bucket`, `$fill`) are replaced here too.

use std::collections::BTreeSet;

use crate::model::{Document, Node, Value};
use crate::text::Span;

use super::super::predicate::{Condition, Predicate};
use super::changes::{Changes, Touched};
use super::projection;

/// A stage and where it stands.
#[derive(Debug, Clone)]
pub(super) struct Stage<'a> {
    /// The name the user wrote.
    pub(super) name: &'a str,
    /// The name through the operand.
    pub(super) span: Span,
    /// The operand.
    pub(super) spec: &'a Node,
    /// What it does.
    pub(super) effect: Effect<'a>,
}

/// What a stage does, as far as it matters to a `$match` behind it.
#[derive(Debug, Clone)]
pub(super) enum Effect<'a> {
    /// `$match`, or several of them in one.
    Match(Vec<Part>),
    /// The safe part of a `$match`, put before a `$redact`.
    RedactCopy(Vec<Part>),
    /// What does not depend on the changed paths moves past it.
    Passes(Changes),
    /// Computes each document from one other: like [`Effect::Passes`], and `$unionWith` lets it through. `None`: nothing
    /// of the old document is sure to be left.
    Transforms(Option<Changes>),
    /// `$lookup`.
    Joins(Join),
    /// `$unionWith`, with the stages that moved past it and so also apply to the other collection.
    Unites(Vec<Stage<'a>>),
    /// `$redact`.
    Redacts,
    /// Nothing moves past it.
    Stops,
    /// A hidden literal decides what moves past it.
    Hidden(Span),
    /// A stage of an unknown name.
    Unknown,
}

/// A `$lookup`.
#[derive(Debug, Clone)]
pub(super) struct Join {
    /// The field that takes the joined documents.
    pub(super) target: String,
    /// What else it touches, once an `$unwind` is part of it.
    pub(super) changes: Changes,
    /// An `$unwind` of the joined documents is part of it.
    pub(super) unwound: bool,
    /// Conditions on the joined documents, with paths as in the joined collection.
    pub(super) conditions: Vec<Part>,
}

/// A condition and the `$match` it was written in.
#[derive(Debug, Clone)]
pub(super) struct Part {
    /// The condition.
    pub(super) predicate: Predicate,
    /// The stage it was written in.
    pub(super) stage: Span,
}

/// Longer pipelines are refused by servers.
const MAX_STAGES: usize = 1_000;

/// Stages past which nothing moves, and that leave the paths of documents as they are.
const PATH_KEEPING: [&str; 9] = [
    "$limit",
    "$skip",
    "$sample",
    "$geoNear",
    "$densify",
    "$fill",
    "$setWindowFields",
    "$redact",
    "$_internalInhibitOptimization",
];

/// Further stages past which nothing moves.
const STOPPING: [&str; 24] = [
    "$bucketAuto",
    "$changeStream",
    "$changeStreamSplitLargeEvent",
    "$collStats",
    "$currentOp",
    "$documents",
    "$facet",
    "$indexStats",
    "$listCatalog",
    "$listLocalSessions",
    "$listSampledQueries",
    "$listSearchIndexes",
    "$listSessions",
    "$merge",
    "$out",
    "$planCacheStats",
    "$queryStats",
    "$querySettings",
    "$rankFusion",
    "$scoreFusion",
    "$search",
    "$searchMeta",
    "$shardedDataDistribution",
    "$vectorSearch",
];

impl<'a> Stage<'a> {
    /// The stages of a pipeline, and whether more may have been cut off.
    pub(super) fn read(pipeline: &'a Node) -> (Vec<Self>, bool) {
        let Some(array) = pipeline.as_array() else {
            let unknown = Self { name: "", span: pipeline.span, spec: pipeline, effect: Effect::Unknown };
            return (vec![unknown], false);
        };
        let stages = array.items.iter().take(MAX_STAGES).flat_map(Self::read_one).collect();
        (stages, array.partial || array.items.len() > MAX_STAGES)
    }

    /// The stage or stages that one member of a pipeline stands for.
    fn read_one(node: &'a Node) -> Vec<Self> {
        let field = node.as_document().and_then(Document::first);
        let Some(field) = field else {
            return vec![Self { name: "", span: node.span, spec: node, effect: Effect::Unknown }];
        };
        let span = field.name_span.join(field.node.span);
        let stage = |effect| Self { name: &field.name, span, spec: &field.node, effect };
        effects(&field.name, &field.node, span).into_iter().map(stage).collect()
    }

    /// The same stage with another effect.
    pub(super) fn with(&self, effect: Effect<'a>) -> Self {
        Self { name: self.name, span: self.span, spec: self.spec, effect }
    }

    /// What it does to paths, if a `$match` can move past it at all.
    pub(super) fn changes(&self) -> Option<&Changes> {
        match &self.effect {
            Effect::Passes(changes) | Effect::Transforms(Some(changes)) => Some(changes),
            Effect::Joins(join) => Some(&join.changes),
            _ => None,
        }
    }

    /// The conditions of a `$match`.
    pub(super) fn parts(&self) -> Option<&[Part]> {
        match &self.effect {
            Effect::Match(parts) | Effect::RedactCopy(parts) => Some(parts),
            _ => None,
        }
    }

    /// The name before the stage of what is called `path` after it, as far as that can be told.
    pub(super) fn origin(&self, path: &str) -> Option<String> {
        match &self.effect {
            Effect::Transforms(None) => None,
            Effect::Stops => PATH_KEEPING.contains(&self.name).then(|| path.to_owned()),
            _ => self.changes().map_or_else(|| Some(path.to_owned()), |changes| changes.origin(path)),
        }
    }
}

fn effects<'a>(name: &str, spec: &'a Node, span: Span) -> Vec<Effect<'a>> {
    let effect = match name {
        "$match" => Effect::Match(vec![Part { predicate: Predicate::parse(spec), stage: span }]),
        "$sort" => Effect::Passes(Changes::default()),
        "$unwind" => unwind(spec).map_or(Effect::Hidden(spec.span), Effect::Passes),
        "$lookup" => join(spec).map_or(Effect::Hidden(spec.span), Effect::Joins),
        "$graphLookup" => match member_text(spec, "as") {
            Some(target) => Effect::Passes(Changes::only([target])),
            None => Effect::Hidden(spec.span),
        },
        "$unionWith" => Effect::Unites(Vec::new()),
        "$redact" => Effect::Redacts,
        "$project" | "$addFields" | "$set" | "$unset" | "$replaceRoot" | "$replaceWith" => transform(name, spec),
        "$group" => Effect::Passes(projection::group(member(spec, "_id"))),
        "$bucket" => return vec![Effect::Passes(projection::group(None)), Effect::Passes(Changes::default())],
        "$sortByCount" => {
            return vec![Effect::Passes(projection::group(Some(spec))), Effect::Passes(Changes::default())];
        }
        "$count" => return count(spec),
        "$fill" => return fill(spec),
        _ if PATH_KEEPING.contains(&name) || STOPPING.contains(&name) => Effect::Stops,
        _ => Effect::Unknown,
    };
    vec![effect]
}

fn member<'a>(spec: &'a Node, name: &str) -> Option<&'a Node> {
    spec.as_document()?.get(name)
}

fn member_text<'a>(spec: &'a Node, name: &str) -> Option<&'a str> {
    member(spec, name)?.as_str()
}

fn transform<'a>(name: &str, spec: &'a Node) -> Effect<'a> {
    let changes = match (name, spec.as_document()) {
        ("$replaceRoot" | "$replaceWith", _) => return Effect::Transforms(None),
        ("$unset", _) => projection::unset(spec),
        ("$project", Some(document)) => projection::project(document),
        (_, Some(document)) => Some(projection::add_fields(document)),
        (_, None) => None,
    };
    changes.map_or(Effect::Hidden(spec.span), |changes| Effect::Transforms(Some(changes)))
}

/// `$unwind` touches the array and the field for the position. `None` if they are hidden.
fn unwind(spec: &Node) -> Option<Changes> {
    let path = spec.as_str().or_else(|| member_text(spec, "path"))?.strip_prefix('$')?;
    let index = match member(spec, "includeArrayIndex") {
        None | Some(Node { value: Value::Null, .. }) => None,
        Some(node) => Some(node.as_str()?),
    };
    Some(Changes::only([path].into_iter().chain(index)))
}

/// `$lookup` touches `as`. `None` if that is hidden.
fn join(spec: &Node) -> Option<Join> {
    let target = member_text(spec, "as")?;
    let changes = Changes::only([target]);
    Some(Join { target: target.to_owned(), changes, unwound: false, conditions: Vec::new() })
}

/// `$count` is a `$group` and a `$project` of its one field.
fn count<'a>(spec: &'a Node) -> Vec<Effect<'a>> {
    let kept = spec.as_str().map(str::to_owned);
    let changes = Changes { touched: Touched::AllBut(kept.into_iter().collect::<BTreeSet<_>>()), ..Changes::default() };
    vec![Effect::Passes(projection::group(None)), Effect::Transforms(Some(changes))]
}

/// `$fill` with constant values is an `$addFields`, with a method a `$setWindowFields`.
fn fill<'a>(spec: &'a Node) -> Vec<Effect<'a>> {
    let output = member(spec, "output").and_then(Node::as_document);
    let Some(output) = output else {
        return vec![Effect::Hidden(spec.span)];
    };
    let with = |key: &'static str| output.fields.iter().filter(move |field| member(&field.node, key).is_some());
    let mut effects = Vec::new();
    if with("method").next().is_some() {
        effects.push(Effect::Stops);
    }
    let filled: Vec<&str> = with("value").map(|field| field.name.as_str()).collect();
    if !filled.is_empty() {
        effects.push(Effect::Transforms(Some(Changes::only(filled))));
    }
    effects
}

impl Part {
    /// Whether the condition holds for every document.
    pub(super) fn is_everything(&self) -> bool {
        self.predicate.is_everything()
    }
}

/// The conjunction of the conditions of a `$match`.
pub(super) fn conjunction(parts: &[Part]) -> Predicate {
    let members = parts.iter().filter(|part| !part.is_everything()).map(|part| &part.predicate);
    let members: Vec<Predicate> = members.cloned().collect();
    match members.as_slice() {
        [only] => only.clone(),
        _ => {
            let spans = parts.iter().map(|part| part.predicate.span);
            Predicate::new(Condition::And(members), spans.reduce(Span::join).unwrap_or_default())
        }
    }
}
