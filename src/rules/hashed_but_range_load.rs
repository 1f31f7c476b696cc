//! SL507: the kind of the key and the kind of the load do not go together: ranges on a hashed field, or nothing but
//! equalities on a ranged one that grows.

use super::declared_index::{finding, label_in};
use super::finding::Severity;
use super::monotonic_range_key::growing;
use super::rule::{Check, Evidence, Rule, Status};
use super::totals::{NamespaceContext, NamespaceFinding, calls, percent};
use crate::model::{KeyKind, ShardKey};
/// The rule.
pub static RULE: Rule = Rule {
    code: "SL507",
    name: "hashed-but-range-load",
    summary: "the key is hashed, but the load asks for ranges of it",
    severity: Severity::Warning,
    needs: &[Evidence::Log, Evidence::Key],
    since: "0.1.0",
    status: Status::Stable,
    fan_out_rank: None,
    explanation: EXPLANATION,
    page: include_str!("../../docs/rules/SL507.md"),
    check: Check::Namespace(check),
};

fn check(ctx: &NamespaceContext<'_>, findings: &mut Vec<NamespaceFinding>) {
    let Some(key) = ctx.collection.shard_key().filter(|_| ctx.has_calls_enough()) else { return };
    findings.extend(ranges_of_hashes(ctx, key));
    findings.extend(equalities_on_growing(ctx, key));
}

/// A field that grows with time, ranged for the sake of ranges that nobody asks for.
fn equalities_on_growing(ctx: &NamespaceContext<'_>, key: &ShardKey) -> Option<NamespaceFinding> {
    let (totals, home, first) = (ctx.totals, ctx.collection.source, key.first());
    let uses = totals.key_use;
    let only_equalities =
        uses.ranged.calls == 0 && percent(uses.first.calls, uses.all.calls) >= ctx.thresholds.load_percent;
    if !only_equalities || growing(ctx, key)?.severity != Severity::Error {
        return None;
    }
    let message = format!(
        "`{}` leads the ranged key of `{}` and grows with time, but none of {} asks for a range of it",
        first.path,
        totals.namespace,
        calls(uses.all.calls),
    );
    let text = "hashed, it would spread the inserts, and these calls would lose nothing";
    let mut found = finding(ctx.collection, "load", home, message, vec![label_in(home, home, first.span, text)]);
    found.subject = Some((totals.namespace.to_owned(), "load".to_owned()));
    found.severity = Some(Severity::Info);
    found.help = Some(format!("consider `{{ {}: \"hashed\" }}`", first.path));
    Some(NamespaceFinding { finding: found, cost: uses.first })
}

fn ranges_of_hashes(ctx: &NamespaceContext<'_>, key: &ShardKey) -> Option<NamespaceFinding> {
    let (totals, home) = (ctx.totals, ctx.collection.source);
    let (first, uses) = (key.first(), totals.key_use);
    let share = percent(uses.ranged.calls, uses.all.calls);
    if first.kind != KeyKind::Hashed || share < ctx.thresholds.load_percent {
        return None;
    }
    let message = format!(
        "{share} % of {} on `{}` ask for ranges of `{}`, and it is hashed: they go to every shard",
        calls(uses.all.calls),
        totals.namespace,
        first.path,
    );
    let text = "hashes lie in no order, so only equalities route";
    let mut found = finding(ctx.collection, "load", home, message, vec![label_in(home, home, first.span, text)]);
    found.subject = Some((totals.namespace.to_owned(), "load".to_owned()));
    found.help = Some(format!(
        "consider a compound key that begins with a field that these queries compare for equality, such as \
         `{{ tenantId: 1, {}: 1 }}`",
        first.path
    ));
    Some(NamespaceFinding { finding: found, cost: uses.ranged })
}

const EXPLANATION: &str = r#"
# Hashed or ranged shard key: which one for this load?

## What it says

The first field of the key is hashed, and at least `load_percent` percent of the calls (default 50; of at least
`fewest_calls`, default 20) ask for a range of it. SL103 says it of one shape; this rule says that it is the load. The
other way round is an info: the first field of a ranged key is known to grow with time (SL503), and no call asks for a
range of it.

## Why it costs you

A hash spreads neighbours over all shards. That is good for inserts, and makes each range a broadcast.

## Fires on

```toml
[thresholds]
fewest-calls = 5
```

```js
sh.shardCollection("shop.orders", { createdAt: "hashed" });
```

```json
{"t":{"$date":"2024-05-14T09:12:03.000+00:00"},"s":"I","c":"COMMAND","id":51803,"ctx":"conn42","msg":"Slow query","attr":{"type":"command","ns":"shop.orders","command":{"find":"orders","filter":{"createdAt":{"$gte":{"$date":"2024-05-14T00:00:00Z"}}},"$db":"shop"},"nShards":4,"nreturned":40,"durationMillis":20}}
{"t":{"$date":"2024-05-14T09:12:03.040+00:00"},"s":"I","c":"COMMAND","id":51803,"ctx":"conn42","msg":"Slow query","attr":{"type":"command","ns":"shop.orders","command":{"find":"orders","filter":{"createdAt":{"$gte":{"$date":"2024-05-14T00:00:00Z"}}},"$db":"shop"},"nShards":4,"nreturned":40,"durationMillis":20}}
{"t":{"$date":"2024-05-14T09:12:03.080+00:00"},"s":"I","c":"COMMAND","id":51803,"ctx":"conn42","msg":"Slow query","attr":{"type":"command","ns":"shop.orders","command":{"find":"orders","filter":{"createdAt":{"$gte":{"$date":"2024-05-14T00:00:00Z"}}},"$db":"shop"},"nShards":4,"nreturned":40,"durationMillis":20}}
{"t":{"$date":"2024-05-14T09:12:03.120+00:00"},"s":"I","c":"COMMAND","id":51803,"ctx":"conn42","msg":"Slow query","attr":{"type":"command","ns":"shop.orders","command":{"find":"orders","filter":{"createdAt":{"$gte":{"$date":"2024-05-14T00:00:00Z"}}},"$db":"shop"},"nShards":4,"nreturned":40,"durationMillis":20}}
{"t":{"$date":"2024-05-14T09:12:03.160+00:00"},"s":"I","c":"COMMAND","id":51803,"ctx":"conn42","msg":"Slow query","attr":{"type":"command","ns":"shop.orders","command":{"find":"orders","filter":{"createdAt":{"$gte":{"$date":"2024-05-14T00:00:00Z"}}},"$db":"shop"},"nShards":4,"nreturned":40,"durationMillis":20}}
{"t":{"$date":"2024-05-14T09:12:03.200+00:00"},"s":"I","c":"COMMAND","id":51803,"ctx":"conn42","msg":"Slow query","attr":{"type":"command","ns":"shop.orders","command":{"find":"orders","filter":{"createdAt":{"$gte":{"$date":"2024-05-14T00:00:00Z"}}},"$db":"shop"},"nShards":4,"nreturned":40,"durationMillis":20}}
{"t":{"$date":"2024-05-14T09:12:03.240+00:00"},"s":"I","c":"COMMAND","id":51803,"ctx":"conn42","msg":"Slow query","attr":{"type":"command","ns":"shop.orders","command":{"find":"orders","filter":{"createdAt":{"$date":"2024-05-14T00:00:00.000Z"}},"$db":"shop"},"nShards":1,"nreturned":1,"durationMillis":20}}
{"t":{"$date":"2024-05-14T09:12:03.280+00:00"},"s":"I","c":"COMMAND","id":51803,"ctx":"conn42","msg":"Slow query","attr":{"type":"command","ns":"shop.orders","command":{"find":"orders","filter":{"createdAt":{"$date":"2024-05-14T00:00:02.000Z"}},"$db":"shop"},"nShards":1,"nreturned":1,"durationMillis":20}}
{"t":{"$date":"2024-05-14T09:12:03.320+00:00"},"s":"I","c":"COMMAND","id":51803,"ctx":"conn42","msg":"Slow query","attr":{"type":"command","ns":"shop.orders","command":{"find":"orders","filter":{"createdAt":{"$date":"2024-05-14T00:00:04.000Z"}},"$db":"shop"},"nShards":1,"nreturned":1,"durationMillis":20}}
{"t":{"$date":"2024-05-14T09:12:03.360+00:00"},"s":"I","c":"COMMAND","id":51803,"ctx":"conn42","msg":"Slow query","attr":{"type":"command","ns":"shop.orders","command":{"find":"orders","filter":{"createdAt":{"$date":"2024-05-14T00:00:06.000Z"}},"$db":"shop"},"nShards":1,"nreturned":1,"durationMillis":20}}
```

## Silent on

```toml
[thresholds]
fewest-calls = 5
```

```js
sh.shardCollection("shop.orders", { createdAt: "hashed" });
```

```json
{"t":{"$date":"2024-05-14T09:12:03.000+00:00"},"s":"I","c":"COMMAND","id":51803,"ctx":"conn42","msg":"Slow query","attr":{"type":"command","ns":"shop.orders","command":{"find":"orders","filter":{"createdAt":{"$gte":{"$date":"2024-05-14T00:00:00Z"}}},"$db":"shop"},"nShards":4,"nreturned":40,"durationMillis":20}}
{"t":{"$date":"2024-05-14T09:12:03.040+00:00"},"s":"I","c":"COMMAND","id":51803,"ctx":"conn42","msg":"Slow query","attr":{"type":"command","ns":"shop.orders","command":{"find":"orders","filter":{"createdAt":{"$gte":{"$date":"2024-05-14T00:00:00Z"}}},"$db":"shop"},"nShards":4,"nreturned":40,"durationMillis":20}}
{"t":{"$date":"2024-05-14T09:12:03.080+00:00"},"s":"I","c":"COMMAND","id":51803,"ctx":"conn42","msg":"Slow query","attr":{"type":"command","ns":"shop.orders","command":{"find":"orders","filter":{"createdAt":{"$gte":{"$date":"2024-05-14T00:00:00Z"}}},"$db":"shop"},"nShards":4,"nreturned":40,"durationMillis":20}}
{"t":{"$date":"2024-05-14T09:12:03.120+00:00"},"s":"I","c":"COMMAND","id":51803,"ctx":"conn42","msg":"Slow query","attr":{"type":"command","ns":"shop.orders","command":{"find":"orders","filter":{"createdAt":{"$gte":{"$date":"2024-05-14T00:00:00Z"}}},"$db":"shop"},"nShards":4,"nreturned":40,"durationMillis":20}}
{"t":{"$date":"2024-05-14T09:12:03.160+00:00"},"s":"I","c":"COMMAND","id":51803,"ctx":"conn42","msg":"Slow query","attr":{"type":"command","ns":"shop.orders","command":{"find":"orders","filter":{"createdAt":{"$date":"2024-05-14T00:00:00.000Z"}},"$db":"shop"},"nShards":1,"nreturned":1,"durationMillis":20}}
{"t":{"$date":"2024-05-14T09:12:03.200+00:00"},"s":"I","c":"COMMAND","id":51803,"ctx":"conn42","msg":"Slow query","attr":{"type":"command","ns":"shop.orders","command":{"find":"orders","filter":{"createdAt":{"$date":"2024-05-14T00:00:02.000Z"}},"$db":"shop"},"nShards":1,"nreturned":1,"durationMillis":20}}
{"t":{"$date":"2024-05-14T09:12:03.240+00:00"},"s":"I","c":"COMMAND","id":51803,"ctx":"conn42","msg":"Slow query","attr":{"type":"command","ns":"shop.orders","command":{"find":"orders","filter":{"createdAt":{"$date":"2024-05-14T00:00:04.000Z"}},"$db":"shop"},"nShards":1,"nreturned":1,"durationMillis":20}}
{"t":{"$date":"2024-05-14T09:12:03.280+00:00"},"s":"I","c":"COMMAND","id":51803,"ctx":"conn42","msg":"Slow query","attr":{"type":"command","ns":"shop.orders","command":{"find":"orders","filter":{"createdAt":{"$date":"2024-05-14T00:00:06.000Z"}},"$db":"shop"},"nShards":1,"nreturned":1,"durationMillis":20}}
{"t":{"$date":"2024-05-14T09:12:03.320+00:00"},"s":"I","c":"COMMAND","id":51803,"ctx":"conn42","msg":"Slow query","attr":{"type":"command","ns":"shop.orders","command":{"find":"orders","filter":{"createdAt":{"$date":"2024-05-14T00:00:08.000Z"}},"$db":"shop"},"nShards":1,"nreturned":1,"durationMillis":20}}
{"t":{"$date":"2024-05-14T09:12:03.360+00:00"},"s":"I","c":"COMMAND","id":51803,"ctx":"conn42","msg":"Slow query","attr":{"type":"command","ns":"shop.orders","command":{"find":"orders","filter":{"createdAt":{"$date":"2024-05-14T00:00:10.000Z"}},"$db":"shop"},"nShards":1,"nreturned":1,"durationMillis":20}}
```

## How to fix

Put a field in front that the queries compare for equality and that spreads (a tenant, a customer, a device), and keep
the ranged field behind it: `{ deviceId: 1, createdAt: 1 }`. If nothing else is known to the queries, a ranged key on
the time gives targeted ranges, at the price that all inserts go to one shard (SL503); a coarse bucket in front
(`{ bucket: 1, createdAt: 1 }` with a handful of buckets) is the way between.

## When to ignore

If the ranges are rare jobs that the log happens to show because they are slow.

## Versions

Hashed fields beside others since 4.4. Sources: <https://www.mongodb.com/docs/manual/core/hashed-sharding/>.
"#;
