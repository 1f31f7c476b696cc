//! SL501: a key with so few values that some shards can never get a chunk.

use super::declared_index::{finding, label_in};
use super::finding::Severity;
use super::rule::{Check, Evidence, Rule, Status};
use super::totals::Cost;
use super::totals::{NamespaceContext, NamespaceFinding};
use crate::model::ShardKey;
use crate::text::{SourceId, Span};
/// The rule.
pub static RULE: Rule = Rule {
    code: "SL501",
    name: "low-cardinality",
    summary: "the shard key has so few different values that some shards can never hold a chunk",
    severity: Severity::Error,
    needs: &[Evidence::Key],
    since: "0.1.0",
    status: Status::Stable,
    fan_out_rank: None,
    explanation: EXPLANATION,
    page: include_str!("../../docs/rules/SL501.md"),
    check: Check::Namespace(check),
};

/// Only so many times the least number of values say that there are no others.
const MANY_TIMES: u64 = 20;

/// How many values there are, and how that is known.
struct Few {
    distinct: u64,
    known: String,
    place: Option<(SourceId, Span)>,
    proven: bool,
}

fn check(ctx: &NamespaceContext<'_>, findings: &mut Vec<NamespaceFinding>) {
    let Some(key) = ctx.collection.shard_key() else { return };
    let shards = ctx.shard_count().map(|n| n as u64);
    let Some(few) = measured(ctx).or_else(|| by_type(ctx, key)).or_else(|| logged(ctx)) else { return };
    let limit = shards.unwrap_or(ctx.thresholds.few_values);
    let is_few = if shards.is_some() { few.distinct < limit } else { few.distinct <= limit };
    if is_few {
        findings.push(found(ctx, key, &few, shards));
    }
}

fn found(ctx: &NamespaceContext<'_>, key: &ShardKey, few: &Few, shards: Option<u64>) -> NamespaceFinding {
    let (home, namespace) = (ctx.collection.source, ctx.totals.namespace);
    let n = few.distinct;
    let idle = match shards {
        Some(shards) => format!("at most {n} chunks, so {} of {shards} shards stay idle", shards.saturating_sub(n)),
        None => format!("at most {n} chunks, so more than {n} shards are of no use"),
    };
    let message = format!("the shard key `{key}` of `{namespace}` has {n} different values ({}): {idle}", few.known);
    let mut labels = vec![label_in(home, home, key.span, "a chunk cannot be split inside one value")];
    labels.extend(few.place.map(|(source, span)| label_in(source, home, span, "counted here")));
    let mut found = finding(ctx.collection, "cardinality", home, message, labels);
    found.subject = Some((namespace.to_owned(), "cardinality".to_owned()));
    found.severity = (!few.proven).then_some(Severity::Warning);
    found.help =
        Some("refine the key by a field with many values (`refineCollectionShardKey`, 4.4 and later)".to_owned());
    NamespaceFinding { finding: found, cost: Cost::default() }
}

/// What `analyzeShardKey` or a grouping by value says.
fn measured(ctx: &NamespaceContext<'_>) -> Option<Few> {
    let (source, measured) = ctx.collection.characteristics.as_ref()?;
    let distinct = measured.distinct?;
    let place = Some((*source, measured.span));
    Some(Few { distinct, known: "counted".to_owned(), place, proven: true })
}

/// A key of one field that holds nothing but truth values.
fn by_type(ctx: &NamespaceContext<'_>, key: &ShardKey) -> Option<Few> {
    let types = ctx.first_values().filter(|_| key.fields.len() == 1)?.types();
    let is_bool = matches!(types.as_slice(), [("bool", _)]);
    is_bool.then(|| Few { distinct: 2, known: "it is true or false".to_owned(), place: None, proven: true })
}

/// What a long log shows: no value only once, so hardly any other is to be expected.
fn logged(ctx: &NamespaceContext<'_>) -> Option<Few> {
    let values = ctx.whole_values().filter(|values| values.total() >= MANY_TIMES * ctx.thresholds.fewest_values)?;
    let by_value = values.by_value();
    let repeats = by_value.iter().all(|(_, count)| *count > 1);
    let known = format!("as far as {} values in the log show", values.total());
    (repeats && by_value.len() > 1).then_some(Few {
        distinct: by_value.len() as u64,
        known,
        place: None,
        proven: false,
    })
}

const EXPLANATION: &str = r#"
# How many different values does a shard key need (cardinality)?

## What it says

The whole key has fewer different values than there are shards; where their number is not known, `few_values` or fewer
(default 16). It is known from `analyzeShardKey`, from a complete grouping of the documents by value, or from the type
(a single truth value). From a log alone it is a warning: at least 1000 values in it, none of them seen only once.

## Why it costs you

A chunk holds whole key values. D values make at most D chunks, which at most D shards can hold: the others stay empty
whatever the balancer does. Each value becomes a chunk that grows until it is jumbo.

## Fires on

```js
[ { _id: "shop.orders", key: { status: 1 } } ]
[ { _id: "rs0", host: "rs0/h0:27018" }, { _id: "rs1", host: "rs1/h1:27018" },
  { _id: "rs2", host: "rs2/h2:27018" }, { _id: "rs3", host: "rs3/h3:27018" } ]
db.adminCommand({ analyzeShardKey: "shop.orders", key: { status: 1 } })
{ keyCharacteristics: { numDocsTotal: 1000000, avgDocSizeBytes: 500, isUnique: false, numDistinctValues: 3,
  mostCommonValues: [ { value: { status: "open" }, frequency: 400000 },
    { value: { status: "done" }, frequency: 350000 },
    { value: { status: "new" }, frequency: 250000 } ], monotonicity: { type: "not monotonic" } } }
```

## Silent on

```js
[ { _id: "shop.orders", key: { status: 1 } } ]
[ { _id: "rs0", host: "rs0/h0:27018" }, { _id: "rs1", host: "rs1/h1:27018" },
  { _id: "rs2", host: "rs2/h2:27018" }, { _id: "rs3", host: "rs3/h3:27018" } ]
db.adminCommand({ analyzeShardKey: "shop.orders", key: { status: 1 } })
{ keyCharacteristics: { numDocsTotal: 1000000, avgDocSizeBytes: 500, isUnique: false, numDistinctValues: 3000,
  mostCommonValues: [ { value: { status: "open" }, frequency: 400 },
    { value: { status: "done" }, frequency: 350 },
    { value: { status: "new" }, frequency: 250 } ], monotonicity: { type: "not monotonic" } } }
```

## How to fix

Take a key with many values, or add a field with many values behind this one: `{ status: 1, _id: 1 }`.
`refineCollectionShardKey` does that in place. Count candidates with
`db.orders.aggregate([{ $group: { _id: "$status", count: { $sum: 1 } } }, { $sort: { count: -1 } }])` and hand the
output over as `--schema shop.orders=FILE`; or with `analyzeShardKey` (7.0), whose output is understood as well.

## When to ignore

Zones by region, where a few values are meant, each on its own shards.

## Versions

All. Sources: <https://www.mongodb.com/docs/manual/core/sharding-choose-a-shard-key/#shard-key-cardinality>.
"#;
