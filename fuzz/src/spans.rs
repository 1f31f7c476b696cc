//! All spans of what was read, in the order of the model, and what has to hold for them.

use shardlint::model::{Document, Event, Node, Statement, Value};
use shardlint::syntax::SyntaxError;
use shardlint::text::Span;

/// Spans lie inside the text and do not cut a character.
pub fn assert_inside(text: &str, spans: &[Span]) {
    for span in spans {
        assert!(text.get(span.range()).is_some(), "{span:?} is no part of the {} bytes {text:?}", text.len());
    }
}

/// A complaint has a place in the text and says something.
pub fn assert_located(text: &str, error: &SyntaxError) {
    assert_inside(text, &[error.span]);
    assert!(!error.message.is_empty() && !error.message.ends_with('.'), "{error:?}");
}

/// Every value lies inside the document or array that holds it.
pub fn assert_nested(node: &Node) {
    let inside = |span: Span| assert!(node.span.contains(span), "{span:?} is not inside of {:?}", node.span);
    match &node.value {
        Value::Document(document) => {
            for field in &document.fields {
                inside(field.name_span);
                inside(field.node.span);
                assert_nested(&field.node);
            }
        }
        Value::Array(array) => {
            for item in &array.items {
                inside(item.span);
                assert_nested(item);
            }
        }
        _ => {}
    }
}

pub fn of_node(node: &Node, spans: &mut Vec<Span>) {
    spans.push(node.span);
    match &node.value {
        Value::Document(document) => of_document(document, spans),
        Value::JavaScriptWithScope(_, scope) => of_document(scope, spans),
        Value::Array(array) => array.items.iter().for_each(|item| of_node(item, spans)),
        _ => {}
    }
}

fn of_document(document: &Document, spans: &mut Vec<Span>) {
    for field in &document.fields {
        spans.push(field.name_span);
        of_node(&field.node, spans);
    }
}

pub fn of_statement(statement: &Statement, spans: &mut Vec<Span>) {
    spans.extend([statement.name_span, statement.span]);
    let parts = [
        &statement.filter,
        &statement.pipeline,
        &statement.update,
        &statement.sort,
        &statement.skip,
        &statement.limit,
        &statement.hint,
        &statement.min,
        &statement.max,
        &statement.projection,
        &statement.distinct_key,
        &statement.collation,
        &statement.let_variables,
        &statement.view_pipeline,
    ];
    parts.into_iter().flatten().chain(&statement.documents).for_each(|node| of_node(node, spans));
}

pub fn of_event(event: &Event) -> Vec<Span> {
    let mut spans = vec![event.command_span, event.name_span];
    let counters =
        [&event.n_shards, &event.duration_millis, &event.keys_examined, &event.docs_examined, &event.returned];
    spans.extend(counters.into_iter().flatten().map(|counter| counter.span));
    spans.extend([&event.plan_summary, &event.truncated].into_iter().flatten().map(|text| text.span));
    spans.extend(event.error_code.as_ref().map(|code| code.span));
    spans.extend([event.has_sort_stage, event.used_disk, event.redacted].into_iter().flatten());
    event.statements.iter().for_each(|statement| of_statement(statement, &mut spans));
    if let Some(plan) = &event.plan {
        spans.extend(plan.shards.iter().map(|shard| shard.span));
        for bounds in &plan.bounds {
            spans.push(bounds.span);
            bounds
                .intervals
                .iter()
                .flat_map(|one| [&one.first.0, &one.last.0])
                .for_each(|node| of_node(node, &mut spans));
        }
    }
    spans
}
