//! From a filter to the part of the key space that the router asks: full-key equality first, bounds otherwise.
//! The data of the steps is kept, so that the reason of a verdict is what happened and not a second opinion.

use crate::model::{ChunkMap, KeyKind, ServerVersion, ShardKey, Value};
use crate::text::Span;

use super::bounds::{BoundsBuilder, Unusable};
use super::bracket::is_whole_brackets;
use super::choose::Chooser;
use super::chunks::{self, Shards};
use super::collation::{Collation, depends_on_collation};
use super::equality::{FullKey, full_key};
use super::flatten::{KeyRanges, MOST_RANGES};
use super::hash::hash_value;
use super::intervals::Intervals;
use super::predicate::Predicate;
use super::verdict::Class;
use super::versions;

/// The part of the key space that has to be asked.
#[derive(Debug, Clone)]
pub(super) enum Reach {
    /// One key.
    Key(Vec<Value>),
    /// No key can match.
    Nothing,
    /// Some ranges.
    Ranges(KeyRanges),
    /// Every key.
    Everything,
}

/// What the router makes of a filter.
#[derive(Debug)]
pub(super) struct Target {
    pub(super) reach: Reach,
    /// The filter gives the full key, and it is MaxKey in every field.
    pub(super) is_max_key: bool,
    /// The bounds of each key field; `None` if no assignment of predicates was usable.
    pub(super) bounds: Option<Vec<Intervals>>,
    /// Predicates on key fields that have no bounds.
    pub(super) rejected: Vec<(usize, Span, Unusable)>,
    /// An `$or` that fails because of one branch.
    pub(super) failed_or: Option<(Span, Span)>,
}

/// What targeting depends on besides the filter.
#[derive(Clone, Copy)]
pub(super) struct Targeting<'a> {
    pub(super) key: &'a ShardKey,
    pub(super) collation: Collation<'a>,
    pub(super) version: ServerVersion,
    /// findAndModify takes a full key with a hashed field under any collation.
    pub(super) hashed_under_collation: bool,
}

impl Targeting<'_> {
    /// The part of the key space that a normalised filter selects.
    pub(super) fn target(self, predicate: &Predicate) -> Target {
        let full = full_key(predicate, self.key);
        // A hash is never MaxKey.
        let is_max_key = !self.key.is_hashed()
            && full.as_ref().is_some_and(|key| key.iter().all(|(value, _)| matches!(value, Value::MaxKey)));
        let is_usable = |key: &FullKey<'_>| {
            self.collation_allows(key.iter().map(|(value, _)| *value))
                && (!is_max_key || versions::max_key_is_in_last_chunk(self.version))
        };
        if let Some(key) = full.filter(is_usable) {
            let reach = Reach::Key(self.stored_key(key.iter().map(|(value, _)| *value)));
            return Target { reach, is_max_key, bounds: None, rejected: Vec::new(), failed_or: None };
        }
        let builder = BoundsBuilder { collated: !self.collation.is_simple(), version: self.version };
        let mut chooser = Chooser::new(self.key, builder);
        let bounds = chooser.choose(predicate);
        let bounds: Option<Vec<Intervals>> =
            bounds.map(|fields| fields.into_iter().map(|field| field.unwrap_or_else(Intervals::everything)).collect());
        let reach = bounds.as_deref().map_or(Reach::Everything, reach_of_bounds);
        let Chooser { rejected, failed_or, .. } = chooser;
        Target { reach, is_max_key, bounds, rejected, failed_or }
    }

    /// A full key is refused under a collation if the collation could matter to it.
    pub(super) fn collation_allows<'v>(self, mut key: impl Iterator<Item = &'v Value>) -> bool {
        self.collation.is_simple()
            || (!key.any(depends_on_collation) && (self.hashed_under_collation || !self.key.is_hashed()))
    }

    /// The key as chunks know it: hashed fields by their hash.
    pub(super) fn stored_key<'v>(self, values: impl Iterator<Item = &'v Value>) -> Vec<Value> {
        let stored = |(value, kind): (&Value, KeyKind)| match kind {
            KeyKind::Ranged => value.clone(),
            KeyKind::Hashed => Value::Int64(hash_value(value)),
        };
        values.zip(self.key.fields.iter().map(|field| field.kind)).map(stored).collect()
    }
}

fn reach_of_bounds(fields: &[Intervals]) -> Reach {
    match KeyRanges::flatten(fields) {
        None => Reach::Nothing,
        Some(ranges) if ranges.is_everything() => Reach::Everything,
        Some(ranges) => Reach::Ranges(ranges),
    }
}

impl Target {
    /// The class, which no chunk map can change.
    pub(super) fn class(&self) -> Class {
        match &self.reach {
            Reach::Key(_) | Reach::Nothing => Class::Targeted,
            Reach::Everything => Class::Broadcast,
            Reach::Ranges(ranges) if ranges.single_key().is_some() => Class::Targeted,
            Reach::Ranges(_) if self.first_is_nearly_free() => Class::Broadcast,
            Reach::Ranges(_) => Class::MultiShard,
        }
    }

    /// Whether the bounds of the first key field rule out next to nothing.
    pub(super) fn first_is_nearly_free(&self) -> bool {
        self.bounds.as_ref().is_some_and(|fields| is_nearly_free(&fields[0]))
    }

    /// The shards that are asked.
    pub(super) fn shards<'m>(&self, map: &'m ChunkMap) -> Shards<'m> {
        match &self.reach {
            Reach::Key(key) => chunks::owner_of_key(map, key),
            Reach::Nothing => chunks::first_owner(map),
            Reach::Ranges(ranges) => chunks::owners_of_ranges(map, ranges),
            Reach::Everything => chunks::owners(map),
        }
    }

    /// At most this many shards, if the ranges bound it.
    pub(super) fn at_most(&self) -> Option<usize> {
        match &self.reach {
            Reach::Key(_) | Reach::Nothing => Some(1),
            Reach::Ranges(ranges) => ranges.are_points().then(|| ranges.len()),
            Reach::Everything => None,
        }
    }

    /// Whether the server refuses to make so many ranges.
    pub(super) fn has_too_many_ranges(&self) -> bool {
        matches!(&self.reach, Reach::Ranges(ranges) if ranges.len() > MOST_RANGES)
    }
}

/// Whether intervals cover everything but points, or whole type brackets.
pub(super) fn is_nearly_free(intervals: &Intervals) -> bool {
    intervals.spans_everything() || intervals.as_slice().iter().any(is_whole_brackets)
}
