//! Which chunks, and so which shards, hold a key or touch a range of keys.

use std::cmp::Ordering;
use std::collections::BTreeSet;

use crate::model::{Chunk, ChunkMap, Value, compare};

use super::flatten::KeyRanges;

/// The names of shards, sorted.
pub(super) type Shards<'a> = BTreeSet<&'a str>;

/// All shards that own a chunk.
pub(super) fn owners(map: &ChunkMap) -> Shards<'_> {
    map.chunks.iter().map(|chunk| chunk.shard.as_str()).collect()
}

/// The owner of the first chunk, which is asked when no chunk can match.
pub(super) fn first_owner(map: &ChunkMap) -> Shards<'_> {
    map.chunks.first().map(|chunk| chunk.shard.as_str()).into_iter().collect()
}

/// The owner of the one chunk that holds `key`.
pub(super) fn owner_of_key<'a>(map: &'a ChunkMap, key: &[Value]) -> Shards<'a> {
    let key: Vec<&Value> = key.iter().collect();
    let at = chunks_below(map, &key);
    match map.chunks.get(at) {
        Some(chunk) => [chunk.shard.as_str()].into(),
        // Above the last chunk there is only MaxKey itself.
        None => map.chunks.last().map(|chunk| chunk.shard.as_str()).into_iter().collect(),
    }
}

/// The owners of all chunks that the ranges touch, both ends included; the first owner if they touch none.
pub(super) fn owners_of_ranges<'a>(map: &'a ChunkMap, ranges: &KeyRanges) -> Shards<'a> {
    let mut shards = Shards::new();
    let mut next = 0;
    for index in 0..ranges.len() {
        let (low, high) = ranges.range(index);
        // Ranges are sorted, so no chunk before the last one touched has to be looked at again.
        let from = chunks_below(map, &low).max(next);
        let touched = map.chunks[from..].iter().take_while(|chunk| compare_keys(&chunk.min, &high).is_le()).count();
        shards.extend(map.chunks[from..from + touched].iter().map(|chunk| chunk.shard.as_str()));
        next = from + touched.saturating_sub(1);
    }
    if shards.is_empty() { first_owner(map) } else { shards }
}

/// How many chunks end at or before `key`.
fn chunks_below(map: &ChunkMap, key: &[&Value]) -> usize {
    map.chunks.partition_point(|chunk: &Chunk| compare_keys(&chunk.max, key).is_le())
}

fn compare_keys(bound: &[Value], key: &[&Value]) -> Ordering {
    let unequal = bound.iter().zip(key).map(|(bound, value)| compare(bound, value)).find(|order| order.is_ne());
    unequal.unwrap_or(Ordering::Equal)
}
