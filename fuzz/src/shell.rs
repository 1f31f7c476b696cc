//! Values and operations as they are typed into a shell, and extended JSON.

use shardlint::model::{Document, Node, Shape, Value, compare};
use shardlint::syntax::{ext_json, operation, shell};

use crate::print::canonical;
use crate::spans::{assert_inside, assert_located, assert_nested, of_node, of_statement};

/// Deeper values are not printed: the readers have limits of their own, and wrappers add levels.
const MAX_DEPTH: usize = 60;

/// Reads the text as a value, as the beginning of one, as an operation and as extended JSON.
pub fn shell_document(data: &[u8]) {
    let Ok(text) = std::str::from_utf8(data) else { return };
    let form = shell::parse_expression(text, 0);
    match shell::parse(text, 0) {
        Ok(node) => {
            assert!(form.is_ok(), "a value without a form: {text:?}");
            assert_value(text, &node);
        }
        Err(error) => assert_located(text, &error),
    }
    let reads_the_clock = text.contains("Date") || text.contains("ObjectI");
    if let Ok((node, length)) = shell::parse_prefix(text, 0) {
        assert!(text.is_char_boundary(length), "{length} of {text:?}");
        assert_inside(&text[..length], &[node.span]);
        let alone = shell::parse(&text[..length], 0).expect("what was read as a value is one");
        assert!(reads_the_clock || compare(&alone.value, &node.value).is_eq(), "{text:?}");
    }
    match ext_json::parse(text, 0) {
        Ok(node) => assert_value(text, &node),
        Err(error) => assert_located(text, &error),
    }
    assert_operation(text);
}

fn assert_value(text: &str, node: &Node) {
    let mut spans = Vec::new();
    of_node(node, &mut spans);
    assert_inside(text, &spans);
    if !text.contains("DBRef") {
        assert_nested(node);
    }
    if depth(node) > MAX_DEPTH || text.contains("DBRef") {
        // The members of a reference that is written as a call have no places of their own, and printed as a document
        // it may be read as a pointer.
        return;
    }
    let Some(printed) = canonical(&node.value) else { return };
    for read in [ext_json::parse(&printed, 0), shell::parse(&printed, 0)] {
        let again = read.unwrap_or_else(|error| panic!("{error} at {:?} in the printed {printed}", error.span));
        assert!(compare(&again.value, &node.value).is_eq(), "{text:?} is printed as {printed}");
    }
}

fn depth(node: &Node) -> usize {
    let of_document = |document: &Document| document.fields.iter().map(|field| depth(&field.node)).max();
    let inner = match &node.value {
        Value::Document(document) => of_document(document),
        Value::JavaScriptWithScope(_, scope) => of_document(scope),
        Value::Array(array) => array.items.iter().map(depth).max(),
        _ => None,
    };
    inner.map_or(0, |depth| depth + 1)
}

fn assert_operation(text: &str) {
    let form = operation::parse_form(text);
    match operation::parse(text, |_| None) {
        Ok(statements) => {
            assert!(form.is_ok(), "an operation without a form: {text:?}");
            for statement in &statements {
                let mut spans = Vec::new();
                of_statement(statement, &mut spans);
                assert_inside(text, &spans);
                assert!(!Shape::of(statement).text.contains('\n'), "a shape is one line: {text:?}");
            }
        }
        Err(error) => assert_located(text, &error),
    }
}
