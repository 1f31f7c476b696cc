//! SL203: a write by `_id` alone, where `_id` is not the key.

use super::fan_out::{FanOut, version_words};
use super::finding::{Finding, Label, Severity};
use super::rule::{Check, EventContext, Evidence, Rule, Status};
use crate::routing::Cause;

/// The rule.
pub static RULE: Rule = Rule {
    code: "SL203",
    name: "id-only-write",
    summary: "a write by `_id` alone, where `_id` is not the shard key, is sent to every shard",
    severity: Severity::Error,
    needs: &[Evidence::Log, Evidence::Key],
    since: "0.1.0",
    status: Status::Stable,
    fan_out_rank: Some(3),
    explanation: EXPLANATION,
    page: include_str!("../../docs/rules/SL203.md"),
    check: Check::Statement(check),
};

fn check(ctx: &EventContext<'_>) -> Option<Finding> {
    let write = FanOut::write(ctx).filter(|write| *write.cause() == Cause::IdOnlyWrite)?;
    let fields = write.unbound_fields();
    let message = format!(
        "{} of one document by its `_id` is sent to {} ({})",
        write.subject(),
        write.every_shard(),
        version_words(ctx)
    );
    let primary = Label::new(write.filter_span(), format!("`_id` is exact, but says nothing about {fields}"));
    let help = format!("add an equality on {fields} to the filter (shard key `{}`)", write.key);
    Some(write.finding(message, primary, Vec::new(), help))
}

const EXPLANATION: &str = r#"
# Why does an update by _id go to all shards?

## What it says

A document is updated or deleted by its `_id`, and `_id` is not the shard key. The router accepts this, because at
most one document should match, and sends the write to every shard.

## Why it costs you

A write that one shard could do costs one attempt on each. Such writes are frequent, because object mappers save
documents by `_id`. And `_id` is unique on each shard only: two documents may match.

## Fires on

```js
sh.shardCollection("shop.orders", { customerId: 1 });
```

```json
{"t":{"$date":"2024-05-14T09:12:03.481+00:00"},"s":"I","c":"WRITE","id":51803,"ctx":"conn42","msg":"Slow query","attr":{"type":"update","ns":"shop.orders","command":{"q":{"_id":9001},"u":{"$set":{"paid":true}},"multi":false,"upsert":false},"nMatched":1,"nModified":1,"durationMillis":310}}
```

## Silent on

```js
sh.shardCollection("shop.orders", { _id: 1 });
```

```json
{"t":{"$date":"2024-05-14T09:12:03.481+00:00"},"s":"I","c":"WRITE","id":51803,"ctx":"conn42","msg":"Slow query","attr":{"type":"update","ns":"shop.orders","command":{"q":{"_id":9001},"u":{"$set":{"paid":true}},"multi":false,"upsert":false},"nMatched":1,"nModified":1,"durationMillis":31}}
```

## How to fix

Add equalities on the key fields beside the `_id`. Many object mappers can be told to do that (a shard key option of
the model).

Tell the mapper the key, and it adds it to every write: mongoose `new Schema({…}, { shardKey: { customerId: 1 } })`,
Spring Data `@Sharded(shardKey = "customerId")`, MongoEngine `meta = {'shard_key': ('customerId',)}`, Mongoid
`shard_key customerId: 1`.

## When to ignore

Rare repairs by hand.

## Versions

All; from 8.0 on retryable writes of this kind check the routing table on each shard. Sources:
<https://www.mongodb.com/docs/manual/core/sharding-shard-key/>.
"#;
