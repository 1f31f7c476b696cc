//! SL602: a collection whose bytes, documents or chunks lie unevenly on its shards.

use super::declared_index::{among, finding, label_in};
use super::finding::{Finding, Severity};
use super::rule::{Check, DeclarationContext, Evidence, Rule, Status};
use super::totals::percent;
use crate::model::{ChunkMap, ShardPart};
/// The rule.
pub static RULE: Rule = Rule {
    code: "SL602",
    name: "distribution-skew",
    summary: "bytes, documents or chunks of a collection lie unevenly on its shards",
    severity: Severity::Warning,
    needs: &[Evidence::Key],
    since: "0.1.0",
    status: Status::Stable,
    fan_out_rank: None,
    explanation: EXPLANATION,
    page: include_str!("../../docs/rules/SL602.md"),
    check: Check::Declaration(check),
};

/// Fewer chunks than this for each shard are uneven by chance.
const CHUNKS_EACH: u64 = 8;

/// The size of a document where it is not known, in bytes.
const DOCUMENT: u64 = 512;

fn check(ctx: &DeclarationContext<'_>, findings: &mut Vec<Finding>) {
    let collection = ctx.collection;
    let Some(key) = collection.shard_key() else { return };
    let measured = collection.distribution.as_ref().and_then(|(source, told)| {
        let (of, amounts) = amounts(&told.parts)?;
        Some((*source, told.span, of, amounts))
    });
    let counted = || Some((collection.source, key.span, "chunks", chunks_by_shard(collection.chunks.as_ref()?)));
    let Some((home, span, of, amounts)) = measured.or_else(counted) else { return };
    // What a zone keeps on its shards is no skew; that one of these holds more than the others is. A shard that holds nothing
    // of a collection may not be told of.
    let named = ctx.catalog.shards.iter().flatten().map(String::as_str);
    let groups = ctx.catalog.alike(collection, amounts.iter().map(|(shard, _)| shard.as_str()).chain(named));
    let skewed = groups.iter().find_map(|(zones, group)| {
        let amounts: Vec<_> = amounts.iter().filter(|(shard, _)| group.contains(shard.as_str())).cloned().collect();
        let known = ctx.catalog.shard_count.filter(|_| collection.zones.is_empty()).unwrap_or_default();
        Some((zones, skewed(ctx, of, &amounts, group.len().max(known) as u64)?))
    });
    let Some((zones, Skewed { shard, share, fair, shards })) = skewed else { return };
    let message = format!(
        "`{shard}` holds {share} % of the {of} of `{}`{}, where {fair} % is a fair share of {shards} shards",
        collection.pattern,
        among(collection, zones),
    );
    let mut found =
        finding(collection, "distribution", home, message, vec![label_in(home, home, span, "counted here")]);
    found.help = Some(
        "look for jumbo chunks, zones and failed migrations, then at the key: how often is its top value?".to_owned(),
    );
    findings.push(found);
}

/// The fullest of shards that should hold alike. Shares are in percent.
struct Skewed {
    shard: String,
    share: u64,
    fair: u64,
    shards: u64,
}

/// The fullest of so many shards, if it holds more than its fair share and `skew_percent` of that.
fn skewed(ctx: &DeclarationContext<'_>, of: &str, amounts: &[(String, u64)], shards: u64) -> Option<Skewed> {
    let all: u64 = amounts.iter().map(|(_, n)| n).sum();
    let (shard, most) = amounts.iter().max_by_key(|(name, n)| (*n, std::cmp::Reverse(name.clone())))?;
    let holds_nothing = (amounts.len() as u64) < shards;
    let least = amounts.iter().map(|(_, n)| *n).min().filter(|_| !holds_nothing).unwrap_or_default();
    let (share, fair) = (percent(*most, all), 100 / shards.max(1));
    let limit = fair + fair * ctx.thresholds.skew_percent / 100;
    let is_skewed = shards >= 2 && share > limit && is_worth_a_move(ctx, of, most - least, all / shards);
    is_skewed.then(|| Skewed { shard: shard.clone(), share, fair, shards })
}

/// Whether the balancer would move something: by how much two shards differ, or how many chunks there are for each.
fn is_worth_a_move(ctx: &DeclarationContext<'_>, of: &str, difference: u64, each: u64) -> bool {
    let megabytes = |bytes: u64| bytes >> 20;
    match of {
        "bytes" => megabytes(difference) >= ctx.thresholds.skew_megabytes,
        "documents" => megabytes(difference.saturating_mul(DOCUMENT)) >= ctx.thresholds.skew_megabytes,
        _ => each >= CHUNKS_EACH,
    }
}

/// Bytes if every shard tells them, else documents, else chunks.
fn amounts(parts: &[ShardPart]) -> Option<(&'static str, Vec<(String, u64)>)> {
    let all = |pick: fn(&ShardPart) -> Option<u64>| {
        parts.iter().map(|part| Some((part.shard.clone(), pick(part)?))).collect::<Option<Vec<_>>>()
    };
    let bytes = all(|part| part.bytes).map(|all| ("bytes", all));
    let documents = || all(|part| part.documents).map(|all| ("documents", all));
    let chunks = || all(|part| part.chunks).map(|all| ("chunks", all));
    bytes.or_else(documents).or_else(chunks)
}

fn chunks_by_shard(map: &ChunkMap) -> Vec<(String, u64)> {
    let mut sums: std::collections::BTreeMap<&str, u64> = std::collections::BTreeMap::new();
    map.chunks.iter().for_each(|chunk| *sums.entry(&chunk.shard).or_default() += 1);
    sums.into_iter().map(|(shard, n)| (shard.to_owned(), n)).collect()
}

const EXPLANATION: &str = r#"
# Why is my data spread unevenly over the shards?

## What it says

One shard holds at least `skew_percent` percent (default 50) more than its fair share of a collection: of its bytes,
as `$shardedDataDistribution` or `getShardDistribution()` tell them; else of its documents; else of its chunks, where
there are eight or more for each shard. A shard that a dump of `config.shards` names and that holds nothing counts too.
Small collections are uneven by nature: nothing is said where two shards differ by less than `skew_megabytes` (default
384, from which on the balancer moves ranges), documents of unknown size taken for 512 bytes each. Where zones have
ranges of the collection, shards are held against those of the same zones only, and against none if nothing declares
which shards belong to a zone.

## Why it costs you

The fullest shard decides when the cluster needs more room, and usually it is the busiest as well.

## Fires on

```js
[ { _id: "shop.orders", key: { customerId: 1 } } ]
{ ns: "shop.orders", shards: [
  { shardName: "rs0", numOrphanedDocs: 0, numOwnedDocuments: 900000,
    ownedSizeBytes: 460800000, orphanedSizeBytes: 0 },
  { shardName: "rs1", numOrphanedDocs: 0, numOwnedDocuments: 100000,
    ownedSizeBytes: 51200000, orphanedSizeBytes: 0 } ] }
```

## Silent on

```js
[ { _id: "shop.orders", key: { customerId: 1 } } ]
{ ns: "shop.orders", shards: [
  { shardName: "rs0", numOrphanedDocs: 0, numOwnedDocuments: 520000,
    ownedSizeBytes: 266240000, orphanedSizeBytes: 0 },
  { shardName: "rs1", numOrphanedDocs: 0, numOwnedDocuments: 480000,
    ownedSizeBytes: 245760000, orphanedSizeBytes: 0 } ] }
```

## How to fix

SL601 says whether chunks cannot move. If they can, see whether the balancer is on (`sh.getBalancerState()`), and
whether zones allow it. Since 6.0 it balances bytes, before that chunks, so many small chunks on one shard are even to
an old server. If one value of the key is large, SL502 and SL505 apply.

## When to ignore

The hours after a shard was added, while the balancer is still moving chunks to it.

## Versions

All; `$shardedDataDistribution` since 6.0.3. Sources:
<https://www.mongodb.com/docs/manual/core/sharding-balancer-administration/>.
"#;
