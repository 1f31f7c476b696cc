//! SL101: a read that nothing bounds. The catch-all among the findings on broadcast reads: others that say more win by rank.

use super::fan_out::FanOut;
use super::finding::{Finding, Label, Severity};
use super::rule::{Check, EventContext, Evidence, Rule, Status};
use crate::routing::Cause;

/// The rule.
pub static RULE: Rule = Rule {
    code: "SL101",
    name: "broadcast-query",
    summary: "no usable predicate on the first field of the shard key: every owning shard is asked",
    severity: Severity::Error,
    needs: &[Evidence::Log, Evidence::Key],
    since: "0.1.0",
    status: Status::Stable,
    fan_out_rank: Some(10),
    explanation: EXPLANATION,
    page: include_str!("../../docs/rules/SL101.md"),
    check: Check::Statement(check),
};

fn check(ctx: &EventContext<'_>) -> Option<Finding> {
    let read = FanOut::broadcast_read(ctx)?;
    if matches!(read.cause(), Cause::WholeClusterStage { .. }) {
        return None;
    }
    let field = &read.first().path;
    let text = match read.cause() {
        Cause::NoFilter => format!("there is no filter, so nothing bounds `{field}`"),
        _ => format!("no usable predicate on `{field}`, so no chunk can be ruled out"),
    };
    let message = format!("{} is sent to {}", read.subject(), read.every_shard());
    let primary = Label::new(read.filter_span(), text);
    Some(read.finding(message, primary, Vec::new(), read.add_first_field()))
}

const EXPLANATION: &str = r#"
# Why is my MongoDB query sent to all shards (scatter-gather)?

## What it says

The filter has no usable predicate on the first field of the shard key. The router cannot rule out a single chunk, so
it asks every shard that owns one.

## Why it costs you

The slowest shard sets the latency, every shard does work for every call, and adding shards adds work instead of
sharing it. One shard that is down fails all such queries.

## Fires on

```js
sh.shardCollection("shop.orders", { customerId: 1 });
```

```json
{"t":{"$date":"2024-05-14T09:12:03.481+00:00"},"s":"I","c":"COMMAND","id":51803,"ctx":"conn42","msg":"Slow query","attr":{"type":"command","ns":"shop.orders","command":{"find":"orders","filter":{"couponId":7012},"$db":"shop"},"nShards":4,"nreturned":12,"durationMillis":310}}
```

## Silent on

```js
sh.shardCollection("shop.orders", { customerId: 1 });
```

```json
{"t":{"$date":"2024-05-14T09:12:03.481+00:00"},"s":"I","c":"COMMAND","id":51803,"ctx":"conn42","msg":"Slow query","attr":{"type":"command","ns":"shop.orders","command":{"find":"orders","filter":{"customerId":7012},"$db":"shop"},"nShards":1,"nreturned":12,"durationMillis":31}}
```

## How to fix

Add an equality on the first key field to the filter; the application often knows the value already. If it does not,
keep a small collection that maps the value it knows to the key. If most queries lack the field, the key is the wrong
one. An index does not help: it makes each shard faster, but saves none from being asked.

Where a mapper builds the filter, give it the key too: in mongoose `Order.findOne({ _id, customerId })` instead of
`findById`, or a `pre(/^find/)` hook that adds the tenant; in Spring Data a derived query such as
`findByIdAndCustomerId`; in pymongo the field in the filter document; in Mongoid and MongoEngine a default scope.

## When to ignore

Reports that read everything on purpose, and rare administrative queries.

## Versions

All. Sources: <https://www.mongodb.com/docs/manual/core/sharded-cluster-query-router/>,
`src/mongo/s/query/shard_key_pattern_query_util.cpp` of the server.
"#;
