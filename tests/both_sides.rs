//! Logs of a router and of its shards in one run: an operation counts once, with the fan-out that the router saw and the
//! plan that only its shards know.

#![allow(clippy::unwrap_used)] // A test that cannot go on has failed.

use std::process::{Command, Output};

use serde_json::Value;

/// What the router logged, and what each of two shards did, in files of their own.
fn check(logs: &[(&str, &str)]) -> Value {
    let run = run(logs, &["--format", "json"]);
    serde_json::from_slice(&run.stdout).unwrap_or_else(|_| panic!("{}", String::from_utf8_lossy(&run.stderr)))
}

fn run(logs: &[(&str, &str)], options: &[&str]) -> Output {
    let folder = tempfile::tempdir().unwrap();
    for (name, line) in logs {
        std::fs::write(folder.path().join(name), format!("{line}\n")).unwrap();
    }
    Command::new(env!("CARGO_BIN_EXE_shardlint"))
        .args(["check", "--shard-key", "shop.orders={ customerId: 1 }"])
        .args(options)
        .args(logs.iter().map(|(name, _)| name).filter(|name| name.ends_with(".log")))
        .current_dir(folder.path())
        .output()
        .unwrap()
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
    let [shape] = &report["shapes"].as_array().unwrap()[..] else { panic!("shown once: {report}") };
    assert_eq!(shape["observed_shards"], serde_json::json!({"min": 2, "max": 2}));
    assert_eq!(shape["plans"], serde_json::json!([{"plan": "COLLSCAN", "count": 2}]));
    let logs = [("mongos.log", ROUTER), ("shard0.log", &one), ("shard1.log", &two)];
    let text = String::from_utf8(run(&logs, &["--format", "pretty"]).stdout).unwrap();
    assert!(text.contains("asked 2 shards, by COLLSCAN"), "{text}");
}

#[test]
fn without_the_router_the_shards_records_are_judged_by_themselves() {
    let one = shard(90_000);
    let report = check(&[("shard0.log", &one)]);
    assert_eq!(report["summary"]["via_router"], 0);
    assert_eq!((found(&report, "SL101").len(), found(&report, "SL407").len()), (1, 1));
}

/// What a shard logged of an operation that came through a router: when it ended, its statement, what names it. The version is
/// that of a shard without a chunk.
fn routed(ended: &str, command: &str, name: &str) -> String {
    format!(
        r#"{{"t":{{"$date":"2024-05-14T{ended}+00:00"}},"s":"I","c":"COMMAND","id":51803,"ctx":"conn7","msg":"Slow query","attr":{{"type":"command","ns":"shop.orders","command":{{{command},"shardVersion":{{"t":{{"$timestamp":{{"t":1,"i":1}}}},"e":{{"$oid":"663b1f0a2c5d4e0012a4b001"}},"v":{{"$timestamp":{{"t":0,"i":0}}}}}},{name}"$db":"shop"}},"planSummary":"COLLSCAN","nreturned":6,"locks":{{}},"durationMillis":20}}}}"#
    )
}

const OPEN: &str = r#""find":"orders","filter":{"status":"open"}"#;
const DONE: &str = r#""find":"orders","filter":{"status":"done"}"#;

fn session(digit: char) -> String {
    let id: String = std::iter::repeat_n(digit, 8).collect();
    format!(r#""lsid":{{"id":{{"$uuid":"{id}-0dfa-474d-8b75-a31a1f54c7f0"}}}},"#)
}

fn key(digit: char) -> String {
    let id: String = std::iter::repeat_n(digit, 8).collect();
    format!(r#""clientOperationKey":{{"$uuid":"{id}-561d-481f-9d80-d795cf62fe4d"}},{}"#, session('a'))
}

/// On how many shards the operations of the only shape were seen: least, greatest, of how many, and how many operations.
fn seen(logs: &[&[String]]) -> Option<[u64; 4]> {
    let texts: Vec<(String, String)> =
        logs.iter().enumerate().map(|(at, lines)| (format!("s{at}.log"), lines.join("\n"))).collect();
    let report = check(&texts.iter().map(|(name, text)| (name.as_str(), text.as_str())).collect::<Vec<_>>());
    let [shape] = &report["shapes"].as_array().unwrap()[..] else { panic!("{report}") };
    let seen = shape["seen_on_shards"].as_object()?;
    Some(["min", "max", "of", "operations"].map(|name| seen[name].as_u64().unwrap()))
}

#[test]
fn an_operation_that_several_shards_logged_is_one_by_its_key_whenever_they_logged_it() {
    let (one, other) = (routed("09:12:03.480", OPEN, &key('1')), routed("09:12:09.480", OPEN, &key('1')));
    let alone = routed("09:12:03.481", OPEN, &key('2'));
    assert_eq!(seen(&[&[one, alone], std::slice::from_ref(&other), std::slice::from_ref(&other)]), Some([1, 3, 3, 2]));
}

#[test]
fn without_a_key_it_is_one_by_its_session_its_statement_and_the_time() {
    let at = |time, command, digit| routed(time, command, &session(digit));
    let first = at("09:12:03.480", OPEN, '1');
    assert_eq!(seen(&[std::slice::from_ref(&first), &[at("09:12:03.530", OPEN, '1')]]), Some([2, 2, 2, 1]));
    assert_eq!(
        seen(&[std::slice::from_ref(&first), &[at("09:12:05.530", OPEN, '1')]]),
        Some([1, 1, 2, 2]),
        "much later"
    );
    assert_eq!(
        seen(&[std::slice::from_ref(&first), &[at("09:12:03.530", OPEN, '2')]]),
        Some([1, 1, 2, 2]),
        "another session"
    );
    assert_eq!(seen(&[&[first], &[at("09:12:03.530", DONE, '1')]]), Some([1, 1, 2, 2]), "another statement");
}

#[test]
fn an_operation_that_a_session_repeats_at_once_is_not_one_on_more_shards() {
    let at = |time| routed(time, OPEN, &session('1'));
    let twice = || [at("09:12:03.480"), at("09:12:03.505")];
    assert_eq!(seen(&[&twice(), &twice()]), Some([2, 2, 2, 2]));
}

#[test]
fn operations_that_name_nothing_are_known_by_statement_and_time() {
    let at = |time, command| routed(time, command, "");
    assert_eq!(seen(&[&[at("09:12:03.480", OPEN)], &[at("09:12:03.530", OPEN)]]), Some([2, 2, 2, 1]));
    assert_eq!(seen(&[&[at("09:12:03.480", OPEN)], &[at("09:12:03.530", DONE)]]), Some([1, 1, 2, 2]));
}

#[test]
fn one_log_alone_tells_nothing_of_other_shards() {
    assert_eq!(seen(&[&[routed("09:12:03.480", OPEN, &key('1'))]]), None);
}

#[test]
fn what_is_seen_does_not_depend_on_threads_or_on_what_is_kept_in_memory() {
    let line = |n: u64, shard: u64| {
        let time = format!("09:{:02}:{:02}.{:03}", n / 6000 % 60, n / 100 % 60, n % 100 * 10 + shard);
        let name = format!(r#""lsid":{{"id":{{"$uuid":"{n:08}-0dfa-474d-8b75-a31a1f54c7f0"}}}},"#);
        routed(&time, &format!(r#""find":"orders","filter":{{"status":"s{n}"}}"#), &name)
    };
    let logs: Vec<String> = (0..3)
        .map(|shard| (0..6_000).filter(|n| shard < 2 || n % 3 == 0).map(|n| line(n, shard) + "\n").collect())
        .collect();
    let logs: Vec<(&str, &str)> =
        ["a.log", "b.log", "c.log"].into_iter().zip(logs.iter().map(String::as_str)).collect();
    let outputs = ["1", "4"].map(|threads| run(&logs, &["--format", "json", "--threads", threads]).stdout);
    assert!(outputs[0] == outputs[1]);
    let report: Value = serde_json::from_slice(&outputs[0]).unwrap();
    let seen = &report["shapes"][0]["seen_on_shards"];
    assert_eq!((&seen["min"], &seen["max"], &seen["of"]), (&2.into(), &3.into(), &3.into()));
    let (named, operations) = (seen["named"].as_u64().unwrap(), seen["operations"].as_u64().unwrap());
    assert!(named == operations && (500..6_000).contains(&operations), "some are left out of {seen}");
}

const STARTED: &str = r#"{"t":{"$date":"2024-05-14T08:00:00.000+00:00"},"s":"I","c":"CONTROL","id":21951,"ctx":"initandlisten","msg":"Options set by command line","attr":{"options":{"replication":{"replSet":"rs7"},"sharding":{"clusterRole":"shardsvr"}}}}"#;

#[test]
fn the_role_of_each_process_is_shown_as_declared_as_it_says_or_as_its_records_show() {
    let (plain, started) = (shard(5), format!("{STARTED}\n{}", shard(5)));
    let logs = [("a.log", plain.as_str()), ("b.log", &started), ("mongos.log", ROUTER), ("x.log", &started)];
    let output = run(&logs, &["--format", "json", "--role", "x*=shard:rs9"]);
    let report: Value = serde_json::from_slice(&output.stdout).unwrap();
    let told: Vec<_> = report["summary"]["processes"]
        .as_array()
        .unwrap()
        .iter()
        .map(|process| ["path", "role", "shard"].map(|name| process[name].as_str().unwrap_or("-").to_owned()).join(" "))
        .collect();
    assert_eq!(told, ["a.log shard -", "b.log shard rs7", "mongos.log router -", "x.log shard rs9"]);
    let text = String::from_utf8(run(&logs, &["--format", "pretty"]).stdout).unwrap();
    assert!(
        text.contains("processes      a.log: shard, b.log: shard rs7, mongos.log: router, x.log: shard rs7"),
        "{text}"
    );
}

#[test]
fn logs_of_one_shard_are_not_taken_for_two() {
    let line = routed("09:12:03.480", OPEN, &key('1'));
    let logs = [("a1.log", line.as_str()), ("a2.log", &line), ("b.log", &line)];
    let output = run(&logs, &["--format", "json", "--role", "a?.log=shard:rs0"]);
    let report: Value = serde_json::from_slice(&output.stdout).unwrap();
    let seen = &report["shapes"][0]["seen_on_shards"];
    assert_eq!((&seen["max"], &seen["of"], &seen["operations"]), (&2.into(), &2.into(), &1.into()));
}

#[test]
fn a_declared_router_tells_the_fan_out_and_a_declared_config_server_nothing() {
    let counts = ROUTER.replace(r#""nShards":2,"#, "");
    let logs = [("q.log", counts.as_str()), ("s.log", &shard(5)), ("c.log", &shard(7))];
    let output = run(&logs, &["--format", "json", "--role", "q.log=router", "--role", "c.log=config"]);
    let report: Value = serde_json::from_slice(&output.stdout).unwrap();
    let summary = &report["summary"];
    assert_eq!((&summary["via_router"], &summary["internal"]), (&1.into(), &1.into()));
    assert_eq!(summary["classes"]["broadcast"]["count"], 1);
}

#[test]
fn a_role_for_no_log_is_refused_and_one_of_the_configuration_is_not() {
    let output = run(&[("a.log", ROUTER)], &["--role", "b.log=router"]);
    assert_eq!(output.status.code(), Some(2));
    assert!(String::from_utf8_lossy(&output.stderr).contains("no log that is read is meant by `b.log=router`"));
    let file = "[roles]\n\"b.log\" = \"router\"\n\"a.log\" = \"shard:rs0\"";
    let output = run(&[("a.log", ROUTER), ("shardlint.toml", file)], &["--format", "json"]);
    let report: Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(report["summary"]["processes"], serde_json::json!([{"path": "a.log", "role": "shard", "shard": "rs0"}]));
    let output = run(&[("a.log", ROUTER), ("shardlint.toml", "[roles]\n\"a.log\" = \"mongos\"")], &[]);
    let said = String::from_utf8(output.stderr).unwrap();
    assert!(said.contains("shardlint.toml:2:11") && said.contains("`mongos` is no role"), "{said}");
}

/// Logs of the shards of a recorded cluster, one of which also has the router's records.
#[test]
fn as_many_shards_are_seen_as_the_router_of_a_recorded_cluster_counted() {
    let folder = tempfile::tempdir().unwrap();
    let logs: Vec<String> = (0..4).map(|shard| format!("shop-shard{shard}.log")).collect();
    for log in &logs {
        let packed = format!("{}/tests/data/mongod/6.0.5-shard-{log}.zst", env!("CARGO_MANIFEST_DIR"));
        let text = zstd::decode_all(std::fs::File::open(packed).unwrap()).unwrap();
        std::fs::write(folder.path().join(log), text).unwrap();
    }
    let run = Command::new(env!("CARGO_BIN_EXE_shardlint"))
        .args(["check", "--format", "json", "--shard-key", "shop.orders={ customerId: 1 }"])
        .args(&logs)
        .current_dir(folder.path())
        .output()
        .unwrap();
    let report: Value = serde_json::from_slice(&run.stdout).unwrap();
    let shapes = report["shapes"].as_array().unwrap().iter();
    let both: Vec<_> =
        shapes.filter(|shape| shape["seen_on_shards"].is_object() && shape["observed_shards"].is_object()).collect();
    assert!(both.len() > 40, "{} shapes", both.len());
    for shape in both {
        let of = |side: &str| ["min", "max"].map(|end| shape[side][end].as_u64().unwrap());
        assert_eq!(of("seen_on_shards"), of("observed_shards"), "{shape}");
    }
}

#[test]
fn many_logs_are_told_by_their_roles() {
    let line = shard(5);
    let names: Vec<String> = (0..9).map(|n| format!("s{n}.log")).collect();
    let mut logs: Vec<(&str, &str)> = names.iter().map(|name| (name.as_str(), line.as_str())).collect();
    logs.push(("mongos.log", ROUTER));
    let text = String::from_utf8(run(&logs, &["--format", "pretty", "--role", "s0.log=shard:rs0"]).stdout).unwrap();
    assert!(text.contains("processes      1 log: router, 8 logs: shard, 1 log: shard rs0"), "{text}");
}

#[test]
fn calls_for_one_shard_that_each_stand_in_the_logs_of_several_contradict_the_key() {
    const KEYED: &str = r#""find":"orders","filter":{"customerId":7}"#;
    let line = |digit| routed("09:12:03.480", KEYED, &key(digit));
    let (both, one) = (format!("{}\n{}", line('1'), line('2')), line('1'));
    let found = |logs: &[(&str, &str)]| found(&check(logs), "SL901").into_iter().cloned().collect::<Vec<_>>();
    let [contradicted] = &found(&[("a.log", &both), ("b.log", &both)])[..] else { panic!("SL901") };
    let said = "`find` on `shop.orders` should reach 1 shard by its filter, and each call is in the logs of 2 or more";
    assert_eq!((&contradicted["message"], &contradicted["count"]), (&said.into(), &4.into()));
    assert_eq!(contradicted["location"]["path"], "--shard-key");
    assert_eq!(found(&[("a.log", &both), ("b.log", &one)]).len(), 0, "one call may have met a chunk that moved");
    assert_eq!(found(&[("a.log", &line('1')), ("b.log", &line('2'))]).len(), 0);
}

#[test]
fn members_of_one_shard_that_both_answered_are_one_shard() {
    let of = |version: &str| {
        let zero = r#""v":{"$timestamp":{"t":0,"i":0}}"#;
        routed("09:12:03.480", OPEN, &key('1')).replace(zero, &format!(r#""v":{{"$timestamp":{{{version}}}}}"#))
    };
    let (one, other) = (of(r#""t":6,"i":1"#), of(r#""t":4,"i":0"#));
    assert_eq!(
        seen(&[std::slice::from_ref(&one), std::slice::from_ref(&one), &[other]]),
        Some([2, 2, 3, 1]),
        "a hedged read"
    );
    assert_eq!(
        seen(&[std::slice::from_ref(&one), &[of(r#""t":0,"i":0"#)], &[of(r#""t":0, "i":0"#)]]),
        Some([3, 3, 3, 1])
    );
}
