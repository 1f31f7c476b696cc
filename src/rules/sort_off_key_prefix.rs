//! SL301: a sort that no shard gets from the key's index, while several shards answer.

use super::access::{is_by_fields, sort_of};
use super::fan_out::{FanOut, filter_of};
use super::finding::{Finding, Label, Severity};
use super::rule::{Check, EventContext, Evidence, Rule, Status};
use crate::model::KeyKind;
use crate::routing::FieldBounds;

/// The rule.
pub static RULE: Rule = Rule {
    code: "SL301",
    name: "sort-off-key-prefix",
    summary: "several shards answer and the sort does not start on the key's first fields: each sorts, the router merges",
    severity: Severity::Warning,
    needs: &[Evidence::Log, Evidence::Key],
    since: "0.1.0",
    status: Status::Stable,
    fan_out_rank: None,
    explanation: EXPLANATION,
    page: include_str!("../../docs/rules/SL301.md"),
    check: Check::Statement(check),
};

fn check(ctx: &EventContext<'_>) -> Option<Finding> {
    let read = FanOut::read(ctx)?;
    if read.is_on_one_shard() {
        return None;
    }
    let sort = sort_of(ctx.statement)?;
    let by = sort.as_document().filter(|sort| is_by_fields(sort))?;
    let bindings = &read.verdict.reason.bindings;
    let is_bound = |path: &str| bindings.iter().any(|b| b.path == path && b.bounds == FieldBounds::Points(1));
    let asked = by.fields.iter().find(|field| !is_bound(&field.name))?;
    let wanted = read.key.fields.iter().find(|field| !is_bound(&field.path));
    let streams = wanted.is_some_and(|field| field.kind == KeyKind::Ranged && field.path == asked.name);
    if streams {
        return None;
    }
    let key = read.key;
    let message = format!("{} sorts by `{}` over several shards, and the router merges", read.subject(), asked.name);
    let primary = Label::new(
        sort.span,
        format!("does not follow the shard key `{key}`: every shard sorts or streams by another index"),
    );
    let filter = filter_of(ctx.statement)
        .map(|filter| Label::new(filter.span, "the filter decides who is asked; a sort never saves a shard"));
    let help = format!(
        "bind `{}` in the filter so that one shard sorts, or give each shard an index for this sort",
        wanted.map_or(&read.first().path, |field| &field.path)
    );
    Some(read.finding(message, primary, filter.into_iter().collect(), help))
}

const EXPLANATION: &str = r#"
# Does a sort or a limit make a sharded query ask fewer shards?

## What it says

More than one shard answers, and the sort does not start on the first fields of the shard key (after those that the
filter binds to one value). No shard gets this order from the key's index: each sorts, or streams from another index,
and the router merges. Who is asked is decided by the filter alone: a sort or a limit never saves a shard.

## Why it costs you

Every shard that is asked sorts its whole part before the first document goes out, within its sort memory, and each
sends `skip + limit` documents of which the router throws most away.

## Fires on

```js
sh.shardCollection("shop.orders", { customerId: 1 });
```

```json
{"t":{"$date":"2024-05-14T09:12:03.481+00:00"},"s":"I","c":"COMMAND","id":51803,"ctx":"conn42","msg":"Slow query","attr":{"type":"command","ns":"shop.orders","command":{"find":"orders","filter":{"customerId":{"$gte":7000}},"sort":{"total":1},"limit":20,"$db":"shop"},"nShards":4,"nreturned":20,"durationMillis":310}}
```

## Silent on

```js
sh.shardCollection("shop.orders", { customerId: 1 });
```

```json
{"t":{"$date":"2024-05-14T09:12:03.481+00:00"},"s":"I","c":"COMMAND","id":51803,"ctx":"conn42","msg":"Slow query","attr":{"type":"command","ns":"shop.orders","command":{"find":"orders","filter":{"customerId":{"$gte":7000}},"sort":{"customerId":1},"limit":20,"$db":"shop"},"nShards":4,"nreturned":20,"durationMillis":31}}
```

## How to fix

Bind the key in the filter, so that one shard sorts alone. Otherwise give each shard an index in the order equality,
sort, range, so that it streams instead of sorting.

## When to ignore

Small results, where sorting costs nothing.

## Versions

All. Sources: <https://www.mongodb.com/docs/manual/core/sharded-cluster-query-router/>,
<https://www.mongodb.com/docs/manual/tutorial/equality-sort-range-rule/>.
"#;
