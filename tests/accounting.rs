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
