//! Fails if judging a log has become much slower than a plain reading of it: the time of both, in one process and in turns, so
//! that neither the machine nor what else runs on it matters much. The limit is twice what is usual.

mod made_up;

use std::hint::black_box;
use std::time::{Duration, Instant};

use made_up::{read_whole, settings, slow_lines, structured};

/// The time of judging a log, as a multiple of the time in which `serde_json` reads its slow queries into values.
const LIMIT: f64 = 1.5;
/// So often both are timed; the least time of each counts.
const ROUNDS: usize = 9;

fn time(work: impl FnOnce()) -> Duration {
    let start = Instant::now();
    work();
    start.elapsed()
}

#[allow(clippy::print_stdout, reason = "this is a program")]
fn main() {
    let log = structured();
    let lines = slow_lines(&log);
    let settings = settings(1, true);
    let (mut judging, mut reading) = (Duration::MAX, Duration::MAX);
    for _ in 0..ROUNDS {
        judging = judging.min(time(|| drop(black_box(read_whole(&log, &settings)))));
        reading = reading.min(time(|| {
            for line in &lines {
                drop(black_box(serde_json::from_str::<serde_json::Value>(line)));
            }
        }));
    }
    let ratio = judging.as_secs_f64() / reading.as_secs_f64();
    println!("judging a log takes {ratio:.2} times as long as reading its slow queries as JSON; the limit is {LIMIT}");
    if ratio > LIMIT {
        std::process::exit(1);
    }
}
