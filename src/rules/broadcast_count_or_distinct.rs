//! SL110: count and distinct on all shards.

use super::fan_out::{FanOut, filter_of};
use super::finding::{Finding, Label, Severity};
use super::rule::{Check, EventContext, Evidence, Rule, Status};
use crate::model::Verb;

/// The rule.
pub static RULE: Rule = Rule {
    code: "SL110",
    name: "broadcast-count-or-distinct",
    summary: "count or distinct on all shards; a plain count may include orphaned documents",
    severity: Severity::Warning,
    needs: &[Evidence::Log, Evidence::Key],
    since: "0.1.0",
    status: Status::Stable,
    fan_out_rank: Some(9),
    explanation: EXPLANATION,
    page: include_str!("../../docs/rules/SL110.md"),
    check: Check::Statement(check),
};

fn check(ctx: &EventContext<'_>) -> Option<Finding> {
    let read = FanOut::broadcast_read(ctx)?;
    let field = &read.first().path;
    let is_estimate = filter_of(ctx.statement).and_then(|filter| filter.as_document()).is_none_or(|f| f.is_empty());
    let text = match ctx.statement.verb {
        Verb::Distinct => {
            format!("no usable predicate on `{field}`: each shard sends its values, the router merges them")
        }
        Verb::Count if is_estimate => {
            "counts the entries of every shard, orphaned documents of migrations too".to_owned()
        }
        Verb::Count => format!("no usable predicate on `{field}`, so every shard counts"),
        _ => return None,
    };
    let message = format!("{} is sent to {}", read.subject(), read.every_shard());
    let primary = Label::new(read.filter_span(), text);
    let help = if is_estimate && ctx.statement.verb == Verb::Count {
        "use `countDocuments()` where the number has to be exact, or keep a counter".to_owned()
    } else {
        read.add_first_field()
    };
    Some(read.finding(message, primary, Vec::new(), help))
}

const EXPLANATION: &str = r#"
# Why are count and distinct slow, or wrong, on a sharded collection?

## What it says

A `count` or `distinct` without a usable predicate on the first field of the shard key is answered by every shard. A
`count` without a filter takes each shard's own number, which may include orphaned documents: copies that a migration
has left behind.

## Why it costs you

Every shard works on every call. `distinct` sends all values of every shard to the router, which removes what is
double.

## Fires on

```js
sh.shardCollection("shop.orders", { customerId: 1 });
```

```json
{"t":{"$date":"2024-05-14T09:12:03.481+00:00"},"s":"I","c":"COMMAND","id":51803,"ctx":"conn42","msg":"Slow query","attr":{"type":"command","ns":"shop.orders","command":{"count":"orders","query":{"couponId":7012},"$db":"shop"},"durationMillis":310}}
```

## Silent on

```js
sh.shardCollection("shop.orders", { customerId: 1 });
```

```json
{"t":{"$date":"2024-05-14T09:12:03.481+00:00"},"s":"I","c":"COMMAND","id":51803,"ctx":"conn42","msg":"Slow query","attr":{"type":"command","ns":"shop.orders","command":{"count":"orders","query":{"customerId":7012},"$db":"shop"},"durationMillis":31}}
```

## How to fix

Add an equality on the first key field. Where a total is shown often, keep a counter or a summary document. Use
`countDocuments()` where orphaned documents must not count.

`Page` of Spring Data counts for every page: take `Slice` or `Window`. mongoose's paginate plugins count as well
(`pagination: false`, or `useEstimatedCount`).

## When to ignore

Rare totals, and `estimatedDocumentCount()` used as what it is.

## Versions

All. Sources: <https://www.mongodb.com/docs/manual/reference/command/count/#accuracy-after-unexpected-shutdown>,
<https://www.mongodb.com/docs/manual/reference/command/distinct/>.
"#;
