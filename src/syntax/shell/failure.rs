//! How the shell's parsers fail: at the farthest byte they understood, with the set of things that were expected there.

use nom::error::{ErrorKind, ParseError};
use nom_locate::LocatedSpan;

use crate::syntax::error::SyntaxError;
use crate::text::Span;

use super::lexical::is_word;

/// What is left to read; it knows its offset in the text, and as `extra` the offset of the text in its source.
pub(in crate::syntax) type Text<'a> = LocatedSpan<&'a str, usize>;

/// The result of one parser.
pub(in crate::syntax) type Step<'a, T> = nom::IResult<Text<'a>, T, Failure>;

/// The farthest place that was reached, and what would have been understood there.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(in crate::syntax) struct Failure {
    /// Offset in the text.
    at: usize,
    expected: Vec<&'static str>,
    /// A message that says more than the expected set.
    instead: Option<String>,
}

impl Failure {
    pub(in crate::syntax) fn expected(input: Text<'_>, what: &'static str) -> Self {
        Self { at: input.location_offset(), expected: vec![what], instead: None }
    }

    /// A complaint in its own words; they too say what was expected.
    pub(in crate::syntax) fn told(input: Text<'_>, message: impl Into<String>) -> Self {
        Self { at: input.location_offset(), expected: Vec::new(), instead: Some(message.into()) }
    }

    fn complaint(self, text: &str, base: usize) -> SyntaxError {
        let found = &text[self.at..];
        let length = match found.find(|c| !is_word(c)) {
            Some(0) => found.chars().next().map_or(0, char::len_utf8),
            Some(end) => end,
            None => found.len(),
        };
        let span = Span::new(self.at, self.at + length).shifted(base);
        let message = self.instead.unwrap_or_else(|| {
            let expected = enumeration(&self.expected);
            match &found[..length] {
                "" => format!("expected {expected}, found the end of the text"),
                "\n" | "\r" => format!("expected {expected}, found the end of the line"),
                token => format!("expected {expected}, found `{token}`"),
            }
        });
        SyntaxError::new(span, message)
    }
}

/// `a`, `b` or `c`.
fn enumeration(items: &[&str]) -> String {
    match items {
        [] => "something else".to_owned(),
        [one] => (*one).to_owned(),
        [first @ .., last] => format!("{} or {last}", first.join(", ")),
    }
}

impl<'a> ParseError<Text<'a>> for Failure {
    fn from_error_kind(input: Text<'a>, _: ErrorKind) -> Self {
        Self { at: input.location_offset(), expected: Vec::new(), instead: None }
    }

    fn append(_: Text<'a>, _: ErrorKind, other: Self) -> Self {
        other
    }

    fn or(mut self, other: Self) -> Self {
        match self.at.cmp(&other.at) {
            std::cmp::Ordering::Less => other,
            std::cmp::Ordering::Greater => self,
            std::cmp::Ordering::Equal => {
                self.expected.extend(other.expected);
                self.expected.sort_unstable();
                self.expected.dedup();
                self.instead = self.instead.or(other.instead);
                self
            }
        }
    }
}

/// Names what `result` was to be, if it failed at its first byte or at one where nothing more is known; no alternative is
/// tried any more.
pub(in crate::syntax) fn must<'a, T>(input: Text<'a>, what: &'static str, result: Step<'a, T>) -> Step<'a, T> {
    result.map_err(|error| match error {
        nom::Err::Error(mut failure) => {
            if failure.at == input.location_offset() || failure.expected.is_empty() {
                failure.expected = vec![what];
            }
            nom::Err::Failure(failure)
        }
        other => other,
    })
}

/// A failure that lets other alternatives be tried.
pub(in crate::syntax) fn refuse<'a, T>(input: Text<'a>, what: &'static str) -> Step<'a, T> {
    Err(nom::Err::Error(Failure::expected(input, what)))
}

/// The located complaint that a failure amounts to.
pub(in crate::syntax) fn complaint(text: &str, base: usize, error: nom::Err<Failure>) -> SyntaxError {
    match error {
        nom::Err::Error(failure) | nom::Err::Failure(failure) => failure.complaint(text, base),
        nom::Err::Incomplete(_) => SyntaxError::new(Span::new(base, base + text.len()), "expected more text"),
    }
}

/// The span from `start` to `end`, two states of the same text.
pub(in crate::syntax) fn between(start: Text<'_>, end: Text<'_>) -> Span {
    Span::new(start.location_offset(), end.location_offset()).shifted(start.extra)
}
