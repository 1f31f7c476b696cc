//! Blocks to threads and back in order: one thread reads (and inflates) and hands blocks over a bounded channel, the threads
//! of the pool scan them as they come, and what they found is put together in the order of the input. In memory are a few
//! blocks, whatever the input's size, and their buffers are used again.

use std::collections::BTreeMap;
use std::io::Read;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, SyncSender, channel, sync_channel};
use std::sync::{LazyLock, Mutex, OnceLock, PoisonError};
use std::time::Duration;

use regex::bytes::Regex;
use rustc_hash::FxHashSet;

use crate::input::{Chunk, Chunks, Input, InputError};
use crate::syntax::{Record, read_record};
use crate::text::{Fingerprint, RecordPos, SourceId};

use super::blocks::{Block, Blocked, Blocks};
use super::roster::Roster;
use super::scan::{Counts, Part, Process, oversize, scan};
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
    /// Records that are understood, blank lines aside.
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
        self.not_understood > 0 && self.understood == 0
    }

    /// Whether there is nothing in it but blank lines.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.lines == self.blank
    }

    fn add(&mut self, bytes: &[u8], counts: &Counts) {
        if self.lines == 0 {
            self.sample = bytes[..bytes.len().min(SAMPLE)].to_vec();
        }
        self.lines += counts.lines;
        self.blank += counts.blank;
        self.not_understood += counts.not_understood;
        self.understood += counts.slow_queries + counts.explains + counts.other_records - counts.blank;
        if !self.is_wholly_unread() && self.lines > self.blank {
            self.sample = Vec::new();
        }
    }
}

enum Message {
    /// Lines of one source, with what is known about the process at their start.
    Block(Block, Process),
    /// A line or document too long to be kept, its length and its lines.
    Oversize(RecordPos, u64, u64),
    Failure(InputError),
    EndOfSource,
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
    EndOfSource,
}

/// Messages in the order of the input, numbered from 0.
type Numbered<T> = (u64, T);

/// Reads all sources and judges every record.
///
/// # Errors
/// If the thread pool cannot be made.
pub fn run(
    job: Job<'_>,
    settings: &Settings,
    progress: &mut dyn Progress,
) -> Result<Outcome, rayon::ThreadPoolBuildError> {
    let pool = rayon::ThreadPoolBuilder::new().num_threads(settings.threads).build()?;
    let threads = pool.current_num_threads();
    let count = job.sources.len();
    let Job { sources, chunk_size, interrupted } = job;
    let (sender, messages) = sync_channel(threads + 1);
    let (used, spare) = sync_channel(2 * threads + 2);
    // Not a scoped thread: one that waits for a pipe nobody writes to must not keep an interrupted run from ending.
    std::thread::spawn(move || read_all(sources, chunk_size, spare, &sender));
    let crew = Crew {
        messages: Mutex::new(messages),
        used,
        stop: AtomicBool::new(false),
        settings,
        tallies: Mutex::default(),
        shapes: OnceLock::new(),
    };
    let mut merging = Merging {
        outcome: Outcome { by_source: vec![SourceLines::default(); count], ..Outcome::default() },
        roster: Roster::new(settings.most_shapes),
        settings,
        progress,
    };
    pool.in_place_scope(|scope| {
        let (done, results) = channel();
        for _ in 0..threads {
            let done = done.clone();
            scope.spawn(|_| crew.work(done));
        }
        drop(done);
        merging.merge_all(&results, interrupted, &crew);
    });
    let mut outcome = merging.outcome;
    outcome.total.finish_source(&mut outcome.tallies, settings);
    for tallies in crew.tallies.into_inner().unwrap_or_else(PoisonError::into_inner) {
        outcome.tallies.merge(tallies);
    }
    if let Some(shapes) = crew.shapes.get() {
        outcome.tallies.fold(shapes);
    }
    Ok(outcome)
}

/// What the threads that scan share.
struct Crew<'a> {
    messages: Mutex<Receiver<Numbered<Message>>>,
    /// Buffers to be read into again.
    used: SyncSender<Vec<u8>>,
    /// Whatever has not been begun is left.
    stop: AtomicBool,
    settings: &'a Settings,
    tallies: Mutex<Vec<Tallies>>,
    /// The shapes that are told apart, once there are as many as may be.
    shapes: OnceLock<FxHashSet<Fingerprint>>,
}

impl Crew<'_> {
    /// One thread's work: messages as they come, until there are no more.
    fn work(&self, done: Sender<Numbered<Done>>) {
        let mut worker = Worker::default();
        while !self.stop.load(Ordering::Relaxed) {
            let next = self.messages.lock().unwrap_or_else(PoisonError::into_inner).recv_timeout(PATIENCE);
            match next {
                Ok((number, message)) => {
                    if done.send((number, self.scanned(message, &mut worker))).is_err() {
                        break;
                    }
                }
                Err(RecvTimeoutError::Timeout) => {}
                Err(RecvTimeoutError::Disconnected) => break,
            }
        }
        self.tallies.lock().unwrap_or_else(PoisonError::into_inner).push(worker.tallies);
    }

    fn scanned(&self, message: Message, worker: &mut Worker) -> Done {
        match message {
            Message::Block(block, process) => {
                let part = Box::new(scan(&block, process, self.settings, worker));
                if let Some(shapes) = self.shapes.get() {
                    worker.settle(shapes);
                }
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
            Message::EndOfSource => Done::EndOfSource,
        }
    }
}

/// How long nothing happens before an interrupt is looked for.
const PATIENCE: Duration = Duration::from_millis(50);

/// Puts results together in the order of the input.
struct Merging<'a> {
    outcome: Outcome,
    roster: Roster,
    settings: &'a Settings,
    progress: &'a mut dyn Progress,
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
        }
    }

    fn merge(&mut self, done: Done, crew: &Crew<'_>) {
        let Self { outcome, roster, settings, progress } = self;
        match done {
            Done::Scanned { source, bytes, beginning, mut part } => {
                if let Some(all) = roster.admit(std::mem::take(&mut part.newcomers)) {
                    crew.shapes.get_or_init(|| all.clone());
                }
                outcome.by_source[source.0 as usize].add(&beginning, &part.counts);
                outcome.total.merge(*part, &mut outcome.tallies, settings);
                progress.advanced(source, bytes);
            }
            Done::Failure(error) => outcome.failures.push(error),
            Done::EndOfSource => outcome.total.finish_source(&mut outcome.tallies, settings),
        }
    }
}

/// Sends messages with their numbers.
struct Numbering<'a> {
    sender: &'a SyncSender<Numbered<Message>>,
    next: u64,
}

impl Numbering<'_> {
    /// `None` when nobody listens any more.
    fn send(&mut self, message: Message) -> Option<()> {
        self.sender.send((self.next, message)).ok()?;
        self.next += 1;
        Some(())
    }
}

/// Ends early when nobody listens any more.
fn read_all(
    sources: Vec<Source>,
    chunk_size: usize,
    mut spare: Receiver<Vec<u8>>,
    sender: &SyncSender<Numbered<Message>>,
) -> Option<()> {
    let mut sender = Numbering { sender, next: 0 };
    for (i, source) in sources.into_iter().enumerate() {
        let id = SourceId(u32::try_from(i).unwrap_or(u32::MAX));
        spare = read_source(source, id, chunk_size, spare, &mut sender)?;
        sender.send(Message::EndOfSource)?;
    }
    Some(())
}

/// Reads one source; the receiver of spare buffers comes back for the next one.
fn read_source(
    source: Source,
    id: SourceId,
    chunk_size: usize,
    spare: Receiver<Vec<u8>>,
    sender: &mut Numbering<'_>,
) -> Option<Receiver<Vec<u8>>> {
    let Source { input, opened } = source;
    let chunks = match opened {
        Some(reader) => Ok(Chunks::new(input.name().to_owned(), id, reader, chunk_size)),
        None => input.chunks(id, chunk_size),
    };
    let chunks = match chunks {
        Ok(chunks) => chunks,
        Err(error) => {
            sender.send(Message::Failure(error))?;
            return Some(spare);
        }
    };
    let mut process = Process::default();
    let mut blocks = Blocks::new(chunks.reusing(spare));
    for blocked in &mut blocks {
        sender.send(match blocked {
            Ok(Blocked::Block(block)) => {
                let before = process;
                learn(&mut process, &block);
                Message::Block(block, before)
            }
            Ok(Blocked::Oversize { position, length, lines }) => Message::Oversize(position, length, lines),
            Err(error) => Message::Failure(error),
        })?;
    }
    blocks.into_spare()
}

/// Messages that tell about the process hold one of these texts. Blocks are scanned side by side, so what an earlier block
/// tells must be known before: a search for a few bytes costs next to nothing.
const TELLING: &str = r"buildInfo|Options set by command line|SERVER RESTARTED|db version v|\] options: \{";

fn learn(process: &mut Process, block: &Block) {
    static TEXTS: LazyLock<Regex> = LazyLock::new(|| Regex::new(TELLING).expect("the pattern is a constant and valid"));
    for found in TEXTS.find_iter(&block.chunk.bytes) {
        if let Record::Other(fact) = read_record(block.record_at(found.start())) {
            process.learn(&fact);
        }
    }
}
