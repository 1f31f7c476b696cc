//! Runs the program on every story of `samples/` and compares what it says with the files beside it.
//! `UPDATE=1` writes those files anew; the codes that a story is about are stated here, so that it cannot bless a loss.

#![allow(clippy::unwrap_used)] // A test that cannot go on has failed.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;
use std::process::Command;

/// Each story, and the rule that must speak about it.
const STORIES: [(&str, &str); 20] = [
    ("any-case", "SL109"),
    ("boxed-in", "SL110"),
    ("cold-start", "SL503"),
    ("cut-short", "SL001"),
    ("forgotten-tenant", "SL101"),
    ("hashed-range", "SL103"),
    ("id-only", "SL112"),
    ("match-too-late", "SL311"),
    ("night-shift", "SL102"),
    ("no-router", "SL101"),
    ("noisy-neighbour", "SL603"),
    ("old-notes", "SL901"),
    ("or-branch", "SL104"),
    ("pull-request", "SL101"),
    ("quiet-upsert", "SL204"),
    ("refused-upsert", "SL204"),
    ("second-opinion", "SL101"),
    ("sort-off-key", "SL301"),
    ("stuck-chunk", "SL601"),
    ("unique-email", "SL403"),
];

fn repository() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

/// The log of a story; of a story with several, all of them.
fn logs_of(story: &str) -> Vec<String> {
    let folder = Path::new("samples").join(story);
    let usual = ["mongos.log", "mongod.log", "explain.txt"]
        .into_iter()
        .find(|name| repository().join(&folder).join(name).exists());
    let names: Vec<String> = match usual {
        Some(name) => vec![name.to_owned()],
        None => {
            let files = fs::read_dir(repository().join(&folder))
                .unwrap()
                .map(|entry| entry.unwrap().file_name().into_string().unwrap());
            let mut logs: Vec<String> = files.filter(|name| name.ends_with(".log")).collect();
            logs.sort();
            logs
        }
    };
    assert!(!names.is_empty(), "{story} has no log");
    names.iter().map(|name| folder.join(name).to_str().unwrap().to_owned()).collect()
}

/// The command as a reader would type it, what it printed, and its exit code.
fn transcript(story: &str, format: &str) -> String {
    let schema = format!("samples/{story}/sharding.js");
    let logs = logs_of(story);
    let mut arguments = vec!["check", "--schema", &schema, "--format", format];
    arguments.extend(logs.iter().map(String::as_str));
    let run = Command::new(env!("CARGO_BIN_EXE_shardlint"))
        .args(&arguments)
        .current_dir(repository())
        .env("NO_COLOR", "1")
        .env_remove("CLICOLOR_FORCE")
        .output()
        .unwrap();
    let text = |bytes: Vec<u8>| String::from_utf8(bytes).unwrap();
    let (stdout, stderr) = (text(run.stdout), text(run.stderr));
    let code = run.status.code().unwrap();
    format!("$ shardlint {}\n{stdout}{stderr}exit code: {code}\n", arguments.join(" "))
}

/// What is expected stands in `file`; with `UPDATE` set it is written there.
fn hold_against(file: &Path, actual: &str) -> Result<(), String> {
    if std::env::var_os("UPDATE").is_some() {
        fs::write(file, actual).unwrap();
        return Ok(());
    }
    let expected = fs::read_to_string(file).unwrap_or_default();
    if expected == actual {
        return Ok(());
    }
    let line = expected.lines().zip(actual.lines()).take_while(|(was, is)| was == is).count();
    let at = |text: &str| text.lines().nth(line).unwrap_or("(end)").to_owned();
    let name = file.strip_prefix(repository()).unwrap().display();
    Err(format!(
        "{name} differs from line {} on\n  expected: {}\n  actual:   {}\n`UPDATE=1 cargo test --test samples` writes it anew",
        line + 1,
        at(&expected),
        at(actual),
    ))
}

fn compare_all(format: &str, file: &str) {
    let mut differences = Vec::new();
    for (story, code) in STORIES {
        let actual = transcript(story, format);
        if !actual.contains(code) {
            differences.push(format!("samples/{story}: nothing is said about {code}\n{actual}"));
        }
        let path = repository().join("samples").join(story).join(file);
        differences.extend(hold_against(&path, &actual).err());
    }
    assert!(differences.is_empty(), "{}", differences.join("\n\n"));
}

#[test]
fn every_story_says_in_brief_what_stands_beside_it() {
    compare_all("concise", "expected.txt");
}

#[test]
fn every_story_shows_in_full_what_stands_beside_it() {
    compare_all("pretty", "expected.pretty.txt");
}

#[test]
fn every_story_is_listed() {
    let folders = fs::read_dir(repository().join("samples")).unwrap().map(|entry| entry.unwrap());
    let folders = folders.filter(|entry| entry.path().is_dir()).map(|entry| entry.file_name().into_string().unwrap());
    let stories: BTreeSet<String> = STORIES.iter().map(|(story, _)| (*story).to_owned()).collect();
    assert_eq!(folders.collect::<BTreeSet<_>>(), stories);
    let list = fs::read_to_string(repository().join("samples/README.md")).unwrap();
    for story in stories {
        assert!(list.contains(&format!("[{story}]({story})")), "samples/README.md does not list {story}");
    }
}
