//! Runs the examples of every rule through the program, as a user would: the first fires, the second is silent.

#![allow(clippy::unwrap_used)] // A test that cannot go on has failed.

use std::process::Command;

use shardlint::rules::{Example, REGISTRY};

/// The codes that `check` finds in an example, and all that it printed.
fn codes(example: Example) -> (Vec<String>, String) {
    let folder = tempfile::tempdir().unwrap();
    let mut check = Command::new(env!("CARGO_BIN_EXE_shardlint"));
    check.args(["check", "--format", "json"]).current_dir(&folder);
    let files = [
        ("shardlint.toml", example.config, Some("--config")),
        ("shardlint-baseline.json", example.baseline, Some("--baseline")),
        ("sharding.js", example.declaration, None),
        ("server.log", example.log, None),
    ];
    for (name, text, option) in files {
        if !text.is_empty() {
            std::fs::write(folder.path().join(name), text).unwrap();
            check.args(option).arg(name);
        }
    }
    let run = check.output().unwrap();
    let printed = [run.stdout.as_slice(), run.stderr.as_slice()].concat();
    let report: serde_json::Value = serde_json::from_slice(&run.stdout).unwrap_or_default();
    let found = report["diagnostics"].as_array().into_iter().flatten();
    let codes = found.filter_map(|found| found["code"].as_str().map(str::to_owned)).collect();
    (codes, String::from_utf8_lossy(&printed).into_owned())
}

#[test]
fn every_rule_fires_on_its_first_example_and_is_silent_on_its_second() {
    let mut wrong = Vec::new();
    for rule in REGISTRY {
        let examples = rule.examples();
        for (example, fires) in [(examples.fires, true), (examples.silent, false)] {
            let (codes, printed) = codes(example);
            let is_report = printed.contains("\"summary\"");
            if !is_report || codes.iter().any(|code| code == rule.code) != fires {
                let what = if fires { "does not fire on" } else { "is not silent on" };
                wrong.push(format!("{} {what}\n{}{}\n{printed}", rule.code, example.declaration, example.log));
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n\n"));
}
