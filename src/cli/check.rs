//! `shardlint check`: declarations and logs in, a report out, an exit code.

use std::io::{IsTerminal, Write, stdin, stdout};
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};

use anyhow::{Context, bail};
use globset::Glob;
use jiff::civil;
use regex::RegexBuilder;

use crate::catalog::{NamespaceMap, Sharding};
use crate::engine::{self, Filters, Job, Outcome, Run, Settings, Source};
use crate::input::DEFAULT_CHUNK_SIZE;
use crate::report::{self, Format, RenderOptions, Report, escape};

use super::args::{CheckArgs, FailOn, Output};
use super::declare::{self, Inputs};
use super::progress::Bar;
use super::{complain, exit, remark, select, style};

static INTERRUPTED: AtomicBool = AtomicBool::new(false);

/// Runs `check`; the exit code is that of `cli.md`.
///
/// # Errors
/// If the job cannot be done at all. Inputs that cannot be read are told, and the others are still judged.
pub fn check(args: &CheckArgs) -> anyhow::Result<u8> {
    if nothing_to_do(args) {
        remark("no input: name a log, or pipe one in; `shardlint --help` has examples");
        return Ok(exit::FAILED);
    }
    let Inputs { logs, declared, mut failed } = declare::sort_out(args)?;
    let settings = settings(args, declared.catalog)?;
    let names: Vec<String> = logs.iter().map(|log| log.input.name().to_owned()).collect();
    if args.verbose {
        names.iter().for_each(|name| remark(&format!("log: {}", escape(name))));
        declared.texts.texts.iter().for_each(|(name, _)| remark(&format!("declarations: {}", escape(name))));
    }
    let outcome = read(args, logs, &settings)?;
    failed |= complain_about(&outcome, &names);
    let interrupted = outcome.interrupted;
    let run = Run {
        inputs: names,
        declarations: &declared.texts,
        declaration_findings: declared.findings,
        settings: &settings,
    };
    let report = engine::finish(outcome, run);
    failed |= complain_about_names(&report, &settings) | complain_about_filters(&report, &settings);
    // "No findings" in nothing would read as if all were well; programs get their report all the same.
    let read_nothing = failed && report.summary.lines == 0 && report.diagnostics.is_empty();
    if !read_nothing || args.format.is_some() || !args.output.is_empty() {
        write_reports(args, &report)?;
    }
    Ok(exit_code(args.fail_on, &report, failed, interrupted))
}

fn nothing_to_do(args: &CheckArgs) -> bool {
    args.inputs.is_empty() && args.schema.is_empty() && args.shard_key.is_empty() && stdin().is_terminal()
}

fn exit_code(fail_on: FailOn, report: &Report, failed: bool, interrupted: bool) -> u8 {
    let fails = report.diagnostics.iter().any(|diagnostic| fail_on.is_reached_by(diagnostic.severity));
    match (interrupted, failed, fails) {
        (true, ..) => exit::INTERRUPTED,
        (_, true, _) => exit::FAILED,
        (_, _, true) => exit::FINDINGS,
        _ => exit::CLEAN,
    }
}

fn settings(args: &CheckArgs, catalog: crate::catalog::Catalog) -> anyhow::Result<Settings> {
    Ok(Settings {
        catalog,
        namespace_map: namespace_map(&args.ns_map)?,
        version: args.server_version,
        rules: select::rules(&args.select, &args.extend_select, &args.ignore)?,
        filters: filters(args)?,
        per_event: args.per_event,
        threads: args.threads.into(),
        ..Settings::default()
    })
}

fn namespace_map(rules: &[String]) -> anyhow::Result<NamespaceMap> {
    let mut map = NamespaceMap::default();
    for rule in rules {
        map.add(rule).map_err(anyhow::Error::msg).context("--ns-map")?;
    }
    Ok(map)
}

/// A regex from the command line may not take more memory than this to compile, in bytes.
const REGEX_LIMIT: usize = 1 << 20;

fn filters(args: &CheckArgs) -> anyhow::Result<Filters> {
    let glob = |text: &String| Glob::new(text).map(|glob| glob.compile_matcher()).context("--ns");
    let regex = |text: &String| RegexBuilder::new(text).size_limit(REGEX_LIMIT).build().context("--app");
    Ok(Filters {
        namespace: args.ns.as_ref().map(glob).transpose()?,
        application: args.app.as_ref().map(regex).transpose()?,
        since: args.since.as_deref().map(time).transpose().context("--since")?,
        until: args.until.as_deref().map(time).transpose().context("--until")?,
        min_millis: args.min_duration,
    })
}

/// A time as users write it, in milliseconds since 1970; without an offset it is UTC.
fn time(text: &str) -> anyhow::Result<i64> {
    if let Ok(time) = text.parse::<jiff::Timestamp>() {
        return Ok(time.as_millisecond());
    }
    let Ok(local) = text.parse::<civil::DateTime>() else {
        bail!("`{}` is no time; expected something like 2026-11-30T08:00:00Z", escape(text));
    };
    let utc = jiff::tz::Offset::UTC.to_timestamp(local).context("the time is out of range")?;
    Ok(utc.as_millisecond())
}

fn read(args: &CheckArgs, sources: Vec<Source>, settings: &Settings) -> anyhow::Result<Outcome> {
    // The first interrupt ends reading and shows what is known; the second ends the program at once.
    let handler = ctrlc::set_handler(|| {
        if INTERRUPTED.swap(true, Ordering::Relaxed) {
            std::process::exit(exit::INTERRUPTED.into());
        }
    });
    handler.context("cannot handle interrupts")?;
    let mut bar = Bar::new(!args.no_progress && args.quiet == 0);
    let job = Job { sources, chunk_size: DEFAULT_CHUNK_SIZE, interrupted: &INTERRUPTED };
    let outcome = engine::run(job, settings, &mut bar).context("cannot start the worker threads")?;
    bar.clear();
    Ok(outcome)
}

/// Tells which inputs were not understood or not read; whether there are any.
fn complain_about(outcome: &Outcome, names: &[String]) -> bool {
    outcome.failures.iter().for_each(|failure| complain(&failure.to_string()));
    let mut failed = !outcome.failures.is_empty();
    for (lines, name) in outcome.by_source.iter().zip(names) {
        if lines.is_wholly_unread() {
            let what = crate::syntax::looks_like(&lines.sample);
            complain(&format!("nothing in `{}` is understood: {what}", escape(name)));
            failed = true;
        } else if lines.is_empty() && outcome.failures.is_empty() && !outcome.interrupted {
            complain(&format!("`{}` is empty: expected a MongoDB log", escape(name)));
            failed = true;
        }
    }
    failed
}

/// If there are declarations and no query matches any: which names are nearest. A green build from a wrong name would be
/// the worst answer.
fn complain_about_names(report: &Report, settings: &Settings) -> bool {
    let classes = &report.summary.classes;
    let count = |class: &str| classes.get(class).map_or(0, |count| count.count);
    let judged: u64 = classes.values().map(|class| class.count).sum();
    // Where a dump lists all sharded collections, others are known to be unsharded; that is no match either.
    let is_declared = |namespace: &str| {
        settings.catalog.named(namespace).is_some_and(|named| !matches!(named.sharding, Sharding::Undeclared))
    };
    let none_matches = judged > 0
        && count("undeclared") + count("unsharded") == judged
        && !report.shapes.iter().any(|shape| is_declared(&shape.namespace))
        && settings.catalog.declares_sharding();
    if none_matches {
        let mut seen: Vec<&str> = report.shapes.iter().map(|shape| shape.namespace.as_str()).collect();
        seen.sort_unstable();
        seen.dedup();
        let nearest = settings.catalog.nearest(&seen);
        let pairs = nearest
            .iter()
            .take(3)
            .map(|(declared, seen)| format!("`{}` is declared, `{}` is queried", escape(declared), escape(seen)));
        let pairs: Vec<String> = pairs.collect();
        let hint = if pairs.is_empty() {
            format!(
                "queried are {}",
                seen.iter().take(5).map(|ns| format!("`{}`", escape(ns))).collect::<Vec<_>>().join(", ")
            )
        } else {
            pairs.join("; ")
        };
        complain(&format!("no query matches any declaration: {hint} (--ns-map maps database names)"));
    }
    none_matches
}

/// If filters other than a duration leave no query: a name or a time that is wrong must not make a build green.
fn complain_about_filters(report: &Report, settings: &Settings) -> bool {
    let summary = &report.summary;
    let judged: u64 = summary.classes.values().map(|class| class.count).sum();
    let leaves_nothing = summary.filtered > 0 && judged == 0 && settings.filters.name_something();
    if leaves_nothing {
        complain(&format!("the filters leave none of {} queries", summary.filtered));
    }
    leaves_nothing
}

fn write_reports(args: &CheckArgs, report: &Report) -> anyhow::Result<()> {
    let outputs: Vec<Output> = args.output.iter().map(|text| Output::parse(text)).collect::<anyhow::Result<_>>()?;
    let default = args.format.map(Format::from);
    let on_stdout = outputs.iter().all(|output| output.format.is_some());
    for output in &outputs {
        let format = output.format.or(default).unwrap_or(Format::Concise);
        let options = style::options(args.color, false, args.top, args.quiet == 0);
        write_file(&output.path, report, format, &options, args.statistics)
            .with_context(|| format!("cannot write `{}`", escape(&output.path.display().to_string())))?;
    }
    // With a file in the default format there is nothing left for standard output.
    if on_stdout && args.quiet < 2 {
        let format = default.unwrap_or(if stdout().is_terminal() { Format::Pretty } else { Format::Concise });
        let options = style::options(args.color, true, args.top, args.quiet == 0);
        let mut out = std::io::BufWriter::new(stdout().lock());
        render(report, format, &options, args.statistics, &mut out)?;
        out.flush()?;
    }
    Ok(())
}

fn render(
    report: &Report,
    format: Format,
    options: &RenderOptions,
    statistics: bool,
    out: &mut dyn Write,
) -> std::io::Result<()> {
    if statistics {
        report::statistics(report, format, options, out)
    } else {
        report::render(report, format, options, out)
    }
}

/// Writes beside the file and renames, so that nobody ever reads half a report. What is no regular file (a device, a pipe)
/// is written to as it is; a link keeps pointing where it does.
fn write_file(
    path: &Path,
    report: &Report,
    format: Format,
    options: &RenderOptions,
    statistics: bool,
) -> anyhow::Result<()> {
    let target = path.canonicalize().unwrap_or_else(|_| path.to_owned());
    let existing = target.metadata().ok();
    if existing.as_ref().is_some_and(|metadata| !metadata.is_file()) {
        let mut out = std::io::BufWriter::new(std::fs::File::options().write(true).open(&target)?);
        render(report, format, options, statistics, &mut out)?;
        return Ok(out.flush()?);
    }
    let mut name = target.file_name().context("not the name of a file")?.to_owned();
    name.push(format!(".{}.part", std::process::id()));
    let part = target.with_file_name(name);
    let written = std::fs::File::create_new(&part).map_err(anyhow::Error::from).and_then(|file| {
        let mut out = std::io::BufWriter::new(file);
        render(report, format, options, statistics, &mut out)?;
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
