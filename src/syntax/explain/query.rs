//! The command that was explained: as printed, or (to 4.4) put together again from what the plan shows of it.

use crate::model::{Array, Document, Field, Node, Value};
use crate::syntax::structured;
use crate::text::Span;

use super::filter::as_written;
use super::parts::Part;
use super::stages::Stage;
use super::{document_of, field};

/// A command document.
pub(super) struct Query {
    pub(super) command: Node,
    /// It was put together from the plan.
    pub(super) is_rebuilt: bool,
    /// What stands for its name if so.
    pub(super) name_span: Span,
}

/// The stages in which commands end, and the commands.
const ENDS: [(&str, &str); 12] = [
    ("COUNT", "count"),
    ("COUNT_SCAN", "count"),
    ("RECORD_STORE_FAST_COUNT", "count"),
    ("DISTINCT_SCAN", "distinct"),
    ("UPDATE", "update"),
    ("UPSERT", "update"),
    ("EXPRESS_UPDATE", "update"),
    ("DELETE", "delete"),
    ("BATCHED_DELETE", "delete"),
    ("EXPRESS_DELETE", "delete"),
    ("SHARD_WRITE", "update"),
    ("EOF", "find"),
];

/// The command of an explain that stands at `span`.
pub(super) fn command(document: &Document, parts: &[Part<'_>], span: Span) -> Query {
    if let Some(command) = printed(document).filter(|command| !is_on_a_view(command, parts)) {
        return Query { command: command.clone(), is_rebuilt: false, name_span: command.span };
    }
    let part = parts.first().copied().unwrap_or_default();
    let collection =
        part.namespace.and_then(Node::as_str).and_then(|ns| ns.split_once('.')).map_or("", |(_, name)| name);
    let place = part.planner.and_then(|planner| planner.field("parsedQuery")).map(|query| query.name_span);
    let name_span = place.or_else(|| document.first().map(|first| first.name_span)).unwrap_or(span);
    let named = |name: &str| {
        let target = Node { value: Value::String(collection.to_owned()), span: name_span };
        Field { name: name.to_owned(), name_span, node: target }
    };
    let pipeline = split_pipeline(document).or_else(|| part.pipeline.map(|stages| pipeline(stages, &part)));
    let command = match pipeline {
        Some(pipeline) => document_of(vec![named("aggregate"), field("pipeline", pipeline)], span),
        None => simple(&part, named, span),
    };
    Query { command, is_rebuilt: true, name_span }
}

/// `command`, or what is inside of it if it is the explain command itself.
fn printed(document: &Document) -> Option<&Node> {
    let command = document.get("command")?;
    let first = command.as_document()?.first()?;
    let explained = first.node.as_document().filter(|_| first.name == "explain").map(|_| &first.node);
    Some(explained.unwrap_or(command))
}

/// Whether the plan is about another collection than the command: then the command names a view, and only the plan tells
/// what was asked. Time-series collections are known by the name that the command has.
fn is_on_a_view(command: &Node, parts: &[Part<'_>]) -> bool {
    let named = command.as_document().and_then(Document::first).filter(|first| structured::is_command(&first.name));
    let planned = parts.iter().find_map(|part| part.namespace?.as_str()?.split_once('.'));
    match (named.and_then(|first| first.node.as_str()), planned) {
        (Some(named), Some((_, planned))) => named != planned && !planned.starts_with("system.buckets."),
        _ => false,
    }
}

/// A command other than an aggregate, by the stage that the plan ends in.
fn simple(part: &Part<'_>, named: impl Fn(&str) -> Field, span: Span) -> Node {
    let stages = part.stages();
    let ends = |stage: &Stage<'_>| ENDS.iter().find(|(end, _)| *end == stage.name.value).map(|(_, command)| *command);
    let name = stages.iter().find_map(ends).unwrap_or("find");
    let query = part.planner.and_then(|planner| planner.get("parsedQuery")).map(as_written);
    let query = query.as_ref();
    let member = |member: &str, value: Option<&Node>| value.map(|value| field(member, value.clone()));
    let planner = |name: &str| part.planner.and_then(|planner| planner.get(name));
    let collation = member("collation", planner("collation"));
    let is_lost = query.is_none();
    let fields: Vec<Field> = match name {
        "update" | "delete" => {
            let statement = member("q", query).into_iter().chain(collation).collect();
            // Whether one document or many were meant shows nowhere.
            let statement = Node { value: Value::Document(Document { fields: statement, partial: true }), span };
            let list = Node { value: Value::Array(Array { items: vec![statement], partial: false }), span };
            vec![named(name), field(if name == "update" { "updates" } else { "deletes" }, list)]
        }
        "count" | "distinct" => std::iter::once(named(name)).chain(member("query", query)).chain(collation).collect(),
        _ => {
            let option = |option: &str, shown: &str| {
                let value = stages.iter().find_map(|stage| stage.document.get(shown))?;
                (value.as_i64() != Some(0)).then(|| field(option, value.clone()))
            };
            let options = [option("sort", "sortPattern"), option("skip", "skipAmount"), option("limit", "limitAmount")];
            let find = std::iter::once(named(name)).chain(member("filter", query));
            find.chain(options.into_iter().flatten()).chain(collation).collect()
        }
    };
    Node { value: Value::Document(Document { fields, partial: is_lost }), span }
}

/// The pipeline as a router split it: what the shards did, and what was left to do.
fn split_pipeline(document: &Document) -> Option<Node> {
    let split = document.get("splitPipeline")?.as_document()?;
    let shards = split.get("shardsPart").filter(|part| part.as_array().is_some())?;
    let stages = |node: &Node| node.as_array().map(|array| array.items.clone()).unwrap_or_default();
    let is_own = |stage: &Node| {
        let first = stage.as_document().and_then(Document::first);
        let merges =
            first.and_then(|first| first.node.as_document()).is_some_and(|group| group.get("$doingMerge").is_some());
        !merges && first.is_none_or(|first| first.name != "$mergeCursors")
    };
    let merger = split.get("mergerPart").map(stages).unwrap_or_default();
    let items = stages(shards).into_iter().chain(merger.into_iter().filter(is_own)).collect();
    Some(Node { value: Value::Array(Array { items, partial: false }), span: shards.span })
}

/// The pipeline of a mongod: what became a query, and the stages behind it without their statistics.
fn pipeline(stages: &Node, part: &Part<'_>) -> Node {
    let given = part.cursor.and_then(|cursor| cursor.get("query")).cloned();
    let query = given.or_else(|| part.planner.and_then(|planner| planner.get("parsedQuery")).map(as_written));
    let is_filter = |query: &&Node| query.as_document().is_some_and(|filter| !filter.is_empty());
    let stage = |field: Field, span: Span| document_of(vec![field], span);
    let first = query.as_ref().filter(is_filter).map(|query| stage(field("$match", query.clone()), query.span));
    let listed = stages.as_array().map(|array| array.items.as_slice()).unwrap_or_default();
    let behind = listed.iter().skip(usize::from(part.cursor.is_some()));
    let behind = behind.filter_map(|node| Some(stage(node.as_document()?.first()?.clone(), node.span)));
    let items = first.into_iter().chain(behind).collect();
    // Without the cursor nothing shows what the pipeline began with.
    Node { value: Value::Array(Array { items, partial: query.is_none() }), span: stages.span }
}
