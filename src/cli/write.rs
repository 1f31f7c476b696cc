//! Files that appear whole or not at all.

use std::io::{BufWriter, Write};
use std::path::Path;

use anyhow::Context;

use crate::report::escape;

/// Writes beside the file and renames, so that nobody ever reads half of it. What is no regular file (a device, a pipe) is
/// written to as it is; a link keeps pointing where it does.
///
/// # Errors
/// If it cannot be written; the message names it.
pub fn write_file(path: &Path, write: impl FnOnce(&mut dyn Write) -> std::io::Result<()>) -> anyhow::Result<()> {
    replace(path, write).with_context(|| format!("cannot write `{}`", escape(&path.display().to_string())))
}

fn replace(path: &Path, write: impl FnOnce(&mut dyn Write) -> std::io::Result<()>) -> anyhow::Result<()> {
    let target = path.canonicalize().unwrap_or_else(|_| path.to_owned());
    let existing = target.metadata().ok();
    if existing.as_ref().is_some_and(|metadata| !metadata.is_file()) {
        let mut out = BufWriter::new(std::fs::File::options().write(true).open(&target)?);
        write(&mut out)?;
        return Ok(out.flush()?);
    }
    let mut name = target.file_name().context("not the name of a file")?.to_owned();
    name.push(format!(".{}.part", std::process::id()));
    let part = target.with_file_name(name);
    let written = std::fs::File::create_new(&part).map_err(anyhow::Error::from).and_then(|file| {
        let mut out = BufWriter::new(file);
        write(&mut out)?;
        out.flush()?;
        if let Some(metadata) = existing {
            std::fs::set_permissions(&part, metadata.permissions())?;
        }
        Ok(std::fs::rename(&part, &target)?)
    });
    if written.is_err() {
        // The half-written part is of no use to anybody; that it cannot be removed would be no news.
        let _ = std::fs::remove_file(&part);
    }
    written
}
