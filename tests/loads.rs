//! Rules that look at a whole load, or at what dumps measure: what they say, and what they leave alone.

#![allow(clippy::unwrap_used)] // A test that cannot go on has failed.

mod binary;

use serde_json::Value as Json;
use tempfile::TempDir;

/// One call: how long it took, its collection, its command without the collection's name and the database.
type Call<'a> = (u64, &'a str, &'a str);

fn line((millis, collection, command): Call<'_>, second: usize) -> String {
    let command = command.replace("NAME", &format!("\"{collection}\""));
    format!(
        r#"{{"t":{{"$date":"2024-05-14T{:02}:{:02}:{:02}.000+00:00"}},"s":"I","c":"COMMAND","id":51803,"ctx":"conn1","msg":"Slow query","attr":{{"type":"command","ns":"shop.{collection}","command":{{{command},"$db":"shop"}},"nreturned":1,"durationMillis":{millis}}}}}"#,
        second / 3600 % 24,
        second / 60 % 60,
        second % 60,
    ) + "\n"
}

/// What `code` says of a log, with these declarations; further options of `check` behind them.
fn told(code: &str, declarations: &[&str], log: &str, options: &[&str]) -> Vec<Json> {
    let folder = TempDir::new().unwrap();
    let mut arguments = vec!["check".to_owned(), "--isolated".to_owned(), "--format".to_owned(), "json".to_owned()];
    for (at, text) in declarations.iter().enumerate() {
        let name = if text.starts_with("sh.") || text.starts_with("db.") { "js" } else { "txt" };
        let path = folder.path().join(format!("{at}.{name}"));
        std::fs::write(&path, text).unwrap();
        arguments.extend(["--schema".to_owned(), path.to_str().unwrap().to_owned()]);
    }
    arguments.extend(options.iter().map(|option| (*option).to_owned()));
    arguments.push("-".to_owned());
    let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
    let output = binary::shardlint(&arguments, Some(log.as_bytes()));
    let report: Json = serde_json::from_slice(&output.stdout)
        .unwrap_or_else(|_| panic!("{}", String::from_utf8_lossy(&output.stderr)));
    let found = report["diagnostics"].as_array().unwrap().iter();
    found.filter(|found| found["code"] == code).cloned().collect()
}

/// The messages of [`told`].
fn says(code: &str, declarations: &[&str], calls: &[Call<'_>]) -> Vec<String> {
    let log: String = calls.iter().enumerate().map(|(second, call)| line(*call, second)).collect();
    let found = told(code, declarations, &log, &[]);
    found.iter().map(|found| found["message"].as_str().unwrap().to_owned()).collect()
}

/// A line that is no slow query, so that there is a log.
const NOTHING: &str =
    r#"{"t":{"$date":"2024-05-14T08:00:00.000+00:00"},"s":"I","c":"NETWORK","id":1,"ctx":"a","msg":"x"}"#;

const CHUNKS: &str = "[ { _id: 'shop.orders', key: { customerId: 1 } } ]
[ { ns: 'shop.orders', min: { customerId: MinKey }, max: { customerId: 100 }, shard: 'rs0' },
  { ns: 'shop.orders', min: { customerId: 100 }, max: { customerId: 200 }, shard: 'rs1' },
  { ns: 'shop.orders', min: { customerId: 200 }, max: { customerId: MaxKey }, shard: 'rs2' } ]
[ { _id: 'rs0', host: 'a/h:1' }, { _id: 'rs1', host: 'b/h:1' }, { _id: 'rs2', host: 'c/h:1' } ]
[ { _id: 'shop', primary: 'rs2', version: { lastMod: 1 } } ]";

fn by_customer(value: usize) -> String {
    format!(r#""find":NAME,"filter":{{"customerId":{value}}}"#)
}

#[test]
fn a_hot_shard_is_told_with_the_value_that_makes_it_hot_or_with_the_ranges_that_do() {
    let calls = |value: fn(usize) -> usize| -> Vec<String> { (0..30).map(|n| by_customer(value(n))).collect() };
    let hot = calls(|n| if n < 25 { 150 } else { n });
    let log: String = hot.iter().enumerate().map(|(n, call)| line((20, "orders", call), n)).collect();
    let [found] = &told("SL603", &[CHUNKS], &log, &[])[..] else { panic!("one finding") };
    let labels = found["labels"].to_string();
    assert!(labels.contains("83 % of the values asked for `customerId` are `150`, which lies on `rs1`"), "{labels}");
    let spread = calls(|n| if n < 25 { 101 + n } else { n });
    let log: String = spread.iter().enumerate().map(|(n, call)| line((20, "orders", call), n)).collect();
    let [found] = &told("SL603", &[CHUNKS], &log, &[])[..] else { panic!("one finding") };
    assert!(found["help"].as_str().unwrap().starts_with("move ranges from `rs1`"), "{found}");
    let even = calls(|n| 60 * (n % 5));
    let even: Vec<Call<'_>> = even.iter().map(|call| (20, "orders", call.as_str())).collect();
    assert_eq!(says("SL603", &[CHUNKS], &even), [""; 0]);
}

#[test]
fn a_shard_that_is_hot_by_what_is_not_sharded_is_told_with_the_longest_of_it() {
    let keyed: Vec<String> = (0..30).map(|n| by_customer(n * 10)).collect();
    let mut calls: Vec<Call<'_>> = keyed.iter().map(|call| (10, "orders", call.as_str())).collect();
    calls.extend([(300, "sessions", r#""find":NAME,"filter":{"token":7}"#); 4]);
    calls.extend([(100, "carts", r#""find":NAME,"filter":{"user":7}"#); 2]);
    assert_eq!(
        says("SL603", &[CHUNKS], &calls),
        [
            "`rs2` carries 88 % of the time of the cluster, 82 % with 2 collections that are not sharded, of which `shop.sessions` takes 70 %"
        ]
    );
    let moved = format!(
        "{}\n[ {{ _id: 'shop.orders', key: {{ customerId: 1 }} }}, {{ _id: 'shop.sessions', unsplittable: true, key: {{ _id: 1 }} }} ]\n{}",
        CHUNKS.split_once('\n').unwrap().1,
        "[ { ns: 'shop.sessions', min: { _id: MinKey }, max: { _id: MaxKey }, shard: 'rs0' } ]"
    );
    let [message] = &says("SL603", &[&moved], &calls)[..] else { panic!("one finding") };
    assert!(message.starts_with("`rs0` carries"), "{message}");
}

const CUSTOMER: &str = "sh.shardCollection('shop.orders', { customerId: 1 })\n";

/// What SL406 proposes for 30 calls, with these indexes beside that of the key.
fn proposed(indexes: &str, command: &str) -> Vec<String> {
    let declared = format!("{CUSTOMER}db.getSiblingDB('shop').orders.createIndex({{ customerId: 1 }})\n{indexes}");
    let log: String = (0..30).map(|n| line((10, "orders", command), n)).collect();
    let found = told("SL406", &[&declared], &log, &[]);
    found.iter().map(|found| found["help"].as_str().unwrap().to_owned()).collect()
}

fn index(specification: &str) -> String {
    format!("db.getSiblingDB('shop').orders.createIndex({specification})")
}

#[test]
fn an_index_that_only_some_queries_can_use_serves_those_that_may_use_it() {
    const OPEN: &str = r#""find":NAME,"filter":{"status":"open","total":5}"#;
    for (specification, command, serves) in [
        ("{ status: 1 }, { partialFilterExpression: { total: { $gt: 1 } } }", OPEN, true),
        ("{ status: 1 }, { partialFilterExpression: { archived: false } }", OPEN, false),
        ("{ status: 1 }, { partialFilterExpression: { $and: [ { total: 5 }, { archived: false } ] } }", OPEN, false),
        ("{ status: 1 }, { sparse: true }", OPEN, true),
        ("{ at: 1 }, { sparse: true }", r#""find":NAME,"filter":{},"sort":{"at":1}"#, false),
        ("{ at: 1 }", r#""find":NAME,"filter":{},"sort":{"at":1}"#, true),
        ("{ status: 'hashed' }", OPEN, true),
        ("{ status: 'hashed' }", r#""find":NAME,"filter":{"status":{"$gt":"a"}}"#, false),
        ("{ total: 1 }, { hidden: true }", OPEN, false),
        ("{ '$**': 1 }", OPEN, true),
        ("{ 'address.$**': 1 }", OPEN, false),
        ("{ 'address.$**': 1 }", r#""find":NAME,"filter":{"address.zip":"8001"}"#, true),
        ("{ '$**': 1 }, { wildcardProjection: { status: 0, total: 0 } }", OPEN, false),
        ("{ '$**': 1 }, { wildcardProjection: { total: 1 } }", OPEN, true),
        ("{ '$**': 1 }", r#""find":NAME,"filter":{"status":"open"},"sort":{"at":1}"#, false),
        ("{ '$**': 1 }", r#""find":NAME,"filter":{"at":{"$gt":5}},"sort":{"at":1}"#, true),
        ("{ status: 'text' }", OPEN, false),
        (
            "{ status: 1 }, { collation: { locale: 'en', strength: 2 } }",
            r#""find":NAME,"filter":{"status":"open"}"#,
            false,
        ),
        ("{ total: 1 }, { collation: { locale: 'en', strength: 2 } }", r#""find":NAME,"filter":{"total":5}"#, true),
        (
            "{ status: 1 }, { collation: { locale: 'en', strength: 2, caseLevel: false, version: '57.1' } }",
            r#""find":NAME,"filter":{"status":"open"},"collation":{"locale":"en","strength":2}"#,
            true,
        ),
    ] {
        let found = proposed(&index(specification), command);
        assert_eq!(found.is_empty(), serves, "{specification} for {command}: {found:?}");
    }
}

#[test]
fn a_hidden_index_is_to_be_unhidden_and_a_proposal_has_the_collation_that_is_asked_for() {
    let hidden = index("{ status: 1 }, { hidden: true, name: 'old' }");
    assert_eq!(proposed(&hidden, r#""find":NAME,"filter":{"status":"open"}"#), ["unhide `old`, which serves them"]);
    let collated = r#""find":NAME,"filter":{"status":"open"},"collation":{"locale":"en","strength":2}"#;
    let [help] = &proposed(&index("{ status: 1 }"), collated)[..] else { panic!("one proposal") };
    let statement = r#"createIndex({ status: 1 }, { collation: { locale: "en", strength: 2 } })"#;
    assert!(help.contains(statement), "{help}");
}

#[test]
fn the_chunks_of_files_are_known_by_more_than_their_name() {
    let sharded = |name: &str, key: &str| format!("sh.shardCollection('shop.{name}', {key})");
    let by_name = says("SL508", &[&sharded("fs.chunks", "{ n: 1 }")], &[(1, "x", r#""find":NAME,"filter":{}"#)]);
    assert_eq!(by_name, ["`shop.fs.chunks` holds parts of files, and its shard key `{ n: 1 }` has no `files_id`"]);
    let lab = sharded("lab.chunks", "{ sampleId: 1 }");
    let other: Call<'_> = (1, "lab.chunks", r#""find":NAME,"filter":{"sampleId":7}"#);
    assert_eq!(says("SL508", &[&lab], &[other]), [""; 0], "it only happens to be named so");
    let files: Call<'_> = (1, "lab.chunks", r#""find":NAME,"filter":{"files_id":7},"sort":{"n":1}"#);
    let log: String = (0..3).map(|n| line(files, n)).collect();
    let [found] = &told("SL508", &[&lab], &log, &[])[..] else { panic!("calls say that it holds files") };
    assert_eq!((&found["count"], &found["severity"]), (&3.into(), &"warning".into()));
    let beside = format!("{lab}\n{}", sharded("lab.files", "{ _id: 1 }"));
    assert_eq!(says("SL508", &[&beside], &[other]).len(), 1, "its files are declared");
    let split = told("SL508", &[&sharded("lab.chunks", "{ files_id: 1, at: 1 }")], &line(other, 1), &[]);
    assert_eq!(split[0]["severity"], "info");
    for fit in ["{ files_id: 1, n: 1 }", "{ files_id: 1 }", "{ files_id: 'hashed' }"] {
        assert_eq!(says("SL508", &[&sharded("fs.chunks", fit)], &[other]), [""; 0], "{fit}");
    }
}

#[test]
fn one_value_for_all_calls_is_hot_and_values_that_are_asked_for_alike_are_not() {
    let calls = |values: usize| -> Vec<String> { (0..60).map(|n| by_customer(n % values)).collect() };
    let say = |values: usize| {
        let calls = calls(values);
        says("SL502", &[CUSTOMER], &calls.iter().map(|call| (1, "orders", call.as_str())).collect::<Vec<_>>())
    };
    assert_eq!(say(1), ["100 % of the values that calls on `shop.orders` give for `customerId` are `0`"]);
    assert_eq!((say(2).len(), say(3).len(), say(60).len()), (0, 0, 0));
}

#[test]
fn ends_of_ranges_are_compared_by_type_and_are_no_values() {
    let mixed: [Call<'_>; 2] = [
        (1, "orders", r#""find":NAME,"filter":{"customerId":7}"#),
        (1, "orders", r#""find":NAME,"filter":{"customerId":{"$gte":"5","$lt":"6"}}"#),
    ];
    let [message] = &says("SL108", &[CUSTOMER], &mixed)[..] else { panic!("two types") };
    assert!(message.ends_with("given values of 2 types: string (2×), number (1×)"), "{message}");
    let alike = [mixed[0], (1, "orders", r#""find":NAME,"filter":{"customerId":{"$gte":5,"$lt":6.5}}"#)];
    assert_eq!(says("SL108", &[CUSTOMER], &alike), [""; 0]);
    let ranges = [(1, "orders", r#""find":NAME,"filter":{"customerId":{"$gte":5}}"#); 100];
    assert_eq!(says("SL502", &[CUSTOMER], &ranges), [""; 0], "the end of a range is no value that is asked for");
}

#[test]
fn a_grouping_that_was_printed_twice_counts_its_values_once() {
    let rows = "[ { _id: 'open', count: 900 }, { _id: 'done', count: 90 }, { _id: 'new', count: 10 } ]\n";
    let typed =
        "shop> db.getSiblingDB('shop').orders.aggregate([{ $group: { _id: '$status', count: { $sum: 1 } } }])\n";
    let declared = ["sh.shardCollection('shop.orders', { status: 1 })", &format!("{typed}{rows}{typed}{rows}")];
    let [message] = &says("SL501", &declared, &[(1, "orders", r#""find":NAME,"filter":{}"#)])[..] else { panic!() };
    assert!(message.contains("has 3 different values (counted)"), "{message}");
}

/// What SL602 says of so many megabytes on each shard, in a cluster of three.
fn skewed(megabytes: &[u64]) -> Vec<String> {
    let part = |(at, size): (usize, &u64)| {
        format!(
            "{{ shardName: 'rs{at}', numOrphanedDocs: 0, numOwnedDocuments: 5, ownedSizeBytes: {}, orphanedSizeBytes: 0 }}",
            size << 20
        )
    };
    let parts: Vec<String> = megabytes.iter().enumerate().map(part).collect();
    let dump = format!(
        "[ {{ _id: 'shop.orders', key: {{ customerId: 1 }} }} ]
[ {{ _id: 'rs0', host: 'a/h:1' }}, {{ _id: 'rs1', host: 'b/h:1' }}, {{ _id: 'rs2', host: 'c/h:1' }} ]
{{ ns: 'shop.orders', shards: [ {} ] }}",
        parts.join(", ")
    );
    says("SL602", &[&dump], &[(1, "orders", r#""find":NAME,"filter":{}"#)])
}

#[test]
fn a_small_collection_may_be_uneven_and_one_shard_that_holds_all_of_a_large_one_is_told() {
    let one_of_three = "holds 100 % of the bytes of `shop.orders`, where 33 % is a fair share of 3 shards";
    assert_eq!(skewed(&[5000]), [format!("`rs0` {one_of_three}")]);
    assert_eq!(skewed(&[300]), [""; 0], "too small to be spread");
    assert_eq!(skewed(&[100, 400, 10]).len(), 1);
    assert_eq!(skewed(&[100, 400, 30]), [""; 0], "less than three ranges apart");
    assert_eq!(skewed(&[1000, 1100, 900]), [""; 0]);
}

const FAILED: &str = r#"{"t":{"$date":"2024-05-14T09:12:03.481+00:00"},"s":"I","c":"SHARDING","id":21872,"ctx":"Balancer","msg":"Migration failed","attr":{"migrateInfo":"shop.orders: [{ a: 1 }, { a: 2 }), from rs0, to rs1","error":"ChunkTooBig: x"}}"#;

#[test]
fn messages_on_chunks_heed_the_filters() {
    let count = |options: &[&str]| told("SL601", &[], &format!("{FAILED}\n"), options).len();
    assert_eq!(count(&[]), 1);
    assert_eq!((count(&["--ns", "shop.*"]), count(&["--ns", "crm.*"])), (1, 0));
    assert_eq!((count(&["--since", "2024-05-14T09:00"]), count(&["--until", "2024-05-14T09:00"])), (1, 0));
    assert_eq!(count(&["--app", "web"]), 0, "no application asked for it");
    let own = FAILED.replace("shop.orders: [{", "config.system.sessions: [{");
    assert_eq!(told("SL601", &[], &format!("{own}\n"), &[]).len(), 0, "the server's own collection");
}

#[test]
fn jumbo_chunks_are_told_whether_or_not_the_key_is_declared_and_only_of_the_namespaces_asked_for() {
    let dump = "[ { ns: 'shop.orders', min: { a: MinKey }, max: { a: MaxKey }, shard: 'rs0', jumbo: true },
  { ns: 'crm.users', min: { b: MinKey }, max: { b: MaxKey }, shard: 'rs0' } ]
[ { _id: 'crm.users', key: { b: 1 } } ]";
    let found = |options: &[&str]| told("SL601", &[dump], &format!("{NOTHING}\n"), options).len();
    assert_eq!(found(&[]), 1);
    assert_eq!((found(&["--ns", "shop.*"]), found(&["--ns", "crm.*"])), (1, 0));
}

#[test]
fn what_a_pipeline_writes_is_no_result_that_had_to_be_merged() {
    let group = |last: &str| {
        format!(
            r#""aggregate":NAME,"pipeline":[{{"$group":{{"_id":"$status","n":{{"$sum":1}}}}}}{last}],"cursor":{{}}"#
        )
    };
    let told = |last: &str| {
        let line = line((5, "orders", &group(last)), 1).replace(r#""nreturned":1,"#, r#""nreturned":1200,"#);
        told("SL313", &[CUSTOMER], &line, &[]).len()
    };
    assert_eq!((told(""), told(r#",{"$merge":{"into":"sums"}}"#)), (1, 0));
}

#[test]
fn an_upsert_is_told_which_fields_of_the_key_its_filter_lacks() {
    let upsert = r#""findAndModify":NAME,"query":{"_id":7},"update":{"$set":{"n":1}},"upsert":true"#;
    let key = "sh.shardCollection('shop.orders', { customerId: 1, _id: 1 })";
    let [found] = &told("SL204", &[key], &line((5, "orders", upsert), 1), &[])[..] else { panic!("SL204") };
    assert_eq!(found["labels"][0]["text"], "no equality on `customerId`");
}

#[test]
fn an_id_that_is_compared_with_texts_is_no_object_id() {
    let by_id = "sh.shardCollection('shop.orders', { _id: 1 })";
    let of = |filter: &str| {
        let command = format!(r#""find":NAME,"filter":{{{filter}}}"#);
        says("SL503", &[by_id], &[(1, "orders", command.as_str())]).len()
    };
    assert_eq!((of(r#""a":1"#), of(r#""_id":{"$gt":"a"}"#), of(r#""_id":"a""#)), (1, 0, 0));
    assert_eq!(of(r#""_id":{"$gt":{"$oid":"663b1f0a2c5d4e0012a4b001"}}"#), 1);
}

#[test]
fn code_that_names_the_key_hides_it_from_the_router() {
    let of = |filter: &str| {
        let command = format!(r#""find":NAME,"filter":{{{filter}}}"#);
        let line = line((5, "orders", command.as_str()), 1);
        ["SL107", "SL101"].map(|code| told(code, &[CUSTOMER], &line, &[]).len())
    };
    assert_eq!(of(r#""$where":{"$code":"this.customerId == 5"}"#), [1, 0]);
    assert_eq!(of(r#""status":1,"$and":[{"$where":"this.customerId == 5"}]"#), [1, 0]);
    assert_eq!(of(r#""$where":{"$code":"this.customerIds.length > 5"}"#), [0, 1], "another name");
    assert_eq!(
        of(r#""customerId":7,"$where":{"$code":"this.customerId == this.other"}"#),
        [0, 0],
        "it is there as well"
    );
}

#[test]
fn a_stage_that_went_to_disk_is_no_sort_that_did() {
    let of = |stages: &str, more: &str| {
        let command = format!(r#""aggregate":NAME,"pipeline":[{{"$sort":{{"at":1}}}}{stages}],"cursor":{{}}"#);
        let line = line((5, "orders", command.as_str()), 1)
            .replace(r#""nreturned":1"#, &format!(r#"{more}"docsExamined":5000,"nreturned":1"#));
        told("SL303", &[], &line, &[]).len()
    };
    const GROUP: &str = r#",{"$group":{"_id":"$a"}}"#;
    assert_eq!(of(GROUP, r#""usedDisk":true,"#), 0);
    assert_eq!(of(GROUP, r#""hasSortStage":true,"usedDisk":true,"#), 1);
    assert_eq!(of("", r#""usedDisk":true,"#), 1);
}

#[test]
fn reads_that_a_primary_mirrors_are_the_clusters_own() {
    let mirrored = [
        line((5, "orders", r#""find":NAME,"filter":{"status":1},"mirrored":true"#), 1),
        line((5, "orders", r#""find":NAME,"filter":{"status":1}"#), 2)
            .replace(r#""nreturned""#, r#""mirrored":true,"nreturned""#),
    ];
    let usual = line((5, "orders", r#""find":NAME,"filter":{"status":1}"#), 3);
    let [found] = &told("SL101", &[CUSTOMER], &(mirrored.concat() + &usual), &[])[..] else { panic!("SL101") };
    assert_eq!(found["count"], 1);
}

#[test]
fn what_a_server_does_by_itself_is_no_clients_query() {
    let of = |thread: &str| {
        let usual = line((5, "orders", r#""find":NAME,"filter":{"status":1}"#), 1);
        let own = line((5, "orders", r#""find":NAME,"filter":{"status":1}"#), 2).replace("conn1", thread);
        let found = told("SL101", &[CUSTOMER], &(usual + &own), &[]);
        found[0]["count"].as_u64().unwrap()
    };
    for own in ["TTLMonitor", "ShardingDDLCoordinator-1", "range-deleter", "migrateThread", "repl writer worker 3"] {
        assert_eq!(of(own), 1, "{own}");
    }
    assert_eq!((of("conn77"), of("thread1")), (2, 2));
    let own = line((5, "users", r#""find":NAME,"filter":{"status":1}"#), 2).replace("conn1", "TTLMonitor");
    assert_eq!(told("SL003", &[], &own, &[]).len(), 0, "nothing is to be declared for it");
}

#[test]
fn documents_that_expire_are_deleted_by_each_shard_for_itself() {
    let text = "2019-03-01T10:00:00.000+0000 I WRITE    [THREAD] remove shop.orders command: { q: { at: { $lt: new Date(1551434400000) } }, limit: 0 } planSummary: IXSCAN { at: 1 } keysExamined:120 docsExamined:120 ndeleted:120 keysDeleted:240 numYields:3 120ms\n";
    let count = |thread: &str| told("SL202", &[CUSTOMER], &text.replace("THREAD", thread), &[]).len();
    assert_eq!((count("conn7"), count("TTLMonitor")), (1, 0));
}
