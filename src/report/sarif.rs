//! SARIF 2.1.0, for code scanning. Regions point at the true bytes, with columns in UTF-16 code units as `columnKind` says;
//! a finding is known by its rule, namespace and shape, so an alert survives whatever moves lines. No code flows: a log
//! has none.

use std::collections::BTreeMap;
use std::io;

use serde_json::{Value, json};
use serde_sarif::sarif::{
    ArtifactContent, ArtifactLocation, Invocation, Location as SarifLocation, LogicalLocation, Message,
    MultiformatMessageString, Notification, PhysicalLocation, PropertyBag, Region, ReportingConfiguration,
    ReportingDescriptor, ReportingDescriptorReference, Result as SarifResult, ResultLevel, Run, Sarif, ToolComponent,
};

use super::RenderOptions;
use super::data::{Diagnostic, ExampleLabel, LimitResult, Report};
use super::inline;
use super::json::write_pretty;
use super::pages::page;
use super::place::Place;
use crate::rules::{Rule, Severity, rule};

const SCHEMA: &str = "https://json.schemastore.org/sarif-2.1.0.json";

/// Writes what `shown` tells; `report` is the same with the literals, from which columns are counted.
pub fn render(report: &Report, shown: &Report, options: &RenderOptions, out: &mut dyn io::Write) -> io::Result<()> {
    let rules = rules(report);
    let mut seen = BTreeMap::new();
    let results = report.diagnostics.iter().zip(&shown.diagnostics).filter_map(|(source, shown)| {
        let writer = Writer { report, source, shown, options };
        let index = rules.iter().position(|rule| rule.code == source.code)?;
        writer.result(index, seen.entry(source.identity()).and_modify(|n| *n += 1).or_insert(1_u32))
    });
    let results: Vec<SarifResult> = results.collect();
    let mut driver = ToolComponent::builder()
        .name(env!("CARGO_PKG_NAME"))
        .semantic_version(env!("CARGO_PKG_VERSION"))
        .rules(rules.iter().map(|rule| descriptor(rule)).collect::<Vec<_>>())
        .build();
    let invocation = exceeded_limits(report);
    driver.notifications = invocation.is_some().then(|| vec![limit_descriptor()]);
    let mut run = Run::builder().tool(driver).results(results).column_kind("utf16CodeUnits").build();
    run.invocations = invocation.map(|invocation| vec![invocation]);
    let sarif = Sarif::builder().schema(SCHEMA).version("2.1.0").runs(vec![run]).build();
    write_pretty(&sarif, out)?;
    writeln!(out)
}

/// The id of notifications on limits.
const LIMIT: &str = "max-broadcast-share";

/// Limits that are exceeded stand nowhere, so they are notifications and no results.
fn exceeded_limits(report: &Report) -> Option<Invocation> {
    let notification = |limit: &LimitResult| {
        let descriptor = ReportingDescriptorReference::builder().id(LIMIT).index(0).build();
        let message = Message::builder().text(super::escape(&limit.words())).build();
        Notification::builder().descriptor(descriptor).level(json!("error")).message(message).build()
    };
    let notifications: Vec<_> = report.limits.iter().filter(|limit| limit.exceeded).map(notification).collect();
    let told = !notifications.is_empty();
    told.then(|| Invocation::builder().execution_successful(true).tool_execution_notifications(notifications).build())
}

fn limit_descriptor() -> ReportingDescriptor {
    let text = MultiformatMessageString::builder().text("broadcasts are a greater share than the limit allows").build();
    ReportingDescriptor::builder().id(LIMIT).short_description(text).build()
}

/// The rules that found something, by code.
fn rules(report: &Report) -> Vec<&'static Rule> {
    let mut rules: Vec<&'static Rule> = report.diagnostics.iter().filter_map(|d| rule(d.code)).collect();
    rules.sort_unstable_by_key(|rule| rule.code);
    rules.dedup_by_key(|rule| rule.code);
    rules
}

fn descriptor(rule: &Rule) -> ReportingDescriptor {
    let text = |text: &str| MultiformatMessageString::builder().text(text).build();
    let explanation = rule.explanation.trim();
    let help = MultiformatMessageString::builder().text(explanation).markdown(explanation).build();
    let configuration = ReportingConfiguration::builder().level(level(rule.severity).to_string()).build();
    let mut descriptor = ReportingDescriptor::builder()
        .id(rule.code)
        .name(rule.name)
        .short_description(text(rule.summary))
        .full_description(text(rule.summary))
        .help(help)
        .default_configuration(configuration)
        .properties(bag([("problem.severity", json!(problem_severity(rule.severity)))], &["mongodb", "sharding"]))
        .build();
    descriptor.help_uri = page(rule.code);
    descriptor
}

fn level(severity: Severity) -> ResultLevel {
    match severity {
        Severity::Error => ResultLevel::Error,
        Severity::Warning => ResultLevel::Warning,
        Severity::Info => ResultLevel::Note,
    }
}

/// What code scanning calls severities.
fn problem_severity(severity: Severity) -> &'static str {
    match severity {
        Severity::Error => "error",
        Severity::Warning => "warning",
        Severity::Info => "recommendation",
    }
}

fn bag<const N: usize>(members: [(&str, Value); N], tags: &[&str]) -> PropertyBag {
    let members = members.into_iter().filter(|(_, value)| !value.is_null());
    PropertyBag {
        tags: (!tags.is_empty()).then(|| tags.iter().map(ToString::to_string).collect()),
        additional_properties: members.map(|(name, value)| (name.to_owned(), value)).collect(),
    }
}

struct Writer<'a> {
    report: &'a Report,
    source: &'a Diagnostic,
    shown: &'a Diagnostic,
    options: &'a RenderOptions,
}

impl Writer<'_> {
    fn result(&self, index: usize, ordinal: &u32) -> Option<SarifResult> {
        let d = self.shown;
        let identity = d.identity();
        // Code scanning tracks an alert by the first of these and no other.
        let fingerprints: BTreeMap<String, String> = [
            ("primaryLocationLineHash".to_owned(), format!("{identity}:{ordinal}")),
            ("shardlintFinding/v1".to_owned(), identity),
        ]
        .into();
        let mut result = SarifResult::builder()
            .rule_id(d.code)
            .rule_index(i64::try_from(index).ok()?)
            .level(level(d.severity))
            .message(self.message())
            .locations(vec![self.location()?])
            .partial_fingerprints(fingerprints)
            .occurrence_count(i64::try_from(d.count.max(1)).unwrap_or(i64::MAX))
            .properties(self.properties())
            .build();
        let related = self.related();
        result.related_locations = (!related.is_empty()).then_some(related);
        result.baseline_state = d.new.map(|is_new| json!(if is_new { "new" } else { "unchanged" }));
        Some(result)
    }

    fn message(&self) -> Message {
        let d = self.shown;
        let mut text = d.message.clone();
        for more in
            [d.shape.as_ref().map(|shape| format!(": `{shape}`")), d.help.as_ref().map(|help| format!("; {help}"))]
        {
            text.push_str(&more.unwrap_or_default());
        }
        let mut plain = super::escape(&text);
        // `[text](target)` is a link even in plain messages.
        if plain.contains("](") {
            plain = plain.replace('\\', "\\\\").replace('[', "\\[").replace(']', "\\]");
        }
        Message::builder().text(plain).markdown(inline::markdown(&text)).build()
    }

    fn properties(&self) -> PropertyBag {
        let d = self.shown;
        let members = [
            ("namespace", json!((!d.namespace.is_empty()).then_some(&d.namespace))),
            ("operation", json!(d.operation)),
            ("shape", json!(d.shape)),
            ("fingerprint", json!(d.fingerprint)),
            ("count", json!(d.count)),
            ("millis", json!(d.millis)),
            ("firstSeen", json!(d.first_seen)),
            ("lastSeen", json!(d.last_seen)),
            ("was", json!(d.was)),
            ("now", json!(d.now)),
        ];
        bag(members, &[])
    }

    /// The place to look at; the namespace too, where there is one.
    fn location(&self) -> Option<SarifLocation> {
        let (place, is_application) = Place::of(self.source, &self.options.root)?;
        let primary = (!is_application).then_some(0);
        let mut location = self.physical(&place, primary);
        let namespace = &self.shown.namespace;
        if !namespace.is_empty() {
            let logical = LogicalLocation::builder().fully_qualified_name(namespace).kind("collection").build();
            location.logical_locations = Some(vec![logical]);
        }
        Some(location)
    }

    /// What else the example shows: the record itself if the application's source is the place, and the other labels.
    fn related(&self) -> Vec<SarifLocation> {
        let skipped =
            usize::from(Place::of(self.source, &self.options.root).is_some_and(|(_, application)| !application));
        let labels = self.source.example.labels.iter().zip(&self.shown.example.labels).enumerate().skip(skipped);
        let locations = labels.map(|(at, (label, shown))| {
            let place = Place::at(&label.location, &self.options.root);
            let mut location = self.physical(&place, Some(at));
            location.id = i64::try_from(at).ok();
            location.message = Some(Message::builder().text(super::escape(&shown.text)).build());
            location
        });
        locations.collect()
    }

    /// A place, with the region of the label that has it. A path that leads out of the working directory is told, not linked.
    fn physical(&self, place: &Place, label: Option<usize>) -> SarifLocation {
        let Some(uri) = place.uri() else {
            return SarifLocation::builder().message(super::escape(&place.words()).as_str()).build();
        };
        let region = match label {
            Some(at) => self.region(at),
            None => Region::builder().start_line(number(place.line)).build(),
        };
        let artifact = ArtifactLocation::builder().uri(uri).uri_base_id("%SRCROOT%").build();
        let physical = PhysicalLocation::builder().artifact_location(artifact).region(region).build();
        SarifLocation::builder().physical_location(physical).build()
    }

    fn region(&self, at: usize) -> Region {
        let label = &self.source.example.labels[at];
        let text = match label.other_source {
            Some(index) => self.report.declarations.get(index).map_or(&[][..], |(_, text)| text),
            None => &self.source.example.record,
        };
        let place = &label.location;
        let mut region = Region::builder()
            .start_line(number(place.line))
            .start_column(number(utf16_column(text, label.start, place.column)))
            .end_line(number(place.end_line))
            .end_column(number(utf16_column(text, label.end, place.end_column)))
            .byte_offset(number(place.byte_start))
            .byte_length(number(place.byte_end.saturating_sub(place.byte_start)))
            .build();
        region.snippet = snippet(&self.shown.example.labels[at]);
        region
    }
}

/// What the label points at, if it is text; types where literals are not shown.
fn snippet(label: &ExampleLabel) -> Option<ArtifactContent> {
    let text = std::str::from_utf8(&label.snippet).ok().filter(|text| !text.is_empty())?;
    Some(ArtifactContent::builder().text(text).build())
}

fn number(n: u64) -> i64 {
    i64::try_from(n).unwrap_or(i64::MAX)
}

/// The 1-based column in UTF-16 code units of byte `at` of `text`, whose column in bytes is `column`. Bytes of the line that
/// stand before the text count as one unit each.
fn utf16_column(text: &[u8], at: usize, column: u64) -> u64 {
    let before = &text[..at.min(text.len())];
    let line = &before[memchr::memrchr(b'\n', before).map_or(0, |end| end + 1)..];
    let units = String::from_utf8_lossy(line).encode_utf16().count() as u64;
    column.saturating_sub(line.len() as u64) + units
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn columns_count_utf_16_code_units() {
        let text = "x\n訂é🍎z".as_bytes();
        let column = |at: usize| utf16_column(text, at, at as u64 - 1);
        assert_eq!([column(2), column(5), column(7), column(11)], [1, 2, 3, 5]);
    }

    #[test]
    fn what_stands_before_the_record_in_its_line_counts_too() {
        assert_eq!(utf16_column("é".as_bytes(), 2, 10), 9);
    }
}
