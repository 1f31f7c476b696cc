//! SL002: a line that no known format explains. Raised while reading; the words are here.

use super::finding::{Finding, Label, Severity};
use super::rule::{Check, Evidence, Rule, Status};
use crate::syntax::SyntaxError;

/// The rule.
pub static RULE: Rule = Rule {
    code: "SL002",
    name: "unreadable-line",
    summary: "a line that no known format explains",
    severity: Severity::Warning,
    needs: &[Evidence::Log],
    since: "0.1.0",
    status: Status::Stable,
    fan_out_rank: None,
    explanation: EXPLANATION,
    page: include_str!("../../docs/rules/SL002.md"),
    check: Check::Engine,
};

/// The finding on a line that failed with `error`.
#[must_use]
pub fn unreadable(error: &SyntaxError) -> Finding {
    Finding {
        severity: None,
        message: format!("no known format explains this line: {}", error.message),
        help: Some("check that the input is the whole output of mongod or mongos, one record a line".to_owned()),
        labels: vec![Label::new(error.span, "reading failed here")],
        subject: None,
        source: None,
    }
}

const EXPLANATION: &str = r#"
# Which log lines could not be read, and why?

## What it says

A line of the input is neither a structured record, nor a legacy record, nor a blank line. Such lines are counted, and
the first ones are shown with the place where reading failed.

## Why it costs you

What is not understood is not judged. A green result over lines that nobody could read is worth nothing.

## Fires on

```js
sh.shardCollection("shop.orders", { customerId: 1 });
```

```text
{"t":{"$date":"2024-05-14T09:12:03.481+00:00"},"s":"I","c":"COMMAND","id":51803,"ctx":"conn42","msg":"Slow query","attr":{"type":"command","ns":"shop.orders","command":{"find":"orders","filter":{"customerId":7012},"$db":"shop"},"durationMillis":31}
```

## Silent on

```js
sh.shardCollection("shop.orders", { customerId: 1 });
```

```text
{"t":{"$date":"2024-05-14T09:12:03.481+00:00"},"s":"I","c":"COMMAND","id":51803,"ctx":"conn42","msg":"Slow query","attr":{"type":"command","ns":"shop.orders","command":{"find":"orders","filter":{"customerId":7012},"$db":"shop"},"durationMillis":31}}
```

## How to fix

Hand over the log as the server wrote it: no wrapped lines, no prefix of a log collector, no end in the middle of a
line.

## When to ignore

One broken line at the start or end of a rotated file.

## Versions

All. Sources: <https://www.mongodb.com/docs/manual/reference/log-messages/>.
"#;
