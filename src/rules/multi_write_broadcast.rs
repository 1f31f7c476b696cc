//! SL202: an updateMany or deleteMany that goes to the whole cluster.

use super::fan_out::FanOut;
use super::finding::{Finding, Label, Severity};
use super::rule::{Check, EventContext, Evidence, Rule, Status};
use crate::model::Verb;
use crate::routing::Class;

/// The rule.
pub static RULE: Rule = Rule {
    code: "SL202",
    name: "multi-write-broadcast",
    summary: "updateMany or deleteMany that matches more than one shard is sent to every shard of the cluster",
    severity: Severity::Warning,
    needs: &[Evidence::Log, Evidence::Key],
    since: "0.1.0",
    status: Status::Stable,
    fan_out_rank: Some(5),
    explanation: EXPLANATION,
    page: include_str!("../../docs/rules/SL202.md"),
    check: Check::Statement(check),
};

fn check(ctx: &EventContext<'_>) -> Option<Finding> {
    let write = FanOut::write(ctx).filter(|write| write.verdict.class == Class::Broadcast)?;
    let is_multi = matches!(ctx.statement.verb, Verb::Update | Verb::Delete) && ctx.statement.multi;
    if !is_multi {
        return None;
    }
    let message = format!("{} of many documents is sent to {}", write.subject(), write.whole_cluster());
    let fields = write.unbound_fields();
    let text = format!("does not bind {fields}, so shards without any chunk are asked too");
    let help = format!("add an equality on {fields} to the filter (shard key `{}`)", write.key);
    Some(write.finding(message, Label::new(write.filter_span(), text), Vec::new(), help))
}

const EXPLANATION: &str = r#"
# Why does updateMany or deleteMany go to every shard?

## What it says

An `updateMany` or `deleteMany` whose filter does not stay on one shard is sent to *every* shard of the cluster, even
to those that own no chunk of the collection, and without a check of the routing table.

## Why it costs you

Every shard searches, whatever the filter bounds: a range that touches two shards costs as much as none. A write that
is retried after a chunk moved may meet a document twice, or not at all.

## Fires on

```js
sh.shardCollection("shop.orders", { customerId: 1 });
```

```json
{"t":{"$date":"2024-05-14T09:12:03.481+00:00"},"s":"I","c":"WRITE","id":51803,"ctx":"conn42","msg":"Slow query","attr":{"type":"update","ns":"shop.orders","command":{"q":{"couponId":7012},"u":{"$set":{"void":true}},"multi":true,"upsert":false},"nMatched":40,"nModified":40,"durationMillis":310}}
```

## Silent on

```js
sh.shardCollection("shop.orders", { customerId: 1 });
```

```json
{"t":{"$date":"2024-05-14T09:12:03.481+00:00"},"s":"I","c":"WRITE","id":51803,"ctx":"conn42","msg":"Slow query","attr":{"type":"update","ns":"shop.orders","command":{"q":{"customerId":7012},"u":{"$set":{"void":true}},"multi":true,"upsert":false},"nMatched":40,"nModified":40,"durationMillis":31}}
```

## How to fix

Add an equality on the shard key. For a clean-up over all customers, loop over key values in small steps.

In mappers this is `Model.updateMany` and `deleteMany` (mongoose), `updateMulti` and derived `deleteBy…` methods (Spring
Data), `QuerySet.update` (MongoEngine): give them the key as a condition.

## When to ignore

Maintenance that is meant to touch everything.

## Versions

All, outside transactions. Recent releases can limit such writes to the shards that own data
(`onlyTargetDataOwningShardsForMultiWrites`). Sources:
<https://www.mongodb.com/docs/manual/core/sharded-cluster-query-router/>.
"#;
