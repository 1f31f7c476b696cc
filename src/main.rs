//! Parse the arguments, call the library, map the result to an exit code.

use std::process::ExitCode;

use clap::Parser;

fn main() -> ExitCode {
    shardlint::cli::run(shardlint::cli::args::Cli::parse())
}
