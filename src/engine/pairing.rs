//! A batch of writes is logged as one WRITE line per statement and one COMMAND line for the batch; it must count once.
//!
//! WRITE lines wait, per thread, for the next COMMAND line of their thread: it tells whether the batch came through a router,
//! and if it is the line of their batch, it is a duplicate. Both may lie in different chunks, so each chunk keeps its open
//! ends: COMMAND lines whose WRITE lines may lie before the chunk, and WRITE lines whose COMMAND line may lie behind it.

use std::collections::VecDeque;

use indexmap::IndexMap;
use rustc_hash::FxBuildHasher;

use crate::model::{Origin, Verb};

use super::judge::Judged;

/// A judged record and, if it yielded a finding, its bytes.
#[derive(Debug)]
pub struct Held {
    /// The record, judged.
    pub judged: Judged,
    /// Its bytes; empty where no finding needs them.
    pub record: Box<[u8]>,
}

impl Held {
    /// Keeps `record` only if a finding needs it.
    #[must_use]
    pub fn new(judged: Judged, record: &[u8]) -> Self {
        let needed = judged.statements.iter().any(|statement| !statement.raised.is_empty());
        Self { judged, record: if needed { record.into() } else { Box::default() } }
    }
}

/// What a batch's COMMAND line and its WRITE lines have in common.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BatchKey {
    /// Update or delete; `None` for a bulkWrite, whose WRITE lines are of any kind.
    pub verb: Option<Verb>,
    /// The collection as logged; irrelevant for a bulkWrite.
    pub namespace: String,
}

impl BatchKey {
    fn covers(&self, write: &Self) -> bool {
        self.verb.is_none() || write.verb.is_none() || self == write
    }
}

/// A WRITE line that waits for its COMMAND line.
#[derive(Debug)]
struct Waiting {
    key: BatchKey,
    held: Held,
}

/// A COMMAND line that met no WRITE line in its chunk.
#[derive(Debug)]
struct Opening {
    /// Whose operation the line is about.
    origin: Origin,
    /// The batch, if the line is one's: it counts itself unless a WRITE line of it turns up before the chunk.
    batch: Option<(BatchKey, Held)>,
}

/// What became of records whose fate was open.
#[derive(Debug, Default)]
pub struct Settled {
    /// Records that count.
    pub counted: Vec<Held>,
    /// COMMAND lines that repeat WRITE lines.
    pub duplicates: u64,
}

type Threads<T> = IndexMap<String, T, FxBuildHasher>;

/// The open ends of a part of the input.
#[derive(Debug, Default)]
pub struct Pairing {
    openings: Threads<Opening>,
    waiting: Threads<VecDeque<Waiting>>,
}

/// With more waiting WRITE lines than this a thread lets the oldest go: the server takes no larger batch.
const MAX_WAITING: usize = 100_000;

impl Pairing {
    /// A WRITE line of `thread`.
    pub fn write(&mut self, thread: &str, key: BatchKey, held: Held, settled: &mut Settled) {
        let waiting = match self.waiting.get_mut(thread) {
            Some(waiting) => waiting,
            None => self.waiting.entry(thread.to_owned()).or_default(),
        };
        waiting.push_back(Waiting { key, held });
        trim(waiting, settled);
    }

    /// A COMMAND line of `thread`; `batch` is given if it is the line of a batch, judged as if it stood alone.
    pub fn command(&mut self, thread: &str, origin: Origin, batch: Option<(BatchKey, Held)>, settled: &mut Settled) {
        let waiting = self.waiting.swap_remove(thread).unwrap_or_default();
        let first_of_chunk = !self.openings.contains_key(thread);
        let unpaired = settle(waiting, origin, batch, settled);
        if first_of_chunk {
            self.openings.insert(thread.to_owned(), Opening { origin, batch: unpaired });
        } else if let Some((_, held)) = unpaired {
            settled.counted.push(held);
        }
    }

    /// Joins the open ends of this part with those of the part behind it.
    pub fn merge(&mut self, later: Self, settled: &mut Settled) {
        for (thread, opening) in later.openings {
            let waiting = self.waiting.swap_remove(&thread).unwrap_or_default();
            let unpaired = settle(waiting, opening.origin, opening.batch, settled);
            settled.counted.extend(unpaired.map(|(_, held)| held));
        }
        for (thread, mut more) in later.waiting {
            let waiting = self.waiting.entry(thread).or_default();
            waiting.append(&mut more);
            trim(waiting, settled);
        }
    }

    /// The end of a log: nothing more will pair.
    pub fn finish(&mut self, settled: &mut Settled) {
        for (_, opening) in std::mem::take(&mut self.openings) {
            settled.counted.extend(opening.batch.map(|(_, held)| held));
        }
        for (_, waiting) in std::mem::take(&mut self.waiting) {
            settled.counted.extend(waiting.into_iter().map(|waiting| waiting.held));
        }
    }
}

fn trim(waiting: &mut VecDeque<Waiting>, settled: &mut Settled) {
    let excess = waiting.len().saturating_sub(MAX_WAITING);
    settled.counted.extend(waiting.drain(..excess).map(|waiting| waiting.held));
}

/// Lets the waiting WRITE lines go, with the origin of the COMMAND line behind them; returns the batch if none of them was its.
fn settle(
    waiting: VecDeque<Waiting>,
    origin: Origin,
    batch: Option<(BatchKey, Held)>,
    settled: &mut Settled,
) -> Option<(BatchKey, Held)> {
    let paired = batch.as_ref().is_some_and(|(key, _)| waiting.iter().any(|write| key.covers(&write.key)));
    settled.counted.extend(waiting.into_iter().map(|Waiting { mut held, .. }| {
        if origin == Origin::ThroughRouter {
            held.judged.origin = origin;
        }
        held
    }));
    if paired {
        settled.duplicates += 1;
        return None;
    }
    batch
}

#[cfg(test)]
mod tests {
    use crate::engine::judge::Standing;
    use crate::text::{RecordPos, SourceId};

    use super::*;

    fn held(line: u64) -> Held {
        let position = RecordPos { source: SourceId(0), offset: line * 100, line };
        let judged = Judged {
            position,
            origin: Origin::Direct,
            time: None,
            millis: 1,
            standing: Standing::Undeclared,
            observed_shards: None,
            comment: None,
            statements: Vec::new(),
        };
        Held { judged, record: Box::default() }
    }

    fn key(verb: Verb) -> BatchKey {
        BatchKey { verb: Some(verb), namespace: "shop.orders".to_owned() }
    }

    /// The lines of a log, as far as pairing sees them.
    #[derive(Clone, Copy)]
    enum Line {
        Write(&'static str, Verb),
        Batch(&'static str, Verb),
        Other(&'static str),
    }
    use Line::{Batch, Other, Write};

    /// Which lines counted, with their origin, and how many were duplicates, if the log is cut into chunks there.
    fn pair(lines: &[Line], cuts: &[usize]) -> (Vec<(u64, Origin)>, u64) {
        let mut settled = Settled::default();
        let mut total = Pairing::default();
        let mut chunk = Pairing::default();
        for (i, line) in lines.iter().enumerate() {
            if cuts.contains(&i) {
                total.merge(std::mem::take(&mut chunk), &mut settled);
            }
            let held = held(i as u64);
            match *line {
                Write(thread, verb) => chunk.write(thread, key(verb), held, &mut settled),
                Batch(thread, verb) => {
                    chunk.command(thread, Origin::ThroughRouter, Some((key(verb), held)), &mut settled);
                }
                Other(thread) => chunk.command(thread, Origin::Direct, None, &mut settled),
            }
        }
        total.merge(chunk, &mut settled);
        total.finish(&mut settled);
        let mut counted: Vec<_> = settled.counted.iter().map(|h| (h.judged.position.line, h.judged.origin)).collect();
        counted.sort_by_key(|(line, _)| *line);
        (counted, settled.duplicates)
    }

    #[test]
    fn a_command_line_behind_its_write_lines_is_a_duplicate_and_tells_their_origin() {
        let lines = [Write("conn1", Verb::Update), Write("conn1", Verb::Update), Batch("conn1", Verb::Update)];
        let routed = Origin::ThroughRouter;
        assert_eq!(pair(&lines, &[]), (vec![(0, routed), (1, routed)], 1));
    }

    #[test]
    fn a_command_line_without_write_lines_of_its_thread_counts_itself() {
        let lines = [Write("conn2", Verb::Update), Batch("conn1", Verb::Update)];
        assert_eq!(pair(&lines, &[]), (vec![(0, Origin::Direct), (1, Origin::Direct)], 0));
        let lines = [Write("conn1", Verb::Update), Other("conn1"), Batch("conn1", Verb::Update)];
        assert_eq!(pair(&lines, &[]).1, 0);
        let lines = [Write("conn1", Verb::Delete), Batch("conn1", Verb::Update)];
        assert_eq!(pair(&lines, &[]).1, 0);
    }

    #[test]
    fn it_makes_no_difference_where_the_log_is_cut_into_chunks() {
        let lines = [
            Batch("conn1", Verb::Update),
            Write("conn1", Verb::Update),
            Write("conn2", Verb::Delete),
            Write("conn1", Verb::Update),
            Other("conn2"),
            Batch("conn1", Verb::Update),
            Batch("conn1", Verb::Update),
            Write("conn2", Verb::Delete),
            Batch("conn2", Verb::Delete),
            Write("conn1", Verb::Update),
        ];
        let whole = pair(&lines, &[]);
        assert_eq!(whole.1, 2);
        for cut in 1..lines.len() {
            assert_eq!(pair(&lines, &[cut]), whole, "cut at {cut}");
            for second in cut + 1..lines.len() {
                assert_eq!(pair(&lines, &[cut, second]), whole, "cut at {cut} and {second}");
            }
        }
    }
}
