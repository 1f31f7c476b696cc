//! How long the records of a shape took, for percentiles. Durations are counted in buckets: below 256 ms one for each
//! millisecond, beyond 128 between each power of two and the next. Few are in use for any shape, and merging adds counts, so
//! neither the order nor the cut of the input shows.

use rustc_hash::FxHashMap;

/// Durations from here on share buckets.
const EXACT: u64 = 256;

/// Counted durations.
#[derive(Debug, Clone, Default)]
pub struct Durations {
    buckets: Buckets,
}

/// The counts that are not 0, by bucket. Frequent shapes have pages, in which neighbours stand side by side: what is counted
/// often should lie in little memory.
#[derive(Debug, Clone)]
enum Buckets {
    Few(FxHashMap<u16, u64>),
    Many(Vec<Option<Box<[u64; PAGE]>>>),
}

/// So many buckets make a page, and beyond so many in use there are pages.
const PAGE: usize = 64;
const FEW: usize = 128;

impl Default for Buckets {
    fn default() -> Self {
        Self::Few(FxHashMap::default())
    }
}

impl Buckets {
    fn add(&mut self, bucket: u16, count: u64) {
        match self {
            Self::Few(counts) => {
                *counts.entry(bucket).or_default() += count;
                if counts.len() > FEW {
                    let counts = std::mem::take(counts);
                    *self = Self::Many(Vec::new());
                    counts.into_iter().for_each(|(bucket, count)| self.add(bucket, count));
                }
            }
            Self::Many(pages) => {
                let (page, at) = (usize::from(bucket) / PAGE, usize::from(bucket) % PAGE);
                if pages.len() <= page {
                    pages.resize(page + 1, None);
                }
                pages[page].get_or_insert_with(|| Box::new([0; PAGE]))[at] += count;
            }
        }
    }

    /// In the order of the buckets.
    fn counts(&self) -> Vec<(u16, u64)> {
        let mut counts: Vec<(u16, u64)> = match self {
            Self::Few(counts) => counts.iter().map(|(bucket, count)| (*bucket, *count)).collect(),
            Self::Many(pages) => {
                let numbered = (0..).step_by(PAGE).zip(pages).filter_map(|(first, page)| Some((first, page.as_ref()?)));
                let counts = numbered.flat_map(|(first, page)| (first..).zip(page.iter().copied()));
                counts.filter(|(_, count)| *count > 0).collect()
            }
        };
        counts.sort_unstable();
        counts
    }
}

impl Durations {
    /// Counts one duration in milliseconds.
    pub fn add(&mut self, millis: u64) {
        self.buckets.add(bucket(millis), 1);
    }

    /// Adds what was counted elsewhere.
    pub fn merge(&mut self, other: Self) {
        for (bucket, count) in other.buckets.counts() {
            self.buckets.add(bucket, count);
        }
    }

    /// The duration in milliseconds that so many percent do not exceed: never too little, and too much by less than 0.8 %; 0
    /// if nothing was counted.
    #[must_use]
    pub fn percentile(&self, percent: u64) -> u64 {
        let buckets = self.buckets.counts();
        let total: u64 = buckets.iter().map(|(_, count)| count).sum();
        let rank = (u128::from(total) * u128::from(percent)).div_ceil(100);
        let mut below = 0;
        for (bucket, count) in buckets {
            below += u128::from(count);
            if below >= rank {
                return longest(bucket);
            }
        }
        0
    }
}

/// The bucket of a duration: by how much it is shifted to have eight bits, and those bits.
fn bucket(millis: u64) -> u16 {
    let shift = shift(millis);
    let lead = u16::try_from(millis >> shift).expect("it was shifted to eight bits");
    (u16::try_from(shift).expect("a u64 has 64 bits") << 8) + lead
}

fn shift(millis: u64) -> u32 {
    if millis < EXACT { 0 } else { millis.ilog2() - 7 }
}

/// The longest duration of a bucket.
fn longest(bucket: u16) -> u64 {
    let (shift, lead) = (u32::from(bucket >> 8), u64::from(bucket & 0xff));
    (lead << shift) | ((1 << shift) - 1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn short_durations_are_exact_and_long_ones_are_off_by_less_than_one_in_128() {
        for millis in (0..2000).chain([4095, 4096, 86_400_000, u64::MAX / 3, u64::MAX]) {
            let told = longest(bucket(millis));
            assert!(told >= millis && told - millis <= millis / 128, "{millis} is told as {told}");
            assert!(millis >= EXACT || told == millis);
            assert!(bucket(millis) <= bucket(millis.saturating_add(1)), "buckets are in order");
        }
    }

    #[test]
    fn percentiles_are_those_of_the_sorted_list_however_it_is_cut() {
        let count = |range: std::ops::RangeInclusive<u64>| {
            let mut durations = Durations::default();
            range.for_each(|millis| durations.add(millis));
            durations
        };
        let told = |durations: &Durations| [50, 95, 99, 100].map(|percent| durations.percentile(percent));
        let mut parts = count(101..=200);
        parts.merge(count(1..=100));
        assert_eq!(told(&parts), [100, 190, 198, 200]);
        let mut many = count(1..=5000);
        many.merge(count(5001..=10_000));
        let whole = count(1..=10_000);
        assert!(matches!(whole.buckets, Buckets::Many(_)));
        assert_eq!((told(&many), many.buckets.counts()), (told(&whole), whole.buckets.counts()));
        assert_eq!(told(&whole), [5023, 9535, 9919, 10_047]);
        assert_eq!(told(&count(7..=7)), [7; 4]);
        assert_eq!(told(&Durations::default()), [0; 4]);
    }
}
