//! SL408: an index that is the beginning of another one. At most a candidate for hiding: a log shows what ran, not what
//! runs at the end of the quarter.

use std::collections::BTreeMap;

use super::access::{Direction, Pattern};
use super::declared_index::{finding, label_in};
use super::finding::{Finding, Severity};
use super::rule::{Check, DeclarationContext, Evidence, Rule, Status};
use crate::catalog::{Collection, starts_with_key};
use crate::model::IndexSpec;
use crate::text::SourceId;
/// The rule.
pub static RULE: Rule = Rule {
    code: "SL408",
    name: "redundant-index",
    summary: "an index that is the beginning of another one, and not the shard key's only one",
    severity: Severity::Info,
    needs: &[Evidence::Key, Evidence::Indexes],
    since: "0.1.0",
    status: Status::Stable,
    fan_out_rank: None,
    explanation: EXPLANATION,
    page: include_str!("../../docs/rules/SL408.md"),
    check: Check::Declaration(check),
};

/// No index has more fields.
const MOST_FIELDS: usize = 32;

fn check(ctx: &DeclarationContext<'_>, findings: &mut Vec<Finding>) {
    let collection = ctx.collection;
    let specs = &collection.indexes.specs;
    let patterns: Vec<_> = specs.iter().map(|(_, index)| Pattern::of_usable(collection, index)).collect();
    // The first index that begins with some fields and has more.
    let mut longer: BTreeMap<&[(String, Direction)], &(SourceId, IndexSpec)> = BTreeMap::new();
    for (spec, Pattern(fields)) in
        specs.iter().zip(&patterns).filter_map(|(spec, pattern)| Some((spec, pattern.as_ref()?)))
    {
        for length in 1..fields.len().min(MOST_FIELDS) {
            longer.entry(&fields[..length]).or_insert(spec);
        }
    }
    for ((source, index), pattern) in specs.iter().zip(&patterns) {
        let Some(Pattern(fields)) = pattern.as_ref().filter(|_| may_be_spared(index)) else { continue };
        let is_id = matches!(fields.as_slice(), [(path, _)] if path == "_id");
        let Some(longer) = longer.get(fields.as_slice()).filter(|_| !is_id) else { continue };
        if !is_needed_by_key(collection, index, &longer.1) {
            findings.push(redundant(collection, *source, index, longer));
        }
    }
}

fn redundant(collection: &Collection, home: SourceId, index: &IndexSpec, longer: &(SourceId, IndexSpec)) -> Finding {
    let name = index.name_or_default();
    let message =
        format!("the index `{name}` of `{}` is the beginning of `{}`", collection.pattern, longer.1.name_or_default());
    let labels = vec![
        label_in(home, home, index.key_span, "whatever this one finds, the other finds too"),
        label_in(longer.0, home, longer.1.key_span, "begins with the same fields, in the same directions"),
    ];
    let mut found = finding(collection, &name, home, message, labels);
    found.help = Some("consider to hide it (`hideIndex`, 4.4 and later) and to watch what changes".to_owned());
    found
}

/// Whether an index does nothing but find: one that begins with its fields does all that it does.
fn may_be_spared(index: &IndexSpec) -> bool {
    index.unique.is_none() && index.prepare_unique.is_none() && index.expires.is_none() && !index.clustered
}

/// Whether the shard key rests on the shorter index, because the longer one holds arrays.
fn is_needed_by_key(collection: &Collection, index: &IndexSpec, longer: &IndexSpec) -> bool {
    let serves = |key| starts_with_key(&index.key, key) && longer.multikey.is_some();
    collection.shard_key().is_some_and(serves)
}

const EXPLANATION: &str = r#"
# Do I need an index that is a prefix of another index?

## What it says

An index has the same fields, in the same order and directions, as the beginning of another one. It is neither unique
nor sparse, partial, hidden or TTL, has no collation of its own, and the shard key does not rest on it alone.

## Why it costs you

Every insert and every update of its fields maintains it, and it takes its share of the cache.

## Fires on

```js
sh.shardCollection("shop.orders", { customerId: 1 });
```

```json
{"cursor":{"id":0,"ns":"shop.orders","firstBatch":[{"v":2,"key":{"_id":1},"name":"_id_"},{"v":2,"key":{"customerId":1,"createdAt":1},"name":"byCustomerAndTime"},{"v":2,"key":{"status":1},"name":"byStatus"},{"v":2,"key":{"status":1,"createdAt":1},"name":"byStatusAndTime"}]},"ok":1}
```

## Silent on

```js
sh.shardCollection("shop.orders", { customerId: 1 });
```

```json
{"cursor":{"id":0,"ns":"shop.orders","firstBatch":[{"v":2,"key":{"_id":1},"name":"_id_"},{"v":2,"key":{"customerId":1,"createdAt":1},"name":"byCustomerAndTime"},{"v":2,"key":{"status":1},"name":"byStatus","unique":true},{"v":2,"key":{"status":1,"createdAt":1},"name":"byStatusAndTime"}]},"ok":1}
```

## How to fix

Hide the shorter index for a while and watch: `db.orders.hideIndex("byStatus")`. Queries go on with the longer one. If
nothing gets slower until the rarest report has run, there is your answer. shardlint never advises to drop an index: a
log shows what ran, and not what runs at the end of the quarter.

## When to ignore

If the short index fits into memory and the long one does not, or if the longer one is multikey.

## Versions

Hiding since 4.4. The last index that carries a shard key cannot be dropped (*Cannot drop the only compatible index for
this collection's shard key*, CannotDropShardKeyIndex 370) or hidden (*Can't hide the only compatible index for this
collection's shard key*, InvalidOptions 72). Sources: <https://www.mongodb.com/docs/manual/core/index-hidden/>.
"#;
