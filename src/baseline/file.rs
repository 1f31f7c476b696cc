//! The file: its members, their order, and what is wrong with one that cannot be used. Entries are sorted and pretty, so
//! that a change of a baseline is a change of a few lines. `docs/schema/baseline.json` is made from these types.

use std::borrow::Cow;
use std::io;

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::{Deserialize, Deserializer, Serialize};

use crate::report::write_pretty;
use crate::rules::rule;

/// The version of the format that is written, and the newest that is read.
const VERSION: u64 = 1;

const BOM: &[u8] = b"\xef\xbb\xbf";

/// The known findings of a project.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(title = "shardlint baseline")]
pub struct Baseline {
    /// Tells the file from others.
    tool: Tool,
    /// The version of this format.
    version: u64,
    /// Every shape that was seen, sorted by namespace, operation and shape.
    pub shapes: Vec<ShapeEntry>,
    /// Findings that are not about a shape, sorted by namespace, rule and subject.
    pub findings: Vec<FindingEntry>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
enum Tool {
    #[serde(rename = "shardlint-baseline")]
    Baseline,
}

/// What is recorded of one shape.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ShapeEntry {
    /// The namespace, after `--ns-map`.
    pub namespace: String,
    /// The operation: `find`, `update` …
    pub operation: String,
    /// The query without its values.
    pub shape: String,
    /// Names namespace, operation and shape in every release.
    pub fingerprint: Hash,
    /// The worst class that is accepted.
    pub class: Recorded,
    /// All classes that are accepted, if there are several: values can decide where a query goes.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub classes: Vec<Recorded>,
    /// The rules whose findings are accepted, by code.
    pub rules: Vec<String>,
    /// How often the shape was seen when the entry was last changed.
    pub count: u64,
    /// Why it is accepted; written by people, kept by `baseline update`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
}

/// A finding that is accepted and is not about a shape: on a declaration, a namespace, an input.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct FindingEntry {
    /// The rule's code.
    pub rule: String,
    /// The namespace, after `--ns-map`; empty if there is none.
    pub namespace: String,
    /// What of it: an index, the key, an input; empty if it is the namespace itself.
    pub subject: String,
    /// Why it is accepted; written by people, kept by `baseline update`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
}

/// A class as a baseline records it. Ordered as in reports.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Recorded {
    /// One shard.
    Targeted,
    /// A bounded part of the key space.
    MultiShard,
    /// Every shard.
    Broadcast,
    /// Not to be told from the record.
    Unknown,
    /// A collection on one shard.
    Unsharded,
    /// Nothing was declared.
    Undeclared,
}

impl Recorded {
    const ALL: [Self; 6] =
        [Self::Targeted, Self::MultiShard, Self::Broadcast, Self::Unknown, Self::Unsharded, Self::Undeclared];

    /// The name in reports.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Targeted => "targeted",
            Self::MultiShard => "multi-shard",
            Self::Broadcast => "broadcast",
            Self::Unknown => "unknown",
            Self::Unsharded => "unsharded",
            Self::Undeclared => "undeclared",
        }
    }

    /// The class of that name.
    #[must_use]
    pub fn named(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|class| class.name() == name)
    }

    /// How many shards it stands for, as far as that is known; greater is worse.
    #[must_use]
    pub fn rank(self) -> Option<u8> {
        match self {
            Self::Unsharded | Self::Targeted => Some(0),
            Self::MultiShard => Some(1),
            Self::Broadcast => Some(2),
            Self::Unknown | Self::Undeclared => None,
        }
    }

    /// The worst of several: the greatest rank; without any rank, the first.
    #[must_use]
    pub fn worst(classes: impl IntoIterator<Item = Self>) -> Option<Self> {
        classes.into_iter().reduce(|worst, class| if class.rank() > worst.rank() { class } else { worst })
    }
}

/// A fingerprint in a file: 32 lower-case hexadecimal digits.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize)]
pub struct Hash(String);

impl Hash {
    /// The fingerprint of a report.
    #[must_use]
    pub fn new(fingerprint: &str) -> Self {
        Self(fingerprint.to_owned())
    }

    /// Its digits.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl<'de> Deserialize<'de> for Hash {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = String::deserialize(deserializer)?;
        if text.len() == 32 && text.bytes().all(|byte| matches!(byte, b'0'..=b'9' | b'a'..=b'f')) {
            return Ok(Self(text));
        }
        Err(serde::de::Error::custom(format!("`{text}` is no fingerprint; expected 32 lower-case hexadecimal digits")))
    }
}

impl JsonSchema for Hash {
    fn schema_name() -> Cow<'static, str> {
        "Fingerprint".into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({ "type": "string", "pattern": "^[0-9a-f]{32}$" })
    }
}

impl ShapeEntry {
    /// All classes recorded.
    pub fn recorded(&self) -> impl Iterator<Item = Recorded> {
        std::iter::once(self.class).chain(self.classes.iter().copied())
    }

    /// Records these classes, and no others.
    pub fn set_classes(&mut self, mut classes: Vec<Recorded>) {
        classes.sort_unstable();
        classes.dedup();
        if let Some(worst) = Recorded::worst(classes.iter().copied()) {
            self.class = worst;
        }
        self.classes = if classes.len() > 1 { classes } else { Vec::new() };
    }
}

/// A file that cannot be used as a baseline, and why.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{name}:{line}:{column}: {message}")]
pub struct Unusable {
    /// The file, as the user named it.
    pub name: String,
    /// 1-based line.
    pub line: usize,
    /// 1-based column.
    pub column: usize,
    /// Lower-case start, no full stop.
    pub message: String,
}

/// What is read first, so that a foreign or newer file is called that.
#[derive(Deserialize)]
struct Header {
    tool: Option<serde_json::Value>,
    version: Option<serde_json::Value>,
}

impl Baseline {
    /// A baseline of these entries, in their order in files.
    #[must_use]
    pub fn new(shapes: Vec<ShapeEntry>, findings: Vec<FindingEntry>) -> Self {
        let mut baseline = Self { tool: Tool::Baseline, version: VERSION, shapes, findings };
        baseline.put_in_order();
        baseline
    }

    /// Reads a file. Entries that stand there twice, as after a merge, become one.
    ///
    /// # Errors
    /// If it is damaged, of another program, or of a newer format: the message says where.
    pub fn read(name: &str, text: &[u8]) -> Result<Self, Unusable> {
        // An editor may have put a byte order mark in front.
        let text = text.strip_prefix(BOM).unwrap_or(text);
        let at = |line, column, message: String| Unusable { name: name.to_owned(), line, column, message };
        let damaged = |error: serde_json::Error| at(error.line().max(1), error.column().max(1), worded(&error));
        if text.trim_ascii().is_empty() {
            return Err(at(1, 1, "the file is empty; expected a baseline".to_owned()));
        }
        if !text.trim_ascii_start().starts_with(b"{") {
            return Err(at(1, 1, not_a_baseline()));
        }
        let header: Header = serde_json::from_slice(text).map_err(|error| match error.classify() {
            serde_json::error::Category::Data => at(1, 1, not_a_baseline()),
            _ => damaged(error),
        })?;
        if header.tool.as_ref().and_then(|tool| tool.as_str()) != Some("shardlint-baseline") {
            return Err(at(1, 1, not_a_baseline()));
        }
        match header.version.as_ref().and_then(serde_json::Value::as_u64) {
            Some(VERSION) => {}
            Some(newer) if newer > VERSION => {
                let (line, column) = place_of(text, "version");
                let message = format!("format {newer} is newer than this program reads ({VERSION}); update shardlint");
                return Err(at(line, column, message));
            }
            _ => {
                let (line, column) = place_of(text, "version");
                return Err(at(line, column, format!("no `version` that is known; expected {VERSION}")));
            }
        }
        let mut baseline: Self = serde_json::from_slice(text).map_err(damaged)?;
        baseline.put_in_order();
        Ok(baseline)
    }

    /// Writes the file.
    ///
    /// # Errors
    /// Those of `out`.
    pub fn write(&self, out: &mut dyn io::Write) -> io::Result<()> {
        write_pretty(self, out)?;
        writeln!(out)
    }

    fn put_in_order(&mut self) {
        let order = |entry: &ShapeEntry| {
            (entry.namespace.clone(), entry.operation.clone(), entry.shape.clone(), entry.fingerprint.clone())
        };
        self.shapes.sort_by_cached_key(order);
        self.shapes.dedup_by(|later, first| {
            let same = later.fingerprint == first.fingerprint;
            if same {
                first.set_classes(first.recorded().chain(later.recorded()).collect());
                first.rules.append(&mut later.rules);
                first.reason = first.reason.take().or(later.reason.take());
            }
            same
        });
        for entry in &mut self.shapes {
            entry.rules.sort_unstable();
            entry.rules.dedup();
        }
        let order = |entry: &FindingEntry| (entry.namespace.clone(), entry.rule.clone(), entry.subject.clone());
        self.findings.sort_by_cached_key(order);
        self.findings.dedup_by(|later, first| {
            let same = order(later) == order(first);
            if same {
                first.reason = first.reason.take().or(later.reason.take());
            }
            same
        });
    }

    /// The namespaces of its shapes, sorted.
    #[must_use]
    pub fn namespaces(&self) -> Vec<&str> {
        let mut names: Vec<&str> = self.shapes.iter().map(|entry| entry.namespace.as_str()).collect();
        names.dedup();
        names
    }

    /// Codes that it names and this release does not know.
    #[must_use]
    pub fn unknown_rules(&self) -> Vec<&str> {
        let of_shapes = self.shapes.iter().flat_map(|entry| &entry.rules);
        let codes = of_shapes.chain(self.findings.iter().map(|entry| &entry.rule));
        let mut unknown: Vec<&str> = codes.map(String::as_str).filter(|code| rule(code).is_none()).collect();
        unknown.sort_unstable();
        unknown.dedup();
        unknown
    }
}

/// Whether a text says of itself that it is a baseline, damaged or not.
#[must_use]
pub fn looks_like_baseline(head: &[u8]) -> bool {
    let head = head.strip_prefix(BOM).unwrap_or(head).trim_ascii_start();
    head.starts_with(b"{") && memchr::memmem::find(&head[..head.len().min(256)], b"\"shardlint-baseline\"").is_some()
}

fn not_a_baseline() -> String {
    "this is no baseline; expected the file that `shardlint baseline create` writes".to_owned()
}

/// serde's words without its own account of the place.
fn worded(error: &serde_json::Error) -> String {
    let text = error.to_string();
    let text = text.rsplit_once(" at line ").map_or(text.as_str(), |(message, _)| message);
    if let Some(what) = text.strip_prefix("EOF while parsing ") {
        return format!("the file ends within {what}");
    }
    let mut letters = text.chars();
    letters.next().map_or_else(String::new, |first| first.to_lowercase().chain(letters).collect())
}

/// Line and column of a member's name; the beginning if it is not there.
fn place_of(text: &[u8], name: &str) -> (usize, usize) {
    let at = memchr::memmem::find(text, format!("\"{name}\"").as_bytes()).unwrap_or(0);
    let before = &text[..at];
    let start = memchr::memrchr(b'\n', before).map_or(0, |newline| newline + 1);
    (memchr::memchr_iter(b'\n', before).count() + 1, at - start + 1)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn failure(text: &str) -> String {
        Baseline::read("b.json", text.as_bytes()).expect_err("not a baseline").to_string()
    }

    #[test]
    fn what_is_no_baseline_is_called_that_in_place() {
        assert_eq!(failure(""), "b.json:1:1: the file is empty; expected a baseline");
        assert!(failure("[1]").starts_with("b.json:1:1: this is no baseline"));
        assert!(failure(r#"{"results":[]}"#).starts_with("b.json:1:1: this is no baseline"));
        let newer = "{\n  \"tool\": \"shardlint-baseline\",\n  \"version\": 7\n}";
        assert_eq!(failure(newer), "b.json:3:3: format 7 is newer than this program reads (1); update shardlint");
        let conflict = "{\n  \"tool\": \"shardlint-baseline\",\n<<<<<<< HEAD\n";
        assert!(failure(conflict).starts_with("b.json:3:1: "), "{}", failure(conflict));
    }

    #[test]
    fn a_slip_in_an_entry_is_told_where_it_stands() {
        let text = r#"{ "tool": "shardlint-baseline", "version": 1, "findings": [], "shapes": [
  { "namespace": "a.b", "operation": "find", "shape": "{}", "fingerprint": "XYZ", "class": "broadcast", "rules": [], "count": 1 }
] }"#;
        assert!(failure(text).starts_with("b.json:2:"), "{}", failure(text));
        assert!(failure(text).contains("`XYZ` is no fingerprint"), "{}", failure(text));
        let text = text.replace("XYZ", &"0".repeat(32)).replace("\"count\"", "\"reasn\": \"x\", \"count\"");
        assert!(failure(&text).contains("unknown field `reasn`"), "{}", failure(&text));
    }

    #[test]
    fn entries_that_a_merge_left_twice_become_one() {
        let entry = |class: &str, rule: &str| {
            format!(
                r#"{{"namespace":"a.b","operation":"find","shape":"{{}}","fingerprint":"{}","class":"{class}","rules":["{rule}"],"count":1}}"#,
                "0".repeat(32)
            )
        };
        let shapes = format!("{},{}", entry("broadcast", "SL101"), entry("multi-shard", "SL105"));
        let text = format!(r#"{{"tool":"shardlint-baseline","version":1,"shapes":[{shapes}],"findings":[]}}"#);
        let baseline = Baseline::read("b", text.as_bytes()).expect("a baseline");
        assert_eq!(baseline.shapes.len(), 1);
        assert_eq!(baseline.shapes[0].rules, ["SL101", "SL105"]);
        assert_eq!(baseline.shapes[0].class, Recorded::Broadcast);
        assert_eq!(baseline.shapes[0].classes, [Recorded::MultiShard, Recorded::Broadcast]);
    }

    #[test]
    fn the_worst_class_is_the_one_with_most_shards_that_is_known() {
        let worst = |classes: &[Recorded]| Recorded::worst(classes.iter().copied());
        assert_eq!(worst(&[Recorded::Unknown, Recorded::Targeted]), Some(Recorded::Targeted));
        assert_eq!(worst(&[Recorded::Broadcast, Recorded::MultiShard]), Some(Recorded::Broadcast));
        assert_eq!(worst(&[Recorded::Unknown]), Some(Recorded::Unknown));
        assert_eq!(worst(&[]), None);
    }
}
