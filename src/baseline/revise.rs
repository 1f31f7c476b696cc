//! A run as a baseline, and a baseline revised by a run: `update` adds what is new and keeps all else, `prune` drops what
//! was not seen any more and adds nothing.

use std::collections::{BTreeMap, BTreeSet};

use crate::report::{Diagnostic, Report, ShapeRow};
use crate::rules::{routing_regression, unused_suppression};

use super::compare::Gate;
use super::file::{Baseline, FindingEntry, Hash, Recorded, ShapeEntry};

/// Rules about the baseline and the suppressions themselves are never accepted.
const NOT_RECORDED: [&str; 2] = [routing_regression::RULE.code, unused_suppression::RULE.code];

/// Everything that `report` knows.
#[must_use]
pub fn recorded(report: &Report) -> Baseline {
    let rules = rules_by_shape(report);
    let shapes = report.shapes.iter().map(|row| entry(row, rules.get(row.fingerprint.as_str()))).collect();
    Baseline::new(shapes, other_findings(report).map(finding).collect())
}

/// `baseline`, and what `report` knows besides. An entry of which only the count would change stays as it is.
#[must_use]
pub fn updated(baseline: &Baseline, report: &Report) -> Baseline {
    let now = recorded(report);
    let mut shapes: BTreeMap<Hash, ShapeEntry> =
        baseline.shapes.iter().map(|entry| (entry.fingerprint.clone(), entry.clone())).collect();
    for new in now.shapes {
        let Some(old) = shapes.get_mut(&new.fingerprint) else {
            shapes.insert(new.fingerprint.clone(), new);
            continue;
        };
        let before = old.clone();
        old.set_classes(old.recorded().chain(new.recorded()).collect());
        old.rules = old.rules.iter().chain(&new.rules).cloned().collect::<BTreeSet<_>>().into_iter().collect();
        if *old != before {
            old.count = new.count;
        }
    }
    let mut findings = baseline.findings.clone();
    findings.extend(now.findings);
    Baseline::new(shapes.into_values().collect(), findings)
}

/// `baseline` without what `report` does not show any more; what the run did not look at stays.
#[must_use]
pub fn pruned(baseline: &Baseline, report: &Report, gate: &Gate<'_>) -> Baseline {
    let now = recorded(report);
    let seen: BTreeMap<&Hash, &ShapeEntry> = now.shapes.iter().map(|entry| (&entry.fingerprint, entry)).collect();
    let prune = |entry: &ShapeEntry| -> Option<ShapeEntry> {
        if !gate.looks_at(&entry.namespace) {
            return Some(entry.clone());
        }
        let now = seen.get(&entry.fingerprint)?;
        let mut kept = entry.clone();
        kept.rules.retain(|code| now.rules.contains(code) || !gate.checks(code));
        tighten(&mut kept, now);
        if kept != *entry {
            kept.count = now.count;
        }
        Some(kept)
    };
    let findings = baseline.findings.iter();
    let still = |old: &&FindingEntry| {
        !gate.looks_at(&old.namespace) || !gate.checks(&old.rule) || now.findings.iter().any(|new| is_same(old, new))
    };
    Baseline::new(baseline.shapes.iter().filter_map(prune).collect(), findings.filter(still).cloned().collect())
}

/// Leaves the classes that were seen; if none was, the better one that was seen instead. What cannot be told tells nothing.
fn tighten(kept: &mut ShapeEntry, now: &ShapeEntry) {
    if now.recorded().any(|class| class.rank().is_none()) {
        return;
    }
    let still: Vec<Recorded> = kept.recorded().filter(|class| now.recorded().any(|seen| seen == *class)).collect();
    if !still.is_empty() {
        kept.set_classes(still);
    } else if now.class.rank() < kept.class.rank() {
        kept.set_classes(now.recorded().collect());
    }
}

fn is_same(a: &FindingEntry, b: &FindingEntry) -> bool {
    (&a.rule, &a.namespace, &a.subject) == (&b.rule, &b.namespace, &b.subject)
}

fn entry(row: &ShapeRow, rules: Option<&BTreeSet<&'static str>>) -> ShapeEntry {
    let mut entry = ShapeEntry {
        namespace: row.namespace.clone(),
        operation: row.operation.to_owned(),
        shape: row.shape.clone(),
        fingerprint: Hash::new(&row.fingerprint),
        class: Recorded::named(row.class).unwrap_or(Recorded::Unknown),
        classes: Vec::new(),
        rules: rules.into_iter().flatten().map(|code| (*code).to_owned()).collect(),
        count: row.count,
        reason: None,
    };
    entry.set_classes(row.classes.keys().filter_map(|name| Recorded::named(name)).collect());
    entry
}

fn rules_by_shape(report: &Report) -> BTreeMap<&str, BTreeSet<&'static str>> {
    let mut rules: BTreeMap<&str, BTreeSet<&'static str>> = BTreeMap::new();
    let of_shapes = report.diagnostics.iter().filter(|d| d.shape.is_some() && !NOT_RECORDED.contains(&d.code));
    for diagnostic in of_shapes {
        rules.entry(&diagnostic.fingerprint).or_default().insert(diagnostic.code);
    }
    rules
}

/// The findings that are not about a shape.
fn other_findings(report: &Report) -> impl Iterator<Item = &Diagnostic> {
    report
        .diagnostics
        .iter()
        .filter(|diagnostic| diagnostic.shape.is_none() && !NOT_RECORDED.contains(&diagnostic.code))
}

fn finding(diagnostic: &Diagnostic) -> FindingEntry {
    FindingEntry {
        rule: diagnostic.code.to_owned(),
        namespace: diagnostic.namespace.clone(),
        subject: diagnostic.subject.clone().unwrap_or_default(),
        reason: None,
    }
}
