//! Finding the declaration of a namespace: exact names first, then globs in the order they were declared.

use std::collections::{BTreeMap, BTreeSet};

use globset::{Glob, GlobMatcher};
use rustc_hash::FxHashMap;

use crate::model::Namespace;
use crate::text::{Located, SourceId};

use super::collection::{Collection, Sharding};

/// Database names of test suites mapped to the declared ones (`--ns-map 'shop_test_*=shop'`).
#[derive(Debug, Clone, Default)]
pub struct NamespaceMap {
    rules: Vec<(GlobMatcher, String)>,
}

impl NamespaceMap {
    /// Adds `pattern=database`.
    ///
    /// # Errors
    /// If there is no `=`, or the pattern is no glob.
    pub fn add(&mut self, rule: &str) -> Result<(), String> {
        let (pattern, database) =
            rule.split_once('=').ok_or_else(|| format!("`{rule}` has no `=`; expected PATTERN=DATABASE"))?;
        if pattern.trim().is_empty() || database.trim().is_empty() {
            return Err(format!("`{rule}` lacks a name; expected PATTERN=DATABASE"));
        }
        let glob = Glob::new(pattern.trim()).map_err(|e| format!("`{pattern}` is no glob: {}", e.kind()))?;
        self.rules.push((glob.compile_matcher(), database.trim().to_owned()));
        Ok(())
    }

    /// The namespace that `namespace` is reported under.
    #[must_use]
    pub fn apply(&self, namespace: &Namespace) -> Namespace {
        match self.map(namespace.database()) {
            same if same == namespace.database() => namespace.clone(),
            other => Namespace::new(other, namespace.collection()),
        }
    }

    /// The name that `database` is reported under.
    #[must_use]
    pub fn map<'a>(&'a self, database: &'a str) -> &'a str {
        self.rules.iter().find(|(glob, _)| glob.is_match(database)).map_or(database, |(_, to)| to)
    }
}

/// Everything declared.
#[derive(Debug, Clone, Default)]
pub struct Catalog {
    collections: Vec<(Option<GlobMatcher>, Collection)>,
    /// Places of exact names in `collections`.
    exact: FxHashMap<String, usize>,
    /// What holds for every collection that is not named.
    unnamed: Option<Collection>,
    /// But for these, of which it is open.
    open: BTreeSet<String>,
    /// All shards of the cluster, if declared by name.
    pub shards: Option<Vec<String>>,
    /// Where collections lie that are not sharded, and where a dump says so: by database, its primary shard; by collection, the
    /// shard that one was moved to.
    pub homes: BTreeMap<String, (SourceId, Located<String>)>,
    /// The number of shards, if only that is declared (`--shards`).
    pub shard_count: Option<usize>,
    /// The shards of each zone that has any, if declarations tell them.
    pub zone_shards: Option<BTreeMap<String, BTreeSet<String>>>,
}

impl Catalog {
    /// Adds a collection; its pattern is a glob if it holds `*`, `?`, `[` or `{`.
    pub fn add(&mut self, collection: Collection) {
        let glob = collection
            .is_glob()
            .then(|| Glob::new(&collection.pattern).ok().map(|glob| glob.compile_matcher()))
            .flatten();
        if glob.is_none() {
            self.exact.entry(collection.pattern.clone()).or_insert(self.collections.len());
        }
        self.collections.push((glob, collection));
    }

    /// The declaration of a namespace.
    #[must_use]
    pub fn get(&self, namespace: &str) -> Option<&Collection> {
        self.named(namespace).or_else(|| self.unnamed.as_ref().filter(|_| !self.open.contains(namespace)))
    }

    /// The declaration that names a namespace, by itself or by a glob.
    #[must_use]
    pub fn named(&self, namespace: &str) -> Option<&Collection> {
        let exact = self.exact.get(namespace).and_then(|&at| self.collections.get(at));
        let found = exact.or_else(|| {
            let covers = |glob: &GlobMatcher, collection: &Collection| {
                glob.is_match(namespace) && !(is_of_servers(namespace) && collection.is_of_any_database())
            };
            self.collections.iter().find(|(glob, of)| glob.as_ref().is_some_and(|glob| covers(glob, of)))
        });
        found.map(|(_, collection)| collection)
    }

    /// The database of the first declared collection of that name: what `db.orders` means if nothing names a database.
    #[must_use]
    pub fn database_of(&self, collection: &str) -> Option<&str> {
        let exact = self.collections.iter().filter(|(glob, _)| glob.is_none());
        let mut named = exact.filter_map(|(_, declared)| declared.pattern.split_once('.'));
        named.find(|(_, name)| *name == collection).map(|(database, _)| database)
    }

    /// The declaration with exactly that pattern.
    pub fn get_mut(&mut self, pattern: &str) -> Option<&mut Collection> {
        self.collections.iter_mut().map(|(_, c)| c).find(|c| c.pattern == pattern)
    }

    /// The declaration of exactly that namespace; a copy of the glob's that covers it if there is none.
    pub(super) fn exactly(&mut self, namespace: &str) -> Option<&mut Collection> {
        let general = self.named(namespace)?;
        if general.pattern != namespace {
            let collection = Collection { pattern: namespace.to_owned(), ..general.clone() };
            self.add(collection);
        }
        let at = *self.exact.get(namespace)?;
        self.collections.get_mut(at).map(|(_, collection)| collection)
    }

    /// Makes `unnamed` hold for every collection of which nothing else says whether it is sharded, but for those in `open`.
    pub(super) fn set_unnamed(&mut self, unnamed: Collection, open: BTreeSet<String>) {
        let collections = self.collections.iter_mut().map(|(_, collection)| collection);
        collections.filter(|c| !open.contains(&c.pattern)).for_each(|c| c.complete_from(&unnamed));
        (self.unnamed, self.open) = (Some(unnamed), open);
    }

    /// All declared collections, in the order they were declared.
    pub fn collections(&self) -> impl Iterator<Item = &Collection> {
        self.collections.iter().map(|(_, collection)| collection)
    }

    /// Whether any collection is declared to be sharded (by a valid key or not) or unsharded.
    #[must_use]
    pub fn declares_sharding(&self) -> bool {
        self.collections().any(|collection| !matches!(collection.sharding, Sharding::Undeclared))
    }

    /// What is said of a glob holds for the exact names it covers, as far as nothing else is said of them.
    pub(super) fn complete_from_globs(&mut self) {
        let globs: Vec<(GlobMatcher, Collection)> = self
            .collections
            .iter()
            .filter_map(|(glob, collection)| Some((glob.clone()?, collection.clone())))
            .collect();
        for (_, collection) in self.collections.iter_mut().filter(|(glob, _)| glob.is_none()) {
            for (glob, general) in &globs {
                let is_left_out = is_of_servers(&collection.pattern) && general.is_of_any_database();
                if glob.is_match(&collection.pattern) && !is_left_out {
                    collection.complete_from(general);
                }
            }
        }
    }

    /// The zones of a shard, in order; `None` if declarations do not tell them.
    #[must_use]
    pub fn zones_of(&self, shard: &str) -> Option<Vec<&str>> {
        let zones = self.zone_shards.as_ref()?.iter();
        Some(zones.filter(|(_, shards)| shards.contains(shard)).map(|(zone, _)| zone.as_str()).collect())
    }

    /// `shards` by the zones of theirs in which `collection` has ranges: of what lies there, shards of one group are to hold
    /// equal parts. One group if the collection has no ranges, none if nothing tells whose they are.
    #[must_use]
    pub fn alike<'a>(
        &'a self,
        collection: &Collection,
        shards: impl IntoIterator<Item = &'a str>,
    ) -> BTreeMap<Vec<&'a str>, BTreeSet<&'a str>> {
        let used: BTreeSet<&str> = collection.zones.iter().map(|range| range.zone.as_str()).collect();
        let mut groups: BTreeMap<Vec<&str>, BTreeSet<&str>> = BTreeMap::new();
        for shard in shards {
            let zones = if used.is_empty() { Some(Vec::new()) } else { self.zones_of(shard) };
            let Some(mut zones) = zones else { continue };
            zones.retain(|zone| used.contains(zone));
            groups.entry(zones).or_default().insert(shard);
        }
        groups
    }

    /// Whether nothing is declared.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.collections.is_empty()
    }
}

/// Whether a namespace is in a database that servers keep for themselves: nobody means it by `*.*`.
fn is_of_servers(namespace: &str) -> bool {
    ["admin.", "config.", "local."].iter().any(|database| namespace.starts_with(database))
}

/// For each known name, the most similar of the names that were seen, if any is similar enough to be meant. A collection of
/// the same name in another database is: test suites make up the names of their databases.
#[must_use]
pub fn nearest(known: &[&str], seen: &[&str]) -> Vec<(String, String)> {
    const SIMILAR: f64 = 0.6;
    let similarity = |a: &str, b: &str| {
        let whole = strsim::normalized_damerau_levenshtein(a, b);
        match (a.split_once('.'), b.split_once('.')) {
            (Some((a, one)), Some((b, other))) if one == other => {
                whole.max(SIMILAR + (1.0 - SIMILAR) * strsim::normalized_damerau_levenshtein(a, b))
            }
            _ => whole,
        }
    };
    let nearest = |name: &str| {
        let scored = seen.iter().map(|seen| (similarity(name, seen), *seen));
        let best = scored.filter(|(score, _)| *score >= SIMILAR);
        best.max_by(|a, b| a.0.total_cmp(&b.0).then_with(|| b.1.cmp(a.1))).map(|(_, seen)| seen.to_owned())
    };
    known.iter().filter_map(|name| Some(((*name).to_owned(), nearest(name)?))).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn catalog(names: &[&str]) -> Catalog {
        let mut catalog = Catalog::default();
        names.iter().for_each(|name| catalog.add(Collection::new(name, SourceId(0))));
        catalog
    }

    #[test]
    fn exact_names_win_over_globs_and_globs_in_order() {
        let catalog = catalog(&["shop_*.orders", "shop_1.*", "shop_1.orders"]);
        let found = |name: &str| catalog.get(name).map(|collection| collection.pattern.as_str());
        assert_eq!(found("shop_1.orders"), Some("shop_1.orders"));
        assert_eq!(found("shop_2.orders"), Some("shop_*.orders"));
        assert_eq!(found("shop_1.users"), Some("shop_1.*"));
        assert_eq!(found("crm.users"), None);
        let every = self::catalog(&["*.*", "config.mine*"]);
        let found = |name: &str| every.get(name).map(|collection| collection.pattern.as_str());
        assert_eq!((found("shop.orders"), found("config.chunks")), (Some("*.*"), None));
        assert_eq!(found("config.mine2"), Some("config.mine*"));
        assert_eq!((catalog.database_of("orders"), catalog.database_of("users")), (Some("shop_1"), None));
    }

    #[test]
    fn the_nearest_seen_name_is_told_if_it_is_near() {
        let known = ["shop.orders", "crm.accounts"];
        let near = nearest(&known, &["shop.order", "shop.ordersX", "log.zzz", "shop_test.orders"]);
        assert_eq!(near, [("shop.orders".to_owned(), "shop.ordersX".to_owned())]);
        assert_eq!(nearest(&known, &[]), []);
    }

    #[test]
    fn a_collection_of_another_database_is_near() {
        let near = nearest(&["shop.orders"], &["web_suite_7f3a.carts", "web_suite_7f3a.orders"]);
        assert_eq!(near, [("shop.orders".to_owned(), "web_suite_7f3a.orders".to_owned())]);
    }

    #[test]
    fn databases_of_test_suites_are_mapped() {
        let mut map = NamespaceMap::default();
        map.add("shop_test_*=shop").expect("valid");
        assert_eq!((map.map("shop_test_7"), map.map("crm")), ("shop", "crm"));
        assert!(map.add("shop").is_err() && map.add("[=shop").is_err());
    }
}
