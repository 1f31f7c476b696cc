//! One executed operation, as a log record, a profiler document or an explain tells it. Absent counters are `None`, never 0.

use crate::text::{Located, Span};

use super::namespace::Namespace;
use super::plan::Plan;
use super::statement::{Statement, Verb};
use super::version::ServerVersion;

/// Which process wrote a record, as far as the record shows.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub enum Origin {
    /// A client's operation on a mongod, or nothing speaks for a router.
    #[default]
    Direct,
    /// The router's own record of a client's operation (mongos, or a router command of a shard).
    Router,
    /// A shard's record of an operation that came through a router.
    ThroughRouter,
}

/// What names a client's operation in the records of all shards that took part in it.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub enum OperationName {
    /// `clientOperationKey`, which no other operation has.
    Key(String),
    /// The session, with the number of its transaction or retryable write: its operations follow one another.
    Session(String),
}

/// What kind of traffic a slow-query record is about.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Traffic {
    /// An operation to judge; `Event::statements` has one statement, several, or (unknown) none.
    Query,
    /// A WRITE line: one statement of a batch; a COMMAND line of the same thread follows.
    BatchStatement,
    /// The COMMAND line of an update, delete or bulkWrite batch: tells again what WRITE lines told.
    /// `Event::statements` holds what the line itself shows (8.0+, routers) and is empty if it shows none.
    BatchCommand,
    /// The cluster's own traffic; the text says which.
    Internal(&'static str),
    /// A command without a filter to route (admin, DDL, cursors, transactions, explain); the text is its name.
    NotAQuery(String),
}

/// One executed operation.
#[derive(Debug, Clone)]
pub struct Event {
    /// When it was logged, in milliseconds since 1970.
    pub time_millis: Option<i64>,
    /// The thread (`conn123`).
    pub context: String,
    /// The collection as the record names it, before `--ns-map`.
    pub namespace: Namespace,
    /// What kind of traffic it is.
    pub traffic: Traffic,
    /// Who wrote the record.
    pub origin: Origin,
    /// The server did it by itself, on a thread that serves no client: no router sent it.
    pub is_own_work: bool,
    /// The newest server that writes records of this form; `None` if servers still do.
    pub newest_writer: Option<ServerVersion>,
    /// The verb, also where no statement could be read.
    pub verb: Option<Verb>,
    /// The record is a getMore, judged by its `originatingCommand`.
    pub get_more: bool,
    /// The statements to route.
    pub statements: Vec<Statement>,
    /// Where `command` (or what is judged) stands.
    pub command_span: Span,
    /// Where the command's name stands.
    pub name_span: Span,
    /// `planSummary`, the quotes not included in the span.
    pub plan_summary: Option<Located<String>>,
    /// `nShards`, or the list of shards of an explain: how many the router contacted.
    pub n_shards: Option<Located<u64>>,
    /// `durationMillis`.
    pub duration_millis: Option<Located<u64>>,
    /// `keysExamined`.
    pub keys_examined: Option<Located<u64>>,
    /// `docsExamined`.
    pub docs_examined: Option<Located<u64>>,
    /// `nreturned`.
    pub returned: Option<Located<u64>>,
    /// `hasSortStage: true`.
    pub has_sort_stage: Option<Span>,
    /// `usedDisk: true`.
    pub used_disk: Option<Span>,
    /// `errCode` of a failed operation.
    pub error_code: Option<Located<i64>>,
    /// `appName`.
    pub app_name: Option<String>,
    /// `comment` of the command, if it is a string.
    pub comment: Option<String>,
    /// What names the client's operation.
    pub operation_name: Option<OperationName>,
    /// `shardVersion` as the record has it, if the shard owns a chunk: no two shards have the same one, and the members of a
    /// shard have one between them.
    pub shard_version: Option<String>,
    /// The record carries `truncated`: its span, and the path of the cut as text (`command.filter.$or.2`).
    pub truncated: Option<Located<String>>,
    /// The first redacted literal.
    pub redacted: Option<Span>,
    /// The plan, if the record is an explain and tells of no execution by a client.
    pub plan: Option<Box<Plan>>,
}

impl Event {
    /// An event about which nothing but its kind is known.
    #[must_use]
    pub fn new(namespace: Namespace, traffic: Traffic, command_span: Span) -> Self {
        Self {
            time_millis: None,
            context: String::new(),
            namespace,
            traffic,
            origin: Origin::Direct,
            is_own_work: false,
            newest_writer: None,
            verb: None,
            get_more: false,
            statements: Vec::new(),
            command_span,
            name_span: command_span,
            plan_summary: None,
            n_shards: None,
            duration_millis: None,
            keys_examined: None,
            docs_examined: None,
            returned: None,
            has_sort_stage: None,
            used_disk: None,
            error_code: None,
            app_name: None,
            comment: None,
            operation_name: None,
            shard_version: None,
            truncated: None,
            redacted: None,
            plan: None,
        }
    }
}
