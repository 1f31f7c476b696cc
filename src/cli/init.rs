//! `shardlint init`: a commented `shardlint.toml`, from declarations and a log. What the inputs show is filled in; what a
//! team may want to set later stands there as a comment.

use std::collections::BTreeSet;
use std::fmt::Write as _;
use std::io::{IsTerminal, Write, stdin, stdout};
use std::path::PathBuf;

use anyhow::bail;
use clap::ArgMatches;

use crate::catalog::nearest;
use crate::config::NAME;
use crate::report::{Report, escape};
use crate::syntax::shard_key;

use super::args::{CheckArgs, Output};
use super::check::{self, Ran};
use super::settings;
use super::write::write_file;
use super::{declare, exit};

/// Writes the file to `-o FILE` (default: `shardlint.toml`); one that is there already stays.
///
/// # Errors
/// If there is such a file, if it cannot be written, or if the inputs cannot be read.
pub fn init(args: &CheckArgs, matches: &ArgMatches) -> anyhow::Result<u8> {
    if args.follow {
        bail!("a configuration is made of logs that have ended: --follow is an option of `check`");
    }
    let target = target(args)?;
    if target.exists() {
        bail!("`{}` is there already; `-o FILE` names another one", escape(&target.display().to_string()));
    }
    let (schemas, logs): (Vec<String>, Vec<String>) =
        args.inputs.iter().cloned().partition(|input| declare::is_declaration(input));
    let schemas = [args.schema.as_slice(), schemas.as_slice()].concat();
    let given =
        CheckArgs { schema: schemas.clone(), inputs: logs.clone(), isolated: true, config: None, ..args.clone() };
    let settled = settings::settle(&given, matches)?;
    let nothing_to_read =
        logs.is_empty() && (stdin().is_terminal() || !schemas.is_empty() || !args.shard_key.is_empty());
    let ran = if nothing_to_read { None } else { Some(check::run(&settled, None)?) };
    let text = Draft { args: &settled.args, schemas: &schemas, logs: &logs, ran: ran.as_ref() }.text();
    write_file(&target, |out| out.write_all(text.as_bytes()))?;
    if args.quiet == 0 {
        writeln!(stdout().lock(), "wrote `{}`", escape(&target.display().to_string()))?;
    }
    Ok(exit::CLEAN)
}

fn target(args: &CheckArgs) -> anyhow::Result<PathBuf> {
    match args.output.as_slice() {
        [] => Ok(NAME.into()),
        [one] => Ok(Output::parse(one)?.path),
        _ => bail!("-o names two files for one configuration"),
    }
}

struct Draft<'a> {
    args: &'a CheckArgs,
    schemas: &'a [String],
    logs: &'a [String],
    ran: Option<&'a Ran>,
}

impl Draft<'_> {
    fn text(&self) -> String {
        let mut text = String::from(
            "# The settings of shardlint. A flag beats the environment (SHARDLINT_…), which beats this file.\n",
        );
        text.push_str("# `shardlint check --show-settings` tells what holds and why.\n");
        self.declarations(&mut text);
        self.gate(&mut text);
        self.tables(&mut text);
        text
    }

    fn declarations(&self, text: &mut String) {
        text.push_str("\n# What is read if no input is named.\n");
        push_list(text, "inputs", self.logs, &["mongod.log"]);
        text.push_str("\n# Files that declare shard keys and indexes.\n");
        push_list(text, "schema", self.schemas, &["sharding.js"]);
        text.push_str("\n# The server version whose rules hold; otherwise the log's, otherwise the newest.\n");
        match (self.args.server_version, self.report()) {
            (Some(version), _) => push(text, &format!("server-version = \"{version}\"")),
            (None, Some(report)) if !report.summary.server_version.contains(',') && !report.summary.version_assumed => {
                push(text, &format!("# server-version = {}  # as in the log", quoted(&report.summary.server_version)));
            }
            _ => push(text, "# server-version = \"8.0\""),
        }
        text.push_str("\n# The number of shards of the cluster.\n");
        push(text, &self.args.shards.map_or_else(|| "# shards = 3".to_owned(), |n| format!("shards = {n}")));
    }

    fn gate(&self, text: &mut String) {
        text.push_str(
            "\n# Known findings: `shardlint baseline create` records them, and only what is new fails a build.\n",
        );
        push(text, "# baseline = \"shardlint-baseline.json\"");
        text.push_str("\n# From where on a build fails.\n");
        push(text, "# fail-on = \"error\"               # error, warning, info, never");
        push(text, "# fail-on-class = \"broadcast\"     # of queries that the baseline does not know; or multi-shard");
        push(text, "# max-broadcast-share = \"2%\"      # of the calls; \"2%:time\" of the time");
    }

    fn tables(&self, text: &mut String) {
        text.push_str("\n# Shard keys that no file declares; \"unsharded\" says that a collection is not sharded.\n[shard-keys]\n");
        for declared in self.args.shard_key.iter().filter_map(|text| key_line(text)) {
            push(text, &declared);
        }
        for namespace in self.undeclared() {
            push(text, &format!("# {} = \"unsharded\"  # queried, not declared", quoted(&namespace)));
        }
        push(text, "# \"shop.orders\" = '{ customerId: 1, _id: 1 }'");
        text.push_str("\n# Databases of test suites, reported under the declared name.\n[ns-map]\n");
        for (pattern, database) in self.args.ns_map.iter().filter_map(|map| map.split_once('=')) {
            push(text, &format!("{} = {}", quoted(pattern.trim()), quoted(database.trim())));
        }
        for (seen, declared) in self.near_databases() {
            push(text, &format!("# {} = {}  # has collections of the same names", quoted(&seen), quoted(&declared)));
        }
        push(text, "# \"shop_test_*\" = \"shop\"");
        text.push_str(
            "\n# Which process wrote a log, where it does not say so: router, shard, shard:NAME, config.\n[roles]\n",
        );
        for declared in self.args.role.iter().map(ToString::to_string) {
            let (log, role) = declared.rsplit_once('=').unwrap_or_default();
            push(text, &format!("{} = {}", quoted(log), quoted(role)));
        }
        push(text, "# \"mongos.log\" = \"router\"");
        text.push_str(REST);
    }

    fn report(&self) -> Option<&Report> {
        self.ran.map(|ran| &ran.report)
    }

    /// Namespaces with queries and without a declaration.
    fn undeclared(&self) -> BTreeSet<String> {
        let shapes = self.report().into_iter().flat_map(|report| &report.shapes);
        shapes.filter(|shape| shape.class == "undeclared").map(|shape| shape.namespace.clone()).collect()
    }

    /// Databases that are queried and not declared, beside a declared one with a collection of the same name.
    fn near_databases(&self) -> BTreeSet<(String, String)> {
        let Some(ran) = self.ran else { return BTreeSet::new() };
        let declared: Vec<&str> = ran.settings.catalog.collections().map(|c| c.pattern.as_str()).collect();
        let seen = self.undeclared();
        let seen: Vec<&str> = seen.iter().map(String::as_str).collect();
        let pairs = nearest(&declared, &seen).into_iter();
        let databases = pairs.filter_map(|(declared, seen)| {
            let ((declared, one), (seen, other)) = (declared.split_once('.')?, seen.split_once('.')?);
            (one == other && declared != "*").then(|| (seen.to_owned(), declared.to_owned()))
        });
        databases.collect()
    }
}

/// `"shop.orders" = '{ customerId: 1 }'` of `shop.orders={ customerId: 1 }`.
fn key_line(text: &str) -> Option<String> {
    let declared = shard_key::parse(text).ok()?;
    let key = text.get(declared.span.range())?;
    // A literal string is the only one that shows a key as the shell does.
    let key = if key.contains(['\'', '\n']) { key.replace('\'', "\"").replace('\n', " ") } else { key.to_owned() };
    Some(format!("{} = '{key}'", quoted(&declared.namespace.value)))
}

fn push(text: &mut String, line: &str) {
    text.push_str(line);
    text.push('\n');
}

fn push_list(text: &mut String, key: &str, values: &[String], example: &[&str]) {
    let (mark, values): (&str, Vec<String>) = match values {
        [] => ("# ", example.iter().map(|value| quoted(value)).collect()),
        values => ("", values.iter().map(|value| quoted(value)).collect()),
    };
    // Writing to a string cannot fail.
    let _ = writeln!(text, "{mark}{key} = [{}]", values.join(", "));
}

/// As a TOML string. What a name of a log could smuggle in stays inside of it.
fn quoted(text: &str) -> String {
    toml::Value::String(escape(text)).to_string()
}

const REST: &str = r#"
# Which rules run, by code, name, prefix (SL1) or ALL.
[rules]
# select = ["ALL"]
# ignore = ["SL405"]

[rules.severity]
# SL301 = "info"

# From where on rules speak; docs/configuration.md lists them all.
[thresholds]
# few-ranges = 2

# Settings for some namespaces, and for some applications.
# [[namespace]]
# name = "archive.*"
# ignore = ["SL105"]
# severity = { SL101 = "warning" }
# max-broadcast-share = "50%"

# [[application]]
# name = "^nightly-"
# severity = { SL101 = "info" }

# Findings that are not to be shown. Without a reason there is no suppression.
# [[ignore]]
# rule = "SL101"
# namespace = "shop.audit"
# application = "^report-"
# reason = "runs once a month, reads everything on purpose"
# until = 2027-12-31
"#;
