//! Methods that declare: `sh.shardCollection(…)`, `db.createCollection(…)`, `db.orders.createIndex(…)`.

use crate::model::{IndexSpec, Node, Value};
use crate::text::{Located, Span};

use super::arguments::{Kind, Part, document, expected, namespace, require, text};
use super::index;
use super::statement::{Declaration, KeyChange, Target};

/// What one call of a method says; `None` if it is well-formed and keeps nothing.
pub(super) type Said = Option<(Target, Declaration)>;

const KEY: &str = "a shard key such as `{ customerId: 1 }`";

/// A call of a method of `sh`; `None` if there is no such method.
pub(super) fn of_sh(method: &Located<String>, arguments: &[Node]) -> Option<Part<Said>> {
    Some(match method.value.as_str() {
        "shardCollection" | "shardAndDistributeCollection" => key(KeyChange::Shard, method.span, arguments),
        "reshardCollection" => key(KeyChange::Reshard, method.span, arguments),
        "refineCollectionShardKey" => key(KeyChange::Refine, method.span, arguments),
        "unshardCollection" | "moveCollection" => {
            namespace(arguments.first(), method.span).map(|target| Some((target, Declaration::Unsharded)))
        }
        name => positions(name, method.span, arguments)?.map(|()| None),
    })
}

/// Methods whose arguments are only checked, one by one.
fn positions(name: &str, owner: Span, arguments: &[Node]) -> Option<Part<()>> {
    const NAMESPACE: (Kind, &str) = (Kind::Namespace, "a namespace");
    const POINT: (Kind, &str) = (Kind::Document, "a document such as `{ customerId: 1000 }`");
    const SHARD: (Kind, &str) = (Kind::Text, "a shard's name");
    let wanted: &[(Kind, &str)] = match name {
        "enableSharding" => &[(Kind::Text, "a database's name")],
        "addShard" => &[(Kind::Text, "a replica set such as `\"rs0/host:27018\"`")],
        "splitAt" | "splitFind" => &[NAMESPACE, POINT],
        "moveChunk" => &[NAMESPACE, (Kind::Document, "a document that the chunk holds"), SHARD],
        "moveRange" => &[NAMESPACE, SHARD],
        _ => return None,
    };
    let check = |(index, (kind, what)): (usize, &(Kind, &str))| require(*kind, arguments.get(index), owner, what);
    Some(wanted.iter().enumerate().try_for_each(check))
}

/// `(namespace, key, unique?, options?)`; options may stand in the place of `unique`.
fn key(change: KeyChange, owner: Span, arguments: &[Node]) -> Part<Said> {
    let target = namespace(arguments.first(), owner)?;
    document(arguments.get(1), owner, KEY)?;
    let mut unique = None;
    for argument in &arguments[2..] {
        match &argument.value {
            Value::Bool(given) => unique = Some(Located::new(*given, argument.span)),
            Value::Document(options) => unique = options.field("unique").map(option).or(unique),
            Value::Null | Value::Undefined => {}
            _ => {
                return expected(
                    Some(argument),
                    owner,
                    "true or false (`unique`), or options such as `{ unique: true }`",
                );
            }
        }
    }
    Ok(Some((target, Declaration::Key { change, pattern: arguments[1].clone(), unique })))
}

/// An option that is true or false, with its name in the span.
pub(super) fn option(field: &crate::model::Field) -> Located<bool> {
    Located::new(field.node.is_truthy(), field.name_span.join(field.node.span))
}

/// `db.createCollection(name, options?)`: the name and what the options say.
pub(super) fn created(owner: Span, arguments: &[Node]) -> Part<(Located<String>, Declaration)> {
    let name = text(arguments.first(), owner, "a collection's name")?;
    let said = match arguments.get(1) {
        None | Some(Node { value: Value::Null | Value::Undefined, .. }) => {
            Declaration::Created { collation: None, clustered: None }
        }
        Some(options) => properties(options)?,
    };
    Ok((name, said))
}

/// The properties of a new collection that matter for sharding.
pub(super) fn properties(options: &Node) -> Part<Declaration> {
    let given = document(Some(options), options.span, "options such as `{ collation: { locale: \"en\" } }`")?;
    let clustered = match given.get("clusteredIndex") {
        Some(specification) if specification.as_document().is_some() => {
            let mut clustered = index::listed_index(specification)?;
            clustered.clustered = true;
            Some(Box::new(clustered))
        }
        _ => None,
    };
    Ok(Declaration::Created { collation: given.get("collation").cloned(), clustered })
}

/// A method of a collection; the method is one of `createIndex`, `ensureIndex` and `createIndexes`.
pub(super) fn indexes(method: &Located<String>, arguments: &[Node], span: Span) -> Part<Vec<IndexSpec>> {
    if method.value != "createIndexes" {
        let key = first(arguments, method.span, "a key pattern such as `{ customerId: 1 }`")?;
        let mut index = index::plain(key, span)?;
        options(&mut index, arguments.get(1))?;
        return Ok(vec![index]);
    }
    let patterns = first(arguments, method.span, "an array of key patterns")?;
    let Some(patterns) = patterns.as_array() else {
        return expected(Some(patterns), span, "an array of key patterns");
    };
    let one = |pattern: &Node| {
        // The drivers' form, a specification with a `key`, is taken too.
        let is_specification =
            pattern.as_document().and_then(|d| d.get("key")).is_some_and(|k| k.as_document().is_some());
        let mut index =
            if is_specification { index::listed_index(pattern) } else { index::plain(pattern, pattern.span) }?;
        options(&mut index, arguments.get(1))?;
        Ok(index)
    };
    patterns.items.iter().map(one).collect()
}

fn first<'a>(arguments: &'a [Node], owner: Span, what: &str) -> Part<&'a Node> {
    arguments.first().map_or_else(|| expected(None, owner, what), Ok)
}

/// The options of `createIndex`: a document; in old scripts the name, or true for a unique index.
fn options(index: &mut IndexSpec, options: Option<&Node>) -> Part<()> {
    let Some(node) = options else { return Ok(()) };
    match &node.value {
        Value::Document(given) => index::apply(index, given),
        Value::String(name) => index.name = Some(name.clone()),
        Value::Bool(true) => index.unique = Some(node.span),
        Value::Bool(false) | Value::Null | Value::Undefined => {}
        _ => return expected(Some(node), node.span, "options such as `{ unique: true }`"),
    }
    Ok(())
}
