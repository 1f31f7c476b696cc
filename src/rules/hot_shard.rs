//! SL603: one shard carries most of the time.

use std::collections::BTreeSet;

use super::declared_index::{among, finding, label_in};
use super::finding::Severity;
use super::rule::{Check, Evidence, Rule, Status};
use super::totals::{Cost, NamespaceContext, NamespaceFinding, calls, percent};
/// The rule.
pub static RULE: Rule = Rule {
    code: "SL603",
    name: "hot-shard",
    summary: "one shard carries most of the time of a collection",
    severity: Severity::Warning,
    needs: &[Evidence::Log, Evidence::Key, Evidence::Chunks],
    since: "0.1.0",
    status: Status::Stable,
    fan_out_rank: None,
    explanation: EXPLANATION,
    check: Check::Namespace(check),
};

fn check(ctx: &NamespaceContext<'_>, findings: &mut Vec<NamespaceFinding>) {
    let (totals, home) = (ctx.totals, ctx.collection.source);
    let Some(key) = ctx.collection.shard_key() else { return };
    let Some(chunks) = &ctx.collection.chunks else { return };
    let owning: BTreeSet<&str> = chunks.chunks.iter().map(|chunk| chunk.shard.as_str()).collect();
    let asked = totals.shards.iter().map(|(shard, _)| *shard);
    // A load that a zone keeps on its shards is meant to be there; that one of these carries it alone is not.
    let groups = ctx.catalog.alike(ctx.collection, owning.iter().copied().chain(asked));
    let hot = groups.iter().find_map(|(zones, group)| {
        let owners = owning.intersection(group).count() as u64;
        Some((zones, owners, hot(ctx, group, owners)?))
    });
    let Some((zones, owners, Hot { shard, share, most, all })) = hot else { return };
    let message = format!(
        "`{shard}` carries {share} % of the time of `{}`{}: {} of {} that reach its {owners} shards",
        totals.namespace,
        among(ctx.collection, zones),
        calls(most.calls),
        all.calls,
    );
    let text = format!("its chunks lie on {owners} shards, so a fair share is {} %", 100 / owners);
    let mut found = finding(ctx.collection, "shard", home, message, vec![label_in(home, home, key.span, text)]);
    found.subject = Some((totals.namespace.to_owned(), "shard".to_owned()));
    found.help = Some(format!(
        "look for a value of `{}` that many calls ask for, then at how chunks are spread",
        key.first().path
    ));
    findings.push(NamespaceFinding { finding: found, cost: most });
}

/// The busiest of shards that should be equally busy.
struct Hot<'a> {
    shard: &'a str,
    /// Its share of the time, in percent.
    share: u64,
    most: Cost,
    all: Cost,
}

fn hot<'a>(ctx: &NamespaceContext<'a>, group: &BTreeSet<&str>, owners: u64) -> Option<Hot<'a>> {
    let costs = || ctx.totals.shards.iter().filter(|(shard, _)| group.contains(shard));
    let mut all = Cost::default();
    costs().for_each(|(_, cost)| all.add(*cost));
    let (shard, most) = costs().max_by_key(|(name, cost)| (cost.millis, std::cmp::Reverse(*name)))?;
    let share = percent(most.millis, all.millis);
    let least = ctx.thresholds.hot_shard_percent.max(2 * 100 / owners.max(1));
    let is_told = owners > 1 && all.calls >= ctx.thresholds.fewest_calls && all.millis > 0;
    (is_told && share >= least).then_some(Hot { shard, share, most: *most, all })
}

const EXPLANATION: &str = r#"
# Why is one shard of my cluster much busier than the others?

## What it says

With a chunk map (a dump of `config.chunks`) the shards of each call are known. One of them carries at least
`hot_shard_percent` percent of the time (default 60), and at least twice its fair share. A call counts for every shard
that it reaches. Where zones have ranges of the collection, shards are held against those of the same zones only, and
against none if nothing declares which shards belong to a zone.

## Why it costs you

The cluster is as fast as its busiest shard, and the others are paid for without use.

## Fires on

```toml
[thresholds]
fewest-calls = 5
```

```js
[ { _id: "shop.orders", key: { customerId: 1 } } ]
[ { ns: "shop.orders", min: { customerId: MinKey }, max: { customerId: 100 }, shard: "rs0" },
  { ns: "shop.orders", min: { customerId: 100 }, max: { customerId: 200 }, shard: "rs1" },
  { ns: "shop.orders", min: { customerId: 200 }, max: { customerId: MaxKey }, shard: "rs2" } ]
```

```json
{"t":{"$date":"2024-05-14T09:12:03.000+00:00"},"s":"I","c":"COMMAND","id":51803,"ctx":"conn42","msg":"Slow query","attr":{"type":"command","ns":"shop.orders","command":{"find":"orders","filter":{"customerId":100},"$db":"shop"},"nShards":1,"nreturned":1,"durationMillis":20}}
{"t":{"$date":"2024-05-14T09:12:03.040+00:00"},"s":"I","c":"COMMAND","id":51803,"ctx":"conn42","msg":"Slow query","attr":{"type":"command","ns":"shop.orders","command":{"find":"orders","filter":{"customerId":102},"$db":"shop"},"nShards":1,"nreturned":1,"durationMillis":20}}
{"t":{"$date":"2024-05-14T09:12:03.080+00:00"},"s":"I","c":"COMMAND","id":51803,"ctx":"conn42","msg":"Slow query","attr":{"type":"command","ns":"shop.orders","command":{"find":"orders","filter":{"customerId":104},"$db":"shop"},"nShards":1,"nreturned":1,"durationMillis":20}}
{"t":{"$date":"2024-05-14T09:12:03.120+00:00"},"s":"I","c":"COMMAND","id":51803,"ctx":"conn42","msg":"Slow query","attr":{"type":"command","ns":"shop.orders","command":{"find":"orders","filter":{"customerId":106},"$db":"shop"},"nShards":1,"nreturned":1,"durationMillis":20}}
{"t":{"$date":"2024-05-14T09:12:03.160+00:00"},"s":"I","c":"COMMAND","id":51803,"ctx":"conn42","msg":"Slow query","attr":{"type":"command","ns":"shop.orders","command":{"find":"orders","filter":{"customerId":108},"$db":"shop"},"nShards":1,"nreturned":1,"durationMillis":20}}
{"t":{"$date":"2024-05-14T09:12:03.200+00:00"},"s":"I","c":"COMMAND","id":51803,"ctx":"conn42","msg":"Slow query","attr":{"type":"command","ns":"shop.orders","command":{"find":"orders","filter":{"customerId":110},"$db":"shop"},"nShards":1,"nreturned":1,"durationMillis":20}}
{"t":{"$date":"2024-05-14T09:12:03.240+00:00"},"s":"I","c":"COMMAND","id":51803,"ctx":"conn42","msg":"Slow query","attr":{"type":"command","ns":"shop.orders","command":{"find":"orders","filter":{"customerId":112},"$db":"shop"},"nShards":1,"nreturned":1,"durationMillis":20}}
{"t":{"$date":"2024-05-14T09:12:03.280+00:00"},"s":"I","c":"COMMAND","id":51803,"ctx":"conn42","msg":"Slow query","attr":{"type":"command","ns":"shop.orders","command":{"find":"orders","filter":{"customerId":114},"$db":"shop"},"nShards":1,"nreturned":1,"durationMillis":20}}
{"t":{"$date":"2024-05-14T09:12:03.320+00:00"},"s":"I","c":"COMMAND","id":51803,"ctx":"conn42","msg":"Slow query","attr":{"type":"command","ns":"shop.orders","command":{"find":"orders","filter":{"customerId":200},"$db":"shop"},"nShards":1,"nreturned":1,"durationMillis":20}}
{"t":{"$date":"2024-05-14T09:12:03.360+00:00"},"s":"I","c":"COMMAND","id":51803,"ctx":"conn42","msg":"Slow query","attr":{"type":"command","ns":"shop.orders","command":{"find":"orders","filter":{"customerId":202},"$db":"shop"},"nShards":1,"nreturned":1,"durationMillis":20}}
```

## Silent on

```toml
[thresholds]
fewest-calls = 5
```

```js
[ { _id: "shop.orders", key: { customerId: 1 } } ]
[ { ns: "shop.orders", min: { customerId: MinKey }, max: { customerId: 100 }, shard: "rs0" },
  { ns: "shop.orders", min: { customerId: 100 }, max: { customerId: 200 }, shard: "rs1" },
  { ns: "shop.orders", min: { customerId: 200 }, max: { customerId: MaxKey }, shard: "rs2" } ]
```

```json
{"t":{"$date":"2024-05-14T09:12:03.000+00:00"},"s":"I","c":"COMMAND","id":51803,"ctx":"conn42","msg":"Slow query","attr":{"type":"command","ns":"shop.orders","command":{"find":"orders","filter":{"customerId":100},"$db":"shop"},"nShards":1,"nreturned":1,"durationMillis":20}}
{"t":{"$date":"2024-05-14T09:12:03.040+00:00"},"s":"I","c":"COMMAND","id":51803,"ctx":"conn42","msg":"Slow query","attr":{"type":"command","ns":"shop.orders","command":{"find":"orders","filter":{"customerId":102},"$db":"shop"},"nShards":1,"nreturned":1,"durationMillis":20}}
{"t":{"$date":"2024-05-14T09:12:03.080+00:00"},"s":"I","c":"COMMAND","id":51803,"ctx":"conn42","msg":"Slow query","attr":{"type":"command","ns":"shop.orders","command":{"find":"orders","filter":{"customerId":104},"$db":"shop"},"nShards":1,"nreturned":1,"durationMillis":20}}
{"t":{"$date":"2024-05-14T09:12:03.120+00:00"},"s":"I","c":"COMMAND","id":51803,"ctx":"conn42","msg":"Slow query","attr":{"type":"command","ns":"shop.orders","command":{"find":"orders","filter":{"customerId":106},"$db":"shop"},"nShards":1,"nreturned":1,"durationMillis":20}}
{"t":{"$date":"2024-05-14T09:12:03.160+00:00"},"s":"I","c":"COMMAND","id":51803,"ctx":"conn42","msg":"Slow query","attr":{"type":"command","ns":"shop.orders","command":{"find":"orders","filter":{"customerId":108},"$db":"shop"},"nShards":1,"nreturned":1,"durationMillis":20}}
{"t":{"$date":"2024-05-14T09:12:03.200+00:00"},"s":"I","c":"COMMAND","id":51803,"ctx":"conn42","msg":"Slow query","attr":{"type":"command","ns":"shop.orders","command":{"find":"orders","filter":{"customerId":200},"$db":"shop"},"nShards":1,"nreturned":1,"durationMillis":20}}
{"t":{"$date":"2024-05-14T09:12:03.240+00:00"},"s":"I","c":"COMMAND","id":51803,"ctx":"conn42","msg":"Slow query","attr":{"type":"command","ns":"shop.orders","command":{"find":"orders","filter":{"customerId":202},"$db":"shop"},"nShards":1,"nreturned":1,"durationMillis":20}}
{"t":{"$date":"2024-05-14T09:12:03.280+00:00"},"s":"I","c":"COMMAND","id":51803,"ctx":"conn42","msg":"Slow query","attr":{"type":"command","ns":"shop.orders","command":{"find":"orders","filter":{"customerId":204},"$db":"shop"},"nShards":1,"nreturned":1,"durationMillis":20}}
{"t":{"$date":"2024-05-14T09:12:03.320+00:00"},"s":"I","c":"COMMAND","id":51803,"ctx":"conn42","msg":"Slow query","attr":{"type":"command","ns":"shop.orders","command":{"find":"orders","filter":{"customerId":206},"$db":"shop"},"nShards":1,"nreturned":1,"durationMillis":20}}
{"t":{"$date":"2024-05-14T09:12:03.360+00:00"},"s":"I","c":"COMMAND","id":51803,"ctx":"conn42","msg":"Slow query","attr":{"type":"command","ns":"shop.orders","command":{"find":"orders","filter":{"customerId":208},"$db":"shop"},"nShards":1,"nreturned":1,"durationMillis":20}}
```

## How to fix

If one key value is hot, no balancer helps: cache it, or refine the key so that the value can be split
(`refineCollectionShardKey`, 4.4). If the value is not hot but the chunks of busy values lie together, move ranges
(`moveRange`, 6.0; `moveChunk` before). If the shard is the primary of databases with unsharded collections, move those
(`movePrimary`, or `moveCollection` since 8.0).

## When to ignore

A load that comes in turns, now on this shard and now on that: see a longer time.

## Versions

All. Sources: <https://www.mongodb.com/docs/manual/core/sharding-balancer-administration/>.
"#;
