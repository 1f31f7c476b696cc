//! What a run found, ready to be printed. Everything is owned and in its final order.

use std::collections::BTreeMap;
use std::sync::Arc;

use crate::rules::Severity;

use super::wording::percent;

/// Calls and time of one class.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct ClassCount {
    /// Records.
    pub count: u64,
    /// Sum of `durationMillis`.
    pub millis: u64,
}

/// A rule that was not run for want of evidence.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NotChecked {
    /// `SL401`.
    pub code: &'static str,
    /// `indexes`.
    pub needs: &'static str,
}

/// A line that no known format explains.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct UnreadLine {
    /// The input as the user named it.
    pub path: String,
    /// 1-based line.
    pub line: u64,
    /// 1-based column of the failure, in bytes.
    pub column: u64,
    /// What is wrong, what was expected.
    pub why: String,
}

/// The counts of a run (`cli.md`, `check --format json`).
#[derive(Debug, Clone, Default)]
pub struct Summary {
    /// Physical lines of log inputs.
    pub lines: u64,
    /// Slow-query records.
    pub slow_queries: u64,
    /// Records of other kinds, blank lines included.
    pub other_records: u64,
    /// Lines that no format explains.
    pub not_understood: u64,
    /// Explain documents.
    pub explains: u64,
    /// Records that the server cut.
    pub truncated: u64,
    /// Slow queries left out by `--ns`, `--app`, `--since`, `--until`, `--min-duration`.
    pub filtered: u64,
    /// Explain documents left out by them; not among `explains`.
    pub filtered_explains: u64,
    /// Findings hidden by suppressions.
    pub suppressed: u64,
    /// Records that repeat an operation told by another record.
    pub duplicates: u64,
    /// The cluster's own traffic.
    pub internal: u64,
    /// Commands without a filter to route.
    pub not_queries: u64,
    /// A shard's records of operations whose router's records are in the run.
    pub via_router: u64,
    /// By class name: `targeted`, `multi-shard`, `broadcast`, `unknown`, `unsharded`, `undeclared`; all six, always.
    pub classes: BTreeMap<&'static str, ClassCount>,
    /// Who carries the shard key: by namespace, then for all its applications together and for each.
    pub key_coverage: Vec<KeyCoverage>,
    /// Rules not run.
    pub not_checked: Vec<NotChecked>,
    /// First and last time of a record, RFC 3339 with `Z`.
    pub from: Option<String>,
    /// The last.
    pub to: Option<String>,
    /// Whose rules held.
    pub server_version: String,
    /// Nothing named the version.
    pub version_assumed: bool,
    /// The first lines not understood.
    pub unread: Vec<UnreadLine>,
    /// Things to tell the user in the summary: no slow queries and how to get them, folded shapes …
    pub notes: Vec<String>,
    /// Sources that were read, as named by the user.
    pub inputs: Vec<String>,
    /// What is known of the processes that wrote them, in the same order.
    pub processes: Vec<ProcessRow>,
}

/// The process that wrote a log.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ProcessRow {
    /// The log, as the user named it.
    pub path: String,
    /// `router`, `shard` or `config server`; `None` if nothing tells.
    pub role: Option<&'static str>,
    /// The shard's name.
    pub shard: Option<String>,
}

/// How many calls carry the shard key of a collection. Inserts, which always do, are not counted.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct KeyCoverage {
    /// After `--ns-map`.
    pub namespace: String,
    /// The application; `None` is all of them.
    pub application: Option<String>,
    /// The first field of the key.
    pub first_field: String,
    /// Calls with a filter to route.
    pub calls: ClassCount,
    /// Those that bound the first field of the key.
    pub with_first_field: ClassCount,
    /// Those that bind the whole key.
    pub with_whole_key: ClassCount,
}

/// On how many shards operations were seen. A shard logs what was slow there, so they asked no fewer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SeenOnShards {
    /// The least number of shards that logged the same operation.
    pub min: u64,
    /// The greatest.
    pub max: u64,
    /// The shards whose logs were read.
    pub of: u64,
    /// So many operations were told apart, of those that are kept.
    pub operations: u64,
    /// Those among them that name their operation or their session. The others are known by their statement and the time.
    pub named: u64,
}

/// One shape of one operation on one namespace.
#[derive(Debug, Clone)]
pub struct ShapeRow {
    /// After `--ns-map`.
    pub namespace: String,
    /// `find` …
    pub operation: &'static str,
    /// The value-free text.
    pub shape: String,
    /// 32 hexadecimal digits.
    pub fingerprint: String,
    /// The worst class seen, or `undeclared`.
    pub class: &'static str,
    /// Records by class.
    pub classes: BTreeMap<&'static str, u64>,
    /// Records.
    pub count: u64,
    /// Sum of `durationMillis`.
    pub millis: u64,
    /// The durations in milliseconds that 50, 95 and 99 percent of the records do not exceed: exact up to 255 ms, beyond too
    /// much by less than 0.8 %.
    pub percentiles: [u64; 3],
    /// The longest.
    pub max_millis: u64,
    /// Least and greatest `nShards` seen.
    pub observed_shards: Option<(u64, u64)>,
    /// On how many shards its operations were seen, where the logs of several shards were read.
    pub seen_on_shards: Option<SeenOnShards>,
    /// How its operations found their documents, as `planSummary` says, with the number of records; of a router's operations
    /// what its shards logged. The most frequent first, eight at most.
    pub plans: Vec<(String, u64)>,
    /// All shards that its operations are sent to, sorted, if a chunk map is known.
    pub shards: Option<Vec<String>>,
    /// Why the class is what it is, for the reader.
    pub reason: String,
    /// The first record of the worst class, and its `comment`; only kept for a run that is held against a baseline.
    pub example: Option<(Example, Option<String>)>,
}

/// A place in an input. Lines and columns are 1-based, columns count bytes, byte ranges are half-open.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct Location {
    /// As the user named the input; `-` for standard input.
    pub path: String,
    /// First line.
    pub line: u64,
    /// First column.
    pub column: u64,
    /// Last line.
    pub end_line: u64,
    /// One past the last column.
    pub end_column: u64,
    /// Offset of the first byte in the decompressed input.
    pub byte_start: u64,
    /// One past the last byte.
    pub byte_end: u64,
}

/// A label of the example, placed in the input.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ExampleLabel {
    /// Where.
    pub location: Location,
    /// What the label says.
    pub text: String,
    /// The bytes it points at, exactly as in the input.
    pub snippet: Vec<u8>,
    /// The range in `Example::record` (or, with `other_source`, in that declaration's text).
    pub start: usize,
    /// One past the last byte of that range.
    pub end: usize,
    /// The label points into a declaration file: an index into `Report::declarations`.
    pub other_source: Option<usize>,
}

/// The worst example of a diagnostic.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Example {
    /// The record's bytes (a log line without its line end), or the operation that was typed. Empty in findings on a
    /// declaration file: its text, which they share, is in `Report::declarations`.
    pub record: Arc<[u8]>,
    /// Whether this is a declaration or typed (shown as it is), and no log record (to be laid out again).
    pub is_declaration: bool,
    /// The line of the record's first byte.
    pub line: u64,
    /// The first label is the primary one. Never empty.
    pub labels: Vec<ExampleLabel>,
}

/// Findings of one rule on one shape (or one declaration), grouped.
#[derive(Debug, Clone)]
pub struct Diagnostic {
    /// `SL101`.
    pub code: &'static str,
    /// `broadcast-query`.
    pub rule: &'static str,
    /// How serious.
    pub severity: Severity,
    /// After `--ns-map`; empty where none applies.
    pub namespace: String,
    /// `find` …; `None` for declarations and lines.
    pub operation: Option<&'static str>,
    /// What is wrong.
    pub message: String,
    /// What to do.
    pub help: Option<String>,
    /// The shape, for findings on queries.
    pub shape: Option<String>,
    /// What of the namespace a finding that has no shape is about: an index, `key` …; names it in a baseline.
    pub subject: Option<String>,
    /// The shape's fingerprint, or that of (rule, namespace, subject).
    pub fingerprint: String,
    /// Records.
    pub count: u64,
    /// Sum of `durationMillis`.
    pub millis: u64,
    /// Time of the first, RFC 3339.
    pub first_seen: Option<String>,
    /// Time of the last.
    pub last_seen: Option<String>,
    /// Against the baseline; `None` without one.
    pub new: Option<bool>,
    /// The class in the baseline.
    pub was: Option<&'static str>,
    /// The class now.
    pub now: Option<&'static str>,
    /// The worst example.
    pub example: Example,
    /// `comment` of the worst example.
    pub comment: Option<String>,
}

/// What became of a shape, or of a finding on a declaration, since the baseline was recorded.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum ChangeKind {
    /// Its class is worse than any that was recorded.
    Worse,
    /// The baseline does not know it.
    New,
    /// A class that was recorded, or a finding, was not seen any more.
    Better,
    /// Its class is unknown now, or was then.
    Unclear,
    /// It was not seen any more.
    Gone,
}

impl ChangeKind {
    /// All kinds, in the order of reports.
    pub const ALL: [Self; 5] = [Self::Worse, Self::New, Self::Better, Self::Unclear, Self::Gone];

    /// The name in reports.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Worse => "worse",
            Self::New => "new",
            Self::Better => "better",
            Self::Unclear => "unclear",
            Self::Gone => "gone",
        }
    }
}

/// One difference between the baseline and the run.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Change {
    /// What became of it.
    pub kind: ChangeKind,
    /// After `--ns-map`.
    pub namespace: String,
    /// `find` …; `None` for a finding on a declaration.
    pub operation: Option<String>,
    /// The shape; for a finding without one, its subject.
    pub what: String,
    /// The shape's fingerprint.
    pub fingerprint: Option<String>,
    /// The worst class recorded.
    pub was: Option<&'static str>,
    /// The worst class seen.
    pub now: Option<&'static str>,
    /// The rules that are new, or gone.
    pub rules: Vec<String>,
}

/// A run held against a baseline.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Comparison {
    /// The baseline, as the user named it.
    pub baseline: String,
    /// By kind, then namespace, operation and shape.
    pub changes: Vec<Change>,
}

impl Report {
    /// The diagnostics that people are told of: what the baseline knows is not said again.
    pub fn told(&self) -> impl Iterator<Item = &Diagnostic> {
        self.diagnostics.iter().filter(|diagnostic| diagnostic.new != Some(false))
    }
}

impl Comparison {
    /// How many changes are of that kind.
    #[must_use]
    pub fn count(&self, kind: ChangeKind) -> u64 {
        self.changes.iter().filter(|change| change.kind == kind).count() as u64
    }
}

/// A limit on the share of broadcasts, and what was measured.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LimitResult {
    /// The share, as the user wrote it.
    pub limit: String,
    /// Of what: `all queries`, `shop.*`, `application ^batch-`.
    pub scope: String,
    /// Whether milliseconds were measured; otherwise calls.
    pub by_time: bool,
    /// Calls (milliseconds) that were broadcasts.
    pub broadcast: u64,
    /// All calls (milliseconds).
    pub total: u64,
    /// Whether the share is above the limit.
    pub exceeded: bool,
}

impl LimitResult {
    /// `broadcasts are 3.1 % of the calls of all queries, the limit is 2%`
    #[must_use]
    pub fn words(&self) -> String {
        let what = if self.by_time { "time" } else { "calls" };
        let Some(share) = percent(self.broadcast, self.total) else {
            return format!("no query is of {}, the limit is {}", self.scope, self.limit);
        };
        format!("broadcasts are {share} of the {what} of {}, the limit is {}", self.scope, self.limit)
    }
}

/// Everything a run found.
#[derive(Debug, Clone, Default)]
pub struct Report {
    /// The counts.
    pub summary: Summary,
    /// All shapes, by time, then count, then name.
    pub shapes: Vec<ShapeRow>,
    /// All diagnostics: severity, time, code, namespace, shape, place.
    pub diagnostics: Vec<Diagnostic>,
    /// Path and text of the declarations that labels point into.
    pub declarations: Vec<(String, Vec<u8>)>,
    /// What is different from the baseline, if there is one.
    pub comparison: Option<Comparison>,
    /// The limits that were set, in their order.
    pub limits: Vec<LimitResult>,
}
