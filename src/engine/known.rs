//! What is known of a slow-query record before its statements are judged.

use crate::model::{Event, Namespace, Origin, ServerVersion, Traffic};
use crate::syntax::Role;

use super::pairing::BatchKey;
use super::scan::Process;
use super::settings::Settings;

/// How a record is counted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Counting {
    /// The cluster's own traffic.
    Internal,
    /// A command without a filter to route.
    NotAQuery,
    /// By itself.
    Alone,
    /// A WRITE line, which waits for its COMMAND line.
    Waiting,
    /// The COMMAND line of a batch, which counts only if there are no WRITE lines.
    Batch,
}

/// What a record is, apart from the verdicts on its statements.
#[derive(Debug, Clone, PartialEq)]
pub struct Kind {
    /// How it is counted.
    pub counting: Counting,
    /// The server cut it.
    pub is_truncated: bool,
    /// Whose operation it is about.
    pub origin: Origin,
    /// After `--ns-map`.
    pub namespace: String,
    /// The batch that it is of or about.
    pub batch: BatchKey,
    /// The version whose rules hold, and whether it is assumed.
    pub version: (ServerVersion, bool),
}

impl Kind {
    /// What `event` is, in the log of that process.
    #[must_use]
    pub fn of(event: &Event, process: Process, settings: &Settings) -> Self {
        Self {
            counting: match event.traffic {
                // Whoever speaks to a config server is the cluster itself.
                _ if process.declared == Some(Role::Config) => Counting::Internal,
                Traffic::Internal(_) => Counting::Internal,
                Traffic::NotAQuery(_) => Counting::NotAQuery,
                Traffic::Query => Counting::Alone,
                Traffic::BatchStatement => Counting::Waiting,
                Traffic::BatchCommand => Counting::Batch,
            },
            is_truncated: event.truncated.is_some(),
            origin: origin(event, process),
            namespace: settings.namespace_map.apply(&event.namespace).as_str().to_owned(),
            batch: batch_key(event),
            version: settings.version_for(process.version, event.newest_writer),
        }
    }
}

/// A process that says it is a router writes only records of clients' operations. What marks a shard's record of an operation
/// that came through a router stands at the end of the command, where it may have been cut off.
fn origin(event: &Event, process: Process) -> Origin {
    match (event.origin, process.declared.or(process.role)) {
        (Origin::Direct, Some(Role::Router)) => Origin::Router,
        (Origin::Direct, Some(Role::Shard)) if event.truncated.is_some() => Origin::ThroughRouter,
        (origin, _) => origin,
    }
}

fn batch_key(event: &Event) -> BatchKey {
    let named = |namespace: &Namespace| namespace.as_str().into();
    let namespace = event.statements.first().map_or_else(|| named(&event.namespace), |s| named(&s.namespace));
    BatchKey { verb: event.verb, namespace }
}
