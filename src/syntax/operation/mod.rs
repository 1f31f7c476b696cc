//! An operation as it is typed into a shell, `db.orders.find({ status: "A" }).sort({ ts: -1 })`, to the statements that the
//! shell would send; their spans lie in what was typed.

mod command;
mod form;
mod method;

use crate::model::{Namespace, Statement};
use crate::text::Span;

use super::error::SyntaxError;
use super::shell::Selector;

pub use form::{OperationForm, parse_form};

/// Reads one operation. `database_of` is asked for the database of a collection if the text does not name one; if it has no
/// answer, the database is `test`, as in a shell that was started without one.
///
/// # Errors
/// If `text` is no operation that reads or writes documents: where that shows, and what was expected there.
pub fn parse(text: &str, database_of: impl Fn(&str) -> Option<String>) -> Result<Vec<Statement>, SyntaxError> {
    let form = parse_form(text)?;
    let (mut database, mut collection) = (None, None::<String>);
    for selector in &form.chain.selectors {
        match selector {
            Selector::Connection => {}
            Selector::Database(name) => (database, collection) = (Some(name.value.clone()), None),
            Selector::Name(name) => {
                collection = Some(collection.map_or_else(|| name.value.clone(), |c| format!("{c}.{}", name.value)));
            }
        }
    }
    let names_database = database.is_some();
    if form.chain.root != "db" && !names_database {
        let message =
            format!("`{}` is not known; expected an operation such as `db.orders.find({{ a: 1 }})`", form.chain.root);
        return Err(SyntaxError::new(form.chain.span, message));
    }
    let namespace = |collection: &str| {
        let database = database.clone().or_else(|| database_of(collection)).unwrap_or_else(|| "test".to_owned());
        Namespace::new(&database, collection)
    };
    match collection {
        Some(collection) => method::statements(&form, &namespace(&collection)),
        None => command::statements(&form, &namespace),
    }
}

/// A complaint that says what was expected at `span`.
fn expected<T>(span: Span, what: &str) -> Result<T, SyntaxError> {
    Err(SyntaxError::new(span, format!("expected {what}")))
}
