//! The examples of a rule, cut out of its explanation: what a reader of the page sees is what the tests run.
//! An example is a `js` block (a declaration), a `json` or `text` block (records, dumps), a `toml` block (the configuration)
//! and a `json baseline` block; each may be missing.

/// One example: inputs as a user would hand them over.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Example {
    /// Statements of the shell that declare keys and indexes; empty if there is no such block.
    pub declaration: &'static str,
    /// Records, one a line, or a dump; empty if there is no such block.
    pub log: &'static str,
    /// A configuration (`toml`); empty if there is no such block.
    pub config: &'static str,
    /// A baseline (`json baseline`); empty if there is no such block.
    pub baseline: &'static str,
}

/// The two examples of a rule. They differ in the one token that matters.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Examples {
    /// The rule fires on it.
    pub fires: Example,
    /// The rule is silent on it.
    pub silent: Example,
}

/// The headings of an explanation, in order.
pub const HEADINGS: &[&str] = &[
    "## What it says",
    "## Why it costs you",
    "## Fires on",
    "## Silent on",
    "## How to fix",
    "## When to ignore",
    "## Versions",
];

/// So many records of an example are shown to a reader.
const SHOWN: usize = 2;

/// The text with long logs cut to their first records: an example of a finding on a whole load needs the load, its reader
/// does not.
#[must_use]
pub fn abridged(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut log: Option<usize> = None;
    for line in text.split_inclusive('\n') {
        match log {
            None => log = (line.trim_end() == "```json").then_some(0),
            Some(records) if line.starts_with("```") => {
                if records > SHOWN {
                    out.push_str(&format!("… {} more like these\n", records - SHOWN));
                }
                log = None;
            }
            Some(records) => log = Some(records + 1),
        }
        let is_cut = |records: usize| records > SHOWN;
        if !log.is_some_and(is_cut) {
            out.push_str(line);
        }
    }
    out
}

/// Reads both examples of an explanation.
pub(super) fn examples(explanation: &'static str) -> Examples {
    Examples {
        fires: example(section(explanation, "## Fires on")),
        silent: example(section(explanation, "## Silent on")),
    }
}

fn example(section: &'static str) -> Example {
    let records = fenced(section, "json");
    Example {
        declaration: fenced(section, "js"),
        log: if records.is_empty() { fenced(section, "text") } else { records },
        config: fenced(section, "toml"),
        baseline: fenced(section, "json baseline"),
    }
}

/// The text between a heading and the next one.
pub fn section(explanation: &'static str, heading: &str) -> &'static str {
    let Some((_, rest)) = explanation.split_once(&format!("{heading}\n")) else { return "" };
    rest.split_once("\n## ").map_or(rest, |(section, _)| section)
}

/// The content of the first fenced block with that info string, its last line end included.
fn fenced(section: &'static str, info: &str) -> &'static str {
    let Some((_, rest)) = section.split_once(&format!("```{info}\n")) else { return "" };
    rest.find("```").map_or("", |end| &rest[..end])
}

#[cfg(test)]
mod tests {
    use super::*;

    const PAGE: &str = "## Fires on\n\n```js\nsh.shardCollection(\"a.b\", { c: 1 });\n```\n\n```json\n{ \"x\": 1 }\n{ \"x\": 2 }\n```\n\
                        \n## Silent on\n\n```text\nplain\n```\n\n## How to fix\n\n```js\nnever read\n```\n";

    #[test]
    fn each_section_yields_its_own_blocks() {
        let Examples { fires, silent } = examples(PAGE);
        assert_eq!(fires.declaration, "sh.shardCollection(\"a.b\", { c: 1 });\n");
        assert_eq!(fires.log, "{ \"x\": 1 }\n{ \"x\": 2 }\n");
        assert_eq!(silent, Example { declaration: "", log: "plain\n", config: "", baseline: "" });
    }

    #[test]
    fn a_long_log_is_shown_by_its_first_records_and_the_number_of_the_others() {
        let text = "a\n```json\n1\n2\n3\n4\n```\nb\n```json\n1\n2\n```\n```text\n1\n2\n3\n```\n";
        let shown = "a\n```json\n1\n2\n… 2 more like these\n```\nb\n```json\n1\n2\n```\n```text\n1\n2\n3\n```\n";
        assert_eq!(abridged(text), shown);
    }
}
