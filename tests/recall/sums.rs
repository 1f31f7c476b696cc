//! Records that repeat others are added up before they are counted: however many there are of them, and of whatever
//! applications, the sums and the samples are those of counting one by one.

use std::fmt::Write as _;

use super::*;

/// A line of the thread: what stands in `attr` before and behind the command, and the command.
fn line(log: &mut String, number: usize, thread: usize, (kind, before, command, behind): (&str, &str, &str, &str)) {
    let component = if kind == "command" { "COMMAND" } else { "WRITE" };
    let (minute, second, millis) = (number / 60 % 60, number % 60, 1 + number * 7919 % 3000);
    writeln!(
        log,
        r#"{{"t":{{"$date":"2026-05-14T14:{minute:02}:{second:02}.000+00:00"}},"s":"I","c":"{component}","id":51803,"ctx":"conn{thread}","msg":"Slow query","attr":{{"type":"{kind}","ns":"shop.t",{before}"command":{command}{behind},"planSummary":"IXSCAN {{ a: 1 }}","durationMillis":{millis}}}}}"#
    )
    .expect("memory");
}

/// Holds reports with these settings against those without recalling, at several numbers of threads and sizes of chunks.
fn assert_same_with(logs: &[&[u8]], change: fn(&mut Settings), what: &str) -> serde_json::Value {
    let with = |recalls: bool, threads: usize, chunk_size: usize| {
        let mut settings = settings(&[("shop.t", r#"{"a":1,"b":1}"#)], recalls, threads);
        change(&mut settings);
        report(logs, &settings, chunk_size)
    };
    let plain = with(false, 1, DEFAULT_CHUNK_SIZE);
    for (threads, chunk_size) in [(1, DEFAULT_CHUNK_SIZE), (1, 5000), (2, 40_000), (4, 20_000)] {
        assert!(with(true, threads, chunk_size) == plain, "{what}: {threads} threads, chunks of {chunk_size}");
    }
    serde_json::from_str(&plain).expect("JSON")
}

#[test]
fn very_many_records_of_a_few_kinds_and_of_very_many_applications_are_all_counted() {
    let mut log = String::new();
    for number in 0..3000 {
        // Few applications for a while, then more than are kept apart.
        let application = format!(r#""appName":"app{}","#, if number < 1500 { number % 3 } else { number % 150 });
        let before = if number % 11 == 0 { "" } else { &application };
        let (x, shards) = (number % 7, [r#","nShards":1"#, r#","nShards":3"#][number % 2]);
        let (kind, command) = match number % 4 {
            0 => ("command", format!(r#"{{"find":"t","filter":{{"a":{x},"b":{number}}},"$db":"shop"}}"#)),
            1 => ("command", format!(r#"{{"find":"t","filter":{{"c":{x}}},"$db":"shop"}}"#)),
            2 => (
                "command",
                format!(
                    r#"{{"update":"t","updates":[{{"q":{{"a":{x},"b":1}},"u":{{"$set":{{"z":1}}}}}},{{"q":{{"c":{x}}},"u":{{"$set":{{"z":1}}}},"multi":true}},{{"q":{{"a":{x}}},"u":{{"$set":{{"z":1}}}},"multi":true}}],"$db":"shop"}}"#
                ),
            ),
            _ => ("update", format!(r#"{{"q":{{"a":{x}}},"u":{{"$set":{{"z":2}}}},"multi":true,"upsert":false}}"#)),
        };
        line(&mut log, number, number % 50, (kind, before, &command, shards));
    }
    let limits = |settings: &mut Settings| {
        settings.limits = ["1%", "shop.*=90%:time", "app:^app1=50%", "app:^app2$=10%:time"]
            .map(|text| text.parse().expect("a limit"))
            .into();
    };
    let report = assert_same_with(&[log.as_bytes()], limits, "many applications");
    let sum = |list: &str, name: &str| {
        report[list].as_array().expect("a list").iter().filter_map(|row| row[name].as_u64()).sum::<u64>()
    };
    assert_eq!(sum("shapes", "count"), 2 * 750 + 750 * 3 + 750);
    assert_eq!(sum("shapes", "millis"), (0..3000).map(|number| 1 + number * 7919 % 3000).sum::<u64>());
    assert_eq!(report["limits"].as_array().expect("a list").len(), 4);
}

#[test]
fn samples_of_key_values_are_the_same_whether_lists_are_long_or_short_and_whichever_line_was_first() {
    let mut random = fastrand::Rng::with_seed(3);
    let mut log = String::new();
    for number in 0..2500 {
        let mut list = |kind: usize| {
            let members: Vec<String> = (0..1 + random.usize(..20))
                .map(|_| match kind {
                    0 if random.u8(..4) > 0 => "7".to_owned(),
                    0 => random.u32(..9).to_string(),
                    1 => format!(r#""v{}""#, random.u32(..9)),
                    _ => format!(r#"{{"$oid":"65000000aaaaaaaaaaaaaa{:02x}"}}"#, random.u32(..9)),
                })
                .collect();
            format!("[{}]", members.join(","))
        };
        let (a, b) = (list(number % 3), list(1));
        let command = match number % 6 {
            0 => format!(r#"{{"find":"t","filter":{{"a":{{"$in":{a}}},"b":{}}},"$db":"shop"}}"#, number % 5),
            1 => format!(r#"{{"find":"t","filter":{{"b":"x","a":{{"$in":{a}}}}},"$db":"shop"}}"#),
            2 => format!(r#"{{"find":"t","filter":{{"a":{{"$in":{a}}},"b":{{"$in":{b}}}}},"$db":"shop"}}"#),
            3 => format!(
                r#"{{"find":"t","filter":{{"$and":[{{"a":{{"$gte":{number},"$lt":9999}}}},{{"b":{{"$in":{b}}}}}]}},"$db":"shop"}}"#
            ),
            // Most of those with the whole key have the same one.
            4 => {
                let document = |n: usize| {
                    let key = if n.is_multiple_of(8) {
                        format!(r#""a":{n},"b":{{"c":{n}}}"#)
                    } else {
                        r#""a":7,"b":"hot""#.to_owned()
                    };
                    format!(r#"{{"_id":{n},{key}}}"#)
                };
                let documents: Vec<String> = (number..=number + number % 4).map(document).collect();
                format!(r#"{{"insert":"t","documents":[{}],"$db":"shop"}}"#, documents.join(","))
            }
            _ => {
                let (a, b) = if number % 8 == 1 { (number, "cold") } else { (7, "hot") };
                format!(r#"{{"find":"t","filter":{{"a":{a},"b":"{b}"}},"$db":"shop"}}"#)
            }
        };
        line(&mut log, number, number % 9, ("command", "", &command, ""));
    }
    let report = assert_same_with(&[log.as_bytes()], |_| {}, "lists");
    // The share is that of a sample, and says so.
    let mut found =
        report["diagnostics"].as_array().expect("a list").iter().filter_map(|found| found["message"].as_str());
    assert!(found.any(|message| message.contains("% (give or take 4) of the values")), "{:#?}", report["diagnostics"]);
}

#[test]
fn shards_and_a_router_that_log_the_same_are_counted_apart() {
    let (mut shard, mut router) = (String::new(), String::new());
    for number in 0..900 {
        let routed = if number % 3 == 0 { "" } else { r#""shardVersion":{},"$client":{"mongos":{"host":"x"}},"# };
        let filter = if number % 2 == 0 { r#"{"a":5,"b":6}"# } else { r#"{"c":7}"# };
        let command = format!(r#"{{"find":"t","filter":{filter},{routed}"$db":"shop"}}"#);
        line(&mut shard, number, number % 5, ("command", r#""appName":"web","#, &command, ""));
        let command = format!(r#"{{"find":"t","filter":{filter},"$db":"shop"}}"#);
        line(&mut router, number, number % 5, ("command", r#""appName":"web","#, &command, r#","nShards":2"#));
        // A WRITE line waits for the next line of its thread, which tells whether it came through a router.
        let write = format!(r#"{{"q":{filter},"u":{{"$set":{{"z":2}}}},"multi":true,"upsert":false}}"#);
        line(&mut shard, number, number % 5, ("update", "", &write, ""));
    }
    let shards = assert_same_with(&[shard.as_bytes(), shard.as_bytes()], |_| {}, "two shards");
    let all = assert_same_with(&[shard.as_bytes(), router.as_bytes()], |_| {}, "a shard and a router");
    assert_ne!(shards["summary"]["classes"], all["summary"]["classes"]);
}
