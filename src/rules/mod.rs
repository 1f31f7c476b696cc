//! The rules. One file per rule: metadata, explanation, check and examples. `REGISTRY` is the only list.

mod access;
mod declared_index;
mod example;
mod fan_out;
mod finding;
mod key_sample;
mod key_values;
mod literal;
mod lookup;
mod rule;
mod serving;
mod thresholds;
mod totals;

pub mod broadcast_count_or_distinct;
pub mod broadcast_query;
pub mod coarse_key_unsplittable;
pub mod collation_loses_key;
pub mod declaration_not_understood;
pub mod deep_skip_over_shards;
pub mod distribution_skew;
pub mod failure_blast_radius;
pub mod find_and_modify_without_key;
pub mod gridfs_key;
pub mod hashed_but_range_load;
pub mod heavy_merge;
pub mod hot_key_value;
pub mod hot_shard;
pub mod id_only_read;
pub mod id_only_write;
pub mod id_unique_per_shard;
pub mod illegal_unique_index;
pub mod invalid_shard_key;
pub mod jumbo_or_failed_migration;
pub mod key_change;
mod key_coverage_low;
pub mod key_hidden_from_router;
pub mod key_prefix_hole;
pub mod key_type_mismatch;
pub mod key_value_changed;
pub mod lookup_fan_out;
pub mod low_cardinality;
pub mod match_not_first;
pub mod missing_esr_index;
pub mod missing_shard_key_index;
pub mod monotonic_range_key;
pub mod multi_shard_fan_out;
pub mod multi_write_broadcast;
pub mod null_key_value;
pub mod or_with_unkeyed_branch;
pub mod prediction_contradicted;
pub mod random_key_no_locality;
pub mod range_on_hashed_field;
pub mod redacted_query;
pub mod redundant_index;
pub mod routing_regression;
pub mod scan_on_every_shard;
pub mod single_write_without_key;
pub mod sort_in_memory;
pub mod sort_off_key_prefix;
pub mod truncated_record;
pub mod unbounding_key_predicate;
pub mod undeclared_namespace;
pub mod uneven_shards;
pub mod unique_on_hashed;
pub mod unreadable_line;
pub mod unusable_shard_key_index;
pub mod unused_suppression;
pub mod upsert_without_full_key;

pub use access::{Access, Direction, Pattern, collation_words};
pub use declared_index::knows_indexes;
pub use example::{Example, Examples, HEADINGS, abridged, section};
pub use fan_out::filter_of;
pub use finding::{Finding, Label, Severity};
pub use key_sample::{FieldValues, Growth, KeyValues, Observation, SAMPLE, Sieve};
pub use key_values::{KeyValue, Seen, Shown, key_values, visit_key_values};
pub use literal::{has_literals, literal, with_literals, without_literals};
pub use lookup::{matching, rule, suggestions};
pub use rule::{Check, DeclarationContext, EventContext, Evidence, Rule, Status};
pub use thresholds::Thresholds;
pub use totals::{
    Carried, ClusterContext, Cost, KeyUse, NamespaceContext, NamespaceFinding, NamespaceTotals, ShapeTotals,
};

/// All rules, by code.
pub static REGISTRY: &[&Rule] = &[
    &truncated_record::RULE,
    &unreadable_line::RULE,
    &undeclared_namespace::RULE,
    &redacted_query::RULE,
    &declaration_not_understood::RULE,
    &unused_suppression::RULE,
    &broadcast_query::RULE,
    &key_prefix_hole::RULE,
    &range_on_hashed_field::RULE,
    &or_with_unkeyed_branch::RULE,
    &multi_shard_fan_out::RULE,
    &unbounding_key_predicate::RULE,
    &key_hidden_from_router::RULE,
    &key_type_mismatch::RULE,
    &collation_loses_key::RULE,
    &broadcast_count_or_distinct::RULE,
    &null_key_value::RULE,
    &id_only_read::RULE,
    &single_write_without_key::RULE,
    &multi_write_broadcast::RULE,
    &id_only_write::RULE,
    &upsert_without_full_key::RULE,
    &find_and_modify_without_key::RULE,
    &key_value_changed::RULE,
    &sort_off_key_prefix::RULE,
    &deep_skip_over_shards::RULE,
    &sort_in_memory::RULE,
    &match_not_first::RULE,
    &lookup_fan_out::RULE,
    &heavy_merge::RULE,
    &missing_shard_key_index::RULE,
    &unusable_shard_key_index::RULE,
    &illegal_unique_index::RULE,
    &unique_on_hashed::RULE,
    &id_unique_per_shard::RULE,
    &missing_esr_index::RULE,
    &scan_on_every_shard::RULE,
    &redundant_index::RULE,
    &uneven_shards::RULE,
    &invalid_shard_key::RULE,
    &low_cardinality::RULE,
    &hot_key_value::RULE,
    &monotonic_range_key::RULE,
    &random_key_no_locality::RULE,
    &coarse_key_unsplittable::RULE,
    &key_coverage_low::RULE,
    &hashed_but_range_load::RULE,
    &gridfs_key::RULE,
    &failure_blast_radius::RULE,
    &jumbo_or_failed_migration::RULE,
    &distribution_skew::RULE,
    &hot_shard::RULE,
    &prediction_contradicted::RULE,
    &routing_regression::RULE,
];
