//! Inputs end anywhere: a log that is being rotated, a paste that was too short. Whatever a recording is cut to, the run ends
//! in order, and every record is accounted for. `CUT_SEED` and `CUT_ROUNDS` cut elsewhere, and more often.

#![allow(clippy::unwrap_used)] // A test that cannot go on has failed.

use std::path::{Path, PathBuf};

use fastrand::Rng;
use serde_json::Value as Json;
use tempfile::TempDir;

mod binary;

fn setting(name: &str, default: u64) -> u64 {
    std::env::var(name).ok().and_then(|value| value.parse().ok()).unwrap_or(default)
}

/// Everything that the tests carry, and the collection of recordings beside the repository, if it is there.
fn recordings() -> Vec<(String, Vec<u8>)> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let mut files = Vec::new();
    for folder in [root.join("tests/data"), root.join("../shared/corpus")] {
        walk(&folder, &mut files);
    }
    files.sort();
    files
        .into_iter()
        .map(|path| {
            let bytes = std::fs::read(&path).unwrap();
            let is_packed = path.extension().is_some_and(|extension| extension == "zst");
            let bytes = if is_packed { zstd::decode_all(bytes.as_slice()).unwrap() } else { bytes };
            (path.display().to_string(), bytes)
        })
        .collect()
}

fn walk(folder: &Path, files: &mut Vec<PathBuf>) {
    let Ok(entries) = std::fs::read_dir(folder) else { return };
    for path in entries.map(|entry| entry.unwrap().path()) {
        if path.is_dir() {
            walk(&path, files);
        } else {
            files.push(path);
        }
    }
}

/// Whether a record is a line in all of it: nothing begins as a printed document does.
fn is_line_based(bytes: &[u8]) -> bool {
    let lines = bytes.split(|byte| *byte == b'\n').map(<[u8]>::trim_ascii);
    lines.into_iter().all(|line| !matches!(line.last(), Some(b'{' | b'[' | b'(' | b',')) && !line.starts_with(b"["))
}

#[test]
fn wherever_a_recording_is_cut_every_record_is_accounted_for() {
    let folder = TempDir::new().unwrap();
    let mut rng = Rng::with_seed(setting("CUT_SEED", 20_240_514));
    let rounds = setting("CUT_ROUNDS", 1);
    let recordings = recordings();
    assert!(recordings.len() > 50, "{}", recordings.len());
    let (mut line_based, mut explains) = (0, 0);
    for (name, bytes) in &recordings {
        for _ in 0..rounds {
            // Cuts near the beginning are as telling as others, and cheap.
            let most = if rng.bool() { bytes.len() } else { bytes.len().min(20_000) };
            let cut = &bytes[..rng.usize(..=most)];
            let path = folder.path().join("cut");
            std::fs::write(&path, cut).unwrap();
            let path = path.to_str().unwrap();
            let key = "shop.orders={ customerId: 1 }";
            let run = binary::shardlint(&["check", "--format", "json", "--shard-key", key, path], None);
            let told = String::from_utf8_lossy(&run.stderr);
            assert!(matches!(run.status.code(), Some(0..=2)), "{name} cut at {}: {told}", cut.len());
            assert!(!told.contains("panicked"), "{name} cut at {}: {told}", cut.len());
            let report: Json = serde_json::from_slice(&run.stdout).unwrap();
            let summary = &report["summary"];
            let count = |member: &str| summary[member].as_u64().unwrap();
            let records = count("slow_queries") + count("other_records") + count("not_understood") + count("explains");
            if count("lines") == 0 {
                // Empty, or a declaration.
                continue;
            }
            let at = format!("{name} cut at {}: {summary}", cut.len());
            if is_line_based(cut) {
                assert_eq!(records, count("lines"), "{at}");
                line_based += 1;
            }
            assert_eq!(count("lines"), cut.split_inclusive(|byte| *byte == b'\n').count() as u64, "{at}");
            assert!(records > 0, "{at}");
            let judged: u64 =
                summary["classes"].as_object().unwrap().values().map(|c| c["count"].as_u64().unwrap()).sum();
            let apart: u64 = ["duplicates", "internal", "not_queries", "via_router"].map(count).iter().sum();
            assert_eq!(judged + apart, count("slow_queries") + count("explains"), "{at}");
            explains += count("explains");
        }
    }
    assert!(line_based > 30 && explains > 30, "{line_based} line-based, {explains} explains");
}
