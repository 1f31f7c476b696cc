//! One procedure, two doors: what `check` says of an operation in a log is what `route --cases` says of it as a case. The
//! operations are those of the recorded routing truth; the keys, chunks and shards come as dumps of the config database.

#![allow(clippy::unwrap_used)] // A test that cannot go on has failed.

use std::collections::{BTreeMap, BTreeSet};
use std::fs::File;
use std::io::Read;
use std::path::Path;

use serde_json::{Value as Json, json};
use shardlint::model::Shape;
use shardlint::syntax::parse_case;

#[path = "binary/mod.rs"]
mod binary;

/// The recorded rows that a log line can tell: neither a view, which a log resolves in its own way, nor a pipeline inside
/// another collection's.
fn rows() -> Vec<Json> {
    let path = format!("{}/tests/data/routing-6.0.jsonl.zst", env!("CARGO_MANIFEST_DIR"));
    let mut text = String::new();
    zstd::Decoder::new(File::open(path).unwrap()).unwrap().read_to_string(&mut text).unwrap();
    let rows = text.lines().map(|line| serde_json::from_str::<Json>(line).unwrap());
    rows.filter(|row| row["view"].is_null() && row["outer"].is_null()).collect()
}

/// The collections of the log. No two operations of one shape stand in one collection, so that the report, which counts by
/// shape, tells each of them.
#[derive(Default)]
struct Collections {
    /// How often each shape was seen in each kind of collection: key, chunks and collation.
    seen: BTreeMap<(String, &'static str, String), usize>,
    /// The number of a collection by its kind and its turn.
    numbers: BTreeMap<(String, usize), usize>,
    /// A row of each.
    described: Vec<Json>,
    shards: BTreeSet<String>,
}

impl Collections {
    /// The collection that stands for the one of `row`.
    fn number(&mut self, row: &Json) -> usize {
        let kind = json!([row["shardKey"], row["chunks"], row["collectionCollation"]]).to_string();
        let statement = parse_case(&row.to_string()).unwrap().statement;
        let turn = self.seen.entry((kind.clone(), statement.verb.name(), Shape::of(&statement).text)).or_default();
        *turn += 1;
        let next = self.described.len();
        let number = *self.numbers.entry((kind, *turn)).or_insert(next);
        if number == next {
            self.described.push(row.clone());
        }
        self.shards.extend(names(&row["allShards"]));
        number
    }

    /// Writes the dumps: the collections as a shell prints an array, chunks and shards in lines; chunks come before what
    /// explains them.
    fn dump(&self, folder: &Path) -> Vec<String> {
        let uuid = |number: usize| json!({"$uuid": format!("00000000-0000-4000-8000-{number:012}")});
        let mut chunks = String::new();
        let mut collections = Vec::new();
        for (number, row) in self.described.iter().enumerate() {
            for chunk in row["chunks"].as_array().unwrap().iter().rev() {
                let mut chunk = chunk.clone();
                chunk["uuid"] = uuid(number);
                chunks.push_str(&format!("{chunk}\n"));
            }
            let mut collection =
                json!({"_id": format!("two.c{number}"), "uuid": uuid(number), "key": row["shardKey"], "unique": false});
            if !row["collectionCollation"].is_null() {
                collection["defaultCollation"] = row["collectionCollation"].clone();
            }
            collections.push(collection);
        }
        let shards: String = self
            .shards
            .iter()
            .map(|name| format!("{}\n", json!({"_id": name, "host": format!("{name}/h:1")})))
            .collect();
        let collections = serde_json::to_string_pretty(&collections).unwrap();
        let files = [("chunks", chunks), ("shards", shards), ("collections", collections)];
        let write = |(name, text): (&str, String)| {
            let path = folder.join(name);
            std::fs::write(&path, text).unwrap();
            path.to_str().unwrap().to_owned()
        };
        files.into_iter().map(write).collect()
    }
}

/// The row as a case about `collection`.
fn case(row: &Json, collection: &str) -> Json {
    let mut case = row.clone();
    case["ns"] = json!(format!("two.{collection}"));
    case
}

/// The row as a log line of a mongos.
fn log_line(row: &Json, collection: &str) -> String {
    let given = |names: &[&str]| {
        let members = names.iter().filter(|name| !row[**name].is_null());
        members.map(|name| ((*name).to_owned(), row[*name].clone())).collect::<serde_json::Map<_, _>>()
    };
    let named = |verb: &str, more: &[(&str, Json)]| {
        let mut command = json!({verb: collection}).as_object().unwrap().clone();
        command.extend(more.iter().filter(|(_, value)| !value.is_null()).map(|(n, v)| ((*n).to_owned(), v.clone())));
        command.extend(row["options"].as_object().cloned().unwrap_or_default());
        command.insert("$db".to_owned(), json!("two"));
        Json::Object(command)
    };
    let collation = ("collation", row["collation"].clone());
    let (kind, command) = match row["op"].as_str().unwrap() {
        "find" => ("command", named("find", &[("filter", row["filter"].clone()), collation])),
        "aggregate" => {
            ("command", named("aggregate", &[("pipeline", row["pipeline"].clone()), ("cursor", json!({})), collation]))
        }
        "insert" => ("command", named("insert", &[("documents", json!([row["document"]]))])),
        op => {
            let mut write = json!({"q": row["filter"]});
            if op == "update" {
                write["u"] = row["update"].clone();
            }
            write.as_object_mut().unwrap().extend(given(&["multi", "upsert", "limit", "collation"]));
            write.as_object_mut().unwrap().extend(row["options"].as_object().cloned().unwrap_or_default());
            (if op == "update" { "update" } else { "remove" }, write)
        }
    };
    let time = if row["now"].is_null() { json!({"$date": "2026-11-30T08:00:00.000Z"}) } else { row["now"].clone() };
    let component = if kind == "command" { "COMMAND" } else { "WRITE" };
    json!({"t": time, "s": "I", "c": component, "id": 51803, "ctx": "conn1", "msg": "Slow query",
        "attr": {"type": kind, "ns": format!("two.{collection}"), "command": command, "durationMillis": 1}})
    .to_string()
}

/// Namespace, operation and shape.
type Key = (String, String, String);

/// Class, reason and shards.
type Said = (String, String, Vec<String>);

fn text(json: &Json) -> String {
    json.as_str().unwrap_or_else(|| panic!("{json} is no text")).to_owned()
}

fn names(json: &Json) -> Vec<String> {
    json.as_array().unwrap_or_else(|| panic!("{json} is no list")).iter().map(text).collect()
}

/// What `route --cases` answers.
fn by_route(cases: &[Json]) -> BTreeMap<Key, Said> {
    let lines: String = cases.iter().map(|case| format!("{case}\n")).collect();
    let output = binary::shardlint(&["route", "--cases", "-"], Some(lines.as_bytes()));
    assert_eq!(output.status.code(), Some(0));
    let answers = String::from_utf8(output.stdout).unwrap();
    let said = |(case, answer): (&Json, &str)| {
        let answer: Json = serde_json::from_str(answer).unwrap();
        let statement = parse_case(&case.to_string()).unwrap().statement;
        let key = (text(&case["ns"]), statement.verb.name().to_owned(), Shape::of(&statement).text);
        (key, (text(&answer["class"]), text(&answer["reason"]), names(&answer["shards"])))
    };
    cases.iter().zip(answers.lines()).map(said).collect()
}

/// What `check` reports.
fn by_check(log: &str, dumps: &[String], folder: &Path) -> BTreeMap<Key, Said> {
    let path = folder.join("mongos.log");
    std::fs::write(&path, log).unwrap();
    let mut arguments = vec!["check", "--format", "json", "--server-version", "6.0.5", path.to_str().unwrap()];
    arguments.extend(dumps.iter().map(String::as_str));
    let output = binary::shardlint(&arguments, None);
    let report: Json = serde_json::from_slice(&output.stdout).unwrap();
    let malformed = report["diagnostics"].as_array().unwrap().iter().find(|d| d["code"] == "SL005");
    assert_eq!(malformed, None);
    let said = |row: &Json| {
        let key = (text(&row["namespace"]), text(&row["operation"]), text(&row["shape"]));
        (key, (text(&row["class"]), text(&row["reason"]), names(&row["shards"])))
    };
    report["shapes"].as_array().unwrap().iter().map(said).collect()
}

#[test]
fn a_log_and_a_case_with_the_same_operation_get_the_same_answer() {
    let rows = rows();
    assert!(rows.len() > 6_500, "{} rows", rows.len());
    let folder = tempfile::tempdir().unwrap();
    let mut collections = Collections::default();
    let names: Vec<String> = rows.iter().map(|row| format!("c{}", collections.number(row))).collect();
    let dumps = collections.dump(folder.path());
    let cases: Vec<Json> = rows.iter().zip(&names).map(|(row, name)| case(row, name)).collect();
    let log: String = rows.iter().zip(&names).map(|(row, name)| log_line(row, name) + "\n").collect();
    let (asked, checked) = (by_route(&cases), by_check(&log, &dumps, folder.path()));
    assert_eq!((asked.len(), checked.len()), (rows.len(), rows.len()));
    let differs = |(key, said): (&Key, &Said)| {
        let found = checked.get(key);
        (found != Some(said)).then(|| format!("{key:?}\n  route: {said:?}\n  check: {found:?}"))
    };
    let differences: Vec<String> = asked.iter().filter_map(differs).collect();
    let shown = differences.iter().take(20).cloned().collect::<Vec<_>>().join("\n");
    assert!(differences.is_empty(), "{} of {} operations differ:\n{shown}", differences.len(), asked.len());
}
