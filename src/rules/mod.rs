//! The rules. One file per rule: metadata, explanation, check and examples. `REGISTRY` is the only list.

mod finding;
mod rule;

pub use finding::{Finding, Label, Severity};
pub use rule::{Check, DeclarationContext, EventContext, Evidence, InputContext, Rule, Status};

/// All rules, by code.
pub static REGISTRY: &[&Rule] = &[];
