//! SL508: the chunks of a GridFS bucket, sharded by something that does not keep a file together.

use super::declared_index::{finding, label_in};
use super::finding::{Finding, Severity};
use super::rule::{Check, DeclarationContext, Evidence, Rule, Status};
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
    check: Check::Declaration(check),
};

fn check(ctx: &DeclarationContext<'_>, findings: &mut Vec<Finding>) {
    let collection = ctx.collection;
    let Some(key) = collection.shard_key().filter(|_| is_bucket(&collection.pattern)) else { return };
    if is_fit(key) {
        return;
    }
    let home = collection.source;
    let message = format!("`{}` holds parts of files, and its shard key `{key}` is not `files_id`", collection.pattern);
    let by_file = key.position("files_id").is_some();
    let text = if by_file {
        "drivers ask by `files_id` and `n`, in this order"
    } else {
        "drivers ask by `files_id`: every shard"
    };
    let mut found = finding(collection, "key", home, message, vec![label_in(home, home, key.span, text)]);
    found.help =
        Some("shard it by `{ files_id: 1, n: 1 }`, `{ files_id: 1 }` or `{ files_id: \"hashed\" }`".to_owned());
    findings.push(found);
}

/// Buckets have a collection `NAME.files` and a collection `NAME.chunks`.
fn is_bucket(pattern: &str) -> bool {
    pattern.split_once('.').is_some_and(|(_, collection)| collection.ends_with(".chunks"))
}

fn is_fit(key: &ShardKey) -> bool {
    let fields: Vec<(&str, KeyKind)> = key.fields.iter().map(|field| (field.path.as_str(), field.kind)).collect();
    matches!(fields.as_slice(), [("files_id", _)] | [("files_id", KeyKind::Ranged), ("n", KeyKind::Ranged)])
}

const EXPLANATION: &str = r#"
# Which shard key for GridFS (fs.chunks)?

## What it says

A collection named `….chunks` is taken for the chunks of a GridFS bucket. Drivers read a file by `{ files_id, n }`. The
key is neither `{ files_id: 1, n: 1 }` nor `files_id` alone, ranged or hashed.

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
