//! The contract of `check --format json`: field names and nesting are fixed, additions are allowed.
//! A snippet of invalid UTF-8 is given with U+FFFD in place of what is invalid; the byte range stays exact.
//! Characters that a terminal or the runner of a build would act on are written as `\u` escapes, which changes no value.

use std::collections::BTreeMap;
use std::io;

use serde::ser::{Serialize, Serializer};
use serde_json::ser::{CompactFormatter, Formatter, PrettyFormatter};

use super::comparison::ComparisonObject;
use super::data::{
    ClassCount, Diagnostic, ExampleLabel, KeyCoverage, LimitResult, Location, ProcessRow, Report, SeenOnShards,
    ShapeRow, Summary,
};
use super::escape::Runner;

/// The JSON Schema of this format.
#[must_use]
pub fn schema() -> serde_json::Value {
    schemars::schema_for!(Document<'_>).to_value()
}

pub fn render(report: &Report, out: &mut dyn io::Write) -> io::Result<()> {
    let document = Document {
        version: 1,
        tool: Tool { name: env!("CARGO_PKG_NAME"), version: env!("CARGO_PKG_VERSION") },
        summary: SummaryObject::new(&report.summary),
        shapes: &report.shapes,
        diagnostics: &report.diagnostics,
        baseline: report.comparison.as_ref().map(ComparisonObject::new),
        limits: report.limits.iter().map(LimitObject::new).collect(),
    };
    write_pretty(&document, out)?;
    writeln!(out)
}

/// Writes `value` over several lines, without the last line end.
///
/// # Errors
///
/// Those of `out`.
pub fn write_pretty(value: &impl Serialize, out: &mut dyn io::Write) -> io::Result<()> {
    write(value, PrettyFormatter::new(), out)
}

/// Writes `value` on one line, without the line end.
pub fn write_line(value: &impl Serialize, out: &mut dyn io::Write) -> io::Result<()> {
    write(value, CompactFormatter, out)
}

fn write(value: &impl Serialize, formatter: impl Formatter, out: &mut dyn io::Write) -> io::Result<()> {
    let mut serializer = serde_json::Serializer::with_formatter(out, Harmless(formatter));
    value.serialize(&mut serializer).map_err(io::Error::from)
}

#[derive(serde::Serialize, schemars::JsonSchema)]
struct Document<'a> {
    version: u32,
    tool: Tool,
    summary: SummaryObject<'a>,
    #[serde(serialize_with = "shapes")]
    #[schemars(with = "Vec<ShapeObject<'a>>")]
    shapes: &'a [ShapeRow],
    #[serde(serialize_with = "diagnostics")]
    #[schemars(with = "Vec<DiagnosticObject<'a>>")]
    diagnostics: &'a [Diagnostic],
    /// `null` without a baseline.
    baseline: Option<ComparisonObject<'a>>,
    limits: Vec<LimitObject<'a>>,
}

/// There may be many: one after the other is made and written.
fn shapes<S: Serializer>(rows: &[ShapeRow], serializer: S) -> Result<S::Ok, S::Error> {
    serializer.collect_seq(rows.iter().map(ShapeObject::new))
}

fn diagnostics<S: Serializer>(diagnostics: &[Diagnostic], serializer: S) -> Result<S::Ok, S::Error> {
    serializer.collect_seq(diagnostics.iter().map(DiagnosticObject::new))
}

#[derive(serde::Serialize, schemars::JsonSchema)]
pub struct LimitObject<'a> {
    limit: &'a str,
    scope: &'a str,
    measure: &'static str,
    broadcast: u64,
    total: u64,
    exceeded: bool,
}

impl<'a> LimitObject<'a> {
    pub fn new(result: &'a LimitResult) -> Self {
        Self {
            limit: &result.limit,
            scope: &result.scope,
            measure: if result.by_time { "time" } else { "count" },
            broadcast: result.broadcast,
            total: result.total,
            exceeded: result.exceeded,
        }
    }
}

#[derive(serde::Serialize, schemars::JsonSchema)]
struct Tool {
    name: &'static str,
    version: &'static str,
}

/// How many calls carry the shard key of a collection; `application` is null for all of them together.
#[derive(serde::Serialize, schemars::JsonSchema)]
struct KeyCoverageObject<'a> {
    namespace: &'a str,
    application: Option<&'a str>,
    first_field: &'a str,
    calls: CoveredObject,
    with_first_field: CoveredObject,
    with_whole_key: CoveredObject,
}

#[derive(serde::Serialize, schemars::JsonSchema)]
struct CoveredObject {
    count: u64,
    millis: u64,
}

impl<'a> KeyCoverageObject<'a> {
    fn new(coverage: &'a KeyCoverage) -> Self {
        let covered = |count: ClassCount| CoveredObject { count: count.count, millis: count.millis };
        Self {
            namespace: &coverage.namespace,
            application: coverage.application.as_deref(),
            first_field: &coverage.first_field,
            calls: covered(coverage.calls),
            with_first_field: covered(coverage.with_first_field),
            with_whole_key: covered(coverage.with_whole_key),
        }
    }
}

#[derive(serde::Serialize, schemars::JsonSchema)]
pub struct SummaryObject<'a> {
    lines: u64,
    slow_queries: u64,
    other_records: u64,
    not_understood: u64,
    explains: u64,
    truncated: u64,
    suppressed: u64,
    filtered: u64,
    filtered_explains: u64,
    duplicates: u64,
    internal: u64,
    not_queries: u64,
    via_router: u64,
    classes: Classes,
    key_coverage: Vec<KeyCoverageObject<'a>>,
    not_checked: Vec<NotCheckedObject>,
    from: Option<&'a str>,
    to: Option<&'a str>,
    server_version: &'a str,
    version_assumed: bool,
    unread: Vec<UnreadObject<'a>>,
    notes: &'a [String],
    inputs: &'a [String],
    processes: Vec<ProcessObject<'a>>,
}

impl<'a> SummaryObject<'a> {
    pub fn new(summary: &'a Summary) -> Self {
        let not_checked = summary.not_checked.iter();
        let unread = summary.unread.iter();
        Self {
            lines: summary.lines,
            slow_queries: summary.slow_queries,
            other_records: summary.other_records,
            not_understood: summary.not_understood,
            explains: summary.explains,
            truncated: summary.truncated,
            suppressed: summary.suppressed,
            filtered: summary.filtered,
            filtered_explains: summary.filtered_explains,
            duplicates: summary.duplicates,
            internal: summary.internal,
            not_queries: summary.not_queries,
            via_router: summary.via_router,
            classes: Classes::new(&summary.classes),
            key_coverage: summary.key_coverage.iter().map(KeyCoverageObject::new).collect(),
            not_checked: not_checked.map(|rule| NotCheckedObject { code: rule.code, needs: rule.needs }).collect(),
            from: summary.from.as_deref(),
            to: summary.to.as_deref(),
            server_version: &summary.server_version,
            version_assumed: summary.version_assumed,
            unread: unread
                .map(|l| UnreadObject { path: &l.path, line: l.line, column: l.column, why: &l.why })
                .collect(),
            notes: &summary.notes,
            inputs: &summary.inputs,
            processes: summary.processes.iter().map(ProcessObject::new).collect(),
        }
    }
}

/// The process that wrote a log, as it is declared, as its start-up lines tell, or as its records show.
#[derive(serde::Serialize, schemars::JsonSchema)]
struct ProcessObject<'a> {
    path: &'a str,
    #[schemars(extend("enum" = ["router", "shard", "config server", null]))]
    role: Option<&'static str>,
    shard: Option<&'a str>,
}

impl<'a> ProcessObject<'a> {
    fn new(process: &'a ProcessRow) -> Self {
        Self { path: &process.path, role: process.role, shard: process.shard.as_deref() }
    }
}

#[derive(serde::Serialize, schemars::JsonSchema)]
struct NotCheckedObject {
    code: &'static str,
    needs: &'static str,
}

#[derive(serde::Serialize, schemars::JsonSchema)]
struct UnreadObject<'a> {
    path: &'a str,
    line: u64,
    column: u64,
    why: &'a str,
}

/// All six classes, whether seen or not.
#[derive(serde::Serialize, schemars::JsonSchema)]
#[serde(rename_all = "kebab-case")]
struct Classes {
    targeted: Count,
    multi_shard: Count,
    broadcast: Count,
    unknown: Count,
    unsharded: Count,
    undeclared: Count,
}

#[derive(serde::Serialize, schemars::JsonSchema)]
struct Count {
    count: u64,
    millis: u64,
}

impl Classes {
    fn new(classes: &BTreeMap<&'static str, ClassCount>) -> Self {
        let class = |name: &str| {
            let ClassCount { count, millis } = classes.get(name).copied().unwrap_or_default();
            Count { count, millis }
        };
        Self {
            targeted: class("targeted"),
            multi_shard: class("multi-shard"),
            broadcast: class("broadcast"),
            unknown: class("unknown"),
            unsharded: class("unsharded"),
            undeclared: class("undeclared"),
        }
    }
}

#[derive(serde::Serialize, schemars::JsonSchema)]
struct Observed {
    min: u64,
    max: u64,
}

#[derive(serde::Serialize, schemars::JsonSchema)]
pub struct ShapeObject<'a> {
    namespace: &'a str,
    operation: &'static str,
    shape: &'a str,
    fingerprint: &'a str,
    #[schemars(extend("enum" = ["targeted", "multi-shard", "broadcast", "unknown", "unsharded", "undeclared"]))]
    class: &'static str,
    classes: &'a BTreeMap<&'static str, u64>,
    count: u64,
    millis: u64,
    /// What half of the records do not exceed; exact up to 255, beyond too much by less than 0.8 %.
    p50_millis: u64,
    /// What 95 percent of the records do not exceed, as exact.
    p95_millis: u64,
    /// What 99 percent of the records do not exceed, as exact.
    p99_millis: u64,
    max_millis: u64,
    observed_shards: Option<Observed>,
    /// Where the logs of several shards were read: on how many of them operations of the shape were seen. A shard logs what
    /// was slow there, so they asked no fewer.
    seen_on_shards: Option<SeenOnShardsObject>,
    /// How its operations found their documents; of a router's operations what its shards logged.
    plans: Vec<PlanObject<'a>>,
    shards: Option<&'a [String]>,
    reason: &'a str,
}

impl<'a> ShapeObject<'a> {
    pub fn new(row: &'a ShapeRow) -> Self {
        let [p50_millis, p95_millis, p99_millis] = row.percentiles;
        Self {
            namespace: &row.namespace,
            operation: row.operation,
            shape: &row.shape,
            fingerprint: &row.fingerprint,
            class: row.class,
            classes: &row.classes,
            count: row.count,
            millis: row.millis,
            p50_millis,
            p95_millis,
            p99_millis,
            max_millis: row.max_millis,
            observed_shards: row.observed_shards.map(|(min, max)| Observed { min, max }),
            seen_on_shards: row.seen_on_shards.map(SeenOnShardsObject::new),
            plans: row.plans.iter().map(|(plan, count)| PlanObject { plan, count: *count }).collect(),
            shards: row.shards.as_deref(),
            reason: &row.reason,
        }
    }
}

/// A plan as `planSummary` says it, and so many records with it.
#[derive(serde::Serialize, schemars::JsonSchema)]
struct PlanObject<'a> {
    plan: &'a str,
    count: u64,
}

#[derive(serde::Serialize, schemars::JsonSchema)]
struct SeenOnShardsObject {
    min: u64,
    max: u64,
    /// The shards whose logs were read.
    of: u64,
    /// So many operations were told apart, of those that are kept.
    operations: u64,
    /// Those among them that name their operation or their session; the others are known by their statement and the time.
    named: u64,
}

impl SeenOnShardsObject {
    fn new(seen: SeenOnShards) -> Self {
        let SeenOnShards { min, max, of, operations, named } = seen;
        Self { min, max, of, operations, named }
    }
}

#[derive(serde::Serialize, schemars::JsonSchema)]
struct LocationObject<'a> {
    path: &'a str,
    line: u64,
    column: u64,
    end_line: u64,
    end_column: u64,
    byte_start: u64,
    byte_end: u64,
}

impl<'a> LocationObject<'a> {
    fn new(location: &'a Location) -> Self {
        Self {
            path: &location.path,
            line: location.line,
            column: location.column,
            end_line: location.end_line,
            end_column: location.end_column,
            byte_start: location.byte_start,
            byte_end: location.byte_end,
        }
    }
}

#[derive(serde::Serialize, schemars::JsonSchema)]
struct LabelObject<'a> {
    location: LocationObject<'a>,
    text: &'a str,
    snippet: std::borrow::Cow<'a, str>,
}

impl<'a> LabelObject<'a> {
    fn new(label: &'a ExampleLabel) -> Self {
        Self {
            location: LocationObject::new(&label.location),
            text: &label.text,
            snippet: String::from_utf8_lossy(&label.snippet),
        }
    }
}

#[derive(serde::Serialize, schemars::JsonSchema)]
pub struct DiagnosticObject<'a> {
    code: &'static str,
    rule: &'static str,
    #[schemars(extend("enum" = ["error", "warning", "info"]))]
    severity: &'static str,
    namespace: &'a str,
    operation: Option<&'static str>,
    message: &'a str,
    help: Option<&'a str>,
    shape: Option<&'a str>,
    fingerprint: &'a str,
    count: u64,
    millis: u64,
    first_seen: Option<&'a str>,
    last_seen: Option<&'a str>,
    new: Option<bool>,
    was: Option<&'static str>,
    now: Option<&'static str>,
    location: Option<LocationObject<'a>>,
    labels: Vec<LabelObject<'a>>,
    comment: Option<&'a str>,
    sent_from: Option<SourceObject>,
}

/// The line of the application that the comment names.
#[derive(serde::Serialize, schemars::JsonSchema)]
struct SourceObject {
    path: String,
    line: u64,
}

impl<'a> DiagnosticObject<'a> {
    pub fn new(diagnostic: &'a Diagnostic) -> Self {
        let labels = &diagnostic.example.labels;
        Self {
            code: diagnostic.code,
            rule: diagnostic.rule,
            severity: diagnostic.severity.name(),
            namespace: &diagnostic.namespace,
            operation: diagnostic.operation,
            message: &diagnostic.message,
            help: diagnostic.help.as_deref(),
            shape: diagnostic.shape.as_deref(),
            fingerprint: &diagnostic.fingerprint,
            count: diagnostic.count,
            millis: diagnostic.millis,
            first_seen: diagnostic.first_seen.as_deref(),
            last_seen: diagnostic.last_seen.as_deref(),
            new: diagnostic.new,
            was: diagnostic.was,
            now: diagnostic.now,
            location: labels.first().map(|label| LocationObject::new(&label.location)),
            labels: labels.iter().map(LabelObject::new).collect(),
            comment: diagnostic.comment.as_deref(),
            sent_from: diagnostic.sent_from().map(|place| SourceObject { path: place.path, line: place.line }),
        }
    }
}

/// Writes strings so that printing them to a terminal does nothing: JSON itself escapes only U+0000 to U+001F.
struct Harmless<F>(F);

impl<F: Formatter> Formatter for Harmless<F> {
    fn write_string_fragment<W: ?Sized + io::Write>(&mut self, writer: &mut W, fragment: &str) -> io::Result<()> {
        let mut written = 0;
        // A quotation mark stands before every string, so no `::` is at the start of a line.
        let mut runner = Runner::Word;
        for (at, c) in fragment.char_indices() {
            let acts = runner.would_act(c) && c == '[';
            if !acts && !acts_on_terminals(c) {
                continue;
            }
            writer.write_all(&fragment.as_bytes()[written..at])?;
            for unit in c.encode_utf16(&mut [0; 2]) {
                write!(writer, "\\u{unit:04x}")?;
            }
            written = at + c.len_utf8();
        }
        writer.write_all(&fragment.as_bytes()[written..])
    }

    fn begin_array<W: ?Sized + io::Write>(&mut self, writer: &mut W) -> io::Result<()> {
        self.0.begin_array(writer)
    }

    fn end_array<W: ?Sized + io::Write>(&mut self, writer: &mut W) -> io::Result<()> {
        self.0.end_array(writer)
    }

    fn begin_array_value<W: ?Sized + io::Write>(&mut self, writer: &mut W, first: bool) -> io::Result<()> {
        self.0.begin_array_value(writer, first)
    }

    fn end_array_value<W: ?Sized + io::Write>(&mut self, writer: &mut W) -> io::Result<()> {
        self.0.end_array_value(writer)
    }

    fn begin_object<W: ?Sized + io::Write>(&mut self, writer: &mut W) -> io::Result<()> {
        self.0.begin_object(writer)
    }

    fn end_object<W: ?Sized + io::Write>(&mut self, writer: &mut W) -> io::Result<()> {
        self.0.end_object(writer)
    }

    fn begin_object_key<W: ?Sized + io::Write>(&mut self, writer: &mut W, first: bool) -> io::Result<()> {
        self.0.begin_object_key(writer, first)
    }

    fn begin_object_value<W: ?Sized + io::Write>(&mut self, writer: &mut W) -> io::Result<()> {
        self.0.begin_object_value(writer)
    }

    fn end_object_value<W: ?Sized + io::Write>(&mut self, writer: &mut W) -> io::Result<()> {
        self.0.end_object_value(writer)
    }
}

/// C1 controls, and what reorders or hides text.
fn acts_on_terminals(c: char) -> bool {
    matches!(c, '\u{7f}'..='\u{9f}' | '\u{61c}' | '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}'
        | '\u{2060}'..='\u{206f}' | '\u{feff}')
}
