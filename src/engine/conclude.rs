//! The last steps of a run, on its report: the comparison with the baseline, what suppressions hide, which of them hid
//! nothing, the limits. In this order, because a regression can be suppressed, and a suppression used by one is not unused.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet};

use rustc_hash::FxHashSet;

use crate::baseline::{self, Baseline, Gate, compare};
use crate::report::{Diagnostic, NotChecked, Report};
use crate::rules::{routing_regression, rule, unused_suppression};

use super::adjust::adjust_diagnostic;
use super::declarations::{DeclarationTexts, declared};
use super::limit::Measured;
use super::settings::Settings;
use super::stats::GroupKey;
use super::suppress::{directive, unused_entry};

/// What was counted besides the findings.
pub struct Counted {
    /// Findings that suppressions hid while judging.
    pub hidden: FxHashSet<GroupKey>,
    /// The entries that hid them.
    pub used: BTreeSet<usize>,
    /// For each limit that covered a query, what was counted.
    pub limits: BTreeMap<usize, Measured>,
}

/// Finishes `report`, whose diagnostics are in order.
pub fn conclude(report: &mut Report, mut counted: Counted, settings: &Settings, texts: &DeclarationTexts) {
    hold_against_baseline(report, &counted, settings);
    let suppressed = suppress(report, &mut counted, settings);
    report.summary.suppressed = counted.hidden.len() as u64 + suppressed;
    let unused = unused_entries(report, &counted, settings, texts);
    report.diagnostics.extend(unused);
    report.diagnostics.sort_by(|a, b| order(a).cmp(&order(b)));
    let limits = settings.limits.iter().enumerate();
    report.limits =
        limits.map(|(i, limit)| limit.result(counted.limits.get(&i).copied().unwrap_or_default())).collect();
}

/// Most serious first, then the longest, then by name; equals stay as they were.
fn order(diagnostic: &Diagnostic) -> impl Ord + '_ {
    let d = diagnostic;
    (Reverse(d.severity), Reverse(d.millis), Reverse(d.count), d.code, d.namespace.as_str(), d.shape.as_deref())
}

/// Calls `with` with what the run looked at and what it lets pass.
fn gated<T>(
    not_checked: &[NotChecked],
    hushed: &BTreeSet<String>,
    settings: &Settings,
    with: impl FnOnce(&Gate<'_>) -> T,
) -> T {
    let not_checked: BTreeSet<&str> = not_checked.iter().map(|rule| rule.code).collect();
    let checked = |code: &str| settings.enabled(code).is_some() && !not_checked.contains(code);
    with(&Gate {
        fail_on: settings.fail_on_class,
        regression: settings.enabled(routing_regression::RULE.code),
        checked: &checked,
        admitted: &|namespace| settings.filters.admit_namespace(namespace),
        hushed,
    })
}

/// `baseline` without what the run looked for and did not see.
#[must_use]
pub fn pruned(baseline: &Baseline, report: &Report, settings: &Settings) -> Baseline {
    gated(&report.summary.not_checked, &BTreeSet::new(), settings, |gate| baseline::pruned(baseline, report, gate))
}

fn hold_against_baseline(report: &mut Report, counted: &Counted, settings: &Settings) {
    let Some(held) = &settings.baseline else { return };
    let is_fan_out = |code: &str| rule(code).is_some_and(|rule| rule.fan_out_rank.is_some());
    let hushed = counted.hidden.iter().filter(|key| is_fan_out(key.code)).map(|key| key.group.to_string()).collect();
    let Report { summary, shapes, diagnostics, .. } = &mut *report;
    let (raised, comparison) =
        gated(&summary.not_checked, &hushed, settings, |gate| compare(held, shapes, diagnostics, gate));
    report.diagnostics.extend(raised);
    report.comparison = Some(comparison);
    report.diagnostics.retain_mut(|diagnostic| {
        diagnostic.code != routing_regression::RULE.code || adjust_diagnostic(&settings.adjustments, diagnostic)
    });
}

/// Takes out what suppressions hide; how many diagnostics those were.
fn suppress(report: &mut Report, counted: &mut Counted, settings: &Settings) -> u64 {
    let entries = settings.suppressions.entries();
    let before = report.diagnostics.len();
    report.diagnostics.retain(|diagnostic| {
        let entry = entries.iter().position(|entry| entry.hides(diagnostic));
        counted.used.extend(entry);
        entry.is_none()
    });
    let hidden = before - report.diagnostics.len();
    // A comment is of use if it hides something in any of the records of its shape.
    let hid: BTreeSet<(&str, String)> = counted.hidden.iter().map(|key| (key.code, key.group.to_string())).collect();
    report.diagnostics.retain(|diagnostic| {
        let asks = diagnostic.comment.as_deref().filter(|_| diagnostic.code == unused_suppression::RULE.code);
        let codes = asks.and_then(directive).map(|directive| directive.codes).unwrap_or_default();
        !codes.into_iter().any(|code| hid.contains(&(code, diagnostic.fingerprint.clone())))
    });
    hidden as u64
}

/// SL006 for entries that are past their date, and for those that hid nothing in a run that looked at everything.
fn unused_entries(
    report: &Report,
    counted: &Counted,
    settings: &Settings,
    texts: &DeclarationTexts,
) -> Vec<Diagnostic> {
    let Some(rule) = settings.enabled(unused_suppression::RULE.code) else { return Vec::new() };
    let not_checked: BTreeSet<&str> = report.summary.not_checked.iter().map(|rule| rule.code).collect();
    let was_run = |code: &str| settings.enabled(code).is_some() && !not_checked.contains(code);
    let looked_at_all = !settings.filters.name_something() && settings.filters.min_millis.is_none();
    let entries = settings.suppressions.entries().iter().enumerate();
    let unused = entries.filter(|(place, entry)| {
        entry.expired.is_some()
            || (looked_at_all && !counted.used.contains(place) && entry.rules.iter().any(|code| was_run(code)))
    });
    let mut found: Vec<Diagnostic> =
        unused.filter_map(|(_, entry)| declared(rule, &unused_entry(entry), texts)).collect();
    found.retain_mut(|diagnostic| adjust_diagnostic(&settings.adjustments, diagnostic));
    found.iter_mut().for_each(|diagnostic| diagnostic.new = settings.baseline.as_ref().map(|_| true));
    found
}
