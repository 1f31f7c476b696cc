//! What a printed value is a dump of, decided by its members, and what it says.

use crate::model::{Document, Node, Value, WrittenZoneRange};
use crate::syntax::index_list;
use crate::text::{Located, Span};

use super::measured;
use super::printed::{Printed, PrintedValue};
use super::{ChunkOf, Dump, DumpedChunk, DumpedCollection, DumpedShard};
use crate::syntax::shell_talk::lists_all_collections;

/// What a document is a dump of.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Kind {
    /// `config.collections`.
    Collection,
    /// `config.chunks`.
    Chunk,
    /// `config.shards`.
    Shard,
    /// `config.tags`.
    ZoneRange,
    /// A database in mongosh's `sh.status()`.
    StatusDatabase,
    /// The reply to a `find` on the config database.
    Reply,
    /// All indexes of many collections, and their shard keys.
    Export,
    /// One index, or all of one collection.
    Indexes,
    /// The output of `analyzeShardKey`.
    Characteristics,
    /// A row of a grouping by value.
    Group,
    /// `$shardedDataDistribution`.
    Distribution,
    /// Another collection of the config database, which says nothing about where documents lie.
    Bookkeeping,
}

/// Whether a value is a dump of something known.
pub(super) fn is_dumped(node: &Node) -> bool {
    node.as_document().and_then(kind).is_some()
}

fn kind(document: &Document) -> Option<Kind> {
    let is_document = |name: &str| document.get(name).is_some_and(|node| node.as_document().is_some());
    let text = |name: &str| document.get(name).and_then(Node::as_str);
    let has = |name: &str| document.get(name).is_some();
    let is_range = is_document("min") && is_document("max");
    if is_range && text("tag").is_some() {
        return Some(Kind::ZoneRange);
    }
    if is_range && text("shard").is_some() {
        return Some(Kind::Chunk);
    }
    if is_document("database") && is_document("collections") {
        return Some(Kind::StatusDatabase);
    }
    if is_document("collections") && (is_document("shardKeys") || has("generatedAt")) {
        return Some(Kind::Export);
    }
    if let Some(cursor) = document.get("cursor").and_then(Node::as_document) {
        let is_config = cursor.get("ns").and_then(Node::as_str).is_some_and(|ns| ns.starts_with("config."));
        let is_indexes = !is_config && index_list::is_list(document);
        return if is_config { Some(Kind::Reply) } else { is_indexes.then_some(Kind::Indexes) };
    }
    let is_namespace = text("_id").is_some_and(|id| id.contains('.'));
    let is_key = document.get("key").is_some_and(is_key_pattern);
    if is_namespace && (is_key || document.get("dropped").is_some_and(Node::is_truthy)) {
        return Some(Kind::Collection);
    }
    if index_list::is_list(document) {
        return Some(Kind::Indexes);
    }
    let is_alone = document.fields.len() == 2;
    let is_shard = text("_id").is_some() && text("host").is_some();
    if is_shard && (is_alone || ["state", "tags", "topologyTime", "maxSize", "draining"].iter().any(|name| has(name))) {
        return Some(Kind::Shard);
    }
    if measured::is_characteristics(document) {
        return Some(Kind::Characteristics);
    }
    if measured::is_distribution(document) {
        return Some(Kind::Distribution);
    }
    if is_bookkeeping(document) {
        return Some(Kind::Bookkeeping);
    }
    measured::is_group(document).then_some(Kind::Group)
}

/// Documents of `config.databases`, `version`, `settings`, `changelog`, `mongos`, `lockpings` and `locks`.
fn is_bookkeeping(document: &Document) -> bool {
    const SETTINGS: [&str; 5] = ["balancer", "autosplit", "chunksize", "automerge", "ReadWriteConcernDefaults"];
    let has = |names: &[&str]| names.iter().all(|name| document.get(name).is_some());
    let Some(id) = document.get("_id") else { return false };
    has(&["primary", "partitioned"])
        || has(&["primary", "version"])
        || has(&["clusterId"])
        || id.as_str().is_some_and(|id| SETTINGS.contains(&id))
        || has(&["what", "time", "details"])
        || has(&["ping"])
        || has(&["state", "process", "who"])
}

fn is_key_pattern(node: &Node) -> bool {
    let is_part = |node: &Node| {
        matches!(node.value, Value::Int32(_) | Value::Int64(_) | Value::Double(_)) || node.as_str() == Some("hashed")
    };
    node.as_document().is_some_and(|key| !key.is_empty() && key.fields.iter().all(|field| is_part(&field.node)))
}

/// Adds what the values say.
pub(super) fn collect(text: &str, printed: &Printed<'_>, dump: &mut Dump) {
    let mut names_all = !printed.is_cut && printed.error.is_none();
    for value in &printed.values {
        let before = dump.collections.len();
        let is_listing = is_listing(text, value, printed.values.len() == 1);
        let is_status = add(text, value, dump);
        names_all &= dump.collections.len() == before || is_status || is_listing;
        dump.complete |= dump.collections.len() > before && !is_status;
    }
    dump.complete &= names_all;
    dump.characteristics.extend(measured::groups(text, &printed.values, printed.is_cut));
}

/// Whether a value may be a part of a whole listing of `config.collections`. A single document over several lines is what
/// `findOne` prints, and a command can select.
fn is_listing(text: &str, value: &PrintedValue<'_>, is_only: bool) -> bool {
    let has_all = match value.node.as_array() {
        Some(array) => !array.partial,
        None => !is_only || !text[value.node.span.range()].contains('\n'),
    };
    has_all && value.command.is_none_or(lists_all_collections)
}

/// Adds what one value says; whether it is a part of `sh.status()`.
fn add(text: &str, value: &PrintedValue<'_>, dump: &mut Dump) -> bool {
    let Some(array) = value.node.as_array() else {
        return add_one(text, &value.node, value, dump);
    };
    let first = array.items.first().and_then(Node::as_document);
    if value.heading.is_none() && first.is_some_and(is_specification) {
        add_indexes(&value.node, dump);
        return false;
    }
    array.items.iter().fold(false, |is_status, item| add_one(text, item, value, dump) | is_status)
}

/// Whether the first member of an array makes it a list of indexes, complete or not.
fn is_specification(first: &Document) -> bool {
    match kind(first) {
        Some(kind) => kind == Kind::Indexes,
        None => first.get("v").is_some() || first.get("name").is_some() || first.get("key").is_some(),
    }
}

fn add_one(text: &str, node: &Node, printed: &PrintedValue<'_>, dump: &mut Dump) -> bool {
    let (heading, command) = (printed.heading, printed.command);
    let known = node.as_document().and_then(|document| kind(document).map(|kind| (kind, document)));
    let Some((kind, document)) = known else {
        if heading.is_none() {
            dump.passed_over.push(node.span);
        }
        return false;
    };
    match kind {
        Kind::Collection => dump.collections.extend(collection(document)),
        Kind::Chunk => dump.chunks.extend(chunk(document, "shard", chunk_of(document), node.span)),
        Kind::Shard => dump.shards.extend(shard(document)),
        Kind::ZoneRange => dump.zones.extend(named(document, "ns").and_then(|ns| zone_range(document, ns, node.span))),
        Kind::Reply => {
            let batch = document.get("cursor").and_then(Node::as_document).and_then(|cursor| cursor.get("firstBatch"));
            let items = batch.and_then(Node::as_array).map(|batch| batch.items.as_slice()).unwrap_or_default();
            for item in items {
                add_one(text, item, printed, dump);
            }
        }
        Kind::StatusDatabase => {
            dump.primaries.extend(document.get("database").and_then(Node::as_document).and_then(primary));
            status_collections(document, dump);
        }
        Kind::Export => export(document, dump),
        Kind::Indexes => add_indexes(node, dump),
        Kind::Characteristics => {
            dump.characteristics.extend(measured::characteristics(text, node, command));
        }
        Kind::Distribution => dump.distributions.extend(measured::distribution(document, node.span)),
        Kind::Bookkeeping => dump.primaries.extend(primary(document)),
        // The rows of a grouping are told together.
        Kind::Group => {}
    }
    kind == Kind::StatusDatabase
}

fn add_indexes(node: &Node, dump: &mut Dump) {
    if let Err(error) = index_list::add(node, &mut dump.indexes) {
        dump.errors.push(error);
    }
}

fn named(document: &Document, name: &str) -> Option<Located<String>> {
    let node = document.get(name)?;
    Some(Located::new(node.as_str()?.to_owned(), node.span))
}

/// A document of `config.databases`: the database, and the shard that holds those of its collections that are not sharded.
pub(super) fn primary(document: &Document) -> Option<(String, Located<String>)> {
    Some((named(document, "_id")?.value, named(document, "primary")?))
}

fn truth(document: &Document, name: &str) -> Option<Located<bool>> {
    let field = document.field(name)?;
    let Value::Bool(value) = field.node.value else { return None };
    Some(Located::new(value, field.name_span.join(field.node.span)))
}

fn collection(document: &Document) -> Option<DumpedCollection> {
    let is = |name: &str| document.get(name).is_some_and(Node::is_truthy);
    let is_sharded = !is("dropped") && !is("unsplittable");
    Some(DumpedCollection {
        namespace: named(document, "_id")?,
        key: document.get("key").filter(|_| is_sharded).cloned(),
        unique: truth(document, "unique").filter(|_| is_sharded),
        collation: document.get("defaultCollation").filter(|node| node.as_document().is_some()).cloned(),
        uuid: uuid(document),
    })
}

fn uuid(document: &Document) -> Option<Vec<u8>> {
    match &document.get("uuid")?.value {
        Value::Binary { bytes, .. } => Some(bytes.clone()),
        _ => None,
    }
}

/// A shard of no zone has no `tags`; a document of `_id` and `host` alone may be all that was asked for.
pub(super) fn shard(document: &Document) -> Option<DumpedShard> {
    let tags = document.get("tags").and_then(Node::as_array);
    let names = tags.map(|tags| tags.items.iter().filter_map(|tag| tag.as_str().map(str::to_owned)).collect());
    let is_whole = document.get("state").is_some();
    Some(DumpedShard { name: named(document, "_id")?, zones: names.or_else(|| is_whole.then(Vec::new)) })
}

fn zone_range(document: &Document, namespace: Located<String>, span: Span) -> Option<WrittenZoneRange> {
    let bound = |name: &str| document.get(name).filter(|bound| bound.as_document().is_some()).cloned();
    Some(WrittenZoneRange { namespace, min: bound("min")?, max: bound("max")?, zone: named(document, "tag")?, span })
}

fn chunk_of(document: &Document) -> ChunkOf {
    match (document.get("ns").and_then(Node::as_str), uuid(document)) {
        (Some(name), _) => ChunkOf::Namespace(name.to_owned()),
        (None, Some(uuid)) => ChunkOf::Uuid(uuid),
        (None, None) => ChunkOf::Unnamed,
    }
}

fn chunk(document: &Document, owner: &str, of: ChunkOf, span: Span) -> Option<DumpedChunk> {
    let bound = |name: &str| document.get(name).filter(|bound| bound.as_document().is_some()).cloned();
    let shard = document.get(owner)?.as_str()?.to_owned();
    let jumbo = document.get("jumbo").is_some_and(|jumbo| jumbo.is_truthy() || jumbo.as_str() == Some("yes"));
    Some(DumpedChunk { of, min: bound("min")?, max: bound("max")?, shard, jumbo, span })
}

/// The collections of one database in mongosh's `sh.status()`.
fn status_collections(database: &Document, dump: &mut Dump) {
    let collections = database.get("collections").and_then(Node::as_document);
    for field in collections.map(|collections| collections.fields.as_slice()).unwrap_or_default() {
        let Some(document) = field.node.as_document() else { continue };
        dump.collections.push(DumpedCollection {
            namespace: Located::new(field.name.clone(), field.name_span),
            key: document.get("shardKey").cloned(),
            unique: truth(document, "unique"),
            collation: None,
            uuid: None,
        });
        dump.distributions.extend(measured::counted_chunks(document, &field.name, field.name_span));
        let tags = document.get("tags").and_then(Node::as_array);
        let range =
            |tag: &Node| zone_range(tag.as_document()?, Located::new(field.name.clone(), field.name_span), tag.span);
        dump.zones.extend(tags.into_iter().flat_map(|tags| &tags.items).filter_map(range));
        let printed = document.get("chunks").and_then(Node::as_array);
        let items = printed.map(|printed| printed.items.as_slice()).unwrap_or_default();
        let of = || ChunkOf::Namespace(field.name.clone());
        let read = |item: &Node| chunk(item.as_document()?, "on shard", of(), item.span);
        let chunks: Vec<DumpedChunk> = items.iter().filter_map(read).collect();
        // The shell leaves chunks out where there are many; what it prints of them then is no map.
        if i64::try_from(chunks.len()).ok() == chunk_count(document) {
            dump.chunks.extend(chunks);
        }
    }
}

/// How many chunks there are: `[{ shard, nChunks }]`, in older shells `{ shard: n }`.
fn chunk_count(status: &Document) -> Option<i64> {
    let metadata = status.get("chunkMetadata")?;
    let sum = |sum: i64, count: Option<&Node>| sum.checked_add(count?.as_i64()?);
    match &metadata.value {
        Value::Array(list) => list.items.iter().map(|item| item.as_document()?.get("nChunks")).try_fold(0, sum),
        Value::Document(counts) => counts.fields.iter().map(|count| Some(&count.node)).try_fold(0, sum),
        _ => None,
    }
}

/// `{ collections: { "shop.orders": [indexes] }, shardKeys: { "shop.orders": { customerId: 1 } } }`.
fn export(document: &Document, dump: &mut Dump) {
    let fields = |name: &str| {
        let list = document.get(name).and_then(Node::as_document);
        list.map(|list| list.fields.as_slice()).unwrap_or_default()
    };
    for field in fields("collections") {
        match index_list::of_collection(&field.node, Located::new(field.name.clone(), field.name_span)) {
            Ok(list) => dump.indexes.push(list),
            Err(error) => dump.errors.push(error),
        }
    }
    dump.collections.extend(fields("shardKeys").iter().map(|field| DumpedCollection {
        namespace: Located::new(field.name.clone(), field.name_span),
        key: Some(field.node.clone()),
        unique: None,
        collation: None,
        uuid: None,
    }));
}
