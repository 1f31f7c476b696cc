//! Which updates change the shard key, by operators, by a document in place of the row, by a pipeline: SL206.

use shardlint::model::Verb;
use shardlint::routing::{Cause, Class};
use shardlint::syntax::ext_json;

use super::Scene;

/// What is said of `update` on a row that `filter` finds, with the shard key `{ a.b: 1, c: 1 }`.
fn label(filter: &str, update: &str) -> Option<String> {
    let mut scene = Scene::new(Verb::Update, Class::Targeted, Cause::SingleKey, &["a.b", "c"]);
    scene.statement.filter = Some(ext_json::parse(filter, 0).expect("JSON"));
    scene.statement.update = Some(ext_json::parse(update, 0).expect("JSON"));
    scene.finding("SL206").map(|finding| finding.labels[0].text.clone())
}

const ROW: &str = r#"{"a.b":1,"c":5}"#;

#[track_caller]
fn keeps(update: &str) {
    assert_eq!(label(ROW, update), None, "{update}");
}

#[track_caller]
fn does(update: &str, what: &str) {
    let label = label(ROW, update).unwrap_or_else(|| panic!("{update}: silent"));
    assert!(label.starts_with(what), "{update}: {label}");
}

#[test]
fn an_operator_that_leaves_the_value_as_it_is_changes_nothing() {
    for update in [r#"{"$inc":{"c":0}}"#, r#"{"$max":{"c":3}}"#, r#"{"$min":{"c":5}}"#, r#"{"$set":{"a":{"b":1}}}"#] {
        keeps(update);
    }
    for update in [r#"{"$inc":{"c":1}}"#, r#"{"$max":{"c":6}}"#, r#"{"$min":{"c":4}}"#, r#"{"$rename":{"x":"c"}}"#] {
        does(update, "sets `c`");
    }
    for update in [
        r#"{"$mul":{"c":1}}"#,
        r#"{"$bit":{"c":{"or":0}}}"#,
        r#"{"$bit":{"c":{"and":-1,"xor":0}}}"#,
        r#"{"$rename":{"c":"c"}}"#,
    ] {
        keeps(update);
    }
    does(r#"{"$mul":{"c":2}}"#, "sets `c`");
    does(r#"{"$bit":{"c":{"and":1}}}"#, "sets `c`");
    assert_eq!(label(r#"{"a.b":1,"c":null}"#, r#"{"$unset":{"c":""}}"#), None, "there was none before");
    does(r#"{"$set":{"a":{"b":2}}}"#, "sets `a.b`");
    does(r#"{"$rename":{"c":"x"}}"#, "leaves no `c`");
}

#[test]
fn a_replacement_has_to_hold_the_key_as_it_was() {
    keeps(r#"{"a":{"b":1},"c":5,"x":3}"#);
    does(r#"{"a":{"b":1},"c":2}"#, "sets `c`");
    does(r#"{"x":3,"c":5}"#, "leaves no `a.b`");
    assert_eq!(label(r#"{"_id":7}"#, r#"{"a":{"b":1},"c":2}"#), None, "mappers write back what was there");
    assert_eq!(label(r#"{"a.b":null,"c":5}"#, r#"{"c":5}"#), None, "there was none before");
}

#[test]
fn stages_of_a_pipeline_set_and_remove() {
    keeps(r#"[{"$set":{"c":"$c","a":{"x":1}}},{"$unset":"d"},{"$project":{"d":0}}]"#);
    keeps(r#"[{"$replaceWith":{"$mergeObjects":["$$ROOT",{"x":1}]}}]"#);
    for projection in [r#"{"a":1,"c":1}"#, r#"{"a":{"b":1},"c":"$c"}"#, r#"{"_id":0,"d":0}"#, r#"{"a.b":true,"c":1}"#] {
        keeps(&format!(r#"[{{"$project":{projection}}}]"#));
    }
    does(r#"[{"$project":{"c":1}}]"#, "leaves no `a.b`");
    does(r#"[{"$project":{"a":{"x":1},"c":1}}]"#, "leaves no `a.b`");
    does(r#"[{"$project":{"a":1,"_id":0}}]"#, "leaves no `c`");
    does(r#"[{"$set":{"c":6}}]"#, "sets `c`");
    does(r#"[{"$unset":"c"}]"#, "leaves no `c`");
    does(r#"[{"$unset":["d","a"]}]"#, "leaves no `a.b`");
    does(r#"[{"$project":{"c":0}}]"#, "leaves no `c`");
    does(r#"[{"$replaceWith":{"x":1}}]"#, "leaves no `a.b`");
    does(r#"[{"$replaceRoot":{"newRoot":{"a":{"b":1},"c":4}}}]"#, "sets `c`");
}
