//! Which indexes serve a query, beyond those of plain fields.

use shardlint::model::{IndexSpec, Value, Verb};
use shardlint::routing::{Cause, Class};
use shardlint::rules::Access;

use super::{FILTER, Scene, document};

#[test]
fn a_hashed_index_finds_by_its_first_field_and_gives_no_order() {
    let mut scene = Scene::new(Verb::Find, Class::Broadcast, Cause::NoKeyField, &["customerId"]);
    let hashed = Value::String("hashed".to_owned());
    let served = |scene: &Scene, fields: &[(&str, Value)]| {
        let key = document(fields, FILTER).as_document().expect("a document").clone();
        let index = IndexSpec::plain(key, FILTER, FILTER);
        Access::of(&scene.statement).expect("an access").is_served_by_index(&scene.collection, &index)
    };
    assert!(served(&scene, &[("status", hashed.clone()), ("at", Value::Int32(1))]));
    assert!(!served(&scene, &[("other", hashed.clone())]));
    assert!(!served(&scene, &[("at", Value::Int32(1)), ("status", hashed.clone())]), "it begins with another field");
    scene.statement.sort = Some(document(&[("total", Value::Int32(1))], FILTER));
    assert!(!served(&scene, &[("status", hashed)]));
}
