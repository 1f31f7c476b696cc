//! Where the router sends a statement: predicate, bounds, key ranges, shards. The procedure is that of MongoDB's router
//! (`docs/DESIGN.md` names the sources); one file per step.

mod expression;
mod parse;
mod pipeline;
mod predicate;
mod verdict;

pub use expression::{Expression, ExpressionKind};
pub use predicate::{Comparison, Condition, InList, Negation, Operator, Predicate};
pub use verdict::{Cause, Class, FieldBinding, FieldBounds, Reason, RouterError, Verdict};

use crate::catalog::Collection;
use crate::model::{RoutingCase, ServerVersion, Statement};

/// What the verdict on a statement depends on besides the statement.
#[derive(Debug, Clone, Copy)]
pub struct Cluster<'a> {
    /// The declaration of the statement's collection.
    pub collection: &'a Collection,
    /// All shards of the cluster by name, chunkless ones too, if known.
    pub all_shards: Option<&'a [String]>,
    /// Whose rules hold.
    pub version: ServerVersion,
}

/// What the router does with `statement`.
#[must_use]
pub fn route(_statement: &Statement, _cluster: Cluster<'_>) -> Verdict {
    unimplemented!()
}

/// What the router does with a case that carries its own cluster.
#[must_use]
pub fn route_case(_case: &RoutingCase) -> Verdict {
    unimplemented!()
}
