//! Names and values of queries are text that anybody may have chosen. One finding full of what terminals, runners of
//! builds, browsers and Markdown act on goes through every format and stays text.

use quick_xml::events::Event;
use quick_xml::reader::Reader;
use serde_json::Value;
use shardlint::report::{Diagnostic, Format, RenderOptions, Report};

use super::build::{diagnostic, example, report, shape, text};
use super::schemas::assert_junit;

/// Everything at once.
const HOSTILE: &str = "größe訂🍎\"'%25%\r\n::error file=x::owned\n::add-mask::a\n##[error]b ##vso[task.complete]c \
    |`]]>\u{1b}[31m\u{9b}2J\u{202e}\u{0}<img src=x onerror=alert(1)></details></script> [me](http://evil.example) \
    ![p](//evil.example/p.png) @everyone #12 **bold** ```\n# head\n| a | b |\n{{ 7 * 7 }} {% raw %} ${{ secrets.TOKEN }}";

const FORMATS: [Format; 10] = [
    Format::Pretty,
    Format::Concise,
    Format::Json,
    Format::Jsonl,
    Format::Sarif,
    Format::Junit,
    Format::Github,
    Format::Gitlab,
    Format::Rdjson,
    Format::Markdown,
];

fn hostile() -> Diagnostic {
    let record = format!("{{\"attr\":{{\"command\":{{\"find\":\"c\",\"filter\":{{{0:?}:{0:?}}}}}}}}}", HOSTILE);
    // Raw control characters too, as only a broken writer would print them.
    let record = format!("{record}{HOSTILE}");
    let mut example = example(record.as_bytes(), 3, &[(format!("{HOSTILE:?}").as_bytes(), HOSTILE)]);
    for label in &mut example.labels {
        label.location.path = format!("../../{HOSTILE}.log");
    }
    let mut finding = diagnostic(&format!("`find` on `shop.{HOSTILE}` {HOSTILE} is sent to every shard"), example);
    finding.namespace = format!("shop.{HOSTILE}");
    finding.help = Some(format!("add `{HOSTILE}` {HOSTILE}"));
    finding.shape = Some(format!("{{ \"{HOSTILE}\": ? }}"));
    finding.comment = Some(HOSTILE.to_owned());
    finding
}

/// The finding as it is, one whose comment names a place, and one that was known.
fn reports() -> Vec<Report> {
    let mut placed = hostile();
    placed.comment = Some(serde_json::json!({"file": "../../::error::<b>`|.py", "line": 7}).to_string());
    let mut below = hostile();
    below.comment = Some(serde_json::json!({"file": "a%0A,line=9::x <b>[m](u)`|%.py", "line": 7}).to_string());
    (below.new, below.was, below.now) = (Some(true), Some("targeted"), Some("broadcast"));
    let mut row = shape("broadcast", 5);
    (row.namespace, row.shape, row.reason) = (format!("shop.{HOSTILE}"), HOSTILE.to_owned(), HOSTILE.to_owned());
    row.fingerprint = "4".repeat(32);
    [hostile(), placed, below]
        .into_iter()
        .map(|finding| {
            let mut report = report(vec![finding]);
            report.shapes.push(row.clone());
            report.summary.notes.push(HOSTILE.to_owned());
            report.summary.inputs.push(HOSTILE.to_owned());
            report.summary.server_version = HOSTILE.to_owned();
            report
        })
        .collect()
}

fn outputs(format: Format) -> Vec<String> {
    let mut outputs = Vec::new();
    for redact in [None, Some(true), Some(false)] {
        let options = RenderOptions { redact, root: "/srv/shop".into(), ..RenderOptions::default() };
        outputs.extend(reports().iter().map(|report| text(report, format, &options)));
    }
    outputs
}

fn strings<'a>(value: &'a Value, found: &mut Vec<&'a str>) {
    match value {
        Value::String(text) => found.push(text),
        Value::Array(items) => items.iter().for_each(|item| strings(item, found)),
        Value::Object(members) => members.values().for_each(|member| strings(member, found)),
        _ => {}
    }
}

#[test]
fn no_format_prints_what_a_terminal_acts_on() {
    for format in FORMATS {
        for output in outputs(format) {
            let raw = output.chars().find(|c| c.is_control() && *c != '\n' || ('\u{202a}'..='\u{202e}').contains(c));
            assert_eq!(raw, None, "{format:?}");
        }
    }
}

#[test]
fn no_format_gives_commands_to_the_runner_of_a_build() {
    for format in FORMATS {
        for output in outputs(format) {
            for line in output.lines() {
                let is_ours = format == Format::Github && line.starts_with("::error ");
                assert!(is_ours || !line.trim_start().starts_with("::"), "{format:?}: {line}");
                assert!(!line.contains("##[") && !line.contains("##vso["), "{format:?}: {line}");
            }
        }
    }
}

#[test]
fn github_reads_one_command_whose_parts_are_ours() {
    for output in outputs(Format::Github) {
        let lines: Vec<&str> = output.lines().collect();
        assert_eq!(lines.len(), 2, "a command and the totals");
        let (properties, message) = lines[0]["::error ".len()..].split_once("::").unwrap();
        let names: Vec<&str> = properties.split(',').map(|property| property.split_once('=').unwrap().0).collect();
        assert!(names == ["title"] || names == ["file", "line", "title"], "{names:?}");
        assert!(!properties.contains(':') && !message.contains('\r'));
        let unescaped = message.replace("%0A", "").replace("%25", "").replace("%0D", "");
        assert!(!unescaped.contains('%'), "{message}");
    }
}

#[test]
fn json_formats_hold_the_text_as_data() {
    for format in [Format::Json, Format::Sarif, Format::Gitlab, Format::Rdjson] {
        for output in outputs(format) {
            let value: Value = serde_json::from_str(&output).unwrap();
            let mut found = Vec::new();
            strings(&value, &mut found);
            assert!(found.iter().any(|text| text.contains("größe訂🍎")), "{format:?}");
        }
    }
    for output in outputs(Format::Jsonl) {
        assert!(output.lines().all(|line| serde_json::from_str::<Value>(line).is_ok()));
    }
}

#[test]
fn sarif_links_to_nothing() {
    for output in outputs(Format::Sarif) {
        let value: Value = serde_json::from_str(&output).unwrap();
        let result = &value["runs"][0]["results"][0];
        let plain = result["message"]["text"].as_str().unwrap();
        assert!(!plain.contains("](") || plain.contains("\\]("), "{plain}");
        assert!(inert(result["message"]["markdown"].as_str().unwrap()));
        let uris = output.matches("\"uri\": \"").count();
        for uri in output.split("\"uri\": \"").skip(1).map(|rest| rest.split('"').next().unwrap()) {
            assert!(
                !uri.contains([':', ' ', '<', '|', '`', '(']) && !uri.contains("..") && !uri.starts_with('/'),
                "{uri}"
            );
        }
        assert!(uris <= 1);
    }
}

#[test]
fn junit_is_the_same_tree_with_whatever_text() {
    for output in outputs(Format::Junit) {
        assert_junit(&output);
        let mut reader = Reader::from_str(&output);
        loop {
            match reader.read_event().unwrap() {
                Event::Eof => break,
                Event::CData(_) | Event::Comment(_) | Event::PI(_) | Event::DocType(_) => panic!("{output}"),
                _ => {}
            }
        }
        assert_eq!(output.matches("<testcase").count(), 2);
    }
}

/// Whether nothing of Markdown is left that renders, links or mentions, once code is taken away.
fn inert(markdown: &str) -> bool {
    let mut text = String::new();
    let mut fence: Option<usize> = None;
    for line in markdown.lines() {
        let ticks = line.len() - line.trim_start_matches('`').len();
        match fence {
            Some(open) if ticks >= open && line.trim_matches('`').is_empty() => fence = None,
            Some(_) => {}
            None if ticks >= 3 => fence = Some(ticks),
            None => text.push_str(&format!("{}\n", without_code(line))),
        }
    }
    assert_eq!(fence, None, "a fence is left open");
    let ours = ["<br>", "<sub>", "</sub>", "<details>", "</details>", "<summary>", "</summary>"];
    let text = ours.iter().fold(text, |text, tag| text.replace(tag, ""));
    let links: Vec<&str> = text.split("](").skip(1).collect();
    links.iter().all(|link| link.starts_with("https://www.mongodb.com/docs/"))
        && !["<", "evil", "@everyone", "#12", "**bold", "onerror", "{%", "{{ 7"].iter().any(|bad| text.contains(bad))
}

/// The line without its code spans, by the rule that a span ends at a run of as many backticks.
fn without_code(line: &str) -> String {
    let (mut out, mut rest) = (String::new(), line);
    while let Some(start) = rest.find('`') {
        out.push_str(&rest[..start]);
        let run = rest[start..].len() - rest[start..].trim_start_matches('`').len();
        let after = &rest[start + run..];
        let mut from = 0;
        let end = loop {
            let Some(at) = after[from..].find('`').map(|at| at + from) else { break None };
            let closing = after[at..].len() - after[at..].trim_start_matches('`').len();
            if closing == run {
                break Some(at + closing);
            }
            from = at + closing;
        };
        match end {
            Some(end) => rest = &after[end..],
            None => {
                out.push_str(&rest[start..start + run]);
                rest = after;
            }
        }
    }
    out + rest
}

#[test]
fn markdown_shows_the_text_as_code() {
    for output in outputs(Format::Markdown) {
        assert!(inert(&output), "{output}");
        let row = output.lines().find(|line| line.starts_with("| 🔴")).unwrap();
        assert_eq!(row.matches('|').count(), 6, "{row}");
        assert_eq!(output.matches("<details>").count(), output.matches("</details>").count() - hidden(&output));
    }
}

/// How often the hostile text, which closes a fold, stands in code.
fn hidden(markdown: &str) -> usize {
    markdown.matches("alert(1)></details>").count()
}

#[test]
fn reviewdog_gets_inert_markdown() {
    for output in outputs(Format::Rdjson) {
        let value: Value = serde_json::from_str(&output).unwrap();
        let finding = &value["diagnostics"][0];
        assert!(inert(finding["message"].as_str().unwrap()));
        for related in finding["related_locations"].as_array().into_iter().flatten() {
            assert!(inert(related["message"].as_str().unwrap()));
        }
    }
}
