//! Hands out what the sources hold, in numbered batches, to the threads that scan. Where no input can keep anybody waiting,
//! whoever is free reads the next block itself: what it reads is in its core's cache when it scans it. Else a thread of its own
//! reads (with `--follow` one for each source) and sends what it has over a bounded channel, so that an interrupted run need not
//! wait for a pipe that nobody writes to.

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError, SyncSender, sync_channel};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::Duration;

use crate::input::{Chunks, Generations, InputError};

use super::reading::{Framing, Message, Reading, Step, source_id};
use super::run::Source;

/// Something with its place in the order of the input, from 0 on.
pub type Numbered<T> = (u64, T);

/// What one thread gets at once.
pub type Batch = Vec<Message>;

/// Takes a lock: a thread that has died holding one leaves nothing half done.
pub fn locked<T>(shared: &Mutex<T>) -> MutexGuard<'_, T> {
    shared.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Where threads get their work.
pub struct Supply {
    form: Form,
    /// Nothing more is handed out.
    is_closed: AtomicBool,
}

enum Form {
    Turns(Box<Turns>),
    Channel(Channel),
}

impl Supply {
    /// What `sources` hold, one after the other.
    #[must_use]
    pub fn of(sources: Vec<Source>, chunk_size: usize, threads: usize) -> Self {
        let form = if sources.iter().any(|source| source.input.may_block()) {
            Form::Channel(Channel::new(sources, chunk_size, threads, read_all))
        } else {
            Form::Turns(Box::new(Turns::new(sources, chunk_size)))
        };
        Self { form, is_closed: AtomicBool::new(false) }
    }

    /// What is written to `sources`, side by side.
    #[must_use]
    pub fn following(sources: Vec<Source>, chunk_size: usize, threads: usize) -> Self {
        let form = Form::Channel(Channel::new(sources, chunk_size, threads, follow_all));
        Self { form, is_closed: AtomicBool::new(false) }
    }

    /// How many of so many threads are left to scan: one of them reads, if a thread of its own does, and one scans at least.
    #[must_use]
    pub fn left_of(&self, threads: usize) -> usize {
        match self.form {
            Form::Turns(_) => threads,
            Form::Channel(_) => threads.saturating_sub(1).max(1),
        }
    }

    /// The next batch. `None` when nothing more comes, or nothing more is wanted. Buffers that the caller has done with are
    /// read into again.
    pub fn next(&self, spare: &mut Vec<Vec<u8>>) -> Option<Numbered<Batch>> {
        match &self.form {
            _ if self.is_closed() => None,
            Form::Turns(turns) => turns.next(spare),
            Form::Channel(channel) => channel.next(spare, &self.is_closed),
        }
    }

    /// Whatever has not been handed out is left.
    pub fn close(&self) {
        self.is_closed.store(true, Ordering::Relaxed);
    }

    /// Whether the rest is left.
    #[must_use]
    pub fn is_closed(&self) -> bool {
        self.is_closed.load(Ordering::Relaxed)
    }
}

/// Threads read in turns.
struct Turns {
    reading: Mutex<Reading>,
    /// What passes over the lines, and the number of the next batch.
    framing: Mutex<Numbered<Framing>>,
}

impl Turns {
    fn new(sources: Vec<Source>, chunk_size: usize) -> Self {
        let framing = Framing::new(source_id(0), None);
        Self { reading: Mutex::new(Reading::new(sources, chunk_size)), framing: Mutex::new((0, framing)) }
    }

    /// The second lock is taken before the first is let go, so the order of reading is that of the numbers, while one thread
    /// reads and another passes over the lines of the block before.
    fn next(&self, spare: &mut Vec<Vec<u8>>) -> Option<Numbered<Batch>> {
        let mut reading = locked(&self.reading);
        let steps = reading.several(spare);
        if steps.is_empty() {
            return None;
        }
        let mut framing = locked(&self.framing);
        drop(reading);
        let (number, framing) = &mut *framing;
        let mut batch = Batch::new();
        steps.into_iter().for_each(|step| framing.take(step, &mut batch));
        *number += 1;
        Some((*number - 1, batch))
    }
}

/// Threads are sent what others read.
struct Channel {
    batches: Mutex<Receiver<Numbered<Batch>>>,
    /// Buffers to be read into again.
    used: SyncSender<Vec<u8>>,
}

/// How sources are read by threads that nobody waits for.
type Detached = fn(Vec<Source>, usize, Receiver<Vec<u8>>, Numbering) -> Option<()>;

impl Channel {
    fn new(sources: Vec<Source>, chunk_size: usize, threads: usize, read: Detached) -> Self {
        let (sender, batches) = sync_channel(threads + 1);
        let (used, spare) = sync_channel(2 * threads + 2);
        let sender = Numbering { sender, next: Arc::default() };
        // Not a scoped thread: one that waits for a pipe nobody writes to must not keep an interrupted run from ending.
        thread::spawn(move || read(sources, chunk_size, spare, sender));
        Self { batches: Mutex::new(batches), used }
    }

    fn next(&self, spare: &mut Vec<Vec<u8>>, is_closed: &AtomicBool) -> Option<Numbered<Batch>> {
        /// How long nothing comes before it is looked whether the rest is wanted.
        const PATIENCE: Duration = Duration::from_millis(50);
        for buffer in spare.drain(..) {
            // If nobody wants it, it is let go.
            let _ = self.used.try_send(buffer);
        }
        while !is_closed.load(Ordering::Relaxed) {
            match locked(&self.batches).recv_timeout(PATIENCE) {
                Ok(batch) => return Some(batch),
                Err(RecvTimeoutError::Timeout) => {}
                Err(RecvTimeoutError::Disconnected) => break,
            }
        }
        None
    }
}

/// Sends batches with their numbers.
#[derive(Clone)]
struct Numbering {
    sender: SyncSender<Numbered<Batch>>,
    next: Arc<AtomicU64>,
}

impl Numbering {
    /// Sends what `framing` makes of a step. `None` when nobody listens any more.
    fn step(&self, step: Step, framing: &mut Framing) -> Option<()> {
        let mut batch = Batch::new();
        framing.take(step, &mut batch);
        self.send(batch)
    }

    fn send(&self, batch: Batch) -> Option<()> {
        if batch.is_empty() {
            return Some(());
        }
        self.sender.send((self.next.fetch_add(1, Ordering::Relaxed), batch)).ok()
    }
}

/// Reads one source after the other. Ends early when nobody listens any more.
fn read_all(sources: Vec<Source>, chunk_size: usize, used: Receiver<Vec<u8>>, sender: Numbering) -> Option<()> {
    let mut reading = Reading::new(sources, chunk_size);
    let mut framing = Framing::new(source_id(0), None);
    let mut spare = Vec::new();
    while let Some(step) = reading.next(&mut spare) {
        sender.step(step, &mut framing)?;
        spare.extend(used.try_iter());
    }
    Some(())
}

/// Reads sources side by side and waits for more. What comes slowly needs no buffers again.
fn follow_all(sources: Vec<Source>, chunk_size: usize, _used: Receiver<Vec<u8>>, sender: Numbering) -> Option<()> {
    for (place, source) in sources.into_iter().enumerate() {
        let (name, own) = (source.input.name().to_owned(), sender.clone());
        let mut framing = Framing::new(source_id(place), source.role);
        let begun = thread::Builder::new().spawn(move || {
            follow_source(source, chunk_size, &mut framing, &own)?;
            own.step(Step::End(source_id(place)), &mut framing)
        });
        if let Err(source) = begun {
            let failure = Message::Failure(InputError::Unreadable { name, source });
            sender.send(vec![failure, Message::EndOfSource(source_id(place))])?;
        }
    }
    Some(())
}

fn follow_source(source: Source, chunk_size: usize, framing: &mut Framing, sender: &Numbering) -> Option<()> {
    let Source { input, opened, .. } = source;
    let generations = match opened {
        Some(reader) => Generations::Once(Some(reader)),
        None => match Generations::of(&input) {
            Ok(generations) => generations,
            Err(error) => return sender.step(Step::Failure(error), framing),
        },
    };
    for reader in generations {
        for piece in Chunks::new(input.name().to_owned(), reader, chunk_size) {
            sender.step(piece.map_or_else(Step::Failure, Step::Piece), framing)?;
        }
        // A process goes on when its log is rotated; a new one says so.
        let mut rest = Batch::new();
        framing.end_log(&mut rest);
        sender.send(rest)?;
    }
    Some(())
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;
    use std::io::{Cursor, Read};
    use std::path::Path;

    use crate::input::Input;

    use super::*;

    const FILES: usize = 6;

    fn text(file: usize) -> String {
        (0..400 + file).map(|line| format!("line {line} of {file}\n")).collect()
    }

    /// What several threads are handed out together, as text, in the order of the numbers.
    fn handed_out(supply: &Supply, threads: usize) -> String {
        let batches = Mutex::new(BTreeMap::new());
        thread::scope(|scope| {
            for _ in 0..threads {
                scope.spawn(|| {
                    let mut spare = Vec::new();
                    while let Some((number, batch)) = supply.next(&mut spare) {
                        let told: String = batch.into_iter().map(|message| told(message, &mut spare)).collect();
                        assert!(locked(&batches).insert(number, told).is_none(), "{number} twice");
                    }
                });
            }
        });
        let batches = batches.into_inner().expect("no thread has died");
        assert!(batches.keys().copied().eq(0..batches.len() as u64), "numbers without a gap");
        batches.into_values().collect()
    }

    fn told(message: Message, spare: &mut Vec<Vec<u8>>) -> String {
        match message {
            Message::Block(block, _) => {
                let text = String::from_utf8_lossy(&block.lines.bytes).into_owned();
                spare.push(block.lines.bytes);
                text
            }
            Message::EndOfSource(source) => format!("end of {}\n", source.0),
            Message::Oversize(..) => "oversize\n".to_owned(),
            Message::Failure(error) => format!("{error}\n"),
        }
    }

    #[test]
    fn several_threads_are_handed_out_everything_once_and_numbered_in_order() {
        let folder = tempfile::tempdir().expect("a folder");
        let file = |i: usize| {
            let path = folder.path().join(i.to_string());
            std::fs::write(&path, text(i)).expect("written");
            Source { input: Input::file(&path), opened: None, role: None }
        };
        let pipe = |i: usize| {
            let reader: Box<dyn Read + Send> = Box::new(Cursor::new(text(i).into_bytes()));
            Source { input: Input::file(Path::new("no regular file")), opened: Some(reader), role: None }
        };
        let expected: String = (0..FILES).map(|i| format!("{}end of {i}\n", text(i))).collect();
        for (threads, chunk_size) in [(1, 100), (4, 64), (4, 5000), (3, 1 << 20)] {
            let files = Supply::of((0..FILES).map(file).collect(), chunk_size, threads);
            assert!(matches!(files.form, Form::Turns(_)));
            assert_eq!(files.left_of(threads), threads);
            assert_eq!(handed_out(&files, threads), expected, "{threads} threads, {chunk_size}");
            let pipes = Supply::of((0..FILES).map(pipe).collect(), chunk_size, threads);
            assert!(matches!(pipes.form, Form::Channel(_)));
            assert_eq!(pipes.left_of(threads), (threads - 1).max(1), "one reads");
            assert_eq!(handed_out(&pipes, threads), expected, "pipes, {threads} threads, {chunk_size}");
        }
    }

    #[test]
    fn nothing_is_handed_out_by_a_supply_that_is_closed() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("a.log");
        std::fs::write(&path, text(0)).expect("written");
        let supply = Supply::of(vec![Source { input: Input::file(&path), opened: None, role: None }], 100, 1);
        assert!(supply.next(&mut Vec::new()).is_some());
        supply.close();
        assert!(supply.next(&mut Vec::new()).is_none());
    }
}
