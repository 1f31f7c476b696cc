//! SL206: an update that sets a field of the shard key to another value.

use super::fan_out::version_words;
use super::finding::{Finding, Label, Severity};
use super::rule::{Check, EventContext, Evidence, Rule, Status};
use crate::model::{Node, ShardKey, Statement, Value, Verb, compare};
use crate::routing::{Comparison, Condition, Operator, Predicate};
use crate::text::Span;
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
    check: Check::Statement(check),
};

/// The update operators that change what they name. `$setOnInsert` does not change a row that is there.
const CHANGING: [&str; 11] =
    ["$set", "$unset", "$inc", "$mul", "$min", "$max", "$rename", "$currentDate", "$bit", "$addFields", "$push"];

fn check(ctx: &EventContext<'_>) -> Option<Finding> {
    let (statement, key) = (ctx.statement, ctx.collection?.shard_key()?);
    if !matches!(statement.verb, Verb::Update | Verb::FindAndModify) || statement.remove {
        return None;
    }
    let (field, span) = changed(statement, key)?;
    let subject = format!("`{}` on `{}`", statement.verb.name(), ctx.namespace);
    let can_change = ctx.version.at_least(4, 2) && field != "_id";
    let outcome = match () {
        () if !can_change => "which no server of this version allows",
        () if statement.multi => "which is refused in an update of many documents",
        () if statement.retryable || statement.in_transaction => "which may move the document to another shard",
        () => "which needs a retryable write or a transaction, and may move the document to another shard",
    };
    let message = format!("{subject} changes `{field}` of the shard key, {outcome} ({})", version_words(ctx));
    let labels = vec![Label::new(span, format!("sets `{field}`, a field of the shard key `{key}`"))];
    let help = if can_change {
        format!(
            "leave `{field}` out of updates that do not mean to move the row; where they do, filter by the whole key"
        )
    } else {
        format!("write a new document with the other `{field}`, and delete the old one")
    };
    Some(Finding { severity: None, message, help: Some(help), labels, subject: None, source: None })
}

/// The first key field that the update gives another value than the filter says it has, and where.
fn changed<'a>(statement: &Statement, key: &'a ShardKey) -> Option<(&'a str, Span)> {
    let update = statement.update.as_ref()?;
    let filter = statement.filter.as_ref().map(Predicate::parse);
    let had = |path: &str| filter.as_ref().and_then(|filter| equality(filter, path));
    let touches = |path: &str, name: &str| path == name || path.strip_prefix(name).is_some_and(|r| r.starts_with('.'));
    let documents = match &update.value {
        Value::Document(document) => vec![document],
        Value::Array(stages) => stages.items.iter().filter_map(Node::as_document).collect(),
        _ => return None,
    };
    let operators = documents.iter().flat_map(|document| &document.fields);
    let set = operators.filter(|operator| CHANGING.contains(&operator.name.as_str()));
    let members = set.filter_map(|operator| Some((operator.name.as_str(), operator.node.as_document()?)));
    members.flat_map(|(name, members)| members.fields.iter().map(move |member| (name, member))).find_map(
        |(operator, member)| {
            let field = key.fields.iter().find(|field| touches(&field.path, &member.name))?;
            let keeps_value = matches!(operator, "$set" | "$addFields")
                && field.path == member.name
                && had(&field.path).is_none_or(|value| compare(value, &member.node.value).is_eq());
            (!keeps_value).then(|| (field.path.as_str(), member.name_span.join(member.node.span)))
        },
    )
}

/// The value that a conjunction wants a field to have.
fn equality<'p>(predicate: &'p Predicate, path: &str) -> Option<&'p Value> {
    match &predicate.condition {
        Condition::And(members) => members.iter().find_map(|member| equality(member, path)),
        Condition::Field(at, Operator::Compare(Comparison::Eq, node)) if at == path => Some(&node.value),
        _ => None,
    }
}

const EXPLANATION: &str = r#"
# Can the value of a shard key be changed?

## What it says

An update sets a field of the shard key to a value other than the one its filter asks for (or applies `$inc`, `$unset`,
`$rename` … to it). An update that sets the field to the value it has is not reported; nor is a `$set` of a field of
which the filter says nothing, because most of these come from mappers that write all fields back unchanged.

## Why it costs you

Up to 4.0 the key is immutable: the server refuses (ImmutableField 66, *After applying the update to the document, the
(immutable) field … was found to have been altered*). Later the update must be of one document, carry the whole key
in its filter (else error 31025, *Shard key update is not allowed without specifying the full shard key in the
query*), and run as a retryable write or in a transaction. If the new value belongs to another shard, the router
deletes the document there and inserts it here, in a distributed transaction. `_id` never changes.

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
