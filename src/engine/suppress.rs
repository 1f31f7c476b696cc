//! Suppressions: findings that a project has decided not to see, in `shardlint.toml` or in the comment of a query. What an
//! event decides (the application, the comment) is applied while judging; the rest at the end, on whole diagnostics. What
//! matched nothing, or is past its date, is SL006.

use std::sync::LazyLock;

use globset::GlobMatcher;
use regex::Regex;

use crate::model::Event;
use crate::report::Diagnostic;
use crate::rules::{Finding, Label, rule, suggestions, unused_suppression};
use crate::text::{Fingerprint, SourceId, Span};

/// One `[[ignore]]` of the configuration. What is `None` matches everything.
#[derive(Debug, Clone)]
pub struct Suppression {
    /// The codes of the rules.
    pub rules: Vec<&'static str>,
    /// Namespaces, after `--ns-map`.
    pub namespace: Option<GlobMatcher>,
    /// The fingerprint of a shape, or of a finding on a declaration.
    pub fingerprint: Option<String>,
    /// The application's name.
    pub application: Option<Regex>,
    /// Why.
    pub reason: String,
    /// The day (`2027-01-31`) up to which it held, if that has passed.
    pub expired: Option<String>,
    /// The configuration, among the declarations.
    pub source: SourceId,
    /// The entry in it.
    pub span: Span,
}

impl Suppression {
    fn names(&self, code: &str, namespace: &str) -> bool {
        self.expired.is_none()
            && self.rules.contains(&code)
            && self.namespace.as_ref().is_none_or(|glob| glob.is_match(namespace))
    }

    /// Whether it hides a finding on an event.
    pub(super) fn hides_event(&self, code: &str, namespace: &str, group: Fingerprint, event: &Event) -> bool {
        let application = event.app_name.as_deref().unwrap_or_default();
        self.application.as_ref().is_some_and(|regex| regex.is_match(application))
            && self.names(code, namespace)
            && self.fingerprint.as_ref().is_none_or(|known| *known == group.to_string())
    }

    /// Whether it hides a diagnostic, whoever sent the query.
    pub(super) fn hides(&self, diagnostic: &Diagnostic) -> bool {
        self.application.is_none()
            && self.names(diagnostic.code, &diagnostic.namespace)
            && self.fingerprint.as_ref().is_none_or(|known| *known == diagnostic.fingerprint)
    }
}

/// What a query's comment asks to ignore.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Directive {
    /// Codes of rules.
    pub codes: Vec<&'static str>,
    /// Words that name no rule.
    pub unknown: Vec<String>,
}

static DIRECTIVE: LazyLock<Regex> = LazyLock::new(|| {
    Regex::new(r"(?i)\bshardlint:\s*ignore\b[\s:=]*([A-Za-z0-9_-]+(?:\s*,\s*[A-Za-z0-9_-]+)*)?")
        .expect("the pattern is a constant and valid")
});

/// Reads `shardlint: ignore SL101, SL105 (reason)` anywhere in a comment.
#[must_use]
pub fn directive(comment: &str) -> Option<Directive> {
    let found = DIRECTIVE.captures(comment)?;
    let mut directive = Directive::default();
    let words = found.get(1).map_or("", |list| list.as_str());
    for word in words.split(',').map(str::trim).filter(|word| !word.is_empty()) {
        match rule(word) {
            Some(rule) => directive.codes.push(rule.code),
            None => directive.unknown.push(word.to_owned()),
        }
    }
    Some(directive)
}

/// The finding on a comment whose directive hid nothing; `place` is where the query stands.
#[must_use]
pub fn unused_directive(directive: &Directive, place: Span) -> Finding {
    let words = match directive.unknown.first() {
        Some(unknown) => unused_suppression::comment_names_no_rule(unknown, &suggestions(unknown)),
        None => unused_suppression::comment_unused(&directive.codes),
    };
    let labels = vec![Label::new(place, "the comment of this query")];
    Finding { severity: None, message: words.0, help: Some(words.1), labels, subject: None, source: None }
}

/// The finding on an entry of the configuration that hid nothing or is past its date.
#[must_use]
pub fn unused_entry(suppression: &Suppression) -> Finding {
    let rules = suppression.rules.join(", ");
    let (message, help) = match &suppression.expired {
        Some(until) => unused_suppression::expired(&rules, until),
        None => unused_suppression::unused(&rules),
    };
    let labels = vec![Label::new(suppression.span, format!("its reason: {}", suppression.reason))];
    let what = [
        suppression.namespace.as_ref().map(|glob| glob.glob().glob().to_owned()),
        suppression.fingerprint.clone(),
        suppression.application.as_ref().map(|regex| regex.as_str().to_owned()),
    ];
    let what: Vec<String> = std::iter::once(rules).chain(what.into_iter().flatten()).collect();
    Finding {
        severity: None,
        message,
        help: Some(help),
        labels,
        subject: Some((String::new(), what.join(" "))),
        source: Some(suppression.source),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_directive_stands_anywhere_in_a_comment() {
        let codes = |text: &str| directive(text).map(|found| found.codes);
        assert_eq!(codes("shardlint: ignore SL101 (nightly export)"), Some(vec!["SL101"]));
        assert_eq!(codes("app/orders.rb:7 shardlint:ignore sl101,broadcast-query"), Some(vec!["SL101", "SL101"]));
        assert_eq!(codes("{ note: \"shardlint: ignore SL101, SL301 (x)\" }"), Some(vec!["SL101", "SL301"]));
        assert_eq!(codes("app/orders.rb:7"), None);
        assert_eq!(codes("myshardlint: ignore SL101"), None);
        assert_eq!(codes("shardlint: ignored"), None);
        assert_eq!(directive("shardlint: ignore SL999").map(|found| found.unknown), Some(vec!["SL999".to_owned()]));
        assert_eq!(directive("shardlint: ignore"), Some(Directive::default()));
    }
}
