//! The formats that programs read.

use serde_json::Value;
use shardlint::report::{Diagnostic, Format, RenderOptions, Report};

use super::build::{diagnostic, example, report, shape, slow_query, text};

fn json(report: &Report) -> Value {
    serde_json::from_str(&text(report, Format::Json, &RenderOptions::default())).expect("one object")
}

fn keys(value: &Value) -> Vec<&str> {
    let mut keys: Vec<_> = value.as_object().expect("an object").keys().map(String::as_str).collect();
    keys.sort_unstable();
    keys
}

/// A diagnostic on the second line of an input, and that input.
fn on_the_second_line() -> (Vec<u8>, Diagnostic) {
    let first = "{\"msg\":\"größe\"}\n".as_bytes();
    let record = slow_query(
        "{\"find\":\"訂單\",\"filter\":{\"größe\":\"é\u{9b}\"},\"$db\":\"shop\"}",
        "\"planSummary\":\"COLLSCAN\"",
    );
    let labels: [(&[u8], &str); 2] =
        [("{\"größe\":\"é\u{9b}\"}".as_bytes(), "no key"), (b"\"COLLSCAN\"", "reads everything")];
    let mut example = example(record.as_bytes(), 2, &labels);
    for label in &mut example.labels {
        label.location.byte_start += first.len() as u64;
        label.location.byte_end += first.len() as u64;
    }
    ([first, record.as_bytes()].concat(), diagnostic("a broadcast", example))
}

#[test]
fn json_has_the_members_of_the_contract() {
    let (_, diagnostic) = on_the_second_line();
    let mut report = report(vec![diagnostic]);
    report.shapes.push(shape("broadcast", 843_000));
    let value = json(&report);
    assert_eq!(keys(&value), ["baseline", "diagnostics", "limits", "shapes", "summary", "tool", "version"]);
    assert_eq!(value["version"], 1);
    assert_eq!(value["tool"]["name"], "shardlint");
    let diagnostic = &value["diagnostics"][0];
    assert_eq!(
        keys(diagnostic),
        [
            "code",
            "comment",
            "count",
            "fingerprint",
            "first_seen",
            "help",
            "labels",
            "last_seen",
            "location",
            "message",
            "millis",
            "namespace",
            "new",
            "now",
            "operation",
            "rule",
            "sent_from",
            "severity",
            "shape",
            "was"
        ]
    );
    for null in ["new", "was", "now", "comment", "sent_from"] {
        assert_eq!(diagnostic[null], Value::Null);
    }
    assert_eq!(diagnostic["severity"], "error");
    assert_eq!(diagnostic["location"], diagnostic["labels"][0]["location"]);
    assert_eq!(
        keys(&diagnostic["location"]),
        ["byte_end", "byte_start", "column", "end_column", "end_line", "line", "path"]
    );
    let shape = &value["shapes"][0];
    assert_eq!(shape["observed_shards"], serde_json::json!({"min": 12, "max": 12}));
    assert_eq!(shape["shards"], Value::Null);
    assert_eq!(shape["classes"], serde_json::json!({"broadcast": 1204}));
}

#[test]
fn all_six_classes_are_always_there() {
    let value = json(&Report::default());
    let zero = serde_json::json!({"count": 0, "millis": 0});
    for class in ["targeted", "multi-shard", "broadcast", "unknown", "unsharded", "undeclared"] {
        assert_eq!(value["summary"]["classes"][class], zero);
    }
    assert_eq!(keys(&value["summary"]["classes"]).len(), 6);
    assert_eq!(value["summary"]["from"], Value::Null);
}

#[test]
fn byte_ranges_cut_the_snippet_out_of_the_input() {
    let (input, diagnostic) = on_the_second_line();
    let value = json(&report(vec![diagnostic]));
    for label in value["diagnostics"][0]["labels"].as_array().expect("labels") {
        let at = |name: &str| usize::try_from(label["location"][name].as_u64().expect("a number")).expect("an offset");
        assert_eq!(&input[at("byte_start")..at("byte_end")], label["snippet"].as_str().expect("text").as_bytes());
        let line = input.split(|byte| *byte == b'\n').nth(at("line") - 1).expect("the line");
        assert!(line[at("column") - 1..].starts_with(label["snippet"].as_str().expect("text").as_bytes()));
    }
}

#[test]
fn a_snippet_of_invalid_utf_8_is_lossy() {
    let labels: [(&[u8], &str); 1] = [(b"\"a\xffb\"", "invalid")];
    let record = b"{\"filter\":\"a\xffb\"}";
    let value = json(&report(vec![diagnostic("m", example(record, 1, &labels))]));
    assert_eq!(value["diagnostics"][0]["labels"][0]["snippet"], "\"a\u{fffd}b\"");
    let location = &value["diagnostics"][0]["location"];
    assert_eq!((location["byte_start"].as_u64(), location["byte_end"].as_u64()), (Some(10), Some(15)));
}

#[test]
fn json_escapes_what_terminals_act_on_and_changes_no_value() {
    let (_, mut diagnostic) = on_the_second_line();
    let message = "a\u{1b}[31m\u{9b}b\u{202e}c\u{7f}é訂";
    diagnostic.message = message.to_owned();
    let output = text(&report(vec![diagnostic]), Format::Json, &RenderOptions::default());
    assert!(output.contains("\"a\\u001b[31m\\u009bb\\u202ec\\u007fé訂\""));
    let value: Value = serde_json::from_str(&output).expect("one object");
    assert_eq!(value["diagnostics"][0]["message"], message);
}

#[test]
fn jsonl_is_one_object_per_line_and_the_summary_is_last() {
    let (_, diagnostic) = on_the_second_line();
    let mut report = report(vec![diagnostic]);
    report.shapes = vec![shape("broadcast", 843_000), shape("targeted", 5)];
    let output = text(&report, Format::Jsonl, &RenderOptions::default());
    let lines: Vec<Value> = output.lines().map(|line| serde_json::from_str(line).expect("an object")).collect();
    let types: Vec<_> = lines.iter().map(|line| line["type"].as_str().expect("a type")).collect();
    assert_eq!(types, ["diagnostic", "shape", "shape", "summary"]);
    let whole = json(&report);
    for (line, same) in
        lines.iter().zip([&whole["diagnostics"][0], &whole["shapes"][0], &whole["shapes"][1], &whole["summary"]])
    {
        let mut line = line.clone();
        line.as_object_mut().expect("an object").remove("type");
        assert_eq!(&line, same);
    }
}

#[test]
fn concise_lines_name_the_place_first() {
    let (_, mut diagnostic) = on_the_second_line();
    diagnostic.message = "two\nlines".to_owned();
    let mut declared = diagnostic.clone();
    (declared.count, declared.millis) = (0, 0);
    let report = report(vec![diagnostic, declared]);
    let output = text(&report, Format::Concise, &RenderOptions { unicode: false, ..RenderOptions::default() });
    let lines: Vec<&str> = output.lines().collect();
    assert_eq!(lines.len(), 3);
    assert_eq!(lines[0], "mongod.log:2:225: error: two\\nlines [SL101] (1,204x, 31 % of time)");
    assert_eq!(lines[1], "mongod.log:2:225: error: two\\nlines [SL101]");
    assert!(lines[2].starts_with("2 errors; 48,211 lines: "));
}
