//! Chunks through rayon and back in order: one thread reads (and inflates), batches of chunks are scanned in parallel,
//! parts are merged in the order of the input. What is in memory at a time is a few batches, whatever the input's size.

use std::io::Read;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError, SyncSender, sync_channel};
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use memchr::memmem;
use rayon::prelude::*;

use crate::input::{Chunks, Input, InputError};
use crate::syntax::{Record, read_record};
use crate::text::{RecordPos, SourceId};

use super::blocks::{Block, Blocked, Blocks};
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
    /// Blocks of one source, each with what is known about the process at its start.
    Batch(Vec<(Block, Process)>),
    /// A line or document too long to be kept, its length and its lines.
    Oversize(RecordPos, u64, u64),
    Failure(InputError),
    EndOfSource,
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
    let pool = rayon::ThreadPoolBuilder::new().num_threads(settings.threads).build()?;
    let batch_size = 4 * pool.current_num_threads();
    let count = job.sources.len();
    let Job { sources, chunk_size, interrupted } = job;
    let (sender, receiver) = sync_channel(2);
    // Not a scoped thread: one that waits for a pipe nobody writes to must not keep an interrupted run from ending.
    std::thread::spawn(move || read_all(sources, chunk_size, batch_size, &sender));
    let workers: Vec<Mutex<Worker>> = (0..pool.current_num_threads()).map(|_| Mutex::default()).collect();
    let scanned = |(block, process): &(Block, Process)| {
        // Each thread of the pool has its own, so nobody ever waits here.
        let worker = &workers[rayon::current_thread_index().unwrap_or(0)];
        scan(block, *process, settings, &mut worker.lock().unwrap_or_else(PoisonError::into_inner))
    };
    let mut outcome = Outcome { by_source: vec![SourceLines::default(); count], ..Outcome::default() };
    while let Some(message) = next(&receiver, interrupted, &mut outcome.interrupted) {
        match message {
            Message::Batch(batch) => {
                let parts: Vec<Part> = pool.install(|| batch.par_iter().map(scanned).collect());
                for ((Block { chunk, .. }, _), part) in batch.iter().zip(parts) {
                    outcome.by_source[chunk.pos.source.0 as usize].add(&chunk.bytes, &part.counts);
                    outcome.total.merge(part, &mut outcome.tallies, settings);
                    progress.advanced(chunk.pos.source, chunk.bytes.len() as u64);
                }
            }
            Message::Oversize(position, length, lines) => {
                let part = oversize(position, length, lines);
                outcome.by_source[position.source.0 as usize].add(&[], &part.counts);
                outcome.total.merge(part, &mut outcome.tallies, settings);
            }
            Message::Failure(error) => outcome.failures.push(error),
            Message::EndOfSource => outcome.total.finish_source(&mut outcome.tallies, settings),
        }
    }
    outcome.total.finish_source(&mut outcome.tallies, settings);
    for worker in workers {
        outcome.tallies.merge(worker.into_inner().unwrap_or_else(PoisonError::into_inner).tallies);
    }
    Ok(outcome)
}

/// The next message, unless all is read or the run was interrupted.
fn next(receiver: &Receiver<Message>, interrupted: &AtomicBool, noticed: &mut bool) -> Option<Message> {
    loop {
        if interrupted.load(Ordering::Relaxed) {
            *noticed = true;
            return None;
        }
        match receiver.recv_timeout(Duration::from_millis(50)) {
            Ok(message) => return Some(message),
            Err(RecvTimeoutError::Timeout) => {}
            Err(RecvTimeoutError::Disconnected) => return None,
        }
    }
}

/// Ends early when nobody listens any more.
fn read_all(sources: Vec<Source>, chunk_size: usize, batch_size: usize, sender: &SyncSender<Message>) -> Option<()> {
    for (i, source) in sources.into_iter().enumerate() {
        let id = SourceId(u32::try_from(i).unwrap_or(u32::MAX));
        read_source(source, id, chunk_size, batch_size, sender)?;
        sender.send(Message::EndOfSource).ok()?;
    }
    Some(())
}

fn read_source(
    source: Source,
    id: SourceId,
    chunk_size: usize,
    batch_size: usize,
    sender: &SyncSender<Message>,
) -> Option<()> {
    let Source { input, opened } = source;
    let chunks = match opened {
        Some(reader) => Ok(Chunks::new(input.name().to_owned(), id, reader, chunk_size)),
        None => input.chunks(id, chunk_size),
    };
    let chunks = match chunks {
        Ok(chunks) => chunks,
        Err(error) => return sender.send(Message::Failure(error)).ok(),
    };
    let mut process = Process::default();
    let mut batch = Vec::with_capacity(batch_size);
    for blocked in Blocks::new(chunks) {
        let rest = match blocked {
            Ok(Blocked::Block(block)) => {
                let before = process;
                learn(&mut process, &block);
                batch.push((block, before));
                None
            }
            Ok(Blocked::Oversize { position, length, lines }) => Some(Message::Oversize(position, length, lines)),
            Err(error) => Some(Message::Failure(error)),
        };
        if batch.len() == batch_size || rest.is_some() {
            let full = std::mem::replace(&mut batch, Vec::with_capacity(batch_size));
            sender.send(Message::Batch(full)).ok()?;
        }
        if let Some(message) = rest {
            sender.send(message).ok()?;
        }
    }
    sender.send(Message::Batch(batch)).ok()
}

/// Messages that tell about the process hold one of these texts. Chunks are scanned side by side, so what an earlier chunk
/// tells must be known before: a search for a few bytes costs next to nothing.
const TELLING: [&[u8]; 3] = [b"buildInfo", b"Options set by command line", b"SERVER RESTARTED"];

fn learn(process: &mut Process, block: &Block) {
    let bytes = &block.chunk.bytes;
    let mut found: Vec<usize> = TELLING.iter().flat_map(|needle| memmem::find_iter(bytes, needle)).collect();
    found.sort_unstable();
    for at in found {
        if let Record::Other(fact) = read_record(block.record_at(at)) {
            process.learn(&fact);
        }
    }
}
