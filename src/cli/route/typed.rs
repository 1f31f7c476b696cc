//! `route` for people: an operation typed as in the shell, the router's decision with labels in what was typed.

use std::collections::BTreeMap;
use std::io::{BufWriter, Read, Write, stdin, stdout};

use anyhow::{Context, bail};
use serde::Serialize;

use crate::catalog::{Catalog, Collection, nearest};
use crate::cli::{declare, exit, style};
use crate::engine::{self, DeclarationTexts, Settings};
use crate::model::{Event, ServerVersion, Statement, Traffic};
use crate::report::{self, Format, Report, escape};
use crate::routing::{self, Class, Cluster, FieldBinding, FieldBounds, Verdict};
use crate::syntax::operation;

use super::{RouteArgs, RouteFormat};

/// Answers the operation that was typed.
///
/// # Errors
/// If it is no operation, or nothing is declared about its collection.
pub(super) fn answer(args: &RouteArgs) -> anyhow::Result<u8> {
    let text = typed(args)?;
    let declared = declare::declared(&args.shard_key, &args.schema)?;
    let catalog = &declared.catalog;
    let statements =
        operation::parse(&text, |collection| catalog.database_of(collection).map(str::to_owned)).map_err(|error| {
            let column = text[..error.span.range().start].chars().count() + 1;
            anyhow::anyhow!("`{}`: {} (column {column})", escape(text.trim()), error.message)
        })?;
    let version = args.server_version.unwrap_or(ServerVersion::NEWEST);
    let mut answers = Vec::new();
    for statement in &statements {
        let collection = declaration(catalog, statement)?;
        let cluster = Cluster { collection, all_shards: catalog.shards.as_deref(), version, explain: true };
        answers.push((statement, collection, routing::route(statement, cluster)));
    }
    let mut out = BufWriter::new(stdout().lock());
    match args.format {
        RouteFormat::Json => write_json(catalog, &answers, &mut out)?,
        RouteFormat::Text => {
            for (statement, collection, verdict) in &answers {
                write_text(args, statement, collection, verdict, &mut out)?;
                write_zones(catalog, verdict, &mut out)?;
                let settings = settings(catalog.clone(), version);
                write_findings(args, &text, statement, settings, &declared.texts, &mut out)?;
            }
        }
    }
    out.flush()?;
    Ok(exit::CLEAN)
}

fn typed(args: &RouteArgs) -> anyhow::Result<String> {
    match args.operation.as_deref() {
        Some(text) if text != "-" => Ok(text.to_owned()),
        _ => {
            let mut text = String::new();
            stdin().read_to_string(&mut text).context("cannot read the operation from standard input")?;
            Ok(text)
        }
    }
}

fn declaration<'a>(catalog: &'a Catalog, statement: &Statement) -> anyhow::Result<&'a Collection> {
    let namespace = statement.namespace.as_str();
    match catalog.get(namespace).filter(|collection| collection.says_where_documents_lie()) {
        Some(collection) => Ok(collection),
        None => {
            let declared: Vec<&str> = catalog.collections().map(|collection| collection.pattern.as_str()).collect();
            let nearest = nearest(&declared, &[namespace]);
            let hint = nearest.first().map(|(declared, _)| format!("; did you mean `{}`?", escape(declared)));
            bail!("no shard key is declared for `{}`{}", escape(namespace), hint.unwrap_or_default())
        }
    }
}

fn write_text(
    args: &RouteArgs,
    statement: &Statement,
    collection: &Collection,
    verdict: &Verdict,
    out: &mut dyn Write,
) -> std::io::Result<()> {
    writeln!(out, "{}: {}", verdict.class, escape(&verdict.reason.text()))?;
    if let Some(key) = collection.shard_key() {
        writeln!(out, "key      {} on {}", escape(&key.to_string()), escape(statement.namespace.as_str()))?;
    }
    if let Some(shards) = verdict.shards.as_ref().filter(|shards| !shards.is_empty()) {
        let owners = collection.chunks.as_ref().map_or(0, crate::model::ChunkMap::owner_count);
        let names: Vec<_> = shards.iter().map(|shard| escape(shard)).collect();
        // Some operations go to shards that own nothing, too.
        let among =
            if shards.len() > owners { "" } else { &format!(" ({} of {owners} that own chunks)", shards.len()) };
        writeln!(out, "shards   {}{among}", names.join(", "))?;
    } else if let Some(most) = verdict.at_most.filter(|_| verdict.class == Class::MultiShard) {
        writeln!(out, "shards   at most {most}")?;
    }
    if let Some(error) = verdict.error {
        writeln!(out, "error    the router refuses: {} ({})", error.name, error.code)?;
    }
    if verdict.two_phase {
        writeln!(out, "phases   two: a search on every targeted shard picks the document, then one shard writes")?;
    }
    for rule in &verdict.reason.version_rules {
        writeln!(out, "version  {rule}")?;
    }
    if args.explain {
        for binding in &verdict.reason.bindings {
            writeln!(out, "bounds   {}: {}", escape(&binding.path), bounds(binding))?;
        }
        for range in &verdict.reason.ranges {
            writeln!(out, "range    {}", escape(range))?;
        }
    }
    Ok(())
}

/// The zones of the shards that are asked: why they and no others have these chunks. Zones bound nothing by themselves.
fn write_zones(catalog: &Catalog, verdict: &Verdict, out: &mut dyn Write) -> std::io::Result<()> {
    let zones = zones(catalog, verdict);
    if zones.is_empty() {
        return Ok(());
    }
    let of = |(shard, zones): (&str, Vec<&str>)| {
        let names: Vec<_> = zones.iter().map(|zone| escape(zone)).collect();
        format!("{} in {}", escape(shard), names.join(" and "))
    };
    writeln!(out, "zones    {}", zones.into_iter().map(of).collect::<Vec<_>>().join(", "))
}

/// The asked shards that belong to zones, and these.
fn zones<'a>(catalog: &'a Catalog, verdict: &'a Verdict) -> BTreeMap<&'a str, Vec<&'a str>> {
    let shards = verdict.shards.iter().flatten();
    let zones = shards.filter_map(|shard| Some((shard.as_str(), catalog.zones_of(shard)?)));
    zones.filter(|(_, zones)| !zones.is_empty()).collect()
}

/// The bounds of a field as MongoDB prints them: `["[1, 1]", "(5, inf.0]"]`.
fn bounds(binding: &FieldBinding) -> String {
    let count = match binding.bounds {
        FieldBounds::Points(count) | FieldBounds::Intervals(count) if !binding.intervals.is_empty() => count,
        FieldBounds::NearlyFree if !binding.intervals.is_empty() => binding.intervals.len(),
        _ => return described(&binding.bounds),
    };
    let printed: Vec<_> = binding.intervals.iter().map(|interval| format!("\"{}\"", escape(interval))).collect();
    let more = match count.saturating_sub(printed.len()) {
        0 => String::new(),
        more => format!(" and {more} more"),
    };
    format!("[{}]{more}", printed.join(", "))
}

fn described(bounds: &FieldBounds) -> String {
    match bounds {
        FieldBounds::Free => "free, [MinKey, MaxKey]".to_owned(),
        FieldBounds::Points(1) => "one value".to_owned(),
        FieldBounds::Points(count) => format!("{count} values"),
        FieldBounds::Intervals(1) => "one interval".to_owned(),
        FieldBounds::Intervals(count) => format!("{count} intervals"),
        FieldBounds::NearlyFree => "next to nothing ruled out".to_owned(),
        FieldBounds::Empty => "no value can match".to_owned(),
        FieldBounds::Unknown => "unknown".to_owned(),
    }
}

/// What the rules say, with labels in what was typed.
fn write_findings(
    args: &RouteArgs,
    text: &str,
    statement: &Statement,
    settings: Settings,
    declarations: &DeclarationTexts,
    out: &mut dyn Write,
) -> std::io::Result<()> {
    let mut event = Event::new(statement.namespace.clone(), Traffic::Query, statement.span);
    event.verb = Some(statement.verb);
    event.name_span = statement.name_span;
    event.statements = vec![statement.clone()];
    let diagnostics = engine::check_typed(&event, text, &settings, declarations);
    if diagnostics.is_empty() {
        return Ok(());
    }
    writeln!(out)?;
    let report = Report { diagnostics, declarations: declarations.texts.clone(), ..Report::default() };
    report::render(&report, Format::Pretty, &style::options(args.color, true, 0, false), out)
}

fn settings(catalog: Catalog, version: ServerVersion) -> Settings {
    Settings { catalog, version: Some(version), per_event: true, threads: 1, ..Settings::default() }
}

#[derive(Serialize)]
struct Answer<'a> {
    namespace: &'a str,
    operation: &'static str,
    class: &'static str,
    shards: Option<&'a [String]>,
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    zones: BTreeMap<&'a str, Vec<&'a str>>,
    at_most: Option<usize>,
    error: Option<RefusedWith>,
    #[serde(rename = "twoPhase")]
    two_phase: bool,
    reason: String,
    version_rules: &'a [&'static str],
    bounds: Vec<Bound<'a>>,
    ranges: &'a [String],
}

#[derive(Serialize)]
struct RefusedWith {
    code: i32,
    name: &'static str,
}

#[derive(Serialize)]
struct Bound<'a> {
    field: &'a str,
    bounds: String,
    intervals: &'a [String],
}

fn write_json(
    catalog: &Catalog,
    answers: &[(&Statement, &Collection, Verdict)],
    out: &mut dyn Write,
) -> std::io::Result<()> {
    let answers: Vec<Answer<'_>> = answers
        .iter()
        .map(|(statement, _, verdict)| Answer {
            namespace: statement.namespace.as_str(),
            operation: statement.verb.name(),
            class: verdict.class.name(),
            shards: verdict.shards.as_deref(),
            zones: zones(catalog, verdict),
            at_most: verdict.at_most,
            error: verdict.error.map(|error| RefusedWith { code: error.code, name: error.name }),
            two_phase: verdict.two_phase,
            reason: verdict.reason.text(),
            version_rules: &verdict.reason.version_rules,
            bounds: (verdict.reason.bindings.iter())
                .map(|binding| Bound {
                    field: &binding.path,
                    bounds: described(&binding.bounds),
                    intervals: &binding.intervals,
                })
                .collect(),
            ranges: &verdict.reason.ranges,
        })
        .collect();
    serde_json::to_writer_pretty(&mut *out, &answers)?;
    writeln!(out)
}
