//! A collection of legacy logs beside the repository, if it is there: every line is accounted for, and as many slow
//! operations are understood as a plain look at the lines counts.

#![allow(clippy::unwrap_used)] // A test that cannot go on has failed.

use std::fs;
use std::path::Path;

use regex::Regex;
use shardlint::model::Traffic;
use shardlint::syntax::{Record, read_record};

/// What became of the lines of one log.
#[derive(Debug, Default)]
struct Counts {
    slow: usize,
    understood: usize,
    not_understood: Vec<String>,
}

fn counted(text: &[u8]) -> Counts {
    let operation =
        Regex::new(r"(\]|\.\.\.) (query|getmore|insert|update|remove|command|killcursors) .*\d+ms *$").unwrap();
    let mut counts = Counts::default();
    for line in text.split(|byte| *byte == b'\n') {
        let line = line.strip_suffix(b"\r").unwrap_or(line);
        counts.slow += usize::from(operation.is_match(&String::from_utf8_lossy(line)));
        match read_record(line) {
            Record::Slow(event) => {
                assert!(event.duration_millis.is_some());
                let empty = Traffic::NotAQuery(String::new());
                counts.understood += usize::from(event.traffic != empty);
            }
            Record::Other(_) => {}
            Record::Explain(_) | Record::Several(_) => panic!("no line of a log"),
            Record::Bad(_) => counts.not_understood.push(String::from_utf8_lossy(line).into_owned()),
        }
    }
    counts
}

#[test]
fn every_slow_operation_of_the_collected_legacy_logs_is_understood() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../shared/corpus/public/logs-legacy");
    let Ok(entries) = fs::read_dir(folder) else { return };
    let mut logs: Vec<_> = entries.map(|entry| entry.unwrap().path()).collect();
    logs.sort();
    for log in logs {
        let counts = counted(&fs::read(&log).unwrap());
        let name = log.file_name().unwrap().to_string_lossy().into_owned();
        assert_eq!(counts.understood, counts.slow, "{name}");
        let has_stamp = |line: &String| line.contains(':') || line.contains('[');
        assert!(!counts.not_understood.iter().any(has_stamp), "{name}: {:?}", counts.not_understood);
    }
}

#[test]
fn no_cut_of_a_collected_line_makes_the_reader_panic_or_point_outside() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../shared/corpus/public/logs-legacy");
    let Ok(entries) = fs::read_dir(folder) else { return };
    for log in entries {
        let text = fs::read(log.unwrap().path()).unwrap();
        for line in text.split(|byte| *byte == b'\n').filter(|line| line.ends_with(b"ms")).step_by(7) {
            for at in (0..line.len()).step_by(13) {
                let cut = [&line[..at], b" 5ms"].concat();
                for part in [&cut, &line[at..]] {
                    let Record::Slow(event) = read_record(part) else { continue };
                    let filters = event.statements.iter().filter_map(|statement| statement.filter.as_ref());
                    let spans = filters.map(|filter| filter.span).chain([event.command_span, event.name_span]);
                    spans.for_each(|span| assert!(part.get(span.range()).is_some()));
                }
            }
        }
    }
}
