//! Sources to messages: one thread reads a source after the other, or, when they are followed, each has one of its own. What
//! an earlier block tells about the process goes with each block. Nothing is judged here.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc::{Receiver, SyncSender};
use std::sync::{Arc, LazyLock};
use std::thread::Builder;

use regex::bytes::Regex;

use crate::input::{Chunks, Generations, InputError};
use crate::syntax::{Record, read_record};
use crate::text::{RecordPos, SourceId};

use super::blocks::{Block, Blocked, Blocks};
use super::run::Source;
use super::scan::Process;

/// What reading comes upon.
pub enum Message {
    /// Lines of one source, with what is known about the process at their start.
    Block(Block, Process),
    /// A line or document too long to be kept, its length and its lines.
    Oversize(RecordPos, u64, u64),
    /// A source that cannot be read, or not to its end.
    Failure(InputError),
    /// Nothing more of it comes.
    EndOfSource(SourceId),
}

/// Messages in the order of the input, numbered from 0.
pub type Numbered<T> = (u64, T);

/// How sources become messages.
pub type Reading = fn(Vec<Source>, usize, Receiver<Vec<u8>>, Numbering) -> Option<()>;

/// Sends messages with their numbers.
#[derive(Clone)]
pub struct Numbering {
    sender: SyncSender<Numbered<Message>>,
    next: Arc<AtomicU64>,
}

impl Numbering {
    /// Numbers from 0.
    #[must_use]
    pub fn new(sender: SyncSender<Numbered<Message>>) -> Self {
        Self { sender, next: Arc::default() }
    }

    /// `None` when nobody listens any more.
    fn send(&self, message: Message) -> Option<()> {
        self.sender.send((self.next.fetch_add(1, Ordering::Relaxed), message)).ok()
    }
}

fn numbered(sources: Vec<Source>) -> impl Iterator<Item = (SourceId, Source)> {
    sources.into_iter().enumerate().map(|(i, source)| (SourceId(u32::try_from(i).unwrap_or(u32::MAX)), source))
}

/// Reads one source after the other. Ends early when nobody listens any more.
pub fn read_all(
    sources: Vec<Source>,
    chunk_size: usize,
    mut spare: Receiver<Vec<u8>>,
    sender: Numbering,
) -> Option<()> {
    for (id, source) in numbered(sources) {
        spare = read_source(source, id, chunk_size, spare, &sender)?;
        sender.send(Message::EndOfSource(id))?;
    }
    Some(())
}

/// Reads sources side by side and waits for more. What comes slowly needs no buffers again.
pub fn follow_all(sources: Vec<Source>, chunk_size: usize, _spare: Receiver<Vec<u8>>, sender: Numbering) -> Option<()> {
    for (id, source) in numbered(sources) {
        let (name, own) = (source.input.name().to_owned(), sender.clone());
        let begun = Builder::new().spawn(move || follow_source(source, id, chunk_size, &own));
        if let Err(source) = begun {
            sender.send(Message::Failure(InputError::Unreadable { name, source }))?;
            sender.send(Message::EndOfSource(id))?;
        }
    }
    Some(())
}

fn follow_source(source: Source, id: SourceId, chunk_size: usize, sender: &Numbering) -> Option<()> {
    let Source { input, opened, role } = source;
    let generations = match opened {
        Some(reader) => Ok(Generations::Once(Some(reader))),
        None => Generations::of(&input),
    };
    match generations {
        Ok(generations) => {
            // A process goes on when its log is rotated; a new one says so.
            let mut process = Process { declared: role, ..Process::default() };
            for reader in generations {
                let chunks = Chunks::new(input.name().to_owned(), id, reader, chunk_size);
                send_blocks(&mut Blocks::new(chunks), &mut process, sender)?;
            }
        }
        Err(error) => sender.send(Message::Failure(error))?,
    }
    sender.send(Message::EndOfSource(id))
}

/// Reads one source; the receiver of spare buffers comes back for the next one.
fn read_source(
    source: Source,
    id: SourceId,
    chunk_size: usize,
    spare: Receiver<Vec<u8>>,
    sender: &Numbering,
) -> Option<Receiver<Vec<u8>>> {
    let Source { input, opened, role } = source;
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
    let mut blocks = Blocks::new(chunks.reusing(spare));
    send_blocks(&mut blocks, &mut Process { declared: role, ..Process::default() }, sender)?;
    blocks.into_spare()
}

fn send_blocks(blocks: &mut Blocks, process: &mut Process, sender: &Numbering) -> Option<()> {
    for blocked in blocks {
        sender.send(match blocked {
            Ok(Blocked::Block(block)) => {
                let before = *process;
                learn(process, &block);
                Message::Block(block, before)
            }
            Ok(Blocked::Oversize { position, length, lines }) => Message::Oversize(position, length, lines),
            Err(error) => Message::Failure(error),
        })?;
    }
    Some(())
}

/// Messages that tell about the process hold one of these texts. Blocks are scanned side by side, so what an earlier block
/// tells must be known before. Records that certainly tell nothing are not searched.
const TELLING: &str = r"buildInfo|Options set by command line|SERVER RESTARTED|db version v|\] options: \{";

fn learn(process: &mut Process, block: &Block) {
    static TEXTS: LazyLock<Regex> = LazyLock::new(|| Regex::new(TELLING).expect("the pattern is a constant and valid"));
    for stretch in block.stretches() {
        for found in TEXTS.find_iter(&block.chunk.bytes[stretch.clone()]) {
            if let Record::Other(fact) = read_record(block.record_at(stretch.start + found.start())) {
                process.learn(&fact);
            }
        }
    }
}
