//! SL506: too few calls carry the shard key. Is it the key for this load?

use super::declared_index::{finding, label_in};
use super::finding::Severity;
use super::rule::{Check, Evidence, Rule, Status};
use super::totals::{NamespaceContext, NamespaceFinding, ShapeTotals, calls, percent};
/// The rule.
pub static RULE: Rule = Rule {
    code: "SL506",
    name: "key-coverage-low",
    summary: "too few calls carry the first field of the shard key; names the shapes that miss it",
    severity: Severity::Warning,
    needs: &[Evidence::Log, Evidence::Key],
    since: "0.1.0",
    status: Status::Stable,
    fan_out_rank: None,
    explanation: EXPLANATION,
    page: include_str!("../../docs/rules/SL506.md"),
    check: Check::Namespace(check),
};

/// So many shapes are named.
const SHAPES: usize = 3;

fn check(ctx: &NamespaceContext<'_>, findings: &mut Vec<NamespaceFinding>) {
    let (totals, home) = (ctx.totals, ctx.collection.source);
    let Some(key) = ctx.collection.shard_key().filter(|_| ctx.has_calls_enough()) else { return };
    let uses = totals.key_use;
    let share = percent(uses.first.calls, uses.all.calls);
    if share >= ctx.thresholds.key_coverage_percent {
        return;
    }
    let first = &key.first().path;
    let message = format!(
        "{share} % of {} on `{}` ({} % of their time) carry `{first}`, the first field of the shard key",
        calls(uses.all.calls),
        totals.namespace,
        percent(uses.first.millis, uses.all.millis),
    );
    let text = format!("less than {} % carry it", ctx.thresholds.key_coverage_percent);
    let mut found = finding(ctx.collection, "key coverage", home, message, vec![label_in(home, home, key.span, text)]);
    found.subject = Some((totals.namespace.to_owned(), "key coverage".to_owned()));
    let missing: Vec<&ShapeTotals<'_>> = totals.shapes.iter().filter(|shape| misses(shape)).collect();
    let named: Vec<String> = missing.iter().take(SHAPES).map(|shape| told(shape)).collect();
    let more = missing.len().saturating_sub(SHAPES);
    let more = if more > 0 { format!(", and {more} more") } else { String::new() };
    found.help = Some(format!("add `{first}` to these, or choose a key that they carry: {}{more}", named.join(", ")));
    let mut cost = uses.all;
    cost.calls -= uses.first.calls;
    cost.millis -= uses.first.millis;
    findings.push(NamespaceFinding { finding: found, cost });
}

/// Whether calls of a shape lack the key.
fn misses(shape: &ShapeTotals<'_>) -> bool {
    shape.key_use.first.calls < shape.key_use.all.calls
}

fn told(shape: &ShapeTotals<'_>) -> String {
    const LONGEST: usize = 100;
    let end = (0..=LONGEST).rev().find(|at| shape.shape.is_char_boundary(*at)).unwrap_or(0);
    let text = if shape.shape.len() > LONGEST { format!("{}…", &shape.shape[..end]) } else { shape.shape.to_owned() };
    format!("`{} {text}` ({})", shape.operation, calls(shape.key_use.all.calls - shape.key_use.first.calls))
}

const EXPLANATION: &str = r#"
# How many of my queries must contain the shard key?

## What it says

Of the calls with a filter to route (all but inserts), less than `key_coverage_percent` percent (default 80) bind the
first field of the shard key. The finding names the costliest shapes that miss it. With fewer than `fewest_calls` calls
(default 20) nothing is said.

## Why it costs you

A call without the key costs every shard some work, so adding shards adds load instead of capacity. If most calls lack
the key, either they can be given it, or it is not the key for this load.

## Fires on

```toml
[thresholds]
fewest-calls = 5
```

```js
sh.shardCollection("shop.orders", { customerId: 1 });
```

```json
{"t":{"$date":"2024-05-14T09:12:03.000+00:00"},"s":"I","c":"COMMAND","id":51803,"ctx":"conn42","msg":"Slow query","attr":{"type":"command","ns":"shop.orders","command":{"find":"orders","filter":{"customerId":0},"$db":"shop"},"nShards":1,"nreturned":1,"durationMillis":20}}
{"t":{"$date":"2024-05-14T09:12:03.040+00:00"},"s":"I","c":"COMMAND","id":51803,"ctx":"conn42","msg":"Slow query","attr":{"type":"command","ns":"shop.orders","command":{"find":"orders","filter":{"customerId":2},"$db":"shop"},"nShards":1,"nreturned":1,"durationMillis":20}}
{"t":{"$date":"2024-05-14T09:12:03.080+00:00"},"s":"I","c":"COMMAND","id":51803,"ctx":"conn42","msg":"Slow query","attr":{"type":"command","ns":"shop.orders","command":{"find":"orders","filter":{"customerId":4},"$db":"shop"},"nShards":1,"nreturned":1,"durationMillis":20}}
{"t":{"$date":"2024-05-14T09:12:03.120+00:00"},"s":"I","c":"COMMAND","id":51803,"ctx":"conn42","msg":"Slow query","attr":{"type":"command","ns":"shop.orders","command":{"find":"orders","filter":{"status":"open"},"$db":"shop"},"nShards":4,"nreturned":40,"durationMillis":20}}
{"t":{"$date":"2024-05-14T09:12:03.160+00:00"},"s":"I","c":"COMMAND","id":51803,"ctx":"conn42","msg":"Slow query","attr":{"type":"command","ns":"shop.orders","command":{"find":"orders","filter":{"status":"open"},"$db":"shop"},"nShards":4,"nreturned":40,"durationMillis":20}}
{"t":{"$date":"2024-05-14T09:12:03.200+00:00"},"s":"I","c":"COMMAND","id":51803,"ctx":"conn42","msg":"Slow query","attr":{"type":"command","ns":"shop.orders","command":{"find":"orders","filter":{"status":"open"},"$db":"shop"},"nShards":4,"nreturned":40,"durationMillis":20}}
{"t":{"$date":"2024-05-14T09:12:03.240+00:00"},"s":"I","c":"COMMAND","id":51803,"ctx":"conn42","msg":"Slow query","attr":{"type":"command","ns":"shop.orders","command":{"find":"orders","filter":{"status":"open"},"$db":"shop"},"nShards":4,"nreturned":40,"durationMillis":20}}
{"t":{"$date":"2024-05-14T09:12:03.280+00:00"},"s":"I","c":"COMMAND","id":51803,"ctx":"conn42","msg":"Slow query","attr":{"type":"command","ns":"shop.orders","command":{"find":"orders","filter":{"status":"open"},"$db":"shop"},"nShards":4,"nreturned":40,"durationMillis":20}}
{"t":{"$date":"2024-05-14T09:12:03.320+00:00"},"s":"I","c":"COMMAND","id":51803,"ctx":"conn42","msg":"Slow query","attr":{"type":"command","ns":"shop.orders","command":{"find":"orders","filter":{"status":"open"},"$db":"shop"},"nShards":4,"nreturned":40,"durationMillis":20}}
{"t":{"$date":"2024-05-14T09:12:03.360+00:00"},"s":"I","c":"COMMAND","id":51803,"ctx":"conn42","msg":"Slow query","attr":{"type":"command","ns":"shop.orders","command":{"find":"orders","filter":{"status":"open"},"$db":"shop"},"nShards":4,"nreturned":40,"durationMillis":20}}
```

## Silent on

```toml
[thresholds]
fewest-calls = 5
```

```js
sh.shardCollection("shop.orders", { customerId: 1 });
```

```json
{"t":{"$date":"2024-05-14T09:12:03.000+00:00"},"s":"I","c":"COMMAND","id":51803,"ctx":"conn42","msg":"Slow query","attr":{"type":"command","ns":"shop.orders","command":{"find":"orders","filter":{"customerId":0},"$db":"shop"},"nShards":1,"nreturned":1,"durationMillis":20}}
{"t":{"$date":"2024-05-14T09:12:03.040+00:00"},"s":"I","c":"COMMAND","id":51803,"ctx":"conn42","msg":"Slow query","attr":{"type":"command","ns":"shop.orders","command":{"find":"orders","filter":{"customerId":2},"$db":"shop"},"nShards":1,"nreturned":1,"durationMillis":20}}
{"t":{"$date":"2024-05-14T09:12:03.080+00:00"},"s":"I","c":"COMMAND","id":51803,"ctx":"conn42","msg":"Slow query","attr":{"type":"command","ns":"shop.orders","command":{"find":"orders","filter":{"customerId":4},"$db":"shop"},"nShards":1,"nreturned":1,"durationMillis":20}}
{"t":{"$date":"2024-05-14T09:12:03.120+00:00"},"s":"I","c":"COMMAND","id":51803,"ctx":"conn42","msg":"Slow query","attr":{"type":"command","ns":"shop.orders","command":{"find":"orders","filter":{"customerId":6},"$db":"shop"},"nShards":1,"nreturned":1,"durationMillis":20}}
{"t":{"$date":"2024-05-14T09:12:03.160+00:00"},"s":"I","c":"COMMAND","id":51803,"ctx":"conn42","msg":"Slow query","attr":{"type":"command","ns":"shop.orders","command":{"find":"orders","filter":{"customerId":8},"$db":"shop"},"nShards":1,"nreturned":1,"durationMillis":20}}
{"t":{"$date":"2024-05-14T09:12:03.200+00:00"},"s":"I","c":"COMMAND","id":51803,"ctx":"conn42","msg":"Slow query","attr":{"type":"command","ns":"shop.orders","command":{"find":"orders","filter":{"customerId":10},"$db":"shop"},"nShards":1,"nreturned":1,"durationMillis":20}}
{"t":{"$date":"2024-05-14T09:12:03.240+00:00"},"s":"I","c":"COMMAND","id":51803,"ctx":"conn42","msg":"Slow query","attr":{"type":"command","ns":"shop.orders","command":{"find":"orders","filter":{"customerId":12},"$db":"shop"},"nShards":1,"nreturned":1,"durationMillis":20}}
{"t":{"$date":"2024-05-14T09:12:03.280+00:00"},"s":"I","c":"COMMAND","id":51803,"ctx":"conn42","msg":"Slow query","attr":{"type":"command","ns":"shop.orders","command":{"find":"orders","filter":{"customerId":14},"$db":"shop"},"nShards":1,"nreturned":1,"durationMillis":20}}
{"t":{"$date":"2024-05-14T09:12:03.320+00:00"},"s":"I","c":"COMMAND","id":51803,"ctx":"conn42","msg":"Slow query","attr":{"type":"command","ns":"shop.orders","command":{"find":"orders","filter":{"customerId":16},"$db":"shop"},"nShards":1,"nreturned":1,"durationMillis":20}}
{"t":{"$date":"2024-05-14T09:12:03.360+00:00"},"s":"I","c":"COMMAND","id":51803,"ctx":"conn42","msg":"Slow query","attr":{"type":"command","ns":"shop.orders","command":{"find":"orders","filter":{"status":"open"},"$db":"shop"},"nShards":4,"nreturned":40,"durationMillis":20}}
```

## How to fix

Look at the shapes that the message names, the costliest first: can the application know the value? Then add it to the
filter. If it cannot, hold the field that it knows against the candidates: `route` says what another key would do with
an operation, and `check --shard-key 'shop.orders={ status: 1, customerId: 1 }'` what it would do with the whole log.
`analyzeShardKey` (7.0) gives the same share from a live cluster. `refineCollectionShardKey` only adds fields at the
end, so a new first field needs `reshardCollection`.

## When to ignore

If the calls that lack it are few and cheap jobs. Set `key_coverage_percent` to what holds today, and it cannot fall
unseen.

## Versions

All; resharding since 5.0. Sources: <https://www.mongodb.com/docs/manual/core/sharding-choose-a-shard-key/>,
<https://www.mongodb.com/docs/manual/reference/command/analyzeShardKey/>.
"#;
