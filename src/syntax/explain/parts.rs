//! Where an explain keeps what: one part for each process that planned, whatever the document around it looks like.

use crate::model::{Document, Field, Node};
use crate::text::{Located, Span};

use super::stages::{self, Stage};

/// What one process, a shard or the mongod itself, tells.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Part<'a> {
    /// The shard's name.
    pub(super) shard: Option<&'a str>,
    /// The document with `parsedQuery` and `winningPlan`.
    pub(super) planner: Option<&'a Document>,
    /// `executionStats`.
    pub(super) execution: Option<&'a Document>,
    /// The stages of a pipeline that did not become one plan; the first is its cursor.
    pub(super) pipeline: Option<&'a Node>,
    /// `$cursor` of the pipeline: to 4.2 it has the query as it was given.
    pub(super) cursor: Option<&'a Document>,
    /// `namespace`, as text.
    pub(super) namespace: Option<&'a Node>,
}

impl<'a> Part<'a> {
    fn of_planner(planner: &'a Document, execution: Option<&'a Document>) -> Self {
        let namespace = planner.get("namespace").filter(|node| node.as_str().is_some());
        Self { planner: Some(planner), execution, namespace, ..Self::default() }
    }

    /// The part of a document that has `queryPlanner`, or `stages` with the cursor as the first of them.
    fn of_document(document: &'a Document) -> Option<Self> {
        if let Some(planner) = inner(document, "queryPlanner") {
            return Some(Self::of_planner(planner, inner(document, "executionStats")));
        }
        let pipeline = document.get("stages")?;
        let first = pipeline.as_array()?.items.first().and_then(Node::as_document).and_then(Document::first);
        let cursor = first.filter(|first| first.name.ends_with("ursor")).and_then(|first| first.node.as_document());
        let part = cursor.and_then(Self::of_document).unwrap_or_default();
        Some(Self { pipeline: Some(pipeline), cursor, ..part })
    }

    /// The stages of the winning plan, from the top.
    pub(super) fn stages(&self) -> Vec<Stage<'a>> {
        self.planner.and_then(|planner| inner(planner, "winningPlan")).map(stages::of_plan).unwrap_or_default()
    }
}

/// The parts of an explain; of a router one for each shard, in the order of the document.
pub(super) fn parts(document: &Document) -> Vec<Part<'_>> {
    if let Some(list) = shard_list(document) {
        let planners = list.node.as_array().map(|list| list.items.as_slice()).unwrap_or_default();
        let part = |planner| {
            let shard = text(planner, "shardName");
            Part { shard, ..Part::of_planner(planner, shard.and_then(|shard| executed(document, shard))) }
        };
        return planners.iter().filter_map(Node::as_document).map(part).collect();
    }
    if let Some(shards) = shard_map(document) {
        let documents = shards.node.as_document().map(|map| map.fields.as_slice()).unwrap_or_default();
        let named = documents.iter().filter_map(|shard| {
            let part = Part::of_document(shard.node.as_document()?)?;
            Some(Part { shard: Some(shard.name.as_str()), ..part })
        });
        return named.collect();
    }
    Part::of_document(document).into_iter().collect()
}

/// The shards that a router asked, and where the list of them is named; `None` in an explain of a mongod.
pub(super) fn router_shards(document: &Document) -> Option<Located<Vec<Located<String>>>> {
    if let Some(list) = shard_list(document) {
        let name = |shard: &Node| {
            let name = shard.as_document()?.get("shardName")?;
            Some(Located::new(name.as_str()?.to_owned(), name.span))
        };
        let names = list.node.as_array()?.items.iter().filter_map(name).collect();
        return Some(Located::new(names, list.name_span));
    }
    let map = shard_map(document)?;
    let fields = &map.node.as_document()?.fields;
    let names = fields.iter().map(|shard| Located::new(shard.name.clone(), shard.name_span)).collect();
    Some(Located::new(names, map.name_span))
}

/// What the execution of a query on one shard took: the list of `executionStats` has an order of its own.
fn executed<'a>(document: &'a Document, shard: &str) -> Option<&'a Document> {
    let list = list_below(inner(inner(document, "executionStats")?, "executionStages")?)?;
    let shards = list.node.as_array()?.items.iter().filter_map(Node::as_document);
    shards.into_iter().find(|stats| text(stats, "shardName") == Some(shard))
}

/// `queryPlanner.winningPlan.shards`. The second phase of a write in two has its own below `inputStage`, of the read
/// before it.
fn shard_list(document: &Document) -> Option<&Field> {
    list_below(inner(inner(document, "queryPlanner")?, "winningPlan")?)
}

/// `shards` of a stage, or of the phase below it.
fn list_below(mut stage: &Document) -> Option<&Field> {
    const PHASES: usize = 4;
    for _ in 0..PHASES {
        let list = stage.field("shards").filter(|shards| shards.node.as_array().is_some());
        let below = inner(stage, "inputStage").filter(|below| below.get("shards").is_some());
        match below {
            Some(below) => stage = below,
            None => return list,
        }
    }
    None
}

/// `shards` of a pipeline, or of a query to 2.6.
fn shard_map(document: &Document) -> Option<&Field> {
    let is_router = ["splitPipeline", "mergeType", "needsPrimaryShardMerger", "clusteredType"];
    let shards = document.field("shards").filter(|shards| shards.node.as_document().is_some())?;
    is_router.iter().any(|name| document.get(name).is_some()).then_some(shards)
}

fn inner<'a>(document: &'a Document, name: &str) -> Option<&'a Document> {
    document.get(name).and_then(Node::as_document)
}

fn text<'a>(document: &'a Document, name: &str) -> Option<&'a str> {
    document.get(name).and_then(Node::as_str)
}

/// `scanAndOrder: true` of an explain to 2.6, anywhere in it.
pub(super) fn old_sort(document: &Document) -> Option<Span> {
    old_documents(document)
        .find_map(|one| one.get("scanAndOrder"))
        .filter(|node| node.is_truthy())
        .map(|node| node.span)
}

/// What the cursor of an explain to 2.6 is as a plan summary.
pub(super) fn old_cursor(document: &Document) -> Option<Located<String>> {
    let cursor = old_documents(document).find_map(|one| one.get("cursor").filter(|node| node.as_str().is_some()))?;
    let stage = match cursor.as_str()?.split(' ').next()? {
        "BasicCursor" => "COLLSCAN",
        "BtreeCursor" => "IXSCAN",
        "IDCursor" => "IDHACK",
        _ => return None,
    };
    Some(Located::new(stage.to_owned(), cursor.span))
}

/// The explains of the shards, or the one there is, and those of the branches of an `$or`.
fn old_documents(document: &Document) -> impl Iterator<Item = &Document> {
    let shards = shard_map(document).and_then(|shards| shards.node.as_document());
    let shards = shards.map(|shards| shards.fields.as_slice()).unwrap_or_default();
    let first = shards.iter().filter_map(|shard| shard.node.as_array()?.items.first()?.as_document());
    let is_router = !shards.is_empty();
    let own = (!is_router).then_some(document);
    let clauses = document.get("clauses").and_then(Node::as_array);
    let clauses = clauses.map(|clauses| clauses.items.as_slice()).unwrap_or_default();
    first.chain(clauses.iter().filter_map(Node::as_document)).chain(own)
}
