//! What the formats for other programs say about a run that was held against a baseline.

use insta::assert_snapshot;
use serde_json::Value;
use shardlint::report::{Change, ChangeKind, Comparison, Diagnostic, Format, LimitResult, RenderOptions, Report};
use shardlint::rules::Severity;

use super::build::{diagnostic, example, report, shape, slow_query, text};
use super::schemas::assert_junit;

/// A regression, a known broadcast, and a lesser finding that is new.
fn held_against_a_baseline() -> Report {
    let find = |filter: &str| {
        let record = slow_query(&format!(r#"{{"find":"orders","filter":{filter},"$db":"shop"}}"#), r#""nShards":4"#);
        example(record.as_bytes(), 7, &[(filter.as_bytes(), "no usable predicate on `customerId`")])
    };
    let mut worse = diagnostic("`find` on `shop.orders` is sent to every shard", find(r#"{"status":"A","total":90}"#));
    (worse.new, worse.was, worse.now) = (Some(true), Some("targeted"), Some("broadcast"));
    worse.comment = Some("app/orders.py:41".to_owned());
    let mut known = diagnostic("`find` on `shop.orders` is sent to every shard", find(r#"{"couponId":7012}"#));
    (known.new, known.shape) = (Some(false), Some("{ couponId: ? }".to_owned()));
    known.fingerprint = "11111111111111111111111111111111".to_owned();
    let mut lesser = diagnostic("`find` on `shop.orders` sorts by `ts` over several shards", find(r#"{"a":1}"#));
    (lesser.new, lesser.severity, lesser.shape) =
        (Some(true), Severity::Warning, Some("{ a: ? } sort { ts: -1 }".to_owned()));
    (lesser.code, lesser.rule) = ("SL301", "sort-off-key-prefix");
    lesser.fingerprint = "22222222222222222222222222222222".to_owned();
    let mut report = report(vec![known, worse, lesser]);
    let mut clean = shape("targeted", 1_876_000);
    clean.fingerprint = "33333333333333333333333333333333".to_owned();
    let change = |kind, what: &str, was, now| Change {
        kind,
        namespace: "shop.orders".to_owned(),
        operation: Some("find".to_owned()),
        what: what.to_owned(),
        fingerprint: None,
        was,
        now,
        rules: Vec::new(),
    };
    report.comparison = Some(Comparison {
        baseline: "shardlint-baseline.json".to_owned(),
        changes: vec![
            change(ChangeKind::Worse, "{ status: ?, total: { $gte: ? } }", Some("targeted"), Some("broadcast")),
            change(ChangeKind::Better, "{ couponId: ?, customerId: ? }", Some("broadcast"), Some("targeted")),
            change(ChangeKind::Gone, "{ sku: ? }", Some("targeted"), None),
        ],
    });
    report.limits = vec![LimitResult {
        limit: "2%".to_owned(),
        scope: "all queries".to_owned(),
        by_time: false,
        broadcast: 1_204,
        total: 31_020,
        exceeded: true,
    }];
    report.shapes = vec![shape("broadcast", 843_000), clean];
    report
}

fn output(format: Format) -> String {
    text(&held_against_a_baseline(), format, &RenderOptions { root: "/srv".into(), ..RenderOptions::default() })
}

#[test]
fn markdown_begins_with_what_is_new() {
    assert_snapshot!(output(Format::Markdown));
}

#[test]
fn sarif_tells_new_results_from_unchanged_ones() {
    let mut sarif: Value = serde_json::from_str(&output(Format::Sarif)).unwrap();
    let run = &mut sarif["runs"][0];
    let states: Vec<&str> =
        run["results"].as_array().unwrap().iter().map(|r| r["baselineState"].as_str().unwrap()).collect();
    assert_eq!(states, ["unchanged", "new", "new"]);
    for rule in run["tool"]["driver"]["rules"].as_array_mut().unwrap() {
        for form in ["text", "markdown"] {
            assert!(rule["help"][form].as_str().unwrap().contains("## How to fix"));
            rule["help"][form] = "…".into();
        }
        assert!(rule["helpUri"].as_str().unwrap().starts_with("https://"));
    }
    assert_snapshot!(serde_json::to_string_pretty(&sarif).unwrap());
}

#[test]
fn junit_fails_only_what_fails_the_run() {
    let xml = output(Format::Junit);
    assert_junit(&xml);
    assert_eq!(xml.matches("<failure").count(), 2, "the regression and the limit");
    assert_snapshot!(xml);
}

#[test]
fn github_annotates_new_findings_first() {
    assert_snapshot!(output(Format::Github));
}

#[test]
fn gitlab_and_rdjson_name_what_was_before() {
    assert_snapshot!("gitlab", output(Format::Gitlab));
    assert_snapshot!("rdjson", output(Format::Rdjson));
}

#[test]
fn github_gets_no_more_annotations_than_it_shows_and_is_told_the_rest() {
    let finding = held_against_a_baseline().diagnostics.remove(1);
    let mut many: Vec<Diagnostic> = std::iter::repeat_n(finding, 13).collect();
    for (n, diagnostic) in many.iter_mut().enumerate() {
        diagnostic.new = Some(n >= 8);
    }
    let output = text(&report(many), Format::Github, &RenderOptions::default());
    let lines: Vec<&str> = output.lines().collect();
    assert_eq!(lines.iter().filter(|line| line.starts_with("::error ")).count(), 10);
    assert_eq!(lines[10], "3 more errors not annotated: GitHub shows 10 of each level per step");
}

#[test]
fn a_markdown_comment_fits_where_comments_go() {
    let finding = held_against_a_baseline().diagnostics.remove(1);
    let mut many: Vec<Diagnostic> = std::iter::repeat_n(finding, 400).collect();
    for diagnostic in &mut many {
        diagnostic.message = format!("`find` on `{}` is sent to every shard", "x".repeat(3000));
        diagnostic.shape = Some(format!("{{ {}: ? }}", "x".repeat(3000)));
        diagnostic.help = Some("x".repeat(9000));
    }
    let output = text(&report(many), Format::Markdown, &RenderOptions::default());
    assert!(output.chars().count() < 65_536, "{}", output.len());
    assert!(output.contains("… 370 more"));
}

#[test]
fn every_format_says_that_nothing_was_found() {
    let clean = report(Vec::new());
    for format in [Format::Sarif, Format::Junit, Format::Github, Format::Gitlab, Format::Rdjson, Format::Markdown] {
        assert!(!text(&clean, format, &RenderOptions::default()).trim().is_empty());
    }
    assert!(text(&clean, Format::Markdown, &RenderOptions::default()).starts_with("### ✅ shardlint: no findings\n"));
    assert_eq!(text(&clean, Format::Gitlab, &RenderOptions::default()), "[]\n");
}
