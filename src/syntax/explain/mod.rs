//! Explain output of 2.2 to 9: of a mongod or of a router, of both engines, with or without statistics.
//!
//! The query is that of `command`; where a server does not print one, it is put together again from what the plan shows of it.
//! What the plan *observed* (the shards that were asked, stages, index bounds) goes into the event beside it. Whether the
//! text was JSON or the output of a shell has been decided before.

mod filter;
mod parts;
mod query;
mod stages;

use crate::model::{
    Document, Event, Field, IndexBounds, Namespace, Node, Plan, ServerVersion, ShardPlan, Traffic, Value,
};
use crate::syntax::structured;
use crate::text::{Located, Span};

use super::legacy::bounds as index_bounds;
use parts::{Part, parts, router_shards};
use stages::Stage;

/// Whether a document is the output of explain.
pub(super) fn is_explain(document: &Document) -> bool {
    let is_document = |name: &str| document.get(name).is_some_and(|node| node.as_document().is_some());
    let has = |name: &str| document.get(name).is_some();
    let is_plan = is_document("queryPlanner") && !has("op");
    let is_pipeline = document.get("stages").and_then(Node::as_array).is_some_and(|stages| {
        let mut named = stages.items.iter().filter_map(Node::as_document).filter_map(Document::first);
        named.next().is_some_and(|first| first.name.starts_with('$'))
    });
    let is_split = is_document("shards") && (has("splitPipeline") || has("mergeType"));
    is_plan || is_pipeline || is_split || is_old(document)
}

/// To 2.6 there is no `queryPlanner`.
fn is_old(document: &Document) -> bool {
    let text = |name: &str| document.get(name).and_then(Node::as_str).is_some();
    let counts = document.get("nscanned").is_some() && document.get("n").is_some();
    counts && (text("cursor") || text("clusteredType") || document.get("clauses").is_some())
}

/// The event of an explain that was read from `text`.
pub(super) fn event(text: &str, explain: &Node, document: &Document) -> Event {
    let parts = parts(document);
    let query = query::command(document, &parts, explain.span);
    let namespace = parts.iter().find_map(|part| part.namespace);
    let mut attr = vec![field("command", query.command)];
    attr.extend(namespace.map(|namespace| field("ns", namespace.clone())));
    attr.extend(statistics(document, &parts));
    let record = Document { fields: vec![field("attr", document_of(attr, explain.span))], partial: false };
    let mut event = structured::slow_event(text, &record);
    // An explain is nobody's traffic: it is judged whatever it is about, and pairs with no other record.
    event.traffic = Traffic::Query;
    event.origin = crate::model::Origin::Direct;
    event.newest_writer = newest_writer(document);
    if query.is_rebuilt {
        event.statements.iter_mut().for_each(|statement| statement.name_span = query.name_span);
        event.name_span = query.name_span;
    }
    if event.namespace.database().is_empty() {
        // To 2.6 nothing names the collection; nothing can be said then.
        event.namespace = Namespace::default();
        event.statements.clear();
    }
    observe(document, &parts, &mut event);
    event
}

/// What the plan tells besides the query.
fn observe(document: &Document, parts: &[Part<'_>], event: &mut Event) {
    let asked = router_shards(document);
    event.n_shards = asked.as_ref().map(|asked| Located::new(asked.value.len() as u64, asked.span));
    let plans: Vec<Vec<Stage<'_>>> = parts.iter().map(Part::stages).collect();
    let scans: Vec<Option<Span>> = plans.iter().map(|stages| stages::collection_scan(stages)).collect();
    let named =
        parts.iter().zip(&scans).filter_map(|(part, scan)| Some(Located::new(part.shard?.to_owned(), (*scan)?)));
    let is_mixed = scans.iter().any(Option::is_some) && scans.iter().any(Option::is_none);
    // A scan on one shard of several is told apart: the summary is that of the others.
    let shown = if is_mixed { scans.iter().position(Option::is_none) } else { None };
    let summarised = plans.get(shown.unwrap_or(0)).map(Vec::as_slice).unwrap_or_default();
    let stages: Vec<&Stage<'_>> = plans.iter().flatten().collect();
    let sort = stages.iter().find(|stage| stage.name.value == "SORT").map(|stage| stage.name.span);
    event.has_sort_stage = sort.or_else(|| parts::old_sort(document));
    event.used_disk = spilled(document);
    event.plan_summary = stages::summary(summarised).or_else(|| parts::old_cursor(document));
    event.plan = Some(Box::new(Plan {
        version: version(document, parts),
        shards: asked.map(|asked| asked.value).unwrap_or_default(),
        scanning: if is_mixed { named.collect() } else { Vec::new() },
        bounds: bounds(&stages),
        parts: parts.iter().zip(&plans).filter_map(|(part, stages)| shard_plan(part, stages)).collect(),
        merge: document.get("mergeType").and_then(|node| Some(Located::new(node.as_str()?.to_owned(), node.span))),
    }));
}

/// Where a stage of any shard says that it went to disk.
fn spilled(document: &Document) -> Option<Span> {
    let mut open = vec![document];
    while let Some(document) = open.pop() {
        if let Some(used) = document.get("usedDisk").filter(|node| node.is_truthy()) {
            return Some(used.span);
        }
        let inner = document.fields.iter().rev().filter(|field| field.name != "command").flat_map(|field| match &field
            .node
            .value
        {
            Value::Array(list) => list.items.iter().rev().filter_map(Node::as_document).collect(),
            _ => field.node.as_document().into_iter().collect::<Vec<_>>(),
        });
        open.extend(inner);
    }
    None
}

/// What one shard did; `None` if the part is of no shard, or shows no plan.
fn shard_plan(part: &Part<'_>, stages: &[Stage<'_>]) -> Option<ShardPlan> {
    let counter = |name: &str| {
        let node = part.execution?.get(name)?;
        Some(Located::new(u64::try_from(node.as_i64()?).ok()?, node.span))
    };
    Some(ShardPlan {
        shard: part.shard?.to_owned(),
        access: stages::whole_summary(stages)?,
        millis: counter("executionTimeMillis"),
        examined: counter("totalDocsExamined").map(|examined| examined.value),
    })
}

/// The bounds of the first index scan that prints any, and of the branches beside it on the same shard.
fn bounds(stages: &[&Stage<'_>]) -> Vec<IndexBounds> {
    let printed = stages.iter().find_map(|stage| stage.document.get("indexBounds").and_then(Node::as_document));
    /// Longer values are no evidence that anybody reads.
    const LONGEST: usize = 4096;
    let interval = |item: &Node| index_bounds::parse(item.as_str().filter(|text| text.len() <= LONGEST)?, 0).ok();
    let read = |field: &Field| {
        let items = &field.node.as_array()?.items;
        let intervals = items.iter().map(interval).collect::<Option<_>>()?;
        let mut bounds = IndexBounds { field: field.name.clone(), span: field.node.span, intervals };
        // Bounds stand in strings whose escapes are not followed: their values are as good as placed by the list.
        for interval in &mut bounds.intervals {
            for (node, _) in [&mut interval.first, &mut interval.last] {
                super::place::node(node, &|_| field.node.span);
            }
        }
        Some(bounds)
    };
    printed.map(|printed| printed.fields.iter().filter_map(read).collect()).unwrap_or_default()
}

/// `durationMillis` and its like from the statistics of the execution.
fn statistics(document: &Document, parts: &[Part<'_>]) -> Vec<Field> {
    const NAMES: [(&str, &str); 4] = [
        ("executionTimeMillis", "durationMillis"),
        ("nReturned", "nreturned"),
        ("totalKeysExamined", "keysExamined"),
        ("totalDocsExamined", "docsExamined"),
    ];
    const OLD_NAMES: [(&str, &str); 4] = [
        ("millis", "durationMillis"),
        ("n", "nreturned"),
        ("nscanned", "keysExamined"),
        ("nscannedObjects", "docsExamined"),
    ];
    let renamed = |from: &Document, names: &[(&str, &str)]| -> Vec<Field> {
        let told = names.iter().filter_map(|(old, new)| Some(field(new, from.get(old)?.clone())));
        told.filter(|told| told.node.as_i64().is_some()).collect()
    };
    if is_old(document) {
        return renamed(document, &OLD_NAMES);
    }
    if let Some(all) = document.get("executionStats").and_then(Node::as_document) {
        return renamed(all, &NAMES);
    }
    // Shards work side by side: the slowest tells how long it took. Sums stand nowhere in the text.
    let longest = parts.iter().filter_map(|part| part.execution?.get("executionTimeMillis")).max_by_key(|n| n.as_i64());
    longest.map(|longest| field("durationMillis", longest.clone())).into_iter().collect()
}

/// `serverInfo` of who explained, else of the first shard.
fn version(document: &Document, parts: &[Part<'_>]) -> Option<ServerVersion> {
    let of = |document: &Document| -> Option<ServerVersion> {
        document.get("serverInfo")?.as_document()?.get("version")?.as_str()?.parse().ok()
    };
    of(document).or_else(|| parts.iter().find_map(|part| of(part.planner?)))
}

/// The newest server that writes such a document, where it names no version.
fn newest_writer(document: &Document) -> Option<ServerVersion> {
    if is_old(document) {
        return Some(ServerVersion::line(2, 6));
    }
    if document.get("needsPrimaryShardMerger").is_some() {
        return Some(ServerVersion::line(3, 4));
    }
    let planner = document.get("queryPlanner").and_then(Node::as_document);
    planner.filter(|planner| planner.get("plannerVersion").is_some()).map(|_| ServerVersion::line(4, 4))
}

fn field(name: &str, node: Node) -> Field {
    Field { name: name.to_owned(), name_span: node.span, node }
}

fn document_of(fields: Vec<Field>, span: Span) -> Node {
    Node { value: Value::Document(Document { fields, partial: false }), span }
}
