//! What the findings on declared keys and indexes share: where they are marked, and how they are named in a baseline.

use crate::catalog::Collection;
use crate::text::{SourceId, Span};

use super::finding::{Finding, Label};

/// A label that stands in `source`, within a finding whose primary mark stands in `home`.
pub(super) fn label_in(source: SourceId, home: SourceId, span: Span, text: impl Into<String>) -> Label {
    Label { source: (source != home).then_some(source), ..Label::new(span, text) }
}

/// A finding on one thing (`key`, an index name) of a declared collection.
pub(super) fn finding(
    collection: &Collection,
    thing: &str,
    home: SourceId,
    message: String,
    labels: Vec<Label>,
) -> Finding {
    Finding {
        severity: None,
        message,
        help: None,
        labels,
        subject: Some((collection.pattern.clone(), thing.to_owned())),
        source: Some(home),
    }
}

/// Which shards a finding on a part of them is about: ` on the shards of zone `EU``; nothing if the collection has no zones.
pub(super) fn among(collection: &Collection, zones: &[&str]) -> String {
    match zones {
        _ if collection.zones.is_empty() => String::new(),
        [] => " on the shards outside of its zones".to_owned(),
        [zone] => format!(" on the shards of zone `{zone}`"),
        zones => format!(" on the shards of zones `{}`", zones.join("`, `")),
    }
}

/// The statement that makes an index: `db.getSiblingDB("shop").orders.createIndex({ customerId: 1 })`.
pub(super) fn create_index(namespace: &str, key: &dyn std::fmt::Display) -> String {
    let Some((database, collection)) = namespace.split_once('.') else {
        return format!("db.getCollection(\"{namespace}\").createIndex({key})");
    };
    let is_name = |c: char| c.is_ascii_alphanumeric() || c == '_';
    if collection.chars().all(is_name) && collection.starts_with(|c: char| !c.is_ascii_digit()) {
        format!("db.getSiblingDB(\"{database}\").{collection}.createIndex({key})")
    } else {
        format!("db.getSiblingDB(\"{database}\").getCollection(\"{collection}\").createIndex({key})")
    }
}

/// Whether anything is known about the indexes of a collection.
#[must_use]
pub fn knows_indexes(collection: &Collection) -> bool {
    collection.indexes.complete || !collection.indexes.specs.is_empty()
}
