//! SL403: uniqueness that no shard can keep alone.

use super::declared_index::{finding, label_in};
use super::finding::{Finding, Severity};
use super::rule::{Check, DeclarationContext, Evidence, Rule, Status};
use crate::catalog::{Collection, RefusedUniqueKey, keeps_uniqueness};
use crate::model::{IndexSpec, ShardKey};
use crate::text::{SourceId, Span};

/// The rule.
pub static RULE: Rule = Rule {
    code: "SL403",
    name: "illegal-unique-index",
    summary: "a unique index that neither `_id` nor the whole shard key leads: sharding or creating it is refused",
    severity: Severity::Error,
    needs: &[Evidence::Key, Evidence::Indexes],
    since: "0.1.0",
    status: Status::Stable,
    fan_out_rank: None,
    explanation: EXPLANATION,
    page: include_str!("../../docs/rules/SL403.md"),
    check: Check::Declaration(check),
};

fn check(ctx: &DeclarationContext<'_>, findings: &mut Vec<Finding>) {
    let collection = ctx.collection;
    let Some(key) = collection.shard_key() else { return };
    for (source, index) in &collection.indexes.specs {
        let is_hashed_unique = index.unique.is_some() && index.hashed_part().is_some();
        if let Some(unique) = index.uniqueness().filter(|_| !is_hashed_unique && !keeps_uniqueness(&index.key, key)) {
            findings.push(illegal(collection, key, (*source, index), unique));
        }
    }
    // A hashed key cannot be unique at all, which is SL404's to say.
    let unique_key = collection.unique_key_span().filter(|_| !key.is_hashed());
    if let (Some(unique), Some(refused)) = (unique_key, collection.refused_unique_key(key)) {
        findings.push(refused_key(collection, key, unique, &refused));
    }
}

fn illegal(collection: &Collection, key: &ShardKey, (home, index): (SourceId, &IndexSpec), unique: Span) -> Finding {
    let fields: Vec<String> = index.key.fields.iter().map(|field| format!("`{}`", field.name)).collect();
    let message = format!(
        "the unique index `{index}` of `{}` is refused: the shard key `{key}` does not lead it",
        collection.pattern
    );
    let option = if index.unique.is_some() { "unique" } else { "unique later" };
    let labels = vec![
        label_in(home, home, unique, format!("{option}, which each shard can only check for itself")),
        label_in(home, home, index.key_span, format!("does not begin with the fields of `{key}`")),
        label_in(collection.source, home, key.span, "the shard key"),
    ];
    let mut found = finding(collection, &index.name_or_default(), home, message, labels);
    found.help = Some(format!(
        "lead the index with the key, which keeps {} unique per key value only, or shard by {}",
        fields.join(", "),
        fields.join(", ")
    ));
    found
}

fn refused_key(collection: &Collection, key: &ShardKey, unique: Span, refused: &RefusedUniqueKey<'_>) -> Finding {
    let home = collection.source;
    let (source, index, text) = match refused {
        RefusedUniqueKey::ExactIndexNotUnique(source, index) => (*source, *index, "the index on the key is not unique"),
        RefusedUniqueKey::OnlyLongerIndexes(source, index) => {
            (*source, *index, "longer than the key: it does not make the key unique")
        }
    };
    let message = format!("the shard key `{key}` of `{}` is declared unique, and {text}", collection.pattern);
    let labels = vec![
        label_in(home, home, unique, "unique, so a unique index on exactly the key is needed"),
        label_in(source, home, index.key_span, text),
    ];
    let mut found = finding(collection, "key", home, message, labels);
    found.help = Some(format!("create the index on `{key}` with `unique: true`, or shard without `unique`"));
    found
}

const EXPLANATION: &str = r#"
# Why can I not have a unique index on a sharded collection?

## What it says

Each shard checks uniqueness among its own documents only. So a unique index on a sharded collection has to begin with
the fields of the shard key, in order (directions do not matter), or with `_id`. This one does not. `prepareUnique`
counts as unique. The rule also fires if the key itself is declared unique and the index on it is not.

## Why it costs you

Creating such an index on a sharded collection fails (CannotCreateIndex 67); sharding a collection that has one is
refused (InvalidOptions 72). Usually that is noticed on the day of the migration.

## Fires on

```js
sh.shardCollection("shop.customers", { region: 1 });
db.getSiblingDB("shop").customers.createIndex({ email: 1 }, { unique: true });
```

## Silent on

```js
sh.shardCollection("shop.customers", { email: 1 });
db.getSiblingDB("shop").customers.createIndex({ email: 1 }, { unique: true });
```

## How to fix

Lead the index with the key (`{ region: 1, email: 1 }`): the field is then unique per key value only. Or make the
field the shard key. Or keep a small collection, sharded by that field, in which the application reserves values.

Unique indexes come from mappers as well: `unique: true` on a path (mongoose, with `autoIndex`), `@Indexed(unique =
true)` (Spring Data), `unique=True` (MongoEngine), `index({ … }, unique: true)` (Mongoid). Errors people search for:
*cannot create unique index over { … } with shard key pattern { … }* (CannotCreateIndex 67), *can't shard collection …
with unique index on …* (InvalidOptions 72).

## When to ignore

Never: the server refuses it.

## Versions

All; `prepareUnique` since 6.0. Sources:
<https://www.mongodb.com/docs/manual/core/sharding-shard-key/#unique-indexes>, `src/mongo/db/s/shard_key_util.cpp` of
the server.
"#;
