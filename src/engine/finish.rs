//! From what a run counted to the report: diagnostics and shapes in their final order, places in the input, the summary.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet};

use rustc_hash::FxHashMap;

use crate::model::ServerVersion;
use crate::report::{
    Diagnostic, Example, ExampleLabel, Location, NotChecked, Report, SeenOnShards, ShapeRow, Summary, UnreadLine,
};
use crate::routing::Class;
use crate::rules::{Evidence, Finding, prediction_contradicted, undeclared_namespace, unreadable_line};
use crate::syntax::SyntaxError;
use crate::text::{Fingerprint, LineIndex, RecordPos, SourceId, Span};

use super::adjust::adjust_diagnostic;
use super::conclude::{Counted, conclude};
use super::declarations::{DeclarationTexts, check_declarations, declared};
use super::judge::Standing;
use super::run::Outcome;
use super::scan::{Part, Unread};
use super::settings::Settings;
use super::sightings::Sightings;
use super::stats::{Group, OTHER_COLLECTIONS, ShapeStats};
use super::tally::Tally;
use super::totals::{check_namespaces, key_coverage};
use super::worker::Tallies;

/// What the report is made of besides the outcome of reading.
#[derive(Clone)]
pub struct Run<'a> {
    /// The logs, as the user named them, by source id.
    pub inputs: Vec<String>,
    /// The declarations, by source id.
    pub declarations: &'a DeclarationTexts,
    /// Findings on declarations that reading them raised (SL005).
    pub declaration_findings: Vec<Finding>,
    /// What was asked.
    pub settings: &'a Settings,
}

/// The report of a run.
#[must_use]
pub fn finish(outcome: Outcome, run: Run<'_>) -> Report {
    let total = outcome.total;
    let mut tallies = outcome.tallies;
    tallies.settle();
    let Tallies { direct: mut tally, through_router, saw_router, sightings, .. } = tallies;
    let mut via_router = 0;
    if saw_router {
        via_router = through_router.records();
        tally.merge_plans(through_router);
    } else {
        tally.merge(through_router);
    }
    tally.join_namespaces();
    let counted = Counted {
        hidden: std::mem::take(&mut tally.hidden),
        used: std::mem::take(&mut tally.used),
        limits: std::mem::take(&mut tally.limits),
    };
    let mut summary = run.summary(&total, &tally);
    summary.via_router = via_router;
    let seen_on = seen_on(sightings, &total, &mut summary, saw_router);
    summary.key_coverage = key_coverage(&tally.usage, &run.settings.catalog);
    let of_namespaces = check_namespaces(&tally, run.settings, run.declarations);
    let total_millis = tally.classes.iter().map(|class| class.millis).sum();
    summary.notes.extend(folded(&tally, run.settings.most_shapes));
    let shapes = run.shapes(tally.shapes.into_values().chain(tally.others.into_values()), &seen_on);
    let contradicted = contradicted(&shapes, &run);
    let mut diagnostics: Vec<Placed> = Vec::with_capacity(tally.groups.len());
    diagnostics.extend(tally.groups.into_values().filter_map(|group| run.placed(group, total_millis)));
    diagnostics.extend(run.unread(&total).map(Placed::unplaced));
    diagnostics.extend(check_declarations(run.settings, run.declarations).into_iter().map(Placed::unplaced));
    diagnostics.extend(of_namespaces.into_iter().chain(contradicted).map(Placed::unplaced));
    let malformed = run.settings.enabled("SL005").into_iter().flat_map(|rule| {
        run.declaration_findings.iter().filter_map(|finding| declared(rule, finding, run.declarations))
    });
    diagnostics.extend(malformed.map(Placed::unplaced));
    // Findings on events were adjusted where their application is known.
    let adjustments = &run.settings.adjustments;
    diagnostics.retain_mut(|p| p.position.is_some() || adjust_diagnostic(adjustments, &mut p.diagnostic));
    diagnostics.sort_by(|a, b| a.order().cmp(&b.order()));
    let mut report = Report {
        summary,
        shapes,
        diagnostics: diagnostics.into_iter().map(|placed| placed.diagnostic).collect(),
        declarations: run.declarations.texts.clone(),
        ..Report::default()
    };
    conclude(&mut report, counted, run.settings, run.declarations);
    report
}

/// A diagnostic and the place that decides between equals.
struct Placed {
    diagnostic: Diagnostic,
    position: Option<RecordPos>,
}

impl Placed {
    fn unplaced(diagnostic: Diagnostic) -> Self {
        Self { diagnostic, position: None }
    }

    /// Most serious first, then the longest, then by name and place.
    #[allow(clippy::type_complexity)]
    fn order(
        &self,
    ) -> (
        Reverse<crate::rules::Severity>,
        Reverse<u64>,
        Reverse<u64>,
        &str,
        &str,
        Option<&str>,
        Option<RecordPos>,
        &Location,
    ) {
        let d = &self.diagnostic;
        (
            Reverse(d.severity),
            Reverse(d.millis),
            Reverse(d.count),
            d.code,
            &d.namespace,
            d.shape.as_deref(),
            self.position,
            &d.example.labels[0].location,
        )
    }
}

impl Run<'_> {
    fn placed(&self, group: Box<Group>, total_millis: u64) -> Option<Placed> {
        let mut worst = group.worst?;
        if group.rule.code == undeclared_namespace::RULE.code {
            // Only now is it known which share of the time the namespace takes.
            let place = worst.finding.labels.first().map(|label| label.span).unwrap_or_default();
            worst.finding = match group.namespace.as_str() {
                OTHER_COLLECTIONS => undeclared_namespace::others(group.millis, total_millis, place),
                namespace => undeclared_namespace::undeclared(namespace, group.millis, total_millis, place),
            };
        }
        let position = worst.position;
        let labels: Vec<ExampleLabel> = worst
            .finding
            .labels
            .iter()
            .filter_map(|label| match label.source {
                Some(source) => self.declarations.foreign_label(source, label.span, &label.text),
                None => Some(self.label(position, worst.lead, &worst.record, label.span, &label.text)),
            })
            .collect();
        if labels.is_empty() {
            return None;
        }
        let seen = |pick: fn((i64, i64)) -> i64| group.seen.map(pick).and_then(rfc3339);
        Some(Placed {
            position: Some(position),
            diagnostic: Diagnostic {
                code: group.rule.code,
                rule: group.rule.name,
                severity: worst.severity,
                namespace: group.namespace,
                operation: group.shape.is_some().then_some(group.operation),
                message: worst.finding.message,
                help: worst.finding.help,
                shape: group.shape,
                subject: None,
                fingerprint: group.fingerprint.to_string(),
                count: group.count,
                millis: group.millis,
                first_seen: seen(|(first, _)| first),
                last_seen: seen(|(_, last)| last),
                new: None,
                was: None,
                now: None,
                example: Example { record: worst.record, is_declaration: false, line: position.line, labels },
                comment: worst.comment,
            },
        })
    }

    fn label(&self, position: RecordPos, lead: u32, record: &[u8], span: Span, text: &str) -> ExampleLabel {
        ExampleLabel {
            location: self.location(position, lead, record, span),
            text: text.to_owned(),
            snippet: record.get(span.range()).unwrap_or_default().to_vec(),
            start: span.start as usize,
            end: span.end as usize,
            other_source: None,
        }
    }

    /// Where `span` of a record stands that begins `lead` bytes behind the beginning of its line.
    fn location(&self, position: RecordPos, lead: u32, record: &[u8], span: Span) -> Location {
        let at = |offset: u32| {
            let at = LineIndex::locate(record, offset as usize);
            let column = if at.line == 1 { u64::from(lead) + u64::from(offset) + 1 } else { at.column };
            (position.line + at.line - 1, column)
        };
        let ((line, column), (end_line, end_column)) = (at(span.start), at(span.end));
        Location {
            path: self.inputs[position.source.0 as usize].clone(),
            line,
            column,
            end_line,
            end_column,
            byte_start: position.offset + u64::from(span.start),
            byte_end: position.offset + u64::from(span.end),
        }
    }

    /// Shapes by time, then count, then name.
    fn shapes(
        &self,
        stats: impl Iterator<Item = Box<ShapeStats>>,
        seen_on: &FxHashMap<Fingerprint, SeenOnShards>,
    ) -> Vec<ShapeRow> {
        let seen_on = |stats: &ShapeStats| seen_on.get(&stats.fingerprint).copied();
        let row = |stats: Box<ShapeStats>| Some(ShapeRow { seen_on_shards: seen_on(&stats), ..self.shape(stats)? });
        let mut rows: Vec<ShapeRow> = stats.filter_map(row).collect();
        let order = |row: &ShapeRow| {
            (Reverse(row.millis), Reverse(row.count), row.namespace.clone(), row.operation, row.shape.clone())
        };
        rows.sort_by_cached_key(order);
        rows
    }

    fn shape(&self, mut stats: Box<ShapeStats>) -> Option<ShapeRow> {
        let (standing, position, reason) = stats.worst.take()?;
        let example = stats.example.as_ref().map(|kept| {
            let labels = vec![self.label(position, kept.lead, &kept.record, kept.place, &reason)];
            let example = Example { record: kept.record.clone(), is_declaration: false, line: position.line, labels };
            (example, kept.comment.clone())
        });
        Some(ShapeRow {
            count: stats.count(),
            classes: Standing::ALL
                .iter()
                .zip(stats.standings)
                .filter(|(_, count)| *count > 0)
                .map(|(standing, count)| (standing.name(), count))
                .collect::<BTreeMap<_, _>>(),
            fingerprint: stats.fingerprint.to_string(),
            class: standing.name(),
            example,
            namespace: stats.namespace,
            operation: stats.operation,
            shape: stats.shape,
            millis: stats.millis,
            percentiles: [50, 95, 99].map(|percent| stats.durations.percentile(percent).min(stats.max_millis)),
            max_millis: stats.max_millis,
            observed_shards: stats.observed_shards,
            seen_on_shards: None,
            plans: stats.plans.by_frequency(),
            shards: stats.shards.map(|shards| shards.into_iter().collect()),
            reason,
        })
    }

    /// One SL002 for each input with lines that were not understood, at the first of them.
    fn unread<'b>(&'b self, total: &'b Part) -> impl Iterator<Item = Diagnostic> + 'b {
        let rule = self.settings.enabled(unreadable_line::RULE.code);
        total.unread_by_source.iter().filter_map(move |&(source, count)| {
            let first = total.unread_first.iter().find(|unread| unread.position.source == source)?;
            let (rule, path) = (rule?, &self.inputs[source.0 as usize]);
            let finding = unreadable_line::unreadable(&SyntaxError::new(first.shown(), first.why.clone()));
            let labels = finding
                .labels
                .iter()
                .map(|l| self.label(first.position, first.lead, &first.line, l.span, &l.text))
                .collect();
            Some(Diagnostic {
                code: rule.code,
                rule: rule.name,
                severity: finding.severity.unwrap_or(rule.severity),
                namespace: String::new(),
                operation: None,
                message: finding.message,
                help: finding.help,
                shape: None,
                subject: Some(path.clone()),
                fingerprint: Fingerprint::of(&["lines-1", rule.code, path]).to_string(),
                count,
                millis: 0,
                first_seen: None,
                last_seen: None,
                new: None,
                was: None,
                now: None,
                example: Example {
                    record: first.line.as_slice().into(),
                    is_declaration: false,
                    line: first.position.line,
                    labels,
                },
                comment: None,
            })
        })
    }

    fn summary(&self, total: &Part, tally: &Tally) -> Summary {
        let counts = &total.counts;
        let (version, assumed) = self.version(total);
        let mut summary = Summary {
            lines: counts.lines,
            slow_queries: counts.slow_queries,
            other_records: counts.other_records,
            not_understood: counts.not_understood,
            truncated: counts.truncated,
            filtered: counts.filtered,
            filtered_explains: counts.filtered_explains,
            duplicates: counts.duplicates,
            internal: counts.internal,
            not_queries: counts.not_queries,
            explains: counts.explains,
            classes: Standing::ALL.iter().zip(tally.classes).map(|(s, count)| (s.name(), count)).collect(),
            not_checked: self.not_checked(counts.slow_queries + counts.explains > 0, counts.explains > 0),
            from: total.seen.and_then(|(first, _)| rfc3339(first)),
            to: total.seen.and_then(|(_, last)| rfc3339(last)),
            server_version: version,
            version_assumed: assumed,
            unread: total.unread.iter().map(|unread| self.unread_line(unread)).collect(),
            inputs: self.inputs.clone(),
            processes: total.processes.told(&self.inputs, &self.settings.roles),
            ..Summary::default()
        };
        summary.notes = notes(&summary);
        summary
    }

    /// The versions whose rules were applied, oldest first, and whether one of them was assumed.
    fn version(&self, total: &Part) -> (String, bool) {
        let (declared, assumed) = self.settings.version_for(None, None);
        let none_logged = total.versions.is_empty();
        let versions: BTreeSet<ServerVersion> = if none_logged { [declared].into() } else { total.versions.clone() };
        let names: Vec<String> = versions.iter().map(ToString::to_string).collect();
        (names.join(", "), if none_logged { assumed } else { total.version_assumed })
    }

    fn unread_line(&self, unread: &Unread) -> UnreadLine {
        UnreadLine {
            path: self.inputs[unread.position.source.0 as usize].clone(),
            line: unread.position.line,
            column: u64::from(unread.lead) + u64::from(unread.at.start) + 1,
            why: unread.why.clone(),
        }
    }

    /// Rules whose evidence the run did not have, each with the first thing it lacks.
    fn not_checked(&self, any_query: bool, any_plan: bool) -> Vec<NotChecked> {
        let catalog = &self.settings.catalog;
        let has = |evidence: &Evidence| match evidence {
            Evidence::Log => any_query,
            Evidence::Key => catalog.collections().any(|c| c.key_pattern.is_some()),
            Evidence::Indexes => catalog.collections().any(|c| c.indexes.complete || !c.indexes.specs.is_empty()),
            Evidence::Chunks => !catalog.homes.is_empty() || catalog.collections().any(|c| c.chunks.is_some()),
            Evidence::ShardCount => catalog.shards.is_some() || catalog.shard_count.is_some(),
            Evidence::Version => true,
            Evidence::Plan => any_plan,
            // A baseline is asked for, not found: without one nothing goes unchecked.
            Evidence::Baseline => true,
        };
        let lacks = |rule: &&'static crate::rules::Rule| rule.needs.iter().find(|evidence| !has(evidence)).copied();
        let rules = self.settings.rules.iter();
        rules.filter_map(|rule| lacks(rule).map(|needs| NotChecked { code: rule.code, needs: needs.name() })).collect()
    }
}

/// How much is in the shapes that are not told apart.
fn folded(tally: &Tally, most: usize) -> Option<String> {
    let statements: u64 = tally.others.values().map(|stats| stats.count()).sum();
    let (shapes, is_exact) = tally.folded.count();
    let about = if is_exact { "" } else { "about " };
    (shapes > 0).then(|| {
        format!(
            "{most} shapes are told apart; {about}{shapes} rarer ones, with {statements} statements, are counted as the \
             other shapes of their collections, or of all that are not declared"
        )
    })
}

/// Shapes that one shard should answer, and of which each operation was seen on several.
fn contradicted(shapes: &[ShapeRow], run: &Run<'_>) -> Vec<Diagnostic> {
    let Some(rule) = run.settings.enabled(prediction_contradicted::RULE.code) else { return Vec::new() };
    let targeted = shapes.iter().filter(|row| row.classes.keys().all(|class| *class == Class::Targeted.name()));
    let diagnostic = |row: &ShapeRow| {
        let seen = row.seen_on_shards.filter(|seen| seen.min > 1 && seen.named == seen.operations)?;
        // A router's own count says it better.
        let collection = run.settings.catalog.get(&row.namespace).filter(|_| row.observed_shards.is_none())?;
        let finding = prediction_contradicted::seen(collection, &row.namespace, row.operation, &row.shape, seen.min)?;
        Some(Diagnostic {
            operation: Some(row.operation),
            shape: Some(row.shape.clone()),
            subject: None,
            fingerprint: row.fingerprint.clone(),
            count: row.count,
            millis: row.millis,
            ..declared(rule, &finding, run.declarations)?
        })
    };
    targeted.filter_map(diagnostic).collect()
}

/// On how many shards operations were seen, by shape; the summary is told where that is all there is to count them by.
fn seen_on(
    sightings: Sightings,
    total: &Part,
    summary: &mut Summary,
    saw_router: bool,
) -> FxHashMap<Fingerprint, SeenOnShards> {
    let shards = total.processes.shards(&summary.processes);
    summary.notes.extend(several_logs(&shards, saw_router));
    sightings.by_shape(&shards)
}

/// What follows from logs of several shards without one of a router.
fn several_logs(shards: &BTreeMap<SourceId, usize>, saw_router: bool) -> Option<String> {
    let count = shards.values().collect::<BTreeSet<_>>().len();
    (count > 1 && !saw_router).then(|| {
        format!(
            "logs of {count} shards and of no router: an operation counts once for each shard that logged it, and asked no \
             fewer shards than that"
        )
    })
}

/// What the counts alone tell the user.
fn notes(summary: &Summary) -> Vec<String> {
    let mut notes = Vec::new();
    let read = summary.lines > 0 && summary.other_records > 0 && summary.explains == 0;
    if read && summary.slow_queries == 0 {
        notes.push(
            "the log holds no slow queries: lower the threshold for a while with \
             db.setProfilingLevel(0, { slowms: 0 }) on each mongod, or db.adminCommand({ profile: 0, slowms: 0 }) on mongos"
                .to_owned(),
        );
    }
    notes
}

/// A time in RFC 3339 with `Z`.
fn rfc3339(millis: i64) -> Option<String> {
    jiff::Timestamp::from_millisecond(millis).ok().map(|time| time.to_string())
}
