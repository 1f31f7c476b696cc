//! SL508: the chunks of a GridFS bucket, sharded by something that does not keep a file together.

use super::declared_index::{finding, label_in};
use super::finding::Severity;
use super::rule::{Check, Evidence, Rule, Status};
use super::totals::{Cost, NamespaceContext, NamespaceFinding, calls};
use crate::model::{KeyKind, ShardKey};
/// The rule.
pub static RULE: Rule = Rule {
    code: "SL508",
    name: "gridfs-key",
    summary: "the chunks of a GridFS bucket are sharded by a key that spreads or hides the parts of a file",
    severity: Severity::Warning,
    needs: &[Evidence::Key],
    since: "0.1.0",
    status: Status::Stable,
    fan_out_rank: None,
    explanation: EXPLANATION,
    page: include_str!("../../docs/rules/SL508.md"),
    check: Check::Namespace(check),
};

fn check(ctx: &NamespaceContext<'_>, findings: &mut Vec<NamespaceFinding>) {
    let (collection, namespace) = (ctx.collection, ctx.totals.namespace);
    let Some(key) = collection.shard_key().filter(|key| !is_fit(key)) else { return };
    let asked = asked_by_file(ctx);
    if !is_bucket(ctx, key, asked) {
        return;
    }
    let home = collection.source;
    let place = key.position("files_id");
    let (message, text) = match place {
        Some(0) => (
            format!("the shard key `{key}` of `{namespace}` splits files by a field that drivers do not ask for"),
            "`files_id` leads, so reads go where its range lies; `n` behind it would keep the parts in order",
        ),
        Some(_) => (
            format!("`{namespace}` holds parts of files, and its shard key `{key}` does not begin with `files_id`"),
            "drivers ask by `files_id`, which routes only in front",
        ),
        None => (
            format!("`{namespace}` holds parts of files, and its shard key `{key}` has no `files_id`"),
            "drivers ask by `files_id`: every shard",
        ),
    };
    let told = if asked.calls > 0 { format!(" ({} in the log)", calls(asked.calls)) } else { String::new() };
    let mut found =
        finding(collection, "key", home, message, vec![label_in(home, home, key.span, format!("{text}{told}"))]);
    found.severity = (place == Some(0)).then_some(Severity::Info);
    found.help =
        Some("shard it by `{ files_id: 1, n: 1 }`, `{ files_id: 1 }` or `{ files_id: \"hashed\" }`".to_owned());
    findings.push(NamespaceFinding { finding: found, cost: asked });
}

/// The calls that ask for the parts of a file.
fn asked_by_file(ctx: &NamespaceContext<'_>) -> Cost {
    let mut asked = Cost::default();
    let shapes = ctx.totals.shapes.iter().filter(|shape| shape.shape.contains("files_id:"));
    shapes.for_each(|shape| asked.add(shape.cost));
    asked
}

/// A name that ends in `.chunks` is not enough: the default bucket is called `fs`, others have a collection `….files` beside
/// them, or somebody speaks of `files_id`.
fn is_bucket(ctx: &NamespaceContext<'_>, key: &ShardKey, asked: Cost) -> bool {
    let Some(bucket) = ctx.totals.namespace.strip_suffix(".chunks") else { return false };
    let is_of_files = |path: &str| path == "files_id";
    let indexes = &ctx.collection.indexes.specs;
    bucket.ends_with(".fs")
        || bucket.contains('.') && ctx.catalog.named(&format!("{bucket}.files")).is_some()
        || key.fields.iter().any(|field| is_of_files(&field.path))
        || indexes.iter().any(|(_, index)| index.key.fields.iter().any(|field| is_of_files(&field.name)))
        || asked.calls > 0
}

/// Whether the key is one by which files are found, and kept together or spread evenly.
fn is_fit(key: &ShardKey) -> bool {
    let fields: Vec<(&str, KeyKind)> = key.fields.iter().map(|field| (field.path.as_str(), field.kind)).collect();
    matches!(fields.as_slice(), [("files_id", _)] | [("files_id", _), ("n", KeyKind::Ranged)])
}

const EXPLANATION: &str = r#"
# Which shard key for GridFS (fs.chunks)?

## What it says

A collection is taken for the chunks of a GridFS bucket if its name ends in `.chunks` and something else says so too:
the bucket has the default name `fs`, its `….files` is declared, or the key, an index or queries of the log have
`files_id`. Drivers read a file by `files_id`, in the order of `n`. The key is neither `files_id` alone nor `files_id`
followed by `n`, ranged or hashed. If another field follows `files_id`, it is an info: reads are still kept to a range
of the key.

## Why it costs you

With another key every read of a file asks every shard for its parts, and every delete goes to all of them.

## Fires on

```js
sh.shardCollection("media.fs.chunks", { n: 1 });
```

## Silent on

```js
sh.shardCollection("media.fs.chunks", { files_id: 1 });
```

## How to fix

Shard by `{ files_id: 1, n: 1 }`, or by `{ files_id: "hashed" }` where files are made in the order of their ids, which
is so with ObjectIds (SL503). Leave `….files` unsharded, or shard it by `_id`.

## When to ignore

If the collection only happens to be named so.

## Versions

All. Old drivers check files with the command `filemd5`, which does not work on a hashed `files_id`. Sources:
<https://www.mongodb.com/docs/manual/core/gridfs/#sharding-gridfs>.
"#;
