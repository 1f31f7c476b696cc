//! Who reads never shows: threads that read files in turns, and a thread of its own that reads pipes, come upon the same records
//! in the same order; and an interrupted run has read the beginning of its input.

mod binary;

use std::io::{Cursor, Read, Write};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};

use binary::corpus_logs;
use flate2::{Compression, write::GzEncoder};
use shardlint::catalog::{Catalog, Collection};
use shardlint::engine::{DeclarationTexts, Job, Outcome, Progress, Run, Settings, Source, finish, run};
use shardlint::input::{DEFAULT_CHUNK_SIZE, Input};
use shardlint::model::ShardKey;
use shardlint::report::{Format, RenderOptions, render};
use shardlint::syntax::ext_json;
use shardlint::text::SourceId;
use tempfile::TempDir;

/// Counts what is told to have been read, and interrupts the run at some point.
struct Interrupting<'a> {
    interrupted: &'a AtomicBool,
    /// So many parts are let pass before that.
    parts: Option<u32>,
    bytes: Vec<u64>,
}

impl Progress for Interrupting<'_> {
    fn advanced(&mut self, source: SourceId, bytes: u64) {
        self.bytes[source.0 as usize] += bytes;
        if let Some(parts) = &mut self.parts {
            *parts = parts.saturating_sub(1);
            self.interrupted.fetch_or(*parts == 0, Ordering::Relaxed);
        }
    }
}

fn settings(threads: usize) -> Settings {
    let mut catalog = Catalog::default();
    for (namespace, key) in [("shop.orders", r#"{"customerId": 1, "_id": 1}"#), ("shop.events", r#"{"tenant": 1}"#)] {
        let key = ShardKey::from_pattern(&ext_json::parse(key, 0).expect("JSON")).expect("a key");
        catalog.add(Collection::sharded(namespace, key, SourceId(0)));
    }
    Settings { catalog, threads, ..Settings::default() }
}

/// What a run read, and how many bytes of each source it told to have read.
fn outcome(
    sources: Vec<Source>,
    settings: &Settings,
    chunk_size: usize,
    interrupt_after: Option<u32>,
) -> (Outcome, Vec<u64>) {
    let interrupted: &'static AtomicBool = Box::leak(Box::new(AtomicBool::new(false)));
    let mut progress = Interrupting { interrupted, parts: interrupt_after, bytes: vec![0; sources.len()] };
    let outcome = run(Job { sources, chunk_size, interrupted }, settings, &mut progress).expect("threads");
    (outcome, progress.bytes)
}

/// The report as JSON, with the inputs that could not be read.
fn report(sources: Vec<Source>, threads: usize, chunk_size: usize) -> String {
    let settings = settings(threads);
    let inputs = (0..sources.len()).map(|i| format!("{i}.log")).collect();
    let (outcome, _) = outcome(sources, &settings, chunk_size, None);
    let failures: Vec<String> = outcome.failures.iter().map(ToString::to_string).collect();
    let declarations = DeclarationTexts::default();
    let run = Run { inputs, declarations: &declarations, declaration_findings: Vec::new(), settings: &settings };
    let mut bytes = Vec::new();
    render(&finish(outcome, run), Format::Json, &RenderOptions::default(), &mut bytes).expect("memory");
    format!("{}\n{}", String::from_utf8_lossy(&bytes), failures.join("\n"))
}

fn file(path: &Path) -> Source {
    Source { input: Input::file(path), opened: None, role: None }
}

/// What is no regular file may keep its reader waiting.
fn pipe(name: &Path, reader: impl Read + Send + 'static) -> Source {
    Source { input: Input::file(&name.with_extension("is a pipe")), opened: Some(Box::new(reader)), role: None }
}

fn write(folder: &TempDir, name: &str, bytes: &[u8]) -> PathBuf {
    let path = folder.path().join(name);
    std::fs::write(&path, bytes).expect("written");
    path
}

fn gzip(bytes: &[u8]) -> Vec<u8> {
    let mut encoder = GzEncoder::new(Vec::new(), Compression::fast());
    encoder.write_all(bytes).expect("memory");
    encoder.finish().expect("memory")
}

/// A slow query, now and then in a document on several lines or behind a line that nothing explains.
fn record(number: usize) -> String {
    let query = format!(
        r#"{{"t":{{"$date":"2026-11-30T08:17:00.824+00:00"}},"s":"I",  "c":"COMMAND",  "id":51803,   "ctx":"conn{number}","msg":"Slow query","attr":{{"type":"command","ns":"shop.orders","command":{{"find":"orders","filter":{{"f{}":{number}}},"$db":"shop"}},"durationMillis":{}}}}}"#,
        number % 7,
        100 + number % 50
    );
    match number % 10 {
        3 => format!("{{\n  note: \"{number}\",\n  rest: [ 1,\n 2 ] }}\n{query}\n"),
        6 => format!("nothing explains {number}\n{query}\n"),
        _ => format!("{query}\n"),
    }
}

fn log(records: std::ops::Range<usize>) -> Vec<u8> {
    records.map(record).collect::<String>().into_bytes()
}

#[test]
fn files_that_threads_read_in_turns_give_the_report_of_the_pipe_that_one_thread_reads() {
    let recorded: Vec<PathBuf> = corpus_logs().iter().map(|log| log.path.clone()).collect();
    let pipes = || recorded.iter().map(|path| pipe(path, std::fs::File::open(path).expect("a log"))).collect();
    let files = || recorded.iter().map(|path| file(path)).collect();
    let expected = report(pipes(), 1, DEFAULT_CHUNK_SIZE);
    for (threads, chunk_size) in [(1, DEFAULT_CHUNK_SIZE), (3, 5000)] {
        assert!(report(files(), threads, chunk_size) == expected, "{threads} threads, chunks of {chunk_size}");
    }
    assert!(report(pipes(), 3, 40_000) == expected, "pipes and several threads");
}

#[test]
fn many_small_files_broken_ones_and_pipes_among_them_are_read_completely_and_in_order() {
    let folder = TempDir::new().expect("a folder");
    let mut paths: Vec<PathBuf> =
        (0..150).map(|i| write(&folder, &format!("{i}.log"), &log(i * 3..i * 3 + i % 4))).collect();
    paths.insert(40, write(&folder, "utf16.log", b"\xff\xfe{\0"));
    paths.insert(80, folder.path().join("missing.log"));
    paths.insert(90, write(&folder, "big.log", &log(0..500)));
    paths.insert(120, write(&folder, "cut.log.gz", &gzip(&log(500..900))[..4000]));
    let files = || -> Vec<Source> { paths.iter().map(|path| file(path)).collect() };
    let expected = report(files(), 1, DEFAULT_CHUNK_SIZE);
    for (threads, chunk_size) in [(1, 100), (3, DEFAULT_CHUNK_SIZE), (5, 2000)] {
        assert!(report(files(), threads, chunk_size) == expected, "{threads} threads, chunks of {chunk_size}");
        let mut mixed = files();
        mixed[90] = pipe(&paths[90], Cursor::new(log(0..500)));
        assert!(report(mixed, threads, chunk_size) == expected, "with a pipe, {threads} threads, {chunk_size}");
    }
    let failures: Vec<&str> = expected.lines().rev().take(3).collect();
    assert!(failures[2].contains("utf16.log"), "{failures:?}");
    assert!(failures[1].contains("missing.log"), "{failures:?}");
    assert!(failures[0].contains("cut.log.gz"), "{failures:?}");
}

#[test]
fn an_interrupted_run_has_read_the_beginning_of_its_files_and_accounts_for_all_of_it() {
    let folder = TempDir::new().expect("a folder");
    let logs: Vec<Vec<u8>> = (0..4).map(|i| log(i * 1000..i * 1000 + 1000)).collect();
    let paths: Vec<PathBuf> =
        logs.iter().enumerate().map(|(i, bytes)| write(&folder, &format!("{i}.log"), bytes)).collect();
    for threads in [1, 3] {
        let files = paths.iter().map(|path| file(path)).collect();
        let (outcome, read) = outcome(files, &settings(threads), 2000, Some(300));
        assert!(outcome.interrupted && outcome.failures.is_empty());
        let whole_lengths: Vec<u64> = logs.iter().map(|log| log.len() as u64).collect();
        assert!(read.iter().sum::<u64>() < whole_lengths.iter().sum(), "{threads} threads: everything was read");
        assert!(read.windows(2).zip(&whole_lengths).all(|(read, whole)| read[1] == 0 || read[0] == *whole), "{read:?}");
        for (i, (bytes, read)) in logs.iter().zip(read).enumerate() {
            let lines = bytes[..usize::try_from(read).expect("small")].iter().filter(|byte| **byte == b'\n').count();
            assert_eq!(outcome.by_source[i].lines, lines as u64, "{threads} threads, log {i}");
        }
    }
}

/// Delivers some bytes, and then keeps whoever reads waiting for ever.
struct Stalling(Cursor<Vec<u8>>);

impl Read for Stalling {
    fn read(&mut self, buffer: &mut [u8]) -> std::io::Result<usize> {
        match self.0.read(buffer)? {
            0 => loop {
                std::thread::park();
            },
            count => Ok(count),
        }
    }
}

#[test]
fn an_interrupted_run_does_not_wait_for_a_pipe_that_nobody_writes_to_and_tells_what_came_before_it() {
    let folder = TempDir::new().expect("a folder");
    let first = write(&folder, "first.log", &log(0..20));
    for threads in [1, 3] {
        let sources = vec![file(&first), pipe(&first, Stalling(Cursor::new(log(20..30)))), file(&first)];
        let (outcome, _) = outcome(sources, &settings(threads), DEFAULT_CHUNK_SIZE, Some(1));
        let lines: Vec<u64> = outcome.by_source.iter().map(|source| source.lines).collect();
        let whole = log(0..20).iter().filter(|byte| **byte == b'\n').count() as u64;
        assert!(outcome.interrupted);
        assert_eq!(lines, [whole, 0, 0]);
    }
}
