//! Documents, keys, chunks and statements for the properties.

use std::cmp::Ordering;

use shardlint::model::{
    Array, Chunk, ChunkMap, Document, Field, KeyField, KeyKind, Namespace, Node, RoutingCase, ServerVersion, ShardKey,
    Statement, Value, Verb, compare,
};
use shardlint::routing::{Verdict, route_case};
use shardlint::text::Span;

use crate::filter::{Doc, PATHS, Scalar};

pub fn document(fields: impl IntoIterator<Item = (String, Node)>) -> Node {
    let field = |(name, node)| Field { name, name_span: Span::default(), node };
    Node::synthetic(Value::Document(Document { fields: fields.into_iter().map(field).collect(), partial: false }))
}

pub fn single(name: &str, node: Node) -> Node {
    document([(name.to_owned(), node)])
}

pub fn array(items: Vec<Node>) -> Node {
    Node::synthetic(Value::Array(Array { items, partial: false }))
}

pub fn text(text: &str) -> Node {
    Node::synthetic(Value::String(text.to_owned()))
}

pub fn int(n: i32) -> Node {
    Node::synthetic(Value::Int32(n))
}

/// Under it, strings compare without regard to case.
pub fn collation() -> Node {
    document([("locale".to_owned(), text("en")), ("strength".to_owned(), int(2))])
}

pub fn key(fields: &[(&str, KeyKind)]) -> ShardKey {
    let field = |&(path, kind): &(&str, KeyKind)| KeyField { path: path.to_owned(), kind, span: Span::default() };
    ShardKey { fields: fields.iter().map(field).collect(), span: Span::default() }
}

pub fn keys() -> Vec<ShardKey> {
    use KeyKind::{Hashed, Ranged};
    vec![
        key(&[("a", Ranged)]),
        key(&[("a", Ranged), ("b", Ranged)]),
        key(&[("a", Hashed)]),
        key(&[("a", Hashed), ("b", Ranged)]),
        key(&[("a", Ranged), ("b", Hashed)]),
    ]
}

/// Cuts the key space at the given points. Each chunk has a shard of its own.
pub fn chunk_map(mut cuts: Vec<Vec<Value>>, fields: usize) -> ChunkMap {
    let by_fields = |x: &[Value], y: &[Value]| {
        x.iter().zip(y).map(|(a, b)| compare(a, b)).find(|order| order.is_ne()).unwrap_or(Ordering::Equal)
    };
    cuts.sort_by(|x, y| by_fields(x, y));
    cuts.dedup_by(|x, y| by_fields(x, y).is_eq());
    let (first, last) = (vec![Value::MinKey; fields], vec![Value::MaxKey; fields]);
    let edges: Vec<Vec<Value>> = std::iter::once(first).chain(cuts).chain(std::iter::once(last)).collect();
    let chunk = |(at, pair): (usize, &[Vec<Value>])| Chunk {
        min: pair[0].clone(),
        max: pair[1].clone(),
        shard: format!("shard{at:04}"),
    };
    ChunkMap { chunks: edges.windows(2).enumerate().map(chunk).collect() }
}

/// A chunk map with an edge at the key of every document: the finest that can tell bounds apart. Hashed fields are cut evenly.
pub fn fine_chunks(key: &ShardKey, docs: &[Doc]) -> ChunkMap {
    let cut = |(at, doc): (usize, &Doc)| -> Vec<Value> {
        let position = i64::try_from(at).expect("few documents");
        let hash = Value::Int64((position - 20) * (i64::MAX / 32));
        let fields = key.fields.iter().zip(doc);
        fields
            .map(|(field, value)| match field.kind {
                KeyKind::Hashed => hash.clone(),
                KeyKind::Ranged => value.as_ref().map_or(Value::Null, Scalar::value),
            })
            .collect()
    };
    chunk_map(docs.iter().enumerate().map(cut).collect(), key.fields.len())
}

pub fn find(filter: Node) -> Statement {
    let mut statement = Statement::new(Verb::Find, Namespace::new("app", "c"), Span::default(), Span::default());
    statement.filter = Some(filter);
    statement
}

pub fn verdict_on(statement: Statement, key: &ShardKey, chunks: Option<&ChunkMap>) -> Verdict {
    route_case(&RoutingCase {
        statement,
        shard_key: key.clone(),
        chunks: chunks.cloned(),
        all_shards: chunks.map(|map| map.chunks.iter().map(|chunk| chunk.shard.clone()).collect()),
        collection_collation: None,
        outer: None,
        version: ServerVersion::line(6, 0),
    })
}

/// The shard on which a document lies: where its insert goes.
pub fn home(doc: &Doc, key: &ShardKey, chunks: &ChunkMap) -> String {
    let fields = PATHS.iter().zip(doc).filter_map(|(path, value)| {
        let value = value.as_ref()?.value();
        Some(((*path).to_owned(), Node::synthetic(value)))
    });
    let mut statement = Statement::new(Verb::Insert, Namespace::new("app", "c"), Span::default(), Span::default());
    statement.documents = vec![document(std::iter::once(("_id".to_owned(), int(1))).chain(fields))];
    statement.document_count = Some(1);
    match verdict_on(statement, key, Some(chunks)).shards.as_deref() {
        Some([shard]) => shard.clone(),
        other => panic!("an insert goes to one shard, not {other:?}"),
    }
}
