//! The same bytes come out at any thread count, whether the log is a file, a pipe, a `.gz` or a `.zst`.

mod binary;

use std::io::Write;

use binary::{corpus_logs, declarations, shardlint};
use flate2::{Compression, write::GzEncoder};

const FORMATS: [&str; 4] = ["pretty", "concise", "json", "jsonl"];

#[test]
fn the_thread_count_never_shows() {
    let logs = corpus_logs();
    let paths: Vec<&str> = logs.iter().map(|log| log.path.to_str().expect("a UTF-8 path")).collect();
    for format in FORMATS {
        let run = |threads: &str| {
            let mut args = vec!["check", "--format", format, "--threads", threads];
            args.extend(declarations());
            args.extend(&paths);
            shardlint(&args, None).stdout
        };
        let alone = run("1");
        assert!(!alone.is_empty());
        for threads in ["2", "8"] {
            assert!(alone == run(threads), "{format} differs between 1 and {threads} threads");
        }
    }
}

#[test]
fn a_pipe_and_compressed_files_give_what_the_file_gives() {
    for log in corpus_logs() {
        let bytes = std::fs::read(&log.path).expect("the log");
        let mut args = vec!["check", "--format", "json", "-"];
        args.extend(declarations());
        let piped = shardlint(&args, Some(&bytes)).stdout;
        assert!(!piped.is_empty());
        // Two members, as rotated logs that were joined have.
        let (first, second) = bytes.split_at(bytes.len() / 2);
        let gz = [first, second].map(|half| {
            let mut encoder = GzEncoder::new(Vec::new(), Compression::fast());
            encoder.write_all(half).expect("memory");
            encoder.finish().expect("memory")
        });
        assert!(piped == shardlint(&args, Some(&gz.concat())).stdout, "{}: gz differs", log.path.display());
        let zst = zstd::encode_all(bytes.as_slice(), 1).expect("memory");
        assert!(piped == shardlint(&args, Some(&zst)).stdout, "{}: zst differs", log.path.display());
    }
}

#[test]
fn what_a_text_log_tells_about_its_process_holds_however_far_behind_a_query_stands() {
    let line = |text: &str| format!("2026-10-02T02:00:14.112+0200 I {text}\n");
    let start = [
        line("CONTROL  [mongosMain] mongos version v4.0.28"),
        line("CONTROL  [mongosMain] db version v4.0.28"),
        line("CONTROL  [mongosMain] options: { sharding: { configDB: \"c/192.0.2.40:27019\" } }"),
    ];
    let query =
        line("COMMAND  [conn21] command shop.orders command: find { find: \"orders\", filter: { a: 1 } } 144ms");
    let between = line("NETWORK  [listener] connection accepted from 192.0.2.77:40112 #21 (1 connection now open)");
    let report = |lines_between: usize| {
        let log = format!("{}{}{query}", start.concat(), between.repeat(lines_between));
        let mut args = vec!["check", "--format", "json", "-"];
        args.extend(declarations());
        let report: serde_json::Value =
            serde_json::from_slice(&shardlint(&args, Some(log.as_bytes())).stdout).expect("JSON");
        ["server_version", "version_assumed", "via_router", "classes"].map(|name| report["summary"][name].clone())
    };
    let near = report(0);
    assert_eq!(near[0], "4.0.28");
    assert_eq!(near, report(20_000), "more than a chunk lies between");
}
