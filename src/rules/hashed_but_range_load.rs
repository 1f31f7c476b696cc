//! SL507: the kind of the key and the kind of the load do not go together: ranges on a hashed field.

use super::declared_index::{finding, label_in};
use super::finding::Severity;
use super::rule::{Check, Evidence, Rule, Status};
use super::totals::{NamespaceContext, NamespaceFinding, calls, percent};
use crate::model::KeyKind;
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
    check: Check::Namespace(check),
};

fn check(ctx: &NamespaceContext<'_>, findings: &mut Vec<NamespaceFinding>) {
    let (totals, home) = (ctx.totals, ctx.collection.source);
    let Some(key) = ctx.collection.shard_key().filter(|_| ctx.has_calls_enough()) else { return };
    let (first, uses) = (key.first(), totals.key_use);
    let share = percent(uses.ranged.calls, uses.all.calls);
    if first.kind != KeyKind::Hashed || share < ctx.thresholds.load_percent {
        return;
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
    findings.push(NamespaceFinding { finding: found, cost: uses.ranged });
}

const EXPLANATION: &str = r#"
# Hashed or ranged shard key: which one for this load?

## What it says

The first field of the key is hashed, and at least `load_percent` percent of the calls (default 50; of at least
`fewest_calls`, default 20) ask for a range of it. SL103 says it of one shape; this rule says that it is the load.

## Why it costs you

A hash spreads neighbours over all shards. That is good for inserts, and makes each range a broadcast.

## Fires on

```js
sh.shardCollection("shop.orders", { createdAt: "hashed" });
```

```json
{"t":{"$date":"2024-05-14T09:12:03.000+00:00"},"s":"I","c":"COMMAND","id":51803,"ctx":"conn42","msg":"Slow query","attr":{"type":"command","ns":"shop.orders","command":{"find":"orders","filter":{"createdAt":{"$gte":{"$date":"2024-05-14T00:00:00Z"}}},"$db":"shop"},"nShards":4,"nreturned":40,"durationMillis":20}}
{"t":{"$date":"2024-05-14T09:12:03.020+00:00"},"s":"I","c":"COMMAND","id":51803,"ctx":"conn42","msg":"Slow query","attr":{"type":"command","ns":"shop.orders","command":{"find":"orders","filter":{"createdAt":{"$gte":{"$date":"2024-05-14T00:00:00Z"}}},"$db":"shop"},"nShards":4,"nreturned":40,"durationMillis":20}}
{"t":{"$date":"2024-05-14T09:12:03.040+00:00"},"s":"I","c":"COMMAND","id":51803,"ctx":"conn42","msg":"Slow query","attr":{"type":"command","ns":"shop.orders","command":{"find":"orders","filter":{"createdAt":{"$gte":{"$date":"2024-05-14T00:00:00Z"}}},"$db":"shop"},"nShards":4,"nreturned":40,"durationMillis":20}}
{"t":{"$date":"2024-05-14T09:12:03.060+00:00"},"s":"I","c":"COMMAND","id":51803,"ctx":"conn42","msg":"Slow query","attr":{"type":"command","ns":"shop.orders","command":{"find":"orders","filter":{"createdAt":{"$gte":{"$date":"2024-05-14T00:00:00Z"}}},"$db":"shop"},"nShards":4,"nreturned":40,"durationMillis":20}}
{"t":{"$date":"2024-05-14T09:12:03.080+00:00"},"s":"I","c":"COMMAND","id":51803,"ctx":"conn42","msg":"Slow query","attr":{"type":"command","ns":"shop.orders","command":{"find":"orders","filter":{"createdAt":{"$gte":{"$date":"2024-05-14T00:00:00Z"}}},"$db":"shop"},"nShards":4,"nreturned":40,"durationMillis":20}}
{"t":{"$date":"2024-05-14T09:12:03.100+00:00"},"s":"I","c":"COMMAND","id":51803,"ctx":"conn42","msg":"Slow query","attr":{"type":"command","ns":"shop.orders","command":{"find":"orders","filter":{"createdAt":{"$gte":{"$date":"2024-05-14T00:00:00Z"}}},"$db":"shop"},"nShards":4,"nreturned":40,"durationMillis":20}}
{"t":{"$date":"2024-05-14T09:12:03.120+00:00"},"s":"I","c":"COMMAND","id":51803,"ctx":"conn42","msg":"Slow query","attr":{"type":"command","ns":"shop.orders","command":{"find":"orders","filter":{"createdAt":{"$gte":{"$date":"2024-05-14T00:00:00Z"}}},"$db":"shop"},"nShards":4,"nreturned":40,"durationMillis":20}}
{"t":{"$date":"2024-05-14T09:12:03.140+00:00"},"s":"I","c":"COMMAND","id":51803,"ctx":"conn42","msg":"Slow query","attr":{"type":"command","ns":"shop.orders","command":{"find":"orders","filter":{"createdAt":{"$gte":{"$date":"2024-05-14T00:00:00Z"}}},"$db":"shop"},"nShards":4,"nreturned":40,"durationMillis":20}}
{"t":{"$date":"2024-05-14T09:12:03.160+00:00"},"s":"I","c":"COMMAND","id":51803,"ctx":"conn42","msg":"Slow query","attr":{"type":"command","ns":"shop.orders","command":{"find":"orders","filter":{"createdAt":{"$gte":{"$date":"2024-05-14T00:00:00Z"}}},"$db":"shop"},"nShards":4,"nreturned":40,"durationMillis":20}}
{"t":{"$date":"2024-05-14T09:12:03.180+00:00"},"s":"I","c":"COMMAND","id":51803,"ctx":"conn42","msg":"Slow query","attr":{"type":"command","ns":"shop.orders","command":{"find":"orders","filter":{"createdAt":{"$gte":{"$date":"2024-05-14T00:00:00Z"}}},"$db":"shop"},"nShards":4,"nreturned":40,"durationMillis":20}}
{"t":{"$date":"2024-05-14T09:12:03.200+00:00"},"s":"I","c":"COMMAND","id":51803,"ctx":"conn42","msg":"Slow query","attr":{"type":"command","ns":"shop.orders","command":{"find":"orders","filter":{"createdAt":{"$gte":{"$date":"2024-05-14T00:00:00Z"}}},"$db":"shop"},"nShards":4,"nreturned":40,"durationMillis":20}}
{"t":{"$date":"2024-05-14T09:12:03.220+00:00"},"s":"I","c":"COMMAND","id":51803,"ctx":"conn42","msg":"Slow query","attr":{"type":"command","ns":"shop.orders","command":{"find":"orders","filter":{"createdAt":{"$gte":{"$date":"2024-05-14T00:00:00Z"}}},"$db":"shop"},"nShards":4,"nreturned":40,"durationMillis":20}}
{"t":{"$date":"2024-05-14T09:12:03.240+00:00"},"s":"I","c":"COMMAND","id":51803,"ctx":"conn42","msg":"Slow query","attr":{"type":"command","ns":"shop.orders","command":{"find":"orders","filter":{"createdAt":{"$date":"2024-05-14T00:00:00.000Z"}},"$db":"shop"},"nShards":1,"nreturned":1,"durationMillis":20}}
{"t":{"$date":"2024-05-14T09:12:03.260+00:00"},"s":"I","c":"COMMAND","id":51803,"ctx":"conn42","msg":"Slow query","attr":{"type":"command","ns":"shop.orders","command":{"find":"orders","filter":{"createdAt":{"$date":"2024-05-14T00:00:01.000Z"}},"$db":"shop"},"nShards":1,"nreturned":1,"durationMillis":20}}
{"t":{"$date":"2024-05-14T09:12:03.280+00:00"},"s":"I","c":"COMMAND","id":51803,"ctx":"conn42","msg":"Slow query","attr":{"type":"command","ns":"shop.orders","command":{"find":"orders","filter":{"createdAt":{"$date":"2024-05-14T00:00:02.000Z"}},"$db":"shop"},"nShards":1,"nreturned":1,"durationMillis":20}}
{"t":{"$date":"2024-05-14T09:12:03.300+00:00"},"s":"I","c":"COMMAND","id":51803,"ctx":"conn42","msg":"Slow query","attr":{"type":"command","ns":"shop.orders","command":{"find":"orders","filter":{"createdAt":{"$date":"2024-05-14T00:00:03.000Z"}},"$db":"shop"},"nShards":1,"nreturned":1,"durationMillis":20}}
{"t":{"$date":"2024-05-14T09:12:03.320+00:00"},"s":"I","c":"COMMAND","id":51803,"ctx":"conn42","msg":"Slow query","attr":{"type":"command","ns":"shop.orders","command":{"find":"orders","filter":{"createdAt":{"$date":"2024-05-14T00:00:04.000Z"}},"$db":"shop"},"nShards":1,"nreturned":1,"durationMillis":20}}
{"t":{"$date":"2024-05-14T09:12:03.340+00:00"},"s":"I","c":"COMMAND","id":51803,"ctx":"conn42","msg":"Slow query","attr":{"type":"command","ns":"shop.orders","command":{"find":"orders","filter":{"createdAt":{"$date":"2024-05-14T00:00:05.000Z"}},"$db":"shop"},"nShards":1,"nreturned":1,"durationMillis":20}}
{"t":{"$date":"2024-05-14T09:12:03.360+00:00"},"s":"I","c":"COMMAND","id":51803,"ctx":"conn42","msg":"Slow query","attr":{"type":"command","ns":"shop.orders","command":{"find":"orders","filter":{"createdAt":{"$date":"2024-05-14T00:00:06.000Z"}},"$db":"shop"},"nShards":1,"nreturned":1,"durationMillis":20}}
{"t":{"$date":"2024-05-14T09:12:03.380+00:00"},"s":"I","c":"COMMAND","id":51803,"ctx":"conn42","msg":"Slow query","attr":{"type":"command","ns":"shop.orders","command":{"find":"orders","filter":{"createdAt":{"$date":"2024-05-14T00:00:07.000Z"}},"$db":"shop"},"nShards":1,"nreturned":1,"durationMillis":20}}
```

## Silent on

```js
sh.shardCollection("shop.orders", { createdAt: "hashed" });
```

```json
{"t":{"$date":"2024-05-14T09:12:03.000+00:00"},"s":"I","c":"COMMAND","id":51803,"ctx":"conn42","msg":"Slow query","attr":{"type":"command","ns":"shop.orders","command":{"find":"orders","filter":{"createdAt":{"$gte":{"$date":"2024-05-14T00:00:00Z"}}},"$db":"shop"},"nShards":4,"nreturned":40,"durationMillis":20}}
{"t":{"$date":"2024-05-14T09:12:03.020+00:00"},"s":"I","c":"COMMAND","id":51803,"ctx":"conn42","msg":"Slow query","attr":{"type":"command","ns":"shop.orders","command":{"find":"orders","filter":{"createdAt":{"$gte":{"$date":"2024-05-14T00:00:00Z"}}},"$db":"shop"},"nShards":4,"nreturned":40,"durationMillis":20}}
{"t":{"$date":"2024-05-14T09:12:03.040+00:00"},"s":"I","c":"COMMAND","id":51803,"ctx":"conn42","msg":"Slow query","attr":{"type":"command","ns":"shop.orders","command":{"find":"orders","filter":{"createdAt":{"$gte":{"$date":"2024-05-14T00:00:00Z"}}},"$db":"shop"},"nShards":4,"nreturned":40,"durationMillis":20}}
{"t":{"$date":"2024-05-14T09:12:03.060+00:00"},"s":"I","c":"COMMAND","id":51803,"ctx":"conn42","msg":"Slow query","attr":{"type":"command","ns":"shop.orders","command":{"find":"orders","filter":{"createdAt":{"$gte":{"$date":"2024-05-14T00:00:00Z"}}},"$db":"shop"},"nShards":4,"nreturned":40,"durationMillis":20}}
{"t":{"$date":"2024-05-14T09:12:03.080+00:00"},"s":"I","c":"COMMAND","id":51803,"ctx":"conn42","msg":"Slow query","attr":{"type":"command","ns":"shop.orders","command":{"find":"orders","filter":{"createdAt":{"$gte":{"$date":"2024-05-14T00:00:00Z"}}},"$db":"shop"},"nShards":4,"nreturned":40,"durationMillis":20}}
{"t":{"$date":"2024-05-14T09:12:03.100+00:00"},"s":"I","c":"COMMAND","id":51803,"ctx":"conn42","msg":"Slow query","attr":{"type":"command","ns":"shop.orders","command":{"find":"orders","filter":{"createdAt":{"$gte":{"$date":"2024-05-14T00:00:00Z"}}},"$db":"shop"},"nShards":4,"nreturned":40,"durationMillis":20}}
{"t":{"$date":"2024-05-14T09:12:03.120+00:00"},"s":"I","c":"COMMAND","id":51803,"ctx":"conn42","msg":"Slow query","attr":{"type":"command","ns":"shop.orders","command":{"find":"orders","filter":{"createdAt":{"$gte":{"$date":"2024-05-14T00:00:00Z"}}},"$db":"shop"},"nShards":4,"nreturned":40,"durationMillis":20}}
{"t":{"$date":"2024-05-14T09:12:03.140+00:00"},"s":"I","c":"COMMAND","id":51803,"ctx":"conn42","msg":"Slow query","attr":{"type":"command","ns":"shop.orders","command":{"find":"orders","filter":{"createdAt":{"$gte":{"$date":"2024-05-14T00:00:00Z"}}},"$db":"shop"},"nShards":4,"nreturned":40,"durationMillis":20}}
{"t":{"$date":"2024-05-14T09:12:03.160+00:00"},"s":"I","c":"COMMAND","id":51803,"ctx":"conn42","msg":"Slow query","attr":{"type":"command","ns":"shop.orders","command":{"find":"orders","filter":{"createdAt":{"$date":"2024-05-14T00:00:00.000Z"}},"$db":"shop"},"nShards":1,"nreturned":1,"durationMillis":20}}
{"t":{"$date":"2024-05-14T09:12:03.180+00:00"},"s":"I","c":"COMMAND","id":51803,"ctx":"conn42","msg":"Slow query","attr":{"type":"command","ns":"shop.orders","command":{"find":"orders","filter":{"createdAt":{"$date":"2024-05-14T00:00:01.000Z"}},"$db":"shop"},"nShards":1,"nreturned":1,"durationMillis":20}}
{"t":{"$date":"2024-05-14T09:12:03.200+00:00"},"s":"I","c":"COMMAND","id":51803,"ctx":"conn42","msg":"Slow query","attr":{"type":"command","ns":"shop.orders","command":{"find":"orders","filter":{"createdAt":{"$date":"2024-05-14T00:00:02.000Z"}},"$db":"shop"},"nShards":1,"nreturned":1,"durationMillis":20}}
{"t":{"$date":"2024-05-14T09:12:03.220+00:00"},"s":"I","c":"COMMAND","id":51803,"ctx":"conn42","msg":"Slow query","attr":{"type":"command","ns":"shop.orders","command":{"find":"orders","filter":{"createdAt":{"$date":"2024-05-14T00:00:03.000Z"}},"$db":"shop"},"nShards":1,"nreturned":1,"durationMillis":20}}
{"t":{"$date":"2024-05-14T09:12:03.240+00:00"},"s":"I","c":"COMMAND","id":51803,"ctx":"conn42","msg":"Slow query","attr":{"type":"command","ns":"shop.orders","command":{"find":"orders","filter":{"createdAt":{"$date":"2024-05-14T00:00:04.000Z"}},"$db":"shop"},"nShards":1,"nreturned":1,"durationMillis":20}}
{"t":{"$date":"2024-05-14T09:12:03.260+00:00"},"s":"I","c":"COMMAND","id":51803,"ctx":"conn42","msg":"Slow query","attr":{"type":"command","ns":"shop.orders","command":{"find":"orders","filter":{"createdAt":{"$date":"2024-05-14T00:00:05.000Z"}},"$db":"shop"},"nShards":1,"nreturned":1,"durationMillis":20}}
{"t":{"$date":"2024-05-14T09:12:03.280+00:00"},"s":"I","c":"COMMAND","id":51803,"ctx":"conn42","msg":"Slow query","attr":{"type":"command","ns":"shop.orders","command":{"find":"orders","filter":{"createdAt":{"$date":"2024-05-14T00:00:06.000Z"}},"$db":"shop"},"nShards":1,"nreturned":1,"durationMillis":20}}
{"t":{"$date":"2024-05-14T09:12:03.300+00:00"},"s":"I","c":"COMMAND","id":51803,"ctx":"conn42","msg":"Slow query","attr":{"type":"command","ns":"shop.orders","command":{"find":"orders","filter":{"createdAt":{"$date":"2024-05-14T00:00:07.000Z"}},"$db":"shop"},"nShards":1,"nreturned":1,"durationMillis":20}}
{"t":{"$date":"2024-05-14T09:12:03.320+00:00"},"s":"I","c":"COMMAND","id":51803,"ctx":"conn42","msg":"Slow query","attr":{"type":"command","ns":"shop.orders","command":{"find":"orders","filter":{"createdAt":{"$date":"2024-05-14T00:00:08.000Z"}},"$db":"shop"},"nShards":1,"nreturned":1,"durationMillis":20}}
{"t":{"$date":"2024-05-14T09:12:03.340+00:00"},"s":"I","c":"COMMAND","id":51803,"ctx":"conn42","msg":"Slow query","attr":{"type":"command","ns":"shop.orders","command":{"find":"orders","filter":{"createdAt":{"$date":"2024-05-14T00:00:09.000Z"}},"$db":"shop"},"nShards":1,"nreturned":1,"durationMillis":20}}
{"t":{"$date":"2024-05-14T09:12:03.360+00:00"},"s":"I","c":"COMMAND","id":51803,"ctx":"conn42","msg":"Slow query","attr":{"type":"command","ns":"shop.orders","command":{"find":"orders","filter":{"createdAt":{"$date":"2024-05-14T00:00:10.000Z"}},"$db":"shop"},"nShards":1,"nreturned":1,"durationMillis":20}}
{"t":{"$date":"2024-05-14T09:12:03.380+00:00"},"s":"I","c":"COMMAND","id":51803,"ctx":"conn42","msg":"Slow query","attr":{"type":"command","ns":"shop.orders","command":{"find":"orders","filter":{"createdAt":{"$date":"2024-05-14T00:00:11.000Z"}},"$db":"shop"},"nShards":1,"nreturned":1,"durationMillis":20}}
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
