//! SL303: a sort that no index gave: the server sorted in memory, or on disk.

use super::access::{Access, Pattern, is_by_fields, sort_of};
use super::declared_index::{create_index, knows_indexes};
use super::fan_out::is_batch;
use super::finding::{Finding, Label, Severity};
use super::rule::{Check, EventContext, Evidence, Rule, Status};
use crate::model::{Document, Node, Statement};
/// The rule.
pub static RULE: Rule = Rule {
    code: "SL303",
    name: "sort-in-memory",
    summary: "the server sorted in memory or on disk; names the index that gives the order",
    severity: Severity::Warning,
    needs: &[Evidence::Log],
    since: "0.1.0",
    status: Status::Stable,
    fan_out_rank: None,
    explanation: EXPLANATION,
    page: include_str!("../../docs/rules/SL303.md"),
    check: Check::Statement(check),
};

fn check(ctx: &EventContext<'_>) -> Option<Finding> {
    let event = ctx.event;
    let sort = sort_of(ctx.statement).filter(|sort| sort.as_document().is_some_and(is_by_fields))?;
    // It may have been another stage that went to disk; a sort of the server is always told.
    let disk = event.used_disk.filter(|_| event.has_sort_stage.is_some() || !groups(ctx.statement));
    let (evidence, spilled) = match (disk, event.has_sort_stage) {
        (Some(disk), _) => (disk, true),
        (None, Some(stage)) => (stage, false),
        (None, None) => return None,
    };
    let examined = event.docs_examined.as_ref().map(|examined| examined.value);
    if is_batch(ctx) || (!spilled && examined.is_some_and(|n| n < ctx.thresholds.sorted_documents)) {
        return None;
    }
    let place = if spilled { "sorts on disk" } else { "sorts in memory" };
    let cost = match examined {
        Some(examined) => format!(": {examined} documents examined for {}", returned(ctx)),
        None => String::new(),
    };
    let message = format!("`{}` on `{}` {place}{cost}", ctx.statement.verb.name(), ctx.namespace);
    let mut labels = vec![
        Label::new(sort.span, "no index gave this order"),
        Label::new(evidence, if spilled { "the sort did not fit into memory" } else { "the server sorted" }),
    ];
    // Where shards have plans of their own, one may sort and another not.
    let is_one = event.plan.as_ref().is_none_or(|plan| plan.scanning.is_empty());
    let plan = event.plan_summary.as_ref().filter(|_| is_one);
    labels.extend(plan.map(|plan| Label::new(plan.span, "finds the documents, but not in order")));
    Some(Finding { severity: None, message, help: Some(help(ctx, sort)), labels, subject: None, source: None })
}

/// Whether a pipeline has a stage besides the sort that may go to disk.
fn groups(statement: &Statement) -> bool {
    const SPILLING: [&str; 7] =
        ["$group", "$bucket", "$bucketAuto", "$sortByCount", "$setWindowFields", "$lookup", "$graphLookup"];
    let stages = statement.pipeline.as_ref().and_then(Node::as_array).map(|stages| stages.items.as_slice());
    let names = stages.unwrap_or_default().iter().filter_map(|stage| Some(stage.as_document()?.first()?.name.as_str()));
    names.into_iter().any(|name| SPILLING.contains(&name))
}

fn returned(ctx: &EventContext<'_>) -> String {
    match ctx.event.returned.as_ref().map(|returned| returned.value) {
        Some(1) => "1 result".to_owned(),
        Some(n) => format!("{n} results"),
        None => "the result".to_owned(),
    }
}

/// The index in the order equality, sort, range, or the one that is there already.
fn help(ctx: &EventContext<'_>, sort: &Node) -> String {
    let understood = Access::of(ctx.statement).filter(|access| !access.sort.is_empty());
    let order = if understood.is_some() { "in the order equality, sort, range" } else { "that gives this order" };
    let Some(access) = understood.or_else(|| Access::of_sort(ctx.statement)) else {
        let first = sort.as_document().and_then(Document::first).map_or("", |field| &field.name);
        return format!(
            "create an index on the collection below the view that gives this order, beginning with `{first}`"
        );
    };
    let known = ctx.collection.filter(|collection| knows_indexes(collection));
    let serving = known.and_then(|known| Pattern::all_of(known).into_iter().find(|index| access.is_served_by(index)));
    if let Some(index) = serving {
        return format!("look into `explain` for why `{index}`, which gives this order, was not used");
    }
    let index = access.index(ctx.collection.and_then(crate::catalog::Collection::shard_key));
    format!("create an index {order}: `{}`", create_index(ctx.namespace, &index))
}

const EXPLANATION: &str = r#"
# Why does my query sort in memory (hasSortStage)?

## What it says

The record says that the server sorted by itself (`hasSortStage`), or did so on disk (`usedDisk`). No index that was
used yields the documents in the order asked for. Sorts in memory of fewer than `sorted_documents` examined documents
(default 100) are not reported; sorts on disk always are.

## Why it costs you

A sort has to read everything before it can return the first row, so a limit saves nothing. Beyond 100 MB the server
writes to disk, or refuses: *Sort exceeded memory limit* (QueryExceededMemoryLimitNoDiskUseAllowed 292; *Executor error
during find command: OperationFailed: Sort operation used more than the maximum 33554432 bytes of RAM*, 96, before
4.4). On a sharded collection every shard that is asked does it.

## Fires on

```js
sh.shardCollection("shop.orders", { customerId: 1 });
```

```json
{"t":{"$date":"2024-05-14T09:12:03.481+00:00"},"s":"I","c":"COMMAND","id":51803,"ctx":"conn42","msg":"Slow query","attr":{"type":"command","ns":"shop.orders","command":{"find":"orders","filter":{"customerId":7012,"status":"open"},"sort":{"createdAt":-1},"limit":20,"$db":"shop"},"planSummary":"IXSCAN { customerId: 1 }","keysExamined":48211,"docsExamined":48211,"hasSortStage":true,"nreturned":20,"durationMillis":310}}
```

## Silent on

```js
sh.shardCollection("shop.orders", { customerId: 1 });
```

```json
{"t":{"$date":"2024-05-14T09:12:03.481+00:00"},"s":"I","c":"COMMAND","id":51803,"ctx":"conn42","msg":"Slow query","attr":{"type":"command","ns":"shop.orders","command":{"find":"orders","filter":{"customerId":7012,"status":"open"},"sort":{"createdAt":-1},"limit":20,"$db":"shop"},"planSummary":"IXSCAN { customerId: 1 }","keysExamined":48211,"docsExamined":48211,"nreturned":20,"durationMillis":310}}
```

## How to fix

Create the index that the message shows: fields compared for equality first, then the fields of the sort in their
directions, then ranges. Check with `explain()` that no `SORT` stage is left. Where a mapper adds the sort (mongoose
`.sort()` in a plugin, `Sort` of a Spring Data `Pageable`, a `default_scope`), see whether anybody needs it.

## When to ignore

Results that are small after the filter, or reports that run once a night.

## Versions

All. The memory limit is 32 MB up to 4.2, 100 MB since 4.4. Sources:
<https://www.mongodb.com/docs/manual/tutorial/equality-sort-range-rule/>,
<https://www.mongodb.com/docs/manual/reference/limits/#Sort-Operations>.
"#;
