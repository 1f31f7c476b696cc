//! Filters, pipelines and collections of extreme size or depth.

use shardlint::model::{ChunkMap, KeyKind, Node, Value, Verb};
use shardlint::routing::Class;

use crate::cluster::{array, chunk_map, find, int, key, single, verdict_on};

fn thousand_chunks() -> ChunkMap {
    chunk_map((1..1_000).map(|at| vec![Value::Int32(at * 10)]).collect(), 1)
}

#[test]
fn ten_thousand_members_of_an_in_over_a_thousand_chunks_reach_all_of_them() {
    let members = (0..10_000).map(int).collect();
    let filter = single("a", single("$in", array(members)));
    let verdict = verdict_on(find(filter), &key(&[("a", KeyKind::Ranged)]), Some(&thousand_chunks()));
    assert_eq!(verdict.class, Class::MultiShard);
    assert_eq!(verdict.shards.map(|shards| shards.len()), Some(1_000));
}

#[test]
fn a_thousand_chunks_are_told_apart() {
    let key = key(&[("a", KeyKind::Ranged)]);
    for at in [0, 9, 10, 4_995, 9_989, 9_990, 123_456] {
        let verdict = verdict_on(find(single("a", int(at))), &key, Some(&thousand_chunks()));
        let expected = format!("shard{:04}", (at / 10).min(999));
        assert_eq!(verdict.shards, Some(vec![expected]), "a: {at}");
    }
}

#[test]
fn ten_thousand_branches_of_an_or_are_as_good_as_an_in() {
    let branches = (0..10_000).map(|n| single("a", int(n * 7 % 5_000))).collect();
    let statement = find(single("$or", array(branches)));
    let verdict = verdict_on(statement, &key(&[("a", KeyKind::Ranged)]), Some(&thousand_chunks()));
    assert_eq!(verdict.class, Class::MultiShard);
    assert_eq!(verdict.shards.map(|shards| shards.len()), Some(500));
}

/// `filter` below `depth` operators.
fn below(mut filter: Node, operators: &[&str], depth: usize) -> Node {
    for at in 0..depth {
        filter = single(operators[at % operators.len()], array(vec![filter]));
    }
    filter
}

#[test]
fn two_hundred_levels_of_redundant_operators_change_nothing() {
    let filter = below(single("a", int(5)), &["$and", "$or"], 100);
    assert_eq!(verdict_on(find(filter), &key(&[("a", KeyKind::Ranged)]), None).class, Class::Targeted);
}

#[test]
fn no_depth_of_nesting_ends_in_anything_but_a_verdict() {
    let key = key(&[("a", KeyKind::Ranged)]);
    for operators in [["$and", "$or"], ["$nor", "$nor"], ["$or", "$nor"], ["$and", "$nor"]] {
        for depth in [50, 99, 200, 240, 260, 1_000] {
            let filter = below(single("a", int(5)), &operators, depth);
            let class = verdict_on(find(filter), &key, None).class;
            assert_ne!(class, Class::Unsharded, "{operators:?} {depth}");
            // below two negations no filter has bounds, whatever it says
            let redundant = operators == ["$and", "$or"];
            assert!(!redundant || depth < 1_000 || class == Class::Unknown, "{operators:?} {depth}: {class}");
        }
    }
}

#[test]
fn branches_on_both_sides_of_every_level_end_in_a_verdict() {
    let mut filter = single("a", int(5));
    for level in 0..90 {
        let other = single("b", single("$gt", int(level)));
        filter = single(if level % 2 == 0 { "$or" } else { "$and" }, array(vec![filter, other]));
    }
    let key = key(&[("a", KeyKind::Ranged), ("b", KeyKind::Ranged)]);
    assert_eq!(verdict_on(find(filter), &key, None).class, Class::Broadcast);
}

#[test]
fn a_thousand_stages_do_not_keep_a_match_from_the_front() {
    let mut stages = vec![single("$sort", single("z", int(1))); 999];
    stages.push(single("$match", single("a", int(5))));
    let mut statement = find(Node::default());
    statement.verb = Verb::Aggregate;
    statement.filter = None;
    statement.pipeline = Some(array(stages));
    assert_eq!(verdict_on(statement, &key(&[("a", KeyKind::Ranged)]), None).class, Class::Targeted);
}
