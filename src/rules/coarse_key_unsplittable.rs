//! SL505: a key of one field, of which one value is too large for a chunk.

use super::declared_index::{finding, label_in};
use super::finding::Severity;
use super::literal::literal;
use super::rule::{Check, Evidence, Rule, Status};
use super::totals::Cost;
use super::totals::{NamespaceContext, NamespaceFinding};
/// The rule.
pub static RULE: Rule = Rule {
    code: "SL505",
    name: "coarse-key-unsplittable",
    summary: "a key of one field whose largest value is more than a chunk can hold",
    severity: Severity::Warning,
    needs: &[Evidence::Key],
    since: "0.1.0",
    status: Status::Stable,
    fan_out_rank: None,
    explanation: EXPLANATION,
    page: include_str!("../../docs/rules/SL505.md"),
    check: Check::Namespace(check),
};

/// A range of the default size since 6.0, in bytes.
const CHUNK: u64 = 128 << 20;
/// The size of a document where it is not known, in bytes. Smaller ones only make the finding later.
const DOCUMENT: u64 = 512;

fn check(ctx: &NamespaceContext<'_>, findings: &mut Vec<NamespaceFinding>) {
    let (home, namespace) = (ctx.collection.source, ctx.totals.namespace);
    let Some(key) = ctx.collection.shard_key().filter(|key| key.fields.len() == 1) else { return };
    let Some((source, measured)) = &ctx.collection.characteristics else { return };
    let Some((value, count)) = measured.most_common.iter().max_by_key(|(_, count)| *count) else { return };
    let bytes = count.saturating_mul(measured.document_bytes.unwrap_or(DOCUMENT));
    if bytes < CHUNK {
        return;
    }
    let first = &key.first().path;
    let size = if measured.document_bytes.is_some() { "about" } else { "with documents of 512 bytes" };
    let message = format!(
        "`{}` of `{first}` has {count} documents in `{namespace}`, {size} {} MB, and a chunk of one value cannot be split",
        literal(value, "value"),
        bytes >> 20
    );
    let mut labels = vec![label_in(home, home, key.span, "has no second field by which a value could be split")];
    labels.push(label_in(*source, home, measured.span, "counted here"));
    let mut found = finding(ctx.collection, "unsplittable", home, message, labels);
    found.subject = Some((namespace.to_owned(), "unsplittable".to_owned()));
    found.help =
        Some(format!("refine the key by a finer field: `{{ {first}: 1, _id: 1 }}` keeps the data where it is"));
    findings.push(NamespaceFinding { finding: found, cost: Cost::default() });
}

const EXPLANATION: &str = r#"
# Why is my chunk jumbo and cannot be split?

## What it says

The key has one field, and its most frequent value has more documents than fit into a chunk: 128 MB, with the size of
a document that `analyzeShardKey` tells, or 512 bytes. Needed is the output of `analyzeShardKey`, or of a grouping of
the documents by value.

## Why it costs you

A chunk cannot be split inside one value. It becomes jumbo, is not moved any more, and its shard keeps growing: *chunk
too big to move* (ChunkTooBig), *moveChunk … is a jumbo chunk*.

## Fires on

```js
[ { _id: "shop.orders", key: { customerId: 1 } } ]
db.adminCommand({ analyzeShardKey: "shop.orders", key: { customerId: 1 } })
{ keyCharacteristics: { numDocsTotal: 1000000, avgDocSizeBytes: 500, isUnique: false, numDistinctValues: 5000,
  mostCommonValues: [ { value: { customerId: 7012 }, frequency: 400000 } ], monotonicity: { type: "not monotonic" } } }
```

## Silent on

```js
[ { _id: "shop.orders", key: { customerId: 1 } } ]
db.adminCommand({ analyzeShardKey: "shop.orders", key: { customerId: 1 } })
{ keyCharacteristics: { numDocsTotal: 1000000, avgDocSizeBytes: 500, isUnique: false, numDistinctValues: 5000,
  mostCommonValues: [ { value: { customerId: 7012 }, frequency: 4000 } ], monotonicity: { type: "not monotonic" } } }
```

## How to fix

`db.adminCommand({ refineCollectionShardKey: "shop.orders", key: { customerId: 1, _id: 1 } })` (4.4; it needs the index
first) adds a finer field. The data stays in place, the chunk can be split, and filters on the first field still route.
Afterwards `sh.splitFind` and `clearJumboFlag`.

## When to ignore

If the large value has a shard for itself on purpose.

## Versions

Refining since 4.4. The size of a range is 64 MB up to 5.0. Sources:
<https://www.mongodb.com/docs/manual/core/sharding-data-partitioning/#indivisible-jumbo-chunks>,
<https://www.mongodb.com/docs/manual/core/sharding-refine-a-shard-key/>.
"#;
