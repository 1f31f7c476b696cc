//! What a rule is, and what it may look at.

use crate::catalog::{Catalog, Collection};
use crate::model::{Event, ServerVersion, Statement};
use crate::routing::Verdict;

use super::example::{Examples, examples};
use super::finding::{Finding, Severity};
use super::thresholds::Thresholds;
use super::totals::{ClusterContext, NamespaceContext, NamespaceFinding};

/// What a rule needs to be run. Where it is missing, the summary says *not checked*.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Evidence {
    /// Log, profiler or explain records.
    Log,
    /// A declared shard key.
    Key,
    /// Declared indexes.
    Indexes,
    /// Chunks, zones, distribution.
    Chunks,
    /// The number of shards.
    ShardCount,
    /// The server version.
    Version,
    /// Explain output.
    Plan,
    /// A baseline (`--baseline`).
    Baseline,
}

impl Evidence {
    /// What the summary says is needed.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Log => "queries",
            Self::Key => "shard keys",
            Self::Indexes => "indexes",
            Self::Chunks => "chunks",
            Self::ShardCount => "number of shards",
            Self::Version => "server version",
            Self::Plan => "explain output",
            Self::Baseline => "baseline",
        }
    }
}

/// Where a rule stands in its life.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Status {
    /// On by default, will not change its meaning.
    Stable,
    /// May still change.
    Preview,
    /// On its way out.
    Deprecated,
}

impl Status {
    /// The name in `rules --format json`.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Stable => "stable",
            Self::Preview => "preview",
            Self::Deprecated => "deprecated",
        }
    }
}

/// One statement of one event, its verdict, and what is declared about its collection.
#[derive(Debug, Clone, Copy)]
pub struct EventContext<'a> {
    /// The record.
    pub event: &'a Event,
    /// The statement of it that is judged.
    pub statement: &'a Statement,
    /// The namespace after `--ns-map`.
    pub namespace: &'a str,
    /// What the router does with it; `None` if the collection is not declared.
    pub verdict: Option<&'a Verdict>,
    /// The declaration, if there is one.
    pub collection: Option<&'a Collection>,
    /// Everything declared.
    pub catalog: &'a Catalog,
    /// Whose rules hold.
    pub version: ServerVersion,
    /// Nothing named the version.
    pub version_assumed: bool,
    /// From where on rules speak.
    pub thresholds: &'a Thresholds,
}

impl EventContext<'_> {
    /// How many shards a broadcast asks, if known: owners of chunks, else the declared number of shards.
    #[must_use]
    pub fn shard_count(&self) -> Option<usize> {
        let owners = self.collection.and_then(|c| c.chunks.as_ref()).map(crate::model::ChunkMap::owner_count);
        owners.or_else(|| self.catalog.shards.as_ref().map(Vec::len)).or(self.catalog.shard_count)
    }
}

/// One declared collection.
#[derive(Debug, Clone, Copy)]
pub struct DeclarationContext<'a> {
    /// The declaration.
    pub collection: &'a Collection,
    /// Everything declared.
    pub catalog: &'a Catalog,
    /// Whose rules hold.
    pub version: ServerVersion,
    /// Nothing named the version.
    pub version_assumed: bool,
    /// From where on rules speak.
    pub thresholds: &'a Thresholds,
}

/// How a rule is run.
#[derive(Clone, Copy)]
pub enum Check {
    /// Once for each statement of each event; yields at most one finding.
    Statement(fn(&EventContext<'_>) -> Option<Finding>),
    /// Once for each declared collection.
    Declaration(fn(&DeclarationContext<'_>, &mut Vec<Finding>)),
    /// Once for each declared collection, after all input has been read.
    Namespace(fn(&NamespaceContext<'_>, &mut Vec<NamespaceFinding>)),
    /// Once for the whole cluster, after all input has been read.
    Cluster(fn(&ClusterContext<'_>, &mut Vec<NamespaceFinding>)),
    /// The engine raises it while reading (SL002, SL003, SL005 …).
    Engine,
}

/// A rule: metadata, explanation, check and examples, all in one file.
pub struct Rule {
    /// `SL101`.
    pub code: &'static str,
    /// `broadcast-query`.
    pub name: &'static str,
    /// One sentence: what it says.
    pub summary: &'static str,
    /// The default severity.
    pub severity: Severity,
    /// What it needs.
    pub needs: &'static [Evidence],
    /// The release it came with.
    pub since: &'static str,
    /// Where it stands in its life.
    pub status: Status,
    /// Rank among fan-out findings of one statement; the lowest rank that fires is the only one shown. `None`: independent.
    pub fan_out_rank: Option<u8>,
    /// Markdown: a title (the question that people ask), what it says, why it costs you, firing example, silent example, how to fix, when to ignore, versions.
    pub explanation: &'static str,
    /// Its page as published: the explanation with what the program prints for the firing example.
    pub page: &'static str,
    /// The check.
    pub check: Check,
}

impl Rule {
    /// The question that people ask who meet it: the title of its page.
    #[must_use]
    pub fn question(&self) -> &'static str {
        let title = self.explanation.trim_start().strip_prefix("# ");
        title.and_then(|rest| rest.lines().next()).unwrap_or(self.name)
    }

    /// The explanation below its title.
    #[must_use]
    pub fn body(&self) -> &'static str {
        let text = self.explanation.trim();
        text.strip_prefix("# ").and_then(|rest| rest.split_once('\n')).map_or(text, |(_, body)| body.trim_start())
    }

    /// The examples of the explanation.
    #[must_use]
    pub fn examples(&self) -> Examples {
        examples(self.explanation)
    }
}

impl PartialEq for Rule {
    fn eq(&self, other: &Self) -> bool {
        self.code == other.code
    }
}

impl std::fmt::Debug for Rule {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(self.code)
    }
}
