//! SL312: a join into a sharded collection by something other than its key: one broadcast for each document.

use super::fan_out::version_words;
use super::finding::{Finding, Label, Severity};
use super::rule::{Check, EventContext, Evidence, Rule, Status};
use crate::model::{Document, Field, Node, ShardKey, Verb};
use crate::routing::Predicate;
use crate::text::Span;
/// The rule.
pub static RULE: Rule = Rule {
    code: "SL312",
    name: "lookup-fan-out",
    summary: "`$lookup`, `$graphLookup` or `$unionWith` into a sharded collection by a field that is not its key",
    severity: Severity::Warning,
    needs: &[Evidence::Log, Evidence::Key, Evidence::Version],
    since: "0.1.0",
    status: Status::Stable,
    fan_out_rank: None,
    explanation: EXPLANATION,
    page: include_str!("../../docs/rules/SL312.md"),
    check: Check::Statement(check),
};

/// Pipelines inside pipelines are looked at down to this depth.
const DEPTH: usize = 16;

fn check(ctx: &EventContext<'_>) -> Option<Finding> {
    if ctx.statement.verb != Verb::Aggregate {
        return None;
    }
    let join = find(ctx, ctx.statement.pipeline.as_ref()?, 0)?;
    let (name, from, key) = (join.name, &join.from, join.key);
    let subject = format!("`aggregate` on `{}`", ctx.namespace);
    let shards = ctx.catalog.shards.as_ref().map(Vec::len).or(ctx.catalog.shard_count);
    let all = shards.map_or_else(|| "every shard".to_owned(), |n| format!("all {n} shards"));
    let is_refused = name != "$unionWith" && !ctx.version.at_least(5, 1);
    let does = match (is_refused, name) {
        (true, _) => format!("is refused: `{name}` into the sharded `{from}`"),
        (false, "$unionWith") => format!("reads `{from}` from {all}"),
        (false, _) => format!("asks {all} of `{from}` for each document that reaches its `{name}`"),
    };
    let message = format!("{subject} {does} ({})", version_words(ctx));
    let first = &key.first().path;
    let labels =
        vec![Label::new(join.span, format!("gives no value of `{first}`, the first field of the key `{key}`"))];
    let help = match name {
        "$lookup" => format!("join on `{first}`, or add it to the pipeline of the `$lookup`"),
        "$graphLookup" => format!("connect to `{first}`, or bind it in `restrictSearchWithMatch`"),
        _ => format!("begin the pipeline of the `$unionWith` with a `$match` on `{first}`"),
    };
    let severity = (name == "$unionWith").then_some(Severity::Info);
    Some(Finding { severity, message, help: Some(help), labels, subject: None, source: None })
}

/// A stage that reads another, sharded collection without its key.
struct Join<'a> {
    name: &'a str,
    span: Span,
    from: String,
    key: &'a ShardKey,
}

fn find<'a>(ctx: &EventContext<'a>, pipeline: &'a Node, depth: usize) -> Option<Join<'a>> {
    let stages = pipeline.as_array().filter(|_| depth < DEPTH)?.items.iter();
    stages.filter_map(|stage| stage.as_document()?.first()).find_map(|stage| match stage.name.as_str() {
        "$lookup" | "$graphLookup" | "$unionWith" => join(ctx, stage).or_else(|| {
            let inner = stage.node.as_document()?.get("pipeline")?;
            find(ctx, inner, depth + 1)
        }),
        "$facet" => stage.node.as_document()?.fields.iter().find_map(|facet| find(ctx, &facet.node, depth + 1)),
        _ => None,
    })
}

fn join<'a>(ctx: &EventContext<'a>, stage: &'a Field) -> Option<Join<'a>> {
    let spec = stage.node.as_document();
    let from = match spec {
        Some(spec) => spec.get("from").or_else(|| spec.get("coll"))?.as_str()?,
        None => stage.node.as_str()?,
    };
    let database = ctx.namespace.split_once('.')?.0;
    let namespace = format!("{database}.{from}");
    let key = ctx.catalog.get(&namespace)?.shard_key()?;
    let first = &key.first().path;
    let bound = spec.is_some_and(|spec| spec.partial || binds(spec, first));
    let span = stage.name_span.join(stage.node.span);
    (!bound).then_some(Join { name: &stage.name, span, from: namespace, key })
}

/// Whether a join names the first field of the key where it can route by it.
fn binds(spec: &Document, first: &str) -> bool {
    let is_first = |name: &str| spec.get(name).and_then(Node::as_str) == Some(first);
    let matched = |filter: &Node| {
        let mut found = false;
        Predicate::parse(filter).visit_paths(&mut |path| found |= path == first);
        found
    };
    let leading = spec.get("pipeline").and_then(Node::as_array).map(|stages| &stages.items);
    let matches = leading.into_iter().flatten().map_while(|stage| stage.as_document()?.get("$match"));
    is_first("foreignField")
        || is_first("connectToField")
        || spec.get("restrictSearchWithMatch").is_some_and(matched)
        || matches.into_iter().any(matched)
}

const EXPLANATION: &str = r#"
# Does $lookup work with sharded collections?

## What it says

A `$lookup` or `$graphLookup` reads a sharded collection by a field that is not the first of its key (or by a pipeline
that does not bind it), so each document of the outer pipeline asks every shard. A `$unionWith` without the key asks all
of them once, and is an info.

## Why it costs you

With 500 orders and 12 shards that is 6,000 queries for one call, one after the other. `$graphLookup` does it for every
level. The log of the router shows one line, and the shards have the load.

## Fires on

```js
sh.shardCollection("shop.orders", { customerId: 1 });
sh.shardCollection("shop.invoices", { orderId: 1 });
```

```json
{"t":{"$date":"2024-05-14T09:12:03.481+00:00"},"s":"I","c":"COMMAND","id":51803,"ctx":"conn42","msg":"Slow query","attr":{"type":"command","ns":"shop.orders","command":{"aggregate":"orders","pipeline":[{"$match":{"customerId":7012}},{"$lookup":{"from":"invoices","localField":"_id","foreignField":"order","as":"invoices"}}],"cursor":{},"$db":"shop"},"nShards":1,"nreturned":12,"durationMillis":310}}
```

## Silent on

```js
sh.shardCollection("shop.orders", { customerId: 1 });
sh.shardCollection("shop.invoices", { orderId: 1 });
```

```json
{"t":{"$date":"2024-05-14T09:12:03.481+00:00"},"s":"I","c":"COMMAND","id":51803,"ctx":"conn42","msg":"Slow query","attr":{"type":"command","ns":"shop.orders","command":{"aggregate":"orders","pipeline":[{"$match":{"customerId":7012}},{"$lookup":{"from":"invoices","localField":"_id","foreignField":"orderId","as":"invoices"}}],"cursor":{},"$db":"shop"},"nShards":1,"nreturned":12,"durationMillis":310}}
```

## How to fix

Join on the key of the other collection, or add its first field to the pipeline of the `$lookup` as a plain `$match`.
Otherwise read the ids first and ask for them with one `$in`. `populate()` of mongoose does that: it needs the key in
`match`. `@DocumentReference(lookup = …)` of Spring Data can carry the key in its lookup. Small collections that are
joined everywhere are better left unsharded.

## When to ignore

If the pipeline has few documents at that stage.

## Versions

A sharded `from` is refused before 5.1 (*$lookup is not supported when the from collection is sharded*, 28769; *ns …
cannot be sharded*, 51069 in some). Sources:
<https://www.mongodb.com/docs/manual/reference/operator/aggregation/lookup/#sharded-collection-restrictions>.
"#;
