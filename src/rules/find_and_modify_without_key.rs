//! SL205: a findAndModify that does not reach one shard by the key.

use super::fan_out::{FanOut, SingleWrite};
use super::finding::{Finding, Severity};
use super::rule::{Check, EventContext, Evidence, Rule, Status};
use crate::model::Verb;

/// The rule.
pub static RULE: Rule = Rule {
    code: "SL205",
    name: "find-and-modify-without-key",
    summary: "findAndModify without the shard key; `_id` alone is no substitute",
    severity: Severity::Error,
    needs: &[Evidence::Log, Evidence::Key],
    since: "0.1.0",
    status: Status::Stable,
    fan_out_rank: Some(2),
    explanation: EXPLANATION,
    page: include_str!("../../docs/rules/SL205.md"),
    check: Check::Statement(check),
};

fn check(ctx: &EventContext<'_>) -> Option<Finding> {
    let write = FanOut::write(ctx).filter(|_| ctx.statement.verb == Verb::FindAndModify)?;
    let words = SingleWrite { subject: write.subject(), by: " by the key", missing: "; `_id` alone is no substitute" };
    Some(write.single_write(&words))
}

const EXPLANATION: &str = r#"
# Why does findAndModify (findOneAndUpdate) fail without the shard key?

## What it says

A `findAndModify` (`findOneAndUpdate`, `findOneAndReplace`, `findOneAndDelete`) has a filter that does not reach one
shard by the shard key. Unlike `updateOne`, it cannot fall back on `_id`: up to 7.0 the router refuses it. From 7.1 on
it is a two-phase search over all shards.

## Why it costs you

Before 7.1 the operation fails. Later each call costs a read on all shards and an internal transaction. Queues built
on `findAndModify` are hit hardest: they poll.

## Fires on

```js
sh.shardCollection("shop.jobs", { queue: 1 });
```

```json
{"t":{"$date":"2024-05-14T09:12:03.481+00:00"},"s":"I","c":"COMMAND","id":51803,"ctx":"conn42","msg":"Slow query","attr":{"type":"command","ns":"shop.jobs","command":{"findAndModify":"jobs","query":{"state":3},"update":{"$set":{"owner":17}},"$db":"shop"},"durationMillis":310}}
```

## Silent on

```js
sh.shardCollection("shop.jobs", { queue: 1 });
```

```json
{"t":{"$date":"2024-05-14T09:12:03.481+00:00"},"s":"I","c":"COMMAND","id":51803,"ctx":"conn42","msg":"Slow query","attr":{"type":"command","ns":"shop.jobs","command":{"findAndModify":"jobs","query":{"queue":3},"update":{"$set":{"owner":17}},"$db":"shop"},"durationMillis":31}}
```

## How to fix

Put equalities on the shard key into the filter. For a work queue, key it by the queue or by a small partition number
that each worker knows.

`findByIdAndUpdate` and `findByIdAndDelete` of mongoose are findAndModify by `_id`: use `findOneAndUpdate({ _id,
customerId }, …)`. The same holds for `findAndModify(query, …)` of Spring Data and `find_one_and_update` of pymongo.
Errors people search for: *Query for sharded findAndModify must contain the shard key* (ShardKeyNotFound 61).

## When to ignore

Rare calls on 7.1 or later.

## Versions

Refused up to 7.0 (ShardKeyNotFound 61); two-phase from 7.1. Sources:
<https://www.mongodb.com/docs/manual/reference/command/findAndModify/>.
"#;
