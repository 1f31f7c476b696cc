//! Files that appear whole or not at all.

use std::fs::{self, File};
use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};

use anyhow::Context;

use crate::report::escape;

/// Writes a file, so that nobody ever reads half of it.
///
/// # Errors
/// If it cannot be written; the message names it.
pub fn write_file(path: &Path, write: impl FnOnce(&mut dyn Write) -> io::Result<()>) -> anyhow::Result<()> {
    stage(path, write)?.map_or(Ok(()), Part::keep)
}

/// Writes beside the file; it takes the file's place when it is kept. What is no regular file (a device, a pipe) is written
/// to as it is; a link keeps pointing where it does.
///
/// # Errors
/// If it cannot be written; the message names it.
pub fn stage(path: &Path, write: impl FnOnce(&mut dyn Write) -> io::Result<()>) -> anyhow::Result<Option<Part>> {
    written(path, write).with_context(|| cannot_write(path))
}

fn cannot_write(path: &Path) -> String {
    format!("cannot write `{}`", escape(&path.display().to_string()))
}

fn written(path: &Path, write: impl FnOnce(&mut dyn Write) -> io::Result<()>) -> anyhow::Result<Option<Part>> {
    let target = path.canonicalize().unwrap_or_else(|_| path.to_owned());
    let existing = target.metadata().ok();
    if existing.as_ref().is_some_and(|metadata| !metadata.is_file()) {
        let mut out = BufWriter::new(File::options().write(true).open(&target)?);
        write(&mut out)?;
        out.flush()?;
        return Ok(None);
    }
    let mut name = target.file_name().context("not the name of a file")?.to_owned();
    name.push(format!(".{}.part", std::process::id()));
    let part = target.with_file_name(name);
    let mut out = BufWriter::new(File::create_new(&part)?);
    let part = Part { part, target };
    write(&mut out)?;
    out.flush()?;
    if let Some(metadata) = existing {
        fs::set_permissions(&part.part, metadata.permissions())?;
    }
    Ok(Some(part))
}

/// A file beside its place. Unless it is kept, it is removed.
#[must_use]
pub struct Part {
    part: PathBuf,
    target: PathBuf,
}

impl Part {
    /// Puts it into its place.
    ///
    /// # Errors
    /// If it cannot be renamed; the message names the place.
    pub fn keep(self) -> anyhow::Result<()> {
        fs::rename(&self.part, &self.target).with_context(|| cannot_write(&self.target))
    }
}

impl Drop for Part {
    fn drop(&mut self) {
        // Once renamed it is no longer there; that it cannot be removed would be no news.
        let _ = fs::remove_file(&self.part);
    }
}
