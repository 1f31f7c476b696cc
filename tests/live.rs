//! Lints what a real mongod logs. The official driver runs a workload with known classes against it, and the built program
//! must give each operation its class, account for every line, and point at bytes that say what it claims.
//! Needs a mongod (`tests/live/install-mongod`); without one the tests say that they were skipped.

#![allow(clippy::unwrap_used)] // A test that cannot go on has failed.

#[path = "live/cluster.rs"]
mod cluster;
#[path = "live/gate.rs"]
mod gate;
#[path = "live/server.rs"]
mod server;
#[path = "live/workload.rs"]
mod workload;

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;
use std::process::{Command, Output, Stdio};

use cluster::Cluster;
use mongodb::bson::{Bson, Document, doc};
use serde_json::{Value, json};
use server::Server;
use workload::{CASES, HASHED, RANGED};

/// `check` with the keys of the workload declared.
fn check(arguments: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_shardlint"));
    command.arg("check");
    for (database, key) in [RANGED, HASHED] {
        command.args(["--shard-key", &format!("{database}.*={key}")]);
    }
    command.args(arguments);
    command
}

fn output(mut command: Command) -> Output {
    command.output().unwrap()
}

fn report(log: &Path) -> Value {
    let run = output(check(&["--format", "json", log.to_str().unwrap()]));
    assert_eq!(run.status.code(), Some(1), "the broadcasts fail the run: {}", String::from_utf8_lossy(&run.stderr));
    serde_json::from_slice(&run.stdout).unwrap()
}

fn list<'a>(report: &'a Value, member: &str) -> &'a [Value] {
    report[member].as_array().map(Vec::as_slice).unwrap()
}

fn number(report: &Value, member: &str) -> u64 {
    report["summary"][member].as_u64().unwrap_or_else(|| panic!("no `{member}` in the summary"))
}

#[test]
fn a_log_of_a_real_server_is_judged_accounted_for_and_pointed_into() {
    let Some(mongod) = server::installed("live") else { return };
    let server = Server::start(&mongod, &[]);
    workload::run(|database| server.client.database(database));
    workload::run_a_long_list(&server.client.database(RANGED.0));
    let log = server.log("workload.log");
    let text = fs::read(&log).unwrap();
    let report = report(&log);

    every_case_has_its_class(&report);
    the_end_of_a_cut_filter_is_not_guessed(&report);
    the_counts_are_those_of_a_plain_reading(&report, &text);
    labels_cut_out_their_snippets(&report, &text);
    the_broadcast_names_the_missing_field_and_the_application(&report);
    assert_eq!(report["summary"]["server_version"], "6.0.5");
    assert_eq!(report["summary"]["version_assumed"], false);
    a_pipe_and_one_thread_give_the_same_bytes(&log, &text);
    a_run_without_findings_ends_with_0(&log);
}

fn every_case_has_its_class(report: &Value) {
    let mut wrong = Vec::new();
    for case in CASES {
        let namespace = format!("{}.{}", case.database, case.name);
        let of_case = |shape: &&Value| shape["namespace"] == *namespace && shape["operation"] == case.operation;
        let classes: Vec<&Value> = list(report, "shapes").iter().filter(of_case).map(|shape| &shape["class"]).collect();
        if classes != [case.class] {
            wrong.push(format!("{namespace} {}: {classes:?}, not {}", case.operation, case.class));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

fn the_end_of_a_cut_filter_is_not_guessed(report: &Value) {
    let cut = list(report, "shapes").iter().find(|shape| shape["namespace"] == "ranged.long_list").unwrap();
    assert_eq!(cut["class"], "unknown", "the key stands behind the place where the server cut the record");
}

fn the_counts_are_those_of_a_plain_reading(report: &Value, text: &[u8]) {
    let rows = text.split(|byte| *byte == b'\n').filter(|line| !line.is_empty());
    let rows: Vec<Value> = rows.map(|line| serde_json::from_slice(line).unwrap()).collect();
    let count = |wanted: &dyn Fn(&Value) -> bool| rows.iter().filter(|row| wanted(row)).count() as u64;
    assert_eq!(number(report, "lines"), rows.len() as u64);
    assert_eq!(number(report, "slow_queries"), count(&|row| row["id"] == 51803));
    assert_eq!(number(report, "truncated"), count(&|row| row["id"] == 51803 && row["truncated"].is_object()));
    assert_eq!(number(report, "truncated"), 1);
    assert_eq!(number(report, "not_understood"), 0);
    assert_eq!(number(report, "slow_queries") + number(report, "other_records"), number(report, "lines"));

    let classes = report["summary"]["classes"].as_object().unwrap();
    let judged: u64 = classes.values().map(|class| class["count"].as_u64().unwrap()).sum();
    let left_out: u64 =
        ["duplicates", "internal", "not_queries", "via_router"].map(|part| number(report, part)).iter().sum();
    assert_eq!(judged + left_out, number(report, "slow_queries"));

    let mut of_shapes = BTreeMap::<&str, u64>::new();
    for shape in list(report, "shapes") {
        for (class, count) in shape["classes"].as_object().unwrap() {
            *of_shapes.entry(class).or_default() += count.as_u64().unwrap();
        }
    }
    let broadcasts = classes["broadcast"]["count"].as_u64().unwrap();
    assert_eq!(of_shapes.get("broadcast"), Some(&broadcasts));
}

fn labels_cut_out_their_snippets(report: &Value, text: &[u8]) {
    let labels = list(report, "diagnostics").iter().flat_map(|diagnostic| list(diagnostic, "labels"));
    let mut seen = 0;
    for label in labels.filter(|label| label["location"]["path"].as_str().unwrap().ends_with("workload.log")) {
        let at = |member: &str| usize::try_from(label["location"][member].as_u64().unwrap()).unwrap();
        let (start, end) = (at("byte_start"), at("byte_end"));
        assert_eq!(std::str::from_utf8(&text[start..end]).unwrap(), label["snippet"]);
        let lines_before = text[..start].iter().filter(|byte| **byte == b'\n').count();
        let line_start = text[..start].iter().rposition(|byte| *byte == b'\n').map_or(0, |newline| newline + 1);
        assert_eq!((at("line"), at("column")), (lines_before + 1, start - line_start + 1));
        seen += 1;
    }
    assert!(seen >= 10, "only {seen} labels point into the log");
}

fn the_broadcast_names_the_missing_field_and_the_application(report: &Value) {
    let wanted = |d: &&Value| d["code"] == "SL101" && d["namespace"] == "ranged.find_by_no_key";
    let diagnostic = list(report, "diagnostics").iter().find(wanted).expect("a broadcast without a key is SL101");
    let said = format!("{} {}", diagnostic["message"], diagnostic["help"]);
    assert!(said.contains("`customerId`"), "{said}");
    assert_eq!(diagnostic["comment"], "app/orders.rs:41");
    assert_eq!(diagnostic["severity"], "error");
    assert_eq!(diagnostic["labels"][0]["snippet"], r#"{"status":"new"}"#);
}

fn a_pipe_and_one_thread_give_the_same_bytes(log: &Path, text: &[u8]) {
    let path = log.to_str().unwrap();
    let all_threads = output(check(&["--format", "json", path])).stdout;
    assert_eq!(output(check(&["--format", "json", "--threads", "1", path])).stdout, all_threads);
    let mut piped = check(&["--format", "json", "-"]);
    piped.stdin(Stdio::from(fs::File::open(log).unwrap()));
    let piped: Value = serde_json::from_slice(&output(piped).stdout).unwrap();
    let from_file: Value = serde_json::from_slice(&all_threads).unwrap();
    assert_eq!(piped["shapes"], from_file["shapes"], "{} bytes of log", text.len());
    assert_eq!(piped["summary"]["classes"], from_file["summary"]["classes"]);
}

fn a_run_without_findings_ends_with_0(log: &Path) {
    let run = output(check(&["--ns", "ranged.find_by_the_full_key", log.to_str().unwrap()]));
    assert_eq!(run.status.code(), Some(0), "{}", String::from_utf8_lossy(&run.stdout));
    let run = output(check(&["--ns", "ranged.find_by_no_key", log.to_str().unwrap()]));
    assert_eq!(run.status.code(), Some(1), "{}", String::from_utf8_lossy(&run.stdout));
}

/// Filters on the keys of [`the_router_asks_the_shards_that_were_foretold`].
fn filters() -> Vec<Document> {
    vec![
        doc! {},
        doc! { "a": 5 },
        doc! { "a": 10 },
        doc! { "a": 5, "b": "x" },
        doc! { "b": "x" },
        doc! { "a": { "$lt": 10 } },
        doc! { "a": { "$lte": 9 } },
        doc! { "a": { "$gt": 20 } },
        doc! { "a": { "$gte": 12, "$lt": 18 } },
        doc! { "a": { "$ne": 5 } },
        doc! { "a": { "$in": [1, 25] } },
        doc! { "a": { "$in": [] } },
        doc! { "a": null },
        doc! { "a": "text" },
        doc! { "a": { "$exists": true } },
        doc! { "a": { "$exists": false } },
        doc! { "$or": [{ "a": 1 }, { "a": 15, "b": "y" }] },
        doc! { "$or": [{ "a": 1 }, { "b": "y" }] },
        doc! { "$and": [{ "a": { "$gt": 3 } }, { "a": { "$lt": 7 } }] },
        doc! { "$expr": { "$eq": ["$a", 15] } },
        doc! { "$expr": { "$gt": ["$a", 15] } },
        doc! { "a": { "$not": { "$gt": 3 } } },
        doc! { "a": { "$type": "number" } },
        doc! { "a": 7.5, "c": { "$gt": 1 } },
    ]
}

#[test]
fn the_router_asks_the_shards_that_were_foretold() {
    let Some(mongod) = server::installed("live") else { return };
    let cluster = Cluster::start(&mongod);
    let (low, high) = (4_611_686_018_427_387_904_i64, -4_611_686_018_427_387_904_i64);
    let collections = [
        ("ranged", doc! { "a": 1 }, vec![doc! { "a": 10 }, doc! { "a": 20 }]),
        ("compound", doc! { "a": 1, "b": 1 }, vec![doc! { "a": 5, "b": "m" }, doc! { "a": 15, "b": Bson::MinKey }]),
        ("hashed", doc! { "a": "hashed" }, vec![doc! { "a": high }, doc! { "a": 0_i64 }, doc! { "a": low }]),
    ];
    let mut cases = Vec::new();
    for (collection, key, edges) in &collections {
        cluster.shard(collection, key, edges);
        let chunks = cluster.chunks(collection);
        for filter in filters() {
            let asked = cluster.asked(collection, &filter);
            let case = json!({
                "id": format!("{collection} {filter}"), "ns": format!("shop.{collection}"), "serverVersion": "6.0.5",
                "shardKey": Bson::from(key.clone()).into_relaxed_extjson(), "chunks": chunks,
                "op": "find", "filter": Bson::from(filter).into_relaxed_extjson(),
            });
            cases.push((case, asked));
        }
    }
    let foretold = route(cases.iter().map(|(case, _)| case));
    assert_eq!(foretold.len(), cases.len());
    let mut wrong = Vec::new();
    for ((case, asked), answer) in cases.iter().zip(&foretold) {
        if answer["shards"] != json!(asked) {
            wrong.push(format!("{}: {}, but the router asked {asked:?}", case["id"], answer["shards"]));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    what_the_routers_log_counts_is_not_contradicted(&cluster);
}

/// The answers of `route --cases`, in order, their shards sorted.
fn route<'a>(cases: impl Iterator<Item = &'a Value>) -> Vec<Value> {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("cases.jsonl");
    fs::write(&file, cases.map(|case| format!("{case}\n")).collect::<String>()).unwrap();
    let run = Command::new(env!("CARGO_BIN_EXE_shardlint")).args(["route", "--cases"]).arg(&file).output().unwrap();
    assert!(run.status.success(), "{}", String::from_utf8_lossy(&run.stderr));
    let lines = String::from_utf8(run.stdout).unwrap();
    let mut answers: Vec<Value> = lines.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    for answer in &mut answers {
        if let Some(shards) = answer["shards"].as_array_mut() {
            shards.sort_by(|a, b| a.as_str().cmp(&b.as_str()));
        }
    }
    answers
}

fn what_the_routers_log_counts_is_not_contradicted(cluster: &Cluster) {
    let log = cluster.router().log("router.log");
    let mut command = Command::new(env!("CARGO_BIN_EXE_shardlint"));
    command.args(["check", "--format", "json", "--shards", "3"]);
    for key in ["shop.ranged={ a: 1 }", "shop.compound={ a: 1, b: 1 }", "shop.hashed={ a: 'hashed' }"] {
        command.args(["--shard-key", key]);
    }
    let run = output({
        command.arg(&log);
        command
    });
    let report: Value = serde_json::from_slice(&run.stdout).unwrap();
    let contradicted: Vec<&Value> = list(&report, "diagnostics").iter().filter(|d| d["code"] == "SL901").collect();
    assert!(contradicted.is_empty(), "{contradicted:#?}");
    let observed = |class: &str| {
        let of_class =
            list(&report, "shapes").iter().filter(|s| s["class"] == class && s["observed_shards"].is_object());
        of_class.map(|shape| shape["observed_shards"]["max"].as_u64().unwrap()).collect::<Vec<_>>()
    };
    assert!(observed("targeted").iter().all(|shards| *shards == 1), "{:?}", observed("targeted"));
    assert!(observed("broadcast").contains(&3), "{:?}", observed("broadcast"));
}
