//! `shardlint check`: declarations and logs in, a report out, an exit code.

use std::io::{IsTerminal, stdin};
use std::sync::atomic::{AtomicBool, Ordering};

use anyhow::{Context, bail};
use clap::ArgMatches;
use globset::Glob;
use jiff::civil;

use crate::baseline::{Held, Recorded};
use crate::catalog::{Catalog, NamespaceMap};
use crate::engine::{self, DeclaredRole, Filters, Job, Outcome, Run, Settings, Source, Suppressions};
use crate::input::DEFAULT_CHUNK_SIZE;
use crate::report::{Report, escape};
use crate::rules::Severity;

use super::args::{CheckArgs, FailOn};
use super::declare::{self, Inputs};
use super::follow::{self, Moment, Teller};
use super::progress::Bar;
use super::settings::{self, Settled};
use super::{baseline, complain, exit, names, output, remark, select};

static INTERRUPTED: AtomicBool = AtomicBool::new(false);
/// Two logs are compared by two runs, and a process has one handler.
static HANDLED: AtomicBool = AtomicBool::new(false);

/// Runs `check`; the exit code is that of `cli.md`.
///
/// # Errors
/// If the job cannot be done at all. Inputs that cannot be read are told, and the others are still judged.
pub fn check(args: &CheckArgs, matches: &ArgMatches) -> anyhow::Result<u8> {
    let settled = settings::settle(args, matches)?;
    if args.show_settings {
        return settled.print();
    }
    let (asked, args) = (args, &settled.args);
    if nothing_to_do(&settled) {
        remark("no input: name a log, or pipe one in; `shardlint --help` has examples");
        return Ok(exit::FAILED);
    }
    let outputs = output::planned(args)?;
    if args.follow {
        follow::refuse(args)?;
    }
    let mut teller = args.follow.then(|| Teller::new(args));
    let ran = run_telling(&settled, held(args, asked)?, teller.as_mut())?;
    if let Some(teller) = &mut teller {
        teller.tell(&ran.report, Moment::End)?;
    }
    // "No findings" in nothing would read as if all were well; programs get their report all the same.
    let read_nothing = ran.failed && ran.report.summary.lines == 0 && ran.report.diagnostics.is_empty();
    if !read_nothing || args.format.is_some() || !outputs.is_empty() {
        output::write(args, &outputs, &ran.report)?;
    }
    if args.quiet < 2 {
        complain_about_limits(&ran.report);
    }
    Ok(ran.exit_code(args))
}

/// A run and how it went.
pub struct Ran {
    /// What it found.
    pub report: Report,
    /// What it was asked.
    pub settings: Settings,
    /// The job could not be done, or not wholly.
    pub failed: bool,
    /// It was ended early.
    pub interrupted: bool,
}

/// Reads and judges everything, and holds it against `held`. What goes wrong is told on standard error.
///
/// # Errors
/// If the job cannot be done at all.
pub fn run(settled: &Settled, held: Option<Held>) -> anyhow::Result<Ran> {
    run_telling(settled, held, None)
}

/// As [`run`]; with a `teller` the logs are followed.
fn run_telling(settled: &Settled, held: Option<Held>, teller: Option<&mut Teller<'_>>) -> anyhow::Result<Ran> {
    let args = &settled.args;
    let Inputs { logs, declared, mut failed } = declare::sort_out(settled)?;
    let settings = engine_settings(settled, declared.catalog, held)?;
    let names: Vec<String> = logs.iter().map(|log| log.input.name().to_owned()).collect();
    refuse_roles_of_nothing(settled, &names)?;
    if args.verbose {
        names.iter().for_each(|name| remark(&format!("log: {}", escape(name))));
        declared.texts.texts.iter().for_each(|(name, _)| remark(&format!("declarations: {}", escape(name))));
    }
    let run = Run {
        inputs: names,
        declarations: &declared.texts,
        declaration_findings: declared.findings,
        settings: &settings,
    };
    let outcome = match teller {
        Some(teller) => follow(logs, &run, teller)?,
        None => read(args, logs, &settings)?,
    };
    failed |= complain_about(&outcome, &run.inputs);
    let interrupted = outcome.interrupted;
    let report = engine::finish(outcome, run);
    let declarations_alone = report.summary.inputs.is_empty() && !args.inputs.is_empty();
    failed |= names::complain_about_declarations(&report, &settings)
        | names::complain_about_baseline(&report, &settings, declarations_alone)
        | names::complain_about_missing_declarations(&report, &settings)
        | complain_about_filters(&report, &settings);
    Ok(Ran { report, settings, failed, interrupted })
}

/// A role that is given to no log is a wrong name. Those of the configuration stay, whatever a run reads.
fn refuse_roles_of_nothing(settled: &Settled, logs: &[String]) -> anyhow::Result<()> {
    let (roles, configured) = (&settled.args.role, &settled.resolved.roles);
    let covers_nothing = |role: &&DeclaredRole| !logs.iter().any(|log| role.covers(log)) && !configured.contains(role);
    if let Some(role) = roles.iter().find(covers_nothing) {
        bail!("--role: no log that is read is meant by `{}`", escape(&role.to_string()));
    }
    Ok(())
}

/// The baseline of `--baseline`.
fn held(args: &CheckArgs, asked: &CheckArgs) -> anyhow::Result<Option<Held>> {
    let Some(path) = &args.baseline else {
        if asked.fail_on_class.is_some() {
            bail!("--fail-on-class says which queries that a baseline does not know are errors: it needs --baseline");
        }
        return Ok(None);
    };
    baseline::read(path).map(Some)
}

fn nothing_to_do(settled: &Settled) -> bool {
    let Settled { args, resolved, .. } = settled;
    let declares_nothing = args.schema.is_empty() && args.shard_key.is_empty() && resolved.shard_keys.is_empty();
    args.inputs.is_empty() && declares_nothing && stdin().is_terminal()
}

impl Ran {
    /// The exit code of `cli.md`. With a baseline only what is new counts.
    #[must_use]
    pub fn exit_code(&self, args: &CheckArgs) -> u8 {
        let fail_on = args.fail_on.unwrap_or(FailOn::Error);
        let diagnostics = self.report.diagnostics.iter().filter(|diagnostic| diagnostic.new != Some(false));
        let limits = self.report.limits.iter().filter(|limit| limit.exceeded).map(|_| Severity::Error);
        let mut severities = diagnostics.map(|diagnostic| diagnostic.severity).chain(limits);
        match (self.interrupted, self.failed, severities.any(|severity| fail_on.is_reached_by(severity))) {
            (true, ..) => exit::INTERRUPTED,
            (_, true, _) => exit::FAILED,
            (_, _, true) => exit::FINDINGS,
            _ => exit::CLEAN,
        }
    }
}

/// Limits that are exceeded, on standard error: not every format has a place for them.
fn complain_about_limits(report: &Report) {
    for limit in report.limits.iter().filter(|limit| limit.exceeded) {
        complain(&limit.words());
    }
}

fn engine_settings(settled: &Settled, catalog: Catalog, baseline: Option<Held>) -> anyhow::Result<Settings> {
    let Settled { args, config, resolved, .. } = settled;
    let suppressions = resolved.suppressions.clone();
    Ok(Settings {
        catalog,
        namespace_map: namespace_map(&args.ns_map)?,
        version: args.server_version,
        rules: select::rules(&args.select, &args.extend_select, &args.ignore)?,
        filters: filters(args)?,
        per_event: args.per_event,
        threads: args.threads.into(),
        thresholds: config.as_ref().map(|config| config.file.thresholds).unwrap_or_default(),
        adjustments: resolved.adjustments.clone(),
        suppressions: if args.no_suppressions { Suppressions::Off } else { Suppressions::On(suppressions) },
        limits: args.max_broadcast_share.iter().chain(&resolved.part_limits).cloned().collect(),
        baseline,
        roles: args.role.clone(),
        fail_on_class: args.fail_on_class.map_or(Recorded::Broadcast, Recorded::from),
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

fn filters(args: &CheckArgs) -> anyhow::Result<Filters> {
    let glob = |text: &String| Glob::new(text).map(|glob| glob.compile_matcher()).context("--ns");
    let regex = |text: &String| engine::user_regex(text).context("--app");
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

/// The first interrupt ends reading and shows what is known; the second ends the program at once.
fn handle_interrupts() -> anyhow::Result<()> {
    if !HANDLED.swap(true, Ordering::Relaxed) {
        let handler = ctrlc::set_handler(|| {
            if INTERRUPTED.swap(true, Ordering::Relaxed) {
                std::process::exit(exit::INTERRUPTED.into());
            }
        });
        handler.context("cannot handle interrupts")?;
    }
    Ok(())
}

/// Reads the logs and waits for more, and tells what is new.
fn follow(sources: Vec<Source>, run: &Run<'_>, teller: &mut Teller<'_>) -> anyhow::Result<Outcome> {
    handle_interrupts()?;
    let mut told = Ok(());
    let mut known = |outcome: Outcome| {
        if told.is_ok() {
            told = teller.tell(&engine::finish(outcome, run.clone()), Moment::Meanwhile);
        }
        if told.is_err() {
            // Nobody listens: there is nothing to wait for.
            INTERRUPTED.store(true, Ordering::Relaxed);
        }
    };
    let job = Job { sources, chunk_size: DEFAULT_CHUNK_SIZE, interrupted: &INTERRUPTED };
    let outcome = engine::follow(job, run.settings, &mut known).context("cannot start the worker threads")?;
    told?;
    Ok(outcome)
}

fn read(args: &CheckArgs, sources: Vec<Source>, settings: &Settings) -> anyhow::Result<Outcome> {
    handle_interrupts()?;
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

/// If filters other than a duration leave no query: a name or a time that is wrong must not make a build green.
fn complain_about_filters(report: &Report, settings: &Settings) -> bool {
    let summary = &report.summary;
    let judged: u64 = summary.classes.values().map(|class| class.count).sum();
    let filtered = summary.filtered + summary.filtered_explains;
    let leaves_nothing = filtered > 0 && judged == 0 && settings.filters.name_something();
    if leaves_nothing {
        complain(&format!("the filters leave none of {filtered} queries"));
    }
    leaves_nothing
}
