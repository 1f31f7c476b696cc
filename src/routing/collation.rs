//! Collations: chunks are ordered by the simple one, so under any other the values of strings say nothing about chunks.

use crate::model::{Document, Node, Value, compare};

/// The collation of a statement, as far as it is not the simple one.
#[derive(Debug, Clone, Copy)]
pub(super) enum Collation<'a> {
    /// Bytes decide.
    Simple,
    /// Another one, given with the statement.
    Explicit(&'a Node),
    /// Another one, the collection's default.
    Default,
}

impl<'a> Collation<'a> {
    /// The collation in force: that of the statement, else that of the collection.
    pub(super) fn in_force(explicit: Option<&'a Node>, default: Option<&Node>) -> Self {
        match explicit {
            Some(given) if is_simple(given) => Self::Simple,
            Some(given) => Self::Explicit(given),
            None if default.is_none_or(is_simple) => Self::Simple,
            None => Self::Default,
        }
    }

    pub(super) fn is_simple(self) -> bool {
        matches!(self, Self::Simple)
    }
}

/// Whether a collation is the simple one; an empty document or null is none at all.
pub(super) fn is_simple(collation: &Node) -> bool {
    match &collation.value {
        Value::Document(document) => {
            document.fields.is_empty() || document.get("locale").and_then(Node::as_str) == Some("simple")
        }
        Value::Null | Value::Undefined => true,
        _ => false,
    }
}

/// Whether both order strings alike. Options that are not given have their defaults, as dumps of indexes spell them out.
pub(super) fn same_collation(left: &Node, right: &Node) -> bool {
    let (Some(a), Some(b)) = (left.as_document(), right.as_document()) else {
        return is_simple(left) && is_simple(right);
    };
    let defaults = [
        ("locale", Value::String("simple".to_owned())),
        ("strength", Value::Int32(3)),
        ("caseLevel", Value::Bool(false)),
        ("caseFirst", Value::String("off".to_owned())),
        ("numericOrdering", Value::Bool(false)),
        ("alternate", Value::String("non-ignorable".to_owned())),
        ("maxVariable", Value::String("punct".to_owned())),
        ("normalization", Value::Bool(false)),
        ("backwards", Value::Bool(false)),
    ];
    let option = |document: &Document, (name, default): &(&str, Value)| {
        document.get(name).map_or_else(|| default.clone(), |node| node.value.clone())
    };
    defaults.iter().all(|default| compare(&option(a, default), &option(b, default)).is_eq())
}

/// Whether comparing to this value depends on the collation.
pub(super) fn depends_on_collation(value: &Value) -> bool {
    matches!(value, Value::String(_) | Value::Symbol(_) | Value::Document(_) | Value::Array(_))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::syntax::ext_json;

    fn collation(text: &str) -> Node {
        ext_json::parse(text, 0).expect("extended JSON")
    }

    #[test]
    fn the_simple_collation_and_none_at_all_have_no_effect() {
        let (en, simple) = (collation(r#"{"locale":"en"}"#), collation(r#"{"locale":"simple"}"#));
        assert!(Collation::in_force(None, None).is_simple());
        assert!(Collation::in_force(Some(&simple), Some(&en)).is_simple());
        assert!(!Collation::in_force(None, Some(&en)).is_simple());
        assert!(!Collation::in_force(Some(&en), None).is_simple());
    }

    #[test]
    fn collations_are_compared_with_their_defaults() {
        let en = collation(r#"{"locale":"en"}"#);
        assert!(same_collation(&en, &collation(r#"{"strength":3,"locale":"en","caseLevel":false,"version":"57.1"}"#)));
        assert!(!same_collation(&en, &collation(r#"{"locale":"en","strength":2}"#)));
        assert!(!same_collation(&en, &Node::synthetic(Value::Null)));
    }
}
