//! Inputs that are read while they are written, as `tail -F` does: a file is read to its end and waited for; one that takes its
//! place (rotation) is read from its beginning, and so is what is left of one that was truncated. A file that is truncated and
//! grows beyond its old length within one [`POLL`] goes unnoticed.
//!
//! A reader that has delivered something and finds no more fails with `WouldBlock` after [`IDLE`]: whoever reads can go on with
//! what there is, and read again. It says that nothing more comes (`Ok(0)`) only when the file has been replaced, or the pipe
//! closed.

use std::fs::{File, Metadata};
use std::io::{self, Read};
use std::path::PathBuf;
use std::sync::mpsc::{Receiver, RecvTimeoutError, SyncSender, sync_channel};
use std::thread;
use std::time::{Duration, Instant};

use super::error::InputError;
use super::open::Input;

/// How often it is looked whether a file has grown or was replaced.
const POLL: Duration = Duration::from_millis(50);
/// What has been read is held back for so long, in the hope of more.
const IDLE: Duration = Duration::from_millis(200);
/// How much of a pipe is read at once, in bytes.
const BLOCK: usize = 64 * 1024;

/// What stands under the name of an input, one after the other: a file and those that take its place. Waits in
/// [`Iterator::next`] until there is one.
pub enum Generations {
    /// Read once: a pipe, or something compressed.
    Once(Option<Box<dyn Read + Send>>),
    /// A file that grows.
    Growing {
        /// Its name.
        path: PathBuf,
        /// The first one.
        opened: Option<File>,
    },
}

impl Generations {
    /// Follows `input`.
    ///
    /// # Errors
    /// If it is a file that cannot be opened. One that takes its place later is waited for.
    pub fn of(input: &Input) -> Result<Self, InputError> {
        let unreadable = |source| InputError::Unreadable { name: input.name().to_owned(), source };
        let Some(path) = input.path().filter(|path| path.is_file()) else {
            let piped = Piped::new(input.clone()).map_err(unreadable)?;
            return Ok(Self::Once(Some(Box::new(piped))));
        };
        if input.is_compressed()? {
            return Ok(Self::Once(Some(input.open()?)));
        }
        let opened = File::open(path).map_err(unreadable)?;
        Ok(Self::Growing { path: path.to_owned(), opened: Some(opened) })
    }
}

impl Iterator for Generations {
    type Item = Box<dyn Read + Send>;

    fn next(&mut self) -> Option<Self::Item> {
        let (path, mut opened) = match self {
            Self::Once(reader) => return reader.take(),
            Self::Growing { path, opened } => (path, opened.take()),
        };
        loop {
            if let Some(file) = opened {
                return Some(Box::new(Growing::new(path.clone(), file)));
            }
            opened = File::open(&*path).ok();
            if opened.is_none() {
                thread::sleep(POLL);
            }
        }
    }
}

/// Since when something that was delivered has not been told to be all for now.
#[derive(Default)]
struct Delivered(Option<Instant>);

impl Delivered {
    fn note(&mut self) {
        self.0.get_or_insert_with(Instant::now);
    }

    /// Whether it is time to go on with what was delivered; if so, that begins anew.
    fn is_due(&mut self) -> bool {
        self.0.take_if(|since| since.elapsed() >= IDLE).is_some()
    }
}

fn idle() -> io::Error {
    io::ErrorKind::WouldBlock.into()
}

/// A file that grows, until it is replaced.
struct Growing {
    path: PathBuf,
    file: File,
    position: u64,
    delivered: Delivered,
    is_replaced: bool,
}

impl Growing {
    fn new(path: PathBuf, file: File) -> Self {
        Self { path, file, position: 0, delivered: Delivered::default(), is_replaced: false }
    }

    /// Whether another file stands under the name, or less of this one than was read. While there is none (it was renamed
    /// and its writer has not noticed yet), this one goes on.
    fn was_replaced(&self) -> io::Result<bool> {
        let own = self.file.metadata()?;
        let named = self.path.metadata().ok();
        Ok(own.len() < self.position || named.is_some_and(|named| is_another(&named, &own, self.position)))
    }
}

#[cfg(unix)]
fn is_another(named: &Metadata, own: &Metadata, _read: u64) -> bool {
    use std::os::unix::fs::MetadataExt;
    (named.dev(), named.ino()) != (own.dev(), own.ino())
}

/// Files have no number there that could be asked for: a shorter one is another one.
#[cfg(not(unix))]
fn is_another(named: &Metadata, _own: &Metadata, read: u64) -> bool {
    named.len() < read
}

impl Read for Growing {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        loop {
            let count = self.file.read(buffer)?;
            if count > 0 {
                self.position += count as u64;
                self.delivered.note();
                return Ok(count);
            }
            // Something may have been written between its end and its replacement: only a second end is one.
            if self.is_replaced {
                return Ok(0);
            }
            self.is_replaced = self.was_replaced()?;
            if self.is_replaced {
                continue;
            }
            if self.delivered.is_due() {
                return Err(idle());
            }
            thread::sleep(POLL);
        }
    }
}

/// A pipe, read by a thread of its own, so that its writer need not be waited for.
struct Piped {
    blocks: Receiver<io::Result<Vec<u8>>>,
    block: io::Cursor<Vec<u8>>,
    delivered: Delivered,
}

impl Piped {
    fn new(input: Input) -> io::Result<Self> {
        let (sender, blocks) = sync_channel(2);
        thread::Builder::new().spawn(move || pass_on(&input, &sender))?;
        Ok(Self { blocks, block: io::Cursor::default(), delivered: Delivered::default() })
    }
}

/// Sends what `input` holds as it comes. Ends early when nobody listens any more.
fn pass_on(input: &Input, sender: &SyncSender<io::Result<Vec<u8>>>) -> Option<()> {
    let mut reader = match input.open() {
        Ok(reader) => reader,
        Err(error) => return sender.send(Err(cause(error))).ok(),
    };
    let mut buffer = vec![0; BLOCK];
    loop {
        match reader.read(&mut buffer) {
            Ok(0) => return Some(()),
            Ok(count) => sender.send(Ok(buffer[..count].to_vec())).ok()?,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return sender.send(Err(error)).ok(),
        }
    }
}

fn cause(error: InputError) -> io::Error {
    match error {
        InputError::Unreadable { source, .. } => source,
        other => io::Error::other(other),
    }
}

impl Read for Piped {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        loop {
            let count = self.block.read(buffer)?;
            if count > 0 || buffer.is_empty() {
                self.delivered.note();
                return Ok(count);
            }
            match self.blocks.recv_timeout(POLL) {
                Ok(block) => self.block = io::Cursor::new(block?),
                Err(RecvTimeoutError::Disconnected) => return Ok(0),
                Err(RecvTimeoutError::Timeout) if self.delivered.is_due() => return Err(idle()),
                Err(RecvTimeoutError::Timeout) => {}
            }
        }
    }
}
