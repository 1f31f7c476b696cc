//! Writes: SL2xx.

use shardlint::model::{ServerVersion, Value, Verb};
use shardlint::routing::{Cause, Class, FieldBounds, RouterError};
use shardlint::rules::Severity;

use super::{FILTER, Scene, document};

const RANKED: [&str; 5] = ["SL204", "SL205", "SL203", "SL201", "SL202"];

fn write(verb: Verb, cause: Cause) -> Scene {
    Scene::new(verb, Class::Broadcast, cause, &["customerId", "_id"])
}

#[test]
fn each_kind_of_write_has_its_rule() {
    assert_eq!(write(Verb::Update, Cause::SingleWriteWithoutKey).firing(&RANKED), ["SL201"]);
    assert_eq!(write(Verb::Delete, Cause::IdOnlyWrite).firing(&RANKED), ["SL203"]);
    assert_eq!(write(Verb::FindAndModify, Cause::SingleWriteWithoutKey).firing(&RANKED), ["SL205"]);
    let mut many = write(Verb::Delete, Cause::MultiWrite);
    many.statement.multi = true;
    assert_eq!(many.firing(&RANKED), ["SL202"]);
    let mut upsert = write(Verb::Update, Cause::UpsertWithoutKey);
    upsert.statement.upsert = true;
    assert_eq!(upsert.firing(&RANKED), ["SL204", "SL201"]);
    upsert.statement.verb = Verb::FindAndModify;
    assert_eq!(upsert.firing(&RANKED), ["SL204", "SL205"]);
    assert_eq!(write(Verb::Insert, Cause::Insert).firing(&RANKED), [""; 0]);
}

#[test]
fn a_single_write_is_refused_up_to_7_0_and_searched_for_in_two_phases_later() {
    let mut scene = write(Verb::Update, Cause::SingleWriteWithoutKey);
    let message = scene.fires("SL201").message;
    assert!(message.ends_with("is refused: it does not reach one shard (MongoDB 6.0)"), "{message}");
    scene.version = ServerVersion::line(8, 0);
    let message = scene.fires("SL201").message;
    assert!(message.ends_with("in two phases (MongoDB 8.0)"), "{message}");
    assert_eq!(scene.fires("SL201").severity, None);
}

#[test]
fn a_single_write_by_a_range_of_the_key_is_a_warning() {
    let mut scene = write(Verb::Update, Cause::KeyRanges { ranges: 1 });
    scene.verdict.class = Class::MultiShard;
    let finding = scene.fires("SL201");
    assert_eq!(finding.severity, Some(Severity::Warning));
    assert!(finding.message.contains("is refused whenever it spans shards"), "{}", finding.message);
    scene.verdict.error = Some(RouterError { code: 72, name: "InvalidOptions" });
    assert_eq!(scene.fires("SL201").severity, None);
}

#[test]
fn the_fields_to_add_are_those_that_no_equality_binds() {
    let mut scene = write(Verb::FindAndModify, Cause::SingleWriteWithoutKey);
    assert!(scene.fires("SL205").labels[0].text.starts_with("no equality on `customerId` and `_id`"));
    scene.bind("_id", FieldBounds::Points(1));
    let finding = scene.fires("SL205");
    assert_eq!(finding.labels[0].span, FILTER);
    assert!(finding.help.expect("help").starts_with("add an equality on `customerId` to the filter"));
}

#[test]
fn a_multi_write_asks_shards_without_chunks_too() {
    let mut scene = write(Verb::Update, Cause::MultiWrite);
    scene.statement.multi = true;
    scene.catalog.shards = Some(vec!["a".to_owned(), "b".to_owned(), "c".to_owned()]);
    let message = scene.fires("SL202").message;
    assert_eq!(message, "`update` on `shop.orders` of many documents is sent to all 3 shards of the cluster");
    scene.verdict.class = Class::Targeted;
    assert!(scene.finding("SL202").is_none());
}

#[test]
fn upserts_of_many_documents_are_refused_in_all_versions() {
    let mut scene = write(Verb::Update, Cause::UpsertWithoutKey);
    scene.statement.upsert = true;
    scene.version = ServerVersion::line(8, 0);
    assert!(scene.fires("SL204").message.contains("in two phases"));
    scene.statement.multi = true;
    assert!(scene.fires("SL204").message.contains("is refused"));
}

#[test]
fn an_exact_id_beside_a_range_of_the_key_is_no_write_without_the_key() {
    let mut scene = write(Verb::Update, Cause::KeyRanges { ranges: 1 });
    scene.verdict.class = Class::MultiShard;
    scene.statement.filter = Some(document(&[("_id", Value::Int32(9)), ("customerId", Value::Null)], FILTER));
    assert!(scene.finding("SL201").is_none());
}

#[test]
fn what_the_router_refuses_is_reported_whatever_its_class() {
    let mut scene = write(Verb::Update, Cause::UpsertWithoutKey);
    scene.statement.upsert = true;
    scene.verdict.class = Class::Targeted;
    assert!(scene.finding("SL204").is_none());
    scene.verdict.error = Some(RouterError { code: 61, name: "ShardKeyNotFound" });
    assert!(scene.finding("SL204").is_some());
}

#[test]
fn a_range_that_lies_on_one_shard_now_may_span_shards_later() {
    let mut scene = write(Verb::FindAndModify, Cause::SingleWriteWithoutKey);
    scene.version = ServerVersion::line(8, 0);
    scene.verdict.shards = Some(vec!["a".to_owned()]);
    let finding = scene.fires("SL205");
    assert!(finding.message.contains("whenever it spans shards"), "{}", finding.message);
    assert_eq!(finding.severity, Some(Severity::Warning));
}
