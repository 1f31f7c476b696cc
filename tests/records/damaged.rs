//! Records that tools have laid out anew, split, wrapped or cut: what is read is the same as in the line that the server wrote,
//! or the complaint says what happened, and where.

use shardlint::model::Event;
use shardlint::syntax::{Record, read_record};

use super::{record, slow};

const ATTR: &str = r#""type":"command","ns":"shop.orders","command":{"find":"orders","filter":{"né":"a\"ü","b":{"$gt":5}},"$db":"shop"},"nShards":2,"durationMillis":5"#;

/// The filter as `text` spells it.
fn filter<'t>(text: &'t str, event: &Event) -> &'t str {
    &text[event.statements[0].filter.as_ref().expect("a filter").span.range()]
}

#[test]
fn a_record_printed_on_many_lines_is_that_record() {
    let line = record(ATTR);
    let value: serde_json::Value = serde_json::from_str(&line).expect("JSON");
    let pretty = serde_json::to_string_pretty(&value).expect("JSON");
    assert!(pretty.lines().count() > 20);
    let (event, printed) = (slow(&line), slow(&pretty));
    assert_eq!(printed.time_millis, event.time_millis);
    assert_eq!(printed.n_shards.map(|n| n.value), Some(2));
    let without_blanks = |text: &str| text.split_whitespace().collect::<String>();
    let printed = filter(&pretty, &slow(&pretty)).to_owned();
    assert!(printed.lines().count() > 3, "{printed}");
    assert_eq!(without_blanks(&printed), value["attr"]["command"]["filter"].to_string());
}

#[test]
fn blanks_and_the_order_of_members_mean_nothing() {
    let spaced = r#"{ "attr" : { "durationMillis" : 5, "command" : { "find" : "orders", "filter" : { "b" : 1 }, "$db" : "shop" }, "ns" : "shop.orders" }, "msg" : "Slow query", "id" : 51803, "c" : "COMMAND", "s" : "I", "t" : { "$date" : "2026-11-30T08:17:00.824Z" } }"#;
    let event = slow(spaced);
    assert_eq!(filter(spaced, &event), r#"{ "b" : 1 }"#);
    assert_eq!(event.duration_millis.map(|millis| millis.value), Some(5));
}

#[test]
fn a_record_that_kubernetes_split_is_joined_and_its_spans_lie_in_the_physical_lines() {
    let line = record(ATTR);
    for at in (1..line.len()).filter(|at| line.is_char_boundary(*at)) {
        let prefix = |tag: char| format!("2026-11-30T08:17:00.824513Z stdout {tag} ");
        let split = format!("{}{}\n{}{}", prefix('P'), &line[..at], prefix('F'), &line[at..]);
        let event = slow(&split);
        let seen = filter(&split, &event).replace(&format!("\n{}", prefix('F')), "");
        assert_eq!(seen, r#"{"né":"a\"ü","b":{"$gt":5}}"#, "split at {at}");
        let shards = event.n_shards.expect("told");
        assert_eq!((&split[shards.span.range()], shards.value), ("2", 2), "split at {at}");
    }
}

#[test]
fn a_record_that_docker_split_is_joined_too() {
    const PART: usize = 16 * 1024;
    let padding = format!(r#""shards":"{}","nShards""#, "x".repeat(PART));
    let line = record(&ATTR.replace("\"nShards\"", &padding));
    let boxed = |text: &str| serde_json::json!({"log": text, "stream": "stdout"}).to_string();
    let (head, tail) = line.split_at(PART);
    let split = format!("{}\n{}", boxed(head), boxed(&format!("{tail}\n")));
    let event = slow(&split);
    assert_eq!(event.statements.len(), 1);
    assert_eq!(&split[event.n_shards.expect("told").span.range()], "2");
    // Without its end it says that it goes on.
    let Record::Bad(error) = read_record(boxed(head).as_bytes()) else { panic!("half a record") };
    assert!(error.message.contains("split"), "{error}");
}

#[test]
fn the_reply_of_get_log_holds_one_record_for_each_line() {
    let lines =
        [record(ATTR), record(ATTR)[..200].to_owned(), "2019-06-18T12:02:00.506+0100 I NETWORK  [a] x".to_owned()];
    let reply = serde_json::json!({"totalLinesWritten": 3, "log": lines, "ok": 1});
    for text in [reply.to_string(), serde_json::to_string_pretty(&reply).expect("JSON")] {
        let Record::Several(parts) = read_record(text.as_bytes()) else { panic!("{text}") };
        let [first, second, third] = parts.as_slice() else { panic!("{} records", parts.len()) };
        let Record::Slow(event) = &first.record else { panic!("{first:?}") };
        assert_eq!(filter(&text[first.span.range()], event), r#"{\"né\":\"a\\\"ü\",\"b\":{\"$gt\":5}}"#);
        assert!(matches!(second.record, Record::Bad(_)), "cut at 1 kB by the server: {second:?}");
        assert!(matches!(third.record, Record::Other(_)));
    }
}

#[test]
fn records_in_a_list_are_read_one_by_one() {
    let line = record(ATTR);
    for text in [format!("{line},"), format!("[{line},"), format!(" {line} ]")] {
        let event = slow(&text);
        assert_eq!(filter(&text, &event), r#"{"né":"a\"ü","b":{"$gt":5}}"#, "{text}");
    }
    let list = format!("[{line}, {line}]");
    let Record::Several(parts) = read_record(list.as_bytes()) else { panic!("a list") };
    for part in &parts {
        let Record::Slow(event) = &part.record else { panic!("{part:?}") };
        assert_eq!(filter(&list[part.span.range()], event), r#"{"né":"a\"ü","b":{"$gt":5}}"#);
    }
    assert_eq!(parts.len(), 2);
}

#[test]
fn zeros_of_a_crash_are_passed_over() {
    for text in ["\0\0\0\0".to_owned(), format!("\0\0{}", record(ATTR)), format!("{}\0", record(ATTR))] {
        assert!(!matches!(read_record(text.as_bytes()), Record::Bad(_)), "{text:?}");
    }
}

#[test]
fn what_stands_around_documents_is_no_damage() {
    for line in [
        "[",
        "]",
        "],",
        ",",
        "]);",
        "[]",
        "[ ]",
        " ... 3 more items",
        "[direct: mongos] shop> db.orders.find().explain()",
        "[direct: mongos] shop> [",
        "MongoDB shell version v4.4.10",
    ] {
        assert!(matches!(read_record(line.as_bytes()), Record::Other(_)), "{line}");
    }
    for line in ["hello > world", "{", "{ a: 1 }", "[1, 2, 3]", "}"] {
        assert!(matches!(read_record(line.as_bytes()), Record::Bad(_)), "{line}");
    }
}

#[test]
fn a_document_that_does_not_end_says_so_where_it_begins() {
    for text in [
        "{\n  \"queryPlanner\": {\n    \"namespace\": \"shop.orders\",",
        "{\n  queryPlanner: {\n    namespace: 'shop.or",
    ] {
        let Record::Bad(error) = read_record(text.as_bytes()) else { panic!("{text}") };
        assert!(error.message.contains("does not end") || error.message.contains("never closed"), "{error}");
    }
}
