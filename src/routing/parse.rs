//! From the document of a filter to its [`Predicate`] tree: every operator of the match language, as written.
//!
//! A filter that a server would refuse is not refused here: the part that makes no sense becomes opaque, and the verdict
//! says so if it matters.

use crate::model::{Array, Document, Field, Node, Value};
use crate::text::Span;

use super::expression::Expression;
use super::predicate::{Comparison, Condition, InList, Negation, Operator, Predicate};

/// Deeper parts of a filter are opaque. No server takes documents nested more than 200 levels.
pub(super) const MAX_DEPTH: usize = 250;

impl Predicate {
    /// Reads a filter.
    #[must_use]
    pub fn parse(filter: &Node) -> Self {
        parse_filter(filter, 0)
    }
}

fn opaque(path: Option<&str>, why: impl Into<String>, span: Span) -> Predicate {
    Predicate::new(Condition::Opaque(path.map(str::to_owned), why.into()), span)
}

/// A conjunction, or its only member.
fn all_of(mut members: Vec<Predicate>, span: Span) -> Predicate {
    match members.pop() {
        Some(only) if members.is_empty() => only,
        Some(last) => {
            members.push(last);
            Predicate::new(Condition::And(members), span)
        }
        None => Predicate::everything(span),
    }
}

fn parse_filter(filter: &Node, depth: usize) -> Predicate {
    let Value::Document(document) = &filter.value else {
        return opaque(None, "a filter that is not a document", filter.span);
    };
    if depth > MAX_DEPTH {
        return opaque(None, "nested too deeply", filter.span);
    }
    let mut members: Vec<Predicate> =
        document.fields.iter().filter_map(|field| parse_member(field, depth + 1)).collect();
    if document.partial {
        members.push(Predicate::new(Condition::Lost(None), filter.span));
    }
    all_of(members, filter.span)
}

/// One member of a filter; `None` for what has no effect.
fn parse_member(field: &Field, depth: usize) -> Option<Predicate> {
    let span = field.name_span.join(field.node.span);
    if !field.name.starts_with('$') || is_reference_name(&field.name) {
        return Some(parse_field(&field.name, &field.node, span, depth));
    }
    let condition = match field.name.as_str() {
        "$comment" => return None,
        "$and" | "$or" | "$nor" => return Some(parse_branches(field, span, depth)),
        "$expr" => Condition::Expr(Expression::parse_at(&field.node, depth)),
        "$where" => Condition::Where,
        "$text" => Condition::Text,
        "$jsonSchema" => Condition::JsonSchema(field.node.clone()),
        "$alwaysTrue" => Condition::Always(true),
        "$alwaysFalse" => Condition::Always(false),
        "$sampleRate" => Condition::SampleRate,
        unknown => return Some(opaque(None, format!("the operator `{unknown}`"), span)),
    };
    Some(Predicate::new(condition, span))
}

/// Whether an operator stands where a field's name can stand.
fn is_pathless(name: &str) -> bool {
    const PATHLESS: [&str; 11] = [
        "$and",
        "$or",
        "$nor",
        "$alwaysFalse",
        "$alwaysTrue",
        "$comment",
        "$expr",
        "$jsonSchema",
        "$sampleRate",
        "$text",
        "$where",
    ];
    PATHLESS.contains(&name)
}

fn is_reference_name(name: &str) -> bool {
    matches!(name, "$ref" | "$id" | "$db")
}

fn parse_branches(field: &Field, span: Span, depth: usize) -> Predicate {
    let Value::Array(array) = &field.node.value else {
        return opaque(None, format!("the operand of `{}`", field.name), span);
    };
    let mut branches: Vec<Predicate> = array.items.iter().map(|item| parse_filter(item, depth + 1)).collect();
    if array.partial {
        branches.push(Predicate::new(Condition::Lost(None), field.node.span));
    }
    let condition = match field.name.as_str() {
        "$and" => return all_of(branches, span),
        "$or" => Condition::Or(branches),
        _ => Condition::Nor(branches),
    };
    Predicate::new(condition, span)
}

/// A value of a field: operators, a regex or a literal.
fn parse_field(path: &str, node: &Node, span: Span, depth: usize) -> Predicate {
    match &node.value {
        Value::Regex { pattern, options } => regex(path, Some(pattern), options, span),
        Value::Document(document) if document.fields.is_empty() && document.partial => {
            Predicate::new(Condition::Lost(Some(path.to_owned())), span)
        }
        Value::Document(document) if is_operators(document) => parse_operators(path, document, span, depth),
        _ => compare(path, Comparison::Eq, node, span),
    }
}

/// Whether a document is a list of operators and not a literal.
fn is_operators(document: &Document) -> bool {
    document.first().is_some_and(|field| field.name.starts_with('$') && !is_reference_name(&field.name))
}

fn parse_operators(path: &str, document: &Document, span: Span, depth: usize) -> Predicate {
    all_of(operators(path, document, span, depth), span)
}

/// One predicate for each operator, so that an operator of several members stays one.
fn operators(path: &str, document: &Document, span: Span, depth: usize) -> Vec<Predicate> {
    if depth > MAX_DEPTH {
        return vec![opaque(Some(path), "nested too deeply", span)];
    }
    let mut members: Vec<Predicate> =
        document.fields.iter().filter_map(|field| parse_operator(path, field, document, span, depth + 1)).collect();
    if document.partial {
        members.push(Predicate::new(Condition::Lost(Some(path.to_owned())), span));
    }
    members
}

fn on_field(path: &str, operator: Operator, span: Span) -> Predicate {
    Predicate::new(Condition::Field(path.to_owned(), operator), span)
}

fn compare(path: &str, comparison: Comparison, node: &Node, span: Span) -> Predicate {
    on_field(path, Operator::Compare(comparison, node.clone()), span)
}

fn regex(path: &str, pattern: Option<&str>, flags: &str, span: Span) -> Predicate {
    on_field(path, Operator::Regex { pattern: pattern.map(str::to_owned), flags: flags.to_owned() }, span)
}

fn negate(negation: Negation, inner: Predicate, span: Span) -> Predicate {
    Predicate::new(Condition::Not(negation, Box::new(inner)), span)
}

/// One operator on a field; `None` for one that only qualifies another.
fn parse_operator(path: &str, field: &Field, siblings: &Document, span: Span, depth: usize) -> Option<Predicate> {
    let node = &field.node;
    if let Some(comparison) = Comparison::from_name(&field.name) {
        return Some(compare(path, comparison, node, span));
    }
    Some(match field.name.as_str() {
        "$ne" => negate(Negation::Ne, compare(path, Comparison::Eq, node, span), span),
        "$in" => parse_in(path, node, span),
        "$nin" => match parse_in(path, node, span) {
            list @ Predicate { condition: Condition::Field(..), .. } => negate(Negation::Nin, list, span),
            other => other,
        },
        "$not" => parse_not(path, node, span, depth),
        "$regex" => parse_regex(path, node, siblings, span),
        "$exists" => match exists_operand(node) {
            Some(false) => negate(Negation::NotExists, on_field(path, Operator::Exists(Some(true)), span), span),
            operand => on_field(path, Operator::Exists(operand), span),
        },
        "$type" => parse_type(path, node, span),
        "$all" => parse_all(path, node, span, depth),
        "$elemMatch" => parse_elem_match(path, node, span, depth),
        "$mod" => on_field(path, Operator::Mod, span),
        "$size" => on_field(path, Operator::Size, span),
        "$options" | "$maxDistance" | "$minDistance" | "$uniqueDocs" | "$comment" => return None,
        name => parse_rare_operator(path, name, node, span),
    })
}

fn parse_rare_operator(path: &str, name: &str, node: &Node, span: Span) -> Predicate {
    let operator = match name {
        "$bitsAllSet" | "$bitsAllClear" | "$bitsAnySet" | "$bitsAnyClear" => Operator::Bits,
        "$near" | "$nearSphere" | "$geoNear" | "$geoWithin" | "$geoIntersects" | "$within" => Operator::Geo,
        "$_internalExprEq" => Operator::ExprCompare(Comparison::Eq, node.clone()),
        "$_internalExprLt" => Operator::ExprCompare(Comparison::Lt, node.clone()),
        "$_internalExprLte" => Operator::ExprCompare(Comparison::Lte, node.clone()),
        "$_internalExprGt" => Operator::ExprCompare(Comparison::Gt, node.clone()),
        "$_internalExprGte" => Operator::ExprCompare(Comparison::Gte, node.clone()),
        unknown => return opaque(Some(path), format!("the operator `{unknown}`"), span),
    };
    on_field(path, operator, span)
}

fn parse_in(path: &str, node: &Node, span: Span) -> Predicate {
    match &node.value {
        Value::Array(Array { items, partial }) => {
            on_field(path, Operator::In(InList::new(items.clone(), *partial)), span)
        }
        _ => opaque(Some(path), "the operand of `$in`", span),
    }
}

fn parse_not(path: &str, node: &Node, span: Span, depth: usize) -> Predicate {
    let inner = match &node.value {
        Value::Regex { pattern, options } => regex(path, Some(pattern), options, span),
        Value::Document(document) => parse_operators(path, document, span, depth),
        _ => opaque(Some(path), "the operand of `$not`", span),
    };
    negate(Negation::Not, inner, span)
}

fn parse_regex(path: &str, node: &Node, siblings: &Document, span: Span) -> Predicate {
    let given = siblings.get("$options");
    if given.is_some_and(|flags| flags.as_str().is_none()) {
        return regex(path, None, "", span);
    }
    let given = given.and_then(Node::as_str);
    match &node.value {
        Value::String(pattern) => regex(path, Some(pattern), given.unwrap_or_default(), span),
        Value::Regex { pattern, options } => regex(path, Some(pattern), given.unwrap_or(options), span),
        Value::Redacted => regex(path, None, "", span),
        _ => opaque(Some(path), "the operand of `$regex`", span),
    }
}

/// What the server takes for true in `$exists`; `None` if it is hidden.
fn exists_operand(node: &Node) -> Option<bool> {
    match &node.value {
        Value::Redacted => None,
        Value::Bool(_) | Value::Double(_) | Value::Int32(_) | Value::Int64(_) => Some(node.is_truthy()),
        Value::Decimal128(number) => Some(!number.is_zero()),
        Value::Null | Value::Undefined => Some(false),
        _ => Some(true),
    }
}

fn parse_type(path: &str, node: &Node, span: Span) -> Predicate {
    let operands = match &node.value {
        Value::Array(array) => array.items.as_slice(),
        _ => std::slice::from_ref(node),
    };
    if operands.iter().any(|operand| matches!(operand.value, Value::Redacted)) {
        return on_field(path, Operator::Type(None), span);
    }
    let mut codes = Vec::new();
    for operand in operands {
        match type_codes(operand) {
            Some(more) => codes.extend_from_slice(&more),
            None => return opaque(Some(path), "the operand of `$type`", span),
        }
    }
    on_field(path, Operator::Type(Some(codes)), span)
}

/// The type codes that an operand of `$type` stands for.
fn type_codes(node: &Node) -> Option<Vec<i32>> {
    const NAMES: [(&str, i32); 21] = [
        ("double", 1),
        ("string", 2),
        ("object", 3),
        ("array", 4),
        ("binData", 5),
        ("undefined", 6),
        ("objectId", 7),
        ("bool", 8),
        ("date", 9),
        ("null", 10),
        ("regex", 11),
        ("dbPointer", 12),
        ("javascript", 13),
        ("symbol", 14),
        ("javascriptWithScope", 15),
        ("int", 16),
        ("timestamp", 17),
        ("long", 18),
        ("decimal", 19),
        ("minKey", -1),
        ("maxKey", 127),
    ];
    match node.as_str() {
        Some("number") => Some(vec![1, 16, 18, 19]),
        Some(name) => NAMES.iter().find(|(known, _)| *known == name).map(|&(_, code)| vec![code]),
        None => {
            let code = i32::try_from(node.as_i64()?).ok()?;
            NAMES.iter().any(|&(_, known)| known == code).then(|| vec![code])
        }
    }
}

fn parse_all(path: &str, node: &Node, span: Span, depth: usize) -> Predicate {
    let Value::Array(array) = &node.value else {
        return opaque(Some(path), "the operand of `$all`", span);
    };
    if array.items.is_empty() && !array.partial {
        return Predicate::new(Condition::Always(false), span);
    }
    let mut members: Vec<Predicate> = array
        .items
        .iter()
        .map(|item| match &item.value {
            Value::Document(document) if document.first().is_some_and(|field| field.name == "$elemMatch") => {
                parse_operators(path, document, span, depth)
            }
            Value::Regex { pattern, options } => regex(path, Some(pattern), options, span),
            _ => compare(path, Comparison::Eq, item, span),
        })
        .collect();
    if array.partial {
        members.push(Predicate::new(Condition::Lost(Some(path.to_owned())), span));
    }
    all_of(members, span)
}

fn parse_elem_match(path: &str, node: &Node, span: Span, depth: usize) -> Predicate {
    let Value::Document(document) = &node.value else {
        return opaque(Some(path), "the operand of `$elemMatch`", span);
    };
    let over_documents = document.first().is_none_or(|field| is_pathless(&field.name));
    if over_documents || !is_operators(document) {
        let inner = parse_filter(node, depth);
        return Predicate::new(Condition::ElemMatchObject(path.to_owned(), Box::new(inner)), span);
    }
    Predicate::new(Condition::ElemMatchValue(path.to_owned(), operators("", document, span, depth)), span)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::syntax::ext_json;

    fn parse(text: &str) -> Predicate {
        Predicate::parse(&ext_json::parse(text, 0).expect("extended JSON"))
    }

    #[test]
    fn a_document_with_dollar_names_is_a_list_of_operators_and_others_are_literals() {
        let Condition::And(members) = parse(r#"{"a": {"$gt": 1, "$lt": 5}, "b": {"c": {"$gt": 1}}}"#).condition else {
            panic!("two fields");
        };
        assert!(matches!(&members[0].condition, Condition::And(both) if both.len() == 2));
        assert!(
            matches!(&members[1].condition, Condition::Field(path, Operator::Compare(Comparison::Eq, _)) if path == "b")
        );
    }

    #[test]
    fn a_predicate_spans_the_name_of_its_field_through_its_value() {
        let text = r#"{"z": 1, "a": {"$gte": 5}}"#;
        let Condition::And(members) = parse(text).condition else { panic!("two fields") };
        assert_eq!(&text[members[1].span.range()], r#""a": {"$gte": 5}"#);
    }

    #[test]
    fn unknown_operators_stay_as_opaque_predicates() {
        assert!(matches!(parse(r#"{"$foo": 1}"#).condition, Condition::Opaque(None, _)));
        assert!(matches!(parse(r#"{"a": {"$foo": 1}}"#).condition, Condition::Opaque(Some(path), _) if path == "a"));
    }

    #[test]
    fn comments_have_no_effect() {
        assert!(parse(r#"{"$comment": "app.rs:12"}"#).is_everything());
    }

    #[test]
    fn elem_match_is_over_values_if_its_operand_starts_with_an_operator() {
        assert!(matches!(parse(r#"{"a": {"$elemMatch": {"$gt": 1}}}"#).condition, Condition::ElemMatchValue(..)));
        assert!(matches!(parse(r#"{"a": {"$elemMatch": {"b": 1}}}"#).condition, Condition::ElemMatchObject(..)));
        assert!(matches!(
            parse(r#"{"a": {"$elemMatch": {"$or": [{"b": 1}]}}}"#).condition,
            Condition::ElemMatchObject(..)
        ));
        assert!(matches!(
            parse(r#"{"a": {"$elemMatch": {"$comment": "x", "b": 1}}}"#).condition,
            Condition::ElemMatchObject(..)
        ));
    }

    #[test]
    fn nesting_beyond_every_server_is_opaque_and_does_not_overflow() {
        let mut node = Node::synthetic(Value::Document(Document::default()));
        for _ in 0..2_000 {
            let field = Field { name: "$nor".into(), name_span: Span::default(), node: Node::default() };
            let array = Array { items: vec![node], partial: false };
            let field = Field { node: Node::synthetic(Value::Array(array)), ..field };
            node = Node::synthetic(Value::Document(Document { fields: vec![field], partial: false }));
        }
        assert!(Predicate::parse(&node).any(&|p| matches!(p.condition, Condition::Opaque(..))));
    }
}
