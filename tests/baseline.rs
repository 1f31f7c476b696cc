//! The gate: what a baseline records, what a run against it calls new, worse, better and gone, and how it ends. The words
//! are those that people rely on in their builds, so each case runs the program.

#![allow(clippy::unwrap_used)] // A test that cannot go on has failed.

#[path = "binary/mod.rs"]
mod binary;

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Output;

use binary::shardlint;
use serde_json::Value;
use tempfile::TempDir;

const KEY: &str = "shop.orders={ customerId: 1 }";

/// A slow query on `namespace` with that filter.
fn find(namespace: &str, filter: &str) -> String {
    query(namespace, "find", &format!(r#""filter":{filter}"#))
}

fn query(namespace: &str, operation: &str, rest: &str) -> String {
    let (database, collection) = namespace.split_once('.').unwrap();
    format!(
        r#"{{"t":{{"$date":"2026-05-14T09:12:03.481+00:00"}},"s":"I","c":"COMMAND","id":51803,"ctx":"conn42","msg":"Slow query","attr":{{"type":"command","ns":"{namespace}","appName":"checkout","command":{{"{operation}":"{collection}",{rest},"$db":"{database}"}},"durationMillis":31}}}}"#
    )
}

/// A folder with files, and the program run in it with the key declared.
struct Project(TempDir);

impl Project {
    fn new() -> Self {
        Self(tempfile::tempdir().unwrap())
    }

    fn path(&self, name: &str) -> PathBuf {
        self.0.path().join(name)
    }

    fn write(&self, name: &str, lines: &[String]) -> String {
        let path = self.path(name);
        fs::write(&path, lines.join("\n") + "\n").unwrap();
        path.display().to_string()
    }

    fn run(&self, arguments: &[&str]) -> Output {
        shardlint(arguments, Some(b""))
    }

    /// A baseline of these records.
    fn baseline(&self, key: &str, lines: &[String]) -> String {
        let log = self.write("old.log", lines);
        let file = self.path("baseline.json").display().to_string();
        let run = self.run(&["baseline", "create", "--shard-key", key, "-o", &file, &log]);
        assert_eq!(run.status.code(), Some(0), "{}", text(&run));
        file
    }

    /// The report of a run on these records against a baseline, and its exit code.
    fn check(&self, key: &str, baseline: &str, lines: &[String], more: &[&str]) -> (Value, i32) {
        let log = self.write("new.log", lines);
        let arguments =
            [&["check", "--format", "json", "--shard-key", key, "--baseline", baseline], more, &[log.as_str()]]
                .concat();
        let run = self.run(&arguments);
        let report = serde_json::from_slice(&run.stdout).unwrap_or_else(|_| panic!("{}", text(&run)));
        (report, run.status.code().unwrap())
    }
}

fn text(run: &Output) -> String {
    String::from_utf8_lossy(&[run.stdout.as_slice(), run.stderr.as_slice()].concat()).into_owned()
}

/// Code, `new`, `was` and `now` of each diagnostic.
fn found(report: &Value) -> Vec<(String, Value, Value, Value)> {
    let diagnostics = report["diagnostics"].as_array().unwrap().iter();
    let row =
        |d: &Value| (d["code"].as_str().unwrap().to_owned(), d["new"].clone(), d["was"].clone(), d["now"].clone());
    diagnostics.map(row).collect()
}

fn changes(report: &Value) -> Vec<(String, String)> {
    let changes = report["baseline"]["changes"].as_array().unwrap().iter();
    let text = |value: &Value| value.as_str().unwrap().to_owned();
    changes.map(|change| (text(&change["change"]), text(&change["shape"]))).collect()
}

fn targeted() -> String {
    find("shop.orders", r#"{"customerId":7}"#)
}

fn broadcast() -> String {
    find("shop.orders", r#"{"status":"new"}"#)
}

#[test]
fn what_the_baseline_knows_does_not_fail_a_run_and_is_not_said_again() {
    let project = Project::new();
    let baseline = project.baseline(KEY, &[targeted(), broadcast()]);
    let (report, code) = project.check(KEY, &baseline, &[targeted(), broadcast()], &[]);
    assert_eq!(code, 0);
    assert_eq!(found(&report)[0].0, "SL101");
    assert!(found(&report).iter().all(|(_, new, ..)| *new == Value::Bool(false)), "{:?}", found(&report));
    let log = project.path("new.log").display().to_string();
    let run = project.run(&["check", "--format", "concise", "--shard-key", KEY, "--baseline", &baseline, &log]);
    assert!(
        text(&run).starts_with("since the baseline: 0 worse, 0 new, 0 better, 0 gone\nno findings; "),
        "{}",
        text(&run)
    );
    assert!(text(&run).contains("in the baseline"), "{}", text(&run));
}

#[test]
fn without_a_baseline_nothing_is_new_or_known() {
    let project = Project::new();
    let log = project.write("new.log", &[broadcast()]);
    let run = project.run(&["check", "--format", "json", "--shard-key", KEY, &log]);
    let report: Value = serde_json::from_slice(&run.stdout).unwrap();
    assert_eq!(report["diagnostics"][0]["new"], Value::Null);
    assert_eq!(report["baseline"], Value::Null);
    assert_eq!(run.status.code(), Some(1));
}

#[test]
fn line_moves_other_literals_longer_lists_and_key_order_keep_a_finding_known() {
    let project = Project::new();
    let before = [find("shop.orders", r#"{"status":"new","kind":{"$in":[1,2]}}"#)];
    let baseline = project.baseline(KEY, &before);
    let padding = r#"{"t":{"$date":"2026-05-14T09:00:00.000+00:00"},"s":"I","c":"NETWORK","id":22943,"ctx":"listener","msg":"Connection accepted","attr":{}}"#;
    let after =
        [padding.to_owned(), padding.to_owned(), find("shop.orders", r#"{"kind":{"$in":[5,6,7,8]},"status":"old"}"#)];
    let (report, code) = project.check(KEY, &baseline, &after, &["--server-version", "5.0"]);
    assert_eq!((code, found(&report).iter().all(|(_, new, ..)| *new == Value::Bool(false))), (0, true));
}

#[test]
fn the_same_queries_in_the_text_log_of_an_old_server_and_in_a_rotated_log_of_a_new_one_are_known() {
    let project = Project::new();
    let old = r#"2019-05-14T09:12:03.481+0000 I  COMMAND  [conn42] command shop.orders appName: "checkout" command: find { find: "orders", filter: { status: "new", kind: { $in: [ 1, 2 ] } }, $db: "shop" } planSummary: COLLSCAN keysExamined:0 docsExamined:9 cursorExhausted:1 numYields:0 nreturned:1 reslen:120 locks:{} storage:{} protocol:op_msg 31ms"#;
    let baseline = project.baseline(KEY, &[old.to_owned()]);
    let new = find("shop.orders", r#"{"kind":{"$in":[7,8,9]},"status":"sent"}"#) + "\n";
    let rotated = project.path("mongod.log.2026-05-15T00-00-00.zst");
    fs::write(&rotated, zstd::encode_all(new.as_bytes(), 0).unwrap()).unwrap();
    let arguments = ["check", "--format", "json", "--shard-key", KEY, "--select", "SL101", "--baseline", &baseline];
    let run = project.run(&[&arguments[..], &[rotated.to_str().unwrap()]].concat());
    let report: Value = serde_json::from_slice(&run.stdout).unwrap_or_else(|_| panic!("{}", text(&run)));
    assert_eq!(found(&report), [("SL101".to_owned(), false.into(), Value::Null, Value::Null)]);
    assert_eq!(run.status.code(), Some(0));
}

#[test]
fn a_shape_that_was_targeted_and_is_a_broadcast_is_a_regression_that_says_both() {
    let project = Project::new();
    let baseline = project.baseline(KEY, &[targeted()]);
    let (report, code) = project.check("shop.orders={ region: 1, customerId: 1 }", &baseline, &[targeted()], &[]);
    assert_eq!(code, 1);
    let regression = report["diagnostics"].as_array().unwrap().iter().find(|d| d["code"] == "SL902").unwrap();
    assert_eq!(regression["severity"], "error");
    assert_eq!((&regression["was"], &regression["now"]), (&"targeted".into(), &"broadcast".into()));
    assert_eq!(regression["new"], true);
    assert_eq!(regression["labels"][0]["snippet"], r#"{"customerId":7}"#);
    assert!(regression["message"].as_str().unwrap().contains("was targeted in the baseline"));
    assert_eq!(changes(&report), [("worse".to_owned(), "{ customerId: ? }".to_owned())]);
}

#[test]
fn targeted_to_multi_shard_is_a_regression_too() {
    let project = Project::new();
    let baseline = project.baseline(KEY, &[targeted()]);
    let (report, code) = project.check("shop.orders={ customerId: 1, _id: 1 }", &baseline, &[targeted()], &[]);
    assert_eq!(code, 1);
    assert_eq!(found(&report)[0], ("SL902".to_owned(), true.into(), "targeted".into(), "multi-shard".into()));
}

#[test]
fn a_class_that_was_recorded_among_others_is_no_regression() {
    let project = Project::new();
    let baseline = project.baseline(KEY, &[targeted()]);
    let text = fs::read_to_string(&baseline).unwrap();
    let both =
        text.replace(r#""class": "targeted","#, r#""class": "broadcast", "classes": ["targeted", "broadcast"],"#);
    fs::write(&baseline, both.replace(r#""rules": []"#, r#""rules": ["SL102"]"#)).unwrap();
    let (report, code) = project.check("shop.orders={ region: 1, customerId: 1 }", &baseline, &[targeted()], &[]);
    assert_eq!(found(&report), [("SL102".to_owned(), false.into(), Value::Null, Value::Null)]);
    assert_eq!((code, changes(&report).len()), (0, 0));
}

#[test]
fn a_new_broadcast_is_an_error_even_if_its_rule_is_a_warning() {
    let project = Project::new();
    let baseline = project.baseline(KEY, &[targeted()]);
    let update = r#""updates":[{"q":{"status":"new"},"u":{"$set":{"x":1}},"multi":true}]"#;
    let (report, code) = project.check(KEY, &baseline, &[query("shop.orders", "update", update)], &[]);
    assert_eq!(found(&report), [("SL202".to_owned(), true.into(), Value::Null, "broadcast".into())]);
    assert_eq!((code, &report["diagnostics"][0]["severity"]), (1, &"error".into()));
}

#[test]
fn a_new_targeted_shape_is_told_and_fails_nothing() {
    let project = Project::new();
    let baseline = project.baseline(KEY, &[targeted()]);
    let new = find("shop.orders", r#"{"customerId":7,"status":"new"}"#);
    let (report, code) = project.check(KEY, &baseline, &[targeted(), new], &[]);
    assert_eq!((code, found(&report).len()), (0, 0));
    assert_eq!(changes(&report), [("new".to_owned(), "{ customerId: ?, status: ? }".to_owned())]);
}

#[test]
fn fail_on_class_decides_from_which_class_on_a_new_shape_is_an_error() {
    let project = Project::new();
    let baseline = project.baseline(KEY, &[targeted()]);
    let multi = find("shop.orders", r#"{"customerId":{"$in":[1,2]}}"#);
    let (_, code) = project.check(KEY, &baseline, std::slice::from_ref(&multi), &[]);
    assert_eq!(code, 0);
    let (report, code) = project.check(KEY, &baseline, &[multi], &["--fail-on-class", "multi-shard"]);
    assert_eq!(code, 1);
    assert_eq!(found(&report), [("SL902".to_owned(), true.into(), Value::Null, "multi-shard".into())]);
}

#[test]
fn a_rule_that_speaks_of_a_known_shape_for_the_first_time_is_new() {
    let project = Project::new();
    let baseline = project.baseline(KEY, &[broadcast()]);
    let text = fs::read_to_string(&baseline).unwrap();
    fs::write(&baseline, text.replace("\"SL101\"", "\"SL112\"")).unwrap();
    let (report, code) = project.check(KEY, &baseline, &[broadcast()], &[]);
    assert_eq!(found(&report)[0], ("SL101".to_owned(), true.into(), Value::Null, Value::Null));
    assert_eq!(code, 1);
}

#[test]
fn better_and_gone_shapes_are_told_and_pruned_and_their_reasons_go_with_them() {
    let project = Project::new();
    let other = find("shop.orders", r#"{"kind":1}"#);
    let baseline = project.baseline("shop.orders={ region: 1 }", &[targeted(), broadcast(), other]);
    let (report, code) = project.check(KEY, &baseline, &[targeted(), broadcast()], &[]);
    assert_eq!(code, 0);
    let told = [("better", "{ customerId: ? }"), ("gone", "{ kind: ? }")];
    assert_eq!(changes(&report), told.map(|(kind, shape)| (kind.to_owned(), shape.to_owned())));
    let log = project.path("new.log").display().to_string();
    let run = project.run(&["baseline", "prune", "--shard-key", KEY, "--baseline", &baseline, &log]);
    assert_eq!(run.status.code(), Some(0), "{}", text(&run));
    let (report, _) = project.check(KEY, &baseline, &[targeted(), broadcast()], &[]);
    assert_eq!(changes(&report), []);
    // What is better must stay so.
    let (report, code) = project.check("shop.orders={ region: 1 }", &baseline, &[targeted()], &[]);
    assert!(found(&report).iter().any(|(code, ..)| code == "SL902"));
    assert_eq!(code, 1);
}

#[test]
fn prune_adds_nothing_and_update_drops_nothing() {
    let project = Project::new();
    let baseline = project.baseline(KEY, &[targeted(), broadcast()]);
    let new = find("shop.orders", r#"{"kind":1}"#);
    let log = project.write("new.log", &[targeted(), new]);
    let shapes = |file: &str| -> Vec<String> {
        let baseline: Value = serde_json::from_slice(&fs::read(file).unwrap()).unwrap();
        baseline["shapes"].as_array().unwrap().iter().map(|s| s["shape"].as_str().unwrap().to_owned()).collect()
    };
    let (pruned, updated) = (project.path("pruned.json"), project.path("updated.json"));
    for (command, target) in [("prune", &pruned), ("update", &updated)] {
        let target = target.to_str().unwrap();
        let run = project.run(&["baseline", command, "--shard-key", KEY, "--baseline", &baseline, "-o", target, &log]);
        assert_eq!(run.status.code(), Some(0), "{}", text(&run));
    }
    assert_eq!(shapes(pruned.to_str().unwrap()), ["{ customerId: ? }"]);
    assert_eq!(shapes(updated.to_str().unwrap()), ["{ customerId: ? }", "{ kind: ? }", "{ status: ? }"]);
}

#[test]
fn update_keeps_reasons_and_leaves_entries_alone_of_which_only_the_count_would_change() {
    let project = Project::new();
    let baseline = project.baseline(KEY, &[broadcast()]);
    let with_reason = fs::read_to_string(&baseline)
        .unwrap()
        .replace("\"count\": 1\n", "\"count\": 1,\n      \"reason\": \"a report\"\n");
    fs::write(&baseline, &with_reason).unwrap();
    let log = project.write("new.log", &[broadcast(), broadcast(), broadcast()]);
    let run = project.run(&["baseline", "update", "--shard-key", KEY, "-o", &baseline, &log]);
    assert_eq!(run.status.code(), Some(0), "{}", text(&run));
    assert_eq!(fs::read_to_string(&baseline).unwrap(), with_reason);
    assert!(with_reason.contains("a report"));
}

#[test]
fn a_baseline_is_the_same_bytes_at_any_number_of_threads_and_is_valid() {
    let project = Project::new();
    let logs: Vec<&str> = binary::corpus_logs().iter().map(|log| log.path.to_str().unwrap()).collect();
    let schema = Path::new(env!("CARGO_MANIFEST_DIR")).join("docs/schema/baseline.json");
    let schema: Value = serde_json::from_slice(&fs::read(schema).unwrap()).unwrap();
    let of = |threads: &str| {
        let file = project.path(&format!("{threads}.json"));
        let arguments =
            [&["baseline", "create", "-j", threads, "-o", file.to_str().unwrap()], &binary::declarations()[..], &logs];
        let run = project.run(&arguments.concat());
        assert_eq!(run.status.code(), Some(0), "{}", text(&run));
        fs::read(file).unwrap()
    };
    assert_eq!(of("1"), of("4"));
    let written: Value = serde_json::from_slice(&of("1")).unwrap();
    jsonschema::draft202012::validate(&schema, &written).unwrap_or_else(|error| panic!("{error}"));
    assert!(written["shapes"].as_array().unwrap().len() > 10);
}

#[test]
fn findings_on_declarations_are_known_by_rule_namespace_and_subject() {
    let project = Project::new();
    let script = |file: &str, text: &str| {
        let path = project.path(file);
        fs::write(&path, text).unwrap();
        path.display().to_string()
    };
    let key = "sh.shardCollection(\"shop.users\", { region: 1 });\n";
    let index = "db.getSiblingDB(\"shop\").users.createIndex({ email: 1 }, { unique: true });\n";
    let (old, file) = (script("old.js", &format!("{key}{index}")), project.path("b.json").display().to_string());
    let run = project.run(&["baseline", "create", "-o", &file, &old]);
    assert_eq!(run.status.code(), Some(0), "{}", text(&run));
    // Moved to other lines of another file it is the same finding; another index is not.
    let moved = script("moved.js", &format!("// a comment\n\n{key}\n{index}"));
    let run = project.run(&["check", "--format", "json", "--baseline", &file, &moved]);
    assert_eq!(run.status.code(), Some(0), "{}", text(&run));
    let other = script("other.js", &format!("{key}{index}{}", index.replace("email", "phone")));
    let run = project.run(&["check", "--format", "json", "--baseline", &file, &other]);
    assert_eq!(run.status.code(), Some(1), "{}", text(&run));
}

#[test]
fn two_logs_are_compared_without_a_file() {
    let project = Project::new();
    let old = project.write("before.log", &[targeted(), find("shop.orders", r#"{"kind":1}"#)]);
    let new = project.write("after.log", &[targeted(), broadcast()]);
    let run = project.run(&["baseline", "diff", "--format", "json", "--shard-key", KEY, &old, &new]);
    let diff: Value = serde_json::from_slice(&run.stdout).unwrap_or_else(|_| panic!("{}", text(&run)));
    assert_eq!((&diff["new"], &diff["gone"], &diff["worse"]), (&1.into(), &1.into(), &0.into()));
    assert_eq!(diff["changes"][0]["shape"], "{ status: ? }");
    assert_eq!(run.status.code(), Some(1));
    let run = project.run(&["baseline", "diff", "--shard-key", KEY, &old, &old]);
    assert_eq!((run.status.code(), text(&run).as_str()), (Some(0), "0 worse, 0 new, 0 better, 0 gone\n"));
}

#[test]
fn databases_of_test_suites_are_mapped_before_anything_is_compared() {
    let project = Project::new();
    let baseline = project.baseline(KEY, &[targeted(), broadcast()]);
    let lines = [find("shop_test_7f3a.orders", r#"{"customerId":7}"#)];
    let (_, code) = project.check(KEY, &baseline, &lines, &["--ns-map", "shop_test_*=shop"]);
    assert_eq!(code, 0);
    let log = project.path("new.log").display().to_string();
    let run = project.run(&["check", "--shard-key", "*.orders={ customerId: 1 }", "--baseline", &baseline, &log]);
    assert_eq!(run.status.code(), Some(2));
    let said = text(&run);
    assert!(said.contains("none of the namespaces of"), "{said}");
    assert!(said.contains("`shop.orders` is in the baseline, `shop_test_7f3a.orders` is queried"), "{said}");
}

#[test]
fn a_filter_does_not_hide_that_the_names_are_wrong() {
    let project = Project::new();
    let baseline = project.baseline(KEY, &[targeted()]);
    let key = "*.orders={ customerId: 1 }";
    let quick = find("shop_test_1.orders", r#"{"customerId":7}"#).replace(":31}", ":1}");
    let lines = [quick, find("shop_test_1.orders", r#"{"customerId":7}"#)];
    assert_eq!(project.check(key, &baseline, &lines, &["--min-duration", "10"]).1, 2);
    assert_eq!(project.check(key, &baseline, &lines, &["--min-duration", "100"]).1, 0);
}

#[test]
fn a_log_without_queries_is_no_clean_run_against_a_baseline() {
    let project = Project::new();
    let baseline = project.baseline(KEY, &[targeted()]);
    let quiet = r#"{"t":{"$date":"2026-05-14T09:00:00.000+00:00"},"s":"I","c":"NETWORK","id":22943,"ctx":"listener","msg":"Connection accepted","attr":{}}"#;
    let (_, code) = project.check(KEY, &baseline, &[quiet.to_owned()], &[]);
    assert_eq!(code, 2);
}

#[test]
fn a_baseline_that_cannot_be_used_ends_the_run_with_its_place() {
    let project = Project::new();
    let log = project.write("new.log", &[targeted()]);
    let said = |content: &str| {
        let file = project.path("b.json");
        fs::write(&file, content).unwrap();
        let run = project.run(&["check", "--shard-key", KEY, "--baseline", file.to_str().unwrap(), &log]);
        assert_eq!(run.status.code(), Some(2), "{}", text(&run));
        text(&run)
    };
    assert!(said("").contains("b.json:1:1: the file is empty"));
    assert!(said("{\"version\": 1}").contains("this is no baseline"));
    assert!(
        said("{\n  \"tool\": \"shardlint-baseline\",\n  \"version\": 2\n}").contains("b.json:3:3: format 2 is newer")
    );
    assert!(said("{\n  \"tool\": \"shardlint-baseline\",\n=======").contains("b.json:3:1: "));
    let run = project.run(&["check", "--shard-key", KEY, "--baseline", "no-such-baseline.json", &log]);
    assert_eq!(run.status.code(), Some(2));
}

#[test]
fn nothing_is_recorded_of_a_run_that_failed() {
    let project = Project::new();
    let log = project.write("new.log", &[targeted()]);
    let file = project.path("b.json");
    let run =
        project.run(&["baseline", "create", "--shard-key", "shop.order={ a: 1 }", "-o", file.to_str().unwrap(), &log]);
    assert_eq!(run.status.code(), Some(2), "{}", text(&run));
    assert!(!Path::new(&file).exists());
}

#[test]
fn limits_are_kept_or_exceeded_by_count_and_by_time_for_all_or_for_some() {
    let project = Project::new();
    let log = project.write("new.log", &[targeted(), targeted(), targeted(), broadcast()]);
    let code = |limit: &str, fail_on: &str| {
        let arguments = [
            "check",
            "--shard-key",
            KEY,
            "--ignore",
            "SL1",
            "--fail-on",
            fail_on,
            "--max-broadcast-share",
            limit,
            &log,
        ];
        let run = project.run(&arguments);
        (run.status.code().unwrap(), text(&run))
    };
    for kept in ["25%", "25", "25%:time", "shop.*=25%", "app:^check=25%:count", "crm.*=0%", "app:^batch=0%"] {
        assert_eq!(code(kept, "error").0, 0, "{kept}");
    }
    for exceeded in ["24.9%", "24", "2%:time", "shop.*=0%", "app:^check=5%"] {
        let (code, said) = code(exceeded, "error");
        assert_eq!(code, 1, "{exceeded}");
        assert!(said.contains("error: broadcasts are 25 %"), "{said}");
    }
    assert_eq!(code("0%", "never").0, 0, "findings of any kind never fail that run");
    assert_eq!(code("two", "error").0, 2);
}

#[test]
fn a_run_that_forgot_the_declarations_of_its_baseline_is_not_green() {
    let project = Project::new();
    let lines = [find("shop.orders", r#"{"customerId":1}"#)];
    let baseline = project.baseline(KEY, &lines);
    let log = project.write("new.log", &lines);
    let run = project.run(&["check", "--baseline", &baseline, &log]);
    assert_eq!(run.status.code(), Some(2), "{}", text(&run));
    assert!(text(&run).contains("no shard key is declared"), "{}", text(&run));
}

#[test]
fn a_byte_order_mark_does_no_harm_to_a_baseline() {
    let project = Project::new();
    let lines = [find("shop.orders", r#"{"customerId":1}"#)];
    let baseline = project.baseline(KEY, &lines);
    let marked = ["\u{feff}", &fs::read_to_string(&baseline).unwrap()].concat();
    fs::write(&baseline, marked).unwrap();
    let log = project.write("new.log", &lines);
    let run = project.run(&["check", "--shard-key", KEY, "--baseline", &baseline, &log]);
    assert_eq!(run.status.code(), Some(0), "{}", text(&run));
}

#[test]
fn a_baseline_never_takes_the_place_of_another_file() {
    let project = Project::new();
    let log = project.write("new.log", &[find("shop.orders", r#"{"customerId":1}"#)]);
    let before = fs::read(&log).unwrap();
    let run = project.run(&["baseline", "create", "--shard-key", KEY, "-o", &log, &log]);
    assert_eq!(run.status.code(), Some(2), "{}", text(&run));
    assert!(text(&run).contains("is no baseline"), "{}", text(&run));
    assert_eq!(fs::read(&log).unwrap(), before);
}

#[test]
fn prune_keeps_what_filters_left_out() {
    let project = Project::new();
    let lines = [find("shop.orders", r#"{"customerId":1}"#), find("shop.orders", r#"{"status":1}"#)];
    let baseline = project.baseline(KEY, &lines);
    let before = fs::read(&baseline).unwrap();
    let log = project.write("new.log", &lines);
    for filter in [["--min-duration", "100"], ["--app", "nobody"], ["--since", "2030-01-01"]] {
        let arguments = ["baseline", "prune", "--shard-key", KEY, "--baseline", &baseline, &log];
        let run = project.run(&[&arguments[..], &filter].concat());
        assert_eq!(run.status.code(), Some(2), "{}", text(&run));
        assert_eq!(fs::read(&baseline).unwrap(), before);
    }
}

#[test]
fn a_build_whose_log_never_arrived_is_not_green() {
    let project = Project::new();
    let baseline = project.baseline(KEY, &[find("shop.orders", r#"{"customerId":1}"#)]);
    let run = project.run(&["check", "--shard-key", KEY, "--baseline", &baseline]);
    assert_eq!(run.status.code(), Some(2), "{}", text(&run));
    fs::write(project.path("sharding.js"), "sh.shardCollection(\"shop.orders\", { customerId: 1 });\n").unwrap();
    let declarations = project.path("sharding.js").display().to_string();
    let run = project.run(&["check", "--baseline", &baseline, &declarations]);
    assert_eq!(run.status.code(), Some(0), "declarations alone are a whole job: {}", text(&run));
}
