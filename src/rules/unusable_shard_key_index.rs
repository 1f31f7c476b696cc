//! SL402: indexes start with the key, but none can carry it.

use super::declared_index::{create_index, finding, label_in};
use super::finding::{Finding, Label, Severity};
use super::rule::{Check, DeclarationContext, Evidence, Rule, Status};
use crate::catalog::{Candidate, Collection, Support, Unfit};
use crate::model::ShardKey;
use crate::text::{SourceId, Span};

/// The rule.
pub static RULE: Rule = Rule {
    code: "SL402",
    name: "unusable-shard-key-index",
    summary: "the only index that starts with the key is sparse, partial, hidden, multikey or has a collation",
    severity: Severity::Error,
    needs: &[Evidence::Key, Evidence::Indexes],
    since: "0.1.0",
    status: Status::Stable,
    fan_out_rank: None,
    explanation: EXPLANATION,
    page: include_str!("../../docs/rules/SL402.md"),
    check: Check::Declaration(check),
};

fn check(ctx: &DeclarationContext<'_>, findings: &mut Vec<Finding>) {
    let collection = ctx.collection;
    let Some(key) = collection.shard_key() else { return };
    let Support::Unusable(candidates) = collection.index_support(key) else { return };
    let Some(first) = candidates.first() else { return };
    let home = first.source;
    let mut reasons: Vec<&str> = Vec::new();
    let mut labels: Vec<Label> = Vec::new();
    for candidate in &candidates {
        for unfit in &candidate.unfit {
            let (word, text, place) = words(*unfit);
            if !reasons.contains(&word) {
                reasons.push(word);
            }
            let span = place.or(candidate.index.map(|index| index.key_span)).unwrap_or(key.span);
            labels.push(label_in(candidate.source, home, span, text));
        }
    }
    labels.push(label_in(collection.source, home, key.span, format!("the shard key `{key}` needs an index")));
    let message = format!(
        "no index of `{}` can carry its shard key `{key}`: what starts with it {}",
        collection.pattern,
        reasons.join(", ")
    );
    let mut found = finding(collection, "key", home, message, labels);
    found.help = Some(format!("create a plain one: `{}`", create_index(&collection.pattern, key)));
    let is_certain = collection.indexes.complete
        || candidates
            .iter()
            .any(|candidate| candidate.index.is_none() || stands_in_the_way(collection, key, candidate));
    found.severity = (!is_certain).then_some(Severity::Warning);
    findings.push(found);
}

/// Whether a statement makes sharding fail even if the collection is empty: it stands before the sharding, and has the
/// pattern and the name of the index that the server would create.
fn stands_in_the_way(collection: &Collection, key: &ShardKey, candidate: &Candidate<'_>) -> bool {
    let place = |source: SourceId, span: Span| (source, span.start);
    candidate.index.is_some_and(|index| {
        index.name.is_none()
            && index.key.fields.len() == key.fields.len()
            && candidate.source == collection.source
            && place(candidate.source, index.span) < place(collection.source, key.span)
    })
}

/// What is wrong in a word, in a sentence, and where.
fn words(unfit: Unfit) -> (&'static str, &'static str, Option<Span>) {
    match unfit {
        Unfit::Sparse(span) => ("is sparse", "a sparse index leaves out documents", Some(span)),
        Unfit::Partial(span) => ("is partial", "a partial index leaves out documents", Some(span)),
        Unfit::Hidden(span) => ("is hidden", "a hidden index is not used", Some(span)),
        Unfit::Multikey(span) => ("is multikey", "an indexed field holds arrays", Some(span)),
        Unfit::Collation(span) => {
            ("has a collation", "chunks are ordered by the simple collation, this index is not", span)
        }
        Unfit::HashSeed(span) => ("has a hash seed", "the key is hashed with the default seed", Some(span)),
        Unfit::Wildcard(span) => ("is a wildcard index", "a wildcard index does not carry a shard key", Some(span)),
    }
}

const EXPLANATION: &str = r#"
# Why can this index not support the shard key?

## What it says

An index starts with the shard key, but cannot carry it, because it is sparse, partial, hidden, multikey, has a
collation other than simple or a hash seed of its own. No other index does it either. A `createIndex` statement alone
is an error only if it also keeps the server from creating the right index by itself; otherwise it is a warning.

## Why it costs you

`shardCollection` refuses a collection that holds documents. It looks as if the index were there, so the refusal
surprises: *Please create an index that starts with the proposed shard key before sharding the collection*, or
*couldn't find valid index for shard key* (InvalidOptions 72).

## Fires on

```js
db.getSiblingDB("shop").orders.createIndex({ customerId: 1 }, { sparse: true });
sh.shardCollection("shop.orders", { customerId: 1 });
```

## Silent on

```js
db.getSiblingDB("shop").orders.createIndex({ customerId: 1 }, { sparse: false });
sh.shardCollection("shop.orders", { customerId: 1 });
```

## How to fix

Create a plain index on the key. If the collection has a default collation, say `collation: { locale: "simple" }`.

## When to ignore

If the collection is sharded while it is empty and the special index has a name of its own.

## Versions

All. Sources: <https://www.mongodb.com/docs/manual/core/sharding-shard-key/#shard-key-indexes>,
`src/mongo/db/s/shard_key_index_util.cpp` of the server.
"#;
