//! SL405: `_id` is unique on each shard only.

use super::declared_index::{finding, label_in};
use super::finding::{Finding, Severity};
use super::rule::{Check, DeclarationContext, Evidence, Rule, Status};
use crate::catalog::is_led_by_id;

/// The rule.
pub static RULE: Rule = Rule {
    code: "SL405",
    name: "id-unique-per-shard",
    summary: "`_id` neither is the shard key nor starts it: two shards can hold the same `_id`",
    severity: Severity::Warning,
    needs: &[Evidence::Key, Evidence::Indexes],
    since: "0.1.0",
    status: Status::Stable,
    fan_out_rank: None,
    explanation: EXPLANATION,
    page: include_str!("../../docs/rules/SL405.md"),
    check: Check::Declaration(check),
};

fn check(ctx: &DeclarationContext<'_>, findings: &mut Vec<Finding>) {
    let collection = ctx.collection;
    let Some(key) = collection.shard_key().filter(|key| key.first().path != "_id") else { return };
    // Statements rarely speak of `_id`; only where one relies on its uniqueness, or where a dump shows its index, is
    // there something to point at.
    let listed = collection.indexes.specs.iter();
    let id_index = listed
        .into_iter()
        .find(|(_, index)| is_led_by_id(&index.key) && (index.uniqueness().is_some() || index.key.fields.len() == 1));
    if id_index.is_none() && !collection.indexes.complete {
        return;
    }
    let home = collection.source;
    let message = format!("`_id` is unique on each shard of `{}` only: its shard key is `{key}`", collection.pattern);
    let mut labels = vec![label_in(home, home, key.span, "does not start with `_id`")];
    if let Some((source, index)) = id_index {
        labels.push(label_in(*source, home, index.key_span, "checked by each shard for itself"));
    }
    let mut found = finding(collection, "_id", home, message, labels);
    found.help = Some(
        "let the server or the driver make `_id` (an ObjectId), or make sure of its uniqueness yourself".to_owned(),
    );
    findings.push(found);
}

const EXPLANATION: &str = r#"
# Is _id unique across shards?

## What it says

Every collection has a unique index on `_id`, and each shard enforces it for its own documents. As the shard key does
not start with `_id`, two documents with the same `_id` and different key values may lie on different shards.

## Why it costs you

Nothing, as long as `_id` is made by the driver. With `_id` values of the application, duplicates go unnoticed until a
migration brings them together and fails: *E11000 duplicate key error collection: … index: _id_* (DuplicateKey 11000).

## Fires on

```js
sh.shardCollection("shop.orders", { customerId: 1 });
```

```json
{"cursor":{"id":0,"ns":"shop.orders","firstBatch":[{"v":2,"key":{"_id":1},"name":"_id_"},{"v":2,"key":{"customerId":1},"name":"customerId_1"}]},"ok":1}
```

## Silent on

```js
sh.shardCollection("shop.orders", { _id: 1 });
```

```json
{"cursor":{"id":0,"ns":"shop.orders","firstBatch":[{"v":2,"key":{"_id":1},"name":"_id_"},{"v":2,"key":{"customerId":1},"name":"customerId_1"}]},"ok":1}
```

## How to fix

Leave `_id` to the driver, or build it so that it is unique everywhere (a UUID), or start the key with `_id`.

## When to ignore

If all `_id` values are ObjectIds or UUIDs.

## Versions

All. Sources: <https://www.mongodb.com/docs/manual/core/sharding-shard-key/#unique-indexes>.
"#;
