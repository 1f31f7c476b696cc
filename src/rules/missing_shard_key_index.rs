//! SL401: no index starts with the whole key, by value.

use super::declared_index::{create_index, finding, knows_indexes, label_in};
use super::finding::{Finding, Severity};
use super::rule::{Check, DeclarationContext, Evidence, Rule, Status};
use crate::catalog::{Support, keeps_uniqueness};

/// The rule.
pub static RULE: Rule = Rule {
    code: "SL401",
    name: "missing-shard-key-index",
    summary: "no index starts with the whole shard key, in order, by value",
    severity: Severity::Error,
    needs: &[Evidence::Key, Evidence::Indexes],
    since: "0.1.0",
    status: Status::Stable,
    fan_out_rank: None,
    explanation: EXPLANATION,
    page: include_str!("../../docs/rules/SL401.md"),
    check: Check::Declaration(check),
};

fn check(ctx: &DeclarationContext<'_>, findings: &mut Vec<Finding>) {
    let collection = ctx.collection;
    let Some(key) = collection.shard_key().filter(|_| knows_indexes(collection)) else { return };
    if !matches!(collection.index_support(key), Support::Missing) {
        return;
    }
    let (home, complete) = (collection.source, collection.indexes.complete);
    let message = if complete {
        format!("no index of `{}` starts with its shard key `{key}`", collection.pattern)
    } else {
        format!(
            "no declared index of `{}` starts with its shard key `{key}`: created by itself if the collection is empty, \
             refused otherwise",
            collection.pattern
        )
    };
    let mut labels =
        vec![label_in(home, home, key.span, "needs an index that begins with it, by value and in this order")];
    for (source, index) in &collection.indexes.specs {
        let has_same_names = index.key.fields.len() >= key.fields.len()
            && index.key.first().is_some_and(|field| field.name == key.first().path)
            && keeps_uniqueness(&index.key, key);
        if has_same_names {
            let text = format!("`{index}` has the fields in another direction or kind");
            labels.push(label_in(*source, home, index.key_span, text));
        }
    }
    let mut found = finding(collection, "key", home, message, labels);
    found.help = Some(format!("create it: `{}`", create_index(&collection.pattern, key)));
    found.severity = (!complete).then_some(Severity::Warning);
    findings.push(found);
}

const EXPLANATION: &str = r#"
# Which index does a shard key need?

## What it says

A shard key needs an index that starts with all its fields, in order and by value: `{ a: -1 }` does not serve the key
`{ a: 1 }`, nor does `{ a: "hashed" }`, nor `{ b: 1, a: 1 }`. None of the known indexes does. If all indexes are known
(a dump of `getIndexes()` or `listIndexes`), this is an error; if only `createIndex` statements are, a warning,
because an empty collection gets the index by itself.

## Why it costs you

`shardCollection` refuses a collection that holds documents and lacks the index. On a sharded collection without it,
chunks cannot be split or moved.

## Fires on

```js
sh.shardCollection("shop.orders", { customerId: 1 });
```

```json
{"cursor":{"id":0,"ns":"shop.orders","firstBatch":[{"v":2,"key":{"_id":1},"name":"_id_"},{"v":2,"key":{"customerId":-1},"name":"byCustomer"}]},"ok":1}
```

## Silent on

```js
sh.shardCollection("shop.orders", { customerId: 1 });
```

```json
{"cursor":{"id":0,"ns":"shop.orders","firstBatch":[{"v":2,"key":{"_id":1},"name":"_id_"},{"v":2,"key":{"customerId":1},"name":"byCustomer"}]},"ok":1}
```

## How to fix

Create the index that the message shows, before the collection is sharded. Further fields may follow the key in it.

Error people search for: *Please create an index that starts with the proposed shard key before sharding the collection*
(InvalidOptions 72).

## When to ignore

If the collection is sharded while it is empty: the server creates the index.

## Versions

All. The index of a *hashed* key may be dropped since 5.0.22, 6.0.12 and 7.0.3; balancing then stops. Sources:
<https://www.mongodb.com/docs/manual/core/sharding-shard-key/#shard-key-indexes>.
"#;
