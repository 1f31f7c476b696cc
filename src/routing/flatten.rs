//! From the bounds of each key field to ranges over the whole key.
//!
//! Only the first field that is not a single point multiplies. So the ranges need not be spelled out: a common beginning, one
//! interval each, and common ends describe all of them.

use crate::model::Value;

use super::intervals::Intervals;

/// The server refuses to generate more ranges than this (code 17439).
pub(super) const MOST_RANGES: usize = 4_000_000;

/// Ranges over the whole key, sorted.
#[derive(Debug, Clone)]
pub(super) struct KeyRanges {
    /// The single points that every range begins with.
    prefix: Vec<Value>,
    /// One range for each; none if the prefix is the whole key.
    pivot: Intervals,
    /// The lowest starts of the fields behind.
    low_tail: Vec<Value>,
    /// The highest ends of the fields behind.
    high_tail: Vec<Value>,
}

impl KeyRanges {
    /// The ranges that the bounds of the key fields select; `None` if a field matches nothing.
    pub(super) fn flatten(fields: &[Intervals]) -> Option<Self> {
        let ends = |field: &Intervals| {
            let intervals = field.as_slice();
            Some((intervals.first()?.low.clone(), intervals.last()?.high.clone()))
        };
        let points = fields.iter().take_while(|field| field.is_point()).count();
        let (prefix, rest) = fields.split_at(points);
        let prefix = prefix.iter().flat_map(Intervals::as_slice).map(|point| point.low.clone()).collect();
        let Some((pivot, behind)) = rest.split_first() else {
            return Some(Self { prefix, pivot: Intervals::default(), low_tail: Vec::new(), high_tail: Vec::new() });
        };
        let (low_tail, high_tail) = behind.iter().map(ends).collect::<Option<Vec<_>>>()?.into_iter().unzip();
        (!pivot.is_empty()).then(|| Self { prefix, pivot: pivot.clone(), low_tail, high_tail })
    }

    /// How many ranges there are.
    pub(super) fn len(&self) -> usize {
        self.pivot.as_slice().len().max(1)
    }

    /// The key, if there is one range and it is one point.
    pub(super) fn single_key(&self) -> Option<Vec<Value>> {
        (self.len() == 1 && self.are_points()).then(|| self.range(0).0.into_iter().cloned().collect())
    }

    /// Whether every range is one point.
    pub(super) fn are_points(&self) -> bool {
        let tail = self.low_tail.iter().zip(&self.high_tail);
        self.pivot.is_points() && tail.into_iter().all(|(low, high)| crate::model::compare(low, high).is_eq())
    }

    /// Whether it is the one range of all keys.
    pub(super) fn is_everything(&self) -> bool {
        let all = |values: Vec<&Value>, min: bool| {
            values.iter().all(|value| matches!((value, min), (Value::MinKey, true) | (Value::MaxKey, false)))
        };
        self.len() == 1 && {
            let (low, high) = self.range(0);
            all(low, true) && all(high, false)
        }
    }

    /// Both ends of the range at `index`, both of them inclusive.
    pub(super) fn range(&self, index: usize) -> (Vec<&Value>, Vec<&Value>) {
        let pivot = self.pivot.as_slice().get(index);
        (
            self.prefix.iter().chain(pivot.map(|interval| &interval.low)).chain(&self.low_tail).collect(),
            self.prefix.iter().chain(pivot.map(|interval| &interval.high)).chain(&self.high_tail).collect(),
        )
    }
}
