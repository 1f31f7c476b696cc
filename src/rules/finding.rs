//! What a rule yields: spans and words, no layout.

use std::fmt;

use crate::text::{SourceId, Span};

/// How serious a finding is. An error fails a build by default.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Severity {
    /// Worth knowing.
    Info,
    /// Costs something.
    Warning,
    /// Fails a build by default.
    Error,
}

impl Severity {
    /// All severities, the least serious first.
    pub const ALL: [Self; 3] = [Self::Info, Self::Warning, Self::Error];

    /// The name in reports.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Info => "info",
            Self::Warning => "warning",
            Self::Error => "error",
        }
    }
}

impl fmt::Display for Severity {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// A place and what to say about it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Label {
    /// The range in the record (for declarations: in the file).
    pub span: Span,
    /// Lower-case start, no full stop.
    pub text: String,
    /// Set where the label points into another source than the finding (a log finding that points at the declared key).
    pub source: Option<SourceId>,
}

impl Label {
    /// A label in the finding's own source.
    pub fn new(span: Span, text: impl Into<String>) -> Self {
        Self { span, text: text.into(), source: None }
    }
}

/// One finding on one event or one declaration.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Finding {
    /// The severity where it differs from the rule's default.
    pub severity: Option<Severity>,
    /// Lower-case start, backticks around user text, no full stop.
    pub message: String,
    /// Starts with a verb: what to do.
    pub help: Option<String>,
    /// The first label is the primary one: its place is the finding's location.
    pub labels: Vec<Label>,
    /// For findings on declarations: the namespace and what of it (an index name, `key`), which names the finding in a baseline.
    pub subject: Option<(String, String)>,
    /// For findings on declarations: the source of the primary label.
    pub source: Option<SourceId>,
}
