//! Shapes and fingerprints are part of users' baselines: this list is frozen. `docs/fingerprints.md` is the specification.

use std::collections::BTreeSet;

use shardlint::model::{Shape, Statement};
use shardlint::syntax::{Record, read_record};

/// The statements of a record with that command on `shop.orders`.
fn statements(kind: &str, command: &str) -> Vec<Statement> {
    let line = format!(
        r#"{{"t":{{"$date":"2026-01-01T00:00:00.000Z"}},"s":"I","c":"COMMAND","id":51803,"ctx":"conn1","msg":"Slow query","attr":{{"type":"{kind}","ns":"shop.orders","command":{command}}}}}"#
    );
    match read_record(line.as_bytes()) {
        Record::Slow(event) => event.statements,
        other => panic!("{other:?} of {line}"),
    }
}

fn shape(command: &str) -> String {
    let kind = match command {
        command if !command.starts_with(r#"{"q""#) => "command",
        command if command.contains(r#""limit""#) => "remove",
        _ => "update",
    };
    Shape::of(&statements(kind, command)[0]).text
}

fn filter(filter: &str) -> String {
    shape(&format!(r#"{{"find":"orders","filter":{filter}}}"#))
}

#[test]
fn shapes_and_fingerprints_are_frozen() {
    let frozen = include_str!("data/fingerprints.txt");
    let mut now = String::new();
    for block in frozen.split("\n\n").filter(|block| !block.trim().is_empty()) {
        let command = block.trim().lines().next().expect("a command");
        let kind = match command {
            command if !command.starts_with(r#"{"q""#) => "command",
            command if command.contains(r#""limit""#) => "remove",
            _ => "update",
        };
        let statement = statements(kind, command).remove(0);
        let shape = Shape::of(&statement);
        let operation = statement.verb.name();
        let fingerprint = shape.fingerprint(statement.namespace.as_str(), operation);
        now.push_str(&format!("{command}\n{operation} {}\n{fingerprint}\n\n", shape.text));
    }
    assert_eq!(now.trim(), frozen.trim());
}

#[test]
fn the_frozen_list_is_long_and_no_two_shapes_share_a_fingerprint() {
    let frozen = include_str!("data/fingerprints.txt");
    let lines: Vec<&str> = frozen.lines().collect();
    let shapes: BTreeSet<&str> = lines.iter().skip(1).step_by(4).copied().collect();
    let fingerprints: BTreeSet<&str> = lines.iter().skip(2).step_by(4).copied().collect();
    assert!(shapes.len() >= 40);
    assert_eq!(shapes.len(), fingerprints.len());
}

#[test]
fn other_literals_and_longer_lists_do_not_change_a_shape() {
    for (one, other) in [
        (r#"{"a":1}"#, r#"{"a":"x"}"#),
        (r#"{"a":{"$gte":1.5}}"#, r#"{"a":{"$gte":{"$date":"2020-01-01T00:00:00Z"}}}"#),
        (r#"{"a":{"$in":[1,2]}}"#, r#"{"a":{"$in":["x","y","z","w"]}}"#),
        (r#"{"$or":[{"a":1},{"a":2}]}"#, r#"{"$or":[{"a":1},{"a":2},{"a":3}]}"#),
        (r#"{"a":{"$regex":"^x"}}"#, r#"{"a":{"$regex":"^yz","$options":"s"}}"#),
        (r#"{"a":1,"$comment":"from here"}"#, r#"{"a":1}"#),
        (r#"{"a":[1]}"#, r#"{"a":["x",{"b":1}]}"#),
        ("{\"a\":\"###\"}", r#"{"a":5}"#),
    ] {
        assert_eq!(filter(one), filter(other), "{one} {other}");
    }
}

#[test]
fn what_routing_depends_on_changes_a_shape() {
    let shapes = [
        r#"{"a":1}"#,
        r#"{"a":null}"#,
        r#"{"a":{"$minKey":1}}"#,
        r#"{"a":{"$maxKey":1}}"#,
        r#"{"a":[1]}"#,
        r#"{"a":[]}"#,
        r#"{"a":{"b":1}}"#,
        r#"{"a":{"$in":[]}}"#,
        r#"{"a":{"$in":[1]}}"#,
        r#"{"a":{"$in":[1,2]}}"#,
        r#"{"a":{"$in":[1,null]}}"#,
        r#"{"a":{"$exists":true}}"#,
        r#"{"a":{"$exists":false}}"#,
        r#"{"a":{"$regularExpression":{"pattern":"^x","options":""}}}"#,
        r#"{"a":{"$regularExpression":{"pattern":"^x","options":"i"}}}"#,
        r#"{"a":{"$type":"string"}}"#,
        r#"{"a":{"$type":"maxKey"}}"#,
        r#"{"$expr":{"$eq":["$a",5]}}"#,
        r#"{"$expr":{"$eq":["$a","$b"]}}"#,
        r#"{"$or":[{"a":1}]}"#,
        r#"{"$or":[{"a":1},{"a":2}]}"#,
    ];
    let distinct: BTreeSet<String> = shapes.iter().map(|text| filter(text)).collect();
    assert_eq!(distinct.len(), shapes.len(), "{distinct:#?}");
}

#[test]
fn a_regex_counts_as_anchored_only_if_a_literal_prefix_bounds_it() {
    let of = |pattern: &str, options: &str| {
        filter(&format!(r#"{{"a":{{"$regularExpression":{{"pattern":"{pattern}","options":"{options}"}}}}}}"#))
    };
    for (pattern, options) in [("^ab", ""), ("^a+", ""), ("\\\\Aab", "m"), ("^ ab", "x"), ("^a{2}", "")] {
        assert_eq!(of(pattern, options), "{ a: /^?/ }", "{pattern}");
    }
    for (pattern, options) in
        [("ab", ""), ("^ab", "i"), ("^ab", "m"), ("^a*b", ""), ("^.x", ""), ("^a|b", ""), ("^\\\\Qa|", ""), ("^", "")]
    {
        assert_eq!(of(pattern, options), "{ a: /?/ }", "{pattern}");
    }
}

#[test]
fn the_order_of_members_changes_a_shape_only_where_it_means_something() {
    assert_eq!(filter(r#"{"b":1,"a":{"$lt":5,"$gte":1}}"#), filter(r#"{"a":{"$gte":1,"$lt":5},"b":2}"#));
    assert_eq!(filter(r#"{"$and":[{"b":1},{"a":1}]}"#), filter(r#"{"$and":[{"a":1},{"b":1}]}"#));
    let sorted = |sort: &str| shape(&format!(r#"{{"find":"orders","filter":{{}},"sort":{sort}}}"#));
    assert_ne!(sorted(r#"{"a":1,"b":1}"#), sorted(r#"{"b":1,"a":1}"#));
    let piped = |stages: &str| shape(&format!(r#"{{"aggregate":"orders","pipeline":{stages},"cursor":{{}}}}"#));
    assert_ne!(piped(r#"[{"$limit":1},{"$skip":1}]"#), piped(r#"[{"$skip":1},{"$limit":1}]"#));
}

#[test]
fn a_statement_has_one_shape_in_its_own_record_and_in_its_batch() {
    let alone = shape(r#"{"q":{"b":1,"a":2},"u":{"$set":{"x":1},"$inc":{"n":1}},"multi":true,"upsert":false}"#);
    let batch =
        r#"{"update":"orders","updates":[{"q":{"b":3,"a":4},"u":{"$set":{"x":2},"$inc":{"n":2}},"multi":true}]}"#;
    assert_eq!(alone, "{ a: ?, b: ? } update { $inc: { n: ? }, $set: { x: ? } } multi");
    assert_eq!(shape(batch), alone);
    let batch = r#"{"delete":"orders","deletes":[{"q":{"a":4},"limit":0}]}"#;
    assert_eq!(shape(r#"{"q":{"a":1},"limit":0}"#), shape(batch));
}

#[test]
fn a_long_shape_is_cut_and_still_tells_apart() {
    let long = |last: &str| {
        let members: Vec<String> = (0..400).map(|i| format!(r#""field{i:03}":1"#)).collect();
        filter(&format!(r#"{{{},"{last}":1}}"#, members.join(",")))
    };
    let (one, other) = (long("z1"), long("z2"));
    assert!(one.len() < 2100 && one.contains(" <more "), "{one}");
    assert_ne!(one, other);
}

#[test]
fn members_of_one_name_in_each_other_are_written_in_time() {
    let nested = (0..40).fold("1".to_owned(), |inner, _| format!(r#"{{"$elemMatch":{{"b":1,"a":{inner},"a":1}}}}"#));
    let text = filter(&format!(r#"{{"z":{nested}}}"#));
    assert!(text.starts_with("{ z: { $elemMatch: { a: ?, a: { $elemMatch: { a: ?, a: {"), "{text}");
    let swapped = nested.replace(r#""b":1,"#, "").replace(r#","a":1}"#, r#","a":1,"b":1}"#);
    assert_eq!(filter(&format!(r#"{{"z":{swapped}}}"#)), text);
}

#[test]
fn of_thousands_of_branches_of_one_shape_two_are_written() {
    let branches: Vec<String> = (0..20_000).map(|n| format!(r#"{{"f{}":{n}}}"#, n % 60)).collect();
    let text = filter(&format!(r#"{{"$and":[{},{{"f7":1}}]}}"#, branches.join(",")));
    assert_eq!(text.matches("{ f7: ? }").count(), 2);
    assert_eq!(text.matches("{ f").count(), 120);
}
