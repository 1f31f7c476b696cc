//! One statement that the router has to place: a read, one insert, or one update or delete of a batch.

use crate::text::Span;

use super::namespace::Namespace;
use super::value::Node;

/// What a statement does. `updateOne` and `updateMany` are both [`Verb::Update`]; `multi` tells them apart.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Verb {
    /// `find`.
    Find,
    /// `aggregate`.
    Aggregate,
    /// `count`.
    Count,
    /// `distinct`.
    Distinct,
    /// One or more inserted documents.
    Insert,
    /// `update`.
    Update,
    /// `delete`.
    Delete,
    /// `findAndModify`.
    FindAndModify,
    /// `mapReduce`; its `query` routes.
    MapReduce,
}

impl Verb {
    /// The command's name, as in `cli.md`.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Find => "find",
            Self::Aggregate => "aggregate",
            Self::Count => "count",
            Self::Distinct => "distinct",
            Self::Insert => "insert",
            Self::Update => "update",
            Self::Delete => "delete",
            Self::FindAndModify => "findAndModify",
            Self::MapReduce => "mapReduce",
        }
    }

    /// Whether it changes documents.
    #[must_use]
    pub fn is_write(self) -> bool {
        matches!(self, Self::Insert | Self::Update | Self::Delete | Self::FindAndModify)
    }
}

/// One statement with everything that routing, rules and shapes look at. Parts that were not given are `None`.
#[derive(Debug, Clone)]
pub struct Statement {
    /// What it does.
    pub verb: Verb,
    /// The collection it works on.
    pub namespace: Namespace,
    /// Where the command's name stands (`find`, `q` of a write statement): the primary span when there is no filter.
    pub name_span: Span,
    /// The text of the whole statement: the command document, or the member of `updates` or `deletes`.
    pub span: Span,
    /// `filter`, `query` or `q`. Absent means everything.
    pub filter: Option<Node>,
    /// The stages of an aggregate (an array node).
    pub pipeline: Option<Node>,
    /// The documents of an insert, as far as the record holds them.
    pub documents: Vec<Node>,
    /// How many documents the insert had, if known.
    pub document_count: Option<u64>,
    /// `u` or `update`: operators, a replacement document, or a pipeline (array).
    pub update: Option<Node>,
    /// `arrayFilters` given.
    pub array_filters: bool,
    /// `multi: true` of an update; `limit: 0` of a delete.
    pub multi: bool,
    /// `upsert: true`.
    pub upsert: bool,
    /// `remove: true` of a findAndModify.
    pub remove: bool,
    /// `sort`.
    pub sort: Option<Node>,
    /// `skip`.
    pub skip: Option<Node>,
    /// `limit` of a read.
    pub limit: Option<Node>,
    /// `hint`.
    pub hint: Option<Node>,
    /// `min` of a find, with `max` a bound on an index.
    pub min: Option<Node>,
    /// `max` of a find.
    pub max: Option<Node>,
    /// `projection` or `fields`.
    pub projection: Option<Node>,
    /// `key` of a distinct.
    pub distinct_key: Option<Node>,
    /// `collation` given with the command.
    pub collation: Option<Node>,
    /// `let` of the command (in a batch, of the whole batch and `c` of the statement).
    pub let_variables: Option<Node>,
    /// The pipelines of the views it ran on, outermost last, already resolved to `namespace`.
    pub view_pipeline: Option<Node>,
    /// Runs in a multi-document transaction (`autocommit: false`).
    pub in_transaction: bool,
    /// Sent as a retryable write (`txnNumber` without `autocommit`).
    pub retryable: bool,
    /// What `$$NOW` stands for, in milliseconds since 1970: the record's time.
    pub now: Option<i64>,
    /// The server cut the record inside this statement, and options after the cut (collation, multi, upsert …) may be lost.
    pub options_partial: bool,
}

impl Statement {
    /// A statement with nothing but its verb, collection and place.
    #[must_use]
    pub fn new(verb: Verb, namespace: Namespace, name_span: Span, span: Span) -> Self {
        Self {
            verb,
            namespace,
            name_span,
            span,
            filter: None,
            pipeline: None,
            documents: Vec::new(),
            document_count: None,
            update: None,
            array_filters: false,
            multi: false,
            upsert: false,
            remove: false,
            sort: None,
            skip: None,
            limit: None,
            hint: None,
            min: None,
            max: None,
            projection: None,
            distinct_key: None,
            collation: None,
            let_variables: None,
            view_pipeline: None,
            in_transaction: false,
            retryable: false,
            now: None,
            options_partial: false,
        }
    }
}
