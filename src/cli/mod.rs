//! Arguments and one file per subcommand. Decides colours, files and exit codes; everything else is the library's.

pub mod args;
mod baseline;
mod check;
mod declare;
mod follow;
mod generated;
mod init;
mod names;
mod output;
mod progress;
mod route;
mod rules;
mod select;
mod settings;
mod style;
mod write;

use std::ffi::OsStr;
use std::io::{self, Write, stdout};
use std::process::ExitCode;

use clap::{Arg, ArgMatches, CommandFactory, FromArgMatches};

use crate::report::escape;

use args::{Cli, Command};

/// The exit codes of `cli.md`; the greater one of several wins, but for an interrupt.
pub mod exit {
    /// Nothing at or above `--fail-on`.
    pub const CLEAN: u8 = 0;
    /// Findings.
    pub const FINDINGS: u8 = 1;
    /// The job could not be done.
    pub const FAILED: u8 = 2;
    /// Interrupted.
    pub const INTERRUPTED: u8 = 130;
}

/// Runs a command. A reader that went away (a closed pipe) ends the run silently and well.
#[must_use]
pub fn run() -> ExitCode {
    let matches = command().get_matches();
    let result = Cli::from_arg_matches(&matches).map_err(anyhow::Error::from).and_then(|cli| dispatch(cli, &matches));
    match result {
        Ok(code) => code.into(),
        Err(error) if is_broken_pipe(&error) => exit::CLEAN.into(),
        Err(error) => {
            // What is wrong with a configuration has been shown in place.
            if error.downcast_ref::<settings::Shown>().is_none() {
                complain(&format!("{error:#}"));
            }
            exit::FAILED.into()
        }
    }
}

/// The parser. An empty variable of the environment is none, and with a subcommand only that one's options are asked for:
/// the options of `check` are also those of the program itself.
fn command() -> clap::Command {
    let is_empty = |arg: &Arg| arg.get_env().and_then(std::env::var_os).is_some_and(|value| value.is_empty());
    let without_empty = move |arg: Arg| if is_empty(&arg) { arg.env(None::<&str>) } else { arg };
    let command = Cli::command();
    let first = std::env::args_os().nth(1);
    let has_subcommand = command.get_subcommands().any(|known| first.as_deref() == Some(OsStr::new(known.get_name())));
    command
        .mut_args(move |arg| if has_subcommand { arg.env(None::<&str>) } else { without_empty(arg) })
        .mut_subcommands(move |command| {
            command.mut_args(without_empty).mut_subcommands(move |c| c.mut_args(without_empty))
        })
}

fn dispatch(cli: Cli, matches: &ArgMatches) -> anyhow::Result<u8> {
    // The matches of the innermost subcommand tell where the values of its options come from.
    let innermost = std::iter::successors(Some(matches), |matches| matches.subcommand().map(|(_, inner)| inner));
    let matches = innermost.last().unwrap_or(matches);
    match cli.command {
        None => match names::mistyped(&cli.check.inputs) {
            Some(complaint) => anyhow::bail!(complaint),
            None => check::check(&cli.check, matches),
        },
        Some(Command::Check(args)) => check::check(&args, matches),
        Some(Command::Baseline(args)) => baseline::run(&args.command, matches),
        Some(Command::Init(args)) => init::init(&args, matches),
        Some(Command::Route(args)) => route::route(&args),
        Some(Command::Rules(args)) => print(|out| Ok(rules::list(args.format, out)?)),
        Some(Command::Rule(args)) => print(|out| rules::explain(&args.code, out)),
        Some(Command::Completions(args)) => print(|out| Ok(generated::completions(args.shell, out)?)),
        Some(Command::Man(args)) => generated::man(args.output.as_deref()),
    }
}

/// Tells the user on standard error why something could not be done.
fn complain(message: &str) {
    // Nobody is left to be told if standard error is closed.
    let _ = writeln!(io::stderr().lock(), "error: {}", escape(message));
}

/// Tells the user something on standard error.
fn remark(message: &str) {
    let _ = writeln!(io::stderr().lock(), "{}", escape(message));
}

fn print(write: impl FnOnce(&mut dyn Write) -> anyhow::Result<()>) -> anyhow::Result<u8> {
    let mut out = stdout().lock();
    write(&mut out)?;
    out.flush()?;
    Ok(exit::CLEAN)
}

fn is_broken_pipe(error: &anyhow::Error) -> bool {
    let mut causes = error.chain();
    causes.any(|cause| cause.downcast_ref::<io::Error>().is_some_and(|e| e.kind() == io::ErrorKind::BrokenPipe))
}
