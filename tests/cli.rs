//! The command line as users meet it: what it prints and how it ends, one readable file per theme in `tests/cli`.
//! `TRYCMD=overwrite cargo test --test cli` writes the outputs anew. Pipes and colours, which a transcript cannot show, are here.

#![allow(clippy::unwrap_used)] // A test that cannot go on has failed.

use std::io::Read;
use std::process::{Command, Stdio};

const SAMPLE: [&str; 4] =
    ["check", "--schema", "samples/forgotten-tenant/sharding.js", "samples/forgotten-tenant/mongos.log"];

/// The program in the repository, deaf to the colours of the terminal that the tests run in.
fn shardlint() -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_shardlint"));
    command.current_dir(env!("CARGO_MANIFEST_DIR"));
    for variable in ["NO_COLOR", "CLICOLOR", "CLICOLOR_FORCE", "FORCE_COLOR"] {
        command.env_remove(variable);
    }
    command
}

#[test]
fn transcripts_are_true() {
    trycmd::TestCases::new().env("NO_COLOR", "1").case("tests/cli/*.trycmd");
}

#[test]
fn a_pipe_is_read_like_a_file() {
    let report = |command: &mut Command| -> serde_json::Value {
        serde_json::from_slice(&command.output().unwrap().stdout).unwrap()
    };
    let file = report(shardlint().args(SAMPLE).args(["--format", "json"]));
    let log = std::fs::File::open(SAMPLE[3]).unwrap();
    let pipe = report(shardlint().args(&SAMPLE[..3]).args(["--format", "json", "-"]).stdin(log));
    assert_eq!(pipe["shapes"], file["shapes"]);
    assert_eq!(pipe["summary"]["classes"], file["summary"]["classes"]);
    assert!(!file["shapes"].as_array().unwrap().is_empty());
}

#[test]
fn a_pipe_gets_no_colours_unless_they_are_forced() {
    let colours = |mut command: Command| command.output().unwrap().stdout.contains(&0x1b);
    let with = |arguments: &[&str]| {
        let mut command = shardlint();
        command.args(SAMPLE).args(["--format", "pretty"]).args(arguments);
        command
    };
    assert!(!colours(with(&[])));
    assert!(colours(with(&["--color", "always"])));
    assert!(!colours(with(&["--color", "never"])));
    let variable = |name: &str| {
        let mut command = with(&[]);
        command.env(name, "1");
        command
    };
    assert!(colours(variable("CLICOLOR_FORCE")));
    assert!(!colours(variable("NO_COLOR")));
}

#[test]
fn a_reader_that_leaves_ends_the_run_in_silence() {
    let mut command = shardlint();
    command.args(SAMPLE).args(["--format", "json"]);
    let mut run = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    drop(run.stdout.take());
    let mut complaint = String::new();
    run.stderr.take().unwrap().read_to_string(&mut complaint).unwrap();
    assert_eq!((run.wait().unwrap().code(), complaint.as_str()), (Some(0), ""));
}

#[test]
fn a_report_in_a_file_is_the_report_on_the_screen() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("report.json");
    let screen = shardlint().args(SAMPLE).args(["--format", "json"]).output().unwrap();
    let to_file = shardlint().args(SAMPLE).args(["--format", "json", "-o"]).arg(&file).output().unwrap();
    assert_eq!(std::fs::read(&file).unwrap(), screen.stdout);
    assert_eq!(to_file.status.code(), Some(1));
}
