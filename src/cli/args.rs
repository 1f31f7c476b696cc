//! What users type. Names and meanings are a contract; `--help` shows examples first.

use std::path::PathBuf;

use clap::{Args, Parser, Subcommand, ValueEnum};

use crate::baseline::Recorded;
use crate::engine::{DeclaredRole, Limit};
use crate::model::ServerVersion;
use crate::report::{Format, escape};
use crate::rules::Severity;

use super::route::RouteArgs;

/// Judge MongoDB queries against a shard key: which go to one shard, which to several, which to all, and why.
#[derive(Debug, Parser)]
#[command(name = "shardlint", version, args_conflicts_with_subcommands = true, disable_help_subcommand = true)]
#[command(before_help = EXAMPLES, after_help = EXIT_CODES, disable_help_flag = true)]
pub struct Cli {
    /// Print this help.
    #[arg(long, short = 'h', action = clap::ArgAction::HelpShort, global = true)]
    help: Option<bool>,
    /// What to do; without a subcommand the inputs are checked.
    #[command(subcommand)]
    pub command: Option<Command>,
    /// The arguments of `check`.
    #[command(flatten)]
    pub check: CheckArgs,
}

const BASELINE_EXAMPLES: &str = "\
Examples:
  shardlint baseline create --schema sharding.js mongod.log
  shardlint baseline diff shardlint-baseline.json --schema sharding.js mongod.log
  shardlint baseline diff --schema sharding.js before.log after.log";

const EXAMPLES: &str = "\
Examples:
  shardlint check --schema sharding.js mongos.log
  zcat mongod.log.1.gz | shardlint --shard-key 'shop.orders={ customerId: 1 }'
  shardlint check --schema sharding.js --format json -o report.json logs/
  shardlint check --schema sharding.js --baseline shardlint-baseline.json mongod.log
  shardlint sharding.js";

const EXIT_CODES: &str = "\
Exit codes:
  0    nothing at or above --fail-on
  1    findings
  2    the job could not be done: usage, configuration, unreadable input, no query on a known name
  130  interrupted

Options can be set in shardlint.toml and as SHARDLINT_OPTION; --show-settings tells what holds.";

/// The subcommands.
#[derive(Debug, Subcommand)]
pub enum Command {
    /// Read logs and declarations, judge every query, report findings.
    #[command(before_help = EXAMPLES, after_help = EXIT_CODES)]
    Check(Box<CheckArgs>),
    /// Record and compare the known findings of a project.
    #[command(before_help = BASELINE_EXAMPLES, after_help = EXIT_CODES)]
    Baseline(BaselineArgs),
    /// Tell what the router would do with operations.
    Route(RouteArgs),
    /// List the rules.
    Rules(RulesArgs),
    /// Explain one rule.
    Rule(RuleArgs),
    /// Write a commented shardlint.toml, from declarations and a log.
    #[command(before_help = INIT_EXAMPLES)]
    Init(Box<CheckArgs>),
    /// Print completions for a shell.
    Completions(CompletionsArgs),
    /// Print the manual page, or write those of all commands into a folder.
    Man(ManArgs),
}

const INIT_EXAMPLES: &str = "\
Examples:
  shardlint init --schema sharding.js mongod.log
  shardlint init -o ci/shardlint.toml sharding.js";

/// The arguments of `completions`.
#[derive(Debug, Args)]
pub struct CompletionsArgs {
    /// Which shell.
    #[arg(value_name = "SHELL")]
    pub shell: clap_complete::Shell,
}

/// The arguments of `man`.
#[derive(Debug, Args)]
pub struct ManArgs {
    /// Write shardlint.1, shardlint-check.1 … there.
    #[arg(long, short = 'o', value_name = "FOLDER")]
    pub output: Option<PathBuf>,
}

/// The arguments of `check`.
#[derive(Debug, Clone, Args)]
pub struct CheckArgs {
    /// Logs and declarations: files, directories, globs, or `-` for standard input; .gz and .zst are read as they are.
    #[arg(value_name = "INPUT")]
    pub inputs: Vec<String>,

    /// A shard key: 'shop.orders={ customerId: 1, _id: 1 }', or 'crm.accounts=unsharded'.
    #[arg(long, value_name = "NS=KEY", help_heading = "Declarations", env = "SHARDLINT_SHARD_KEY", hide_env = true)]
    pub shard_key: Vec<String>,
    /// A file with declarations: shell commands such as sh.shardCollection, or dumps: config.collections,
    /// config.chunks, config.shards, config.tags, getIndexes, sh.status.
    #[arg(long, value_name = "[NS=]FILE", help_heading = "Declarations", env = "SHARDLINT_SCHEMA", hide_env = true)]
    pub schema: Vec<String>,
    /// Report databases under another name: 'shop_test_*=shop'.
    #[arg(long, value_name = "GLOB=DB", help_heading = "Declarations", env = "SHARDLINT_NS_MAP", hide_env = true)]
    pub ns_map: Vec<String>,
    /// The server version whose rules hold; otherwise the log's, otherwise the newest.
    #[arg(
        long,
        value_name = "VERSION",
        help_heading = "Declarations",
        env = "SHARDLINT_SERVER_VERSION",
        hide_env = true
    )]
    pub server_version: Option<ServerVersion>,
    /// Which process wrote a log, where it does not say so: mongos.log=router, cfg.log=config, 's1*.log=shard:rs1'. Repeatable.
    #[arg(long, value_name = "FILE=ROLE", help_heading = "Declarations", env = "SHARDLINT_ROLE", hide_env = true)]
    pub role: Vec<DeclaredRole>,
    /// The number of shards of the cluster.
    #[arg(long, value_name = "N", help_heading = "Declarations", value_parser = clap::value_parser!(u32).range(1..), env = "SHARDLINT_SHARDS", hide_env = true)]
    pub shards: Option<u32>,

    /// Known findings: only what is not in FILE fails the run.
    #[arg(long, value_name = "FILE", help_heading = "Gate", env = "SHARDLINT_BASELINE", hide_env = true)]
    pub baseline: Option<PathBuf>,
    /// The class from which a query that the baseline does not know is an error; default: broadcast.
    #[arg(long, value_name = "CLASS", help_heading = "Gate", env = "SHARDLINT_FAIL_ON_CLASS", hide_env = true)]
    pub fail_on_class: Option<FailOnClass>,
    /// Fail if broadcasts are more than P percent of the queries: 2%, 2%:time, 'shop.*=1%', 'app:^batch-=50%'. Repeatable.
    #[arg(
        long,
        value_name = "[SCOPE=]P[:time]",
        help_heading = "Gate",
        env = "SHARDLINT_MAX_BROADCAST_SHARE",
        hide_env = true
    )]
    pub max_broadcast_share: Vec<Limit>,
    /// The severity from which findings end in exit code 1; default: error.
    #[arg(long, value_name = "SEVERITY", help_heading = "Gate", env = "SHARDLINT_FAIL_ON", hide_env = true)]
    pub fail_on: Option<FailOn>,

    /// Rules to run: codes, names, prefixes such as SL1, or ALL.
    #[arg(
        long,
        value_name = "CODES",
        value_delimiter = ',',
        help_heading = "Rules",
        env = "SHARDLINT_SELECT",
        hide_env = true
    )]
    pub select: Vec<String>,
    /// Rules not to run.
    #[arg(
        long,
        value_name = "CODES",
        value_delimiter = ',',
        help_heading = "Rules",
        env = "SHARDLINT_IGNORE",
        hide_env = true
    )]
    pub ignore: Vec<String>,
    /// Rules to run besides the default or selected ones.
    #[arg(
        long,
        value_name = "CODES",
        value_delimiter = ',',
        help_heading = "Rules",
        env = "SHARDLINT_EXTEND_SELECT",
        hide_env = true
    )]
    pub extend_select: Vec<String>,
    /// Show what the configuration and comments of queries suppress.
    #[arg(long, help_heading = "Rules", env = "SHARDLINT_NO_SUPPRESSIONS", hide_env = true, value_parser = clap::builder::BoolishValueParser::new())]
    pub no_suppressions: bool,

    /// Only these namespaces (after --ns-map).
    #[arg(long, value_name = "GLOB", help_heading = "Filters", env = "SHARDLINT_NS", hide_env = true)]
    pub ns: Option<String>,
    /// Only operations of applications whose name matches.
    #[arg(long, value_name = "REGEX", help_heading = "Filters", env = "SHARDLINT_APP", hide_env = true)]
    pub app: Option<String>,
    /// Only records from this time on: 2026-11-30T08:00:00Z, 2026-11-30T08:00 (UTC), 2026-11-30.
    #[arg(long, value_name = "TIME", help_heading = "Filters", env = "SHARDLINT_SINCE", hide_env = true)]
    pub since: Option<String>,
    /// Only records before this time.
    #[arg(long, value_name = "TIME", help_heading = "Filters", env = "SHARDLINT_UNTIL", hide_env = true)]
    pub until: Option<String>,
    /// Only operations that took at least so many milliseconds.
    #[arg(long, value_name = "MS", help_heading = "Filters", env = "SHARDLINT_MIN_DURATION", hide_env = true)]
    pub min_duration: Option<u64>,

    /// The format on standard output; default: pretty on a terminal, else concise.
    #[arg(
        long,
        short = 'f',
        value_name = "FORMAT",
        help_heading = "Output",
        env = "SHARDLINT_FORMAT",
        hide_env = true
    )]
    pub format: Option<FormatName>,
    /// FILE: write the report there instead of to standard output; FORMAT=FILE: also write it there in that format. Repeatable.
    #[arg(
        long,
        short = 'o',
        value_name = "[FORMAT=]FILE",
        help_heading = "Output",
        env = "SHARDLINT_OUTPUT",
        hide_env = true
    )]
    pub output: Vec<String>,
    /// One diagnostic for each finding instead of one for each shape.
    #[arg(long, help_heading = "Output", env = "SHARDLINT_PER_EVENT", hide_env = true, value_parser = clap::builder::BoolishValueParser::new())]
    pub per_event: bool,
    /// Wait for more at the end of the logs, also when they are rotated: tell each finding when it is first seen and when it
    /// has become ten times as frequent; the summary at Ctrl-C.
    #[arg(long, help_heading = "Output", env = "SHARDLINT_FOLLOW", hide_env = true, value_parser = clap::builder::BoolishValueParser::new())]
    pub follow: bool,
    /// How many shapes the summary shows.
    #[arg(long, value_name = "N", help_heading = "Output", env = "SHARDLINT_TOP", hide_env = true)]
    pub top: Option<usize>,
    /// Findings per rule instead of the findings.
    #[arg(long, help_heading = "Output", env = "SHARDLINT_STATISTICS", hide_env = true, value_parser = clap::builder::BoolishValueParser::new())]
    pub statistics: bool,
    /// Types instead of literals; sarif, junit, github, gitlab, rdjson and markdown do so by default.
    #[arg(long, overrides_with = "no_redact", help_heading = "Output", env = "SHARDLINT_REDACT", hide_env = true, value_parser = clap::builder::BoolishValueParser::new())]
    pub redact: bool,
    /// Literals in every format.
    #[arg(long, help_heading = "Output", env = "SHARDLINT_NO_REDACT", hide_env = true, value_parser = clap::builder::BoolishValueParser::new())]
    pub no_redact: bool,
    /// Colours.
    #[arg(
        long,
        value_name = "WHEN",
        default_value = "auto",
        help_heading = "Output",
        env = "SHARDLINT_COLOR",
        hide_env = true
    )]
    pub color: ColorWhen,
    /// Only diagnostics; twice: nothing but the exit code.
    #[arg(long, short = 'q', action = clap::ArgAction::Count, help_heading = "Output")]
    pub quiet: u8,
    /// Say on standard error what is read as what.
    #[arg(long, short = 'v', help_heading = "Output", env = "SHARDLINT_VERBOSE", hide_env = true, value_parser = clap::builder::BoolishValueParser::new())]
    pub verbose: bool,
    /// No progress bar.
    #[arg(long, help_heading = "Output", env = "SHARDLINT_NO_PROGRESS", hide_env = true, value_parser = clap::builder::BoolishValueParser::new())]
    pub no_progress: bool,
    /// The configuration; default: shardlint.toml here or above, up to the root of the repository.
    #[arg(long, value_name = "FILE", help_heading = "Configuration", env = "SHARDLINT_CONFIG", hide_env = true)]
    pub config: Option<PathBuf>,
    /// Read no configuration.
    #[arg(long, help_heading = "Configuration", conflicts_with = "config", env = "SHARDLINT_ISOLATED", hide_env = true, value_parser = clap::builder::BoolishValueParser::new())]
    pub isolated: bool,
    /// Print every setting and where it comes from, and do nothing else.
    #[arg(long, help_heading = "Configuration")]
    pub show_settings: bool,
    /// Threads that read and judge; 0 means one for each core. The output is the same for any number.
    #[arg(long, short = 'j', value_name = "N", default_value_t = 0, value_parser = clap::value_parser!(u16).range(..=512), env = "SHARDLINT_THREADS", hide_env = true)]
    pub threads: u16,
}

/// The formats of `check`, as users name them.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum FormatName {
    /// Excerpts with labels, then the summary.
    Pretty,
    /// One line for each diagnostic.
    Concise,
    /// One JSON object.
    Json,
    /// One JSON object a line.
    Jsonl,
    /// SARIF 2.1.0, for code scanning.
    Sarif,
    /// JUnit XML, for the tests' tab of a CI system.
    Junit,
    /// Workflow commands of GitHub Actions.
    Github,
    /// GitLab's Code Quality report.
    Gitlab,
    /// Reviewdog's diagnostic format.
    Rdjson,
    /// A comment for a pull request.
    Markdown,
}

impl From<FormatName> for Format {
    fn from(name: FormatName) -> Self {
        match name {
            FormatName::Pretty => Self::Pretty,
            FormatName::Concise => Self::Concise,
            FormatName::Json => Self::Json,
            FormatName::Jsonl => Self::Jsonl,
            FormatName::Sarif => Self::Sarif,
            FormatName::Junit => Self::Junit,
            FormatName::Github => Self::Github,
            FormatName::Gitlab => Self::Gitlab,
            FormatName::Rdjson => Self::Rdjson,
            FormatName::Markdown => Self::Markdown,
        }
    }
}

/// The severity from which findings fail a run.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum FailOn {
    /// Errors only.
    Error,
    /// Warnings and errors.
    Warning,
    /// Everything.
    Info,
    /// Findings never fail a run.
    Never,
}

impl FailOn {
    /// Whether a finding of that severity fails the run.
    #[must_use]
    pub fn is_reached_by(self, severity: Severity) -> bool {
        self.least().is_some_and(|least| severity >= least)
    }

    /// The least severity that fails the run, if one does.
    #[must_use]
    pub fn least(self) -> Option<Severity> {
        match self {
            Self::Error => Some(Severity::Error),
            Self::Warning => Some(Severity::Warning),
            Self::Info => Some(Severity::Info),
            Self::Never => None,
        }
    }
}

/// The class from which a query that the baseline does not know is an error.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum FailOnClass {
    /// Several shards.
    MultiShard,
    /// Every shard.
    Broadcast,
}

impl From<FailOnClass> for Recorded {
    fn from(class: FailOnClass) -> Self {
        match class {
            FailOnClass::MultiShard => Self::MultiShard,
            FailOnClass::Broadcast => Self::Broadcast,
        }
    }
}

/// The arguments of `baseline`.
#[derive(Debug, Args)]
pub struct BaselineArgs {
    /// What to do with it.
    #[command(subcommand)]
    pub command: BaselineCommand,
}

/// What can be done with a baseline.
#[derive(Debug, Subcommand)]
pub enum BaselineCommand {
    /// Record what a run finds, in the file of `-o` (default: shardlint-baseline.json).
    Create(Box<CheckArgs>),
    /// Add what is new to the baseline; reasons stay.
    Update(Box<CheckArgs>),
    /// Drop from the baseline what is gone or better.
    Prune(Box<CheckArgs>),
    /// Tell what is new, worse, better and gone: `diff FILE INPUT…` against a baseline, `diff OLD.log NEW.log` between logs.
    Diff(Box<CheckArgs>),
}

/// When to colour.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum ColorWhen {
    /// On a terminal, unless the environment says otherwise (NO_COLOR, CLICOLOR_FORCE, TERM=dumb).
    Auto,
    /// Always.
    Always,
    /// Never.
    Never,
}

/// The arguments of `rules`.
#[derive(Debug, Args)]
pub struct RulesArgs {
    /// A table, or JSON for programs.
    #[arg(long, value_name = "FORMAT", default_value = "text")]
    pub format: RulesFormat,
}

/// The formats of `rules`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum RulesFormat {
    /// A table.
    Text,
    /// A Markdown table, as in the README.
    Markdown,
    /// An array of objects.
    Json,
}

/// The arguments of `rule`.
#[derive(Debug, Args)]
pub struct RuleArgs {
    /// The rule's code or name.
    #[arg(value_name = "CODE")]
    pub code: String,
}

/// Where a report goes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Output {
    /// In which format; `None`: as on standard output.
    pub format: Option<Format>,
    /// The file.
    pub path: PathBuf,
}

impl Output {
    /// Reads `FILE` or `FORMAT=FILE`. A text before `=` with a path separator or a dot belongs to the file's name.
    ///
    /// # Errors
    /// If what stands before `=` looks like a format and is none.
    pub fn parse(text: &str) -> anyhow::Result<Self> {
        let named = text.split_once('=').filter(|(format, _)| !format.contains(['/', '\\', '.']));
        let Some((format, path)) = named else { return Ok(Self { format: None, path: text.into() }) };
        if let Ok(name) = FormatName::from_str(format, false) {
            return Ok(Self { format: Some(name.into()), path: path.into() });
        }
        let known: Vec<_> = FormatName::value_variants().iter().filter_map(ValueEnum::to_possible_value).collect();
        let known: Vec<&str> = known.iter().map(clap::builder::PossibleValue::get_name).collect();
        anyhow::bail!("-o `{}`: there is no format `{}`; expected {}", escape(text), escape(format), known.join(", "))
    }
}

#[cfg(test)]
mod tests {
    use clap::CommandFactory;

    use super::Cli;

    #[test]
    fn every_option_can_be_set_in_the_environment_under_its_own_name() {
        const ONLY_FLAGS: [&str; 4] = ["help", "version", "quiet", "show-settings"];
        let mut command = Cli::command();
        let check = command.find_subcommand_mut("check").expect("a subcommand");
        for argument in check.get_arguments() {
            let Some(long) = argument.get_long().filter(|long| !ONLY_FLAGS.contains(long)) else { continue };
            let variable = format!("SHARDLINT_{}", long.replace('-', "_").to_uppercase());
            assert_eq!(argument.get_env().and_then(|name| name.to_str()), Some(variable.as_str()));
        }
    }
}
