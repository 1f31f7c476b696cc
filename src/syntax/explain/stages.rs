//! The stages of a winning plan, of the classic engine or of the other, and how a log would sum them up.

use std::collections::BTreeSet;

use crate::model::{Document, Node, Value};
use crate::text::{Located, Span};

/// More stages than this are not looked at; the server's own limits are far lower.
const MOST_STAGES: usize = 10_000;

/// Where stages keep those below them.
const CHILDREN: [&str; 6] = ["inputStage", "inputStages", "innerStage", "outerStage", "thenStage", "elseStage"];

/// One stage of a plan.
#[derive(Debug, Clone)]
pub(super) struct Stage<'a> {
    /// `IXSCAN` …, with its quotes in the span left out.
    pub(super) name: Located<&'a str>,
    /// The stage with its members.
    pub(super) document: &'a Document,
    /// Nothing stands below it.
    pub(super) is_leaf: bool,
}

/// The stages of a plan, each before those below it. `SHARDING_FILTER` is one like others: it drops what a shard does not
/// own, and says nothing on how many shards were asked.
pub(super) fn of_plan(plan: &Document) -> Vec<Stage<'_>> {
    // The slot-based engine prints the plan it was made of beside its own.
    let top = plan.get("queryPlan").and_then(Node::as_document).unwrap_or(plan);
    let mut open = vec![top];
    let mut stages = Vec::new();
    while let Some(document) = open.pop() {
        if stages.len() == MOST_STAGES {
            break;
        }
        let mut below: Vec<&Document> = CHILDREN
            .iter()
            .filter_map(|name| document.get(name))
            .flat_map(|child| match &child.value {
                Value::Array(children) => children.items.iter().filter_map(Node::as_document).collect(),
                _ => child.as_document().into_iter().collect::<Vec<_>>(),
            })
            .collect();
        if let Some(name) = document.get("stage").and_then(located) {
            stages.push(Stage { name, document, is_leaf: below.is_empty() });
        }
        below.reverse();
        open.extend(below);
    }
    stages
}

/// A string and the text between its quotes.
fn located(node: &Node) -> Option<Located<&str>> {
    let mut span = node.span;
    if span.len() >= 2 {
        (span.start, span.end) = (span.start + 1, span.end - 1);
    }
    node.as_str().map(|text| Located::new(text, span))
}

/// Where a plan says that it scans the whole collection.
pub(super) fn collection_scan(stages: &[Stage<'_>]) -> Option<Span> {
    stages.iter().find(|stage| stage.is_leaf && stage.name.value == "COLLSCAN").map(|stage| stage.name.span)
}

/// As `planSummary` of a log sums a plan up, but for the leaves behind the first.
pub(super) fn summary(stages: &[Stage<'_>]) -> Option<Located<String>> {
    let shown = stages.iter().find(|stage| stage.is_leaf)?;
    Some(Located::new(shown.access(), shown.name.span))
}

/// As `planSummary` of a log sums a plan up, each leaf once, at the place of the first.
pub(super) fn whole_summary(stages: &[Stage<'_>]) -> Option<Located<String>> {
    let leaves: Vec<&Stage<'_>> = stages.iter().filter(|stage| stage.is_leaf).collect();
    let mut texts: Vec<String> = leaves.iter().map(|leaf| leaf.access()).collect();
    // How often a search for what is near begins anew depends on the data.
    let mut seen = BTreeSet::new();
    texts.retain(|text| seen.insert(text.clone()));
    leaves.first().map(|first| Located::new(texts.join(", "), first.name.span))
}

impl Stage<'_> {
    /// The stage and, if it reads an index, which.
    fn access(&self) -> String {
        match self.document.get("keyPattern").and_then(Node::as_document) {
            Some(pattern) => format!("{} {}", self.name.value, printed(pattern)),
            None => self.name.value.to_owned(),
        }
    }
}

/// A key pattern as plan summaries spell it.
fn printed(pattern: &Document) -> String {
    let value = |node: &Node| match &node.value {
        Value::String(kind) => format!("\"{kind}\""),
        Value::Double(direction) => format!("{direction:?}"),
        _ => node.as_i64().map_or_else(|| "1".to_owned(), |direction| direction.to_string()),
    };
    let fields: Vec<String> = pattern.fields.iter().map(|f| format!("{}: {}", f.name, value(&f.node))).collect();
    if fields.is_empty() { "{}".to_owned() } else { format!("{{ {} }}", fields.join(", ")) }
}
