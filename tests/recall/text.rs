//! The same for lines of the text log, as servers of all versions wrote them: commands, statements of batches, operations of
//! the old protocol, and what stands between them.

use super::{FIELD_HOLE, HOLE, Maker, assert_same, assert_same_of_made_up};

/// Literals of many kinds as text logs have them; what the server cut and what has another reading among them.
const LITERALS: [&[&str]; 9] = [
    &["0", "1", "5", "6", "7", "-3", "123456789", "2147483648", "99999999999", "-0", "1e+20", "5.0", "5.5", "0.0"],
    &[
        "\"a\"",
        "\"b\"",
        "\"abc\"",
        "\"\"",
        "\"$a\"",
        "\"###\"",
        "\"a\"b\"",
        "\"c:\\x\"",
        "\"é\"",
        "\"a, b: c\"",
        "\"x...\"",
    ],
    &[
        "ObjectId('65000000aaaaaaaaaaaaaaaa')",
        "ObjectId('65000000bbbbbbbbbbbbbbbb')",
        "ObjectId('000000000000000000000000')",
        "ObjectId('xyz')",
    ],
    &["new Date(1715677923481)", "new Date(1715731200000)", "new Date(-62135596800000)", "new Date(0)", "new Date(99)"],
    &["null", "true", "false", "MinKey", "MaxKey", "undefined", "[]", "[ 5 ]", "[ \"a\", \"b\" ]", "inf.0", "..."],
    &[
        "UUID(\"0aaaaaaa-0000-4000-8000-000000000001\")",
        "UUID(\"0aaaaaaa-0000-4000-8000-000000000002\")",
        "BinData(0, 0AFF)",
    ],
    &["/^ab/", "/^cd/", "/ab/i", "/^a|b/", "/a\"b/", "/a/b/", "/^ab/mx"],
    &["NumberDecimal(\"5.25\")", "NumberDecimal(\"NaN\")", "Timestamp(5, 6)", "Timestamp 1450975902000|10"],
    &["{ b: 5 }", "{ b: 6 }", "{ b: \"x\", c: 1 }", "{}", "{ $ref: \"x\", $id: 5 }"],
];

/// A command as JSON, spelled as in text logs: names without quotes, blanks around what is in brackets.
fn respelled(json: &str) -> String {
    let mut text = String::new();
    let mut rest = json;
    while let Some(c) = rest.chars().next() {
        let mut taken = c.len_utf8();
        match c {
            '"' => {
                let end = rest[1..].find('"').expect("no quote is escaped") + 2;
                let is_name = rest[end..].starts_with(':');
                text.push_str(if is_name { &rest[1..end - 1] } else { &rest[..end] });
                taken = end;
            }
            '{' | '[' if rest[1..].starts_with(['}', ']']) => {
                text.push_str(&rest[..2]);
                taken = 2;
            }
            '{' | '[' => text.extend([c, ' ']),
            '}' | ']' => text.extend([' ', c]),
            ':' | ',' => text.extend([c, ' ']),
            c => text.push(c),
        }
        rest = &rest[taken..];
    }
    text
}

/// The columns of all versions.
const COLUMNS: [&str; 4] = [
    "2024-05-14T09:%M:%S.481+0200 I COMMAND  [%T] ",
    "2024-05-14T09:%M:%S.481Z I  WRITE    [%T] ",
    "2024-05-14T09:%M:%S.481-0330 [%T] ",
    "Tue May 14 09:%M:%S.481 [%T] ",
];

/// Lines that are no slow queries, or ones that were cut.
const OTHERS: [&str; 8] = [
    "2024-05-14T09:00:00.000+0200 I NETWORK  [listener] connection accepted from 10.1.2.3:5 #7 (9 connections now open)",
    "2024-05-14T09:00:00.000+0200 I CONTROL  [main] db version v4.0.10",
    "2024-05-14T09:00:00.000+0200 I CONTROL  [main] options: { sharding: { clusterRole: \"shardsvr\" } }",
    "2024-05-14T09:00:00.000+0200 I CONTROL  [main] ***** SERVER RESTARTED *****",
    "2024-05-14T09:00:00.000+0200 I COMMAND  [conn1] command shop.t command: find { find: \"t\", filter: { a: { $in: [ 1, .......... 9 ] } } } nreturned:1 120ms",
    "2024-05-14T09:00:00.000+0200 I COMMAND  [conn1] command shop.t command: find { find: \"t\" } exception: no code:5 reslen:1 120ms",
    "Aug  5 20:21:43 host1 mongod[7]: [conn1] query shop.t query: { a: 1 } nreturned:1 120ms",
    "2024-05-14T09:00:00.000+0200 I -        [conn1] command shop.t moved foo:1 locks(micros) r:5 120ms",
];

impl Maker {
    fn filled(&mut self, template: &str) -> String {
        let usual = self.random.usize(..LITERALS.len());
        let mut filled = String::new();
        for c in template.chars() {
            if c == HOLE {
                let kind = if self.random.u8(..8) > 0 { usual } else { self.random.usize(..LITERALS.len()) };
                filled.push_str(self.pick(LITERALS[kind]));
            } else if c == FIELD_HOLE {
                filled.push_str(self.pick(&["\"a\"", "\"b\"", "\"z\""]));
            } else {
                filled.push(c);
            }
        }
        filled
    }

    /// Operation and documents of an operation, with holes.
    fn text_template(&mut self) -> String {
        let (command, kind) = self.command();
        let command = respelled(&command);
        let name = command.split([' ', ':']).nth(1).unwrap_or_default().to_owned();
        let filter = respelled(&self.filter(0));
        let update =
            respelled(self.pick(&["{\"$set\":{\"a\":\u{1}}}", "{\"a\":\u{1},\"b\":5}", "{\"$inc\":{\"n\":1}}"]));
        match self.random.u8(..12) {
            0..=4 if kind == "command" => format!("command %N %A command: {name} {command}"),
            0..=4 => format!("{kind} %N %A command: {command}"),
            5 => format!("query %N query: {filter}"),
            6 => {
                let (query, orderby) = *[("$query", "$orderby"), ("query", "orderby"), ("x", "query")]
                    .get(self.random.usize(..3))
                    .expect("three");
                format!("query %N query: {{ {query}: {filter}, {orderby}: {{ a: 1 }} }} ntoreturn:5 ntoskip:%C")
            }
            7 => format!("update %N query: {filter} update: {update} nMatched:%C nModified:1 upsert:%C"),
            8 => format!("remove %N query: {filter} ndeleted:%C"),
            9 => format!("insert %N query: {filter} ninserted:%C"),
            10 => format!("getmore %N query: {filter} cursorid:123456"),
            _ => format!(
                "command %N %A command: getMore {{ getMore: 12345, collection: \"t\" }} originatingCommand: {{ find: \"t\", filter: {filter} }}"
            ),
        }
    }

    fn text_line(&mut self, template: &str, number: usize) -> String {
        if self.random.u8(..12) == 0 {
            return self.pick(&OTHERS).to_owned() + "\n";
        }
        let namespace = self.pick(&["shop.t", "shop.t", "shop.t", "shop.h", "shop.undeclared"]);
        let application = self.pick(&["", "appName: \"web\"", "appName: \"batch\"", "appName: \"a \"b\" c\""]);
        let plan =
            self.pick(&["", "planSummary: COLLSCAN ", "planSummary: IXSCAN { a: 1 }, IXSCAN { b: 1 } hasSortStage:1 "]);
        let shards = self.pick(&["", "", "nShards:1 ", "nShards:3 "]);
        let locks = self.pick(&[
            "locks:{ Global: { acquireCount: { r: 2 } } } protocol:op_msg ",
            "numYields: 0 locks(micros) r:1234 ",
            "",
        ]);
        let operation = self.filled(template).replace("%N", namespace).replace("%A ", &format!("{application} "));
        let mut operation = operation.replace("  command:", " command:");
        while operation.contains("%C") {
            operation = operation.replacen("%C", self.pick(&["0", "1", "2"]), 1);
        }
        let columns = self.pick(&COLUMNS).replace("%M", &format!("{:02}", number / 60 % 60));
        let columns = columns
            .replace("%S", &format!("{:02}", number % 60))
            .replace("%T", self.pick(&["conn0", "conn1", "conn2", "TTLMonitor"]));
        format!(
            "{columns}{operation} {plan}{shards}keysExamined:{} docsExamined:{} nreturned:{} {locks}{}ms\n",
            self.random.u32(..3),
            self.random.u32(..200),
            self.random.u32(..200),
            self.random.u32(..900),
        )
    }

    fn text_log(&mut self) -> String {
        self.lines(Self::text_template, |maker, template, number| maker.text_line(template, number))
    }
}

#[test]
fn made_up_text_logs_give_the_same_report_as_without_recalling() {
    assert_same_of_made_up("text log", Maker::text_log);
}

/// Twenty lines of an operation: every fourth has `other` in place of `usual`.
fn operations(text: &str, usual: &str, other: &str) -> String {
    let line = |n: usize| {
        let text = text.replace("%V", if n % 4 == 3 { other } else { usual });
        format!("2016-05-14T09:12:{n:02}.481+0000 I WRITE    [conn1] {text} keysExamined:1 docsExamined:1 12ms\n")
    };
    (0..20).map(line).collect()
}

/// What an update of the old protocol does to the key depends on its query, and whether it goes to one shard on its counters.
#[test]
fn operations_of_the_old_protocol_are_told_apart_by_what_they_did_while_recalling() {
    for (text, usual, other, code, count) in [
        ("update shop.t query: { a: 5, b: 1 } update: { $set: { a: %V } } nMatched:1", "5", "6", "SL206", 5),
        ("update shop.t query: { a: 5, b: 1 } update: { $set: { a: %V } } nMatched:1", "6", "5", "SL206", 15),
        ("update shop.t query: { b: 5 } update: { $set: { c: 1 } } nMatched:%V", "1", "2", "SL202", 5),
        ("remove shop.t query: { b: 5 } ndeleted:%V", "1", "2", "SL202", 5),
        ("query shop.t query: { $query: { %V: 1 }, orderby: { x: 1 } }", "a", "b", "SL101", 5),
        ("query shop.t query: { %V: { a: 1 }, orderby: { x: 1 } }", "query", "q", "SL101", 5),
    ] {
        let log = operations(text, usual, other);
        assert_same(&[log.as_bytes()], &[("shop.t", r#"{"a":1}"#)], text);
        let settings = super::settings(&[("shop.t", r#"{"a":1}"#)], true, 1);
        let report = super::report(&[log.as_bytes()], &settings, shardlint::input::DEFAULT_CHUNK_SIZE);
        let report: serde_json::Value = serde_json::from_str(&report).expect("JSON");
        let found = report["diagnostics"].as_array().expect("a list").iter().find(|found| found["code"] == code);
        assert_eq!(found.unwrap_or_else(|| panic!("{code}: {text}: {report}"))["count"], count, "{text}");
    }
}

/// Of the usual lines none is read in full once its like was seen.
#[test]
fn lines_of_every_version_are_recognised() {
    use shardlint::engine::Settings;
    use shardlint::syntax::{Outliner, Patterns};

    let marks = Settings::default().marks();
    let lines = [
        "2024-05-14T09:12:03.481+0200 I COMMAND  [conn%1] command shop.t appName: \"web%1\" command: find { find: \"t\", filter: { a: %1, b: { $in: [ \"x\", \"y%1\" ] }, c: { $gte: new Date(171567792348%1) } }, limit: 2%1, lsid: { id: UUID(\"0aaaaaaa-0000-4000-8000-00000000000%1\") }, $db: \"shop\" } planSummary: IXSCAN { a: 1 } keysExamined:%1 docsExamined:%1 cursorExhausted:1 nreturned:%1 locks:{ Global: { acquireCount: { r: %1 } } } protocol:op_msg 12%1ms",
        "2024-05-14T09:12:03.481+0200 I WRITE    [conn%1] update shop.t command: { q: { _id: ObjectId('65000000aaaaaaaaaaaaaaa%1') }, u: { $set: { n: %1.5 } }, multi: false, upsert: false } planSummary: IDHACK keysExamined:1 docsExamined:1 nMatched:1 nModified:1 12%1ms",
        "2016-05-14T09:12:03.481+0200 I QUERY    [conn%1] query shop.t query: { $query: { a: \"x%1\" }, $orderby: { a: 1 } } planSummary: COLLSCAN ntoreturn:0 ntoskip:0 nscanned:0 nscannedObjects:%1 keyUpdates:0 numYields:%1 nreturned:%1 reslen:20 12%1ms",
        "2014-05-14T09:12:03.481+0200 [conn%1] query shop.t query: { a: /^x%1/ } planSummary: COLLSCAN nreturned:%1 12%1ms",
        "Tue May 14 09:12:03.481 [conn%1] query shop.t query: { a: %1 } ntoreturn:1 nscanned:%1 keyUpdates:0 numYields: %1 locks(micros) r:11%1 nreturned:1 12%1ms",
    ];
    let mut outliner = Outliner::default();
    let mut patterns = Patterns::default();
    for line in lines {
        let (first, second) = (line.replace("%1", "1"), line.replace("%1", "2"));
        let (_, pattern) = outliner.pattern(&first, marks).expect("an outline");
        patterns.learn(&first, &pattern, 7, || ());
        let found = patterns.find(&second, &mut outliner, marks).unwrap_or_else(|| panic!("{second}"));
        assert_eq!((found.key, found.told.context, found.told.duration_millis), (7, "conn2", Some(122)), "{second}");
    }
}
