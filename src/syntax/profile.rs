//! Documents of `system.profile`, of 2.2 to 9. Their members are those of a slow operation in the log of the same server,
//! some by other names: seen through the same eyes, everything behind that is the same.

use std::borrow::Cow;

use crate::model::{Document, Event, Field, Node, Origin, ServerVersion, Traffic, Value};
use crate::text::Located;

use super::wrapped::Unescaped;
use super::{legacy, place, structured};

/// What `op` may be. The oplog has an `op` too, of one letter.
const OPERATIONS: [&str; 8] = ["query", "insert", "update", "remove", "getmore", "command", "bulkWrite", "killcursors"];

/// Members by another name than in the log.
const RENAMED: [(&str, &str); 4] =
    [("millis", "durationMillis"), ("updateobj", "update"), ("responseLength", "reslen"), ("errmsg", "errMsg")];

/// A command that was too long: its beginning, as text.
const TRUNCATED: &str = "$truncated";

/// Whether a document is one of `system.profile`.
pub(super) fn is_profile(document: &Document) -> bool {
    let text = |name: &str| document.get(name).and_then(Node::as_str);
    let has = |name: &str| document.get(name).is_some();
    let tells = has("millis") || has("ts") || has("command") || has("query");
    text("op").is_some_and(|op| OPERATIONS.contains(&op)) && text("ns").is_some() && tells
}

/// The event of a document that was read from `text`.
pub(super) fn event(text: &str, profile: &Node, document: &Document) -> Event {
    let word = |name: &str| {
        let node = document.get(name);
        let text = node.and_then(Node::as_str).unwrap_or_default();
        Located::new(text, node.map_or(profile.span, |node| node.span))
    };
    let mut cut = None;
    let items = document.fields.iter().filter(|member| !is_absent(member));
    let items = items.map(|member| renamed(restored(text, member, &mut cut).into_owned())).collect();
    let mut items = Document { fields: items, partial: false };
    name_command(&mut items, word("ns").value);
    let attr = legacy::attributes(&word("op"), &word("ns"), items, word("op").span.join(word("ns").span));
    let attr = Node { value: Value::Document(Document { fields: attr, partial: false }), span: profile.span };
    let mut record = vec![Field { name: "attr".to_owned(), name_span: profile.span, node: attr }];
    record.extend(document.field("ts").map(|time| Field { name: "t".to_owned(), ..time.clone() }));
    let mut event = structured::slow_event(text, &Document { fields: record, partial: false });
    event.truncated = cut;
    event.newest_writer = newest_writer(document);
    // No router has a profiler, and each statement of a batch has a document of its own that nothing repeats.
    if event.origin == Origin::Router {
        event.origin = Origin::Direct;
    }
    if matches!(event.traffic, Traffic::BatchStatement | Traffic::BatchCommand) {
        event.traffic = Traffic::Query;
    }
    event
}

/// In 3.2 and 3.4 `query` may show the command.
fn name_command(items: &mut Document, namespace: &str) {
    let collection = namespace.split_once('.').map_or("", |(_, collection)| collection);
    let names = |member: &Field| {
        member.name == "getMore"
            || structured::is_command(&member.name) && member.node.as_str().is_some_and(|name| name == collection)
    };
    let query = items.fields.iter_mut().find(|item| item.name == "query");
    if let Some(query) = query.filter(|query| query.node.as_document().is_some_and(|d| d.fields.iter().any(names))) {
        "command".clone_into(&mut query.name);
    }
}

/// The newest server that writes a document with such members.
fn newest_writer(document: &Document) -> Option<ServerVersion> {
    let has = |name: &str| document.get(name).is_some();
    match (has("nscanned") || has("lockStats"), has("query") || has("updateobj")) {
        (true, _) if !has("docsExamined") => Some(ServerVersion::line(3, 0)),
        (_, true) => Some(ServerVersion::line(3, 4)),
        _ => None,
    }
}

/// What tools add that write every document with the same members: empty ones.
fn is_absent(member: &Field) -> bool {
    let is_empty = match &member.node.value {
        Value::Null | Value::Undefined => true,
        Value::Document(document) => document.is_empty() && !document.partial,
        _ => false,
    };
    is_empty && matches!(member.name.as_str(), "command" | "query" | "updateobj" | "originatingCommand")
}

fn renamed(mut member: Field) -> Field {
    if let Some((_, name)) = RENAMED.iter().find(|(old, _)| *old == member.name) {
        (*name).clone_into(&mut member.name);
    }
    member
}

/// A command of which only the beginning is left, read from its text.
fn restored<'a>(text: &str, member: &'a Field, cut: &mut Option<Located<String>>) -> Cow<'a, Field> {
    let shortened =
        member.node.as_document().and_then(|command| command.get(TRUNCATED)).filter(|n| n.as_str().is_some());
    let Some(shortened) = shortened else { return Cow::Borrowed(member) };
    *cut = Some(Located::new(member.name.clone(), shortened.span));
    let read = Unescaped::new(text, &text[shortened.span.range()]).and_then(|inner| {
        let mut node = legacy::cut_document(&inner.text)?;
        place::node(&mut node, &|span| inner.outer(span));
        Some(node)
    });
    let lost =
        || Node { value: Value::Document(Document { fields: Vec::new(), partial: true }), span: member.node.span };
    Cow::Owned(Field { node: read.unwrap_or_else(lost), ..member.clone() })
}
