//! SL500: a key pattern that the server refuses.

use super::declared_index::{finding, label_in};
use super::finding::{Finding, Label, Severity};
use super::rule::{Check, DeclarationContext, Evidence, Rule, Status};
use crate::catalog::Sharding;
use crate::model::{KeyKind, ShardKey};
use crate::text::Located;

/// The rule.
pub static RULE: Rule = Rule {
    code: "SL500",
    name: "invalid-shard-key",
    summary: "a shard key pattern that the server refuses",
    severity: Severity::Error,
    needs: &[Evidence::Key],
    since: "0.1.0",
    status: Status::Stable,
    fan_out_rank: None,
    explanation: EXPLANATION,
    page: include_str!("../../docs/rules/SL500.md"),
    check: Check::Declaration(check),
};

fn check(ctx: &DeclarationContext<'_>, findings: &mut Vec<Finding>) {
    let (collection, home) = (ctx.collection, ctx.collection.source);
    let refused = match &collection.sharding {
        Sharding::Invalid => collection
            .key_pattern
            .as_ref()
            .and_then(|pattern| ShardKey::from_pattern(pattern).err())
            .unwrap_or_default(),
        Sharding::Sharded(key) => compound_hashed(ctx, key),
        Sharding::Unsharded | Sharding::Undeclared => Vec::new(),
    };
    let Some(first) = refused.first() else { return };
    let message = format!("the shard key of `{}` is refused: {}", collection.pattern, first.value);
    let labels: Vec<Label> = refused.iter().map(|why| label_in(home, home, why.span, why.value.clone())).collect();
    let mut found = finding(collection, "key", home, message, labels);
    found.help = Some("write each field as `field: 1`, or one of them as `field: \"hashed\"`".to_owned());
    findings.push(found);
}

/// A hashed field beside others, where the version does not take that yet.
fn compound_hashed(ctx: &DeclarationContext<'_>, key: &ShardKey) -> Vec<Located<String>> {
    if key.fields.len() == 1 || ctx.version.at_least(4, 4) {
        return Vec::new();
    }
    let hashed = key.fields.iter().filter(|field| field.kind == KeyKind::Hashed);
    hashed
        .map(|field| {
            Located::new(
                format!("a hashed field beside others is taken from 4.4 on, not by {}", ctx.version),
                field.span,
            )
        })
        .collect()
}

const EXPLANATION: &str = r#"
# Why is my shard key refused?

## What it says

The pattern in the declaration is no shard key. Each field is `1` (ranged) or `"hashed"`, at most one is hashed, names
have no empty parts and do not start with `$`, and there are at most 32 of them. Descending, text and geospatial
fields are index kinds, not key kinds.

## Why it costs you

`shardCollection` refuses it (BadValue 2), and nothing about the collection can be judged here.

## Fires on

```js
sh.shardCollection("shop.orders", { customerId: -1 });
```

## Silent on

```js
sh.shardCollection("shop.orders", { customerId: 1 });
```

## How to fix

Write the fields as `1`; a descending *index* can be added beside. Hash at most one field.

Errors people search for: *Unsupported shard key pattern … Pattern must either be a single hashed field, or a list of
ascending fields* (BadValue 2), *Shard key { … } can contain at most one 'hashed' field, and/or multiple numerical
fields set to a value of 1* (BadValue 2), *Shard key is empty*.

## When to ignore

Never: the server refuses it.

## Versions

Hashed alone since 2.4; a hashed field in a compound key since 4.4. Sources:
<https://www.mongodb.com/docs/manual/core/sharding-shard-key/>, `src/mongo/db/global_catalog/shard_key_pattern.cpp` of
the server.
"#;
