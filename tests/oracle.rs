//! Holds routing against the recorded truth: what live servers did with thousands of commands, the hashes they computed,
//! and the router's own tests, restated. Recordings are in `tests/data`, compressed.

#![allow(clippy::unwrap_used)] // A test that cannot go on has failed.

use std::collections::BTreeSet;
use std::fs::File;
use std::io::Read;

use serde_json::{Value as Json, json};
use shardlint::model::Value;
use shardlint::routing::{Class, Verdict, hash_value, route_case};
use shardlint::syntax::{ext_json, parse_case};

/// Members of a row that hold an answer, and so must not reach the router.
const ANSWERS: [&str; 19] = [
    "shardsHit",
    "explainShards",
    "explainStage",
    "mergeType",
    "mergeShards",
    "nShards",
    "error",
    "staleRetries",
    "name",
    "shardsHit605",
    "error605",
    "expectShards",
    "expectFanOut",
    "expectError",
    "serverShape",
    "note",
    "twoPhase",
    "expectNShards",
    "expectExplainStage",
];

fn rows(name: &str) -> Vec<Json> {
    let path = format!("{}/tests/data/{name}.jsonl.zst", env!("CARGO_MANIFEST_DIR"));
    let mut text = String::new();
    zstd::Decoder::new(File::open(path).unwrap()).unwrap().read_to_string(&mut text).unwrap();
    parsed(&text)
}

fn parsed(text: &str) -> Vec<Json> {
    text.lines().filter(|line| !line.trim().is_empty()).map(|line| serde_json::from_str(line).unwrap()).collect()
}

/// The restated cases of one kind.
fn restated(kinds: &[&str]) -> Vec<Json> {
    let kind = |row: &Json| row.get("kind").and_then(Json::as_str).unwrap_or("routing").to_owned();
    rows("routing-cases").into_iter().filter(|row| kinds.contains(&kind(row).as_str())).collect()
}

/// What is asked of the router: the row without its answers, its operation by the command's name.
fn question(row: &Json) -> Json {
    let mut question = row.clone();
    let members = question.as_object_mut().unwrap();
    members.retain(|name, _| !ANSWERS.contains(&name.as_str()));
    let spelled = match row["op"].as_str().unwrap() {
        "updateOne" | "replaceOne" => Some(("update", "multi", json!(false))),
        "updateMany" => Some(("update", "multi", json!(true))),
        "deleteOne" => Some(("delete", "limit", json!(1))),
        "deleteMany" => Some(("delete", "limit", json!(0))),
        _ => None,
    };
    if let Some((op, name, value)) = spelled {
        members.insert("op".into(), json!(op));
        members.entry(name).or_insert(value);
    }
    let version = ["serverVersion", "maxVersion", "minVersion"].iter().find_map(|name| row.get(name)).cloned();
    members.insert("serverVersion".into(), version.unwrap_or(json!("8.0")));
    members.entry("ns").or_insert(json!("test.c"));
    let owners = strings(row["chunks"].as_array().unwrap().iter().map(|chunk| &chunk["shard"]));
    members.entry("allShards").or_insert(json!(owners));
    question
}

fn strings<'a>(values: impl IntoIterator<Item = &'a Json>) -> BTreeSet<String> {
    values.into_iter().map(|value| value.as_str().unwrap().to_owned()).collect()
}

fn route(question: &Json) -> Verdict {
    route_case(&parse_case(&question.to_string()).unwrap())
}

/// How a verdict disagrees with an observed row.
fn observed_difference(row: &Json, verdict: &Verdict) -> Option<String> {
    let hit = strings(row["shardsHit"].as_array().unwrap());
    let shards: Option<BTreeSet<String>> = verdict.shards.clone().map(|shards| shards.into_iter().collect());
    let code = verdict.error.map(|error| i64::from(error.code));
    let observed = row.get("error").filter(|error| error.is_object()).map(|error| error["code"].as_i64().unwrap());
    let agrees = match observed {
        Some(expected) if hit.is_empty() => code == Some(expected),
        // A shard failed, and others may not have been asked any more.
        Some(_) => shards.as_ref().is_some_and(|shards| hit.is_subset(shards)),
        None => code.is_none() && shards.as_ref() == Some(&hit),
    };
    (!agrees).then(|| format!("{}: {shards:?} and error {code:?}, observed {hit:?} and {observed:?}", row["id"]))
}

/// How a verdict disagrees with a restated row.
fn restated_difference(row: &Json, verdict: &Verdict) -> Option<String> {
    let code = verdict.error.map(|error| i64::from(error.code));
    if let Some(expected) = row.get("expectError") {
        let expected = expected["code"].as_i64();
        return (code != expected).then(|| format!("{}: error {code:?}, expected {expected:?}", row["id"]));
    }
    let shards: Option<BTreeSet<String>> = verdict.shards.clone().map(|shards| shards.into_iter().collect());
    let expected = row.get("expectShards").map(|shards| strings(shards.as_array().unwrap()));
    if expected.is_some() && shards != expected {
        return Some(format!("{}: {shards:?}, expected {expected:?}", row["id"]));
    }
    let two_phase = row.get("twoPhase").is_some_and(|expected| *expected != json!(verdict.two_phase));
    two_phase.then(|| format!("{}: two-phase is {}", row["id"], verdict.two_phase))
}

fn assert_agreement(differences: &[String], rows: usize) {
    let shown = differences.iter().take(20).cloned().collect::<Vec<_>>().join("\n");
    assert!(differences.is_empty(), "{} of {rows} rows disagree:\n{shown}", differences.len());
}

#[test]
fn every_recorded_command_goes_where_the_server_sent_it() {
    for (name, at_least) in [("routing-6.0", 6_800), ("routing-6.0.27-diff", 120)] {
        let rows = rows(name);
        assert!(rows.len() > at_least, "{name} holds {} rows", rows.len());
        let differences: Vec<_> =
            rows.iter().filter_map(|row| observed_difference(row, &route(&question(row)))).collect();
        assert_agreement(&differences, rows.len());
    }
}

#[test]
fn what_random_operations_brought_to_light_is_routed_as_the_server_does() {
    let rows = parsed(include_str!("data/differential-6.0.5.jsonl"));
    assert!(rows.len() > 80, "{} rows", rows.len());
    let differences: Vec<_> = rows.iter().filter_map(|row| observed_difference(row, &route(&question(row)))).collect();
    assert_agreement(&differences, rows.len());
}

#[test]
fn what_no_patch_changed_is_routed_alike_by_the_later_patch() {
    let changed: BTreeSet<String> = rows("routing-6.0.27-diff").iter().map(|row| row["id"].to_string()).collect();
    let is_left_out = |row: &Json| {
        changed.contains(&row["id"].to_string())
            || (row.to_string().contains("$$NOW") && row["shardKey"].to_string().contains("hashed"))
    };
    let rows: Vec<Json> = rows("routing-6.0").into_iter().filter(|row| !is_left_out(row)).collect();
    let later = |row: &Json| {
        let mut question = question(row);
        question["serverVersion"] = json!("6.0.27");
        route(&question)
    };
    let differences: Vec<_> = rows.iter().filter_map(|row| observed_difference(row, &later(row))).collect();
    assert_agreement(&differences, rows.len());
}

#[test]
fn the_routers_own_tests_hold_here_too() {
    let rows = restated(&["routing", "insert"]);
    assert!(rows.len() > 200);
    let differences: Vec<_> = rows.iter().filter_map(|row| restated_difference(row, &route(&question(row)))).collect();
    assert_agreement(&differences, rows.len());
}

#[test]
fn taking_the_chunks_away_never_changes_the_class() {
    let mut rows = rows("routing-6.0");
    rows.extend(restated(&["routing", "insert"]));
    let mut differences = Vec::new();
    for row in &rows {
        let mut question = question(row);
        let class = route(&question).class;
        question.as_object_mut().unwrap().remove("chunks");
        let blind = route(&question);
        if blind.class != class {
            differences.push(format!("{}: {class} with chunks, {} without", row["id"], blind.class));
        }
        if blind.shards.as_ref().is_some_and(|shards| !shards.is_empty()) {
            differences.push(format!("{}: shards {:?} without chunks", row["id"], blind.shards));
        }
    }
    assert_agreement(&differences, rows.len());
}

#[test]
fn a_targeted_read_asks_one_shard_at_most() {
    let rows = rows("routing-6.0");
    let is_read = |row: &Json| matches!(row["op"].as_str(), Some("find" | "aggregate"));
    let spread = |row: &Json| {
        let verdict = route(&question(row));
        let shards = verdict.shards.unwrap_or_default();
        (verdict.class == Class::Targeted && shards.len() > 1).then(|| format!("{}: {shards:?}", row["id"]))
    };
    let differences: Vec<_> = rows.iter().filter(|row| is_read(row)).filter_map(spread).collect();
    assert_agreement(&differences, rows.len());
}

#[test]
fn hashes_are_those_of_the_server() {
    let value = |json: &Json| ext_json::parse(&json.to_string(), 0).unwrap().value;
    let rows = rows("hash-6.0");
    assert!(rows.len() > 80);
    for row in rows {
        let Value::Int64(expected) = value(&row["hash"]) else { panic!("a hash is a 64-bit integer") };
        assert_eq!(hash_value(&value(&row["value"])), expected, "{}", row["value"]);
    }
}
