//! SL006: a suppression that hides nothing, or is past its date. Raised at the end of a run; the words are here.

use super::finding::Severity;
use super::rule::{Check, Rule, Status};

/// The rule.
pub static RULE: Rule = Rule {
    code: "SL006",
    name: "unused-suppression",
    summary: "a suppression that matches nothing, or is past its date",
    severity: Severity::Warning,
    needs: &[],
    since: "0.1.0",
    status: Status::Stable,
    fan_out_rank: None,
    explanation: EXPLANATION,
    page: include_str!("../../docs/rules/SL006.md"),
    check: Check::Engine,
};

/// Message and help for an entry of the configuration that hid nothing.
#[must_use]
pub fn unused(rules: &str) -> (String, String) {
    (format!("this suppression of {rules} hides nothing"), "remove the entry".to_owned())
}

/// Message and help for an entry that held until the day `until`.
#[must_use]
pub fn expired(rules: &str, until: &str) -> (String, String) {
    let message = format!("this suppression of {rules} held until {until} and hides nothing any more");
    (message, "fix what it hid, or give it another date and a reason for that".to_owned())
}

/// Message and help for a comment that asks to ignore rules which did not speak of its query.
#[must_use]
pub fn comment_unused(codes: &[&str]) -> (String, String) {
    let message = match codes {
        [] => "the comment asks to ignore no rule by its code".to_owned(),
        codes => format!("the comment asks to ignore {}, which finds nothing here", codes.join(", ")),
    };
    (message, "write `shardlint: ignore SL101 (reason)` for a rule that speaks of the query, or remove it".to_owned())
}

/// Message and help for a comment that names no rule; `near` are the nearest ones.
#[must_use]
pub fn comment_names_no_rule(word: &str, near: &[&str]) -> (String, String) {
    let help = match near {
        [] => "name a rule by its code; `shardlint rules` lists them".to_owned(),
        near => format!("name a rule by its code; did you mean {}?", near.join(" or ")),
    };
    (format!("the comment asks to ignore `{word}`, which is no rule"), help)
}

const EXPLANATION: &str = r#"
# Which suppressions are not needed any more?

## What it says

An `[[ignore]]` of `shardlint.toml`, or a `shardlint: ignore …` in the comment of a query, hid no finding of this run,
or its `until` has passed. An entry that is past its date hides nothing. Entries for rules that were not run, and runs
that look at a part only (`--ns`, `--app`, `--since`, `--until`), raise nothing.

## Why it costs you

A suppression outlives its reason. The next finding that it matches is one that nobody decided about.

## Fires on

```toml
[[ignore]]
rule = "SL101"
namespace = "shop.carts"
reason = "carts are few"
```

```js
sh.shardCollection("shop.orders", { customerId: 1 });
```

```json
{"t":{"$date":"2024-05-14T09:12:03.481+00:00"},"s":"I","c":"COMMAND","id":51803,"ctx":"conn42","msg":"Slow query","attr":{"type":"command","ns":"shop.orders","command":{"find":"orders","filter":{"status":"open"},"$db":"shop"},"durationMillis":31}}
```

## Silent on

```toml
[[ignore]]
rule = "SL101"
namespace = "shop.orders"
reason = "orders are few"
```

```js
sh.shardCollection("shop.orders", { customerId: 1 });
```

```json
{"t":{"$date":"2024-05-14T09:12:03.481+00:00"},"s":"I","c":"COMMAND","id":51803,"ctx":"conn42","msg":"Slow query","attr":{"type":"command","ns":"shop.orders","command":{"find":"orders","filter":{"status":"open"},"$db":"shop"},"durationMillis":31}}
```

## How to fix

Remove the suppression. If it is past its date, fix the query, or decide anew: a new date, a new reason.

## When to ignore

Where one configuration serves logs of different parts of a system: `[rules]` with `ignore = ["SL006"]`.

## Versions

All. Sources: <https://www.mongodb.com/docs/manual/reference/command/find/> (`comment`).
"#;
