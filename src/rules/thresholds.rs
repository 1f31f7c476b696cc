//! The limits from which rules speak. Each has a default that the pages of the rules state; `shardlint.toml` may set them.
//! Percentages are whole numbers from 0 to 100.

use schemars::JsonSchema;
use serde::Deserialize;

/// From where on a rule speaks.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case", default)]
#[schemars(deny_unknown_fields)]
pub struct Thresholds {
    /// SL105: so many ranges of the key are as good as one. Default 2.
    pub few_ranges: usize,
    /// SL302: a `skip` of so many documents is deep. Default 1000.
    pub deep_skip: u64,
    /// SL303: so many examined documents make a sort in memory worth a finding; one that spills to disk always is.
    /// Default 100.
    pub sorted_documents: u64,
    /// SL313: so many results of a merge (or a merge that spills to disk) make it heavy. A first batch has 101. Default 100.
    pub merged_documents: u64,
    /// SL506: the least share of calls that should carry the key's first field, in percent. Default 80.
    pub key_coverage_percent: u64,
    /// SL502: the greatest share that one value may have, in percent. Default 20.
    pub hot_value_percent: u64,
    /// SL501: so few different values of the whole key are too few where the number of shards is not known. Default 16.
    pub few_values: u64,
    /// SL507: the share of calls from which on a kind of load counts as the load, in percent. Default 50.
    pub load_percent: u64,
    /// SL602: how much more than its fair share a shard may hold, in percent of that share. Default 50.
    pub skew_percent: u64,
    /// SL602: a shard that holds so many megabytes more than another is worth a move; the balancer of 6.0 and later thinks so from
    /// three ranges of 128 MB on. Default 384.
    pub skew_megabytes: u64,
    /// SL603: the share of the time from which on one shard is hot, in percent; twice its fair share it must have in any
    /// case. Default 60.
    pub hot_shard_percent: u64,
    /// SL409: a shard that takes so many times as long as the others do is slow. Default 3.
    pub slow_shard_times: u64,
    /// SL409: by fewer milliseconds than this no shard is slower. Default 100.
    pub slow_shard_millis: u64,
    /// SL406: queries that took less time together, in milliseconds, and are fewer than `fewest_calls`, need no index.
    /// Default 100.
    pub index_millis: u64,
    /// SL502, SL506, SL507, SL509, SL603: shares of fewer calls than this are not told. Default 20.
    pub fewest_calls: u64,
    /// SL501 to SL504: fewer values than this prove nothing about a key. Default 50.
    pub fewest_values: u64,
}

impl Default for Thresholds {
    fn default() -> Self {
        Self {
            few_ranges: 2,
            deep_skip: 1000,
            sorted_documents: 100,
            merged_documents: 100,
            key_coverage_percent: 80,
            hot_value_percent: 20,
            few_values: 16,
            load_percent: 50,
            skew_percent: 50,
            skew_megabytes: 384,
            hot_shard_percent: 60,
            slow_shard_times: 3,
            slow_shard_millis: 100,
            index_millis: 100,
            fewest_calls: 20,
            fewest_values: 50,
        }
    }
}
