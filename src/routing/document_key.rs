//! The shard key of a document that is inserted or that replaces another.

use crate::model::{Document, Node, ShardKey, Value};

/// An array stands on the path of a key field, which no server accepts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ArrayOnPath;

/// The values of the key fields, not yet hashed; `None` for a field that is missing.
///
/// # Errors
/// If an array stands on the path of a key field.
pub fn document_key<'a>(document: &'a Document, key: &ShardKey) -> Result<Vec<Option<&'a Value>>, ArrayOnPath> {
    let values = key_nodes(document, key)?.into_iter();
    Ok(values.map(|node| node.map(|Node { value, .. }| value)).collect())
}

/// The same with the places where they stand.
///
/// # Errors
/// If an array stands on the path of a key field.
pub fn key_nodes<'a>(document: &'a Document, key: &ShardKey) -> Result<Vec<Option<&'a Node>>, ArrayOnPath> {
    key.fields.iter().map(|field| node_on_path(document, &field.path)).collect()
}

fn node_on_path<'a>(document: &'a Document, path: &str) -> Result<Option<&'a Node>, ArrayOnPath> {
    let (name, rest) = path.split_once('.').map_or((path, None), |(name, rest)| (name, Some(rest)));
    let Some(node) = document.get(name) else { return Ok(None) };
    match (&node.value, rest) {
        (Value::Array(_), _) => Err(ArrayOnPath),
        (Value::Document(inner), Some(rest)) => node_on_path(inner, rest),
        (_, None) => Ok(Some(node)),
        // A scalar where a sub-document was expected is as good as nothing.
        (_, Some(_)) => Ok(None),
    }
}
