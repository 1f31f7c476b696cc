//! One input: a file or standard input, decompressed if its first bytes say that it is gzip or zstd.

use std::fs::File;
use std::io::{self, BufReader, Cursor, Read};
use std::path::{Path, PathBuf};

use flate2::bufread::MultiGzDecoder;

use super::chunks::Chunks;
use super::error::InputError;

const GZIP: &[u8] = &[0x1f, 0x8b];
const ZSTD: &[u8] = &[0x28, 0xb5, 0x2f, 0xfd];
/// How much compressed data is read at once.
const COMPRESSED_BLOCK: usize = 128 * 1024;

/// One input of a run.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Input {
    name: String,
    path: Option<PathBuf>,
}

impl Input {
    /// Standard input, named `-`.
    #[must_use]
    pub fn stdin() -> Self {
        Self { name: "-".to_owned(), path: None }
    }

    /// A file, named as given.
    #[must_use]
    pub fn file(path: &Path) -> Self {
        Self { name: path.display().to_string(), path: Some(path.to_owned()) }
    }

    /// As reports name it.
    #[must_use]
    pub fn name(&self) -> &str {
        &self.name
    }

    /// The file's path; `None` for standard input.
    #[must_use]
    pub fn path(&self) -> Option<&Path> {
        self.path.as_deref()
    }

    /// What tells whether two inputs are the same file.
    pub(super) fn identity(&self) -> Option<PathBuf> {
        self.path.as_ref().map(|path| path.canonicalize().unwrap_or_else(|_| path.clone()))
    }

    /// The decompressed bytes.
    ///
    /// # Errors
    /// If it cannot be opened, or its first bytes cannot be read.
    pub fn open(&self) -> Result<Box<dyn Read + Send>, InputError> {
        let unreadable = |source| InputError::Unreadable { name: self.name.clone(), source };
        match &self.path {
            Some(path) if path.is_dir() => Err(unreadable(io::Error::other("is a directory"))),
            Some(path) => File::open(path).and_then(decompressed).map_err(unreadable),
            None => decompressed(io::stdin()).map_err(unreadable),
        }
    }

    /// Whether reading may have to wait for a writer: everything but a regular file, which standard input may be, too.
    #[must_use]
    pub fn may_block(&self) -> bool {
        !self.path().unwrap_or(Path::new("/dev/stdin")).is_file()
    }

    /// Whether its first bytes say that it is gzip or zstd.
    ///
    /// # Errors
    /// If it cannot be opened, or its first bytes cannot be read.
    pub(super) fn is_compressed(&self) -> Result<bool, InputError> {
        let Some(path) = &self.path else { return Ok(false) };
        let mut magic = Vec::with_capacity(ZSTD.len());
        let read = File::open(path).and_then(|file| file.take(ZSTD.len() as u64).read_to_end(&mut magic));
        read.map_err(|source| InputError::Unreadable { name: self.name.clone(), source })?;
        Ok(magic.starts_with(GZIP) || magic.starts_with(ZSTD))
    }

    /// The decompressed bytes in newline-aligned chunks of about `size` bytes.
    ///
    /// # Errors
    /// As [`Self::open`].
    pub fn chunks(&self, size: usize) -> Result<Chunks, InputError> {
        Ok(Chunks::new(self.name.clone(), self.open()?, size))
    }

    /// All decompressed bytes at once: for declarations, which are small.
    ///
    /// # Errors
    /// If it cannot be read to its end.
    pub fn read_all(&self) -> Result<Vec<u8>, InputError> {
        let mut bytes = Vec::new();
        let read = self.open()?.read_to_end(&mut bytes);
        read.map_err(|source| InputError::Unreadable { name: self.name.clone(), source })?;
        Ok(bytes)
    }
}

/// What `reader` holds, decompressed. Several gzip members or zstd frames in a row are one stream.
fn decompressed(mut reader: impl Read + Send + 'static) -> io::Result<Box<dyn Read + Send>> {
    let mut magic = Vec::with_capacity(ZSTD.len());
    reader.by_ref().take(ZSTD.len() as u64).read_to_end(&mut magic)?;
    let (is_gzip, is_zstd) = (magic.starts_with(GZIP), magic.starts_with(ZSTD));
    let whole = Cursor::new(magic).chain(reader);
    if is_gzip {
        return Ok(Box::new(MultiGzDecoder::new(BufReader::with_capacity(COMPRESSED_BLOCK, whole))));
    }
    if is_zstd {
        let buffered = BufReader::with_capacity(COMPRESSED_BLOCK, whole);
        return Ok(Box::new(zstd::stream::read::Decoder::with_buffer(buffered)?));
    }
    Ok(Box::new(whole))
}
