//! `$jsonSchema` as the predicates that the server makes of it, as far as they have bounds: presence, and the ends and
//! patterns of a property whose type is stated. Whatever else a schema says stays as it is and bounds nothing.

use crate::model::{Document, Node, Value};
use crate::text::Span;

use super::parse::MAX_DEPTH;
use super::predicate::{Comparison, Condition, Negation, Operator, Predicate};

/// Replaces every `$jsonSchema` by its predicates.
pub(super) fn convert_schemas(predicate: &mut Predicate) {
    if let Condition::JsonSchema(Node { value: Value::Document(schema), .. }) = &predicate.condition {
        predicate.condition = Translation { span: predicate.span }.schema(schema, None, 0);
        return;
    }
    predicate.children_mut().iter_mut().for_each(convert_schemas);
}

/// The numeric types, by the names that `type` and `bsonType` give them.
const NUMBERS: [&str; 5] = ["number", "int", "long", "double", "decimal"];

/// What a schema says of the type of a property.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Stated {
    Number,
    Text,
    Other,
    /// Nothing, or several types.
    Unclear,
}

#[derive(Clone, Copy)]
struct Translation {
    span: Span,
}

impl Translation {
    fn at(self, condition: Condition) -> Predicate {
        Predicate::new(condition, self.span)
    }

    /// What bounds nothing.
    fn unbounded(self) -> Condition {
        Condition::JsonSchema(Node { value: Value::Null, span: self.span })
    }

    /// A schema of the whole document, or of the property at `path`.
    fn schema(self, schema: &Document, path: Option<&str>, depth: usize) -> Condition {
        if depth > MAX_DEPTH {
            return self.unbounded();
        }
        let stated = stated_type(schema);
        let required = names(schema.get("required"));
        let mut members = Vec::new();
        for field in &schema.fields {
            match (field.name.as_str(), path, &field.node.value) {
                ("title" | "description" | "exclusiveMinimum" | "exclusiveMaximum", ..) => {}
                ("required", None, _) => members.extend(required.iter().map(|name| self.at(exists(name)))),
                ("properties", None, Value::Document(properties)) => {
                    members.extend(self.properties(properties, &required, depth));
                }
                ("allOf" | "anyOf" | "oneOf", _, Value::Array(array)) => {
                    let branches = array.items.iter().map(|item| self.branch(item, path, depth)).collect::<Vec<_>>();
                    members.push(self.at(match field.name.as_str() {
                        "anyOf" => Condition::Or(branches),
                        "oneOf" if branches.len() > 1 => self.unbounded(),
                        _ => Condition::And(branches),
                    }));
                }
                ("not", _, _) => {
                    let inner = self.branch(&field.node, path, depth);
                    members.push(self.at(Condition::Not(Negation::Not, Box::new(inner))));
                }
                ("minimum" | "maximum" | "pattern", Some(path), _) => {
                    members.extend(self.limit(&field.name, &field.node, schema, path, stated));
                }
                _ => members.push(self.at(self.unbounded())),
            }
        }
        if schema.partial {
            members.push(self.at(Condition::Lost(None)));
        }
        Condition::And(members)
    }

    fn branch(self, node: &Node, path: Option<&str>, depth: usize) -> Predicate {
        self.at(match &node.value {
            Value::Document(schema) => self.schema(schema, path, depth + 1),
            _ => self.unbounded(),
        })
    }

    /// A property that may be missing need not satisfy its schema.
    fn properties(self, properties: &Document, required: &[&str], depth: usize) -> Vec<Predicate> {
        let property = |name: &str, node: &Node| {
            let inner = self.branch(node, Some(name), depth);
            if required.contains(&name) {
                return inner;
            }
            let missing = Condition::Not(Negation::NotExists, Box::new(self.at(exists(name))));
            self.at(Condition::Or(vec![self.at(missing), inner]))
        };
        properties.fields.iter().map(|field| property(&field.name, &field.node)).collect()
    }

    /// An end or a pattern: of no effect on other types, and without bounds where the type is not stated.
    fn limit(self, name: &str, operand: &Node, schema: &Document, path: &str, stated: Stated) -> Option<Predicate> {
        let concerned = if name == "pattern" { Stated::Text } else { Stated::Number };
        if stated == Stated::Unclear {
            return Some(self.at(self.unbounded()));
        }
        let is_open = |name: &str| schema.get(name).is_some_and(Node::is_truthy);
        let operator = match (name, &operand.value) {
            _ if stated != concerned => return None,
            ("minimum", _) if is_open("exclusiveMinimum") => Operator::Compare(Comparison::Gt, operand.clone()),
            ("minimum", _) => Operator::Compare(Comparison::Gte, operand.clone()),
            ("maximum", _) if is_open("exclusiveMaximum") => Operator::Compare(Comparison::Lt, operand.clone()),
            ("maximum", _) => Operator::Compare(Comparison::Lte, operand.clone()),
            (_, Value::String(pattern)) => Operator::Regex { pattern: Some(pattern.clone()), flags: String::new() },
            _ => Operator::Regex { pattern: None, flags: String::new() },
        };
        Some(self.at(Condition::Field(path.to_owned(), operator)))
    }
}

fn exists(path: &str) -> Condition {
    Condition::Field(path.to_owned(), Operator::Exists(Some(true)))
}

/// The strings of a list, or the one string.
fn names(node: Option<&Node>) -> Vec<&str> {
    match node.map(|node| &node.value) {
        Some(Value::Array(array)) => array.items.iter().filter_map(Node::as_str).collect(),
        Some(Value::String(name)) => vec![name],
        _ => Vec::new(),
    }
}

fn stated_type(schema: &Document) -> Stated {
    let given = schema.get("type").or_else(|| schema.get("bsonType"));
    match names(given).as_slice() {
        [name] if NUMBERS.contains(name) => Stated::Number,
        ["string"] => Stated::Text,
        [_] => Stated::Other,
        _ => Stated::Unclear,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::{ServerVersion, ShardKey};
    use crate::routing::bounds::BoundsBuilder;
    use crate::routing::choose::Chooser;
    use crate::routing::intervals::Intervals;
    use crate::routing::normalise::normalise;
    use crate::syntax::ext_json;

    /// The number of intervals on `a`; `None` if nothing is usable.
    fn intervals(schema: &str) -> Option<Intervals> {
        let parse = |text: &str| ext_json::parse(text, 0).expect("extended JSON");
        let key = ShardKey::from_pattern(&parse(r#"{"a": 1}"#)).expect("a key");
        let mut predicate = Predicate::parse(&parse(&format!(r#"{{"$jsonSchema": {schema}}}"#)));
        convert_schemas(&mut predicate);
        let builder = BoundsBuilder { collated: false, version: ServerVersion::NEWEST };
        Chooser::new(&key, builder).choose(&normalise(predicate))?.remove(0)
    }

    #[test]
    fn a_required_property_with_a_stated_type_is_bounded_by_its_ends_and_its_pattern() {
        let number = r#"{"required": ["a"], "properties": {"a": {"type": "number", "minimum": 5, "maximum": 9}}}"#;
        let bounds = intervals(number).expect("bounds");
        assert!(bounds.as_slice().len() == 1 && !bounds.is_everything(), "{bounds:?}");
        let text = r#"{"required": ["a"], "properties": {"a": {"bsonType": ["string"], "pattern": "^x"}}}"#;
        assert_eq!(intervals(text).map(|bounds| bounds.as_slice().len()), Some(2));
    }

    #[test]
    fn a_property_that_may_be_missing_is_null_or_within_its_ends() {
        let bounds = intervals(r#"{"properties": {"a": {"type": "int", "minimum": 5}}}"#).expect("bounds");
        assert_eq!(bounds.as_slice().len(), 2);
        assert!(bounds.as_slice()[0].is_point());
    }

    #[test]
    fn without_a_stated_type_only_presence_bounds() {
        assert!(intervals(r#"{"properties": {"a": {"minimum": 5}}}"#).is_none());
        let required = intervals(r#"{"required": ["a"], "properties": {"a": {"minimum": 5}}}"#);
        assert!(required.is_some_and(|bounds| bounds.is_everything()));
        assert!(intervals(r#"{"properties": {"a": {"enum": [5]}}}"#).is_none());
    }

    #[test]
    fn schemas_are_combined_as_conditions_are() {
        let five = r#"{"required": ["a"], "properties": {"a": {"type": "int", "minimum": 5, "maximum": 5}}}"#;
        for schema in [format!(r#"{{"allOf": [{five}]}}"#), format!(r#"{{"oneOf": [{five}]}}"#)] {
            assert!(intervals(&schema).is_some_and(|bounds| bounds.is_point()), "{schema}");
        }
        assert!(intervals(&format!(r#"{{"oneOf": [{five}, {five}]}}"#)).is_none());
    }
}
