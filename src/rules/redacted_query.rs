//! SL004: the server has hidden the literals; the shape may still decide.

use super::finding::{Finding, Label, Severity};
use super::rule::{Check, EventContext, Evidence, Rule, Status};
use crate::routing::Class;

/// The rule.
pub static RULE: Rule = Rule {
    code: "SL004",
    name: "redacted-query",
    summary: "literals are redacted; the class is judged where the shape decides, and unknown where a value would",
    severity: Severity::Info,
    needs: &[Evidence::Log],
    since: "0.1.0",
    status: Status::Stable,
    fan_out_rank: None,
    explanation: EXPLANATION,
    page: include_str!("../../docs/rules/SL004.md"),
    check: Check::Statement(check),
};

fn check(ctx: &EventContext<'_>) -> Option<Finding> {
    let literal = ctx.event.redacted?;
    let outcome = match ctx.verdict.map(|verdict| verdict.class) {
        Some(Class::Unknown) => "and a value would decide, so it is unknown".to_owned(),
        Some(class) => format!("and the shape alone decides: {class}"),
        None => "and only the shape is known".to_owned(),
    };
    Some(Finding {
        severity: None,
        message: format!("literals of this query on `{}` are redacted, {outcome}", ctx.namespace),
        help: Some("log without `redactClientLogData` on a test system to have values judged".to_owned()),
        labels: vec![Label::new(literal, "neither value nor type is known")],
        subject: None,
        source: None,
    })
}

const EXPLANATION: &str = r####"
# What can be told from a redacted log (redactClientLogData)?

## What it says

The server was told to hide literals (`redactClientLogData`). Most verdicts need none: an equality on the whole key is
targeted whatever its value. Where a value or its type would decide (a null, an array, a string under a collation),
the query is *unknown*. A regular expression written as `/x/` is hidden like any other value, so it is taken for one;
written as `$regex` it is told apart.

## Why it costs you

It costs certainty only: an unknown verdict is never counted as good or bad.

## Fires on

```js
sh.shardCollection("shop.orders", { customerId: 1 });
```

```json
{"t":{"$date":"2024-05-14T09:12:03.481+00:00"},"s":"I","c":"COMMAND","id":51803,"ctx":"conn42","msg":"Slow query","attr":{"type":"command","ns":"shop.orders","command":{"find":"###","filter":{"customerId":"###"},"$db":"###"},"nreturned":12,"durationMillis":31}}
```

## Silent on

```js
sh.shardCollection("shop.orders", { customerId: 1 });
```

```json
{"t":{"$date":"2024-05-14T09:12:03.481+00:00"},"s":"I","c":"COMMAND","id":51803,"ctx":"conn42","msg":"Slow query","attr":{"type":"command","ns":"shop.orders","command":{"find":"orders","filter":{"customerId":7012},"$db":"shop"},"nreturned":12,"durationMillis":31}}
```

## How to fix

Nothing has to be fixed. To have values judged, log without redaction on a system with test data.

## When to ignore

Always, if redaction is a rule of the house.

## Versions

Enterprise servers, 3.4 and later. Sources:
<https://www.mongodb.com/docs/manual/reference/configuration-options/#mongodb-setting-security.redactClientLogData>.
"####;
