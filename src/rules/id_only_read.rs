//! SL112: a lookup by `_id` where `_id` does not start the key.

use super::fan_out::{FanOut, filter_of};
use super::finding::{Finding, Label, Severity};
use super::rule::{Check, EventContext, Evidence, Rule, Status};
use crate::model::{Document, Field, Value};
use crate::routing::Cause;

/// The rule.
pub static RULE: Rule = Rule {
    code: "SL112",
    name: "id-only-read",
    summary: "a lookup by `_id` while `_id` does not start the shard key asks every shard for one document",
    severity: Severity::Error,
    needs: &[Evidence::Log, Evidence::Key],
    since: "0.1.0",
    status: Status::Stable,
    fan_out_rank: Some(8),
    explanation: EXPLANATION,
    page: include_str!("../../docs/rules/SL112.md"),
    check: Check::Statement(check),
};

fn check(ctx: &EventContext<'_>) -> Option<Finding> {
    let read = FanOut::broadcast_read(ctx)?;
    let names_no_key = matches!(read.cause(), Cause::NoKeyField | Cause::PrefixHole { .. });
    if !names_no_key || read.first().path == "_id" {
        return None;
    }
    let filter = filter_of(ctx.statement)?;
    let id = filter.as_document()?.fields.iter().find(|field| is_id_equality(field))?;
    let (field, key) = (&read.first().path, read.key);
    let message = format!("{} looks up one `_id` on {}", read.subject(), read.every_shard());
    let primary =
        Label::new(filter.span, format!("`_id` alone does not say which shard: the key starts with `{field}`"));
    let others = vec![Label::new(id.name_span.join(id.node.span), "at most one shard has it")];
    let help = format!("add an equality on `{field}` to the lookup (shard key `{key}`)");
    Some(read.finding(message, primary, others, help))
}

/// Whether a member of a filter says that `_id` equals one value.
pub(super) fn is_id_equality(field: &Field) -> bool {
    field.name == "_id"
        && match &field.node.value {
            Value::Regex { .. } => false,
            Value::Document(value) => is_literal(value) || value.get("$eq").is_some(),
            _ => true,
        }
}

fn is_literal(value: &Document) -> bool {
    value.first().is_none_or(|first| !first.name.starts_with('$'))
}

const EXPLANATION: &str = r#"
# Why is findById slow on a sharded collection?

## What it says

A document is looked up by its `_id`, and `_id` does not start the shard key. The router does not know where that
`_id` is, so it asks every shard that owns a chunk.

## Why it costs you

The cheapest of all queries becomes one per shard. Such lookups are frequent: references, caches, object mappers.

## Fires on

```js
sh.shardCollection("shop.orders", { customerId: 1 });
```

```json
{"t":{"$date":"2024-05-14T09:12:03.481+00:00"},"s":"I","c":"COMMAND","id":51803,"ctx":"conn42","msg":"Slow query","attr":{"type":"command","ns":"shop.orders","command":{"find":"orders","filter":{"_id":9001},"$db":"shop"},"nShards":4,"nreturned":1,"durationMillis":310}}
```

## Silent on

```js
sh.shardCollection("shop.orders", { _id: 1 });
```

```json
{"t":{"$date":"2024-05-14T09:12:03.481+00:00"},"s":"I","c":"COMMAND","id":51803,"ctx":"conn42","msg":"Slow query","attr":{"type":"command","ns":"shop.orders","command":{"find":"orders","filter":{"_id":9001},"$db":"shop"},"nShards":1,"nreturned":1,"durationMillis":31}}
```

## How to fix

Carry the first key field together with the `_id` wherever it is stored or passed on, and put both into the filter. Or
let the `_id` hold the key value: with `{ _id: 1 }` or `{ _id: "hashed" }` as the key, lookups go to one shard.

`findById`, `findOne({ _id })`, `Model.exists`, `populate` (mongoose), `repository.findById` (Spring Data),
`Document.objects.get(id=…)` (MongoEngine) and `Model.find(id)` (Mongoid) all send `_id` alone. Use their forms with two
conditions; with mongoose, `schema.options.shardKey` adds the key to saves, **not** to finds.

## When to ignore

Rare lookups by support tools.

## Versions

All. Sources: <https://www.mongodb.com/docs/manual/core/sharding-choose-a-shard-key/>.
"#;
