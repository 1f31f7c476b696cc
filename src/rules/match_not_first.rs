//! SL311: the pipeline has the key condition, but behind a stage that it cannot move past.

use super::fan_out::FanOut;
use super::finding::{Finding, Label, Severity};
use super::rule::{Check, EventContext, Evidence, Rule, Status};
use crate::routing::Cause;

/// The rule.
pub static RULE: Rule = Rule {
    code: "SL311",
    name: "match-not-first",
    summary: "the pipeline has the key condition, but behind a stage that it cannot move past",
    severity: Severity::Error,
    needs: &[Evidence::Log, Evidence::Key],
    since: "0.1.0",
    status: Status::Stable,
    fan_out_rank: Some(6),
    explanation: EXPLANATION,
    page: include_str!("../../docs/rules/SL311.md"),
    check: Check::Statement(check),
};

fn check(ctx: &EventContext<'_>) -> Option<Finding> {
    let read = FanOut::broadcast_read(ctx)?;
    let Cause::MatchBehindStage { matching, stage, name } = read.cause() else { return None };
    let (field, key) = (&read.first().path, read.key);
    let message = format!(
        "{} is sent to {}: its `$match` on `{field}` stands behind `{name}`",
        read.subject(),
        read.every_shard()
    );
    let primary = Label::new(*matching, "would bound the key if it came first");
    let others = vec![Label::new(*stage, "the match cannot move past this stage")];
    let help = format!("move the `$match` on `{field}` to the front of the pipeline (shard key `{key}`)");
    Some(read.finding(message, primary, others, help))
}

const EXPLANATION: &str = r#"
# Why does an aggregation with $match on the shard key go to all shards?

## What it says

Only a `$match` at the front of a pipeline decides which shards are asked. This pipeline has one on the shard key,
behind a stage that it cannot move past (`$limit`, `$skip`, `$group`, a stage that computes the field …), so every
shard is asked.

## Why it costs you

Every shard runs the first part of the pipeline over all its documents, and most of the result is thrown away.

## Fires on

```js
sh.shardCollection("shop.orders", { customerId: 1 });
```

```json
{"t":{"$date":"2024-05-14T09:12:03.481+00:00"},"s":"I","c":"COMMAND","id":51803,"ctx":"conn42","msg":"Slow query","attr":{"type":"command","ns":"shop.orders","command":{"aggregate":"orders","pipeline":[{"$limit":500},{"$match":{"customerId":7012}}],"cursor":{},"$db":"shop"},"nShards":4,"nreturned":12,"durationMillis":310}}
```

## Silent on

```js
sh.shardCollection("shop.orders", { customerId: 1 });
```

```json
{"t":{"$date":"2024-05-14T09:12:03.481+00:00"},"s":"I","c":"COMMAND","id":51803,"ctx":"conn42","msg":"Slow query","attr":{"type":"command","ns":"shop.orders","command":{"aggregate":"orders","pipeline":[{"$sort":{"total":1}},{"$match":{"customerId":7012}}],"cursor":{},"$db":"shop"},"nShards":1,"nreturned":12,"durationMillis":31}}
```

## How to fix

Move the `$match` on the key to the front, if the result stays what is meant: behind a `$limit` it is another
question.

Pipelines grow in builders: `Aggregation.newAggregation(limit(…), match(…))` of Spring Data and
`Model.aggregate().sort(…).match(…)` of mongoose keep the order in which they were written. A mongoose
`pre('aggregate')` hook can put the tenant in front: `this.pipeline().unshift({ $match: { workspaceId } })`.

## When to ignore

If the order of the stages is what is meant, such as a sample that is filtered afterwards.

## Versions

All. Which stages a match moves past grows with the versions. Sources:
<https://www.mongodb.com/docs/manual/core/aggregation-pipeline-optimization/>,
<https://www.mongodb.com/docs/manual/core/aggregation-pipeline-sharded-collections/>.
"#;
