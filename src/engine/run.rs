//! Blocks to threads and back in order: the threads of the pool scan what the supply hands out, and what they found is put
//! together in the order of the input. In memory are a few blocks, whatever the input's size, and their buffers are used again.
//! While inputs are followed, what is known is made known again and again.

use std::collections::BTreeMap;
use std::io::Read;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError, SyncSender, sync_channel};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use crate::input::{Input, InputError};
use crate::syntax::Role;
use crate::text::SourceId;

use super::blocks::Lines;
use super::exchange::Exchange;
use super::reading::Message;
use super::roster::{Folding, Roster};
use super::scan::{Counts, Part, oversize, scan};
use super::settings::Settings;
use super::supply::{Numbered, Supply, locked};
use super::worker::{Tallies, Worker};

/// Sees how far reading is; called on the calling thread.
pub trait Progress {
    /// So many bytes of a source have been judged.
    fn advanced(&mut self, source: SourceId, bytes: u64);
}

/// One log to read.
pub struct Source {
    /// Which input.
    pub input: Input,
    /// Its decompressed bytes, if it has been opened already; a file is opened when its turn comes.
    pub opened: Option<Box<dyn Read + Send>>,
    /// The role of the process that writes it, if that is declared.
    pub role: Option<Role>,
}

/// What is read, and how a run may be ended early.
pub struct Job<'a> {
    /// The inputs, in the order of the arguments. Their ids are their places in this list.
    pub sources: Vec<Source>,
    /// Target size of a chunk, in bytes.
    pub chunk_size: usize,
    /// Set from a signal handler: stop reading, report what is known.
    pub interrupted: &'a AtomicBool,
}

/// What a run read.
#[derive(Debug, Default)]
pub struct Outcome {
    /// All parts merged.
    pub total: Part,
    /// The tallies of all parts.
    pub tallies: Tallies,
    /// Lines and what was understood of them, by source.
    pub by_source: Vec<SourceLines>,
    /// Inputs that could not be read, or not to their end.
    pub failures: Vec<InputError>,
    /// The run was interrupted.
    pub interrupted: bool,
}

/// How much of a source was understood.
#[derive(Debug, Clone, Default)]
pub struct SourceLines {
    /// Lines.
    pub lines: u64,
    /// Blank ones among them.
    pub blank: u64,
    /// Records that no format explains.
    pub not_understood: u64,
    /// Records that may stand in a log and in much that is none.
    pub vague: u64,
    /// Records that are understood, those and blank lines aside.
    pub understood: u64,
    /// Its first bytes, kept only while nothing is understood: to say what it looks like.
    pub sample: Vec<u8>,
}

/// So many bytes are kept to say what an input looks like.
const SAMPLE: usize = 4096;

impl SourceLines {
    /// Whether there is something in it, and nothing of it is understood.
    #[must_use]
    pub fn is_wholly_unread(&self) -> bool {
        self.not_understood + self.vague > 0 && self.understood == 0
    }

    /// Whether there is nothing in it but blank lines.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.understood + self.not_understood + self.vague == 0
    }

    fn add(&mut self, bytes: &[u8], counts: &Counts) {
        if self.lines == 0 {
            self.sample = bytes[..bytes.len().min(SAMPLE)].to_vec();
        }
        self.lines += counts.lines;
        self.blank += counts.blank;
        self.not_understood += counts.not_understood;
        let explains = counts.explains + counts.filtered_explains;
        self.vague += counts.vague;
        self.understood += counts.slow_queries + explains + counts.other_records - counts.blank - counts.vague;
        if self.understood > 0 {
            self.sample = Vec::new();
        }
    }
}

/// What became of a message.
enum Done {
    Scanned {
        source: SourceId,
        bytes: u64,
        /// The beginning of the source, if it was in there.
        beginning: Vec<u8>,
        part: Box<Part>,
    },
    Failure(InputError),
    EndOfSource(SourceId),
}

/// Reads all sources and judges every record.
///
/// # Errors
/// If the thread pool cannot be made.
pub fn run(
    job: Job<'_>,
    settings: &Settings,
    progress: &mut dyn Progress,
) -> Result<Outcome, rayon::ThreadPoolBuildError> {
    scan_all(job, settings, Audience { progress: Some(progress), publishing: None }, Supply::of)
}

/// Reads all sources side by side and waits for more, until they end or the run is interrupted. `known` gets what is known
/// whenever there is something new, as if the run had ended there.
///
/// # Errors
/// If the thread pool cannot be made.
pub fn follow(
    job: Job<'_>,
    settings: &Settings,
    known: &mut dyn FnMut(Outcome),
) -> Result<Outcome, rayon::ThreadPoolBuildError> {
    let publishing = Publishing { known, is_due: false, not_before: Instant::now() };
    scan_all(job, settings, Audience { progress: None, publishing: Some(publishing) }, Supply::following)
}

fn scan_all<'a>(
    job: Job<'a>,
    settings: &'a Settings,
    audience: Audience<'a>,
    supply: fn(Vec<Source>, usize, usize) -> Supply,
) -> Result<Outcome, rayon::ThreadPoolBuildError> {
    let pool = rayon::ThreadPoolBuilder::new().num_threads(settings.threads).build()?;
    let threads = pool.current_num_threads();
    let count = job.sources.len();
    let Job { sources, chunk_size, interrupted } = job;
    let supply = supply(sources, chunk_size, threads);
    let scanning = supply.left_of(threads);
    let crew = Crew {
        supply,
        merged: AtomicU64::new(0),
        settings,
        workers: Exchange::among(scanning).map(|exchange| Mutex::new(Worker::among(count, exchange))).collect(),
        folding: Mutex::new(None),
    };
    let mut merging = Merging {
        outcome: Outcome {
            by_source: vec![SourceLines::default(); count],
            tallies: Tallies::among(count),
            ..Outcome::default()
        },
        roster: Roster::new(settings.most_shapes),
        open: BTreeMap::new(),
        next_source: SourceId(0),
        settings,
        audience,
    };
    pool.in_place_scope(|scope| {
        // As many as may lie about: nobody waits to be rid of what it found.
        let (done, results) = sync_channel(AHEAD + threads);
        for worker in &crew.workers {
            let (done, crew) = (done.clone(), &crew);
            scope.spawn(move |_| crew.work(worker, done));
        }
        drop(done);
        merging.merge_all(&results, interrupted, &crew);
    });
    merging.collect(&crew);
    Ok(merging.known())
}

/// What the threads that scan share.
struct Crew<'a> {
    supply: Supply,
    /// So many batches have been put together.
    merged: AtomicU64,
    settings: &'a Settings,
    /// One for each thread, which has it but when its tallies are collected.
    workers: Vec<Mutex<Worker>>,
    /// Which shapes are folded, once there are too many.
    folding: Mutex<Option<Arc<Folding>>>,
}

/// No batch is scanned that is so many ahead of what has been put together,
const AHEAD: usize = 32;
/// or so many, by a thread that tells more shapes apart than it should.
const CROWDED: usize = 4;

impl Crew<'_> {
    /// One thread's work: batches as they come, until there are no more.
    fn work(&self, worker: &Mutex<Worker>, done: SyncSender<Numbered<Vec<Done>>>) {
        let mut spare = Vec::new();
        while let Some((number, batch)) = self.supply.next(&mut spare) {
            // Not held while waiting: whoever puts parts together may want the tallies.
            let is_crowded = locked(worker).is_crowded();
            self.keep_pace(number, is_crowded);
            let found =
                batch.into_iter().map(|message| self.scanned(message, &mut locked(worker), &mut spare)).collect();
            if done.send((number, found)).is_err() {
                break;
            }
        }
    }

    /// Waits while a batch of that number is far ahead of what has been put together: while one thread is held up, what
    /// the others find would only lie about. Sooner if the thread tells more shapes apart than it should: which of them are
    /// folded is found out there.
    fn keep_pace(&self, number: u64, is_crowded: bool) {
        let ahead = if is_crowded { CROWDED } else { AHEAD } as u64;
        while number > self.merged.load(Ordering::Relaxed) + ahead && !self.supply.is_closed() {
            std::thread::sleep(NAP);
        }
    }

    fn scanned(&self, message: Message, worker: &mut Worker, spare: &mut Vec<Vec<u8>>) -> Done {
        match message {
            Message::Block(block, process) => {
                let part = Box::new(scan(&block, process, self.settings, worker));
                let folding = locked(&self.folding).clone();
                worker.settle(folding.as_ref());
                let Lines { pos, bytes } = block.lines;
                let beginning = if pos.offset == 0 { bytes[..bytes.len().min(SAMPLE)].to_vec() } else { Vec::new() };
                let length = bytes.len() as u64;
                if bytes.capacity() <= MOST_KEPT {
                    spare.push(bytes);
                }
                Done::Scanned { source: pos.source, bytes: length, beginning, part }
            }
            Message::Oversize(position, length, lines) => {
                let part = Box::new(oversize(position, length, lines));
                Done::Scanned { source: position.source, bytes: 0, beginning: Vec::new(), part }
            }
            Message::Failure(error) => Done::Failure(error),
            Message::EndOfSource(source) => Done::EndOfSource(source),
        }
    }
}

/// A larger buffer is not kept to be read into again, in bytes: it held a line out of the ordinary.
const MOST_KEPT: usize = 4 << 20;

/// How long nothing happens before an interrupt is looked for.
const PATIENCE: Duration = Duration::from_millis(50);
/// Who waits for other threads looks that often.
const NAP: Duration = Duration::from_millis(1);

/// Who is told while a run goes on.
struct Audience<'a> {
    progress: Option<&'a mut dyn Progress>,
    publishing: Option<Publishing<'a>>,
}

/// Makes known what is known, at a measured pace.
struct Publishing<'a> {
    known: &'a mut dyn FnMut(Outcome),
    /// There is something new.
    is_due: bool,
    not_before: Instant,
}

/// What is known is made known no more often than that,
const PAUSE: Duration = Duration::from_millis(200);
/// and takes no more than one part in so many of the time.
const PAUSES: u32 = 10;

/// What is known of a source that has not been added to the whole.
#[derive(Default)]
struct OpenSource {
    part: Part,
    has_ended: bool,
}

/// So many batches are put together as soon as they come: a short run does not wait.
const SHORT: u64 = 8;

/// Puts results together in the order of the input.
struct Merging<'a> {
    outcome: Outcome,
    /// Which shapes are told apart.
    roster: Roster,
    /// Sources that have not ended, or that stand behind one that has not.
    open: BTreeMap<SourceId, OpenSource>,
    /// The first source that is not in the outcome.
    next_source: SourceId,
    settings: &'a Settings,
    audience: Audience<'a>,
}

impl Merging<'_> {
    /// Merges until all threads have ended. What has been scanned counts, interrupted or not: the threads take batches in
    /// order, so it is the beginning of the input.
    fn merge_all(&mut self, results: &Receiver<Numbered<Vec<Done>>>, interrupted: &AtomicBool, crew: &Crew<'_>) {
        let mut waiting = BTreeMap::new();
        let mut next = 0;
        loop {
            if interrupted.load(Ordering::Relaxed) {
                self.outcome.interrupted = true;
                crew.supply.close();
            } else {
                self.publish(crew);
            }
            match results.recv_timeout(PATIENCE) {
                Ok((number, found)) => drop(waiting.insert(number, found)),
                Err(RecvTimeoutError::Timeout) => {}
                Err(RecvTimeoutError::Disconnected) => return,
            }
            waiting.extend(results.try_iter());
            while let Some(found) = waiting.remove(&next) {
                found.into_iter().for_each(|done| self.merge(done, crew));
                next += 1;
            }
            crew.merged.store(next, Ordering::Relaxed);
            if next > SHORT {
                // To be woken for each batch costs the threads that scan more than merging does.
                std::thread::sleep(NAP);
            }
        }
    }

    fn merge(&mut self, done: Done, crew: &Crew<'_>) {
        let Self { outcome, roster, open, settings, audience, .. } = self;
        match done {
            Done::Scanned { source, bytes, beginning, mut part } => {
                if let Some(folding) = roster.admit(std::mem::take(&mut part.appearances)) {
                    outcome.tallies.fold(&folding);
                    *locked(&crew.folding) = Some(folding);
                }
                outcome.by_source[source.0 as usize].add(&beginning, &part.counts);
                open.entry(source).or_default().part.merge(*part, &mut outcome.tallies, settings);
                if let Some(progress) = &mut audience.progress {
                    progress.advanced(source, bytes);
                }
                if let Some(publishing) = &mut audience.publishing {
                    publishing.is_due = true;
                }
            }
            Done::Failure(error) => outcome.failures.push(error),
            Done::EndOfSource(source) => {
                open.entry(source).or_default().has_ended = true;
                self.close();
            }
        }
    }

    /// Adds the sources that have ended to the whole, in order.
    fn close(&mut self) {
        while self.open.get(&self.next_source).is_some_and(|source| source.has_ended) {
            let Some(OpenSource { part, .. }) = self.open.remove(&self.next_source) else { return };
            self.outcome.close(part, self.settings);
            self.next_source.0 += 1;
        }
    }

    /// Takes over what the threads have counted.
    fn collect(&mut self, crew: &Crew<'_>) {
        let logs = self.outcome.by_source.len();
        for worker in &crew.workers {
            let tallies = std::mem::replace(&mut locked(worker).tallies, Tallies::among(logs));
            self.outcome.tallies.merge(tallies);
        }
        if let Some(folding) = &*locked(&crew.folding) {
            self.outcome.tallies.fold(folding);
        }
    }

    fn publish(&mut self, crew: &Crew<'_>) {
        let begun = Instant::now();
        let is_due = |publishing: &Publishing<'_>| publishing.is_due && publishing.not_before <= begun;
        if !self.audience.publishing.as_ref().is_some_and(is_due) {
            return;
        }
        self.collect(crew);
        let known =
            Outcome { total: self.outcome.total.clone(), tallies: self.outcome.tallies.clone(), ..Outcome::default() };
        let known = closed(known, self.open.values().map(|source| source.part.clone()), &self.roster, self.settings);
        if let Some(publishing) = &mut self.audience.publishing {
            (publishing.known)(known);
            publishing.is_due = false;
            publishing.not_before = Instant::now() + PAUSE.max(begun.elapsed() * PAUSES);
        }
    }

    /// The outcome with what is still open.
    fn known(self) -> Outcome {
        closed(self.outcome, self.open.into_values().map(|source| source.part), &self.roster, self.settings)
    }
}

/// `outcome` as if the sources that are `open` ended here.
fn closed(mut outcome: Outcome, open: impl Iterator<Item = Part>, roster: &Roster, settings: &Settings) -> Outcome {
    open.for_each(|part| outcome.close(part, settings));
    if let Some(folding) = roster.finish() {
        outcome.tallies.fold(&folding);
    }
    outcome
}

impl Outcome {
    /// Adds a source that has ended.
    fn close(&mut self, mut part: Part, settings: &Settings) {
        part.finish_source(&mut self.tallies, settings);
        self.total.merge(part, &mut self.tallies, settings);
    }
}
