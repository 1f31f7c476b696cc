//! Made-up logs, and what is declared for them: the same few queries with ever different values, as logs are.
#![allow(dead_code, reason = "each bench uses a part")]

use std::fmt::Write as _;
use std::io::Cursor;
use std::sync::atomic::AtomicBool;

use shardlint::catalog::{Catalog, Collection};
use shardlint::engine::{Job, Outcome, Progress, Settings, Source, run};
use shardlint::input::{DEFAULT_CHUNK_SIZE, Input};
use shardlint::model::ShardKey;
use shardlint::syntax::ext_json;
use shardlint::text::SourceId;

/// What each made-up log has of lines.
const LINES: usize = 20_000;

/// A structured log of which half of the lines are slow queries.
pub fn structured() -> String {
    let mut log = String::new();
    for n in 0..LINES {
        let time = format!("2026-11-30T08:{:02}:{:02}.{:03}+00:00", n / 600 % 60, n / 10 % 60, n % 1000);
        let line = if n % 2 == 0 {
            format!(
                r#"{{"t":{{"$date":"{time}"}},"s":"I",  "c":"NETWORK",  "id":22943,   "ctx":"listener","msg":"Connection accepted","attr":{{"remote":"10.1.2.3:{n}","connectionId":{n},"connectionCount":7}}}}"#
            )
        } else {
            let filter = match n % 8 {
                1 => format!(r#"{{"customerId":{n},"orderId":{{"$oid":"65000000{n:016x}"}}}}"#),
                3 => format!(
                    r#"{{"status":"open","createdAt":{{"$gte":{{"$date":"2026-11-{:02}T00:00:00.000Z"}}}}}}"#,
                    1 + n % 28
                ),
                5 => format!(r#"{{"customerId":{{"$in":[{n},{},{}]}}}}"#, n + 1, n + 2),
                _ => format!(r#"{{"$or":[{{"customerId":{n}}},{{"sku":"sku-{n}"}}]}}"#),
            };
            format!(
                r#"{{"t":{{"$date":"{time}"}},"s":"I",  "c":"COMMAND",  "id":51803,   "ctx":"conn{}","msg":"Slow query","attr":{{"type":"command","ns":"shop.orders","appName":"web","command":{{"find":"orders","filter":{filter},"sort":{{"createdAt":-1}},"limit":{},"lsid":{{"id":{{"$uuid":"0aaaaaaa-0000-4000-8000-{n:012x}"}}}},"$db":"shop"}},"planSummary":"IXSCAN {{ customerId: 1 }}","keysExamined":{n},"docsExamined":{n},"cursorExhausted":true,"numYields":1,"nreturned":7,"queryHash":"0CF8B22C","reslen":812,"locks":{{"FeatureCompatibilityVersion":{{"acquireCount":{{"r":2}}}},"Global":{{"acquireCount":{{"r":2}}}},"Mutex":{{"acquireCount":{{"r":1}}}}}},"storage":{{"data":{{"bytesRead":{n},"timeReadingMicros":{n}}}}},"remote":"10.1.2.3:4567","protocol":"op_msg","durationMillis":{}}}}}"#,
                n % 90,
                n % 40,
                100 + n % 700
            )
        };
        let _ = writeln!(log, "{line}");
    }
    log
}

/// A text log as servers before 4.4 write it; every line is a slow query.
pub fn legacy() -> String {
    let mut log = String::new();
    for n in 0..LINES / 4 {
        let _ = writeln!(
            log,
            r#"2019-06-18T12:{:02}:{:02}.481+0000 I COMMAND  [conn{}] command shop.orders appName: "web" command: find {{ find: "orders", filter: {{ customerId: {n}, status: "open" }}, $db: "shop" }} planSummary: IXSCAN {{ customerId: 1 }} keysExamined:{n} docsExamined:{n} cursorExhausted:1 numYields:0 nreturned:7 reslen:812 locks:{{ Global: {{ acquireCount: {{ r: 1 }} }} }} protocol:op_msg {}ms"#,
            n / 600 % 60,
            n / 10 % 60,
            n % 90,
            100 + n % 700
        );
    }
    log
}

/// The declaration of `shop.orders`.
pub fn orders() -> Collection {
    let key = ext_json::parse(r#"{"customerId": 1, "orderId": 1}"#, 0).expect("JSON");
    Collection::sharded("shop.orders", ShardKey::from_pattern(&key).expect("a key"), SourceId(0))
}

/// What a run is asked to do.
pub fn settings(threads: usize, recalls: bool) -> Settings {
    let mut catalog = Catalog::default();
    catalog.add(orders());
    Settings { catalog, threads, recalls, ..Settings::default() }
}

/// Those lines that are slow queries.
pub fn slow_lines(log: &str) -> Vec<&str> {
    log.lines().filter(|line| line.contains("51803")).collect()
}

struct Silent;

impl Progress for Silent {
    fn advanced(&mut self, _: SourceId, _: u64) {}
}

/// Reads and judges a log, from bytes to counts.
pub fn read_whole(log: &str, settings: &Settings) -> Outcome {
    static NEVER: AtomicBool = AtomicBool::new(false);
    let source =
        Source { input: Input::stdin(), opened: Some(Box::new(Cursor::new(log.as_bytes().to_vec()))), role: None };
    let job = Job { sources: vec![source], chunk_size: DEFAULT_CHUNK_SIZE, interrupted: &NEVER };
    run(job, settings, &mut Silent).expect("threads")
}
