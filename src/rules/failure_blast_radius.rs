//! SL509: how much fails while one shard is away.

use super::declared_index::{finding, label_in};
use super::finding::Severity;
use super::rule::{Check, Evidence, Rule, Status};
use super::totals::{NamespaceContext, NamespaceFinding, calls, percent};
/// The rule.
pub static RULE: Rule = Rule {
    code: "SL509",
    name: "failure-blast-radius",
    summary: "how much of the load fails while one shard is away",
    severity: Severity::Info,
    needs: &[Evidence::Log, Evidence::Key, Evidence::ShardCount],
    since: "0.1.0",
    status: Status::Stable,
    fan_out_rank: None,
    explanation: EXPLANATION,
    page: include_str!("../../docs/rules/SL509.md"),
    check: Check::Namespace(check),
};

fn check(ctx: &NamespaceContext<'_>, findings: &mut Vec<NamespaceFinding>) {
    let (totals, home) = (ctx.totals, ctx.collection.source);
    let Some(key) = ctx.collection.shard_key().filter(|_| ctx.has_calls_enough()) else { return };
    let Some(shards) = ctx.shard_count().and_then(|n| u64::try_from(n).ok()).filter(|&n| n > 1) else { return };
    let (targeted, bounded, broadcast) = (totals.targeted.calls, totals.multi_shard.calls, totals.broadcast.calls);
    let all = targeted + bounded + broadcast;
    let fails = failing(broadcast, targeted + bounded, shards);
    if fails < ctx.thresholds.load_percent {
        return;
    }
    let message = format!(
        "with one of {shards} shards away, {} % of {} on `{}` fail: all {broadcast} broadcasts, and one in {shards} of \
         those that carry the key",
        fails,
        calls(all),
        totals.namespace,
    );
    let text = format!("calls that carry it need one shard of {shards}");
    let mut found = finding(ctx.collection, "failure", home, message, vec![label_in(home, home, key.span, text)]);
    found.subject = Some((totals.namespace.to_owned(), "failure".to_owned()));
    found.help = Some(format!("give the broadcasts `{}`, so that they need one shard too", key.first().path));
    findings.push(NamespaceFinding { finding: found, cost: totals.broadcast });
}

/// The percentage of calls that fail with one shard: all broadcasts, and one in so many of those with the key.
fn failing(broadcast: u64, keyed: u64, shards: u64) -> u64 {
    percent(broadcast * shards + keyed, (broadcast + keyed) * shards)
}

const EXPLANATION: &str = r#"
# What happens to queries when one shard is down?

## What it says

While one shard is away, every broadcast fails, and of the calls that carry the key those that belong to that shard: one
in N. The rule speaks if that makes at least `load_percent` percent of the calls (default 50). The number of shards
comes from `--shards` or from a dump.

## Why it costs you

Sharding is expected to make a failure smaller: one shard of twelve away, one twelfth of the customers affected. With a
load of broadcasts it makes failures more frequent instead, because there are twelve sets that can fail.

## Fires on

```toml
[thresholds]
fewest-calls = 5
```

```js
[ { _id: "shop.orders", key: { customerId: 1 } } ]
[ { _id: "rs0", host: "rs0/h0:27018" }, { _id: "rs1", host: "rs1/h1:27018" }, { _id: "rs2", host: "rs2/h2:27018" } ]
```

```json
{"t":{"$date":"2024-05-14T09:12:03.000+00:00"},"s":"I","c":"COMMAND","id":51803,"ctx":"conn42","msg":"Slow query","attr":{"type":"command","ns":"shop.orders","command":{"find":"orders","filter":{"customerId":0},"$db":"shop"},"nShards":1,"nreturned":1,"durationMillis":20}}
{"t":{"$date":"2024-05-14T09:12:03.040+00:00"},"s":"I","c":"COMMAND","id":51803,"ctx":"conn42","msg":"Slow query","attr":{"type":"command","ns":"shop.orders","command":{"find":"orders","filter":{"customerId":2},"$db":"shop"},"nShards":1,"nreturned":1,"durationMillis":20}}
{"t":{"$date":"2024-05-14T09:12:03.080+00:00"},"s":"I","c":"COMMAND","id":51803,"ctx":"conn42","msg":"Slow query","attr":{"type":"command","ns":"shop.orders","command":{"find":"orders","filter":{"customerId":4},"$db":"shop"},"nShards":1,"nreturned":1,"durationMillis":20}}
{"t":{"$date":"2024-05-14T09:12:03.120+00:00"},"s":"I","c":"COMMAND","id":51803,"ctx":"conn42","msg":"Slow query","attr":{"type":"command","ns":"shop.orders","command":{"find":"orders","filter":{"status":"open"},"$db":"shop"},"nShards":3,"nreturned":40,"durationMillis":20}}
{"t":{"$date":"2024-05-14T09:12:03.160+00:00"},"s":"I","c":"COMMAND","id":51803,"ctx":"conn42","msg":"Slow query","attr":{"type":"command","ns":"shop.orders","command":{"find":"orders","filter":{"status":"open"},"$db":"shop"},"nShards":3,"nreturned":40,"durationMillis":20}}
{"t":{"$date":"2024-05-14T09:12:03.200+00:00"},"s":"I","c":"COMMAND","id":51803,"ctx":"conn42","msg":"Slow query","attr":{"type":"command","ns":"shop.orders","command":{"find":"orders","filter":{"status":"open"},"$db":"shop"},"nShards":3,"nreturned":40,"durationMillis":20}}
{"t":{"$date":"2024-05-14T09:12:03.240+00:00"},"s":"I","c":"COMMAND","id":51803,"ctx":"conn42","msg":"Slow query","attr":{"type":"command","ns":"shop.orders","command":{"find":"orders","filter":{"status":"open"},"$db":"shop"},"nShards":3,"nreturned":40,"durationMillis":20}}
{"t":{"$date":"2024-05-14T09:12:03.280+00:00"},"s":"I","c":"COMMAND","id":51803,"ctx":"conn42","msg":"Slow query","attr":{"type":"command","ns":"shop.orders","command":{"find":"orders","filter":{"status":"open"},"$db":"shop"},"nShards":3,"nreturned":40,"durationMillis":20}}
{"t":{"$date":"2024-05-14T09:12:03.320+00:00"},"s":"I","c":"COMMAND","id":51803,"ctx":"conn42","msg":"Slow query","attr":{"type":"command","ns":"shop.orders","command":{"find":"orders","filter":{"status":"open"},"$db":"shop"},"nShards":3,"nreturned":40,"durationMillis":20}}
{"t":{"$date":"2024-05-14T09:12:03.360+00:00"},"s":"I","c":"COMMAND","id":51803,"ctx":"conn42","msg":"Slow query","attr":{"type":"command","ns":"shop.orders","command":{"find":"orders","filter":{"status":"open"},"$db":"shop"},"nShards":3,"nreturned":40,"durationMillis":20}}
```

## Silent on

```toml
[thresholds]
fewest-calls = 5
```

```js
[ { _id: "shop.orders", key: { customerId: 1 } } ]
[ { _id: "rs0", host: "rs0/h0:27018" }, { _id: "rs1", host: "rs1/h1:27018" }, { _id: "rs2", host: "rs2/h2:27018" } ]
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
{"t":{"$date":"2024-05-14T09:12:03.360+00:00"},"s":"I","c":"COMMAND","id":51803,"ctx":"conn42","msg":"Slow query","attr":{"type":"command","ns":"shop.orders","command":{"find":"orders","filter":{"status":"open"},"$db":"shop"},"nShards":3,"nreturned":40,"durationMillis":20}}
```

## How to fix

Give the costliest broadcasts the key (SL506 names them). Where an answer in parts is better than none,
`allowPartialResults: true` of a find returns what the other shards have.

## When to ignore

Every shard is a replica set; the loss of one member is no loss of a shard.

## Versions

`allowPartialResults` for finds in all versions, for some aggregations since 8.0. Sources:
<https://www.mongodb.com/docs/manual/reference/command/find/>.
"#;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parts_of_calls_with_the_key_count_too() {
        assert_eq!(failing(20, 3, 5), 89, "20 and three fifths of 23");
        assert_eq!(failing(0, 100, 4), 25);
    }
}
