//! Parse the arguments, call the library, map the result to an exit code.

use std::process::ExitCode;

use mimalloc::MiMalloc;

/// Threads that scan get memory which the thread that puts results together gives back: this allocator lets neither wait
/// for the other.
#[global_allocator]
static ALLOCATOR: MiMalloc = MiMalloc;

fn main() -> ExitCode {
    shardlint::cli::run()
}
