//! What a filter says: a tree of conditions over field paths, each with the span it was read from.
//!
//! The tree is as written (operators spelled out, nothing simplified), so that stages of a pipeline can rename paths and
//! split conjunctions; `normalise` brings it into the form in which the router looks at it. Nothing is dropped: what is not
//! understood is [`Condition::Opaque`], what the server cut off is [`Condition::Lost`], and `reading` says what they may mean.

use std::sync::Arc;

use crate::model::{Node, compare};
use crate::text::Span;

use super::expression::Expression;

/// A condition and where it stands: a field's name through its value, or an operator's name through its operand.
#[derive(Debug, Clone)]
pub struct Predicate {
    /// What has to hold.
    pub condition: Condition,
    /// Where it was written.
    pub span: Span,
}

/// What has to hold.
#[derive(Debug, Clone)]
pub enum Condition {
    /// All of them: the members of a document, the operators on a field, `$and`, `$all`.
    And(Vec<Predicate>),
    /// `$or`.
    Or(Vec<Predicate>),
    /// `$nor`.
    Nor(Vec<Predicate>),
    /// Negation of one predicate.
    Not(Negation, Box<Predicate>),
    /// An operator on a field.
    Field(String, Operator),
    /// `$elemMatch` over sub-documents: the paths inside are relative to `path`.
    ElemMatchObject(String, Box<Predicate>),
    /// `$elemMatch` over values: the predicates inside have the empty path.
    ElemMatchValue(String, Vec<Predicate>),
    /// `$expr`, as written.
    Expr(Expression),
    /// `$alwaysTrue`, `$alwaysFalse`, `$all: []`, an `$or` without branches.
    Always(bool),
    /// `$where`.
    Where,
    /// `$text`.
    Text,
    /// `$jsonSchema`, as written.
    JsonSchema(Node),
    /// `$sampleRate`: a random number decides.
    SampleRate,
    /// Not understood. With a path it is about that field only.
    Opaque(Option<String>, String),
    /// The server cut the record here: further members may have been lost, of a field's operators if there is a path.
    Lost(Option<String>),
}

/// The operator that the user wrote for a negation.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Negation {
    /// `$ne`.
    Ne,
    /// `$nin`.
    Nin,
    /// `$not`.
    Not,
    /// `$nor` with one branch.
    Nor,
    /// `$exists: false`.
    NotExists,
}

/// The order relation of a comparison.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Comparison {
    /// `$eq`.
    Eq,
    /// `$lte`.
    Lte,
    /// `$lt`.
    Lt,
    /// `$gt`.
    Gt,
    /// `$gte`.
    Gte,
}

/// What is asked of one field.
#[derive(Debug, Clone)]
pub enum Operator {
    /// `$eq` (or a plain value), `$lt`, `$lte`, `$gt`, `$gte`.
    Compare(Comparison, Node),
    /// A comparison that an `$expr` was converted to: no type bracketing.
    ExprCompare(Comparison, Node),
    /// `$in`; regexes among the members match as regexes.
    In(InList),
    /// A regex literal or `$regex`.
    Regex {
        /// The pattern; `None` if it is hidden.
        pattern: Option<String>,
        /// The flags.
        flags: String,
    },
    /// `$exists: true`; `false` is a negation of it. `None` if the operand is hidden.
    Exists(Option<bool>),
    /// `$type` with numeric type codes; `None` if the operand is hidden. `bracket` has them.
    Type(Option<Vec<i32>>),
    /// `$mod`.
    Mod,
    /// `$size`.
    Size,
    /// `$bitsAllSet` and its kin.
    Bits,
    /// `$geoWithin`, `$geoIntersects`; also `$near` and `$nearSphere`.
    Geo,
}

/// The members of an `$in`. There may be millions, so copies of a predicate share them.
#[derive(Debug, Clone, Default)]
pub struct InList {
    written: Arc<Vec<Node>>,
    /// The places of the different ones, in the order of BSON. Without it all count, as written.
    order: Option<Arc<[u32]>>,
    /// Members may have been cut off.
    pub partial: bool,
}

impl InList {
    /// These members.
    #[must_use]
    pub fn new(members: Vec<Node>, partial: bool) -> Self {
        Self { written: Arc::new(members), order: None, partial }
    }

    /// How many there are.
    #[must_use]
    pub fn len(&self) -> usize {
        self.order.as_ref().map_or(self.written.len(), |order| order.len())
    }

    /// Whether there are none.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The members.
    pub fn iter(&self) -> impl Iterator<Item = &Node> {
        (0..self.len()).map(|at| &self.written[self.order.as_ref().map_or(at, |order| order[at] as usize)])
    }

    /// Changes members in place, and adds some.
    pub(super) fn edit(&mut self, edit: impl FnOnce(&mut Vec<Node>)) {
        edit(Arc::make_mut(&mut self.written));
        self.order = None;
    }

    /// Without duplicates, sorted. Of equal members the first counts.
    pub(super) fn sorted(self) -> Self {
        let count = u32::try_from(self.written.len()).expect("a record is shorter");
        let value = |place: u32| &self.written[place as usize].value;
        let mut order: Vec<u32> = (0..count).collect();
        order.sort_by(|a, b| compare(value(*a), value(*b)));
        order.dedup_by(|a, b| compare(value(*a), value(*b)).is_eq());
        Self { order: Some(order.into()), ..self }
    }
}

impl Predicate {
    /// A predicate at `span`.
    #[must_use]
    pub fn new(condition: Condition, span: Span) -> Self {
        Self { condition, span }
    }

    /// The predicate that holds for every document.
    #[must_use]
    pub fn everything(span: Span) -> Self {
        Self::new(Condition::And(Vec::new()), span)
    }

    /// Whether it is a conjunction of nothing.
    #[must_use]
    pub fn is_everything(&self) -> bool {
        matches!(&self.condition, Condition::And(members) if members.is_empty())
    }

    /// The predicates one level below.
    #[must_use]
    pub fn children(&self) -> &[Self] {
        match &self.condition {
            Condition::And(list) | Condition::Or(list) | Condition::Nor(list) | Condition::ElemMatchValue(_, list) => {
                list
            }
            Condition::Not(_, inner) | Condition::ElemMatchObject(_, inner) => std::slice::from_ref(inner),
            _ => &[],
        }
    }

    /// The predicates one level below.
    pub fn children_mut(&mut self) -> &mut [Self] {
        match &mut self.condition {
            Condition::And(list) | Condition::Or(list) | Condition::Nor(list) | Condition::ElemMatchValue(_, list) => {
                list
            }
            Condition::Not(_, inner) | Condition::ElemMatchObject(_, inner) => std::slice::from_mut(inner),
            _ => &mut [],
        }
    }

    /// The field this predicate itself is about.
    #[must_use]
    pub fn path(&self) -> Option<&str> {
        match &self.condition {
            Condition::Field(path, _)
            | Condition::ElemMatchObject(path, _)
            | Condition::ElemMatchValue(path, _)
            | Condition::Opaque(Some(path), _)
            | Condition::Lost(Some(path)) => Some(path),
            _ => None,
        }
    }

    /// Calls `visit` with every path whose value decides, `$expr` included. An `$elemMatch` depends on its array as a whole,
    /// so paths inside it are not told.
    pub fn visit_paths(&self, visit: &mut dyn FnMut(&str)) {
        if let Some(path) = self.path() {
            return visit(path);
        }
        if let Condition::Expr(expression) = &self.condition {
            return expression.visit_paths(visit);
        }
        for child in self.children() {
            child.visit_paths(visit);
        }
    }

    /// Renames every path for which `rename` knows a new name. Paths inside `$elemMatch` are relative and stay.
    pub fn rename_paths(&mut self, rename: &dyn Fn(&str) -> Option<String>) {
        match &mut self.condition {
            Condition::Field(path, _)
            | Condition::ElemMatchObject(path, _)
            | Condition::ElemMatchValue(path, _)
            | Condition::Opaque(Some(path), _)
            | Condition::Lost(Some(path)) => {
                if let Some(new) = rename(path) {
                    *path = new;
                }
            }
            Condition::Expr(expression) => expression.rename_paths(rename),
            _ => self.children_mut().iter_mut().for_each(|child| child.rename_paths(rename)),
        }
    }

    /// Whether `test` holds for this predicate or one below it.
    pub fn any(&self, test: &dyn Fn(&Self) -> bool) -> bool {
        test(self) || self.children().iter().any(|child| child.any(test))
    }
}

impl Negation {
    /// The operator's name.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Ne => "$ne",
            Self::Nin => "$nin",
            Self::Not => "$not",
            Self::Nor => "$nor",
            Self::NotExists => "$exists: false",
        }
    }
}

impl Comparison {
    /// The operator's name.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Eq => "$eq",
            Self::Lte => "$lte",
            Self::Lt => "$lt",
            Self::Gt => "$gt",
            Self::Gte => "$gte",
        }
    }

    /// The comparison of that name.
    #[must_use]
    pub fn from_name(name: &str) -> Option<Self> {
        [Self::Eq, Self::Lte, Self::Lt, Self::Gt, Self::Gte].into_iter().find(|comparison| comparison.name() == name)
    }

    /// The comparison that holds with its sides exchanged.
    #[must_use]
    pub fn mirrored(self) -> Self {
        match self {
            Self::Eq => Self::Eq,
            Self::Lte => Self::Gte,
            Self::Lt => Self::Gt,
            Self::Gt => Self::Lt,
            Self::Gte => Self::Lte,
        }
    }
}

impl Operator {
    /// The operator as the user knows it.
    #[must_use]
    pub fn name(&self) -> &'static str {
        match self {
            Self::Compare(comparison, _) => comparison.name(),
            Self::ExprCompare(..) => "$expr",
            Self::In(_) => "$in",
            Self::Regex { .. } => "regex",
            Self::Exists(_) => "$exists",
            Self::Type(_) => "$type",
            Self::Mod => "$mod",
            Self::Size => "$size",
            Self::Bits => "bit test",
            Self::Geo => "geo query",
        }
    }
}
