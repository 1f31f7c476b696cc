//! Filters over the fields `a`, `b` and `z`: how they are generated, written, and which documents they match.

use std::cmp::Ordering;

use proptest::prelude::*;
use proptest::sample::select;
use shardlint::model::{Node, Value, canonical_type, compare};

use crate::cluster::{array, int, single, text};

pub const PATHS: [&str; 3] = ["a", "b", "z"];

/// The value of each of [`PATHS`]; `None` is a missing field.
pub type Doc = [Option<Scalar>; 3];

/// A value that a filter or a document may hold.
#[derive(Debug, Clone, PartialEq)]
pub enum Scalar {
    Null,
    Int(i32),
    /// A number and a half.
    Half(i32),
    NotANumber,
    Text(&'static str),
    Bool(bool),
    Date(i64),
}

#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Op {
    Eq,
    Lt,
    Lte,
    Gt,
    Gte,
}

/// An operator on a field.
#[derive(Debug, Clone)]
pub enum Test {
    Compare(Op, Scalar),
    Ne(Scalar),
    In(Vec<Scalar>),
    Nin(Vec<Scalar>),
    All(Vec<Scalar>),
    Exists(bool),
    Regex(&'static str),
    Type(&'static str),
    Mod(i32, i32),
    Size(i32),
    Not(Box<Test>),
}

/// A filter. Fields are positions in [`PATHS`].
#[derive(Debug, Clone)]
pub enum Filter {
    Field(usize, Test),
    /// An `$expr` that compares a field and a constant; flipped, the constant comes first.
    Expr(Op, usize, Scalar, bool),
    And(Vec<Filter>),
    Or(Vec<Filter>),
    Nor(Vec<Filter>),
}

/// Whether strings compare without regard to case.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Fold {
    No,
    Case,
}

fn scalars() -> impl Strategy<Value = Scalar> {
    prop_oneof![
        1 => Just(Scalar::Null),
        // not 0: it shares its hash with NaN
        6 => (1..9).prop_map(Scalar::Int),
        2 => (1..9).prop_map(Scalar::Half),
        1 => Just(Scalar::NotANumber),
        3 => select(vec!["", "a", "ab", "abc", "b", "B"]).prop_map(Scalar::Text),
        1 => any::<bool>().prop_map(Scalar::Bool),
        1 => (0..3i64).prop_map(Scalar::Date),
    ]
}

pub fn docs() -> impl Strategy<Value = Vec<Doc>> {
    let field = || prop::option::weighted(0.9, scalars());
    prop::collection::vec([field(), field(), field()], 1..40)
}

fn operators() -> impl Strategy<Value = Op> {
    select(vec![Op::Eq, Op::Lt, Op::Lte, Op::Gt, Op::Gte])
}

fn tests() -> impl Strategy<Value = Test> {
    let list = || prop::collection::vec(scalars(), 0..4);
    let types = vec!["number", "double", "int", "string", "bool", "null", "date"];
    let simple = prop_oneof![
        6 => (operators(), scalars()).prop_map(|(op, operand)| Test::Compare(op, operand)),
        1 => scalars().prop_map(Test::Ne),
        2 => list().prop_map(Test::In),
        1 => list().prop_map(Test::Nin),
        1 => list().prop_map(Test::All),
        1 => any::<bool>().prop_map(Test::Exists),
        1 => select(vec!["^a", "^ab", "^", "b", "^ab*", "^a.c"]).prop_map(Test::Regex),
        1 => select(types).prop_map(Test::Type),
        1 => (1..4, 0..3).prop_map(|(divisor, rest)| Test::Mod(divisor, rest)),
        1 => (0..2).prop_map(Test::Size),
    ]
    .boxed();
    prop_oneof![5 => simple.clone(), 1 => simple.prop_map(|test| Test::Not(Box::new(test)))]
}

/// A condition on one field, mostly on the first.
pub fn leaves() -> impl Strategy<Value = Filter> {
    leaves_on(vec![0, 0, 0, 0, 1, 1, 2])
}

/// A condition on one of these fields.
pub fn leaves_on(paths: Vec<usize>) -> impl Strategy<Value = Filter> {
    let path = select(paths);
    prop_oneof![
        8 => (path.clone(), tests()).prop_map(|(path, test)| Filter::Field(path, test)),
        1 => (operators(), path, scalars(), any::<bool>())
            .prop_map(|(op, path, operand, flipped)| Filter::Expr(op, path, operand, flipped)),
    ]
}

pub fn filters() -> impl Strategy<Value = Filter> {
    leaves().prop_recursive(3, 16, 4, |inner| {
        let list = || prop::collection::vec(inner.clone(), 1..4);
        prop_oneof![3 => list().prop_map(Filter::And), 3 => list().prop_map(Filter::Or), 1 => list().prop_map(Filter::Nor)]
    })
}

impl Scalar {
    pub fn value(&self) -> Value {
        match self {
            Self::Null => Value::Null,
            Self::Int(n) => Value::Int32(*n),
            Self::Half(_) | Self::NotANumber => Value::Double(self.number().unwrap_or(f64::NAN)),
            Self::Text(text) => Value::String((*text).to_owned()),
            Self::Bool(b) => Value::Bool(*b),
            Self::Date(at) => Value::Date(*at),
        }
    }

    fn node(&self) -> Node {
        Node::synthetic(self.value())
    }

    fn folded(&self, fold: Fold) -> Value {
        match (self, fold) {
            (Self::Text(text), Fold::Case) => Value::String(text.to_lowercase()),
            _ => self.value(),
        }
    }

    fn number(&self) -> Option<f64> {
        match self {
            Self::Int(n) => Some(f64::from(*n)),
            Self::Half(n) => Some(f64::from(*n) + 0.5),
            _ => None,
        }
    }

    fn has_type(&self, name: &str) -> bool {
        match self {
            Self::Null => name == "null",
            Self::Int(_) => matches!(name, "int" | "number"),
            Self::Half(_) | Self::NotANumber => matches!(name, "double" | "number"),
            Self::Text(_) => name == "string",
            Self::Bool(_) => name == "bool",
            Self::Date(_) => name == "date",
        }
    }
}

impl Op {
    fn name(self) -> &'static str {
        match self {
            Self::Eq => "$eq",
            Self::Lt => "$lt",
            Self::Lte => "$lte",
            Self::Gt => "$gt",
            Self::Gte => "$gte",
        }
    }

    fn holds(self, order: Ordering) -> bool {
        match self {
            Self::Eq => order.is_eq(),
            Self::Lt => order.is_lt(),
            Self::Lte => order.is_le(),
            Self::Gt => order.is_gt(),
            Self::Gte => order.is_ge(),
        }
    }

    /// A comparison of the match language: within the operand's type bracket, and null equals missing.
    fn compares(self, value: Option<&Scalar>, operand: &Scalar, fold: Fold) -> bool {
        let value = value.unwrap_or(&Scalar::Null);
        if canonical_type(&value.value()) != canonical_type(&operand.value()) {
            return false;
        }
        match (value, operand) {
            (Scalar::NotANumber, Scalar::NotANumber) => matches!(self, Self::Eq | Self::Lte | Self::Gte),
            (Scalar::NotANumber, _) | (_, Scalar::NotANumber) => false,
            _ => self.holds(compare(&value.folded(fold), &operand.folded(fold))),
        }
    }
}

impl Test {
    fn node(&self) -> Node {
        let list = |values: &[Scalar]| array(values.iter().map(Scalar::node).collect());
        match self {
            Self::Compare(op, operand) => single(op.name(), operand.node()),
            Self::Ne(operand) => single("$ne", operand.node()),
            Self::In(values) => single("$in", list(values)),
            Self::Nin(values) => single("$nin", list(values)),
            Self::All(values) => single("$all", list(values)),
            Self::Exists(exists) => single("$exists", Scalar::Bool(*exists).node()),
            Self::Regex(pattern) => single("$regex", text(pattern)),
            Self::Type(name) => single("$type", text(name)),
            Self::Mod(divisor, rest) => single("$mod", array(vec![int(*divisor), int(*rest)])),
            Self::Size(size) => single("$size", int(*size)),
            Self::Not(inner) => single("$not", inner.node()),
        }
    }

    fn matches(&self, value: Option<&Scalar>, fold: Fold) -> bool {
        let equals = |operand: &Scalar| Op::Eq.compares(value, operand, fold);
        match self {
            Self::Compare(op, operand) => op.compares(value, operand, fold),
            Self::Ne(operand) => !equals(operand),
            Self::In(values) => values.iter().any(equals),
            Self::Nin(values) => !values.iter().any(equals),
            Self::All(values) => !values.is_empty() && values.iter().all(equals),
            Self::Exists(exists) => value.is_some() == *exists,
            Self::Regex(pattern) => matches!(value, Some(Scalar::Text(text)) if regex_matches(pattern, text)),
            Self::Type(name) => value.is_some_and(|value| value.has_type(name)),
            Self::Mod(divisor, rest) => value
                .and_then(Scalar::number)
                .is_some_and(|number| (number.trunc() % f64::from(*divisor) - f64::from(*rest)).abs() < 0.1),
            Self::Size(_) => false,
            Self::Not(inner) => !inner.matches(value, fold),
        }
    }

    fn with_scalars(&self, new: &dyn Fn(&Scalar) -> Scalar) -> Self {
        let list = |values: &[Scalar]| values.iter().map(new).collect();
        match self {
            Self::Compare(op, operand) => Self::Compare(*op, new(operand)),
            Self::Ne(operand) => Self::Ne(new(operand)),
            Self::In(values) => Self::In(list(values)),
            Self::Nin(values) => Self::Nin(list(values)),
            Self::All(values) => Self::All(list(values)),
            Self::Not(inner) => Self::Not(Box::new(inner.with_scalars(new))),
            other => other.clone(),
        }
    }
}

fn regex_matches(pattern: &str, text: &str) -> bool {
    match pattern {
        "^a" | "^ab*" => text.starts_with('a'),
        "^ab" => text.starts_with("ab"),
        "^" => true,
        "b" => text.contains('b'),
        "^a.c" => text.starts_with('a') && text.chars().nth(2) == Some('c'),
        other => unreachable!("`{other}` is not generated"),
    }
}

impl Filter {
    pub fn node(&self) -> Node {
        let list = |filters: &[Self]| array(filters.iter().map(Self::node).collect());
        match self {
            Self::Field(path, test) => single(PATHS[*path], test.node()),
            Self::Expr(op, path, operand, flipped) => {
                let mut sides = vec![text(&format!("${}", PATHS[*path])), single("$literal", operand.node())];
                if *flipped {
                    sides.reverse();
                }
                single("$expr", single(op.name(), array(sides)))
            }
            Self::And(members) => single("$and", list(members)),
            Self::Or(branches) => single("$or", list(branches)),
            Self::Nor(branches) => single("$nor", list(branches)),
        }
    }

    pub fn matches(&self, doc: &Doc, fold: Fold) -> bool {
        match self {
            Self::Field(path, test) => test.matches(doc[*path].as_ref(), fold),
            Self::Expr(op, path, operand, flipped) => {
                // a missing value is less than everything, and types are not bracketed
                let value = doc[*path].as_ref();
                let order = value.map_or(Ordering::Less, |value| compare(&value.folded(fold), &operand.folded(fold)));
                op.holds(if *flipped { order.reverse() } else { order })
            }
            Self::And(members) => members.iter().all(|member| member.matches(doc, fold)),
            Self::Or(branches) => branches.iter().any(|branch| branch.matches(doc, fold)),
            Self::Nor(branches) => !branches.iter().any(|branch| branch.matches(doc, fold)),
        }
    }

    /// The same filter with the integer in every number replaced.
    pub fn with_integers(&self, new: &dyn Fn(i32) -> i32) -> Self {
        let scalar = |scalar: &Scalar| match scalar {
            Scalar::Int(n) => Scalar::Int(new(*n)),
            Scalar::Half(n) => Scalar::Half(new(*n)),
            other => other.clone(),
        };
        let list = |filters: &[Self]| filters.iter().map(|filter| filter.with_integers(new)).collect();
        match self {
            Self::Field(path, test) => Self::Field(*path, test.with_scalars(&scalar)),
            Self::Expr(op, path, operand, flipped) => Self::Expr(*op, *path, scalar(operand), *flipped),
            Self::And(members) => Self::And(list(members)),
            Self::Or(branches) => Self::Or(list(branches)),
            Self::Nor(branches) => Self::Nor(list(branches)),
        }
    }
}
