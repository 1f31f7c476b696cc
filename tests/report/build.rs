//! Reports for the tests, made from a record and the texts in it that labels point at.

use shardlint::report::{
    ClassCount, Diagnostic, Example, ExampleLabel, Format, Location, RenderOptions, Report, ShapeRow, Summary, render,
};
use shardlint::rules::Severity;
use shardlint::text::LineIndex;

pub const PATH: &str = "mongod.log";

/// A slow-query line as a server writes it.
pub fn slow_query(command: &str, rest: &str) -> String {
    format!(
        r#"{{"t":{{"$date":"2024-03-01T10:00:00.123+00:00"}},"s":"I",  "c":"COMMAND",  "id":51803,   "ctx":"conn4479","msg":"Slow query","attr":{{"type":"command","ns":"shop.orders","appName":"checkout","command":{command},{rest},"keysExamined":0,"docsExamined":180000,"cursorExhausted":true,"numYields":140,"nreturned":7,"queryHash":"16FE1304","planCacheKey":"ADE4584D","reslen":239,"locks":{{"Global":{{"acquireCount":{{"r":141}}}},"Mutex":{{"acquireCount":{{"r":1}}}}}},"storage":{{"data":{{"bytesRead":24428,"timeReadingMicros":23}}}},"protocol":"op_msg","durationMillis":812}}}}"#
    )
}

/// Where `bytes[start..end]` stands, if the text begins at `line` and `offset`.
pub fn location(path: &str, bytes: &[u8], start: usize, end: usize, line: u64, offset: u64) -> Location {
    let from = LineIndex::locate(bytes, start);
    let to = LineIndex::locate(bytes, end);
    Location {
        path: path.to_owned(),
        line: line + from.line - 1,
        column: from.column,
        end_line: line + to.line - 1,
        end_column: to.column,
        byte_start: offset + start as u64,
        byte_end: offset + end as u64,
    }
}

/// A label on `start..end` of `bytes`.
pub fn label(path: &str, bytes: &[u8], start: usize, end: usize, text: &str, line: u64) -> ExampleLabel {
    ExampleLabel {
        location: location(path, bytes, start, end, line, 0),
        text: text.to_owned(),
        snippet: bytes[start..end].to_vec(),
        start,
        end,
        other_source: None,
    }
}

/// An example in a log; each label points at the first place of its text.
pub fn example(record: &[u8], line: u64, labels: &[(&[u8], &str)]) -> Example {
    let find = |needle: &[u8]| record.windows(needle.len()).position(|part| part == needle).expect("in the record");
    let label = |(needle, text): &(&[u8], &str)| {
        let start = find(needle);
        label(PATH, record, start, start + needle.len(), text, line)
    };
    Example { record: record.into(), is_declaration: false, line, labels: labels.iter().map(label).collect() }
}

pub fn diagnostic(message: &str, example: Example) -> Diagnostic {
    Diagnostic {
        code: "SL101",
        rule: "broadcast-query",
        severity: Severity::Error,
        namespace: "shop.orders".to_owned(),
        operation: Some("find"),
        message: message.to_owned(),
        help: Some(
            "add an equality on `customerId`, the first field of the key `{ customerId: 1, _id: 1 }`".to_owned(),
        ),
        shape: Some("{ status: ?, total: { $gte: ? } }".to_owned()),
        subject: None,
        fingerprint: "0123456789abcdef0123456789abcdef".to_owned(),
        count: 1204,
        millis: 843_000,
        first_seen: Some("2024-03-01T10:00:00.123Z".to_owned()),
        last_seen: Some("2024-03-01T12:59:00Z".to_owned()),
        new: None,
        was: None,
        now: None,
        example,
        comment: None,
    }
}

pub fn summary() -> Summary {
    Summary {
        lines: 48_211,
        slow_queries: 31_020,
        other_records: 17_190,
        not_understood: 1,
        classes: [("broadcast", 1_204, 843_000), ("targeted", 29_816, 1_876_000)]
            .into_iter()
            .map(|(class, count, millis)| (class, ClassCount { count, millis }))
            .collect(),
        server_version: "7.0".to_owned(),
        version_assumed: true,
        ..Summary::default()
    }
}

pub fn shape(class: &'static str, millis: u64) -> ShapeRow {
    ShapeRow {
        namespace: "shop.orders".to_owned(),
        operation: "find",
        shape: "{ status: ?, total: { $gte: ? } }".to_owned(),
        fingerprint: "0123456789abcdef0123456789abcdef".to_owned(),
        class,
        classes: [(class, 1_204)].into(),
        count: 1_204,
        millis,
        percentiles: [104, 480, 800],
        max_millis: 812,
        observed_shards: Some((12, 12)),
        seen_on_shards: None,
        plans: Vec::new(),
        shards: None,
        reason: "no predicate on `customerId`, the first field of the key".to_owned(),
        example: None,
    }
}

pub fn report(diagnostics: Vec<Diagnostic>) -> Report {
    Report { summary: summary(), diagnostics, ..Report::default() }
}

pub fn text(report: &Report, format: Format, options: &RenderOptions) -> String {
    let mut out = Vec::new();
    render(report, format, options, &mut out).expect("a vector takes everything");
    String::from_utf8(out).expect("reports are UTF-8")
}

/// The pretty diagnostics without the summary.
pub fn pretty(report: &Report, width: usize) -> String {
    text(report, Format::Pretty, &RenderOptions { width, summary: false, ..RenderOptions::default() })
}
