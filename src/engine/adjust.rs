//! Severities and switched-off rules of the configuration: for all of a run, for some namespaces, for some applications.
//! Of several that speak about a finding, the last one holds.

use globset::GlobMatcher;
use regex::Regex;

use crate::model::Event;
use crate::report::Diagnostic;
use crate::rules::Severity;

use super::judge::Raised;

/// Severities and switched-off rules, and for what they hold. What is `None` holds for everything.
#[derive(Debug, Clone, Default)]
pub struct Adjustment {
    /// Namespaces, after `--ns-map`.
    pub namespace: Option<GlobMatcher>,
    /// The application's name.
    pub application: Option<Regex>,
    /// Rules whose findings are left out, by code.
    pub ignore: Vec<&'static str>,
    /// Severities by the rule's code.
    pub severity: Vec<(&'static str, Severity)>,
}

impl Adjustment {
    fn covers(&self, namespace: &str, application: Option<&str>) -> bool {
        let of_application = |regex: &Regex| application.is_some_and(|name| regex.is_match(name));
        self.namespace.as_ref().is_none_or(|glob| glob.is_match(namespace))
            && self.application.as_ref().is_none_or(of_application)
    }
}

/// What the adjustments make of a finding.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Fate {
    Stays,
    Has(Severity),
    Goes,
}

fn fate(adjustments: &[Adjustment], code: &str, namespace: &str, application: Option<&str>) -> Fate {
    let mut fate = Fate::Stays;
    for adjustment in adjustments.iter().filter(|adjustment| adjustment.covers(namespace, application)) {
        if adjustment.ignore.contains(&code) {
            return Fate::Goes;
        }
        if let Some((_, severity)) = adjustment.severity.iter().find(|(known, _)| *known == code) {
            fate = Fate::Has(*severity);
        }
    }
    fate
}

/// Gives a finding on an event its severity; whether it stays.
pub(super) fn adjust_raised(adjustments: &[Adjustment], raised: &mut Raised, namespace: &str, event: &Event) -> bool {
    let application = event.app_name.as_deref().unwrap_or_default();
    match fate(adjustments, raised.rule.code, namespace, Some(application)) {
        Fate::Stays => true,
        Fate::Has(severity) => {
            raised.finding.severity = Some(severity);
            true
        }
        Fate::Goes => false,
    }
}

/// Gives a diagnostic that rests on no event its severity; whether it stays.
pub(super) fn adjust_diagnostic(adjustments: &[Adjustment], diagnostic: &mut Diagnostic) -> bool {
    match fate(adjustments, diagnostic.code, &diagnostic.namespace, None) {
        Fate::Stays => true,
        Fate::Has(severity) => {
            diagnostic.severity = severity;
            true
        }
        Fate::Goes => false,
    }
}
