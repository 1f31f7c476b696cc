//! Snapshots of what people see.

use insta::assert_snapshot;
use shardlint::report::{Format, NotChecked, RenderOptions, Report, UnreadLine};

use super::build::{diagnostic, example, label, pretty, report, shape, slow_query, summary, text};

const BROADCAST: &str = "`find` on `shop.orders` is sent to every shard";

fn long_find() -> String {
    let noise: String = (0..900).map(|n| format!(r#","field{n}":{{"$ne":"value {n}"}}"#)).collect();
    let filter = format!(r#"{{"status":"A","total":{{"$gte":90}}{noise}}}"#);
    slow_query(
        &format!(
            r#"{{"find":"orders","filter":{filter},"sort":{{"ts":-1}},"limit":50,"lsid":{{"id":{{"$uuid":"fed35edb-a198-41d9-89f2-133141aa2e25"}}}},"$db":"shop"}}"#
        ),
        r#""planSummary":"COLLSCAN","nShards":12"#,
    )
}

fn short_find() -> String {
    slow_query(
        r#"{"find":"orders","filter":{"status":"A","total":{"$gte":90}},"sort":{"ts":-1},"limit":50,"lsid":{"id":{"$uuid":"fed35edb-a198-41d9-89f2-133141aa2e25"}},"$db":"shop"}"#,
        r#""planSummary":"IXSCAN { status: 1 }","nShards":12"#,
    )
}

fn filter_of(record: &str) -> &str {
    let start = record.find(r#"{"status""#).expect("a filter");
    let end = record.find(r#","sort""#).expect("what follows it");
    &record[start..end]
}

#[test]
fn a_broadcast_find_in_a_line_of_16_kilobytes() {
    let record = long_find();
    assert!(record.len() > 16_000);
    let filter = filter_of(&record).as_bytes();
    let labels = [(filter, "no predicate on `customerId`, so no chunk can be ruled out")];
    assert_snapshot!(pretty(&report(vec![diagnostic(BROADCAST, example(record.as_bytes(), 48_211, &labels))]), 100));
}

#[test]
fn labels_in_filter_and_plan_summary_at_once() {
    let record = short_find();
    let labels: [(&[u8], &str); 3] = [
        (filter_of(&record).as_bytes(), "no predicate on `customerId`, so no chunk can be ruled out"),
        (b"\"IXSCAN { status: 1 }\"", "no index helps to find the shard"),
        (b"12", "12 of 12 shards were asked"),
    ];
    let mut example = example(record.as_bytes(), 48_211, &labels);
    let shards = record.find(r#""nShards":12"#).expect("the counter") + 10;
    example.labels[2] = label("mongod.log", record.as_bytes(), shards, shards + 2, labels[2].1, 48_211);
    let report = report(vec![diagnostic(BROADCAST, example)]);
    assert_snapshot!(pretty(&report, 100));
    assert_snapshot!("labels_in_filter_and_plan_summary_at_60_columns", pretty(&report, 60));
    assert_snapshot!("labels_in_filter_and_plan_summary_at_160_columns", pretty(&report, 160));
    let ascii = RenderOptions { unicode: false, summary: false, ..RenderOptions::default() };
    assert_snapshot!("labels_in_filter_and_plan_summary_in_ascii", text(&report, Format::Pretty, &ascii));
    let color = RenderOptions { color: true, summary: false, ..RenderOptions::default() };
    let colored = text(&report, Format::Pretty, &color);
    assert!(colored.starts_with("\u{1b}[31m[SL101] error:\u{1b}[0m "));
    assert!(colored.contains("\u{1b}[36m┬\u{1b}[0m"), "labels beside the primary one have a colour of their own");
}

#[test]
fn a_nested_or() {
    let record = slow_query(
        r#"{"find":"orders","filter":{"region":"EU","$or":[{"customerId":{"$oid":"59154269cfe1f2d40943d7f5"}},{"status":"A","tags":{"$in":["a","b"]}},{"customerId":9}]},"$db":"shop"}"#,
        r#""planSummary":"COLLSCAN""#,
    );
    let branch: &[u8] = br#"{"status":"A","tags":{"$in":["a","b"]}}"#;
    let labels: [(&[u8], &str); 1] = [(branch, "this branch has no predicate on `customerId`")];
    let one =
        diagnostic("one branch of `$or` turns the `find` into a broadcast", example(record.as_bytes(), 7, &labels));
    let start = record.find("[{\"customerId").expect("the branches");
    let end = record.find("},\"$db\"").expect("the filter's end");
    let labels: [(&[u8], &str); 2] = [labels[0], (&record.as_bytes()[start..end], "all branches must name the key")];
    let two = diagnostic("labels inside labels", example(record.as_bytes(), 7, &labels));
    assert_snapshot!(pretty(&report(vec![one, two]), 100));
}

#[test]
fn wide_characters_emoji_and_combining_marks() {
    let record = slow_query(
        "{\"find\":\"訂單\",\"filter\":{\"狀態\":\"已付款 🍎\",\"café\":\"cafe\u{301} crème\",\"größe\":42},\"$db\":\"shop\"}",
        "\"planSummary\":\"COLLSCAN\"",
    );
    let labels: [(&[u8], &str); 3] = [
        ("\"已付款 🍎\"".as_bytes(), "paid"),
        ("\"cafe\u{301} crème\"".as_bytes(), "a mark on a letter of its own"),
        (b"42", "plain"),
    ];
    assert_snapshot!(pretty(&report(vec![diagnostic(BROADCAST, example(record.as_bytes(), 3, &labels))]), 100));
}

#[test]
fn escape_sequences_in_keys_and_values_tabs_and_invalid_utf_8() {
    let record = slow_query(
        "{\"find\":\"orders\",\"filter\":{\"a\u{1b}]0;owned\u{7}\":1,\"b\":\"\u{1b}[31mred\u{202e}\",\t\"c\":\"x\ty\",\"d\":\"zFFz\"},\"$db\":\"shop\"}",
        "\"planSummary\":\"COLLSCAN\"",
    );
    let mut record = record.into_bytes();
    let bad = record.windows(2).position(|part| part == b"FF").expect("the placeholder");
    record.splice(bad..bad + 2, [0xff, 0xc3]);
    let labels: [(&[u8], &str); 4] = [
        ("\"a\u{1b}]0;owned\u{7}\"".as_bytes(), "a hostile key\u{1b}[2J"),
        ("\"\u{1b}[31mred\u{202e}\"".as_bytes(), "a hostile value"),
        (b"\"x\ty\"", "a tab"),
        (b"\xff", "an invalid byte"),
    ];
    let mut diagnostic = diagnostic("`find` on `shop\u{1b}[1m` is sent to every shard", example(&record, 3, &labels));
    diagnostic.comment = Some("api/orders.js:12\u{9b}2J".to_owned());
    assert_snapshot!(pretty(&report(vec![diagnostic]), 100));
}

#[test]
fn a_label_in_the_middle_of_a_long_string() {
    let plan = format!("IXSCAN {{ {}customerId: 1, {}z: 1 }}", "a: 1, ".repeat(40), "b: 1, ".repeat(40));
    let record = slow_query(r#"{"find":"orders","filter":{},"$db":"shop"}"#, &format!(r#""planSummary":"{plan}""#));
    let labels: [(&[u8], &str); 1] = [(b"customerId: 1", "the key is not the first field")];
    assert_snapshot!(pretty(&report(vec![diagnostic(BROADCAST, example(record.as_bytes(), 3, &labels))]), 100));
}

#[test]
fn a_pipeline_of_many_stages_and_an_array_of_thousands() {
    let ids: Vec<String> = (0..5000).map(|n| n.to_string()).collect();
    let record = slow_query(
        &format!(
            r#"{{"aggregate":"orders","pipeline":[{{"$unwind":"$items"}},{{"$match":{{"customerId":{{"$in":[{}]}}}}}},{{"$group":{{"_id":"$status"}}}}],"cursor":{{}},"$db":"shop"}}"#,
            ids.join(",")
        ),
        r#""planSummary":"COLLSCAN""#,
    );
    let start = record.find(r#"{"customerId""#).expect("the condition");
    let end = record.find(r#"},{"$group""#).expect("the next stage");
    let labels: [(&[u8], &str); 2] = [
        (&record.as_bytes()[start..end], "the key condition stands behind a stage it cannot move past"),
        (br#"{"$unwind":"$items"}"#, "`$unwind` holds it back"),
    ];
    assert_snapshot!(pretty(&report(vec![diagnostic(BROADCAST, example(record.as_bytes(), 3, &labels))]), 100));
}

#[test]
fn a_legacy_line_of_words_and_documents() {
    let record = br#"2020-03-01T10:00:00.123+0000 I  COMMAND  [conn4479] command shop.orders appName: "checkout" command: find { find: "orders", filter: { status: "A", ts: ISODate('2020') }, $db: "shop" } planSummary: COLLSCAN keysExamined:0 docsExamined:180000 numYields:140 nreturned:7 reslen:239 protocol:op_msg 812ms"#;
    let labels: [(&[u8], &str); 2] = [
        (b"{ status: \"A\", ts: ISODate('2020') }", "no predicate on `customerId`"),
        (b"COLLSCAN", "reads everything"),
    ];
    assert_snapshot!(pretty(&report(vec![diagnostic(BROADCAST, example(record, 3, &labels))]), 100));
}

#[test]
fn a_line_that_is_no_record() {
    let record = br#"{"t":{"$date":"2024-03-01T10:00:00.123+00:00"},"s":"I",  "c":"COMMAND",  "id":51803,   "ctx":"conn4479","msg":"Slow query","attr":{"type":"comm"#;
    let mut example = example(record, 17, &[(b"\"comm", "a string that never ends")]);
    let end = record.len();
    example.labels.push(label("mongod.log", record, end, end, "expected `\"`", 17));
    let mut diagnostic = diagnostic("this line is no log record", example);
    (diagnostic.help, diagnostic.millis, diagnostic.count) = (None, 0, 1);
    assert_snapshot!(pretty(&report(vec![diagnostic]), 100));
}

#[test]
fn a_record_of_several_lines() {
    let record = b"{\r\n\t\"op\" : \"query\",\r\n\t\"ns\" : \"shop.orders\",\r\n\t\"command\" : {\r\n\t\t\"find\" : \"orders\",\r\n\t\t\"filter\" : {\r\n\t\t\t\"status\" : \"A\"\r\n\t\t}\r\n\t},\r\n\t\"nShards\" : 12,\r\n\t\"millis\" : 812\r\n}";
    let labels: [(&[u8], &str); 2] =
        [(b"{\r\n\t\t\t\"status\" : \"A\"\r\n\t\t}", "no predicate on `customerId`"), (b"12", "all shards")];
    assert_snapshot!(pretty(&report(vec![diagnostic(BROADCAST, example(record, 40, &labels))]), 100));
}

fn declaration(text: &str, labels: &[(&str, &str)]) -> Report {
    let label = |(needle, message): &(&str, &str)| {
        let start = text.find(needle).expect("in the declaration");
        label("sharding.js", text.as_bytes(), start, start + needle.len(), message, 1)
    };
    let mut example = example(b"", 1, &[]);
    example.record = text.as_bytes().into();
    example.is_declaration = true;
    example.labels = labels.iter().map(label).collect();
    let mut diagnostic = diagnostic("the unique index `email_1` is not led by the shard key", example);
    (diagnostic.code, diagnostic.rule, diagnostic.count, diagnostic.millis) = ("SL403", "illegal-unique-index", 0, 0);
    diagnostic.help = Some("create it as `{ customerId: 1, _id: 1, email: 1 }`, or without `unique`".to_owned());
    report(vec![diagnostic])
}

const SHARDING: &str = "// the shop\nsh.shardCollection(\n\t\"shop.orders\",\n\t{ customerId: 1, _id: 1 }\n)\n\nuse shop\n\n// accounts\n\ndb.orders.createIndex(\n\t{ email: 1 },\n\t{ unique: true, name: \"email_1\" }\n)\n";

#[test]
fn a_declaration_of_several_lines_with_an_illegal_unique_index() {
    let labels = [
        ("{ email: 1 }", "does not begin with the key"),
        ("unique: true", "unique"),
        ("{ customerId: 1, _id: 1 }", "the key"),
    ];
    assert_snapshot!(pretty(&declaration(SHARDING, &labels), 100));
    let crlf = SHARDING.replace('\n', "\r\n");
    assert_eq!(pretty(&declaration(&crlf, &labels), 100), pretty(&declaration(SHARDING, &labels), 100));
}

#[test]
fn a_label_over_several_lines_of_a_declaration() {
    let statement = &SHARDING[SHARDING.find("db.orders").expect("the statement")..SHARDING.len() - 1];
    assert_snapshot!(pretty(&declaration(SHARDING, &[(statement, "this statement fails with code 67")]), 100));
}

#[test]
fn a_log_finding_that_points_at_the_declared_key() {
    let record = short_find();
    let mut example =
        example(record.as_bytes(), 48_211, &[(filter_of(&record).as_bytes(), "no predicate on `customerId`")]);
    let start = SHARDING.find("customerId").expect("the key");
    let mut key = label("sharding.js", SHARDING.as_bytes(), start, start + 10, "the first field of the key", 1);
    key.other_source = Some(0);
    example.labels.push(key);
    let mut report = report(vec![diagnostic(BROADCAST, example)]);
    report.declarations.push(("sharding.js".to_owned(), SHARDING.as_bytes().to_vec()));
    assert_snapshot!(pretty(&report, 100));
}

#[test]
fn a_dump_on_one_long_line() {
    let chunks: String = (0..2000).map(|n| format!(r#"{{"min":{n},"shard":"s{}"}},"#, n % 3)).collect();
    let text = format!("[{chunks}{{\"min\":1x}}]\n");
    assert_snapshot!(pretty(&declaration(&text, &[("1x", "expected a number")]), 100));
}

#[test]
fn the_whole_report() {
    let record = short_find();
    let labels: [(&[u8], &str); 1] = [(filter_of(&record).as_bytes(), "no predicate on `customerId`")];
    let mut regression = diagnostic(BROADCAST, example(record.as_bytes(), 48_211, &labels));
    (regression.new, regression.was, regression.now) = (Some(true), Some("targeted"), Some("broadcast"));
    regression.comment = Some("api/orders.js:12".to_owned());
    let mut summary = summary();
    (summary.from, summary.to) = (Some("2024-03-01T10:00:00Z".to_owned()), Some("2024-03-01T13:00:00Z".to_owned()));
    (summary.duplicates, summary.truncated) = (12, 3);
    summary.not_checked = [("SL401", "indexes"), ("SL402", "indexes"), ("SL602", "chunks")]
        .map(|(code, needs)| NotChecked { code, needs })
        .to_vec();
    summary.unread = vec![UnreadLine {
        path: "mongod.log".to_owned(),
        line: 17,
        column: 144,
        why: "a string that never ends, expected `\"`".to_owned(),
    }];
    summary.notes = vec!["3 shapes were folded into one because their texts are longer than 4 kB".to_owned()];
    let shapes = vec![shape("broadcast", 843_000), shape("targeted", 90_500), shape("undeclared", 12)];
    let report = Report { summary, shapes, diagnostics: vec![regression], ..Report::default() };
    let options = RenderOptions { top: 2, ..RenderOptions::default() };
    assert_snapshot!(text(&report, Format::Pretty, &options));
    assert_snapshot!("the_whole_report_concise", text(&report, Format::Concise, &options));
}
