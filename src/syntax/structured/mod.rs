//! The structured log ("logv2", MongoDB 4.4 and later): one JSON object a line.
//!
//! A line is read in three steps, each of which looks only at what it needs: the envelope (`t`, `id`, `ctx`, `attr` …),
//! the attributes of a slow query, the members of its command. All spans are those of the physical line.

mod bulk_write;
mod command;
mod cut;
mod envelope;
mod members;
mod slow;
mod statement;
mod traffic;
mod trouble;
mod views;

use crate::model::{Document, Event};

pub(super) use command::is_command;
pub(super) use envelope::{of_object, read, role};
pub(super) use traffic::is_own_thread;

/// The event of an operation that was read from `line` in another form; `record` has the members that a structured record
/// has.
pub(super) fn slow_event(line: &str, record: &Document) -> Event {
    slow::event(&members::Members::of_document(line, record))
}
