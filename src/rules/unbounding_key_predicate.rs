//! SL106: a predicate on the first key field whose bounds cover (nearly) all of it.

use super::fan_out::FanOut;
use super::finding::{Finding, Label, Severity};
use super::rule::{Check, EventContext, Evidence, Rule, Status};
use crate::routing::Cause;

/// The rule.
pub static RULE: Rule = Rule {
    code: "SL106",
    name: "unbounding-key-predicate",
    summary: "`$ne`, `$nin`, `$not`, `$exists: true`, `$type` or an unanchored regex on the key covers all of it",
    severity: Severity::Error,
    needs: &[Evidence::Log, Evidence::Key],
    since: "0.1.0",
    status: Status::Stable,
    fan_out_rank: Some(4),
    explanation: EXPLANATION,
    page: include_str!("../../docs/rules/SL106.md"),
    check: Check::Statement(check),
};

fn check(ctx: &EventContext<'_>) -> Option<Finding> {
    let read = FanOut::broadcast_read(ctx)?;
    let Cause::NearlyFree { predicate, operator } = read.cause() else { return None };
    let (field, key) = (&read.first().path, read.key);
    let message = format!(
        "{} is sent to {}: `{operator}` on `{field}` rules out next to nothing",
        read.subject(),
        read.every_shard()
    );
    let primary = Label::new(*predicate, format!("leaves (nearly) all values of `{field}`"));
    let help = if operator.contains("regex") {
        format!("anchor the pattern with `^` and literal text, or add an equality on `{field}` (shard key `{key}`)")
    } else {
        read.add_first_field()
    };
    Some(read.finding(message, primary, Vec::new(), help))
}

const EXPLANATION: &str = r#"
# Why do $ne, $exists and regex on the shard key go to all shards?

## What it says

The filter names the first field of the shard key, but in a way that leaves nearly all its values: a negation (`$ne`,
`$nin`, `$not`), `$exists: true`, a whole type (`$type`, `$mod`), or a pattern that does not start with fixed text.
The query goes to every shard.

## Why it costs you

It reads like a query by the shard key and costs like one without: every shard works on every call.

## Fires on

```js
sh.shardCollection("shop.orders", { customerId: 1 });
```

```json
{"t":{"$date":"2024-05-14T09:12:03.481+00:00"},"s":"I","c":"COMMAND","id":51803,"ctx":"conn42","msg":"Slow query","attr":{"type":"command","ns":"shop.orders","command":{"find":"orders","filter":{"customerId":{"$ne":7012}},"$db":"shop"},"nShards":4,"nreturned":101,"durationMillis":310}}
```

## Silent on

```js
sh.shardCollection("shop.orders", { customerId: 1 });
```

```json
{"t":{"$date":"2024-05-14T09:12:03.481+00:00"},"s":"I","c":"COMMAND","id":51803,"ctx":"conn42","msg":"Slow query","attr":{"type":"command","ns":"shop.orders","command":{"find":"orders","filter":{"customerId":{"$eq":7012}},"$db":"shop"},"nShards":1,"nreturned":12,"durationMillis":31}}
```

## How to fix

Say which values are wanted instead of which are not: an equality, an `$in`, a narrow range, a pattern anchored with
`^`.

## When to ignore

Queries that want nearly all documents anyway.

## Versions

All. `analyzeShardKey` counts negations as multi-shard; they are called broadcasts here, because that is what happens.
Sources: <https://www.mongodb.com/docs/manual/core/distributed-queries/>,
`src/mongo/db/query/index_bounds_builder.cpp` of the server.
"#;
