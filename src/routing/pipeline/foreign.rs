//! With which filters the collections behind `$lookup`, `$graphLookup` and `$unionWith` are read, where the documents that
//! reach these stages are known. That is so for recorded cases with `outer`: the collection they ran on holds one document.

use crate::model::{Document, Field, Namespace, Node, ShardKey, Statement, Value};
use crate::text::Span;

use super::super::expression::{Expression, ExpressionKind};
use super::super::predicate::{Comparison, Condition, InList, Operator, Predicate};
use super::leading::{LeadingFilter, lead};
use super::optimise::optimise;
use super::stage::{Effect, Join, Part, Stage};

/// How often the sub-pipeline of a `$unionWith` is optimised; that of a `$lookup` is optimised once.
const UNION_PASSES: usize = 3;

/// The filter of each read of `foreign` by the pipeline of `statement`, which runs over the one document
/// `{ _id: 1, x: 5 }`. `key` is the shard key of `foreign`.
pub(in super::super) fn foreign_filters(
    statement: &Statement,
    foreign: &Namespace,
    key: &ShardKey,
) -> Vec<LeadingFilter> {
    let mut stages = Vec::new();
    for pipeline in [&statement.view_pipeline, &statement.pipeline].into_iter().flatten() {
        stages.extend(Stage::read(pipeline).0);
    }
    optimise(&mut stages);
    (0..stages.len())
        .filter(|&at| source(&stages[at]) == Some(foreign.collection()))
        .map(|at| {
            let input = Input { before: &stages[..at], document: outer_document() };
            let (read, cut) = input.foreign_pipeline(&stages[at]);
            lead(read, cut, key)
        })
        .collect()
}

/// The collection that a stage reads besides its input.
fn source<'a>(stage: &Stage<'a>) -> Option<&'a str> {
    let named = |node: &'a Node| match node.as_document() {
        Some(document) => document.get("coll").and_then(Node::as_str),
        None => node.as_str(),
    };
    match stage.name {
        "$lookup" | "$graphLookup" => stage.spec.as_document()?.get("from").and_then(named),
        "$unionWith" => named(stage.spec),
        _ => None,
    }
}

fn outer_document() -> Document {
    let field = |name: &str, value| Field {
        name: name.to_owned(),
        name_span: Span::default(),
        node: Node::synthetic(Value::Int32(value)),
    };
    Document { fields: vec![field("_id", 1), field("x", 5)], partial: false }
}

/// The document that reaches a stage.
struct Input<'s, 'a> {
    before: &'s [Stage<'a>],
    document: Document,
}

/// What is known of a value.
enum Known {
    Value(Value),
    Missing,
    No,
}

impl Input<'_, '_> {
    fn value(&self, path: &str) -> Known {
        let origin = self.before.iter().rev().try_fold(path.to_owned(), |path, stage| stage.origin(&path));
        let Some(origin) = origin else {
            return Known::No;
        };
        let mut document = Some(&self.document);
        let mut value = None;
        for name in origin.split('.') {
            value = document.and_then(|document| document.get(name));
            document = value.and_then(Node::as_document);
        }
        value.map_or(Known::Missing, |node| Known::Value(node.value.clone()))
    }

    /// The pipeline that the stage runs on the foreign collection, and whether its end was cut off.
    fn foreign_pipeline<'a>(&self, stage: &Stage<'a>) -> (Vec<Stage<'a>>, bool) {
        let (mut own, cut) =
            stage.spec.as_document().and_then(|spec| spec.get("pipeline")).map(Stage::read).unwrap_or_default();
        let mut stages = Vec::new();
        match &stage.effect {
            Effect::Unites(beyond) => own.extend(beyond.iter().cloned()),
            Effect::Joins(join) => {
                self.bind_variables(stage, &mut own);
                stages.extend(self.equality(stage).map(|part| as_match(stage, vec![part])));
                own.extend(conditions(stage, join));
            }
            _ => stages.extend(self.first_search(stage).map(|parts| as_match(stage, parts))),
        }
        stages.append(&mut own);
        if matches!(stage.effect, Effect::Unites(_)) {
            for _ in 1..UNION_PASSES {
                optimise(&mut stages);
                settle(&mut stages);
            }
        }
        (stages, cut)
    }

    /// `localField` and `foreignField`. A missing value is null.
    fn equality(&self, stage: &Stage<'_>) -> Option<Part> {
        let spec = stage.spec.as_document()?;
        let foreign_field = spec.field("foreignField")?;
        let span = foreign_field.name_span.join(foreign_field.node.span);
        let path = foreign_field.node.as_str()?.to_owned();
        let condition = match self.value(spec.get("localField")?.as_str()?) {
            Known::Value(value) => equal(path, value),
            Known::Missing => equal(path, Value::Null),
            Known::No => Condition::Opaque(Some(path), "the value of `localField`".to_owned()),
        };
        Some(Part { predicate: Predicate::new(condition, span), stage: stage.span })
    }

    /// The first round of a `$graphLookup`: what later rounds look for is in the documents that it finds.
    fn first_search(&self, stage: &Stage<'_>) -> Option<Vec<Part>> {
        let spec = stage.spec.as_document()?;
        let connect = spec.field("connectToField")?;
        let span = connect.name_span.join(connect.node.span);
        let path = connect.node.as_str()?.to_owned();
        let mut start = Expression::parse(spec.get("startWith")?);
        self.evaluate(&mut start);
        let condition = match start.kind {
            ExpressionKind::Constant(Value::Array(array)) => within(path, array.items),
            ExpressionKind::Constant(value) => within(path, vec![Node::synthetic(value)]),
            ExpressionKind::Variable(name) if name == "REMOVE" => within(path, Vec::new()),
            _ => Condition::Opaque(Some(path), "the value of `startWith`".to_owned()),
        };
        let mut parts = vec![Part { predicate: Predicate::new(condition, span), stage: stage.span }];
        if let Some(restriction) = spec.get("restrictSearchWithMatch") {
            parts.push(Part { predicate: Predicate::parse(restriction), stage: stage.span });
        }
        Some(parts)
    }

    /// Puts the values of `let` into the conditions of the sub-pipeline.
    fn bind_variables(&self, stage: &Stage<'_>, pipeline: &mut [Stage<'_>]) {
        let variables = stage.spec.as_document().and_then(|spec| spec.get("let")).and_then(Node::as_document);
        let mut bound: Vec<(&str, Expression)> = Vec::new();
        for field in variables.into_iter().flat_map(|variables| &variables.fields) {
            let mut value = Expression::parse(&field.node);
            self.evaluate(&mut value);
            bound.push((&field.name, value));
        }
        for stage in pipeline {
            if let Effect::Match(parts) = &mut stage.effect {
                parts.iter_mut().for_each(|part| bind(&mut part.predicate, &bound));
            }
        }
    }

    /// Puts the values of the input's fields into an expression.
    fn evaluate(&self, expression: &mut Expression) {
        replace(expression, &|kind| match kind {
            ExpressionKind::Path(path) if path.is_empty() => Some(ExpressionKind::Opaque),
            ExpressionKind::Path(path) => Some(match self.value(path) {
                Known::Value(value) => ExpressionKind::Constant(value),
                Known::Missing => ExpressionKind::Variable("REMOVE".to_owned()),
                Known::No => ExpressionKind::Opaque,
            }),
            _ => None,
        });
    }
}

/// Makes plain matches of the copies before a `$redact`, which the next pass moves as any other.
fn settle(stages: &mut [Stage<'_>]) {
    for stage in stages {
        if let Effect::RedactCopy(parts) = &mut stage.effect {
            stage.effect = Effect::Match(std::mem::take(parts));
        }
    }
}

fn as_match<'a>(stage: &Stage<'a>, parts: Vec<Part>) -> Stage<'a> {
    stage.with(Effect::Match(parts))
}

/// What a `$match` behind the `$lookup` asks of the joined documents comes last in the sub-pipeline.
fn conditions<'a>(stage: &Stage<'a>, join: &Join) -> Option<Stage<'a>> {
    (!join.conditions.is_empty()).then(|| as_match(stage, join.conditions.clone()))
}

fn equal(path: String, value: Value) -> Condition {
    Condition::Field(path, Operator::Compare(Comparison::Eq, Node::synthetic(value)))
}

fn within(path: String, members: Vec<Node>) -> Condition {
    Condition::Field(path, Operator::In(InList { members, partial: false }))
}

fn bind(predicate: &mut Predicate, bound: &[(&str, Expression)]) {
    if let Condition::Expr(expression) = &mut predicate.condition {
        replace(expression, &|kind| match kind {
            ExpressionKind::Variable(text) => {
                let (name, path) = text.split_once('.').unwrap_or((text, ""));
                let (_, value) = bound.iter().find(|(variable, _)| *variable == name)?;
                Some(if path.is_empty() { value.kind.clone() } else { ExpressionKind::Opaque })
            }
            _ => None,
        });
    }
    predicate.children_mut().iter_mut().for_each(|child| bind(child, bound));
}

/// Replaces every leaf of an expression for which `new` knows another one.
fn replace(expression: &mut Expression, new: &dyn Fn(&ExpressionKind) -> Option<ExpressionKind>) {
    match &mut expression.kind {
        ExpressionKind::Operator(_, argument) => replace(argument, new),
        ExpressionKind::Object(members) => members.iter_mut().for_each(|(_, member)| replace(member, new)),
        ExpressionKind::Array(items) => items.iter_mut().for_each(|item| replace(item, new)),
        leaf => {
            if let Some(kind) = new(leaf) {
                *leaf = kind;
            }
        }
    }
}
