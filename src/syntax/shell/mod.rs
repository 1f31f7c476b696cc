//! What people type into a MongoDB shell and what it prints: values, statements that declare, and operations.
//!
//! Reading has two steps. The form (`expression`, `script`) is read by nom and described by `grammar/*.pest`;
//! the meaning (`evaluate`, `constructor`) turns forms into BSON values and knows the names of the shell's types.

mod constructor;
mod evaluate;
mod expression;
mod failure;
mod javascript;
mod lexical;
mod script;

pub use evaluate::Scope;
pub use expression::{Element, Expression, Form, Member};
pub use script::{Chain, MethodCall, Script, ScriptStatement, Selector};

use crate::model::Node;

use super::error::SyntaxError;
pub(super) use expression::{arguments, primary};
pub(super) use failure::{Failure, Step, Text, between, complaint, must, refuse};
pub(super) use javascript::group;
pub(super) use lexical::{gap, identifier, mark, word};
pub(super) use script::{begins_declaration, chain};

/// Reads one value that is the whole of `text`, as mongosh and the legacy shell accept and print it; spans are those of
/// `text`, moved by `base` bytes.
///
/// # Errors
/// If `text` is no such value: where reading failed and what was expected there.
pub fn parse(text: &str, base: usize) -> Result<Node, SyntaxError> {
    Scope::default().evaluate(&parse_expression(text, base)?)
}

/// Reads the value that `text` begins with, and says how many bytes it took (blanks and comments before it included).
/// What follows may look like an operator: `---` between values, `-->>` between bounds.
///
/// # Errors
/// If `text` begins with no value.
pub fn parse_prefix(text: &str, base: usize) -> Result<(Node, usize), SyntaxError> {
    let input = Text::new_extra(text, base);
    let (rest, _) = gap(input).map_err(|error| complaint(text, base, error))?;
    let (rest, expression) = primary(rest, 0).map_err(|error| complaint(text, base, error))?;
    Ok((Scope::default().evaluate(&expression)?, rest.location_offset()))
}

/// Reads only the form of a value: the language of `grammar/shell_document.pest`.
///
/// # Errors
/// If `text` is not of that form.
pub fn parse_expression(text: &str, base: usize) -> Result<Expression<'_>, SyntaxError> {
    expression::whole(Text::new_extra(text, base)).map_err(|error| complaint(text, base, error))
}
