//! With which filters the collections behind `$lookup`, `$graphLookup` and `$unionWith` are read, where the documents that
//! reach these stages are known. That is so for recorded cases with `outer`: the collection they ran on holds one document.

use crate::model::{Document, Field, Namespace, Node, ServerVersion, ShardKey, Statement, Value};
use crate::text::Span;

use super::super::convert::convert_expressions;
use super::super::equality::{is_at_or_below, value_at};
use super::super::expression::{Expression, ExpressionKind};
use super::super::fold::{Constants, Folded};
use super::super::normalise::normalise;
use super::super::parse::MAX_DEPTH;
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
    version: ServerVersion,
) -> Vec<LeadingFilter> {
    let mut stages = Vec::new();
    for pipeline in [&statement.view_pipeline, &statement.pipeline].into_iter().flatten() {
        stages.extend(Stage::read(pipeline).0);
    }
    optimise(&mut stages);
    let constants = Constants::new(statement.let_variables.as_ref(), None);
    let mut search = Search { collection: foreign.collection(), key, version, constants, found: Vec::new() };
    search.visit(&Input { before: Vec::new(), document: Some(outer_document()) }, &stages, 0);
    search.found
}

/// Looks for the reads of a collection.
struct Search<'s> {
    collection: &'s str,
    key: &'s ShardKey,
    version: ServerVersion,
    constants: Constants,
    found: Vec<LeadingFilter>,
}

impl Search<'_> {
    /// Visits the stages of a pipeline that runs over `input`, and the pipelines inside them.
    fn visit(&mut self, input: &Input<'_>, stages: &[Stage<'_>], depth: usize) {
        let reads = |stage: &Stage<'_>| depth < MAX_DEPTH && (source(stage).is_some() || stage.name == "$facet");
        for (at, stage) in stages.iter().enumerate().filter(|(_, stage)| reads(stage)) {
            let here = input.behind(&stages[..at]);
            let read = source(stage);
            if read == Some(self.collection) {
                let (pipeline, cut) = self.pipeline(&here, stage);
                self.found.push(lead(pipeline, cut, self.key));
            } else if read.is_some() {
                let (mut pipeline, _) = self.pipeline(&here, stage);
                optimise(&mut pipeline);
                self.visit(&Input::default(), &pipeline, depth + 1);
            }
            for facet in facets(stage) {
                let (mut pipeline, _) = Stage::read(facet);
                optimise(&mut pipeline);
                self.visit(&here, &pipeline, depth + 1);
            }
        }
    }
}

impl Search<'_> {
    /// The pipeline that a stage runs on the collection it reads, but for the last pass of the optimiser.
    fn pipeline<'a>(&self, input: &Input<'a>, stage: &Stage<'a>) -> (Vec<Stage<'a>>, bool) {
        let (mut stages, cut) = input.foreign_pipeline(stage);
        if matches!(stage.effect, Effect::Unites(_)) {
            for _ in 1..UNION_PASSES {
                optimise(&mut stages);
                stages.iter_mut().for_each(|stage| self.settle(stage));
            }
        }
        (stages, cut)
    }

    /// What happens to a match between two passes: it is simplified, its `$expr` converted, and a copy before a `$redact`
    /// is a match like any other.
    fn settle(&self, stage: &mut Stage<'_>) {
        if let Effect::RedactCopy(parts) | Effect::Match(parts) = &mut stage.effect {
            let mut parts = std::mem::take(parts);
            for part in &mut parts {
                let span = part.predicate.span;
                convert_expressions(&mut part.predicate, &self.constants, self.version);
                part.predicate = normalise(std::mem::replace(&mut part.predicate, Predicate::everything(span)));
            }
            stage.effect = Effect::Match(parts);
        }
    }
}

/// The pipelines of a `$facet`, which all run over its input.
fn facets<'a>(stage: &Stage<'a>) -> impl Iterator<Item = &'a Node> {
    let facets = stage.spec.as_document().filter(|_| stage.name == "$facet");
    facets.into_iter().flat_map(|facets| facets.fields.iter().map(|field| &field.node))
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

/// The documents that reach a stage: one that is known, behind some stages, or any.
#[derive(Default)]
struct Input<'a> {
    before: Vec<Stage<'a>>,
    document: Option<Document>,
}

/// What is known of a value.
#[derive(Clone)]
enum Known {
    Value(Value),
    Missing,
    No,
}

impl Known {
    /// What is known of the value at a path below it; the empty path is the value itself. Not through arrays.
    fn member(self, path: &str) -> Self {
        match self {
            Self::Value(value) => match value_at(&value, path) {
                Some(member) => Self::Value(member.clone()),
                None if matches!(value, Value::Array(_)) => Self::No,
                None => Self::Missing,
            },
            other => other,
        }
    }

    fn into_expression(self) -> ExpressionKind {
        match self {
            Self::Value(value) => ExpressionKind::Constant(value),
            Self::Missing => ExpressionKind::Variable("REMOVE".to_owned()),
            Self::No => ExpressionKind::Opaque,
        }
    }
}

impl<'i> Input<'i> {
    /// What reaches a stage behind further ones.
    fn behind(&self, stages: &[Stage<'i>]) -> Self {
        Self { before: self.before.iter().chain(stages).cloned().collect(), document: self.document.clone() }
    }

    fn value(&self, path: &str) -> Known {
        let Some(document) = &self.document else {
            return Known::No;
        };
        let mut path = path.to_owned();
        for (at, stage) in self.before.iter().enumerate().rev() {
            let input = || Self { before: self.before[..at].to_vec(), document: Some(document.clone()) };
            if let Some((node, below)) = computed(stage, &path) {
                return input().known(&Expression::parse(node)).member(below);
            }
            match stage.origin(&path) {
                Some(origin) => path = origin,
                None if stage.name == "$unset" => return Known::Missing,
                // What is no array stays as it is.
                None if stage.name == "$unwind" => match input().value(&path) {
                    Known::Value(Value::Array(_) | Value::Null) | Known::Missing => return Known::No,
                    scalar => return scalar,
                },
                None => return Known::No,
            }
        }
        Known::Value(Value::Document(document.clone())).member(&path)
    }

    /// What an expression over the input comes to.
    fn known(&self, expression: &Expression) -> Known {
        let mut expression = expression.clone();
        self.evaluate(&mut expression);
        match Constants::default().fold(&expression) {
            Folded::Constant(value) => Known::Value(value),
            Folded::Missing => Known::Missing,
            _ => Known::No,
        }
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
        (stages, cut)
    }

    /// `localField` and `foreignField`. A missing value is null.
    fn equality(&self, stage: &Stage<'_>) -> Option<Part> {
        let spec = stage.spec.as_document()?;
        let foreign_field = spec.field("foreignField")?;
        let span = foreign_field.name_span.join(foreign_field.node.span);
        let path = foreign_field.node.as_str()?.to_owned();
        let condition = match self.value(spec.get("localField")?.as_str()?) {
            Known::Value(Value::Array(array)) => within(path, array.items),
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
        let condition = match self.known(&Expression::parse(spec.get("startWith")?)) {
            Known::Value(Value::Array(array)) => within(path, array.items),
            Known::Value(value) => within(path, vec![Node::synthetic(value)]),
            Known::Missing => within(path, Vec::new()),
            Known::No => Condition::Opaque(Some(path), "the value of `startWith`".to_owned()),
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
        let mut bound: Vec<(&str, Known)> = Vec::new();
        for field in variables.into_iter().flat_map(|variables| &variables.fields) {
            bound.push((&field.name, self.known(&Expression::parse(&field.node))));
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
            ExpressionKind::Path(path) => Some(self.value(path).into_expression()),
            _ => None,
        });
    }
}

/// The expression by which a stage computes the value at a path or one above it, and the path below that one. In a
/// `$project` numbers and truth values are none, nor are documents without an operator.
fn computed<'a, 'p>(stage: &Stage<'a>, path: &'p str) -> Option<(&'a Node, &'p str)> {
    let spec = stage.spec.as_document()?;
    let field = spec.fields.iter().find(|field| is_at_or_below(path, &field.name));
    let found = field.map(|field| (&field.node, path[field.name.len()..].trim_start_matches('.')));
    match stage.name {
        "$addFields" | "$set" => found,
        "$project" => found.filter(|(node, _)| match &node.value {
            Value::String(_) | Value::Array(_) => true,
            Value::Document(document) => document.first().is_some_and(|field| field.name.starts_with('$')),
            _ => false,
        }),
        "$replaceRoot" => spec.get("newRoot").map(|root| (root, path)),
        "$replaceWith" => Some((stage.spec, path)),
        _ => None,
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
    Condition::Field(path, Operator::In(InList::new(members, false)))
}

fn bind(predicate: &mut Predicate, bound: &[(&str, Known)]) {
    if let Condition::Expr(expression) = &mut predicate.condition {
        replace(expression, &|kind| match kind {
            ExpressionKind::Variable(text) => {
                let (name, path) = text.split_once('.').unwrap_or((text, ""));
                let (_, value) = bound.iter().find(|(variable, _)| *variable == name)?;
                Some(value.clone().member(path).into_expression())
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
