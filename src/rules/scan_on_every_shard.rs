//! SL407: a collection scan of a statement that is sent to every shard.

use super::fan_out::{FanOut, filter_of, is_batch};
use super::finding::{Finding, Label, Severity};
use super::rule::{Check, EventContext, Evidence, Rule, Status};
use crate::model::Verb;
use crate::routing::{Cause, Class};
/// The rule.
pub static RULE: Rule = Rule {
    code: "SL407",
    name: "scan-on-every-shard",
    summary: "a broadcast without an index: every shard reads its whole part of the collection",
    severity: Severity::Error,
    needs: &[Evidence::Log, Evidence::Key],
    since: "0.1.0",
    status: Status::Stable,
    fan_out_rank: None,
    explanation: EXPLANATION,
    page: include_str!("../../docs/rules/SL407.md"),
    check: Check::Statement(check),
};

/// A scan that ends early is worth a finding if it has read so many documents before.
const LONG_SCAN: u64 = 100;

fn check(ctx: &EventContext<'_>) -> Option<Finding> {
    let fan_out = FanOut::of(ctx).filter(|fan_out| fan_out.verdict.class == Class::Broadcast && !is_batch(ctx))?;
    let plan = ctx.event.plan_summary.as_ref().filter(|plan| plan.value.split(", ").any(|part| part == "COLLSCAN"))?;
    let filter = filter_of(ctx.statement)?;
    let reads_nothing = ctx.event.docs_examined.as_ref().is_some_and(|examined| examined.value == 0);
    if ends_early(ctx) {
        return None;
    }
    // Without a condition everything is wanted, and no index would save a document.
    if reads_nothing || matches!(fan_out.cause(), Cause::NoFilter) || fan_out.verdict.error.is_some() {
        return None;
    }
    let is_of_router = ctx.event.plan.as_ref().is_some_and(|plan| !plan.shards.is_empty());
    let examined = match &ctx.event.docs_examined {
        Some(examined) if is_of_router => format!(", {} documents in all", examined.value),
        Some(examined) => format!(", {} documents on the one that wrote this record", examined.value),
        None => String::new(),
    };
    let message = format!("{} scans the whole collection on {}{examined}", fan_out.subject(), fan_out.every_shard());
    let primary = Label::new(plan.span, "no index was used, and no shard is ruled out");
    let others =
        vec![Label::new(filter.span, "an index on these fields saves the scan; the shard key, the other shards")];
    let help = format!("give every shard an index for this filter, and then: {}", fan_out.add_first_field());
    Some(fan_out.finding(message, primary, others, help))
}

/// Whether the scan ended with the first documents that were found: by a limit, or because one is all that is written.
fn ends_early(ctx: &EventContext<'_>) -> bool {
    let statement = ctx.statement;
    let takes_few = match statement.verb {
        Verb::Find => statement.limit.is_some() && statement.sort.is_none(),
        Verb::FindAndModify => statement.sort.is_none(),
        Verb::Update | Verb::Delete => !statement.multi,
        _ => false,
    };
    takes_few && ctx.event.docs_examined.as_ref().is_none_or(|examined| examined.value < LONG_SCAN)
}

const EXPLANATION: &str = r#"
# Why does one query read every document of every shard (COLLSCAN)?

## What it says

The statement is a broadcast, and the plan of the record is a collection scan. So each shard reads its whole part of the
collection, and all of them together read all of it. `find({})` and pipelines without a `$match` are not meant: they
want everything. Nor is a scan that a limit ends, or the one document that is written, before it has read 100.

## Why it costs you

It is the most expensive thing that a query can be. The cost grows with the data and is the same on every added shard;
it evicts the working set from the cache of all of them at once. `SHARDING_FILTER` in such a plan is no sign of
anything: it hides orphaned documents and stands in every plan on a sharded collection.

## Fires on

```js
sh.shardCollection("shop.orders", { customerId: 1 });
```

```json
{"t":{"$date":"2024-05-14T09:12:03.481+00:00"},"s":"I","c":"COMMAND","id":51803,"ctx":"conn42","msg":"Slow query","attr":{"type":"command","ns":"shop.orders","command":{"find":"orders","filter":{"status":"open"},"$db":"shop"},"planSummary":"COLLSCAN","docsExamined":2500000,"nreturned":12,"durationMillis":4200}}
```

## Silent on

```js
sh.shardCollection("shop.orders", { customerId: 1 });
```

```json
{"t":{"$date":"2024-05-14T09:12:03.481+00:00"},"s":"I","c":"COMMAND","id":51803,"ctx":"conn42","msg":"Slow query","attr":{"type":"command","ns":"shop.orders","command":{"find":"orders","filter":{"status":"open"},"$db":"shop"},"planSummary":"IXSCAN { status: 1 }","docsExamined":2500000,"nreturned":12,"durationMillis":4200}}
```

## How to fix

Create an index for the filter first: that takes effect at once and needs no change of the application. Then bind the
shard key in the filter, so that one shard answers. SL303 and SL406 say which index serves a sort too.

## When to ignore

Jobs that are meant to read most of the collection; run them on secondaries, at night.

## Versions

All. Sources: <https://www.mongodb.com/docs/manual/tutorial/analyze-query-plan/>,
<https://www.mongodb.com/docs/manual/core/distributed-queries/>.
"#;
