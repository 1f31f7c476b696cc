//! SL406: queries that no known index serves in the order equality, sort, range; and the one index that serves most of them.

use super::access::{Access, Direction, Pattern};
use super::declared_index::{create_index, finding, knows_indexes, label_in};
use super::finding::Severity;
use super::rule::{Check, Evidence, Rule, Status};
use super::totals::{Cost, NamespaceContext, NamespaceFinding, ShapeTotals, calls};
use crate::catalog::Collection;
use crate::model::{Document, IndexSpec};
use crate::text::{SourceId, Span};
/// The rule.
pub static RULE: Rule = Rule {
    code: "SL406",
    name: "missing-esr-index",
    summary: "queries that no index serves in the order equality, sort, range; proposes one and says how many shapes it serves",
    severity: Severity::Warning,
    needs: &[Evidence::Log, Evidence::Indexes],
    since: "0.1.0",
    status: Status::Stable,
    fan_out_rank: None,
    explanation: EXPLANATION,
    page: include_str!("../../docs/rules/SL406.md"),
    check: Check::Namespace(check),
};

/// So many indexes are proposed for a collection at most: each of them costs every write.
const PROPOSALS: usize = 3;

/// An index that would serve some shapes: its fields, and the collation that they ask for.
type Proposal = (Pattern, Option<String>);

/// A shape that no index serves.
type Open<'a> = (&'a Access, &'a ShapeTotals<'a>);

fn check(ctx: &NamespaceContext<'_>, findings: &mut Vec<NamespaceFinding>) {
    let Some((home, place)) = place(ctx).filter(|_| knows_indexes(ctx.collection)) else { return };
    let shapes = ctx.totals.shapes.iter().filter_map(|shape| Some((shape.access?, shape)));
    let mut open: Vec<Open<'_>> = shapes.filter(|(access, _)| !is_served(ctx.collection, access)).collect();
    for _ in 0..PROPOSALS {
        let Some(proposal) = best(ctx, &open) else { return };
        let (now, rest): (Vec<_>, Vec<_>) = open.into_iter().partition(|(access, _)| serves(&proposal, access));
        let found = found(ctx, &proposal, &now, (home, place));
        let limits = ctx.thresholds;
        if found.cost.calls >= limits.fewest_calls || found.cost.millis >= limits.index_millis {
            findings.push(found);
        }
        open = rest;
    }
}

/// Whether the index on `_id`, or one that is declared, serves.
fn is_served(collection: &Collection, access: &Access) -> bool {
    let by_id = Pattern(vec![("_id".to_owned(), Direction::Up)]);
    let mut declared = collection.indexes.specs.iter();
    access.is_served_by(&by_id) || declared.any(|(_, index)| access.is_served_by_index(collection, index))
}

fn serves((pattern, collation): &Proposal, access: &Access) -> bool {
    access.collation == *collation && access.is_served_by(pattern)
}

/// The index that the costliest open shape needs and that serves most; of equals the first in the order of their text.
fn best(ctx: &NamespaceContext<'_>, open: &[Open<'_>]) -> Option<Proposal> {
    let proposal = |access: &Access| (access.index(ctx.collection.shard_key()), access.collation.clone());
    let candidates = open.iter().map(|(access, _)| proposal(access));
    let worth = |candidate: &Proposal| {
        let served = open.iter().filter(|(access, _)| serves(candidate, access));
        served.fold((0, 0), |(millis, n), (_, shape)| (millis + shape.cost.millis, n + shape.cost.calls))
    };
    let ranked = candidates.map(|candidate| (worth(&candidate), std::cmp::Reverse(candidate)));
    ranked.max().map(|(_, std::cmp::Reverse(candidate))| candidate)
}

fn found(
    ctx: &NamespaceContext<'_>,
    proposal: &Proposal,
    served: &[Open<'_>],
    (home, place): (SourceId, Span),
) -> NamespaceFinding {
    let mut cost = Cost::default();
    served.iter().for_each(|(_, shape)| cost.add(shape.cost));
    let namespace = ctx.totals.namespace;
    let pattern = &proposal.0;
    let shapes = if served.len() == 1 { "1 shape".to_owned() } else { format!("{} shapes", served.len()) };
    let known = if ctx.collection.indexes.complete { "index" } else { "declared index" };
    let message = format!(
        "no {known} of `{namespace}` serves {shapes} of queries ({}): equality, then sort, then range would be \
         `{pattern}`",
        calls(cost.calls)
    );
    let example = served
        .first()
        .map_or_else(String::new, |(_, shape)| format!(", such as `{} {}`", shape.operation, shape.shape));
    let text = format!("{} known; none finds and orders what these ask for{example}", indexes(ctx.collection));
    let mut labels = vec![label_in(home, home, place, text)];
    let hidden = hidden(ctx.collection, served);
    labels
        .extend(hidden.map(|(source, index)| label_in(*source, home, index.key_span, "hidden; it would serve these")));
    let subject = format!("index {pattern}");
    let mut found = finding(ctx.collection, &subject, home, message, labels);
    found.subject = Some((namespace.to_owned(), subject));
    found.help = Some(match hidden {
        Some((_, index)) => format!("unhide `{}`, which serves them", index.name_or_default()),
        None => format!("consider `{}`: it serves {shapes} by itself", statement(namespace, proposal)),
    });
    NamespaceFinding { finding: found, cost }
}

/// How many indexes are known, that on `_id` with them.
fn indexes(collection: &Collection) -> String {
    let is_id = |key: &Document| matches!(key.fields.as_slice(), [field] if field.name == "_id");
    let others = collection.indexes.specs.iter().filter(|(_, index)| !is_id(&index.key)).count();
    if others == 0 { "only the index on `_id` is".to_owned() } else { format!("{} indexes are", others + 1) }
}

/// A hidden index that would serve all of these.
fn hidden<'a>(collection: &'a Collection, served: &[Open<'_>]) -> Option<&'a (SourceId, IndexSpec)> {
    let would = |index: &IndexSpec| served.iter().all(|(access, _)| access.would_be_served_by(collection, index));
    collection.indexes.specs.iter().find(|(_, index)| index.hidden.is_some() && would(index))
}

/// The statement that makes the index.
fn statement(namespace: &str, (pattern, collation): &Proposal) -> String {
    match collation {
        Some(collation) => create_index(namespace, &format!("{pattern}, {{ collation: {collation} }}")),
        None => create_index(namespace, pattern),
    }
}

/// Where the collection is declared: its key, else its first index.
fn place(ctx: &NamespaceContext<'_>) -> Option<(SourceId, Span)> {
    let collection = ctx.collection;
    let by_key = collection.shard_key().map(|key| (collection.source, key.span));
    by_key.or_else(|| collection.indexes.specs.first().map(|(source, index)| (*source, index.key_span)))
}

const EXPLANATION: &str = r#"
# Which index does my query need (equality, sort, range)?

## What it says

Some queries on the collection are served by no known index: none begins with a field that they compare for equality
(or, without one, by range), or none of those that do yields the order asked for. The message proposes one index in
the order equality, sort, range, and says how many shapes of queries it would serve. Equalities on fields of the shard
key come first in it. Filters with `$or`, text or geospatial conditions are not judged, nor are queries that are fewer
than `fewest_calls` (default 20) and took less than `index_millis` milliseconds together (default 100).

An index that not every query can use counts where it may serve: a partial one if the filter compares all fields of its
`partialFilterExpression`, a sparse one if it compares its first field, a hashed one for equalities, a wildcard index
for one field, one with a collation if the query has the same or compares no strings. A hidden one serves nothing; if it
would, the advice is to unhide it.

## Why it costs you

Without the index each shard that is asked scans, or sorts in memory; on a sharded collection it does so on every shard
of a broadcast. An index that serves several shapes costs each write once.

## Fires on

```js
sh.shardCollection("shop.orders", { customerId: 1 });
db.getSiblingDB("shop").orders.createIndex({ customerId: 1 });
db.getSiblingDB("shop").orders.createIndex({ status: 1 });
```

```json
{"t":{"$date":"2024-05-14T09:12:03.481+00:00"},"s":"I","c":"COMMAND","id":51803,"ctx":"conn42","msg":"Slow query","attr":{"type":"command","ns":"shop.orders","command":{"find":"orders","filter":{"status":"open","total":{"$gte":100}},"sort":{"createdAt":-1},"limit":20,"$db":"shop"},"nreturned":20,"durationMillis":310}}
```

## Silent on

```js
sh.shardCollection("shop.orders", { customerId: 1 });
db.getSiblingDB("shop").orders.createIndex({ customerId: 1 });
db.getSiblingDB("shop").orders.createIndex({ status: 1, createdAt: -1, total: 1 });
```

```json
{"t":{"$date":"2024-05-14T09:12:03.481+00:00"},"s":"I","c":"COMMAND","id":51803,"ctx":"conn42","msg":"Slow query","attr":{"type":"command","ns":"shop.orders","command":{"find":"orders","filter":{"status":"open","total":{"$gte":100}},"sort":{"createdAt":-1},"limit":20,"$db":"shop"},"nreturned":20,"durationMillis":310}}
```

## How to fix

Create the proposed index, or put its fields into one that is there. Which of the equality fields comes first makes no
difference to these queries; take the order that other queries can use too. shardlint proposes three indexes for a
collection at most, and never to drop one.

## When to ignore

Small collections, and queries that run once a day.

## Versions

All. Sources: <https://www.mongodb.com/docs/manual/tutorial/equality-sort-range-rule/>.
"#;
