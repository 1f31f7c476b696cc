//! Documents of `system.profile`: those of real servers are all understood, and old and new names mean the same.

use std::fs::File;
use std::path::Path;

use shardlint::model::{Event, Origin, Traffic, Verb};
use shardlint::syntax::{Record, read_record};

use super::slow;

fn recorded(name: &str) -> String {
    let packed = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data/profile").join(name);
    String::from_utf8(zstd::decode_all(File::open(packed).expect("recorded")).expect("zstd")).expect("UTF-8")
}

fn shape(event: &Event) -> String {
    event.statements.first().map_or_else(String::new, |statement| shardlint::model::Shape::of(statement).text)
}

#[test]
fn every_document_of_a_profiler_is_an_operation_with_its_time_and_duration() {
    for name in ["4.4.2.jsonl.zst", "6.0.5.jsonl.zst", "6.0.5-shard1.jsonl.zst"] {
        for line in recorded(name).lines() {
            let event = slow(line);
            assert!(event.time_millis.is_some() && event.duration_millis.is_some(), "{line}");
            assert!(!matches!(event.traffic, Traffic::BatchCommand | Traffic::BatchStatement), "{line}");
            assert_ne!(event.origin, Origin::Router, "{line}");
            let is_read = line.starts_with(r#"{"op": "query""#) && !line.contains(r#""ns": "config."#);
            assert!(!is_read || event.statements.len() == 1, "{line}");
        }
    }
    let shards = recorded("6.0.5-shard1.jsonl.zst");
    assert!(shards.lines().any(|line| slow(line).origin == Origin::ThroughRouter));
}

#[test]
fn an_array_as_a_shell_prints_it_holds_one_record_for_each_document() {
    let Record::Several(parts) = read_record(recorded("6.0.5.mongosh.txt.zst").as_bytes()) else { panic!("an array") };
    assert_eq!(parts.len(), 8);
    assert!(parts.iter().all(|part| matches!(part.record, Record::Slow(_))));
}

#[test]
fn old_names_mean_what_new_ones_mean() {
    let ts = r#""millis":7,"ts":{"$date":"2014-04-09T23:16:20.596Z"}"#;
    for (old, new) in [
        (
            r#""op":"query","ns":"shop.orders","query":{"$query":{"a":1},"$orderby":{"b":-1}},"nscanned":5,"nscannedObjects":5"#,
            r#""op":"query","ns":"shop.orders","command":{"find":"orders","filter":{"a":1},"sort":{"b":-1}},"keysExamined":5,"docsExamined":5"#,
        ),
        (
            r#""op":"query","ns":"shop.orders","query":{"find":"orders","filter":{"a":1}},"keysExamined":5,"docsExamined":5"#,
            r#""op":"query","ns":"shop.orders","command":{"find":"orders","filter":{"a":1}},"keysExamined":5,"docsExamined":5"#,
        ),
        (
            r#""op":"command","ns":"shop.$cmd","command":{"count":"orders","query":{"a":1}}"#,
            r#""op":"command","ns":"shop.orders","command":{"count":"orders","query":{"a":1}}"#,
        ),
    ] {
        let (old, new) = (slow(&format!("{{{old},{ts}}}")), slow(&format!("{{{new},{ts}}}")));
        assert_eq!(shape(&old), shape(&new));
        assert_eq!(old.namespace, new.namespace);
        let counters = |event: &Event| {
            [&event.docs_examined, &event.keys_examined, &event.duration_millis].map(|c| c.as_ref().map(|c| c.value))
        };
        assert_eq!(counters(&old), counters(&new));
        assert_eq!(old.time_millis, new.time_millis);
    }
}

#[test]
fn writes_of_old_and_new_profilers_have_their_filter_and_their_update() {
    let old = r#"{ "op" : "update", "ns" : "shop.users", "query" : { "name" : "j" }, "updateobj" : { "$set" : { "a" : 1 } }, "nMatched" : 1, "millis" : 0, "ts" : ISODate("2014-04-09T23:16:20Z") }"#;
    let event = slow(old);
    assert_eq!((event.verb, event.traffic.clone()), (Some(Verb::Update), Traffic::Query));
    assert_eq!(&old[event.statements[0].filter.as_ref().expect("a filter").span.range()], r#"{ "name" : "j" }"#);
    assert_eq!(event.newest_writer.map(|version| version.to_string()).as_deref(), Some("3.4"));
    let new = r#"{"op":"remove","ns":"shop.users","command":{"q":{"name":"j"},"limit":0},"ndeleted":2,"millis":0}"#;
    let event = slow(new);
    assert_eq!((event.verb, event.statements[0].multi), (Some(Verb::Delete), true));
}

#[test]
fn a_command_that_the_profiler_cut_is_read_as_far_as_it_goes() {
    let line = r#"{"op":"query","ns":"shop.orders","command":{"$truncated":"{ find: \"orders\", filter: { region: \"EU\", sku: { $in: [ \"a\", \"b","comment":"x"},"millis":5}"#;
    let event = slow(line);
    let filter = event.statements[0].filter.as_ref().expect("a filter");
    let filter_document = filter.as_document().expect("a document");
    assert!(filter_document.partial, "{filter:?}");
    assert_eq!(&line[filter_document.fields[0].node.span.range()], r#"\"EU\""#);
    let truncated = event.truncated.expect("cut");
    assert!(line[truncated.span.range()].starts_with(r#""{ find:"#));
}
