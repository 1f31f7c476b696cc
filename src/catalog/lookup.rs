//! Finding the declaration of a namespace: exact names first, then globs in the order they were declared.

use globset::{Glob, GlobMatcher};

use crate::model::Namespace;

use super::collection::Collection;

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
    /// All shards of the cluster, if declared by name.
    pub shards: Option<Vec<String>>,
    /// The number of shards, if only that is declared (`--shards`).
    pub shard_count: Option<usize>,
}

impl Catalog {
    /// Adds a collection; its pattern is a glob if it holds `*`, `?`, `[` or `{`.
    pub fn add(&mut self, collection: Collection) {
        let is_glob = collection.pattern.contains(['*', '?', '[', '{']);
        let glob = is_glob.then(|| Glob::new(&collection.pattern).ok().map(|glob| glob.compile_matcher())).flatten();
        self.collections.push((glob, collection));
    }

    /// The declaration of a namespace.
    #[must_use]
    pub fn get(&self, namespace: &str) -> Option<&Collection> {
        let exact = self.collections.iter().find(|(glob, c)| glob.is_none() && c.pattern == namespace);
        let found = exact.or_else(|| {
            self.collections.iter().find(|(glob, _)| glob.as_ref().is_some_and(|glob| glob.is_match(namespace)))
        });
        found.map(|(_, collection)| collection)
    }

    /// The declaration with exactly that pattern.
    pub fn get_mut(&mut self, pattern: &str) -> Option<&mut Collection> {
        self.collections.iter_mut().map(|(_, c)| c).find(|c| c.pattern == pattern)
    }

    /// All declared collections, in the order they were declared.
    pub fn collections(&self) -> impl Iterator<Item = &Collection> {
        self.collections.iter().map(|(_, collection)| collection)
    }

    /// Whether any collection is declared to be sharded or unsharded.
    #[must_use]
    pub fn declares_sharding(&self) -> bool {
        self.collections().any(Collection::says_where_documents_lie)
    }

    /// TEMP
    pub fn nearest(&self, _s: &[&str]) -> Vec<(String, String)> { Vec::new() }

    /// Whether nothing is declared.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.collections.is_empty()
    }
}
