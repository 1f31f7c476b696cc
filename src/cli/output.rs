//! Where reports go: standard output and any number of files, all from one run. Files take their place
//! when all of them are whole, so that nobody ever reads one of two.

use std::io::{self, BufWriter, IsTerminal, Write, stdout};
use std::path::Path;

use anyhow::bail;

use crate::report::{self, Format, RenderOptions, Report, escape};

use super::args::{CheckArgs, FailOn, Output};
use super::style;
use super::write::stage;

/// So many shapes are in the summary unless `--top` says otherwise.
pub const TOP: usize = 10;

/// The files that are asked for; decided before anything is read, so that a wrong name costs no time.
///
/// # Errors
/// If an output has no known format, or one that cannot show what is asked for, or would take the place of an input.
pub fn planned(args: &CheckArgs) -> anyhow::Result<Vec<Output>> {
    let outputs: Vec<Output> = args.output.iter().map(|text| Output::parse(text)).collect::<anyhow::Result<_>>()?;
    let formats = outputs.iter().filter_map(|output| output.format).chain(args.format.map(Format::from));
    for format in formats.filter(|_| args.statistics) {
        if !format.has_statistics() {
            bail!("--statistics: a table of rules is printed as pretty, concise, json, jsonl or markdown");
        }
    }
    keep_apart(args, &outputs)?;
    Ok(outputs)
}

/// A report must not replace what it was made of, nor another report.
fn keep_apart(args: &CheckArgs, outputs: &[Output]) -> anyhow::Result<()> {
    let schemas = args.schema.iter().map(|schema| schema.split_once('=').map_or(schema.as_str(), |(_, file)| file));
    let read = args.inputs.iter().map(String::as_str).chain(schemas).map(Path::new).chain(args.baseline.as_deref());
    let read: Vec<_> = read.filter_map(|path| path.canonicalize().ok()).collect();
    for (i, output) in outputs.iter().enumerate() {
        let path = output.path.canonicalize().unwrap_or_else(|_| output.path.clone());
        let shown = escape(&output.path.display().to_string());
        if read.contains(&path) {
            bail!("-o `{shown}` would replace an input; name another file");
        }
        let is_file = path.metadata().is_ok_and(|metadata| metadata.is_file()) || !path.exists();
        if is_file && outputs[..i].iter().any(|earlier| earlier.path == output.path) {
            bail!("-o names `{shown}` twice; name a file for each report");
        }
    }
    Ok(())
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
        parts.extend(stage(&output.path, |out| writing.render(out))?);
    }
    for part in parts {
        part.keep()?;
    }
    // With a file in the default format there is nothing left for standard output.
    if outputs.iter().all(|output| output.format.is_some()) && args.quiet < 2 {
        let format = default.unwrap_or_else(default_on_screen);
        // What was followed has been told.
        let options = RenderOptions { diagnostics: !args.follow, ..options(args, true) };
        let writing = Writing { report, format, options, statistics: args.statistics };
        let mut out = BufWriter::new(stdout().lock());
        writing.render(&mut out)?;
        out.flush()?;
    }
    Ok(())
}

fn default_on_screen() -> Format {
    if stdout().is_terminal() { Format::Pretty } else { Format::Concise }
}

/// The format of what is told while a log is followed.
#[must_use]
pub fn format_on_screen(args: &CheckArgs) -> Format {
    let for_people = args.format.map(Format::from).filter(|format| matches!(format, Format::Pretty | Format::Concise));
    for_people.unwrap_or_else(default_on_screen)
}

/// The looks of what is told while a log is followed.
#[must_use]
pub fn news_options(args: &CheckArgs) -> RenderOptions {
    RenderOptions { summary: false, ..options(args, true) }
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
        fails_from: args.fail_on.unwrap_or(FailOn::Error).least(),
        ..style::options(args.color, to_stdout, args.top.unwrap_or(TOP), args.quiet == 0)
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
}
