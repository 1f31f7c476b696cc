//! Sources to messages, in two stages that may lie on two threads: reading (and inflating) bytes, and passing over their lines
//! once. What an earlier block tells about the process goes with each block. Who reads is decided in `supply.rs`; nothing is
//! judged here.

use std::iter::Enumerate;
use std::sync::LazyLock;
use std::vec::IntoIter;

use regex::bytes::Regex;

use crate::input::{Chunks, InputError, Piece};
use crate::syntax::{Record, Role, read_record};
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

/// A step of reading.
pub enum Step {
    /// A source was opened: its number, and the role of its process, if that is declared.
    Begin(SourceId, Option<Role>),
    /// More of it.
    Piece(Piece),
    /// A source that cannot be opened, or not be read to its end.
    Failure(InputError),
    /// Nothing more of it comes.
    End(SourceId),
}

/// Bytes: sources, read one after the other.
pub struct Reading {
    sources: Enumerate<IntoIter<Source>>,
    chunk_size: usize,
    /// The source that is read, and what is to come of it, if it could be opened.
    current: Option<(SourceId, Option<Chunks>)>,
}

/// The number of a source.
pub fn source_id(place: usize) -> SourceId {
    SourceId(u32::try_from(place).unwrap_or(u32::MAX))
}

impl Reading {
    /// Nothing has been opened.
    #[must_use]
    pub fn new(sources: Vec<Source>, chunk_size: usize) -> Self {
        Self { sources: sources.into_iter().enumerate(), chunk_size, current: None }
    }

    /// What comes next, in one of the `spare` buffers, if there are any. `None` when all sources have ended.
    pub fn next(&mut self, spare: &mut Vec<Vec<u8>>) -> Option<Step> {
        let Some((id, chunks)) = &mut self.current else {
            let (place, source) = self.sources.next()?;
            return Some(self.open(source_id(place), source));
        };
        let step = match chunks.as_mut().and_then(|chunks| chunks.read(spare)) {
            Some(Ok(piece)) => Step::Piece(piece),
            Some(Err(error)) => Step::Failure(error),
            None => {
                let end = Step::End(*id);
                self.current = None;
                end
            }
        };
        Some(step)
    }

    /// A few steps at once: about as much as a chunk holds. Empty when all sources have ended.
    pub fn several(&mut self, spare: &mut Vec<Vec<u8>>) -> Vec<Step> {
        const MOST: usize = 64;
        let (mut steps, mut read) = (Vec::new(), 0);
        while read < self.chunk_size && steps.len() < MOST {
            let Some(step) = self.next(spare) else { break };
            read += match &step {
                Step::Piece(Piece::Lines(chunk)) => chunk.bytes.len(),
                Step::Piece(Piece::Oversize { .. }) => self.chunk_size,
                Step::Begin(..) | Step::Failure(_) | Step::End(_) => 0,
            };
            steps.push(step);
        }
        steps
    }

    fn open(&mut self, id: SourceId, source: Source) -> Step {
        let Source { input, opened, role } = source;
        let chunks = match opened {
            Some(reader) => Ok(Chunks::new(input.name().to_owned(), reader, self.chunk_size)),
            None => input.chunks(self.chunk_size),
        };
        let (chunks, step) = match chunks {
            Ok(chunks) => (Some(chunks), Step::Begin(id, role)),
            Err(error) => (None, Step::Failure(error)),
        };
        self.current = Some((id, chunks));
        step
    }
}

/// Lines: which of them make a record, and what they tell about the process.
pub struct Framing {
    source: SourceId,
    blocks: Blocks,
    process: Process,
}

impl Framing {
    /// Nothing of the source has been read.
    #[must_use]
    pub fn new(source: SourceId, role: Option<Role>) -> Self {
        let process = Process { declared: role, ..Process::default() };
        Self { source, blocks: Blocks::new(source), process }
    }

    /// Takes in a step; adds what is whole by that.
    pub fn take(&mut self, step: Step, messages: &mut Vec<Message>) {
        match step {
            Step::Begin(source, role) => *self = Self::new(source, role),
            Step::Piece(piece) => {
                self.blocks.take(piece);
                self.hand_on(messages);
            }
            Step::Failure(error) => {
                self.end_log(messages);
                messages.push(Message::Failure(error));
            }
            Step::End(source) => {
                self.end_log(messages);
                messages.push(Message::EndOfSource(source));
            }
        }
    }

    /// What comes next of the source begins a new log of the same process.
    pub fn end_log(&mut self, messages: &mut Vec<Message>) {
        self.blocks.end();
        self.hand_on(messages);
        self.blocks = Blocks::new(self.source);
    }

    fn hand_on(&mut self, messages: &mut Vec<Message>) {
        for blocked in self.blocks.ready() {
            messages.push(match blocked {
                Blocked::Block(block) => {
                    let before = self.process;
                    learn(&mut self.process, &block);
                    Message::Block(block, before)
                }
                Blocked::Oversize { position, length, lines } => Message::Oversize(position, length, lines),
            });
        }
    }
}

/// Messages that tell about the process hold one of these texts. Blocks are scanned side by side, so what an earlier block
/// tells must be known before. Records that certainly tell nothing are not searched.
const TELLING: &str = r"buildInfo|Options set by command line|SERVER RESTARTED|db version v|\] options: \{";

fn learn(process: &mut Process, block: &Block) {
    static TEXTS: LazyLock<Regex> = LazyLock::new(|| Regex::new(TELLING).expect("the pattern is a constant and valid"));
    for stretch in block.stretches() {
        for found in TEXTS.find_iter(&block.lines.bytes[stretch.clone()]) {
            if let Record::Other(fact) = read_record(block.record_at(stretch.start + found.start())) {
                process.learn(&fact);
            }
        }
    }
}
