//! Complete lists of indexes as servers give them: replies of `listIndexes`, arrays of `getIndexes()`, the metadata files of
//! mongodump; as (extended) JSON, one value or several in one text, or as a shell prints them.

use serde_json::value::RawValue;

use crate::model::{IndexSpec, Node, Value};
use crate::text::{Located, Span};

use super::declaration::listed_index;
use super::error::SyntaxError;
use super::{ext_json, shell};

/// All indexes of one collection.
#[derive(Debug, Clone)]
pub struct ListedIndexes {
    /// The collection, if the list names it (replies do, arrays since 4.4 do not).
    pub namespace: Option<Located<String>>,
    /// Its indexes.
    pub indexes: Vec<IndexSpec>,
    /// The whole list.
    pub span: Span,
}

/// Reads all lists in `text`.
///
/// # Errors
/// If `text` is no sequence of values, or one of them is no list of indexes.
pub fn index_lists(text: &str) -> Result<Vec<ListedIndexes>, SyntaxError> {
    let mut lists: Vec<ListedIndexes> = Vec::new();
    for value in values(text)? {
        match list(&value)? {
            // Specifications one by one, as exports write them, are members of one list.
            One::Index(index, namespace) => match lists.last_mut().filter(|list| same(list, namespace.as_ref())) {
                Some(list) => {
                    list.span = list.span.join(index.span);
                    list.indexes.push(*index);
                }
                None => lists.push(ListedIndexes { namespace, span: index.span, indexes: vec![*index] }),
            },
            One::List(list) => lists.push(list),
        }
    }
    Ok(lists)
}

/// Whether a value that a text begins with is a list of indexes.
pub(super) fn begins_with_list(text: &str) -> bool {
    let first =
        json_values(text).next().and_then(Result::ok).or_else(|| shell::parse_prefix(text, 0).ok().map(|(v, _)| v));
    first.is_some_and(|value| match list(&value) {
        Ok(One::List(list)) => !list.indexes.is_empty() || list.namespace.is_some(),
        Ok(One::Index(index, _)) => index.name.is_some(),
        Err(_) => false,
    })
}

fn same(list: &ListedIndexes, namespace: Option<&Located<String>>) -> bool {
    list.namespace.as_ref().map(|n| &n.value) == namespace.map(|n| &n.value)
}

/// The values of a text; in JSON, or, if that fails, as a shell prints them.
fn values(text: &str) -> Result<Vec<Node>, SyntaxError> {
    if let Ok(values) = json_values(text).collect() {
        return Ok(values);
    }
    let mut values = Vec::new();
    let mut at = 0;
    while !text[at..].trim().is_empty() {
        let (value, length) = shell::parse_prefix(&text[at..], at)?;
        values.push(value);
        at += length;
    }
    Ok(values)
}

fn json_values(text: &str) -> impl Iterator<Item = Result<Node, SyntaxError>> {
    let raw = serde_json::Deserializer::from_str(text).into_iter::<&RawValue>();
    raw.map(|raw| match raw {
        Ok(raw) => ext_json::parse_raw(text, 0, raw),
        Err(error) => Err(ext_json::malformed(text, 0, &error)),
    })
}

enum One {
    List(ListedIndexes),
    Index(Box<IndexSpec>, Option<Located<String>>),
}

fn list(node: &Node) -> Result<One, SyntaxError> {
    let Some(document) = node.as_document() else { return specifications(node, None).map(One::List) };
    if let Some(cursor) = document.get("cursor").and_then(Node::as_document)
        && let Some(batch) = cursor.get("firstBatch")
    {
        return specifications(batch, cursor.get("ns").and_then(named)).map(One::List);
    }
    if let Some(indexes) = document.get("indexes") {
        return specifications(indexes, None).map(One::List);
    }
    if document.get("name").is_none() && document.get("v").is_none() {
        return Err(not_a_list(node.span));
    }
    listed_index(node).map(|index| One::Index(Box::new(index), namespace_of(node)))
}

/// The members of a list; those that servers up to 4.2 wrote name their collection themselves.
fn specifications(node: &Node, namespace: Option<Located<String>>) -> Result<ListedIndexes, SyntaxError> {
    let Some(array) = node.as_array() else { return Err(not_a_list(node.span)) };
    let indexes = array.items.iter().map(listed_index).collect::<Result<_, _>>()?;
    let namespace = namespace.or_else(|| array.items.first().and_then(namespace_of));
    Ok(ListedIndexes { namespace, indexes, span: node.span })
}

fn namespace_of(specification: &Node) -> Option<Located<String>> {
    specification.as_document()?.get("ns").and_then(named)
}

fn named(node: &Node) -> Option<Located<String>> {
    match &node.value {
        Value::String(name) if name.contains('.') => Some(Located::new(name.clone(), node.span)),
        _ => None,
    }
}

fn not_a_list(span: Span) -> SyntaxError {
    SyntaxError::new(span, "expected a reply of `listIndexes`, or an array of index specifications")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn replies_arrays_and_single_specifications_are_lists() {
        let reply = r#"{"cursor":{"id":{"$numberLong":"0"},"ns":"shop.orders","firstBatch":[{"v":2,"key":{"_id":1},"name":"_id_"},{"v":2,"key":{"a":{"$numberInt":"-1"}},"name":"a_-1","unique":true}]},"ok":1}"#;
        let lists = index_lists(&format!("{reply}\n{reply}")).expect("valid");
        assert_eq!(lists.len(), 2);
        assert_eq!(lists[1].namespace.as_ref().map(|n| n.value.as_str()), Some("shop.orders"));
        let unique = lists[0].indexes[1].unique.expect("unique");
        assert_eq!(&reply[unique.range()], "\"unique\":true");

        let shell =
            "[ { v: 2, key: { _id: 1 }, name: '_id_' }, { v: 2, key: { a: 'hashed' }, name: 'x', sparse: true } ]";
        let lists = index_lists(shell).expect("valid");
        assert!(lists[0].namespace.is_none() && lists[0].indexes[1].sparse.is_some());

        let lines = "{\"v\":1,\"key\":{\"a\":1},\"name\":\"a_1\",\"ns\":\"s.c\"}\n{\"v\":1,\"key\":{\"b\":1},\"name\":\"b_1\",\"ns\":\"s.c\"}\n";
        let lists = index_lists(lines).expect("valid");
        assert_eq!((lists.len(), lists[0].indexes.len()), (1, 2));
    }

    #[test]
    fn what_is_no_list_is_told_in_place() {
        let error = index_lists("[ { name: 'x' } ]").expect_err("no key");
        assert_eq!(
            (error.span, error.message.as_str()),
            (Span::new(2, 15), "expected a `key` in the index specification")
        );
        assert!(index_lists("{ \"ok\": 1 }").is_err());
        assert!(index_lists("[ { key: 1, name: 'x' } ]").is_err());
        assert!(index_lists("[ {").is_err());
    }
}
