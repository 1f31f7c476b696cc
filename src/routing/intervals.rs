//! Sorted, disjoint intervals of BSON values: the bounds of one key field, and the algebra on them.

use std::cmp::Ordering;
use std::sync::Arc;

use crate::model::{Value, compare};

/// An interval of values in the canonical order, never empty.
#[derive(Debug, Clone)]
pub struct Interval {
    /// The lower end.
    pub low: Value,
    /// The upper end.
    pub high: Value,
    /// Whether `low` itself belongs to it.
    pub low_inclusive: bool,
    /// Whether `high` itself belongs to it.
    pub high_inclusive: bool,
}

/// The bounds of one key field: sorted, disjoint intervals. None at all matches nothing. Copies share them.
#[derive(Debug, Clone, Default)]
pub struct Intervals(Arc<Vec<Interval>>);

impl Interval {
    /// From `low` to `high`; `inclusive` says for each end whether it belongs to the interval.
    #[must_use]
    pub fn new(low: Value, high: Value, inclusive: (bool, bool)) -> Self {
        Self { low, high, low_inclusive: inclusive.0, high_inclusive: inclusive.1 }
    }

    /// One value.
    #[must_use]
    pub fn point(value: Value) -> Self {
        Self::new(value.clone(), value, (true, true))
    }

    /// Whether it is one value.
    #[must_use]
    pub fn is_point(&self) -> bool {
        compare(&self.low, &self.high).is_eq()
    }

    fn is_empty(&self) -> bool {
        match compare(&self.low, &self.high) {
            Ordering::Less => false,
            Ordering::Equal => !(self.low_inclusive && self.high_inclusive),
            Ordering::Greater => true,
        }
    }

    fn compare_low(&self, other: &Self) -> Ordering {
        compare(&self.low, &other.low).then_with(|| other.low_inclusive.cmp(&self.low_inclusive))
    }

    fn compare_high(&self, other: &Self) -> Ordering {
        compare(&self.high, &other.high).then_with(|| self.high_inclusive.cmp(&other.high_inclusive))
    }

    /// Whether every value of it is below every value of `other`.
    fn is_below(&self, other: &Self) -> bool {
        match compare(&self.high, &other.low) {
            Ordering::Less => true,
            Ordering::Equal => !(self.high_inclusive && other.low_inclusive),
            Ordering::Greater => false,
        }
    }

    /// Whether there is a value between it and `other`, which starts at or after it.
    fn leaves_gap_to(&self, other: &Self) -> bool {
        match compare(&self.high, &other.low) {
            Ordering::Less => true,
            Ordering::Equal => !self.high_inclusive && !other.low_inclusive,
            Ordering::Greater => false,
        }
    }

    fn common_with(&self, other: &Self) -> Self {
        let low = if self.compare_low(other).is_ge() { self } else { other };
        let high = if self.compare_high(other).is_le() { self } else { other };
        Self::new(low.low.clone(), high.high.clone(), (low.low_inclusive, high.high_inclusive))
    }
}

impl Intervals {
    /// Every value: MinKey to MaxKey.
    #[must_use]
    pub fn everything() -> Self {
        Self::one(Value::MinKey, Value::MaxKey, (true, true))
    }

    /// The given values and nothing else.
    #[must_use]
    pub fn points(values: impl IntoIterator<Item = Value>) -> Self {
        Self::union(values.into_iter().map(Interval::point))
    }

    /// One interval; nothing if that is empty.
    #[must_use]
    pub fn one(low: Value, high: Value, inclusive: (bool, bool)) -> Self {
        Self::union([Interval::new(low, high, inclusive)])
    }

    /// All values of all the intervals.
    #[must_use]
    pub fn union(intervals: impl IntoIterator<Item = Interval>) -> Self {
        let mut sorted: Vec<Interval> = intervals.into_iter().filter(|interval| !interval.is_empty()).collect();
        // Sorting takes room for half as many once more.
        if !sorted.is_sorted_by(|a, b| a.compare_low(b).is_le()) {
            sorted.sort_by(Interval::compare_low);
        }
        sorted.dedup_by(|next, last| {
            if last.leaves_gap_to(next) {
                return false;
            }
            if last.compare_high(next).is_lt() {
                last.high = std::mem::take(&mut next.high);
                last.high_inclusive = next.high_inclusive;
            }
            true
        });
        Self(Arc::new(sorted))
    }

    /// The values in both. Fast if one list is short, however long the other is.
    #[must_use]
    pub fn intersection(&self, other: &Self) -> Self {
        let (short, long) = if self.0.len() <= other.0.len() { (self, other) } else { (other, self) };
        let mut common = Vec::new();
        for interval in short.as_slice() {
            let from = long.0.partition_point(|candidate| candidate.is_below(interval));
            let touching = long.0[from..].iter().take_while(|candidate| !interval.is_below(candidate));
            common.extend(touching.map(|candidate| interval.common_with(candidate)));
        }
        Self(Arc::new(common))
    }

    /// The values in none of them.
    #[must_use]
    pub fn complement(&self) -> Self {
        let mut gaps = Vec::with_capacity(self.0.len() + 1);
        let mut low = (Value::MinKey, true);
        for interval in self.as_slice() {
            gaps.push(Interval::new(low.0, interval.low.clone(), (low.1, !interval.low_inclusive)));
            low = (interval.high.clone(), !interval.high_inclusive);
        }
        gaps.push(Interval::new(low.0, Value::MaxKey, (low.1, true)));
        gaps.retain(|gap| !gap.is_empty());
        Self(Arc::new(gaps))
    }

    /// The intervals, sorted.
    #[must_use]
    pub fn as_slice(&self) -> &[Interval] {
        &self.0
    }

    /// The intervals, for a union with others.
    #[must_use]
    pub fn into_intervals(self) -> Vec<Interval> {
        Arc::unwrap_or_clone(self.0)
    }

    /// Whether nothing matches.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Whether it is exactly one value.
    #[must_use]
    pub fn is_point(&self) -> bool {
        matches!(self.0.as_slice(), [only] if only.is_point())
    }

    /// Whether it is single values only.
    #[must_use]
    pub fn is_points(&self) -> bool {
        self.0.iter().all(Interval::is_point)
    }

    /// Whether it rules nothing out.
    #[must_use]
    pub fn is_everything(&self) -> bool {
        matches!(self.0.as_slice(), [only] if matches!((&only.low, &only.high), (Value::MinKey, Value::MaxKey)))
    }

    /// Whether it reaches from MinKey to MaxKey, whatever it leaves out between.
    #[must_use]
    pub fn spans_everything(&self) -> bool {
        matches!(
            (self.0.first(), self.0.last()),
            (Some(Interval { low: Value::MinKey, .. }), Some(Interval { high: Value::MaxKey, .. }))
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn range(low: i32, high: i32, inclusive: (bool, bool)) -> Interval {
        Interval::new(Value::Int32(low), Value::Int32(high), inclusive)
    }

    fn shown(intervals: &Intervals) -> String {
        let end = |value: &Value| match value {
            Value::Int32(n) => n.to_string(),
            Value::MinKey => "min".into(),
            Value::MaxKey => "max".into(),
            other => format!("{other:?}"),
        };
        let one = |interval: &Interval| {
            let open = if interval.low_inclusive { '[' } else { '(' };
            let close = if interval.high_inclusive { ']' } else { ')' };
            format!("{open}{},{}{close}", end(&interval.low), end(&interval.high))
        };
        intervals.as_slice().iter().map(one).collect::<Vec<_>>().join(" ")
    }

    #[test]
    fn a_union_merges_what_overlaps_or_touches_and_drops_what_is_empty() {
        let union = |list: &[Interval]| shown(&Intervals::union(list.iter().cloned()));
        assert_eq!(union(&[range(5, 9, (true, true)), range(1, 5, (true, false))]), "[1,9]");
        assert_eq!(union(&[range(5, 9, (false, true)), range(1, 5, (true, false))]), "[1,5) (5,9]");
        assert_eq!(union(&[range(5, 5, (true, false)), range(7, 6, (true, true))]), "");
        assert_eq!(union(&[range(1, 9, (false, false)), range(1, 2, (true, true))]), "[1,9)");
    }

    #[test]
    fn an_intersection_keeps_the_narrower_ends() {
        let left = Intervals::union([range(1, 5, (true, false)), range(7, 9, (true, true))]);
        let right = Intervals::union([range(5, 8, (true, true)), range(0, 1, (true, true))]);
        assert_eq!(shown(&left.intersection(&right)), "[1,1] [7,8]");
        assert_eq!(shown(&right.intersection(&left)), "[1,1] [7,8]");
    }

    #[test]
    fn a_complement_is_the_rest_of_the_whole() {
        let points = Intervals::points([Value::Int32(5), Value::Int32(1)]);
        assert_eq!(shown(&points.complement()), "[min,1) (1,5) (5,max]");
        assert_eq!(shown(&Intervals::default().complement()), "[min,max]");
        assert!(Intervals::everything().complement().is_empty());
    }
}
