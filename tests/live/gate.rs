//! A build that fails when a commit adds a broadcast, against a real server: record a baseline of one run of a workload, run
//! the same again and be let through, add a broadcast and be stopped, with the query, the missing field and what was before.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use mongodb::bson::{Document, doc};
use mongodb::error::Result;
use mongodb::sync::Database;
use serde_json::Value;

use super::server::{self, Server};

/// What the application does at one commit.
type Workload = fn(&Database) -> Result<()>;

fn find(database: &Database, filter: Document) -> Result<()> {
    let orders = database.collection::<Document>("orders");
    orders.find(filter).comment("app/orders.rs:41").run()?.collect::<Result<Vec<_>>>().map(drop)
}

fn first_commit(database: &Database) -> Result<()> {
    database.collection::<Document>("orders").insert_one(doc! { "customerId": 7, "status": "new" }).run()?;
    find(database, doc! { "customerId": 7 })?;
    find(database, doc! { "customerId": { "$in": [7, 8] }, "status": "new" })
}

/// Other literals, another order, a longer list: the same queries.
fn second_commit(database: &Database) -> Result<()> {
    database.collection::<Document>("orders").insert_one(doc! { "customerId": 9, "status": "sent" }).run()?;
    find(database, doc! { "status": "sent", "customerId": { "$in": [9, 10, 11] } })?;
    find(database, doc! { "customerId": 9 })
}

fn third_commit(database: &Database) -> Result<()> {
    second_commit(database)?;
    find(database, doc! { "status": "new" })
}

/// Runs a workload in a database of its own, as a test suite would, and returns the log.
fn logged(server: &Server, name: &str, workload: Workload) -> PathBuf {
    workload(&server.client.database(&format!("shop_test_{name}"))).unwrap();
    server.log(&format!("{name}.log"))
}

struct Build {
    folder: tempfile::TempDir,
}

impl Build {
    fn run(&self, arguments: &[&str], log: &Path) -> Output {
        let mut command = Command::new(env!("CARGO_BIN_EXE_shardlint"));
        command.current_dir(&self.folder).args(arguments).arg(log).output().unwrap()
    }

    fn declare(&self, key: &str) {
        let script = format!("sh.shardCollection(\"shop.orders\", {key});\n");
        fs::write(self.folder.path().join("sharding.js"), script).unwrap();
    }

    fn read(&self, name: &str) -> String {
        fs::read_to_string(self.folder.path().join(name)).unwrap()
    }
}

const CONFIGURATION: &str = "schema = \"sharding.js\"\nns = \"shop.*\"\n[ns-map]\n\"shop_test_*\" = \"shop\"\n";
const CHECK: [&str; 7] =
    ["check", "--baseline", "shardlint-baseline.json", "--format=json", "-osarif=a.sarif", "-omarkdown=b.md", "-q"];

#[test]
fn a_commit_that_adds_a_broadcast_fails_the_build_and_is_named() {
    let Some(mongod) = server::installed("live gate") else { return };
    let build = Build { folder: tempfile::tempdir().unwrap() };
    fs::write(build.folder.path().join("shardlint.toml"), CONFIGURATION).unwrap();
    build.declare("{ customerId: 1 }");

    let server = Server::start(&mongod, &[]);
    let created = build.run(&["baseline", "create"], &logged(&server, "first", first_commit));
    assert_eq!(created.status.code(), Some(0), "{}", said(&created));
    drop(server);

    let server = Server::start(&mongod, &[]);
    let clean = build.run(&CHECK, &logged(&server, "second", second_commit));
    assert_eq!(clean.status.code(), Some(0), "{}", said(&clean));
    drop(server);

    let server = Server::start(&mongod, &[]);
    let log = logged(&server, "third", third_commit);
    a_new_broadcast_is_named(&build, &log);
    a_key_that_no_longer_routes_is_a_regression(&build, &log);
}

fn said(run: &Output) -> String {
    String::from_utf8_lossy(&[run.stdout.as_slice(), run.stderr.as_slice()].concat()).into_owned()
}

fn a_new_broadcast_is_named(build: &Build, log: &Path) {
    let run = build.run(&CHECK, log);
    assert_eq!(run.status.code(), Some(1), "{}", said(&run));
    let report: Value = serde_json::from_slice(&run.stdout).unwrap();
    let diagnostics = report["diagnostics"].as_array().unwrap().iter();
    let errors: Vec<&Value> = diagnostics.filter(|d| d["new"] == true && d["severity"] == "error").collect();
    assert!(errors.iter().all(|d| d["shape"] == "{ status: ? }"), "{errors:#?}");
    let new: Vec<&Value> = errors.into_iter().filter(|d| d["code"] == "SL101").collect();
    assert_eq!(new.len(), 1, "{report:#}");
    assert_eq!((&new[0]["was"], &new[0]["now"]), (&Value::Null, &"broadcast".into()));
    assert!(new[0]["help"].as_str().unwrap().contains("`customerId`"), "{}", new[0]["help"]);
    for name in ["a.sarif", "b.md"] {
        let text = build.read(name);
        assert!(text.contains("customerId") && text.contains("status") && text.contains("SL101"), "{name}: {text}");
    }
}

fn a_key_that_no_longer_routes_is_a_regression(build: &Build, log: &Path) {
    build.declare("{ region: 1, customerId: 1 }");
    let run = build.run(&CHECK, log);
    assert_eq!(run.status.code(), Some(1), "{}", said(&run));
    let report: Value = serde_json::from_slice(&run.stdout).unwrap();
    let regression =
        report["diagnostics"].as_array().unwrap().iter().find(|d| d["code"] == "SL902" && d["was"] == "targeted");
    let regression = regression.unwrap_or_else(|| panic!("{report:#}"));
    assert_eq!((&regression["shape"], &regression["now"]), (&"{ customerId: ? }".into(), &"broadcast".into()));
    for name in ["a.sarif", "b.md"] {
        let text = build.read(name);
        assert!(text.contains("targeted") && text.contains("broadcast") && text.contains("region"), "{name}: {text}");
    }
    let lines = build.run(&["check", "--baseline", "shardlint-baseline.json", "--format", "jsonl"], log);
    let of_regression = said(&lines).lines().filter(|line| line.contains(r#""code":"SL902""#)).count();
    assert!(of_regression >= 1, "{}", said(&lines));
}
