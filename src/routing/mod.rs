//! Where the router sends a statement: predicate, bounds, key ranges, shards. The procedure is that of MongoDB's router
//! (`docs/DESIGN.md` names the sources); one file per step.

mod arithmetic;
mod bounds;
mod bracket;
mod choose;
mod chunks;
mod collation;
mod compound;
mod convert;
mod document_key;
mod equality;
mod expression;
mod flatten;
mod fold;
mod hash;
mod insert;
mod intervals;
mod normalise;
mod parse;
mod pipeline;
mod predicate;
mod print;
mod question;
mod read;
mod reading;
mod reason;
mod regex_prefix;
mod schema;
mod target;
#[cfg(test)]
mod tests;
mod verdict;
mod versions;
mod write;

pub use document_key::{ArrayOnPath, document_key, key_nodes};
pub use expression::{Expression, ExpressionKind};
pub use hash::hash_value;
pub use predicate::{Comparison, Condition, InList, Negation, Operator, Predicate};
pub use verdict::{Cause, Class, FieldBinding, FieldBounds, Reason, RouterError, Verdict};

use question::Question;

use crate::catalog::Collection;
use crate::model::{RoutingCase, ServerVersion, Statement, Verb};
use crate::text::SourceId;

/// What the verdict on a statement depends on besides the statement.
#[derive(Debug, Clone, Copy)]
pub struct Cluster<'a> {
    /// The declaration of the statement's collection.
    pub collection: &'a Collection,
    /// All shards of the cluster by name, chunkless ones too, if known.
    pub all_shards: Option<&'a [String]>,
    /// Whose rules hold.
    pub version: ServerVersion,
    /// Whether the reason spells out bounds and ranges, for people to read.
    pub explain: bool,
}

/// What the router does with `statement`. A collection without a shard key is not sharded.
#[must_use]
pub fn route(statement: &Statement, cluster: Cluster<'_>) -> Verdict {
    let Some(key) = cluster.collection.shard_key() else { return unsharded() };
    let Cluster { collection, all_shards, version, explain } = cluster;
    answer(Question { statement, collection, key, all_shards, version, explain, foreign: None })
}

/// What the router does with a case that carries its own cluster.
#[must_use]
pub fn route_case(case: &RoutingCase) -> Verdict {
    let collection = Collection {
        collation: case.collection_collation.clone(),
        chunks: case.chunks.clone(),
        ..Collection::sharded(case.statement.namespace.as_str(), case.shard_key.clone(), SourceId(0))
    };
    answer(Question {
        statement: &case.statement,
        collection: &collection,
        key: &case.shard_key,
        all_shards: case.all_shards.as_deref(),
        version: case.version,
        explain: false,
        foreign: case.outer.as_ref().map(|_| &case.statement.namespace),
    })
}

fn answer(question: Question<'_>) -> Verdict {
    let verdict = match question.statement.verb {
        Verb::Insert => insert::route_insert(question),
        Verb::Update | Verb::Delete | Verb::FindAndModify => write::route_write(question),
        Verb::Find | Verb::Aggregate | Verb::Count | Verb::Distinct | Verb::MapReduce => read::route_read(question),
    };
    // A refused statement reaches no shard, but without a chunk map nothing is said about shards at all.
    let shards = verdict.shards.filter(|_| question.chunks().is_some());
    Verdict { shards, ..verdict }
}

fn unsharded() -> Verdict {
    let reason =
        Reason { cause: Cause::Unsharded, bindings: Vec::new(), version_rules: Vec::new(), ranges: Vec::new() };
    Verdict { class: Class::Unsharded, shards: None, at_most: Some(1), error: None, two_phase: false, reason }
}
