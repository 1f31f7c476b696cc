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
    let values = ctx.totals.values.and_then(|values| values.field(0));
    let Some(types) = values.map(super::key_values::FieldValues::types).filter(|types| !types.is_empty()) else {
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
{"t":{"$date":"2024-05-14T09:12:10.000+00:00"},"s":"I","c":"COMMAND","id":51803,"ctx":"conn42","msg":"Slow query","attr":{"type":"command","ns":"shop.orders","command":{"insert":"orders","documents":[{"createdAt":{"$date":"2024-05-14T09:12:10.010Z"},"total":10}],"ordered":true,"$db":"shop"},"ninserted":1,"durationMillis":3}}
{"t":{"$date":"2024-05-14T09:12:11.000+00:00"},"s":"I","c":"COMMAND","id":51803,"ctx":"conn42","msg":"Slow query","attr":{"type":"command","ns":"shop.orders","command":{"insert":"orders","documents":[{"createdAt":{"$date":"2024-05-14T09:12:11.011Z"},"total":11}],"ordered":true,"$db":"shop"},"ninserted":1,"durationMillis":3}}
{"t":{"$date":"2024-05-14T09:12:12.000+00:00"},"s":"I","c":"COMMAND","id":51803,"ctx":"conn42","msg":"Slow query","attr":{"type":"command","ns":"shop.orders","command":{"insert":"orders","documents":[{"createdAt":{"$date":"2024-05-14T09:12:12.012Z"},"total":12}],"ordered":true,"$db":"shop"},"ninserted":1,"durationMillis":3}}
{"t":{"$date":"2024-05-14T09:12:13.000+00:00"},"s":"I","c":"COMMAND","id":51803,"ctx":"conn42","msg":"Slow query","attr":{"type":"command","ns":"shop.orders","command":{"insert":"orders","documents":[{"createdAt":{"$date":"2024-05-14T09:12:13.013Z"},"total":13}],"ordered":true,"$db":"shop"},"ninserted":1,"durationMillis":3}}
{"t":{"$date":"2024-05-14T09:12:14.000+00:00"},"s":"I","c":"COMMAND","id":51803,"ctx":"conn42","msg":"Slow query","attr":{"type":"command","ns":"shop.orders","command":{"insert":"orders","documents":[{"createdAt":{"$date":"2024-05-14T09:12:14.014Z"},"total":14}],"ordered":true,"$db":"shop"},"ninserted":1,"durationMillis":3}}
{"t":{"$date":"2024-05-14T09:12:15.000+00:00"},"s":"I","c":"COMMAND","id":51803,"ctx":"conn42","msg":"Slow query","attr":{"type":"command","ns":"shop.orders","command":{"insert":"orders","documents":[{"createdAt":{"$date":"2024-05-14T09:12:15.015Z"},"total":15}],"ordered":true,"$db":"shop"},"ninserted":1,"durationMillis":3}}
{"t":{"$date":"2024-05-14T09:12:16.000+00:00"},"s":"I","c":"COMMAND","id":51803,"ctx":"conn42","msg":"Slow query","attr":{"type":"command","ns":"shop.orders","command":{"insert":"orders","documents":[{"createdAt":{"$date":"2024-05-14T09:12:16.016Z"},"total":16}],"ordered":true,"$db":"shop"},"ninserted":1,"durationMillis":3}}
{"t":{"$date":"2024-05-14T09:12:17.000+00:00"},"s":"I","c":"COMMAND","id":51803,"ctx":"conn42","msg":"Slow query","attr":{"type":"command","ns":"shop.orders","command":{"insert":"orders","documents":[{"createdAt":{"$date":"2024-05-14T09:12:17.017Z"},"total":17}],"ordered":true,"$db":"shop"},"ninserted":1,"durationMillis":3}}
{"t":{"$date":"2024-05-14T09:12:18.000+00:00"},"s":"I","c":"COMMAND","id":51803,"ctx":"conn42","msg":"Slow query","attr":{"type":"command","ns":"shop.orders","command":{"insert":"orders","documents":[{"createdAt":{"$date":"2024-05-14T09:12:18.018Z"},"total":18}],"ordered":true,"$db":"shop"},"ninserted":1,"durationMillis":3}}
{"t":{"$date":"2024-05-14T09:12:19.000+00:00"},"s":"I","c":"COMMAND","id":51803,"ctx":"conn42","msg":"Slow query","attr":{"type":"command","ns":"shop.orders","command":{"insert":"orders","documents":[{"createdAt":{"$date":"2024-05-14T09:12:19.019Z"},"total":19}],"ordered":true,"$db":"shop"},"ninserted":1,"durationMillis":3}}
{"t":{"$date":"2024-05-14T09:12:20.000+00:00"},"s":"I","c":"COMMAND","id":51803,"ctx":"conn42","msg":"Slow query","attr":{"type":"command","ns":"shop.orders","command":{"insert":"orders","documents":[{"createdAt":{"$date":"2024-05-14T09:12:20.020Z"},"total":20}],"ordered":true,"$db":"shop"},"ninserted":1,"durationMillis":3}}
{"t":{"$date":"2024-05-14T09:12:21.000+00:00"},"s":"I","c":"COMMAND","id":51803,"ctx":"conn42","msg":"Slow query","attr":{"type":"command","ns":"shop.orders","command":{"insert":"orders","documents":[{"createdAt":{"$date":"2024-05-14T09:12:21.021Z"},"total":21}],"ordered":true,"$db":"shop"},"ninserted":1,"durationMillis":3}}
{"t":{"$date":"2024-05-14T09:12:22.000+00:00"},"s":"I","c":"COMMAND","id":51803,"ctx":"conn42","msg":"Slow query","attr":{"type":"command","ns":"shop.orders","command":{"insert":"orders","documents":[{"createdAt":{"$date":"2024-05-14T09:12:22.022Z"},"total":22}],"ordered":true,"$db":"shop"},"ninserted":1,"durationMillis":3}}
{"t":{"$date":"2024-05-14T09:12:23.000+00:00"},"s":"I","c":"COMMAND","id":51803,"ctx":"conn42","msg":"Slow query","attr":{"type":"command","ns":"shop.orders","command":{"insert":"orders","documents":[{"createdAt":{"$date":"2024-05-14T09:12:23.023Z"},"total":23}],"ordered":true,"$db":"shop"},"ninserted":1,"durationMillis":3}}
{"t":{"$date":"2024-05-14T09:12:24.000+00:00"},"s":"I","c":"COMMAND","id":51803,"ctx":"conn42","msg":"Slow query","attr":{"type":"command","ns":"shop.orders","command":{"insert":"orders","documents":[{"createdAt":{"$date":"2024-05-14T09:12:24.024Z"},"total":24}],"ordered":true,"$db":"shop"},"ninserted":1,"durationMillis":3}}
{"t":{"$date":"2024-05-14T09:12:25.000+00:00"},"s":"I","c":"COMMAND","id":51803,"ctx":"conn42","msg":"Slow query","attr":{"type":"command","ns":"shop.orders","command":{"insert":"orders","documents":[{"createdAt":{"$date":"2024-05-14T09:12:25.025Z"},"total":25}],"ordered":true,"$db":"shop"},"ninserted":1,"durationMillis":3}}
{"t":{"$date":"2024-05-14T09:12:26.000+00:00"},"s":"I","c":"COMMAND","id":51803,"ctx":"conn42","msg":"Slow query","attr":{"type":"command","ns":"shop.orders","command":{"insert":"orders","documents":[{"createdAt":{"$date":"2024-05-14T09:12:26.026Z"},"total":26}],"ordered":true,"$db":"shop"},"ninserted":1,"durationMillis":3}}
{"t":{"$date":"2024-05-14T09:12:27.000+00:00"},"s":"I","c":"COMMAND","id":51803,"ctx":"conn42","msg":"Slow query","attr":{"type":"command","ns":"shop.orders","command":{"insert":"orders","documents":[{"createdAt":{"$date":"2024-05-14T09:12:27.027Z"},"total":27}],"ordered":true,"$db":"shop"},"ninserted":1,"durationMillis":3}}
{"t":{"$date":"2024-05-14T09:12:28.000+00:00"},"s":"I","c":"COMMAND","id":51803,"ctx":"conn42","msg":"Slow query","attr":{"type":"command","ns":"shop.orders","command":{"insert":"orders","documents":[{"createdAt":{"$date":"2024-05-14T09:12:28.028Z"},"total":28}],"ordered":true,"$db":"shop"},"ninserted":1,"durationMillis":3}}
{"t":{"$date":"2024-05-14T09:12:29.000+00:00"},"s":"I","c":"COMMAND","id":51803,"ctx":"conn42","msg":"Slow query","attr":{"type":"command","ns":"shop.orders","command":{"insert":"orders","documents":[{"createdAt":{"$date":"2024-05-14T09:12:29.029Z"},"total":29}],"ordered":true,"$db":"shop"},"ninserted":1,"durationMillis":3}}
{"t":{"$date":"2024-05-14T09:12:30.000+00:00"},"s":"I","c":"COMMAND","id":51803,"ctx":"conn42","msg":"Slow query","attr":{"type":"command","ns":"shop.orders","command":{"insert":"orders","documents":[{"createdAt":{"$date":"2024-05-14T09:12:30.030Z"},"total":30}],"ordered":true,"$db":"shop"},"ninserted":1,"durationMillis":3}}
{"t":{"$date":"2024-05-14T09:12:31.000+00:00"},"s":"I","c":"COMMAND","id":51803,"ctx":"conn42","msg":"Slow query","attr":{"type":"command","ns":"shop.orders","command":{"insert":"orders","documents":[{"createdAt":{"$date":"2024-05-14T09:12:31.031Z"},"total":31}],"ordered":true,"$db":"shop"},"ninserted":1,"durationMillis":3}}
{"t":{"$date":"2024-05-14T09:12:32.000+00:00"},"s":"I","c":"COMMAND","id":51803,"ctx":"conn42","msg":"Slow query","attr":{"type":"command","ns":"shop.orders","command":{"insert":"orders","documents":[{"createdAt":{"$date":"2024-05-14T09:12:32.032Z"},"total":32}],"ordered":true,"$db":"shop"},"ninserted":1,"durationMillis":3}}
{"t":{"$date":"2024-05-14T09:12:33.000+00:00"},"s":"I","c":"COMMAND","id":51803,"ctx":"conn42","msg":"Slow query","attr":{"type":"command","ns":"shop.orders","command":{"insert":"orders","documents":[{"createdAt":{"$date":"2024-05-14T09:12:33.033Z"},"total":33}],"ordered":true,"$db":"shop"},"ninserted":1,"durationMillis":3}}
{"t":{"$date":"2024-05-14T09:12:34.000+00:00"},"s":"I","c":"COMMAND","id":51803,"ctx":"conn42","msg":"Slow query","attr":{"type":"command","ns":"shop.orders","command":{"insert":"orders","documents":[{"createdAt":{"$date":"2024-05-14T09:12:34.034Z"},"total":34}],"ordered":true,"$db":"shop"},"ninserted":1,"durationMillis":3}}
{"t":{"$date":"2024-05-14T09:12:35.000+00:00"},"s":"I","c":"COMMAND","id":51803,"ctx":"conn42","msg":"Slow query","attr":{"type":"command","ns":"shop.orders","command":{"insert":"orders","documents":[{"createdAt":{"$date":"2024-05-14T09:12:35.035Z"},"total":35}],"ordered":true,"$db":"shop"},"ninserted":1,"durationMillis":3}}
{"t":{"$date":"2024-05-14T09:12:36.000+00:00"},"s":"I","c":"COMMAND","id":51803,"ctx":"conn42","msg":"Slow query","attr":{"type":"command","ns":"shop.orders","command":{"insert":"orders","documents":[{"createdAt":{"$date":"2024-05-14T09:12:36.036Z"},"total":36}],"ordered":true,"$db":"shop"},"ninserted":1,"durationMillis":3}}
{"t":{"$date":"2024-05-14T09:12:37.000+00:00"},"s":"I","c":"COMMAND","id":51803,"ctx":"conn42","msg":"Slow query","attr":{"type":"command","ns":"shop.orders","command":{"insert":"orders","documents":[{"createdAt":{"$date":"2024-05-14T09:12:37.037Z"},"total":37}],"ordered":true,"$db":"shop"},"ninserted":1,"durationMillis":3}}
{"t":{"$date":"2024-05-14T09:12:38.000+00:00"},"s":"I","c":"COMMAND","id":51803,"ctx":"conn42","msg":"Slow query","attr":{"type":"command","ns":"shop.orders","command":{"insert":"orders","documents":[{"createdAt":{"$date":"2024-05-14T09:12:38.038Z"},"total":38}],"ordered":true,"$db":"shop"},"ninserted":1,"durationMillis":3}}
{"t":{"$date":"2024-05-14T09:12:39.000+00:00"},"s":"I","c":"COMMAND","id":51803,"ctx":"conn42","msg":"Slow query","attr":{"type":"command","ns":"shop.orders","command":{"insert":"orders","documents":[{"createdAt":{"$date":"2024-05-14T09:12:39.039Z"},"total":39}],"ordered":true,"$db":"shop"},"ninserted":1,"durationMillis":3}}
{"t":{"$date":"2024-05-14T09:12:40.000+00:00"},"s":"I","c":"COMMAND","id":51803,"ctx":"conn42","msg":"Slow query","attr":{"type":"command","ns":"shop.orders","command":{"insert":"orders","documents":[{"createdAt":{"$date":"2024-05-14T09:12:40.040Z"},"total":40}],"ordered":true,"$db":"shop"},"ninserted":1,"durationMillis":3}}
{"t":{"$date":"2024-05-14T09:12:41.000+00:00"},"s":"I","c":"COMMAND","id":51803,"ctx":"conn42","msg":"Slow query","attr":{"type":"command","ns":"shop.orders","command":{"insert":"orders","documents":[{"createdAt":{"$date":"2024-05-14T09:12:41.041Z"},"total":41}],"ordered":true,"$db":"shop"},"ninserted":1,"durationMillis":3}}
{"t":{"$date":"2024-05-14T09:12:42.000+00:00"},"s":"I","c":"COMMAND","id":51803,"ctx":"conn42","msg":"Slow query","attr":{"type":"command","ns":"shop.orders","command":{"insert":"orders","documents":[{"createdAt":{"$date":"2024-05-14T09:12:42.042Z"},"total":42}],"ordered":true,"$db":"shop"},"ninserted":1,"durationMillis":3}}
{"t":{"$date":"2024-05-14T09:12:43.000+00:00"},"s":"I","c":"COMMAND","id":51803,"ctx":"conn42","msg":"Slow query","attr":{"type":"command","ns":"shop.orders","command":{"insert":"orders","documents":[{"createdAt":{"$date":"2024-05-14T09:12:43.043Z"},"total":43}],"ordered":true,"$db":"shop"},"ninserted":1,"durationMillis":3}}
{"t":{"$date":"2024-05-14T09:12:44.000+00:00"},"s":"I","c":"COMMAND","id":51803,"ctx":"conn42","msg":"Slow query","attr":{"type":"command","ns":"shop.orders","command":{"insert":"orders","documents":[{"createdAt":{"$date":"2024-05-14T09:12:44.044Z"},"total":44}],"ordered":true,"$db":"shop"},"ninserted":1,"durationMillis":3}}
{"t":{"$date":"2024-05-14T09:12:45.000+00:00"},"s":"I","c":"COMMAND","id":51803,"ctx":"conn42","msg":"Slow query","attr":{"type":"command","ns":"shop.orders","command":{"insert":"orders","documents":[{"createdAt":{"$date":"2024-05-14T09:12:45.045Z"},"total":45}],"ordered":true,"$db":"shop"},"ninserted":1,"durationMillis":3}}
{"t":{"$date":"2024-05-14T09:12:46.000+00:00"},"s":"I","c":"COMMAND","id":51803,"ctx":"conn42","msg":"Slow query","attr":{"type":"command","ns":"shop.orders","command":{"insert":"orders","documents":[{"createdAt":{"$date":"2024-05-14T09:12:46.046Z"},"total":46}],"ordered":true,"$db":"shop"},"ninserted":1,"durationMillis":3}}
{"t":{"$date":"2024-05-14T09:12:47.000+00:00"},"s":"I","c":"COMMAND","id":51803,"ctx":"conn42","msg":"Slow query","attr":{"type":"command","ns":"shop.orders","command":{"insert":"orders","documents":[{"createdAt":{"$date":"2024-05-14T09:12:47.047Z"},"total":47}],"ordered":true,"$db":"shop"},"ninserted":1,"durationMillis":3}}
{"t":{"$date":"2024-05-14T09:12:48.000+00:00"},"s":"I","c":"COMMAND","id":51803,"ctx":"conn42","msg":"Slow query","attr":{"type":"command","ns":"shop.orders","command":{"insert":"orders","documents":[{"createdAt":{"$date":"2024-05-14T09:12:48.048Z"},"total":48}],"ordered":true,"$db":"shop"},"ninserted":1,"durationMillis":3}}
{"t":{"$date":"2024-05-14T09:12:49.000+00:00"},"s":"I","c":"COMMAND","id":51803,"ctx":"conn42","msg":"Slow query","attr":{"type":"command","ns":"shop.orders","command":{"insert":"orders","documents":[{"createdAt":{"$date":"2024-05-14T09:12:49.049Z"},"total":49}],"ordered":true,"$db":"shop"},"ninserted":1,"durationMillis":3}}
{"t":{"$date":"2024-05-14T09:12:50.000+00:00"},"s":"I","c":"COMMAND","id":51803,"ctx":"conn42","msg":"Slow query","attr":{"type":"command","ns":"shop.orders","command":{"insert":"orders","documents":[{"createdAt":{"$date":"2024-05-14T09:12:50.050Z"},"total":50}],"ordered":true,"$db":"shop"},"ninserted":1,"durationMillis":3}}
{"t":{"$date":"2024-05-14T09:12:51.000+00:00"},"s":"I","c":"COMMAND","id":51803,"ctx":"conn42","msg":"Slow query","attr":{"type":"command","ns":"shop.orders","command":{"insert":"orders","documents":[{"createdAt":{"$date":"2024-05-14T09:12:51.051Z"},"total":51}],"ordered":true,"$db":"shop"},"ninserted":1,"durationMillis":3}}
{"t":{"$date":"2024-05-14T09:12:52.000+00:00"},"s":"I","c":"COMMAND","id":51803,"ctx":"conn42","msg":"Slow query","attr":{"type":"command","ns":"shop.orders","command":{"insert":"orders","documents":[{"createdAt":{"$date":"2024-05-14T09:12:52.052Z"},"total":52}],"ordered":true,"$db":"shop"},"ninserted":1,"durationMillis":3}}
{"t":{"$date":"2024-05-14T09:12:53.000+00:00"},"s":"I","c":"COMMAND","id":51803,"ctx":"conn42","msg":"Slow query","attr":{"type":"command","ns":"shop.orders","command":{"insert":"orders","documents":[{"createdAt":{"$date":"2024-05-14T09:12:53.053Z"},"total":53}],"ordered":true,"$db":"shop"},"ninserted":1,"durationMillis":3}}
{"t":{"$date":"2024-05-14T09:12:54.000+00:00"},"s":"I","c":"COMMAND","id":51803,"ctx":"conn42","msg":"Slow query","attr":{"type":"command","ns":"shop.orders","command":{"insert":"orders","documents":[{"createdAt":{"$date":"2024-05-14T09:12:54.054Z"},"total":54}],"ordered":true,"$db":"shop"},"ninserted":1,"durationMillis":3}}
{"t":{"$date":"2024-05-14T09:12:55.000+00:00"},"s":"I","c":"COMMAND","id":51803,"ctx":"conn42","msg":"Slow query","attr":{"type":"command","ns":"shop.orders","command":{"insert":"orders","documents":[{"createdAt":{"$date":"2024-05-14T09:12:55.055Z"},"total":55}],"ordered":true,"$db":"shop"},"ninserted":1,"durationMillis":3}}
{"t":{"$date":"2024-05-14T09:12:56.000+00:00"},"s":"I","c":"COMMAND","id":51803,"ctx":"conn42","msg":"Slow query","attr":{"type":"command","ns":"shop.orders","command":{"insert":"orders","documents":[{"createdAt":{"$date":"2024-05-14T09:12:56.056Z"},"total":56}],"ordered":true,"$db":"shop"},"ninserted":1,"durationMillis":3}}
{"t":{"$date":"2024-05-14T09:12:57.000+00:00"},"s":"I","c":"COMMAND","id":51803,"ctx":"conn42","msg":"Slow query","attr":{"type":"command","ns":"shop.orders","command":{"insert":"orders","documents":[{"createdAt":{"$date":"2024-05-14T09:12:57.057Z"},"total":57}],"ordered":true,"$db":"shop"},"ninserted":1,"durationMillis":3}}
{"t":{"$date":"2024-05-14T09:12:58.000+00:00"},"s":"I","c":"COMMAND","id":51803,"ctx":"conn42","msg":"Slow query","attr":{"type":"command","ns":"shop.orders","command":{"insert":"orders","documents":[{"createdAt":{"$date":"2024-05-14T09:12:58.058Z"},"total":58}],"ordered":true,"$db":"shop"},"ninserted":1,"durationMillis":3}}
{"t":{"$date":"2024-05-14T09:12:59.000+00:00"},"s":"I","c":"COMMAND","id":51803,"ctx":"conn42","msg":"Slow query","attr":{"type":"command","ns":"shop.orders","command":{"insert":"orders","documents":[{"createdAt":{"$date":"2024-05-14T09:12:59.059Z"},"total":59}],"ordered":true,"$db":"shop"},"ninserted":1,"durationMillis":3}}
```

## Silent on

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
{"t":{"$date":"2024-05-14T09:12:10.000+00:00"},"s":"I","c":"COMMAND","id":51803,"ctx":"conn42","msg":"Slow query","attr":{"type":"command","ns":"shop.orders","command":{"insert":"orders","documents":[{"createdAt":{"$date":"2024-05-14T09:12:10.010Z"},"total":10}],"ordered":true,"$db":"shop"},"ninserted":1,"durationMillis":3}}
{"t":{"$date":"2024-05-14T09:12:11.000+00:00"},"s":"I","c":"COMMAND","id":51803,"ctx":"conn42","msg":"Slow query","attr":{"type":"command","ns":"shop.orders","command":{"insert":"orders","documents":[{"createdAt":{"$date":"2024-05-14T09:12:11.011Z"},"total":11}],"ordered":true,"$db":"shop"},"ninserted":1,"durationMillis":3}}
{"t":{"$date":"2024-05-14T09:12:12.000+00:00"},"s":"I","c":"COMMAND","id":51803,"ctx":"conn42","msg":"Slow query","attr":{"type":"command","ns":"shop.orders","command":{"insert":"orders","documents":[{"createdAt":{"$date":"2024-05-14T09:12:12.012Z"},"total":12}],"ordered":true,"$db":"shop"},"ninserted":1,"durationMillis":3}}
{"t":{"$date":"2024-05-14T09:12:13.000+00:00"},"s":"I","c":"COMMAND","id":51803,"ctx":"conn42","msg":"Slow query","attr":{"type":"command","ns":"shop.orders","command":{"insert":"orders","documents":[{"createdAt":{"$date":"2024-05-14T09:12:13.013Z"},"total":13}],"ordered":true,"$db":"shop"},"ninserted":1,"durationMillis":3}}
{"t":{"$date":"2024-05-14T09:12:14.000+00:00"},"s":"I","c":"COMMAND","id":51803,"ctx":"conn42","msg":"Slow query","attr":{"type":"command","ns":"shop.orders","command":{"insert":"orders","documents":[{"createdAt":{"$date":"2024-05-14T09:12:14.014Z"},"total":14}],"ordered":true,"$db":"shop"},"ninserted":1,"durationMillis":3}}
{"t":{"$date":"2024-05-14T09:12:15.000+00:00"},"s":"I","c":"COMMAND","id":51803,"ctx":"conn42","msg":"Slow query","attr":{"type":"command","ns":"shop.orders","command":{"insert":"orders","documents":[{"createdAt":{"$date":"2024-05-14T09:12:15.015Z"},"total":15}],"ordered":true,"$db":"shop"},"ninserted":1,"durationMillis":3}}
{"t":{"$date":"2024-05-14T09:12:16.000+00:00"},"s":"I","c":"COMMAND","id":51803,"ctx":"conn42","msg":"Slow query","attr":{"type":"command","ns":"shop.orders","command":{"insert":"orders","documents":[{"createdAt":{"$date":"2024-05-14T09:12:16.016Z"},"total":16}],"ordered":true,"$db":"shop"},"ninserted":1,"durationMillis":3}}
{"t":{"$date":"2024-05-14T09:12:17.000+00:00"},"s":"I","c":"COMMAND","id":51803,"ctx":"conn42","msg":"Slow query","attr":{"type":"command","ns":"shop.orders","command":{"insert":"orders","documents":[{"createdAt":{"$date":"2024-05-14T09:12:17.017Z"},"total":17}],"ordered":true,"$db":"shop"},"ninserted":1,"durationMillis":3}}
{"t":{"$date":"2024-05-14T09:12:18.000+00:00"},"s":"I","c":"COMMAND","id":51803,"ctx":"conn42","msg":"Slow query","attr":{"type":"command","ns":"shop.orders","command":{"insert":"orders","documents":[{"createdAt":{"$date":"2024-05-14T09:12:18.018Z"},"total":18}],"ordered":true,"$db":"shop"},"ninserted":1,"durationMillis":3}}
{"t":{"$date":"2024-05-14T09:12:19.000+00:00"},"s":"I","c":"COMMAND","id":51803,"ctx":"conn42","msg":"Slow query","attr":{"type":"command","ns":"shop.orders","command":{"insert":"orders","documents":[{"createdAt":{"$date":"2024-05-14T09:12:19.019Z"},"total":19}],"ordered":true,"$db":"shop"},"ninserted":1,"durationMillis":3}}
{"t":{"$date":"2024-05-14T09:12:20.000+00:00"},"s":"I","c":"COMMAND","id":51803,"ctx":"conn42","msg":"Slow query","attr":{"type":"command","ns":"shop.orders","command":{"insert":"orders","documents":[{"createdAt":{"$date":"2024-05-14T09:12:20.020Z"},"total":20}],"ordered":true,"$db":"shop"},"ninserted":1,"durationMillis":3}}
{"t":{"$date":"2024-05-14T09:12:21.000+00:00"},"s":"I","c":"COMMAND","id":51803,"ctx":"conn42","msg":"Slow query","attr":{"type":"command","ns":"shop.orders","command":{"insert":"orders","documents":[{"createdAt":{"$date":"2024-05-14T09:12:21.021Z"},"total":21}],"ordered":true,"$db":"shop"},"ninserted":1,"durationMillis":3}}
{"t":{"$date":"2024-05-14T09:12:22.000+00:00"},"s":"I","c":"COMMAND","id":51803,"ctx":"conn42","msg":"Slow query","attr":{"type":"command","ns":"shop.orders","command":{"insert":"orders","documents":[{"createdAt":{"$date":"2024-05-14T09:12:22.022Z"},"total":22}],"ordered":true,"$db":"shop"},"ninserted":1,"durationMillis":3}}
{"t":{"$date":"2024-05-14T09:12:23.000+00:00"},"s":"I","c":"COMMAND","id":51803,"ctx":"conn42","msg":"Slow query","attr":{"type":"command","ns":"shop.orders","command":{"insert":"orders","documents":[{"createdAt":{"$date":"2024-05-14T09:12:23.023Z"},"total":23}],"ordered":true,"$db":"shop"},"ninserted":1,"durationMillis":3}}
{"t":{"$date":"2024-05-14T09:12:24.000+00:00"},"s":"I","c":"COMMAND","id":51803,"ctx":"conn42","msg":"Slow query","attr":{"type":"command","ns":"shop.orders","command":{"insert":"orders","documents":[{"createdAt":{"$date":"2024-05-14T09:12:24.024Z"},"total":24}],"ordered":true,"$db":"shop"},"ninserted":1,"durationMillis":3}}
{"t":{"$date":"2024-05-14T09:12:25.000+00:00"},"s":"I","c":"COMMAND","id":51803,"ctx":"conn42","msg":"Slow query","attr":{"type":"command","ns":"shop.orders","command":{"insert":"orders","documents":[{"createdAt":{"$date":"2024-05-14T09:12:25.025Z"},"total":25}],"ordered":true,"$db":"shop"},"ninserted":1,"durationMillis":3}}
{"t":{"$date":"2024-05-14T09:12:26.000+00:00"},"s":"I","c":"COMMAND","id":51803,"ctx":"conn42","msg":"Slow query","attr":{"type":"command","ns":"shop.orders","command":{"insert":"orders","documents":[{"createdAt":{"$date":"2024-05-14T09:12:26.026Z"},"total":26}],"ordered":true,"$db":"shop"},"ninserted":1,"durationMillis":3}}
{"t":{"$date":"2024-05-14T09:12:27.000+00:00"},"s":"I","c":"COMMAND","id":51803,"ctx":"conn42","msg":"Slow query","attr":{"type":"command","ns":"shop.orders","command":{"insert":"orders","documents":[{"createdAt":{"$date":"2024-05-14T09:12:27.027Z"},"total":27}],"ordered":true,"$db":"shop"},"ninserted":1,"durationMillis":3}}
{"t":{"$date":"2024-05-14T09:12:28.000+00:00"},"s":"I","c":"COMMAND","id":51803,"ctx":"conn42","msg":"Slow query","attr":{"type":"command","ns":"shop.orders","command":{"insert":"orders","documents":[{"createdAt":{"$date":"2024-05-14T09:12:28.028Z"},"total":28}],"ordered":true,"$db":"shop"},"ninserted":1,"durationMillis":3}}
{"t":{"$date":"2024-05-14T09:12:29.000+00:00"},"s":"I","c":"COMMAND","id":51803,"ctx":"conn42","msg":"Slow query","attr":{"type":"command","ns":"shop.orders","command":{"insert":"orders","documents":[{"createdAt":{"$date":"2024-05-14T09:12:29.029Z"},"total":29}],"ordered":true,"$db":"shop"},"ninserted":1,"durationMillis":3}}
{"t":{"$date":"2024-05-14T09:12:30.000+00:00"},"s":"I","c":"COMMAND","id":51803,"ctx":"conn42","msg":"Slow query","attr":{"type":"command","ns":"shop.orders","command":{"insert":"orders","documents":[{"createdAt":{"$date":"2024-05-14T09:12:30.030Z"},"total":30}],"ordered":true,"$db":"shop"},"ninserted":1,"durationMillis":3}}
{"t":{"$date":"2024-05-14T09:12:31.000+00:00"},"s":"I","c":"COMMAND","id":51803,"ctx":"conn42","msg":"Slow query","attr":{"type":"command","ns":"shop.orders","command":{"insert":"orders","documents":[{"createdAt":{"$date":"2024-05-14T09:12:31.031Z"},"total":31}],"ordered":true,"$db":"shop"},"ninserted":1,"durationMillis":3}}
{"t":{"$date":"2024-05-14T09:12:32.000+00:00"},"s":"I","c":"COMMAND","id":51803,"ctx":"conn42","msg":"Slow query","attr":{"type":"command","ns":"shop.orders","command":{"insert":"orders","documents":[{"createdAt":{"$date":"2024-05-14T09:12:32.032Z"},"total":32}],"ordered":true,"$db":"shop"},"ninserted":1,"durationMillis":3}}
{"t":{"$date":"2024-05-14T09:12:33.000+00:00"},"s":"I","c":"COMMAND","id":51803,"ctx":"conn42","msg":"Slow query","attr":{"type":"command","ns":"shop.orders","command":{"insert":"orders","documents":[{"createdAt":{"$date":"2024-05-14T09:12:33.033Z"},"total":33}],"ordered":true,"$db":"shop"},"ninserted":1,"durationMillis":3}}
{"t":{"$date":"2024-05-14T09:12:34.000+00:00"},"s":"I","c":"COMMAND","id":51803,"ctx":"conn42","msg":"Slow query","attr":{"type":"command","ns":"shop.orders","command":{"insert":"orders","documents":[{"createdAt":{"$date":"2024-05-14T09:12:34.034Z"},"total":34}],"ordered":true,"$db":"shop"},"ninserted":1,"durationMillis":3}}
{"t":{"$date":"2024-05-14T09:12:35.000+00:00"},"s":"I","c":"COMMAND","id":51803,"ctx":"conn42","msg":"Slow query","attr":{"type":"command","ns":"shop.orders","command":{"insert":"orders","documents":[{"createdAt":{"$date":"2024-05-14T09:12:35.035Z"},"total":35}],"ordered":true,"$db":"shop"},"ninserted":1,"durationMillis":3}}
{"t":{"$date":"2024-05-14T09:12:36.000+00:00"},"s":"I","c":"COMMAND","id":51803,"ctx":"conn42","msg":"Slow query","attr":{"type":"command","ns":"shop.orders","command":{"insert":"orders","documents":[{"createdAt":{"$date":"2024-05-14T09:12:36.036Z"},"total":36}],"ordered":true,"$db":"shop"},"ninserted":1,"durationMillis":3}}
{"t":{"$date":"2024-05-14T09:12:37.000+00:00"},"s":"I","c":"COMMAND","id":51803,"ctx":"conn42","msg":"Slow query","attr":{"type":"command","ns":"shop.orders","command":{"insert":"orders","documents":[{"createdAt":{"$date":"2024-05-14T09:12:37.037Z"},"total":37}],"ordered":true,"$db":"shop"},"ninserted":1,"durationMillis":3}}
{"t":{"$date":"2024-05-14T09:12:38.000+00:00"},"s":"I","c":"COMMAND","id":51803,"ctx":"conn42","msg":"Slow query","attr":{"type":"command","ns":"shop.orders","command":{"insert":"orders","documents":[{"createdAt":{"$date":"2024-05-14T09:12:38.038Z"},"total":38}],"ordered":true,"$db":"shop"},"ninserted":1,"durationMillis":3}}
{"t":{"$date":"2024-05-14T09:12:39.000+00:00"},"s":"I","c":"COMMAND","id":51803,"ctx":"conn42","msg":"Slow query","attr":{"type":"command","ns":"shop.orders","command":{"insert":"orders","documents":[{"createdAt":{"$date":"2024-05-14T09:12:39.039Z"},"total":39}],"ordered":true,"$db":"shop"},"ninserted":1,"durationMillis":3}}
{"t":{"$date":"2024-05-14T09:12:40.000+00:00"},"s":"I","c":"COMMAND","id":51803,"ctx":"conn42","msg":"Slow query","attr":{"type":"command","ns":"shop.orders","command":{"insert":"orders","documents":[{"createdAt":{"$date":"2024-05-14T09:12:40.040Z"},"total":40}],"ordered":true,"$db":"shop"},"ninserted":1,"durationMillis":3}}
{"t":{"$date":"2024-05-14T09:12:41.000+00:00"},"s":"I","c":"COMMAND","id":51803,"ctx":"conn42","msg":"Slow query","attr":{"type":"command","ns":"shop.orders","command":{"insert":"orders","documents":[{"createdAt":{"$date":"2024-05-14T09:12:41.041Z"},"total":41}],"ordered":true,"$db":"shop"},"ninserted":1,"durationMillis":3}}
{"t":{"$date":"2024-05-14T09:12:42.000+00:00"},"s":"I","c":"COMMAND","id":51803,"ctx":"conn42","msg":"Slow query","attr":{"type":"command","ns":"shop.orders","command":{"insert":"orders","documents":[{"createdAt":{"$date":"2024-05-14T09:12:42.042Z"},"total":42}],"ordered":true,"$db":"shop"},"ninserted":1,"durationMillis":3}}
{"t":{"$date":"2024-05-14T09:12:43.000+00:00"},"s":"I","c":"COMMAND","id":51803,"ctx":"conn42","msg":"Slow query","attr":{"type":"command","ns":"shop.orders","command":{"insert":"orders","documents":[{"createdAt":{"$date":"2024-05-14T09:12:43.043Z"},"total":43}],"ordered":true,"$db":"shop"},"ninserted":1,"durationMillis":3}}
{"t":{"$date":"2024-05-14T09:12:44.000+00:00"},"s":"I","c":"COMMAND","id":51803,"ctx":"conn42","msg":"Slow query","attr":{"type":"command","ns":"shop.orders","command":{"insert":"orders","documents":[{"createdAt":{"$date":"2024-05-14T09:12:44.044Z"},"total":44}],"ordered":true,"$db":"shop"},"ninserted":1,"durationMillis":3}}
{"t":{"$date":"2024-05-14T09:12:45.000+00:00"},"s":"I","c":"COMMAND","id":51803,"ctx":"conn42","msg":"Slow query","attr":{"type":"command","ns":"shop.orders","command":{"insert":"orders","documents":[{"createdAt":{"$date":"2024-05-14T09:12:45.045Z"},"total":45}],"ordered":true,"$db":"shop"},"ninserted":1,"durationMillis":3}}
{"t":{"$date":"2024-05-14T09:12:46.000+00:00"},"s":"I","c":"COMMAND","id":51803,"ctx":"conn42","msg":"Slow query","attr":{"type":"command","ns":"shop.orders","command":{"insert":"orders","documents":[{"createdAt":{"$date":"2024-05-14T09:12:46.046Z"},"total":46}],"ordered":true,"$db":"shop"},"ninserted":1,"durationMillis":3}}
{"t":{"$date":"2024-05-14T09:12:47.000+00:00"},"s":"I","c":"COMMAND","id":51803,"ctx":"conn42","msg":"Slow query","attr":{"type":"command","ns":"shop.orders","command":{"insert":"orders","documents":[{"createdAt":{"$date":"2024-05-14T09:12:47.047Z"},"total":47}],"ordered":true,"$db":"shop"},"ninserted":1,"durationMillis":3}}
{"t":{"$date":"2024-05-14T09:12:48.000+00:00"},"s":"I","c":"COMMAND","id":51803,"ctx":"conn42","msg":"Slow query","attr":{"type":"command","ns":"shop.orders","command":{"insert":"orders","documents":[{"createdAt":{"$date":"2024-05-14T09:12:48.048Z"},"total":48}],"ordered":true,"$db":"shop"},"ninserted":1,"durationMillis":3}}
{"t":{"$date":"2024-05-14T09:12:49.000+00:00"},"s":"I","c":"COMMAND","id":51803,"ctx":"conn42","msg":"Slow query","attr":{"type":"command","ns":"shop.orders","command":{"insert":"orders","documents":[{"createdAt":{"$date":"2024-05-14T09:12:49.049Z"},"total":49}],"ordered":true,"$db":"shop"},"ninserted":1,"durationMillis":3}}
{"t":{"$date":"2024-05-14T09:12:50.000+00:00"},"s":"I","c":"COMMAND","id":51803,"ctx":"conn42","msg":"Slow query","attr":{"type":"command","ns":"shop.orders","command":{"insert":"orders","documents":[{"createdAt":{"$date":"2024-05-14T09:12:50.050Z"},"total":50}],"ordered":true,"$db":"shop"},"ninserted":1,"durationMillis":3}}
{"t":{"$date":"2024-05-14T09:12:51.000+00:00"},"s":"I","c":"COMMAND","id":51803,"ctx":"conn42","msg":"Slow query","attr":{"type":"command","ns":"shop.orders","command":{"insert":"orders","documents":[{"createdAt":{"$date":"2024-05-14T09:12:51.051Z"},"total":51}],"ordered":true,"$db":"shop"},"ninserted":1,"durationMillis":3}}
{"t":{"$date":"2024-05-14T09:12:52.000+00:00"},"s":"I","c":"COMMAND","id":51803,"ctx":"conn42","msg":"Slow query","attr":{"type":"command","ns":"shop.orders","command":{"insert":"orders","documents":[{"createdAt":{"$date":"2024-05-14T09:12:52.052Z"},"total":52}],"ordered":true,"$db":"shop"},"ninserted":1,"durationMillis":3}}
{"t":{"$date":"2024-05-14T09:12:53.000+00:00"},"s":"I","c":"COMMAND","id":51803,"ctx":"conn42","msg":"Slow query","attr":{"type":"command","ns":"shop.orders","command":{"insert":"orders","documents":[{"createdAt":{"$date":"2024-05-14T09:12:53.053Z"},"total":53}],"ordered":true,"$db":"shop"},"ninserted":1,"durationMillis":3}}
{"t":{"$date":"2024-05-14T09:12:54.000+00:00"},"s":"I","c":"COMMAND","id":51803,"ctx":"conn42","msg":"Slow query","attr":{"type":"command","ns":"shop.orders","command":{"insert":"orders","documents":[{"createdAt":{"$date":"2024-05-14T09:12:54.054Z"},"total":54}],"ordered":true,"$db":"shop"},"ninserted":1,"durationMillis":3}}
{"t":{"$date":"2024-05-14T09:12:55.000+00:00"},"s":"I","c":"COMMAND","id":51803,"ctx":"conn42","msg":"Slow query","attr":{"type":"command","ns":"shop.orders","command":{"insert":"orders","documents":[{"createdAt":{"$date":"2024-05-14T09:12:55.055Z"},"total":55}],"ordered":true,"$db":"shop"},"ninserted":1,"durationMillis":3}}
{"t":{"$date":"2024-05-14T09:12:56.000+00:00"},"s":"I","c":"COMMAND","id":51803,"ctx":"conn42","msg":"Slow query","attr":{"type":"command","ns":"shop.orders","command":{"insert":"orders","documents":[{"createdAt":{"$date":"2024-05-14T09:12:56.056Z"},"total":56}],"ordered":true,"$db":"shop"},"ninserted":1,"durationMillis":3}}
{"t":{"$date":"2024-05-14T09:12:57.000+00:00"},"s":"I","c":"COMMAND","id":51803,"ctx":"conn42","msg":"Slow query","attr":{"type":"command","ns":"shop.orders","command":{"insert":"orders","documents":[{"createdAt":{"$date":"2024-05-14T09:12:57.057Z"},"total":57}],"ordered":true,"$db":"shop"},"ninserted":1,"durationMillis":3}}
{"t":{"$date":"2024-05-14T09:12:58.000+00:00"},"s":"I","c":"COMMAND","id":51803,"ctx":"conn42","msg":"Slow query","attr":{"type":"command","ns":"shop.orders","command":{"insert":"orders","documents":[{"createdAt":{"$date":"2024-05-14T09:12:58.058Z"},"total":58}],"ordered":true,"$db":"shop"},"ninserted":1,"durationMillis":3}}
{"t":{"$date":"2024-05-14T09:12:59.000+00:00"},"s":"I","c":"COMMAND","id":51803,"ctx":"conn42","msg":"Slow query","attr":{"type":"command","ns":"shop.orders","command":{"insert":"orders","documents":[{"createdAt":{"$date":"2024-05-14T09:12:59.059Z"},"total":59}],"ordered":true,"$db":"shop"},"ninserted":1,"durationMillis":3}}
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
