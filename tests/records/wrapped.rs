//! Records inside JSON strings: what is read is the same as without, and spans are those of the physical line.

use serde_json::json;
use shardlint::model::{Document, Event, Node, Value};
use shardlint::syntax::{Fact, Record, read_record};

use super::{record, slow};

const STRUCTURED: &str = r#""type":"command","ns":"shop.orders","command":{"find":"orders","filter":{"né":"a\"ü\\","b":{"$gt":5}},"$db":"shop"},"planSummary":"IXSCAN { b: 1 }","nShards":2,"durationMillis":5"#;
const LEGACY: &str = "2019-06-18T12:02:00.506+0100 I COMMAND  [conn7] command shop.orders command: find { find: \"orders\", filter: { né: \"a\\ü\t\", b: { $gt: 5 } } } planSummary: IXSCAN { b: 1 } nShards:2 5ms";

/// The text as a JSON string.
fn quoted(text: &str) -> String {
    serde_json::to_string(text).expect("text")
}

/// The names and values of a document in order, as the line spells them.
fn spelled(line: &str, node: &Node, decode: &dyn Fn(&str) -> String) -> Vec<String> {
    let mut texts = vec![decode(&line[node.span.range()])];
    if let Value::Document(Document { fields, .. }) = &node.value {
        for field in fields {
            texts.push(decode(&line[field.name_span.range()]));
            texts.extend(spelled(line, &field.node, decode));
        }
    }
    texts
}

#[test]
fn spans_go_through_the_escapes_of_every_wrapping() {
    for inner in [record(STRUCTURED), LEGACY.to_owned()] {
        let bare = slow(&inner);
        let filter = bare.statements[0].filter.as_ref().expect("a filter");
        let expected = spelled(&inner, filter, &str::to_owned);
        let ascii = quoted(&inner).replace('é', "\\u00e9").replace('ü', "\\u00FC");
        for line in [
            format!(r#"{{"log":{},"stream":"stdout","time":"2026-11-30T08:17:00.8Z"}}"#, quoted(&format!("{inner}\n"))),
            format!(r#"{{"labels":{{"app":"mongo","empty":""}},"line":{ascii},"timestamp":"2026-11-30T08:17:00Z"}}"#),
            format!(r#"  {{"_index":"logs","_source":{{"host":{{"name":"h"}},"message":{}}}}}"#, quoted(&inner)),
            format!(r#"{{"timestamp":1796026620824,"event":{}}}"#, quoted(&inner)),
        ] {
            let event = slow(&line);
            let decode = |text: &str| serde_json::from_str::<String>(&format!("\"{text}\"")).expect("an escaped text");
            let filter = event.statements[0].filter.as_ref().expect("a filter");
            assert_eq!(spelled(&line, filter, &decode), expected, "{line}");
            assert_eq!(event.time_millis, bare.time_millis);
            let plan = event.plan_summary.expect("a plan");
            assert_eq!(&line[plan.span.range()], "IXSCAN { b: 1 }");
            let numbers = [event.n_shards, event.duration_millis].map(|counter| counter.expect("told").span);
            assert_eq!(numbers.map(|span| &line[span.range()]), ["2", "5"]);
        }
    }
}

#[test]
fn profiler_documents_and_explains_are_read_in_strings_too() {
    let profile = r#"{"op":"query","ns":"shop.orders","command":{"find":"orders","filter":{"b":{"$gt":5}},"$db":"shop"},"millis":5,"ts":{"$date":"2026-11-30T08:17:00Z"}}"#;
    let line = format!(r#"{{"log":{},"stream":"stdout"}}"#, quoted(&format!("{profile}\n")));
    let filter = slow(&line).statements[0].filter.as_ref().expect("a filter").span;
    assert_eq!(&line[filter.range()], r#"{\"b\":{\"$gt\":5}}"#);
    let explain =
        r#"{"queryPlanner":{"namespace":"shop.orders","parsedQuery":{},"winningPlan":{"stage":"COLLSCAN"}},"ok":1}"#;
    let line = format!(r#"{{"message":{}}}"#, quoted(explain));
    assert!(matches!(read_record(line.as_bytes()), Record::Explain(_)), "{line}");
}

#[test]
fn records_behind_columns_of_kubernetes_are_read() {
    let inner = record(STRUCTURED);
    assert_eq!(slow(&format!("2026-11-30T08:17:00.824513Z stdout F {inner}")).statements.len(), 1);
}

#[test]
fn records_are_read_behind_whatever_a_shipper_put_in_front() {
    let columns = [
        "",
        "    ",
        "\u{feff}",
        "Nov 30 08:17:00 host-1 mongod.27017[123]: ",
        "<134>1 2026-11-30T08:17:00.003Z host mongod 123 - - ",
        "2026-11-30T08:17:00.003456+00:00 host mongod[123]: ",
        "mongodb_1  | ",
        "\u{1b}[36mmongodb_1  |\u{1b}[0m ",
        "[pod/mongo-0/mongod] ",
        "mongo-0 mongod ",
        "2026-11-30T08:17:00.824513Z ",
        "2026-11-30T08:17:00.824513123Z stdout F ",
        "   17  ",
    ];
    for column in columns {
        for inner in [record(STRUCTURED), LEGACY.to_owned()] {
            let (event, bare) = (slow(&format!("{column}{inner}")), slow(&inner));
            assert_eq!((event.time_millis, &event.context), (bare.time_millis, &bare.context), "{column}{inner}");
            let places = [&event, &bare].map(|event| event.n_shards.as_ref().expect("told").span.range().start);
            assert_eq!(places[0], places[1] + column.len(), "{column}{inner}");
        }
    }
    for column in ["2026-11-30T08:17:00+00:00\tdocker.mongo\t", "2026-11-30 08:17:00.000000000 +0000 docker.mongo: "] {
        let line = format!(r#"{column}{{"source":"stdout","log":{}}}"#, quoted(&record(STRUCTURED)));
        let plan = slow(&line).plan_summary.expect("a plan");
        assert_eq!(&line[plan.span.range()], "IXSCAN { b: 1 }");
    }
    for line in [
        "app: 2024-02-04T20:59:43.123Z listening",
        "took 5ms at Mon Aug  5 20:21:43 on host",
        "{ at 2024-02-04T20:59:43.123Z [x] y",
    ] {
        assert!(matches!(read_record(line.as_bytes()), Record::Bad(_)), "{line}");
    }
}

/// The plan summaries of all queries in a text, as it spells them.
fn plans(text: &str) -> Vec<&str> {
    let plan = |event: &Event, start: usize| {
        let place = event.plan_summary.as_ref().expect("a plan").span.shifted(start).range();
        text.get(place).expect("a part of the text")
    };
    match read_record(text.as_bytes()) {
        Record::Slow(event) => vec![plan(&event, 0)],
        Record::Several(parts) => parts
            .iter()
            .map(|part| match &part.record {
                Record::Slow(event) => plan(event, part.span.range().start),
                other => panic!("{other:?} in {text}"),
            })
            .collect(),
        other => panic!("{other:?} of {text}"),
    }
}

#[test]
fn the_rows_of_what_log_services_export_are_read_one_by_one() {
    for inner in [record(STRUCTURED), LEGACY.to_owned()] {
        let row = json!({"timestamp": 1, "message": inner});
        for export in [
            json!([row, row]),
            json!({"events": [row, row], "searchedLogStreams": []}),
            json!({"took": 1, "hits": {"total": 2, "hits": [{"_source": row}, {"_source": row}]}}),
            json!({"data": {"result": [{"stream": {"app": "db"}, "values": [["1", inner], ["2", inner]]}]}}),
            json!([{"textPayload": inner}, {"textPayload": inner}]),
        ] {
            for text in [export.to_string(), serde_json::to_string_pretty(&export).expect("JSON")] {
                assert_eq!(plans(&text), ["IXSCAN { b: 1 }"; 2], "{text}");
            }
        }
    }
}

#[test]
fn a_record_that_a_collector_has_parsed_is_read_in_its_object() {
    let inner = record(STRUCTURED);
    for line in [
        format!(r#"{{"insertId":"x","jsonPayload":{inner},"resource":{{"type":"k8s"}}}}"#),
        format!(r#"{{"kubernetes":{{"pod":"db-0"}},"log":{inner}}}"#),
    ] {
        assert_eq!(plans(&line), ["IXSCAN { b: 1 }"], "{line}");
    }
}

#[test]
fn several_records_in_one_string_stand_in_the_physical_line() {
    let profile = r#"{"op":"query","ns":"shop.orders","command":{"find":"orders","filter":{"né":5}},"planSummary":"IXSCAN { b: 1 }","millis":5,"ts":{"$date":"2026-11-30T08:17:00Z"}}"#;
    let reply = format!(r#"{{"cursor":{{"firstBatch":[{profile},{profile}],"ns":"shop.system.profile"}},"ok":1}}"#);
    let line = format!(r#"{{"log":{},"stream":"stdout"}}"#, quoted(&reply));
    assert_eq!(plans(&line), [r#"\"IXSCAN { b: 1 }\""#; 2]);
}

#[test]
fn what_a_log_says_of_a_chunk_stands_in_the_physical_line() {
    let inner = r#"{"t":{"$date":"2026-11-30T08:17:00.001Z"},"s":"W","c":"SHARDING","id":21874,"ctx":"Balancer","msg":"Couldn't mark chunk as jumbo","attr":{"chunk":"x","namespace":"shop.orders"}}"#;
    let line = format!(r#"{{"log":{},"stream":"stdout"}}"#, quoted(&format!("{inner}\n")));
    let place = |line: &str| match read_record(line.as_bytes()) {
        Record::Other(Fact::Trouble(trouble)) => line[trouble.span.range()].to_owned(),
        other => panic!("{other:?}"),
    };
    assert_eq!(place(&line), place(inner).replace('"', "\\\""));
}

#[test]
fn a_line_that_the_runtime_split_says_so() {
    let inner = record(STRUCTURED);
    let half = &inner[..inner.len() / 2];
    for line in [format!(r#"{{"log":{}}}"#, quoted(half)), format!("2026-11-30T08:17:00.824513Z stdout P {half}")] {
        let Record::Bad(error) = read_record(line.as_bytes()) else { panic!("{line}") };
        assert!(error.message.contains("split"), "{error}");
        assert!(error.span.range().end <= line.len());
    }
}

#[test]
fn other_json_is_still_no_log() {
    for line in [
        r#"{"a":""}"#,
        r#"{"level":"info","text":"started","time":"2026-11-30T08:17:00.001Z"}"#,
        r#"{"time":"Mon Aug  5 20:21:43.123","x":1}"#,
        r#"[{"message":"started"}]"#,
        r#"{"level":"info","text":"started"}"#,
        r#"{"log":"hello\n"}"#,
        r#"{"log":5}"#,
        "{}",
    ] {
        assert!(matches!(read_record(line.as_bytes()), Record::Bad(_)), "{line}");
    }
    for line in [r#"{"log":"\n","stream":"stdout"}"#, r#"{"log":"2019-06-18T12:02:00.506+0100 I NETWORK  [a] x\n"}"#] {
        assert!(matches!(read_record(line.as_bytes()), Record::Other(_)), "{line}");
    }
}

#[test]
fn no_damage_to_a_wrapped_line_makes_the_reader_panic() {
    let line = format!(r#"{{"log":{},"a":"\ud83d\ude00\ud83d"}}"#, quoted(&record(STRUCTURED)));
    for at in 0..line.len() {
        let (before, after) = line.as_bytes().split_at(at);
        let _ = read_record(before);
        for byte in [b'"', b'\\', b'}', b'u', 0xff] {
            let _ = read_record(&[before, &[byte], &after[1..]].concat());
        }
    }
}

#[test]
fn the_end_of_the_inner_line_is_no_part_of_the_record() {
    let inner = record(r#""type":"command","ns":"shop.orders","durationMillis":5"#);
    let line = format!(r#"{{"log":{},"stream":"stdout"}}"#, quoted(&format!("{inner}\n")));
    let event = slow(&line);
    assert_eq!(line[event.command_span.range()], quoted(&inner)[1..quoted(&inner).len() - 1]);
}

#[test]
fn a_kept_line_may_have_every_escape_of_the_shell() {
    for escape in ["\\\u{7bc}", "\\u{1f600}", "\\u{e9}\u{e9}", "\\x41", "\\'"] {
        let text = format!("{{ totalLinesWritten: 1, log: [ '{escape}\u{e9} {LEGACY_KEPT}' ], ok: 1 }}");
        let Record::Several(parts) = read_record(text.as_bytes()) else { panic!("{text}") };
        assert_eq!(parts.len(), 1, "{text}");
    }
}

const LEGACY_KEPT: &str = "2019-06-18T12:02:00.506+0100 I COMMAND  [conn7] cut";
