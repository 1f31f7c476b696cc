//! Filters: members in the order of their names, literals erased as far as routing does not depend on them.

use rustc_hash::FxHashMap;

use crate::model::value::{Array, Document, Field, Node, Value};

use super::writer::{ANY, Writer, regex};

impl Writer {
    /// A filter that may be absent, which is the same as an empty one.
    pub(super) fn filter_or_empty(&mut self, filter: Option<&Node>) {
        match filter.map(|filter| &filter.value) {
            Some(Value::Document(document)) => self.filter(document),
            Some(_) => self.raw(ANY),
            None => self.raw("{}"),
        }
    }

    /// A filter. `$comment` is no part of it.
    pub(super) fn filter(&mut self, filter: &Document) {
        let fields = filter.fields.iter().filter(|field| field.name != "$comment");
        self.sorted_members(fields, filter.partial, |writer, field| writer.member(field));
    }

    /// The value of one member of a filter.
    fn member(&mut self, field: &Field) {
        match (field.name.as_str(), &field.node.value) {
            ("$and" | "$nor", Value::Array(array)) => self.branches(array, true),
            ("$or", Value::Array(array)) => self.branches(array, false),
            ("$expr", _) => self.expression(&field.node),
            (name, _) if name.starts_with('$') => self.raw(ANY),
            _ => self.predicate(&field.node),
        }
    }

    /// The branches of `$and`, `$or`, `$nor`. Of equal ones two are written, so that a generated list has one shape.
    fn branches(&mut self, array: &Array, is_sorted: bool) {
        let mut branches: Vec<String> = Vec::new();
        let mut written: FxHashMap<String, u32> = FxHashMap::default();
        for item in &array.items {
            let branch = self.apart(|writer| writer.filter_or_empty(Some(item)));
            match written.get_mut(&branch) {
                Some(2) => continue,
                Some(times) => *times += 1,
                None => drop(written.insert(branch.clone(), 1)),
            }
            branches.push(branch);
        }
        if is_sorted {
            branches.sort_unstable();
        }
        self.list(&branches, array.partial);
    }

    /// What a field is compared with: a literal, or operators.
    fn predicate(&mut self, node: &Node) {
        match &node.value {
            Value::Document(document) if is_operators(document) => self.operators(document),
            _ => self.literal(node),
        }
    }

    fn operators(&mut self, operators: &Document) {
        let has_regex = operators.get("$regex").is_some();
        let fields = operators.fields.iter().filter(|field| !(has_regex && field.name == "$options"));
        self.sorted_members(fields, operators.partial, |writer, field| writer.operator(field, operators));
    }

    /// The operand of one operator; `$options` of a `$regex` stands beside it.
    fn operator(&mut self, field: &Field, siblings: &Document) {
        match (field.name.as_str(), &field.node.value) {
            ("$in" | "$nin" | "$all", Value::Array(array)) => self.choices(array, Self::predicate),
            ("$eq" | "$ne" | "$gt" | "$gte" | "$lt" | "$lte", _) => self.literal(&field.node),
            ("$not", _) => self.predicate(&field.node),
            ("$elemMatch", Value::Document(document)) if is_operators(document) => self.operators(document),
            ("$elemMatch", Value::Document(document)) => self.filter(document),
            ("$exists", value) if !matches!(value, Value::Redacted) => {
                self.raw(if field.node.is_truthy() { "true" } else { "false" });
            }
            ("$type", _) => self.types(&field.node),
            ("$regex", Value::String(pattern)) => {
                let options = siblings.get("$options").and_then(Node::as_str).unwrap_or_default();
                self.raw(regex(pattern, options));
            }
            ("$regex", Value::Regex { .. }) => self.literal(&field.node),
            _ => self.raw(ANY),
        }
    }

    /// The operand of `$type`: names or numbers of types are no data of the user.
    fn types(&mut self, node: &Node) {
        match &node.value {
            Value::Array(array) => {
                let mut types: Vec<String> =
                    array.items.iter().map(|item| self.apart(|writer| writer.setting(item))).collect();
                types.sort_unstable();
                types.dedup();
                self.list(&types, array.partial);
            }
            _ => self.setting(node),
        }
    }
}

/// Whether a document is operators on a field: `{ $gt: 5 }`, and not a literal, as `{ x: 1 }` and `{ $ref: … }` are.
fn is_operators(document: &Document) -> bool {
    let is_logical = |name: &str| matches!(name, "$and" | "$or" | "$nor" | "$expr" | "$where");
    document.first().is_some_and(|field| {
        field.name.starts_with('$')
            && !matches!(field.name.as_str(), "$ref" | "$id" | "$db")
            && !is_logical(&field.name)
    })
}
