//! SL107: the key field is in the filter, in a form that the router cannot use.

use super::fan_out::{FanOut, filter_of, version_words};
use super::finding::{Finding, Label, Severity};
use super::rule::{Check, EventContext, Evidence, Rule, Status};
use crate::model::{Document, Node, Value};
use crate::routing::Cause;
use crate::text::Span;

/// The rule.
pub static RULE: Rule = Rule {
    code: "SL107",
    name: "key-hidden-from-router",
    summary: "the shard key is there, but in a form that the router cannot use (`$expr`, `$where`, a sub-document)",
    severity: Severity::Warning,
    needs: &[Evidence::Log, Evidence::Key],
    since: "0.1.0",
    status: Status::Stable,
    fan_out_rank: Some(5),
    explanation: EXPLANATION,
    page: include_str!("../../docs/rules/SL107.md"),
    check: Check::Statement(check),
};

fn check(ctx: &EventContext<'_>) -> Option<Finding> {
    let read = FanOut::broadcast_read(ctx)?;
    let (field, key) = (&read.first().path, read.key);
    let (predicate, form) = match read.cause() {
        Cause::Hidden { predicate, form } => (*predicate, form.as_str()),
        // Nobody but the shards runs code, so the router sees no field in it.
        Cause::NoKeyField => (in_code(filter_of(ctx.statement)?.as_document()?, field)?, "$where"),
        _ => return None,
    };
    let message = format!(
        "{} is sent to {}: `{field}` stands in a form that does not route: `{form}` ({})",
        read.subject(),
        read.every_shard(),
        version_words(ctx)
    );
    let primary = Label::new(predicate, format!("names `{field}` in a form that gives no bounds"));
    let help = format!("write `{field}` as a plain predicate of its own beside it (shard key `{key}`)");
    Some(read.finding(message, primary, Vec::new(), help))
}

/// Where a `$where` stands whose code names the field.
fn in_code(filter: &Document, field: &str) -> Option<Span> {
    filter.fields.iter().find_map(|member| match (member.name.as_str(), &member.node.value) {
        ("$where", Value::String(code) | Value::JavaScript(code) | Value::JavaScriptWithScope(code, _)) => {
            names(code, field).then(|| member.name_span.join(member.node.span))
        }
        ("$and", Value::Array(branches)) => {
            branches.items.iter().filter_map(Node::as_document).find_map(|branch| in_code(branch, field))
        }
        _ => None,
    })
}

/// Whether code has a name as a word of its own.
fn names(code: &str, field: &str) -> bool {
    let is_part = |c: char| c.is_alphanumeric() || c == '_' || c == '$';
    code.match_indices(field)
        .any(|(at, _)| !code[..at].ends_with(is_part) && !code[at + field.len()..].starts_with(is_part))
}

const EXPLANATION: &str = r#"
# Why is the shard key in $expr or in a sub-document not used for routing?

## What it says

The filter names the first field of the shard key, but only in a form from which the router takes no bounds: an
`$expr` other than a plain comparison of the field with a constant, a `$where`, or a sub-document `{ a: { b: 5 } }`
where the key has `a.b` and further fields are missing. The query goes to every shard.

## Why it costs you

The value is known to the query and lost on the way: every shard is asked for what one could answer.

## Fires on

```js
sh.shardCollection("shop.orders", { customerId: 1 });
```

```json
{"t":{"$date":"2024-05-14T09:12:03.481+00:00"},"s":"I","c":"COMMAND","id":51803,"ctx":"conn42","msg":"Slow query","attr":{"type":"command","ns":"shop.orders","command":{"find":"orders","filter":{"$expr":{"$in":["$customerId",[7012]]}},"$db":"shop"},"nShards":4,"nreturned":12,"durationMillis":310}}
```

## Silent on

```js
sh.shardCollection("shop.orders", { customerId: 1 });
```

```json
{"t":{"$date":"2024-05-14T09:12:03.481+00:00"},"s":"I","c":"COMMAND","id":51803,"ctx":"conn42","msg":"Slow query","attr":{"type":"command","ns":"shop.orders","command":{"find":"orders","filter":{"$expr":{"$eq":["$customerId",7012]}},"$db":"shop"},"nShards":1,"nreturned":12,"durationMillis":31}}
```

## How to fix

Put a plain predicate on the key field beside the expression: `{ customerId: 7012, $expr: … }`. Write nested key
fields with dots: `{ "a.b": 5 }`.

Mappers write such forms: embedded objects as whole sub-documents (`{ owner: { id: 5 } }` of Spring Data's `Example`,
of mongoose with a nested object as condition), `$expr` from query builders. Use the dotted path: `"owner.id"`.

## When to ignore

If the value really is computed from the document and cannot be known before.

## Versions

`$expr` with `$eq` is understood since 3.6, with ranges since 5.0. Sources:
<https://www.mongodb.com/docs/manual/reference/operator/query/expr/>, `src/mongo/db/matcher/rewrite_expr.cpp` of the
server.
"#;
