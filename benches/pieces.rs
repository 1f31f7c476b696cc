//! How long each stage of the road takes for itself, and the whole of it, with the bytes it took in per second. The log is
//! made up: the same few queries with ever different values, as logs are.

mod made_up;

use divan::counter::BytesCount;
use divan::{Bencher, black_box};
use made_up::{legacy, orders, read_whole, settings, slow_lines, structured};
use shardlint::model::{Event, ServerVersion, Shape};
use shardlint::routing::{Cluster, route};
use shardlint::syntax::{Outliner, Patterns, Record, is_idle, read_record};

fn main() {
    divan::main();
}

fn size(lines: &[&str]) -> BytesCount {
    BytesCount::new(lines.iter().map(|line| line.len()).sum::<usize>())
}

fn events(log: &str) -> Vec<Event> {
    let read = |line: &str| match read_record(line.as_bytes()) {
        Record::Slow(event) => Some(*event),
        _ => None,
    };
    slow_lines(log).into_iter().filter_map(read).collect()
}

/// Which lines have to be read at all.
#[divan::bench]
fn record_detection(bencher: Bencher) {
    let log = structured();
    bencher.counter(BytesCount::of_str(&log)).bench(|| log.lines().filter(|line| is_idle(line.as_bytes())).count());
}

/// Which outline a record has, by what its line looks like; all patterns are known.
#[divan::bench]
fn pattern(bencher: Bencher) {
    let log = structured();
    let lines = slow_lines(&log);
    let marks = settings(1, true).marks();
    let mut outliner = Outliner::default();
    let mut patterns = Patterns::default();
    for line in &lines {
        if let Some((_, pattern)) = outliner.pattern(line, marks) {
            patterns.learn(line, &pattern, 0, || ());
        }
    }
    bencher
        .counter(size(&lines))
        .bench_local(|| lines.iter().filter(|line| patterns.find(line, &mut outliner, marks).is_some()).count());
}

/// The same of lines of the text log.
#[divan::bench]
fn legacy_pattern(bencher: Bencher) {
    let log = legacy();
    let marks = settings(1, true).marks();
    let mut outliner = Outliner::default();
    let mut patterns = Patterns::default();
    for line in log.lines() {
        if let Some((_, pattern)) = outliner.pattern(line, marks) {
            patterns.learn(line, &pattern, 0, || ());
        }
    }
    bencher
        .counter(BytesCount::of_str(&log))
        .bench_local(|| log.lines().filter(|line| patterns.find(line, &mut outliner, marks).is_some()).count());
}

/// What decides of a record, in one walk.
#[divan::bench]
fn outline(bencher: Bencher) {
    let log = structured();
    let lines = slow_lines(&log);
    let marks = settings(1, true).marks();
    bencher
        .counter(size(&lines))
        .with_inputs(Outliner::default)
        .bench_values(|mut outliner| lines.iter().filter(|line| outliner.read(line, marks).is_some()).count());
}

/// The same of lines of the text log.
#[divan::bench]
fn legacy_outline(bencher: Bencher) {
    let log = legacy();
    let marks = settings(1, true).marks();
    bencher
        .counter(BytesCount::of_str(&log))
        .with_inputs(Outliner::default)
        .bench_values(|mut outliner| log.lines().filter(|line| outliner.read(line, marks).is_some()).count());
}

/// A slow query of the structured log, read in full.
#[divan::bench]
fn structured_parse(bencher: Bencher) {
    let log = structured();
    let lines = slow_lines(&log);
    bencher.counter(size(&lines)).bench(|| lines.iter().for_each(|line| drop(black_box(read_record(line.as_bytes())))));
}

/// A slow query of the text log, read in full.
#[divan::bench]
fn legacy_parse(bencher: Bencher) {
    let log = legacy();
    bencher
        .counter(BytesCount::of_str(&log))
        .bench(|| log.lines().for_each(|line| drop(black_box(read_record(line.as_bytes())))));
}

/// From a statement to its verdict. The bytes are those of the lines that the statements came from.
#[divan::bench]
fn verdict(bencher: Bencher) {
    let log = structured();
    let events = events(&log);
    let collection = orders();
    let cluster = Cluster { collection: &collection, all_shards: None, version: ServerVersion::NEWEST, explain: false };
    bencher.counter(size(&slow_lines(&log))).bench(|| {
        events.iter().flat_map(|event| &event.statements).for_each(|one| drop(black_box(route(one, cluster))));
    });
}

/// From a statement to its shape.
#[divan::bench]
fn shape(bencher: Bencher) {
    let log = structured();
    let events = events(&log);
    bencher.counter(size(&slow_lines(&log))).bench(|| {
        events.iter().flat_map(|event| &event.statements).for_each(|one| drop(black_box(Shape::of(one))));
    });
}

fn end_to_end(bencher: Bencher, log: &str, threads: usize, recalls: bool) {
    let settings = settings(threads, recalls);
    bencher.counter(BytesCount::of_str(log)).bench(|| read_whole(log, &settings));
}

/// A structured log, from bytes to counts.
#[divan::bench(args = [1, 2])]
fn whole_structured(bencher: Bencher, threads: usize) {
    end_to_end(bencher, &structured(), threads, true);
}

/// The same without recalling what was found out about records of the same outline.
#[divan::bench]
fn whole_structured_without_recalling(bencher: Bencher) {
    end_to_end(bencher, &structured(), 1, false);
}

/// A text log, from bytes to counts.
#[divan::bench]
fn whole_legacy(bencher: Bencher) {
    end_to_end(bencher, &legacy(), 1, true);
}

/// The same without recalling.
#[divan::bench]
fn whole_legacy_without_recalling(bencher: Bencher) {
    end_to_end(bencher, &legacy(), 1, false);
}
