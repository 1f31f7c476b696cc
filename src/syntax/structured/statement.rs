//! Members of a command to [`Statement`]s.

use crate::model::{Document, Field, Namespace, Node, Statement, Value, Verb};
use crate::text::Span;

use super::command::Command;
use super::cut::{lost_array, lost_document};

/// What `redactClientLogData` prints for every literal.
pub(super) const REDACTED: &str = "###";

/// Turns hidden literals into [`Value::Redacted`].
pub(super) fn redact(node: &mut Node) {
    match &mut node.value {
        Value::String(text) if text == REDACTED => node.value = Value::Redacted,
        Value::Document(document) => document.fields.iter_mut().for_each(|field| redact(&mut field.node)),
        Value::Array(array) => array.items.iter_mut().for_each(redact),
        _ => {}
    }
}

/// The first hidden literal in the order of the text. What is unknown for another reason is spelled otherwise.
pub(super) fn first_redacted(line: &str, node: &Node) -> Option<Span> {
    match &node.value {
        Value::Redacted => line[node.span.range()].contains(REDACTED).then_some(node.span),
        Value::Document(document) => document.fields.iter().find_map(|field| first_redacted(line, &field.node)),
        Value::Array(array) => array.items.iter().find_map(|item| first_redacted(line, item)),
        _ => None,
    }
}

/// The statement of a command that is one: a read, a findAndModify, an insert.
pub(super) fn single(command: &Command<'_>, verb: Verb, namespace: Namespace) -> Statement {
    let mut statement = Statement::new(verb, namespace, command.name_span, command.span);
    statement.options_partial = command.is_cut();
    statement.filter = filter(command, verb);
    statement.sort = command.option("sort");
    statement.skip = command.option("skip");
    statement.limit = command.option("limit");
    statement.hint = command.option("hint");
    statement.collation = command.option("collation");
    statement.let_variables = command.option("let");
    match verb {
        Verb::Find => {
            statement.min = command.option("min");
            statement.max = command.option("max");
            statement.projection = command.option("projection");
        }
        Verb::Aggregate => {
            let lost = command.is_cut().then(|| lost_array(command.span));
            statement.pipeline = command.option("pipeline").or(lost);
        }
        Verb::Distinct => statement.distinct_key = command.option("key"),
        Verb::Insert => documents(command, &mut statement),
        Verb::FindAndModify => {
            statement.update = command.option("update");
            statement.projection = command.option("fields");
            statement.array_filters = command.members.has("arrayFilters");
            statement.upsert = flag(command.option("upsert"), &mut statement.options_partial);
            statement.remove = flag(command.option("remove"), &mut statement.options_partial);
        }
        Verb::Count | Verb::Update | Verb::Delete | Verb::MapReduce => {}
    }
    session(command, &mut statement);
    statement
}

/// `filter` or `query`. Where it may have been cut off as a whole, a filter of which nothing is left.
fn filter(command: &Command<'_>, verb: Verb) -> Option<Node> {
    let name = match verb {
        Verb::Find => "filter",
        Verb::Count | Verb::Distinct | Verb::FindAndModify | Verb::MapReduce => "query",
        Verb::Aggregate | Verb::Insert | Verb::Update | Verb::Delete => return None,
    };
    command.option(name).or_else(|| command.is_cut().then(|| lost_document(command.span)))
}

fn documents(command: &Command<'_>, statement: &mut Statement) {
    let Some(Value::Array(array)) = command.node("documents").map(|node| node.value) else { return };
    statement.document_count = (!array.partial).then_some(array.items.len() as u64);
    statement.documents = array.items;
}

/// A boolean option. A hidden value makes the options uncertain.
fn flag(option: Option<Node>, uncertain: &mut bool) -> bool {
    let Some(option) = option else { return false };
    *uncertain |= matches!(option.value, Value::Redacted);
    option.is_truthy()
}

/// Whether it runs in a transaction or as a retryable write.
fn session(command: &Command<'_>, statement: &mut Statement) {
    // `autocommit` is only ever sent as `false`, so a hidden value is as good.
    statement.in_transaction = command.members.has("autocommit");
    statement.retryable = command.members.has("txnNumber") && !statement.in_transaction;
}

/// The statements of an update or delete command, as far as the record holds them.
pub(super) fn batch(command: &Command<'_>, verb: Verb, namespace: &Namespace) -> Vec<Statement> {
    let list = if verb == Verb::Update { "updates" } else { "deletes" };
    let Some(Value::Array(array)) = command.node(list).map(|node| node.value) else { return Vec::new() };
    let variables = command.option("let");
    let statements = array.items.into_iter().filter_map(|item| {
        let mut statement = write(item, verb, namespace.clone(), command.name_span)?;
        statement.let_variables = merged(variables.clone(), statement.let_variables);
        session(command, &mut statement);
        Some(statement)
    });
    statements.collect()
}

/// One write statement, `{q, u, multi, upsert, …}` or `{q, limit, …}`: a member of a batch, or the command of a WRITE line.
pub(super) fn write(item: Node, verb: Verb, namespace: Namespace, name_span: Span) -> Option<Statement> {
    let span = item.span;
    let Value::Document(mut document) = item.value else { return None };
    let name_span = document.field("q").map_or(name_span, |field| field.name_span);
    let mut statement = Statement::new(verb, namespace, name_span, span);
    statement.options_partial = document.partial;
    statement.filter = take(&mut document, "q");
    if statement.filter.is_none() && document.partial {
        statement.filter = Some(lost_document(span));
    }
    statement.update = take(&mut document, "u");
    options(&mut document, &mut statement);
    if verb == Verb::Delete {
        let limit = take(&mut document, "limit");
        statement.options_partial |= limit.as_ref().is_some_and(|limit| matches!(limit.value, Value::Redacted));
        statement.multi = limit.and_then(|limit| limit.as_i64()) == Some(0);
    }
    Some(statement)
}

/// What statements of `update`, `delete` and `bulkWrite` have in common.
pub(super) fn options(document: &mut Document, statement: &mut Statement) {
    statement.multi = flag(take(document, "multi"), &mut statement.options_partial);
    statement.upsert = flag(take(document, "upsert"), &mut statement.options_partial);
    statement.array_filters = document.get("arrayFilters").is_some();
    statement.collation = take(document, "collation");
    statement.hint = take(document, "hint");
    statement.sort = take(document, "sort");
    statement.let_variables = merged(take(document, "let"), take(document, "c"));
}

/// Takes the member of that name out of the document; nulls count as absent.
pub(super) fn take(document: &mut Document, name: &str) -> Option<Node> {
    let at = document.fields.iter().position(|field| field.name == name)?;
    let Field { node, .. } = document.fields.remove(at);
    (!matches!(node.value, Value::Null | Value::Undefined)).then_some(node)
}

/// The variables of a whole command and those of one of its statements.
fn merged(of_command: Option<Node>, of_statement: Option<Node>) -> Option<Node> {
    match (of_command, of_statement) {
        (Some(mut outer), Some(inner)) => {
            if let (Value::Document(outer), Value::Document(inner)) = (&mut outer.value, inner.value) {
                outer.fields.extend(inner.fields);
                outer.partial |= inner.partial;
            }
            Some(outer)
        }
        (outer, inner) => outer.or(inner),
    }
}
