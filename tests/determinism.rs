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
