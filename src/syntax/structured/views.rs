//! `resolvedViews` (5.0 and later): which collection a view stands for, and by which pipeline.

use serde_json::value::RawValue;

use crate::model::{Namespace, Node, Statement, Value};

use super::members::{Members, Raw};

/// What time-series collections are stored in.
const BUCKETS: &str = "system.buckets.";

/// Makes a statement on a view one on the collection behind it.
pub(super) fn resolve(attr: &Members<'_>, statement: &mut Statement) {
    let Some((collection, pipeline)) = resolved(attr, &statement.namespace) else { return };
    statement.namespace = collection;
    statement.view_pipeline = pipeline;
}

/// The collection behind the view `namespace`, and the pipeline of all views on the way. Other entries are of views that
/// a `$lookup` names.
fn resolved(attr: &Members<'_>, namespace: &Namespace) -> Option<(Namespace, Option<Node>)> {
    let Raw::Json(views) = attr.raw("resolvedViews")? else { return None };
    let views: Vec<&RawValue> = serde_json::from_str(views).ok()?;
    let mut views = views.into_iter().filter_map(|view| Members::of(attr.line, Raw::Json(view.get())));
    let view = views.find(|view| view.string("viewNamespace").is_some_and(|name| name == namespace.as_str()))?;
    let chain = view.node("dependencyChain")?;
    let last = chain.as_array()?.items.last()?.as_str()?;
    // A time-series collection is declared, sharded and queried by its own name.
    let collection = last.strip_prefix(BUCKETS).unwrap_or(last);
    let mut pipeline = view.node("resolvedPipeline");
    if collection != last {
        pipeline = pipeline.and_then(without_unpacking);
    }
    Some((Namespace::new(namespace.database(), collection), pipeline))
}

/// The pipeline without the stage that reads buckets; `None` if nothing is left.
fn without_unpacking(mut pipeline: Node) -> Option<Node> {
    let Value::Array(array) = &mut pipeline.value else { return None };
    array.items.retain(|stage| {
        let name = stage.as_document().and_then(|stage| stage.first()).map_or("", |field| field.name.as_str());
        !name.starts_with("$_internalUnpackBucket") && name != "$_unpackBucket"
    });
    (!array.items.is_empty()).then_some(pipeline)
}
