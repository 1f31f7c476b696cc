//! Where findings point, in the formats that put them beside code.

use serde_json::Value;
use shardlint::report::{Diagnostic, Format, RenderOptions};

use super::build::{diagnostic, example, report, slow_query, text};

fn options(redact: Option<bool>) -> RenderOptions {
    RenderOptions { root: "/srv/shop".into(), redact, ..RenderOptions::default() }
}

/// A finding on the second line of an input that begins with 18 bytes, with wide characters before what is marked.
fn finding(comment: Option<&str>) -> Diagnostic {
    let record = slow_query("{\"find\":\"訂單🍎\",\"filter\":{\"größe\":\"é\"},\"$db\":\"shop\"}", "\"nShards\":4");
    let labels: [(&[u8], &str); 2] = [("{\"größe\":\"é\"}".as_bytes(), "no key"), (b"\"nShards\"", "asked")];
    let mut example = example(record.as_bytes(), 2, &labels);
    for label in &mut example.labels {
        label.location.byte_start += 18;
        label.location.byte_end += 18;
    }
    let mut diagnostic = diagnostic("`find` on `shop.訂單🍎` is sent to every shard", example);
    diagnostic.comment = comment.map(str::to_owned);
    diagnostic
}

fn sarif(diagnostic: Diagnostic, redact: Option<bool>) -> Value {
    let output = text(&report(vec![diagnostic]), Format::Sarif, &options(redact));
    serde_json::from_str::<Value>(&output).unwrap()["runs"][0]["results"][0].take()
}

#[test]
fn a_region_has_columns_in_utf_16_and_bytes_in_the_input() {
    for redact in [Some(true), Some(false)] {
        let finding = finding(None);
        let record = String::from_utf8(finding.example.record.to_vec()).unwrap();
        let result = sarif(finding, redact);
        let region = &result["locations"][0]["physicalLocation"]["region"];
        let line: Vec<u16> = record.encode_utf16().collect();
        let column = |name: &str| usize::try_from(region[name].as_u64().unwrap()).unwrap() - 1;
        let marked = String::from_utf16(&line[column("startColumn")..column("endColumn")]).unwrap();
        assert_eq!(marked, "{\"größe\":\"é\"}");
        let offset = usize::try_from(region["byteOffset"].as_u64().unwrap()).unwrap() - 18;
        let length = usize::try_from(region["byteLength"].as_u64().unwrap()).unwrap();
        assert_eq!(&record[offset..offset + length], marked);
        let snippet = if redact == Some(true) { "{\"größe\":<string>}" } else { &marked };
        assert_eq!(region["snippet"]["text"], snippet);
        assert_eq!(region["startLine"], 2);
    }
}

#[test]
fn a_comment_that_names_a_line_is_where_annotations_point() {
    let finding = finding(Some("file='app%2Forders.py',line='41'"));
    let report = report(vec![finding.clone()]);
    let output = |format| text(&report, format, &options(None));
    assert!(output(Format::Github).starts_with("::error file=app/orders.py,line=41,title=SL101 broadcast-query::"));
    let json = |format| serde_json::from_str::<Value>(&output(format)).unwrap();
    assert_eq!(
        json(Format::Gitlab)[0]["location"],
        serde_json::json!({"path": "app/orders.py", "lines": {"begin": 41}})
    );
    let place = &json(Format::Rdjson)["diagnostics"][0]["location"];
    assert_eq!(*place, serde_json::json!({"path": "app/orders.py", "range": {"start": {"line": 41}}}));
    assert!(output(Format::Markdown).contains("| `app/orders.py:41` |"));
    assert!(output(Format::Junit).contains("sent from app/orders.py:41\n"));
    assert!(output(Format::Pretty).contains("sent from `app/orders.py:41`"));
    assert!(output(Format::Concise).contains(", sent from app/orders.py:41\n"));
    let result = sarif(finding, None);
    let place = &result["locations"][0]["physicalLocation"];
    assert_eq!(place["artifactLocation"]["uri"], "app/orders.py");
    assert_eq!(place["region"], serde_json::json!({"startLine": 41}));
    assert_eq!(result["relatedLocations"][0]["physicalLocation"]["artifactLocation"]["uri"], "mongod.log");
}

#[test]
fn a_path_in_the_working_directory_is_made_relative_to_it() {
    let result = sarif(finding(Some(r#"{"file":"/srv/shop/app/my orders.py","line":41}"#)), None);
    assert_eq!(result["locations"][0]["physicalLocation"]["artifactLocation"]["uri"], "app/my%20orders.py");
}

#[test]
fn a_path_that_leads_elsewhere_is_told_and_not_linked() {
    for path in ["../../etc/passwd.py", "/etc/passwd.py", "app/../../passwd.py"] {
        let finding = finding(Some(&format!("{path}:7")));
        let result = sarif(finding.clone(), None);
        assert_eq!(result["locations"][0]["physicalLocation"], Value::Null);
        assert_eq!(result["locations"][0]["message"]["text"], format!("{path}:7"));
        let report = report(vec![finding]);
        let github = text(&report, Format::Github, &options(None));
        assert!(github.starts_with("::error title=") && github.contains(path), "{github}");
        let gitlab: Value = serde_json::from_str(&text(&report, Format::Gitlab, &options(None))).unwrap();
        assert_eq!(gitlab[0]["location"]["path"], "passwd.py");
    }
}

#[test]
fn a_finding_on_a_declaration_points_at_the_declaration() {
    let declaration = "// keys\nsh.shardCollection(\"shop.orders\", { größe: 1 });\n";
    let mut finding = finding(Some("app/orders.py:41"));
    finding.example = example(declaration.as_bytes(), 1, &[("{ größe: 1 }".as_bytes(), "the key")]);
    finding.example.is_declaration = true;
    for label in &mut finding.example.labels {
        label.location.path = "infra/sharding.js".to_owned();
    }
    let result = sarif(finding, None);
    let place = &result["locations"][0]["physicalLocation"];
    assert_eq!(place["artifactLocation"]["uri"], "infra/sharding.js");
    assert_eq!((&place["region"]["startLine"], &place["region"]["startColumn"]), (&2.into(), &35.into()));
    assert_eq!(place["region"]["endColumn"], 47);
    assert_eq!(place["region"]["snippet"]["text"], "{ größe: 1 }", "declarations are the team's own");
}
