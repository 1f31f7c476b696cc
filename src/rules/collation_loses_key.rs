//! SL109: a key value whose equality depends on a collation, while chunks are ordered by the simple one.

use super::fan_out::{FanOut, filter_of, version_words};
use super::finding::{Finding, Label, Severity};
use super::rule::{Check, EventContext, Evidence, Rule, Status};
use crate::catalog::is_simple_collation;
use crate::model::Value;
use crate::routing::{Cause, Class, FieldBounds};
use crate::text::Span;

/// The rule.
pub static RULE: Rule = Rule {
    code: "SL109",
    name: "collation-loses-key",
    summary: "a string, object or array value of the key under a collation other than simple does not route",
    severity: Severity::Error,
    needs: &[Evidence::Log, Evidence::Key],
    since: "0.1.0",
    status: Status::Stable,
    fan_out_rank: Some(1),
    explanation: EXPLANATION,
    page: include_str!("../../docs/rules/SL109.md"),
    check: Check::Statement(check),
};

fn check(ctx: &EventContext<'_>) -> Option<Finding> {
    let read = FanOut::read(ctx)?;
    let (predicate, collation) = match read.cause() {
        Cause::Collation { predicate, collation } => (*predicate, *collation),
        Cause::KeyRanges { .. } => lost_behind_a_prefix(&read)?,
        _ => return None,
    };
    let reached = if read.verdict.class == Class::Broadcast {
        format!("is sent to {}", read.every_shard())
    } else {
        "may reach several shards".to_owned()
    };
    let message = format!(
        "{} {reached}: its collation keeps the shard key from routing ({})",
        read.subject(),
        version_words(ctx)
    );
    let primary = Label::new(predicate, "equal under the collation may be different in the order of the chunks");
    let others = collation.map(|span| Label::new(span, "not the simple collation by which chunks are ordered"));
    let origin = if collation.is_some() { "" } else { ", in place of the collection's default," };
    let help = format!(
        "give the command `collation: {{ locale: \"simple\" }}`{origin} where exact comparison is meant (shard key `{}`)",
        read.key
    );
    Some(read.finding(message, primary, others.into_iter().collect(), help))
}

/// The equality that would have bound a later field of the key too, and the collation given with the command.
fn lost_behind_a_prefix(read: &FanOut<'_>) -> Option<(Span, Option<Span>)> {
    let given = read.statement().collation.as_ref();
    given.or(read.ctx.collection?.collation.as_ref()).filter(|collation| !is_simple_collation(collation))?;
    let filter = filter_of(read.statement())?.as_document()?;
    let is_free =
        |path: &str| read.verdict.reason.bindings.iter().any(|b| b.path == path && b.bounds == FieldBounds::Free);
    let lost = filter.fields.iter().find(|field| is_free(&field.name) && is_collatable_equality(&field.node.value))?;
    Some((lost.name_span.join(lost.node.span), given.map(|node| node.span)))
}

fn is_collatable_equality(value: &Value) -> bool {
    match value {
        Value::String(_) | Value::Array(_) => true,
        Value::Document(document) => match document.first() {
            Some(first) if first.name == "$eq" => is_collatable_equality(&first.node.value),
            Some(first) => !first.name.starts_with('$'),
            None => true,
        },
        _ => false,
    }
}

const EXPLANATION: &str = r#"
# Why does a collation send a query with the shard key to all shards?

## What it says

The filter compares a field of the shard key with a string, an object or an array under a collation that is not
simple, given with the command or inherited from the collection. Values that are equal under it (`"ab"` and `"AB"`)
may lie on different shards, so the router does not use them.

## Why it costs you

The query has the whole key and still goes to several shards or to all, on every call. With a default collation on the
collection this happens to all its queries by text.

## Fires on

```js
sh.shardCollection("shop.accounts", { login: 1 });
```

```json
{"t":{"$date":"2024-05-14T09:12:03.481+00:00"},"s":"I","c":"COMMAND","id":51803,"ctx":"conn42","msg":"Slow query","attr":{"type":"command","ns":"shop.accounts","command":{"find":"accounts","filter":{"login":"kim"},"collation":{"locale":"en"},"$db":"shop"},"nShards":4,"nreturned":1,"durationMillis":310}}
```

## Silent on

```js
sh.shardCollection("shop.accounts", { login: 1 });
```

```json
{"t":{"$date":"2024-05-14T09:12:03.481+00:00"},"s":"I","c":"COMMAND","id":51803,"ctx":"conn42","msg":"Slow query","attr":{"type":"command","ns":"shop.accounts","command":{"find":"accounts","filter":{"login":"kim"},"collation":{"locale":"simple"},"$db":"shop"},"nShards":1,"nreturned":1,"durationMillis":31}}
```

## How to fix

Give the command `collation: { locale: "simple" }`, also where the collection has another default. If comparison
without regard to case is wanted, store a normalised copy of the field and make that the key. Numbers, dates,
ObjectIds and booleans route under any collation.

mongoose sets a collation by the schema option `collation`, Spring Data by `@Document(collation = …)` and
`@Collation`: such a default goes with every query of the class.

## When to ignore

If the comparison has to follow the collation and the query is rare.

## Versions

3.4 and later. Sources: <https://www.mongodb.com/docs/manual/reference/collation/>,
`src/mongo/s/shard_targeting_collation_helpers.cpp` of the server.
"#;
