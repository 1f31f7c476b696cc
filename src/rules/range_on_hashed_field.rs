//! SL103: a predicate on a hashed first field that only hashes of single values could answer.

use super::fan_out::FanOut;
use super::finding::{Finding, Label, Severity};
use super::rule::{Check, EventContext, Evidence, Rule, Status};
use crate::routing::Cause;

/// The rule.
pub static RULE: Rule = Rule {
    code: "SL103",
    name: "range-on-hashed-field",
    summary: "a range on a hashed first field bounds nothing; equality and `$in` do",
    severity: Severity::Error,
    needs: &[Evidence::Log, Evidence::Key],
    since: "0.1.0",
    status: Status::Stable,
    fan_out_rank: Some(3),
    explanation: EXPLANATION,
    page: include_str!("../../docs/rules/SL103.md"),
    check: Check::Statement(check),
};

fn check(ctx: &EventContext<'_>) -> Option<Finding> {
    let read = FanOut::broadcast_read(ctx)?;
    let Cause::RangeOnHashed { predicate } = read.cause() else { return None };
    let (field, key) = (&read.first().path, read.key);
    let message = format!(
        "{} is sent to {}: `{field}` is hashed, and a range says nothing about hashes",
        read.subject(),
        read.every_shard()
    );
    let primary = Label::new(*predicate, format!("bounds no hash of `{field}`; only equality and `$in` do"));
    let help = format!("ask for single values of `{field}` with an equality or `$in` (shard key `{key}`)");
    Some(read.finding(message, primary, Vec::new(), help))
}

const EXPLANATION: &str = r#"
# Why does a range query on a hashed shard key go to all shards?

## What it says

The first field of the shard key is hashed, and the filter has a range, a pattern or a negation on it. Neighbouring
values have unrelated hashes, so such a predicate bounds nothing: the query goes to every shard. Even `$gte` and
`$lte` with the same value are a range.

## Why it costs you

Every shard is asked, and none can use the hashed index for a range either: each needs another index, or scans.

## Fires on

```js
sh.shardCollection("shop.events", { deviceId: "hashed" });
```

```json
{"t":{"$date":"2024-05-14T09:12:03.481+00:00"},"s":"I","c":"COMMAND","id":51803,"ctx":"conn42","msg":"Slow query","attr":{"type":"command","ns":"shop.events","command":{"find":"events","filter":{"deviceId":{"$gte":5000}},"$db":"shop"},"nShards":4,"nreturned":900,"durationMillis":310}}
```

## Silent on

```js
sh.shardCollection("shop.events", { deviceId: "hashed" });
```

```json
{"t":{"$date":"2024-05-14T09:12:03.481+00:00"},"s":"I","c":"COMMAND","id":51803,"ctx":"conn42","msg":"Slow query","attr":{"type":"command","ns":"shop.events","command":{"find":"events","filter":{"deviceId":{"$eq":5000}},"$db":"shop"},"nShards":1,"nreturned":9,"durationMillis":31}}
```

## How to fix

Ask for single values: an equality, or `$in` with few members. If ranges are what the application needs, a ranged or a
compound key serves it; `reshardCollection` (5.0 and later) can change `{ a: "hashed" }` to `{ a: 1 }`.

## When to ignore

Rare exports over a range of a key that is otherwise used by equality.

## Versions

All. Sources: <https://www.mongodb.com/docs/manual/core/hashed-sharding/>.
"#;
