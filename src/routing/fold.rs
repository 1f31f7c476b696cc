//! Folding of constants in aggregation expressions, as far as it decides whether an `$expr` can be converted.
//!
//! An expression of constants that is not computed here is [`Folded::Unsure`], never a guess.

use std::collections::BTreeMap;

use crate::model::{Array, Document, Field, Node, Value, compare};
use crate::text::Span;

use super::arithmetic::evaluate;
use super::expression::{Expression, ExpressionKind};
use super::predicate::Comparison;

/// What an expression comes to before any document is seen.
#[derive(Debug, Clone)]
pub(super) enum Folded {
    /// A value.
    Constant(Value),
    /// No value at all: `$$REMOVE` and missing members.
    Missing,
    /// The value of a field.
    Path(String),
    /// A comparison of a field with a constant.
    Compare(Comparison, String, Value),
    /// `$and` of what is left after the constants.
    All(Vec<Folded>),
    /// `$or` of what is left after the constants.
    Any(Vec<Folded>),
    /// A constant that is not computed here, or what depends on one.
    Unsure,
    /// Depends on documents in a way that no comparison can express.
    Other,
}

/// The constants that an expression may name.
#[derive(Debug, Clone, Default)]
pub(super) struct Constants {
    /// `let` of the command.
    variables: BTreeMap<String, Folded>,
    /// `$$NOW`, where it is a constant.
    now: Option<Value>,
}

impl Constants {
    /// The variables of `let`, and what `$$NOW` stands for.
    pub(super) fn new(let_variables: Option<&Node>, now: Option<Value>) -> Self {
        let mut constants = Self { variables: BTreeMap::new(), now };
        let document = let_variables.and_then(Node::as_document);
        for field in document.into_iter().flat_map(|document| &document.fields) {
            let folded = constants.fold(&Expression::parse(&field.node));
            constants.variables.insert(field.name.clone(), folded);
        }
        constants
    }

    pub(super) fn fold(&self, expression: &Expression) -> Folded {
        match &expression.kind {
            ExpressionKind::Constant(value) => Folded::Constant(value.clone()),
            ExpressionKind::Path(path) if path.is_empty() => Folded::Other,
            ExpressionKind::Path(path) => Folded::Path(path.clone()),
            ExpressionKind::Variable(name) => self.variable(name),
            ExpressionKind::Object(members) => self.object(members),
            ExpressionKind::Array(items) => {
                let items: Vec<Folded> = items.iter().map(|item| self.fold(item)).collect();
                all_constant(&items).map_or_else(|| not_constant(&items), |values| Folded::Constant(array_of(values)))
            }
            ExpressionKind::Operator(name, argument) => self.operator(name, argument),
            ExpressionKind::Opaque => Folded::Unsure,
        }
    }

    fn variable(&self, text: &str) -> Folded {
        let (name, path) = text.split_once('.').unwrap_or((text, ""));
        let value = match name {
            "REMOVE" => return Folded::Missing,
            "NOW" => match &self.now {
                Some(now) => Folded::Constant(now.clone()),
                None => return Folded::Other,
            },
            _ => match self.variables.get(name) {
                Some(value) => value.clone(),
                None => return Folded::Other,
            },
        };
        match value {
            Folded::Constant(value) if !path.is_empty() => {
                member_of(&value, path).map_or(Folded::Missing, Folded::Constant)
            }
            whole => whole,
        }
    }

    fn object(&self, members: &[(String, Expression)]) -> Folded {
        let mut fields = Vec::with_capacity(members.len());
        let folded: Vec<Folded> = members.iter().map(|(_, member)| self.fold(member)).collect();
        if !folded.iter().all(|member| matches!(member, Folded::Constant(_) | Folded::Missing)) {
            return not_constant(&folded);
        }
        for ((name, _), member) in members.iter().zip(folded) {
            if let Folded::Constant(value) = member {
                fields.push(Field { name: name.clone(), name_span: Span::default(), node: Node::synthetic(value) });
            }
        }
        Folded::Constant(Value::Document(Document { fields, partial: false }))
    }

    fn operator(&self, name: &str, argument: &Expression) -> Folded {
        let operands: Vec<Folded> = match &argument.kind {
            ExpressionKind::Array(items) => items.iter().map(|item| self.fold(item)).collect(),
            _ => vec![self.fold(argument)],
        };
        if let (Some(comparison), [left, right]) = (Comparison::from_name(name), operands.as_slice()) {
            return compared(comparison, left, right);
        }
        match name {
            "$and" => logical(operands, true),
            "$or" => logical(operands, false),
            // These give another value each time, or run code.
            "$rand" | "$function" | "$accumulator" | "$let" => Folded::Other,
            _ => all_constant(&operands).map_or_else(
                || not_constant(&operands),
                |values| evaluate(name, &values).map_or(Folded::Unsure, Folded::Constant),
            ),
        }
    }
}

fn all_constant(operands: &[Folded]) -> Option<Vec<Value>> {
    operands
        .iter()
        .map(|operand| match operand {
            Folded::Constant(value) => Some(value.clone()),
            _ => None,
        })
        .collect()
}

/// Something that depends on documents, or on a constant that is not computed here.
fn not_constant(operands: &[Folded]) -> Folded {
    let depends_on_documents = |operand: &Folded| {
        matches!(operand, Folded::Path(_) | Folded::Compare(..) | Folded::All(_) | Folded::Any(_) | Folded::Other)
    };
    if operands.iter().any(depends_on_documents) { Folded::Other } else { Folded::Unsure }
}

fn array_of(values: Vec<Value>) -> Value {
    Value::Array(Array { items: values.into_iter().map(Node::synthetic).collect(), partial: false })
}

fn member_of(value: &Value, path: &str) -> Option<Value> {
    let mut value = value;
    for name in path.split('.') {
        let Value::Document(document) = value else { return None };
        value = &document.get(name)?.value;
    }
    Some(value.clone())
}

fn compared(comparison: Comparison, left: &Folded, right: &Folded) -> Folded {
    let comparable = |value: &Value| !matches!(value, Value::Array(_) | Value::Undefined);
    match (left, right) {
        (Folded::Path(path), Folded::Constant(value)) if comparable(value) => {
            Folded::Compare(comparison, path.clone(), value.clone())
        }
        (Folded::Constant(value), Folded::Path(path)) if comparable(value) => {
            Folded::Compare(comparison.mirrored(), path.clone(), value.clone())
        }
        (Folded::Constant(left), Folded::Constant(right)) => {
            let order = compare(left, right);
            Folded::Constant(Value::Bool(match comparison {
                Comparison::Eq => order.is_eq(),
                Comparison::Lt => order.is_lt(),
                Comparison::Lte => order.is_le(),
                Comparison::Gt => order.is_gt(),
                Comparison::Gte => order.is_ge(),
            }))
        }
        (Folded::Unsure, _) | (_, Folded::Unsure) => Folded::Unsure,
        _ => Folded::Other,
    }
}

/// What aggregation takes for true.
fn is_true(value: &Value) -> bool {
    match value {
        Value::Null | Value::Undefined | Value::Bool(false) => false,
        Value::Int32(_) | Value::Int64(_) | Value::Double(_) | Value::Decimal128(_) => {
            compare(value, &Value::Int32(0)).is_ne()
        }
        _ => true,
    }
}

/// `$and` or `$or`: constants that change nothing go, one that decides is the result. If that leaves a single operand, the
/// server keeps only its truth value, which no comparison expresses.
fn logical(operands: Vec<Folded>, all: bool) -> Folded {
    let mut rest = Vec::with_capacity(operands.len());
    let mut dropped = false;
    for operand in operands {
        match operand {
            Folded::Constant(value) if is_true(&value) == all => dropped = true,
            Folded::Constant(_) => return Folded::Constant(Value::Bool(!all)),
            Folded::Missing if all => return Folded::Constant(Value::Bool(false)),
            Folded::Missing => dropped = true,
            Folded::All(nested) if all => rest.extend(nested),
            Folded::Any(nested) if !all => rest.extend(nested),
            other => rest.push(other),
        }
    }
    match rest.len() {
        0 => Folded::Constant(Value::Bool(all)),
        1 if dropped => Folded::Other,
        _ if all => Folded::All(rest),
        _ => Folded::Any(rest),
    }
}
