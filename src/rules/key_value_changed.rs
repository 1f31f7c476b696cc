//! SL206: an update that sets a field of the shard key to another value.

use super::fan_out::version_words;
use super::finding::{Finding, Label, Severity};
use super::key_change::key_change;
use super::rule::{Check, EventContext, Evidence, Rule, Status};
use crate::model::Verb;

/// The rule.
pub static RULE: Rule = Rule {
    code: "SL206",
    name: "key-value-changed",
    summary: "an update sets a field of the shard key, which may move the document to another shard",
    severity: Severity::Warning,
    needs: &[Evidence::Log, Evidence::Key, Evidence::Version],
    since: "0.1.0",
    status: Status::Stable,
    fan_out_rank: None,
    explanation: EXPLANATION,
    page: include_str!("../../docs/rules/SL206.md"),
    check: Check::Statement(check),
};

fn check(ctx: &EventContext<'_>) -> Option<Finding> {
    let (statement, key) = (ctx.statement, ctx.collection?.shard_key()?);
    if !matches!(statement.verb, Verb::Update | Verb::FindAndModify) || statement.remove {
        return None;
    }
    let change = key_change(statement, key)?;
    let field = change.field;
    let subject = format!("`{}` on `{}`", statement.verb.name(), ctx.namespace);
    let can_change = ctx.version.at_least(4, 2) && field != "_id";
    let outcome = match () {
        () if !can_change => "which no server of this version allows",
        () if statement.multi => "which is refused in an update of many documents",
        () if statement.retryable || statement.in_transaction => "which may move the document to another shard",
        () => "which needs a retryable write or a transaction, and may move the document to another shard",
    };
    let message = format!("{subject} changes `{field}` of the shard key, {outcome} ({})", version_words(ctx));
    let does = if change.removed { "leaves no" } else { "sets" };
    let labels = vec![Label::new(change.span, format!("{does} `{field}`, a field of the shard key `{key}`"))];
    let help = if can_change {
        format!(
            "leave `{field}` out of updates that do not mean to move the row; where they do, filter by the whole key"
        )
    } else {
        format!("write a new document with the other `{field}`, and delete the old one")
    };
    Some(Finding { severity: None, message, help: Some(help), labels, subject: None, source: None })
}

const EXPLANATION: &str = r#"
# Can the value of a shard key be changed?

## What it says

An update sets a field of the shard key to a value other than the one its filter asks for (or applies `$inc`,
`$unset`, `$rename` … to it); or a replacement, or a stage of a pipeline, gives it another value or leaves it out. An
update that keeps the value is not reported (the same value, `$inc` by 0, `$max` of less than the filter's value);
nor is a `$set` or a replacement with a field of which the filter says nothing, because most of these come from
mappers that write all fields back unchanged.

## Why it costs you

Up to 4.0 the key is immutable: the server refuses (ImmutableField 66, *After applying the update to the document, the
(immutable) field … was found to have been altered*). Later the update must be of one document (*Multi-update operations
are not allowed when updating the shard key field*, InvalidOptions 72), carry the whole key in its filter (*Shard key
update is not allowed without specifying the full shard key in the query*, 31025), and run as a retryable write or in a
transaction (*Must run update to shard key field in a multi-statement transaction or with retryWrites: true*,
IllegalOperation 20). If the new value belongs to another shard, the router
deletes the document there and inserts it here, in a distributed transaction. `_id` never changes (*Performing an
update on the path '_id' would modify the immutable field '_id'*, ImmutableField 66).

## Fires on

```js
sh.shardCollection("shop.orders", { customerId: 1 });
```

```json
{"t":{"$date":"2024-05-14T09:12:03.481+00:00"},"s":"I","c":"WRITE","id":51803,"ctx":"conn42","msg":"Slow query","attr":{"type":"update","ns":"shop.orders","command":{"q":{"customerId":7012,"_id":17},"u":{"$set":{"customerId":40551,"status":"open"}},"multi":false,"upsert":false},"planSummary":"IXSCAN { customerId: 1 }","nMatched":1,"nModified":1,"durationMillis":310}}
```

## Silent on

```js
sh.shardCollection("shop.orders", { customerId: 1 });
```

```json
{"t":{"$date":"2024-05-14T09:12:03.481+00:00"},"s":"I","c":"WRITE","id":51803,"ctx":"conn42","msg":"Slow query","attr":{"type":"update","ns":"shop.orders","command":{"q":{"customerId":7012,"_id":17},"u":{"$set":{"customerId":7012,"status":"open"}},"multi":false,"upsert":false},"planSummary":"IXSCAN { customerId: 1 }","nMatched":1,"nModified":1,"durationMillis":310}}
```

## How to fix

Keep the key out of updates: `doc.save()` of mongoose sends changed paths only, so do not assign to the key's path;
with Spring Data use `updateFirst` with an `Update` in place of `save`; mark the property `@Sharded(immutableKey =
true)`; in pymongo build the `$set` without the key. Where a row really moves to another owner, filter by the whole key
and turn `retryWrites` on.

## When to ignore

If rows change their owner now and then, and the driver retries writes.

## Versions

Immutable before 4.2. Without the full key in the filter an error up to 7.0, possible in two phases since 7.1. Sources:
<https://www.mongodb.com/docs/manual/core/sharding-change-shard-key-value/>.
"#;
