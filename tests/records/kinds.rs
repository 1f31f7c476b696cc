//! What kind of traffic a record is about, who wrote it, and what else is no slow query at all.

use shardlint::model::{Namespace, Origin, Shape, Traffic, Verb};
use shardlint::syntax::{Fact, Record, Role, read_record};

use super::{command, line, record, slow};

fn shapes(event: &shardlint::model::Event) -> Vec<String> {
    event.statements.iter().map(|statement| format!("{} {}", statement.namespace, Shape::of(statement).text)).collect()
}

#[test]
fn a_read_keeps_its_options() {
    let event = command(
        r#"{"find":"orders","filter":{"a":1},"sort":{"b":-1},"skip":2,"limit":3,"hint":"x","collation":{"locale":"en"},"let":{"v":1},"comment":"orders.py:12","txnNumber":4,"autocommit":false,"$db":"shop"}"#,
    );
    let statement = &event.statements[0];
    assert_eq!((&event.traffic, event.verb, event.origin), (&Traffic::Query, Some(Verb::Find), Origin::Direct));
    assert!(statement.sort.is_some() && statement.skip.is_some() && statement.limit.is_some());
    assert!(statement.hint.is_some() && statement.collation.is_some() && statement.let_variables.is_some());
    assert!(statement.in_transaction && !statement.retryable && !statement.options_partial);
    assert_eq!(event.comment.as_deref(), Some("orders.py:12"));
    assert_eq!(statement.now, event.time_millis);
    assert_eq!(event.time_millis, Some(1_796_026_620_824));
}

#[test]
fn a_comment_that_is_no_string_is_kept_as_compact_text() {
    let event = command(r#"{"find":"orders","comment":{ "file" : "a.py", "line": 3 }}"#);
    assert_eq!(event.comment.as_deref(), Some(r#"{"file":"a.py","line":3}"#));
}

#[test]
fn the_collection_comes_from_the_command_where_the_record_names_only_the_database() {
    for (ns, text) in [
        ("shop.$cmd", r#"{"find":"orders","filter":{"a":1},"$db":"shop"}"#),
        ("shop.$cmd", r#"{"clusterFind":"orders","filter":{"a":1},"$db":"shop"}"#),
        ("", r#"{"find":"orders","filter":{"a":1},"$db":"shop"}"#),
        ("shop.orders", r#"{"find":{"$uuid":"00010203-0405-0607-0809-0a0b0c0d0e0f"},"filter":{"a":1},"$db":"shop"}"#),
        ("shop.orders", r#"{"find":"other name","filter":{"a":1}}"#),
    ] {
        let event = slow(&record(&format!(r#""ns":"{ns}","command":{text}"#)));
        assert_eq!(event.statements[0].namespace, Namespace::parse("shop.orders"), "{ns} {text}");
    }
}

#[test]
fn every_operation_is_recognised_and_its_filter_found() {
    for (text, shape) in [
        (r#"{"count":"orders","query":{"a":1}}"#, "{ a: ? }"),
        (r#"{"distinct":"orders","key":"k","query":{"a":1}}"#, "{ a: ? } key k"),
        (r#"{"findandmodify":"orders","query":{"a":1},"remove":true}"#, "{ a: ? } remove"),
        (
            r#"{"findAndModify":"orders","query":{"a":1},"update":{"$set":{"b":1}}}"#,
            "{ a: ? } update { $set: { b: ? } }",
        ),
        (r#"{"aggregate":"orders","pipeline":[{"$match":{"a":1}}]}"#, "[{ $match: { a: ? } }]"),
        (r#"{"mapReduce":"orders","query":{"a":1}}"#, "{ a: ? }"),
        (r#"{"insert":"orders","documents":[{"a":1}]}"#, "insert"),
        (r#"{"filter":{"a":1},"comment":"x","find":"orders"}"#, "{ a: ? }"),
        (
            r#"{"comment":"x","pipeline":[{"$match":{"a":1}}],"cursor":{},"aggregate":"orders"}"#,
            "[{ $match: { a: ? } }]",
        ),
        (
            r#"{"update":{"$set":{"b":1}},"query":{"a":1},"findAndModify":"orders"}"#,
            "{ a: ? } update { $set: { b: ? } }",
        ),
        (r#"{"filter":{"a":1},"limit":1,"$db":"shop"}"#, "{ a: ? } limit"),
        (r#"{"pipeline":[{"$match":{"a":1}}],"$db":"shop"}"#, "[{ $match: { a: ? } }]"),
    ] {
        let event = command(text);
        assert_eq!(event.traffic, Traffic::Query, "{text}");
        assert_eq!(shapes(&event), [format!("shop.orders {shape}")], "{text}");
    }
}

#[test]
fn a_get_more_is_judged_by_the_command_it_continues() {
    let line = record(
        r#""ns":"shop.orders","command":{"getMore":5,"collection":"orders"},"originatingCommand":{"find":"orders","filter":{"a":1}}"#,
    );
    let event = slow(&line);
    assert!(event.get_more);
    assert_eq!(shapes(&event), ["shop.orders { a: ? }"]);
    assert_eq!(&line[event.command_span.range()], r#"{"find":"orders","filter":{"a":1}}"#);
    let lost = slow(&record(r#""ns":"shop.$cmd","command":{"getMore":99,"collection":"orders"}"#));
    assert_eq!(lost.traffic, Traffic::NotAQuery("getMore".to_owned()));
}

#[test]
fn batches_and_their_statements_are_told_apart() {
    let write =
        |kind: &str, text: &str| slow(&record(&format!(r#""type":"{kind}","ns":"shop.orders","command":{text}"#)));
    let one = write("update", r#"{"q":{"a":1},"u":{"b":1},"multi":false,"upsert":true}"#);
    assert_eq!((one.traffic.clone(), one.verb), (Traffic::BatchStatement, Some(Verb::Update)));
    assert_eq!(shapes(&one), ["shop.orders { a: ? } replacement upsert"]);
    let all = write("remove", r#"{"q":{"a":1},"limit":0}"#);
    assert_eq!((all.verb, all.statements[0].multi), (Some(Verb::Delete), true));
    let batch =
        slow(&record(r#""type":"command","ns":"shop.$cmd","command":{"update":"orders","ordered":true,"$db":"shop"}"#));
    assert_eq!((&batch.traffic, batch.statements.len()), (&Traffic::BatchCommand, 0));
    assert_eq!(batch.namespace.as_str(), "shop.orders");
    let batch = slow(&record(
        r#""type":"command","ns":"shop.$cmd","command":{"delete":"orders","deletes":[{"q":{"a":1},"limit":1},{"q":{},"limit":0}],"txnNumber":7}"#,
    ));
    assert_eq!(shapes(&batch), ["shop.orders { a: ? }", "shop.orders {} multi"]);
    assert!(batch.statements.iter().all(|statement| statement.retryable));
}

#[test]
fn a_bulk_write_names_the_collection_of_each_operation() {
    let event = slow(&record(
        r#""type":"command","ns":"admin.$cmd","command":{"bulkWrite":1,"ops":[{"update":1,"filter":{"a":1},"updateMods":{"$set":{"b":1}},"multi":true},{"delete":0,"filter":{"c":1},"multi":false},{"insert":0,"document":{"_id":1}}],"nsInfo":[{"ns":"shop.orders"},{"ns":"shop.items"}]}"#,
    ));
    assert_eq!(event.traffic, Traffic::BatchCommand);
    let expected =
        ["shop.items { a: ? } update { $set: { b: ? } } multi", "shop.orders { c: ? }", "shop.orders insert"];
    assert_eq!(shapes(&event), expected);
    let one = slow(&record(
        r#""type":"bulkWrite","ns":"shop.items","command":{"update":1,"filter":{"a":1},"updateMods":{"$set":{"b":1}}}"#,
    ));
    assert_eq!((one.traffic.clone(), one.verb), (Traffic::BatchStatement, Some(Verb::Update)));
    assert_eq!(shapes(&one), ["shop.items { a: ? } update { $set: { b: ? } }"]);
}

#[test]
fn a_view_stands_for_its_collection_and_a_time_series_for_itself() {
    let on = |views: &str| {
        let text = format!(r#""ns":"shop.v","command":{{"find":"v","filter":{{"a":1}}}},"resolvedViews":{views}"#);
        shapes(&slow(&record(&text))).remove(0)
    };
    let views = r#"[{"viewNamespace":"shop.other","dependencyChain":["other","x"],"resolvedPipeline":[]},{"viewNamespace":"shop.v","dependencyChain":["v","w","orders"],"resolvedPipeline":[{"$match":{"b":2}}]}]"#;
    assert_eq!(on(views), "shop.orders { a: ? } view [{ $match: { b: ? } }]");
    let buckets = r#"[{"viewNamespace":"shop.v","dependencyChain":["v","system.buckets.v"],"resolvedPipeline":[{"$_internalUnpackBucket":{"timeField":"t"}}]}]"#;
    assert_eq!(on(buckets), "shop.v { a: ? }");
}

#[test]
fn the_writer_of_a_record_is_known_by_its_signs() {
    let origin = |attr: &str| slow(&record(&format!(r#""ns":"shop.orders",{attr}"#))).origin;
    let find = r#""command":{"find":"orders","filter":{}}"#;
    assert_eq!(origin(&format!(r#"{find},"planSummary":"COLLSCAN","locks":{{}}"#)), Origin::Direct);
    assert_eq!(origin(&format!(r#"{find},"nShards":3"#)), Origin::Router);
    assert_eq!(origin(r#""command":{"clusterFind":"orders","filter":{}},"locks":{}"#), Origin::Router);
    assert_eq!(
        origin(r#""command":{"find":"orders","shardVersion":{}},"planSummary":"IDHACK""#),
        Origin::ThroughRouter
    );
    assert_eq!(
        origin(r#""command":{"aggregate":"orders","pipeline":[],"fromMongos":true},"nShards":2"#),
        Origin::ThroughRouter
    );
    assert_eq!(
        origin(r#""command":{"getMore":1,"$client":{"mongos":{"host":"x"}}},"originatingCommand":{"find":"orders"}"#),
        Origin::ThroughRouter
    );
    let router =
        line(r#""ns":"shop.orders","command":{"find":"orders"},"keysExamined":0,"docsExamined":0"#, r#","svc":"R""#);
    let router = slow(&router);
    assert_eq!((router.origin, router.keys_examined, router.docs_examined), (Origin::Router, None, None));
}

#[test]
fn the_servers_own_traffic_and_commands_without_a_filter_are_no_queries() {
    let traffic = |ns: &str, text: &str| slow(&record(&format!(r#""ns":"{ns}","command":{text}"#))).traffic;
    for (ns, text) in [
        ("config.system.sessions", r#"{"update":"system.sessions","updates":[]}"#),
        ("config.cache.chunks.shop.orders", r#"{"q":{"_id":1},"limit":1}"#),
        ("local.oplog.rs", r#"{"find":"oplog.rs","filter":{}}"#),
        ("shop.system.js", r#"{"find":"system.js"}"#),
        ("shop.orders", r#"{"aggregate":"orders","pipeline":[{"$mergeCursors":{}}]}"#),
        ("admin.$cmd", r#"{"_migrateClone":"shop.orders"}"#),
        ("admin.$cmd", r#"{"replSetHeartbeat":"rs"}"#),
    ] {
        assert!(matches!(traffic(ns, text), Traffic::Internal(_)), "{ns} {text}");
    }
    for (name, ns, text) in [
        ("hello", "admin.$cmd", r#"{"hello":1}"#),
        ("explain", "shop.orders", r#"{"explain":{"find":"orders"},"verbosity":"queryPlanner"}"#),
        ("createIndexes", "shop.orders", r#"{"$db":"shop","createIndexes":"orders","indexes":[{"key":{"a":1}}]}"#),
        ("listCollections", "shop.$cmd", r#"{"cursor":{},"filter":{"name":"x"},"listCollections":1}"#),
        ("unrecognized", "admin.$cmd", r#""unrecognized""#),
        ("aggregate", "admin.$cmd.aggregate", r#"{"aggregate":1,"pipeline":[{"$currentOp":{}}]}"#),
    ] {
        assert_eq!(traffic(ns, text), Traffic::NotAQuery(name.to_owned()), "{text}");
    }
}

#[test]
fn hidden_literals_are_marked_and_make_options_uncertain() {
    let line = record(
        "\"type\":\"update\",\"ns\":\"shop.orders\",\"command\":{\"q\":{\"a\":{\"$gt\":\"###\"}},\"u\":{\"$set\":{\"b\":\"###\"}},\"multi\":\"###\"}",
    );
    let event = slow(&line);
    assert_eq!(&line[event.redacted.expect("redacted").range()], "\"###\"");
    assert!(event.statements[0].options_partial);
    let read = slow(&record(
        "\"ns\":\"shop.orders\",\"command\":{\"find\":\"###\",\"filter\":{\"a\":\"###\"},\"$db\":\"###\"}",
    ));
    assert_eq!(shapes(&read), ["shop.orders { a: ? }"]);
    assert!(command(r#"{"find":"orders","filter":{"a":"x"}}"#).redacted.is_none());
}

#[test]
fn a_prefix_before_the_record_is_passed_over_and_spans_are_those_of_the_physical_line() {
    let bare = record(r#""ns":"shop.orders","command":{"find":"orders","filter":{"a":1}},"nShards":12"#);
    for prefix in ["mongodb_1  | ", "Nov 30 08:17:00 host mongod.27017[12]: ", "\u{feff}", "\0\0\0", "  "] {
        let line = format!("{prefix}{bare}");
        let event = slow(&line);
        assert_eq!(&line[event.n_shards.expect("a counter").span.range()], "12", "{prefix}");
        assert_eq!(&line[event.statements[0].filter.as_ref().expect("a filter").span.range()], r#"{"a":1}"#);
    }
}

#[test]
fn blanks_of_any_kind_behind_a_record_are_no_part_of_it_wrapped_or_not() {
    let bare = record(r#""ns":"shop.orders","command":{"find":"orders","filter":{"a":1}}"#);
    for blank in ["\u{b}", "\u{a0}", " \t"] {
        let line = format!("{bare}{blank}");
        assert_eq!(slow(&line).namespace.as_str(), "shop.orders");
        let wrapped = serde_json::json!({ "log": format!("{line}\n"), "stream": "stdout" }).to_string();
        assert_eq!(slow(&wrapped).namespace.as_str(), "shop.orders", "{wrapped}");
    }
}

#[test]
fn bytes_that_are_no_utf_8_keep_their_places() {
    let line =
        record(r#""ns":"shop.orders","appName":"@@","command":{"find":"orders","filter":{"a":"@"}},"nShards":12"#);
    let bytes: Vec<u8> = line.bytes().map(|byte| if byte == b'@' { 0xe9 } else { byte }).collect();
    let Record::Slow(event) = read_record(&bytes) else { panic!("a slow query") };
    assert_eq!(&bytes[event.n_shards.expect("a counter").span.range()], b"12");
}

#[test]
fn only_the_record_itself_counts_not_what_a_string_in_it_says() {
    let quoted = serde_json::to_string(&record(r#""ns":"a.b""#)).expect("a string");
    let line = format!(
        r#"{{"t":{{"$date":"2026-11-30T08:17:00.824Z"}},"s":"I","c":"CONTROL","id":1,"ctx":"x","msg":"m","attr":{{"log":{quoted}}}}}"#
    );
    assert!(matches!(read_record(line.as_bytes()), Record::Other(Fact::Plain)));
    let other = record("").replace("Slow query", "Something else");
    assert!(matches!(read_record(other.as_bytes()), Record::Other(Fact::Plain)));
    let in_progress = record("").replace("51803", "1794200").replace("Slow query", "Slow in-progress query");
    assert!(matches!(read_record(in_progress.as_bytes()), Record::Other(Fact::Plain)));
    let early = record(r#""ns":"shop.orders","command":{"find":"orders"}"#).replace("Slow query", "slow query");
    assert!(matches!(read_record(early.as_bytes()), Record::Slow(_)));
}

#[test]
fn blank_lines_are_records_and_what_is_no_record_is_located() {
    for blank in ["", "   ", "\t\r", "\0\0\0\0"] {
        assert!(matches!(read_record(blank.as_bytes()), Record::Other(Fact::Plain)), "{blank:?}");
    }
    let whole = record(r#""ns":"shop.orders","command":{"find":"orders"}"#);
    for bad in ["hello", "[1,2]", "{}", r#"{"level":"info","msg":"x"}"#, "{\"t\":{\"$date\":\"x\"},", &whole[..150]] {
        let Record::Bad(error) = read_record(bad.as_bytes()) else { panic!("{bad}") };
        assert!(error.span.range().end <= bad.len(), "{bad}: {error:?}");
        assert!(error.message.starts_with(char::is_lowercase) || error.message.starts_with("a JSON"), "{error}");
    }
}

#[test]
fn version_role_and_restart_are_told() {
    let fact = |id: u32, attr: &str| {
        let line = format!(
            r#"{{"t":{{"$date":"2026-11-30T08:17:00Z"}},"s":"I","c":"CONTROL","id":{id},"ctx":"main","msg":"m","attr":{attr}}}"#
        );
        match read_record(line.as_bytes()) {
            Record::Other(fact) => fact,
            other => panic!("{other:?}"),
        }
    };
    let version = fact(23403, r#"{"buildInfo":{"version":"6.0.5"}}"#);
    assert_eq!(version, Fact::Version("6.0.5".parse().expect("a version")));
    for (sharding, role) in [
        (r#"{"clusterRole":"shardsvr"}"#, Role::Shard),
        (r#"{"clusterRole":"configsvr"}"#, Role::Config),
        (r#"{"configDB":"cfg/h:1"}"#, Role::Router),
    ] {
        assert_eq!(fact(21951, &format!(r#"{{"options":{{"sharding":{sharding}}}}}"#)), Fact::Role(role, None));
    }
    for replication in [r#"{"replSet":"rs7/h:1"}"#, r#"{"replSetName":"rs7"}"#] {
        let options =
            format!(r#"{{"options":{{"replication":{replication},"sharding":{{"clusterRole":"shardsvr"}}}}}}"#);
        assert_eq!(fact(21951, &options), Fact::Role(Role::Shard, Some("rs7".to_owned())));
    }
    assert_eq!(fact(21951, r#"{"options":{}}"#), Fact::Plain);
    assert_eq!(fact(20698, "{}"), Fact::Restart);
}

#[test]
fn documents_nested_deeper_than_a_server_allows_are_no_reason_to_fail() {
    let deep =
        |depth: usize| format!(r#"{{"find":"orders","filter":{}1{}}}"#, r#"{"a":"#.repeat(depth), "}".repeat(depth));
    assert!(command(&deep(200)).statements[0].filter.is_some());
    let event = command(&deep(20_000));
    assert_eq!(shapes(&event), ["shop.orders { <cut> }"]);
}
