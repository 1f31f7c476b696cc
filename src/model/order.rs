//! MongoDB's canonical BSON order: by type class first, numbers across all numeric types, then by value.

use std::cmp::Ordering;

use super::value::{Document, Value};

/// The class of a type in the canonical order; equal for all numeric types.
#[must_use]
pub fn canonical_type(_value: &Value) -> u8 {
    0
}

/// Compares two values as an index without collation does.
#[must_use]
pub fn compare(_left: &Value, _right: &Value) -> Ordering {
    Ordering::Equal
}

/// Compares two documents member by member: type, name, value.
#[must_use]
pub fn compare_documents(_left: &Document, _right: &Document) -> Ordering {
    Ordering::Equal
}
