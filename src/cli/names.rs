//! Wrong names. A green build because the log speaks of other databases than the declarations, or than the baseline, would
//! be the worst answer; so that is told, with the nearest names.

use std::path::Path;

use clap::CommandFactory;

use crate::catalog::{Sharding, nearest};
use crate::engine::Settings;
use crate::report::{Report, escape};

use super::args::Cli;
use super::complain;

/// So many pairs of names are shown.
const SHOWN: usize = 3;

/// If there are declarations and no query matches any; whether that is so.
pub fn complain_about_declarations(report: &Report, settings: &Settings) -> bool {
    let classes = &report.summary.classes;
    let count = |class: &str| classes.get(class).map_or(0, |count| count.count);
    let judged: u64 = classes.values().map(|class| class.count).sum();
    // Where a dump lists all sharded collections, others are known to be unsharded; that is no match either.
    let is_declared = |namespace: &str| {
        settings.catalog.named(namespace).is_some_and(|named| !matches!(named.sharding, Sharding::Undeclared))
    };
    let none_matches = judged > 0
        && count("undeclared") + count("unsharded") == judged
        && !report.shapes.iter().any(|shape| is_declared(&shape.namespace))
        && settings.catalog.declares_sharding();
    if none_matches {
        let declared: Vec<&str> =
            settings.catalog.collections().map(|collection| collection.pattern.as_str()).collect();
        let hint = hint("declared", &declared, &queried(report));
        complain(&format!("no query matches any declaration: {hint} (--ns-map maps database names)"));
    }
    none_matches
}

/// If none of the baseline's namespaces is queried, though more than declarations were to be judged; whether that is so.
pub fn complain_about_baseline(report: &Report, settings: &Settings, declarations_alone: bool) -> bool {
    let Some(held) = &settings.baseline else { return false };
    let known = held.baseline.namespaces();
    let seen = queried(report);
    // Filters that leave nothing are told by themselves.
    let filtered_out = seen.is_empty() && report.summary.filtered + report.summary.filtered_explains > 0;
    let is_seen = |name: &&str| seen.binary_search(name).is_ok();
    let none_seen = !declarations_alone && !known.is_empty() && !filtered_out && !known.iter().any(is_seen);
    if none_seen {
        let hint = if seen.is_empty() {
            format!("there are no queries; it has `{}`", escape(known[0]))
        } else {
            format!("{} (--ns-map maps database names)", hint("in the baseline", &known, &seen))
        };
        complain(&format!("none of the namespaces of `{}` is queried: {hint}", escape(&held.name)));
    }
    none_seen
}

/// If the baseline knows where queries go and nothing says so any more; whether that is so.
pub fn complain_about_missing_declarations(report: &Report, settings: &Settings) -> bool {
    let Some(held) = &settings.baseline else { return false };
    let classes = &report.summary.classes;
    let judged: u64 = classes.values().map(|class| class.count).sum();
    let undeclared = classes.get("undeclared").map_or(0, |class| class.count);
    let knew = held.baseline.shapes.iter().filter(|entry| entry.class.rank().is_some()).count();
    let lost = judged > 0 && undeclared == judged && knew > 0 && !settings.catalog.declares_sharding();
    if lost {
        complain(&format!(
            "no shard key is declared, and `{}` was made with some: name the declarations (--schema, --shard-key)",
            escape(&held.name)
        ));
    }
    lost
}

/// What is wrong with the first input, if it is no file and nearly the name of a command.
pub fn mistyped(inputs: &[String]) -> Option<String> {
    const NEAR: f64 = 0.7;
    let word = inputs.first().filter(|word| word.chars().all(char::is_alphabetic) && !Path::new(word).exists())?;
    let similarity = |name: &str| strsim::normalized_damerau_levenshtein(word, name);
    let command = Cli::command();
    let names = command.get_subcommands().map(|command| (similarity(command.get_name()), command.get_name()));
    let (_, name) = names.filter(|(near, _)| *near >= NEAR).max_by(|a, b| a.0.total_cmp(&b.0))?;
    Some(format!("no such command, and no such file: `{}`; did you mean `{name}`?", escape(word)))
}

/// The namespaces of all queries, sorted.
fn queried(report: &Report) -> Vec<&str> {
    let mut seen: Vec<&str> = report.shapes.iter().map(|shape| shape.namespace.as_str()).collect();
    seen.sort_unstable();
    seen.dedup();
    seen
}

fn hint(what: &str, known: &[&str], seen: &[&str]) -> String {
    let pairs = nearest(known, seen);
    let pairs: Vec<String> = pairs
        .iter()
        .take(SHOWN)
        .map(|(known, seen)| format!("`{}` is {what}, `{}` is queried", escape(known), escape(seen)))
        .collect();
    if !pairs.is_empty() {
        return pairs.join("; ");
    }
    let names: Vec<String> = seen.iter().take(5).map(|name| format!("`{}`", escape(name))).collect();
    format!("queried are {}", names.join(", "))
}
