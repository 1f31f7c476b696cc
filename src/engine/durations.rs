//! How long the records of a shape took, for percentiles. Durations are counted in buckets: below 256 ms one for each
//! millisecond, beyond 128 between each power of two and the next. Few are in use for any shape, and merging adds counts, so
//! neither the order nor the cut of the input shows.

use rustc_hash::FxHashMap;

/// Durations from here on share buckets.
const EXACT: u64 = 256;

/// Counted durations.
#[derive(Debug, Clone, Default)]
pub struct Durations {
    buckets: FxHashMap<Bucket, u64>,
}

/// Durations that are not told apart.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Bucket(u16);

impl Durations {
    /// Counts one duration.
    pub fn add(&mut self, bucket: Bucket) {
        match self.buckets.get_mut(&bucket) {
            Some(count) => *count += 1,
            None => drop(self.buckets.insert(bucket, 1)),
        }
    }

    /// Adds what was counted elsewhere.
    pub fn merge(&mut self, other: Self) {
        for (bucket, count) in other.buckets {
            *self.buckets.entry(bucket).or_default() += count;
        }
    }

    /// The duration in milliseconds that so many percent do not exceed: never too little, and too much by less than 0.8 %; 0
    /// if nothing was counted.
    #[must_use]
    pub fn percentile(&self, percent: u64) -> u64 {
        let total: u64 = self.buckets.values().sum();
        let rank = (u128::from(total) * u128::from(percent)).div_ceil(100);
        let mut buckets: Vec<(Bucket, u64)> = self.buckets.iter().map(|(bucket, count)| (*bucket, *count)).collect();
        buckets.sort_unstable();
        let mut below = 0;
        for (bucket, count) in buckets {
            below += u128::from(count);
            if below >= rank {
                return bucket.longest();
            }
        }
        0
    }
}

impl Bucket {
    /// That of a duration in milliseconds: by how much it is shifted to have eight bits, and those bits.
    #[must_use]
    pub fn of(millis: u64) -> Self {
        let shift = if millis < EXACT { 0 } else { millis.ilog2() - 7 };
        let lead = u16::try_from(millis >> shift).expect("it was shifted to eight bits");
        Self((u16::try_from(shift).expect("a u64 has 64 bits") << 8) + lead)
    }

    /// The longest duration in it.
    fn longest(self) -> u64 {
        let (shift, lead) = (u32::from(self.0 >> 8), u64::from(self.0 & 0xff));
        (lead << shift) | ((1 << shift) - 1)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn short_durations_are_exact_and_long_ones_are_off_by_less_than_one_in_128() {
        for millis in (0..2000).chain([4095, 4096, 86_400_000, u64::MAX / 3, u64::MAX]) {
            let told = Bucket::of(millis).longest();
            assert!(told >= millis && told - millis <= millis / 128, "{millis} is told as {told}");
            assert!(millis >= EXACT || told == millis);
            assert!(Bucket::of(millis) <= Bucket::of(millis.saturating_add(1)), "buckets are in order");
        }
    }

    #[test]
    fn percentiles_are_those_of_the_sorted_list_however_it_is_cut() {
        let count = |range: std::ops::RangeInclusive<u64>| {
            let mut durations = Durations::default();
            range.for_each(|millis| durations.add(Bucket::of(millis)));
            durations
        };
        let told = |durations: &Durations| [50, 95, 99, 100].map(|percent| durations.percentile(percent));
        let mut parts = count(101..=200);
        parts.merge(count(1..=100));
        assert_eq!(told(&parts), [100, 190, 198, 200]);
        assert_eq!(told(&count(7..=7)), [7; 4]);
        assert_eq!(told(&Durations::default()), [0; 4]);
    }
}
