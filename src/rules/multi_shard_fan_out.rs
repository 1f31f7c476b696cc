//! SL105: a read that is bounded, but to more than a few places: how many shards to expect, and at worst.

use super::fan_out::FanOut;
use super::finding::{Finding, Label, Severity};
use super::rule::{Check, EventContext, Evidence, Rule, Status};
use crate::routing::{Cause, Class, FieldBounds};
use crate::text::Span;

/// The rule.
pub static RULE: Rule = Rule {
    code: "SL105",
    name: "multi-shard-fan-out",
    summary: "an `$in` with many members or a range of the key: how many shards to expect, and at worst",
    severity: Severity::Warning,
    needs: &[Evidence::Log, Evidence::Key],
    since: "0.1.0",
    status: Status::Stable,
    fan_out_rank: Some(11),
    explanation: EXPLANATION,
    page: include_str!("../../docs/rules/SL105.md"),
    check: Check::Statement(check),
};

fn check(ctx: &EventContext<'_>) -> Option<Finding> {
    let read = FanOut::read(ctx).filter(|read| read.verdict.class == Class::MultiShard)?;
    let field = &read.first().path;
    let first = read.verdict.reason.bindings.iter().find(|binding| binding.path == *field)?;
    let is_range = !matches!(first.bounds, FieldBounds::Points(_));
    let ranges = match read.cause() {
        Cause::KeyRanges { ranges } => *ranges,
        _ => 1,
    };
    let known = read.verdict.shards.as_ref().map(Vec::len);
    if known == Some(1) || (!is_range && ranges <= ctx.thresholds.few_ranges) {
        return None;
    }
    let what = if is_range { format!("a range of `{field}`") } else { format!("{ranges} ranges of the key") };
    let message = format!("{} asks for {what}: {}", read.subject(), reach(&read, ranges, is_range));
    let span = first.predicates.iter().copied().reduce(Span::join).unwrap_or_else(|| read.filter_span());
    let text = if is_range {
        "every chunk that this range touches is asked".to_owned()
    } else {
        format!("{ranges} places in the key space, each on a shard of its own at worst")
    };
    let help = if is_range {
        format!("narrow the range, or add an equality on `{field}` (shard key `{}`)", read.key)
    } else {
        format!("ask for fewer values of `{field}` at a time (shard key `{}`)", read.key)
    };
    Some(read.finding(message, Label::new(span, text), Vec::new(), help))
}

/// The number of shards that answer: exact with a chunk map, else what to expect and at worst.
fn reach(read: &FanOut<'_>, ranges: usize, is_range: bool) -> String {
    let total = read.ctx.shard_count();
    if let Some(shards) = &read.verdict.shards {
        let of = total.map_or_else(String::new, |total| format!(" of {total}"));
        return format!("{}{of} shards answer", shards.len());
    }
    match total {
        Some(total) if is_range => format!("1 to {total} shards answer, by where the chunks lie"),
        Some(total) => {
            let worst = read.verdict.at_most.unwrap_or(ranges).min(total);
            format!("about {} of {total} shards answer, at worst {worst}", expected(ranges, total).min(worst))
        }
        None => match read.verdict.at_most {
            Some(worst) => format!("at worst {worst} shards answer"),
            None => "one shard or several answer, by where the chunks lie".to_owned(),
        },
    }
}

/// How many different shards `ranges` values that are spread evenly meet on average, rounded.
#[allow(clippy::cast_precision_loss, clippy::cast_possible_truncation, clippy::cast_sign_loss)]
fn expected(ranges: usize, shards: usize) -> usize {
    let all = shards as f64;
    let missed = (1.0 - 1.0 / all).powf(ranges as f64);
    (all * (1.0 - missed)).round() as usize
}

const EXPLANATION: &str = r#"
# How many shards does an $in or a range on the shard key ask?

## What it says

The filter bounds the shard key, but to many values or to a range of them. One shard may answer, or several: that
depends on where the chunks lie. The message says how many to expect and how many at worst, exactly if a chunk map is
declared. An `$in` of at most two members and an equality on the first key fields are not reported.

## Why it costs you

Each member of an `$in` may lie on a shard of its own: with 50 values on 12 shards, nearly all shards are asked, as if
there were no key. The slowest of them sets the latency.

## Fires on

```js
sh.shardCollection("shop.orders", { customerId: 1 });
```

```json
{"t":{"$date":"2024-05-14T09:12:03.481+00:00"},"s":"I","c":"COMMAND","id":51803,"ctx":"conn42","msg":"Slow query","attr":{"type":"command","ns":"shop.orders","command":{"find":"orders","filter":{"customerId":{"$in":[7012,40551,88103]}},"$db":"shop"},"nShards":3,"nreturned":12,"durationMillis":310}}
```

## Silent on

```js
sh.shardCollection("shop.orders", { customerId: 1 });
```

```json
{"t":{"$date":"2024-05-14T09:12:03.481+00:00"},"s":"I","c":"COMMAND","id":51803,"ctx":"conn42","msg":"Slow query","attr":{"type":"command","ns":"shop.orders","command":{"find":"orders","filter":{"customerId":{"$in":[7012,40551]}},"$db":"shop"},"nShards":2,"nreturned":12,"durationMillis":31}}
```

## How to fix

Ask for fewer values at a time, or for a narrower range. If values that are read together share a property (a tenant,
a region), a key that starts with it keeps them on one shard.

## When to ignore

Ranges over a key that was chosen for range scans, where reading from several shards at once is the aim.

## Versions

All. Sources: <https://www.mongodb.com/docs/manual/core/distributed-queries/>.
"#;

#[cfg(test)]
mod tests {
    use super::expected;

    #[test]
    fn the_expected_number_of_shards_grows_with_the_values_and_ends_at_all() {
        assert_eq!(expected(1, 12), 1);
        assert_eq!(expected(3, 12), 3);
        assert_eq!(expected(12, 12), 8);
        assert_eq!(expected(500, 12), 12);
        assert_eq!(expected(5, 1), 1);
    }
}
