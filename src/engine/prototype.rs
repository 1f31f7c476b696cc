//! Key values of a record that looks like one that was read: where that one shows them is known, so nothing else is read.

use crate::catalog::Collection;
use crate::model::{Document, Event, Field, Namespace, Node, ShardKey, Statement, Value, Verb};
use crate::rules::{KeyValue, OF_ONE_STATEMENT, filter_of};
use crate::syntax::{ext_json, legacy};
use crate::text::Span;

use super::judge::key_values_of;
use super::settings::Settings;

/// A record that was read, as far as it shows key values.
#[derive(Debug)]
pub struct Prototype {
    statements: Vec<Shown>,
}

/// What shows the key values of a statement, by its places in the record.
#[derive(Debug)]
struct Shown {
    verb: Verb,
    namespace: Namespace,
    filter: Option<Vec<Member>>,
    documents: Vec<Vec<Member>>,
}

/// A member of a filter or a document that may show a key value: its name, and where its value stands.
type Member = (String, Span);

/// The members of `node` that may show values of `key`; `None` if it is no document.
fn telling(node: &Node, is_filter: bool, key: Option<&ShardKey>) -> Option<Vec<Member>> {
    let is_telling = |name: &str| {
        let of_path = |path: &str| path == name || !is_filter && path.split('.').next() == Some(name);
        let is_key = |key: &ShardKey| key.fields.iter().any(|field| of_path(&field.path));
        // Operators hold conditions on any field.
        key.is_some_and(|key| is_filter && name.starts_with('$') || is_key(key))
    };
    let members = node.as_document()?.fields.iter().filter(|field| is_telling(&field.name));
    Some(members.map(|field| (field.name.clone(), field.node.span)).collect())
}

impl Prototype {
    /// The record that `event` was read of; `None` if what shows its values does not stand in it by itself.
    pub fn of(event: &Event, record: &[u8], settings: &Settings) -> Option<Self> {
        let shown = |statement: &Statement| {
            let namespace = settings.namespace_map.apply(&statement.namespace);
            let key = settings.catalog.get(namespace.as_str()).and_then(Collection::shard_key);
            let filter = match filter_of(statement) {
                Some(filter) => Some(telling(filter, true, key)?),
                None => None,
            };
            let documents: Option<_> =
                statement.documents.iter().map(|document| telling(document, false, key)).collect();
            Some(Shown { verb: statement.verb, namespace: statement.namespace.clone(), filter, documents: documents? })
        };
        let prototype = Self { statements: event.statements.iter().map(shown).collect::<Option<_>>()? };
        let hashes = |values: &[KeyValue]| values.iter().map(|value| (value.field, value.hash)).collect::<Vec<_>>();
        let again = prototype.values(record, Some, settings)?;
        let alike = |(statement, again): (&Statement, &Vec<KeyValue>)| {
            hashes(&key_values_of(statement, settings)) == hashes(again)
        };
        event.statements.iter().zip(&again).all(alike).then_some(prototype)
    }

    /// The key values of each statement of another record, in which everything stands where `moved` says; `None` if it does
    /// not say it.
    pub fn values(
        &self,
        record: &[u8],
        moved: impl Fn(Span) -> Option<Span>,
        settings: &Settings,
    ) -> Option<Vec<Vec<KeyValue>>> {
        let record = std::str::from_utf8(record).ok()?;
        let is_structured = record.starts_with('{');
        let read = |members: &Vec<Member>| -> Option<Node> {
            let field = |(name, span): &Member| {
                let text = record.get(moved(*span)?.range())?;
                let node = if is_structured {
                    ext_json::parse_operand(text, OF_ONE_STATEMENT).ok()?
                } else {
                    legacy::whole_operand(text, OF_ONE_STATEMENT)?
                };
                Some(Field { name: name.clone(), name_span: Span::default(), node })
            };
            let document = Document { fields: members.iter().map(field).collect::<Option<_>>()?, partial: false };
            Some(Node { value: Value::Document(document), span: Span::default() })
        };
        let values = |shown: &Shown| {
            let mut statement = Statement::new(shown.verb, shown.namespace.clone(), Span::default(), Span::default());
            statement.filter = match &shown.filter {
                Some(members) => Some(read(members)?),
                None => None,
            };
            statement.documents = shown.documents.iter().map(read).collect::<Option<_>>()?;
            Some(key_values_of(&statement, settings))
        };
        self.statements.iter().map(values).collect()
    }
}
