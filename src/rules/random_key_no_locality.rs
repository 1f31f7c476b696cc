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
{"t":{"$date":"2024-05-14T09:12:10.000+00:00"},"s":"I","c":"COMMAND","id":51803,"ctx":"conn42","msg":"Slow query","attr":{"type":"command","ns":"shop.orders","command":{"find":"orders","filter":{"token":{"$uuid":"c30d8b76-28db-425e-a3b2-29f1c4069545"}},"$db":"shop"},"nShards":1,"nreturned":1,"durationMillis":20}}
{"t":{"$date":"2024-05-14T09:12:11.000+00:00"},"s":"I","c":"COMMAND","id":51803,"ctx":"conn42","msg":"Slow query","attr":{"type":"command","ns":"shop.orders","command":{"find":"orders","filter":{"token":{"$uuid":"9e30691c-2386-42ea-a26a-1e48cc11d357"}},"$db":"shop"},"nShards":1,"nreturned":1,"durationMillis":20}}
{"t":{"$date":"2024-05-14T09:12:12.000+00:00"},"s":"I","c":"COMMAND","id":51803,"ctx":"conn42","msg":"Slow query","attr":{"type":"command","ns":"shop.orders","command":{"find":"orders","filter":{"token":{"$uuid":"21da8978-206f-4c66-a1e0-c07e9e115e4b"}},"$db":"shop"},"nShards":1,"nreturned":1,"durationMillis":20}}
{"t":{"$date":"2024-05-14T09:12:13.000+00:00"},"s":"I","c":"COMMAND","id":51803,"ctx":"conn42","msg":"Slow query","attr":{"type":"command","ns":"shop.orders","command":{"find":"orders","filter":{"token":{"$uuid":"015c33b2-df14-41aa-a8eb-18b900745130"}},"$db":"shop"},"nShards":1,"nreturned":1,"durationMillis":20}}
{"t":{"$date":"2024-05-14T09:12:14.000+00:00"},"s":"I","c":"COMMAND","id":51803,"ctx":"conn42","msg":"Slow query","attr":{"type":"command","ns":"shop.orders","command":{"find":"orders","filter":{"token":{"$uuid":"f5cae3bf-3729-4619-a60a-3cab359eeefb"}},"$db":"shop"},"nShards":1,"nreturned":1,"durationMillis":20}}
{"t":{"$date":"2024-05-14T09:12:15.000+00:00"},"s":"I","c":"COMMAND","id":51803,"ctx":"conn42","msg":"Slow query","attr":{"type":"command","ns":"shop.orders","command":{"find":"orders","filter":{"token":{"$uuid":"2a9eba0c-df56-4d80-aa75-9159fb7ff337"}},"$db":"shop"},"nShards":1,"nreturned":1,"durationMillis":20}}
{"t":{"$date":"2024-05-14T09:12:16.000+00:00"},"s":"I","c":"COMMAND","id":51803,"ctx":"conn42","msg":"Slow query","attr":{"type":"command","ns":"shop.orders","command":{"find":"orders","filter":{"token":{"$uuid":"32ea6928-f623-4bf2-a04b-74ba4a0fe75d"}},"$db":"shop"},"nShards":1,"nreturned":1,"durationMillis":20}}
{"t":{"$date":"2024-05-14T09:12:17.000+00:00"},"s":"I","c":"COMMAND","id":51803,"ctx":"conn42","msg":"Slow query","attr":{"type":"command","ns":"shop.orders","command":{"find":"orders","filter":{"token":{"$uuid":"a02fdaa1-ad86-4c44-a049-548e8a0a8c96"}},"$db":"shop"},"nShards":1,"nreturned":1,"durationMillis":20}}
{"t":{"$date":"2024-05-14T09:12:18.000+00:00"},"s":"I","c":"COMMAND","id":51803,"ctx":"conn42","msg":"Slow query","attr":{"type":"command","ns":"shop.orders","command":{"find":"orders","filter":{"token":{"$uuid":"f7f35634-f0e3-4d97-ae81-d66d346c6e2b"}},"$db":"shop"},"nShards":1,"nreturned":1,"durationMillis":20}}
{"t":{"$date":"2024-05-14T09:12:19.000+00:00"},"s":"I","c":"COMMAND","id":51803,"ctx":"conn42","msg":"Slow query","attr":{"type":"command","ns":"shop.orders","command":{"find":"orders","filter":{"token":{"$uuid":"f7108e96-f770-4226-a266-aa3bb0cde917"}},"$db":"shop"},"nShards":1,"nreturned":1,"durationMillis":20}}
{"t":{"$date":"2024-05-14T09:12:20.000+00:00"},"s":"I","c":"COMMAND","id":51803,"ctx":"conn42","msg":"Slow query","attr":{"type":"command","ns":"shop.orders","command":{"find":"orders","filter":{"token":{"$uuid":"0585a01c-4c7d-4df0-a21a-ef57e4cc4132"}},"$db":"shop"},"nShards":1,"nreturned":1,"durationMillis":20}}
{"t":{"$date":"2024-05-14T09:12:21.000+00:00"},"s":"I","c":"COMMAND","id":51803,"ctx":"conn42","msg":"Slow query","attr":{"type":"command","ns":"shop.orders","command":{"find":"orders","filter":{"token":{"$uuid":"ef901b93-2a7c-4880-aa37-53915c76f18a"}},"$db":"shop"},"nShards":1,"nreturned":1,"durationMillis":20}}
{"t":{"$date":"2024-05-14T09:12:22.000+00:00"},"s":"I","c":"COMMAND","id":51803,"ctx":"conn42","msg":"Slow query","attr":{"type":"command","ns":"shop.orders","command":{"find":"orders","filter":{"token":{"$uuid":"54f46a69-10ac-4f00-a389-2dfc254cb864"}},"$db":"shop"},"nShards":1,"nreturned":1,"durationMillis":20}}
{"t":{"$date":"2024-05-14T09:12:23.000+00:00"},"s":"I","c":"COMMAND","id":51803,"ctx":"conn42","msg":"Slow query","attr":{"type":"command","ns":"shop.orders","command":{"find":"orders","filter":{"token":{"$uuid":"960d5a8f-9a65-4aaf-a141-25844d25deb3"}},"$db":"shop"},"nShards":1,"nreturned":1,"durationMillis":20}}
{"t":{"$date":"2024-05-14T09:12:24.000+00:00"},"s":"I","c":"COMMAND","id":51803,"ctx":"conn42","msg":"Slow query","attr":{"type":"command","ns":"shop.orders","command":{"find":"orders","filter":{"token":{"$uuid":"b52a43ab-ad8d-494a-a892-139600ddb74d"}},"$db":"shop"},"nShards":1,"nreturned":1,"durationMillis":20}}
{"t":{"$date":"2024-05-14T09:12:25.000+00:00"},"s":"I","c":"COMMAND","id":51803,"ctx":"conn42","msg":"Slow query","attr":{"type":"command","ns":"shop.orders","command":{"find":"orders","filter":{"token":{"$uuid":"5af84e6b-4f59-4727-a0e6-d8e6568068b9"}},"$db":"shop"},"nShards":1,"nreturned":1,"durationMillis":20}}
{"t":{"$date":"2024-05-14T09:12:26.000+00:00"},"s":"I","c":"COMMAND","id":51803,"ctx":"conn42","msg":"Slow query","attr":{"type":"command","ns":"shop.orders","command":{"find":"orders","filter":{"token":{"$uuid":"b2489191-7b12-4dc5-ae5a-3a26d18a669a"}},"$db":"shop"},"nShards":1,"nreturned":1,"durationMillis":20}}
{"t":{"$date":"2024-05-14T09:12:27.000+00:00"},"s":"I","c":"COMMAND","id":51803,"ctx":"conn42","msg":"Slow query","attr":{"type":"command","ns":"shop.orders","command":{"find":"orders","filter":{"token":{"$uuid":"78f845f5-7b31-40df-af4d-4c8650d7d13f"}},"$db":"shop"},"nShards":1,"nreturned":1,"durationMillis":20}}
{"t":{"$date":"2024-05-14T09:12:28.000+00:00"},"s":"I","c":"COMMAND","id":51803,"ctx":"conn42","msg":"Slow query","attr":{"type":"command","ns":"shop.orders","command":{"find":"orders","filter":{"token":{"$uuid":"419521fe-0e97-4cf3-ad16-34b4b4653252"}},"$db":"shop"},"nShards":1,"nreturned":1,"durationMillis":20}}
{"t":{"$date":"2024-05-14T09:12:29.000+00:00"},"s":"I","c":"COMMAND","id":51803,"ctx":"conn42","msg":"Slow query","attr":{"type":"command","ns":"shop.orders","command":{"find":"orders","filter":{"token":{"$uuid":"f3001cee-05da-4467-a063-13fff9a01fe8"}},"$db":"shop"},"nShards":1,"nreturned":1,"durationMillis":20}}
{"t":{"$date":"2024-05-14T09:12:30.000+00:00"},"s":"I","c":"COMMAND","id":51803,"ctx":"conn42","msg":"Slow query","attr":{"type":"command","ns":"shop.orders","command":{"find":"orders","filter":{"token":{"$uuid":"677fd139-d84a-4d3a-ab8e-8fb2bff29101"}},"$db":"shop"},"nShards":1,"nreturned":1,"durationMillis":20}}
{"t":{"$date":"2024-05-14T09:12:31.000+00:00"},"s":"I","c":"COMMAND","id":51803,"ctx":"conn42","msg":"Slow query","attr":{"type":"command","ns":"shop.orders","command":{"find":"orders","filter":{"token":{"$uuid":"6b384309-c9a9-47a6-ac8f-95ef04a012e8"}},"$db":"shop"},"nShards":1,"nreturned":1,"durationMillis":20}}
{"t":{"$date":"2024-05-14T09:12:32.000+00:00"},"s":"I","c":"COMMAND","id":51803,"ctx":"conn42","msg":"Slow query","attr":{"type":"command","ns":"shop.orders","command":{"find":"orders","filter":{"token":{"$uuid":"d75b1e24-9419-4f4d-a059-7bdc5dbe4409"}},"$db":"shop"},"nShards":1,"nreturned":1,"durationMillis":20}}
{"t":{"$date":"2024-05-14T09:12:33.000+00:00"},"s":"I","c":"COMMAND","id":51803,"ctx":"conn42","msg":"Slow query","attr":{"type":"command","ns":"shop.orders","command":{"find":"orders","filter":{"token":{"$uuid":"b52fa53c-0bf6-4ef7-a3ec-28d00252f615"}},"$db":"shop"},"nShards":1,"nreturned":1,"durationMillis":20}}
{"t":{"$date":"2024-05-14T09:12:34.000+00:00"},"s":"I","c":"COMMAND","id":51803,"ctx":"conn42","msg":"Slow query","attr":{"type":"command","ns":"shop.orders","command":{"find":"orders","filter":{"token":{"$uuid":"f453324e-f486-4b73-afab-a8272e50bd4e"}},"$db":"shop"},"nShards":1,"nreturned":1,"durationMillis":20}}
{"t":{"$date":"2024-05-14T09:12:35.000+00:00"},"s":"I","c":"COMMAND","id":51803,"ctx":"conn42","msg":"Slow query","attr":{"type":"command","ns":"shop.orders","command":{"find":"orders","filter":{"token":{"$uuid":"3eff8b3f-c177-4113-ae78-2196324f3e81"}},"$db":"shop"},"nShards":1,"nreturned":1,"durationMillis":20}}
{"t":{"$date":"2024-05-14T09:12:36.000+00:00"},"s":"I","c":"COMMAND","id":51803,"ctx":"conn42","msg":"Slow query","attr":{"type":"command","ns":"shop.orders","command":{"find":"orders","filter":{"token":{"$uuid":"76531737-f129-48c6-a1ca-4dc4edfde416"}},"$db":"shop"},"nShards":1,"nreturned":1,"durationMillis":20}}
{"t":{"$date":"2024-05-14T09:12:37.000+00:00"},"s":"I","c":"COMMAND","id":51803,"ctx":"conn42","msg":"Slow query","attr":{"type":"command","ns":"shop.orders","command":{"find":"orders","filter":{"token":{"$uuid":"e488b6c8-5ad3-4a32-a332-f05a58296818"}},"$db":"shop"},"nShards":1,"nreturned":1,"durationMillis":20}}
{"t":{"$date":"2024-05-14T09:12:38.000+00:00"},"s":"I","c":"COMMAND","id":51803,"ctx":"conn42","msg":"Slow query","attr":{"type":"command","ns":"shop.orders","command":{"find":"orders","filter":{"token":{"$uuid":"767d5274-c68d-4b5d-a03a-960a8652dbd0"}},"$db":"shop"},"nShards":1,"nreturned":1,"durationMillis":20}}
{"t":{"$date":"2024-05-14T09:12:39.000+00:00"},"s":"I","c":"COMMAND","id":51803,"ctx":"conn42","msg":"Slow query","attr":{"type":"command","ns":"shop.orders","command":{"find":"orders","filter":{"token":{"$uuid":"c7eec61b-bf97-43c0-a6fa-bb7b1ba95a54"}},"$db":"shop"},"nShards":1,"nreturned":1,"durationMillis":20}}
{"t":{"$date":"2024-05-14T09:12:40.000+00:00"},"s":"I","c":"COMMAND","id":51803,"ctx":"conn42","msg":"Slow query","attr":{"type":"command","ns":"shop.orders","command":{"find":"orders","filter":{"token":{"$uuid":"4bbdbb01-dc14-4d57-ae07-30b3cc170c31"}},"$db":"shop"},"nShards":1,"nreturned":1,"durationMillis":20}}
{"t":{"$date":"2024-05-14T09:12:41.000+00:00"},"s":"I","c":"COMMAND","id":51803,"ctx":"conn42","msg":"Slow query","attr":{"type":"command","ns":"shop.orders","command":{"find":"orders","filter":{"token":{"$uuid":"fa749692-f21f-45eb-aed7-8f5d0960afe9"}},"$db":"shop"},"nShards":1,"nreturned":1,"durationMillis":20}}
{"t":{"$date":"2024-05-14T09:12:42.000+00:00"},"s":"I","c":"COMMAND","id":51803,"ctx":"conn42","msg":"Slow query","attr":{"type":"command","ns":"shop.orders","command":{"find":"orders","filter":{"token":{"$uuid":"834c1b69-573a-459a-a55f-2af41757905e"}},"$db":"shop"},"nShards":1,"nreturned":1,"durationMillis":20}}
{"t":{"$date":"2024-05-14T09:12:43.000+00:00"},"s":"I","c":"COMMAND","id":51803,"ctx":"conn42","msg":"Slow query","attr":{"type":"command","ns":"shop.orders","command":{"find":"orders","filter":{"token":{"$uuid":"25f02628-eb07-430d-acd5-061c9c5f319e"}},"$db":"shop"},"nShards":1,"nreturned":1,"durationMillis":20}}
{"t":{"$date":"2024-05-14T09:12:44.000+00:00"},"s":"I","c":"COMMAND","id":51803,"ctx":"conn42","msg":"Slow query","attr":{"type":"command","ns":"shop.orders","command":{"find":"orders","filter":{"token":{"$uuid":"b3de08f9-ec98-4704-a692-ba0357079670"}},"$db":"shop"},"nShards":1,"nreturned":1,"durationMillis":20}}
{"t":{"$date":"2024-05-14T09:12:45.000+00:00"},"s":"I","c":"COMMAND","id":51803,"ctx":"conn42","msg":"Slow query","attr":{"type":"command","ns":"shop.orders","command":{"find":"orders","filter":{"token":{"$uuid":"af9b74f8-4ffc-4f42-a792-1e6c8b8e8f4e"}},"$db":"shop"},"nShards":1,"nreturned":1,"durationMillis":20}}
{"t":{"$date":"2024-05-14T09:12:46.000+00:00"},"s":"I","c":"COMMAND","id":51803,"ctx":"conn42","msg":"Slow query","attr":{"type":"command","ns":"shop.orders","command":{"find":"orders","filter":{"token":{"$uuid":"cc7c6d81-2d6f-4efc-ae61-3a365119cdcc"}},"$db":"shop"},"nShards":1,"nreturned":1,"durationMillis":20}}
{"t":{"$date":"2024-05-14T09:12:47.000+00:00"},"s":"I","c":"COMMAND","id":51803,"ctx":"conn42","msg":"Slow query","attr":{"type":"command","ns":"shop.orders","command":{"find":"orders","filter":{"token":{"$uuid":"b89c4e56-261c-474b-a076-57d61404ab1e"}},"$db":"shop"},"nShards":1,"nreturned":1,"durationMillis":20}}
{"t":{"$date":"2024-05-14T09:12:48.000+00:00"},"s":"I","c":"COMMAND","id":51803,"ctx":"conn42","msg":"Slow query","attr":{"type":"command","ns":"shop.orders","command":{"find":"orders","filter":{"token":{"$uuid":"7bd9e8a1-ff29-4d0e-af2e-84fcb06dbee0"}},"$db":"shop"},"nShards":1,"nreturned":1,"durationMillis":20}}
{"t":{"$date":"2024-05-14T09:12:49.000+00:00"},"s":"I","c":"COMMAND","id":51803,"ctx":"conn42","msg":"Slow query","attr":{"type":"command","ns":"shop.orders","command":{"find":"orders","filter":{"token":{"$uuid":"14b9adb5-0c6d-4a3d-a85a-5cd22959fea3"}},"$db":"shop"},"nShards":1,"nreturned":1,"durationMillis":20}}
{"t":{"$date":"2024-05-14T09:12:50.000+00:00"},"s":"I","c":"COMMAND","id":51803,"ctx":"conn42","msg":"Slow query","attr":{"type":"command","ns":"shop.orders","command":{"find":"orders","filter":{"token":{"$uuid":"ec717f15-8895-487f-a9c4-258bfc985000"}},"$db":"shop"},"nShards":1,"nreturned":1,"durationMillis":20}}
{"t":{"$date":"2024-05-14T09:12:51.000+00:00"},"s":"I","c":"COMMAND","id":51803,"ctx":"conn42","msg":"Slow query","attr":{"type":"command","ns":"shop.orders","command":{"find":"orders","filter":{"token":{"$uuid":"bd953dc2-3cc2-4779-a825-c7cc67e84707"}},"$db":"shop"},"nShards":1,"nreturned":1,"durationMillis":20}}
{"t":{"$date":"2024-05-14T09:12:52.000+00:00"},"s":"I","c":"COMMAND","id":51803,"ctx":"conn42","msg":"Slow query","attr":{"type":"command","ns":"shop.orders","command":{"find":"orders","filter":{"token":{"$uuid":"400db00d-d388-4a50-a805-6ed0980dc6ff"}},"$db":"shop"},"nShards":1,"nreturned":1,"durationMillis":20}}
{"t":{"$date":"2024-05-14T09:12:53.000+00:00"},"s":"I","c":"COMMAND","id":51803,"ctx":"conn42","msg":"Slow query","attr":{"type":"command","ns":"shop.orders","command":{"find":"orders","filter":{"token":{"$uuid":"2547f19c-6bf8-4914-a6a5-bc9974a677c6"}},"$db":"shop"},"nShards":1,"nreturned":1,"durationMillis":20}}
{"t":{"$date":"2024-05-14T09:12:54.000+00:00"},"s":"I","c":"COMMAND","id":51803,"ctx":"conn42","msg":"Slow query","attr":{"type":"command","ns":"shop.orders","command":{"find":"orders","filter":{"token":{"$uuid":"a36939ef-ea83-454a-aaa3-0fac0e42d43c"}},"$db":"shop"},"nShards":1,"nreturned":1,"durationMillis":20}}
```

## Silent on

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
{"t":{"$date":"2024-05-14T09:12:10.000+00:00"},"s":"I","c":"COMMAND","id":51803,"ctx":"conn42","msg":"Slow query","attr":{"type":"command","ns":"shop.orders","command":{"find":"orders","filter":{"token":{"$uuid":"c30d8b76-28db-425e-a3b2-29f1c4069545"}},"$db":"shop"},"nShards":1,"nreturned":1,"durationMillis":20}}
{"t":{"$date":"2024-05-14T09:12:11.000+00:00"},"s":"I","c":"COMMAND","id":51803,"ctx":"conn42","msg":"Slow query","attr":{"type":"command","ns":"shop.orders","command":{"find":"orders","filter":{"token":{"$uuid":"9e30691c-2386-42ea-a26a-1e48cc11d357"}},"$db":"shop"},"nShards":1,"nreturned":1,"durationMillis":20}}
{"t":{"$date":"2024-05-14T09:12:12.000+00:00"},"s":"I","c":"COMMAND","id":51803,"ctx":"conn42","msg":"Slow query","attr":{"type":"command","ns":"shop.orders","command":{"find":"orders","filter":{"token":{"$uuid":"21da8978-206f-4c66-a1e0-c07e9e115e4b"}},"$db":"shop"},"nShards":1,"nreturned":1,"durationMillis":20}}
{"t":{"$date":"2024-05-14T09:12:13.000+00:00"},"s":"I","c":"COMMAND","id":51803,"ctx":"conn42","msg":"Slow query","attr":{"type":"command","ns":"shop.orders","command":{"find":"orders","filter":{"token":{"$uuid":"015c33b2-df14-41aa-a8eb-18b900745130"}},"$db":"shop"},"nShards":1,"nreturned":1,"durationMillis":20}}
{"t":{"$date":"2024-05-14T09:12:14.000+00:00"},"s":"I","c":"COMMAND","id":51803,"ctx":"conn42","msg":"Slow query","attr":{"type":"command","ns":"shop.orders","command":{"find":"orders","filter":{"token":{"$uuid":"f5cae3bf-3729-4619-a60a-3cab359eeefb"}},"$db":"shop"},"nShards":1,"nreturned":1,"durationMillis":20}}
{"t":{"$date":"2024-05-14T09:12:15.000+00:00"},"s":"I","c":"COMMAND","id":51803,"ctx":"conn42","msg":"Slow query","attr":{"type":"command","ns":"shop.orders","command":{"find":"orders","filter":{"token":{"$uuid":"2a9eba0c-df56-4d80-aa75-9159fb7ff337"}},"$db":"shop"},"nShards":1,"nreturned":1,"durationMillis":20}}
{"t":{"$date":"2024-05-14T09:12:16.000+00:00"},"s":"I","c":"COMMAND","id":51803,"ctx":"conn42","msg":"Slow query","attr":{"type":"command","ns":"shop.orders","command":{"find":"orders","filter":{"token":{"$uuid":"32ea6928-f623-4bf2-a04b-74ba4a0fe75d"}},"$db":"shop"},"nShards":1,"nreturned":1,"durationMillis":20}}
{"t":{"$date":"2024-05-14T09:12:17.000+00:00"},"s":"I","c":"COMMAND","id":51803,"ctx":"conn42","msg":"Slow query","attr":{"type":"command","ns":"shop.orders","command":{"find":"orders","filter":{"token":{"$uuid":"a02fdaa1-ad86-4c44-a049-548e8a0a8c96"}},"$db":"shop"},"nShards":1,"nreturned":1,"durationMillis":20}}
{"t":{"$date":"2024-05-14T09:12:18.000+00:00"},"s":"I","c":"COMMAND","id":51803,"ctx":"conn42","msg":"Slow query","attr":{"type":"command","ns":"shop.orders","command":{"find":"orders","filter":{"token":{"$uuid":"f7f35634-f0e3-4d97-ae81-d66d346c6e2b"}},"$db":"shop"},"nShards":1,"nreturned":1,"durationMillis":20}}
{"t":{"$date":"2024-05-14T09:12:19.000+00:00"},"s":"I","c":"COMMAND","id":51803,"ctx":"conn42","msg":"Slow query","attr":{"type":"command","ns":"shop.orders","command":{"find":"orders","filter":{"token":{"$uuid":"f7108e96-f770-4226-a266-aa3bb0cde917"}},"$db":"shop"},"nShards":1,"nreturned":1,"durationMillis":20}}
{"t":{"$date":"2024-05-14T09:12:20.000+00:00"},"s":"I","c":"COMMAND","id":51803,"ctx":"conn42","msg":"Slow query","attr":{"type":"command","ns":"shop.orders","command":{"find":"orders","filter":{"token":{"$uuid":"0585a01c-4c7d-4df0-a21a-ef57e4cc4132"}},"$db":"shop"},"nShards":1,"nreturned":1,"durationMillis":20}}
{"t":{"$date":"2024-05-14T09:12:21.000+00:00"},"s":"I","c":"COMMAND","id":51803,"ctx":"conn42","msg":"Slow query","attr":{"type":"command","ns":"shop.orders","command":{"find":"orders","filter":{"token":{"$uuid":"ef901b93-2a7c-4880-aa37-53915c76f18a"}},"$db":"shop"},"nShards":1,"nreturned":1,"durationMillis":20}}
{"t":{"$date":"2024-05-14T09:12:22.000+00:00"},"s":"I","c":"COMMAND","id":51803,"ctx":"conn42","msg":"Slow query","attr":{"type":"command","ns":"shop.orders","command":{"find":"orders","filter":{"token":{"$uuid":"54f46a69-10ac-4f00-a389-2dfc254cb864"}},"$db":"shop"},"nShards":1,"nreturned":1,"durationMillis":20}}
{"t":{"$date":"2024-05-14T09:12:23.000+00:00"},"s":"I","c":"COMMAND","id":51803,"ctx":"conn42","msg":"Slow query","attr":{"type":"command","ns":"shop.orders","command":{"find":"orders","filter":{"token":{"$uuid":"960d5a8f-9a65-4aaf-a141-25844d25deb3"}},"$db":"shop"},"nShards":1,"nreturned":1,"durationMillis":20}}
{"t":{"$date":"2024-05-14T09:12:24.000+00:00"},"s":"I","c":"COMMAND","id":51803,"ctx":"conn42","msg":"Slow query","attr":{"type":"command","ns":"shop.orders","command":{"find":"orders","filter":{"token":{"$uuid":"b52a43ab-ad8d-494a-a892-139600ddb74d"}},"$db":"shop"},"nShards":1,"nreturned":1,"durationMillis":20}}
{"t":{"$date":"2024-05-14T09:12:25.000+00:00"},"s":"I","c":"COMMAND","id":51803,"ctx":"conn42","msg":"Slow query","attr":{"type":"command","ns":"shop.orders","command":{"find":"orders","filter":{"token":{"$uuid":"5af84e6b-4f59-4727-a0e6-d8e6568068b9"}},"$db":"shop"},"nShards":1,"nreturned":1,"durationMillis":20}}
{"t":{"$date":"2024-05-14T09:12:26.000+00:00"},"s":"I","c":"COMMAND","id":51803,"ctx":"conn42","msg":"Slow query","attr":{"type":"command","ns":"shop.orders","command":{"find":"orders","filter":{"token":{"$uuid":"b2489191-7b12-4dc5-ae5a-3a26d18a669a"}},"$db":"shop"},"nShards":1,"nreturned":1,"durationMillis":20}}
{"t":{"$date":"2024-05-14T09:12:27.000+00:00"},"s":"I","c":"COMMAND","id":51803,"ctx":"conn42","msg":"Slow query","attr":{"type":"command","ns":"shop.orders","command":{"find":"orders","filter":{"token":{"$uuid":"78f845f5-7b31-40df-af4d-4c8650d7d13f"}},"$db":"shop"},"nShards":1,"nreturned":1,"durationMillis":20}}
{"t":{"$date":"2024-05-14T09:12:28.000+00:00"},"s":"I","c":"COMMAND","id":51803,"ctx":"conn42","msg":"Slow query","attr":{"type":"command","ns":"shop.orders","command":{"find":"orders","filter":{"token":{"$uuid":"419521fe-0e97-4cf3-ad16-34b4b4653252"}},"$db":"shop"},"nShards":1,"nreturned":1,"durationMillis":20}}
{"t":{"$date":"2024-05-14T09:12:29.000+00:00"},"s":"I","c":"COMMAND","id":51803,"ctx":"conn42","msg":"Slow query","attr":{"type":"command","ns":"shop.orders","command":{"find":"orders","filter":{"token":{"$uuid":"f3001cee-05da-4467-a063-13fff9a01fe8"}},"$db":"shop"},"nShards":1,"nreturned":1,"durationMillis":20}}
{"t":{"$date":"2024-05-14T09:12:30.000+00:00"},"s":"I","c":"COMMAND","id":51803,"ctx":"conn42","msg":"Slow query","attr":{"type":"command","ns":"shop.orders","command":{"find":"orders","filter":{"token":{"$uuid":"677fd139-d84a-4d3a-ab8e-8fb2bff29101"}},"$db":"shop"},"nShards":1,"nreturned":1,"durationMillis":20}}
{"t":{"$date":"2024-05-14T09:12:31.000+00:00"},"s":"I","c":"COMMAND","id":51803,"ctx":"conn42","msg":"Slow query","attr":{"type":"command","ns":"shop.orders","command":{"find":"orders","filter":{"token":{"$uuid":"6b384309-c9a9-47a6-ac8f-95ef04a012e8"}},"$db":"shop"},"nShards":1,"nreturned":1,"durationMillis":20}}
{"t":{"$date":"2024-05-14T09:12:32.000+00:00"},"s":"I","c":"COMMAND","id":51803,"ctx":"conn42","msg":"Slow query","attr":{"type":"command","ns":"shop.orders","command":{"find":"orders","filter":{"token":{"$uuid":"d75b1e24-9419-4f4d-a059-7bdc5dbe4409"}},"$db":"shop"},"nShards":1,"nreturned":1,"durationMillis":20}}
{"t":{"$date":"2024-05-14T09:12:33.000+00:00"},"s":"I","c":"COMMAND","id":51803,"ctx":"conn42","msg":"Slow query","attr":{"type":"command","ns":"shop.orders","command":{"find":"orders","filter":{"token":{"$uuid":"b52fa53c-0bf6-4ef7-a3ec-28d00252f615"}},"$db":"shop"},"nShards":1,"nreturned":1,"durationMillis":20}}
{"t":{"$date":"2024-05-14T09:12:34.000+00:00"},"s":"I","c":"COMMAND","id":51803,"ctx":"conn42","msg":"Slow query","attr":{"type":"command","ns":"shop.orders","command":{"find":"orders","filter":{"token":{"$uuid":"f453324e-f486-4b73-afab-a8272e50bd4e"}},"$db":"shop"},"nShards":1,"nreturned":1,"durationMillis":20}}
{"t":{"$date":"2024-05-14T09:12:35.000+00:00"},"s":"I","c":"COMMAND","id":51803,"ctx":"conn42","msg":"Slow query","attr":{"type":"command","ns":"shop.orders","command":{"find":"orders","filter":{"token":{"$uuid":"3eff8b3f-c177-4113-ae78-2196324f3e81"}},"$db":"shop"},"nShards":1,"nreturned":1,"durationMillis":20}}
{"t":{"$date":"2024-05-14T09:12:36.000+00:00"},"s":"I","c":"COMMAND","id":51803,"ctx":"conn42","msg":"Slow query","attr":{"type":"command","ns":"shop.orders","command":{"find":"orders","filter":{"token":{"$uuid":"76531737-f129-48c6-a1ca-4dc4edfde416"}},"$db":"shop"},"nShards":1,"nreturned":1,"durationMillis":20}}
{"t":{"$date":"2024-05-14T09:12:37.000+00:00"},"s":"I","c":"COMMAND","id":51803,"ctx":"conn42","msg":"Slow query","attr":{"type":"command","ns":"shop.orders","command":{"find":"orders","filter":{"token":{"$uuid":"e488b6c8-5ad3-4a32-a332-f05a58296818"}},"$db":"shop"},"nShards":1,"nreturned":1,"durationMillis":20}}
{"t":{"$date":"2024-05-14T09:12:38.000+00:00"},"s":"I","c":"COMMAND","id":51803,"ctx":"conn42","msg":"Slow query","attr":{"type":"command","ns":"shop.orders","command":{"find":"orders","filter":{"token":{"$uuid":"767d5274-c68d-4b5d-a03a-960a8652dbd0"}},"$db":"shop"},"nShards":1,"nreturned":1,"durationMillis":20}}
{"t":{"$date":"2024-05-14T09:12:39.000+00:00"},"s":"I","c":"COMMAND","id":51803,"ctx":"conn42","msg":"Slow query","attr":{"type":"command","ns":"shop.orders","command":{"find":"orders","filter":{"token":{"$uuid":"c7eec61b-bf97-43c0-a6fa-bb7b1ba95a54"}},"$db":"shop"},"nShards":1,"nreturned":1,"durationMillis":20}}
{"t":{"$date":"2024-05-14T09:12:40.000+00:00"},"s":"I","c":"COMMAND","id":51803,"ctx":"conn42","msg":"Slow query","attr":{"type":"command","ns":"shop.orders","command":{"find":"orders","filter":{"token":{"$uuid":"4bbdbb01-dc14-4d57-ae07-30b3cc170c31"}},"$db":"shop"},"nShards":1,"nreturned":1,"durationMillis":20}}
{"t":{"$date":"2024-05-14T09:12:41.000+00:00"},"s":"I","c":"COMMAND","id":51803,"ctx":"conn42","msg":"Slow query","attr":{"type":"command","ns":"shop.orders","command":{"find":"orders","filter":{"token":{"$uuid":"fa749692-f21f-45eb-aed7-8f5d0960afe9"}},"$db":"shop"},"nShards":1,"nreturned":1,"durationMillis":20}}
{"t":{"$date":"2024-05-14T09:12:42.000+00:00"},"s":"I","c":"COMMAND","id":51803,"ctx":"conn42","msg":"Slow query","attr":{"type":"command","ns":"shop.orders","command":{"find":"orders","filter":{"token":{"$uuid":"834c1b69-573a-459a-a55f-2af41757905e"}},"$db":"shop"},"nShards":1,"nreturned":1,"durationMillis":20}}
{"t":{"$date":"2024-05-14T09:12:43.000+00:00"},"s":"I","c":"COMMAND","id":51803,"ctx":"conn42","msg":"Slow query","attr":{"type":"command","ns":"shop.orders","command":{"find":"orders","filter":{"token":{"$uuid":"25f02628-eb07-430d-acd5-061c9c5f319e"}},"$db":"shop"},"nShards":1,"nreturned":1,"durationMillis":20}}
{"t":{"$date":"2024-05-14T09:12:44.000+00:00"},"s":"I","c":"COMMAND","id":51803,"ctx":"conn42","msg":"Slow query","attr":{"type":"command","ns":"shop.orders","command":{"find":"orders","filter":{"token":{"$uuid":"b3de08f9-ec98-4704-a692-ba0357079670"}},"$db":"shop"},"nShards":1,"nreturned":1,"durationMillis":20}}
{"t":{"$date":"2024-05-14T09:12:45.000+00:00"},"s":"I","c":"COMMAND","id":51803,"ctx":"conn42","msg":"Slow query","attr":{"type":"command","ns":"shop.orders","command":{"find":"orders","filter":{"token":{"$uuid":"af9b74f8-4ffc-4f42-a792-1e6c8b8e8f4e"}},"$db":"shop"},"nShards":1,"nreturned":1,"durationMillis":20}}
{"t":{"$date":"2024-05-14T09:12:46.000+00:00"},"s":"I","c":"COMMAND","id":51803,"ctx":"conn42","msg":"Slow query","attr":{"type":"command","ns":"shop.orders","command":{"find":"orders","filter":{"token":{"$uuid":"cc7c6d81-2d6f-4efc-ae61-3a365119cdcc"}},"$db":"shop"},"nShards":1,"nreturned":1,"durationMillis":20}}
{"t":{"$date":"2024-05-14T09:12:47.000+00:00"},"s":"I","c":"COMMAND","id":51803,"ctx":"conn42","msg":"Slow query","attr":{"type":"command","ns":"shop.orders","command":{"find":"orders","filter":{"token":{"$uuid":"b89c4e56-261c-474b-a076-57d61404ab1e"}},"$db":"shop"},"nShards":1,"nreturned":1,"durationMillis":20}}
{"t":{"$date":"2024-05-14T09:12:48.000+00:00"},"s":"I","c":"COMMAND","id":51803,"ctx":"conn42","msg":"Slow query","attr":{"type":"command","ns":"shop.orders","command":{"find":"orders","filter":{"token":{"$uuid":"7bd9e8a1-ff29-4d0e-af2e-84fcb06dbee0"}},"$db":"shop"},"nShards":1,"nreturned":1,"durationMillis":20}}
{"t":{"$date":"2024-05-14T09:12:49.000+00:00"},"s":"I","c":"COMMAND","id":51803,"ctx":"conn42","msg":"Slow query","attr":{"type":"command","ns":"shop.orders","command":{"find":"orders","filter":{"token":{"$uuid":"14b9adb5-0c6d-4a3d-a85a-5cd22959fea3"}},"$db":"shop"},"nShards":1,"nreturned":1,"durationMillis":20}}
{"t":{"$date":"2024-05-14T09:12:50.000+00:00"},"s":"I","c":"COMMAND","id":51803,"ctx":"conn42","msg":"Slow query","attr":{"type":"command","ns":"shop.orders","command":{"find":"orders","filter":{"token":{"$uuid":"ec717f15-8895-487f-a9c4-258bfc985000"}},"$db":"shop"},"nShards":1,"nreturned":1,"durationMillis":20}}
{"t":{"$date":"2024-05-14T09:12:51.000+00:00"},"s":"I","c":"COMMAND","id":51803,"ctx":"conn42","msg":"Slow query","attr":{"type":"command","ns":"shop.orders","command":{"find":"orders","filter":{"token":{"$uuid":"bd953dc2-3cc2-4779-a825-c7cc67e84707"}},"$db":"shop"},"nShards":1,"nreturned":1,"durationMillis":20}}
{"t":{"$date":"2024-05-14T09:12:52.000+00:00"},"s":"I","c":"COMMAND","id":51803,"ctx":"conn42","msg":"Slow query","attr":{"type":"command","ns":"shop.orders","command":{"find":"orders","filter":{"token":{"$uuid":"400db00d-d388-4a50-a805-6ed0980dc6ff"}},"$db":"shop"},"nShards":1,"nreturned":1,"durationMillis":20}}
{"t":{"$date":"2024-05-14T09:12:53.000+00:00"},"s":"I","c":"COMMAND","id":51803,"ctx":"conn42","msg":"Slow query","attr":{"type":"command","ns":"shop.orders","command":{"find":"orders","filter":{"token":{"$uuid":"2547f19c-6bf8-4914-a6a5-bc9974a677c6"}},"$db":"shop"},"nShards":1,"nreturned":1,"durationMillis":20}}
{"t":{"$date":"2024-05-14T09:12:54.000+00:00"},"s":"I","c":"COMMAND","id":51803,"ctx":"conn42","msg":"Slow query","attr":{"type":"command","ns":"shop.orders","command":{"find":"orders","filter":{"token":{"$uuid":"a36939ef-ea83-454a-aaa3-0fac0e42d43c"}},"$db":"shop"},"nShards":1,"nreturned":1,"durationMillis":20}}
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
