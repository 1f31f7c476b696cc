//! Pipelines and the filters that the router targets them with.

use crate::model::{KeyField, KeyKind, Namespace, Node, ServerVersion, ShardKey, Statement, Value, Verb};
use crate::syntax::ext_json;
use crate::text::Span;

use super::super::predicate::{Condition, Predicate};
use super::leading::BlockedMatch;
use super::{LeadingFilter, Obstacle, foreign_filters, leading_filter};

fn node(text: &str) -> Node {
    let mut node = ext_json::parse(text, 0).expect("extended JSON");
    hide(&mut node);
    node
}

fn hide(node: &mut Node) {
    match &mut node.value {
        Value::String(text) if text == "###" => node.value = Value::Redacted,
        Value::Document(document) => document.fields.iter_mut().for_each(|field| hide(&mut field.node)),
        Value::Array(array) => array.items.iter_mut().for_each(hide),
        _ => {}
    }
}

fn key(paths: &[&str]) -> ShardKey {
    let field = |path: &&str| KeyField { path: (*path).to_owned(), kind: KeyKind::Ranged, span: Span::default() };
    ShardKey { fields: paths.iter().map(field).collect(), span: Span::default() }
}

fn aggregate(pipeline: &str) -> Statement {
    let mut statement =
        Statement::new(Verb::Aggregate, Namespace::new("app", "c"), Span::default(), Span::new(0, pipeline.len()));
    statement.pipeline = Some(node(pipeline));
    statement
}

fn lead(pipeline: &str) -> LeadingFilter {
    leading_filter(&aggregate(pipeline), &key(&["a"]))
}

/// The structure of a predicate: `a` for a condition on `a`, `(a & b)`, `(a | b)`, `!(a)`.
fn describe(predicate: &Predicate) -> String {
    let list = |sign: &str| predicate.children().iter().map(describe).collect::<Vec<_>>().join(sign);
    match &predicate.condition {
        Condition::And(_) => format!("({})", list(" & ")),
        Condition::Or(_) => format!("({})", list(" | ")),
        Condition::Nor(_) => format!("!({})", list(" | ")),
        Condition::Not(..) => format!("!({})", list("")),
        Condition::Field(path, _) => path.clone(),
        Condition::ElemMatchObject(path, _) | Condition::ElemMatchValue(path, _) => format!("{path}[{}]", list(" & ")),
        Condition::Expr(_) => {
            let mut paths = Vec::new();
            predicate.visit_paths(&mut |path| paths.push(path.to_owned()));
            format!("$expr({})", paths.join(" "))
        }
        Condition::Opaque(path, _) | Condition::Lost(path) => format!("?{}", path.as_deref().unwrap_or_default()),
        other => format!("{other:?}"),
    }
}

fn described(filter: &LeadingFilter) -> String {
    filter.predicate.as_ref().map_or_else(|| "-".to_owned(), describe)
}

#[track_caller]
fn assert_leads(pipeline: &str, expected: &str) {
    assert_eq!(described(&lead(pipeline)), expected, "{pipeline}");
}

#[test]
fn a_match_moves_past_stages_that_leave_its_fields_alone() {
    for stage in [
        r#"{"$sort": {"z": 1}}"#,
        r#"{"$unwind": "$z"}"#,
        r#"{"$unwind": {"path": "$z", "includeArrayIndex": "i"}}"#,
        r#"{"$addFields": {"q": 1, "r.s": {"$add": ["$a", 1]}}}"#,
        r#"{"$set": {"q": "$a"}}"#,
        r#"{"$unset": ["z", "ab"]}"#,
        r#"{"$project": {"a": 1}}"#,
        r#"{"$project": {"z": 0}}"#,
        r#"{"$lookup": {"from": "u", "localField": "a", "foreignField": "x", "as": "j"}}"#,
        r#"{"$graphLookup": {"from": "u", "startWith": "$a", "connectFromField": "x", "connectToField": "x", "as": "g"}}"#,
        r#"{"$redact": "$$KEEP"}"#,
        r#"{"$unionWith": "u"}"#,
        r#"{"$fill": {"output": {"q": {"value": 1}}}}"#,
    ] {
        assert_leads(&format!(r#"[{stage}, {{"$match": {{"a": 5}}}}]"#), "a");
    }
}

#[test]
fn a_match_stays_behind_barriers_and_stages_that_touch_its_fields() {
    for stage in [
        r#"{"$limit": 1}"#,
        r#"{"$skip": 1}"#,
        r#"{"$sample": {"size": 1}}"#,
        r#"{"$facet": {"x": []}}"#,
        r#"{"$replaceRoot": {"newRoot": "$$ROOT"}}"#,
        r#"{"$replaceWith": "$z"}"#,
        r#"{"$densify": {"field": "z"}}"#,
        r#"{"$setWindowFields": {"partitionBy": "$a", "output": {}}}"#,
        r#"{"$fill": {"output": {"q": {"method": "locf"}}}}"#,
        r#"{"$fill": {"output": {"a": {"value": 1}}}}"#,
        r#"{"$unwind": "$a"}"#,
        r#"{"$addFields": {"a": 5}}"#,
        r#"{"$addFields": {"a": {"x": 5}}}"#,
        r#"{"$unset": "a"}"#,
        r#"{"$project": {"z": 1}}"#,
        r#"{"$project": {"a": 0}}"#,
        r#"{"$group": {"_id": "$z", "a": {"$first": "$a"}}}"#,
        r#"{"$bucketAuto": {"groupBy": "$a", "buckets": 2}}"#,
        r#"{"$count": "a"}"#,
        r#"{"$geoNear": {"near": [0, 0], "distanceField": "d"}}"#,
        r#"{"$lookup": {"from": "u", "as": "a"}}"#,
        r#"{"$_internalInhibitOptimization": {}}"#,
    ] {
        let pipeline = format!(r#"[{stage}, {{"$match": {{"a": 5}}}}]"#);
        let filter = lead(&pipeline);
        assert_eq!(described(&filter), "-", "{stage}");
        let blocked = filter.blocked.expect(stage);
        assert_eq!(blocked.obstacle, Obstacle::Certain, "{stage}");
        assert!(pipeline[blocked.stage.range()].contains(&blocked.name), "{stage}");
        assert_eq!(&pipeline[blocked.matching.range()], r#""$match": {"a": 5}"#);
    }
}

#[test]
fn renames_are_followed_back_to_the_front() {
    for (pipeline, expected) in [
        (r#"[{"$project": {"n": "$a"}}, {"$match": {"n": 5}}]"#, "a"),
        (r#"[{"$addFields": {"x.y": "$a"}}, {"$match": {"x.y.b": 5}}]"#, "a.b"),
        (r#"[{"$addFields": {"n": "$a"}}, {"$match": {"$expr": {"$eq": ["$n", 5]}}}]"#, "$expr(a)"),
        (r#"[{"$addFields": {"n": "$a.b"}}, {"$match": {"n": 5}}]"#, "-"),
        (r#"[{"$group": {"_id": "$a"}}, {"$match": {"_id": 5}}]"#, "a"),
        (r#"[{"$group": {"_id": {"k": "$a"}}}, {"$match": {"_id.k": 5}}]"#, "a"),
        (r#"[{"$group": {"_id": {"k": "$a"}}}, {"$match": {"_id": {"k": 5}}}]"#, "-"),
        (r#"[{"$group": {"_id": "$a.b"}}, {"$match": {"_id": 5}}]"#, "-"),
        (r#"[{"$sortByCount": "$a"}, {"$match": {"_id": 5, "count": 2}}]"#, "a"),
        (r#"[{"$group": {"_id": "$a"}}, {"$project": {"_id": 0, "n": "$_id"}}, {"$match": {"n": 5}}]"#, "a"),
        (r#"[{"$addFields": {"a": "$b", "b": "$a"}}, {"$match": {"b": 5}}]"#, "a"),
        (r#"[{"$project": {"_id": "$a"}}, {"$match": {"_id": 5}}]"#, "a"),
        (r#"[{"$project": {"n": "$a"}}, {"$group": {"_id": "$n"}}, {"$match": {"_id": 5}}]"#, "a"),
    ] {
        assert_leads(pipeline, expected);
    }
}

#[test]
fn an_existence_test_of_a_single_group_key_keeps_the_whole_match_behind() {
    let matching = r#"{"$match": {"_id": {"$gt": 5, "$exists": true}}}"#;
    assert_leads(&format!(r#"[{{"$group": {{"_id": "$a"}}}}, {matching}]"#), "-");
    let matching = r#"{"$match": {"_id.k": {"$gt": 5, "$exists": true}}}"#;
    assert_leads(&format!(r#"[{{"$group": {{"_id": {{"k": "$a"}}}}}}, {matching}]"#), "(a & a)");
}

#[test]
fn matches_that_meet_are_one() {
    assert_leads(r#"[{"$match": {"a": 5}}, {"$match": {"z": 1}}]"#, "(a & z)");
    assert_leads(r#"[{"$match": {"z": 1}}, {"$sort": {"z": 1}}, {"$match": {"a": 5}}]"#, "(z & a)");
    assert_leads(r#"[{"$match": {}}, {"$sort": {"z": 1}}, {"$match": {"a": 5}}]"#, "a");
    assert_leads(r#"[{"$match": {"z": 1}}, {"$limit": 1}, {"$match": {"a": 5}}]"#, "z");
}

#[test]
fn the_members_that_can_move_do_and_the_others_stay() {
    assert_leads(r#"[{"$sort": {"z": 1}}, {"$match": {"a": 5, "$alwaysFalse": 1}}]"#, "a");
    assert_leads(r#"[{"$set": {"q": 1}}, {"$match": {"a": 5, "q": 3}}]"#, "a");
    assert_leads(r#"[{"$sort": {"z": 1}}, {"$match": {"$or": [{"a": 5}, {"a": {"$size": 1}}]}}]"#, "-");
}

#[test]
fn a_copy_before_a_redact_moves_no_further() {
    assert_leads(r#"[{"$sort": {"z": 1}}, {"$redact": "$$KEEP"}, {"$match": {"a": 5}}]"#, "-");
    assert_leads(r#"[{"$redact": "$$KEEP"}, {"$sort": {"z": 1}}, {"$match": {"a": 5}}]"#, "a");
    let filter = lead(r#"[{"$sort": {"z": 1}}, {"$redact": "$$KEEP"}, {"$match": {"a": 5}}]"#);
    assert_eq!(filter.blocked.map(|blocked| blocked.name).as_deref(), Some("$redact"));
}

#[test]
fn a_schema_is_taken_apart_where_it_moves_and_left_whole_where_it_stays() {
    let schema =
        r#"{"$match": {"$jsonSchema": {"required": ["a"], "properties": {"a": {"type": "int", "minimum": 5}}}}}"#;
    let moved = lead(&format!(r#"[{{"$sort": {{"z": 1}}}}, {schema}]"#)).predicate.expect("a filter");
    assert!(moved.any(&|part| part.path() == Some("a")));
    assert!(lead(&format!(r#"[{{"$redact": "$$KEEP"}}, {schema}]"#)).predicate.is_none());
}

#[test]
fn an_empty_match_vanishes_and_one_that_always_holds_does_not() {
    assert_leads(r#"[{"$match": {}}, {"$redact": "$$KEEP"}, {"$match": {"a": 5}}]"#, "a");
    for front in [r#"{"$match": {"$comment": "x"}}"#, r#"{"$match": {}}, {"$match": {}}"#] {
        let always = lead(&format!(r#"[{front}, {{"$redact": "$$KEEP"}}, {{"$match": {{"a": 5}}}}]"#));
        assert!(always.predicate.is_some_and(|predicate| predicate.is_everything()), "{front}");
    }
}

#[test]
fn transformations_and_the_matches_behind_them_pass_a_union() {
    assert_leads(r#"[{"$unionWith": "u"}, {"$addFields": {"n": "$a"}}, {"$match": {"n": 5}}]"#, "a");
}

#[test]
fn the_query_of_a_geo_near_is_a_filter() {
    assert_leads(r#"[{"$geoNear": {"near": [0, 0], "query": {"a": 5}}}, {"$match": {"b": 1}}]"#, "a");
}

#[test]
fn a_view_comes_before_the_command() {
    let mut statement = aggregate(r#"[{"$match": {"k": 5}}]"#);
    statement.view_pipeline = Some(node(r#"[{"$project": {"k": "$a"}}]"#));
    assert_eq!(described(&leading_filter(&statement, &key(&["a"]))), "a");
    statement.verb = Verb::Find;
    statement.filter = statement.pipeline.take().map(|_| node(r#"{"k": 5, "a": 1}"#));
    assert_eq!(described(&leading_filter(&statement, &key(&["a"]))), "a");
}

#[test]
fn a_match_on_other_fields_is_not_blocked_and_a_renamed_key_is() {
    assert!(lead(r#"[{"$limit": 1}, {"$match": {"z": 1}}]"#).blocked.is_none());
    assert!(lead(r#"[{"$group": {"_id": {"$toInt": "$z"}}}, {"$match": {"_id": 1}}]"#).blocked.is_none());
    let renamed = lead(r#"[{"$project": {"n": "$a"}}, {"$limit": 1}, {"$match": {"n": 5}}]"#);
    assert_eq!(renamed.blocked.map(|blocked| blocked.name).as_deref(), Some("$limit"));
    let by_id = leading_filter(
        &aggregate(r#"[{"$group": {"_id": {"$toInt": "$z"}}}, {"$match": {"_id": 1}}]"#),
        &key(&["_id"]),
    );
    assert!(by_id.blocked.is_none());
}

#[test]
fn unknown_stages_and_hidden_literals_in_the_way_are_told_apart() {
    let obstacle = |pipeline: &str| lead(pipeline).blocked.map(|BlockedMatch { obstacle, .. }| obstacle);
    assert_eq!(obstacle(r#"[{"$foo": 1}, {"$match": {"a": 5}}]"#), Some(Obstacle::NotUnderstood));
    assert_eq!(obstacle(r#"[{"$foo": 1}, {"$match": {"z": 5}}]"#), None);
    let hidden = obstacle(r####"[{"$project": {"a": "###"}}, {"$match": {"a": "###"}}]"####);
    assert!(matches!(hidden, Some(Obstacle::Hidden(_))), "{hidden:?}");
    let hidden = obstacle(r####"[{"$addFields": {"n": "###"}}, {"$match": {"n": "###"}}]"####);
    assert!(matches!(hidden, Some(Obstacle::Hidden(_))), "{hidden:?}");
    assert_leads(r####"[{"$addFields": {"n": "###"}}, {"$match": {"a": "###"}}]"####, "a");
}

#[test]
fn stages_that_ask_every_shard_are_named() {
    let filter = lead(r#"[{"$changeStream": {}}, {"$match": {"a": 5}}]"#);
    assert!(filter.every_shard.is_some_and(|stage| stage.name == "$changeStream" && stage.even_chunkless));
    let filter = lead(r#"[{"$indexStats": {}}]"#);
    assert!(filter.every_shard.is_some_and(|stage| !stage.even_chunkless));
}

#[test]
fn a_lost_end_matters_only_if_a_match_there_could_reach_the_front() {
    let partial = |pipeline: &str| {
        let mut statement = aggregate(pipeline);
        if let Some(Node { value: Value::Array(array), .. }) = &mut statement.pipeline {
            array.partial = true;
        }
        leading_filter(&statement, &key(&["a"])).partial
    };
    assert!(partial("[]"));
    assert!(partial(r#"[{"$match": {"z": 1}}, {"$sort": {"a": 1}}]"#));
    assert!(partial(r#"[{"$group": {"_id": "$a"}}]"#));
    assert!(!partial(r#"[{"$group": {"_id": "$z"}}]"#));
    assert!(!partial(r#"[{"$match": {"z": 1}}, {"$limit": 1}]"#));
    assert!(!lead("[]").partial);
}

#[test]
fn long_pipelines_of_redactions_end() {
    let stages = r#"{"$redact": "$$KEEP"}, {"$match": {"a": 5}}, {"$sort": {"z": 1}}, "#.repeat(2_000);
    let filter = lead(&format!(r#"[{stages}{{"$limit": 1}}]"#));
    assert!(filter.predicate.is_some() && !filter.partial);
}

fn foreign(pipeline: &str) -> Vec<String> {
    let filters =
        foreign_filters(&aggregate(pipeline), &Namespace::new("app", "f"), &key(&["a"]), ServerVersion::NEWEST);
    filters
        .iter()
        .map(|filter| format!("{:?}", filter.predicate.as_ref().map(|predicate| &predicate.condition)))
        .collect()
}

#[track_caller]
fn assert_reads(pipeline: &str, expected: &str) {
    let filters =
        foreign_filters(&aggregate(pipeline), &Namespace::new("app", "f"), &key(&["a"]), ServerVersion::NEWEST);
    assert_eq!(filters.iter().map(described).collect::<Vec<_>>().join("; "), expected, "{pipeline}");
}

#[test]
fn a_lookup_reads_by_the_value_of_its_local_field_and_its_pipeline() {
    assert_reads(
        r#"[{"$lookup": {"from": "f", "localField": "x", "foreignField": "a", "pipeline": [{"$match": {"b": 1}}], "as": "j"}}]"#,
        "(a & b)",
    );
    let read = foreign(r#"[{"$lookup": {"from": "f", "localField": "x", "foreignField": "a", "as": "j"}}]"#);
    assert!(read[0].contains("Int32(5)"), "{read:?}");
    let read = foreign(r#"[{"$lookup": {"from": "f", "localField": "y", "foreignField": "a", "as": "j"}}]"#);
    assert!(read[0].contains("Null"), "{read:?}");
    assert_reads(
        r#"[{"$set": {"x": {"$rand": {}}}}, {"$lookup": {"from": "f", "localField": "x", "foreignField": "a", "as": "j"}}]"#,
        "?a",
    );
}

#[test]
fn what_stages_make_of_the_input_is_computed() {
    for (stages, expected) in [
        (r#"{"$set": {"y": {"$add": ["$x", 6]}}}"#, "Int32(11)"),
        (r#"{"$set": {"x": 12}}, {"$project": {"y": "$x"}}"#, "Int32(12)"),
        (r#"{"$set": {"y": "$x"}}, {"$set": {"x": 12}}"#, "Int32(5)"),
        (r#"{"$replaceRoot": {"newRoot": {"y": "$x"}}}"#, "Int32(5)"),
        (r#"{"$set": {"y": "$x"}}, {"$unset": "y"}"#, "Null"),
        (r#"{"$set": {"y": "$x"}}, {"$unwind": "$y"}"#, "Int32(5)"),
    ] {
        let lookup = r#"{"$lookup": {"from": "f", "localField": "y", "foreignField": "a", "as": "j"}}"#;
        let read = foreign(&format!("[{stages}, {lookup}]"));
        assert!(read[0].contains(expected), "{stages}: {read:?}");
    }
}

#[test]
fn the_variables_of_a_lookup_have_the_values_of_its_input() {
    let read = foreign(
        r#"[{"$lookup": {"from": "f", "let": {"v": "$x"}, "pipeline": [{"$match": {"$expr": {"$eq": ["$a", "$$v"]}}}], "as": "j"}}]"#,
    );
    assert!(read[0].contains("Int32(5)") && !read[0].contains("Variable"), "{read:?}");
}

#[test]
fn a_match_on_the_unwound_documents_is_part_of_the_lookup() {
    assert_reads(
        r#"[{"$lookup": {"from": "f", "localField": "x", "foreignField": "b", "as": "j"}}, {"$unwind": "$j"}, {"$match": {"j.a": 5, "x": 5}}]"#,
        "(b & a)",
    );
    assert_reads(
        r#"[{"$lookup": {"from": "f", "localField": "x", "foreignField": "b", "as": "j"}}, {"$match": {"j.a": 5}}]"#,
        "b",
    );
}

#[test]
fn matches_in_a_union_are_simplified_before_they_move_again() {
    let pipeline = r#"[{"$set": {"y": 1}}, {"$match": {"$or": [{"a": 5, "y": 1}]}}]"#;
    assert_reads(&format!(r#"[{{"$unionWith": {{"coll": "f", "pipeline": {pipeline}}}}}]"#), "a");
    let expression = r#"{"$expr": {"$and": [{"$eq": ["$a", 5]}, {"$eq": ["$y", 1]}]}}"#;
    let union = format!(r#"{{"coll": "f", "pipeline": [{{"$set": {{"y": 1}}}}, {{"$match": {expression}}}]}}"#);
    assert_reads(&format!(r#"[{{"$unionWith": {union}}}]"#), "(a & a)");
    let lookup = foreign(&format!(r#"[{{"$lookup": {{"from": "f", "pipeline": {pipeline}, "as": "j"}}}}]"#));
    assert_eq!(lookup, ["None"]);
}

#[test]
fn reads_inside_other_pipelines_are_found() {
    let union = r#"{"$unionWith": {"coll": "f", "pipeline": [{"$match": {"a": 5}}]}}"#;
    assert_reads(&format!(r#"[{{"$facet": {{"q": [{union}]}}}}]"#), "a");
    assert_reads(&format!(r#"[{{"$unionWith": {{"coll": "v", "pipeline": [{union}]}}}}]"#), "a");
    assert_reads(r#"[{"$unionWith": {"coll": "v", "pipeline": [{"$unionWith": "f"}]}}, {"$match": {"a": 5}}]"#, "a");
    assert_reads(
        r#"[{"$facet": {"q": [{"$lookup": {"from": "f", "localField": "x", "foreignField": "a", "as": "j"}}]}}]"#,
        "a",
    );
}

#[test]
fn a_union_reads_with_its_own_pipeline_and_what_follows_it() {
    assert_reads(r#"[{"$unionWith": {"coll": "f", "pipeline": [{"$match": {"a": 5}}]}}]"#, "a");
    assert_reads(r#"[{"$unionWith": "f"}, {"$match": {"a": 5}}]"#, "a");
    assert_reads(r#"[{"$unionWith": "other"}, {"$match": {"a": 5}}]"#, "");
}

#[test]
fn a_graph_lookup_first_reads_by_its_start() {
    assert_reads(
        r#"[{"$graphLookup": {"from": "f", "startWith": "$x", "connectFromField": "z", "connectToField": "a", "as": "j", "restrictSearchWithMatch": {"b": 1}}}]"#,
        "(a & b)",
    );
}
