//! `shardlint completions` and `shardlint man`: made from the same definitions that read the command line.

use std::io::{self, Write, stdout};
use std::path::Path;

use anyhow::Context;
use clap::CommandFactory;
use clap_complete::Shell;

use crate::report::escape;

use super::args::Cli;
use super::exit;

const NAME: &str = "shardlint";

/// Writes the completions for a shell.
///
/// # Errors
/// If `out` cannot be written.
pub fn completions(shell: Shell, out: &mut dyn Write) -> io::Result<()> {
    let mut script = Vec::new();
    clap_complete::generate(shell, &mut Cli::command(), NAME, &mut script);
    out.write_all(&script)
}

/// Writes the manual page to standard output, or those of all commands into `folder`.
///
/// # Errors
/// If it cannot be written.
pub fn man(folder: Option<&Path>) -> anyhow::Result<u8> {
    let command = Cli::command();
    match folder {
        None => {
            let mut out = stdout().lock();
            clap_mangen::Man::new(command).render(&mut out)?;
            out.flush()?;
        }
        Some(folder) => {
            std::fs::create_dir_all(folder)
                .and_then(|()| clap_mangen::generate_to(command, folder))
                .with_context(|| format!("cannot write into `{}`", escape(&folder.display().to_string())))?;
        }
    }
    Ok(exit::CLEAN)
}
