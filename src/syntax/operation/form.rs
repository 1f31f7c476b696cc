//! The form of an operation: a chain to a collection and calls on it. The language is that of `grammar/operation.pest`.

use nom::Parser;
use nom::character::complete::char;
use nom::combinator::opt;

use crate::model::Node;
use crate::syntax::error::SyntaxError;
use crate::syntax::shell::{
    Chain, Expression, Failure, Scope, Step, Text, arguments, between, chain, complaint, gap, group, identifier, mark,
    must,
};
use crate::text::{Located, Span};

/// An operation whose methods have not been given a meaning.
#[derive(Debug, Clone)]
pub struct OperationForm<'a> {
    pub(super) chain: Chain,
    pub(super) calls: Vec<Call<'a>>,
    pub(super) span: Span,
}

/// One call, `.sort({ ts: -1 })`.
#[derive(Debug, Clone)]
pub(super) struct Call<'a> {
    pub(super) name: Located<String>,
    /// Code that is no value, such as the function of a `forEach`, matters only where a value is needed.
    arguments: Result<Vec<Expression<'a>>, SyntaxError>,
    pub(super) span: Span,
}

impl Call<'_> {
    /// The values of the arguments.
    pub(super) fn values(&self) -> Result<Vec<Node>, SyntaxError> {
        let scope = Scope::default();
        self.arguments.as_ref().map_err(Clone::clone)?.iter().map(|argument| scope.evaluate(argument)).collect()
    }
}

/// Reads only the form.
///
/// # Errors
/// If `text` is not of that form.
pub fn parse_form(text: &str) -> Result<OperationForm<'_>, SyntaxError> {
    operation(text, Text::new_extra(text, 0)).map_err(|error| complaint(text, 0, error))
}

fn operation<'a>(text: &'a str, input: Text<'a>) -> Result<OperationForm<'a>, nom::Err<Failure>> {
    let (start, ()) = gap(input)?;
    let (mut rest, chain) = must(start, "an operation such as `db.orders.find({ a: 1 })`", chain(start))?;
    let mut calls = Vec::new();
    loop {
        let (after, ()) = gap(rest)?;
        let is_call = after.starts_with('.');
        if !is_call && !calls.is_empty() {
            break;
        }
        let (after, next) = call(text, after)?;
        calls.push(next);
        rest = after;
    }
    let span = between(start, rest);
    let (rest, ()) = gap(rest)?;
    let (rest, _) = opt(char(';')).parse(rest)?;
    let (rest, ()) = gap(rest)?;
    match rest.is_empty() {
        true => Ok(OperationForm { chain, calls, span }),
        false => Err(nom::Err::Failure(Failure::expected(rest, "the end of the operation"))),
    }
}

fn call<'a>(text: &'a str, input: Text<'a>) -> Step<'a, Call<'a>> {
    let (rest, ()) = mark(input, '.', "a method such as `.find(…)`")?;
    let (start, ()) = gap(rest)?;
    let (rest, name) = must(start, "a method such as `find`", identifier(start))?;
    let name = Located::new(name.into_fragment().to_owned(), between(start, rest));
    let (open, ()) = gap(rest)?;
    let opened: Step<'_, char> = char('(')(open);
    must(open, "`(`", opened)?;
    let (rest, arguments) = match arguments(open, 0) {
        Ok((rest, arguments)) => (rest, Ok(arguments)),
        Err(error) => match group(open, 0) {
            Ok((rest, ())) => (rest, Err(complaint(text, 0, error))),
            Err(_) => return Err(error),
        },
    };
    Ok((rest, Call { name, arguments, span: between(start, rest) }))
}
