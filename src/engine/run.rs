//! Blocks to threads and back in order: one thread reads (and inflates) and hands blocks over a bounded channel, the threads
//! of the pool scan them as they come, and what they found is put together in the order of the input. In memory are a few
//! blocks, whatever the input's size, and their buffers are used again. Inputs that are followed are read side by side, each by
//! a thread of its own, and what is known is made known while they grow.

use std::collections::BTreeMap;
use std::io::Read;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError, SyncSender, sync_channel};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use crate::input::{Chunk, Input, InputError};
use crate::syntax::Role;
use crate::text::SourceId;

use super::exchange::Exchange;
use super::reading::{Message, Numbered, Numbering, Reading, follow_all, read_all};
use super::roster::{Folding, Roster};
use super::scan::{Counts, Part, oversize, scan};
use super::settings::Settings;
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
    scan_all(job, settings, Audience { progress: Some(progress), publishing: None }, read_all)
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
    scan_all(job, settings, Audience { progress: None, publishing: Some(publishing) }, follow_all)
}

fn scan_all<'a>(
    job: Job<'a>,
    settings: &'a Settings,
    audience: Audience<'a>,
    reading: Reading,
) -> Result<Outcome, rayon::ThreadPoolBuildError> {
    let pool = rayon::ThreadPoolBuilder::new().num_threads(settings.threads).build()?;
    // Who inflates has no time for anything else.
    let inflating = usize::from(job.sources.iter().any(|source| source.input.seems_compressed()));
    let threads = pool.current_num_threads().saturating_sub(inflating).max(1);
    let count = job.sources.len();
    let Job { sources, chunk_size, interrupted } = job;
    let (sender, messages) = sync_channel(threads + 1);
    let (used, spare) = sync_channel(2 * threads + 2);
    let sender = Numbering::new(sender);
    // Not a scoped thread: one that waits for a pipe nobody writes to must not keep an interrupted run from ending.
    std::thread::spawn(move || reading(sources, chunk_size, spare, sender));
    let crew = Crew {
        messages: Mutex::new(messages),
        used,
        stop: AtomicBool::new(false),
        merged: AtomicU64::new(0),
        settings,
        workers: Exchange::among(threads).map(|exchange| Mutex::new(Worker::among(count, exchange))).collect(),
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
        // Bounded, so that parts do not pile up before whoever merges them.
        let (done, results) = sync_channel(2 * threads);
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
    messages: Mutex<Receiver<Numbered<Message>>>,
    /// Buffers to be read into again.
    used: SyncSender<Vec<u8>>,
    /// Whatever has not been begun is left.
    stop: AtomicBool,
    /// So many messages have been put together.
    merged: AtomicU64,
    settings: &'a Settings,
    /// One for each thread, which has it but when its tallies are collected.
    workers: Vec<Mutex<Worker>>,
    /// Which shapes are folded, once there are too many.
    folding: Mutex<Option<Arc<Folding>>>,
}

fn locked<T>(shared: &Mutex<T>) -> MutexGuard<'_, T> {
    shared.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Crew<'_> {
    /// One thread's work: messages as they come, until there are no more.
    fn work(&self, worker: &Mutex<Worker>, done: SyncSender<Numbered<Done>>) {
        while !self.stop.load(Ordering::Relaxed) {
            let next = locked(&self.messages).recv_timeout(PATIENCE);
            match next {
                Ok((number, message)) => {
                    self.keep_pace(number, locked(worker).is_crowded());
                    let scanned = self.scanned(message, &mut locked(worker));
                    if done.send((number, scanned)).is_err() {
                        break;
                    }
                }
                Err(RecvTimeoutError::Timeout) => {}
                Err(RecvTimeoutError::Disconnected) => break,
            }
        }
    }

    /// Waits while a message of that number is far ahead of what has been put together: while one thread is held up, what
    /// the others find would only lie about. Sooner if the thread tells more shapes apart than it should: which of them are
    /// folded is found out there.
    fn keep_pace(&self, number: u64, is_crowded: bool) {
        const AHEAD: u64 = 32;
        const CROWDED: u64 = 4;
        const NAP: Duration = Duration::from_millis(1);
        let ahead = if is_crowded { CROWDED } else { AHEAD };
        while number > self.merged.load(Ordering::Relaxed) + ahead && !self.stop.load(Ordering::Relaxed) {
            std::thread::sleep(NAP);
        }
    }

    fn scanned(&self, message: Message, worker: &mut Worker) -> Done {
        match message {
            Message::Block(block, process) => {
                let part = Box::new(scan(&block, process, self.settings, worker));
                let folding = locked(&self.folding).clone();
                worker.settle(folding.as_ref());
                let Chunk { pos, bytes } = block.chunk;
                let beginning = if pos.offset == 0 { bytes[..bytes.len().min(SAMPLE)].to_vec() } else { Vec::new() };
                let length = bytes.len() as u64;
                // If nobody wants it, it is let go.
                let _ = self.used.try_send(bytes);
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

/// How long nothing happens before an interrupt is looked for.
const PATIENCE: Duration = Duration::from_millis(50);

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
    /// Merges until all threads have ended. What has been scanned counts, interrupted or not: the threads take messages in
    /// order, so it is the beginning of the input.
    fn merge_all(&mut self, results: &Receiver<Numbered<Done>>, interrupted: &AtomicBool, crew: &Crew<'_>) {
        let mut waiting = BTreeMap::new();
        let mut next = 0;
        loop {
            if interrupted.load(Ordering::Relaxed) {
                self.outcome.interrupted = true;
                crew.stop.store(true, Ordering::Relaxed);
            } else {
                self.publish(crew);
            }
            match results.recv_timeout(PATIENCE) {
                Ok((number, done)) => drop(waiting.insert(number, done)),
                Err(RecvTimeoutError::Timeout) => {}
                Err(RecvTimeoutError::Disconnected) => return,
            }
            while let Some(done) = waiting.remove(&next) {
                self.merge(done, crew);
                next += 1;
            }
            crew.merged.store(next, Ordering::Relaxed);
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
