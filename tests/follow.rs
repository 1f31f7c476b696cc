//! `check --follow` while logs are written, rotated and truncated.

#![cfg(unix)]
#![allow(clippy::unwrap_used)] // A test that cannot go on has failed.

use std::fs::{self, File};
use std::io::{BufRead, BufReader, Read, Write};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::sync::mpsc::{Receiver, channel};
use std::thread;
use std::time::{Duration, Instant};

use serde_json::Value as Json;
use tempfile::TempDir;

/// Longer than anything takes on a busy machine.
const LONG: Duration = Duration::from_secs(20);
/// So long nothing is said where nothing is to be said.
const SILENCE: Duration = Duration::from_millis(700);

/// A slow query with a filter on one field, which is no key.
fn query(field: &str) -> String {
    format!(
        r#"{{"t":{{"$date":"2026-05-14T09:12:03.481+00:00"}},"s":"I","c":"COMMAND","id":51803,"ctx":"conn42","msg":"Slow query","attr":{{"type":"command","ns":"shop.orders","command":{{"find":"orders","filter":{{"{field}":1}},"$db":"shop"}},"durationMillis":31}}}}"#
    ) + "\n"
}

fn append(path: &Path, text: &str) {
    File::options().append(true).create(true).open(path).unwrap().write_all(text.as_bytes()).unwrap();
}

/// A program that runs, and the lines it prints.
struct Run {
    child: Child,
    lines: Receiver<String>,
}

impl Run {
    fn start(folder: &TempDir, arguments: &[&str]) -> Self {
        let mut command = Command::new(env!("CARGO_BIN_EXE_shardlint"));
        let key = ["check", "--follow", "--shard-key", "shop.orders={ customerId: 1 }", "--select", "SL101,SL002"];
        command.args(key).args(arguments).current_dir(folder.path()).env("NO_COLOR", "1");
        let streams = command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut child = streams.spawn().unwrap();
        let (sender, lines) = channel();
        let out = BufReader::new(child.stdout.take().unwrap());
        thread::spawn(move || out.lines().try_for_each(|line| sender.send(line.unwrap()).map_err(drop)));
        Self { child, lines }
    }

    fn next(&self) -> String {
        self.lines.recv_timeout(LONG).unwrap()
    }

    /// The next line is a finding at that place, so often.
    fn tells(&self, place: &str, count: u64) {
        let line = self.next();
        assert!(line.starts_with(&format!("{place}: ")) && line.contains(&format!("({count}×")), "{line}");
    }

    fn is_silent(&self) {
        let line = self.lines.recv_timeout(SILENCE);
        assert!(line.is_err(), "{line:?}");
    }

    /// Interrupts it; the rest of what it prints, its complaints and its exit code.
    fn interrupt(mut self) -> (Vec<String>, String, Option<i32>) {
        let kill = Command::new("kill").args(["-INT", &self.child.id().to_string()]).status().unwrap();
        assert!(kill.success());
        self.end()
    }

    fn end(&mut self) -> (Vec<String>, String, Option<i32>) {
        let begun = Instant::now();
        while self.child.try_wait().unwrap().is_none() {
            assert!(begun.elapsed() < LONG, "it does not end");
            thread::sleep(Duration::from_millis(20));
        }
        let mut complaints = String::new();
        self.child.stderr.take().unwrap().read_to_string(&mut complaints).unwrap();
        (self.lines.iter().collect(), complaints, self.child.wait().unwrap().code())
    }
}

impl Drop for Run {
    fn drop(&mut self) {
        // It may have ended; then there is nothing to do.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

fn report(folder: &TempDir) -> Json {
    serde_json::from_slice(&fs::read(folder.path().join("report.json")).unwrap()).unwrap()
}

#[test]
fn a_finding_is_told_when_it_comes_and_when_it_is_ten_times_as_frequent() {
    let folder = tempfile::tempdir().unwrap();
    let log = folder.path().join("mongod.log");
    append(&log, &query("a"));
    let run = Run::start(&folder, &["mongod.log", "-o", "json=report.json"]);
    run.tells("mongod.log:1:195", 1);
    append(&log, &query("b"));
    run.tells("mongod.log:2:195", 1);
    append(&log, &query("a").repeat(8));
    run.is_silent();
    append(&log, &query("a").repeat(3));
    run.tells("mongod.log:1:195", 12);
    let (rest, complaints, code) = run.interrupt();
    assert_eq!(code, Some(130), "{complaints}");
    assert_eq!(rest.len(), 1, "the summary alone: {rest:?}");
    assert!(rest[0].contains("13 lines: 13 slow queries") && rest[0].contains("0 not understood"), "{rest:?}");
    assert_eq!((report(&folder)["diagnostics"].as_array().unwrap().len(), complaints.as_str()), (2, ""));
}

#[test]
fn a_line_waits_for_its_end() {
    let folder = tempfile::tempdir().unwrap();
    let log = folder.path().join("mongod.log");
    let query = query("a");
    let (begin, end) = query.split_at(100);
    append(&log, begin);
    let run = Run::start(&folder, &["mongod.log"]);
    run.is_silent();
    append(&log, end);
    run.tells("mongod.log:1:195", 1);
    let (rest, _, code) = run.interrupt();
    assert!(rest[0].contains("1 lines: 1 slow quer") && rest[0].contains("0 not understood"), "{rest:?}");
    assert_eq!(code, Some(130));
}

#[test]
fn a_log_that_is_rotated_or_truncated_is_read_on_and_nothing_is_lost() {
    let folder = tempfile::tempdir().unwrap();
    let log = folder.path().join("mongod.log");
    append(&log, &query("a"));
    let run = Run::start(&folder, &["mongod.log", "-o", "json=report.json"]);
    run.tells("mongod.log:1:195", 1);
    let old = folder.path().join("mongod.log.1");
    fs::rename(&log, &old).unwrap();
    // Its writer has not noticed yet.
    append(&old, &query("b"));
    run.tells("mongod.log:2:195", 1);
    append(&old, &query("b"));
    append(&log, &(query("a") + &query("c")));
    run.tells("mongod.log:2:195", 1);
    File::options().write(true).open(&log).unwrap().set_len(0).unwrap();
    // A file that grows at once beyond what was read of it cannot be told from one that goes on.
    thread::sleep(SILENCE);
    append(&log, &query("d"));
    run.tells("mongod.log:1:195", 1);
    let (_, complaints, code) = run.interrupt();
    assert_eq!(code, Some(130), "{complaints}");
    let summary = &report(&folder)["summary"];
    assert_eq!((summary["lines"].as_u64(), summary["slow_queries"].as_u64()), (Some(6), Some(6)), "{summary}");
}

#[test]
fn several_logs_are_followed_side_by_side_and_an_empty_one_is_waited_for() {
    let folder = tempfile::tempdir().unwrap();
    let (first, second) = (folder.path().join("a.log"), folder.path().join("b.log"));
    append(&first, "");
    append(&second, &query("a"));
    let run = Run::start(&folder, &["a.log", "b.log", "-o", "json=report.json"]);
    run.tells("b.log:1:195", 1);
    append(&first, "not a log\n");
    let line = run.next();
    assert!(line.starts_with("a.log:1:1: "), "{line}");
    append(&first, &query("b"));
    run.tells("a.log:2:195", 1);
    append(&second, &query("c"));
    run.tells("b.log:2:195", 1);
    let (_, _, code) = run.interrupt();
    assert_eq!(code, Some(130));
    let report = report(&folder);
    assert_eq!((&report["summary"]["lines"], &report["summary"]["not_understood"]), (&4.into(), &1.into()));
}

#[test]
fn a_slow_writer_of_a_pipe_need_not_fill_a_block() {
    let folder = tempfile::tempdir().unwrap();
    let mut run = Run::start(&folder, &["-"]);
    let mut pipe = run.child.stdin.take().unwrap();
    for (line, field) in ["a", "b", "c"].into_iter().enumerate() {
        pipe.write_all(query(field).as_bytes()).unwrap();
        run.tells(&format!("-:{}:195", line + 1), 1);
    }
    pipe.write_all(query("d").trim_end().as_bytes()).unwrap();
    run.is_silent();
    drop(pipe);
    run.tells("-:4:195", 1);
    let (rest, complaints, code) = run.end();
    assert_eq!((rest.len(), code), (1, Some(1)), "a pipe ends when it is closed: {rest:?} {complaints}");
}

#[test]
fn a_compressed_log_is_read_once() {
    let folder = tempfile::tempdir().unwrap();
    let packed = zstd::encode_all(query("a").as_bytes(), 1).unwrap();
    fs::write(folder.path().join("mongod.log.zst"), packed).unwrap();
    let mut run = Run::start(&folder, &["mongod.log.zst"]);
    run.tells("mongod.log.zst:1:195", 1);
    assert_eq!(run.end().2, Some(1));
}

#[test]
fn what_is_known_to_the_baseline_is_not_told() {
    let folder = tempfile::tempdir().unwrap();
    let log = folder.path().join("mongod.log");
    append(&log, &query("a"));
    let mut create = Command::new(env!("CARGO_BIN_EXE_shardlint"));
    create.args(["baseline", "create", "--shard-key", "shop.orders={ customerId: 1 }", "mongod.log"]);
    assert!(create.current_dir(folder.path()).status().unwrap().success());
    let run = Run::start(&folder, &["--baseline", "shardlint-baseline.json", "mongod.log"]);
    run.is_silent();
    append(&log, &query("b"));
    run.tells("mongod.log:2:195", 1);
    assert_eq!(run.interrupt().2, Some(130));
}

#[test]
fn a_log_that_came_in_pieces_ends_in_the_report_of_one_that_was_read() {
    let folder = tempfile::tempdir().unwrap();
    let sample = Path::new(env!("CARGO_MANIFEST_DIR")).join("samples/forgotten-tenant");
    fs::copy(sample.join("sharding.js"), folder.path().join("sharding.js")).unwrap();
    // A finding on a declaration, which is told at the end.
    append(&folder.path().join("sharding.js"), "print('sharded');\n");
    let bytes = fs::read_to_string(sample.join("mongos.log")).unwrap();
    let log = folder.path().join("mongos.log");
    append(&log, "");
    let with = ["--schema", "sharding.js", "mongos.log", "--select", "ALL"];
    let run = Run::start(&folder, &[&with[..], &["-o", "json=report.json"]].concat());
    for piece in bytes.as_bytes().chunks(bytes.len() / 5 + 1) {
        append(&log, std::str::from_utf8(piece).unwrap());
        thread::sleep(Duration::from_millis(250));
    }
    thread::sleep(SILENCE);
    let (told, complaints, code) = run.interrupt();
    assert_eq!(code, Some(130), "{complaints}");
    let mut check = Command::new(env!("CARGO_BIN_EXE_shardlint"));
    check.args(["check", "--shard-key", "shop.orders={ customerId: 1 }", "--format", "json"]).args(with);
    let read: Json = serde_json::from_slice(&check.current_dir(folder.path()).output().unwrap().stdout).unwrap();
    assert_eq!(report(&folder), read);
    let findings = read["diagnostics"].as_array().unwrap();
    for finding in findings {
        let code = format!("[{}]", finding["code"].as_str().unwrap());
        assert!(told.iter().any(|line| line.contains(&code)), "{code} in {told:#?}");
    }
    assert!(findings.len() > 1);
}

#[test]
fn what_cannot_be_had_while_a_log_grows_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    append(&folder.path().join("mongod.log"), &query("a"));
    for arguments in [&["--per-event"][..], &["--statistics"], &["--format", "sarif"]] {
        let (told, complaints, code) = Run::start(&folder, &[arguments, &["mongod.log"]].concat()).end();
        assert!(told.is_empty() && complaints.starts_with("error: --follow tells "), "{told:?} {complaints}");
        assert_eq!(code, Some(2), "{arguments:?}");
    }
}
