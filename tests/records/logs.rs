//! Whole logs of servers 4.4 to 6.0: what is read of them against a plain reading, and against themselves.

use std::path::PathBuf;

use serde_json::Value as Json;
use shardlint::input::{Input, Piece, discover};
use shardlint::model::{Document, Event, Node, Shape, Statement, Traffic, Value};
use shardlint::syntax::{Record, ext_json, read_record};
use shardlint::text::Span;

/// Every line of every log, by log.
fn logs() -> Vec<(String, Vec<Vec<u8>>)> {
    let found = discover(&[PathBuf::from(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/data/mongod"))]);
    assert!(found.errors.is_empty(), "{:?}", found.errors);
    assert!(found.inputs.len() > 40);
    found.inputs.iter().map(|input| (input.name().to_owned(), lines(input))).collect()
}

fn lines(input: &Input) -> Vec<Vec<u8>> {
    let mut lines = Vec::new();
    for piece in input.chunks(1 << 16).expect("opened") {
        match piece.expect("readable") {
            Piece::Lines(chunk) => {
                let ended = chunk.bytes.strip_suffix(b"\n").unwrap_or(&chunk.bytes);
                lines.extend(ended.split(|byte| *byte == b'\n').map(<[u8]>::to_vec));
            }
            Piece::Oversize { .. } => panic!("no line is that long"),
        }
    }
    lines
}

/// Whether a plain reading calls a record a query on a user's collection.
fn is_users_query(row: &Json) -> bool {
    const QUERIES: [&str; 7] = ["find", "aggregate", "count", "distinct", "findAndModify", "findandmodify", "q"];
    let (ns, command) = (row["attr"]["ns"].as_str().unwrap_or_default(), &row["attr"]["command"]);
    let Some(members) = command.as_object() else { return false };
    let is_own = ["admin.", "config.", "local."].iter().any(|database| ns.starts_with(database));
    let target = QUERIES.iter().find_map(|name| members.get(*name));
    let is_system = target.and_then(Json::as_str).is_some_and(|name| name.starts_with("system."));
    target.is_some() && !is_own && !is_system && !command.to_string().contains("$mergeCursors")
}

#[test]
fn every_line_is_what_a_plain_reading_says() {
    for (name, lines) in logs() {
        for line in lines {
            let row: Json = serde_json::from_slice(&line).expect("these logs are all JSON");
            let is_slow = row["id"] == 51803;
            match read_record(&line) {
                Record::Slow(event) => {
                    assert!(is_slow, "{name}: {row}");
                    assert_eq!(event.truncated.is_some(), row.get("truncated").is_some(), "{name}: {row}");
                    let is_judged = !matches!(event.traffic, Traffic::Internal(_) | Traffic::NotAQuery(_));
                    assert!(is_judged || !is_users_query(&row), "{name}: {:?} {row}", event.traffic);
                }
                Record::Other(_) => assert!(!is_slow, "{name}: {row}"),
                Record::Bad(error) => panic!("{name}: {error} {row}"),
                Record::Explain(_) | Record::Several(_) => panic!("{name}: {row}"),
            }
        }
    }
}

#[test]
fn every_span_cuts_the_text_it_names() {
    let mut nodes = 0;
    for (_, lines) in logs() {
        for line in &lines {
            let Record::Slow(event) = read_record(line) else { continue };
            check_event(line, &event);
            for statement in &event.statements {
                for node in parts(statement) {
                    nodes += check_node(line, node);
                }
            }
        }
    }
    assert!(nodes > 50_000, "{nodes}");
}

fn cut(line: &[u8], span: Span) -> &str {
    std::str::from_utf8(&line[span.range()]).expect("spans lie between characters")
}

fn check_event(line: &[u8], event: &Event) {
    let counters =
        [&event.n_shards, &event.duration_millis, &event.keys_examined, &event.docs_examined, &event.returned];
    for counter in counters.into_iter().flatten() {
        assert_eq!(cut(line, counter.span), counter.value.to_string());
    }
    if let Some(plan) = &event.plan_summary {
        let quoted = format!("\"{}\"", cut(line, plan.span));
        assert_eq!(serde_json::from_str::<String>(&quoted).expect("a string"), plan.value);
    }
    if !event.statements.is_empty() {
        assert!(cut(line, event.name_span).starts_with('"') && cut(line, event.name_span).ends_with('"'));
        assert!(event.command_span.contains(event.name_span));
    }
    for statement in &event.statements {
        assert!(event.command_span.contains(statement.span) && event.command_span.contains(statement.name_span));
    }
}

/// Every part of a statement that was read from the record as it stands there.
fn parts(statement: &Statement) -> Vec<&Node> {
    let Statement { filter, pipeline, update, sort, skip, limit, hint, min, max, projection, .. } = statement;
    let Statement { distinct_key, collation, let_variables, documents, view_pipeline, .. } = statement;
    let parts = [filter, pipeline, update, sort, skip, limit, hint, min, max, projection, distinct_key, collation];
    let views = view_pipeline.as_ref().and_then(Node::as_array).map_or(&[][..], |stages| &stages.items);
    parts.into_iter().chain([let_variables]).flatten().chain(documents).chain(views).collect()
}

/// Checks a node and all below it; returns how many there are.
fn check_node(line: &[u8], node: &Node) -> usize {
    if node.span.is_empty() {
        return 0;
    }
    let text = cut(line, node.span);
    let again = ext_json::parse(text, node.span.start as usize).unwrap_or_else(|error| panic!("{error}: {text}"));
    assert_eq!(bare(&again), bare(node), "{text}");
    let below = match &node.value {
        Value::Document(Document { fields, .. }) => {
            for field in fields {
                let name: String = serde_json::from_str(cut(line, field.name_span)).expect("a name");
                assert_eq!(name, field.name);
            }
            fields.iter().map(|field| &field.node).collect()
        }
        Value::Array(array) => array.items.iter().collect(),
        _ => Vec::new(),
    };
    1 + below.into_iter().map(|node| check_node(line, node)).sum::<usize>()
}

/// The value without what a cut adds to it.
fn bare(node: &Node) -> String {
    format!("{:?}", node.value).replace("partial: true", "partial: false")
}

#[test]
fn the_order_of_members_and_the_spelling_of_blanks_do_not_matter() {
    for (name, lines) in logs().into_iter().filter(|(name, _)| !name.contains("bson-types")) {
        for line in lines {
            let Record::Slow(event) = read_record(&line) else { continue };
            // Sorts members by name, and drops padding.
            let sorted = serde_json::from_slice::<Json>(&line).expect("JSON").to_string();
            let Record::Slow(again) = read_record(sorted.as_bytes()) else { panic!("{name}: {sorted}") };
            let kind = |event: &Event| (event.traffic.clone(), event.origin, event.verb);
            assert_eq!(kind(&again), kind(&event), "{sorted}");
            let shapes = |event: &Event| -> usize {
                event
                    .statements
                    .iter()
                    .filter(|s| s.sort.is_none() && s.pipeline.is_none())
                    .map(|s| Shape::of(s).text.len())
                    .sum()
            };
            assert_eq!(shapes(&again), shapes(&event), "{sorted}");
            assert_eq!(again.duration_millis.map(|n| n.value), event.duration_millis.map(|n| n.value));
        }
    }
}

#[test]
fn no_damage_to_a_line_makes_the_reader_panic() {
    let mut random = fastrand::Rng::with_seed(7);
    for (_, lines) in logs() {
        for mut line in lines.into_iter().filter(|line| !line.is_empty()) {
            let at = random.usize(..line.len());
            let _ = read_record(&line[..at]);
            let _ = read_record(&line[at..]);
            line[at] = random.u8(..);
            let _ = read_record(&line);
            let swap = random.usize(..line.len());
            line.swap(at, swap);
            line.remove(random.usize(..line.len()));
            let _ = read_record(&line);
        }
    }
}
