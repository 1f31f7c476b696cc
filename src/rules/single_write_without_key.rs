//! SL201: a write of one document that may have to look for it on several shards.

use super::fan_out::{FanOut, SingleWrite, filter_of};
use super::finding::{Finding, Severity};
use super::id_only_read::is_id_equality;
use super::rule::{Check, EventContext, Evidence, Rule, Status};
use crate::model::{Node, Verb};
use crate::routing::Cause;

/// The rule.
pub static RULE: Rule = Rule {
    code: "SL201",
    name: "single-write-without-key",
    summary: "a write of one document neither reaches one shard nor is by exact `_id`: refused up to 7.0, a two-phase search later",
    severity: Severity::Error,
    needs: &[Evidence::Log, Evidence::Key],
    since: "0.1.0",
    status: Status::Stable,
    fan_out_rank: Some(4),
    explanation: EXPLANATION,
    page: include_str!("../../docs/rules/SL201.md"),
    check: Check::Statement(check),
};

fn check(ctx: &EventContext<'_>) -> Option<Finding> {
    let write = FanOut::write(ctx)?;
    let is_single = matches!(ctx.statement.verb, Verb::Update | Verb::Delete) && !ctx.statement.multi;
    if !is_single || *write.cause() == Cause::IdOnlyWrite {
        return None;
    }
    let filter = filter_of(ctx.statement).and_then(Node::as_document);
    let has_exact_id = filter.is_some_and(|filter| filter.fields.iter().any(is_id_equality));
    if has_exact_id && write.verdict.error.is_none() {
        return None;
    }
    let words = SingleWrite { subject: format!("{} of one document", write.subject()), by: "", missing: "" };
    Some(write.single_write(&words))
}

const EXPLANATION: &str = r#"
# Why does updateOne or deleteOne need the shard key?

## What it says

An `updateOne`, `replaceOne` or `deleteOne` has a filter that neither reaches one shard by the shard key nor is an
equality on `_id`. Up to 7.0 the router refuses it. From 7.1 on it works, as a two-phase search: all shards are read
to pick a document, then one of them writes, in an internal transaction. If the filter bounds the key to a range, this
happens whenever the range spans shards: a warning.

## Why it costs you

Before 7.1 the write fails, in production first, where there is more than one shard. Later it costs a read on all
shards and a transaction for each document; it works, so nobody notices.

## Fires on

```js
sh.shardCollection("shop.orders", { customerId: 1 });
```

```json
{"t":{"$date":"2024-05-14T09:12:03.481+00:00"},"s":"I","c":"WRITE","id":51803,"ctx":"conn42","msg":"Slow query","attr":{"type":"update","ns":"shop.orders","command":{"q":{"number":9001},"u":{"$set":{"paid":true}},"multi":false,"upsert":false},"nMatched":1,"nModified":1,"durationMillis":310}}
```

## Silent on

```js
sh.shardCollection("shop.orders", { customerId: 1 });
```

```json
{"t":{"$date":"2024-05-14T09:12:03.481+00:00"},"s":"I","c":"WRITE","id":51803,"ctx":"conn42","msg":"Slow query","attr":{"type":"update","ns":"shop.orders","command":{"q":{"customerId":9001},"u":{"$set":{"paid":true}},"multi":false,"upsert":false},"nMatched":1,"nModified":1,"durationMillis":31}}
```

## How to fix

Add equalities on the whole shard key to the filter. A document that was read before the write has the values.

Mappers drop the key from writes: mongoose filters `doc.save()` and `doc.deleteOne()` by `_id`, unless the schema says
`{ shardKey: { customerId: 1 } }`; Spring Data does unless the class has `@Sharded(shardKey = "customerId")`;
MongoEngine unless `meta = {'shard_key': ('customerId',)}`; Mongoid unless `shard_key customerId: 1`. In pymongo the
filter is yours. Errors people search for: *A single update on a sharded collection must contain an exact match on _id
… or contain the shard key* (InvalidOptions 72), *A single delete on a sharded collection must contain an exact match
on _id … or contain the shard key* (ShardKeyNotFound 61).

## When to ignore

Rare repairs by hand on 7.1 or later.

## Versions

Refused up to 7.0 (InvalidOptions 72 for updates, ShardKeyNotFound 61 for deletes); two-phase from 7.1. Sources:
<https://www.mongodb.com/docs/manual/core/sharding-shard-key/>,
<https://www.mongodb.com/docs/manual/reference/method/db.collection.updateOne/>.
"#;
