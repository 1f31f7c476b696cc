//! What a run is asked to do, decided once by the command line and read by every stage of the engine.

use globset::GlobMatcher;
use regex::{Regex, RegexBuilder};

use crate::baseline::{Held, Recorded};
use crate::catalog::{Catalog, NamespaceMap};
use crate::model::ServerVersion;
use crate::rules::{REGISTRY, Rule, Thresholds};
use crate::syntax::{Marks, Told};

use super::adjust::Adjustment;
use super::limit::Limit;
use super::role::DeclaredRole;
use super::suppress::Suppression;
use super::tally::Keep;

/// A regular expression of the user may not take more memory than this to compile, in bytes.
const REGEX_LIMIT: usize = 1 << 20;

/// Compiles a regular expression that a user wrote.
///
/// # Errors
/// If it is none, or one that takes too much memory.
pub fn user_regex(text: &str) -> Result<Regex, regex::Error> {
    RegexBuilder::new(text).size_limit(REGEX_LIMIT).build()
}

/// Which slow queries are looked at. The others are counted as filtered out.
#[derive(Debug, Clone, Default)]
pub struct Filters {
    /// `--ns`: namespaces, after `--ns-map`.
    pub namespace: Option<GlobMatcher>,
    /// `--app`: the application's name.
    pub application: Option<Regex>,
    /// `--since`, in milliseconds since 1970.
    pub since: Option<i64>,
    /// `--until`, in milliseconds since 1970.
    pub until: Option<i64>,
    /// `--min-duration`, in milliseconds.
    pub min_millis: Option<u64>,
}

impl Filters {
    /// Whether the namespace, after mapping, is looked at.
    #[must_use]
    pub fn admit_namespace(&self, namespace: &str) -> bool {
        self.namespace.as_ref().is_none_or(|glob| glob.is_match(namespace))
    }

    /// Whether a message that is about no operation, but about a collection, is looked at: it is of no application.
    #[must_use]
    pub fn admit_message(&self, time: Option<i64>, namespace: &str) -> bool {
        self.admit_namespace(namespace) && self.application.is_none() && self.admit_time(time)
    }

    fn admit_time(&self, time: Option<i64>) -> bool {
        self.since.is_none_or(|since| time.is_some_and(|time| time >= since))
            && self.until.is_none_or(|until| time.is_some_and(|time| time < until))
    }

    /// Whether they ask for a namespace, an application or a time, which can be misspelled.
    #[must_use]
    pub fn name_something(&self) -> bool {
        self.namespace.is_some() || self.application.is_some() || self.since.is_some() || self.until.is_some()
    }

    /// Whether an operation on `namespace`, after mapping, is to be looked at.
    #[must_use]
    pub fn admit(&self, told: &Told<'_>, namespace: &str) -> bool {
        self.admit_namespace(namespace)
            && self.application.as_ref().is_none_or(|regex| regex.is_match(told.app_name.unwrap_or_default()))
            && self.admit_time(told.time_millis)
            && self.min_millis.is_none_or(|least| told.duration_millis.unwrap_or(0) >= least)
    }
}

/// So many shapes are told apart: far more than applications have, and few enough for memory to stay flat.
const MOST_SHAPES: usize = 10_000;

/// What a run is asked to do.
pub struct Settings {
    /// Everything declared.
    pub catalog: Catalog,
    /// `--ns-map`.
    pub namespace_map: NamespaceMap,
    /// `--server-version`; overrules what a log says.
    pub version: Option<ServerVersion>,
    /// The rules to run, in the order of their codes.
    pub rules: Vec<&'static Rule>,
    /// Which records are looked at.
    pub filters: Filters,
    /// From where on rules speak.
    pub thresholds: Thresholds,
    /// `--per-event`: one diagnostic per finding instead of one per shape.
    pub per_event: bool,
    /// `--threads`; 0 means one for each core.
    pub threads: usize,
    /// Whether what was found out about a record is used for others of the same outline. It makes no difference but in speed.
    pub recalls: bool,
    /// So many shapes, at least one, are told apart; rarer ones are counted together.
    pub most_shapes: usize,
    /// Severities and switched-off rules of the configuration.
    pub adjustments: Vec<Adjustment>,
    /// What the configuration and comments hide.
    pub suppressions: Suppressions,
    /// Limits on the share of broadcasts.
    pub limits: Vec<Limit>,
    /// What the run is held against.
    pub baseline: Option<Held>,
    /// `--role`: which processes wrote the logs.
    pub roles: Vec<DeclaredRole>,
    /// The class from which a shape that the baseline does not know is an error.
    pub fail_on_class: Recorded,
}

/// What the configuration and comments hide.
#[derive(Debug, Clone)]
pub enum Suppressions {
    /// `--no-suppressions`: everything is shown.
    Off,
    /// The entries of the configuration; comments are heeded.
    On(Vec<Suppression>),
}

impl Suppressions {
    /// The entries to be applied.
    #[must_use]
    pub fn entries(&self) -> &[Suppression] {
        match self {
            Self::Off => &[],
            Self::On(entries) => entries,
        }
    }

    /// Whether comments are heeded.
    #[must_use]
    pub fn heed_comments(&self) -> bool {
        matches!(self, Self::On(_))
    }
}

impl Default for Settings {
    /// Nothing declared, every rule, every query.
    fn default() -> Self {
        Self {
            catalog: Catalog::default(),
            namespace_map: NamespaceMap::default(),
            version: None,
            rules: REGISTRY.to_vec(),
            filters: Filters::default(),
            thresholds: Thresholds::default(),
            per_event: false,
            threads: 0,
            recalls: true,
            most_shapes: MOST_SHAPES,
            adjustments: Vec::new(),
            suppressions: Suppressions::On(Vec::new()),
            limits: Vec::new(),
            baseline: None,
            roles: Vec::new(),
            fail_on_class: Recorded::Broadcast,
        }
    }
}

impl Settings {
    /// Whether what was found out about one record may be said of another.
    #[must_use]
    pub fn may_recall(&self) -> bool {
        self.recalls && !self.per_event
    }

    /// What values of a record are held against.
    #[must_use]
    pub fn marks(&self) -> Marks {
        let of_application = self.adjustments.iter().any(|adjustment| adjustment.application.is_some())
            || self.suppressions.entries().iter().any(|entry| entry.application.is_some());
        Marks {
            application: of_application,
            values: self.thresholds.few_ranges as u64,
            skipped: self.thresholds.deep_skip,
            examined: self.thresholds.sorted_documents,
            returned: self.thresholds.merged_documents,
        }
    }

    /// The rules' version for a process of that version, and whether it had to be assumed: then it is the newest that can
    /// have written what was read.
    #[must_use]
    pub fn version_for(&self, logged: Option<ServerVersion>, newest: Option<ServerVersion>) -> (ServerVersion, bool) {
        match self.version.or(logged) {
            Some(version) => (version, false),
            None => (newest.unwrap_or(ServerVersion::NEWEST), true),
        }
    }

    /// What is to be kept of each record.
    #[must_use]
    pub fn keep(&self) -> Keep {
        Keep { per_event: self.per_event, shape_examples: self.baseline.is_some() }
    }

    /// The rule with that code, if it is to be run.
    #[must_use]
    pub fn enabled(&self, code: &str) -> Option<&'static Rule> {
        self.rules.iter().copied().find(|rule| rule.code == code)
    }
}
