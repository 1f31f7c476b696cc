//! Chunks as dumped to the [`ChunkMap`] of a collection: the bounds by the fields of the key, sorted, without a gap and
//! without an overlap from MinKey to MaxKey. A map with a hole would make up shards, so there is none then.

use std::cmp::Ordering;

use crate::model::{Chunk, ChunkMap, KeyField, KeyKind, Node, ShardKey, Value, compare};
use crate::syntax::dump::DumpedChunk;
use crate::text::{SourceId, Span};

use super::builder::Conflict;

/// Why chunks make no map.
struct Refused {
    source: SourceId,
    span: Span,
    why: String,
}

/// A chunk and where it was read.
struct Placed {
    chunk: Chunk,
    source: SourceId,
    span: Span,
}

/// The map that chunks of `name`, which is sharded by `key`, make.
///
/// # Errors
/// Why they make none, and where that shows.
pub(super) fn chunk_map(name: &str, key: &ShardKey, chunks: &[(SourceId, DumpedChunk)]) -> Result<ChunkMap, Conflict> {
    map(key, chunks).map_err(|Refused { source, span, why }| Conflict {
        source,
        span,
        message: format!("{why}; the chunks of `{name}` are left aside"),
    })
}

fn map(key: &ShardKey, chunks: &[(SourceId, DumpedChunk)]) -> Result<ChunkMap, Refused> {
    let mut placed = chunks.iter().map(|(source, chunk)| place(key, *source, chunk)).collect::<Result<Vec<_>, _>>()?;
    placed.sort_by(|a, b| {
        let by_bounds = compare_keys(&a.chunk.min, &b.chunk.min).then(compare_keys(&a.chunk.max, &b.chunk.max));
        by_bounds.then_with(|| a.chunk.shard.cmp(&b.chunk.shard))
    });
    placed.dedup_by(|b, a| same_range(a, b) && a.chunk.shard == b.chunk.shard);
    covers_everything(&placed)?;
    placed.windows(2).try_for_each(|pair| follows(&pair[0], &pair[1]))?;
    Ok(ChunkMap { chunks: placed.into_iter().map(|placed| placed.chunk).collect() })
}

fn place(key: &ShardKey, source: SourceId, dumped: &DumpedChunk) -> Result<Placed, Refused> {
    let bound = |node: &Node| bound(key, node).map_err(|(span, why)| Refused { source, span, why });
    let chunk = Chunk { min: bound(&dumped.min)?, max: bound(&dumped.max)?, shard: dumped.shard.clone() };
    if compare_keys(&chunk.min, &chunk.max).is_ge() {
        let why = "a chunk ends where it begins, or before".to_owned();
        return Err(Refused { source, span: dumped.max.span, why });
    }
    Ok(Placed { chunk, source, span: dumped.span })
}

/// The values of a bound in the order of the key. Names are literal: a dot in them leads nowhere.
fn bound(key: &ShardKey, node: &Node) -> Result<Vec<Value>, (Span, String)> {
    let document = node.as_document();
    let fields = document.map(|document| document.fields.as_slice()).unwrap_or_default();
    if fields.len() != key.fields.len() {
        return Err((node.span, format!("a bound has a value for each field of the key `{key}`")));
    }
    let value = |field: &KeyField| match document.and_then(|document| document.get(&field.path)) {
        Some(node) => stored(node, field),
        None => Err((node.span, format!("a bound has no `{}`, a field of the key `{key}`", field.path))),
    };
    key.fields.iter().map(value).collect()
}

/// Hashes are 64-bit integers, however a tool has written them.
pub(super) fn stored(node: &Node, field: &KeyField) -> Result<Value, (Span, String)> {
    const EXACT: i64 = 1 << 53;
    match (field.kind, &node.value) {
        (KeyKind::Ranged, value) | (KeyKind::Hashed, value @ (Value::Int64(_) | Value::MinKey | Value::MaxKey)) => {
            Ok(value.clone())
        }
        (KeyKind::Hashed, _) => match node.as_i64().filter(|hash| hash.abs() <= EXACT) {
            Some(hash) => Ok(Value::Int64(hash)),
            None => Err((node.span, format!("a bound of the hashed field `{}` is a 64-bit integer", field.path))),
        },
    }
}

fn covers_everything(chunks: &[Placed]) -> Result<(), Refused> {
    let (Some(first), Some(last)) = (chunks.first(), chunks.last()) else { return Ok(()) };
    let refused = |at: &Placed, why: &str| Err(Refused { source: at.source, span: at.span, why: why.to_owned() });
    if !first.chunk.min.iter().all(|value| matches!(value, Value::MinKey)) {
        return refused(first, "the chunks before this one are missing: the first begins at MinKey");
    }
    if !last.chunk.max.iter().all(|value| matches!(value, Value::MaxKey)) {
        return refused(last, "the chunks behind this one are missing: the last ends at MaxKey");
    }
    Ok(())
}

fn follows(before: &Placed, chunk: &Placed) -> Result<(), Refused> {
    let why = match compare_keys(&before.chunk.max, &chunk.chunk.min) {
        Ordering::Equal => return Ok(()),
        Ordering::Less => "there is a gap between this chunk and the one below it".to_owned(),
        Ordering::Greater if same_range(before, chunk) => {
            format!("this chunk lies on `{}` and on `{}`", before.chunk.shard, chunk.chunk.shard)
        }
        Ordering::Greater => "this chunk overlaps the one below it".to_owned(),
    };
    // Of two chunks that contradict each other, the one declared later is at fault.
    let later = if (before.source, before.span) > (chunk.source, chunk.span) { before } else { chunk };
    let at = if why.starts_with("there is a gap") { chunk } else { later };
    Err(Refused { source: at.source, span: at.span, why })
}

fn same_range(a: &Placed, b: &Placed) -> bool {
    compare_keys(&a.chunk.min, &b.chunk.min).is_eq() && compare_keys(&a.chunk.max, &b.chunk.max).is_eq()
}

pub(super) fn compare_keys(a: &[Value], b: &[Value]) -> Ordering {
    let unequal = a.iter().zip(b).map(|(a, b)| compare(a, b)).find(|order| order.is_ne());
    unequal.unwrap_or(Ordering::Equal)
}
