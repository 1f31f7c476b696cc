//! Reads: SL0xx, SL1xx, SL3xx and SL901.

use shardlint::model::{Array, Node, Traffic, Value, Verb};
use shardlint::routing::{Cause, Class, FieldBounds};
use shardlint::text::{Located, Span};

use super::{FILTER, NAME, PLAN, PREDICATE, SHARDS, Scene, document, node};

const RANKED: [&str; 11] =
    ["SL109", "SL104", "SL103", "SL106", "SL107", "SL311", "SL102", "SL112", "SL110", "SL101", "SL105"];

fn broadcast(cause: Cause) -> Scene {
    Scene::new(Verb::Find, Class::Broadcast, cause, &["customerId", "createdAt"])
}

/// A read that is bounded to `bounds` on the first key field, which makes so many ranges.
fn bounded(bounds: FieldBounds, ranges: usize) -> Scene {
    let mut scene =
        Scene::new(Verb::Find, Class::MultiShard, Cause::KeyRanges { ranges }, &["customerId", "createdAt"]);
    scene.bind("customerId", bounds);
    scene
}

fn sorted(mut scene: Scene, by: &str) -> Scene {
    scene.statement.sort = Some(document(&[(by, Value::Int32(-1))], Span::new(41, 44)));
    scene
}

fn pipeline(stages: &[(&str, Value)]) -> Node {
    let items = stages.iter().map(|(name, value)| document(&[(name, value.clone())], FILTER)).collect();
    node(Value::Array(Array { items, partial: false }), FILTER)
}

#[test]
fn a_missing_first_field_is_shown_on_the_filter_with_the_shortest_predicate_to_add() {
    let finding = broadcast(Cause::NoKeyField).fires("SL101");
    assert_eq!(finding.message, "`find` on `shop.orders` is sent to every shard");
    assert_eq!(finding.labels[0].span, FILTER);
    let help = "add an equality on `customerId` to the filter (shard key `{ customerId: 1, createdAt: 1 }`)";
    assert_eq!(finding.help.as_deref(), Some(help));
}

#[test]
fn without_a_filter_the_name_of_the_command_is_shown() {
    let mut scene = broadcast(Cause::NoFilter);
    scene.statement.filter = None;
    scene.catalog.shard_count = Some(12);
    let finding = scene.fires("SL101");
    assert_eq!(finding.message, "`find` on `shop.orders` is sent to all 12 shards");
    assert_eq!(finding.labels[0].span, NAME);
}

#[test]
fn what_the_server_saw_stands_beside_the_finding() {
    let mut scene = broadcast(Cause::NoKeyField);
    scene.event.plan_summary = Some(Located::new("COLLSCAN".to_owned(), PLAN));
    scene.event.n_shards = Some(Located::new(4, SHARDS));
    let spans: Vec<Span> = scene.fires("SL101").labels.iter().map(|label| label.span).collect();
    assert_eq!(spans, [FILTER, PLAN, SHARDS]);
    assert_eq!(scene.fires("SL101").labels[2].text, "4 shards were asked");
}

#[test]
fn each_cause_has_its_own_rule_before_the_general_one() {
    let (predicate, branch) = (PREDICATE, PREDICATE);
    let operator = "$ne".to_owned();
    let causes = [
        (Cause::PrefixHole { present: vec![PREDICATE] }, "SL102"),
        (Cause::RangeOnHashed { predicate }, "SL103"),
        (Cause::OrBranchWithoutKey { or: FILTER, branch }, "SL104"),
        (Cause::NearlyFree { predicate, operator }, "SL106"),
        (Cause::Hidden { predicate, form: "`$where`".to_owned() }, "SL107"),
        (Cause::Collation { predicate, collation: None }, "SL109"),
        (Cause::MatchBehindStage { matching: PREDICATE, stage: FILTER, name: "$limit".to_owned() }, "SL311"),
    ];
    for (cause, code) in causes {
        assert_eq!(broadcast(cause.clone()).firing(&RANKED), [code, "SL101"], "{cause:?}");
    }
}

#[test]
fn a_lookup_by_id_is_told_from_other_queries_without_the_key() {
    let by_id = |value: Value| {
        let mut scene = broadcast(Cause::NoKeyField);
        scene.statement.filter = Some(document(&[("_id", value)], FILTER));
        scene.firing(&RANKED)
    };
    assert_eq!(by_id(Value::Int32(9)), ["SL112", "SL101"]);
    assert_eq!(by_id(document(&[("a", Value::Int32(1))], FILTER).value), ["SL112", "SL101"]);
    assert_eq!(by_id(document(&[("$eq", Value::Int32(1))], FILTER).value), ["SL112", "SL101"]);
    assert_eq!(by_id(document(&[("$gt", Value::Int32(1))], FILTER).value), ["SL101"]);
}

#[test]
fn count_and_distinct_have_a_rule_of_their_own() {
    for (verb, expected) in [(Verb::Count, true), (Verb::Distinct, true), (Verb::Find, false)] {
        let scene = Scene::new(verb, Class::Broadcast, Cause::NoKeyField, &["customerId"]);
        assert_eq!(scene.finding("SL110").is_some(), expected, "{verb:?}");
    }
}

#[test]
fn nobody_can_narrow_a_stage_that_always_asks_the_whole_cluster() {
    let cause = Cause::WholeClusterStage { stage: FILTER, name: "$changeStream".to_owned() };
    assert_eq!(broadcast(cause).firing(&RANKED), [""; 0]);
}

#[test]
fn an_in_of_two_and_an_equality_on_a_prefix_are_as_good_as_targeted() {
    assert!(bounded(FieldBounds::Points(1), 1).finding("SL105").is_none());
    assert!(bounded(FieldBounds::Points(2), 2).finding("SL105").is_none());
    assert!(bounded(FieldBounds::Points(3), 3).finding("SL105").is_some());
    assert!(bounded(FieldBounds::Intervals(1), 1).finding("SL105").is_some());
}

#[test]
fn the_fan_out_of_an_in_is_told_as_expected_and_at_worst() {
    let mut scene = bounded(FieldBounds::Points(12), 12);
    scene.catalog.shard_count = Some(12);
    let message = scene.fires("SL105").message;
    assert!(message.ends_with("12 ranges of the key: about 8 of 12 shards answer, at worst 12"), "{message}");
    scene.verdict.shards = Some(vec!["a".to_owned(), "b".to_owned()]);
    assert!(scene.fires("SL105").message.ends_with("2 of 12 shards answer"));
    scene.verdict.shards = Some(vec!["a".to_owned()]);
    assert!(scene.finding("SL105").is_none());
}

#[test]
fn a_sort_that_follows_the_key_streams_from_each_shard() {
    let range = || bounded(FieldBounds::Intervals(1), 1);
    assert!(sorted(range(), "total").finding("SL301").is_some());
    assert!(sorted(range(), "customerId").finding("SL301").is_none());
    assert!(sorted(range(), "createdAt").finding("SL301").is_some());
    let equality = || bounded(FieldBounds::Points(1), 1);
    assert!(sorted(equality(), "createdAt").finding("SL301").is_none());
    assert!(sorted(equality(), "customerId").finding("SL301").is_none());
    assert!(sorted(equality(), "total").finding("SL301").is_some());
    assert!(sorted(bounded(FieldBounds::Points(3), 3), "createdAt").finding("SL301").is_some());
}

#[test]
fn natural_order_and_scores_are_no_sorts_by_a_field() {
    let mut scene = sorted(broadcast(Cause::NoFilter), "$natural");
    assert!(scene.finding("SL301").is_none());
    let meta = document(&[("$meta", Value::String("textScore".to_owned()))], FILTER).value;
    scene.statement.sort = Some(document(&[("score", meta)], FILTER));
    assert!(scene.finding("SL301").is_none());
}

#[test]
fn the_index_of_a_hashed_field_gives_no_order() {
    let scene = Scene::new(Verb::Find, Class::Broadcast, Cause::NoFilter, &["customerId#"]);
    assert!(sorted(scene, "customerId").finding("SL301").is_some());
}

#[test]
fn a_sort_stage_behind_the_first_match_counts_like_a_sort() {
    let mut scene = broadcast(Cause::NoKeyField);
    scene.statement.verb = Verb::Aggregate;
    let filter = document(&[("status", Value::Int32(1))], FILTER).value;
    let sort = document(&[("total", Value::Int32(1))], FILTER).value;
    scene.statement.filter = None;
    scene.statement.pipeline = Some(pipeline(&[("$match", filter.clone()), ("$sort", sort.clone())]));
    assert!(scene.finding("SL301").is_some());
    scene.statement.pipeline = Some(pipeline(&[("$match", filter), ("$group", Value::Null), ("$sort", sort)]));
    assert!(scene.finding("SL301").is_none());
}

#[test]
fn a_cut_record_says_whether_what_is_left_decides() {
    let mut scene = broadcast(Cause::NoKeyField);
    scene.event.truncated = Some(Located::new("command.filter.$or.2".to_owned(), PLAN));
    let finding = scene.fires("SL001");
    assert!(finding.message.ends_with("what is left decides: broadcast"), "{}", finding.message);
    assert_eq!((finding.labels[0].span, finding.labels[0].text.as_str()), (PLAN, "cut at `command.filter.$or.2`"));
    scene.verdict.class = Class::Unknown;
    assert!(scene.fires("SL001").message.ends_with("so it is unknown"));
}

#[test]
fn a_redacted_query_says_whether_its_shape_decides() {
    let mut scene = broadcast(Cause::NoKeyField);
    assert!(scene.finding("SL004").is_none());
    scene.event.redacted = Some(PREDICATE);
    assert!(scene.fires("SL004").message.ends_with("the shape alone decides: broadcast"));
}

/// A targeted find of which the router says that it asked `asked` shards.
fn targeted(asked: u64) -> Scene {
    let mut scene = Scene::new(Verb::Find, Class::Targeted, Cause::SingleKey, &["customerId"]);
    scene.event.n_shards = Some(Located::new(asked, SHARDS));
    scene
}

#[test]
fn more_shards_than_predicted_contradict() {
    assert!(targeted(1).finding("SL901").is_none());
    let finding = targeted(4).fires("SL901");
    assert_eq!(finding.message, "`find` on `shop.orders` should reach 1 shard by its filter, and 4 were asked");
    let mut at_most = bounded(FieldBounds::Points(3), 3);
    at_most.verdict.at_most = Some(3);
    at_most.event.n_shards = Some(Located::new(3, SHARDS));
    assert!(at_most.finding("SL901").is_none());
    at_most.event.n_shards = Some(Located::new(4, SHARDS));
    assert!(at_most.fires("SL901").message.contains("at most 3 shards"));
}

#[test]
fn fewer_shards_contradict_only_where_several_are_known_to_own_chunks() {
    let mut scene = broadcast(Cause::NoKeyField);
    scene.event.n_shards = Some(Located::new(1, SHARDS));
    assert!(scene.finding("SL901").is_none());
    scene.catalog.shard_count = Some(4);
    assert!(scene.finding("SL901").is_some());
    scene.event.n_shards = Some(Located::new(2, SHARDS));
    assert!(scene.finding("SL901").is_none(), "two of the four shards may own no chunk");
}

#[test]
fn counters_that_mean_something_else_contradict_nothing() {
    type Change = fn(&mut Scene);
    let exceptions: [(&str, Change); 6] = [
        ("a batch", |scene| scene.event.statements.push(scene.statement.clone())),
        ("a batch's command", |scene| scene.event.traffic = Traffic::BatchCommand),
        ("a getMore", |scene| scene.event.get_more = true),
        ("a multi-write", |scene| (scene.statement.verb, scene.statement.multi) = (Verb::Update, true)),
        ("a failed command", |scene| scene.event.error_code = Some(Located::new(50, PLAN))),
        ("a merge elsewhere", |scene| {
            scene.statement.verb = Verb::Aggregate;
            scene.statement.pipeline = Some(pipeline(&[("$match", Value::Null), ("$out", Value::Null)]));
        }),
    ];
    for (what, change) in exceptions {
        let mut scene = targeted(4);
        change(&mut scene);
        assert!(scene.finding("SL901").is_none(), "{what}");
    }
}

#[test]
fn a_collation_that_loses_a_later_field_is_told_too() {
    let mut scene = bounded(FieldBounds::Points(1), 1);
    let text = Value::String("x".to_owned());
    scene.statement.filter = Some(document(&[("customerId", Value::Int32(5)), ("createdAt", text)], FILTER));
    assert!(scene.finding("SL109").is_none());
    scene.collection.collation = Some(document(&[("locale", Value::String("en".to_owned()))], PLAN));
    let finding = scene.fires("SL109");
    assert!(finding.message.contains("may reach several shards"), "{}", finding.message);
    assert_eq!(finding.labels[0].span, PREDICATE);
    scene.statement.collation = Some(document(&[("locale", Value::String("simple".to_owned()))], PLAN));
    assert!(scene.finding("SL109").is_none());
}
