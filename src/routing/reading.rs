//! What may stand where a record was cut, redacted or not understood. A filter with such places is read twice, once as
//! narrow as the missing part can make it and once as wide; where both readings have one answer, the gap does not matter.
//!
//! A hidden literal becomes a value of its own that equals no other; a lost member becomes equalities on the whole key, or
//! nothing.

use crate::model::{Document, Node, ShardKey, Value};
use crate::text::Span;

use super::predicate::{Comparison, Condition, Negation, Operator, Predicate};

/// Which way gaps are read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Reading {
    /// Whatever is missing bounds the key as far as it can.
    Narrow,
    /// Whatever is missing bounds nothing.
    Wide,
}

/// The first gap of a filter, which a verdict that depends on it names.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Gap {
    /// Members were cut off.
    Lost,
    /// A literal is hidden.
    Hidden(Span),
    /// A part is not understood, and why.
    Opaque(Span, String),
}

/// The first gap in a filter, if it has any.
pub(super) fn first_gap(predicate: &Predicate) -> Option<Gap> {
    let own = match &predicate.condition {
        Condition::Lost(_) => Some(Gap::Lost),
        Condition::Opaque(_, why) => Some(Gap::Opaque(predicate.span, why.clone())),
        Condition::Field(_, operator) => operator_gap(operator, predicate.span),
        Condition::Expr(expression) => {
            let opaque = expression.any(&|part| matches!(part.kind, super::ExpressionKind::Opaque));
            opaque.then_some(Gap::Hidden(predicate.span))
        }
        _ => None,
    };
    own.or_else(|| predicate.children().iter().find_map(first_gap))
}

fn operator_gap(operator: &Operator, span: Span) -> Option<Gap> {
    match operator {
        Operator::Compare(_, operand) | Operator::ExprCompare(_, operand) => value_gap(operand),
        Operator::In(list) if list.partial => Some(Gap::Lost),
        Operator::In(list) => list.iter().find_map(value_gap),
        Operator::Regex { pattern: None, .. } | Operator::Exists(None) | Operator::Type(None) => {
            Some(Gap::Hidden(span))
        }
        _ => None,
    }
}

/// A gap inside a literal.
fn value_gap(node: &Node) -> Option<Gap> {
    match &node.value {
        Value::Redacted => Some(Gap::Hidden(node.span)),
        value => first_value_gap(value),
    }
}

/// A gap inside a value; the value itself has no place to name.
pub(super) fn first_value_gap(value: &Value) -> Option<Gap> {
    match value {
        Value::Redacted => Some(Gap::Hidden(Span::default())),
        Value::Document(Document { partial: true, .. }) => Some(Gap::Lost),
        Value::Document(document) => document.fields.iter().find_map(|field| value_gap(&field.node)),
        Value::Array(array) if array.partial => Some(Gap::Lost),
        Value::Array(array) => array.items.iter().find_map(value_gap),
        _ => None,
    }
}

/// Whether a hidden or cut literal takes part, so that no shard can be named.
pub(super) fn hides_values(predicate: &Predicate) -> bool {
    predicate.any(&|part| match &part.condition {
        Condition::Field(_, operator) => operator_gap(operator, part.span).is_some(),
        Condition::Expr(_) => first_gap(part).is_some(),
        _ => false,
    })
}

/// Fills the gaps of a filter.
pub(super) struct Reader<'a> {
    key: &'a ShardKey,
    reading: Reading,
    filled: u32,
}

impl<'a> Reader<'a> {
    pub(super) fn new(key: &'a ShardKey, reading: Reading) -> Self {
        Self { key, reading, filled: 0 }
    }

    /// Fills the gaps of `predicate`. Below a negation a lost member cannot make anything narrower.
    pub(super) fn fill(&mut self, predicate: &mut Predicate, negated: bool) {
        let span = predicate.span;
        let below = negated || matches!(predicate.condition, Condition::Not(..) | Condition::Nor(_));
        predicate.children_mut().iter_mut().for_each(|child| self.fill(child, below));
        let unknown_expression = matches!(predicate.condition, Condition::Expr(_)) && first_gap(predicate).is_some();
        let replacement = match &mut predicate.condition {
            Condition::Field(path, operator) => self.fill_operator(path, operator, span, negated),
            Condition::Lost(path) | Condition::Opaque(path, _) => {
                let path = path.take();
                Some(self.anything(path, span, negated))
            }
            Condition::Expr(_) if unknown_expression => Some(self.anything(None, span, negated)),
            _ => None,
        };
        if let Some(condition) = replacement {
            predicate.condition = condition;
        }
    }

    /// What a part about which nothing is known may be: equalities, on the whole key if no path is known.
    fn anything(&mut self, path: Option<String>, span: Span, negated: bool) -> Condition {
        match (self.reading, negated) {
            (Reading::Wide, _) => Condition::Where,
            (Reading::Narrow, true) => Condition::Always(true),
            (Reading::Narrow, false) => {
                let paths = path.map_or_else(
                    || self.key.fields.iter().map(|field| field.path.clone()).collect(),
                    |path| vec![path],
                );
                Condition::And(paths.into_iter().map(|path| self.equality(path, span)).collect())
            }
        }
    }

    fn equality(&mut self, path: String, span: Span) -> Predicate {
        let operand = Node { value: self.stand_in(Comparison::Eq), span };
        Predicate::new(Condition::Field(path, Operator::Compare(Comparison::Eq, operand)), span)
    }

    /// A value for a hidden literal: a number in the narrow reading, a string (which a collation may hide) in the wide one.
    /// Points differ from each other and lie inside the range that hidden ends make.
    fn stand_in(&mut self, comparison: Comparison) -> Value {
        self.filled += 1;
        let (number, text) = match comparison {
            Comparison::Gt | Comparison::Gte => (1.0, "a".to_owned()),
            Comparison::Lt | Comparison::Lte => (2.0, "z".to_owned()),
            Comparison::Eq => (1.0 + f64::from(self.filled) / f64::from(u32::MAX), format!("m{:010}", self.filled)),
        };
        if self.reading == Reading::Narrow { Value::Double(number) } else { Value::String(text) }
    }

    fn fill_value(&mut self, node: &mut Node, comparison: Comparison) {
        match &mut node.value {
            Value::Redacted => node.value = self.stand_in(comparison),
            Value::Document(document) => {
                document.fields.iter_mut().for_each(|field| self.fill_value(&mut field.node, comparison));
            }
            Value::Array(array) => array.items.iter_mut().for_each(|item| self.fill_value(item, comparison)),
            _ => {}
        }
    }

    /// Fills an operator's operand in place, or tells the condition that takes its place.
    fn fill_operator(&mut self, path: &str, operator: &mut Operator, span: Span, negated: bool) -> Option<Condition> {
        let narrow = self.reading == Reading::Narrow;
        match operator {
            Operator::Compare(comparison, operand) | Operator::ExprCompare(comparison, operand) => {
                let comparison = *comparison;
                self.fill_value(operand, comparison);
                return self.lost_members(path, operand, span, negated);
            }
            Operator::In(list) => {
                let is_cut = std::mem::take(&mut list.partial);
                list.edit(|members| {
                    members.iter_mut().for_each(|member| self.fill_value(member, Comparison::Eq));
                    if is_cut && !narrow {
                        members.push(Node { value: self.stand_in(Comparison::Eq), span });
                    }
                });
            }
            Operator::Regex { pattern: pattern @ None, .. } => {
                *pattern = Some(if narrow { "^x" } else { "x" }.to_owned())
            }
            Operator::Type(codes @ None) => *codes = Some(vec![if narrow { 10 } else { 2 }]),
            Operator::Exists(operand @ None) => {
                *operand = Some(true);
                if narrow {
                    let exists = Condition::Field(path.to_owned(), Operator::Exists(Some(true)));
                    return Some(Condition::Not(Negation::NotExists, Box::new(Predicate::new(exists, span))));
                }
            }
            _ => {}
        }
        None
    }

    /// A literal that was cut may have held the key fields below its path.
    fn lost_members(&mut self, path: &str, operand: &Node, span: Span, negated: bool) -> Option<Condition> {
        if self.reading == Reading::Wide
            || negated
            || !matches!(&operand.value, Value::Document(_))
            || value_gap(operand).is_none()
        {
            return None;
        }
        let mut parts = vec![Predicate::new(
            Condition::Field(path.to_owned(), Operator::Compare(Comparison::Eq, operand.clone())),
            span,
        )];
        let below = |field: &str| field.strip_prefix(path).is_some_and(|rest| rest.starts_with('.'));
        let fields: Vec<String> =
            self.key.fields.iter().map(|field| field.path.clone()).filter(|field| below(field)).collect();
        parts.extend(fields.into_iter().map(|field| self.equality(field, span)));
        Some(Condition::And(parts))
    }
}
