//! What the fuzz targets require holds for everything they start from.

use shardlint_fuzz::TARGETS;
use shardlint_fuzz::seeds::Seeds;

#[test]
fn every_seed_keeps_what_its_target_requires() {
    let seeds = Seeds::own().expect("the project's own files");
    for (target, holds) in TARGETS {
        let mut count = 0;
        for seed in seeds.of(target) {
            holds(seed);
            count += 1;
        }
        assert!(count >= 10, "{target} has only {count} seeds");
    }
}
