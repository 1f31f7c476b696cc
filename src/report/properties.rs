//! What holds for any record and any labels: nothing raw is printed, nothing panics, and every label is shown under
//! the text it means.

use std::ops::Range;

use proptest::prelude::*;

use super::escape::{columns, escape_each};
use super::excerpt::{Excerpt, Layout};
use super::{Diagnostic, Example, ExampleLabel, Format, Location, RenderOptions, Report, ShapeRow, render};
use crate::rules::Severity;

/// Text as it may stand in a string: letters of several widths, escapes, raw controls, never quotes or backslashes
/// alone, and no marks, whose looks depend on what is before them.
fn string() -> impl Strategy<Value = String> {
    let piece = prop_oneof![
        6 => "[a-zA-Z0-9_$. ]{0,12}".prop_map(String::from),
        1 => Just("訂單".to_owned()),
        1 => Just("🍎".to_owned()),
        1 => Just("größe".to_owned()),
        1 => Just("\u{1b}[31m".to_owned()),
        1 => Just("\u{202e}".to_owned()),
        1 => Just("\\\"".to_owned()),
        1 => Just("\\u001b".to_owned()),
        1 => Just("{ } [ ] , :".to_owned()),
        1 => "[a-z]{100,300}".prop_map(String::from),
    ];
    proptest::collection::vec(piece, 0..4).prop_map(|pieces| format!("\"{}\"", pieces.concat()))
}

/// A JSON-like text, spaced as servers do.
fn json() -> impl Strategy<Value = String> {
    let leaf = prop_oneof![string(), "-?[0-9]{1,9}".prop_map(String::from), Just("null".to_owned())];
    leaf.prop_recursive(5, 60, 8, |inner| {
        let member = (string(), inner.clone()).prop_map(|(key, value)| format!("{key}:{value}"));
        prop_oneof![
            proptest::collection::vec(member, 0..8).prop_map(|members| format!("{{{}}}", members.join(", "))),
            proptest::collection::vec(inner, 0..8).prop_map(|items| format!("[{}]", items.join(","))),
        ]
    })
}

fn record() -> impl Strategy<Value = Vec<u8>> {
    prop_oneof![
        4 => json().prop_map(|json| format!("{{\"attr\":{json}}}").into_bytes()),
        1 => (json(), json()).prop_map(|(a, b)| format!("2020 I [conn1] command: find {a} plan: {b} 812ms").into_bytes()),
        1 => json().prop_map(|json| json.as_bytes()[..json.len() / 2].to_vec()),
    ]
}

fn labelled() -> impl Strategy<Value = (Vec<u8>, Vec<Range<usize>>)> {
    (record(), proptest::collection::vec((any::<prop::sample::Index>(), any::<prop::sample::Index>()), 1..4)).prop_map(
        |(record, edges)| {
            let edge = |index: &prop::sample::Index| index.index(record.len() + 1);
            let labels = edges.iter().map(|(a, b)| edge(a).min(edge(b))..edge(a).max(edge(b))).collect();
            (record, labels)
        },
    )
}

fn layout(width: usize, as_lines: bool) -> Layout {
    Layout { width, unicode: true, as_lines, first_line: 7 }
}

/// The letters of a text, in the order in which they are shown; layout is free to change the rest.
fn letters(text: &str) -> String {
    text.chars().filter(|c| !c.is_whitespace() && !"\"{}[],:".contains(*c)).collect()
}

/// The escaped characters of the record that `label` touches.
fn escaped(record: &[u8], label: &Range<usize>) -> String {
    let mut text = String::new();
    escape_each(record, |range, shown| {
        if range.start < label.end && label.start < range.end {
            text.push_str(shown);
        }
    });
    letters(&text)
}

/// What is left of a shown text between its elisions.
fn fragments(shown: &str) -> Vec<String> {
    let mut parts = shown.split('…');
    let first = parts.next().unwrap_or_default().to_owned();
    let rest = parts.map(|part| {
        let counted = part.trim_start().trim_start_matches(|c: char| c.is_ascii_digit() || c == ',');
        counted.strip_prefix(" more").unwrap_or(part).to_owned()
    });
    std::iter::once(first).chain(rest).map(|part| letters(&part)).collect()
}

fn assert_shows(shown: &str, expected: &str) -> Result<(), TestCaseError> {
    let parts = fragments(shown);
    let mut rest = expected;
    for (at, part) in parts.iter().enumerate() {
        let found = if at + 1 == parts.len() && at > 0 { rest.rfind(part.as_str()) } else { rest.find(part.as_str()) };
        let Some(found) = found else {
            return Err(TestCaseError::fail(format!("{part:?} of {shown:?} is not in {rest:?} of {expected:?}")));
        };
        prop_assert!(at > 0 || found == 0, "{:?} does not begin as {:?}", shown, expected);
        rest = &rest[found + part.len()..];
    }
    prop_assert!(rest.is_empty(), "{:?} does not end as {:?}", shown, expected);
    Ok(())
}

fn report(record: &[u8], labels: &[Range<usize>], text: &str, is_declaration: bool) -> Report {
    let label = |range: &Range<usize>| ExampleLabel {
        location: Location {
            path: text.to_owned(),
            line: 7,
            column: range.start as u64 + 1,
            end_line: 7,
            end_column: range.end as u64 + 1,
            byte_start: range.start as u64,
            byte_end: range.end as u64,
        },
        text: text.to_owned(),
        snippet: record[range.clone()].to_vec(),
        start: range.start,
        end: range.end,
        other_source: None,
    };
    let labels = labels.iter().map(label).collect();
    let diagnostic = Diagnostic {
        code: "SL101",
        rule: "broadcast-query",
        severity: Severity::Warning,
        namespace: text.to_owned(),
        operation: None,
        message: text.to_owned(),
        help: Some(text.to_owned()),
        shape: Some(text.to_owned()),
        subject: None,
        fingerprint: String::new(),
        count: 2,
        millis: 5,
        first_seen: None,
        last_seen: None,
        new: Some(true),
        was: None,
        now: None,
        example: Example { record: record.into(), is_declaration, line: 7, labels },
        comment: Some(text.to_owned()),
    };
    let shape = ShapeRow {
        namespace: text.to_owned(),
        operation: "find",
        shape: text.to_owned(),
        fingerprint: String::new(),
        class: "broadcast",
        classes: [("broadcast", 2)].into(),
        count: 2,
        millis: 5,
        percentiles: [1, 3, 3],
        max_millis: 3,
        observed_shards: None,
        seen_on_shards: None,
        plans: Vec::new(),
        shards: Some(vec![text.to_owned()]),
        reason: text.to_owned(),
        example: None,
    };
    let mut report = Report { diagnostics: vec![diagnostic], shapes: vec![shape], ..Report::default() };
    report.summary.notes.push(text.to_owned());
    report.summary.from = Some(text.to_owned());
    report.summary.to = Some(text.to_owned());
    report
}

fn rendered(report: &Report, format: Format, options: &RenderOptions) -> String {
    let mut out = Vec::new();
    render(report, format, options, &mut out).expect("a vector takes everything");
    String::from_utf8(out).expect("reports are UTF-8")
}

fn acts_on_terminals(c: char) -> bool {
    c != '\n'
        && (c.is_control()
            || matches!(c, '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2066}'..='\u{2069}' | '\u{feff}'))
}

/// The columns that the carets of the first label take, and the row above them.
fn carets(picture: &str) -> Option<(&str, Range<usize>)> {
    let rows: Vec<&str> = picture.lines().collect();
    let at = rows.iter().position(|row| row.contains('┬'))?;
    let start = rows[at].find(['─', '┬'])?;
    let column = columns(&rows[at][..start]);
    Some((rows[at - 1], column..column + columns(&rows[at][start..])))
}

/// The part of `row` in `range` of columns.
fn in_columns(row: &str, range: &Range<usize>) -> String {
    let mut column = 0;
    let mut text = String::new();
    for c in row.chars() {
        if range.contains(&column) {
            text.push(c);
        }
        column += columns(c.encode_utf8(&mut [0; 4]));
    }
    text
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 200, max_global_rejects: 1 << 20, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn a_label_shows_the_text_it_points_at((record, labels) in labelled(), width in 20_usize..140) {
        let excerpt = Excerpt::new(&record, &labels, layout(width, false));
        for (label, shown) in labels.iter().zip(&excerpt.labels) {
            let shown = &excerpt.text[shown.clone()];
            if !label.is_empty() {
                assert_shows(shown, &escaped(&record, label))?;
            }
        }
        prop_assert_eq!(excerpt.lines[0], Some(7));
        prop_assert!(excerpt.lines[1..].iter().all(Option::is_none));
    }

    #[test]
    fn carets_lie_under_the_text_they_mean((record, labels) in labelled(), width in 60_usize..140) {
        let label = labels[0].clone();
        let excerpt = Excerpt::new(&record, std::slice::from_ref(&label), layout(width - 5, false));
        let shown = &excerpt.text[excerpt.labels[0].clone()];
        prop_assume!(!shown.is_empty() && !shown.contains('\n') && !shown.ends_with(' '));
        let options = RenderOptions { width, summary: false, ..RenderOptions::default() };
        let picture = rendered(&report(&record, &[label], "m", false), Format::Pretty, &options);
        let (row, range) = carets(&picture).expect("a label has carets");
        prop_assert_eq!(in_columns(row, &range), shown, "{}", picture);
    }

    #[test]
    fn nothing_raw_is_ever_printed(
        record in prop_oneof![
            proptest::collection::vec(any::<u8>(), 0..300),
            any::<String>().prop_map(String::into_bytes),
            record(),
        ],
        text in prop_oneof![any::<String>(), "[\\PC\\pM\u{1b}\u{9b}\u{202e}\r\n\t`]{0,40}"],
        edges in (any::<prop::sample::Index>(), any::<prop::sample::Index>()),
        width in 0_usize..120,
        unicode: bool,
        is_declaration: bool,
    ) {
        let (a, b) = (edges.0.index(record.len() + 1), edges.1.index(record.len() + 1));
        let report = report(&record, &[a.min(b)..a.max(b), a..a], &text, is_declaration);
        let options = RenderOptions { width, unicode, ..RenderOptions::default() };
        for format in [Format::Pretty, Format::Concise, Format::Json, Format::Jsonl] {
            let output = rendered(&report, format, &options);
            prop_assert!(!output.contains(acts_on_terminals), "{:?}", output);
        }
    }

    #[test]
    fn colour_changes_nothing_but_colour((record, labels) in labelled(), width in 40_usize..120) {
        let report = report(&record, &labels, "a message of some words, `with quotes`, that may be broken", false);
        let plain = RenderOptions { width, ..RenderOptions::default() };
        let colored = rendered(&report, Format::Pretty, &RenderOptions { color: true, ..plain.clone() });
        let mut stripped = String::new();
        for (at, part) in colored.split('\u{1b}').enumerate() {
            stripped.push_str(if at == 0 { part } else { part.split_once('m').expect("a colour code").1 });
        }
        let trimmed: Vec<&str> = stripped.lines().map(str::trim_end).collect();
        let plain = rendered(&report, Format::Pretty, &plain);
        prop_assert_eq!(trimmed, plain.lines().collect::<Vec<_>>());
    }
}

#[test]
fn a_record_of_64_mib_is_laid_out_in_time_and_with_little_text() {
    let item = r#"{"_id":{"$oid":"59154269cfe1f2d40943d7f5"},"v":[1,2,3],"s":"text"},"#;
    let mut record = br#"{"attr":{"command":{"filter":{"a":["#.to_vec();
    while record.len() < 64 << 20 {
        record.extend_from_slice(item.as_bytes());
    }
    let start = record.len();
    record.extend_from_slice(br#"{"last":1}]}}}}"#);
    let excerpt = Excerpt::new(&record, &[start..start + 10, 25..start + 12], layout(90, false));
    assert_eq!(&excerpt.text[excerpt.labels[0].clone()], "{ last: 1 }");
    assert!(excerpt.text.len() < 1000);
}

#[test]
fn nesting_of_any_depth_is_harmless() {
    let deep = format!("{}1{}", "[".repeat(100_000), "]".repeat(100_000));
    let (leaf, most) = (100_000..100_001, 0..200_001);
    let excerpt = Excerpt::new(deep.as_bytes(), &[leaf], layout(90, false));
    assert_eq!(&excerpt.text[excerpt.labels[0].clone()], "1");
    let excerpt = Excerpt::new(deep.as_bytes(), &[most], layout(90, false));
    assert!(excerpt.text.len() < 200);
}

#[test]
fn a_label_on_a_key_takes_nothing_from_one_that_spans_key_and_value() {
    let record = format!(r#"{{"attr":{{"{}":[0,"0",""],"a":0}}}}"#, "a".repeat(100));
    let end = record.find("\"0\"").expect("an item") + 1;
    let excerpt = Excerpt::new(record.as_bytes(), &[9..9, 14..end], layout(20, false));
    assert_eq!(&excerpt.text[excerpt.labels[1].clone()], "aaaaaa…aaaaaa: [ …,\n  \"");
}
