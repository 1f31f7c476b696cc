//! How the operations of a shape found their documents: the plans that servers sum up in their records, with the number of
//! records of each. Mergeable in any order, and bounded: of many plans those are kept that come first in the order of their
//! texts, each with an exact count.

use std::sync::Arc;

/// So many plans of a shape are kept.
const MOST: usize = 8;

/// The plans of a shape.
#[derive(Debug, Clone, Default)]
pub struct Plans {
    /// By their texts: most shapes have one.
    counts: Vec<(Arc<str>, u64)>,
}

impl Plans {
    /// Counts so many records with that `planSummary`.
    pub fn add(&mut self, plan: &Arc<str>, records: u64) {
        match self.counts.iter_mut().find(|(known, _)| known == plan) {
            Some((_, count)) => *count += records,
            None => self.insert(Arc::clone(plan), records),
        }
    }

    /// Adds what was counted elsewhere.
    pub fn merge(&mut self, later: Self) {
        for (plan, count) in later.counts {
            match self.counts.iter_mut().find(|(known, _)| *known == plan) {
                Some((_, mine)) => *mine += count,
                None => self.insert(plan, count),
            }
        }
    }

    /// Whoever is among the first of all is among the first of every part, so what is kept is counted in full.
    fn insert(&mut self, plan: Arc<str>, count: u64) {
        let place = self.counts.partition_point(|(known, _)| *known < plan);
        self.counts.reserve_exact(1);
        self.counts.insert(place, (plan, count));
        self.counts.truncate(MOST);
    }

    /// The plans, the most frequent first.
    #[must_use]
    pub fn by_frequency(&self) -> Vec<(String, u64)> {
        let mut all: Vec<(String, u64)> = self.counts.iter().map(|(plan, count)| (plan.to_string(), *count)).collect();
        all.sort_by_key(|(_, count)| std::cmp::Reverse(*count));
        all
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn of_many_plans_the_same_are_kept_wherever_the_input_is_cut_and_their_counts_are_exact() {
        let plans: Vec<Arc<str>> = (0..60).map(|n| Arc::from(format!("IXSCAN {{ f{}: 1 }}", n * 7 % 20))).collect();
        let count = |cut: usize| {
            let mut parts = [Plans::default(), Plans::default()];
            plans.iter().enumerate().for_each(|(at, plan)| parts[usize::from(at >= cut)].add(plan, 1));
            let [mut first, second] = parts;
            first.merge(second);
            first.by_frequency()
        };
        let whole = count(0);
        assert_eq!((whole.len(), whole.iter().all(|(_, count)| *count == 3)), (MOST, true));
        assert!([1, 17, 33, 59].into_iter().all(|cut| count(cut) == whole));
    }
}
