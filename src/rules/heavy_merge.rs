//! SL313: a grouping or a sort over several shards, which one place has to merge.

use super::fan_out::FanOut;
use super::finding::{Finding, Label, Severity};
use super::rule::{Check, EventContext, Evidence, Rule, Status};
use crate::model::{Field, Node, ShardKey, Verb};
/// The rule.
pub static RULE: Rule = Rule {
    code: "SL313",
    name: "heavy-merge",
    summary: "a `$group` or `$sort` over several shards, merged in one place",
    severity: Severity::Info,
    needs: &[Evidence::Log, Evidence::Key],
    since: "0.1.0",
    status: Status::Stable,
    fan_out_rank: None,
    explanation: EXPLANATION,
    page: include_str!("../../docs/rules/SL313.md"),
    check: Check::Statement(check),
};

/// Stages that need all documents in one place.
const MERGED: [&str; 6] = ["$group", "$sort", "$bucket", "$bucketAuto", "$sortByCount", "$setWindowFields"];

fn check(ctx: &EventContext<'_>) -> Option<Finding> {
    let read = FanOut::read(ctx).filter(|_| ctx.statement.verb == Verb::Aggregate)?;
    if read.is_on_one_shard() {
        return None;
    }
    let stages: Vec<&Field> =
        ctx.statement.pipeline.as_ref()?.as_array()?.items.iter().filter_map(|s| s.as_document()?.first()).collect();
    let at = stages.iter().position(|stage| MERGED.contains(&stage.name.as_str()))?;
    let merged = stages[at];
    // The first documents of a sort are all that a shard sends.
    let is_bounded = merged.name == "$sort" && stages.get(at + 1).is_some_and(|next| next.name == "$limit");
    if is_bounded || is_by_key(&stages[..at], merged, read.key) {
        return None;
    }
    // What a pipeline writes is not returned: the number is another one then.
    let writes = stages.iter().find(|stage| matches!(stage.name.as_str(), "$out" | "$merge"));
    let returned = ctx.event.returned.as_ref().filter(|_| writes.is_none()).map_or(0, |returned| returned.value);
    if ctx.event.used_disk.is_none() && returned < ctx.thresholds.merged_documents {
        return None;
    }
    let merge = ctx.event.plan.as_ref().and_then(|plan| plan.merge.as_ref());
    let place = match (merge, writes) {
        (Some(merge), _) => merged_by(&merge.value),
        (None, Some(writes)) => format!("a shard, for its `{}`", writes.name),
        (None, None) => "the router, or one shard where a stage needs it (`mergeType` in an explain)".to_owned(),
    };
    let spilled = ctx.event.used_disk.map(|disk| Label::new(disk, "it did not fit into memory and went to disk"));
    let disk = if spilled.is_some() { ", on disk" } else { "" };
    let message =
        format!("{}: the `{}` of several shards is merged in one place{disk}: {place}", read.subject(), merged.name);
    let primary = Label::new(merged.name_span.join(merged.node.span), what_is_sent(merged));
    let told = merge.map(|merge| Label::new(merge.span, "where the parts are merged"));
    let help =
        format!("bind `{}` before it so that one shard does it all, or reduce the documents first", read.first().path);
    Some(read.finding(message, primary, spilled.into_iter().chain(told).collect(), help))
}

/// Whether a grouping holds the whole shard key, as it is stored: then no group is on two shards.
fn is_by_key(before: &[&Field], stage: &Field, key: &ShardKey) -> bool {
    let id = stage.node.as_document().filter(|_| stage.name == "$group").and_then(|group| group.get("_id"));
    let id = id.or(Some(&stage.node).filter(|_| stage.name == "$sortByCount"));
    let parts =
        id.map(|id| id.as_document().map_or(vec![id], |id| id.fields.iter().map(|field| &field.node).collect()));
    let is_part = |path: &str| {
        let names = |node: &&Node| node.as_str().and_then(|text| text.strip_prefix('$')) == Some(path);
        parts.iter().flatten().any(names)
    };
    before.iter().all(|stage| stage.name == "$match") && key.fields.iter().all(|field| is_part(&field.path))
}

/// `mergeType` in words.
fn merged_by(place: &str) -> String {
    match place {
        "mongos" => "the router".to_owned(),
        "anyShard" => "a shard that the router picks at random".to_owned(),
        "primaryShard" => "the primary shard of the database".to_owned(),
        "exchange" => "the shards, each for a part of the key".to_owned(),
        "specificShard" => "the shard that one of its stages needs".to_owned(),
        other => format!("`{other}`"),
    }
}

fn what_is_sent(stage: &Field) -> &'static str {
    let constant =
        |node: &Node| node.as_document().is_none_or(crate::model::Document::is_empty) && node.as_str().is_none();
    match stage.name.as_str() {
        "$group" if stage.node.as_document().and_then(|group| group.get("_id")).is_some_and(constant) => {
            "one group: each shard sends its part of it"
        }
        "$group" | "$sortByCount" | "$bucket" | "$bucketAuto" => "each shard sends every group that it has a part of",
        _ => "each shard sends all its documents",
    }
}

const EXPLANATION: &str = r#"
# Where does an aggregation over several shards run ($group, $sort)?

## What it says

More than one shard takes part in a pipeline with a stage that needs all documents: `$group`, `$sort` without a
`$limit` behind it, `$bucket`, `$setWindowFields`; and there is much to merge: `merged_documents` results or more
(default 100; a first batch has 101), or a part that went to disk. Each shard does its part, and one place merges
them: the router, or a shard that a stage like `$out` demands. The message says whether it went to disk. A grouping
by the whole shard key is not reported: no group is on two shards. Nor is a record that says that one shard was
asked.

## Why it costs you

The merge is not parallel: more shards make it larger, not faster. A `$group` on a field with many values sends nearly
as many groups as there are documents. The router has no disk to spill to.

## Fires on

```js
sh.shardCollection("shop.orders", { customerId: 1 });
```

```json
{"t":{"$date":"2024-05-14T09:12:03.481+00:00"},"s":"I","c":"COMMAND","id":51803,"ctx":"conn42","msg":"Slow query","attr":{"type":"command","ns":"shop.orders","command":{"aggregate":"orders","pipeline":[{"$match":{"customerId":{"$gte":7000}}},{"$group":{"_id":"$productId","n":{"$sum":1}}}],"cursor":{},"$db":"shop"},"nShards":4,"nreturned":101,"durationMillis":310}}
```

## Silent on

```js
sh.shardCollection("shop.orders", { customerId: 1 });
```

```json
{"t":{"$date":"2024-05-14T09:12:03.481+00:00"},"s":"I","c":"COMMAND","id":51803,"ctx":"conn42","msg":"Slow query","attr":{"type":"command","ns":"shop.orders","command":{"aggregate":"orders","pipeline":[{"$match":{"customerId":{"$gte":7000}}},{"$group":{"_id":"$productId","n":{"$sum":1}}}],"cursor":{},"$db":"shop"},"nShards":4,"nreturned":12,"durationMillis":310}}
```

## How to fix

Bind the shard key, so that one shard does it all. Filter and project before the stage. Group by the shard key where
that is what is meant. Prepare the figures with `$merge` into a small collection at regular times.

## When to ignore

Reports, and groupings into a few groups.

## Versions

All. Sources: <https://www.mongodb.com/docs/manual/core/aggregation-pipeline-sharded-collections/>,
`src/mongo/db/pipeline/sharded_agg_helpers.cpp` of the server.
"#;
