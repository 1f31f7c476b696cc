//! Runs `shardlint_fuzz::legacy` on the fuzzer's inputs.
#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| shardlint_fuzz::legacy(data));
