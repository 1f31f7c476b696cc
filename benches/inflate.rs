//! Inflates a file and does nothing with it, by the library that the program uses: what `shardlint check log.gz` takes at least.
//! `benches/goals.sh` times both.
//!
//!     cargo bench --bench inflate -- log.gz

use std::fs::File;
use std::io::{BufReader, Read};

use flate2::bufread::MultiGzDecoder;

fn main() -> std::io::Result<()> {
    let Some(path) = std::env::args().skip(1).find(|argument| !argument.starts_with("--")) else { return Ok(()) };
    let mut inflated = MultiGzDecoder::new(BufReader::with_capacity(128 * 1024, File::open(path)?));
    let mut block = vec![0; 256 * 1024];
    while inflated.read(&mut block)? > 0 {}
    Ok(())
}
