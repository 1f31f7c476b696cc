//! What dumps add to a catalog: keys as they are read, chunks and shards once everything is read, since files come in any
//! order and chunks name their collection by an identity that another file explains.

use std::collections::{BTreeMap, BTreeSet};

use crate::model::{Distribution, KeyCharacteristics};
use crate::syntax::declaration::ZoneStatement;
use crate::syntax::dump::{ChunkOf, Dump, DumpedChunk, DumpedCollection};
use crate::text::{Located, SourceId, Span};

use super::builder::{Builder, Conflict};
use super::chunks::chunk_map;
use super::collection::{Collection, Sharding};
use super::lookup::Catalog;

/// What is left of dumps to be joined in the end.
#[derive(Debug, Clone, Default)]
pub(super) struct Dumped {
    /// A complete list of the sharded collections was read, there.
    complete: Option<SourceId>,
    /// Names of collections by identity.
    names: BTreeMap<Vec<u8>, String>,
    /// Time series, which are sharded under the name of the collection that holds their buckets.
    time_series: BTreeSet<String>,
    chunks: Vec<(SourceId, DumpedChunk)>,
    shards: BTreeSet<String>,
    primaries: BTreeMap<String, (SourceId, Located<String>)>,
    characteristics: Vec<(SourceId, Option<String>, KeyCharacteristics)>,
    distributions: Vec<(SourceId, Option<String>, Distribution)>,
}

impl Builder {
    /// Adds what a dump says; `namespace` is the one of `--schema NS=FILE`.
    pub fn dump(&mut self, source: SourceId, dump: &Dump, namespace: Option<&str>) {
        for collection in &dump.collections {
            if let Some(uuid) = &collection.uuid {
                self.dumped.names.insert(uuid.clone(), collection.namespace.value.clone());
            }
            if !is_of_the_server(&collection.namespace.value) {
                self.dumped_collection(source, collection);
            }
        }
        self.index_lists(source, &dump.indexes, namespace);
        for chunk in &dump.chunks {
            let mut chunk = chunk.clone();
            if let (ChunkOf::Unnamed, Some(namespace)) = (&chunk.of, namespace) {
                chunk.of = ChunkOf::Namespace(namespace.to_owned());
            }
            self.dumped.chunks.push((source, chunk));
        }
        self.measurements(source, dump, namespace);
        self.dumped.shards.extend(dump.shards.iter().map(|shard| shard.name.value.clone()));
        dump.shards.iter().for_each(|shard| self.zones.shard(shard));
        self.zones.add(source, dump.zones.iter().cloned().map(ZoneStatement::AddRange));
        for (database, primary) in &dump.primaries {
            self.dumped.primaries.entry(database.clone()).or_insert_with(|| (source, primary.clone()));
        }
        if dump.complete {
            self.dumped.complete.get_or_insert(source);
        }
    }

    /// Measurements go to their collections in the end, when these are known.
    fn measurements(&mut self, source: SourceId, dump: &Dump, namespace: Option<&str>) {
        let named = |name: &Option<String>| name.clone().or_else(|| namespace.map(str::to_owned));
        for found in &dump.characteristics {
            self.dumped.characteristics.push((source, named(&found.namespace), found.value.clone()));
        }
        for found in &dump.distributions {
            self.dumped.distributions.push((source, named(&found.namespace), found.value.clone()));
        }
    }

    fn dumped_collection(&mut self, source: SourceId, dumped: &DumpedCollection) {
        let name = &dumped.namespace.value;
        if let Some((database, buckets)) = name.split_once(".system.buckets.") {
            self.dumped.time_series.insert(format!("{database}.{buckets}"));
        }
        match &dumped.key {
            Some(key) => self.shard(source, name, key, dumped.unique.clone()),
            None => self.unsharded(source, name, dumped.namespace.span),
        }
        if let Some(collation) = &dumped.collation {
            self.collection(source, name).collation.get_or_insert_with(|| collation.clone());
        }
    }
}

impl Dumped {
    /// Joins what is left, once all declarations are in the catalog.
    pub(super) fn complete(self, catalog: &mut Catalog) -> Vec<Conflict> {
        if !self.shards.is_empty() {
            catalog.shards = Some(self.shards.into_iter().collect());
        }
        catalog.homes = self.primaries;
        if let Some(source) = self.complete {
            let mut unnamed = Collection::new("*", source);
            unnamed.sharding = Sharding::Unsharded;
            catalog.set_unnamed(unnamed, self.time_series);
        }
        let mut joining = Joining::default();
        let unnamed = |source, span| Conflict { source, span, message: WITHOUT_COLLECTION.to_owned() };
        for (source, namespace, found) in self.characteristics {
            match namespace {
                None => joining.conflicts.push(unnamed(source, found.span)),
                Some(name) => {
                    if let Some(collection) = catalog.exactly(&name) {
                        match of_another_key(collection, &found) {
                            Some(message) => joining.conflicts.push(Conflict { source, span: found.span, message }),
                            None => collection.characteristics = Some((source, found)),
                        }
                    }
                }
            }
        }
        for (source, namespace, found) in self.distributions {
            // Several collections may be told of without a name; only a name says which this one is.
            if let Some(collection) = namespace.and_then(|name| catalog.exactly(&name)) {
                // Bytes say more than a count of chunks does.
                let has_bytes = |found: &Distribution| found.parts.iter().any(|part| part.bytes.is_some());
                let keeps =
                    collection.distribution.as_ref().is_some_and(|(_, known)| has_bytes(known) && !has_bytes(&found));
                if !keeps {
                    collection.distribution = Some((source, found));
                }
            }
        }
        for (of, chunks) in by_collection(self.chunks, &self.names) {
            joining.join(catalog, &of, &chunks);
        }
        joining.finish()
    }
}

/// What is wrong with a measurement of a key that is not the declared one.
fn of_another_key(collection: &Collection, found: &KeyCharacteristics) -> Option<String> {
    let measured = found.fields.as_ref()?;
    let key = collection.shard_key()?;
    let is_same = key.fields.len() == measured.len() && key.fields.iter().zip(measured).all(|(a, b)| a.path == *b);
    (!is_same).then(|| {
        let measured = measured.iter().map(|field| format!("`{field}`")).collect::<Vec<_>>().join(", ");
        format!("this measures a key of {measured}, and the declared key is `{key}`; expected the declared key")
    })
}

/// What is wrong with a measurement that could be one of any collection.
const WITHOUT_COLLECTION: &str = "this does not name its collection; expected it as `--schema NS=FILE`";

/// Chunks on their way to their collections.
#[derive(Default)]
struct Joining {
    conflicts: Vec<Conflict>,
    /// The first chunk of each source that has no collection to go to.
    homeless: BTreeMap<SourceId, (ChunkOf, Span)>,
    /// The sources of which some chunks have one.
    at_home: BTreeSet<SourceId>,
}

impl Joining {
    fn join(&mut self, catalog: &mut Catalog, of: &ChunkOf, chunks: &[(SourceId, DumpedChunk)]) {
        let declared = match of {
            ChunkOf::Namespace(name) if is_of_the_server(name) => return,
            ChunkOf::Namespace(name) => catalog.exactly(name),
            ChunkOf::Uuid(_) | ChunkOf::Unnamed => None,
        };
        let sources = chunks.iter().map(|(source, _)| *source);
        match declared.map(|collection| (collection.sharding.clone(), collection)) {
            Some((Sharding::Sharded(key), collection)) => {
                self.at_home.extend(sources);
                let marked = chunks.iter().filter(|(_, chunk)| chunk.jumbo);
                collection.jumbo.extend(marked.map(|(source, chunk)| (*source, chunk.span)));
                match chunk_map(&collection.pattern, &key, chunks) {
                    Ok(map) => collection.chunks = Some(map),
                    Err(conflict) => self.conflicts.push(conflict),
                }
            }
            Some((Sharding::Unsharded, _)) => {
                self.at_home.extend(sources);
                // Since 8.0 one that was moved has a chunk, its only one.
                if let (ChunkOf::Namespace(name), [(source, only)]) = (of, chunks) {
                    catalog.homes.insert(name.clone(), (*source, Located::new(only.shard.clone(), only.span)));
                }
            }
            // Told elsewhere.
            Some((Sharding::Invalid, _)) => self.at_home.extend(sources),
            Some((Sharding::Undeclared, _)) | None => {
                if let ChunkOf::Namespace(name) = of {
                    mark_jumbo(catalog, name, chunks);
                }
                for (source, chunk) in chunks.iter().rev() {
                    self.homeless.insert(*source, (of.clone(), chunk.span));
                }
            }
        }
    }

    /// A dump holds the chunks of all collections; that some are not declared is no matter, that none is would be.
    fn finish(mut self) -> Vec<Conflict> {
        self.homeless.retain(|source, (of, _)| *of == ChunkOf::Unnamed || !self.at_home.contains(source));
        let told = |(source, (of, span))| Conflict { source, span, message: without_home(&of) };
        self.conflicts.extend(self.homeless.into_iter().map(told));
        self.conflicts
    }
}

/// Chunks that cannot be moved are told of a collection whose key nobody declares, too.
fn mark_jumbo(catalog: &mut Catalog, name: &str, chunks: &[(SourceId, DumpedChunk)]) {
    let marked: Vec<_> = chunks.iter().filter(|(_, chunk)| chunk.jumbo).map(|(id, chunk)| (*id, chunk.span)).collect();
    let Some((source, _)) = marked.first() else { return };
    if catalog.named(name).is_none() {
        catalog.add(Collection::new(name, *source));
    }
    if let Some(collection) = catalog.exactly(name) {
        collection.jumbo.extend(marked);
    }
}

/// Collections that the server keeps for itself, and those in which it prepares a new key.
fn is_of_the_server(name: &str) -> bool {
    ["config.", "admin.", "local."].iter().any(|database| name.starts_with(database))
        || name.contains(".system.resharding.")
}

/// The chunks of each collection, by its name where that is known, in the order they were read.
fn by_collection(
    chunks: Vec<(SourceId, DumpedChunk)>,
    names: &BTreeMap<Vec<u8>, String>,
) -> BTreeMap<ChunkOf, Vec<(SourceId, DumpedChunk)>> {
    let mut grouped: BTreeMap<ChunkOf, Vec<(SourceId, DumpedChunk)>> = BTreeMap::new();
    for (source, chunk) in chunks {
        let name = match &chunk.of {
            ChunkOf::Uuid(uuid) => names.get(uuid).cloned().map(ChunkOf::Namespace),
            ChunkOf::Namespace(_) | ChunkOf::Unnamed => None,
        };
        grouped.entry(name.unwrap_or_else(|| chunk.of.clone())).or_default().push((source, chunk));
    }
    grouped
}

fn without_home(of: &ChunkOf) -> String {
    match of {
        ChunkOf::Namespace(name) => format!("no shard key is declared for `{name}`, whose chunk this is"),
        ChunkOf::Uuid(_) => {
            "this chunk names its collection by `uuid`; declare `config.collections`, which has it, too".to_owned()
        }
        ChunkOf::Unnamed => "this chunk does not name its collection; expected it as `--schema NS=FILE`".to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::syntax::declaration::declarations;
    use crate::syntax::dump::dumps;

    const UUID: &str = "UUID('0cc6523b-e8a0-41dc-a6e9-ea918b42337b')";

    /// The catalog of texts, each a source of its own, and what is wrong with them: the text at fault and the message.
    fn merged(texts: &[&str]) -> (Catalog, Vec<(String, String)>) {
        let mut builder = Builder::default();
        for (source, text) in texts.iter().enumerate() {
            let source = SourceId(u32::try_from(source).expect("few"));
            if text.starts_with("sh.") {
                builder.script(source, &declarations(text));
            } else {
                let dump = dumps(text);
                assert_eq!(dump.errors, [], "{text}");
                builder.dump(source, &dump, None);
            }
        }
        let (catalog, conflicts) = builder.finish();
        let cut = |conflict: &Conflict| texts[conflict.source.0 as usize][conflict.span.range()].to_owned();
        (catalog, conflicts.iter().map(|conflict| (cut(conflict), conflict.message.clone())).collect())
    }

    fn chunks_of(catalog: &Catalog, name: &str) -> Option<String> {
        let map = catalog.get(name)?.chunks.as_ref()?;
        Some(map.chunks.iter().map(|chunk| chunk.shard.as_str()).collect::<Vec<_>>().join(" "))
    }

    fn unsharded(catalog: &Catalog, name: &str) -> Option<bool> {
        catalog.get(name).map(Collection::is_unsharded)
    }

    #[test]
    fn chunks_find_their_collection_by_identity_or_name_whatever_comes_first() {
        let chunks = format!(
            "[ {{ uuid: {UUID}, min: {{ 'a.b': 5 }}, max: {{ 'a.b': MaxKey }}, shard: 's1' }},
               {{ uuid: {UUID}, min: {{ 'a.b': MinKey }}, max: {{ 'a.b': 5 }}, shard: 's2' }},
               {{ ns: 's.h', min: {{ x: MinKey }}, max: {{ x: 0 }}, shard: 's1' }},
               {{ ns: 's.h', min: {{ x: 0.0 }}, max: {{ x: MaxKey }}, shard: 's3' }},
               {{ ns: 'other.c', min: {{ x: MinKey }}, max: {{ x: MaxKey }}, shard: 's3' }} ]"
        );
        let collections = format!(
            "[ {{ _id: 's.c', key: {{ 'a.b': 1 }}, uuid: {UUID} }}, {{ _id: 's.h', key: {{ x: 'hashed' }} }} ]"
        );
        let shards = "[ { _id: 's3', host: 'h:3' }, { _id: 's1', host: 'h:1' } ]";
        let (catalog, wrong) = merged(&[&chunks, shards, &collections]);
        assert_eq!(wrong, []);
        assert_eq!(chunks_of(&catalog, "s.c").as_deref(), Some("s2 s1"));
        assert_eq!(chunks_of(&catalog, "s.h").as_deref(), Some("s1 s3"));
        assert_eq!(catalog.shards, Some(vec!["s1".to_owned(), "s3".to_owned()]));
    }

    #[test]
    fn what_a_complete_listing_does_not_name_is_unsharded() {
        let listed = "[ { _id: 's.c', key: { a: 1 } }, { _id: 's.t', key: { _id: 1 }, unsplittable: true }, { _id: 's.system.buckets.w', key: { m: 1 } } ]";
        let indexes = "[ { v: 1, key: { x: 1 }, name: 'x_1', ns: 's.i' } ]";
        let (catalog, wrong) = merged(&[indexes, listed]);
        assert_eq!(wrong, []);
        assert_eq!(unsharded(&catalog, "s.c"), Some(false));
        for name in ["s.t", "s.i", "s.never-heard-of", "other.c"] {
            assert_eq!(unsharded(&catalog, name), Some(true), "{name}");
        }
        assert_eq!(unsharded(&catalog, "s.w"), None);
        let (catalog, _) = merged(&["{\n _id: 's.c', key: { a: 1 } }"]);
        assert_eq!(unsharded(&catalog, "s.never-heard-of"), None);
    }

    #[test]
    fn a_dump_that_contradicts_a_statement_is_told_in_place() {
        let statements = "sh.shardCollection('s.c', { a: 1 }, false)\nsh.shardCollection('s.d', { a: 1 })";
        let listed = "[ { _id: 's.c', key: { a: 1 }, unique: true }, { _id: 's.d', key: { a: 'hashed' } }, { _id: 's.e', dropped: true } ]";
        let (_, wrong) = merged(&[statements, listed, "sh.shardCollection('s.e', { z: 1 })"]);
        let expected = [
            ("unique: true", "`s.c` was declared with `unique: false` before"),
            ("{ a: 'hashed' }", "`s.d` was declared with the key `{ a: 1 }` before"),
            ("{ z: 1 }", "`s.e` was declared as unsharded before"),
        ];
        assert_eq!(wrong, expected.map(|(at, why)| (at.to_owned(), why.to_owned())));
    }

    #[test]
    fn chunks_of_one_collection_are_one_map_whether_they_name_it_or_not() {
        let listed = format!("[ {{ _id: 's.c', key: {{ a: 1 }}, uuid: {UUID} }} ]");
        let by_uuid = format!("{{ uuid: {UUID}, min: {{ a: MinKey }}, max: {{ a: MaxKey }}, shard: 's1' }}");
        let by_name = "{ ns: 's.c', min: { a: MinKey }, max: { a: MaxKey }, shard: 's2' }";
        let (_, wrong) = merged(&[&listed, &by_uuid, by_name]);
        assert_eq!(wrong.len(), 1);
        assert!(wrong[0].0.contains("'s2'") && wrong[0].1.contains("on `s1` and on `s2`"), "{wrong:?}");
    }

    #[test]
    fn chunks_without_a_home_are_told_once() {
        let chunk = |of: &str| format!("{{ {of} min: {{ a: MinKey }}, max: {{ a: MaxKey }}, shard: 's1' }}");
        let by_uuid = format!("[ {0}, {0} ]", chunk(&format!("uuid: {UUID},")));
        let (_, wrong) = merged(&[&by_uuid, &chunk("ns: 's.c',"), &chunk("")]);
        let messages: Vec<&str> = wrong.iter().map(|(_, message)| message.as_str()).collect();
        assert_eq!(messages.len(), 3);
        assert!(messages[0].contains("declare `config.collections`"));
        assert!(messages[1].contains("no shard key is declared for `s.c`"));
        assert!(messages[2].contains("--schema NS=FILE"));
    }

    #[test]
    fn chunks_that_make_no_map_are_told_in_place_and_left_aside() {
        let listed = "[ { _id: 's.c', key: { a: 1, h: 'hashed' } } ]";
        let chunk = |min: &str, max: &str, shard: &str| {
            format!("{{ ns: 's.c', min: {{ {min} }}, max: {{ {max} }}, shard: '{shard}' }}")
        };
        let (min, max) = ("a: MinKey, h: MinKey", "a: MaxKey, h: MaxKey");
        let (five, six) = ("a: 5, h: MinKey", "a: 6, h: MinKey");
        let whole = chunk(min, max, "s1");
        for (chunks, at, why) in [
            (vec![chunk(min, five, "s1")], "a: MinKey", "the last ends at MaxKey"),
            (vec![chunk(five, max, "s1")], "a: 5", "the first begins at MinKey"),
            (vec![chunk(min, five, "s1"), chunk(six, max, "s1")], "a: 6", "gap"),
            (vec![chunk(min, six, "s1"), chunk(five, max, "s1")], "a: 5", "overlaps"),
            (vec![whole.clone(), chunk(min, max, "s2")], "'s2'", "on `s1` and on `s2`"),
            (vec![chunk(min, "a: MaxKey", "s1")], "{ a: MaxKey }", "a value for each field of the key"),
            (vec![chunk(min, "a: MaxKey, x: MaxKey", "s1")], "x: MaxKey", "has no `h`"),
            (vec![chunk(min, "a: 5, h: 'x'", "s1"), chunk("a: 5, h: 'x'", max, "s1")], "'x'", "64-bit integer"),
            (vec![chunk(max, min, "s1")], "a: MinKey", "ends where it begins"),
        ] {
            let (catalog, wrong) = merged(&[listed, &chunks.join("\n")]);
            assert_eq!(wrong.len(), 1, "{chunks:?}");
            assert!(wrong[0].0.contains(at) && wrong[0].1.contains(why), "{chunks:?}: {wrong:?}");
            assert!(wrong[0].1.ends_with("the chunks of `s.c` are left aside"));
            assert_eq!(chunks_of(&catalog, "s.c"), None);
        }
        let (catalog, wrong) = merged(&[listed, &whole, &whole]);
        assert_eq!((wrong.len(), chunks_of(&catalog, "s.c").as_deref()), (0, Some("s1")));
    }
}
