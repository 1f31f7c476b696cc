//! Runs `shardlint_fuzz::route` on the fuzzer's inputs.
#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| shardlint_fuzz::route(data));
