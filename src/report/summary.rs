//! The end of a pretty report: every line accounted for, classes by count and time, the costliest shapes, what was
//! not checked and what was not understood.

use std::collections::BTreeMap;
use std::io;

use super::RenderOptions;
use super::comparison::counts;
use super::data::{ChangeKind, ClassCount, KeyCoverage, Report, SeenOnShards, ShapeRow, Summary};
use super::escape::escape;
use super::pretty::totals;
use super::wording::{counted, duration, number, percent};
use super::wrap::{cut, fill, wrap};

/// Columns of the names at the left.
const NAMES: usize = 15;

/// The classes, worst first.
pub const CLASSES: [&str; 6] = ["broadcast", "multi-shard", "targeted", "unknown", "unsharded", "undeclared"];

pub fn render(report: &Report, options: &RenderOptions, out: &mut dyn io::Write) -> io::Result<()> {
    let mut writer = Writer { options, out };
    let summary = &report.summary;
    writer.field("findings", &totals(report))?;
    writer.field("lines", &lines(summary))?;
    writer.list("of these", &details(summary))?;
    if let (Some(from), Some(to)) = (&summary.from, &summary.to) {
        writer.field("time", &format!("{} to {}", escape(from), escape(to)))?;
    }
    if !summary.server_version.is_empty() {
        writer.field("server", &server(summary))?;
    }
    writer.list("processes", &processes(summary))?;
    writer.classes(summary)?;
    writer.key_coverage(summary)?;
    writer.shapes(report)?;
    writer.gate(report)?;
    writer.not_checked(summary)?;
    writer.unread(summary)?;
    for note in &summary.notes {
        writer.field("note", &escape(note))?;
    }
    writer.rules(report)?;
    Ok(())
}

/// So many codes are named one by one.
const CODES_NAMED: usize = 8;

/// `SL401, SL402: need indexes`
fn unchecked(codes: &[&str], need: &str) -> String {
    match codes {
        [code] => format!("{code}: needs {need}"),
        [first, .., last] if codes.len() > CODES_NAMED => {
            format!("{} rules, {first} to {last}: need {need}", codes.len())
        }
        codes => format!("{}: need {need}", codes.join(", ")),
    }
}

/// `48,211 = 31,020 slow queries + 17,190 other records + 1 not understood`
pub fn lines(summary: &Summary) -> String {
    let slow = match summary.slow_queries {
        1 => "1 slow query".to_owned(),
        n => format!("{} slow queries", number(n)),
    };
    let explains = summary.explains + summary.filtered_explains;
    let accounted = summary.slow_queries + summary.other_records + summary.not_understood + explains;
    // Only a record of several lines, such as a profiler document, makes the sums differ.
    let sum = if accounted == summary.lines {
        number(summary.lines)
    } else {
        format!("{}, {}", number(summary.lines), counted(accounted, "record"))
    };
    let others = counted(summary.other_records, "other record");
    let explains = match explains {
        0 => String::new(),
        n => format!(" + {}", counted(n, "explain")),
    };
    format!("{sum} = {slow} + {others} + {} not understood{explains}", number(summary.not_understood))
}

fn details(summary: &Summary) -> Vec<String> {
    [
        (summary.filtered, "left out by filters"),
        (summary.filtered_explains, "explains left out by filters"),
        (summary.duplicates, "told twice"),
        (summary.via_router, "told by the router too"),
        (summary.internal, "internal"),
        (summary.not_queries, "not queries"),
        (summary.truncated, "truncated"),
        (summary.suppressed, "suppressed"),
    ]
    .iter()
    .filter(|(n, _)| *n > 0)
    .map(|(n, what)| format!("{} {what}", number(*n)))
    .collect()
}

fn server(summary: &Summary) -> String {
    let version = escape(&summary.server_version);
    if summary.version_assumed {
        return format!("{version}, assumed where no record names it");
    }
    version
}

/// ``shop.orders: 34 % of 1,204 calls (12 % of the time) bind `customerId`, 30 % (11 %) the whole key``
fn carried(coverage: &KeyCoverage) -> String {
    let share = |part: ClassCount| {
        let calls = percent(part.count, coverage.calls.count).unwrap_or_default();
        (calls, percent(part.millis, coverage.calls.millis))
    };
    let (first, first_time) = share(coverage.with_first_field);
    let (whole, whole_time) = share(coverage.with_whole_key);
    let of_time = first_time.as_ref().map_or_else(String::new, |time| format!(" ({time} of the time)"));
    let time = whole_time.as_ref().map_or_else(String::new, |time| format!(" ({time})"));
    let who = match &coverage.application {
        Some(application) => format!("… by {}", escape(application)),
        None => escape(&coverage.namespace),
    };
    let calls = counted(coverage.calls.count, "call");
    let field = escape(&coverage.first_field);
    if first == whole && first_time == whole_time {
        return format!("{who}: {first} of {calls}{of_time} bind the whole shard key");
    }
    format!("{who}: {first} of {calls}{of_time} bind `{field}`, {whole}{time} the whole key")
}

/// `, in the logs of 2 to 3 of 3 shards (14 operations)`
fn seen_on(seen: SeenOnShards) -> String {
    let SeenOnShards { min, max, of, operations, .. } = seen;
    let shards = if min < max { format!("{min} to {max}") } else { max.to_string() };
    format!(", in the logs of {shards} of {of} shards ({})", counted(operations, "operation"))
}

/// So many logs are named one by one.
const LOGS_NAMED: usize = 8;

/// `shard0.log: shard rs0`; of many logs `3 logs: shard rs0`. Nothing for the only log there is, of which the rest speaks.
fn processes(summary: &Summary) -> Vec<String> {
    let known = summary.processes.iter().filter(|_| summary.processes.len() > 1);
    let told = known.filter_map(|process| {
        let shard = process.shard.as_deref().map_or_else(String::new, |shard| format!(" {}", escape(shard)));
        Some((escape(&process.path), format!("{}{shard}", process.role?)))
    });
    let told: Vec<(String, String)> = told.collect();
    if told.len() <= LOGS_NAMED {
        return told.into_iter().map(|(log, role)| format!("{log}: {role}")).collect();
    }
    let mut roles: BTreeMap<String, u64> = BTreeMap::new();
    told.into_iter().for_each(|(_, role)| *roles.entry(role).or_default() += 1);
    roles.into_iter().map(|(role, logs)| format!("{}: {role}", counted(logs, "log"))).collect()
}

struct Writer<'a> {
    options: &'a RenderOptions,
    out: &'a mut dyn io::Write,
}

impl Writer<'_> {
    fn paint(&self, code: &str, text: &str) -> String {
        if self.options.color { format!("\u{1b}[{code}m{text}\u{1b}[0m") } else { text.to_owned() }
    }

    fn name(&self, name: &str) -> String {
        self.paint("1", &format!("{name:NAMES$}"))
    }

    /// Columns beside the names.
    fn width(&self) -> usize {
        self.options.width.saturating_sub(NAMES).max(24)
    }

    /// A name and a text that may take several rows.
    fn field(&mut self, name: &str, text: &str) -> io::Result<()> {
        let rows = wrap(text, self.width());
        self.rows(name, &rows)
    }

    /// A name and items that are not broken.
    fn list(&mut self, name: &str, items: &[String]) -> io::Result<()> {
        let last = items.len().saturating_sub(1);
        let items: Vec<String> =
            items.iter().enumerate().map(|(at, item)| format!("{item}{}", if at < last { "," } else { "" })).collect();
        let rows = fill(items.iter().map(String::as_str), self.width());
        self.rows(name, &rows)
    }

    fn rows(&mut self, name: &str, rows: &[String]) -> io::Result<()> {
        let mut name = self.name(name);
        for row in rows {
            writeln!(self.out, "{name}{row}")?;
            name = " ".repeat(NAMES);
        }
        Ok(())
    }

    fn classes(&mut self, summary: &Summary) -> io::Result<()> {
        let count: u64 = summary.classes.values().map(|class| class.count).sum();
        let millis: u64 = summary.classes.values().map(|class| class.millis).sum();
        if count == 0 {
            return Ok(());
        }
        let head = format!("{:>9} {:>8}   {:>11} {:>8}", "calls", "", "time", "");
        writeln!(self.out, "\n{}{}", self.name("class"), head.trim_end())?;
        for class in CLASSES {
            let ClassCount { count: n, millis: ms } = summary.classes.get(class).copied().unwrap_or_default();
            if n == 0 {
                continue;
            }
            let share = |part, whole| percent(part, whole).unwrap_or_default();
            let name = self.class(class, NAMES);
            let calls = format!("{:>9} {:>8}", number(n), share(n, count));
            let time = format!("{:>11} {:>8}", duration(ms), share(ms, millis));
            writeln!(self.out, "{name}{calls}   {}", time.trim_end())?;
        }
        Ok(())
    }

    /// Which share of calls and of time carries the shard key; each application below its collection.
    fn key_coverage(&mut self, summary: &Summary) -> io::Result<()> {
        if !summary.key_coverage.is_empty() {
            writeln!(self.out)?;
        }
        let mut name = "key coverage";
        for coverage in &summary.key_coverage {
            self.field(name, &carried(coverage))?;
            name = "";
        }
        Ok(())
    }

    fn class(&self, class: &str, width: usize) -> String {
        let code = match class {
            "broadcast" => "31",
            "multi-shard" => "33",
            "targeted" => "32",
            _ => "2",
        };
        self.paint(code, &format!("{class:width$}"))
    }

    fn shapes(&mut self, report: &Report) -> io::Result<()> {
        let shown = report.shapes.len().min(self.options.top);
        if shown == 0 {
            return Ok(());
        }
        let whole = report.summary.classes.values().map(|class| class.millis).sum();
        writeln!(self.out, "\n{}", self.paint("1", "shapes that take most of the time"))?;
        for row in &report.shapes[..shown] {
            self.shape(row, whole)?;
        }
        let hidden = report.shapes.len() - shown;
        if hidden > 0 {
            writeln!(self.out, "{} {} more", self.ellipsis(), number(hidden as u64))?;
        }
        Ok(())
    }

    fn shape(&mut self, row: &ShapeRow, whole: u64) -> io::Result<()> {
        let mut cost = duration(row.millis);
        if let Some(share) = percent(row.millis, whole) {
            cost.push_str(&format!(" ({share})"));
        }
        cost.push_str(&format!(" in {}, the longest {}", counted(row.count, "call"), duration(row.max_millis)));
        match row.observed_shards {
            Some((least, most)) if least < most => cost.push_str(&format!(", asked {least} to {most} shards")),
            Some((least, _)) => cost.push_str(&format!(", asked {}", counted(least, "shard"))),
            None => cost.push_str(&row.seen_on_shards.map_or_else(String::new, seen_on)),
        }
        // A router has no plans: beside its count stands what its shards logged.
        if let ([(plan, _), more @ ..], Some(_)) = (row.plans.as_slice(), row.observed_shards) {
            let more = if more.is_empty() {
                String::new()
            } else {
                format!(" and {} more", counted(more.len() as u64, "plan"))
            };
            cost.push_str(&format!(", by {}{more}", escape(plan)));
        }
        let width = self.width();
        let class = self.class(row.class, NAMES);
        let name = format!("{} on {}", row.operation, escape(&row.namespace));
        writeln!(self.out, "{class}{}", cut(&name, width, self.ellipsis()))?;
        writeln!(self.out, "{:NAMES$}{}", "", cut(&escape(&row.shape), width, self.ellipsis()))?;
        for line in [cost, escape(&row.reason)].iter().flat_map(|text| wrap(text, width)) {
            writeln!(self.out, "{:NAMES$}{}", "", self.paint("2", &line))?;
        }
        Ok(())
    }

    fn ellipsis(&self) -> &'static str {
        if self.options.unicode { "…" } else { "..." }
    }

    /// What became of the baseline and the limits.
    fn gate(&mut self, report: &Report) -> io::Result<()> {
        if report.comparison.is_some() || !report.limits.is_empty() {
            writeln!(self.out)?;
        }
        if let Some(comparison) = &report.comparison {
            let mut text = format!("{} (`{}`)", counts(comparison), escape(&comparison.baseline));
            if comparison.count(ChangeKind::Gone) + comparison.count(ChangeKind::Better) > 0 {
                text.push_str("; `shardlint baseline prune` drops what is better or gone");
            }
            self.field("baseline", &text)?;
        }
        let mut name = "limits";
        for limit in &report.limits {
            let verdict = if limit.exceeded { "exceeded" } else { "kept" };
            self.field(name, &format!("{verdict}: {}", escape(&limit.words())))?;
            name = "";
        }
        Ok(())
    }

    /// Rules by what they need.
    fn not_checked(&mut self, summary: &Summary) -> io::Result<()> {
        let mut needs: Vec<(&str, Vec<&str>)> = Vec::new();
        for rule in &summary.not_checked {
            match needs.iter_mut().find(|(need, _)| *need == rule.needs) {
                Some((_, codes)) => codes.push(rule.code),
                None => needs.push((rule.needs, vec![rule.code])),
            }
        }
        if !needs.is_empty() {
            writeln!(self.out)?;
        }
        let mut name = "not checked";
        for (need, codes) in needs {
            self.field(name, &unchecked(&codes, need))?;
            name = "";
        }
        Ok(())
    }

    /// Where to read more.
    fn rules(&mut self, report: &Report) -> io::Result<()> {
        let mut codes: Vec<&str> = report.told().map(|diagnostic| diagnostic.code).collect();
        codes.sort_unstable();
        codes.dedup();
        if codes.is_empty() {
            return Ok(());
        }
        writeln!(self.out)?;
        self.field("more", &format!("`shardlint rule CODE` explains a finding: {}", codes.join(", ")))
    }

    fn unread(&mut self, summary: &Summary) -> io::Result<()> {
        if !summary.unread.is_empty() {
            writeln!(self.out)?;
        }
        let mut name = "not understood";
        for line in &summary.unread {
            let place = format!("{}:{}:{}", escape(&line.path), line.line, line.column);
            self.field(name, &format!("{place}: {}", escape(&line.why)))?;
            name = "";
        }
        let hidden = summary.not_understood.saturating_sub(summary.unread.len() as u64);
        if hidden > 0 && !summary.unread.is_empty() {
            let text = format!("{} {} more", self.ellipsis(), number(hidden));
            self.field("", &text)?;
        }
        Ok(())
    }
}
