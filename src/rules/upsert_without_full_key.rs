//! SL204: an upsert that does not say on which shard the new document belongs.

use super::fan_out::{FanOut, version_words};
use super::finding::{Finding, Label, Severity};
use super::rule::{Check, EventContext, Evidence, Rule, Status};

/// The rule.
pub static RULE: Rule = Rule {
    code: "SL204",
    name: "upsert-without-full-key",
    summary: "an upsert without equalities on the whole key: refused up to 7.0, multi upserts in all versions",
    severity: Severity::Error,
    needs: &[Evidence::Log, Evidence::Key],
    since: "0.1.0",
    status: Status::Stable,
    fan_out_rank: Some(1),
    explanation: EXPLANATION,
    page: include_str!("../../docs/rules/SL204.md"),
    check: Check::Statement(check),
};

fn check(ctx: &EventContext<'_>) -> Option<Finding> {
    let write = FanOut::write(ctx)?;
    if !ctx.statement.upsert {
        return None;
    }
    let two_phase = ctx.version.at_least(7, 1) && !ctx.statement.multi;
    let outcome = if two_phase {
        "searches all shards before it can insert, in two phases"
    } else {
        "is refused: it does not say where a new document belongs"
    };
    let message = format!("upsert by {} {outcome} ({})", write.subject(), version_words(ctx));
    let fields = write.unbound_fields();
    let primary = Label::new(write.filter_span(), format!("no equality on {fields}"));
    let help = format!("add equalities on the whole shard key `{}` to the filter", write.key);
    Some(write.finding(message, primary, Vec::new(), help))
}

const EXPLANATION: &str = r#"
# Why does my upsert fail on a sharded collection: full shard key required?

## What it says

An upsert inserts a document if none matches, and the router has to know where. Its filter has no equality for each
field of the shard key. Up to 7.0 the router refuses that, even if the filter stays on one shard; from 7.1 on it
searches all shards first. Upserts with `multi: true` are refused in all versions.

## Why it costs you

Before 7.1 the write fails. Later each upsert costs a read on all shards and an internal transaction.

## Fires on

```js
sh.shardCollection("shop.stock", { sku: 1 });
```

```json
{"t":{"$date":"2024-05-14T09:12:03.481+00:00"},"s":"I","c":"WRITE","id":51803,"ctx":"conn42","msg":"Slow query","attr":{"type":"update","ns":"shop.stock","command":{"q":{"ean":40551},"u":{"$inc":{"count":1}},"multi":false,"upsert":true},"nMatched":1,"nModified":1,"durationMillis":310}}
```

## Silent on

```js
sh.shardCollection("shop.stock", { sku: 1 });
```

```json
{"t":{"$date":"2024-05-14T09:12:03.481+00:00"},"s":"I","c":"WRITE","id":51803,"ctx":"conn42","msg":"Slow query","attr":{"type":"update","ns":"shop.stock","command":{"q":{"sku":40551},"u":{"$inc":{"count":1}},"multi":false,"upsert":true},"nMatched":1,"nModified":1,"durationMillis":31}}
```

## How to fix

Put equalities on all key fields into the filter; they become part of the document that is inserted.

mongoose's `findOneAndUpdate(…, { upsert: true })`, Spring Data's `upsert(query, update)` and pymongo's `update_one(…,
upsert=True)` send the filter as it is: it needs an equality on every field of the key. Errors people search for:
*Failed to target upsert by query :: could not extract exact shard key* (ShardKeyNotFound 61), *An upsert on a sharded
collection must contain the shard key and have the simple collation*.

## When to ignore

Never before 7.1; later, rare upserts only.

## Versions

Refused up to 7.0 (ShardKeyNotFound 61); two-phase from 7.1; with `multi: true` refused in all versions. Sources:
<https://www.mongodb.com/docs/manual/reference/method/db.collection.update/#upsert-on-a-sharded-collection>.
"#;
