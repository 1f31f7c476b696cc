//! The form of a value in the shell: documents, arrays, strings, numbers, calls such as `ObjectId("…")`, and the little
//! arithmetic that scripts use (`60 * 60`). What the names mean is not its business. The language is that of
//! `grammar/shell_document.pest`; once an opening bracket is read no alternative is left, so the farthest failure is the one told.

use nom::Parser;
use nom::branch::alt;
use nom::bytes::complete::tag;
use nom::character::complete::{char, digit1, satisfy};
use nom::combinator::{opt, recognize};
use nom::multi::many0;
use nom::sequence::preceded;

use crate::text::Span;

use super::failure::{Failure, Step, Text, between, must, refuse};
use super::javascript::{group, with_room, within_depth};
use super::lexical::{gap, identifier, mark, number, regex, string, word};

/// A value as written.
#[derive(Debug, Clone)]
pub struct Expression<'a> {
    /// What was written.
    pub form: Form<'a>,
    /// Where.
    pub span: Span,
}

/// What a value looks like, before its names mean anything.
#[derive(Debug, Clone)]
pub enum Form<'a> {
    /// `{ a: 1, "b.c": 2 }`.
    Document(Vec<Member<'a>>),
    /// `[ 1, 2 ]`.
    Array(Vec<Element<'a>>),
    /// A string, unescaped.
    String(String),
    /// `/pattern/flags`.
    Regex {
        /// Between the slashes, as written.
        pattern: &'a str,
        /// Behind them.
        flags: &'a str,
    },
    /// A number without sign, as written.
    Number(&'a str),
    /// A name (`undefined`, `MaxKey`), or a call of one (`new Date(0)`).
    Call {
        /// The name, blanks left out: `Binary.createFromBase64`.
        name: String,
        /// `None` without parentheses.
        arguments: Option<Vec<Expression<'a>>>,
    },
    /// `function (a) { … }`, as written.
    Function(&'a str),
    /// `-x` or `+x`.
    Signed {
        /// `-`.
        negative: bool,
        /// What the sign is before.
        operand: Box<Expression<'a>>,
    },
    /// `first + second * third`, not yet grouped.
    Operations(Box<Expression<'a>>, Vec<(char, Expression<'a>)>),
}

/// One member of a document.
#[derive(Debug, Clone)]
pub struct Member<'a> {
    /// The name, unescaped.
    pub name: String,
    /// The name as written, its quotes included.
    pub name_span: Span,
    /// The value.
    pub value: Expression<'a>,
}

/// One member of an array.
#[derive(Debug, Clone)]
pub enum Element<'a> {
    /// A value.
    Value(Expression<'a>),
    /// `... 3 more items`: mongosh has left them out.
    Elided,
}

/// The one value that `input` holds.
pub(super) fn whole(input: Text<'_>) -> Result<Expression<'_>, nom::Err<Failure>> {
    let (rest, ()) = gap(input)?;
    let (rest, value) = must(rest, "a value", expression(rest, 0))?;
    let (rest, ()) = gap(rest)?;
    if rest.is_empty() { Ok(value) } else { Err(nom::Err::Failure(Failure::expected(rest, "the end of the text"))) }
}

/// A value; operators between several.
pub(super) fn expression(input: Text<'_>, depth: usize) -> Step<'_, Expression<'_>> {
    let (mut rest, first) = with_room(|| operand(input, depth))?;
    let mut others = Vec::new();
    loop {
        let (after, ()) = gap(rest)?;
        let operator: Step<'_, char> = satisfy(|c| matches!(c, '+' | '-' | '*' | '/'))(after);
        let Ok((after, operator)) = operator else { break };
        let (after, ()) = gap(after)?;
        let (after, next) = must(after, "a value", operand(after, depth))?;
        others.push((operator, next));
        rest = after;
    }
    if others.is_empty() {
        return Ok((rest, first));
    }
    Ok((rest, Expression { form: Form::Operations(Box::new(first), others), span: between(input, rest) }))
}

fn operand(input: Text<'_>, depth: usize) -> Step<'_, Expression<'_>> {
    let sign: Step<'_, char> = satisfy(|c| matches!(c, '+' | '-'))(input);
    let Ok((rest, sign)) = sign else { return primary(input, depth) };
    let (rest, ()) = gap(rest)?;
    let (rest, operand) = must(rest, "a number", primary(rest, depth))?;
    let form = Form::Signed { negative: sign == '-', operand: Box::new(operand) };
    Ok((rest, Expression { form, span: between(input, rest) }))
}

/// A value without operators or sign.
pub(in crate::syntax) fn primary(input: Text<'_>, depth: usize) -> Step<'_, Expression<'_>> {
    within_depth(input, depth)?;
    let (rest, form) = match input.chars().next() {
        Some('{') => document(input, depth)?,
        Some('[') => array(input, depth)?,
        Some('"' | '\'' | '`') => string(input).map(|(rest, text)| (rest, Form::String(text)))?,
        Some('/') => regex(input).map(|(rest, (pattern, flags))| (rest, Form::Regex { pattern, flags }))?,
        Some('(') => return parenthesized(input, depth),
        Some(c) if c.is_ascii_digit() || c == '.' => {
            must(input, "a number", number(input)).map(|(rest, digits)| (rest, Form::Number(digits.into_fragment())))?
        }
        _ => alt((|input| function(input, depth), |input| call(input, depth))).parse(input)?,
    };
    Ok((rest, Expression { form, span: between(input, rest) }))
}

fn parenthesized(input: Text<'_>, depth: usize) -> Step<'_, Expression<'_>> {
    let (rest, _) = char('(')(input)?;
    let (rest, ()) = gap(rest)?;
    let (rest, inner) = must(rest, "a value", expression(rest, depth + 1))?;
    let (rest, ()) = mark(rest, ')', "`)`")?;
    Ok((rest, Expression { form: inner.form, span: between(input, rest) }))
}

fn document(input: Text<'_>, depth: usize) -> Step<'_, Form<'_>> {
    let (rest, _) = char('{')(input)?;
    let closing = Closing { mark: '}', first: "a key or `}`", next: "`,` or `}`" };
    let (rest, members) = list(rest, &closing, |input| member(input, depth + 1))?;
    Ok((rest, Form::Document(members)))
}

fn member(input: Text<'_>, depth: usize) -> Step<'_, Member<'_>> {
    let (rest, (name, name_span)) = key(input)?;
    let (rest, ()) = mark(rest, ':', "`:` after the key")?;
    let (rest, ()) = gap(rest)?;
    let (rest, value) = must(rest, "a value", expression(rest, depth))?;
    Ok((rest, Member { name, name_span, value }))
}

/// The name of a member: bare, quoted, or a whole number.
pub(super) fn key(input: Text<'_>) -> Step<'_, (String, Span)> {
    let (rest, name) = match input.chars().next() {
        Some('"' | '\'') => string(input)?,
        _ => alt((identifier, digit1)).map(|name| name.into_fragment().to_owned()).parse(input)?,
    };
    Ok((rest, (name, between(input, rest))))
}

fn array(input: Text<'_>, depth: usize) -> Step<'_, Form<'_>> {
    let (rest, _) = char('[')(input)?;
    let closing = Closing { mark: ']', first: "a value or `]`", next: "`,` or `]`" };
    let (rest, elements) = list(rest, &closing, |input| element(input, depth + 1))?;
    Ok((rest, Form::Array(elements)))
}

fn element(input: Text<'_>, depth: usize) -> Step<'_, Element<'_>> {
    let elision: Step<'_, _> = recognize((tag("... "), digit1, tag(" more item"), opt(char('s')))).parse(input);
    match elision {
        Ok((rest, _)) => Ok((rest, Element::Elided)),
        Err(_) => expression(input, depth).map(|(rest, value)| (rest, Element::Value(value))),
    }
}

/// `name`, `name.name`, `name(…)` or `new name(…)`.
fn call(input: Text<'_>, depth: usize) -> Step<'_, Form<'_>> {
    let (rest, new) = opt(word("new")).parse(input)?;
    let rest = if new.is_some() { gap(rest)?.0 } else { rest };
    let path = |input| {
        let (rest, first) = match identifier(input)? {
            (_, name) if matches!(*name.fragment(), "new" | "function") => return refuse(input, "a value"),
            found => found,
        };
        let (rest, others) = many0(preceded((gap, char('.'), gap), identifier)).parse(rest)?;
        let parts: Vec<&str> = std::iter::once(first).chain(others).map(Text::into_fragment).collect();
        Ok((rest, parts.join(".")))
    };
    let (rest, name) = if new.is_some() { must(rest, "a type", path(rest))? } else { path(rest)? };
    let (after, ()) = gap(rest)?;
    if !after.starts_with('(') {
        return Ok((rest, Form::Call { name, arguments: None }));
    }
    let (rest, arguments) = arguments(after, depth)?;
    Ok((rest, Form::Call { name, arguments: Some(arguments) }))
}

/// `(first, second)`.
pub(in crate::syntax) fn arguments(input: Text<'_>, depth: usize) -> Step<'_, Vec<Expression<'_>>> {
    let (rest, _) = char('(')(input)?;
    let closing = Closing { mark: ')', first: "an argument or `)`", next: "`,` or `)`" };
    list(rest, &closing, |input| expression(input, depth + 1))
}

/// A function literal, whose body is not looked into.
fn function(input: Text<'_>, depth: usize) -> Step<'_, Form<'_>> {
    let (rest, _) = word("function")(input)?;
    let (rest, ()) = gap(rest)?;
    let (rest, _) = opt(identifier).parse(rest)?;
    let mut rest = rest;
    for (open, what) in [('(', "the parameters of the function, `(`"), ('{', "the body of the function, `{`")] {
        (rest, ()) = gap(rest)?;
        let opened: Step<'_, char> = char(open)(rest);
        must(rest, what, opened)?;
        (rest, ()) = group(rest, depth)?;
    }
    let length = rest.location_offset() - input.location_offset();
    Ok((rest, Form::Function(&input.into_fragment()[..length])))
}

/// How a list ends, and what is expected before its first member and behind each.
struct Closing {
    mark: char,
    first: &'static str,
    next: &'static str,
}

/// Members with commas between them, up to the closing mark; the last comma may be one too many.
fn list<'a, T>(
    input: Text<'a>,
    closing: &Closing,
    mut member: impl FnMut(Text<'a>) -> Step<'a, T>,
) -> Step<'a, Vec<T>> {
    let close = |input| -> Step<'a, char> { char(closing.mark)(input) };
    let mut members = Vec::new();
    let mut rest = input;
    loop {
        (rest, ()) = gap(rest)?;
        if let Ok((rest, _)) = close(rest) {
            return Ok((rest, members));
        }
        let (after, next) = must(rest, closing.first, member(rest))?;
        members.push(next);
        (rest, ()) = gap(after)?;
        if let Ok((rest, _)) = close(rest) {
            return Ok((rest, members));
        }
        (rest, _) = must(rest, closing.next, char(',')(rest))?;
    }
}
