//! Records that the server cut, in both forms.

use shardlint::model::{Event, Node, Shape, Statement};

use super::{line, slow};

/// A cut command, with what `truncated` says about it.
fn cut(kind: &str, command: &str, truncated: &str) -> Event {
    let attr = format!(r#""type":"{kind}","ns":"shop.orders","command":{command}"#);
    slow(&line(&attr, &format!(r#","truncated":{{"command":{truncated}}},"size":{{"command":20000}}"#)))
}

fn statement(command: &str, truncated: &str) -> Statement {
    cut("command", command, truncated).statements.remove(0)
}

fn is_partial(node: &Node) -> bool {
    node.as_document()
        .map(|document| document.partial)
        .or(node.as_array().map(|array| array.partial))
        .expect("a container")
}

#[test]
fn everything_along_the_path_of_the_first_lost_leaf_may_be_incomplete() {
    let read = statement(
        r#"{"find":"orders","filter":{"x":{"y":1},"$or":[{"a":1},{"b":{}}]}}"#,
        r#"{"filter":{"$or":{"1":{"b":{"$gt":{"type":"int","size":4}}}}}}"#,
    );
    assert!(read.options_partial);
    let expected = "{ $or: [{ a: ? }, { b: { <cut> }, <cut> }, <cut>], x: { y: ? }, <cut> } <cut>";
    assert_eq!(Shape::of(&read).text, expected);
}

#[test]
fn an_in_list_that_was_cut_is_a_partial_list() {
    let read = statement(
        r#"{"find":"orders","filter":{"a":{"$in":[1,2]}}}"#,
        r#"{"filter":{"a":{"$in":{"2":{"type":"int","size":4}}}}}"#,
    );
    let filter = read.filter.expect("a filter");
    let list = filter.as_document().and_then(|f| f.get("a")?.as_document()?.get("$in")).expect("the list").clone();
    assert!(is_partial(&list) && is_partial(&filter));
}

#[test]
fn a_newer_server_tells_where_nothing_else_was_lost() {
    let leaf = r#"{"type":"int","size":4}"#;
    let lost = |omitted: u32| {
        let path = format!(
            r#"{{"truncated":{{"filter":{{"truncated":{{"a":{{"truncated":{{"$in":{leaf}}}}}}}}}}},"omitted":{omitted}}}"#
        );
        statement(r#"{"find":"orders","filter":{"a":{},"b":1}}"#, &path)
    };
    assert_eq!(Shape::of(&lost(0)).text, "{ a: { <cut> }, b: ? }");
    assert_eq!(Shape::of(&lost(5)).text, "{ a: { <cut> }, b: ? } <cut>");
    let stage = r#"{"truncated":{"pipeline":{"truncated":{"0":{"truncated":{"$match":{"truncated":{"a":{"type":"string","size":9}}}},"omitted":1}}}},"omitted":3}"#;
    let read = statement(r#"{"aggregate":"orders","pipeline":[{"$match":{}}]}"#, stage);
    assert_eq!(Shape::of(&read).text, "[{ $match: { <cut> }, <cut> }] <cut>");
}

#[test]
fn a_filter_that_was_lost_as_a_whole_is_not_an_empty_one() {
    let lost = r#"{"comment":{"type":"string","size":12005}}"#;
    let read = statement(r#"{"find":"orders"}"#, lost);
    assert!(is_partial(read.filter.as_ref().expect("a filter of which nothing is left")));
    let read = statement(r#"{"aggregate":"orders"}"#, lost);
    assert!(is_partial(read.pipeline.as_ref().expect("a pipeline of which nothing is left")));
    let read = statement(r#"{"find":"orders","filter":{"a":1}}"#, lost);
    assert!(!is_partial(&read.filter.expect("the filter")) && read.options_partial);
}

#[test]
fn a_write_statement_that_was_cut_has_uncertain_options() {
    let event = cut("remove", r#"{"q":{"_id":{"$in":[1]}}}"#, r#"{"q":{"_id":{"$in":{"1":{"type":"int","size":4}}}}}"#);
    let statement = &event.statements[0];
    assert!(statement.options_partial && is_partial(statement.filter.as_ref().expect("a filter")));
    assert_eq!(event.truncated.as_ref().expect("truncated").value, "command.q._id.$in.1");
}

#[test]
fn a_field_named_type_is_no_leaf() {
    let read = statement(
        r#"{"find":"orders","filter":{"type":{}}}"#,
        r#"{"filter":{"type":{"size":{"type":"string","size":9000}}}}"#,
    );
    assert_eq!(Shape::of(&read).text, "{ type: { <cut> }, <cut> } <cut>");
}

#[test]
fn a_cut_of_another_attribute_leaves_the_command_whole() {
    let attr = r#""ns":"shop.orders","command":{"find":"orders","filter":{"a":1}},"errMsg":"x""#;
    let event = slow(&line(attr, r#","truncated":{"errMsg":{"type":"string","size":9000}}"#));
    assert!(event.truncated.is_some());
    assert_eq!(Shape::of(&event.statements[0]).text, "{ a: ? }");
}

#[test]
fn a_get_more_is_cut_where_its_originating_command_is() {
    let attr = r#""ns":"shop.orders","command":{"getMore":1,"collection":"orders"},"originatingCommand":{"find":"orders","filter":{"a":{}}}"#;
    let path = r#"{"filter":{"a":{"$in":{"type":"int","size":4}}}}"#;
    let event = slow(&line(
        attr,
        &format!(
            r#","truncated":{{"command":{{"comment":{{"type":"string","size":1}}}},"originatingCommand":{path}}}"#
        ),
    ));
    assert_eq!(event.truncated.as_ref().expect("truncated").value, "originatingCommand.filter.a.$in");
    assert_eq!(Shape::of(&event.statements[0]).text, "{ a: { <cut> }, <cut> } <cut>");
}
