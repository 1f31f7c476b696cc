//! Which indexes can carry a shard key, and why the others cannot. What `shardCollection` requires of a collection
//! that holds documents; pure functions over declarations, the words are the rules'.

use crate::model::{Document, IndexSpec, KeyKind, Node, ShardKey, Value};
use crate::text::{SourceId, Span};

use super::collection::{Collection, IndexList};

/// One reason why an index that starts with the key cannot carry it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Unfit {
    /// `sparse: true`.
    Sparse(Span),
    /// It has a `partialFilterExpression`.
    Partial(Span),
    /// `hidden: true`.
    Hidden(Span),
    /// An indexed field holds arrays.
    Multikey(Span),
    /// A collation other than simple; `None` is inherited from the collection.
    Collation(Option<Span>),
    /// A hashed index with a seed of its own.
    HashSeed(Span),
    /// A compound wildcard index.
    Wildcard(Span),
}

/// An index that starts with the key, and what keeps it from carrying it.
#[derive(Debug, Clone)]
pub struct Candidate<'a> {
    /// Where the index is declared.
    pub source: SourceId,
    /// The index; `None` is the `_id_` index that every collection has.
    pub index: Option<&'a IndexSpec>,
    /// Never empty.
    pub unfit: Vec<Unfit>,
}

/// Whether a key has an index that carries it.
#[derive(Debug, Clone)]
pub enum Support<'a> {
    /// It has.
    Served,
    /// Indexes start with the key, but none can carry it.
    Unusable(Vec<Candidate<'a>>),
    /// No index starts with the key.
    Missing,
}

impl Collection {
    /// Looks for an index that carries `key` among those that are declared, and `_id_`.
    #[must_use]
    pub fn index_support(&self, key: &ShardKey) -> Support<'_> {
        let mut candidates = Vec::new();
        for (source, index) in &self.indexes.specs {
            if starts_with_key(&index.key, key) {
                let unfit = self.unfit(index);
                if unfit.is_empty() {
                    return Support::Served;
                }
                candidates.push(Candidate { source: *source, index: Some(index), unfit });
            }
        }
        let is_listed = self.indexes.specs.iter().any(|(_, index)| is_id_index(&index.key));
        if !is_listed && key.fields.len() == 1 && key.first().path == "_id" && !key.is_hashed() {
            if self.collation.as_ref().is_none_or(is_simple_collation) {
                return Support::Served;
            }
            let unfit = vec![Unfit::Collation(None)];
            candidates.push(Candidate { source: self.source, index: None, unfit });
        }
        if candidates.is_empty() { Support::Missing } else { Support::Unusable(candidates) }
    }

    /// The collation of an index: its own, else the collection's. A listing shows what was inherited, a statement does not.
    #[must_use]
    pub fn index_collation<'a>(&'a self, index: &'a IndexSpec) -> Option<&'a Node> {
        let inherited = if self.indexes.complete { None } else { self.collation.as_ref() };
        index.collation.as_ref().or(inherited).filter(|collation| !is_simple_collation(collation))
    }

    fn unfit(&self, index: &IndexSpec) -> Vec<Unfit> {
        let own_collation = index.collation.as_ref().map(|node| node.span);
        let wildcard = index.key.fields.iter().find(|field| is_wildcard(&field.name));
        [
            index.sparse.map(Unfit::Sparse),
            index.partial_filter.as_ref().map(|node| Unfit::Partial(node.span)),
            index.hidden.map(Unfit::Hidden),
            self.index_collation(index).map(|_| Unfit::Collation(own_collation)),
            index.multikey.map(Unfit::Multikey),
            index.hash_seed.map(Unfit::HashSeed),
            wildcard.map(|field| Unfit::Wildcard(field.name_span)),
        ]
        .into_iter()
        .flatten()
        .collect()
    }
}

impl IndexList {
    /// The indexes whose pattern is exactly the key, by value.
    pub fn exact<'a>(&'a self, key: &'a ShardKey) -> impl Iterator<Item = &'a (SourceId, IndexSpec)> {
        self.specs
            .iter()
            .filter(|(_, index)| index.key.fields.len() == key.fields.len() && starts_with_key(&index.key, key))
    }
}

/// Whether a pattern begins with the key, comparing names and values: `{ a: -1 }` does not begin with `{ a: 1 }`.
#[must_use]
pub fn starts_with_key(pattern: &Document, key: &ShardKey) -> bool {
    pattern.fields.len() >= key.fields.len()
        && key.fields.iter().zip(&pattern.fields).all(|(field, part)| {
            let same_kind = match field.kind {
                KeyKind::Hashed => part.node.as_str() == Some("hashed"),
                KeyKind::Ranged => part.node.as_i64() == Some(1),
            };
            part.name == field.path && same_kind
        })
}

/// Whether a collation orders by bytes: `{ locale: "simple" }`.
#[must_use]
pub fn is_simple_collation(collation: &Node) -> bool {
    match &collation.value {
        Value::Document(document) => {
            document.is_empty() || document.get("locale").and_then(Node::as_str) == Some("simple")
        }
        _ => true,
    }
}

fn is_id_index(pattern: &Document) -> bool {
    matches!(pattern.fields.as_slice(), [field] if field.name == "_id" && field.node.as_i64() == Some(1))
}

fn is_wildcard(path: &str) -> bool {
    path == "$**" || path.ends_with(".$**")
}

#[cfg(test)]
mod tests {
    use std::io::Read;

    use super::*;
    use crate::syntax::ext_json;

    /// The restated cases of one kind.
    fn cases(kind: &str) -> Vec<Document> {
        let path = format!("{}/tests/data/routing-cases.jsonl.zst", env!("CARGO_MANIFEST_DIR"));
        let mut text = String::new();
        let file = std::fs::File::open(path).expect("the cases are part of the repository");
        zstd::Decoder::new(file).expect("zstd").read_to_string(&mut text).expect("text");
        let rows = text.lines().filter_map(|line| ext_json::parse(line, 0).expect("JSON").as_document().cloned());
        let rows: Vec<_> = rows.filter(|row| row.get("kind").and_then(Node::as_str) == Some(kind)).collect();
        assert!(rows.len() >= 4, "{} rows", rows.len());
        rows
    }

    fn index(key: &Document, options: &Document) -> IndexSpec {
        let given = |name: &str| options.get(name).filter(|node| node.is_truthy()).map(|node| node.span);
        IndexSpec {
            sparse: given("sparse"),
            hidden: given("hidden"),
            partial_filter: options.get("partialFilterExpression").cloned(),
            collation: options.get("collation").cloned(),
            ..IndexSpec::plain(key.clone(), Span::default(), Span::default())
        }
    }

    fn is_served(key: &ShardKey, specs: impl Iterator<Item = IndexSpec>) -> bool {
        let collection = Collection {
            indexes: IndexList { specs: specs.map(|index| (SourceId(0), index)).collect(), complete: false },
            ..Collection::sharded("a.b", key.clone(), SourceId(0))
        };
        matches!(collection.index_support(key), Support::Served)
    }

    fn indexes(case: &Document) -> impl Iterator<Item = &Document> {
        case.get("indexes")
            .and_then(Node::as_array)
            .into_iter()
            .flat_map(|list| &list.items)
            .filter_map(Node::as_document)
    }

    #[test]
    fn a_longer_key_needs_an_index_that_carries_it() {
        for case in cases("refine") {
            let fields = |name: &str| case.get(name).and_then(Node::as_document).expect("a key").fields.clone();
            let (old, new) = (fields("oldKey"), fields("newKey"));
            let key = ShardKey::from_pattern(case.get("newKey").expect("a key"));
            let extends = key.is_ok()
                && ShardKey::from_pattern(case.get("oldKey").expect("a key")).is_ok_and(|old| {
                    starts_with_key(case.get("newKey").and_then(Node::as_document).expect("a key"), &old)
                });
            // Whatever is no extension is refused for that, and a key that stays needs nothing.
            if !extends || old.len() == new.len() {
                continue;
            }
            let specs =
                indexes(&case).map(|spec| index(spec.get("key").and_then(Node::as_document).expect("a key"), spec));
            let allowed = case.get("ok").is_some_and(Node::is_truthy);
            assert_eq!(is_served(&key.expect("a valid key"), specs), allowed, "{:?}", case.get("id"));
        }
    }

    #[test]
    fn the_last_index_of_a_ranged_key_cannot_go() {
        for case in cases("index-removal") {
            let key = ShardKey::from_pattern(case.get("shardKey").expect("a key")).expect("a valid key");
            let dropped = case.get("target").and_then(Node::as_document).expect("a pattern");
            let is_dropped = |pattern: &Document| {
                let parts = pattern.fields.iter().map(|field| (&field.name, field.node.as_i64()));
                parts.eq(dropped.fields.iter().map(|field| (&field.name, field.node.as_i64())))
            };
            let none = Document::default();
            let before = indexes(&case).map(|key| index(key, &none));
            let after = indexes(&case).filter(|key| !is_dropped(key)).map(|key| index(key, &none));
            assert!(is_served(&key, before), "{:?}", case.get("id"));
            let allowed = case.get("ok").is_some_and(Node::is_truthy);
            assert_eq!(is_served(&key, after) || key.is_hashed(), allowed, "{:?}", case.get("id"));
        }
    }
}
