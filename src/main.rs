//! Parse the arguments, call the library, map the result to an exit code.

use std::process::ExitCode;

fn main() -> ExitCode {
    shardlint::cli::run()
}
