//! Whose operation a record is about: a client's, or the cluster's own; and which process wrote it.

use memchr::memmem;

use crate::model::{Namespace, Origin, Verb};

use super::command::{Command, Kind};
use super::members::Members;

/// Why an operation is the cluster's own traffic; `None` if it is a client's.
pub(super) fn internal(
    attr: &Members<'_>,
    command: &Command<'_>,
    verb: Option<Verb>,
    namespace: &Namespace,
) -> Option<&'static str> {
    const REPLICATION: &[&str] = &["replSetHeartbeat", "replSetUpdatePosition", "replSetRequestVotes"];
    const INDEX_BUILDS: &[&str] = &["voteCommitIndexBuild", "voteAbortIndexBuild"];
    let name = command.name.as_ref();
    if command.kind == Kind::Other {
        return match name {
            _ if name.starts_with('_') => Some("commands between the members of a cluster"),
            _ if REPLICATION.contains(&name) => Some("replication"),
            _ if INDEX_BUILDS.contains(&name) => Some("index builds"),
            _ => None,
        };
    }
    if let Some(why) = own_collection(namespace) {
        return Some(why);
    }
    // A primary sends some reads to its secondaries once more, to keep their caches warm.
    if command.members.truth("mirrored").or_else(|| attr.truth("mirrored")).is_some() {
        return Some("mirrored reads");
    }
    let merges =
        command.members.raw("pipeline").is_some_and(|raw| raw.text(command.members.line).contains("$mergeCursors"));
    let temporary = ["tmp.agg_out.", "tmp.mr."].iter().any(|prefix| namespace.collection().starts_with(prefix));
    match verb {
        Some(Verb::Aggregate) if merges => Some("merging of the shards' results"),
        Some(Verb::Insert) if temporary => Some("temporary collections"),
        _ => None,
    }
}

/// What the names of threads hold on which a server works for itself: it lets documents expire, moves chunks, builds indexes,
/// follows its primary.
const OWN_THREADS: [&str; 26] = [
    "ttlmonitor",
    "migratethread",
    "movechunk",
    "range-deleter",
    "range deleter",
    "rangedeleter",
    "cleanupolddata",
    "coordinator",
    "resharding",
    "donorservice",
    "recipientservice",
    "participantservice",
    "sessioncatalogmigration",
    "replwriter",
    "repl writer",
    "rssync",
    "replbatcher",
    "replcoord",
    "oplog",
    "initialsync",
    "initandlisten",
    "logicalsessioncache",
    "catalogcache",
    "balancer",
    "checker",
    "remover",
];

/// Whether a thread of that name works for the server itself. Clients are served by `conn123`.
#[must_use]
pub(in crate::syntax) fn is_own_thread(name: &[u8]) -> bool {
    if name.starts_with(b"conn") || name.is_empty() {
        return false;
    }
    let name = name.to_ascii_lowercase();
    OWN_THREADS.iter().any(|part| memmem::find(&name, part.as_bytes()).is_some())
}

/// Why a collection is one of the server's own.
fn own_collection(namespace: &Namespace) -> Option<&'static str> {
    let collection = namespace.collection();
    match namespace.database() {
        "local" if collection.starts_with("oplog.") => Some("oplog"),
        "local" => Some("the local database"),
        "config" if collection == "system.sessions" => Some("sessions"),
        "config" if collection == "transactions" => Some("the transactions table"),
        "config" => Some("the config database"),
        _ if collection.starts_with("system.") && !collection.starts_with("system.buckets.") => {
            Some("system collections")
        }
        _ => None,
    }
}

/// Which process wrote the record, as far as it shows.
pub(super) fn origin(record: &Members<'_>, attr: &Members<'_>, commands: &[&Command<'_>]) -> Origin {
    if commands.iter().any(|command| command.is_router) {
        return Origin::Router;
    }
    match record.string("svc").as_deref() {
        Some("R") => return Origin::Router,
        Some("S") => {}
        _ if commands.iter().any(|command| command.came_through_router()) => {}
        // A mongod names the plan of a read and prints the locks of every command; a mongos before 8.0 knows neither.
        _ if !attr.has("planSummary")
            && (attr.has("nShards") || attr.has("remoteOpWaitMillis") && !attr.has("locks")) =>
        {
            return Origin::Router;
        }
        _ => {}
    }
    let through_router = commands.iter().any(|command| command.came_through_router());
    if through_router { Origin::ThroughRouter } else { Origin::Direct }
}
