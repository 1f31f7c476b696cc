//! A run held against a baseline: marks each finding as new or known, raises SL902, lists what is different.
//! A class is worse if it stands for more shards than any class that was recorded for the shape; `unknown` is no class
//! to compare with, so a change from or to it is told and is no regression.

use std::collections::{BTreeMap, BTreeSet};

use crate::report::{Change, ChangeKind, Comparison, Diagnostic, ShapeRow};
use crate::rules::{Rule, Severity, routing_regression, rule};

use super::file::{Baseline, FindingEntry, Recorded, ShapeEntry};

/// What a run looks at and what it lets pass.
pub struct Gate<'a> {
    /// The class from which a shape that the baseline does not know is an error.
    pub fail_on: Recorded,
    /// SL902, if it is to be raised.
    pub regression: Option<&'static Rule>,
    /// The rules that were run and had their evidence.
    pub checked: &'a dyn Fn(&str) -> bool,
    /// Whether the filters of the run admit a namespace.
    pub admitted: &'a dyn Fn(&str) -> bool,
    /// Fingerprints of shapes whose finding on fan-out was suppressed.
    pub hushed: &'a BTreeSet<String>,
}

impl Gate<'_> {
    /// Whether the rule with that code was run and had its evidence.
    #[must_use]
    pub fn checks(&self, code: &str) -> bool {
        (self.checked)(code)
    }

    /// Whether the filters of the run admit that namespace.
    #[must_use]
    pub fn looks_at(&self, namespace: &str) -> bool {
        namespace.is_empty() || (self.admitted)(namespace)
    }
}

/// A baseline and its name.
#[derive(Debug, Clone)]
pub struct Held {
    /// As the user named the file.
    pub name: String,
    /// What it holds.
    pub baseline: Baseline,
}

/// Holds a run against a baseline: its diagnostics are marked; those to be added, and all differences, are returned.
#[must_use]
pub fn compare(
    held: &Held,
    shapes: &[ShapeRow],
    diagnostics: &mut [Diagnostic],
    gate: &Gate<'_>,
) -> (Vec<Diagnostic>, Comparison) {
    let entries: BTreeMap<&str, &ShapeEntry> =
        held.baseline.shapes.iter().map(|entry| (entry.fingerprint.as_str(), entry)).collect();
    let findings = Findings::of(&held.baseline.findings);
    for diagnostic in diagnostics.iter_mut() {
        diagnostic.new = Some(!is_known(diagnostic, &entries, &findings));
    }
    let mut changes = Vec::new();
    let mut raised = Vec::new();
    let mut by_shape: BTreeMap<String, Vec<&mut Diagnostic>> = BTreeMap::new();
    for diagnostic in diagnostics.iter_mut().filter(|d| d.shape.is_some()) {
        by_shape.entry(diagnostic.fingerprint.clone()).or_default().push(diagnostic);
    }
    for row in shapes {
        let mut on_shape = by_shape.remove(&row.fingerprint).unwrap_or_default();
        let entry = entries.get(row.fingerprint.as_str()).copied();
        let seen = Seen { row, now: Recorded::worst(classes(row)), entry };
        changes.extend(seen.change(&on_shape));
        raised.extend(seen.raise(&mut on_shape, gate));
        changes.extend(seen.rules_gone(&on_shape, gate));
    }
    changes.extend(new_findings(diagnostics));
    changes.extend(gone(held, shapes, diagnostics, gate));
    changes.sort_by(|a, b| order(a).cmp(&order(b)));
    (raised, Comparison { baseline: held.name.clone(), changes })
}

#[allow(clippy::type_complexity)]
fn order(change: &Change) -> (ChangeKind, &str, Option<&str>, &str, &[String]) {
    (change.kind, &change.namespace, change.operation.as_deref(), &change.what, &change.rules)
}

/// (rule, namespace, subject) of the findings that are not about a shape.
struct Findings<'a>(BTreeSet<(&'a str, &'a str, &'a str)>);

impl<'a> Findings<'a> {
    fn of(entries: &'a [FindingEntry]) -> Self {
        Self(entries.iter().map(|e| (e.rule.as_str(), e.namespace.as_str(), e.subject.as_str())).collect())
    }

    fn have(&self, diagnostic: &Diagnostic) -> bool {
        let subject = diagnostic.subject.as_deref().unwrap_or_default();
        self.0.contains(&(diagnostic.code, diagnostic.namespace.as_str(), subject))
    }
}

fn is_known(diagnostic: &Diagnostic, entries: &BTreeMap<&str, &ShapeEntry>, findings: &Findings<'_>) -> bool {
    match diagnostic.shape {
        Some(_) => {
            let entry = entries.get(diagnostic.fingerprint.as_str());
            entry.is_some_and(|entry| entry.rules.iter().any(|code| code == diagnostic.code))
        }
        None => findings.have(diagnostic),
    }
}

fn classes(row: &ShapeRow) -> impl Iterator<Item = Recorded> {
    row.classes.keys().filter_map(|name| Recorded::named(name))
}

/// A shape of the run, and what the baseline has of it.
struct Seen<'a> {
    row: &'a ShapeRow,
    now: Option<Recorded>,
    entry: Option<&'a ShapeEntry>,
}

impl Seen<'_> {
    fn was(&self) -> Option<Recorded> {
        self.entry.and_then(|entry| Recorded::worst(entry.recorded()))
    }

    /// What became of its class; a shape whose class is the same has changed if a rule speaks of it for the first time.
    fn kind(&self) -> Option<ChangeKind> {
        let Some(was) = self.was() else { return Some(ChangeKind::New) };
        let now = self.now?;
        match (was.rank(), now.rank()) {
            (Some(was), Some(now)) if now > was => Some(ChangeKind::Worse),
            // Some of its records tell nothing: they may be those that were worse.
            (Some(was), Some(now)) if now < was && classes(self.row).any(|class| class.rank().is_none()) => {
                Some(ChangeKind::Unclear)
            }
            (Some(was), Some(now)) if now < was => Some(ChangeKind::Better),
            (Some(_), None) | (None, Some(_)) => Some(ChangeKind::Unclear),
            _ => None,
        }
    }

    fn change(&self, on_shape: &[&mut Diagnostic]) -> Option<Change> {
        let new: BTreeSet<&str> = on_shape.iter().filter(|d| d.new == Some(true)).map(|d| d.code).collect();
        let kind = self.kind().or((!new.is_empty()).then_some(ChangeKind::New))?;
        Some(self.told(kind, new.into_iter().map(str::to_owned).collect()))
    }

    fn told(&self, kind: ChangeKind, rules: Vec<String>) -> Change {
        Change {
            kind,
            namespace: self.row.namespace.clone(),
            operation: Some(self.row.operation.to_owned()),
            what: self.row.shape.clone(),
            fingerprint: Some(self.row.fingerprint.clone()),
            was: self.was().map(Recorded::name),
            now: self.now.map(Recorded::name),
            rules,
        }
    }

    /// Rules that spoke of the shape and do not any more, where its class alone does not say that it is better.
    fn rules_gone(&self, on_shape: &[&mut Diagnostic], gate: &Gate<'_>) -> Option<Change> {
        let entry = self.entry?;
        let is_gone = |code: &&String| gate.checks(code) && !on_shape.iter().any(|d| d.code == code.as_str());
        let rules: Vec<String> = entry.rules.iter().filter(is_gone).cloned().collect();
        let told = self.kind().is_some();
        (!rules.is_empty() && !told).then(|| self.told(ChangeKind::Better, rules))
    }

    /// The classes beside the findings where they differ, and SL902 where the shape must fail the run and nothing else does.
    fn raise(&self, on_shape: &mut [&mut Diagnostic], gate: &Gate<'_>) -> Option<Diagnostic> {
        let kind = self.kind()?;
        for diagnostic in on_shape.iter_mut() {
            (diagnostic.was, diagnostic.now) = (self.was().map(Recorded::name), self.now.map(Recorded::name));
        }
        let now = self.now?;
        match (kind, self.was()) {
            (ChangeKind::Worse, Some(was)) => self.regression(was, now, gate),
            (ChangeKind::New, None) if now.rank() >= gate.fail_on.rank() => self.unknown_shape(on_shape, now, gate),
            _ => None,
        }
    }

    fn regression(&self, was: Recorded, now: Recorded, gate: &Gate<'_>) -> Option<Diagnostic> {
        let (rule, row) = (gate.regression?, self.row);
        let worse = row.classes.iter().filter(|(name, _)| Recorded::named(name).is_some_and(|c| c.rank() > was.rank()));
        let count = worse.map(|(_, count)| count).sum();
        let words = routing_regression::worse(row.operation, &row.namespace, was.name(), now.name());
        self.diagnostic(rule, words, Some(was), now, count)
    }

    /// A new shape is an error: one of its own findings on fan-out becomes one, or SL902 says it.
    fn unknown_shape(&self, on_shape: &mut [&mut Diagnostic], now: Recorded, gate: &Gate<'_>) -> Option<Diagnostic> {
        let is_fan_out = |d: &Diagnostic| rule(d.code).is_some_and(|rule| rule.fan_out_rank.is_some());
        if let Some(worst) = on_shape.iter().find(|d| is_fan_out(d)).map(|d| d.code) {
            on_shape.iter_mut().filter(|d| d.code == worst).for_each(|d| d.severity = Severity::Error);
            return None;
        }
        if gate.hushed.contains(&self.row.fingerprint) {
            return None;
        }
        let words = routing_regression::unknown_shape(self.row.operation, &self.row.namespace, now.name());
        self.diagnostic(gate.regression?, words, None, now, self.row.count)
    }

    fn diagnostic(
        &self,
        rule: &'static Rule,
        (message, help): (String, String),
        was: Option<Recorded>,
        now: Recorded,
        count: u64,
    ) -> Option<Diagnostic> {
        let row = self.row;
        let (example, comment) = row.example.clone()?;
        Some(Diagnostic {
            code: rule.code,
            rule: rule.name,
            severity: rule.severity,
            namespace: row.namespace.clone(),
            operation: Some(row.operation),
            message,
            help: Some(help),
            shape: Some(row.shape.clone()),
            subject: None,
            fingerprint: row.fingerprint.clone(),
            count,
            millis: row.millis,
            first_seen: None,
            last_seen: None,
            new: Some(true),
            was: was.map(Recorded::name),
            now: Some(now.name()),
            example,
            comment,
        })
    }
}

/// Findings without a shape that the baseline does not know.
fn new_findings(diagnostics: &[Diagnostic]) -> impl Iterator<Item = Change> {
    let new = diagnostics.iter().filter(|d| d.shape.is_none() && d.new == Some(true));
    new.map(|d| Change {
        kind: ChangeKind::New,
        namespace: d.namespace.clone(),
        operation: None,
        what: d.subject.clone().unwrap_or_default(),
        fingerprint: None,
        was: None,
        now: None,
        rules: vec![d.code.to_owned()],
    })
}

/// Shapes and findings of the baseline that the run looked for and did not see.
fn gone(held: &Held, shapes: &[ShapeRow], diagnostics: &[Diagnostic], gate: &Gate<'_>) -> Vec<Change> {
    let seen: BTreeSet<&str> = shapes.iter().map(|row| row.fingerprint.as_str()).collect();
    let shapes = held.baseline.shapes.iter();
    let shapes =
        shapes.filter(|e| !seen.contains(e.fingerprint.as_str()) && gate.looks_at(&e.namespace)).map(|entry| Change {
            kind: ChangeKind::Gone,
            namespace: entry.namespace.clone(),
            operation: Some(entry.operation.clone()),
            what: entry.shape.clone(),
            fingerprint: Some(entry.fingerprint.as_str().to_owned()),
            was: Recorded::worst(entry.recorded()).map(Recorded::name),
            now: None,
            rules: entry.rules.clone(),
        });
    let found: BTreeSet<(&str, &str, &str)> = diagnostics
        .iter()
        .filter(|d| d.shape.is_none())
        .map(|d| (d.code, d.namespace.as_str(), d.subject.as_deref().unwrap_or_default()))
        .collect();
    let is_gone = |e: &&FindingEntry| {
        !found.contains(&(e.rule.as_str(), e.namespace.as_str(), e.subject.as_str()))
            && gate.looks_at(&e.namespace)
            && gate.checks(&e.rule)
    };
    let findings = held.baseline.findings.iter().filter(is_gone).map(|entry| Change {
        kind: ChangeKind::Gone,
        namespace: entry.namespace.clone(),
        operation: None,
        what: entry.subject.clone(),
        fingerprint: None,
        was: None,
        now: None,
        rules: vec![entry.rule.clone()],
    });
    shapes.chain(findings).collect()
}
