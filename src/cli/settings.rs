//! What holds: a flag beats the environment, which beats `shardlint.toml`, which beats the default. Fills the arguments of a
//! command from the file, and tells for every setting where it comes from.

use std::fmt;
use std::io::{Write, stderr, stdout};
use std::path::{Path, PathBuf};

use clap::parser::ValueSource;
use clap::{ArgMatches, ValueEnum};
use toml::Spanned;

use crate::config::{Config, File, Resolved, Strings, discover};
use crate::engine::{DeclaredRole, Limit};
use crate::input::Input;
use crate::model::ServerVersion;
use crate::report::{self, Format, RenderOptions, Report, escape};
use crate::text::SourceId;

use super::args::{CheckArgs, ColorWhen, FailOn, FailOnClass};
use super::exit;
use super::output::TOP;

/// The configuration's place among the declarations: it is read first.
pub const CONFIG_SOURCE: SourceId = SourceId(0);

/// The arguments of a command after the file has had its say, and what of the file is no argument.
pub struct Settled {
    /// With the values of the file where neither a flag nor the environment gave any.
    pub args: CheckArgs,
    /// The file.
    pub config: Option<Config>,
    /// What its values mean.
    pub resolved: Resolved,
    /// The inputs of the file.
    pub inputs: Vec<String>,
    rows: Vec<Row>,
}

/// A setting for `--show-settings`.
struct Row {
    key: String,
    value: String,
    origin: String,
}

/// What is wrong has been shown already.
#[derive(Debug)]
pub struct Shown;

impl fmt::Display for Shown {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("the configuration is not understood")
    }
}

impl std::error::Error for Shown {}

/// Finds and reads the configuration and fills `args` from it.
///
/// # Errors
/// If there is something wrong with the configuration; it has been shown in place.
pub fn settle(args: &CheckArgs, matches: &ArgMatches) -> anyhow::Result<Settled> {
    let config = read(args)?;
    let today = jiff::tz::Offset::UTC.to_datetime(jiff::Timestamp::now()).date();
    let resolved = match config.as_ref().map(|config| config.resolve(today, CONFIG_SOURCE)) {
        None => Resolved::default(),
        Some(Ok(resolved)) => resolved,
        Some(Err(problems)) => {
            let report = config.as_ref().map(|config| config.report(&problems)).unwrap_or_default();
            return Err(show(&report, args.color));
        }
    };
    let mut settled = Settled { args: args.clone(), config, resolved, inputs: Vec::new(), rows: Vec::new() };
    settled.fill(matches);
    Ok(settled)
}

fn read(args: &CheckArgs) -> anyhow::Result<Option<Config>> {
    if args.isolated {
        return Ok(None);
    }
    let path = match &args.config {
        Some(path) => path.clone(),
        None => match discover(Path::new(".")) {
            Some(path) => path,
            None => return Ok(None),
        },
    };
    let text = Input::file(&path).read_all().map_err(|error| anyhow::anyhow!("--config: {error}"))?;
    match Config::read(&path, &String::from_utf8_lossy(&text)) {
        Ok(config) => Ok(Some(config)),
        Err(report) => Err(show(&report, args.color)),
    }
}

/// Shows the problems of a configuration on standard error.
fn show(report: &Report, color: ColorWhen) -> anyhow::Error {
    let color = match color {
        ColorWhen::Always => true,
        ColorWhen::Never => false,
        ColorWhen::Auto => anstream::AutoStream::choice(&stderr()) != anstream::ColorChoice::Never,
    };
    let options = RenderOptions { color, summary: false, ..RenderOptions::default() };
    // Nobody is left to be told if standard error is closed.
    let _ = report::render(report, Format::Pretty, &options, &mut stderr().lock());
    Shown.into()
}

/// What the file says about a setting, and in which line.
struct Filed<T> {
    value: T,
    line: u64,
}

impl Settled {
    fn fill(&mut self, matches: &ArgMatches) {
        let file = self.config.as_ref().map(|config| config.file.clone()).unwrap_or_default();
        let mut filling = Filling { matches, config: self.config.as_ref(), resolved: &self.resolved, rows: Vec::new() };
        let mut args = self.args.clone();
        filling.declarations(&mut args, &file);
        filling.filters(&mut args, &file);
        filling.gate(&mut args, &file);
        filling.rules(&mut args, &file);
        let (rows, inputs) = (filling.rows, filed(self.config.as_ref(), file.inputs.as_ref(), |paths| paths.0.clone()));
        let of_file = |path: &String| self.config.as_ref().map_or_else(|| path.clone(), |config| config.path(path));
        self.inputs = inputs.map(|inputs| inputs.value.iter().map(of_file).collect()).unwrap_or_default();
        (self.args, self.rows) = (args, rows);
    }

    /// Prints every setting and where it comes from.
    ///
    /// # Errors
    /// If standard output cannot be written.
    pub fn print(&self) -> anyhow::Result<u8> {
        let mut rows: Vec<(String, &str)> =
            self.rows.iter().map(|row| (format!("{} = {}", row.key, row.value), row.origin.as_str())).collect();
        let nested = |path: &str| path.contains(['.', '[']) && !SETTLED.iter().any(|key| path.starts_with(key));
        let leaves = self.config.iter().flat_map(Config::leaves).filter(|leaf| nested(&leaf.path));
        let of_file: Vec<(String, String)> = leaves
            .map(|leaf| (format!("{} = {}", leaf.path, leaf.value), format!("{}:{}", self.name(), leaf.line)))
            .collect();
        rows.extend(of_file.iter().map(|(setting, origin)| (setting.clone(), origin.as_str())));
        let width = rows.iter().map(|(setting, _)| setting.chars().count()).filter(|n| *n <= WIDE).max().unwrap_or(0);
        let mut out = stdout().lock();
        for (setting, origin) in rows {
            writeln!(out, "{:width$}  # {}", escape(&setting), escape(origin))?;
        }
        out.flush()?;
        Ok(exit::CLEAN)
    }

    fn name(&self) -> &str {
        self.config.as_ref().map_or("", |config| config.name.as_str())
    }
}

/// Tables of the file whose values are settled as options.
const SETTLED: [&str; 5] = ["ns-map.", "roles.", "rules.select", "rules.extend-select", "rules.ignore"];

/// Settings wider than this do not push the origins of the others to the right.
const WIDE: usize = 60;

fn filed<S, T>(config: Option<&Config>, spanned: Option<&Spanned<S>>, value: impl FnOnce(&S) -> T) -> Option<Filed<T>> {
    let (config, spanned) = (config?, spanned?);
    Some(Filed { value: value(spanned.get_ref()), line: config.line(&spanned.span()) })
}

/// Settles one option after the other.
struct Filling<'a> {
    matches: &'a ArgMatches,
    config: Option<&'a Config>,
    resolved: &'a Resolved,
    rows: Vec<Row>,
}

impl Filling<'_> {
    fn declarations(&mut self, args: &mut CheckArgs, file: &File) {
        let config = self.config;
        let path = |text: &str| config.map_or_else(|| text.to_owned(), |config| config.path(text));
        let schema = |text: &String| match text.split_once('=') {
            Some((namespace, file)) if !namespace.contains('/') => format!("{namespace}={}", path(file)),
            _ => path(text),
        };
        let inputs = filed(config, file.inputs.as_ref(), |inputs| inputs.0.iter().map(|text| path(text)).collect());
        self.list("inputs", &mut args.inputs, inputs);
        let schemas = filed(config, file.schema.as_ref(), |files| files.0.iter().map(schema).collect());
        self.list("schema", &mut args.schema, schemas);
        // Keys of the file stand beside those of flags; `Resolved` has them.
        self.list("shard-key", &mut args.shard_key, None);
        let first = file.ns_map.keys().map(Spanned::span).min_by_key(|span| span.start);
        let maps = first
            .zip(config)
            .map(|(span, config)| Filed { value: self.resolved.ns_map.clone(), line: config.line(&span) });
        self.list("ns-map", &mut args.ns_map, maps);
        let first = file.roles.keys().map(Spanned::span).min_by_key(|span| span.start);
        let roles = first
            .zip(config)
            .map(|(span, config)| Filed { value: self.resolved.roles.clone(), line: config.line(&span) });
        self.list("role", &mut args.role, roles);
        let version = filed(config, file.server_version.as_ref(), |_| self.resolved.server_version);
        let version = version.and_then(|filed| Some(Filed { value: filed.value?, line: filed.line }));
        self.value("server-version", &mut args.server_version, version, None);
        self.value("shards", &mut args.shards, filed(config, file.shards.as_ref(), |n| *n), None);
    }

    fn filters(&mut self, args: &mut CheckArgs, file: &File) {
        let config = self.config;
        self.value("ns", &mut args.ns, filed(config, file.ns.as_ref(), String::clone), None);
        self.value("app", &mut args.app, filed(config, file.app.as_ref(), String::clone), None);
        self.value("since", &mut args.since, None, None);
        self.value("until", &mut args.until, None, None);
        self.value("min-duration", &mut args.min_duration, filed(config, file.min_duration.as_ref(), |n| *n), None);
        self.value("top", &mut args.top, filed(config, file.top.as_ref(), |n| *n), Some(TOP));
    }

    fn gate(&mut self, args: &mut CheckArgs, file: &File) {
        let config = self.config;
        let path = |text: &String| config.map_or_else(|| text.into(), |config| PathBuf::from(config.path(text)));
        self.value("baseline", &mut args.baseline, filed(config, file.baseline.as_ref(), path), None);
        let fail_on = |text: &String| FailOn::from_str(text, false).unwrap_or(FailOn::Error);
        self.value("fail-on", &mut args.fail_on, filed(config, file.fail_on.as_ref(), fail_on), Some(FailOn::Error));
        let class = |text: &String| FailOnClass::from_str(text, false).unwrap_or(FailOnClass::Broadcast);
        let class = filed(config, file.fail_on_class.as_ref(), class);
        self.value("fail-on-class", &mut args.fail_on_class, class, Some(FailOnClass::Broadcast));
        let limits = filed(config, file.max_broadcast_share.as_ref(), |_| self.resolved.limits.clone());
        self.list("max-broadcast-share", &mut args.max_broadcast_share, limits);
    }

    fn rules(&mut self, args: &mut CheckArgs, file: &File) {
        let config = self.config;
        let of = |codes: &Option<Spanned<Strings>>| filed(config, codes.as_ref(), |codes| codes.0.clone());
        self.list("select", &mut args.select, of(&file.rules.select));
        self.list("extend-select", &mut args.extend_select, of(&file.rules.extend_select));
        self.list("ignore", &mut args.ignore, of(&file.rules.ignore));
        if args.no_suppressions {
            self.row("no-suppressions", "true".to_owned(), self.given_by("no-suppressions"));
        }
    }

    fn value<T: Setting>(
        &mut self,
        key: &'static str,
        flag: &mut Option<T>,
        filed: Option<Filed<T>>,
        default: Option<T>,
    ) {
        let origin = if flag.is_some() { self.given_by(key) } else { self.filed_at(filed.as_ref().map(|f| f.line)) };
        *flag = flag.take().or(filed.map(|filed| filed.value));
        if let Some(value) = flag.as_ref().or(default.as_ref()) {
            self.row(key, value.written(), origin);
        }
    }

    fn list<T: Setting>(&mut self, key: &'static str, flag: &mut Vec<T>, filed: Option<Filed<Vec<T>>>) {
        let origin = if flag.is_empty() { self.filed_at(filed.as_ref().map(|f| f.line)) } else { self.given_by(key) };
        if flag.is_empty() {
            *flag = filed.map(|filed| filed.value).unwrap_or_default();
        }
        if !flag.is_empty() {
            let values: Vec<String> = flag.iter().map(Setting::written).collect();
            self.row(key, format!("[{}]", values.join(", ")), origin);
        }
    }

    fn row(&mut self, key: &str, value: String, origin: String) {
        self.rows.push(Row { key: key.to_owned(), value, origin });
    }

    fn given_by(&self, key: &str) -> String {
        let id = key.replace('-', "_");
        match self.matches.value_source(&id) {
            Some(ValueSource::EnvVariable) => format!("SHARDLINT_{}", id.to_uppercase()),
            _ if key == "inputs" => "command line".to_owned(),
            _ => format!("--{key}"),
        }
    }

    fn filed_at(&self, line: Option<u64>) -> String {
        match (line, self.config) {
            (Some(line), Some(config)) => format!("{}:{line}", config.name),
            _ => "default".to_owned(),
        }
    }
}

/// A value as the file would have it.
trait Setting: Clone {
    fn written(&self) -> String;
}

macro_rules! settings {
    ($($kind:ty: |$value:ident| $written:expr;)*) => {
        $(impl Setting for $kind {
            fn written(&self) -> String {
                let $value = self;
                $written
            }
        })*
    };
}

settings! {
    u32: |n| n.to_string();
    u64: |n| n.to_string();
    usize: |n| n.to_string();
    String: |text| format!("{text:?}");
    PathBuf: |path| format!("{:?}", path.display().to_string());
    ServerVersion: |version| format!("\"{version}\"");
    DeclaredRole: |role| format!("{:?}", role.to_string());
    Limit: |limit| format!("{:?}", limit.to_string());
    FailOn: |value| named(value);
    FailOnClass: |value| named(value);
}

fn named(value: &impl ValueEnum) -> String {
    format!("{:?}", value.to_possible_value().map(|value| value.get_name().to_owned()).unwrap_or_default())
}
