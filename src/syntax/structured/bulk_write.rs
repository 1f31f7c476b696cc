//! `bulkWrite` (8.0 and later): operations on several collections in one command, `ops[i].insert|update|delete` being an
//! index into `nsInfo`.

use crate::model::{Document, Namespace, Node, Statement, Value, Verb};
use crate::text::Span;

use super::command::Command;
use super::cut::lost_document;
use super::statement::{options, take};

/// The statements of a bulkWrite command, as far as the record holds them.
pub(super) fn statements(command: &Command<'_>) -> Vec<Statement> {
    let namespaces = namespaces(command);
    let Some(Value::Array(ops)) = command.node("ops").map(|node| node.value) else { return Vec::new() };
    let variables = command.option("let");
    let of_op = |op: Node| {
        let (_, index, _) = verb(&op)?;
        let namespace = usize::try_from(index).ok().and_then(|index| namespaces.get(index)).cloned();
        let mut statement = statement(op, namespace.unwrap_or_default())?;
        statement.let_variables = statement.let_variables.or_else(|| variables.clone());
        statement.in_transaction = command.members.has("autocommit");
        statement.retryable = command.members.has("txnNumber") && !statement.in_transaction;
        Some(statement)
    };
    ops.items.into_iter().filter_map(of_op).collect()
}

/// One operation: a member of `ops`, or the command of a WRITE line.
pub(super) fn statement(op: Node, namespace: Namespace) -> Option<Statement> {
    let (verb, _, name_span) = verb(&op)?;
    let span = op.span;
    let Value::Document(mut document) = op.value else { return None };
    let mut statement = Statement::new(verb, namespace, name_span, span);
    statement.options_partial = document.partial;
    if verb == Verb::Insert {
        statement.document_count = Some(1);
        statement.documents.extend(take(&mut document, "document"));
        return Some(statement);
    }
    statement.filter = take(&mut document, "filter").or_else(|| document.partial.then(|| lost_document(span)));
    statement.update = take(&mut document, "updateMods");
    let constants = take(&mut document, "constants");
    options(&mut document, &mut statement);
    statement.let_variables = statement.let_variables.or(constants);
    Some(statement)
}

/// What an operation does, on which entry of `nsInfo`, and where that is said.
pub(super) fn verb(op: &Node) -> Option<(Verb, i64, Span)> {
    let document = op.as_document()?;
    let of = |name: &str, verb: Verb| {
        let field = document.field(name)?;
        Some((verb, field.node.as_i64()?, field.name_span))
    };
    of("update", Verb::Update).or_else(|| of("delete", Verb::Delete)).or_else(|| of("insert", Verb::Insert))
}

/// The collections of `nsInfo`.
fn namespaces(command: &Command<'_>) -> Vec<Namespace> {
    let Some(Value::Array(array)) = command.node("nsInfo").map(|node| node.value) else { return Vec::new() };
    let name =
        |info: Node| info.as_document().and_then(|info: &Document| info.get("ns")?.as_str().map(Namespace::parse));
    array.items.into_iter().map(|info| name(info).unwrap_or_default()).collect()
}
