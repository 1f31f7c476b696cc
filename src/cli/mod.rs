//! The command line: arguments, one file for each subcommand, and the exit code that a run ends with.
//!
//! 0: nothing found; 1: findings; 2: the job could not be done. A broken pipe is no failure: the reader has seen enough.

mod route;

use std::io::{self, Write as _};
use std::process::ExitCode;

use clap::{Parser, Subcommand};

/// Judge MongoDB queries against a shard key.
#[derive(Debug, Parser)]
#[command(version, about, arg_required_else_help = true)]
struct Arguments {
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, Subcommand)]
enum Command {
    Route(route::RouteArguments),
}

/// What a run ends with.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Outcome {
    /// The job is done.
    Done,
    /// The job could not be done; what was wrong has been told.
    Failed,
}

/// Runs the command that the arguments of the process name.
#[must_use]
pub fn run() -> ExitCode {
    let arguments = match Arguments::try_parse() {
        Ok(arguments) => arguments,
        Err(error) => {
            // Help and version are answers, not errors; where they cannot be printed, nothing can.
            let _ = error.print();
            return ExitCode::from(if error.use_stderr() { 2 } else { 0 });
        }
    };
    let outcome = match arguments.command {
        Command::Route(arguments) => route::run(&arguments),
    };
    match outcome {
        Ok(Outcome::Done) => ExitCode::SUCCESS,
        Ok(Outcome::Failed) => ExitCode::from(2),
        Err(error) if is_broken_pipe(&error) => ExitCode::SUCCESS,
        Err(error) => {
            // Where even this cannot be written, the exit code still tells.
            let _ = writeln!(io::stderr(), "error: {error:#}");
            ExitCode::from(2)
        }
    }
}

fn is_broken_pipe(error: &anyhow::Error) -> bool {
    let is_broken = |cause: &io::Error| cause.kind() == io::ErrorKind::BrokenPipe;
    error.chain().any(|cause| cause.downcast_ref::<io::Error>().is_some_and(is_broken))
}
