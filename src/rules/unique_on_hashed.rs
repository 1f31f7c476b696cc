//! SL404: uniqueness declared where it can only be by hash or by collation.

use super::declared_index::{finding, label_in};
use super::finding::{Finding, Severity};
use super::rule::{Check, DeclarationContext, Evidence, Rule, Status};
use crate::catalog::{is_led_by_id, keeps_uniqueness};

/// The rule.
pub static RULE: Rule = Rule {
    code: "SL404",
    name: "unique-on-hashed",
    summary: "a hashed index or key declared unique, or a unique index with a collation",
    severity: Severity::Error,
    needs: &[Evidence::Key, Evidence::Indexes],
    since: "0.1.0",
    status: Status::Stable,
    fan_out_rank: None,
    explanation: EXPLANATION,
    page: include_str!("../../docs/rules/SL404.md"),
    check: Check::Declaration(check),
};

/// The release line that refuses unique indexes with a collation.
const COLLATION_REFUSED: (u32, u32) = (9, 0);

fn check(ctx: &DeclarationContext<'_>, findings: &mut Vec<Finding>) {
    let collection = ctx.collection;
    for (source, index) in &collection.indexes.specs {
        if let (Some(unique), Some(hashed)) = (index.unique, index.hashed_part()) {
            let message = format!("the hashed index `{index}` of `{}` cannot be unique", collection.pattern);
            let labels = vec![
                label_in(*source, *source, unique, "refused together with a hashed field"),
                label_in(*source, *source, hashed, "holds hashes, and different values may have the same"),
            ];
            let mut found = finding(collection, &index.name_or_default(), *source, message, labels);
            found.help = Some("create a second, plain index with `unique: true` on the field".to_owned());
            findings.push(found);
        }
    }
    let Some(key) = collection.shard_key() else { return };
    if let Some(unique) = collection.unique_key_span().filter(|_| key.is_hashed()) {
        let home = collection.source;
        let message = format!("the hashed shard key `{key}` of `{}` cannot be declared unique", collection.pattern);
        let labels = vec![
            label_in(home, home, unique, "refused for a hashed key"),
            label_in(home, home, key.span, "the shard key"),
        ];
        let mut found = finding(collection, "key", home, message, labels);
        found.help =
            Some("shard without `unique`, and create a plain unique index that the key's fields lead".to_owned());
        findings.push(found);
    } else if !key.is_hashed() {
        collated(ctx, findings);
    }
}

/// Unique indexes with a collation, where the key leads them.
fn collated(ctx: &DeclarationContext<'_>, findings: &mut Vec<Finding>) {
    let collection = ctx.collection;
    let Some(key) = collection.shard_key() else { return };
    for (source, index) in &collection.indexes.specs {
        let Some(unique) = index.uniqueness() else { continue };
        let Some(collation) = collection.index_collation(index) else { continue };
        if is_led_by_id(&index.key) || !keeps_uniqueness(&index.key, key) || index.hashed_part().is_some() {
            continue;
        }
        let (major, minor) = COLLATION_REFUSED;
        let is_refused = ctx.version.at_least(major, minor);
        let outcome = if is_refused { "is refused" } else { "is unique on each shard only" };
        let assumed = if ctx.version_assumed { "assuming " } else { "" };
        let message = format!(
            "the unique index `{index}` of `{}` {outcome}: it has a collation ({assumed}MongoDB {})",
            collection.pattern, ctx.version
        );
        let mut labels = vec![label_in(*source, *source, unique, "unique under the collation")];
        if index.collation.is_some() {
            labels.push(label_in(
                *source,
                *source,
                collation.span,
                "values equal under it may lie on different shards",
            ));
        }
        let mut found = finding(collection, &index.name_or_default(), *source, message, labels);
        found.help =
            Some("give the index `collation: { locale: \"simple\" }`, and store a normalised value".to_owned());
        found.severity = (!is_refused).then_some(Severity::Warning);
        findings.push(found);
    }
}

const EXPLANATION: &str = r#"
# Can a hashed index or a hashed shard key be unique?

## What it says

A hashed index cannot be unique, and so a hashed shard key cannot be declared unique. Neither can a unique index with
a collation other than simple be trusted: values that are equal under it may lie on different shards. Servers up to
8.x accept that (a warning), later ones refuse it (an error).

## Why it costs you

The statement fails (*Currently hashed indexes cannot guarantee uniqueness. Use a regular index*, 16764), or, with a
collation, seems to work and lets doubles in.

## Fires on

```js
sh.shardCollection("shop.sessions", { token: "hashed" }, true);
db.getSiblingDB("shop").sessions.createIndex({ token: "hashed" });
```

## Silent on

```js
sh.shardCollection("shop.sessions", { token: "hashed" }, false);
db.getSiblingDB("shop").sessions.createIndex({ token: "hashed" });
```

## How to fix

Create a plain unique index on the same field beside the hashed one: equal values have equal hashes, so they meet on
one shard. Use the simple collation for unique indexes and store a normalised value.

## When to ignore

Never for hashed fields: the server refuses it.

## Versions

Hashed: all. Unique indexes with a collation: accepted up to 8.x. On a hashed key they are accepted by all. Sources:
<https://www.mongodb.com/docs/manual/core/indexes/index-types/index-hashed/>,
<https://www.mongodb.com/docs/manual/core/sharding-shard-key/#unique-indexes>.
"#;
