//! SL003: queries on a collection of which nothing is declared. Raised at the end of a run; the words are here.

use super::finding::{Finding, Label, Severity};
use super::rule::{Check, Evidence, Rule, Status};
use crate::text::Span;

/// The rule.
pub static RULE: Rule = Rule {
    code: "SL003",
    name: "undeclared-namespace",
    summary: "queries on a namespace with no declared shard key; `unsharded` can be declared too",
    severity: Severity::Info,
    needs: &[Evidence::Log],
    since: "0.1.0",
    status: Status::Stable,
    fan_out_rank: None,
    explanation: EXPLANATION,
    page: include_str!("../../docs/rules/SL003.md"),
    check: Check::Engine,
};

/// The finding on a namespace that took `millis` of the run's `total_millis`; `place` is where one of its queries stands.
#[must_use]
pub fn undeclared(namespace: &str, millis: u64, total_millis: u64, place: Span) -> Finding {
    let share = share_of_time(millis, total_millis);
    Finding {
        severity: None,
        message: format!("no shard key is declared for `{namespace}`{share}"),
        help: Some(format!(
            "declare its key with `--shard-key '{namespace}={{ field: 1 }}'`, or `--shard-key '{namespace}=unsharded'`"
        )),
        labels: vec![Label::new(place, "queries on it are not judged")],
        subject: None,
        source: None,
    }
}

/// The finding on namespaces that are too many to be told apart.
#[must_use]
pub fn others(millis: u64, total_millis: u64, place: Span) -> Finding {
    let share = share_of_time(millis, total_millis);
    Finding {
        severity: None,
        message: format!("no shard key is declared for many other collections{share}"),
        help: Some(
            "declare their keys, for example with a dump of `config.collections`, or choose with `--ns`".to_owned(),
        ),
        labels: vec![Label::new(place, "queries on them are not judged")],
        subject: None,
        source: None,
    }
}

fn share_of_time(millis: u64, total: u64) -> String {
    match (u128::from(millis) * 100 + u128::from(total) / 2).checked_div(u128::from(total)) {
        None => String::new(),
        Some(0) => ", with less than 1 % of the time".to_owned(),
        Some(percent) => format!(", with {percent} % of the time"),
    }
}

const EXPLANATION: &str = r#"
# Which collections were not judged because no shard key is declared?

## What it says

The log has queries on a collection of which no declaration speaks. They are counted as `undeclared` and not judged.
The message says which share of the logged time they took.

## Why it costs you

It costs nothing where the collection is not sharded. Where it is, its broadcasts go unseen.

## Fires on

```js
sh.shardCollection("shop.orders", { customerId: 1 });
```

```json
{"t":{"$date":"2024-05-14T09:12:03.481+00:00"},"s":"I","c":"COMMAND","id":51803,"ctx":"conn42","msg":"Slow query","attr":{"type":"command","ns":"shop.orders","command":{"find":"orders","filter":{"customerId":7012},"$db":"shop"},"durationMillis":31}}
{"t":{"$date":"2024-05-14T09:12:04.002+00:00"},"s":"I","c":"COMMAND","id":51803,"ctx":"conn42","msg":"Slow query","attr":{"type":"command","ns":"shop.carts","command":{"find":"carts","filter":{"customerId":7012},"$db":"shop"},"durationMillis":44}}
```

## Silent on

```js
sh.shardCollection("shop.orders", { customerId: 1 });
```

```json
{"t":{"$date":"2024-05-14T09:12:03.481+00:00"},"s":"I","c":"COMMAND","id":51803,"ctx":"conn42","msg":"Slow query","attr":{"type":"command","ns":"shop.orders","command":{"find":"orders","filter":{"customerId":7012},"$db":"shop"},"durationMillis":31}}
{"t":{"$date":"2024-05-14T09:12:04.002+00:00"},"s":"I","c":"COMMAND","id":51803,"ctx":"conn42","msg":"Slow query","attr":{"type":"command","ns":"shop.orders","command":{"find":"orders","filter":{"customerId":7012},"$db":"shop"},"durationMillis":44}}
```

## How to fix

Declare the key, or that the collection is unsharded. A complete dump of `config.collections` does both for all of
them.

## When to ignore

Collections of other applications on the same servers; `--ns` narrows a run to what matters.

## Versions

All. Sources: <https://www.mongodb.com/docs/manual/reference/config-database/>.
"#;

#[cfg(test)]
mod tests {
    use super::share_of_time;

    #[test]
    fn the_share_is_rounded_and_left_out_without_any_time() {
        assert_eq!(share_of_time(1, 8), ", with 13 % of the time");
        assert_eq!(share_of_time(1, 1000), ", with less than 1 % of the time");
        assert_eq!(share_of_time(0, 0), "");
    }
}
