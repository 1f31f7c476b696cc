//! Commands that declare, as documents: `{ shardCollection: "shop.orders", key: { a: 1 } }`. The first name says which.

use crate::model::{Document, IndexSpec, Node, Value};
use crate::text::Located;

use super::arguments::{Kind, Part, document, expected, namespace, require, text};
use super::index::listed_index;
use super::method::{Said, option, properties};
use super::statement::{Declaration, KeyChange, Target};

/// What a command says; `database` is the one it is sent to.
pub(super) fn command(node: &Node, database: Option<&str>) -> Part<Said> {
    let body =
        document(Some(node), node.span, "a command such as `{ shardCollection: \"shop.orders\", key: { a: 1 } }`")?;
    let Some(first) = body.first() else { return Ok(None) };
    let owner = first.name_span;
    let in_database = |name: Located<String>| Target {
        database: database.map(str::to_owned),
        collection: name.value,
        span: name.span,
    };
    match first.name.as_str() {
        "shardCollection" | "shardcollection" => key(KeyChange::Shard, body).map(Some),
        "reshardCollection" => key(KeyChange::Reshard, body).map(Some),
        "refineCollectionShardKey" => key(KeyChange::Refine, body).map(Some),
        "unshardCollection" | "moveCollection" => {
            namespace(Some(&first.node), owner).map(|target| Some((target, Declaration::Unsharded)))
        }
        "create" => {
            let name = text(Some(&first.node), owner, "a collection's name")?;
            Ok(Some((in_database(name), properties(node)?)))
        }
        "createIndexes" | "createindexes" => {
            let name = text(Some(&first.node), owner, "a collection's name")?;
            Ok(Some((in_database(name), Declaration::Indexes(specifications(node, body)?))))
        }
        name => members(name, body).map(|()| None),
    }
}

fn key(change: KeyChange, body: &Document) -> Part<(Target, Declaration)> {
    let first = &body.fields[0];
    let target = namespace(Some(&first.node), first.name_span)?;
    let pattern = body.get("key");
    document(pattern, first.name_span, "a `key` such as `{ customerId: 1 }`")?;
    let said = Declaration::Key {
        change,
        pattern: pattern.cloned().unwrap_or_default(),
        unique: body.field("unique").map(option),
    };
    Ok((target, said))
}

fn specifications(node: &Node, body: &Document) -> Part<Vec<IndexSpec>> {
    match body.get("indexes").map(|indexes| (indexes, indexes.as_array())) {
        Some((_, Some(indexes))) => indexes.items.iter().map(listed_index).collect(),
        Some((indexes, None)) => expected(Some(indexes), node.span, "an array of index specifications"),
        None => expected(None, body.fields[0].name_span, "`indexes`, an array of index specifications"),
    }
}

/// Commands that keep nothing here; what some say about zones is read elsewhere.
fn members(name: &str, body: &Document) -> Part<()> {
    let first = &body.fields[0];
    let kind = match name {
        "enableSharding" | "enablesharding" | "addShard" | "addshard" | "addShardToZone" | "removeShardFromZone" => {
            Kind::Text
        }
        _ => Kind::Namespace,
    };
    require(kind, Some(&first.node), first.name_span, "a name")?;
    match name {
        "split" => {
            let point = ["middle", "find"].into_iter().find_map(|name| body.get(name));
            match (point, body.get("bounds")) {
                (Some(Node { value: Value::Document(_), .. }), _) | (None, Some(_)) => Ok(()),
                (point, _) => expected(point, first.name_span, "`middle`, `find` or `bounds`"),
            }
        }
        _ => Ok(()),
    }
}
