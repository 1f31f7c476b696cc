//! Logs of a router and of its shards in one run: an operation counts once, with the fan-out that the router saw and the
//! plan that only its shards know.

#![allow(clippy::unwrap_used)] // A test that cannot go on has failed.

use std::process::Command;

use serde_json::Value;

/// What the router logged, and what each of two shards did, in files of their own.
fn check(logs: &[(&str, &str)]) -> Value {
    let folder = tempfile::tempdir().unwrap();
    for (name, line) in logs {
        std::fs::write(folder.path().join(name), format!("{line}\n")).unwrap();
    }
    let run = Command::new(env!("CARGO_BIN_EXE_shardlint"))
        .args(["check", "--format", "json", "--shard-key", "shop.orders={ customerId: 1 }"])
        .args(logs.iter().map(|(name, _)| name))
        .current_dir(folder.path())
        .output()
        .unwrap();
    serde_json::from_slice(&run.stdout).unwrap()
}

const ROUTER: &str = r#"{"t":{"$date":"2024-05-14T09:12:03.481+00:00"},"s":"I","c":"COMMAND","id":51803,"ctx":"conn42","msg":"Slow query","attr":{"type":"command","ns":"shop.orders","command":{"find":"orders","filter":{"status":"open"},"$db":"shop"},"nShards":2,"nreturned":12,"durationMillis":420}}"#;

fn shard(documents: u32) -> String {
    format!(
        r#"{{"t":{{"$date":"2024-05-14T09:12:03.480+00:00"}},"s":"I","c":"COMMAND","id":51803,"ctx":"conn7","msg":"Slow query","attr":{{"type":"command","ns":"shop.orders","command":{{"find":"orders","filter":{{"status":"open"}},"shardVersion":{{"e":{{"$oid":"663b1f0a2c5d4e0012a4b001"}},"t":{{"$timestamp":{{"t":1,"i":1}}}},"v":{{"$timestamp":{{"t":1,"i":0}}}}}},"$db":"shop"}},"planSummary":"COLLSCAN","keysExamined":0,"docsExamined":{documents},"nreturned":6,"locks":{{}},"durationMillis":400}}}}"#
    )
}

fn found<'a>(report: &'a Value, code: &str) -> Vec<&'a Value> {
    report["diagnostics"].as_array().unwrap().iter().filter(|diagnostic| diagnostic["code"] == code).collect()
}

#[test]
fn the_router_tells_the_fan_out_and_its_shards_the_plan() {
    let (one, two) = (shard(90_000), shard(80_000));
    let report = check(&[("mongos.log", ROUTER), ("shard0.log", &one), ("shard1.log", &two)]);
    assert_eq!(report["summary"]["via_router"], 2);
    let [broadcast] = found(&report, "SL101")[..] else { panic!("{report}") };
    assert_eq!((&broadcast["count"], &broadcast["location"]["path"]), (&1.into(), &"mongos.log".into()));
    let [scan] = found(&report, "SL407")[..] else { panic!("{report}") };
    assert_eq!((&scan["count"], &scan["fingerprint"]), (&2.into(), &broadcast["fingerprint"]));
    assert_eq!(scan["location"]["path"], "shard0.log");
}

#[test]
fn without_the_router_the_shards_records_are_judged_by_themselves() {
    let one = shard(90_000);
    let report = check(&[("shard0.log", &one)]);
    assert_eq!(report["summary"]["via_router"], 0);
    assert_eq!((found(&report, "SL101").len(), found(&report, "SL407").len()), (1, 1));
}
