//! SL108: one field of the key is given values of several BSON types.

use std::cmp::Reverse;
use std::collections::BTreeMap;

use super::declared_index::{finding, label_in};
use super::finding::Severity;
use super::key_sample::FieldValues;
use super::rule::{Check, Evidence, Rule, Status};
use super::totals::Cost;
use super::totals::{NamespaceContext, NamespaceFinding};
use crate::model::{ShardKey, Value};

/// The rule.
pub static RULE: Rule = Rule {
    code: "SL108",
    name: "key-type-mismatch",
    summary: "a field of the shard key is compared with values of different BSON types",
    severity: Severity::Warning,
    needs: &[Evidence::Log, Evidence::Key],
    since: "0.1.0",
    status: Status::Stable,
    fan_out_rank: None,
    explanation: EXPLANATION,
    page: include_str!("../../docs/rules/SL108.md"),
    check: Check::Namespace(check),
};

fn check(ctx: &NamespaceContext<'_>, findings: &mut Vec<NamespaceFinding>) {
    let Some((key, values)) = ctx.collection.shard_key().zip(ctx.totals.values) else { return };
    for (at, field) in key.fields.iter().enumerate() {
        let types = values.typed(at).map(types).unwrap_or_default();
        if let [(most, _), rest @ ..] = types.as_slice()
            && !rest.is_empty()
        {
            findings.push(mismatch(ctx, key, &field.path, most, &types));
        }
    }
}

/// The types of a field's values with their numbers, most frequent first. What types of one rank are told apart by, subtypes
/// of binary values and timestamps, is read from the sample; their numbers are those of it.
fn types(values: &FieldValues) -> Vec<(&'static str, u64)> {
    let mut types = values.types();
    let mut fine: BTreeMap<&'static str, u64> = BTreeMap::new();
    for name in values.in_order().iter().filter_map(|seen| fine_type(&seen.value.value)) {
        *fine.entry(name).or_default() += 1;
    }
    let binaries = fine.keys().filter(|name| **name != TIMESTAMP).count();
    if binaries > 1 {
        types.retain(|(name, _)| *name != "binary");
    }
    types.extend(fine.into_iter().filter(|(name, _)| *name == TIMESTAMP || binaries > 1));
    types.sort_by_key(|(name, count)| (Reverse(*count), *name));
    types
}

const TIMESTAMP: &str = "timestamp";

fn fine_type(value: &Value) -> Option<&'static str> {
    match value {
        Value::Timestamp { .. } => Some(TIMESTAMP),
        Value::Binary { subtype: 3, .. } => Some("UUID of subtype 3"),
        Value::Binary { subtype: 4, .. } => Some("UUID of subtype 4"),
        Value::Binary { .. } => Some("other binary"),
        _ => None,
    }
}

fn mismatch(
    ctx: &NamespaceContext<'_>,
    key: &ShardKey,
    path: &str,
    most: &str,
    types: &[(&'static str, u64)],
) -> NamespaceFinding {
    let home = ctx.collection.source;
    let told: Vec<String> = types.iter().map(|(name, count)| format!("{name} ({count}×)")).collect();
    let message = format!(
        "`{path}` of the shard key of `{}` is given values of {} types: {}",
        ctx.totals.namespace,
        types.len(),
        told.join(", ")
    );
    let span = key.fields.iter().find(|field| field.path == path).map_or(key.span, |field| field.span);
    let text = "values of different types are never equal: the wrong one routes to the wrong place and finds nothing";
    let subject = format!("type of {path}");
    let mut found = finding(ctx.collection, &subject, home, message, vec![label_in(home, home, span, text)]);
    found.subject = Some((ctx.totals.namespace.to_owned(), subject));
    found.help = Some(format!("convert the values to {most} before they are sent, if that is what is stored"));
    let others = types[1..].iter().map(|(_, count)| count).sum();
    NamespaceFinding { finding: found, cost: Cost { calls: others, millis: 0 } }
}

const EXPLANATION: &str = r#"
# Why does a query with the right shard key find nothing: string or ObjectId?

## What it says

Filters, with ranges and `$in` lists, and inserted documents of the log give one field of the shard key values of
different BSON types, such as text and ObjectId, or UUIDs of subtypes 3 and 4. Numbers of all kinds are one type; null,
MinKey and MaxKey are not counted.

## Why it costs you

`"663b1f…"` and `ObjectId("663b1f…")` are different values. The query is targeted, fast, and asks the wrong shard for
the wrong value: it returns nothing, without an error. Inserts with the wrong type make rows that nobody finds.

## Fires on

```js
sh.shardCollection("shop.orders", { customerId: 1 });
```

```json
{"t":{"$date":"2024-05-14T09:12:00.000+00:00"},"s":"I","c":"COMMAND","id":51803,"ctx":"conn42","msg":"Slow query","attr":{"type":"command","ns":"shop.orders","command":{"find":"orders","filter":{"customerId":{"$oid":"663b1f0a2c5d4e0012a4b001"}},"$db":"shop"},"nShards":1,"nreturned":1,"durationMillis":20}}
{"t":{"$date":"2024-05-14T09:12:01.000+00:00"},"s":"I","c":"COMMAND","id":51803,"ctx":"conn42","msg":"Slow query","attr":{"type":"command","ns":"shop.orders","command":{"find":"orders","filter":{"customerId":"663b1f0a2c5d4e0012a4b001"},"$db":"shop"},"nShards":1,"nreturned":1,"durationMillis":20}}
```

## Silent on

```js
sh.shardCollection("shop.orders", { customerId: 1 });
```

```json
{"t":{"$date":"2024-05-14T09:12:00.000+00:00"},"s":"I","c":"COMMAND","id":51803,"ctx":"conn42","msg":"Slow query","attr":{"type":"command","ns":"shop.orders","command":{"find":"orders","filter":{"customerId":{"$oid":"663b1f0a2c5d4e0012a4b001"}},"$db":"shop"},"nShards":1,"nreturned":1,"durationMillis":20}}
{"t":{"$date":"2024-05-14T09:12:01.000+00:00"},"s":"I","c":"COMMAND","id":51803,"ctx":"conn42","msg":"Slow query","attr":{"type":"command","ns":"shop.orders","command":{"find":"orders","filter":{"customerId":{"$oid":"663b1f0a2c5d4e0012a4b002"}},"$db":"shop"},"nShards":1,"nreturned":1,"durationMillis":20}}
```

## How to fix

Convert at the border of the application: `new mongoose.Types.ObjectId(id)` (mongoose casts in `find`, and does **not**
cast in `aggregate`), `ObjectId(id)` in pymongo, `new ObjectId(id)` or `@MongoId` / `@Field(targetType = OBJECT_ID)` in
Spring Data. UUIDs have two binary subtypes (3 and 4): set `uuidRepresentation` alike everywhere. Refuse the wrong type
by a validator with `bsonType`.

## When to ignore

Collections in which the field has values of several types on purpose.

## Versions

All. Sources: <https://www.mongodb.com/docs/manual/reference/bson-type-comparison-order/>.
"#;

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rules::key_sample::KeyValues;
    use crate::rules::key_values::{KeyValue, Seen};
    use crate::text::{RecordPos, SourceId};

    fn told(seen: &[Value]) -> Vec<(&'static str, u64)> {
        let mut values = KeyValues::default();
        for (n, value) in (0..).zip(seen) {
            let place = RecordPos { source: SourceId(0), offset: n, line: n };
            let value = [KeyValue::new(0, Seen::Filter, value)];
            values.count(&value, 1);
            values.sample(&value, (place, 0), None, |at| Some(value[at].clone()));
        }
        values.field(0).map(types).unwrap_or_default()
    }

    #[test]
    fn uuids_of_two_subtypes_are_two_types() {
        let uuid = |subtype| Value::Binary { subtype, bytes: vec![7; 16] };
        assert_eq!(told(&[uuid(4), uuid(3), uuid(4)]), [("UUID of subtype 4", 2), ("UUID of subtype 3", 1)]);
        assert_eq!(told(&[uuid(4), uuid(4)]), [("binary", 2)]);
    }

    #[test]
    fn a_timestamp_is_no_date() {
        let timestamp = Value::Timestamp { seconds: 1, increment: 1 };
        assert_eq!(told(&[Value::Date(0), Value::Date(1), timestamp]), [("date", 2), ("timestamp", 1)]);
    }
}
