//! `database.collection`. A collection's name may contain dots, a database's may not.

use std::fmt;

/// A full collection name.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub struct Namespace {
    full: String,
    dot: usize,
}

impl Namespace {
    /// `database.collection`.
    #[must_use]
    pub fn new(database: &str, collection: &str) -> Self {
        Self { full: format!("{database}.{collection}"), dot: database.len() }
    }

    /// Splits at the first dot; without a dot the collection is empty.
    #[must_use]
    pub fn parse(full: &str) -> Self {
        let dot = full.find('.').unwrap_or(full.len());
        Self { full: full.to_owned(), dot }
    }

    /// The database's name.
    #[must_use]
    pub fn database(&self) -> &str {
        &self.full[..self.dot]
    }

    /// The collection's name.
    #[must_use]
    pub fn collection(&self) -> &str {
        self.full.get(self.dot + 1..).unwrap_or("")
    }

    /// Both, with the dot.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.full
    }
}

impl fmt::Display for Namespace {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.full)
    }
}
