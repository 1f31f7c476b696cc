//! Which unique indexes a sharded collection may have. Each shard enforces uniqueness alone, so the key has to lead the
//! index; pure functions over declarations, the words are the rules'.

use crate::model::{Document, IndexSpec, ShardKey};
use crate::text::{Located, SourceId, Span};

use super::collection::Collection;
use super::index_support::starts_with_key;

/// Why a key that is declared unique is refused.
#[derive(Debug, Clone)]
pub enum RefusedUniqueKey<'a> {
    /// The index on exactly the key is there and is not unique.
    ExactIndexNotUnique(SourceId, &'a IndexSpec),
    /// Only longer indexes start with the key, and the list of indexes is complete.
    OnlyLongerIndexes(SourceId, &'a IndexSpec),
}

impl IndexSpec {
    /// Where the index is declared unique; `prepareUnique` is judged like `unique`.
    #[must_use]
    pub fn uniqueness(&self) -> Option<Span> {
        self.unique.or(self.prepare_unique)
    }

    /// The first part of the pattern that is hashed.
    #[must_use]
    pub fn hashed_part(&self) -> Option<Span> {
        self.key.fields.iter().find(|field| field.node.as_str() == Some("hashed")).map(|field| field.node.span)
    }
}

impl Collection {
    /// Where the key was declared unique, if it was.
    #[must_use]
    pub fn unique_key_span(&self) -> Option<Span> {
        self.unique_key.as_ref().filter(|Located { value, .. }| *value).map(|unique| unique.span)
    }

    /// Why `shardCollection` with `unique: true` is refused, as far as the declared indexes tell.
    #[must_use]
    pub fn refused_unique_key<'a>(&'a self, key: &'a ShardKey) -> Option<RefusedUniqueKey<'a>> {
        self.unique_key_span()?;
        if let Some((source, exact)) = self.indexes.exact(key).next() {
            let enforced = exact.unique.is_some() || key.first().path == "_id";
            return (!enforced).then_some(RefusedUniqueKey::ExactIndexNotUnique(*source, exact));
        }
        let implied = key.fields.len() == 1 && key.first().path == "_id";
        if !self.indexes.complete || implied {
            return None;
        }
        let longer = self.indexes.specs.iter().find(|(_, index)| starts_with_key(&index.key, key));
        longer.map(|(source, index)| RefusedUniqueKey::OnlyLongerIndexes(*source, index))
    }
}

/// Whether a unique index with this pattern is legal beside the key: led by `_id`, or by the key's field names in order.
/// Directions and kinds do not matter.
#[must_use]
pub fn keeps_uniqueness(pattern: &Document, key: &ShardKey) -> bool {
    is_led_by_id(pattern)
        || (pattern.fields.len() >= key.fields.len()
            && key.fields.iter().zip(&pattern.fields).all(|(field, part)| field.path == part.name))
}

/// Whether the pattern begins with `_id`.
#[must_use]
pub fn is_led_by_id(pattern: &Document) -> bool {
    pattern.first().is_some_and(|field| field.name == "_id")
}
