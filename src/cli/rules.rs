//! `shardlint rules` and `shardlint rule CODE`: the catalogue, from the same data that the rules run on.

use std::io::{self, Write};

use serde::Serialize;

use crate::rules::{REGISTRY, Rule, rule, suggestions};

use super::args::RulesFormat;

#[derive(Serialize)]
struct Row {
    code: &'static str,
    name: &'static str,
    severity: &'static str,
    summary: &'static str,
    needs: Vec<&'static str>,
    since: &'static str,
    status: &'static str,
}

impl From<&Rule> for Row {
    fn from(rule: &Rule) -> Self {
        Self {
            code: rule.code,
            name: rule.name,
            severity: rule.severity.name(),
            summary: rule.summary,
            needs: rule.needs.iter().map(|evidence| evidence.name()).collect(),
            since: rule.since,
            status: rule.status.name(),
        }
    }
}

/// Prints all rules.
///
/// # Errors
/// If `out` cannot be written.
pub fn list(format: RulesFormat, out: &mut dyn Write) -> io::Result<()> {
    let rows: Vec<Row> = REGISTRY.iter().map(|&rule| rule.into()).collect();
    match format {
        RulesFormat::Json => {
            serde_json::to_writer_pretty(&mut *out, &rows)?;
            writeln!(out)
        }
        RulesFormat::Markdown => {
            writeln!(out, "| code | name | severity | says |\n|---|---|---|---|")?;
            rows.iter().try_for_each(|r| writeln!(out, "| {} | {} | {} | {} |", r.code, r.name, r.severity, r.summary))
        }
        RulesFormat::Text => {
            let width = rows.iter().map(|row| row.name.len()).max().unwrap_or(0);
            rows.iter()
                .try_for_each(|r| writeln!(out, "{}  {:width$}  {:7}  {}", r.code, r.name, r.severity, r.summary))
        }
    }
}

/// Prints one rule's page.
///
/// # Errors
/// If there is no such rule: the message names the nearest ones. If `out` cannot be written.
pub fn explain(code: &str, out: &mut dyn Write) -> anyhow::Result<()> {
    let Some(rule) = rule(code) else {
        let near = suggestions(code);
        let hint = if near.is_empty() {
            "; `shardlint rules` lists them".to_owned()
        } else {
            format!("; did you mean {}?", near.join(" or "))
        };
        anyhow::bail!("there is no rule `{}`{hint}", crate::report::escape(code));
    };
    let is_for_readers = |line: &&str| !line.starts_with("<!--");
    let mut lines = rule.page.lines().filter(is_for_readers).peekable();
    while let Some(line) = lines.next() {
        // The comment stood between two blank lines.
        if !line.is_empty() || lines.peek().is_some_and(|next| !next.is_empty()) {
            writeln!(out, "{line}")?;
        }
    }
    Ok(())
}
