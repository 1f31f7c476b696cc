//! Aggregation expressions: operators, field paths and variables stay, literals are erased.

use crate::model::value::{Array, Document, Node, Value};

use super::writer::Writer;

impl Writer {
    /// An expression.
    pub(super) fn expression(&mut self, node: &Node) {
        match &node.value {
            Value::Document(document) if is_literal_wrapper(document) => self.literal(&document.fields[0].node),
            Value::Document(document) => self.expression_document(document),
            Value::Array(array) => self.expression_list(array, false),
            Value::String(text) if text.starts_with('$') => self.quoted(text),
            _ => self.literal(node),
        }
    }

    /// `{ $op: … }` or an object whose members are expressions.
    pub(super) fn expression_document(&mut self, document: &Document) {
        self.members(&document.fields, document.partial, |writer, field| {
            match (field.name.as_str(), &field.node.value) {
                (name, Value::Array(array)) => writer.expression_list(array, name.starts_with('$')),
                _ => writer.expression(&field.node),
            }
        });
    }

    /// The arguments of an operator, each in its place; or a list of values, of which only kinds are told.
    fn expression_list(&mut self, array: &Array, is_arguments: bool) {
        let is_literal = |node: &Node| match &node.value {
            Value::Document(_) | Value::Array(_) => false,
            Value::String(text) => !text.starts_with('$'),
            _ => true,
        };
        if !is_arguments && array.items.iter().all(is_literal) {
            return self.choices(array, Self::literal);
        }
        let items: Vec<String> = array.items.iter().map(|item| self.apart(|writer| writer.expression(item))).collect();
        self.list(&items, array.partial);
    }
}

/// `{ $literal: … }`, and `{ $const: … }`, which is how a server writes a literal when it passes an expression on.
fn is_literal_wrapper(document: &Document) -> bool {
    document.fields.len() == 1 && matches!(document.fields[0].name.as_str(), "$literal" | "$const")
}
