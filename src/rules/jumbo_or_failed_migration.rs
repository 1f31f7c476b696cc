//! SL601: a chunk that is marked as too large to move, or a migration that failed, with the reason that the server gives.
//! Marks stand in dumps; the failures that a log tells of are counted by the engine, with the words from here.

use super::declared_index::{finding, label_in};
use super::finding::{Finding, Label, Severity};
use super::literal::literal;
use super::rule::{Check, DeclarationContext, Rule, Status};
use crate::syntax::Trouble;
/// The rule.
pub static RULE: Rule = Rule {
    code: "SL601",
    name: "jumbo-or-failed-migration",
    summary: "a chunk that cannot be moved, or a migration that failed, with the reason",
    severity: Severity::Warning,
    needs: &[],
    since: "0.1.0",
    status: Status::Stable,
    fan_out_rank: None,
    explanation: EXPLANATION,
    page: include_str!("../../docs/rules/SL601.md"),
    check: Check::Declaration(check),
};

fn check(ctx: &DeclarationContext<'_>, findings: &mut Vec<Finding>) {
    let collection = ctx.collection;
    let Some((home, first)) = collection.jumbo.first() else { return };
    let chunks = match collection.jumbo.len() {
        1 => "1 chunk".to_owned(),
        n => format!("{n} chunks"),
    };
    let message = format!("{chunks} of `{}` marked jumbo: too large to be moved", collection.pattern);
    let mut labels = vec![label_in(*home, *home, *first, "the balancer leaves it where it is")];
    let key = collection.shard_key().map(|key| key.span);
    let text = "a chunk cannot be split inside one value of the key";
    labels.extend(key.map(|span| label_in(collection.source, *home, span, text)));
    let mut found = finding(collection, "jumbo", *home, message, labels);
    found.help = Some("split it if it has several values, else refine the key; then `clearJumboFlag`".to_owned());
    findings.push(found);
}

/// The finding on a message of a log.
#[must_use]
pub fn logged(trouble: &Trouble) -> Finding {
    let of = trouble.namespace.as_ref().map_or_else(String::new, |namespace| format!(" of `{namespace}`"));
    let message = match (trouble.jumbo, &trouble.reason) {
        (true, _) => format!("a chunk{of} was marked jumbo: too large to be moved"),
        (false, Some(reason)) => format!("a migration{of} failed: {}", literal(reason, "reason")),
        (false, None) => format!("a migration{of} failed"),
    };
    let help = if trouble.jumbo {
        "split the chunk if it has several values, else refine the key; then `clearJumboFlag`"
    } else {
        "look at the same time into the logs of both shards, and for `moveChunk.error` in `config.changelog`"
    };
    Finding {
        severity: None,
        message,
        help: Some(help.to_owned()),
        labels: vec![Label::new(trouble.span, "the server says so here")],
        subject: None,
        source: None,
    }
}

const EXPLANATION: &str = r#"
# Why does a chunk not move: jumbo chunks and failed migrations

## What it says

A dump has chunks with the mark `jumbo`, or a log of a shard or of the config server tells that a chunk was marked
(21873, 21874) or that a migration failed (21871, 21872, `moveChunk.error` of 22080). Each reason is told once, with
its count.

## Why it costs you

A chunk that does not move keeps its shard full and busy while the others have room, and the balancer tries again and
again.

## Fires on

```js
[ { _id: "shop.orders", key: { customerId: 1 } } ]
[ { ns: "shop.orders", min: { customerId: MinKey }, max: { customerId: 7012 }, shard: "rs0" },
  { ns: "shop.orders", min: { customerId: 7012 }, max: { customerId: MaxKey }, shard: "rs1", jumbo: true } ]
```

## Silent on

```js
[ { _id: "shop.orders", key: { customerId: 1 } } ]
[ { ns: "shop.orders", min: { customerId: MinKey }, max: { customerId: 7012 }, shard: "rs0" },
  { ns: "shop.orders", min: { customerId: 7012 }, max: { customerId: MaxKey }, shard: "rs1" } ]
```

## How to fix

If the chunk has several key values, split it (`sh.splitFind`). If it has one, refine the key by a finer field
(`refineCollectionShardKey`, 4.4), then split. Then `db.adminCommand({ clearJumboFlag: … })`. Of failed migrations the
reason decides: *ChunkTooBig* as above; *ConflictingOperationInProgress* passes; *OperationFailed: Data transfer error*
asks for a look at the recipient; *chunk … is not the only … index* and *LockTimeout* come from index builds and load.
*moveChunk failed to engage TO-shard in the data transfer* is what the donor says of any of them.

## When to ignore

Single failures during maintenance: the balancer repeats them.

## Versions

`clearJumboFlag` since 4.2.3, the forced move of a jumbo chunk since 4.4. Sources:
<https://www.mongodb.com/docs/manual/tutorial/clear-jumbo-flag/>.
"#;
