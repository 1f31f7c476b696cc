//! SL504: a ranged key of random values: it spreads as a hash does, and costs more.

use super::declared_index::{finding, label_in};
use super::finding::Severity;
use super::rule::{Check, Evidence, Rule, Status};
use super::totals::Cost;
use super::totals::{NamespaceContext, NamespaceFinding, percent};
use crate::model::{KeyKind, Value};
/// The rule.
pub static RULE: Rule = Rule {
    code: "SL504",
    name: "random-key-no-locality",
    summary: "the first field of a ranged key is random (UUID v4, MD5): no locality, and no ranges worth asking for",
    severity: Severity::Warning,
    needs: &[Evidence::Log, Evidence::Key],
    since: "0.1.0",
    status: Status::Stable,
    fan_out_rank: None,
    explanation: EXPLANATION,
    page: include_str!("../../docs/rules/SL504.md"),
    check: Check::Namespace(check),
};

/// So many percent of the values look random.
const RANDOM_PERCENT: u64 = 90;

fn check(ctx: &NamespaceContext<'_>, findings: &mut Vec<NamespaceFinding>) {
    let home = ctx.collection.source;
    let Some(key) = ctx.collection.shard_key().filter(|key| key.first().kind == KeyKind::Ranged) else { return };
    let Some(values) = ctx.first_values() else { return };
    let by_value = values.by_value();
    let kinds: Vec<&str> = by_value.iter().filter_map(|(value, _)| random(value)).collect();
    let Some(kind) = kinds.first() else { return };
    let share = percent(kinds.len() as u64, by_value.len() as u64);
    let is_known = by_value.len() as u64 >= ctx.thresholds.fewest_values;
    if !is_known || share < RANDOM_PERCENT {
        return;
    }
    let first = key.first();
    let message = format!(
        "`{}` leads the ranged key of `{}`, and {share} % of {} different values in the log are random ({kind})",
        first.path,
        ctx.totals.namespace,
        by_value.len(),
    );
    let text = "neighbours in the key have nothing in common: each insert touches another page of the index";
    let mut found = finding(ctx.collection, "random", home, message, vec![label_in(home, home, first.span, text)]);
    found.subject = Some((ctx.totals.namespace.to_owned(), "random".to_owned()));
    found.help = Some(format!(
        "put a field in front that queries know and that keeps together what is read together: `{{ tenantId: 1, {}: 1 }}`",
        first.path
    ));
    findings.push(NamespaceFinding { finding: found, cost: Cost::default() });
}

/// What kind of random value it is, if it looks like one.
fn random(value: &Value) -> Option<&'static str> {
    match value {
        Value::Binary { subtype: 3 | 4, bytes } if bytes.len() == 16 => (bytes[6] >> 4 == 4).then_some("UUID v4"),
        Value::String(text) if text.len() == 36 && text.bytes().filter(|&b| b == b'-').count() == 4 => {
            (text.as_bytes()[14] == b'4').then_some("UUID v4")
        }
        Value::String(text) if text.bytes().all(|b| b.is_ascii_hexdigit()) => match text.len() {
            32 => Some("32 hexadecimal digits, as of MD5"),
            40 => Some("40 hexadecimal digits, as of SHA-1"),
            64 => Some("64 hexadecimal digits, as of SHA-256"),
            _ => None,
        },
        _ => None,
    }
}

const EXPLANATION: &str = r#"
# Is a UUID or an MD5 hash a good shard key?

## What it says

The key is ranged, and at least 90 % of at least `fewest_values` (default 50) different values of its first field look
random: UUIDs of version 4, or hexadecimal digests. UUIDs of version 7 and 1 begin with a time and are not meant.

## Why it costs you

Random values spread as well as a hashed key does. They have its price too: a range of them means nothing, so whatever
is not an equality goes everywhere, and each insert touches a random page of the index, so that the whole index has to
be in memory.

## Fires on

```toml
[thresholds]
fewest-values = 10
```

```js
sh.shardCollection("shop.orders", { token: 1 });
```

```json
{"t":{"$date":"2024-05-14T09:12:00.000+00:00"},"s":"I","c":"COMMAND","id":51803,"ctx":"conn42","msg":"Slow query","attr":{"type":"command","ns":"shop.orders","command":{"find":"orders","filter":{"token":{"$uuid":"5bc8fbbc-bde5-4099-a164-d8399f767c45"}},"$db":"shop"},"nShards":1,"nreturned":1,"durationMillis":20}}
{"t":{"$date":"2024-05-14T09:12:01.000+00:00"},"s":"I","c":"COMMAND","id":51803,"ctx":"conn42","msg":"Slow query","attr":{"type":"command","ns":"shop.orders","command":{"find":"orders","filter":{"token":{"$uuid":"d76d4330-f144-4bea-a0c1-1fdecb91ce37"}},"$db":"shop"},"nShards":1,"nreturned":1,"durationMillis":20}}
{"t":{"$date":"2024-05-14T09:12:02.000+00:00"},"s":"I","c":"COMMAND","id":51803,"ctx":"conn42","msg":"Slow query","attr":{"type":"command","ns":"shop.orders","command":{"find":"orders","filter":{"token":{"$uuid":"87b0b125-ec1d-4da0-a6eb-8c9ebd69fe29"}},"$db":"shop"},"nShards":1,"nreturned":1,"durationMillis":20}}
{"t":{"$date":"2024-05-14T09:12:03.000+00:00"},"s":"I","c":"COMMAND","id":51803,"ctx":"conn42","msg":"Slow query","attr":{"type":"command","ns":"shop.orders","command":{"find":"orders","filter":{"token":{"$uuid":"c6a53877-7733-4bdb-a721-0dff076ce2ef"}},"$db":"shop"},"nShards":1,"nreturned":1,"durationMillis":20}}
{"t":{"$date":"2024-05-14T09:12:04.000+00:00"},"s":"I","c":"COMMAND","id":51803,"ctx":"conn42","msg":"Slow query","attr":{"type":"command","ns":"shop.orders","command":{"find":"orders","filter":{"token":{"$uuid":"0d464138-a623-4255-afc1-ea36f17fd374"}},"$db":"shop"},"nShards":1,"nreturned":1,"durationMillis":20}}
{"t":{"$date":"2024-05-14T09:12:05.000+00:00"},"s":"I","c":"COMMAND","id":51803,"ctx":"conn42","msg":"Slow query","attr":{"type":"command","ns":"shop.orders","command":{"find":"orders","filter":{"token":{"$uuid":"5f2dd97f-1cfb-40f6-a827-688de6a16a3b"}},"$db":"shop"},"nShards":1,"nreturned":1,"durationMillis":20}}
{"t":{"$date":"2024-05-14T09:12:06.000+00:00"},"s":"I","c":"COMMAND","id":51803,"ctx":"conn42","msg":"Slow query","attr":{"type":"command","ns":"shop.orders","command":{"find":"orders","filter":{"token":{"$uuid":"617959ce-3f1f-45a8-ae52-71007814e8a2"}},"$db":"shop"},"nShards":1,"nreturned":1,"durationMillis":20}}
{"t":{"$date":"2024-05-14T09:12:07.000+00:00"},"s":"I","c":"COMMAND","id":51803,"ctx":"conn42","msg":"Slow query","attr":{"type":"command","ns":"shop.orders","command":{"find":"orders","filter":{"token":{"$uuid":"3fd42359-92ed-4f45-aa1a-fe878b33e968"}},"$db":"shop"},"nShards":1,"nreturned":1,"durationMillis":20}}
{"t":{"$date":"2024-05-14T09:12:08.000+00:00"},"s":"I","c":"COMMAND","id":51803,"ctx":"conn42","msg":"Slow query","attr":{"type":"command","ns":"shop.orders","command":{"find":"orders","filter":{"token":{"$uuid":"687c966c-377b-4aa2-ab2e-db20035b7399"}},"$db":"shop"},"nShards":1,"nreturned":1,"durationMillis":20}}
{"t":{"$date":"2024-05-14T09:12:09.000+00:00"},"s":"I","c":"COMMAND","id":51803,"ctx":"conn42","msg":"Slow query","attr":{"type":"command","ns":"shop.orders","command":{"find":"orders","filter":{"token":{"$uuid":"de11cc9d-ea95-4c21-ae9c-82b1478c281d"}},"$db":"shop"},"nShards":1,"nreturned":1,"durationMillis":20}}
```

## Silent on

```toml
[thresholds]
fewest-values = 10
```

```js
sh.shardCollection("shop.orders", { token: "hashed" });
```

```json
{"t":{"$date":"2024-05-14T09:12:00.000+00:00"},"s":"I","c":"COMMAND","id":51803,"ctx":"conn42","msg":"Slow query","attr":{"type":"command","ns":"shop.orders","command":{"find":"orders","filter":{"token":{"$uuid":"5bc8fbbc-bde5-4099-a164-d8399f767c45"}},"$db":"shop"},"nShards":1,"nreturned":1,"durationMillis":20}}
{"t":{"$date":"2024-05-14T09:12:01.000+00:00"},"s":"I","c":"COMMAND","id":51803,"ctx":"conn42","msg":"Slow query","attr":{"type":"command","ns":"shop.orders","command":{"find":"orders","filter":{"token":{"$uuid":"d76d4330-f144-4bea-a0c1-1fdecb91ce37"}},"$db":"shop"},"nShards":1,"nreturned":1,"durationMillis":20}}
{"t":{"$date":"2024-05-14T09:12:02.000+00:00"},"s":"I","c":"COMMAND","id":51803,"ctx":"conn42","msg":"Slow query","attr":{"type":"command","ns":"shop.orders","command":{"find":"orders","filter":{"token":{"$uuid":"87b0b125-ec1d-4da0-a6eb-8c9ebd69fe29"}},"$db":"shop"},"nShards":1,"nreturned":1,"durationMillis":20}}
{"t":{"$date":"2024-05-14T09:12:03.000+00:00"},"s":"I","c":"COMMAND","id":51803,"ctx":"conn42","msg":"Slow query","attr":{"type":"command","ns":"shop.orders","command":{"find":"orders","filter":{"token":{"$uuid":"c6a53877-7733-4bdb-a721-0dff076ce2ef"}},"$db":"shop"},"nShards":1,"nreturned":1,"durationMillis":20}}
{"t":{"$date":"2024-05-14T09:12:04.000+00:00"},"s":"I","c":"COMMAND","id":51803,"ctx":"conn42","msg":"Slow query","attr":{"type":"command","ns":"shop.orders","command":{"find":"orders","filter":{"token":{"$uuid":"0d464138-a623-4255-afc1-ea36f17fd374"}},"$db":"shop"},"nShards":1,"nreturned":1,"durationMillis":20}}
{"t":{"$date":"2024-05-14T09:12:05.000+00:00"},"s":"I","c":"COMMAND","id":51803,"ctx":"conn42","msg":"Slow query","attr":{"type":"command","ns":"shop.orders","command":{"find":"orders","filter":{"token":{"$uuid":"5f2dd97f-1cfb-40f6-a827-688de6a16a3b"}},"$db":"shop"},"nShards":1,"nreturned":1,"durationMillis":20}}
{"t":{"$date":"2024-05-14T09:12:06.000+00:00"},"s":"I","c":"COMMAND","id":51803,"ctx":"conn42","msg":"Slow query","attr":{"type":"command","ns":"shop.orders","command":{"find":"orders","filter":{"token":{"$uuid":"617959ce-3f1f-45a8-ae52-71007814e8a2"}},"$db":"shop"},"nShards":1,"nreturned":1,"durationMillis":20}}
{"t":{"$date":"2024-05-14T09:12:07.000+00:00"},"s":"I","c":"COMMAND","id":51803,"ctx":"conn42","msg":"Slow query","attr":{"type":"command","ns":"shop.orders","command":{"find":"orders","filter":{"token":{"$uuid":"3fd42359-92ed-4f45-aa1a-fe878b33e968"}},"$db":"shop"},"nShards":1,"nreturned":1,"durationMillis":20}}
{"t":{"$date":"2024-05-14T09:12:08.000+00:00"},"s":"I","c":"COMMAND","id":51803,"ctx":"conn42","msg":"Slow query","attr":{"type":"command","ns":"shop.orders","command":{"find":"orders","filter":{"token":{"$uuid":"687c966c-377b-4aa2-ab2e-db20035b7399"}},"$db":"shop"},"nShards":1,"nreturned":1,"durationMillis":20}}
{"t":{"$date":"2024-05-14T09:12:09.000+00:00"},"s":"I","c":"COMMAND","id":51803,"ctx":"conn42","msg":"Slow query","attr":{"type":"command","ns":"shop.orders","command":{"find":"orders","filter":{"token":{"$uuid":"de11cc9d-ea95-4c21-ae9c-82b1478c281d"}},"$db":"shop"},"nShards":1,"nreturned":1,"durationMillis":20}}
```

## How to fix

If single rows are all that is read, say so with a hashed key, which can be pre-split when the collection is made. If
rows are read together, lead the key with what they have in common. For new identifiers take UUID v7 or ObjectId behind
such a field.

## When to ignore

Key-value stores that read single rows and whose index fits into memory.

## Versions

All. Sources: <https://www.mongodb.com/docs/manual/core/hashed-sharding/>, RFC 9562.
"#;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_version_of_a_uuid_decides() {
        let text = |text: &str| random(&Value::String(text.to_owned()));
        assert_eq!(text("0b7f3a52-9c1d-4e7a-8f00-1c2d3e4f5a6b"), Some("UUID v4"));
        assert_eq!(text("018f3a52-9c1d-7e7a-8f00-1c2d3e4f5a6b"), None, "version 7 begins with the time");
        assert_eq!(text("9e107d9d372bb6826bd81d3542a419d6"), Some("32 hexadecimal digits, as of MD5"));
        assert_eq!(text("663b1f0a2c5d4e0012a4b001"), None, "an ObjectId as text");
    }
}
