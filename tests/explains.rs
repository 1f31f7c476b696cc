//! Explain output of real servers: every form of it is understood, its verdict is the expected one, what the router was seen to
//! do agrees with the verdict, and findings point at their evidence.

#![allow(clippy::unwrap_used)] // A test that cannot go on has failed.

use std::collections::BTreeSet;
use std::fs::File;
use std::path::Path;

use serde_json::Value as Json;

mod binary;

/// The explains of one version, each with its name.
fn explains(version: &str) -> Vec<(String, String)> {
    let packed = Path::new(env!("CARGO_MANIFEST_DIR")).join(format!("tests/data/explain/{version}.txt.zst"));
    let text = String::from_utf8(zstd::decode_all(File::open(packed).unwrap()).unwrap()).unwrap();
    let parts = text.split("=== ").skip(1).map(|part| part.split_once('\n').unwrap());
    parts.map(|(name, text)| (name.to_owned(), text.to_owned())).collect()
}

fn check(declarations: &[&str], text: &str) -> Json {
    let mut arguments = vec!["check", "--format", "json"];
    arguments.extend(declarations);
    arguments.push("-");
    serde_json::from_slice(&binary::shardlint(&arguments, Some(text.as_bytes())).stdout).unwrap()
}

/// The one class that was counted.
fn class(report: &Json) -> &str {
    let classes = report["summary"]["classes"].as_object().unwrap();
    let counted: Vec<_> =
        classes.iter().filter(|(_, class)| class["count"] != 0).map(|(name, _)| name.as_str()).collect();
    assert_eq!(counted.len(), 1, "{}", report["summary"]);
    counted[0]
}

/// What each recorded operation is on a collection with the key `{ customerId: 1 }`, by the first word of its name.
const EXPECTED: [(&str, &str); 39] = [
    ("agg-facet", "targeted"),
    ("agg-geonear", "broadcast"),
    ("agg-group", "multi-shard"),
    ("agg-lookup", "targeted"),
    ("agg-match-only", "targeted"),
    ("agg-sort-limit", "broadcast"),
    ("agg-unionwith", "targeted"),
    ("agg-window", "broadcast"),
    ("aggregate", "multi-shard"),
    ("aggregate-lookup", "targeted"),
    ("count", "broadcast"),
    ("count-range", "multi-shard"),
    ("delete", "targeted"),
    ("distinct", "broadcast"),
    ("find-allPlans", "targeted"),
    ("find-blocking-sort", "multi-shard"),
    ("find-collation", "broadcast"),
    ("find-collscan", "broadcast"),
    ("find-collscan-sort", "broadcast"),
    ("find-covered", "multi-shard"),
    ("find-elemmatch", "broadcast"),
    ("find-eof", "undeclared"),
    ("find-eq-sort", "targeted"),
    ("find-executionStats", "multi-shard"),
    ("find-geo", "broadcast"),
    ("find-hashed", "targeted"),
    ("find-idhack", "broadcast"),
    ("find-in-range", "multi-shard"),
    ("find-nor-ne", "broadcast"),
    ("find-or", "broadcast"),
    ("find-or-multiplan", "targeted"),
    ("find-regex", "broadcast"),
    ("find-skip-limit", "broadcast"),
    ("find-text", "broadcast"),
    ("findAndModify", "targeted"),
    ("findandmodify", "targeted"),
    ("remove", "targeted"),
    ("update", "targeted"),
    ("update-upsert", "targeted"),
];

#[test]
fn every_explain_of_a_mongod_has_the_class_of_its_query() {
    let mut seen = BTreeSet::new();
    for version in ["4.4.2", "5.0.4", "6.0.5", "6.0.27"] {
        for (name, text) in explains(version) {
            let report = check(&["--shard-key", "shop.orders={ customerId: 1 }"], &text);
            let operation = name.split('.').next().unwrap();
            let (operation, expected) = EXPECTED.iter().find(|(known, _)| *known == operation).unwrap();
            assert_eq!(report["summary"]["explains"], 1, "{version} {name}");
            assert_eq!(report["summary"]["not_understood"], 0, "{version} {name}");
            assert_eq!(report["summary"]["server_version"], version, "{name}");
            assert_eq!(class(&report), *expected, "{version} {name}");
            seen.insert(*operation);
        }
    }
    assert_eq!(seen.len(), EXPECTED.len(), "{seen:?}");
}

/// The shards of a router's explain, by a plain look at the document; `None` where mongosh printed it.
fn observed(text: &str) -> Option<BTreeSet<String>> {
    let explain: Json = serde_json::from_str(text).ok()?;
    let list = explain["queryPlanner"]["winningPlan"]["shards"].as_array();
    let names = list.map(|list| list.iter().map(|shard| shard["shardName"].as_str().unwrap().to_owned()).collect());
    names.or_else(|| explain["shards"].as_object().map(|shards| shards.keys().cloned().collect()))
}

fn cluster(folder: &Path) -> Vec<String> {
    let packed = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data/dumps");
    let unpacked = ["config.collections", "config.chunks", "config.shards"].map(|name| {
        let path = folder.join(format!("{name}.jsonl"));
        let bytes = zstd::decode_all(File::open(packed.join(format!("{name}.jsonl.zst"))).unwrap()).unwrap();
        std::fs::write(&path, bytes).unwrap();
        path.to_str().unwrap().to_owned()
    });
    unpacked.into_iter().flat_map(|path| ["--schema".to_owned(), path]).collect()
}

#[test]
fn the_shards_that_a_router_asked_are_those_of_the_verdict() {
    let folder = tempfile::TempDir::new().unwrap();
    let schemas = cluster(folder.path());
    let schemas: Vec<&str> = schemas.iter().map(String::as_str).collect();
    let mut counts = BTreeSet::new();
    for (name, text) in explains("6.0.5-sharded") {
        let report = check(&schemas, &text);
        let shape = &report["shapes"][0];
        let foretold: BTreeSet<String> =
            shape["shards"].as_array().unwrap().iter().map(|shard| shard.as_str().unwrap().to_owned()).collect();
        if let Some(observed) = observed(&text) {
            assert_eq!(foretold, observed, "{name}");
        }
        assert_eq!(shape["observed_shards"]["max"], foretold.len(), "{name}");
        let codes =
            report["diagnostics"].as_array().unwrap().iter().map(|diagnostic| diagnostic["code"].as_str().unwrap());
        assert!(codes.into_iter().all(|code| code != "SL901"), "{name}");
        counts.insert((class(&report).to_owned(), foretold.len()));
    }
    let expected = [("broadcast", 4), ("multi-shard", 1), ("multi-shard", 2), ("targeted", 1)];
    assert_eq!(counts, expected.map(|(class, shards)| (class.to_owned(), shards)).into());
}

#[test]
fn a_declared_key_that_is_not_the_clusters_is_contradicted_by_the_list_of_shards() {
    let (_, text) = explains("6.0.5-sharded")
        .into_iter()
        .find(|(name, _)| name == "find-broadcast-sort.queryPlanner.json")
        .unwrap();
    let report = check(&["--shard-key", "shop.orders={ status: 1 }"], &text);
    let contradicted = report["diagnostics"].as_array().unwrap().iter().find(|d| d["code"] == "SL901").unwrap();
    let labels = contradicted["labels"].as_array().unwrap();
    assert_eq!(labels[0]["snippet"], "\"shards\"");
    let bounds = labels.iter().find(|label| label["text"].as_str().unwrap().contains("bound `status`")).unwrap();
    assert!(bounds["snippet"].as_str().unwrap().contains(r#"[\"new\", \"new\"]"#), "{bounds}");
}

#[test]
fn labels_point_at_their_evidence_wherever_it_stands() {
    let mut stages = BTreeSet::new();
    for version in ["4.4.2", "6.0.5", "6.0.5-sharded"] {
        for (name, text) in explains(version) {
            let report = check(&["--shard-key", "shop.orders={ region: 1 }"], &text);
            for label in report["diagnostics"].as_array().unwrap().iter().flat_map(|d| d["labels"].as_array().unwrap())
            {
                let at = |name: &str| usize::try_from(label["location"][name].as_u64().unwrap()).unwrap();
                if label["location"]["path"] == "--shard-key" {
                    continue;
                }
                let snippet = &text[at("byte_start")..at("byte_end")];
                assert_eq!(snippet, label["snippet"].as_str().unwrap(), "{name}");
                let start = text[..at("byte_start")].rfind('\n').map_or(0, |newline| newline + 1);
                assert_eq!(at("column"), at("byte_start") - start + 1, "{name}: {label}");
                assert_eq!(at("line"), text[..start].matches('\n').count() + 1, "{name}: {label}");
                assert_eq!(at("end_line"), text[..at("byte_end")].matches('\n').count() + 1, "{name}: {label}");
                stages.extend(["COLLSCAN", "IXSCAN"].into_iter().filter(|stage| *stage == snippet));
                assert!(!snippet.contains("SHARDING_FILTER") || snippet.contains('{'), "{name}: {label}");
            }
        }
    }
    assert_eq!(stages, BTreeSet::from(["COLLSCAN", "IXSCAN"]));
}

#[test]
fn many_explains_in_one_file_are_told_apart_from_the_text_between_them() {
    for version in ["4.4.2", "6.0.5"] {
        let all = explains(version);
        let text: String = all.iter().map(|(name, text)| format!("=== {name}\n{text}")).collect();
        let report = check(&["--shard-key", "shop.orders={ customerId: 1 }"], &text);
        let summary = &report["summary"];
        assert_eq!(summary["explains"], all.len(), "{version}");
        assert_eq!(summary["not_understood"], all.len(), "the names are no records");
        assert_eq!(summary["lines"], text.lines().count());
        let counted = summary["classes"].as_object().unwrap().values().map(|class| class["count"].as_u64().unwrap());
        assert_eq!(counted.sum::<u64>(), all.len() as u64);
        // Each document on one line, among lines of a log.
        let lines = all.iter().filter_map(|(_, text)| serde_json::from_str::<Json>(text).ok());
        let log = r#"{"t":{"$date":"2026-11-30T08:17:00.824+00:00"},"s":"I","c":"NETWORK","id":1,"ctx":"a","msg":"x"}"#;
        let lines: Vec<String> = lines.map(|explain| format!("{explain}\n{log}\n")).collect();
        let report = check(&["--shard-key", "shop.orders={ customerId: 1 }"], &lines.concat());
        assert_eq!(report["summary"]["explains"], lines.len());
        assert_eq!(report["summary"]["other_records"], lines.len());
        assert_eq!(report["summary"]["not_understood"], 0);
    }
}

#[test]
fn a_long_explain_is_shown_on_a_few_rows_under_its_true_place() {
    let (name, text) =
        explains("6.0.5-sharded").into_iter().find(|(name, _)| name == "find-id.queryPlanner.json").unwrap();
    assert!(text.lines().count() > 200, "{name}");
    let arguments =
        ["check", "--format", "pretty", "--color", "never", "--shard-key", "shop.orders={ customerId: 1 }", "-"];
    let shown = String::from_utf8(binary::shardlint(&arguments, Some(text.as_bytes())).stdout).unwrap();
    let frame: String = shown.lines().take_while(|line| !line.contains('╯')).map(|line| format!("{line}\n")).collect();
    insta::assert_snapshot!(frame);
}

/// Forms of which no recording is among the tests, in short.
#[test]
fn explains_of_other_releases_tell_their_query_and_the_shards() {
    let shard = |name: &str, plan: &str| {
        format!(
            r#"{{"shardName":"{name}","serverInfo":{{"version":"7.0.4"}},"namespace":"shop.orders","parsedQuery":{{"status":{{"$eq":"new"}}}},"winningPlan":{plan}}}"#
        )
    };
    let scan = r#"{"stage":"SHARDING_FILTER","inputStage":{"stage":"COLLSCAN"}}"#;
    let two = format!("[{},{}]", shard("s0", scan), shard("s1", scan));
    let write = r#""command":{"update":"orders","updates":[{"q":{"status":"new"},"u":{"$set":{"a":1}}}],"$db":"shop"}"#;
    for (explain, operation, class, asked) in [
        // A write in two phases: the first asks, the second writes.
        (
            format!(
                r#"{{"queryPlanner":{{"winningPlan":{{"stage":"SHARD_WRITE","inputStage":{{"stage":"SHARD_MERGE","shards":{two}}},"shards":[{}]}}}},{write}}}"#,
                shard("s1", r#"{"stage":"UPDATE"}"#)
            ),
            "update",
            "broadcast",
            Some(2),
        ),
        // To 4.4 without the command.
        (
            format!(
                r#"{{"queryPlanner":{{"mongosPlannerVersion":1,"winningPlan":{{"stage":"SHARD_MERGE","shards":{two}}}}}}}"#
            ),
            "find",
            "broadcast",
            Some(2),
        ),
        (
            r#"{"needsPrimaryShardMerger":false,"splitPipeline":{"shardsPart":[{"$match":{"customerId":7}},{"$group":{"_id":"$a"}}],"mergerPart":[{"$group":{"_id":"$$ROOT._id","$doingMerge":true}}]},"shards":{"s1":{"host":"h:1","stages":[{"$cursor":{"query":{"customerId":7},"queryPlanner":{"namespace":"shop.orders","parsedQuery":{"customerId":{"$eq":7}},"winningPlan":{"stage":"IXSCAN"}}}}]}},"ok":1}"#.to_owned(),
            "aggregate",
            "targeted",
            Some(1),
        ),
        // To 2.6 without collection and query.
        (
            r#"{ "clusteredType" : "ParallelSort", "shards" : { "h:27021" : [ { "cursor" : "BasicCursor", "n" : 1, "nscanned" : 9 } ], "h:27022" : [ { "cursor" : "BasicCursor", "n" : 1, "nscanned" : 9 } ] }, "n" : 2, "nscanned" : 18, "numShards" : 2, "millis" : 5 }"#.to_owned(),
            "find",
            "unknown",
            Some(2),
        ),
        // As mongosh cuts what is nested deeply.
        (
            "{\n  queryPlanner: { namespace: 'shop.orders', winningPlan: { stage: 'COLLSCAN' } },\n  command: { find: 'orders', filter: { '$and': [Array] }, '$db': 'shop' }\n}".to_owned(),
            "find",
            "unknown",
            None,
        ),
        // A view is what it stands for.
        (
            r#"{"explainVersion":"1","stages":[{"$cursor":{"queryPlanner":{"namespace":"shop.orders","parsedQuery":{"customerId":{"$eq":7}},"winningPlan":{"stage":"IXSCAN"}}}},{"$group":{"_id":"$a"}}],"command":{"aggregate":"recent","pipeline":[],"$db":"shop"}}"#.to_owned(),
            "aggregate",
            "targeted",
            None,
        ),
        (
            r#"{"explainVersion":"2","queryPlanner":{"namespace":"shop.orders","winningPlan":{"queryPlan":{"stage":"FETCH","inputStage":{"stage":"IXSCAN","keyPattern":{"customerId":1},"indexBounds":{"customerId":["[7, 7]"]}}},"slotBasedPlan":{"stages":"[1] nlj"}}},"command":{"find":"orders","filter":{"customerId":7},"$db":"shop"}}"#.to_owned(),
            "find",
            "targeted",
            None,
        ),
    ] {
        let report = check(&["--shard-key", "shop.orders={ customerId: 1 }"], &explain);
        assert_eq!(report["summary"]["explains"], 1, "{explain}");
        let shape = &report["shapes"][0];
        assert_eq!((shape["operation"].as_str(), shape["class"].as_str()), (Some(operation), Some(class)), "{explain}");
        assert_eq!(shape["observed_shards"]["max"].as_u64(), asked, "{explain}");
    }
}

#[test]
fn the_report_on_documents_is_the_same_at_any_number_of_threads() {
    let text: String = ["6.0.5", "4.4.2"].into_iter().flat_map(explains).map(|(_, text)| text).collect();
    let run = |threads: &str| {
        let key = "shop.orders={ customerId: 1 }";
        binary::shardlint(&["check", "--format", "json", "-j", threads, "--shard-key", key, "-"], Some(text.as_bytes()))
            .stdout
    };
    let alone = run("1");
    assert!(alone == run("2") && alone == run("5"));
}

/// The router's explain of a find by `status` that three shards answered: what each planned, and what it took.
fn three(plans: [&str; 3], times: Option<[u64; 3]>) -> String {
    let plan = |at: usize| {
        let plan = match plans[at] {
            "COLLSCAN" | "EOF" => format!(r#"{{"stage":"{}"}}"#, plans[at]),
            field => format!(r#"{{"stage":"FETCH","inputStage":{{"stage":"IXSCAN","keyPattern":{{"{field}":1}}}}}}"#),
        };
        format!(
            r#"{{"shardName":"s{at}","namespace":"shop.orders","parsedQuery":{{"status":{{"$eq":"new"}}}},"winningPlan":{plan}}}"#
        )
    };
    // In another order, as servers print it.
    let took = |at: usize| {
        let millis = times.map_or(0, |times| times[at]);
        format!(
            r#"{{"shardName":"s{at}","nReturned":1,"executionTimeMillis":{millis},"totalDocsExamined":{}}}"#,
            millis * 10
        )
    };
    let stats = times.map_or_else(String::new, |_| {
        let list = [took(2), took(0), took(1)].join(",");
        format!(r#""executionStats":{{"executionTimeMillis":9,"executionStages":{{"stage":"SHARD_MERGE","shards":[{list}]}}}},"#)
    });
    let list = [plan(0), plan(1), plan(2)].join(",");
    format!(
        r#"{{"queryPlanner":{{"winningPlan":{{"stage":"SHARD_MERGE","shards":[{list}]}}}},{stats}"command":{{"find":"orders","filter":{{"status":"new"}},"$db":"shop"}}}}"#
    )
}

/// What SL409 says, and the texts that it marks.
fn uneven(explain: &str) -> Option<(String, Vec<String>)> {
    let report = check(&["--shard-key", "shop.orders={ customerId: 1 }"], explain);
    let found = report["diagnostics"].as_array().unwrap().iter().find(|found| found["code"] == "SL409")?;
    let marks = found["labels"].as_array().unwrap().iter().map(|label| label["snippet"].as_str().unwrap().to_owned());
    Some((found["message"].as_str().unwrap().to_owned(), marks.collect()))
}

#[test]
fn a_shard_with_another_plan_is_named_whichever_it_is() {
    let (message, marks) = uneven(&three(["status", "COLLSCAN", "status"], None)).unwrap();
    let planned =
        "`find` on `shop.orders` is planned as `COLLSCAN` on `s1`, and as `IXSCAN { status: 1 }` on the others";
    assert_eq!((message.as_str(), marks), (planned, vec!["COLLSCAN".to_owned(), "IXSCAN".to_owned()]));
    let (message, _) = uneven(&three(["customerId", "status", "status"], None)).unwrap();
    assert!(message.contains("planned as `IXSCAN { customerId: 1 }` on `s0`"), "{message}");
    let (message, _) = uneven(&three(["status", "customerId", "COLLSCAN"], None)).unwrap();
    let planned = "as `IXSCAN { customerId: 1 }` on `s1`, as `COLLSCAN` on `s2`, and as `IXSCAN { status: 1 }` on `s0`";
    assert!(message.ends_with(planned), "{message}");
    assert_eq!(uneven(&three(["status", "EOF", "status"], None)), None, "it has no such collection");
}

/// The search for what is near begins anew as often as it finds too little.
#[test]
fn a_plan_that_reads_the_same_index_more_often_is_no_other_plan() {
    let scan = r#"{"stage":"IXSCAN","keyPattern":{"place":"2dsphere"}}"#;
    let shard = |name: &str, scans: usize| {
        let stages = vec![scan; scans].join(",");
        format!(
            r#"{{"shardName":"{name}","namespace":"shop.orders","winningPlan":{{"stage":"GEO_NEAR_2DSPHERE","inputStages":[{stages}]}}}}"#
        )
    };
    let explain = |shards: &str| {
        format!(
            r#"{{"queryPlanner":{{"winningPlan":{{"stage":"SHARD_MERGE_SORT","shards":[{shards}]}}}},"command":{{"find":"orders","filter":{{"status":"new"}},"$db":"shop"}}}}"#
        )
    };
    assert_eq!(uneven(&explain(&[shard("s0", 5), shard("s1", 2)].join(","))), None);
}

#[test]
fn a_shard_that_is_much_slower_by_the_same_plan_is_named_with_its_time() {
    let alike = ["status"; 3];
    let (message, marks) = uneven(&three(alike, Some([20, 900, 45]))).unwrap();
    let took = "takes `s1` 900 ms, 9000 documents examined, where the others take 20 to 45 ms";
    assert!(message.ends_with(took) && marks == ["900"], "{message} {marks:?}");
    assert_eq!(uneven(&three(alike, Some([20, 119, 1]))), None, "less than 100 ms more");
    assert_eq!(uneven(&three(alike, Some([400, 1100, 400]))), None, "less than three times as long");
}

#[test]
fn shards_of_a_healthy_cluster_are_not_uneven() {
    for (name, text) in explains("6.0.5-sharded") {
        assert_eq!(uneven(&text), None, "{name}");
    }
}

#[test]
fn a_heavy_merge_says_where_the_explain_has_it() {
    let explain = r#"{"mergeType":"anyShard","splitPipeline":{"shardsPart":[],"mergerPart":[]},"shards":{"s0":{"stages":[{"$cursor":{"queryPlanner":{"namespace":"shop.orders","winningPlan":{"stage":"COLLSCAN"}},"executionStats":{"nReturned":5}}},{"$group":{"_id":"$product"},"usedDisk":true}]},"s1":{"stages":[{"$cursor":{"queryPlanner":{"namespace":"shop.orders","winningPlan":{"stage":"COLLSCAN"}}}}]}},"command":{"aggregate":"orders","pipeline":[{"$match":{"status":"new"}},{"$group":{"_id":"$product"}}],"$db":"shop"}}"#;
    let report = check(&["--shard-key", "shop.orders={ customerId: 1 }"], explain);
    let merge = report["diagnostics"].as_array().unwrap().iter().find(|found| found["code"] == "SL313");
    let message = merge.map(|merge| merge["message"].as_str().unwrap().to_owned());
    assert_eq!(
        message.as_deref(),
        Some(
            "`aggregate` on `shop.orders`: the `$group` of several shards is merged in one place, on disk: a shard that the router picks at random"
        )
    );
}
