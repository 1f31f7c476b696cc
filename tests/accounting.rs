//! Every line of every recorded log is accounted for, and every span cuts exactly what it names.

mod binary;

use binary::{corpus_logs, declarations, shardlint};
use serde_json::Value;

fn report(path: &str) -> Value {
    let mut args = vec!["check", "--format", "json", path];
    args.extend(declarations());
    serde_json::from_slice(&shardlint(&args, None).stdout).expect("a JSON report")
}

fn is_slow_query(row: &Value) -> bool {
    row["id"] == 51803 && row["msg"].as_str().is_some_and(|msg| msg.eq_ignore_ascii_case("slow query"))
}

#[test]
fn the_counts_agree_with_a_plain_reading_and_add_up() {
    for log in corpus_logs() {
        let text = std::fs::read(&log.path).expect("the log");
        let lines: Vec<&[u8]> = text.strip_suffix(b"\n").unwrap_or(&text).split(|&b| b == b'\n').collect();
        let rows: Vec<Value> = lines.iter().filter_map(|line| serde_json::from_slice(line).ok()).collect();
        let slow: Vec<&Value> = rows.iter().filter(|row| is_slow_query(row)).collect();
        let truncated = slow.iter().filter(|row| row.get("truncated").is_some()).count();
        let path = log.path.to_str().expect("a UTF-8 path");
        let summary = &report(path)["summary"];
        let count = |name: &str| summary[name].as_u64().unwrap_or_else(|| panic!("{name} is no count"));
        assert_eq!(count("lines"), lines.len() as u64, "{path}");
        assert_eq!(count("slow_queries"), slow.len() as u64, "{path}");
        assert_eq!(count("truncated"), truncated as u64, "{path}");
        assert_eq!(count("lines"), count("slow_queries") + count("other_records") + count("not_understood"), "{path}");
        let classes = summary["classes"].as_object().expect("classes");
        let judged: u64 = classes.values().map(|class| class["count"].as_u64().expect("a count")).sum();
        let set_apart: u64 = ["duplicates", "internal", "not_queries", "via_router"].map(count).iter().sum();
        assert_eq!(judged + set_apart, count("slow_queries"), "{path}");
    }
}

#[test]
fn every_label_cuts_its_snippet_out_of_the_input() {
    let mut labels = 0;
    for log in corpus_logs() {
        let bytes = std::fs::read(&log.path).expect("the log");
        let path = log.path.to_str().expect("a UTF-8 path");
        for diagnostic in report(path)["diagnostics"].as_array().expect("diagnostics") {
            for label in diagnostic["labels"].as_array().expect("labels") {
                let at =
                    |name: &str| usize::try_from(label["location"][name].as_u64().expect("a number")).expect("small");
                if label["location"]["path"] != path {
                    continue;
                }
                let (start, end) = (at("byte_start"), at("byte_end"));
                assert_eq!(String::from_utf8_lossy(&bytes[start..end]), label["snippet"].as_str().expect("text"));
                let line_start = bytes[..start].iter().rposition(|&b| b == b'\n').map_or(0, |newline| newline + 1);
                assert_eq!(at("column"), start - line_start + 1, "{path}: {label}");
                assert_eq!(at("line"), bytes[..start].iter().filter(|&&b| b == b'\n').count() + 1, "{path}: {label}");
                labels += 1;
            }
        }
    }
    assert!(labels > 50, "only {labels} labels were looked at");
}

/// A record, the filter of which stands in the middle.
fn record(number: u32) -> String {
    format!(
        r#"{{"t":{{"$date":"2026-11-30T08:17:00.{:03}Z"}},"s":"I","c":"COMMAND","id":51803,"ctx":"conn1","msg":"Slow query","attr":{{"type":"command","ns":"shop.orders","command":{{"find":"orders","filter":{{"né":"\"{{"}},"$db":"shop"}},"durationMillis":5}}}}"#,
        number % 1000
    )
}

/// The record in `parts` lines, each written by `line` from its text, its number from 0 and whether it is the last.
fn split(number: u32, parts: usize, line: &dyn Fn(&str, usize, bool) -> String) -> String {
    let record = record(number);
    let chars: Vec<char> = record.chars().collect();
    let pieces: Vec<String> = chars.chunks(chars.len().div_ceil(parts)).map(|piece| piece.iter().collect()).collect();
    let lines: Vec<String> =
        pieces.iter().enumerate().map(|(at, piece)| line(piece, at, at + 1 == pieces.len())).collect();
    lines.join("\n") + "\n"
}

fn quoted(text: &str) -> String {
    serde_json::to_string(text).expect("text")
}

type Writer = Box<dyn Fn(&str, usize, bool) -> String>;

/// What writes parts, by a name.
fn writers() -> Vec<(&'static str, Writer)> {
    let end = |last: bool| if last { "\n" } else { "" };
    vec![
        (
            "docker",
            Box::new(move |text, _, last| {
                format!(
                    r#"{{"log":{},"stream":"stdout","time":"2026-11-30T08:17:00.8Z"}}"#,
                    quoted(&format!("{text}{}", end(last)))
                )
            }),
        ),
        ("docker without ends", Box::new(|text, _, _| format!(r#"{{"log":{},"stream":"stdout"}}"#, quoted(text)))),
        (
            "fluentd",
            Box::new(|text, at, last| {
                format!(
                    r#"{{"container_name":"/db","source":"stdout","log":{},"partial_message":"true","partial_id":"a1","partial_ordinal":"{}","partial_last":"{last}"}}"#,
                    quoted(text),
                    at + 1
                )
            }),
        ),
        (
            "old fluentd",
            Box::new(|text, _, last| {
                let mark = if last { "" } else { r#","partial_message":"true""# };
                format!(r#"{{"log":{}{mark},"source":"stdout"}}"#, quoted(text))
            }),
        ),
        (
            "journald",
            Box::new(|text, _, last| {
                format!(
                    r#"{{"CONTAINER_PARTIAL_MESSAGE":"true","CONTAINER_PARTIAL_ID":"7","CONTAINER_PARTIAL_LAST":"{last}","MESSAGE":{}}}"#,
                    quoted(text)
                )
            }),
        ),
        (
            "containerd by fluent-bit",
            Box::new(|text, _, last| {
                format!(
                    r#"{{"stream":"stdout","logtag":"{}","message":{}}}"#,
                    if last { "F" } else { "P" },
                    quoted(text)
                )
            }),
        ),
        (
            "vector",
            Box::new(|text, _, last| {
                let mark = if last { "" } else { r#""_partial":true,"# };
                format!(r#"{{{mark}"message":{},"stream":"stdout"}}"#, quoted(text))
            }),
        ),
        (
            "kubernetes",
            Box::new(|text, _, last| {
                format!("2026-11-30T08:17:00.824513Z stdout {} {text}", if last { "F" } else { "P" })
            }),
        ),
    ]
}

#[test]
fn parts_of_every_runtime_are_one_query_and_every_line_is_accounted_for() {
    for (name, line) in writers() {
        for parts in 1..5 {
            let log: String = (0..7).map(|number| split(number, parts, &*line)).collect();
            let output = shardlint(
                &["check", "--format", "json", "--shard-key", "shop.orders={ a: 1 }", "--fail-on", "never", "-"],
                Some(log.as_bytes()),
            );
            let report: Value = serde_json::from_slice(&output.stdout).expect("a JSON report");
            let summary = &report["summary"];
            let lines = log.lines().count();
            let counts =
                ["lines", "slow_queries", "other_records", "not_understood"].map(|count| summary[count].as_u64());
            let expected = [lines, 7, lines - 7, 0].map(|count| Some(count as u64));
            assert_eq!(counts, expected, "{name} in {parts} parts: {log}");
            let label = &report["diagnostics"][0]["labels"][0];
            let at = |name: &str| usize::try_from(label["location"][name].as_u64().expect("a number")).expect("small");
            let snippet = &log[at("byte_start")..at("byte_end")];
            assert_eq!(label["snippet"], snippet, "{name} in {parts} parts");
            assert!(snippet.starts_with('{') && snippet.ends_with('}'), "{name} in {parts} parts: {snippet}");
        }
    }
}

#[test]
fn a_part_whose_rest_is_lost_takes_no_other_record_with_it() {
    for (name, line) in writers() {
        let torn = split(0, 3, &*line);
        let first = torn.lines().next().expect("a line");
        let log = format!("{first}\n{}{}", split(1, 1, &*line), split(2, 3, &*line));
        let output = shardlint(&["check", "--format", "json", "--fail-on", "never", "-"], Some(log.as_bytes()));
        let report: Value = serde_json::from_slice(&output.stdout).expect("a JSON report");
        let counts = ["slow_queries", "not_understood"].map(|count| report["summary"][count].as_u64());
        assert_eq!(counts, [Some(2), Some(1)], "{name}: {log}");
    }
}

fn counts(log: &str, more: &[&str]) -> ([u64; 6], Option<i32>) {
    let mut arguments = vec!["check", "--format", "json", "--fail-on", "never", "-"];
    arguments.extend(more);
    let output = shardlint(&arguments, Some(log.as_bytes()));
    let report: Value = serde_json::from_slice(&output.stdout).expect("a JSON report");
    let names = ["lines", "slow_queries", "other_records", "not_understood", "filtered", "filtered_explains"];
    (names.map(|name| report["summary"][name].as_u64().expect("a count")), output.status.code())
}

#[test]
fn the_brackets_and_commas_of_an_array_on_lines_of_their_own_are_other_records_and_no_sign_of_a_log() {
    let one = record(1);
    for (log, lines, others) in [
        (format!("[\n{one},\n{one}\n]\n"), 4, 2),
        (format!("[\n{one}\n,\n{one}\n];\n"), 5, 3),
        (format!("[{one},\n{one}]\n"), 2, 0),
        (format!("{one}\n[\n{one}\n"), 3, 1),
        (format!("{one}\n[]\n{one}\n"), 3, 1),
    ] {
        assert_eq!(counts(&log, &[]), ([lines, 2, others, 0, 0, 0], Some(0)), "{log}");
    }
    assert_eq!(counts(&format!("[\n\n{one}\n]"), &[]).0, [4, 1, 3, 0, 0, 0], "a blank line is one too");
    assert_eq!(counts("[\n]\n", &[]), ([2, 0, 2, 0, 0, 0], Some(2)), "an array of nothing is no log");
}

#[test]
fn explains_that_filters_leave_out_are_no_slow_queries_that_they_leave_out() {
    let explain = r#"{"queryPlanner":{"namespace":"crm.accounts","parsedQuery":{"a":{"$eq":1}},"winningPlan":{"stage":"COLLSCAN"}},"ok":1}"#;
    let log = format!("{}\n{explain}\n{explain}\n", record(1));
    assert_eq!(counts(&log, &["--ns", "shop.*"]), ([3, 1, 0, 0, 0, 2], Some(0)));
    assert_eq!(counts(&log, &["--ns", "crm.*"]), ([3, 1, 0, 0, 1, 0], Some(0)));
    assert_eq!(counts(&log, &["--ns", "x.*"]), ([3, 1, 0, 0, 1, 2], Some(2)));
}

#[test]
fn logs_of_other_programs_and_scripts_of_queries_are_no_logs_of_a_server() {
    for text in [
        "2026-11-30T08:17:00.001+01:00  INFO 1 --- [main] c.x.App : started\n2026-11-30T08:17:00.002+01:00  INFO 1 --- x\n",
        "{\"level\":\"info\",\"text\":\"started\",\"time\":\"2026-11-30T08:17:00.001Z\"}\n",
        "db.orders.find({ a: 1 })\n\ndb.orders.find({ a: 2 })\n",
    ] {
        let output = shardlint(&["check", "--fail-on", "never", "-"], Some(text.as_bytes()));
        let told = String::from_utf8_lossy(&output.stderr).into_owned();
        assert!(told.contains("nothing in `-` is understood"), "{told}");
        assert_eq!(output.status.code(), Some(2), "{text}");
    }
    let with_a_record = format!("2026-11-30T08:17:00.001+01:00 started\n{}\n", record(1));
    assert_eq!(counts(&with_a_record, &[]), ([2, 1, 1, 0, 0, 0], Some(0)));
}
