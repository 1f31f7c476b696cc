//! The text of a slow operation to an [`Event`]: what it would be as a structured record, which is then read as all of them
//! are. Operations of the old wire protocol (`query`, `getmore`, `insert`, `update`, `remove`) become the commands that
//! took their place.

use crate::model::{Array, Document, Event, Field, Node, ServerVersion, Traffic, Value, Verb};
use crate::syntax::structured;
use crate::text::{Located, Span};

use super::header::Header;
use super::items::SlowText;

/// Later servers write structured logs.
const LAST_TEXT_LOG: ServerVersion = ServerVersion::line(4, 2);

/// Items of older servers, and what they are called today.
const RENAMED: [(&str, &str); 3] =
    [("nscanned", "keysExamined"), ("nscannedObjects", "docsExamined"), ("scanAndOrder", "hasSortStage")];

/// Items that say yes by `:1`.
const FLAGS: [&str; 2] = ["hasSortStage", "usedDisk"];

/// The event of a slow operation.
pub(super) fn event(line: &str, header: &Header<'_>, slow: SlowText<'_>) -> Event {
    let SlowText { operation, namespace, items, millis, cut } = slow;
    let mut attr = attributes(&operation, &namespace, items, operation.span.join(namespace.span));
    attr.push(field("durationMillis", whole(millis.value, millis.span)));
    let mut record = vec![string("ctx", header.context, Span::default())];
    record.extend(header.time_millis.map(|time| field("t", Node { value: Value::Date(time), span: Span::default() })));
    record.push(field("attr", document(attr, Span::default(), false)));
    let mut event = structured::slow_event(line, &Document { fields: record, partial: false });
    event.truncated = cut;
    event.newest_writer = Some(LAST_TEXT_LOG);
    pair_inserts(operation.value, &mut event);
    event
}

/// The attributes that a structured record of the operation would have: the profiler of old servers has the same items.
/// `place` stands for a command that has no document.
pub(in crate::syntax) fn attributes(
    operation: &Located<&str>,
    namespace: &Located<&str>,
    mut items: Document,
    place: Span,
) -> Vec<Field> {
    let counts_objects = items.get("nscannedObjects").is_some();
    let originating = take(&mut items, "originatingCommand");
    let mut attr = match take(&mut items, "command") {
        Some(command) => std::iter::once(command).chain(originating).collect(),
        None => OldOperation { namespace: namespace.clone(), items: &items, place }.command(operation, originating),
    };
    attr.extend([string("type", operation.value, operation.span), string("ns", namespace.value, namespace.span)]);
    attr.extend(items.fields.into_iter().filter_map(|item| attribute(item, counts_objects)));
    attr
}

/// Takes the first member of that name out of a document.
fn take(document: &mut Document, name: &str) -> Option<Field> {
    let at = document.fields.iter().position(|field| field.name == name)?;
    Some(document.fields.remove(at))
}

/// To 3.4 an insert command logs a line for each document too.
fn pair_inserts(operation: &str, event: &mut Event) {
    if event.traffic == Traffic::Query && event.verb == Some(Verb::Insert) {
        event.traffic = if operation == "insert" { Traffic::BatchStatement } else { Traffic::BatchCommand };
    }
}

/// An item as an attribute of the structured log; documents that make the command are none.
fn attribute(mut item: Field, counts_objects: bool) -> Option<Field> {
    if matches!(item.name.as_str(), "command" | "query" | "update" | "originatingCommand") {
        return None;
    }
    // To 2.4 `nscanned` counts index entries or documents, as the case may be.
    if item.name == "nscanned" && !counts_objects {
        return None;
    }
    if let Some((_, new)) = RENAMED.iter().find(|(old, _)| *old == item.name) {
        item.name = (*new).to_owned();
    }
    if FLAGS.contains(&item.name.as_str()) {
        item.node.value = Value::Bool(item.node.is_truthy());
    }
    Some(item)
}

/// An operation, as far as its kind matters.
struct OldOperation<'a> {
    namespace: Located<&'a str>,
    items: &'a Document,
    /// What stands for a command that has no document.
    place: Span,
}

impl OldOperation<'_> {
    /// `command`, and `originatingCommand` of a getMore.
    fn command(&self, operation: &Located<&str>, originating: Option<Field>) -> Vec<Field> {
        let query = self.items.field("query");
        match operation.value {
            "query" => vec![field("command", self.find(operation.span, query))],
            "getmore" => {
                let known = originating.is_some() || query.is_some();
                let command = vec![string("getMore", self.collection(), operation.span)];
                let find = || field("originatingCommand", self.find(operation.span, query));
                let originating = originating.or_else(|| known.then(find));
                let command = field("command", document(command, self.place, false));
                std::iter::once(command).chain(originating).collect()
            }
            "insert" => vec![field("command", self.insert(operation.span, query))],
            "update" => vec![field("command", self.write(query, self.items.field("update")))],
            "remove" => vec![field("command", self.write(query, None))],
            name => vec![field("command", document(vec![string(name, "", operation.span)], self.place, false))],
        }
    }

    fn collection(&self) -> &str {
        self.namespace.value.split_once('.').map_or("", |(_, collection)| collection)
    }

    /// The find command that a query of the old protocol is. Its document may be a filter, a filter with options around it,
    /// or a command already.
    fn find(&self, operation: Span, query: Option<&Field>) -> Node {
        let name = string("find", self.collection(), operation);
        let Some(query) = query else { return document(vec![name], self.place, false) };
        let Some(given) = query.node.as_document() else { return document(vec![name], query.node.span, true) };
        if self.is_command(given) {
            return query.node.clone();
        }
        let Some(filter) = wrapped(given) else {
            let fields = vec![name, renamed("filter", query)];
            return document(fields, query.node.span, given.partial && given.is_empty());
        };
        let options = ["orderby", "hint", "min", "max", "comment"];
        let option = |option: &&str| {
            let found = given.field(&format!("${option}")).or_else(|| given.field(option))?;
            Some(renamed(if *option == "orderby" { "sort" } else { option }, found))
        };
        let fields = [name, renamed("filter", filter)].into_iter().chain(options.iter().filter_map(option));
        let find = document(fields.chain(self.skip()).collect(), query.node.span, given.partial);
        let explain = given.get("$explain").or_else(|| given.get("explain"));
        match explain.is_some_and(Node::is_truthy) {
            true => document(vec![field("explain", find)], query.node.span, false),
            false => find,
        }
    }

    /// From 3.2 on `query:` may show a command.
    fn is_command(&self, given: &Document) -> bool {
        let names = |first: &Field| {
            structured::is_command(&first.name) && first.node.as_str().is_some_and(|name| name == self.collection())
        };
        given.first().is_some_and(names)
    }

    fn skip(&self) -> Option<Field> {
        self.items.field("ntoskip").filter(|skip| skip.node.as_i64() != Some(0)).map(|skip| renamed("skip", skip))
    }

    fn insert(&self, operation: Span, given: Option<&Field>) -> Node {
        let name = string("insert", self.collection(), operation);
        let Some(given) = given else { return document(vec![name], self.place, false) };
        let span = given.node.span;
        let array = Array { items: vec![given.node.clone()], partial: false };
        let documents = field("documents", Node { value: Value::Array(array), span });
        document(vec![name, documents], span, false)
    }

    /// `{ q, u, multi, upsert }`. Options are not printed: what counters do not betray is not known.
    fn write(&self, query: Option<&Field>, update: Option<&Field>) -> Node {
        let span = query.map_or(self.place, |query| query.node.span);
        let empty = || field("q", document(Vec::new(), Span { start: span.end, ..span }, false));
        let mut fields = vec![query.map_or_else(empty, |query| renamed("q", query))];
        fields.extend(update.map(|update| renamed("u", update)));
        fields.extend(self.items.field("collation").cloned());
        let counted = |name: &str| self.items.get(name).and_then(Node::as_i64).unwrap_or(0);
        if ["nMatched", "nupdated", "nmatched"].iter().any(|name| counted(name) > 1) {
            fields.push(field("multi", Node { value: Value::Bool(true), span }));
        }
        if counted("upsert") > 0 || counted("fastmodinsert") > 0 {
            fields.push(field("upsert", Node { value: Value::Bool(true), span }));
        }
        if counted("ndeleted") > 1 {
            fields.push(field("limit", whole(0, span)));
        }
        document(fields, span, true)
    }
}

/// The filter of `{ $query: {…}, $orderby: {…} }`, also spelled without `$`. A document in a field of that name is taken so
/// by the server too, whatever the user meant.
fn wrapped(given: &Document) -> Option<&Field> {
    ["$query", "query"].iter().find_map(|name| given.field(name)).filter(|field| field.node.as_document().is_some())
}

fn field(name: &str, node: Node) -> Field {
    Field { name: name.to_owned(), name_span: node.span, node }
}

fn renamed(name: &str, field: &Field) -> Field {
    Field { name: name.to_owned(), ..field.clone() }
}

fn string(name: &str, text: &str, span: Span) -> Field {
    field(name, Node { value: Value::String(text.to_owned()), span })
}

fn whole(number: u64, span: Span) -> Node {
    Node { value: Value::Int64(i64::try_from(number).unwrap_or(i64::MAX)), span }
}

fn document(fields: Vec<Field>, span: Span, partial: bool) -> Node {
    Node { value: Value::Document(Document { fields, partial }), span }
}
