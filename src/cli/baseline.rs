//! `shardlint baseline create|update|prune|diff`: the known findings of a project, as a file that people review.

use std::io::{Read, Write, stdout};
use std::path::{Path, PathBuf};

use anyhow::bail;
use clap::ArgMatches;

use crate::baseline::{Baseline, Held, Recorded, looks_like_baseline, recorded, updated};
use crate::engine;
use crate::input::Input;
use crate::report::{self, Format, escape};

use super::args::{BaselineCommand, CheckArgs, FormatName, Output};
use super::check::{self, Ran};
use super::settings::{self, Settled};
use super::write::write_file;
use super::{declare, exit, output, remark};

/// Where a baseline is if nothing says so.
pub const DEFAULT: &str = "shardlint-baseline.json";

/// Runs a subcommand of `baseline`.
///
/// # Errors
/// If the job cannot be done at all.
pub fn run(command: &BaselineCommand, matches: &ArgMatches) -> anyhow::Result<u8> {
    let (BaselineCommand::Create(args)
    | BaselineCommand::Update(args)
    | BaselineCommand::Prune(args)
    | BaselineCommand::Diff(args)) = command;
    let settled = settings::settle(args, matches)?;
    if args.show_settings {
        return settled.print();
    }
    if settled.args.follow {
        bail!("a baseline is made of logs that have ended: --follow is an option of `check`");
    }
    match command {
        BaselineCommand::Create(_) => create(&settled),
        BaselineCommand::Update(_) => revise(&settled, |old, ran| updated(old, &ran.report)),
        BaselineCommand::Prune(_) if looks_at_a_part(&settled.args) => {
            bail!("prune drops what a run does not see: leave out --app, --since, --until and --min-duration")
        }
        BaselineCommand::Prune(_) => revise(&settled, |old, ran| engine::pruned(old, &ran.report, &ran.settings)),
        BaselineCommand::Diff(_) => diff(settled),
    }
}

/// Whether filters leave out queries of namespaces that are looked at.
fn looks_at_a_part(args: &CheckArgs) -> bool {
    args.app.is_some() || args.since.is_some() || args.until.is_some() || args.min_duration.is_some()
}

/// Reads a baseline.
///
/// # Errors
/// If it cannot be read, or is none: the message says where.
pub fn read(path: &Path) -> anyhow::Result<Held> {
    let name = path.display().to_string();
    let text = Input::file(path).read_all().map_err(|error| anyhow::anyhow!("--baseline: {error}"))?;
    let baseline = Baseline::read(&name, &text)?;
    for code in baseline.unknown_rules() {
        remark(&format!("{}: `{}` is no rule of this release", escape(&name), escape(code)));
    }
    Ok(Held { name, baseline })
}

fn create(settled: &Settled) -> anyhow::Result<u8> {
    let args = &settled.args;
    let target = target(args, args.baseline.as_deref().unwrap_or(DEFAULT.as_ref()))?;
    let ran = check::run(settled, None)?;
    if ran.failed || ran.interrupted {
        return Ok(unwritten(&target, &ran));
    }
    let baseline = recorded(&ran.report);
    if target.exists() {
        remark(&format!("`{}` was there and is written anew; `update` keeps reasons", shown(&target)));
    }
    store(args, &target, &baseline, &ran)
}

fn revise(settled: &Settled, revised: impl FnOnce(&Baseline, &Ran) -> Baseline) -> anyhow::Result<u8> {
    let args = &settled.args;
    let named = args.baseline.clone();
    let target = target(args, named.as_deref().unwrap_or(DEFAULT.as_ref()))?;
    let source = named.unwrap_or_else(|| target.clone());
    if !source.exists() {
        bail!("there is no baseline `{}`; `shardlint baseline create` makes one", shown(&source));
    }
    let held = read(&source)?;
    // Not held against the baseline: what is known is the question here, not what fails.
    let ran = check::run(settled, None)?;
    if ran.failed || ran.interrupted {
        return Ok(unwritten(&target, &ran));
    }
    let baseline = revised(&held.baseline, &ran);
    if source == target && baseline == held.baseline {
        say(args, &format!("`{}` stays as it is: {}", shown(&target), contents(&baseline)))?;
        return Ok(exit::CLEAN);
    }
    store(args, &target, &baseline, &ran)
}

/// The file of `-o FILE`, or the default; `-o FORMAT=FILE` are reports.
fn target(args: &CheckArgs, default: &Path) -> anyhow::Result<PathBuf> {
    let outputs = args.output.iter().map(|text| Output::parse(text)).collect::<anyhow::Result<Vec<_>>>()?;
    let mut files = outputs.into_iter().filter(|output| output.format.is_none()).map(|output| output.path);
    let first = files.next();
    if files.next().is_some() {
        bail!("-o names two files for one baseline");
    }
    let target = first.unwrap_or_else(|| default.to_owned());
    let is_other =
        target.metadata().is_ok_and(|metadata| metadata.is_file() && metadata.len() > 0) && !is_baseline(&target);
    if is_other {
        bail!("`{}` is there and is no baseline; name another file", shown(&target));
    }
    Ok(target)
}

fn unwritten(target: &Path, ran: &Ran) -> u8 {
    remark(&format!("`{}` is not written", shown(target)));
    if ran.interrupted { exit::INTERRUPTED } else { exit::FAILED }
}

fn store(args: &CheckArgs, target: &Path, baseline: &Baseline, ran: &Ran) -> anyhow::Result<u8> {
    write_file(target, |out| baseline.write(out))?;
    // Reports that were asked for by `-o FORMAT=FILE` come of the same run.
    let output: Vec<String> =
        args.output.iter().filter(|text| Output::parse(text).is_ok_and(|o| o.format.is_some())).cloned().collect();
    if !output.is_empty() {
        let args = CheckArgs { output, quiet: 2, ..args.clone() };
        output::write(&args, &output::planned(&args)?, &ran.report)?;
    }
    say(args, &format!("wrote `{}`: {}", shown(target), contents(baseline)))?;
    Ok(exit::CLEAN)
}

/// `12 shapes (3 broadcast, 9 targeted), 1 other finding`
fn contents(baseline: &Baseline) -> String {
    let counted = |n: usize, noun: &str| format!("{n} {noun}{}", if n == 1 { "" } else { "s" });
    let classes = [Recorded::Broadcast, Recorded::MultiShard, Recorded::Targeted, Recorded::Unknown]
        .map(|class| (baseline.shapes.iter().filter(|entry| entry.class == class).count(), class));
    let classes: Vec<String> =
        classes.iter().filter(|(n, _)| *n > 0).map(|(n, class)| format!("{n} {}", class.name())).collect();
    let classes = if classes.is_empty() { String::new() } else { format!(" ({})", classes.join(", ")) };
    let others = counted(baseline.findings.len(), "other finding");
    format!("{}{classes}, {others}", counted(baseline.shapes.len(), "shape"))
}

fn say(args: &CheckArgs, text: &str) -> std::io::Result<()> {
    if args.quiet == 0 { writeln!(stdout().lock(), "{text}") } else { Ok(()) }
}

fn shown(path: &Path) -> String {
    escape(&path.display().to_string())
}

fn diff(mut settled: Settled) -> anyhow::Result<u8> {
    let inputs = std::mem::take(&mut settled.args.inputs);
    if let Some((first, rest)) = inputs.split_first().filter(|(first, _)| is_baseline(first.as_ref())) {
        let held = read(first.as_ref())?;
        settled.args.inputs = if rest.is_empty() { settled.inputs.clone() } else { rest.to_vec() };
        return compare(&settled, held);
    }
    let (declarations, logs): (Vec<String>, Vec<String>) =
        inputs.into_iter().partition(|input| declare::is_declaration(input));
    let [old, new @ ..] = logs.as_slice() else { bail!(EXPECTED) };
    if new.is_empty() {
        bail!(EXPECTED);
    }
    settled.args.inputs = [declarations.as_slice(), std::slice::from_ref(old)].concat();
    let before = check::run(&settled, None)?;
    if before.failed || before.interrupted {
        return Ok(before.exit_code(&settled.args));
    }
    settled.args.inputs = [&declarations, new].concat();
    compare(&settled, Held { name: old.clone(), baseline: recorded(&before.report) })
}

const EXPECTED: &str = "two things are compared: `baseline diff BASELINE INPUT…` or `baseline diff OLD.log NEW.log`";

fn is_baseline(path: &Path) -> bool {
    let mut head = Vec::new();
    path.is_file()
        && Input::file(path).open().is_ok_and(|reader| reader.take(512).read_to_end(&mut head).is_ok())
        && looks_like_baseline(&head)
}

/// Prints what is different, and ends as `check --baseline` would.
fn compare(settled: &Settled, held: Held) -> anyhow::Result<u8> {
    let args = &settled.args;
    let format = match args.format {
        Some(FormatName::Json) => Format::Json,
        Some(FormatName::Jsonl) => Format::Jsonl,
        None | Some(FormatName::Pretty | FormatName::Concise) => Format::Concise,
        Some(_) => bail!("a comparison is printed as concise, json or jsonl; `check --baseline` writes every format"),
    };
    let ran = check::run(settled, Some(held))?;
    if args.quiet < 2 {
        let mut out = stdout().lock();
        report::comparison(&ran.report, format, &mut out)?;
        out.flush()?;
    }
    Ok(ran.exit_code(args))
}
