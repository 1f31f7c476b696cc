//! The text log of 2.2 to 4.2: each version's look, and what is not certain.

use shardlint::model::{Event, Namespace, Node, Origin, Shape, Traffic, Value, Verb};
use shardlint::syntax::{Fact, Record, Role, read_record};
use shardlint::text::Span;

use super::slow;

const HEADER_40: &str = "2019-06-18T12:02:00.506+0100 I COMMAND  [conn7] ";
const HEADER_24: &str = "Mon Aug  5 20:21:43.123 [conn7] ";

fn cut(line: &str, span: Span) -> &str {
    &line[span.range()]
}

fn shapes(event: &Event) -> Vec<String> {
    event.statements.iter().map(|statement| format!("{} {}", statement.namespace, Shape::of(statement).text)).collect()
}

/// The only statement's filter of `query shop.orders query: <document>`.
fn filter(document: &str) -> Node {
    let event = slow(&format!("{HEADER_24}query shop.orders query: {document} ntoreturn:0 nreturned:1 reslen:20 12ms"));
    event.statements[0].filter.clone().expect("a filter")
}

fn only_value(document: &str) -> Value {
    filter(document).as_document().expect("a document").fields[0].node.value.clone()
}

#[test]
fn a_find_of_4_0_is_read_with_all_its_counters_in_place() {
    let line = format!(
        "{HEADER_40}command shop.orders appName: \"shop \"api\" 2\" command: find {{ find: \"orders\", filter: {{ a.b: 5, note: \"x\" }}, sort: {{ _id: 1 }}, comment: \"orders.py:12\", $db: \"shop\" }} planSummary: IXSCAN {{ a.b: 1 }}, COLLSCAN keysExamined:7 docsExamined:6 hasSortStage:1 cursorExhausted:1 numYields:0 nreturned:5 reslen:225 locks:{{ Global: {{ acquireCount: {{ r: 2 }} }} }} protocol:op_msg 144ms"
    );
    let event = slow(&line);
    assert_eq!((event.traffic.clone(), event.verb, event.origin), (Traffic::Query, Some(Verb::Find), Origin::Direct));
    assert_eq!(event.time_millis, Some(1_560_855_720_506));
    assert_eq!((event.context.as_str(), event.app_name.as_deref()), ("conn7", Some("shop \"api\" 2")));
    assert_eq!(shapes(&event), ["shop.orders { a.b: ?, note: ? } sort { _id: 1 }"]);
    assert_eq!(event.comment.as_deref(), Some("orders.py:12"));
    let plan = event.plan_summary.expect("a plan");
    assert_eq!((plan.value.as_str(), cut(&line, plan.span)), ("IXSCAN { a.b: 1 }, COLLSCAN", plan.value.as_str()));
    let counters = [event.keys_examined, event.docs_examined, event.returned, event.duration_millis];
    let counters = counters.map(|counter| counter.expect("told"));
    assert_eq!(counters.each_ref().map(|counter| counter.value), [7, 6, 5, 144]);
    assert_eq!(counters.map(|counter| cut(&line, counter.span).to_owned()), ["7", "6", "5", "144"]);
    assert_eq!(event.has_sort_stage.map(|span| cut(&line, span)), Some("1"));
    let filter = event.statements[0].filter.as_ref().expect("a filter");
    let field = &filter.as_document().expect("a document").fields[0];
    assert_eq!((cut(&line, field.name_span), cut(&line, field.node.span)), ("a.b", "5"));
    assert_eq!(cut(&line, filter.span), "{ a.b: 5, note: \"x\" }");
    assert_eq!(cut(&line, event.name_span), "find");
    assert!(event.truncated.is_none() && !event.statements[0].options_partial);
    assert_eq!(event.newest_writer.map(|version| version.to_string()).as_deref(), Some("4.2"));
}

#[test]
fn every_look_of_the_columns_is_known() {
    let text = "query shop.orders query: { a: 1 } ntoreturn:0 nreturned:1 reslen:20 12ms";
    let time = Some(1_560_855_720_506);
    for (header, expected) in [
        ("Mon Aug  5 20:21:43 [conn7] ", None),
        ("Mon Aug 15 20:21:43.123 [conn7] ", None),
        ("Wed Jul 13 16:14:35.324 I QUERY    [conn7] ", None),
        ("2019-06-18T12:02:00.506+0100 [conn7] ", time),
        ("2019-06-18T12:02:00.506+01:00 I QUERY [conn7] ", time),
        ("2019-06-18T11:02:00.506Z I QUERY    [conn7] ", time),
        ("2019-06-18T12:02:00.506+0100 I  QUERY    [conn7] ", time),
        ("2019-06-18T12:02:00.506+0100 D2 -        [conn7] ", time),
        ("Aug  5 20:21:43 host1 mongod.27017[771]: [conn7] ", None),
        ("Aug  5 20:21:43 host1 mongod.27017[771]: I QUERY    [conn7] ", None),
        ("Aug  5 20:21:43 host1 mongod.27017[771]: 2019-06-18T12:02:00.506+0100 I QUERY    [conn7] ", time),
        ("2019-06-18T12:02:00.506+01:00 host1 mongod[771]: I QUERY    [conn7] ", time),
        ("mongodb_1  | 2019-06-18T12:02:00.506+0100 I QUERY    [conn7] ", time),
        ("2019-06-18T12:02:01.506123456Z stdout F 2019-06-18T12:02:00.506+0100 I QUERY    [conn7] ", time),
    ] {
        let event = slow(&format!("{header}{text}"));
        assert_eq!((event.time_millis, event.context.as_str()), (expected, "conn7"), "{header}");
        assert_eq!(shapes(&event), ["shop.orders { a: ? }"], "{header}");
    }
    let event = slow(&format!("2019-06-18T12:02:00.506+0100 I QUERY    [a [b] c-1] {text}"));
    assert_eq!(event.context, "a [b] c-1");
}

#[test]
fn operations_of_the_old_protocol_are_the_commands_that_replaced_them() {
    let pair = "query: { a: 1 } update: { $set: { b: 2 } }";
    for (text, shape) in [
        ("query shop.orders query: { a: 1 } ntoreturn:0 nscanned:5 scanAndOrder:1 nreturned:1 reslen:20", "{ a: ? }"),
        ("query shop.orders query: { $query: { a: 1 }, $orderby: { b: -1 } } nreturned:1", "{ a: ? } sort { b: -1 }"),
        ("query shop.orders query: { query: { a: 1 }, orderby: { b: -1 } } nreturned:1", "{ a: ? } sort { b: -1 }"),
        ("query shop.orders query: { $query: { a: 1 }, orderby: { b: -1 } } nreturned:1", "{ a: ? } sort { b: -1 }"),
        ("query shop.orders query: { query: \"text\" } nreturned:1", "{ query: ? }"),
        ("query shop.orders planSummary: EOF ntoreturn:0 ntoskip:0 nreturned:0", "{}"),
        ("query shop.orders query: { find: \"orders\", filter: { a: 1 } } planSummary: COLLSCAN", "{ a: ? }"),
        ("getmore shop.orders query: { a: 1 } cursorid:47273143030 ntoreturn:0 nreturned:9", "{ a: ? }"),
        (&format!("update shop.orders {pair} nscanned:1 nMatched:1"), "{ a: ? } update { $set: { b: ? } } <cut>"),
        ("remove shop.orders query: { a: 1 } ndeleted:1 keyUpdates:0", "{ a: ? } <cut>"),
        ("command shop.$cmd command: { count: \"orders\", query: { a: 1 } } ntoreturn:1 reslen:48", "{ a: ? }"),
        ("command shop.$cmd command: distinct { distinct: \"orders\", key: \"k\", query: { a: 1 } }", "{ a: ? } key k"),
    ] {
        let event = slow(&format!("{HEADER_24}{text} 12ms"));
        assert_eq!(shapes(&event), [format!("shop.orders {shape}")], "{text}");
        assert_eq!(event.get_more, text.starts_with("getmore"), "{text}");
    }
}

#[test]
fn a_get_more_is_judged_by_what_it_continues() {
    let line = format!(
        "{HEADER_40}command shop.orders command: getMore {{ getMore: 18862806827, collection: \"orders\", $db: \"shop\" }} originatingCommand: {{ find: \"orders\", filter: {{ a: 1 }}, shardVersion: [ Timestamp(1, 0), ObjectId('580944efeaec999c2d8e0d5b') ] }} planSummary: COLLSCAN cursorid:18862806827 nreturned:9 120ms"
    );
    let event = slow(&line);
    assert!(event.get_more);
    assert_eq!((shapes(&event), event.origin), (vec!["shop.orders { a: ? }".to_owned()], Origin::ThroughRouter));
    let event = slow(&format!("{HEADER_24}getmore shop.orders cursorid:5 ntoreturn:0 nreturned:9 reslen:20 12ms"));
    assert_eq!(event.traffic, Traffic::NotAQuery("getMore".to_owned()));
}

#[test]
fn a_router_is_known_by_the_shards_it_counts() {
    let event = slow(&format!(
        "{HEADER_40}command shop.orders command: find {{ find: \"orders\", filter: {{ a: 1 }}, $db: \"shop\" }} nShards:3 cursorExhausted:1 numYields:0 nreturned:5 reslen:225 protocol:op_msg 144ms"
    ));
    assert_eq!((event.origin, event.n_shards.map(|shards| shards.value)), (Origin::Router, Some(3)));
}

#[test]
fn write_lines_are_statements_of_a_batch_and_count_with_its_command() {
    let write = slow(&format!(
        "{HEADER_40}update shop.orders command: {{ q: {{ a: 1 }}, u: {{ $set: {{ b: 1 }} }}, multi: true, upsert: false }} planSummary: COLLSCAN keysExamined:0 nMatched:2 numYields:0 5ms"
    ));
    assert_eq!((write.traffic, write.verb), (Traffic::BatchStatement, Some(Verb::Update)));
    assert!(write.statements[0].multi && !write.statements[0].options_partial);
    let command = slow(&format!(
        "{HEADER_40}command shop.$cmd command: update {{ update: \"orders\", updates: 85, ordered: true, $db: \"shop\" }} numYields:0 reslen:60 9ms"
    ));
    assert_eq!((command.traffic, command.statements.len()), (Traffic::BatchCommand, 0));
    assert_eq!(command.namespace, Namespace::parse("shop.orders"));
    let insert = slow(&format!("{HEADER_24}insert shop.orders query: {{ _id: 1, a: 2 }} ninserted:1 keyUpdates:0 5ms"));
    assert_eq!((insert.traffic, insert.statements[0].documents.len()), (Traffic::BatchStatement, 1));
}

#[test]
fn options_that_old_write_lines_do_not_print_are_uncertain_unless_counters_betray_them() {
    let write = |counters: &str| {
        let line =
            format!("{HEADER_24}update shop.orders query: {{ a: 1 }} update: {{ $set: {{ b: 1 }} }} {counters} 5ms");
        slow(&line).statements.remove(0)
    };
    let one = write("nscanned:1 nMatched:1 nModified:1 keyUpdates:0");
    assert!(one.options_partial && !one.multi && !one.upsert);
    assert!(write("nMatched:2 nModified:1").multi);
    assert!(write("nscanned:0 upsert:1 nupdated:1").upsert);
}

#[test]
fn a_failed_operation_has_its_code() {
    let exception = "exception: E11000 duplicate key error index: shop.orders.$a_1  dup key: { : 5 } code:11000";
    let event =
        slow(&format!("{HEADER_24}insert shop.orders query: {{ a: 5 }} ninserted:0 {exception} numYields: 3 5ms"));
    assert_eq!(event.error_code.map(|code| code.value), Some(11000));
    let error = "ok:0 errMsg:\"operation: \"x\" exceeded time limit\" errName:MaxTimeMSExpired errCode:50";
    let event = slow(&format!(
        "{HEADER_40}command shop.orders command: find {{ find: \"orders\" }} {error} protocol:op_msg 5ms"
    ));
    assert_eq!(event.error_code.map(|code| code.value), Some(50));
}

#[test]
fn values_of_each_kind_are_what_they_say() {
    assert!(matches!(only_value("{ a: -5 }"), Value::Int32(-5)));
    assert!(matches!(only_value("{ a: 9007199254740993 }"), Value::Int64(9_007_199_254_740_993)));
    assert!(matches!(only_value("{ a: 2.5e+20 }"), Value::Double(x) if x == 2.5e20));
    assert!(matches!(only_value("{ a: -inf.0 }"), Value::Double(x) if x == f64::NEG_INFINITY));
    assert!(matches!(only_value("{ a: nan.0 }"), Value::Double(x) if x.is_nan()));
    assert!(matches!(only_value("{ a: new Date(-5) }"), Value::Date(-5)));
    assert!(matches!(
        only_value("{ a: Timestamp 1450975902000|10 }"),
        Value::Timestamp { seconds: 1_450_975_902, increment: 10 }
    ));
    assert!(matches!(only_value("{ a: Timestamp(5, 2) }"), Value::Timestamp { seconds: 5, increment: 2 }));
    assert!(matches!(only_value("{ a: ObjectId('580944efeaec999c2d8e0d5b') }"), Value::ObjectId(_)));
    assert!(matches!(only_value("{ a: BinData(3, 0A0B) }"), Value::Binary { subtype: 3, bytes } if bytes == [10, 11]));
    assert!(matches!(
        only_value("{ a: UUID(\"00010203-0405-0607-0809-0a0b0c0d0e0f\") }"),
        Value::Binary { subtype: 4, .. }
    ));
    assert!(
        matches!(only_value("{ a: /^a/b{2}, c/i }"), Value::Regex { pattern, options } if &*pattern == "^a/b{2}, c" && &*options == "i")
    );
    assert!(matches!(only_value("{ a: MinKey }"), Value::MinKey));
    assert!(
        matches!(only_value("{ a: function() { return { b: 1 }; } }"), Value::JavaScript(code) if code.ends_with("}; }"))
    );
    assert!(matches!(only_value("{ a: [ 1, \"b\", {} ] }"), Value::Array(array) if array.items.len() == 3));
}

#[test]
fn what_the_server_shortened_is_not_known() {
    let cut = format!("{{ a: \"{}...\" }}", "x".repeat(150));
    for text in [cut.as_str(), "{ a: BinData }", "{ a: BinData(0, 0A0B...) }", "{ a: ... }", "{ a: \"###\" }"] {
        assert!(matches!(only_value(text), Value::Redacted), "{text}");
    }
    let redacted = |document: &str| {
        slow(&format!("{HEADER_24}query shop.orders query: {document} nreturned:1 12ms")).redacted.is_some()
    };
    assert!(redacted("{ a: \"###\" }") && !redacted(&cut));
}

#[test]
fn quotes_inside_a_string_are_kept_and_where_they_do_not_pair_the_document_is_uncertain() {
    let node = filter("{ a: \"say \"hi\", then go\", b: 1 }");
    let document = node.as_document().expect("a document");
    assert_eq!(document.fields[0].node.as_str(), Some("say \"hi\", then go"));
    assert_eq!(document.fields[1].name, "b");
    assert!(!document.partial);
    for odd in ["{ a: \"a 5\" screen\", b: 1 }", "{ a: \"he said \"go\", now: \"stop\" again\", b: 1 }"] {
        assert!(filter(odd).as_document().expect("a document").partial, "{odd}");
    }
    assert!(!filter("{ a: \"it's } fine, too\", b: 1 }").as_document().expect("a document").partial);
}

#[test]
fn keys_in_quotes_and_missing_blanks_are_somebodys_edit_and_read_all_the_same() {
    let node = filter("{\"$or\": [{\"x\": 1}, {\"y\":\"z\"}]}");
    let document = node.as_document().expect("a document");
    assert_eq!((document.fields[0].name.as_str(), document.partial), ("$or", false));
    assert_eq!(document.fields[0].node.as_array().expect("an array").items.len(), 2);
}

#[test]
fn an_overlong_line_keeps_both_ends_and_is_partial_where_it_was_cut() {
    let line = format!(
        "{HEADER_40}warning: log line attempted (54k) over max size (10k), printing beginning and end ... command shop.orders command: find {{ find: \"orders\", filter: {{ region: 5, sku: {{ $in: [ 15230, 15231, 152 ..........  15299 ] }} }}, limit: 5, $db: \"shop\" }} planSummary: IXSCAN {{ sku: 1 }} keysExamined:90 numYields:0 nreturned:5 reslen:80 locks:{{ Global: {{ acquireCount: {{ r: 5120 }} }} }} protocol:op_msg 367ms"
    );
    let event = slow(&line);
    let truncated = event.truncated.as_ref().expect("cut");
    assert_eq!((truncated.value.as_str(), cut(&line, truncated.span)), ("command.filter.sku.$in", ".........."));
    let statement = &event.statements[0];
    assert!(statement.options_partial);
    let filter = statement.filter.as_ref().and_then(Node::as_document).expect("a filter");
    assert!(filter.partial);
    assert_eq!(filter.fields[0].node.as_i64(), Some(5));
    let list = filter.get("sku").and_then(Node::as_document).and_then(|sku| sku.get("$in")).and_then(Node::as_array);
    assert!(list.is_some_and(|list| list.partial && list.items.len() == 2));
    assert_eq!(event.plan_summary.map(|plan| plan.value).as_deref(), Some("IXSCAN { sku: 1 }"));
    assert_eq!(event.keys_examined.map(|keys| keys.value), Some(90));
}

#[test]
fn a_document_that_cannot_be_read_to_its_end_is_partial() {
    let event = slow(&format!(
        "{HEADER_40}command shop.orders command: find {{ find: \"orders\", filter: {{...}} }} planSummary: COLLSCAN keysExamined:0 docsExamined:9 5ms"
    ));
    let filter = event.statements[0].filter.as_ref().and_then(Node::as_document).expect("a filter");
    assert!(filter.partial && event.truncated.is_none());
    assert_eq!(event.docs_examined.map(|docs| docs.value), Some(9));
}

#[test]
fn documents_nested_as_deeply_as_servers_allow_are_read() {
    let deep = |levels: usize| format!("{}1{}", "{ a: ".repeat(levels), " }".repeat(levels));
    assert!(!filter(&deep(150)).as_document().expect("a document").partial);
    assert!(filter(&deep(100_000)).as_document().expect("a document").partial);
}

#[test]
fn other_lines_count_and_some_tell_version_and_role() {
    let fact = |text: &str| match read_record(format!("{HEADER_40}{text}").as_bytes()) {
        Record::Other(fact) => fact,
        other => panic!("{other:?} of {text}"),
    };
    assert_eq!(fact("db version v3.6.23"), Fact::Version("3.6.23".parse().expect("a version")));
    assert_eq!(
        fact("options: { sharding: { clusterRole: \"shardsvr\" }, storage: {} }"),
        Fact::Role(Role::Shard, None)
    );
    assert_eq!(
        fact("options: { net: { port: 27017 }, sharding: { configDB: \"c/h:1\" } }"),
        Fact::Role(Role::Router, None)
    );
    assert_eq!(fact("***** SERVER RESTARTED *****"), Fact::Restart);
    for text in ["git version: abc", "applied op: command { ... }, took 112ms", "end connection 10.0.0.1:5", "", "ms"] {
        assert_eq!(fact(text), Fact::Plain, "{text}");
    }
    assert!(matches!(read_record(b"2010-01-02T12:34:56.000Z"), Record::Other(Fact::Vague)));
    assert!(matches!(read_record(b"query shop.orders query: { a: 1 } 5ms"), Record::Bad(_)));
}

#[test]
fn no_damage_to_a_line_makes_the_reader_panic() {
    let lines = [
        format!(
            "{HEADER_40}command shop.orders appName: \"x\" command: find {{ find: \"orders\", filter: {{ a: /é/, b: [ \"ü\", ObjectId('580944efeaec999c2d8e0d5b'), f(x) ] }} }} planSummary: IXSCAN {{ a: 1 }} locks:{{ G: {{ r: 1 }} }} protocol:op_msg 12ms"
        ),
        format!(
            "{HEADER_24}warning: log line attempted (54k) over max size (10k), printing beginning and end ... update shop.orders query: {{ a: {{ b: \"x .......... y\" }} }} update: {{ c: 1 }} numYields: 5 locks(micros) w:39 12ms"
        ),
    ];
    for line in lines {
        let bytes = line.as_bytes();
        for at in 0..bytes.len() {
            let (before, after) = bytes.split_at(at);
            let _ = read_record(before);
            let _ = read_record(after);
            let _ = read_record(&[before, b" 5ms"].concat());
            for byte in [b'"', b'}', b'{', b' ', b':', b'/', 0xff] {
                let _ = read_record(&[before, &[byte], &after[1..]].concat());
            }
        }
    }
}

#[test]
fn a_long_line_full_of_quotes_and_slashes_is_read_in_one_go() {
    let count = 100_000;
    for filter in [
        format!("{{ a: \"{}\" }}", "\" \"".repeat(count)),
        format!("{{ a: \"{} }}", "x\", \"y".repeat(count)),
        format!("{{ a: /{} }}", "/ /".repeat(count)),
    ] {
        let line =
            format!("{HEADER_40}command shop.orders command: find {{ find: \"orders\", filter: {filter} }} 144ms");
        let start = std::time::Instant::now();
        assert_eq!(slow(&line).duration_millis.map(|millis| millis.value), Some(144));
        // A pass for each quote would take minutes.
        assert!(start.elapsed().as_secs() < 20, "{:?} for {} bytes", start.elapsed(), line.len());
    }
    let line = format!("{HEADER_40}command shop.orders appName: \"{}1ms", "\" command: ".repeat(count));
    assert!(matches!(read_record(line.as_bytes()), Record::Slow(_)));
}
