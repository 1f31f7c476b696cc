//! What the values mean: globs, regular expressions, codes, dates, versions. Each that means nothing is a problem in place.

use std::str::FromStr;

use globset::{Glob, GlobMatcher};
use jiff::civil::Date;
use regex::Regex;
use toml::Spanned;

use crate::engine::{Adjustment, DeclaredRole, Limit, Scope, Suppression, user_regex};
use crate::model::ServerVersion;
use crate::rules::{Severity, matching, suggestions};
use crate::syntax::shard_key::{self, ShardKeyDeclaration};
use crate::text::{Located, SourceId, Span};

use super::file::{Ignore, Part, Strings, Texts};
use super::read::{Config, Problem};

/// The configuration, as a run needs it.
#[derive(Debug, Default)]
pub struct Resolved {
    /// Severities and switched-off rules, the later overruling.
    pub adjustments: Vec<Adjustment>,
    /// What is not to be shown.
    pub suppressions: Vec<Suppression>,
    /// Limits of `[[namespace]]` and `[[application]]`.
    pub part_limits: Vec<Limit>,
    /// Limits of `max-broadcast-share`.
    pub limits: Vec<Limit>,
    /// Shard keys, with spans in the file.
    pub shard_keys: Vec<ShardKeyDeclaration>,
    /// `PATTERN=DATABASE`, in the order of the file.
    pub ns_map: Vec<String>,
    /// Which processes wrote the logs.
    pub roles: Vec<DeclaredRole>,
    /// The server version.
    pub server_version: Option<ServerVersion>,
}

impl Config {
    /// Gives the values their meaning. `today` decides which suppressions are past their date; `source` is the file's place
    /// among the declarations.
    ///
    /// # Errors
    /// Everything that means nothing.
    pub fn resolve(&self, today: Date, source: SourceId) -> Result<Resolved, Vec<Problem>> {
        let mut problems = Vec::new();
        let mut note = |problem: Problem| problems.push(problem);
        let mut resolved = Resolved::default();
        self.resolve_rules(&mut resolved, &mut note);
        self.resolve_gate(&mut resolved, &mut note);
        self.resolve_declarations(&mut resolved, &mut note);
        let entries = self.file.ignore.iter();
        resolved.suppressions = entries.filter_map(|entry| suppression(entry, today, source, &mut note)).collect();
        problems.sort_by_key(|problem| problem.span);
        if problems.is_empty() { Ok(resolved) } else { Err(problems) }
    }

    fn resolve_rules(&self, resolved: &mut Resolved, note: &mut impl FnMut(Problem)) {
        let file = &self.file;
        for codes in [&file.rules.select, &file.rules.extend_select, &file.rules.ignore].into_iter().flatten() {
            rules(codes, note);
        }
        let severity = severities(&file.rules.severity, note);
        resolved.adjustments.push(Adjustment { severity, ..Adjustment::default() });
        for part in &file.namespace {
            resolved.part(part, |name| glob(name).map(Scope::Namespace), note);
        }
        for part in &file.application {
            resolved.part(part, |name| regex(name).map(Scope::Application), note);
        }
    }

    fn resolve_gate(&self, resolved: &mut Resolved, note: &mut impl FnMut(Problem)) {
        let file = &self.file;
        if let Some(limits) = &file.max_broadcast_share {
            let texts = limits.get_ref().0.iter();
            resolved.limits = texts.filter_map(|text| read(text, limits.span(), note)).collect();
        }
        one_of(file.fail_on.as_ref(), &["error", "warning", "info", "never"], note);
        one_of(file.fail_on_class.as_ref(), &["multi-shard", "broadcast"], note);
        checked(file.ns.as_ref().map(glob), note);
        checked(file.app.as_ref().map(regex), note);
    }

    fn resolve_declarations(&self, resolved: &mut Resolved, note: &mut impl FnMut(Problem)) {
        let file = &self.file;
        let version = file.server_version.as_ref();
        resolved.server_version = version.and_then(|version| read(version.get_ref(), version.span(), note));
        if let Some(shards) = file.shards.as_ref().filter(|shards| *shards.get_ref() == 0) {
            note(Problem::new(shards.span(), "a cluster has at least 1 shard"));
        }
        for (from, to) in in_order(&file.ns_map) {
            checked(Some(glob(from)), note);
            resolved.ns_map.push(format!("{}={}", from.get_ref(), to.get_ref()));
        }
        for (log, role) in in_order(&file.roles) {
            let text = format!("{}={}", log.get_ref(), role.get_ref());
            resolved.roles.extend(read::<DeclaredRole>(&text, role.span(), note));
        }
        for (namespace, key) in in_order(&file.shard_keys) {
            resolved.shard_keys.extend(checked(Some(self.shard_key(namespace, key)), note));
        }
    }

    /// A key as the shell writes it. Blanks before it give every span its place in the file.
    fn shard_key(&self, namespace: &Spanned<String>, key: &Spanned<String>) -> Result<ShardKeyDeclaration, Problem> {
        let raw = self.text.get(key.span()).unwrap_or_default();
        let inner = raw.get(1..raw.len().saturating_sub(1)).unwrap_or_default();
        // A quotation mark that the file escapes is as long as a blank and a plain one.
        let inner = if raw.starts_with('"') { inner.replace("\\\"", " \"") } else { inner.to_owned() };
        if inner.contains(['\\', '\n']) || raw.starts_with("\"\"\"") || raw.starts_with("'''") {
            return Err(Problem::new(key.span(), "expected a key on one line, in single quotes: '{ customerId: 1 }'"));
        }
        let name = format!("{}=", namespace.get_ref());
        let blanks = (key.span().start + 1).saturating_sub(name.len());
        let text = format!("{}{name}{inner}", " ".repeat(blanks));
        let mut declared = shard_key::parse(&text).map_err(|error| {
            let at = error.span.range();
            let within = |offset: usize| offset.clamp(key.span().start, key.span().end);
            Problem::new(within(at.start)..within(at.end), error.message)
        })?;
        declared.namespace = Located::new(namespace.get_ref().clone(), span(namespace));
        Ok(declared)
    }
}

impl Resolved {
    fn part(
        &mut self,
        part: &Part,
        scope: impl Fn(&Spanned<String>) -> Result<Scope, Problem>,
        note: &mut impl FnMut(Problem),
    ) {
        let Some(name) = &part.name else {
            let at = part.ignore.as_ref().map(Spanned::span).or(part.max_broadcast_share.as_ref().map(Spanned::span));
            let at = at.or(part.severity.keys().next().map(Spanned::span)).unwrap_or(0..0);
            return note(Problem::new(at, "these settings say not for what they hold: `name` is missing"));
        };
        let Some(scope) = checked(Some(scope(name)), note) else { return };
        let mut adjustment = Adjustment { severity: severities(&part.severity, note), ..Adjustment::default() };
        adjustment.ignore = part.ignore.as_ref().map(|codes| rules(codes, note)).unwrap_or_default();
        match scope.clone() {
            Scope::Namespace(glob) => adjustment.namespace = Some(glob),
            Scope::Application(regex) => adjustment.application = Some(regex),
            Scope::All => {}
        }
        self.adjustments.push(adjustment);
        if let Some(share) = &part.max_broadcast_share {
            let limit: Option<Limit> = read(share.get_ref(), share.span(), note);
            self.part_limits.extend(limit.map(|limit| limit.within(scope)));
        }
    }
}

fn suppression(entry: &Ignore, today: Date, source: SourceId, note: &mut impl FnMut(Problem)) -> Option<Suppression> {
    let Some(rule) = &entry.rule else {
        let parts = [&entry.reason, &entry.namespace, &entry.shape, &entry.application];
        let at = parts.into_iter().flatten().next().map_or(0..0, Spanned::span);
        note(Problem::new(at, "this entry does not say what it ignores: `rule` is missing"));
        return None;
    };
    if rule.get_ref().0.is_empty() {
        note(Problem::new(rule.span(), "this entry ignores nothing: `rule` names no rule"));
        return None;
    }
    let reason = entry.reason.as_ref().map(|reason| reason.get_ref().trim()).filter(|reason| !reason.is_empty());
    let Some(reason) = reason else {
        let problem = Problem::new(rule.span(), "this entry does not say why: `reason` is missing");
        note(Problem { help: Some("add `reason = \"…\"` for those who read it later".to_owned()), ..problem });
        return None;
    };
    if let Some(shape) = entry.shape.as_ref().filter(|shape| !is_fingerprint(shape.get_ref())) {
        note(Problem::new(shape.span(), "expected the fingerprint of a shape: 32 lower-case hexadecimal digits"));
    }
    let until = entry.until.as_ref().and_then(|until| checked(Some(day(until)), note));
    Some(Suppression {
        rules: rules(rule, note),
        namespace: checked(entry.namespace.as_ref().map(glob), note),
        fingerprint: entry.shape.as_ref().map(|shape| shape.get_ref().clone()),
        application: checked(entry.application.as_ref().map(regex), note),
        reason: reason.to_owned(),
        expired: until.filter(|until| *until < today).map(|until| until.to_string()),
        source,
        span: span(rule),
    })
}

fn is_fingerprint(text: &str) -> bool {
    text.len() == 32 && text.bytes().all(|byte| matches!(byte, b'0'..=b'9' | b'a'..=b'f'))
}

/// The value, if there is one and it is right.
fn checked<T>(value: Option<Result<T, Problem>>, note: &mut impl FnMut(Problem)) -> Option<T> {
    match value? {
        Ok(value) => Some(value),
        Err(problem) => {
            note(problem);
            None
        }
    }
}

fn read<T: FromStr<Err: std::fmt::Display>>(
    text: &str,
    at: std::ops::Range<usize>,
    note: &mut impl FnMut(Problem),
) -> Option<T> {
    checked(Some(text.parse().map_err(|error: T::Err| Problem::new(at, error.to_string()))), note)
}

fn one_of(value: Option<&Spanned<String>>, known: &[&str], note: &mut impl FnMut(Problem)) {
    let Some(value) = value.filter(|value| !known.contains(&value.get_ref().as_str())) else { return };
    let message = format!("`{}` is none of {}", value.get_ref(), known.join(", "));
    note(Problem::new(value.span(), message).did_you_mean(value.get_ref(), known));
}

fn glob(text: &Spanned<String>) -> Result<GlobMatcher, Problem> {
    let glob = Glob::new(text.get_ref());
    glob.map(|glob| glob.compile_matcher())
        .map_err(|error| Problem::new(text.span(), format!("this is no glob: {}", error.kind())))
}

fn regex(text: &Spanned<String>) -> Result<Regex, Problem> {
    user_regex(text.get_ref()).map_err(|error| {
        let words = error.to_string();
        let last = words.lines().last().unwrap_or_default().trim_start_matches("error: ").to_owned();
        Problem::new(text.span(), format!("this is no regular expression: {last}"))
    })
}

fn day(value: &Spanned<toml::Value>) -> Result<Date, Problem> {
    let text = match value.get_ref() {
        toml::Value::Datetime(date) => date.to_string(),
        toml::Value::String(text) => text.clone(),
        _ => String::new(),
    };
    text.parse().map_err(|_| Problem::new(value.span(), "expected a day such as 2027-01-31"))
}

/// The codes of the rules that are named.
fn rules(selectors: &Spanned<Strings>, note: &mut impl FnMut(Problem)) -> Vec<&'static str> {
    let selectors_at = selectors.span();
    selectors.get_ref().0.iter().flat_map(|selector| codes(selector, selectors_at.clone(), note)).collect()
}

fn codes(selector: &str, at: std::ops::Range<usize>, note: &mut impl FnMut(Problem)) -> Vec<&'static str> {
    let rules = matching(selector);
    if rules.is_empty() {
        let near = suggestions(selector);
        let hint = if near.is_empty() { String::new() } else { format!("; did you mean {}?", near.join(" or ")) };
        note(Problem::new(at, format!("`{selector}` names no rule{hint}")));
    }
    rules.into_iter().map(|rule| rule.code).collect()
}

/// Severities by code. A rule that is named by its code or name is meant more than one of a prefix.
fn severities(table: &Texts, note: &mut impl FnMut(Problem)) -> Vec<(&'static str, Severity)> {
    let mut found: Vec<(usize, &'static str, Severity)> = Vec::new();
    for (selector, level) in table {
        let codes = codes(selector.get_ref(), selector.span(), note);
        let severity = Severity::ALL.into_iter().find(|severity| severity.name() == level.get_ref());
        let Some(severity) = severity else {
            one_of(Some(level), &Severity::ALL.map(Severity::name), note);
            continue;
        };
        found.extend(codes.iter().map(|code| (codes.len(), *code, severity)));
    }
    // Fewest rules first: the first entry of a code is the one that is looked up.
    found.sort_by_key(|(breadth, code, _)| (*breadth, *code));
    found.into_iter().map(|(_, code, severity)| (code, severity)).collect()
}

/// The entries of a table in the order of the file.
fn in_order(table: &Texts) -> impl Iterator<Item = (&Spanned<String>, &Spanned<String>)> {
    let mut entries: Vec<_> = table.iter().collect();
    entries.sort_by_key(|(key, _)| key.span().start);
    entries.into_iter()
}

fn span<T>(spanned: &Spanned<T>) -> Span {
    Span::new(spanned.span().start, spanned.span().end)
}
