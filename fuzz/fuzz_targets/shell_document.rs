//! Runs `shardlint_fuzz::shell_document` on the fuzzer's inputs.
#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| shardlint_fuzz::shell_document(data));
