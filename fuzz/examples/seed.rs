//! Fills `fuzz/corpus` with seeds: those of the project, and what the folders given as arguments hold. A seed is named after
//! its content, so that doing it again changes nothing.

use std::collections::hash_map::DefaultHasher;
use std::hash::{Hash, Hasher};
use std::path::Path;

use shardlint_fuzz::TARGETS;
use shardlint_fuzz::seeds::Seeds;

fn main() -> Result<(), String> {
    let mut seeds = Seeds::own()?;
    for folder in std::env::args_os().skip(1) {
        seeds.add_folder(Path::new(&folder))?;
    }
    let corpus = Path::new(env!("CARGO_MANIFEST_DIR")).join("corpus");
    for (target, _) in TARGETS {
        let folder = corpus.join(target);
        std::fs::create_dir_all(&folder).map_err(|error| error.to_string())?;
        let mut count = 0;
        for seed in seeds.of(target) {
            let mut hasher = DefaultHasher::new();
            seed.hash(&mut hasher);
            let path = folder.join(format!("seed-{:016x}", hasher.finish()));
            std::fs::write(path, seed).map_err(|error| error.to_string())?;
            count += 1;
        }
        println!("{target}: {count} seeds");
    }
    Ok(())
}
