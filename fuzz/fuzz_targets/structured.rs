//! Runs `shardlint_fuzz::structured` on the fuzzer's inputs.
#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| shardlint_fuzz::structured(data));
