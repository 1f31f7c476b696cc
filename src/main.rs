//! Parse the arguments, call the library, map the result to an exit code.

fn main() {}
