//! Index specifications: of `createIndex`, of the command `createIndexes`, and as servers list them.

use crate::model::{Document, Field, IndexSpec, Node, Value};
use crate::text::Span;

use super::arguments::{Part, document, expected};

const KEY_PATTERN: &str = "a key pattern such as `{ customerId: 1 }`";

/// An index with a key pattern and no options.
pub(super) fn plain(key: &Node, span: Span) -> Part<IndexSpec> {
    let pattern = document(Some(key), span, KEY_PATTERN)?;
    if pattern.is_empty() && !pattern.partial {
        return expected(Some(key), span, KEY_PATTERN);
    }
    Ok(IndexSpec::plain(pattern.clone(), key.span, span))
}

/// A specification that names its key: `{ key: { a: 1 }, name: "a_1", unique: true }`.
pub(in crate::syntax) fn listed_index(node: &Node) -> Part<IndexSpec> {
    let specification = document(Some(node), node.span, "an index specification such as `{ key: { a: 1 } }`")?;
    let Some(key) = specification.get("key") else {
        return expected(None, node.span, "a `key` in the index specification");
    };
    let mut index = plain(key, node.span)?;
    apply(&mut index, specification);
    Ok(index)
}

/// Takes over the options that matter for sharding; others are left alone.
pub(super) fn apply(index: &mut IndexSpec, options: &Document) {
    for field in &options.fields {
        let truth = field.node.is_truthy().then(|| field.name_span.join(field.node.span));
        match field.name.as_str() {
            "name" => index.name = field.node.as_str().map(str::to_owned),
            "unique" => index.unique = truth,
            "prepareUnique" => index.prepare_unique = truth,
            "sparse" => index.sparse = truth,
            "hidden" => index.hidden = truth,
            "multikey" | "isMultiKey" => index.multikey = truth,
            "expireAfterSeconds" => index.expires = given(field).map(|_| field.name_span.join(field.node.span)),
            "seed" => index.hash_seed = truth,
            "clustered" => index.clustered = truth.is_some(),
            "partialFilterExpression" => index.partial_filter = given(field),
            "collation" => index.collation = given(field),
            "wildcardProjection" => index.wildcard_projection = given(field),
            _ => {}
        }
    }
}

/// The value of an option, unless it is null or undefined.
fn given(field: &Field) -> Option<Node> {
    (!matches!(field.node.value, Value::Null | Value::Undefined)).then(|| field.node.clone())
}
