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
                all_constant(&items, &Value::Null)
                    .map_or_else(|| not_constant(&items), |values| Folded::Constant(array_of(values)))
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
        match name {
            "$cond" => return self.conditional(argument),
            "$switch" => return self.switch(argument),
            "$let" => return self.binding(argument),
            _ => {}
        }
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
            "$ifNull" => first_not_null(operands),
            // These give another value each time, run code, or are never folded.
            "$rand" | "$function" | "$accumulator" | "$getField" | "$setField" => Folded::Other,
            _ => all_constant(&operands, &Value::Undefined).map_or_else(
                || not_constant(&operands),
                |values| evaluate(name, &values).map_or(Folded::Unsure, Folded::Constant),
            ),
        }
    }

    /// `$cond`: the branch that a constant condition chooses.
    fn conditional(&self, argument: &Expression) -> Folded {
        let parts = match &argument.kind {
            ExpressionKind::Array(items) => match items.as_slice() {
                [condition, yes, no] => Some((condition, yes, no)),
                _ => None,
            },
            _ => member(argument, "if")
                .zip(member(argument, "then"))
                .zip(member(argument, "else"))
                .map(|((condition, yes), no)| (condition, yes, no)),
        };
        let Some((condition, yes, no)) = parts else { return Folded::Unsure };
        let condition = self.fold(condition);
        match truth(&condition) {
            Some(true) => self.fold(yes),
            Some(false) => self.fold(no),
            None => not_constant(&[condition]),
        }
    }

    /// `$switch`: the branch of the first case that is constantly true, if all before it are constantly false.
    fn switch(&self, argument: &Expression) -> Folded {
        let Some(ExpressionKind::Array(branches)) = member(argument, "branches").map(|branches| &branches.kind) else {
            return Folded::Unsure;
        };
        for branch in branches {
            let Some((case, then)) = member(branch, "case").zip(member(branch, "then")) else { return Folded::Unsure };
            let case = self.fold(case);
            match truth(&case) {
                Some(true) => return self.fold(then),
                Some(false) => {}
                None => return not_constant(&[case]),
            }
        }
        member(argument, "default").map_or(Folded::Unsure, |default| self.fold(default))
    }

    /// `$let`: without variables it is its `in`.
    fn binding(&self, argument: &Expression) -> Folded {
        match member(argument, "vars").map(|variables| &variables.kind) {
            Some(ExpressionKind::Object(variables)) if variables.is_empty() => {
                member(argument, "in").map_or(Folded::Unsure, |inner| self.fold(inner))
            }
            _ => Folded::Other,
        }
    }
}

/// A member of an operator's argument.
fn member<'e>(argument: &'e Expression, name: &str) -> Option<&'e Expression> {
    let ExpressionKind::Object(members) = &argument.kind else { return None };
    members.iter().find(|(key, _)| key == name).map(|(_, member)| member)
}

/// Whether a constant counts as true; `None` for what is no constant.
fn truth(folded: &Folded) -> Option<bool> {
    match folded {
        Folded::Constant(value) => Some(is_true(value)),
        Folded::Missing => Some(false),
        _ => None,
    }
}

/// `$ifNull`: constant nulls go but for the last operand, and so does what stands behind another constant.
fn first_not_null(operands: Vec<Folded>) -> Folded {
    let is_null =
        |operand: &Folded| matches!(operand, Folded::Missing | Folded::Constant(Value::Null | Value::Undefined));
    let last = operands.len().saturating_sub(1);
    let mut rest = Vec::with_capacity(operands.len());
    for (place, operand) in operands.into_iter().enumerate() {
        if is_null(&operand) && place != last {
            continue;
        }
        let decides = matches!(operand, Folded::Constant(_));
        rest.push(operand);
        if decides {
            break;
        }
    }
    match rest.pop() {
        Some(only) if rest.is_empty() => only,
        last => {
            rest.extend(last);
            not_constant(&rest)
        }
    }
}

/// The values of constants, `missing` for those that are missing; `None` if not all are constant.
fn all_constant(operands: &[Folded], missing: &Value) -> Option<Vec<Value>> {
    operands
        .iter()
        .map(|operand| match operand {
            Folded::Constant(value) => Some(value.clone()),
            Folded::Missing => Some(missing.clone()),
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::syntax::ext_json;

    fn folded(text: &str) -> Folded {
        Constants::default().fold(&Expression::parse(&ext_json::parse(text, 0).expect("extended JSON")))
    }

    fn is_comparison(text: &str) -> bool {
        matches!(folded(text), Folded::Compare(Comparison::Eq, path, _) if path == "a")
    }

    #[test]
    fn a_constant_condition_chooses_its_branch() {
        for text in [
            r#"{"$cond": [1, {"$eq": ["$a", 5]}, 0]}"#,
            r#"{"$cond": {"if": null, "then": 0, "else": {"$eq": ["$a", 5]}}}"#,
            r#"{"$eq": ["$a", {"$cond": [true, 5, "$b"]}]}"#,
            r#"{"$eq": [{"$cond": ["$$REMOVE", 0, "$a"]}, 5]}"#,
            r#"{"$switch": {"branches": [{"case": true, "then": {"$eq": ["$a", 5]}}, {"case": "$b", "then": 1}]}}"#,
            r#"{"$switch": {"branches": [{"case": false, "then": 1}], "default": {"$eq": ["$a", 5]}}}"#,
        ] {
            assert!(is_comparison(text), "{text}");
        }
        assert!(matches!(folded(r#"{"$cond": ["$b", {"$eq": ["$a", 5]}, 0]}"#), Folded::Other));
        assert!(matches!(folded(r#"{"$switch": {"branches": [{"case": "$b", "then": 1}]}}"#), Folded::Other));
    }

    #[test]
    fn an_if_null_is_what_is_left_without_the_nulls_and_what_a_constant_hides() {
        assert!(is_comparison(r#"{"$ifNull": [null, {"$eq": ["$a", 5]}]}"#));
        assert!(is_comparison(r#"{"$eq": ["$a", {"$ifNull": [null, 5, "$b"]}]}"#));
        assert!(matches!(folded(r#"{"$ifNull": [{"$eq": ["$a", 5]}, false]}"#), Folded::Other));
        assert!(matches!(folded(r#"{"$ifNull": [null, null]}"#), Folded::Constant(Value::Null)));
    }

    #[test]
    fn a_let_without_variables_is_what_stands_in_it() {
        assert!(is_comparison(r#"{"$let": {"vars": {}, "in": {"$eq": ["$a", 5]}}}"#));
        assert!(matches!(folded(r#"{"$let": {"vars": {"x": 5}, "in": {"$eq": ["$a", "$$x"]}}}"#), Folded::Other));
    }
}
