//! SL503: a ranged key whose values grow with time: every insert goes to the last chunk.

use super::declared_index::{finding, label_in};
use super::finding::Severity;
use super::rule::{Check, Evidence, Rule, Status};
use super::totals::Cost;
use super::totals::{NamespaceContext, NamespaceFinding, percent};
use crate::model::{KeyKind, ShardKey};
/// The rule.
pub static RULE: Rule = Rule {
    code: "SL503",
    name: "monotonic-range-key",
    summary: "the first field of a ranged key grows with time: all inserts go to one end, one shard",
    severity: Severity::Error,
    needs: &[Evidence::Key],
    since: "0.1.0",
    status: Status::Stable,
    fan_out_rank: None,
    explanation: EXPLANATION,
    page: include_str!("../../docs/rules/SL503.md"),
    check: Check::Namespace(check),
};

/// So many percent of later values are no less: they grow, but for servers that run side by side.
const RISING_PERCENT: u64 = 95;
/// Fewer different values are a handful of groups that were loaded one after the other.
const FEWEST_DIFFERENT: u64 = 8;
/// So many percent of the values are different: a counter or a clock. Fewer make a coarse prefix.
const FINE_PERCENT: u64 = 50;

/// That the values grow, and how that is known.
pub(super) struct Growing {
    known: String,
    pub(super) severity: Severity,
}

fn check(ctx: &NamespaceContext<'_>, findings: &mut Vec<NamespaceFinding>) {
    let (home, namespace) = (ctx.collection.source, ctx.totals.namespace);
    let Some(key) = ctx.collection.shard_key() else { return };
    let Some(growing) = growing(ctx, key) else { return };
    let first = &key.first().path;
    let message =
        format!("`{first}` leads the ranged key of `{namespace}`, {}: new rows go to one end of it", growing.known);
    let text = "the chunk that ends at MaxKey, on one shard, takes every insert";
    let mut found =
        finding(ctx.collection, "monotonic", home, message, vec![label_in(home, home, key.first().span, text)]);
    found.subject = Some((namespace.to_owned(), "monotonic".to_owned()));
    found.severity = Some(growing.severity);
    found.help = Some(match growing.severity {
        Severity::Info if key.fields.len() > 1 => {
            format!("pre-split the next values of `{first}` and spread their chunks before rows arrive, or leave it so")
        }
        _ => format!(
            "hash it (`{{ {first}: \"hashed\" }}`), or put a field in front that spreads: `{{ tenantId: 1, {first}: 1 }}`"
        ),
    });
    findings.push(NamespaceFinding { finding: found, cost: Cost::default() });
}

/// Whether the first field of a ranged key is known to grow.
pub(super) fn growing(ctx: &NamespaceContext<'_>, key: &ShardKey) -> Option<Growing> {
    if key.first().kind != KeyKind::Ranged {
        return None;
    }
    measured(ctx).or_else(|| logged(ctx, key)).or_else(|| by_id(ctx, key))
}

fn measured(ctx: &NamespaceContext<'_>) -> Option<Growing> {
    let monotonic = ctx.collection.characteristics.as_ref()?.1.monotonic?;
    let known = "and `analyzeShardKey` found it monotonic".to_owned();
    monotonic.then_some(Growing { known, severity: Severity::Error })
}

/// What inserted values show. A coarse field in front of others is a fair trade where it is split ahead.
fn logged(ctx: &NamespaceContext<'_>, key: &ShardKey) -> Option<Growing> {
    let growth = ctx.first_values()?.growth();
    let is_enough = growth.values >= ctx.thresholds.fewest_values && growth.distinct >= FEWEST_DIFFERENT;
    if !is_enough || percent(growth.rising, growth.pairs) < RISING_PERCENT {
        return None;
    }
    let is_coarse = percent(growth.distinct, growth.values) < FINE_PERCENT;
    let severity = if is_coarse && key.fields.len() > 1 { Severity::Info } else { Severity::Error };
    let known = format!("and {} inserted values in the log grow with time", growth.values);
    Some(Growing { known, severity })
}

/// An `_id` that drivers make is an ObjectId, which begins with the time.
fn by_id(ctx: &NamespaceContext<'_>, key: &ShardKey) -> Option<Growing> {
    if key.first().path != "_id" {
        return None;
    }
    let values = ctx.totals.values.and_then(|values| values.typed(0));
    let Some(types) = values.map(super::key_sample::FieldValues::types).filter(|types| !types.is_empty()) else {
        let known = "and is an ObjectId, which grows with time, unless the application makes it".to_owned();
        return Some(Growing { known, severity: Severity::Info });
    };
    let known = "and its values are ObjectIds, which grow with time".to_owned();
    matches!(types.as_slice(), [("ObjectId", _)]).then_some(Growing { known, severity: Severity::Error })
}

const EXPLANATION: &str = r#"
# Is _id (ObjectId) or a timestamp a good shard key?

## What it says

The key is ranged, and its first field grows with time. It is known from inserted values in the log (at least
`fewest_values`, default 50, of which 95 % are no less than those before and eight are different), from
`analyzeShardKey`, or because `_id` is compared with ObjectIds. A coarse field in front of others, such as a month
before a user, is an info: a fair trade where it is pre-split. So is `_id` of which the log shows no value.

## Why it costs you

All new rows belong to the chunk that ends at MaxKey. One shard takes all inserts, splits, and sends chunks away, while
the others wait. Updates and reads of old rows are spread and do not suffer.

## Fires on

```toml
[thresholds]
fewest-values = 10
```

```js
sh.shardCollection("shop.orders", { createdAt: 1 });
```

```json
{"t":{"$date":"2024-05-14T09:12:00.000+00:00"},"s":"I","c":"COMMAND","id":51803,"ctx":"conn42","msg":"Slow query","attr":{"type":"command","ns":"shop.orders","command":{"insert":"orders","documents":[{"createdAt":{"$date":"2024-05-14T09:12:00.000Z"},"total":0}],"ordered":true,"$db":"shop"},"ninserted":1,"durationMillis":3}}
{"t":{"$date":"2024-05-14T09:12:01.000+00:00"},"s":"I","c":"COMMAND","id":51803,"ctx":"conn42","msg":"Slow query","attr":{"type":"command","ns":"shop.orders","command":{"insert":"orders","documents":[{"createdAt":{"$date":"2024-05-14T09:12:01.001Z"},"total":1}],"ordered":true,"$db":"shop"},"ninserted":1,"durationMillis":3}}
{"t":{"$date":"2024-05-14T09:12:02.000+00:00"},"s":"I","c":"COMMAND","id":51803,"ctx":"conn42","msg":"Slow query","attr":{"type":"command","ns":"shop.orders","command":{"insert":"orders","documents":[{"createdAt":{"$date":"2024-05-14T09:12:02.002Z"},"total":2}],"ordered":true,"$db":"shop"},"ninserted":1,"durationMillis":3}}
{"t":{"$date":"2024-05-14T09:12:03.000+00:00"},"s":"I","c":"COMMAND","id":51803,"ctx":"conn42","msg":"Slow query","attr":{"type":"command","ns":"shop.orders","command":{"insert":"orders","documents":[{"createdAt":{"$date":"2024-05-14T09:12:03.003Z"},"total":3}],"ordered":true,"$db":"shop"},"ninserted":1,"durationMillis":3}}
{"t":{"$date":"2024-05-14T09:12:04.000+00:00"},"s":"I","c":"COMMAND","id":51803,"ctx":"conn42","msg":"Slow query","attr":{"type":"command","ns":"shop.orders","command":{"insert":"orders","documents":[{"createdAt":{"$date":"2024-05-14T09:12:04.004Z"},"total":4}],"ordered":true,"$db":"shop"},"ninserted":1,"durationMillis":3}}
{"t":{"$date":"2024-05-14T09:12:05.000+00:00"},"s":"I","c":"COMMAND","id":51803,"ctx":"conn42","msg":"Slow query","attr":{"type":"command","ns":"shop.orders","command":{"insert":"orders","documents":[{"createdAt":{"$date":"2024-05-14T09:12:05.005Z"},"total":5}],"ordered":true,"$db":"shop"},"ninserted":1,"durationMillis":3}}
{"t":{"$date":"2024-05-14T09:12:06.000+00:00"},"s":"I","c":"COMMAND","id":51803,"ctx":"conn42","msg":"Slow query","attr":{"type":"command","ns":"shop.orders","command":{"insert":"orders","documents":[{"createdAt":{"$date":"2024-05-14T09:12:06.006Z"},"total":6}],"ordered":true,"$db":"shop"},"ninserted":1,"durationMillis":3}}
{"t":{"$date":"2024-05-14T09:12:07.000+00:00"},"s":"I","c":"COMMAND","id":51803,"ctx":"conn42","msg":"Slow query","attr":{"type":"command","ns":"shop.orders","command":{"insert":"orders","documents":[{"createdAt":{"$date":"2024-05-14T09:12:07.007Z"},"total":7}],"ordered":true,"$db":"shop"},"ninserted":1,"durationMillis":3}}
{"t":{"$date":"2024-05-14T09:12:08.000+00:00"},"s":"I","c":"COMMAND","id":51803,"ctx":"conn42","msg":"Slow query","attr":{"type":"command","ns":"shop.orders","command":{"insert":"orders","documents":[{"createdAt":{"$date":"2024-05-14T09:12:08.008Z"},"total":8}],"ordered":true,"$db":"shop"},"ninserted":1,"durationMillis":3}}
{"t":{"$date":"2024-05-14T09:12:09.000+00:00"},"s":"I","c":"COMMAND","id":51803,"ctx":"conn42","msg":"Slow query","attr":{"type":"command","ns":"shop.orders","command":{"insert":"orders","documents":[{"createdAt":{"$date":"2024-05-14T09:12:09.009Z"},"total":9}],"ordered":true,"$db":"shop"},"ninserted":1,"durationMillis":3}}
```

## Silent on

```toml
[thresholds]
fewest-values = 10
```

```js
sh.shardCollection("shop.orders", { createdAt: "hashed" });
```

```json
{"t":{"$date":"2024-05-14T09:12:00.000+00:00"},"s":"I","c":"COMMAND","id":51803,"ctx":"conn42","msg":"Slow query","attr":{"type":"command","ns":"shop.orders","command":{"insert":"orders","documents":[{"createdAt":{"$date":"2024-05-14T09:12:00.000Z"},"total":0}],"ordered":true,"$db":"shop"},"ninserted":1,"durationMillis":3}}
{"t":{"$date":"2024-05-14T09:12:01.000+00:00"},"s":"I","c":"COMMAND","id":51803,"ctx":"conn42","msg":"Slow query","attr":{"type":"command","ns":"shop.orders","command":{"insert":"orders","documents":[{"createdAt":{"$date":"2024-05-14T09:12:01.001Z"},"total":1}],"ordered":true,"$db":"shop"},"ninserted":1,"durationMillis":3}}
{"t":{"$date":"2024-05-14T09:12:02.000+00:00"},"s":"I","c":"COMMAND","id":51803,"ctx":"conn42","msg":"Slow query","attr":{"type":"command","ns":"shop.orders","command":{"insert":"orders","documents":[{"createdAt":{"$date":"2024-05-14T09:12:02.002Z"},"total":2}],"ordered":true,"$db":"shop"},"ninserted":1,"durationMillis":3}}
{"t":{"$date":"2024-05-14T09:12:03.000+00:00"},"s":"I","c":"COMMAND","id":51803,"ctx":"conn42","msg":"Slow query","attr":{"type":"command","ns":"shop.orders","command":{"insert":"orders","documents":[{"createdAt":{"$date":"2024-05-14T09:12:03.003Z"},"total":3}],"ordered":true,"$db":"shop"},"ninserted":1,"durationMillis":3}}
{"t":{"$date":"2024-05-14T09:12:04.000+00:00"},"s":"I","c":"COMMAND","id":51803,"ctx":"conn42","msg":"Slow query","attr":{"type":"command","ns":"shop.orders","command":{"insert":"orders","documents":[{"createdAt":{"$date":"2024-05-14T09:12:04.004Z"},"total":4}],"ordered":true,"$db":"shop"},"ninserted":1,"durationMillis":3}}
{"t":{"$date":"2024-05-14T09:12:05.000+00:00"},"s":"I","c":"COMMAND","id":51803,"ctx":"conn42","msg":"Slow query","attr":{"type":"command","ns":"shop.orders","command":{"insert":"orders","documents":[{"createdAt":{"$date":"2024-05-14T09:12:05.005Z"},"total":5}],"ordered":true,"$db":"shop"},"ninserted":1,"durationMillis":3}}
{"t":{"$date":"2024-05-14T09:12:06.000+00:00"},"s":"I","c":"COMMAND","id":51803,"ctx":"conn42","msg":"Slow query","attr":{"type":"command","ns":"shop.orders","command":{"insert":"orders","documents":[{"createdAt":{"$date":"2024-05-14T09:12:06.006Z"},"total":6}],"ordered":true,"$db":"shop"},"ninserted":1,"durationMillis":3}}
{"t":{"$date":"2024-05-14T09:12:07.000+00:00"},"s":"I","c":"COMMAND","id":51803,"ctx":"conn42","msg":"Slow query","attr":{"type":"command","ns":"shop.orders","command":{"insert":"orders","documents":[{"createdAt":{"$date":"2024-05-14T09:12:07.007Z"},"total":7}],"ordered":true,"$db":"shop"},"ninserted":1,"durationMillis":3}}
{"t":{"$date":"2024-05-14T09:12:08.000+00:00"},"s":"I","c":"COMMAND","id":51803,"ctx":"conn42","msg":"Slow query","attr":{"type":"command","ns":"shop.orders","command":{"insert":"orders","documents":[{"createdAt":{"$date":"2024-05-14T09:12:08.008Z"},"total":8}],"ordered":true,"$db":"shop"},"ninserted":1,"durationMillis":3}}
{"t":{"$date":"2024-05-14T09:12:09.000+00:00"},"s":"I","c":"COMMAND","id":51803,"ctx":"conn42","msg":"Slow query","attr":{"type":"command","ns":"shop.orders","command":{"insert":"orders","documents":[{"createdAt":{"$date":"2024-05-14T09:12:09.009Z"},"total":9}],"ordered":true,"$db":"shop"},"ninserted":1,"durationMillis":3}}
```

## How to fix

Hash the field if nobody asks for ranges of it. Put a field in front that spreads inserts and that queries know:
`{ deviceId: 1, createdAt: 1 }`. `reshardCollection` (5.0) changes the key of a collection that has data. To keep a
coarse ascending prefix, split ahead: `sh.splitAt("shop.orders", { month: "2024-06", userId: "m" })` for some users
of the next month, and spread these chunks by `sh.moveChunk` or zones while they are empty.

## When to ignore

Low insert rates, or keys chosen so that old ranges can be moved to cheaper shards by zones.

## Versions

All. Sources: <https://www.mongodb.com/docs/manual/core/sharding-choose-a-shard-key/#monotonically-changing-shard-keys>.
"#;
