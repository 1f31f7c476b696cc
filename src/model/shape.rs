//! The value-free text of a statement. Equal shapes route alike (but for values that lie on different chunks) and have equal
//! fingerprints in every release.

use crate::text::Fingerprint;

use super::statement::Statement;

/// The shape of a statement.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Shape {
    /// Canonical text, such as `{ status: ?, total: { $gte: ? } } sort { ts: -1 }`.
    pub text: String,
}

impl Shape {
    /// The shape of `statement`.
    #[must_use]
    pub fn of(_statement: &Statement) -> Self {
        Self { text: String::new() }
    }

    /// The fingerprint of a shape of an operation on a namespace (after `--ns-map`).
    #[must_use]
    pub fn fingerprint(&self, namespace: &str, operation: &str) -> Fingerprint {
        Fingerprint::of(&["shape-1", namespace, operation, &self.text])
    }
}
