//! Commands as documents, `db.runCommand({ find: "orders", filter: { a: 1 } })`, and the members that commands and the
//! options of methods have in common.

use crate::model::{Document, Field, Namespace, Node, Statement, Value, Verb};
use crate::syntax::error::SyntaxError;

use super::expected;
use super::form::OperationForm;

const COMMANDS: [(&str, Verb); 11] = [
    ("find", Verb::Find),
    ("aggregate", Verb::Aggregate),
    ("count", Verb::Count),
    ("distinct", Verb::Distinct),
    ("insert", Verb::Insert),
    ("update", Verb::Update),
    ("delete", Verb::Delete),
    ("findAndModify", Verb::FindAndModify),
    ("findandmodify", Verb::FindAndModify),
    ("mapReduce", Verb::MapReduce),
    ("mapreduce", Verb::MapReduce),
];

/// The statements of the command that is run on a database.
pub(super) fn statements(
    form: &OperationForm<'_>,
    namespace: &dyn Fn(&str) -> Namespace,
) -> Result<Vec<Statement>, SyntaxError> {
    let call = &form.calls[0];
    if !matches!(call.name.value.as_str(), "runCommand" | "adminCommand") {
        return expected(call.name.span, "a method of a collection, such as `db.orders.find(…)`, or `runCommand`");
    }
    let values = call.values()?;
    match values.first().map(|node| (node, node.as_document())) {
        Some((node, Some(document))) => command(node, document, namespace),
        _ => expected(call.span, "a command such as `{ find: \"orders\", filter: { a: 1 } }`"),
    }
}

fn command(
    node: &Node,
    document: &Document,
    namespace: &dyn Fn(&str) -> Namespace,
) -> Result<Vec<Statement>, SyntaxError> {
    // What is explained is the command inside.
    if let Some(Field { name, node, .. }) = document.first()
        && name == "explain"
        && let Some(inner) = node.as_document()
    {
        return command(node, inner, namespace);
    }
    let first = document.first();
    let verb = first.and_then(|first| COMMANDS.iter().find(|(name, _)| *name == first.name)).map(|(_, verb)| *verb);
    let (Some(first), Some(verb)) = (first, verb) else {
        let span = first.map_or(node.span, |first| first.name_span);
        return expected(span, "a command that reads or writes documents, such as `find` or `update`");
    };
    let Some(collection) = first.node.as_str() else { return expected(first.node.span, "a collection's name") };
    let mut whole = Statement::new(verb, namespace(collection), first.name_span, node.span);
    document.fields[1..].iter().for_each(|field| member(&mut whole, field));
    let list = match verb {
        Verb::Update => "updates",
        Verb::Delete => "deletes",
        _ => return Ok(vec![whole]),
    };
    let Some(items) = document.get(list).and_then(Node::as_array) else {
        return expected(node.span, &format!("`{list}`, an array of statements"));
    };
    let one = |item: &Node| {
        let Some(document) = item.as_document() else { return expected(item.span, "a document with `q`") };
        let mut statement = Statement { span: item.span, ..whole.clone() };
        document.fields.iter().for_each(|field| member(&mut statement, field));
        Ok(statement)
    };
    items.items.iter().map(one).collect()
}

/// Takes over one member of a command, of a batch's statement, or of a method's options.
pub(super) fn member(statement: &mut Statement, field: &Field) {
    let node = &field.node;
    if matches!(node.value, Value::Null | Value::Undefined) {
        return;
    }
    let slot = match field.name.as_str() {
        "filter" | "query" | "q" => &mut statement.filter,
        "pipeline" => &mut statement.pipeline,
        "update" | "u" | "replacement" => &mut statement.update,
        "key" => &mut statement.distinct_key,
        "sort" => &mut statement.sort,
        "skip" => &mut statement.skip,
        "limit" if statement.verb != Verb::Delete => &mut statement.limit,
        "hint" => &mut statement.hint,
        "min" => &mut statement.min,
        "max" => &mut statement.max,
        "projection" | "fields" => &mut statement.projection,
        "collation" => &mut statement.collation,
        "let" => &mut statement.let_variables,
        name => return flag(statement, name, node),
    };
    *slot = Some(node.clone());
}

fn flag(statement: &mut Statement, name: &str, node: &Node) {
    match name {
        "limit" => statement.multi = node.as_i64() == Some(0),
        "multi" => statement.multi = node.is_truthy(),
        "upsert" => statement.upsert = node.is_truthy(),
        "remove" => statement.remove = node.is_truthy(),
        "arrayFilters" => statement.array_filters = true,
        "documents" => documents(statement, node),
        _ => {}
    }
}

/// The documents of an insert: one, or an array of them.
pub(super) fn documents(statement: &mut Statement, node: &Node) {
    statement.documents = node.as_array().map_or_else(|| vec![node.clone()], |array| array.items.clone());
    statement.document_count = Some(statement.documents.len() as u64);
}
