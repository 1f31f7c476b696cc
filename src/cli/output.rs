//! Where reports go: standard output and any number of files, all from one run. Files are written beside their place and
//! renamed when all of them are whole, so that nobody ever reads half a report, or one of two.

use std::fs::{self, File};
use std::io::{self, BufWriter, IsTerminal, Write, stdout};
use std::path::{Path, PathBuf};

use anyhow::{Context, bail};

use crate::report::{self, Format, RenderOptions, Report, escape};

use super::args::{CheckArgs, Output};
use super::style;

/// The files that are asked for; decided before anything is read, so that a wrong name costs no time.
///
/// # Errors
/// If an output has no known format, or one that cannot show what is asked for.
pub fn planned(args: &CheckArgs) -> anyhow::Result<Vec<Output>> {
    let outputs: Vec<Output> = args.output.iter().map(|text| Output::parse(text)).collect::<anyhow::Result<_>>()?;
    let formats = outputs.iter().filter_map(|output| output.format).chain(args.format.map(Format::from));
    for format in formats.filter(|_| args.statistics) {
        if !format.has_statistics() {
            bail!("--statistics: a table of rules is printed as pretty, concise, json, jsonl or markdown");
        }
    }
    Ok(outputs)
}

/// Writes the report to every output, and to standard output unless a file takes its place.
///
/// # Errors
/// If one of them cannot be written; then no file is replaced.
pub fn write(args: &CheckArgs, outputs: &[Output], report: &Report) -> anyhow::Result<()> {
    let default = args.format.map(Format::from);
    let mut parts = Vec::new();
    for output in outputs {
        let format = output.format.or(default).unwrap_or(Format::Concise);
        let writing = Writing { report, format, options: options(args, false), statistics: args.statistics };
        let part = writing.file(&output.path);
        parts.extend(part.with_context(|| format!("cannot write `{}`", escape(&output.path.display().to_string())))?);
    }
    for part in parts {
        let target = escape(&part.target.display().to_string());
        part.keep().with_context(|| format!("cannot write `{target}`"))?;
    }
    // With a file in the default format there is nothing left for standard output.
    if outputs.iter().all(|output| output.format.is_some()) && args.quiet < 2 {
        let format = default.unwrap_or(if stdout().is_terminal() { Format::Pretty } else { Format::Concise });
        let writing = Writing { report, format, options: options(args, true), statistics: args.statistics };
        let mut out = BufWriter::new(stdout().lock());
        writing.render(&mut out)?;
        out.flush()?;
    }
    Ok(())
}

fn options(args: &CheckArgs, to_stdout: bool) -> RenderOptions {
    let redact = match (args.redact, args.no_redact) {
        (true, _) => Some(true),
        (_, true) => Some(false),
        _ => None,
    };
    RenderOptions {
        redact,
        // Without a working directory no path is below it.
        root: std::env::current_dir().unwrap_or_default(),
        fails_from: args.fail_on.least(),
        ..style::options(args.color, to_stdout, args.top, args.quiet == 0)
    }
}

struct Writing<'a> {
    report: &'a Report,
    format: Format,
    options: RenderOptions,
    statistics: bool,
}

impl Writing<'_> {
    fn render(&self, out: &mut dyn Write) -> io::Result<()> {
        if self.statistics {
            report::statistics(self.report, self.format, &self.options, out)
        } else {
            report::render(self.report, self.format, &self.options, out)
        }
    }

    /// Writes beside the file. What is no regular file (a device, a pipe) is written to as it is; a link keeps pointing
    /// where it does.
    fn file(&self, path: &Path) -> anyhow::Result<Option<Part>> {
        let target = path.canonicalize().unwrap_or_else(|_| path.to_owned());
        let existing = target.metadata().ok();
        if existing.as_ref().is_some_and(|metadata| !metadata.is_file()) {
            let mut out = BufWriter::new(File::options().write(true).open(&target)?);
            self.render(&mut out)?;
            out.flush()?;
            return Ok(None);
        }
        let mut name = target.file_name().context("not the name of a file")?.to_owned();
        name.push(format!(".{}.part", std::process::id()));
        let part = target.with_file_name(name);
        let mut out = BufWriter::new(File::create_new(&part)?);
        let part = Part { part, target };
        self.render(&mut out)?;
        out.flush()?;
        if let Some(metadata) = existing {
            fs::set_permissions(&part.part, metadata.permissions())?;
        }
        Ok(Some(part))
    }
}

/// A report beside its place. Unless it is kept, it is removed.
struct Part {
    part: PathBuf,
    target: PathBuf,
}

impl Part {
    fn keep(self) -> io::Result<()> {
        fs::rename(&self.part, &self.target)
    }
}

impl Drop for Part {
    fn drop(&mut self) {
        // Once renamed it is no longer there; that it cannot be removed would be no news.
        let _ = fs::remove_file(&self.part);
    }
}
