//! Pipelines and updates: stages in their order, the names in them kept, literals erased.

use crate::model::value::{Document, Field, Node, Value};

use super::writer::{ANY, Writer};

/// Members of a stage that are names of fields, collections or databases, not data.
const NAMES: &[&str] = &[
    "as",
    "coll",
    "collection",
    "connectFromField",
    "connectToField",
    "db",
    "depthField",
    "distanceField",
    "field",
    "foreignField",
    "from",
    "includeArrayIndex",
    "includeLocs",
    "index",
    "into",
    "key",
    "localField",
    "on",
    "partitionByFields",
    "path",
    "preserveNullAndEmptyArrays",
    "unit",
    "whenMatched",
    "whenNotMatched",
];

impl Writer {
    /// `[{ $match: … }, { $group: … }]`.
    pub(super) fn pipeline(&mut self, pipeline: &Node) {
        let Value::Array(array) = &pipeline.value else { return self.raw(ANY) };
        let stages: Vec<String> = array.items.iter().map(|stage| self.apart(|writer| writer.stage(stage))).collect();
        self.list(&stages, array.partial);
    }

    fn stage(&mut self, stage: &Node) {
        let Value::Document(stage) = &stage.value else { return self.raw(ANY) };
        self.members(&stage.fields, stage.partial, Self::operand);
    }

    /// The operand of a stage.
    fn operand(&mut self, field: &Field) {
        match (field.name.as_str(), &field.node.value) {
            ("$match", Value::Document(filter)) => self.filter(filter),
            ("$sort", Value::Document(sort)) => self.sort(sort),
            ("$project" | "$addFields" | "$set" | "$replaceWith", Value::Document(fields)) => self.projection(fields),
            ("$facet", Value::Document(facets)) => {
                self.members(&facets.fields, facets.partial, |writer, facet| writer.pipeline(&facet.node));
            }
            ("$unset" | "$unwind" | "$count" | "$out" | "$unionWith" | "$merge" | "$lookup", _) => {
                self.names_or(&field.node, Self::stage_member);
            }
            (_, Value::Document(document)) if document.first().is_some_and(|first| !first.name.starts_with('$')) => {
                self.members(&document.fields, document.partial, Self::stage_member);
            }
            _ => self.expression(&field.node),
        }
    }

    /// One member of a stage's operand.
    fn stage_member(&mut self, field: &Field) {
        match (field.name.as_str(), &field.node.value) {
            ("query" | "restrictSearchWithMatch", Value::Document(filter)) => self.filter(filter),
            ("pipeline", Value::Array(_)) => self.pipeline(&field.node),
            ("sortBy", Value::Document(sort)) => self.sort(sort),
            (name, _) if NAMES.contains(&name) => self.names_or(&field.node, Self::stage_member),
            _ => self.expression(&field.node),
        }
    }

    /// Names, a list of names, or a document whose members are written by `member`.
    fn names_or(&mut self, node: &Node, member: fn(&mut Self, &Field)) {
        match &node.value {
            Value::Array(array) => {
                let names: Vec<String> =
                    array.items.iter().map(|item| self.apart(|writer| writer.as_written(item))).collect();
                self.list(&names, array.partial);
            }
            Value::Document(document) => self.members(&document.fields, document.partial, member),
            _ => self.as_written(node),
        }
    }

    /// `{ a: 1, b: 0, x: "$a" }`: what is kept, left out, renamed or computed.
    fn projection(&mut self, fields: &Document) {
        self.members(&fields.fields, fields.partial, |writer, field| match &field.node.value {
            Value::Bool(_) | Value::Int32(_) | Value::Int64(_) | Value::Double(_) => {
                writer.raw(if field.node.is_truthy() { "1" } else { "0" });
            }
            _ => writer.expression(&field.node),
        });
    }

    /// ` update { $set: { a: ? } }`, ` update [stages]`, or ` replacement`.
    pub(super) fn update(&mut self, update: &Node) {
        match &update.value {
            Value::Array(_) => {
                self.word("update");
                self.pipeline(update);
            }
            Value::Document(document) if document.first().is_some_and(|first| first.name.starts_with('$')) => {
                self.word("update");
                self.modifiers(document);
            }
            _ => self.word_only("replacement"),
        }
    }

    /// Update operators and the fields they change, both in the order of their names.
    fn modifiers(&mut self, update: &Document) {
        self.members(by_name(update), update.partial, |writer, operator| match &operator.node.value {
            Value::Document(fields) => {
                writer.members(by_name(fields), fields.partial, |writer, _| writer.raw(ANY));
            }
            _ => writer.raw(ANY),
        });
    }
}

fn by_name(document: &Document) -> Vec<&Field> {
    let mut fields: Vec<&Field> = document.fields.iter().collect();
    fields.sort_by(|a, b| a.name.cmp(&b.name));
    fields
}
