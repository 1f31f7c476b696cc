//! A batch of writes is logged as one WRITE line per statement and one COMMAND line for the batch; it must count once.
//!
//! WRITE lines wait, per thread, for the next COMMAND line of their thread: it tells whether the batch came through a router,
//! and if it is the line of their batch, it is a duplicate. Both may lie in different chunks, so each chunk keeps its open
//! ends: COMMAND lines whose WRITE lines may lie before the chunk, and WRITE lines whose COMMAND line may lie behind it.

use std::collections::VecDeque;
use std::sync::Arc;

use compact_str::CompactString;
use indexmap::IndexMap;
use indexmap::map::raw_entry_v1::RawEntryApiV1 as _;
use rustc_hash::FxBuildHasher;
use smallvec::SmallVec;

use crate::model::{Origin, Verb};
use crate::rules::KeyValue;

use super::judge::Judged;
use super::memo::Memory;
use super::sums::Occurrence;

/// A record that may count later, and what of it may be shown or kept then.
#[derive(Debug, Clone)]
pub enum Held {
    /// One that was judged by itself.
    Judged {
        /// The record, judged.
        judged: Judged,
        /// Its bytes, if it may become an example.
        record: Option<Box<[u8]>>,
    },
    /// One that repeats what is remembered.
    Repeat {
        /// What it is about.
        memory: Arc<Memory>,
        /// What it tells for itself.
        one: Occurrence,
        /// Its bytes, if it may become an example.
        record: Option<Box<[u8]>>,
        /// Those of its key values that may be kept: by their statements and their places in these.
        values: Vec<((usize, usize), KeyValue)>,
    },
}

impl Held {
    fn own(&self) -> &Occurrence {
        match self {
            Self::Judged { judged, .. } => &judged.own,
            Self::Repeat { one, .. } => one,
        }
    }

    fn own_mut(&mut self) -> &mut Occurrence {
        match self {
            Self::Judged { judged, .. } => &mut judged.own,
            Self::Repeat { one, .. } => one,
        }
    }
}

/// What a batch's COMMAND line and its WRITE lines have in common.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BatchKey {
    /// Update or delete; `None` for a bulkWrite, whose WRITE lines are of any kind.
    pub verb: Option<Verb>,
    /// The collection as logged; irrelevant for a bulkWrite.
    pub namespace: CompactString,
}

impl BatchKey {
    fn covers(&self, write: &Self) -> bool {
        self.verb.is_none() || write.verb.is_none() || self == write
    }
}

/// A WRITE line that waits for its COMMAND line.
#[derive(Debug, Clone)]
struct Waiting {
    key: BatchKey,
    held: Box<Held>,
}

/// A COMMAND line that met no WRITE line in its chunk.
#[derive(Debug, Clone)]
struct Opening {
    /// Where the line begins.
    offset: u64,
    /// Whose operation the line is about.
    origin: Origin,
    /// The batch, if the line is one's: it counts itself unless a WRITE line of it turns up before the chunk.
    batch: Option<Box<(BatchKey, Held)>>,
}

/// What became of records whose fate was open.
#[derive(Debug, Default)]
pub struct Settled {
    /// Records that count.
    #[expect(clippy::vec_box, reason = "they wait in boxes, and records are large to be moved about")]
    pub counted: Vec<Box<Held>>,
    /// COMMAND lines that repeat WRITE lines.
    pub duplicates: u64,
}

/// The open ends of a part of the input.
#[derive(Debug, Clone, Default)]
pub struct Pairing {
    threads: IndexMap<CompactString, Ends, FxBuildHasher>,
    /// The threads of WRITE lines that came from parts behind this one, with the places of these: some wait no more.
    queue: VecDeque<(u64, CompactString)>,
}

/// The open ends of one thread.
#[derive(Debug, Clone, Default)]
struct Ends {
    opening: Option<Opening>,
    /// The WRITE lines behind its last COMMAND line.
    waiting: SmallVec<[Waiting; 1]>,
}

/// Room is made for so many threads at once.
const THREADS: usize = 64;

/// A WRITE line waits while its log goes on for so many bytes: seconds of a busy server. What waits is bounded, and whether
/// two lines pair depends on their distance alone, never on where the log was cut into chunks.
const WINDOW: u64 = 8 << 20;

impl Pairing {
    /// A WRITE line of `thread`.
    pub fn write(&mut self, thread: &str, key: BatchKey, held: Box<Held>) {
        self.thread(thread).waiting.push(Waiting { key, held });
    }

    /// A COMMAND line of `thread` at `offset`; `batch` is given if it is the line of a batch, judged as if it stood alone.
    pub fn command(
        &mut self,
        thread: &str,
        offset: u64,
        origin: Origin,
        batch: Option<(BatchKey, Held)>,
        settled: &mut Settled,
    ) {
        let ends = self.thread(thread);
        let mut opening = Opening { offset, origin, batch: batch.map(Box::new) };
        if !ends.waiting.is_empty() {
            opening.settle(std::mem::take(&mut ends.waiting), settled);
        }
        match ends.opening {
            None => ends.opening = Some(opening),
            Some(_) => settled.counted.extend(opening.batch.map(|batch| Box::new(batch.1))),
        }
    }

    fn thread(&mut self, name: &str) -> &mut Ends {
        if self.threads.is_empty() {
            self.threads.reserve(THREADS);
        }
        let entry = self.threads.raw_entry_mut_v1().from_key(name);
        entry.or_insert_with(|| (name.into(), Ends::default())).1
    }

    /// Joins the open ends of this part with those of the part behind it, which ends at the offset `end`.
    pub fn merge(&mut self, later: Self, end: u64, settled: &mut Settled) {
        for (thread, Ends { opening, waiting }) in later.threads {
            if let Some(mut opening) = opening {
                if let Some(before) = self.threads.swap_remove(&thread) {
                    opening.settle(before.waiting, settled);
                }
                settled.counted.extend(opening.batch.map(|batch| Box::new(batch.1)));
            }
            if !waiting.is_empty() {
                self.queue.extend(waiting.iter().map(|write| (write.held.own().position.offset, thread.clone())));
                self.threads.entry(thread).or_default().waiting.extend(waiting);
            }
        }
        self.let_go(end, settled);
    }

    /// Lets those WRITE lines go that are too far from `end`. Whoever pairs looks at the distance itself.
    fn let_go(&mut self, end: u64, settled: &mut Settled) {
        while self.queue.front().is_some_and(|(offset, _)| !is_near(*offset, end)) {
            let Some((_, thread)) = self.queue.pop_front() else { return };
            let Some(ends) = self.threads.get_mut(&thread) else { continue };
            let far = ends.waiting.iter().take_while(|write| !write.is_near(end)).count();
            settled.counted.extend(ends.waiting.drain(..far).map(|write| write.held));
            if ends.waiting.is_empty() {
                self.threads.swap_remove(&thread);
            }
        }
    }

    /// The end of a log: nothing more will pair.
    pub fn finish(&mut self, settled: &mut Settled) {
        for (_, Ends { opening, waiting }) in std::mem::take(self).threads {
            settled.counted.extend(opening.and_then(|opening| opening.batch).map(|batch| Box::new(batch.1)));
            settled.counted.extend(waiting.into_iter().map(|waiting| waiting.held));
        }
    }
}

impl Waiting {
    /// Whether a line at `offset` is near enough to belong to it.
    fn is_near(&self, offset: u64) -> bool {
        is_near(self.held.own().position.offset, offset)
    }
}

fn is_near(write: u64, offset: u64) -> bool {
    offset.saturating_sub(write) <= WINDOW
}

impl Opening {
    /// Lets the WRITE lines go that wait for this line, those nearby with its origin. If one of them is of its batch, that counts
    /// no more.
    fn settle(&mut self, waiting: SmallVec<[Waiting; 1]>, settled: &mut Settled) {
        let mut paired = false;
        for mut write in waiting {
            if write.is_near(self.offset) {
                paired |= self.batch.as_ref().is_some_and(|batch| batch.0.covers(&write.key));
                if self.origin == Origin::ThroughRouter {
                    write.held.own_mut().origin = self.origin;
                }
            }
            settled.counted.push(write.held);
        }
        if paired {
            settled.duplicates += 1;
            self.batch = None;
        }
    }
}

#[cfg(test)]
mod tests {
    use crate::engine::judge::Standing;
    use crate::text::{RecordPos, SourceId};

    use super::*;

    fn held(line: u64, spacing: u64) -> Held {
        let position = RecordPos { source: SourceId(0), offset: line * spacing, line };
        let own = Occurrence {
            position,
            lead: 0,
            origin: Origin::Direct,
            time: None,
            millis: 1,
            application: None,
            observed_shards: None,
            logged: None,
        };
        let judged = Judged {
            own,
            standing: Standing::Undeclared,
            comment: None,
            plan: None,
            operation_name: None,
            shard_version: None,
            continues: false,
            limits: Vec::new(),
            statements: Vec::new().into(),
        };
        Held::Judged { judged, record: None }
    }

    fn key(verb: Verb) -> BatchKey {
        BatchKey { verb: Some(verb), namespace: "shop.orders".into() }
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
        pair_spaced(lines, cuts, 100)
    }

    /// The same for lines of so many bytes.
    fn pair_spaced(lines: &[Line], cuts: &[usize], spacing: u64) -> (Vec<(u64, Origin)>, u64) {
        let mut settled = Settled::default();
        let mut total = Pairing::default();
        let mut chunk = Pairing::default();
        for (i, line) in lines.iter().enumerate() {
            if cuts.contains(&i) {
                total.merge(std::mem::take(&mut chunk), i as u64 * spacing, &mut settled);
            }
            let held = held(i as u64, spacing);
            let offset = i as u64 * spacing;
            match *line {
                Write(thread, verb) => chunk.write(thread, key(verb), Box::new(held)),
                Batch(thread, verb) => {
                    chunk.command(thread, offset, Origin::ThroughRouter, Some((key(verb), held)), &mut settled);
                }
                Other(thread) => chunk.command(thread, offset, Origin::Direct, None, &mut settled),
            }
        }
        total.merge(chunk, lines.len() as u64 * spacing, &mut settled);
        total.finish(&mut settled);
        let mut counted: Vec<_> = settled.counted.iter().map(|h| (h.own().position.line, h.own().origin)).collect();
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
        // The longer the lines, the fewer of them lie within the window.
        for (spacing, duplicates) in [(100, 2), (WINDOW - 1, 1), (WINDOW + 1, 0)] {
            let whole = pair_spaced(&lines, &[], spacing);
            assert_eq!(whole.1, duplicates, "lines of {spacing} bytes");
            for cut in 1..lines.len() {
                assert_eq!(pair_spaced(&lines, &[cut], spacing), whole, "cut at {cut}");
                for second in cut + 1..lines.len() {
                    assert_eq!(pair_spaced(&lines, &[cut, second], spacing), whole, "cut at {cut} and {second}");
                }
            }
        }
    }
}
