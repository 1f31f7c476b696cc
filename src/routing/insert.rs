//! Inserts: each document goes to the one shard that its key belongs to.

use std::collections::BTreeSet;

use crate::model::{Document, Node, Value};

use super::chunks::owner_of_key;
use super::document_key::document_key;
use super::question::Question;
use super::reading::{Gap, Reading, first_value_gap};
use super::verdict::{Cause, Class, FieldBinding, FieldBounds, Reason, RouterError, Verdict};
use super::versions;

/// The error of a document or filter without a usable key.
pub(super) const SHARD_KEY_NOT_FOUND: RouterError = RouterError { code: 61, name: "ShardKeyNotFound" };

/// Where one document goes.
enum Place {
    Key(Vec<Value>),
    /// The server makes up the `_id`, which is part of the key.
    MadeUp,
    /// The record does not hold the value.
    Hidden,
    Refused,
}

/// The verdict on an insert.
pub(super) fn route_insert(question: Question<'_>) -> Verdict {
    let statement = question.statement;
    let places: Vec<Place> = statement.documents.iter().map(|document| place(question, document)).collect();
    let mut verdict = targeted(question);
    if places.iter().any(|place| matches!(place, Place::Refused)) {
        verdict.error = Some(SHARD_KEY_NOT_FOUND);
        verdict.shards = Some(Vec::new());
        return verdict;
    }
    if places.iter().any(|place| matches!(place, Place::MadeUp)) {
        verdict.class = Class::Unknown;
        verdict.reason.cause = Cause::GeneratedId;
        return verdict;
    }
    let is_complete = statement.document_count.is_none_or(|count| count == places.len() as u64) && !places.is_empty();
    verdict.shards = question.chunks().filter(|_| is_complete).and_then(|map| {
        let owner = |place: &Place| match place {
            Place::Key(key) => Some(owner_of_key(map, key)),
            _ => None,
        };
        let owners: Option<Vec<_>> = places.iter().map(owner).collect();
        Some(Question::names(&owners?.into_iter().flatten().collect::<BTreeSet<_>>()))
    });
    verdict
}

fn targeted(question: Question<'_>) -> Verdict {
    let bindings = question.key.fields.iter().map(|field| FieldBinding {
        path: field.path.clone(),
        bounds: FieldBounds::Points(1),
        intervals: Vec::new(),
        predicates: Vec::new(),
    });
    let at_most = question.statement.document_count.or(Some(question.statement.documents.len() as u64));
    Verdict {
        class: Class::Targeted,
        shards: None,
        at_most: at_most.filter(|&count| count > 0).and_then(|count| usize::try_from(count).ok()),
        error: None,
        two_phase: false,
        reason: Reason {
            cause: Cause::Insert,
            bindings: bindings.collect(),
            version_rules: Vec::new(),
            ranges: Vec::new(),
        },
    }
}

fn place(question: Question<'_>, document: &Node) -> Place {
    let Some(members) = document.as_document() else { return Place::Hidden };
    let Ok(values) = document_key(members, question.key) else { return Place::Refused };
    if is_missing_in_record(members, &values) {
        return Place::Hidden;
    }
    let is_made_up = |(path, value): (&str, &Option<&Value>)| path == "_id" && value.is_none();
    let paths = question.key.fields.iter().map(|field| field.path.as_str());
    if paths.zip(&values).any(is_made_up) {
        return Place::MadeUp;
    }
    match complete(question, &values) {
        Some(key) => Place::Key(key),
        None => Place::Refused,
    }
}

/// Whether a key value is hidden, or may have been cut off.
fn is_missing_in_record(document: &Document, values: &[Option<&Value>]) -> bool {
    let is_cut = || matches!(first_value_gap(&Value::Document(document.clone())), Some(Gap::Lost));
    values.iter().any(|value| value.map_or_else(is_cut, |value| first_value_gap(value).is_some()))
}

/// The key with null for what is missing, hashed where hashed; `None` if the server refuses it.
pub(super) fn complete(question: Question<'_>, values: &[Option<&Value>]) -> Option<Vec<Value>> {
    if values.iter().any(Option::is_none) && !versions::missing_is_null(question.version) {
        return None;
    }
    let values = values.iter().map(|value| value.unwrap_or(&Value::Null));
    let key = question.targeting(Reading::Narrow).stored_key(values);
    let is_max = key.iter().all(|value| matches!(value, Value::MaxKey));
    (!is_max || versions::max_key_is_in_last_chunk(question.version)).then_some(key)
}
