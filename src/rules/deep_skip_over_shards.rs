//! SL302: a deep `skip` while several shards answer: each sends what the router throws away.

use super::fan_out::FanOut;
use super::finding::{Finding, Label, Severity};
use super::rule::{Check, EventContext, Evidence, Rule, Status};
use crate::model::{Node, Statement, Verb};
/// The rule.
pub static RULE: Rule = Rule {
    code: "SL302",
    name: "deep-skip-over-shards",
    summary: "a deep `skip` over several shards: each of them sends skip + limit documents",
    severity: Severity::Warning,
    needs: &[Evidence::Log, Evidence::Key],
    since: "0.1.0",
    status: Status::Stable,
    fan_out_rank: None,
    explanation: EXPLANATION,
    page: include_str!("../../docs/rules/SL302.md"),
    check: Check::Statement(check),
};

fn check(ctx: &EventContext<'_>) -> Option<Finding> {
    let read = FanOut::read(ctx)?;
    if read.is_on_one_shard() {
        return None;
    }
    let (skip, limit) = paging(ctx.statement)?;
    let skipped = u64::try_from(skip.as_i64()?).ok().filter(|&n| n >= ctx.thresholds.deep_skip)?;
    // A limit of 0 is none, and without one nothing ends what a shard sends.
    let limit = limit.and_then(Node::as_i64).map_or(0, i64::unsigned_abs);
    let sent = (limit > 0).then(|| skipped.saturating_add(limit));
    let from_all = match (ctx.shard_count(), sent) {
        (Some(shards), Some(sent)) => format!("up to {shards} × {sent} documents are sent for it"),
        (None, Some(sent)) => format!("each shard that is asked sends up to {sent} documents for it"),
        (_, None) => "with no limit, each shard that is asked sends all that it finds".to_owned(),
    };
    let message = format!("{} skips {skipped} documents: {from_all}", read.subject());
    let primary = Label::new(skip.span, "only the router can skip when several shards answer");
    let help = "page by a range behind the last value seen, with a limit, instead of a `skip`".to_owned();
    Some(read.finding(message, primary, Vec::new(), help))
}

/// The skip and the limit of a find; in a pipeline, those behind matches and sorts only.
fn paging(statement: &Statement) -> Option<(&Node, Option<&Node>)> {
    match statement.verb {
        Verb::Find => Some((statement.skip.as_ref()?, statement.limit.as_ref())),
        Verb::Aggregate => {
            let stages = &statement.pipeline.as_ref()?.as_array()?.items;
            let is_plain = |stage: &&Node| {
                let name = stage.as_document().and_then(|stage| stage.first()).map(|field| field.name.as_str());
                matches!(name, Some("$match" | "$sort" | "$project" | "$addFields" | "$set" | "$unset"))
            };
            let mut rest = stages.iter().skip_while(is_plain).filter_map(Node::as_document);
            Some((rest.next()?.get("$skip")?, rest.next().and_then(|stage| stage.get("$limit"))))
        }
        _ => None,
    }
}

const EXPLANATION: &str = r#"
# Why does paging with skip get slower with every page on a sharded collection?

## What it says

Several shards answer a query with a `skip`. A shard cannot know which of its documents are among those to be
skipped, so the router asks each one for the first `skip + limit` documents (all of them if there is no limit),
merges them, and throws `skip` of them away. Skips of at least `deep_skip` documents (default 1000) are reported.

## Why it costs you

Page 500 of a list with 20 rows is 20 documents for the user and N × 10,000 documents on the network and in the memory
of the router, sorted and merged.

## Fires on

```js
sh.shardCollection("shop.orders", { customerId: 1 });
```

```json
{"t":{"$date":"2024-05-14T09:12:03.481+00:00"},"s":"I","c":"COMMAND","id":51803,"ctx":"conn42","msg":"Slow query","attr":{"type":"command","ns":"shop.orders","command":{"find":"orders","filter":{"customerId":{"$gte":7000}},"sort":{"customerId":1},"skip":10000,"limit":20,"$db":"shop"},"nShards":4,"nreturned":20,"durationMillis":310}}
```

## Silent on

```js
sh.shardCollection("shop.orders", { customerId: 1 });
```

```json
{"t":{"$date":"2024-05-14T09:12:03.481+00:00"},"s":"I","c":"COMMAND","id":51803,"ctx":"conn42","msg":"Slow query","attr":{"type":"command","ns":"shop.orders","command":{"find":"orders","filter":{"customerId":{"$gte":7000}},"sort":{"customerId":1},"skip":100,"limit":20,"$db":"shop"},"nShards":4,"nreturned":20,"durationMillis":310}}
```

## How to fix

Page by value: remember the last key of the page and ask for what lies behind it, `{ customerId: { $gt: last } }` with
the same sort and a limit. Add `_id` as the last field of the sort where values repeat. In mongoose replace
`.skip((page - 1) * size)`, in Spring Data a `Pageable` (which skips) by `Window` and `ScrollPosition.keyset()`, in
pymongo `.skip(n)`, by such a filter. A filter that binds the shard key moves the skip to the one shard that answers.

## When to ignore

Rare exports or administration screens where nobody waits.

## Versions

All. Sources: <https://www.mongodb.com/docs/manual/reference/method/cursor.skip/>,
`src/mongo/s/query/planner/cluster_find.cpp` of the server.
"#;
