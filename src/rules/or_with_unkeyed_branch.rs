//! SL104: one branch of an `$or` turns all of it into a broadcast.

use super::fan_out::FanOut;
use super::finding::{Finding, Label, Severity};
use super::rule::{Check, EventContext, Evidence, Rule, Status};
use crate::routing::Cause;

/// The rule.
pub static RULE: Rule = Rule {
    code: "SL104",
    name: "or-with-unkeyed-branch",
    summary: "a branch without the shard key turns the whole `$or` into a broadcast",
    severity: Severity::Error,
    needs: &[Evidence::Log, Evidence::Key],
    since: "0.1.0",
    status: Status::Stable,
    fan_out_rank: Some(2),
    explanation: EXPLANATION,
    page: include_str!("../../docs/rules/SL104.md"),
    check: Check::Statement(check),
};

fn check(ctx: &EventContext<'_>) -> Option<Finding> {
    let read = FanOut::broadcast_read(ctx)?;
    let Cause::OrBranchWithoutKey { or, branch } = read.cause() else { return None };
    let (field, key) = (&read.first().path, read.key);
    let message =
        format!("{} is sent to {} for the sake of one branch of its `$or`", read.subject(), read.every_shard());
    let primary = Label::new(*branch, format!("this branch has no usable predicate on `{field}`"));
    let others = vec![Label::new(*or, "so the whole `$or` bounds nothing")];
    let help =
        format!("add an equality on `{field}` to this branch, or to the filter beside the `$or` (shard key `{key}`)");
    Some(read.finding(message, primary, others, help))
}

const EXPLANATION: &str = r#"
# Why does an $or query go to all shards although it has the shard key?

## What it says

An `$or` narrows a query only if every branch bounds the first field of the shard key. One branch here does not, so
what it asks for may lie on any shard, and the whole query goes to all of them.

## Why it costs you

The branches with the key look right and are wasted: every shard is asked for all branches.

## Fires on

```js
sh.shardCollection("shop.orders", { customerId: 1 });
```

```json
{"t":{"$date":"2024-05-14T09:12:03.481+00:00"},"s":"I","c":"COMMAND","id":51803,"ctx":"conn42","msg":"Slow query","attr":{"type":"command","ns":"shop.orders","command":{"find":"orders","filter":{"$or":[{"customerId":7012},{"referrerId":7012}]},"$db":"shop"},"nShards":4,"nreturned":12,"durationMillis":310}}
```

## Silent on

```js
sh.shardCollection("shop.orders", { customerId: 1 });
```

```json
{"t":{"$date":"2024-05-14T09:12:03.481+00:00"},"s":"I","c":"COMMAND","id":51803,"ctx":"conn42","msg":"Slow query","attr":{"type":"command","ns":"shop.orders","command":{"find":"orders","filter":{"$or":[{"customerId":7012},{"customerId":7013}]},"$db":"shop"},"nShards":2,"nreturned":12,"durationMillis":31}}
```

## How to fix

Give each branch an equality on the first key field, or put one beside the `$or`. If one branch cannot have it, run
two queries: the one with the key stays cheap.

## When to ignore

If the branch without the key is the one that matters and the query is rare.

## Versions

All. Sources: <https://www.mongodb.com/docs/manual/core/sharded-cluster-query-router/>,
`src/mongo/db/query/query_planner.cpp` of the server, whose bounds the router uses.
"#;
