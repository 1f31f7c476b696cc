//! Dumps of a real cluster as declarations: every form says the same, in any order, and what they say is what the cluster's
//! own logs report.

#![allow(clippy::unwrap_used)] // A test that cannot go on has failed.

use std::fs::File;
use std::path::{Path, PathBuf};
use std::sync::OnceLock;

use serde_json::{Value as Json, json};
use shardlint::syntax::recognize::{DeclarationKind, looks_like_declaration};
use tempfile::TempDir;

#[path = "binary/mod.rs"]
mod binary;

/// The folder of the recorded dumps, unpacked.
fn dumps() -> &'static Path {
    static DUMPS: OnceLock<TempDir> = OnceLock::new();
    let folder = DUMPS.get_or_init(|| {
        let folder = TempDir::new().unwrap();
        let packed = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data/dumps");
        for entry in std::fs::read_dir(packed).unwrap() {
            let path = entry.unwrap().path();
            if path.extension().is_some_and(|extension| extension == "zst") {
                let bytes = zstd::decode_all(File::open(&path).unwrap()).unwrap();
                std::fs::write(folder.path().join(path.file_stem().unwrap()), bytes).unwrap();
            }
        }
        folder
    });
    folder.path()
}

fn named(name: &str) -> String {
    dumps().join(name).to_str().unwrap().to_owned()
}

fn written(folder: &TempDir, name: &str, text: &str) -> String {
    let path: PathBuf = folder.path().join(name);
    std::fs::write(&path, text).unwrap();
    path.to_str().unwrap().to_owned()
}

/// The answer of `route` to an operation, with these declarations.
fn routed(schemas: &[String], operation: &str) -> Json {
    let mut arguments = vec!["route", "--format", "json", "--server-version", "6.0.5"];
    schemas.iter().for_each(|schema| arguments.extend(["--schema", schema]));
    arguments.push(operation);
    let output = binary::shardlint(&arguments, None);
    assert_eq!(output.status.code(), Some(0), "{}", String::from_utf8_lossy(&output.stderr));
    serde_json::from_slice::<Json>(&output.stdout).unwrap()[0].clone()
}

/// The report of `check`, and its exit code.
fn checked(arguments: &[String]) -> (Json, Option<i32>) {
    let mut all = vec!["check", "--format", "json", "--server-version", "6.0.5"];
    all.extend(arguments.iter().map(String::as_str));
    let output = binary::shardlint(&all, None);
    (serde_json::from_slice(&output.stdout).unwrap_or_default(), output.status.code())
}

#[test]
fn every_form_in_every_order_gives_the_same_shards() {
    let folder = TempDir::new().unwrap();
    let read = |name: &str| std::fs::read_to_string(named(name)).unwrap();
    let lines = |name: &str| read(name).lines().map(|line| serde_json::from_str(line).unwrap()).collect::<Vec<Json>>();
    let array = |name: &str| serde_json::to_string_pretty(&lines(&format!("{name}.jsonl"))).unwrap();
    let all = ["config.shards", "config.chunks", "config.version", "config.collections", "config.databases"];
    let transcript: String = all
        .iter()
        .map(|name| {
            format!("[direct: mongos] config> db.{}.find()\n{}\n", &name[7..], read(&format!("{name}.mongosh.txt")))
        })
        .collect();
    let legacy: String = ["config.chunks", "config.shards", "config.collections"]
        .iter()
        .map(|name| format!("mongos> db.{}.find()\n{}", &name[7..], read(&format!("{name}.jsonl"))))
        .collect();
    let forms: [Vec<String>; 5] = [
        ["config.chunks.jsonl", "config.shards.jsonl", "config.collections.jsonl"].map(named).to_vec(),
        ["config.collections.mongosh.txt", "config.chunks.mongosh.txt", "config.shards.jsonl"].map(named).to_vec(),
        ["config.chunks", "config.collections", "config.shards"]
            .map(|name| written(&folder, &format!("{name}.json"), &array(name)))
            .to_vec(),
        vec![written(&folder, "transcript", &transcript)],
        vec![written(&folder, "legacy", &legacy)],
    ];
    for form in &forms {
        for (operation, shards) in [
            ("db.orders.find({ customerId: { $gte: 60, $lt: 100 } })", json!(["shard1", "shard2"])),
            (
                "db.customers.find({ _id: { $in: [1, 2] } })",
                routed(&forms[0], "db.customers.find({ _id: { $in: [1, 2] } })")["shards"].clone(),
            ),
            ("db.events.find({ 'tenant.id': 10 })", json!(["shard2"])),
            ("db.users.find({})", json!(["shard0"])),
            ("db.events.updateMany({ x: 1 }, { $set: { y: 1 } })", json!(["shard0", "shard1", "shard2", "shard3"])),
        ] {
            assert_eq!(routed(form, operation)["shards"], shards, "{operation} with {form:?}");
        }
    }
}

#[test]
fn the_logs_of_the_cluster_report_as_many_shards_as_its_chunks_foretell() {
    let logs = binary::corpus_logs().iter().map(|log| log.path.to_str().unwrap().to_owned());
    let mut arguments: Vec<String> = logs.filter(|path| path.contains("6.0.5-shard-shop")).collect();
    assert_eq!(arguments.len(), 4);
    arguments.extend(["config.collections.jsonl", "config.chunks.jsonl", "config.shards.jsonl"].map(named));
    let (report, _) = checked(&arguments);
    let shapes = report["shapes"].as_array().unwrap();
    let of_one =
        |shape: &&Json| shape["observed_shards"].is_object() && shape["count"] == 1 && shape["operation"] == "find";
    let observed: Vec<&Json> = shapes.iter().filter(of_one).collect();
    assert!(observed.len() > 20, "{} shapes with a count of shards", observed.len());
    for shape in observed {
        let foretold = shape["shards"].as_array().map(Vec::len).unwrap();
        assert_eq!(shape["observed_shards"]["max"].as_u64(), Some(foretold as u64), "{shape}");
    }
    assert!(shapes.iter().all(|shape| shape["namespace"] != "shop.orders" || shape["class"] != "undeclared"));
}

#[test]
fn a_complete_listing_says_what_is_unsharded_and_a_wrong_database_is_still_told() {
    let folder = TempDir::new().unwrap();
    let line = |namespace: &str| {
        let (database, collection) = namespace.split_once('.').unwrap();
        let command = json!({"find": collection, "filter": {"x": 1}, "$db": database});
        let attr = json!({"type": "command", "ns": namespace, "command": command, "durationMillis": 1});
        let record = json!({"t": {"$date": "2026-11-30T08:00:00.000Z"}, "s": "I", "c": "COMMAND", "id": 51803, "ctx": "conn1", "msg": "Slow query", "attr": attr});
        record.to_string() + "\n"
    };
    let right = written(&folder, "right.log", &(line("shop.orders") + &line("shop.carts")));
    let (report, code) = checked(&[named("config.collections.jsonl"), right]);
    let classes = &report["summary"]["classes"];
    assert_eq!((&classes["unsharded"]["count"], &classes["broadcast"]["count"]), (&json!(1), &json!(1)));
    assert_eq!((&classes["undeclared"]["count"], code), (&json!(0), Some(1)));

    let wrong = written(&folder, "wrong.log", &line("shop_test.orders"));
    assert_eq!(checked(&[named("config.collections.jsonl"), wrong]).1, Some(2));
}

#[test]
fn declarations_alone_are_a_whole_job() {
    let all = [
        "config.collections.jsonl",
        "config.chunks.mongosh.txt",
        "config.shards.jsonl",
        "config.databases.jsonl",
        "config.version.mongosh.txt",
        "config.settings.mongosh.txt",
        "config.changelog.jsonl",
    ];
    let (report, code) = checked(&all.map(named));
    assert_eq!((&report["diagnostics"], code), (&json!([]), Some(0)));
    let unnamed = named("orders.getIndexes.mongosh.txt");
    let (report, code) = checked(std::slice::from_ref(&unnamed));
    assert_eq!((&report["diagnostics"][0]["code"], code), (&json!("SL005"), Some(1)));
    let schema = format!("shop.orders={unnamed}");
    let (report, code) = checked(&["--schema".to_owned(), schema, named("config.collections.jsonl")]);
    assert!(
        report["diagnostics"].as_array().unwrap().iter().all(|found| found["code"] != "SL005"),
        "{code:?} {report}"
    );
}

#[test]
fn dumps_are_recognised_and_logs_are_not_taken_for_them() {
    for entry in std::fs::read_dir(dumps()).unwrap() {
        let path = entry.unwrap().path();
        let text = std::fs::read(&path).unwrap();
        assert_eq!(looks_like_declaration(&text), Some(DeclarationKind::Dump), "{}", path.display());
    }
    for log in binary::corpus_logs() {
        let text = std::fs::read(&log.path).unwrap();
        assert_eq!(looks_like_declaration(&text), None, "{}", log.path.display());
        let first = text.split(|&byte| byte == b'\n').next().unwrap();
        assert_eq!(looks_like_declaration(first), None, "{}", log.path.display());
    }
}

/// Two shards in a zone of the lower half of the key, one in that of the upper half.
const ZONED: &str = r#"
[ { _id: "rs0", host: "rs0/h0:1", state: 1, tags: [ "EU" ] }, { _id: "rs1", host: "rs1/h1:1", state: 1, tags: [ "EU" ] },
  { _id: "rs2", host: "rs2/h2:1", state: 1, tags: [ "US" ] } ]
[ { _id: "shop.orders", key: { region: 1, customerId: 1 } } ]
[ { ns: "shop.orders", min: { region: MinKey }, max: { region: "m" }, tag: "EU" },
  { ns: "shop.orders", min: { region: "m" }, max: { region: MaxKey }, tag: "US" } ]
"#;

/// How much each of three shards holds, in GB.
fn held(gigabytes: [u64; 3]) -> String {
    let of = |(shard, gigabytes): (usize, &u64)| {
        let bytes = gigabytes << 30;
        format!(
            "{{ shardName: 'rs{shard}', numOrphanedDocs: 0, numOwnedDocuments: {bytes}, ownedSizeBytes: {bytes}, orphanedSizeBytes: 0 }}"
        )
    };
    let shards: Vec<String> = gigabytes.iter().enumerate().map(of).collect();
    format!("{{ ns: 'shop.orders', shards: [ {} ] }}\n", shards.join(", "))
}

fn diagnostics(report: &Json) -> Vec<(&str, &str)> {
    let told = report["diagnostics"].as_array().unwrap().iter();
    told.map(|told| (told["code"].as_str().unwrap(), told["message"].as_str().unwrap())).collect()
}

#[test]
fn what_a_zone_keeps_on_its_shards_is_no_skew_but_between_its_shards_there_may_be_one() {
    let folder = TempDir::new().unwrap();
    let apart = written(&folder, "apart.txt", &format!("{ZONED}{}", held([10, 10, 980])));
    assert_eq!(diagnostics(&checked(&[apart]).0), []);
    let within = written(&folder, "within.txt", &format!("{ZONED}{}", held([90, 10, 900])));
    let expected = "`rs0` holds 90 % of the bytes of `shop.orders` on the shards of zone `EU`, where 50 % is a fair share of 2 shards";
    assert_eq!(diagnostics(&checked(&[within]).0), [("SL602", expected)]);
    let undeclared = ZONED.replace(r#", state: 1, tags: [ "EU" ]"#, "").replace(r#", state: 1, tags: [ "US" ]"#, "");
    let unknown = written(&folder, "unknown.txt", &format!("{undeclared}{}", held([90, 10, 900])));
    assert_eq!(diagnostics(&checked(&[unknown]).0), []);
}

#[test]
fn zones_are_named_with_the_shards_and_never_decide_a_class() {
    let folder = TempDir::new().unwrap();
    let zones = written(&folder, "zones.txt", ZONED);
    let chunks = written(
        &folder,
        "chunks.txt",
        r#"[ { ns: "shop.orders", min: { region: MinKey, customerId: MinKey }, max: { region: "m", customerId: MinKey }, shard: "rs0" },
             { ns: "shop.orders", min: { region: "m", customerId: MinKey }, max: { region: MaxKey, customerId: MaxKey }, shard: "rs2" } ]"#,
    );
    let operation = "db.getSiblingDB('shop').orders.find({ region: 'de' })";
    let without = routed(std::slice::from_ref(&zones), operation);
    assert_eq!(
        (&without["class"], &without["shards"], &without["zones"]),
        (&json!("multi-shard"), &Json::Null, &Json::Null)
    );
    let with = routed(&[zones, chunks], operation);
    assert_eq!(with["class"], without["class"]);
    assert_eq!((&with["shards"], &with["zones"]), (&json!(["rs0"]), &json!({"rs0": ["EU"]})));
}

#[test]
fn a_range_that_is_not_on_the_key_is_told_in_the_dump() {
    let folder = TempDir::new().unwrap();
    let path = written(&folder, "zones.txt", &ZONED.replace("max: { region: MaxKey }", "max: { customerId: MaxKey }"));
    let (report, code) = checked(&[path]);
    let told = &report["diagnostics"][0];
    assert_eq!((&told["code"], code), (&json!("SL005"), Some(1)));
    assert_eq!(told["labels"][0]["snippet"], "customerId");
    let expected = "declaration not used: a bound of a zone has the fields of the key `{ region: 1, customerId: 1 }` in order; expected `region`";
    assert_eq!(told["message"], expected);
}
