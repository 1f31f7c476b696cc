//! What was found out about a record is said of others of the same outline. That must never show: the report is the same,
//! byte for byte, as if each record had been read and judged by itself.

mod binary;
#[path = "recall/sums.rs"]
mod sums;
#[path = "recall/text.rs"]
mod text;

use std::io::Cursor;
use std::path::PathBuf;
use std::sync::atomic::AtomicBool;

use binary::corpus_logs;
use shardlint::catalog::{Catalog, Collection};
use shardlint::engine::{DeclarationTexts, Filters, Job, Progress, Run, Settings, Source, finish, run};
use shardlint::input::{DEFAULT_CHUNK_SIZE, Input};
use shardlint::model::ShardKey;
use shardlint::report::{Format, RenderOptions, render};
use shardlint::syntax::ext_json;
use shardlint::text::SourceId;

struct Silent;

impl Progress for Silent {
    fn advanced(&mut self, _: SourceId, _: u64) {}
}

fn collection(namespace: &str, key: &str) -> Collection {
    let key = ShardKey::from_pattern(&ext_json::parse(key, 0).expect("JSON")).expect("a key");
    Collection::sharded(namespace, key, SourceId(0))
}

fn settings(keys: &[(&str, &str)], recalls: bool, threads: usize) -> Settings {
    let mut catalog = Catalog::default();
    keys.iter().for_each(|(namespace, key)| catalog.add(collection(namespace, key)));
    catalog.shard_count = Some(4);
    Settings { catalog, recalls, threads, ..Settings::default() }
}

/// The report on some logs as JSON.
fn report(logs: &[&[u8]], settings: &Settings, chunk_size: usize) -> String {
    let source = |bytes: &&[u8]| Source {
        input: Input::stdin(),
        opened: Some(Box::new(Cursor::new(bytes.to_vec())) as Box<dyn std::io::Read + Send>),
        role: None,
    };
    let interrupted: &'static AtomicBool = Box::leak(Box::new(AtomicBool::new(false)));
    let job = Job { sources: logs.iter().map(source).collect(), chunk_size, interrupted };
    let outcome = run(job, settings, &mut Silent).expect("threads");
    // A text that findings on collections can point into.
    let declarations = DeclarationTexts { texts: vec![("keys.json".to_owned(), vec![b' '; 100])] };
    let inputs = (0..logs.len()).map(|i| format!("{i}.log")).collect();
    let run = Run { inputs, declarations: &declarations, declaration_findings: Vec::new(), settings };
    let mut bytes = Vec::new();
    render(&finish(outcome, run), Format::Json, &RenderOptions::default(), &mut bytes).expect("memory");
    String::from_utf8(bytes).expect("UTF-8")
}

/// Holds a report with recalling against one without, at several numbers of threads and sizes of chunks.
fn assert_same(logs: &[&[u8]], keys: &[(&str, &str)], what: &str) {
    let plain = report(logs, &settings(keys, false, 1), DEFAULT_CHUNK_SIZE);
    for (threads, chunk_size) in [(1, DEFAULT_CHUNK_SIZE), (1, 3000), (3, 3000), (7, 1000)] {
        let recalled = report(logs, &settings(keys, true, threads), chunk_size);
        if recalled == plain {
            continue;
        }
        let at = recalled.bytes().zip(plain.bytes()).position(|(a, b)| a != b).unwrap_or(0);
        let around = |text: &str| text.get(at.saturating_sub(400)..(at + 200).min(text.len())).unwrap_or("").to_owned();
        panic!(
            "{what}: {threads} threads, chunks of {chunk_size}\n--- recalled\n{}\n--- plain\n{}",
            around(&recalled),
            around(&plain)
        );
    }
}

const SHOP: [(&str, &str); 3] = [
    ("shop.orders", r#"{"customerId": 1, "_id": 1}"#),
    ("shop.customers", r#"{"_id": "hashed"}"#),
    ("shop.events", r#"{"tenant": 1, "ts": 1}"#),
];

#[test]
fn recorded_logs_give_the_same_report_as_without_recalling() {
    let logs: Vec<Vec<u8>> = corpus_logs().iter().map(|log| std::fs::read(&log.path).expect("the log")).collect();
    for (log, bytes) in corpus_logs().iter().zip(&logs) {
        assert_same(&[bytes], &SHOP, &log.path.display().to_string());
    }
    let all: Vec<&[u8]> = logs.iter().map(Vec::as_slice).collect();
    assert_same(&all, &SHOP, "all recordings together");
}

/// More logs can be put to the test: `SHARDLINT_LOGS` names a folder.
#[test]
fn logs_of_the_developer_give_the_same_report_as_without_recalling() {
    let Ok(folder) = std::env::var("SHARDLINT_LOGS") else { return };
    let mut folders = vec![PathBuf::from(folder)];
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(folder).expect("a folder") {
            let path = entry.expect("an entry").path();
            if path.is_dir() {
                folders.push(path);
            } else {
                let mut reader = Input::file(&path).open().expect("a log");
                let mut bytes = Vec::new();
                std::io::Read::read_to_end(&mut reader, &mut bytes).expect("a log");
                assert_same(&[&bytes], &SHOP, &path.display().to_string());
            }
        }
    }
}

/// Literals of many kinds, few of each, so that equal ones meet; the ends of kinds among them.
const LITERALS: [&[&str]; 9] = [
    &["0", "1", "5", "6", "7", "12", "-3", "123456789", "2147483648", "99999999999", "-0", "1e3", "5.0", "5.5", "0.0"],
    &[r#""a""#, r#""b""#, r#""abc""#, r#""""#, r#""$a""#, "\"###\"", r#""a\"b""#, r#""\u0061""#, r#""é""#],
    &[
        r#"{"$oid":"65000000aaaaaaaaaaaaaaaa"}"#,
        r#"{"$oid":"65000000bbbbbbbbbbbbbbbb"}"#,
        r#"{"$oid":"000000000000000000000000"}"#,
        r#"{"$oid":"xyz"}"#,
    ],
    &[
        r#"{"$date":"2024-05-14T09:12:03.481Z"}"#,
        r#"{"$date":"2024-05-15T00:00:00.000Z"}"#,
        r#"{"$date":"2024-05-15T00:00:00Z"}"#,
        r#"{"$date":"2024-05-14T25:12:03.481Z"}"#,
        r#"{"$date":"2024-02-29T09:12:03.481Z"}"#,
        r#"{"$date":"2023-02-29T09:12:03.481Z"}"#,
        r#"{"$date":{"$numberLong":"-62135596800000"}}"#,
    ],
    &["null", "true", "false", r#"{"$minKey":1}"#, r#"{"$maxKey":1}"#, "[]", "[5]", r#"["a","b"]"#],
    &[r#"{"$uuid":"0aaaaaaa-0000-4000-8000-000000000001"}"#, r#"{"$uuid":"0aaaaaaa-0000-4000-8000-000000000002"}"#],
    &[
        r#"{"$regularExpression":{"pattern":"^ab","options":""}}"#,
        r#"{"$regularExpression":{"pattern":"^cd","options":""}}"#,
        r#"{"$regularExpression":{"pattern":"ab","options":"i"}}"#,
        r#"{"$regularExpression":{"pattern":"^a|b","options":""}}"#,
    ],
    &[
        r#"{"$numberDecimal":"5.25"}"#,
        r#"{"$numberDecimal":"NaN"}"#,
        r#"{"$numberDouble":"-Infinity"}"#,
        r#"{"$numberLong":"7"}"#,
    ],
    &[r#"{"b":5}"#, r#"{"b":6}"#, r#"{"b":"x","c":1}"#, "{}", r#"{"$ref":"x","$id":5}"#],
];

/// Where a literal goes that each record has its own of.
const HOLE: char = '\u{1}';

/// Where the name of a field goes that each record has its own of.
const FIELD_HOLE: char = '\u{2}';

/// Where a number of skipped documents goes.
const SKIP_HOLE: char = '\u{3}';

struct Maker {
    random: fastrand::Rng,
}

impl Maker {
    fn pick<'a>(&mut self, list: &[&'a str]) -> &'a str {
        list[self.random.usize(..list.len())]
    }

    /// A filter with holes.
    fn filter(&mut self, depth: usize) -> String {
        let count = 1 + self.random.usize(..3);
        let members: Vec<String> = (0..count).map(|_| self.member(depth)).collect();
        format!("{{{}}}", members.join(","))
    }

    fn member(&mut self, depth: usize) -> String {
        let field = self.pick(&["a", "a", "b", "b", "c", "a.b", "_id", "x.a"]);
        match self.random.u8(..if depth > 2 { 9 } else { 14 }) {
            0..=2 => format!("\"{field}\":{HOLE}"),
            3..=8 => format!("\"{field}\":{}", self.operators(depth)),
            9 | 10 => {
                let branches: Vec<String> = (0..1 + self.random.usize(..3)).map(|_| self.filter(depth + 1)).collect();
                format!("\"{}\":[{}]", self.pick(&["$or", "$and", "$nor"]), branches.join(","))
            }
            11 => format!("\"{field}\":{{\"$elemMatch\":{}}}", self.filter(depth + 1)),
            12 => format!(r#""$expr":{{"$eq":["${field}",{HOLE}]}}"#),
            _ => {
                let measured =
                    self.pick(&[r#"{"$size":"$a"}"#, r#"{"$and":"$a"}"#, r#"{"$size":"$$a"}"#, r#"{"$size":[[7]]}"#]);
                format!(r#""$expr":{{"{}":[{measured},{HOLE}]}}"#, self.pick(&["$eq", "$gt", "$add"]))
            }
        }
    }

    fn operators(&mut self, depth: usize) -> String {
        let count = 1 + self.random.usize(..2);
        let operators: Vec<String> = (0..count)
            .map(|_| match self.random.u8(..14) {
                0..=5 => format!("\"{}\":{HOLE}", self.pick(&["$gt", "$gte", "$lt", "$lte", "$eq", "$ne"])),
                6 | 7 => {
                    let members = vec![HOLE.to_string(); 1 + self.random.usize(..6)];
                    format!("\"{}\":[{}]", self.pick(&["$in", "$nin"]), members.join(","))
                }
                8 => format!("\"$exists\":{}", self.pick(&["true", "false", "0", "1"])),
                9 if depth < 3 => format!("\"$not\":{}", self.operators(depth + 1)),
                10 => format!("\"$all\":[{HOLE},{HOLE}]"),
                11 => r#""$regex":"^ab","$options":"""#.to_owned(),
                12 => format!("\"$elemMatch\":{{\"$gt\":{HOLE},\"$lt\":{HOLE}}}"),
                _ => format!("\"$type\":{}", self.pick(&["\"number\"", "2", "[1,2]"])),
            })
            .collect();
        format!("{{{}}}", operators.join(","))
    }

    /// `attr` up to the command, with holes.
    fn command(&mut self) -> (String, &'static str) {
        let filter = self.filter(0);
        let tail = self.pick(&[
            r#","$db":"shop""#,
            r#","lsid":{"id":{"$uuid":"0aaaaaaa-0000-4000-8000-00000000000f"}},"$db":"shop""#,
            r#","shardVersion":{},"$client":{"mongos":{"host":"x"}},"$db":"shop""#,
            r#","comment":"shardlint: ignore SL101","$db":"shop""#,
            r#","collation":{"locale":"de"},"$db":"shop""#,
            r#","autocommit":false,"txnNumber":3,"$db":"shop""#,
            r#","let":{"v":5},"$db":"shop""#,
        ]);
        let sort =
            self.pick(&["", "", r#","sort":{"a":1}"#, r#","limit":1"#, r#","limit":0"#, ",\"skip\":\u{3},\"limit\":9"]);
        match self.random.u8(..10) {
            0..=3 => (format!(r#"{{"find":"t","filter":{filter}{sort}{tail}}}"#), "command"),
            4 => (format!(r#"{{"count":"t","query":{filter}{sort}{tail}}}"#), "command"),
            5 => {
                let second = self.filter(1);
                let between = self.pick(&[
                    r#"{"$sort":{"a":1}}"#,
                    r#"{"$project":{"a":"$b"}}"#,
                    r#"{"$group":{"_id":"$a"}}"#,
                    r#"{"$limit":5}"#,
                    "{\"$skip\":\u{3}}",
                    "{\"$sample\":{\"size\":\u{3}}}",
                    "{\"$bucketAuto\":{\"groupBy\":\"$a\",\"buckets\":\u{3}}}",
                    r#"{"$lookup":{"from":"u","localField":"a","foreignField":"b","as":"j","pipeline":[{"$match":{"a":7}}]}}"#,
                ]);
                (
                    format!(
                        r#"{{"aggregate":"t","pipeline":[{{"$match":{filter}}},{between},{{"$match":{second}}}]{tail}}}"#
                    ),
                    "command",
                )
            }
            6 => {
                let update = self.pick(&[
                    r#"{"$set":{"a":5,"z":"x"}}"#,
                    r#"{"a":5,"b":6}"#,
                    r#"[{"$set":{"a":"$b"}}]"#,
                    "[{\"$unset\":\u{2}}]",
                    "{\"$rename\":{\"x\":\u{2}}}",
                    "{\"$inc\":{\"a\":\u{1}}}",
                    "{\"$max\":{\"a\":\u{1}}}",
                    "{\"$mul\":{\"a\":\u{1}}}",
                    "{\"$bit\":{\"a\":{\"or\":\u{1}}}}",
                    "[{\"$project\":{\"a\":\u{1},\"b\":1}}]",
                    "{\"a\":\u{1},\"b\":\u{1}}",
                    "[{\"$project\":{\"b\":\u{1}}}]",
                ]);
                let multi = self.pick(&["true", "false"]);
                (
                    format!(
                        r#"{{"q":{filter},"u":{update},"multi":{multi},"upsert":{}}}"#,
                        self.pick(&["true", "false"])
                    ),
                    "update",
                )
            }
            7 => (format!(r#"{{"q":{filter},"limit":{}}}"#, self.pick(&["0", "1"])), "remove"),
            8 => {
                let update =
                    self.pick(&["{\"$set\":{\"a\":\u{1},\"b\":\u{1}}}", "{\"a\":\u{1}}", "{\"$max\":{\"a\":\u{1}}}"]);
                let command = match self.random.u8(..3) {
                    0 => format!(r#"{{"findAndModify":"t","query":{filter},"remove":true{tail}}}"#),
                    1 => format!(r#"{{"findAndModify":"t","query":{filter},"update":{update}{tail}}}"#),
                    _ => format!(r#"{{"findAndModify":"t","update":{update},"query":{filter}{tail}}}"#),
                };
                (command, "command")
            }
            _ => {
                let second = self.filter(1);
                let update = format!(
                    r#"{{"q":{filter},"u":{{"$set":{{"a":{HOLE}}}}},"multi":false}},{{"q":{second},"u":{{"$inc":{{"n":1}}}},"multi":true}}"#
                );
                (format!(r#"{{"update":"t","updates":[{update}]{tail}}}"#), "command")
            }
        }
    }

    fn fill(&mut self, template: &str) -> String {
        let usual = self.random.usize(..LITERALS.len());
        let mut filled = String::new();
        for c in template.chars() {
            if c == HOLE {
                let kind = if self.random.u8(..8) > 0 { usual } else { self.random.usize(..LITERALS.len()) };
                filled.push_str(self.pick(LITERALS[kind]));
            } else if c == FIELD_HOLE {
                filled.push_str(self.pick(&["\"a\"", "\"b\"", "\"z\""]));
            } else if c == SKIP_HOLE {
                filled.push_str(self.pick(&["0", "5", "17", "999", "1000", "50000", "-1", "5.0", "null"]));
            } else {
                filled.push(c);
            }
        }
        filled
    }

    fn line(&mut self, (command, kind): &(String, &'static str), number: usize) -> String {
        let command = self.fill(command);
        let namespace = self.pick(&["shop.t", "shop.t", "shop.t", "shop.h", "shop.undeclared"]);
        let before = self.pick(&["", r#""appName":"web","#, r#""appName":"batch","#]);
        let shards = self.pick(&["", "", r#""nShards":1,"#, r#""nShards":2,"#, r#""nShards":3,"#]);
        let plan =
            self.pick(&["", r#""planSummary":"COLLSCAN","#, r#""planSummary":"IXSCAN { a: 1 }","hasSortStage":true,"#]);
        let (component, millis) = (if *kind == "command" { "COMMAND" } else { "WRITE" }, self.random.u32(..900));
        let behind =
            self.pick(&["", "", "", r#","truncated":{"command":{"filter":{"a":{"type":"string","size":9}}}}"#]);
        let context = self.pick(&["conn0", "conn1", "conn2", "conn3", "conn4", "TTLMonitor"]);
        format!(
            r#"{{"t":{{"$date":"2024-05-14T09:{:02}:{:02}.481+00:00"}},"s":"I",  "c":"{component}","id":51803,"ctx":"{context}","msg":"Slow query","attr":{{"type":"{kind}","ns":"{namespace}",{before}"command":{command},{plan}{shards}"keysExamined":{},"docsExamined":{},"nreturned":{},"durationMillis":{millis}}}{behind}}}"#,
            number / 60 % 60,
            number % 60,
            self.random.u32(..3),
            self.random.u32(..200),
            self.random.u32(..200),
        ) + "\n"
    }

    fn log(&mut self) -> String {
        self.lines(Self::command, Self::line)
    }

    /// Lines of a few templates.
    fn lines<T: Clone>(&mut self, template: fn(&mut Self) -> T, line: fn(&mut Self, &T, usize) -> String) -> String {
        let templates: Vec<_> = (0..2 + self.random.usize(..4)).map(|_| template(self)).collect();
        (0..250)
            .map(|number| {
                let template = templates[self.random.usize(..templates.len())].clone();
                line(self, &template, number)
            })
            .collect()
    }
}

#[test]
fn made_up_logs_give_the_same_report_as_without_recalling() {
    assert_same_of_made_up("log", Maker::log);
}

/// Holds the reports on made-up logs of that kind against each other.
fn assert_same_of_made_up(kind: &str, make: fn(&mut Maker) -> String) {
    let rounds = std::env::var("SHARDLINT_ROUNDS").ok().and_then(|rounds| rounds.parse().ok()).unwrap_or(40);
    for seed in 0..rounds {
        let mut maker = Maker { random: fastrand::Rng::with_seed(seed) };
        let log = make(&mut maker);
        let key = maker.pick(&[r#"{"a":1}"#, r#"{"a":1,"b":1}"#, r#"{"a.b":1}"#, r#"{"b":1,"_id":1}"#]);
        let hashed = maker.pick(&[r#"{"a":"hashed"}"#, r#"{"a":"hashed","b":1}"#]);
        assert_same(&[log.as_bytes()], &[("shop.t", key), ("shop.h", hashed)], &format!("{kind} of seed {seed}"));
    }
}

#[test]
fn filters_are_heeded_while_recalling() {
    let mut maker = Maker { random: fastrand::Rng::with_seed(7) };
    let log = maker.log();
    let with = |recalls: bool| {
        let mut settings = settings(&[("shop.t", r#"{"a":1}"#)], recalls, 2);
        settings.filters = Filters {
            application: Some(regex::Regex::new("web").expect("a regex")),
            since: Some(1_715_677_950_000),
            min_millis: Some(100),
            ..Filters::default()
        };
        report(&[log.as_bytes()], &settings, 5000)
    };
    assert_eq!(with(true), with(false));
}

/// What the update does to the key depends on the filter, whichever of them the command names first.
#[test]
fn an_update_before_its_query_is_held_against_it_while_recalling() {
    let line = |second: u64, had: u64, set: u64| {
        let change = format!(r#""update":{{"$set":{{"a":{set}}}}},"query":{{"a":{had},"_id":{second}}}"#);
        format!(
            r#"{{"t":{{"$date":"2024-05-14T09:12:{second:02}.481+00:00"}},"s":"I","c":"COMMAND","id":51803,"ctx":"conn1","msg":"Slow query","attr":{{"type":"command","ns":"shop.t","command":{{"findAndModify":"t",{change},"$db":"shop"}},"nreturned":1,"durationMillis":5}}}}"#
        ) + "\n"
    };
    let keeps_first: String = (0..20).map(|n| line(n, 5, if n % 4 == 3 { 6 } else { 5 })).collect();
    let changes_first: String = (0..20).map(|n| line(n, 5, if n % 4 == 3 { 5 } else { 6 })).collect();
    for (log, changes) in [(keeps_first, 5), (changes_first, 15)] {
        assert_same(&[log.as_bytes()], &[("shop.t", r#"{"a":1}"#)], "an update before its query");
        let report = report(&[log.as_bytes()], &settings(&[("shop.t", r#"{"a":1}"#)], true, 1), DEFAULT_CHUNK_SIZE);
        let report: serde_json::Value = serde_json::from_str(&report).expect("JSON");
        let found = report["diagnostics"].as_array().expect("a list").iter().find(|found| found["code"] == "SL206");
        assert_eq!(found.expect("SL206")["count"], changes);
    }
}

/// Slow queries of so many shapes, each of which comes again; some of them batches whose statements stand in lines of their own.
fn many_shapes(shapes: usize) -> String {
    let mut random = fastrand::Rng::with_seed(1);
    let mut log = String::new();
    for number in 0..shapes * 3 {
        let shape = if number.is_multiple_of(3) { number / 3 } else { random.usize(..=number / 3) };
        let filter = format!(r#"{{"f{shape}":{number},"{}":1}}"#, if shape % 4 == 0 { "a" } else { "b" });
        let (kind, ns, command) = match shape % 7 {
            0 => (
                "update",
                "shop.t",
                format!(r#"{{"q":{filter},"u":{{"$set":{{"x":1}}}},"multi":true,"upsert":false}}"#),
            ),
            1 => ("command", "shop.$cmd", r#"{"update":"t","ordered":true,"$db":"shop"}"#.to_owned()),
            2 => ("command", "shop.u", format!(r#"{{"find":"u","filter":{filter},"$db":"shop"}}"#)),
            _ => ("command", "shop.t", format!(r#"{{"find":"t","filter":{filter},"$db":"shop"}}"#)),
        };
        let (thread, millis) = (random.u32(..3), 100 + random.u32(..900));
        let component = if kind == "update" { "WRITE" } else { "COMMAND" };
        log += &format!(
            r#"{{"t":{{"$date":"2026-05-14T14:{:02}:{:02}.000+00:00"}},"s":"I","c":"{component}","id":51803,"ctx":"conn{thread}","msg":"Slow query","attr":{{"type":"{kind}","ns":"{ns}","command":{command},"durationMillis":{millis}}}}}"#,
            number / 60 % 60,
            number % 60,
        );
        log.push('\n');
    }
    log
}

#[test]
fn shapes_beyond_the_limit_are_folded_alike_however_the_input_is_cut_and_nothing_is_lost() {
    let log = many_shapes(120);
    let logs = [log.as_bytes(), log.as_bytes()];
    let with = |most_shapes: usize, threads: usize, chunk_size: usize, recalls: bool| {
        let settings = Settings { most_shapes, ..settings(&[("shop.t", r#"{"a":1}"#)], recalls, threads) };
        report(&logs, &settings, chunk_size)
    };
    let read = |json: &str| serde_json::from_str::<serde_json::Value>(json).expect("JSON");
    let list = |report: &serde_json::Value, name: &str| report[name].as_array().expect("a list").clone();
    // Those on collections as a whole look at shapes one by one.
    let of_records = |report: &serde_json::Value| {
        let is_of_records = |row: &serde_json::Value| row["labels"][0]["location"]["path"] != "keys.json";
        list(report, "diagnostics").into_iter().filter(is_of_records).collect::<Vec<_>>()
    };
    let whole = read(&with(10_000, 1, DEFAULT_CHUNK_SIZE, true));
    assert_eq!(whole["summary"]["notes"], serde_json::json!([]));
    for most in [1, 7, 20] {
        let text = with(most, 1, DEFAULT_CHUNK_SIZE, false);
        for (threads, chunk_size) in [(1, DEFAULT_CHUNK_SIZE), (1, 700), (3, 2000), (4, 5000)] {
            assert!(text == with(most, threads, chunk_size, true), "{most} shapes, {threads} threads, {chunk_size}");
        }
        let folded = read(&text);
        assert!(
            folded["summary"]["notes"][0].as_str().expect("a note").contains(&format!("{most} shapes are told apart"))
        );
        assert_eq!(folded["summary"]["classes"], whole["summary"]["classes"]);
        let (apart, others): (Vec<_>, Vec<_>) =
            list(&folded, "shapes").into_iter().partition(|row| row["operation"] != "other");
        assert!(apart.len() <= most && others.len() <= 2 && !others.is_empty());
        let all = list(&whole, "shapes");
        assert!(apart.iter().all(|row| all.contains(row)), "what is told apart is told in full");
        let sum =
            |rows: &[serde_json::Value], name: &str| rows.iter().filter_map(|row| row[name].as_u64()).sum::<u64>();
        for name in ["count", "millis"] {
            assert_eq!(sum(&apart, name) + sum(&others, name), sum(&all, name));
            assert_eq!(sum(&of_records(&folded), name), sum(&of_records(&whole), name));
        }
    }
}

#[test]
fn frequent_shapes_are_told_apart_however_late_they_come_and_rare_ones_folded_however_early() {
    let line = |number: usize, shape: &str| {
        format!(
            r#"{{"t":{{"$date":"2026-05-14T14:{:02}:{:02}.000+00:00"}},"s":"I","c":"COMMAND","id":51803,"ctx":"conn1","msg":"Slow query","attr":{{"type":"command","ns":"shop.t","command":{{"find":"t","filter":{{"{shape}":{number},"a":1}},"$db":"shop"}},"durationMillis":120}}}}"#,
            number / 60 % 60,
            number % 60,
        ) + "\n"
    };
    let rare = |range: std::ops::Range<usize>| range.map(|number| line(number, &format!("rare{number}")));
    let often = (300..400).map(|number| line(number, ["often", "rare0"][number % 2]));
    let log: String = rare(0..300).chain(often).chain(rare(400..700)).collect();
    let with = |threads: usize, chunk_size: usize| {
        let settings = Settings { most_shapes: 30, ..settings(&[("shop.t", r#"{"a":1}"#)], true, threads) };
        report(&[log.as_bytes()], &settings, chunk_size)
    };
    let whole = with(1, DEFAULT_CHUNK_SIZE);
    for threads in 1..=4 {
        for chunk_size in [300, 2000, 30_000] {
            assert!(with(threads, chunk_size) == whole, "{threads} threads, {chunk_size}");
        }
    }
    let report: serde_json::Value = serde_json::from_str(&whole).expect("JSON");
    let shapes = report["shapes"].as_array().expect("a list");
    let of = |name: &str| shapes.iter().find(|row| row["shape"].as_str().is_some_and(|shape| shape.contains(name)));
    assert_eq!(of("often").expect("it is told apart")["count"], 50);
    assert!(of("rare0").is_none(), "it was folded while it was rare, and stays so");
    assert_eq!(shapes.len(), 31);
    assert_eq!(
        report["summary"]["notes"][0],
        "30 shapes are told apart; 571 rarer ones, with 621 statements, are counted as the other shapes of their collections, or of all that are not declared"
    );
}

#[test]
fn collections_that_are_not_declared_are_told_apart_by_their_shapes_and_folded_with_them() {
    let line = |number: usize, namespace: &str| {
        format!(
            r#"{{"t":{{"$date":"2026-05-14T14:{:02}:{:02}.000+00:00"}},"s":"I","c":"COMMAND","id":51803,"ctx":"conn1","msg":"Slow query","attr":{{"type":"command","ns":"{namespace}.t","command":{{"find":"t","filter":{{"a":{number}}},"$db":"{namespace}"}},"durationMillis":{number}}}}}"#,
            number / 60 % 60,
            number % 60,
        ) + "\n"
    };
    let tenant = |number: usize| if number.is_multiple_of(3) { "busy".to_owned() } else { format!("tenant{number}") };
    let log: String = (0..300).map(|number| line(number, &tenant(number))).collect();
    let with = |most_shapes: usize, threads: usize, chunk_size: usize| {
        let settings = Settings { most_shapes, ..settings(&[], true, threads) };
        report(&[log.as_bytes()], &settings, chunk_size)
    };
    let whole = with(10, 1, DEFAULT_CHUNK_SIZE);
    assert!([(1, 400), (2, 1000), (4, 3000)].into_iter().all(|(threads, size)| with(10, threads, size) == whole));
    let report: serde_json::Value = serde_json::from_str(&whole).expect("JSON");
    let all = |name: &str| report[name].as_array().expect("a list").clone();
    let of = |name: &str, namespace: &str| {
        all(name).into_iter().filter(|row| row["namespace"] == namespace).collect::<Vec<_>>()
    };
    for name in ["shapes", "diagnostics"] {
        assert_eq!(all(name).len(), 11, "{name}");
        assert_eq!(of(name, "busy.t")[0]["count"], 100, "{name}");
        assert_eq!(of(name, "other collections")[0]["count"], 191, "{name}");
    }
    assert!(
        of("diagnostics", "other collections")[0]["message"]
            .as_str()
            .expect("words")
            .contains("many other collections")
    );
}
