//! A whole run in memory: the bytes are a log, beside declarations that fit the recorded ones.

use std::io::{Cursor, sink};
use std::sync::LazyLock;
use std::sync::atomic::AtomicBool;

use shardlint::baseline::{Baseline, recorded};
use shardlint::engine::{Job, Progress, Run, Settings, Source, finish, run};
use shardlint::input::Input;
use shardlint::report::{ExampleLabel, Format, RenderOptions, Report, render, statistics};
use shardlint::text::SourceId;

use crate::declarations::{Declared, settings};

/// Keys, indexes and a few things that the rules on declarations find.
const DECLARATIONS: &str = r#"use shop
sh.shardCollection("shop.orders", { customerId: 1, _id: 1 })
sh.shardCollection("shop.customers", { _id: "hashed" })
sh.shardCollection("shop.events", { tenant: 1, ts: 1 })
sh.shardCollection("test*.*", { a: 1, b: "hashed" })
db.orders.createIndex({ customerId: 1, _id: 1 })
db.orders.createIndex({ email: 1 }, { unique: true })
db.createCollection("events", { collation: { locale: "fr", strength: 1 } })
"#;

static NEVER: AtomicBool = AtomicBool::new(false);

static DECLARED: LazyLock<Declared> = LazyLock::new(|| Declared::read(DECLARATIONS, None));

/// Nobody looks at how far reading is.
struct Unwatched;

impl Progress for Unwatched {
    fn advanced(&mut self, _: SourceId, _: u64) {}
}

/// Runs `check` on the bytes: every line is accounted for, labels cut what they name, and neither the number of threads nor
/// the size of chunks shows.
pub fn check(data: &[u8]) {
    let of = |threads| settings(DECLARED.catalog.clone(), None, threads);
    let (alone, several) = (of(1), of(2));
    let report = report(data, &alone, 1 << 20);
    assert_account(&report, data);
    assert_labels(&report, data);
    assert_renders(&report);
    assert_recorded(&report);
    let expected = rendered(&report, Format::Json);
    for (settings, chunk_size) in [(&several, 64), (&alone, 7)] {
        let other = rendered(&self::report(data, settings, chunk_size), Format::Json);
        assert!(expected == other, "chunks of {chunk_size} show:\n{}\n{}", text(&expected), text(&other));
    }
    let single = Settings { per_event: true, ..alone };
    let per_event = self::report(data, &single, 1 << 20);
    assert_account(&per_event, data);
    assert_labels(&per_event, data);
}

fn report(data: &[u8], settings: &Settings, chunk_size: usize) -> Report {
    let source = Source { input: Input::stdin(), opened: Some(Box::new(Cursor::new(data.to_vec()))), role: None };
    let job = Job { sources: vec![source], chunk_size, interrupted: &NEVER };
    let outcome = run(job, settings, &mut Unwatched).expect("threads can be started");
    let run =
        Run { inputs: vec!["-".to_owned()], declarations: &DECLARED.texts, declaration_findings: Vec::new(), settings };
    finish(outcome, run)
}

/// All lines are counted, each once; all slow queries and explains have a class or are set apart.
fn assert_account(report: &Report, data: &[u8]) {
    let summary = &report.summary;
    let unended = u64::from(!data.is_empty() && !data.ends_with(b"\n"));
    let lines = data.iter().filter(|&&byte| byte == b'\n').count() as u64 + unended;
    // UTF-16 is refused as a whole.
    assert!(summary.lines == lines || summary.lines == 0, "{} of {lines} lines", summary.lines);
    let judged: u64 = summary.classes.values().map(|class| class.count).sum();
    let set_apart = summary.duplicates + summary.internal + summary.not_queries + summary.via_router;
    assert_eq!(judged + set_apart, summary.slow_queries + summary.explains);
}

/// Every label cuts its snippet out of the text that it points into, and line and column say the same place.
pub fn assert_labels(report: &Report, log: &[u8]) {
    for diagnostic in &report.diagnostics {
        let example = &diagnostic.example;
        assert!(!example.labels.is_empty(), "{diagnostic:?}");
        for label in &example.labels {
            let declaration = report.declarations.iter().find(|(path, _)| *path == label.location.path);
            let text = declaration.map_or(log, |(_, text)| text);
            assert_cuts(text, label);
            if label.other_source.is_none() {
                assert_eq!(example.record.get(label.start..label.end), Some(&label.snippet[..]), "{label:?}");
            }
        }
    }
}

fn assert_cuts(text: &[u8], label: &ExampleLabel) {
    let location = &label.location;
    let (start, end) = (location.byte_start as usize, location.byte_end as usize);
    assert_eq!(text.get(start..end), Some(&label.snippet[..]), "{label:?}");
    for (at, line, column) in [(start, location.line, location.column), (end, location.end_line, location.end_column)] {
        let line_start = text[..at].iter().rposition(|&byte| byte == b'\n').map_or(0, |newline| newline + 1);
        assert_eq!(column as usize, at - line_start + 1, "{label:?}");
        assert_eq!(line as usize, text[..at].iter().filter(|&&byte| byte == b'\n').count() + 1, "{label:?}");
    }
}

/// Every format can be written; the ones for programs are JSON.
pub fn assert_renders(report: &Report) {
    let looks = [
        RenderOptions::default(),
        RenderOptions { color: true, unicode: false, width: 20, top: 0, summary: false, ..RenderOptions::default() },
    ];
    for options in &looks {
        for format in [Format::Pretty, Format::Concise] {
            render(report, format, options, &mut sink()).expect("nothing can go wrong in memory");
            statistics(report, format, options, &mut sink()).expect("nothing can go wrong in memory");
        }
    }
    for format in [Format::Junit, Format::Github, Format::Markdown] {
        render(report, format, &looks[0], &mut sink()).expect("nothing can go wrong in memory");
    }
    for format in [Format::Json, Format::Sarif, Format::Gitlab, Format::Rdjson] {
        serde_json::from_slice::<serde_json::Value>(&rendered(report, format)).expect("JSON");
    }
    let lines = rendered(report, Format::Jsonl);
    for line in lines.split(|&byte| byte == b'\n').filter(|line| !line.is_empty()) {
        serde_json::from_slice::<serde_json::Value>(line).expect("a line of JSON");
    }
}

/// A baseline of the run is read again as it was written.
fn assert_recorded(report: &Report) {
    let written = |baseline: &Baseline| {
        let mut bytes = Vec::new();
        baseline.write(&mut bytes).expect("nothing can go wrong in memory");
        bytes
    };
    let bytes = written(&recorded(report));
    let again = Baseline::read("baseline", &bytes).unwrap_or_else(|error| panic!("{error}: {}", text(&bytes)));
    assert!(written(&again) == bytes, "{}", text(&bytes));
}

fn rendered(report: &Report, format: Format) -> Vec<u8> {
    let mut bytes = Vec::new();
    render(report, format, &RenderOptions::default(), &mut bytes).expect("nothing can go wrong in memory");
    bytes
}

fn text(bytes: &[u8]) -> std::borrow::Cow<'_, str> {
    String::from_utf8_lossy(bytes)
}
