//! A command document: which command it is, and its members on demand.

use std::borrow::Cow;

use crate::model::{Node, Value, Verb};
use crate::text::Span;

use super::cut::{Cut, lost_document};
use super::members::{Member, Members, Raw};
use super::statement::{REDACTED, redact};

/// What a command is, as far as routing cares.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    /// One statement: the command itself.
    Single(Verb),
    /// `update` or `delete`: a list of statements.
    Batch(Verb),
    /// `bulkWrite`: a list of statements on several collections.
    BulkWrite,
    /// `getMore`.
    GetMore,
    /// `{q, u, multi, …}`: the WRITE line of one statement of a batch.
    WriteStatement,
    /// Anything else.
    Other,
}

/// A command of a record.
#[derive(Debug)]
pub(super) struct Command<'a> {
    raw: Raw<'a>,
    pub(super) members: Members<'a>,
    /// The text of the whole document.
    pub(super) span: Span,
    /// The name as written (`clusterFind`), or the sign by which a cut command was recognised.
    pub(super) name: Cow<'a, str>,
    /// Where the name stands; the whole document if it is lost.
    pub(super) name_span: Span,
    /// The value of the name: the collection, or 1.
    target: Option<Raw<'a>>,
    pub(super) kind: Kind,
    /// Named `cluster…`: the command of a shard that acts as router.
    pub(super) is_router: bool,
    pub(super) cut: Option<Cut>,
}

/// Members that any command may have, and those of reads and writes: none of them names a command.
const OPTIONS: &[&str] = &[
    "$audit",
    "$client",
    "$clusterTime",
    "$configServerState",
    "$configTime",
    "$db",
    "$readPreference",
    "$replData",
    "$topologyTime",
    "allowDiskUse",
    "allowPartialResults",
    "apiDeprecationErrors",
    "apiStrict",
    "apiVersion",
    "arrayFilters",
    "autocommit",
    "awaitData",
    "batchSize",
    "bypassDocumentValidation",
    "bypassEmptyTsReplacement",
    "c",
    "clientOperationKey",
    "collation",
    "collection",
    "collectionUUID",
    "comment",
    "constants",
    "coordinator",
    "cursor",
    "databaseVersion",
    "deletes",
    "documents",
    "encryptionInformation",
    "exchange",
    "fields",
    "filter",
    "fromMongos",
    "fromRouter",
    "hint",
    "isMapReduceCommand",
    "key",
    "let",
    "limit",
    "lsid",
    "max",
    "maxTimeMS",
    "maxTimeMSOpOnly",
    "mayBypassWriteBlocking",
    "min",
    "multi",
    "needsMerge",
    "new",
    "noCursorTimeout",
    "nsInfo",
    "ops",
    "ordered",
    "originalQueryShapeHash",
    "pipeline",
    "projection",
    "q",
    "query",
    "rawData",
    "readConcern",
    "readOnce",
    "remove",
    "requestReshardingResumeToken",
    "requestResumeToken",
    "resumeAfter",
    "returnKey",
    "runtimeConstants",
    "sampleId",
    "shardVersion",
    "showRecordId",
    "singleBatch",
    "skip",
    "sort",
    "startTransaction",
    "stmtId",
    "stmtIds",
    "tailable",
    "term",
    "txnNumber",
    "txnRetryCounter",
    "u",
    "updates",
    "upsert",
    "upsertSupplied",
    "use44SortKeys",
    "useNewUpsert",
    "writeConcern",
];

/// Commands that route.
const COMMANDS: &[(&str, Kind)] = &[
    ("getMore", Kind::GetMore),
    ("findAndModify", Kind::Single(Verb::FindAndModify)),
    ("findandmodify", Kind::Single(Verb::FindAndModify)),
    ("mapReduce", Kind::Single(Verb::MapReduce)),
    ("mapreduce", Kind::Single(Verb::MapReduce)),
    ("bulkWrite", Kind::BulkWrite),
    ("aggregate", Kind::Single(Verb::Aggregate)),
    ("find", Kind::Single(Verb::Find)),
    ("distinct", Kind::Single(Verb::Distinct)),
    ("count", Kind::Single(Verb::Count)),
    ("insert", Kind::Single(Verb::Insert)),
    ("update", Kind::Batch(Verb::Update)),
    ("delete", Kind::Batch(Verb::Delete)),
];

/// What a command whose name is lost must have been, by its members.
const SIGNS: &[(&str, Kind)] = &[
    ("nsInfo", Kind::BulkWrite),
    ("pipeline", Kind::Single(Verb::Aggregate)),
    ("filter", Kind::Single(Verb::Find)),
    ("updates", Kind::Batch(Verb::Update)),
    ("deletes", Kind::Batch(Verb::Delete)),
    ("documents", Kind::Single(Verb::Insert)),
    ("new", Kind::Single(Verb::FindAndModify)),
    ("key", Kind::Single(Verb::Distinct)),
    ("query", Kind::Single(Verb::Count)),
    ("u", Kind::WriteStatement),
];

/// The command that routes and has that name, and whether it is spelled `cluster…`.
fn routed(name: &str) -> Option<(Kind, bool)> {
    let kind_of = |name: &str| COMMANDS.iter().find(|(command, _)| *command == name).map(|(_, kind)| *kind);
    if let Some(kind) = kind_of(name) {
        return Some((kind, false));
    }
    let rest = name.strip_prefix("cluster")?;
    let initial = rest.chars().next().filter(char::is_ascii_uppercase)?.to_ascii_lowercase();
    kind_of(&format!("{initial}{}", &rest[1..])).map(|kind| (kind, true))
}

/// Whether `name` is that of a command that routes.
pub(in crate::syntax) fn is_command(name: &str) -> bool {
    routed(name).is_some()
}

impl<'a> Command<'a> {
    /// Reads the command document `raw`; `None` if it is no document.
    pub(super) fn read(line: &'a str, raw: Raw<'a>, cut: Option<Cut>) -> Option<Self> {
        let members = Members::of(line, raw)?;
        let span = raw.span(line);
        let (name, name_span, target, kind, is_router) = match identified(&members.list) {
            Some((member, kind, is_router)) => {
                (member.name.clone(), member.name_span, Some(member.value), kind, is_router)
            }
            None => (Cow::Borrowed("unknown"), span, None, Kind::Other, false),
        };
        Some(Self { raw, members, span, name, name_span, target, kind, is_router, cut })
    }

    /// The collection that the command names.
    pub(super) fn collection(&self) -> Option<String> {
        let collection = self.target?.string()?;
        (collection != REDACTED).then(|| collection.into_owned())
    }

    /// The parsed member of that name, with what was cut from it marked.
    pub(super) fn node(&self, name: &str) -> Option<Node> {
        let raw = self.members.raw(name)?;
        // What is nested too deeply to be read is as good as lost: it must not count as absent.
        let unread = || lost_document(raw.span(self.members.line));
        let mut node = self.members.node(name).unwrap_or_else(unread);
        if let Some(cut) = &self.cut {
            cut.mark(name, &mut node);
        }
        redact(&mut node);
        Some(node)
    }

    /// As [`Self::node`], without nulls, which the server takes for absent.
    pub(super) fn option(&self, name: &str) -> Option<Node> {
        self.node(name).filter(|node| !matches!(node.value, Value::Null | Value::Undefined))
    }

    /// The whole command as one parsed document, with what was cut from it marked.
    pub(super) fn whole(&self) -> Option<Node> {
        let mut node = self.raw.node(self.members.line)?;
        if let Some(cut) = &self.cut {
            cut.mark_all(&mut node);
        }
        redact(&mut node);
        Some(node)
    }

    /// Whether members of the command itself may have been cut off.
    pub(super) fn is_cut(&self) -> bool {
        self.members.partial || self.cut.as_ref().is_some_and(Cut::loses_members)
    }

    /// Whether a router sent it: no driver sends these members.
    pub(super) fn came_through_router(&self) -> bool {
        const SIGNS: &[&str] = &["shardVersion", "databaseVersion", "fromMongos", "fromRouter", "needsMerge"];
        SIGNS.iter().any(|name| self.members.has(name))
            || self.members.has("$configServerState")
            || self.members.object("$client").is_some_and(|client| client.has("mongos"))
    }
}

/// The member that tells which command a document is: the first one, as servers write it; in a document whose members
/// are in another order any member that names a command; where the name is lost, a member that only one command has.
fn identified<'m, 'a>(list: &'m [Member<'a>]) -> Option<(&'m Member<'a>, Kind, bool)> {
    let first = list.first()?;
    let is_name = |name: &str| !OPTIONS.contains(&name) && routed(name).is_none();
    let other = |member: &'m Member<'a>| is_name(&member.name).then_some((member, Kind::Other, false));
    let having = |name: &str, kind: Kind| Some((list.iter().find(|member| member.name == name)?, kind, false));
    named(first)
        .or_else(|| other(first))
        .or_else(|| list.iter().find_map(named))
        .or_else(|| having("q", Kind::WriteStatement))
        .or_else(|| list.iter().find_map(other))
        .or_else(|| SIGNS.iter().find_map(|(name, kind)| having(name, *kind)))
}

/// A member that names a command that routes: its value is a collection's name or UUID, or a number.
fn named<'m, 'a>(member: &'m Member<'a>) -> Option<(&'m Member<'a>, Kind, bool)> {
    let (kind, is_router) = routed(&member.name)?;
    (!member.value.has_members()).then_some((member, kind, is_router))
}
