//! Guards over the rule catalogue: each names the file to edit when it fails.

use std::collections::BTreeSet;
use std::path::Path;

use shardlint::rules::{HEADINGS, REGISTRY, Rule, section};

/// Files of `src/rules` that hold no rule.
const FRAME: &[&str] = &[
    "access.rs",
    "mod.rs",
    "declared_index.rs",
    "example.rs",
    "fan_out.rs",
    "finding.rs",
    "key_change.rs",
    "key_sample.rs",
    "key_values.rs",
    "lookup.rs",
    "rule.rs",
    "serving.rs",
    "thresholds.rs",
    "literal.rs",
    "totals.rs",
];

/// Which of several findings on one statement is shown: the first that fires.
const READS: [&str; 11] =
    ["SL109", "SL104", "SL103", "SL106", "SL107", "SL311", "SL102", "SL112", "SL110", "SL101", "SL105"];
const WRITES: [&str; 5] = ["SL204", "SL205", "SL203", "SL201", "SL202"];

fn rule(code: &str) -> Option<&'static Rule> {
    REGISTRY.iter().copied().find(|rule| rule.code == code)
}

#[test]
fn every_file_holds_a_registered_rule_of_its_name() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("src/rules");
    let files: BTreeSet<String> = std::fs::read_dir(folder)
        .expect("src/rules")
        .map(|entry| entry.expect("an entry").file_name().into_string().expect("UTF-8"))
        .filter(|file| !FRAME.contains(&file.as_str()))
        .collect();
    let registered: BTreeSet<String> =
        REGISTRY.iter().map(|rule| format!("{}.rs", rule.name.replace('-', "_"))).collect();
    assert_eq!(files, registered, "src/rules/mod.rs: REGISTRY and the files differ");
}

#[test]
fn codes_are_sorted_and_names_are_unique() {
    let codes: Vec<&str> = REGISTRY.iter().map(|rule| rule.code).collect();
    assert!(codes.is_sorted_by(|a, b| a < b), "src/rules/mod.rs: sort REGISTRY by code: {codes:?}");
    let names: BTreeSet<&str> = REGISTRY.iter().map(|rule| rule.name).collect();
    assert_eq!(names.len(), REGISTRY.len());
    for rule in REGISTRY {
        let (letters, digits) = rule.code.split_at(2);
        assert!(letters == "SL" && digits.len() == 3 && digits.bytes().all(|b| b.is_ascii_digit()), "{}", rule.code);
        let is_kebab =
            rule.name.split('-').all(|word| !word.is_empty() && word.bytes().all(|b| b.is_ascii_lowercase()));
        assert!(is_kebab, "{} is no kebab-case name", rule.name);
    }
}

#[test]
fn every_explanation_has_its_headings_in_order_and_something_under_each() {
    for rule in REGISTRY {
        let found: Vec<&str> = rule.explanation.lines().filter(|line| line.starts_with("## ")).collect();
        assert_eq!(found, HEADINGS, "src/rules/{}.rs", rule.name.replace('-', "_"));
        let title = rule.question();
        assert!(title.ends_with('?') || title.contains(": "), "{}: `{title}` is no question", rule.code);
        for heading in HEADINGS {
            assert!(!section(rule.explanation, heading).trim().is_empty(), "{}: {heading} is empty", rule.code);
        }
        let sources = section(rule.explanation, "## Versions");
        assert!(sources.contains("https://") || sources.contains("src/mongo/"), "{}: no source", rule.code);
        let width =
            rule.explanation.lines().filter(|line| !line.starts_with('{')).map(|line| line.chars().count()).max();
        assert!(width <= Some(120), "{}: a line is too long", rule.code);
    }
}

#[test]
fn every_rule_has_two_examples_that_differ() {
    for rule in REGISTRY {
        let examples = rule.examples();
        for example in [examples.fires, examples.silent] {
            assert!(!example.declaration.is_empty(), "{}: an example without a declaration", rule.code);
            assert!(!example.declaration.contains("##") && !example.log.contains("\n## "), "{}", rule.code);
        }
        assert_ne!(examples.fires, examples.silent, "{}", rule.code);
    }
}

#[test]
fn the_most_specific_finding_of_a_statement_has_the_lowest_rank() {
    for order in [READS.as_slice(), WRITES.as_slice()] {
        let ranks: Vec<u8> =
            order.iter().filter_map(|code| rule(code)).map(|rule| rule.fan_out_rank.expect(rule.code)).collect();
        assert!(ranks.is_sorted_by(|a, b| a < b), "{order:?} have the ranks {ranks:?}");
    }
    for rule in REGISTRY {
        let is_listed = READS.contains(&rule.code) || WRITES.contains(&rule.code);
        assert_eq!(rule.fan_out_rank.is_some(), is_listed, "{}", rule.code);
    }
}

#[test]
fn summaries_are_one_plain_sentence() {
    for rule in REGISTRY {
        let first = rule.summary.chars().next().expect("a summary");
        assert!(!first.is_uppercase() && !rule.summary.ends_with('.'), "{}: {}", rule.code, rule.summary);
    }
}
