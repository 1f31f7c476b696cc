//! The steps of the procedure, held against the router's own tests (restated in `tests/data`), and the verdicts on records
//! that are cut or redacted.

use std::fs::File;
use std::io::Read;

use crate::model::{Array, Document, Node, ServerVersion, ShardKey, Value, compare};
use crate::syntax::ext_json;

use super::bounds::BoundsBuilder;
use super::choose::Chooser;
use super::collation::Collation;
use super::document_key::document_key;
use super::flatten::KeyRanges;
use super::intervals::{Interval, Intervals};
use super::normalise::normalise;
use super::predicate::Predicate;
use super::target::{Reach, Targeting};
use super::verdict::{Cause, Class};

fn parse(text: &str) -> Node {
    ext_json::parse(text, 0).expect("extended JSON")
}

/// The restated cases of one kind.
fn cases(kind: &str) -> Vec<Document> {
    let path = format!("{}/tests/data/routing-cases.jsonl.zst", env!("CARGO_MANIFEST_DIR"));
    let mut text = String::new();
    let file = File::open(path).expect("the cases are part of the repository");
    zstd::Decoder::new(file).expect("zstd").read_to_string(&mut text).expect("text");
    let all = text.lines().map(|line| parse(line).as_document().expect("an object").clone());
    let cases: Vec<Document> = all.filter(|case| case.get("kind").and_then(Node::as_str) == Some(kind)).collect();
    assert!(!cases.is_empty());
    cases
}

fn key_of(case: &Document) -> ShardKey {
    ShardKey::from_pattern(case.get("shardKey").expect("a key")).expect("a valid key")
}

fn targeting(key: &ShardKey) -> Targeting<'_> {
    Targeting { key, collation: Collation::Simple, version: ServerVersion::NEWEST, hashed_under_collation: false }
}

fn filter_of(case: &Document) -> Predicate {
    normalise(Predicate::parse(case.get("filter").expect("a filter")))
}

fn id(case: &Document) -> &str {
    case.get("id").and_then(Node::as_str).unwrap_or_default()
}

fn interval(node: &Node) -> Interval {
    let member = |name| node.as_document().and_then(|interval| interval.get(name)).expect("a member");
    let inclusive = (member("startInclusive").is_truthy(), member("endInclusive").is_truthy());
    Interval::new(member("start").value.clone(), member("end").value.clone(), inclusive)
}

fn intervals_of(bounds: &Node, key: &ShardKey) -> Vec<Vec<Interval>> {
    let bounds = bounds.as_document().expect("bounds");
    let field =
        |path: &str| bounds.get(path).and_then(Node::as_array).expect("intervals").items.iter().map(interval).collect();
    key.fields.iter().map(|key_field| field(&key_field.path)).collect()
}

fn same_intervals(left: &[Interval], right: &[Interval]) -> bool {
    left.len() == right.len()
        && left.iter().zip(right).all(|(a, b)| {
            compare(&a.low, &b.low).is_eq()
                && compare(&a.high, &b.high).is_eq()
                && a.low_inclusive == b.low_inclusive
                && a.high_inclusive == b.high_inclusive
        })
}

/// The expected key in key order; `None` where the case expects none.
fn expected_key(case: &Document, key: &ShardKey) -> Option<Vec<Value>> {
    let expected = case.get("expectKey").and_then(Node::as_document)?;
    Some(key.fields.iter().map(|field| expected.get(&field.path).expect("a value").value.clone()).collect())
}

fn same_key(left: Option<&Vec<Value>>, right: Option<&Vec<Value>>) -> bool {
    match (left, right) {
        (Some(left), Some(right)) => left.iter().zip(right).all(|(a, b)| compare(a, b).is_eq()),
        (left, right) => left.is_none() && right.is_none(),
    }
}

#[test]
fn bounds_are_those_of_the_routers_tests() {
    for case in cases("bounds") {
        let key = key_of(&case);
        let builder = BoundsBuilder { collated: false, version: ServerVersion::NEWEST };
        let bounds = Chooser::new(&key, builder).choose(&filter_of(&case));
        let bounds = bounds.unwrap_or_else(|| vec![None; key.fields.len()]);
        let expected = intervals_of(case.get("expectBounds").expect("bounds"), &key);
        for (field, expected) in bounds.into_iter().zip(&expected) {
            let field = field.unwrap_or_else(Intervals::everything);
            assert!(same_intervals(field.as_slice(), expected), "{}: {field:?}", id(&case));
        }
    }
}

#[test]
fn ranges_are_those_of_the_routers_tests() {
    for case in cases("flatten") {
        let key = key_of(&case);
        let bounds = intervals_of(case.get("bounds").expect("bounds"), &key);
        let bounds: Vec<Intervals> = bounds.into_iter().map(Intervals::union).collect();
        let ranges = KeyRanges::flatten(&bounds).expect("ranges");
        let Some(Array { items, .. }) = case.get("expectRanges").and_then(Node::as_array) else { panic!("ranges") };
        assert_eq!(ranges.len(), items.len(), "{}", id(&case));
        for (index, expected) in items.iter().enumerate() {
            let (low, high) = ranges.range(index);
            let ends = &expected.as_array().expect("two ends").items;
            for (actual, expected) in [low, high].into_iter().zip(ends) {
                let fields = &expected.as_document().expect("a key").fields;
                let same = actual.iter().zip(fields).all(|(a, b)| compare(a, &b.node.value).is_eq());
                assert!(same, "{}: {actual:?}", id(&case));
            }
        }
    }
}

#[test]
fn keys_of_filters_are_those_of_the_routers_tests() {
    for case in cases("query-key") {
        let key = key_of(&case);
        let target = targeting(&key).target(&filter_of(&case));
        let found = match &target.reach {
            Reach::Key(found) => Some(found.clone()),
            // Equal branches are one value by their bounds, where they are not merged before.
            Reach::Ranges(ranges) => ranges.single_key(),
            Reach::Nothing | Reach::Everything => None,
        };
        // An array is no key, but its two points are bounds.
        assert!(same_key(found.as_ref(), expected_key(&case, &key).as_ref()), "{}: {found:?}", id(&case));
    }
}

#[test]
fn keys_of_documents_are_those_of_the_routers_tests() {
    for case in cases("doc-key") {
        let key = key_of(&case);
        let document = case.get("document").and_then(Node::as_document).expect("a document");
        let found = document_key(document, &key)
            .ok()
            .map(|values| targeting(&key).stored_key(values.into_iter().map(|value| value.unwrap_or(&Value::Null))));
        assert!(same_key(found.as_ref(), expected_key(&case, &key).as_ref()), "{}: {found:?}", id(&case));
    }
}

mod gaps {
    use super::*;
    use crate::catalog::Collection;
    use crate::model::{Namespace, Statement, Verb};
    use crate::routing::{Cluster, Verdict, route};
    use crate::text::{SourceId, Span};

    /// Turns the marks of the tests into gaps: `"hidden"` is redacted, a member named `…` cuts its document, an item `"…"` its
    /// array.
    fn mark(node: &mut Node) {
        match &mut node.value {
            Value::String(text) if text == "hidden" => node.value = Value::Redacted,
            Value::Document(document) => {
                document.partial = document.fields.iter().any(|field| field.name == "…");
                document.fields.retain(|field| field.name != "…");
                document.fields.iter_mut().for_each(|field| mark(&mut field.node));
            }
            Value::Array(array) => {
                array.partial = array.items.iter().any(|item| item.as_str() == Some("…"));
                array.items.retain(|item| item.as_str() != Some("…"));
                array.items.iter_mut().for_each(mark);
            }
            _ => {}
        }
    }

    fn collection(key: &str) -> Collection {
        Collection::sharded("a.b", ShardKey::from_pattern(&parse(key)).expect("a key"), SourceId(0))
    }

    fn verdict_with(key: &str, filter: &str, change: impl Fn(&mut Statement)) -> Verdict {
        let mut filter = parse(filter);
        mark(&mut filter);
        let mut statement = Statement::new(Verb::Find, Namespace::parse("a.b"), Span::default(), filter.span);
        statement.filter = Some(filter);
        change(&mut statement);
        let (collection, version) = (collection(key), ServerVersion::line(6, 0));
        let cluster = Cluster { collection: &collection, all_shards: None, version, explain: true };
        route(&statement, cluster)
    }

    fn class(key: &str, filter: &str) -> Class {
        verdict_with(key, filter, |_| {}).class
    }

    #[test]
    fn a_full_key_is_targeted_whatever_was_lost_beside_it() {
        assert_eq!(class(r#"{"a":1}"#, r#"{"a":5,"…":1}"#), Class::Targeted);
        assert_eq!(class(r#"{"a":1,"b":1}"#, r#"{"a":5,"…":1}"#), Class::Unknown);
        assert_eq!(class(r#"{"a":1}"#, r#"{"z":5,"…":1}"#), Class::Unknown);
        assert_eq!(class(r#"{"a":1}"#, r#"{"a":{"$gt":5},"…":1}"#), Class::Unknown);
    }

    #[test]
    fn what_was_lost_inside_a_hopeless_or_does_not_matter() {
        assert_eq!(class(r#"{"a":1}"#, r#"{"$or":[{"z":1},{"a":5,"…":1}]}"#), Class::Broadcast);
        assert_eq!(class(r#"{"a":1}"#, r#"{"$or":[{"a":1},{"a":2},"…"]}"#), Class::Unknown);
    }

    #[test]
    fn a_cut_list_on_the_first_field_is_still_a_list() {
        assert_eq!(class(r#"{"a":1}"#, r#"{"a":{"$in":[1,2,"…"]}}"#), Class::MultiShard);
        assert_eq!(class(r#"{"a":1}"#, r#"{"z":{"$in":[1,2,"…"]}}"#), Class::Broadcast);
    }

    #[test]
    fn a_redacted_literal_counts_by_its_place() {
        assert_eq!(class(r#"{"a":1}"#, r#"{"a":"hidden"}"#), Class::Targeted);
        assert_eq!(class(r#"{"a":1}"#, r#"{"a":{"$in":["hidden","hidden"]}}"#), Class::MultiShard);
        assert_eq!(class(r#"{"a":1}"#, r#"{"a":{"$gte":"hidden","$lt":"hidden"}}"#), Class::MultiShard);
        assert_eq!(class(r#"{"a":1}"#, r#"{"a":{"$ne":"hidden"}}"#), Class::Broadcast);
        assert_eq!(class(r#"{"a":"hashed"}"#, r#"{"a":{"$gt":"hidden"}}"#), Class::Broadcast);
        assert_eq!(class(r#"{"a":1}"#, r#"{"z":"hidden"}"#), Class::Broadcast);
    }

    #[test]
    fn a_redacted_operand_that_decides_is_unknown() {
        assert_eq!(class(r#"{"a":1}"#, r#"{"a":{"$regex":"hidden"}}"#), Class::Unknown);
        assert_eq!(class(r#"{"a":1}"#, r#"{"a":{"$exists":"hidden"}}"#), Class::Unknown);
        assert_eq!(class(r#"{"a":1}"#, r#"{"a":{"$type":"hidden"}}"#), Class::Unknown);
        assert_eq!(class(r#"{"a":1,"b":1}"#, r#"{"a":5,"b":{"$regex":"hidden"}}"#), Class::MultiShard);
        assert_eq!(class(r#"{"a":1}"#, r#"{"z":{"$exists":"hidden"}}"#), Class::Broadcast);
    }

    #[test]
    fn an_unknown_operator_matters_unless_the_key_is_given() {
        let verdict = verdict_with(r#"{"a":1}"#, r#"{"a":{"$foo":1}}"#, |_| {});
        assert_eq!(verdict.class, Class::Unknown);
        assert!(matches!(verdict.reason.cause, Cause::NotUnderstood { .. }));
        assert_eq!(class(r#"{"a":1}"#, r#"{"a":5,"$foo":1}"#), Class::Targeted);
        assert_eq!(class(r#"{"a":1}"#, r#"{"z":{"$foo":1}}"#), Class::Broadcast);
        assert_eq!(class(r#"{"a":1}"#, r#"{"$foo":1}"#), Class::Unknown);
    }

    #[test]
    fn a_lost_collation_matters_to_strings_only() {
        let cut = |statement: &mut Statement| statement.options_partial = true;
        assert_eq!(verdict_with(r#"{"a":1}"#, r#"{"a":5}"#, cut).class, Class::Targeted);
        assert_eq!(verdict_with(r#"{"a":1}"#, r#"{"a":"x"}"#, cut).class, Class::Unknown);
        let simple = |statement: &mut Statement| {
            statement.options_partial = true;
            statement.collation = Some(parse(r#"{"locale":"simple"}"#));
        };
        assert_eq!(verdict_with(r#"{"a":1}"#, r#"{"a":"x"}"#, simple).class, Class::Targeted);
    }

    #[test]
    fn a_lost_multi_matters_to_writes_that_are_not_targeted() {
        let update = |statement: &mut Statement| {
            statement.verb = Verb::Update;
            statement.options_partial = true;
            statement.update = Some(parse(r#"{"$set":{"x":1}}"#));
        };
        assert_eq!(verdict_with(r#"{"a":1}"#, r#"{"a":5}"#, update).class, Class::Targeted);
        assert_eq!(verdict_with(r#"{"a":1}"#, r#"{"a":{"$gt":5}}"#, update).class, Class::Unknown);
    }
}

mod reasons {
    use super::*;
    use crate::routing::reason::reason;

    fn cause(key: &str, filter: &str) -> Cause {
        let key = ShardKey::from_pattern(&parse(key)).expect("a key");
        let written = Predicate::parse(&parse(filter));
        let target = targeting(&key).target(&normalise(written.clone()));
        reason(&written, &key, Collation::Simple, &target).cause
    }

    #[test]
    fn a_broadcast_names_what_is_missing() {
        assert_eq!(cause(r#"{"a":1}"#, "{}"), Cause::NoFilter);
        assert_eq!(cause(r#"{"a":1}"#, r#"{"z":1}"#), Cause::NoKeyField);
        assert!(matches!(cause(r#"{"a":1,"b":1}"#, r#"{"b":1}"#), Cause::PrefixHole { present } if present.len() == 1));
        assert!(matches!(cause(r#"{"a":"hashed"}"#, r#"{"a":{"$gt":1}}"#), Cause::RangeOnHashed { .. }));
    }

    #[test]
    fn an_operator_that_rules_out_next_to_nothing_is_named() {
        for (filter, expected) in [
            (r#"{"a":{"$ne":1}}"#, "$ne"),
            (r#"{"a":{"$nin":[1]}}"#, "$nin"),
            (r#"{"a":{"$not":{"$gt":1}}}"#, "$not"),
            (r#"{"a":{"$exists":true}}"#, "$exists"),
            (r#"{"a":{"$regex":"x"}}"#, "regex"),
            (r#"{"a":{"$type":"string"}}"#, "$type"),
            (r#"{"a":{"$mod":[2,0]}}"#, "$mod"),
        ] {
            let cause = cause(r#"{"a":1}"#, filter);
            assert!(
                matches!(&cause, Cause::NearlyFree { operator, .. } if operator == expected),
                "{filter}: {cause:?}"
            );
        }
    }

    #[test]
    fn an_or_is_spoiled_by_the_branch_that_lacks_the_key() {
        let filter = r#"{"$or":[{"a":1},{"z":2}]}"#;
        let Cause::OrBranchWithoutKey { or, branch } = cause(r#"{"a":1}"#, filter) else { panic!("an or") };
        assert_eq!(&filter[or.range()], r#""$or":[{"a":1},{"z":2}]"#);
        assert_eq!(&filter[branch.range()], r#""z":2"#);
    }

    #[test]
    fn a_value_in_a_sub_document_is_hidden() {
        let cause = cause(r#"{"a.b":1,"c":1}"#, r#"{"a":{"b":5}}"#);
        assert!(matches!(cause, Cause::Hidden { form, .. } if form == "sub-document"));
    }
}

/// Nested as deeply as text may be, in the small stack of a test's thread.
#[test]
fn deep_filters_do_not_overflow_the_stack() {
    for (open, close) in [
        (r#"{"$or":["#, r#",{"a":{"$gt":1},"z":1}]}"#),
        (r#"{"$nor":["#, "]}"),
        (r#"{"b":1,"$and":["#, "]}"),
        (r#"{"x":{"$elemMatch":"#, "}}"),
    ] {
        let filter = format!("{}{}{}", open.repeat(115), r#"{"a":5}"#, close.repeat(115));
        let key = ShardKey::from_pattern(&parse(r#"{"a":1}"#)).expect("a key");
        targeting(&key).target(&normalise(Predicate::parse(&parse(&filter))));
    }
    let expression = format!("{}{}{}", r#"{"$and":["#.repeat(115), r#"{"$eq":["$a",5]}"#, "]}".repeat(115));
    assert!(!Predicate::parse(&parse(&format!(r#"{{"$expr":{expression}}}"#))).is_everything());
}

#[test]
fn long_lists_on_many_branches_are_intersected() {
    let members: Vec<String> = (0..10_000).map(|n| n.to_string()).collect();
    let branches: Vec<String> = (0..10_000).map(|n| format!(r#"{{"a":{n},"z":1}}"#)).collect();
    let filter = format!(r#"{{"a":{{"$in":[{}]}},"$or":[{}]}}"#, members.join(","), branches.join(","));
    let key = ShardKey::from_pattern(&parse(r#"{"a":1}"#)).expect("a key");
    let target = targeting(&key).target(&normalise(Predicate::parse(&parse(&filter))));
    assert_eq!((target.class(), target.at_most()), (Class::MultiShard, Some(10_000)));
}

mod servers {
    use crate::routing::{Class, Verdict, route_case};
    use crate::syntax::parse_case;

    /// The verdict of 6.0.5 on a case with the shard key, chunks at 0 and 10, and what else is given.
    fn verdict(key: &str, rest: &str) -> Verdict {
        let chunk = |min: &str, max: &str, shard: &str| {
            format!(r#"{{"min":{{"a":{min}}},"max":{{"a":{max}}},"shard":"{shard}"}}"#)
        };
        let (min, max) = (r#"{"$minKey":1}"#, r#"{"$maxKey":1}"#);
        let chunks = [chunk(min, "0", "s0"), chunk("0", "10", "s1"), chunk("10", max, "s2")].join(",");
        let text = format!(
            r#"{{"id":"x","ns":"t.c","serverVersion":"6.0.5","allShards":["s0","s1","s2"],"shardKey":{key},"chunks":[{chunks}],{rest}}}"#
        );
        route_case(&parse_case(&text).expect("a case"))
    }

    fn error(key: &str, rest: &str) -> Option<i32> {
        verdict(key, rest).error.map(|error| error.code)
    }

    #[test]
    fn an_update_whose_filter_needs_a_let_variable_is_no_update_by_id() {
        let update = |expression: &str| {
            format!(
                r#""op":"update","filter":{{"_id":1,"$expr":{expression}}},"update":{{"$set":{{"z":1}}}},"multi":false,"upsert":false,"options":{{"let":{{"v":1}}}}"#
            )
        };
        assert_eq!(error(r#"{"a":1}"#, &update(r#"{"$eq":["$z","$$v"]}"#)), Some(72));
        assert_eq!(error(r#"{"a":1}"#, &update(r#"{"$eq":["$z",1]}"#)), None);
        let delete =
            r#""op":"delete","filter":{"_id":1,"$expr":{"$eq":["$z","$$v"]}},"limit":1,"options":{"let":{"v":1}}"#;
        assert_eq!(error(r#"{"a":1}"#, delete), None);
    }

    #[test]
    fn a_replacement_cannot_target_by_what_the_collation_may_order_otherwise() {
        let replace = |filter: &str, by: &str| {
            format!(
                r#""op":"update","filter":{filter},"update":{by},"multi":false,"upsert":false,"collectionCollation":{{"locale":"en"}}"#
            )
        };
        assert_eq!(error(r#"{"a":1}"#, &replace("{}", r#"{"a":"x"}"#)), Some(61));
        assert_eq!(error(r#"{"a":1}"#, &replace("{}", r#"{"a":5}"#)), None);
        assert_eq!(error(r#"{"a":1}"#, &replace(r#"{"a":5}"#, r#"{"a":"x"}"#)), None);
        assert_eq!(error(r#"{"a":"hashed"}"#, &replace("{}", "{}")), Some(61));
    }

    #[test]
    fn a_sub_pipeline_has_the_collation_of_the_outer_collection() {
        let lookup = r#""op":"aggregate","outer":"u","collectionCollation":{"locale":"en"},"pipeline":[{"$lookup":{"from":"c","pipeline":[{"$match":{"a":"x"}}],"as":"j"}}]"#;
        assert_eq!(verdict(r#"{"a":1}"#, lookup).class, Class::Targeted);
    }

    #[test]
    fn the_sub_pipeline_of_a_union_is_optimised_three_times_and_that_of_a_lookup_once() {
        let sort_and_redact = r#"{"$sort":{"z":1}},{"$redact":"$$KEEP"},"#;
        let read = |times: usize, stage: &str| {
            let pipeline = format!(r#"[{}{{"$match":{{"a":5}}}}]"#, sort_and_redact.repeat(times));
            let stage = stage.replace("PIPELINE", &pipeline);
            verdict(r#"{"a":1}"#, &format!(r#""op":"aggregate","outer":"u","pipeline":[{stage}]"#)).class
        };
        let union = r#"{"$unionWith":{"coll":"c","pipeline":PIPELINE}}"#;
        let lookup = r#"{"$lookup":{"from":"c","pipeline":PIPELINE,"as":"j"}}"#;
        assert_eq!([1, 2, 3].map(|times| read(times, union)), [Class::Targeted, Class::Targeted, Class::Broadcast]);
        assert_eq!(read(1, lookup), Class::Broadcast);
    }

    #[test]
    fn two_reads_of_single_keys_are_not_one_target() {
        let facets = r#""op":"aggregate","outer":"u","pipeline":[{"$facet":{"p":[{"$unionWith":{"coll":"c","pipeline":[{"$match":{"a":5}}]}}],"q":[{"$unionWith":{"coll":"c","pipeline":[{"$match":{"a":-1}}]}}]}}]"#;
        let verdict = verdict(r#"{"a":1}"#, facets);
        assert_eq!((verdict.class, verdict.at_most), (Class::MultiShard, Some(2)));
        assert_eq!(verdict.shards, Some(vec!["s0".to_owned(), "s1".to_owned()]));
    }

    #[test]
    fn a_full_key_of_max_key_alone_was_left_to_bounds() {
        let (max, set) = (r#"{"a":{"$maxKey":1}}"#, r#"{"$set":{"z":1}}"#);
        let find = verdict(r#"{"a":1}"#, &format!(r#""op":"find","filter":{max}"#));
        assert_eq!((find.class, find.shards), (Class::Targeted, Some(vec!["s0".to_owned()])));
        assert_eq!(error(r#"{"a":1}"#, &format!(r#""op":"delete","filter":{max},"limit":1"#)), Some(61));
        let upsert = format!(r#""op":"update","filter":{max},"update":{set},"multi":false,"upsert":true"#);
        assert_eq!(error(r#"{"a":1}"#, &upsert), Some(61));
    }
}
