//! The page of each rule, made from its metadata and explanation. Below the firing example stands what the program prints
//! for it, so a reader of the page sees the truth, and an example that does not fire fails the tests.

use std::fs;
use std::path::Path;
use std::process::Command;

use shardlint::rules::{Example, Rule, abridged, section};

/// `docs/rules/SL101.md`.
pub fn path(rule: &Rule) -> String {
    format!("docs/rules/{}.md", rule.code)
}

/// The whole page.
pub fn page(rule: &Rule) -> String {
    let needs: Vec<&str> = rule.needs.iter().map(|evidence| evidence.name()).collect();
    let needs = if needs.is_empty() { "nothing but the input".to_owned() } else { needs.join(", ") };
    let explanation = rule.body();
    let fires = section(rule.explanation, "## Fires on").trim();
    let printed = format!("{fires}\n\nWhat it prints:\n\n```text\n{}```", printed_for(rule));
    format!(
        "# {question}\n\n<!-- Made from src/rules/{file}.rs; `UPDATE=1 cargo test --test docs` writes it. -->\n\n\
         `{code}` **{name}** · **{severity}** · needs {needs} · since {since} · {status}\n\n{summary}\n\n{explanation}\n",
        question = rule.question(),
        code = rule.code,
        name = rule.name,
        file = rule.name.replace('-', "_"),
        severity = rule.severity.name(),
        since = rule.since,
        status = rule.status.name(),
        summary = sentence(rule.summary),
        explanation = abridged(&explanation.replacen(fires, &printed, 1)),
    )
}

fn sentence(summary: &str) -> String {
    let mut letters = summary.chars();
    letters.next().map_or_else(String::new, |first| format!("{}{}.", first.to_uppercase(), letters.as_str()))
}

/// The output for the firing example, which must have a finding of the rule; the silent one must have none.
fn printed_for(rule: &Rule) -> String {
    let examples = rule.examples();
    let printed = output_for(&examples.fires);
    assert!(printed.contains(rule.code), "the firing example of {} is silent:\n{printed}", rule.code);
    let silent = output_for(&examples.silent);
    assert!(!silent.contains(rule.code), "the silent example of {} fires:\n{silent}", rule.code);
    printed
}

fn output_for(example: &Example) -> String {
    let folder = tempfile::tempdir().unwrap();
    let mut arguments = vec!["check", "--format", "pretty"];
    let files = [
        ("shardlint.toml", example.config, Some("--config")),
        ("shardlint-baseline.json", example.baseline, Some("--baseline")),
        ("sharding.js", example.declaration, Some("--schema")),
        ("mongodb.log", example.log, None),
    ];
    for (name, content, option) in files {
        if !content.is_empty() {
            fs::write(folder.path().join(name), content).unwrap();
            arguments.extend(option);
            arguments.push(name);
        }
    }
    run_in(folder.path(), &arguments)
}

/// What the program prints for these arguments, without colours and without blanks at the ends of lines.
pub fn run_in<S: AsRef<std::ffi::OsStr>>(folder: &Path, arguments: &[S]) -> String {
    let run = Command::new(env!("CARGO_BIN_EXE_shardlint"))
        .args(arguments)
        .current_dir(folder)
        .env("NO_COLOR", "1")
        .env_remove("CLICOLOR_FORCE")
        .output()
        .unwrap();
    let text = String::from_utf8(run.stdout).unwrap() + &String::from_utf8(run.stderr).unwrap();
    text.lines().map(|line| line.trim_end().to_owned() + "\n").collect()
}
