//! Properties of routing that hold for every filter. The referee is a brute-force matcher over small documents: no shard is
//! ever ruled out on which a matching document could lie. Beside it: what must not change a verdict (`main`), and filters
//! and collections of extreme size (`extremes`). `filter` generates filters and matches documents, `cluster` has the keys,
//! chunks and statements.

mod cluster;
mod extremes;
mod filter;

use proptest::prelude::*;
use proptest::sample::subsequence;
use shardlint::model::{KeyKind, ShardKey, Verb};
use shardlint::routing::{Class, Verdict};

use cluster::{array, collation, find, fine_chunks, home, key, keys, single, verdict_on};
use filter::{Doc, Filter, Fold, Op, Scalar, Test, docs, filters, leaves, leaves_on};

/// The first document that matches and lies on a shard that the verdict rules out.
fn forgotten<'d>(filter: &Filter, docs: &'d [Doc], key: &ShardKey, fold: Fold) -> Option<(&'d Doc, Verdict)> {
    let chunks = fine_chunks(key, docs);
    let mut statement = find(filter.node());
    statement.collation = (fold == Fold::Case).then(collation);
    let verdict = verdict_on(statement, key, Some(&chunks));
    let shards = verdict.shards.clone().expect("a chunk map was given");
    let missed = docs.iter().find(|doc| filter.matches(doc, fold) && !shards.contains(&home(doc, key, &chunks)));
    missed.map(|doc| (doc, verdict))
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn no_shard_is_ruled_out_on_which_a_matching_document_could_lie(filter in filters(), docs in docs()) {
        for key in keys() {
            let missed = forgotten(&filter, &docs, &key, Fold::No);
            prop_assert!(missed.is_none(), "key {key}, {missed:?}");
        }
    }

    #[test]
    fn under_a_collation_strings_of_another_case_are_not_forgotten(filter in filters(), docs in docs()) {
        for key in keys() {
            let missed = forgotten(&filter, &docs, &key, Fold::Case);
            prop_assert!(missed.is_none(), "key {key}, {missed:?}");
        }
    }

    #[test]
    fn a_verdict_without_chunks_has_the_same_class(filter in filters(), docs in docs()) {
        for key in keys() {
            let with = verdict_on(find(filter.node()), &key, Some(&fine_chunks(&key, &docs)));
            let without = verdict_on(find(filter.node()), &key, None);
            prop_assert_eq!(with.class, without.class);
            prop_assert_eq!(without.shards, None);
            let reached = with.shards.map_or(0, |shards| shards.len());
            prop_assert!(with.class != Class::Targeted || reached == 1, "targeted, but {} shards", reached);
            prop_assert!(without.at_most.is_none_or(|most| reached <= most), "at most {:?}, but {}", without.at_most, reached);
        }
    }

    #[test]
    fn the_order_of_conditions_does_not_matter(
        mut members in prop::collection::vec(leaves(), 1..5),
        branches in prop::collection::vec(leaves(), 2..4),
        docs in docs(),
    ) {
        members.push(Filter::Or(branches));
        let forward = Filter::And(members.clone());
        members.reverse();
        let backward = Filter::And(members);
        for key in keys() {
            let chunks = fine_chunks(&key, &docs);
            let first = verdict_on(find(forward.node()), &key, Some(&chunks));
            let second = verdict_on(find(backward.node()), &key, Some(&chunks));
            prop_assert_eq!((first.class, first.shards), (second.class, second.shards), "key {}", key);
        }
    }

    #[test]
    fn redundant_nesting_does_not_matter(
        filter in filters(),
        docs in docs(),
        layers in prop::collection::vec(any::<bool>(), 1..4),
    ) {
        let nested = layers.iter().fold(filter.clone(), |inner, &or| {
            if or { Filter::Or(vec![inner]) } else { Filter::And(vec![inner]) }
        });
        for key in keys() {
            let chunks = fine_chunks(&key, &docs);
            let plain = verdict_on(find(filter.node()), &key, Some(&chunks));
            let wrapped = verdict_on(find(nested.node()), &key, Some(&chunks));
            prop_assert_eq!((plain.class, plain.shards), (wrapped.class, wrapped.shards), "key {}", key);
        }
    }

    #[test]
    fn numbers_decide_a_class_only_by_their_order(filter in filters(), factor in 1..5, shift in 1..1000) {
        let moved = filter.with_integers(&|n| n * factor + shift);
        for key in keys() {
            let class = verdict_on(find(filter.node()), &key, None).class;
            prop_assert_eq!(class, verdict_on(find(moved.node()), &key, None).class, "key {}", key);
        }
    }

    #[test]
    fn a_match_at_the_front_of_a_pipeline_is_a_find(filter in filters(), docs in docs()) {
        for key in keys() {
            let chunks = fine_chunks(&key, &docs);
            let mut statement = find(filter.node());
            let as_find = verdict_on(statement.clone(), &key, Some(&chunks));
            statement.verb = Verb::Aggregate;
            statement.pipeline = statement.filter.take().map(|filter| array(vec![single("$match", filter)]));
            let as_aggregate = verdict_on(statement, &key, Some(&chunks));
            prop_assert_eq!((as_find.class, as_find.shards), (as_aggregate.class, as_aggregate.shards));
        }
    }

    #[test]
    fn conditions_on_other_fields_leave_a_full_key_equality_alone(filter in leaves_on(vec![1, 2]), value in 0..8, docs in docs()) {
        // an empty `$all` is always false, and that has no bounds
        let never = matches!(&filter, Filter::Field(_, Test::All(values)) if values.is_empty());
        prop_assume!(!never);
        let key = key(&[("a", KeyKind::Ranged)]);
        let chunks = fine_chunks(&key, &docs);
        let equality = Filter::Field(0, Test::Compare(Op::Eq, Scalar::Int(value)));
        let alone = verdict_on(find(equality.node()), &key, Some(&chunks));
        let both = verdict_on(find(Filter::And(vec![equality, filter]).node()), &key, Some(&chunks));
        prop_assert_eq!(both.class, Class::Targeted);
        prop_assert_eq!(alone.shards, both.shards);
    }

    #[test]
    fn an_in_reaches_what_its_members_reach(
        values in subsequence((0..8).collect::<Vec<i32>>(), 1..8),
        docs in docs(),
    ) {
        for key in keys() {
            let chunks = fine_chunks(&key, &docs);
            let shards = |values: &[i32]| {
                let list = values.iter().copied().map(Scalar::Int).collect();
                verdict_on(find(Filter::Field(0, Test::In(list)).node()), &key, Some(&chunks)).shards.expect("chunks")
            };
            let mut union: Vec<String> = values.iter().flat_map(|value| shards(&[*value])).collect();
            union.sort();
            union.dedup();
            prop_assert_eq!(shards(&values), union);
        }
    }
}
