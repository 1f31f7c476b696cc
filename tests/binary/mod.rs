//! Runs the built program on the recorded logs of real servers that the tests carry.
#![allow(dead_code, reason = "each test program uses a part")]

use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};
use std::sync::OnceLock;

use tempfile::TempDir;

/// A recorded log, unpacked.
pub struct Log {
    /// Where it lies.
    pub path: PathBuf,
}

/// The logs of `tests/data/mongod`, unpacked once per test program.
pub fn corpus_logs() -> &'static [Log] {
    static LOGS: OnceLock<(TempDir, Vec<Log>)> = OnceLock::new();
    let (_, logs) = LOGS.get_or_init(|| {
        let folder = TempDir::new().expect("a temporary folder");
        let packed = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data/mongod");
        let mut names: Vec<PathBuf> =
            std::fs::read_dir(packed).expect("recorded logs").map(|entry| entry.expect("an entry").path()).collect();
        names.sort();
        let logs = names
            .iter()
            .filter(|name| name.extension().is_some_and(|extension| extension == "zst"))
            .map(|name| {
                let bytes = zstd::decode_all(std::fs::File::open(name).expect("a log")).expect("zstd");
                let path = folder.path().join(name.file_stem().expect("a name"));
                std::fs::write(&path, bytes).expect("a temporary file");
                Log { path }
            })
            .collect();
        (folder, logs)
    });
    assert!(!logs.is_empty(), "no recorded logs");
    logs
}

/// Keys that fit the `shop` collections of the recordings.
pub fn declarations() -> [&'static str; 6] {
    [
        "--shard-key",
        "shop.orders={ customerId: 1, _id: 1 }",
        "--shard-key",
        "shop.customers={ _id: \"hashed\" }",
        "--shard-key",
        "shop.events={ tenant: 1, ts: 1 }",
    ]
}

/// Runs the program; `stdin` is closed at once where none is given.
pub fn shardlint(args: &[&str], stdin: Option<&[u8]>) -> Output {
    let mut child = Command::new(env!("CARGO_BIN_EXE_shardlint"))
        .args(args)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("the program starts");
    let mut pipe = child.stdin.take().expect("a pipe");
    std::thread::scope(|scope| {
        scope.spawn(move || {
            // The program may end without reading everything.
            let _ = pipe.write_all(stdin.unwrap_or_default());
        });
        child.wait_with_output().expect("the program ends")
    })
}
