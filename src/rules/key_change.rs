//! What an update does to the fields of the shard key: which of them it gives another value than the filter says it has.
//! Knows operators, replacements and pipelines. What an expression computes is not foretold; what is to be said of a change
//! is the rule's matter.

use crate::model::{Document, Field, Node, ShardKey, Statement, Value, compare};
use crate::routing::{Comparison, Condition, Operator, Predicate};
use crate::text::Span;

/// A field of the key that an update changes.
pub(super) struct KeyChange<'k> {
    /// Its path.
    pub field: &'k str,
    /// Where the update does it.
    pub span: Span,
    /// Whether it is left without a value.
    pub removed: bool,
}

/// The update operators that change what they name. `$setOnInsert` does not change a row that is there.
const CHANGING: [&str; 10] =
    ["$set", "$unset", "$inc", "$mul", "$min", "$max", "$rename", "$currentDate", "$bit", "$push"];

/// The first key field that the update gives another value than the filter says it has.
pub(super) fn key_change<'k>(statement: &Statement, key: &'k ShardKey) -> Option<KeyChange<'k>> {
    let update = statement.update.as_ref()?;
    let row = Row { key, filter: statement.filter.as_ref().map(Predicate::parse) };
    match &update.value {
        Value::Document(operators) if is_expression(operators) => {
            operators.fields.iter().find_map(|operator| row.changed_by_operator(operator))
        }
        Value::Document(document) => row.changed_by_replacement(document, update.span),
        Value::Array(stages) => {
            let stages = stages.items.iter().filter_map(Node::as_document).flat_map(|stage| &stage.fields);
            stages.into_iter().find_map(|stage| row.changed_by_stage(stage))
        }
        _ => None,
    }
}

/// The row that is updated, as far as the filter tells it.
struct Row<'k> {
    key: &'k ShardKey,
    filter: Option<Predicate>,
}

impl<'k> Row<'k> {
    fn had(&self, path: &str) -> Option<&Value> {
        self.filter.as_ref().and_then(|filter| equality(filter, path))
    }

    /// Whether a field has that value already, or may have it for all that the filter says.
    fn may_have(&self, path: &str, value: &Value) -> bool {
        self.had(path).is_none_or(|had| compare(had, value).is_eq())
    }

    fn changed_by_operator(&self, operator: &Field) -> Option<KeyChange<'k>> {
        let name = operator.name.as_str();
        let members = &operator.node.as_document().filter(|_| CHANGING.contains(&name))?.fields;
        members.iter().find_map(|member| {
            let is_target = |path: &str| name == "$rename" && member.node.as_str().is_some_and(|to| touches(path, to));
            let touched = self.key.fields.iter().filter(|field| touches(&field.path, &member.name));
            let targets = self.key.fields.iter().filter(|field| is_target(&field.path));
            let field = touched.chain(targets).find(|field| !self.keeps(name, member, &field.path))?;
            let removed = name == "$unset" || (name == "$rename" && !is_target(&field.path));
            Some(KeyChange { field: &field.path, span: member.name_span.join(member.node.span), removed })
        })
    }

    /// Whether an operator on a member leaves the value of the field at `path` as it is.
    fn keeps(&self, operator: &str, member: &Field, path: &str) -> bool {
        let value = &member.node.value;
        match operator {
            "$set" => {
                value_at(&member.node, &path[member.name.len()..]).is_some_and(|value| self.may_have(path, value))
            }
            "$inc" => compare(value, &Value::Int32(0)).is_eq(),
            "$mul" => compare(value, &Value::Int32(1)).is_eq(),
            "$bit" => member.node.as_document().is_some_and(|bits| bits.fields.iter().all(keeps_bits)),
            // A row without the field is routed as one with null.
            "$unset" => matches!(self.had(path), Some(Value::Null)),
            "$rename" => member.node.as_str() == Some(&member.name),
            "$min" => self.had(path).is_some_and(|had| compare(had, value).is_le()),
            "$max" => self.had(path).is_some_and(|had| compare(had, value).is_ge()),
            _ => false,
        }
    }

    /// A document in place of the row; `_id` stays, named or not.
    fn changed_by_replacement(&self, document: &Document, span: Span) -> Option<KeyChange<'k>> {
        self.key.fields.iter().filter(|field| !document.partial && field.path != "_id").find_map(|field| {
            let path = field.path.as_str();
            let Some(node) = node_in(document, path) else {
                let is_missing = matches!(self.had(path), Some(Value::Null));
                return (!is_missing).then_some(KeyChange { field: path, span, removed: true });
            };
            let keeps = is_computed(node) || self.may_have(path, &node.value);
            (!keeps).then_some(KeyChange { field: path, span: node.span, removed: false })
        })
    }

    fn changed_by_stage(&self, stage: &Field) -> Option<KeyChange<'k>> {
        match stage.name.as_str() {
            "$set" | "$addFields" => self.changed_by_fields(stage.node.as_document()?),
            "$unset" => match &stage.node.value {
                Value::Array(names) => names.items.iter().find_map(|name| self.removed_by_name(name)),
                _ => self.removed_by_name(&stage.node),
            },
            "$replaceWith" => self.changed_by_root(&stage.node),
            "$replaceRoot" => self.changed_by_root(stage.node.as_document()?.get("newRoot")?),
            "$project" => self.changed_by_projection(stage.node.as_document()?, stage.node.span),
            _ => None,
        }
    }

    /// A projection names what it leaves out, or everything that it keeps besides `_id`.
    fn changed_by_projection(&self, projection: &Document, span: Span) -> Option<KeyChange<'k>> {
        let excludes = |member: &Field| {
            matches!(member.node.value, Value::Bool(false)) || compare(&member.node.value, &Value::Int32(0)).is_eq()
        };
        let left_out = projection.fields.iter().filter(|member| excludes(member));
        let named = left_out.into_iter().find_map(|member| self.removed(&member.name, member.name_span));
        if named.is_some() || projection.fields.iter().all(excludes) {
            return named;
        }
        let keeps = |path: &str| path == "_id" || projection.fields.iter().any(|member| meets(path, member));
        let lost = self.key.fields.iter().find(|field| !projection.partial && !keeps(&field.path))?;
        Some(KeyChange { field: &lost.path, span, removed: true })
    }

    /// A stage adds fields: documents in it are merged into those that are there.
    fn changed_by_fields(&self, members: &Document) -> Option<KeyChange<'k>> {
        members.fields.iter().find_map(|member| {
            let mut touched = self.key.fields.iter().filter(|field| touches(&field.path, &member.name));
            let changes = |path: &str| {
                let rest = &path[member.name.len()..];
                let is_merged = !rest.is_empty() && member.node.as_document().is_some();
                let is_itself = member.node.as_str().and_then(|text| text.strip_prefix('$')) == Some(&member.name);
                let keeps = value_at(&member.node, rest).map_or(is_merged, |value| self.may_have(path, value));
                !keeps && !is_itself
            };
            let field = touched.find(|field| changes(&field.path))?;
            let span = member.name_span.join(member.node.span);
            Some(KeyChange { field: &field.path, span, removed: false })
        })
    }

    fn changed_by_root(&self, root: &Node) -> Option<KeyChange<'k>> {
        let document = root.as_document().filter(|document| !is_expression(document))?;
        self.changed_by_replacement(document, root.span)
    }

    fn removed_by_name(&self, name: &Node) -> Option<KeyChange<'k>> {
        self.removed(name.as_str()?, name.span)
    }

    fn removed(&self, name: &str, span: Span) -> Option<KeyChange<'k>> {
        let field = self.key.fields.iter().find(|field| touches(&field.path, name))?;
        Some(KeyChange { field: &field.path, span, removed: true })
    }
}

/// Whether a change of `name` is one of the field at `path`.
fn touches(path: &str, name: &str) -> bool {
    path.strip_prefix(name).is_some_and(|rest| rest.is_empty() || rest.starts_with('.'))
}

/// Whether a member of a projection keeps or computes the field at `path`, or a part of it.
fn meets(path: &str, member: &Field) -> bool {
    let is_below = |whole: &str, part: &str| part.strip_prefix(whole).is_some_and(|rest| rest.starts_with('.'));
    if is_below(&member.name, path)
        && let Some(inner) = member.node.as_document().filter(|inner| !is_expression(inner))
    {
        return inner.fields.iter().any(|field| meets(&path[member.name.len() + 1..], field));
    }
    member.name == path || is_below(&member.name, path) || is_below(path, &member.name)
}

/// Whether an operation on bits leaves all of them as they are.
fn keeps_bits(operation: &Field) -> bool {
    let neutral = if operation.name == "and" { -1 } else { 0 };
    operation.node.as_i64() == Some(neutral)
}

/// Whether the names of a document are operators.
fn is_expression(document: &Document) -> bool {
    document.first().is_some_and(|field| field.name.starts_with('$'))
}

/// Whether a value of a pipeline is one that the server computes.
fn is_computed(node: &Node) -> bool {
    node.as_document().is_some_and(is_expression) || node.as_str().is_some_and(|text| text.starts_with('$'))
}

/// The value in `node` at the rest of a path: nothing, or names with a dot before each.
fn value_at<'n>(node: &'n Node, rest: &str) -> Option<&'n Value> {
    match rest.strip_prefix('.') {
        Some(path) => node_in(node.as_document()?, path).map(|node| &node.value),
        None => Some(&node.value),
    }
}

fn node_in<'d>(document: &'d Document, path: &str) -> Option<&'d Node> {
    let (name, rest) = path.split_once('.').map_or((path, None), |(name, rest)| (name, Some(rest)));
    let node = document.get(name)?;
    rest.map_or(Some(node), |rest| node_in(node.as_document()?, rest))
}

/// The value that a conjunction wants a field to have.
fn equality<'p>(predicate: &'p Predicate, path: &str) -> Option<&'p Value> {
    match &predicate.condition {
        Condition::And(members) => members.iter().find_map(|member| equality(member, path)),
        Condition::Field(at, Operator::Compare(Comparison::Eq, node)) if at == path => Some(&node.value),
        _ => None,
    }
}
