//! Merges the declarations of a run, in the order they were given, into one [`Catalog`]. What contradicts an earlier
//! declaration is told in place and changes nothing; whether a key or an index is any good is for the rules.

use rustc_hash::FxHashMap;

use crate::model::{Node, ShardKey};
use crate::syntax::declaration::{Declaration, Declarations, Declared, KeyChange, Target};
use crate::syntax::index_list::ListedIndexes;
use crate::syntax::shard_key::ShardKeyDeclaration;
use crate::text::{Located, SourceId, Span};

use super::collection::{Collection, Sharding};
use super::dump::Dumped;
use super::lookup::Catalog;
use super::pattern;
use super::zones::Zones;

/// A declaration that contradicts an earlier one, or that cannot be used.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Conflict {
    /// Where it was declared.
    pub source: SourceId,
    /// The part of the declaration at fault.
    pub span: Span,
    /// What is wrong.
    pub message: String,
}

/// Collects declarations.
#[derive(Debug, Clone, Default)]
pub struct Builder {
    collections: Vec<Collection>,
    /// The place of each name in `collections`.
    places: FxHashMap<String, usize>,
    /// Declarations of scripts that leave the database to the connection.
    homeless: Vec<(SourceId, Declared)>,
    conflicts: Vec<Conflict>,
    pub(super) dumped: Dumped,
    pub(super) zones: Zones,
}

impl Builder {
    /// Adds what a script declares.
    pub fn script(&mut self, source: SourceId, declarations: &Declarations) {
        self.zones.add(source, declarations.zones.iter().cloned());
        for declared in &declarations.statements {
            match &declared.target {
                Target { database: Some(database), collection, .. } => {
                    self.declare(source, &format!("{database}.{collection}"), declared);
                }
                Target { database: None, .. } => self.homeless.push((source, declared.clone())),
            }
        }
    }

    /// Adds one `--shard-key`, or one key of the configuration.
    pub fn shard_key(&mut self, source: SourceId, declared: &ShardKeyDeclaration) {
        let name = &declared.namespace.value;
        match &declared.key {
            Some(key) => self.shard(source, name, key, None),
            None => self.unsharded(source, name, declared.span),
        }
    }

    /// Adds complete lists of indexes; `namespace` is the one of `--schema NS=FILE`.
    pub(super) fn index_lists(&mut self, source: SourceId, lists: &[ListedIndexes], namespace: Option<&str>) {
        for list in lists {
            let Some(name) = namespace.or(list.namespace.as_ref().map(|name| name.value.as_str())) else {
                let message = "this list of indexes does not name its collection; expected it as `--schema NS=FILE`";
                self.conflicts.push(Conflict { source, span: list.span, message: message.to_owned() });
                continue;
            };
            let collection = self.collection(source, name);
            collection.indexes.complete = true;
            collection.indexes.add(source, &list.indexes);
        }
    }

    /// Everything declared, and what contradicted it.
    #[must_use]
    pub fn finish(mut self) -> (Catalog, Vec<Conflict>) {
        for (source, declared) in std::mem::take(&mut self.homeless) {
            for name in self.homes(&declared.target.collection) {
                self.declare(source, &name, &declared);
            }
        }
        let mut catalog = Catalog::default();
        for mut collection in self.collections {
            collection.indexes.drop_repeated();
            catalog.add(collection);
        }
        catalog.complete_from_globs();
        self.conflicts.extend(self.dumped.complete(&mut catalog));
        self.conflicts.extend(self.zones.complete(&mut catalog));
        (catalog, self.conflicts)
    }

    /// The declared collections of that name, in whichever database; if there is none, that name in every database.
    fn homes(&self, collection: &str) -> Vec<String> {
        let is_home = |name: &&str| name.split_once('.').is_some_and(|(_, declared)| declared == collection);
        let mut homes: Vec<String> =
            self.collections.iter().map(|c| c.pattern.as_str()).filter(is_home).map(str::to_owned).collect();
        if homes.is_empty() {
            homes.push(format!("*.{collection}"));
        }
        homes
    }

    fn declare(&mut self, source: SourceId, name: &str, declared: &Declared) {
        match &declared.what {
            Declaration::Key { change: KeyChange::Shard, pattern, unique } => {
                self.shard(source, name, pattern, unique.clone());
            }
            Declaration::Key { change: KeyChange::Refine, pattern, .. } => self.refine(source, name, pattern),
            Declaration::Key { change: KeyChange::Reshard, pattern, unique } => {
                set_key(self.collection(source, name), source, pattern, unique.clone());
            }
            Declaration::Unsharded => {
                let collection = self.collection(source, name);
                (collection.sharding, collection.key_pattern, collection.unique_key) =
                    (Sharding::Unsharded, None, None);
            }
            Declaration::Indexes(indexes) => self.collection(source, name).indexes.add(source, indexes),
            Declaration::Created { collation, clustered } => {
                let collection = self.collection(source, name);
                collection.collation = collation.clone().or(collection.collation.take());
                if let Some(clustered) = clustered {
                    collection.indexes.add(source, std::slice::from_ref(&**clustered));
                }
            }
        }
    }

    /// That it lies on one shard, told at `span`.
    pub(super) fn unsharded(&mut self, source: SourceId, name: &str, span: Span) {
        let collection = self.collection(source, name);
        match collection.sharding {
            Sharding::Undeclared | Sharding::Unsharded => collection.sharding = Sharding::Unsharded,
            Sharding::Sharded(_) | Sharding::Invalid => {
                self.contradict(source, span, name, "declared as sharded before");
            }
        }
    }

    /// A first key; the same one may be declared again.
    pub(super) fn shard(&mut self, source: SourceId, name: &str, key: &Node, unique: Option<Located<bool>>) {
        let collection = self.collection(source, name);
        match (&collection.sharding, &collection.key_pattern) {
            (Sharding::Unsharded, _) => self.contradict(source, key.span, name, "declared as unsharded before"),
            (_, Some(before)) if !pattern::same(before, key) => {
                let message = format!("declared with the key `{}` before", pattern::text(before));
                self.contradict(source, key.span, name, &message);
            }
            (_, Some(_)) => match (&collection.unique_key, unique) {
                (Some(before), Some(unique)) if before.value != unique.value => {
                    let message = format!("declared with `unique: {}` before", before.value);
                    self.contradict(source, unique.span, name, &message);
                }
                (None, unique) => collection.unique_key = unique,
                _ => {}
            },
            (_, None) => set_key(collection, source, key, unique),
        }
    }

    /// A longer key, which has to begin with the one before.
    fn refine(&mut self, source: SourceId, name: &str, key: &Node) {
        let collection = self.collection(source, name);
        match &collection.key_pattern {
            Some(before) if !pattern::begins_with(key, before) => {
                let message = format!("sharded by `{}`, which a refined key has to begin with", pattern::text(before));
                self.contradict(source, key.span, name, &message);
            }
            _ => {
                let unique = collection.unique_key.take();
                set_key(collection, source, key, unique);
            }
        }
    }

    fn contradict(&mut self, source: SourceId, span: Span, name: &str, what: &str) {
        self.conflicts.push(Conflict { source, span, message: format!("`{name}` was {what}") });
    }

    pub(super) fn collection(&mut self, source: SourceId, name: &str) -> &mut Collection {
        let at = *self.places.entry(name.to_owned()).or_insert_with(|| {
            self.collections.push(Collection::new(name, source));
            self.collections.len() - 1
        });
        &mut self.collections[at]
    }
}

fn set_key(collection: &mut Collection, source: SourceId, key: &Node, unique: Option<Located<bool>>) {
    collection.sharding = ShardKey::from_pattern(key).map_or(Sharding::Invalid, Sharding::Sharded);
    collection.key_pattern = Some(key.clone());
    collection.source = source;
    collection.unique_key = unique;
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::syntax::declaration::declarations;
    use crate::syntax::dump::dumps;
    use crate::syntax::shard_key;

    const FIRST: SourceId = SourceId(0);
    const SECOND: SourceId = SourceId(1);

    fn script(builder: &mut Builder, source: SourceId, text: &str) {
        let read = declarations(text);
        assert_eq!(read.errors, [], "{text}");
        builder.script(source, &read);
    }

    fn option(builder: &mut Builder, source: SourceId, text: &str) {
        builder.shard_key(source, &shard_key::parse(text).expect("valid"));
    }

    fn key_of(catalog: &Catalog, namespace: &str) -> String {
        let collection = catalog.get(namespace).expect("declared");
        collection.key_pattern.as_ref().map(pattern::text).unwrap_or_default()
    }

    #[test]
    fn keys_and_indexes_of_several_sources_make_one_collection() {
        let mut builder = Builder::default();
        script(&mut builder, FIRST, "db.getSiblingDB('shop').orders.createIndex({ a: 1 })");
        script(
            &mut builder,
            SECOND,
            "sh.shardCollection('shop.orders', { a: 1 }, true)\ndb.orders.createIndex({ b: 1 })\nuse shop\ndb.orders.createIndex({ a: 1 })",
        );
        option(&mut builder, SourceId(2), "shop.orders={ a: 1.0 }");
        let (catalog, conflicts) = builder.finish();
        assert_eq!(conflicts, []);
        let orders = catalog.get("shop.orders").expect("declared");
        assert_eq!((orders.source, orders.indexes.specs.len(), orders.indexes.complete), (SECOND, 2, false));
        assert!(orders.unique_key.as_ref().is_some_and(|unique| unique.value));
        assert_eq!(catalog.collections().count(), 1);
    }

    #[test]
    fn contradictions_are_told_where_they_stand_and_the_first_declaration_stays() {
        let mut builder = Builder::default();
        script(&mut builder, FIRST, "sh.shardCollection('shop.orders', { a: 1 })");
        let text = "sh.shardCollection('shop.orders', { a: 'hashed' })";
        script(&mut builder, SECOND, text);
        option(&mut builder, SourceId(2), "shop.orders=unsharded");
        option(&mut builder, SourceId(3), "crm.users=unsharded");
        option(&mut builder, SourceId(4), "crm.users={ _id: 1 }");
        let (catalog, conflicts) = builder.finish();
        let told: Vec<_> = conflicts.iter().map(|c| (c.source.0, c.span, c.message.as_str())).collect();
        let place = Span::new(34, 49);
        assert_eq!(&text[place.range()], "{ a: 'hashed' }");
        assert_eq!(
            told,
            [
                (1, place, "`shop.orders` was declared with the key `{ a: 1 }` before"),
                (2, Span::new(12, 21), "`shop.orders` was declared as sharded before"),
                (4, Span::new(10, 20), "`crm.users` was declared as unsharded before"),
            ]
        );
        assert_eq!(key_of(&catalog, "shop.orders"), "{ a: 1 }");
        assert!(matches!(catalog.get("crm.users").expect("declared").sharding, Sharding::Unsharded));
    }

    #[test]
    fn a_key_may_be_refined_resharded_and_taken_away() {
        let mut builder = Builder::default();
        script(
            &mut builder,
            FIRST,
            "sh.shardCollection('a.b', { a: 1 }, true)\ndb.adminCommand({ refineCollectionShardKey: 'a.b', key: { a: 1, b: 1 } })",
        );
        script(
            &mut builder,
            FIRST,
            "sh.shardCollection('a.c', { a: 1 })\nsh.reshardCollection('a.c', { z: 'hashed' })",
        );
        script(&mut builder, FIRST, "sh.shardCollection('a.d', { a: 1 })\nsh.unshardCollection('a.d')");
        script(
            &mut builder,
            FIRST,
            "sh.shardCollection('a.e', { a: 1 })\ndb.adminCommand({ refineCollectionShardKey: 'a.e', key: { b: 1 } })",
        );
        let (catalog, conflicts) = builder.finish();
        assert_eq!(key_of(&catalog, "a.b"), "{ a: 1, b: 1 }");
        assert!(catalog.get("a.b").expect("declared").unique_key.is_some());
        assert_eq!(key_of(&catalog, "a.c"), "{ z: \"hashed\" }");
        assert_eq!(key_of(&catalog, "a.d"), "");
        assert_eq!(conflicts.len(), 1);
    }

    #[test]
    fn a_complete_list_is_marked_and_needs_a_name() {
        let list = "[ { v: 2, key: { _id: 1 }, name: '_id_' }, { v: 2, key: { a: 1 }, name: 'a_1' } ]";
        let dump = dumps(list);
        let mut builder = Builder::default();
        script(&mut builder, FIRST, "db.getSiblingDB('a').b.createIndex({ a: 1 })");
        builder.dump(SECOND, &dump, Some("a.b"));
        builder.dump(SECOND, &dump, None);
        let (catalog, conflicts) = builder.finish();
        let indexes = &catalog.get("a.b").expect("declared").indexes;
        assert_eq!((indexes.complete, indexes.specs.len()), (true, 2));
        assert!(conflicts[0].message.contains("--schema NS=FILE"));
    }

    #[test]
    fn an_exact_name_inherits_what_a_glob_says() {
        let mut builder = Builder::default();
        option(&mut builder, FIRST, "shop_*.orders={ a: 1 }");
        script(
            &mut builder,
            SECOND,
            "db.getSiblingDB('shop_1').orders.createIndex({ b: 1 })\ndb.users.createIndex({ x: 1 })",
        );
        let (catalog, conflicts) = builder.finish();
        assert_eq!(conflicts, []);
        assert_eq!(key_of(&catalog, "shop_1.orders"), "{ a: 1 }");
        assert_eq!(catalog.get("shop_1.orders").map(|c| c.indexes.specs.len()), Some(1));
        assert_eq!(catalog.get("any.users").map(|c| c.indexes.specs.len()), Some(1));
    }

    #[test]
    fn thousands_of_indexes_are_told_apart_in_time_and_the_first_of_equal_ones_stays() {
        let mut text = String::new();
        for n in 0..20_000 {
            text += &format!("db.getSiblingDB('a').b.createIndex({{ x{}: 1 }})\n", n % 15_000);
        }
        let mut builder = Builder::default();
        script(&mut builder, FIRST, &text);
        let (catalog, _) = builder.finish();
        let specs = &catalog.get("a.b").expect("declared").indexes.specs;
        assert_eq!(specs.len(), 15_000);
        assert!(specs.windows(2).all(|pair| pair[0].1.span.start < pair[1].1.span.start));
    }
}
