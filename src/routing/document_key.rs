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
    key.fields.iter().map(|field| value_on_path(document, &field.path)).collect()
}

fn value_on_path<'a>(document: &'a Document, path: &str) -> Result<Option<&'a Value>, ArrayOnPath> {
    let (name, rest) = path.split_once('.').map_or((path, None), |(name, rest)| (name, Some(rest)));
    match (document.get(name).map(|Node { value, .. }| value), rest) {
        (Some(Value::Array(_)), _) => Err(ArrayOnPath),
        (Some(Value::Document(inner)), Some(rest)) => value_on_path(inner, rest),
        (Some(value), None) => Ok(Some(value)),
        // A scalar where a sub-document was expected is as good as nothing.
        (_, Some(_)) | (None, None) => Ok(None),
    }
}
