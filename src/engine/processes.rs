//! Which process wrote each log: a router, a shard and which one, a config server. As its start-up lines tell, else as its
//! records show; what users declare overrules both.

use std::collections::BTreeMap;

use crate::model::Origin;
use crate::report::ProcessRow;
use crate::syntax::{Fact, Role};
use crate::text::SourceId;

use super::role::DeclaredRole;

/// What is known of one process.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
struct Known {
    role: Option<Role>,
    /// The shard's name.
    shard: Option<String>,
    /// Records that only a router writes were seen.
    routes: bool,
    /// Operations came through a router.
    is_routed: bool,
}

/// What is known of the processes, by log.
#[derive(Debug, Clone, Default)]
pub struct Processes {
    known: BTreeMap<SourceId, Known>,
}

/// How a shard is called.
const SHARD: &str = "shard";

impl Processes {
    /// Takes in what a record other than a slow query tells of its process.
    pub fn learn(&mut self, source: SourceId, fact: &Fact) {
        if let Fact::Role(role, shard) = fact {
            let known = self.known.entry(source).or_default();
            known.role = Some(*role);
            known.shard.clone_from(shard);
        }
    }

    /// Takes in whose operation a slow query is.
    pub fn note(&mut self, source: SourceId, origin: Origin) {
        if origin == Origin::Direct {
            return;
        }
        let known = self.known.entry(source).or_default();
        known.routes |= origin == Origin::Router;
        known.is_routed |= origin == Origin::ThroughRouter;
    }

    /// Adds what a later part of the input tells.
    pub fn merge(&mut self, later: Self) {
        for (source, later) in later.known {
            let known = self.known.entry(source).or_default();
            if later.role.is_some() {
                (known.role, known.shard) = (later.role, later.shard);
            }
            known.routes |= later.routes;
            known.is_routed |= later.is_routed;
        }
    }

    /// The processes of all logs, in their order.
    #[must_use]
    pub fn told(&self, logs: &[String], declared: &[DeclaredRole]) -> Vec<ProcessRow> {
        let ids = (0..).map(SourceId);
        logs.iter().zip(ids).map(|(log, id)| self.process(id, log, DeclaredRole::of(log, declared))).collect()
    }

    fn process(&self, id: SourceId, log: &str, declared: Option<&DeclaredRole>) -> ProcessRow {
        let known = self.known.get(&id);
        let by_records = known.and_then(|known| match (known.routes, known.is_routed) {
            (true, false) => Some(Role::Router),
            (false, true) => Some(Role::Shard),
            _ => None,
        });
        let role = declared.map(|declared| declared.role).or(known.and_then(|known| known.role)).or(by_records);
        let shard = declared.and_then(|declared| declared.shard.clone());
        let named = known.and_then(|known| known.shard.clone()).filter(|_| role == Some(Role::Shard));
        ProcessRow {
            path: log.to_owned(),
            role: role.map(|role| match role {
                Role::Router => "router",
                Role::Shard => SHARD,
                Role::Config => "config server",
            }),
            shard: shard.or(named),
        }
    }

    /// Of the logs that show operations which came through a router, which shard each is of; those of `told` that are a router's
    /// or a config server's are left out. Logs that name the same shard have the same number; one that names none is taken for
    /// a shard of its own.
    #[must_use]
    pub fn shards(&self, told: &[ProcessRow]) -> BTreeMap<SourceId, usize> {
        let is_other = |source: SourceId| {
            told.get(source.0 as usize).and_then(|process| process.role).is_some_and(|role| role != SHARD)
        };
        let routed = self.known.iter().filter(|(_, known)| known.is_routed).map(|(source, _)| *source);
        let routed = routed.filter(|source| !is_other(*source));
        let shard = |at: usize| told.get(at).and_then(|process| process.shard.as_deref());
        let first_of = |at: usize| (0..at).find(|other| shard(*other).is_some() && shard(*other) == shard(at));
        routed.map(|source| (source, source.0 as usize)).map(|(id, at)| (id, first_of(at).unwrap_or(at))).collect()
    }
}
