//! SL001: the server cut a record; what is left decides, or nothing does.

use super::finding::{Finding, Label, Severity};
use super::rule::{Check, EventContext, Evidence, Rule, Status};
use crate::routing::Class;
use crate::text::Located;

/// The rule.
pub static RULE: Rule = Rule {
    code: "SL001",
    name: "truncated-record",
    summary: "the server cut this record; what is left decides the verdict, or it is unknown",
    severity: Severity::Warning,
    needs: &[Evidence::Log],
    since: "0.1.0",
    status: Status::Stable,
    fan_out_rank: None,
    explanation: EXPLANATION,
    page: include_str!("../../docs/rules/SL001.md"),
    check: Check::Statement(check),
};

fn check(ctx: &EventContext<'_>) -> Option<Finding> {
    let cut = ctx.event.truncated.as_ref()?;
    Some(truncated(cut, ctx.namespace, ctx.verdict.map(|verdict| verdict.class)))
}

/// The finding on a record that was cut, also where no statement could be read from what is left.
#[must_use]
pub fn truncated(cut: &Located<String>, namespace: &str, class: Option<Class>) -> Finding {
    let outcome = match class {
        Some(Class::Unknown) => "what was lost could decide where it goes, so it is unknown".to_owned(),
        Some(class) => format!("what is left decides: {class}"),
        None => "what was lost is not judged".to_owned(),
    };
    let place = if cut.value.is_empty() { String::new() } else { format!(" at `{}`", cut.value) };
    let help =
        "raise the limit with `db.adminCommand({ setParameter: 1, maxLogSizeKB: 64 })`, or read the profiler instead";
    Finding {
        severity: None,
        message: format!("the server cut this record of `{namespace}`; {outcome}"),
        help: Some(help.to_owned()),
        labels: vec![Label::new(cut.span, format!("cut{place}"))],
        subject: None,
        source: None,
    }
}

const EXPLANATION: &str = r#"
# Why is the verdict unknown: a truncated slow query record

## What it says

The server shortens log records beyond a limit (10 kB by default) and says so in the record. Where what is left
decides the verdict, it stands; where a lost part could decide, the query is *unknown*, which is never counted as good
or bad.

## Why it costs you

Long filters are often the interesting ones, and an unknown verdict hides them from every other rule.

## Fires on

```js
sh.shardCollection("shop.orders", { customerId: 1 });
```

```json
{"t":{"$date":"2024-05-14T09:12:03.481+00:00"},"s":"I","c":"COMMAND","id":51803,"ctx":"conn42","msg":"Slow query","attr":{"type":"command","ns":"shop.orders","command":{"find":"orders","filter":{"sku":{"$in":["a1","b2"]}}},"durationMillis":310},"truncated":{"command":{"filter":{"sku":{"$in":{"2":{"type":"string","size":14}}}}}},"size":{"command":14288}}
```

## Silent on

```js
sh.shardCollection("shop.orders", { customerId: 1 });
```

```json
{"t":{"$date":"2024-05-14T09:12:03.481+00:00"},"s":"I","c":"COMMAND","id":51803,"ctx":"conn42","msg":"Slow query","attr":{"type":"command","ns":"shop.orders","command":{"find":"orders","filter":{"sku":{"$in":["a1","b2"]}}},"durationMillis":310}}
```

## How to fix

Raise `maxLogSizeKB`, or read `system.profile` documents, which have a larger limit of their own.

## When to ignore

If the cut shapes are known and few.

## Versions

Structured logs (4.4 and later) say where they were cut; older text logs only leave dots. Sources:
<https://www.mongodb.com/docs/manual/reference/parameters/#mongodb-parameter-param.maxLogSizeKB>.
"#;
