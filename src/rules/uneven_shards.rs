//! SL409: an explain in which one shard does otherwise than the others: by another index, by a scan, or far more slowly.

use super::finding::{Finding, Label, Severity};
use super::rule::{Check, EventContext, Evidence, Rule, Status};
use crate::model::ShardPlan;

/// The rule.
pub static RULE: Rule = Rule {
    code: "SL409",
    name: "uneven-shards",
    summary: "in an explain one shard uses another plan than the others, or is much slower by the same plan",
    severity: Severity::Warning,
    needs: &[Evidence::Log],
    since: "0.1.0",
    status: Status::Stable,
    fan_out_rank: None,
    explanation: EXPLANATION,
    page: include_str!("../../docs/rules/SL409.md"),
    check: Check::Statement(check),
};

fn check(ctx: &EventContext<'_>) -> Option<Finding> {
    // A shard without the collection has nothing to find.
    let parts: Vec<&ShardPlan> =
        ctx.event.plan.as_ref()?.parts.iter().filter(|part| part.access.value != "EOF").collect();
    let usual = usual(&parts)?;
    let odd: Vec<&ShardPlan> = parts.iter().copied().filter(|part| part.access.value != usual.access.value).collect();
    let subject = format!("`{}` on `{}`", ctx.statement.verb.name(), ctx.namespace);
    let slow = slow(ctx, &parts);
    let (message, mut labels, help) = match (odd.first(), slow) {
        (None, None) => return None,
        (Some(first), _) => {
            let is_alone = alike(&parts, usual) == 1;
            let elsewhere = if is_alone { format!("`{}`", usual.shard) } else { "the others".to_owned() };
            let planned = planned(&odd);
            let message = format!("{subject} is planned as {planned}, and as `{}` on {elsewhere}", usual.access.value);
            let more = if is_alone { "" } else { " and others" };
            let labels = vec![
                Label::new(first.access.span, format!("the plan of `{}`", first.shard)),
                Label::new(usual.access.span, format!("that of `{}`{more}", usual.shard)),
            ];
            (message, labels, advice(first, usual))
        }
        (None, Some((shard, others))) => {
            let message = format!("{subject} takes `{}` {}", shard.part.shard, shard.words(others));
            (
                message,
                Vec::new(),
                "look at that shard: its load, its cache, its disks, and orphaned documents".to_owned(),
            )
        }
    };
    if let Some((shard, others)) = slow {
        labels.push(Label::new(shard.millis_at, format!("`{}`: {}", shard.part.shard, shard.words(others))));
    }
    Some(Finding { severity: None, message, help: Some(help), labels, subject: None, source: None })
}

/// Each plan of these shards, and where it is used.
fn planned(odd: &[&ShardPlan]) -> String {
    let is_first = |at: usize| odd[..at].iter().all(|before| before.access.value != odd[at].access.value);
    let firsts = (0..odd.len()).filter(|at| is_first(*at)).map(|at| odd[at]);
    let words = firsts.map(|first| {
        let more = match alike(odd, first) {
            1 => String::new(),
            shards => format!(" and {} more", shards - 1),
        };
        format!("`{}` on `{}`{more}", first.access.value, first.shard)
    });
    words.collect::<Vec<_>>().join(", as ")
}

/// The plan that most shards have; of several the one that comes first. `None` if there is nothing to compare.
fn usual<'a>(parts: &[&'a ShardPlan]) -> Option<&'a ShardPlan> {
    let is_scan = |part: &ShardPlan| part.access.value.contains("COLLSCAN");
    let most =
        parts.iter().enumerate().max_by_key(|(at, part)| (alike(parts, part), !is_scan(part), std::cmp::Reverse(*at)));
    most.filter(|_| parts.len() > 1).map(|(_, part)| *part)
}

/// So many shards have that plan.
fn alike(parts: &[&ShardPlan], part: &ShardPlan) -> usize {
    parts.iter().filter(|other| other.access.value == part.access.value).count()
}

fn advice(odd: &ShardPlan, usual: &ShardPlan) -> String {
    let (odd_scans, usual_scans) = (odd.access.value.contains("COLLSCAN"), usual.access.value.contains("COLLSCAN"));
    match (odd_scans, usual_scans) {
        (true, false) => {
            format!("compare `getIndexes()` of `{}` with that of the others: an index may be missing there", odd.shard)
        }
        (false, true) => "compare `getIndexes()` of the shards: most of them may lack an index".to_owned(),
        _ => format!(
            "compare `getIndexes()` of the shards; if they agree, `{}` chose by other data: clear its plan cache, or hint",
            odd.shard
        ),
    }
}

/// A shard that takes longer than others.
#[derive(Clone, Copy)]
struct Slow<'a> {
    part: &'a ShardPlan,
    millis: u64,
    millis_at: crate::text::Span,
}

impl Slow<'_> {
    fn words(self, (least, most): (u64, u64)) -> String {
        let others = if least == most { format!("{most}") } else { format!("{least} to {most}") };
        let examined = self.part.examined.map_or_else(String::new, |n| format!(", {n} documents examined"));
        format!("{} ms{examined}, where the others take {others} ms", self.millis)
    }
}

/// The slowest shard, if it is much slower than all others, and the least and the greatest time of those.
fn slow<'a>(ctx: &EventContext<'_>, parts: &[&'a ShardPlan]) -> Option<(Slow<'a>, (u64, u64))> {
    let timed = parts.iter().filter_map(|part| {
        let millis = part.millis.as_ref()?;
        Some(Slow { part, millis: millis.value, millis_at: millis.span })
    });
    let mut timed: Vec<Slow<'_>> = timed.collect();
    timed.sort_by_key(|slow| slow.millis);
    let (slowest, others) = timed.split_last()?;
    let (least, most) = (others.first()?.millis, others.last()?.millis);
    let limits = ctx.thresholds;
    let is_slow = slowest.millis >= most.saturating_mul(limits.slow_shard_times)
        && slowest.millis >= most.saturating_add(limits.slow_shard_millis);
    is_slow.then_some((*slowest, (least, most)))
}

const EXPLANATION: &str = r#"
# Why is the same query slow on one shard only?

## What it says

An explain of a router lists a plan for each shard. One of them differs from those of the others: another index, or a
scan of the collection. Or, with `executionStats`, one shard takes at least `slow_shard_times` times as long as each of
the others (default 3), and at least `slow_shard_millis` milliseconds more (default 100). A shard on which the
collection does not exist (`EOF`) is not compared.

## Why it costs you

Each shard plans for itself, by its own indexes and its own data, and the router waits for the slowest. An index that is
missing on one shard (after a failed build, or because it was made on the shards one by one) stays unnoticed as long as
chunks with the values asked for lie elsewhere.

## Fires on

```js
sh.shardCollection("shop.orders", { customerId: 1 });
```

```json
{ "queryPlanner": { "winningPlan": { "stage": "SHARD_MERGE", "shards": [ { "shardName": "rs0", "namespace": "shop.orders", "parsedQuery": { "status": { "$eq": "open" } }, "winningPlan": { "stage": "FETCH", "inputStage": { "stage": "IXSCAN", "keyPattern": { "status": 1 } } } }, { "shardName": "rs1", "namespace": "shop.orders", "parsedQuery": { "status": { "$eq": "open" } }, "winningPlan": { "stage": "COLLSCAN" } } ] } }, "command": { "find": "orders", "filter": { "status": "open" }, "$db": "shop" }, "serverInfo": { "host": "db7", "version": "7.0.5" }, "ok": 1 }
```

## Silent on

```js
sh.shardCollection("shop.orders", { customerId: 1 });
```

```json
{ "queryPlanner": { "winningPlan": { "stage": "SHARD_MERGE", "shards": [ { "shardName": "rs0", "namespace": "shop.orders", "parsedQuery": { "status": { "$eq": "open" } }, "winningPlan": { "stage": "FETCH", "inputStage": { "stage": "IXSCAN", "keyPattern": { "status": 1 } } } }, { "shardName": "rs1", "namespace": "shop.orders", "parsedQuery": { "status": { "$eq": "open" } }, "winningPlan": { "stage": "FETCH", "inputStage": { "stage": "IXSCAN", "keyPattern": { "status": 1 } } } } ] } }, "command": { "find": "orders", "filter": { "status": "open" }, "$db": "shop" }, "serverInfo": { "host": "db7", "version": "7.0.5" }, "ok": 1 }
```

## How to fix

Compare the indexes: `db.orders.aggregate([{ $indexStats: {} }])` through the router names the shards that have each of
them. Create the missing one through the router, which sends `createIndexes` to all shards with chunks. If the indexes
agree, the shard chose by its data: run the explain again after
`db.runCommand({ planCacheClear: "orders" })` there, and `hint` if it chooses the same. A shard that is slower by the
same plan is busy, has a cold cache, or reads orphaned documents (`chunkSkips` of `SHARDING_FILTER`).

## When to ignore

Shards whose data differs on purpose (zones), and the first explain after a restart.

## Versions

All since 3.0; `$indexStats` names shards since 4.2.4. Sources:
<https://www.mongodb.com/docs/manual/reference/explain-results/>,
<https://www.mongodb.com/docs/manual/tutorial/manage-indexes/#inconsistent-indexes-across-shards>.
"#;
