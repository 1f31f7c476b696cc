//! What the arguments of a declaration have to be, told in place where they are not.

use crate::model::{Document, Node};
use crate::syntax::error::SyntaxError;
use crate::text::{Located, Span};

use super::statement::Target;

/// The result of reading one part of a declaration.
pub(super) type Part<T> = Result<T, SyntaxError>;

/// The kinds of values that a declaration takes.
#[derive(Debug, Clone, Copy)]
pub(super) enum Kind {
    Namespace,
    Document,
    Text,
}

/// Refuses a value that is not of the kind; `owner` is where a missing one should have been.
pub(super) fn require(kind: Kind, node: Option<&Node>, owner: Span, what: &str) -> Part<()> {
    match kind {
        Kind::Namespace => namespace(node, owner).map(|_| ()),
        Kind::Document => document(node, owner, what).map(|_| ()),
        Kind::Text => text(node, owner, what).map(|_| ()),
    }
}

/// `"shop.orders"`.
pub(super) fn namespace(node: Option<&Node>, owner: Span) -> Part<Target> {
    let name = text(node, owner, "a namespace such as `\"shop.orders\"`")?;
    target(&name)
}

/// Splits a namespace at its first dot.
pub(super) fn target(name: &Located<String>) -> Part<Target> {
    match name.value.split_once('.') {
        Some((database, collection)) if !database.is_empty() && !collection.is_empty() => {
            Ok(Target { database: Some(database.to_owned()), collection: collection.to_owned(), span: name.span })
        }
        _ => {
            let message = format!("`{}` is not a namespace; expected `database.collection`", name.value);
            Err(SyntaxError::new(name.span, message))
        }
    }
}

pub(super) fn text(node: Option<&Node>, owner: Span, what: &str) -> Part<Located<String>> {
    match node {
        Some(Node { value: crate::model::Value::String(text), span }) if !text.is_empty() => {
            Ok(Located::new(text.clone(), *span))
        }
        _ => expected(node, owner, what),
    }
}

pub(super) fn document<'a>(node: Option<&'a Node>, owner: Span, what: &str) -> Part<&'a Document> {
    match node.and_then(Node::as_document) {
        Some(document) => Ok(document),
        None => expected(node, owner, what),
    }
}

pub(super) fn expected<T>(node: Option<&Node>, owner: Span, what: &str) -> Part<T> {
    let span = node.map_or(owner, |node| node.span);
    Err(SyntaxError::new(span, format!("expected {what}")))
}
