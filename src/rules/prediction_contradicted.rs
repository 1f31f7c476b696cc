//! SL901: what the server did is not what the declared key and the filter say.

use super::fan_out::{filter_of, is_batch};
use super::finding::{Finding, Label, Severity};
use super::rule::{Check, EventContext, Evidence, Rule, Status};
use crate::catalog::Collection;
use crate::model::{ChunkMap, Node, Plan, Statement, Traffic, Verb};
use crate::routing::{Cause, Class, Verdict};

/// The rule.
pub static RULE: Rule = Rule {
    code: "SL901",
    name: "prediction-contradicted",
    summary: "the filter says so many shards, `nShards` or an explain says more or fewer: the declared key may not be the cluster's",
    severity: Severity::Warning,
    needs: &[Evidence::Log, Evidence::Key],
    since: "0.1.0",
    status: Status::Stable,
    fan_out_rank: None,
    explanation: EXPLANATION,
    page: include_str!("../../docs/rules/SL901.md"),
    check: Check::Statement(check),
};

const HELP: &str =
    "check that the declared key is the cluster's own; then collations, a transaction, a stale routing table";

/// Stages that may run on a shard that the filter does not reach.
const ELSEWHERE: &[&str] =
    &["$out", "$merge", "$lookup", "$graphLookup", "$unionWith", "$currentOp", "$changeStream", "$collStats"];

fn check(ctx: &EventContext<'_>) -> Option<Finding> {
    let verdict = ctx.verdict?;
    let asked = ctx.event.n_shards.as_ref()?;
    let key = ctx.collection?.shard_key()?;
    if !is_comparable(ctx, verdict) {
        return None;
    }
    let observed = usize::try_from(asked.value).unwrap_or(usize::MAX);
    let (predicted, is_more) = contradicted(ctx, verdict, observed)?;
    let shards = |n: usize| if n == 1 { "1 shard".to_owned() } else { format!("{n} shards") };
    let bound = match (is_more, verdict.shards.is_some() || predicted == 1) {
        (_, true) => "",
        (true, false) => "at most ",
        (false, false) => "all ",
    };
    let message = format!(
        "`{}` on `{}` should reach {bound}{} by its filter, and {} asked",
        ctx.statement.verb.name(),
        ctx.namespace,
        shards(predicted),
        if observed == 1 { "1 was".to_owned() } else { format!("{observed} were") },
    );
    let source = if ctx.event.plan.is_some() { "in the plan" } else { "by the server's own count" };
    let mut labels = vec![Label::new(asked.span, format!("{} {source}", shards(observed)))];
    labels.extend(ctx.event.plan.iter().flat_map(|plan| seen_in(plan, verdict, &key.first().path, is_more)));
    if let Some(filter) = filter_of(ctx.statement) {
        labels.push(Label::new(filter.span, format!("{} by the key `{key}`", verdict.class)));
    }
    Some(Finding { severity: None, message, help: Some(HELP.to_owned()), labels, subject: None, source: None })
}

/// The finding on a shape that one shard should answer, and of which each operation stands in the logs of several; it points
/// at the declared key. `None` if a stage of it may run on another shard.
#[must_use]
pub fn seen(collection: &Collection, namespace: &str, operation: &str, shape: &str, shards: u64) -> Option<Finding> {
    let key = collection.shard_key()?;
    if ELSEWHERE.iter().any(|stage| shape.contains(stage)) {
        return None;
    }
    let message = format!(
        "`{operation}` on `{namespace}` should reach 1 shard by its filter, and each call is in the logs of {shards} or more"
    );
    let label = Label::new(key.span, format!("by this key `{shape}` is targeted"));
    Some(Finding {
        severity: None,
        message,
        help: Some(HELP.to_owned()),
        labels: vec![label],
        subject: Some((namespace.to_owned(), shape.to_owned())),
        source: Some(collection.source),
    })
}

/// What an explain shows of the reason why more shards were asked: which of them, and how the shards themselves took the
/// filter.
fn seen_in(plan: &Plan, verdict: &Verdict, first: &str, is_more: bool) -> Vec<Label> {
    if !is_more {
        return Vec::new();
    }
    let is_foretold = |name: &String| verdict.shards.as_ref().is_none_or(|shards| shards.contains(name));
    let surplus = plan.shards.iter().find(|shard| !is_foretold(&shard.value));
    let surplus = surplus.map(|shard| Label::new(shard.span, "owns no chunk that the filter reaches"));
    let bounds = plan.bounds.iter().find(|bounds| bounds.field == first).map(|bounds| {
        let text = if bounds.is_everything() {
            format!("the shards cannot bound `{first}` either: look for a collation")
        } else {
            format!("the shards bound `{first}` by the same filter: look for another shard key")
        };
        Label::new(bounds.span, text)
    });
    surplus.into_iter().chain(bounds).collect()
}

/// Whether `nShards` of this record counts the shards of this statement, and nothing else.
fn is_comparable(ctx: &EventContext<'_>, verdict: &Verdict) -> bool {
    let statement = ctx.statement;
    let is_one = ctx.event.traffic == Traffic::Query && !is_batch(ctx) && !ctx.event.get_more;
    let has_run = ctx.event.error_code.is_none() && verdict.error.is_none();
    let is_one_document = statement.verb != Verb::Insert
        || (statement.documents.len() == 1 && statement.document_count.is_none_or(|count| count == 1));
    is_one
        && has_run
        && is_one_document
        && !statement.multi
        && !verdict.two_phase
        && verdict.reason.cause != Cause::IdOnlyWrite
        && !runs_elsewhere(statement)
}

fn runs_elsewhere(statement: &Statement) -> bool {
    let stages = |node: &Option<Node>| -> bool {
        let stages = node.as_ref().and_then(Node::as_array).map(|array| array.items.as_slice()).unwrap_or_default();
        stages
            .iter()
            .filter_map(Node::as_document)
            .flat_map(|stage| &stage.fields)
            .any(|field| ELSEWHERE.contains(&field.name.as_str()))
    };
    stages(&statement.pipeline) || stages(&statement.view_pipeline)
}

/// The predicted number of shards, if the observed one contradicts it, and whether more were asked.
fn contradicted(ctx: &EventContext<'_>, verdict: &Verdict, observed: usize) -> Option<(usize, bool)> {
    let exact = verdict.shards.as_ref().map(Vec::len);
    let most = exact.or(match verdict.class {
        Class::Targeted => Some(1),
        Class::MultiShard => verdict.at_most,
        Class::Unsharded | Class::Unknown | Class::Broadcast => None,
    });
    if let Some(most) = most.filter(|most| observed > *most) {
        return Some((most, true));
    }
    let owners = ctx.collection?.chunks.as_ref().map(ChunkMap::owner_count);
    let least = match (exact, owners, verdict.class) {
        (Some(exact), _, _) => exact,
        (None, Some(owners), Class::Broadcast) => owners,
        // Some shards may own no chunk, so that only a single one contradicts a broadcast.
        (None, None, Class::Broadcast) if observed == 1 => ctx.shard_count()?,
        _ => return None,
    };
    (observed > 0 && observed < least).then_some((least, false))
}

const EXPLANATION: &str = r#"
# Why did a query reach more shards than its filter says?

## What it says

The router logged how many shards it asked (`nShards`), or an explain lists them, and the filter and the declared key
say another number. Fewer than predicted is reported only if a chunk map or `--shards` says that more than one shard
owns chunks. Batches, multi-writes and pipelines that run a stage on another shard are left out: their number means
something else. Where no router's log was read, a query that one shard should answer is told if every call of it stands
in the logs of several shards.

## Why it costs you

One of the two is wrong, and every other finding on this collection rests on the prediction.

## Fires on

```js
sh.shardCollection("shop.orders", { customerId: 1 });
```

```json
{"t":{"$date":"2024-05-14T09:12:03.481+00:00"},"s":"I","c":"COMMAND","id":51803,"ctx":"conn42","msg":"Slow query","attr":{"type":"command","ns":"shop.orders","command":{"find":"orders","filter":{"customerId":7012},"$db":"shop"},"nShards":4,"nreturned":12,"durationMillis":310}}
```

## Silent on

```js
sh.shardCollection("shop.orders", { customerId: 1 });
```

```json
{"t":{"$date":"2024-05-14T09:12:03.481+00:00"},"s":"I","c":"COMMAND","id":51803,"ctx":"conn42","msg":"Slow query","attr":{"type":"command","ns":"shop.orders","command":{"find":"orders","filter":{"customerId":7012},"$db":"shop"},"nShards":1,"nreturned":12,"durationMillis":310}}
```

## How to fix

In order of likelihood: compare the declared key with `config.collections`; look for a default collation of the
collection that is not declared; for a multi-write or a transaction around the command; for a routing table that was
stale while chunks moved.

## When to ignore

Single records while chunks were moving.

## Versions

`nShards` is logged for find, getMore, aggregate, insert, update and delete. Sources:
<https://www.mongodb.com/docs/manual/reference/log-messages/>, `src/mongo/db/op_debug.cpp` of the server.
"#;
