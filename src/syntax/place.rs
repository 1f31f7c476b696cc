//! Moves the spans of what was read: from a text inside another to the text around it.

use crate::model::{Document, Event, Node, Plan, Statement, Value};
use crate::text::{Located, Span};

use super::record::{Fact, Record};

/// Where a span of the inner text stands in the outer one.
type Map<'a> = &'a dyn Fn(Span) -> Span;

/// Moves all spans of a record. Those in one of several begin where that one does.
pub(super) fn record(record: &mut Record, map: Map<'_>) {
    match record {
        Record::Slow(event) | Record::Explain(event) => self::event(event, map),
        Record::Bad(error) => error.span = map(error.span),
        Record::Other(Fact::Trouble(trouble)) => trouble.span = map(trouble.span),
        Record::Other(_) => {}
        Record::Several(parts) => {
            for part in parts {
                let (before, place) = (part.span.start as usize, map(part.span));
                let within = |at: u32| at.max(place.start) - place.start;
                let moved = |span: Span| {
                    let span = map(span.shifted(before));
                    Span { start: within(span.start), end: within(span.end) }
                };
                self::record(&mut part.record, &moved);
                part.span = place;
            }
        }
    }
}

/// Moves all spans of an event.
pub(super) fn event(event: &mut Event, map: Map<'_>) {
    let counters = [
        &mut event.n_shards,
        &mut event.duration_millis,
        &mut event.keys_examined,
        &mut event.docs_examined,
        &mut event.returned,
    ];
    counters.into_iter().for_each(|counter| located(counter, map));
    located(&mut event.plan_summary, map);
    located(&mut event.truncated, map);
    located(&mut event.error_code, map);
    for span in [&mut event.has_sort_stage, &mut event.used_disk, &mut event.redacted].into_iter().flatten() {
        *span = map(*span);
    }
    event.command_span = map(event.command_span);
    event.name_span = map(event.name_span);
    event.statements.iter_mut().for_each(|one| statement(one, map));
    if let Some(one) = &mut event.plan {
        plan(one, map);
    }
}

fn located<T>(located: &mut Option<Located<T>>, map: Map<'_>) {
    if let Some(located) = located {
        located.span = map(located.span);
    }
}

fn statement(statement: &mut Statement, map: Map<'_>) {
    statement.name_span = map(statement.name_span);
    statement.span = map(statement.span);
    let parts = [
        &mut statement.filter,
        &mut statement.pipeline,
        &mut statement.update,
        &mut statement.sort,
        &mut statement.skip,
        &mut statement.limit,
        &mut statement.hint,
        &mut statement.min,
        &mut statement.max,
        &mut statement.projection,
        &mut statement.distinct_key,
        &mut statement.collation,
        &mut statement.let_variables,
        &mut statement.view_pipeline,
    ];
    parts.into_iter().flatten().chain(&mut statement.documents).for_each(|part| node(part, map));
}

fn plan(plan: &mut Plan, map: Map<'_>) {
    plan.shards.iter_mut().chain(&mut plan.scanning).for_each(|shard| shard.span = map(shard.span));
    for bounds in &mut plan.bounds {
        bounds.span = map(bounds.span);
        for interval in &mut bounds.intervals {
            node(&mut interval.first.0, map);
            node(&mut interval.last.0, map);
        }
    }
}

/// Moves the spans of a value and of all values in it.
pub(super) fn node(node: &mut Node, map: Map<'_>) {
    node.span = map(node.span);
    match &mut node.value {
        Value::Document(inner) => document(inner, map),
        Value::JavaScriptWithScope(_, scope) => document(scope, map),
        Value::Array(array) => array.items.iter_mut().for_each(|item| self::node(item, map)),
        _ => {}
    }
}

fn document(document: &mut Document, map: Map<'_>) {
    for field in &mut document.fields {
        field.name_span = map(field.name_span);
        node(&mut field.node, map);
    }
}
