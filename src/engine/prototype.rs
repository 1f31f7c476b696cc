//! Key values of a record that looks like one that was read: where that one shows each of them is known, so nothing else is
//! read.

use smallvec::{SmallVec, smallvec};

use crate::catalog::Collection;
use crate::model::{Event, Node, Statement, Value};
use crate::rules::{KeyValue, Seen, filter_of, visit_key_values};
use crate::syntax::{ext_json, legacy};
use crate::text::Span;

use super::judge::key_values_of;
use super::settings::Settings;

/// A record that was read, as far as it shows key values.
#[derive(Debug)]
pub struct Prototype {
    statements: Vec<Vec<Shown>>,
}

/// Key values, by where they stand in the record.
#[derive(Debug)]
struct Shown {
    field: usize,
    seen: Seen,
    place: Place,
}

#[derive(Debug, PartialEq, Eq)]
enum Place {
    /// One value there; of all fields of the key together, that of each.
    At(SmallVec<[Span; 2]>),
    /// The items of the list there.
    Items(Span),
}

impl Place {
    /// That of a value of `statement`.
    fn of(nodes: &[&Node], statement: &Statement) -> Self {
        let list = match (nodes, filter_of(statement)) {
            ([node], Some(filter)) => list_with(filter, node.span),
            _ => None,
        };
        list.map_or_else(|| Self::At(nodes.iter().map(|node| node.span).collect()), Self::Items)
    }
}

/// The list within a filter of which an item stands there.
fn list_with(node: &Node, item: Span) -> Option<Span> {
    match &node.value {
        Value::Document(document) => document
            .fields
            .iter()
            .map(|field| &field.node)
            .filter(|node| node.span.contains(item))
            .find_map(|node| list_with(node, item)),
        Value::Array(array) if array.items.iter().any(|node| node.span == item) => Some(node.span),
        Value::Array(array) => {
            let within = array.items.iter().filter(|node| node.span.contains(item));
            within.into_iter().find_map(|node| list_with(node, item))
        }
        _ => None,
    }
}

impl Prototype {
    /// The record that `event` was read of; `None` if what shows its values does not stand in it by itself.
    pub fn of(event: &Event, record: &str, settings: &Settings) -> Option<Self> {
        let shown = |statement: &Statement| {
            let namespace = settings.namespace_map.apply(&statement.namespace);
            let mut shown = Vec::new();
            if let Some(key) = settings.catalog.get(namespace.as_str()).and_then(Collection::shard_key) {
                visit_key_values(statement, key, &mut |value| {
                    let one = Shown { field: value.field, seen: value.seen, place: Place::of(value.nodes, statement) };
                    let goes_on = |last: &Shown| matches!(last.place, Place::Items(_)) && last.place == one.place;
                    if !shown.last().is_some_and(goes_on) {
                        shown.push(one);
                    }
                });
            }
            shown
        };
        let prototype = Self { statements: event.statements.iter().map(shown).collect() };
        let is_read = |(statement, of): (usize, &Statement)| {
            let known = key_values_of(of, settings);
            let again = |at| prototype.value(record, statement, (at, known.len()), Some);
            let told = |value: &KeyValue| (value.field, value.seen, value.hash);
            known.iter().enumerate().all(|(at, value)| again(at).is_some_and(|again| told(&again) == told(value)))
        };
        event.statements.iter().enumerate().all(is_read).then_some(prototype)
    }

    /// A key value of another record, in which everything stands where `moved` says: that at a place among so many which the
    /// statement shows. `None` if it is not told by that.
    pub fn value(
        &self,
        record: &str,
        statement: usize,
        (at, of): (usize, usize),
        moved: impl Fn(Span) -> Option<Span>,
    ) -> Option<KeyValue> {
        let (Shown { field, seen, place }, item) = shown(self.statements.get(statement)?, at, of)?;
        let is_structured = record.starts_with('{');
        let text = |span: &Span| record.get(moved(*span)?.range());
        let read =
            |span| if is_structured { ext_json::parse(text(span)?, 0).ok() } else { legacy::whole_value(text(span)?) };
        let nodes: SmallVec<[Node; 2]> = match place {
            Place::At(spans) => spans.iter().map(read).collect::<Option<_>>()?,
            Place::Items(list) if is_structured => smallvec![ext_json::item(text(list)?, item)?],
            Place::Items(list) => smallvec![legacy::item(text(list)?, item)?],
        };
        let values: SmallVec<[&Value; 4]> = nodes.iter().map(|node| &node.value).collect();
        Some(KeyValue::of(*field, *seen, &values))
    }
}

/// What shows the value at a place among `of`; of a list, with the place of the item. Lists are of any length: if there are
/// several, it is not known how long each is.
fn shown(shown: &[Shown], mut at: usize, of: usize) -> Option<(&Shown, usize)> {
    let is_list = |shown: &&Shown| matches!(shown.place, Place::Items(_));
    let lists = shown.iter().filter(is_list).count();
    let of_list = (of + lists).checked_sub(shown.len()).filter(|_| lists < 2)?;
    for shown in shown {
        let values = if is_list(&shown) { of_list } else { 1 };
        if at < values {
            return Some((shown, at));
        }
        at -= values;
    }
    None
}
