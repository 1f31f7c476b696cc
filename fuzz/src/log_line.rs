//! One line of a log: structured, of the text log, or one inside the JSON of a container or a log service.

use std::borrow::Cow;

use shardlint::model::{Event, Node, Shape, Value};
use shardlint::syntax::{
    Fact, Marks, Outliner, Patterns, Record, Told, clean, ext_json, is_idle_text, is_whole, legacy as legacy_log,
    read_record,
};
use shardlint::text::Span;

use crate::print::quoted;
use crate::spans::{assert_inside, assert_located, of_event};

/// Reads the bytes as a line, and what is a slow query again inside of other JSON: the same must come out, and its spans
/// must name the same text through the escapes.
pub fn structured(data: &[u8]) {
    let line = first_line(data);
    let record = read_record(line);
    assert_record(line, &record);
    assert_recognised(line, &record);
    let (Record::Slow(bare), Ok(text)) = (&record, std::str::from_utf8(line)) else { return };
    // What is read though it is no line of a server's log (a document of the profiler, a line wrapped already, a part of an
    // array) is not written by a server either.
    let has_message = |json: &Node| json.as_document().is_some_and(|json| json.get("msg").is_some());
    let is_structured = || is_whole(line) && ext_json::parse(text, 0).is_ok_and(|json| has_message(&json));
    if legacy_log::parse_form(text).is_err() && !is_structured() {
        return;
    }
    let outer = format!(r#"{{"log":{},"stream":"stdout"}}"#, quoted(&format!("{text}\n")));
    match read_record(outer.as_bytes()) {
        Record::Slow(wrapped) => assert_same_texts((text, bare), (&outer, &wrapped)),
        // Only one string is looked into.
        _ if ext_json::parse(text, 0).is_ok_and(|line| holds_line(&line)) => {}
        other => panic!("a slow query is read as {other:?} once it is wrapped: {outer}"),
    }
}

/// Reads the bytes as a line of the text log, as a plan summary and as an interval of index bounds.
pub fn legacy(data: &[u8]) {
    let line = first_line(data);
    let record = read_record(line);
    assert_record(line, &record);
    assert_recognised(line, &record);
    let Ok(text) = std::str::from_utf8(line) else { return };
    match legacy_log::parse_form(text) {
        Ok(()) => assert!(!matches!(record, Record::Bad(_)), "the strict form is not read: {text:?}"),
        Err(error) => assert_located(text, &error),
    }
    match legacy_log::plan::parse(text, 0) {
        Ok(plans) => plans.iter().for_each(|plan| assert_inside(text, &[plan.stage.span])),
        Err(error) => assert_located(text, &error),
    }
    match legacy_log::bounds::parse(text, 0) {
        Ok(interval) => assert_inside(text, &[interval.first.0.span, interval.last.0.span]),
        Err(error) => assert_located(text, &error),
    }
}

/// What is said of a line without reading it in full is what is read in it, and in another one that is taken to be alike.
fn assert_recognised(line: &[u8], record: &Record) {
    let is_plain = |record: &Record| matches!(record, Record::Other(Fact::Plain));
    assert!(!is_idle_text(line) || is_plain(record), "{record:?} is passed over");
    let marks = Marks { application: false, values: 10, skipped: 100, examined: 100, returned: 100 };
    let mut outliner = Outliner::default();
    let Some(line) = clean(line) else { return };
    let Some((outline, pattern)) = outliner.pattern(line, marks) else { return };
    let ending = outline.ending.to_owned();
    let mut patterns = Patterns::default();
    patterns.learn(line, &pattern, 0, || ());
    let shapes = |event: &Event| event.statements.iter().map(|one| Shape::of(one).text).collect::<Vec<_>>();
    let mut is_alike = |other: &str| {
        let found = patterns.find(other, &mut outliner, marks).filter(|_| outliner.ending() == ending);
        let Some(found) = found else { return false };
        let (Record::Slow(event), Record::Slow(first)) = (read_record(other.as_bytes()), record) else {
            panic!("recognised, and no slow query: {other}");
        };
        assert_eq!(found.told, Told::by_event(&event), "{other}");
        assert_eq!(shapes(&event), shapes(first), "{other}");
        true
    };
    assert!(is_alike(line), "a line is not recognised: {line}");
    let next = |letter: char| if matches!(letter, '1'..='8') { (letter as u8 + 1) as char } else { letter };
    is_alike(&line.chars().map(next).collect::<String>());
}

fn first_line(data: &[u8]) -> &[u8] {
    data.split(|&byte| byte == b'\n').next().unwrap_or_default()
}

/// Whether a string in it is a line of a log.
fn holds_line(json: &Node) -> bool {
    match &json.value {
        Value::String(text) => matches!(read_record(text.as_bytes()), Record::Slow(_)),
        Value::Document(document) => document.fields.iter().any(|field| holds_line(&field.node)),
        Value::Array(array) => array.items.iter().any(holds_line),
        _ => false,
    }
}

/// Spans lie inside the record, and shapes are one line.
pub fn assert_record(line: &[u8], record: &Record) {
    // Bytes that are no UTF-8 count one by one.
    let text: Cow<'_, str> = match std::str::from_utf8(line) {
        Ok(text) => text.into(),
        Err(_) => line.iter().map(|byte| char::from(byte & 0x7f)).collect::<String>().into(),
    };
    match record {
        Record::Slow(event) | Record::Explain(event) => {
            assert_inside(&text, &of_event(event));
            for statement in &event.statements {
                assert!(!Shape::of(statement).text.contains('\n'), "a shape is one line: {text:?}");
            }
        }
        Record::Other(_) => {}
        Record::Bad(error) => assert_located(&text, error),
        Record::Several(parts) => {
            for part in parts {
                assert_inside(&text, &[part.span]);
                assert_record(&line[part.span.range()], &part.record);
            }
        }
    }
}

fn assert_same_texts((text, bare): (&str, &Event), (outer, wrapped): (&str, &Event)) {
    assert_eq!((&bare.namespace, &bare.traffic, bare.verb), (&wrapped.namespace, &wrapped.traffic, wrapped.verb));
    let (inner_spans, outer_spans) = (of_event(bare), of_event(wrapped));
    assert_eq!(inner_spans.len(), outer_spans.len(), "{outer}");
    let is_nowhere = |span: &Span| span.start == 0 && span.end == 0;
    for (inner, place) in inner_spans.iter().zip(&outer_spans).filter(|(inner, _)| !is_nowhere(inner)) {
        let escaped = outer.get(place.range()).unwrap_or_else(|| panic!("{place:?} is no part of {outer}"));
        let read: String = serde_json::from_str(&format!("\"{escaped}\""))
            .unwrap_or_else(|error| panic!("{place:?} cuts an escape of {outer}: {error}"));
        assert_eq!(read, text[inner.range()], "{inner:?} became {place:?} in {outer}");
    }
}
