//! SL005: a statement about sharding, indexes or zones that is malformed. Raised while declarations are read; the words
//! are here.

use super::finding::{Finding, Label, Severity};
use super::rule::{Check, Rule, Status};
use crate::syntax::SyntaxError;
use crate::text::{SourceId, Span};

/// The rule.
pub static RULE: Rule = Rule {
    code: "SL005",
    name: "declaration-not-understood",
    summary: "a malformed statement about sharding, indexes or zones, or a wrong key in the configuration",
    severity: Severity::Error,
    needs: &[],
    since: "0.1.0",
    status: Status::Stable,
    fan_out_rank: None,
    explanation: EXPLANATION,
    page: include_str!("../../docs/rules/SL005.md"),
    check: Check::Engine,
};

/// The finding on a declaration that failed with `error`. `path` names the source in a baseline.
#[must_use]
pub fn malformed(error: &SyntaxError, source: SourceId, path: &str) -> Finding {
    Finding {
        severity: None,
        message: format!("declaration not understood: {}", error.message),
        help: None,
        labels: vec![Label::new(error.span, "reading failed here")],
        subject: Some((String::new(), format!("{path}: {}", error.message))),
        source: Some(source),
    }
}

/// The finding on a declaration that was read, but contradicts another one or lacks what it rests on.
#[must_use]
pub fn unusable(error: &SyntaxError, source: SourceId, path: &str) -> Finding {
    Finding {
        message: format!("declaration not used: {}", error.message),
        labels: vec![Label::new(error.span, "left aside")],
        ..malformed(error, source, path)
    }
}

/// The finding on an entry of the configuration.
#[must_use]
pub fn misconfigured(message: &str, help: Option<String>, span: Span, source: SourceId, path: &str) -> Finding {
    Finding {
        severity: None,
        message: format!("configuration not understood: {message}"),
        help,
        labels: vec![Label::new(span, "here")],
        subject: Some((String::new(), format!("{path}: {message}"))),
        source: Some(source),
    }
}

/// The remark on `count` statements of other kinds (`print`, `rs.initiate` …), of which `first` is one.
#[must_use]
pub fn passed_over(count: usize, first: Span, source: SourceId, path: &str) -> Finding {
    let statements = if count == 1 { "1 statement was" } else { &format!("{count} statements were") };
    Finding {
        severity: Some(Severity::Info),
        message: format!("{statements} passed over: control flow, or not about sharding, indexes or zones"),
        help: None,
        labels: vec![Label::new(first, "the first of them")],
        subject: Some((String::new(), format!("{path}: passed over"))),
        source: Some(source),
    }
}

const EXPLANATION: &str = r#"
# Why was my sharding script or dump not understood?

## What it says

A statement about sharding, indexes or zones, or an entry of the configuration, could not be read. The message says
what was expected, at the place where reading failed. Statements about other matters (`print`, `rs.initiate`,
`createUser`, control flow) are passed over and only counted, in one remark.

The same rule tells what contradicts an earlier declaration, and which dump cannot be used: a list of indexes that does
not name its collection (give it as `--schema NS=FILE`), chunks by `uuid` without the `config.collections` that explains
it, chunks with a gap or an overlap between them. Of zones it tells a range whose bounds are not the first fields of the
key in their order, one that ends where it begins, one that overlaps another before it, and, where declarations tell
which shards belong to zones, a zone to which none does.

## Why it costs you

A declaration that is not understood leaves its collection unjudged, and a build green that should not be.

## Fires on

```js
sh.shardCollection("shop.orders", { customerId: });
```

## Silent on

```js
sh.shardCollection("shop.orders", { customerId: 1 });
```

## How to fix

Write the statement as the shell takes it. Values have to be literals, or variables that
were given one last and to which nothing else was assigned or added since; names that are computed are not evaluated.

## When to ignore

Never: declare the collection in another way if the statement cannot be written plainly.

## Versions

All. Sources: <https://www.mongodb.com/docs/manual/reference/method/sh.shardCollection/>,
<https://www.mongodb.com/docs/manual/reference/method/db.collection.createIndex/>.
"#;
