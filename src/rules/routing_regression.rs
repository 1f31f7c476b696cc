//! SL902: a shape is routed worse than the baseline has it. Raised when a run is held against a baseline; the words are here.

use super::finding::Severity;
use super::rule::{Check, Evidence, Rule, Status};

/// The rule.
pub static RULE: Rule = Rule {
    code: "SL902",
    name: "routing-regression",
    summary: "the baseline has this shape as targeted (or multi-shard), and it asks more shards now",
    severity: Severity::Error,
    needs: &[Evidence::Log, Evidence::Key, Evidence::Baseline],
    since: "0.1.0",
    status: Status::Stable,
    fan_out_rank: None,
    explanation: EXPLANATION,
    page: include_str!("../../docs/rules/SL902.md"),
    check: Check::Engine,
};

/// Message and help for a shape whose class was `was` at worst.
#[must_use]
pub fn worse(operation: &str, namespace: &str, was: &str, now: &str) -> (String, String) {
    let message = format!("`{operation}` on `{namespace}` was {was} in the baseline and is {now} now");
    let help = "restore the predicate on the shard key, or accept the change with `shardlint baseline update`";
    (message, help.to_owned())
}

/// Message and help for a shape that the baseline does not know and of which no other finding tells.
#[must_use]
pub fn unknown_shape(operation: &str, namespace: &str, now: &str) -> (String, String) {
    let message = format!("`{operation}` on `{namespace}` is not in the baseline and is {now}");
    let help = "add a predicate on the shard key, or accept the query with `shardlint baseline update`";
    (message, help.to_owned())
}

const EXPLANATION: &str = r#"
# Why is a query that asked one shard a broadcast now?

## What it says

The baseline recorded a query shape with a better class than it has now: it was targeted and is multi-shard or a
broadcast, or it was multi-shard and is a broadcast. All classes recorded for the shape count, so a shape that was seen
as a broadcast before is never a regression. A change from or to *unknown* is told, and is no regression either.

The shape itself is the same, so what changed is a value, the declared key, or the collation of the collection.
A query that was rewritten has another shape: it is not in the baseline and fails the run as a new one.

## Why it costs you

A query that asked one shard and asks all of them now takes capacity from every shard, and is as slow as the slowest.

## Fires on

```js
sh.shardCollection("shop.orders", { region: 1, customerId: 1 });
```

```json
{"t":{"$date":"2024-05-14T09:12:03.481+00:00"},"s":"I","c":"COMMAND","id":51803,"ctx":"conn42","msg":"Slow query","attr":{"type":"command","ns":"shop.orders","command":{"find":"orders","filter":{"customerId":7012},"$db":"shop"},"durationMillis":31}}
```

The baseline, from the time when the key was `{ customerId: 1 }`:

```json baseline
{
  "tool": "shardlint-baseline",
  "version": 1,
  "shapes": [
    {
      "namespace": "shop.orders",
      "operation": "find",
      "shape": "{ customerId: ? }",
      "fingerprint": "6edb4dcf1d5d712e8a90dbe4fe254c03",
      "class": "targeted",
      "rules": [],
      "count": 3
    }
  ],
  "findings": []
}
```

## Silent on

```js
sh.shardCollection("shop.orders", { customerId: 1, region: 1 });
```

```json
{"t":{"$date":"2024-05-14T09:12:03.481+00:00"},"s":"I","c":"COMMAND","id":51803,"ctx":"conn42","msg":"Slow query","attr":{"type":"command","ns":"shop.orders","command":{"find":"orders","filter":{"customerId":7012},"$db":"shop"},"durationMillis":31}}
```

```json baseline
{
  "tool": "shardlint-baseline",
  "version": 1,
  "shapes": [
    {
      "namespace": "shop.orders",
      "operation": "find",
      "shape": "{ customerId: ? }",
      "fingerprint": "6edb4dcf1d5d712e8a90dbe4fe254c03",
      "class": "multi-shard",
      "rules": [],
      "count": 3
    }
  ],
  "findings": []
}
```

## How to fix

Restore what bounded the first field of the key. If the change is meant, `shardlint baseline update` records it, and
the reviewer of the baseline sees it.

## When to ignore

Where the key was changed with open eyes: update the baseline in the same change.

## Versions

All. The class depends on the statement, the key and the server version, never on where chunks lie. Sources:
<https://www.mongodb.com/docs/manual/core/sharded-cluster-query-router/>.
"#;
