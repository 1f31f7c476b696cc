//! SL111: rows whose key is null or missing are asked for or made. They all lie in one range.

use super::fan_out::{filter_of, version_words};
use super::finding::{Finding, Label, Severity};
use super::rule::{Check, EventContext, Evidence, Rule, Status};
use crate::model::{KeyKind, ShardKey, Statement, Value, Verb};
use crate::routing::{Comparison, Condition, Negation, Operator, Predicate, document_key};
use crate::text::Span;
/// The rule.
pub static RULE: Rule = Rule {
    code: "SL111",
    name: "null-key-value",
    summary: "a filter or an insert with a null or missing key field: such rows gather in one range",
    severity: Severity::Warning,
    needs: &[Evidence::Log, Evidence::Key],
    since: "0.1.0",
    status: Status::Stable,
    fan_out_rank: None,
    explanation: EXPLANATION,
    page: include_str!("../../docs/rules/SL111.md"),
    check: Check::Statement(check),
};

fn check(ctx: &EventContext<'_>) -> Option<Finding> {
    let key = ctx.collection?.shard_key()?;
    if ctx.verdict?.error.is_some() {
        return None;
    }
    let (field, span) = match ctx.statement.verb {
        Verb::Insert => inserted(ctx.statement, key)?,
        _ => filtered(&Predicate::parse(filter_of(ctx.statement)?), key)?,
    };
    let subject = format!("`{}` on `{}`", ctx.statement.verb.name(), ctx.namespace);
    let what = match ctx.statement.verb {
        Verb::Insert => "makes a row without",
        _ => "asks for rows without",
    };
    let where_ = match key.fields.iter().find(|known| known.path == field).map(|known| known.kind) {
        Some(KeyKind::Hashed) => "all of them have one hash, so one chunk holds them",
        _ => "all of them lie side by side in one range, which cannot be split",
    };
    let message = format!("{subject} {what} `{field}`, a field of the shard key: {where_} ({})", version_words(ctx));
    let labels = vec![Label::new(span, format!("`{field}` is null or missing here"))];
    let help = format!("give every row a `{field}`, and refuse rows without it by a validator");
    Some(Finding { severity: None, message, help: Some(help), labels, subject: None, source: None })
}

/// The first key field that an inserted document lacks, and the document. A missing `_id` is made up by the server.
fn inserted<'a>(statement: &Statement, key: &'a ShardKey) -> Option<(&'a str, Span)> {
    statement.documents.iter().find_map(|node| {
        let document = node.as_document().filter(|document| !document.partial)?;
        let values = document_key(document, key).ok()?;
        let fields = key.fields.iter().zip(values);
        let lacking = |path: &str, value: Option<&Value>| matches!(value, None | Some(Value::Null)) && path != "_id";
        fields
            .into_iter()
            .find(|(field, value)| lacking(&field.path, *value))
            .map(|(f, _)| (f.path.as_str(), node.span))
    })
}

/// The first key field that a filter wants to be null or missing, and the predicate.
fn filtered<'a>(predicate: &Predicate, key: &'a ShardKey) -> Option<(&'a str, Span)> {
    let of_key = |path: &str| key.position(path).map(|at| (key.fields[at].path.as_str(), predicate.span));
    match &predicate.condition {
        Condition::And(members) | Condition::Or(members) => members.iter().find_map(|member| filtered(member, key)),
        Condition::Field(path, Operator::Compare(Comparison::Eq, node)) if matches!(node.value, Value::Null) => {
            of_key(path)
        }
        Condition::Field(path, Operator::In(list)) if list.iter().any(|member| matches!(member.value, Value::Null)) => {
            of_key(path)
        }
        Condition::Not(Negation::NotExists, inner) => of_key(inner.path()?),
        _ => None,
    }
}

const EXPLANATION: &str = r#"
# What happens to documents without the shard key?

## What it says

A field of the shard key is null or missing: in an inserted document, or as what a filter asks for (`{ a: null }`,
`$exists: false`, null among the members of an `$in`). The server takes a missing field for null, so all such rows have
the same key value, and lie in the same range of one shard.

## Why it costs you

A range of equal values cannot be split. The chunk grows until it is jumbo and stays where it is, and every read and
write of such rows goes to that shard. The rows tend to be those that somebody forgot: of old imports, of a second code
path, of a mapper that leaves out fields without a value.

## Fires on

```js
sh.shardCollection("shop.orders", { customerId: 1 });
```

```json
{"t":{"$date":"2024-05-14T09:12:03.481+00:00"},"s":"I","c":"COMMAND","id":51803,"ctx":"conn42","msg":"Slow query","attr":{"type":"command","ns":"shop.orders","command":{"find":"orders","filter":{"customerId":null},"$db":"shop"},"nShards":1,"nreturned":12,"durationMillis":310}}
```

## Silent on

```js
sh.shardCollection("shop.orders", { customerId: 1 });
```

```json
{"t":{"$date":"2024-05-14T09:12:03.481+00:00"},"s":"I","c":"COMMAND","id":51803,"ctx":"conn42","msg":"Slow query","attr":{"type":"command","ns":"shop.orders","command":{"find":"orders","filter":{"customerId":7012},"$db":"shop"},"nShards":1,"nreturned":12,"durationMillis":310}}
```

## How to fix

Fill the field in all writers, correct the rows that lack it (`updateOne` with the full key, since 4.2), then refuse new
ones with a `$jsonSchema` validator that requires it. Mappers drop empty fields silently: mongoose leaves out
`undefined` (set `required: true`), Spring Data omits null properties (check before `save`), the Go driver with
`omitempty`, pymongo writes `None` as null. A filter that is built from a variable that happens to be `undefined`
becomes `{ customerId: null }` in some drivers (`ignoreUndefined` of the Node.js driver is off by default).

## When to ignore

If a handful of rows has no owner and that is known.

## Versions

Missing fields are accepted since 4.4; before, the server refuses the insert: *document does not contain shard key for
pattern* (ShardKeyNotFound 61). An array is refused by all: *Shard key cannot contain array values or array descendants*
(ShardKeyNotFound 61). Sources:
<https://www.mongodb.com/docs/manual/core/sharding-shard-key/#missing-shard-key-fields>.
"#;
