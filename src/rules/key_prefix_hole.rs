//! SL102: later fields of the key are in the filter, the first is not.

use super::fan_out::FanOut;
use super::finding::{Finding, Label, Severity};
use super::rule::{Check, EventContext, Evidence, Rule, Status};
use crate::routing::Cause;

/// The rule.
pub static RULE: Rule = Rule {
    code: "SL102",
    name: "key-prefix-hole",
    summary: "later fields of the shard key are present, the first is not, so they do not route",
    severity: Severity::Error,
    needs: &[Evidence::Log, Evidence::Key],
    since: "0.1.0",
    status: Status::Stable,
    fan_out_rank: Some(7),
    explanation: EXPLANATION,
    page: include_str!("../../docs/rules/SL102.md"),
    check: Check::Statement(check),
};

fn check(ctx: &EventContext<'_>) -> Option<Finding> {
    let read = FanOut::broadcast_read(ctx)?;
    let Cause::PrefixHole { present } = read.cause() else { return None };
    let field = &read.first().path;
    let message = format!(
        "{} is sent to {}: it has later fields of the key, but not `{field}`",
        read.subject(),
        read.every_shard()
    );
    let primary = Label::new(read.filter_span(), format!("no predicate on `{field}`, the first field of the key"));
    let text = format!("does not route without `{field}` before it in the key");
    let others = present.iter().map(|span| Label::new(*span, text.clone())).collect();
    Some(read.finding(message, primary, others, read.add_first_field()))
}

const EXPLANATION: &str = r#"
# Why does a query with part of a compound shard key still go to all shards?

## What it says

The filter has predicates on later fields of a compound shard key, but none on its first field. Chunks are ordered by
the first field, so a value of a later one may lie in any of them: the query goes to every shard.

## Why it costs you

It looks as if the query used the shard key, and it costs as much as one that does not: every shard works on every
call, and the slowest one sets the latency.

## Fires on

```js
sh.shardCollection("shop.orders", { customerId: 1, createdAt: 1 });
```

```json
{"t":{"$date":"2024-05-14T09:12:03.481+00:00"},"s":"I","c":"COMMAND","id":51803,"ctx":"conn42","msg":"Slow query","attr":{"type":"command","ns":"shop.orders","command":{"find":"orders","filter":{"couponId":7012,"createdAt":{"$gte":{"$date":"2024-05-01T00:00:00.000Z"}}},"$db":"shop"},"nShards":4,"nreturned":12,"durationMillis":310}}
```

## Silent on

```js
sh.shardCollection("shop.orders", { customerId: 1, createdAt: 1 });
```

```json
{"t":{"$date":"2024-05-14T09:12:03.481+00:00"},"s":"I","c":"COMMAND","id":51803,"ctx":"conn42","msg":"Slow query","attr":{"type":"command","ns":"shop.orders","command":{"find":"orders","filter":{"customerId":7012,"createdAt":{"$gte":{"$date":"2024-05-01T00:00:00.000Z"}}},"$db":"shop"},"nShards":1,"nreturned":12,"durationMillis":31}}
```

## How to fix

Add an equality on the first key field. If queries usually know only the later field, the fields of the key are in the
wrong order for them.

## When to ignore

Rare queries whose first field is not known by design.

## Versions

All. Sources: <https://www.mongodb.com/docs/manual/core/sharded-cluster-query-router/>,
`src/mongo/s/query/shard_key_pattern_query_util.cpp` of the server.
"#;
