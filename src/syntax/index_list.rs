//! Complete lists of indexes as servers give them: replies of `listIndexes`, arrays of `getIndexes()`, the metadata files of
//! mongodump, specifications one by one as exports write them. How the text around them is read is for `dump`.

use crate::model::{Document, IndexSpec, Node, Value};
use crate::text::{Located, Span};

use super::declaration::listed_index;
use super::error::SyntaxError;

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

/// Whether a document is a list of indexes, or one of its specifications.
pub(super) fn is_list(document: &Document) -> bool {
    let cursor = document.get("cursor").and_then(Node::as_document);
    let holds_list = cursor.is_some_and(|cursor| cursor.get("firstBatch").is_some_and(is_specifications))
        || document.get("indexes").is_some_and(is_specifications);
    holds_list || (document.get("key").is_some_and(|key| key.as_document().is_some()) && document.get("name").is_some())
}

/// Whether a list holds specifications of indexes, or nothing yet.
fn is_specifications(node: &Node) -> bool {
    let is_one = |item: &Node| item.as_document().is_some_and(|item| item.get("key").is_some());
    node.as_array().is_some_and(|array| array.items.first().is_none_or(is_one))
}

/// Adds a list, or a specification, which is a member of the list before it.
///
/// # Errors
/// If `node` is no list of indexes.
pub(super) fn add(node: &Node, lists: &mut Vec<ListedIndexes>) -> Result<(), SyntaxError> {
    match list(node)? {
        One::Index(index, namespace) => match lists.last_mut().filter(|list| same(list, namespace.as_ref())) {
            Some(list) => {
                list.span = list.span.join(index.span);
                list.indexes.push(*index);
            }
            None => lists.push(ListedIndexes { namespace, span: index.span, indexes: vec![*index] }),
        },
        One::List(list) => lists.push(list),
    }
    Ok(())
}

/// The list of a collection that is named elsewhere.
///
/// # Errors
/// If `node` is no array of specifications.
pub(super) fn of_collection(node: &Node, name: Located<String>) -> Result<ListedIndexes, SyntaxError> {
    specifications(node, Some(name))
}

fn same(list: &ListedIndexes, namespace: Option<&Located<String>>) -> bool {
    list.namespace.as_ref().map(|n| &n.value) == namespace.map(|n| &n.value)
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
    use crate::syntax::dump::dumps;

    fn index_lists(text: &str) -> Result<Vec<ListedIndexes>, SyntaxError> {
        let mut dump = dumps(text);
        dump.errors.pop().map_or(Ok(dump.indexes), Err)
    }

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
        assert!(index_lists("[ { key: 1, name: 'x' } ]").is_err());
        assert!(index_lists("[ {").is_err());
    }
}
