//! Key values of a record that looks like one that was read: where that one shows them is known, so nothing else is read.

use crate::model::{Event, Namespace, Node, Statement, Verb};
use crate::rules::{KeyValue, filter_of};
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
    filter: Option<Span>,
    documents: Vec<Span>,
}

impl Prototype {
    /// The record that `event` was read of; `None` if what shows its values does not stand in it by itself.
    pub fn of(event: &Event, record: &[u8], settings: &Settings) -> Option<Self> {
        let shown = |statement: &Statement| Shown {
            verb: statement.verb,
            namespace: statement.namespace.clone(),
            filter: filter_of(statement).map(|filter| filter.span),
            documents: statement.documents.iter().map(|document| document.span).collect(),
        };
        let prototype = Self { statements: event.statements.iter().map(shown).collect() };
        let hashes = |values: &[KeyValue]| values.iter().map(|value| (value.field, value.hash)).collect::<Vec<_>>();
        let again = prototype.values(record, |span| span, settings)?;
        let alike = |(statement, again): (&Statement, &Vec<KeyValue>)| {
            hashes(&key_values_of(statement, settings)) == hashes(again)
        };
        event.statements.iter().zip(&again).all(alike).then_some(prototype)
    }

    /// The key values of each statement of another record, in which everything stands where `moved` says.
    pub fn values(
        &self,
        record: &[u8],
        moved: impl Fn(Span) -> Span,
        settings: &Settings,
    ) -> Option<Vec<Vec<KeyValue>>> {
        let record = std::str::from_utf8(record).ok()?;
        let is_structured = record.starts_with('{');
        let read = |span: Span| -> Option<Node> {
            let text = record.get(moved(span).range())?;
            if is_structured { ext_json::parse(text, 0).ok() } else { legacy::whole_document(text) }
        };
        let values = |shown: &Shown| {
            let mut statement = Statement::new(shown.verb, shown.namespace.clone(), Span::default(), Span::default());
            statement.filter = match shown.filter {
                Some(span) => Some(read(span)?),
                None => None,
            };
            statement.documents = shown.documents.iter().map(|span| read(*span)).collect::<Option<_>>()?;
            Some(key_values_of(&statement, settings))
        };
        self.statements.iter().map(values).collect()
    }
}
