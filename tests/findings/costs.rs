//! What costs on top of fan-out: sorts, scans, paging, null and changed keys. From which limits on it is told.

use shardlint::model::{Array, Document, Field, Node, Value, Verb};
use shardlint::routing::{Cause, Class, FieldBounds};
use shardlint::text::{Located, Span};

use super::{FILTER, PLAN, PREDICATE, Scene, document, node};

fn broadcast(verb: Verb) -> Scene {
    Scene::new(verb, Class::Broadcast, Cause::NoKeyField, &["customerId"])
}

fn number(value: i32) -> Node {
    node(Value::Int32(value), PREDICATE)
}

fn scanned(scene: &mut Scene, documents: u64) {
    scene.event.plan_summary = Some(Located::new("COLLSCAN".to_owned(), PLAN));
    scene.event.docs_examined = Some(Located::new(documents, PLAN));
}

#[test]
fn a_scan_that_a_limit_ends_early_is_no_scan_of_everything() {
    let mut scene = broadcast(Verb::Find);
    scanned(&mut scene, 12);
    assert!(scene.fires("SL407").message.contains("12 documents on the one that wrote this record"));
    scene.statement.limit = Some(number(5));
    assert!(scene.finding("SL407").is_none());
    scanned(&mut scene, 48_000);
    scene.fires("SL407");
    scanned(&mut scene, 12);
    scene.statement.sort = Some(document(&[("total", Value::Int32(1))], FILTER));
    assert!(scene.finding("SL407").is_some(), "a sort has to read everything first");
}

#[test]
fn a_scan_of_one_shard_or_for_everything_is_not_told() {
    let mut scene = Scene::new(Verb::Find, Class::Targeted, Cause::SingleKey, &["customerId"]);
    scanned(&mut scene, 48_000);
    assert!(scene.finding("SL407").is_none());
    let mut scene = Scene::new(Verb::Find, Class::Broadcast, Cause::NoFilter, &["customerId"]);
    scanned(&mut scene, 48_000);
    assert!(scene.finding("SL407").is_none());
}

#[test]
fn a_skip_is_deep_from_a_thousand_documents_on_and_only_over_several_shards() {
    let mut scene = broadcast(Verb::Find);
    scene.statement.skip = Some(number(999));
    assert!(scene.finding("SL302").is_none());
    scene.statement.skip = Some(number(1000));
    scene.statement.limit = Some(number(20));
    let message = scene.fires("SL302").message;
    assert!(message.ends_with("each shard that is asked sends up to 1020 documents for it"), "{message}");
    scene.catalog.shard_count = Some(12);
    assert!(scene.fires("SL302").message.ends_with("up to 12 × 1020 documents are sent for it"));
    scene.verdict.class = Class::Targeted;
    assert!(scene.finding("SL302").is_none());
}

#[test]
fn a_skip_without_a_limit_makes_shards_send_everything() {
    let mut scene = broadcast(Verb::Find);
    scene.statement.skip = Some(number(100_000));
    scene.catalog.shard_count = Some(12);
    let message = scene.fires("SL302").message;
    assert!(message.ends_with("with no limit, each shard that is asked sends all that it finds"), "{message}");
}

#[test]
fn a_record_of_one_shard_merges_nothing() {
    let mut scene = broadcast(Verb::Find);
    scene.statement.skip = Some(number(1000));
    scene.statement.sort = Some(document(&[("total", Value::Int32(-1))], FILTER));
    let several = ["SL301", "SL302"];
    scene.event.n_shards = Some(Located::new(2, PLAN));
    assert_eq!(scene.firing(&several), several);
    scene.event.n_shards = Some(Located::new(1, PLAN));
    assert_eq!(scene.firing(&several), [""; 0]);
}

#[test]
fn a_grouping_by_the_whole_key_has_no_group_on_two_shards() {
    let mut scene = Scene::new(Verb::Aggregate, Class::Broadcast, Cause::NoKeyField, &["customerId", "region"]);
    scene.event.returned = Some(Located::new(500, PLAN));
    let text = |text: &str| Value::String(text.to_owned());
    let mut group_by = |id: Value, before: &str| {
        let stages = [(before, document(&[], FILTER)), ("$group", document(&[("_id", id)], FILTER))];
        let items = stages.into_iter().map(|(name, stage)| document(&[(name, stage.value)], FILTER)).collect();
        scene.statement.pipeline = Some(node(Value::Array(Array { items, partial: false }), FILTER));
        scene.finding("SL313").is_some()
    };
    let whole = document(&[("r", text("$region")), ("c", text("$customerId"))], FILTER).value;
    assert!(!group_by(whole.clone(), "$match"));
    assert!(group_by(whole, "$project"), "its fields may have been renamed");
    assert!(group_by(text("$customerId"), "$match"));
}

#[test]
fn the_help_on_a_sort_names_an_index_where_the_filter_is_not_understood() {
    let mut scene = broadcast(Verb::Find);
    scene.statement.sort = Some(document(&[("total", Value::Int32(-1))], FILTER));
    let branches = Value::Array(Array { items: vec![document(&[("a", Value::Int32(1))], FILTER); 2], partial: false });
    scene.statement.filter = Some(document(&[("$or", branches)], FILTER));
    scene.event.has_sort_stage = Some(PLAN);
    let help = scene.fires("SL303").help.expect("help");
    assert!(help.starts_with("create an index that gives this order") && help.contains("({ total: -1 })"), "{help}");
}

#[test]
fn a_sort_of_few_documents_is_told_only_if_it_went_to_disk() {
    let mut scene = broadcast(Verb::Find);
    scene.statement.sort = Some(document(&[("total", Value::Int32(-1))], FILTER));
    assert!(scene.finding("SL303").is_none(), "nothing says that the server sorted");
    scene.event.has_sort_stage = Some(PLAN);
    scene.event.docs_examined = Some(Located::new(99, PLAN));
    assert!(scene.finding("SL303").is_none());
    scene.event.used_disk = Some(PLAN);
    let finding = scene.fires("SL303");
    assert!(finding.message.contains("sorts on disk"), "{}", finding.message);
    assert!(finding.help.is_some_and(|help| help.contains("createIndex({ status: 1, total: -1 })")));
}

/// `{ $set: { customerId: value } }`.
fn set_key(operator: &str, value: i32) -> Node {
    let members = document(&[("customerId", Value::Int32(value))], FILTER);
    let field = Field { name: operator.to_owned(), name_span: Span::default(), node: members };
    node(Value::Document(Document { fields: vec![field], partial: false }), FILTER)
}

#[test]
fn only_another_value_of_the_key_is_a_change_of_it() {
    let mut scene = Scene::new(Verb::Update, Class::Targeted, Cause::SingleKey, &["customerId"]);
    scene.statement.filter = Some(document(&[("customerId", Value::Int32(7))], FILTER));
    scene.statement.update = Some(set_key("$set", 7));
    assert!(scene.finding("SL206").is_none());
    scene.statement.update = Some(set_key("$set", 8));
    assert!(scene.fires("SL206").message.contains("needs a retryable write or a transaction"));
    scene.statement.retryable = true;
    assert!(scene.fires("SL206").message.contains("which may move the document"));
    scene.statement.update = Some(set_key("$inc", 1));
    scene.fires("SL206");
    scene.statement.update = Some(set_key("$setOnInsert", 8));
    assert!(scene.finding("SL206").is_none());
    scene.statement.filter = None;
    scene.statement.update = Some(set_key("$set", 8));
    assert!(scene.finding("SL206").is_none(), "mappers write back what was there");
}

#[test]
fn null_is_told_wherever_the_filter_asks_for_it() {
    let mut scene = Scene::new(Verb::Find, Class::Targeted, Cause::SingleKey, &["customerId"]);
    scene.bind("customerId", FieldBounds::Points(1));
    for (value, told) in [(Value::Null, true), (Value::Int32(7), false)] {
        scene.statement.filter = Some(document(&[("customerId", value)], FILTER));
        assert_eq!(scene.finding("SL111").is_some(), told);
    }
    scene.statement.filter = Some(document(&[("other", Value::Null)], FILTER));
    assert!(scene.finding("SL111").is_none());
    let branch = |value| document(&[("customerId", value)], FILTER);
    let branches = Array { items: vec![branch(Value::Int32(3)), branch(Value::Null)], partial: false };
    scene.statement.filter = Some(document(&[("$or", Value::Array(branches))], FILTER));
    assert!(scene.finding("SL111").is_some(), "one branch asks for it");
}
