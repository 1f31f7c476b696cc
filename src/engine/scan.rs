//! One block of a log: every record accounted for, every slow query judged. Knows nothing of the blocks beside it; what
//! reaches over its edges is left open in [`Pairing`].

use std::cell::OnceCell;
use std::collections::BTreeSet;

use compact_str::CompactString;

use crate::input::LINE_CAP;
use crate::model::{Event, Namespace, ServerVersion};
use crate::rules::jumbo_or_failed_migration;
use crate::syntax::{Fact, Heading, Record, Role, SyntaxError, Told, Trouble};
use crate::syntax::{clean, is_idle, is_idle_text, read_record};
use crate::text::{LineIndex, RecordPos, SourceId, Span};

use super::blocks::Block;
use super::judge::judge;
use super::known::Kind;
use super::memo::Memory;
use super::pairing::{Pairing, Settled};
use super::processes::Processes;
use super::roster::Appearance;
use super::settings::Settings;
use super::sink::{Read, Repeat, Sink};
use super::stats::joined;
use super::sums::Occurrence;
use super::worker::{Tallies, Values, Worker, values_of};

/// What is known about the process whose log is read, at the start of a chunk.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Process {
    /// From Build Info.
    pub version: Option<ServerVersion>,
    /// From the options.
    pub role: Option<Role>,
    /// From `--role`, which overrules what a log says.
    pub declared: Option<Role>,
}

impl Process {
    /// Takes in what a record tells.
    pub fn learn(&mut self, fact: &Fact) {
        match fact {
            Fact::Version(version) => self.version = Some(*version),
            Fact::Role(role, _) => self.role = Some(*role),
            Fact::Restart => *self = Self { declared: self.declared, ..Self::default() },
            Fact::Plain | Fact::Vague | Fact::Trouble(_) => {}
        }
    }
}

/// A line that no format explains.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Unread {
    /// Where the line, or what is read of it, begins.
    pub position: RecordPos,
    /// Bytes of the line before that.
    pub lead: u32,
    /// Where in the line reading failed, in bytes.
    pub at: Span,
    /// What is wrong.
    pub why: String,
    /// The line, cut to its beginning if it is long.
    pub line: Vec<u8>,
}

impl Unread {
    /// Where reading failed, within what is kept of the line.
    #[must_use]
    pub fn shown(&self) -> Span {
        let within = |at: u32| (at as usize).min(self.line.len());
        Span::new(within(self.at.start), within(self.at.end))
    }
}

/// So many lines that were not understood are shown.
pub const UNREAD_SHOWN: usize = 5;

/// The counts of records that are not in a tally.
#[derive(Debug, Default, Clone, Copy)]
pub struct Counts {
    /// Lines, blank ones included.
    pub lines: u64,
    /// Slow-query records.
    pub slow_queries: u64,
    /// Records of other kinds and blank lines.
    pub other_records: u64,
    /// Blank lines.
    pub blank: u64,
    /// Records of other kinds that may stand in anything.
    pub vague: u64,
    /// Lines that no format explains.
    pub not_understood: u64,
    /// Slow-query records that the server cut.
    pub truncated: u64,
    /// Slow queries left out by the filters.
    pub filtered: u64,
    /// Explain documents left out by the filters.
    pub filtered_explains: u64,
    /// Records that repeat an operation told by another.
    pub duplicates: u64,
    /// The cluster's own traffic.
    pub internal: u64,
    /// Commands without a filter to route.
    pub not_queries: u64,
    /// Explain documents.
    pub explains: u64,
}

impl Counts {
    fn add(&mut self, more: Self) {
        self.lines += more.lines;
        self.slow_queries += more.slow_queries;
        self.other_records += more.other_records;
        self.blank += more.blank;
        self.vague += more.vague;
        self.not_understood += more.not_understood;
        self.truncated += more.truncated;
        self.filtered += more.filtered;
        self.filtered_explains += more.filtered_explains;
        self.duplicates += more.duplicates;
        self.internal += more.internal;
        self.not_queries += more.not_queries;
        self.explains += more.explains;
    }
}

/// What a part of the input holds, apart from what is in the tallies of the thread that read it.
#[derive(Debug, Clone, Default)]
pub struct Part {
    /// Records by kind.
    pub counts: Counts,
    /// Earliest and latest time of a slow query, in milliseconds since 1970.
    pub seen: Option<(i64, i64)>,
    /// The versions whose rules were applied, and those that the logs name.
    pub versions: BTreeSet<ServerVersion>,
    /// Some verdict rests on an assumed version.
    pub version_assumed: bool,
    /// The first lines that were not understood.
    pub unread: Vec<Unread>,
    /// The first such line of each source.
    pub unread_first: Vec<Unread>,
    /// Lines not understood, by source.
    pub unread_by_source: Vec<(SourceId, u64)>,
    /// Open ends.
    pub pairing: Pairing,
    /// The shapes of its statements, in their order.
    pub appearances: Vec<Appearance>,
    /// What the processes tell of themselves.
    pub processes: Processes,
    /// The offset behind its last line.
    pub end: u64,
}

impl Part {
    /// Adds the part of the same source behind this one; `tallies` get what is settled by that.
    pub fn merge(&mut self, later: Self, tallies: &mut Tallies, settings: &Settings) {
        let mut settled = Settled::default();
        self.pairing.merge(later.pairing, later.end, &mut settled);
        self.counts.add(later.counts);
        self.seen = joined(self.seen, later.seen);
        self.versions.extend(later.versions);
        self.version_assumed |= later.version_assumed;
        self.processes.merge(later.processes);
        let room = UNREAD_SHOWN.saturating_sub(self.unread.len());
        self.unread.extend(later.unread.into_iter().take(room));
        for first in later.unread_first {
            if self.unread_first.last().is_none_or(|known| known.position.source != first.position.source) {
                self.unread_first.push(first);
            }
        }
        for (source, count) in later.unread_by_source {
            self.count_unread(source, count);
        }
        self.count_settled(settled, tallies, settings);
    }

    /// The end of a source: what waits for a partner counts now.
    pub fn finish_source(&mut self, tallies: &mut Tallies, settings: &Settings) {
        let mut settled = Settled::default();
        self.pairing.finish(&mut settled);
        self.count_settled(settled, tallies, settings);
    }

    fn count_unread(&mut self, source: SourceId, count: u64) {
        match self.unread_by_source.last_mut() {
            Some((last, sum)) if *last == source => *sum += count,
            _ => self.unread_by_source.push((source, count)),
        }
    }

    /// Notes when a judged record was written, and by whose rules it is judged.
    pub(super) fn note(&mut self, told: &Told<'_>, (version, is_assumed): (ServerVersion, bool)) {
        self.seen = joined(self.seen, told.time_millis.map(|time| (time, time)));
        if !self.versions.contains(&version) {
            self.versions.insert(version);
        }
        self.version_assumed |= is_assumed;
    }

    fn count_settled(&mut self, settled: Settled, tallies: &mut Tallies, settings: &Settings) {
        self.counts.duplicates += settled.duplicates;
        for held in settled.counted {
            tallies.add_held(&held, settings);
        }
    }
}

/// Reads and judges every record of `block`.
#[must_use]
pub fn scan(block: &Block, process: Process, settings: &Settings, worker: &mut Worker) -> Part {
    let may_recall = settings.may_recall();
    let (part, settled) = (Part::default(), Settled::default());
    let mut scan = Scan { process, settings, worker, part, settled, may_recall, recalls: false };
    for record in block.records() {
        scan.part.counts.lines += record.lines;
        if record.heading == Heading::Idle {
            scan.part.counts.other_records += record.lines;
            continue;
        }
        if record.is_split {
            // The runtime's own records: what it split is told by the first of them.
            scan.part.counts.other_records += record.lines - 1;
        }
        if record.heading == Heading::Other && (is_idle(record.bytes) || is_idle_text(record.bytes)) {
            scan.part.counts.other_records += 1;
            continue;
        }
        scan.read(Place { position: record.position, lead: record.lead, bytes: record.bytes });
    }
    let Scan { mut part, settled, .. } = scan;
    part.end = block.lines.pos.offset + block.lines.bytes.len() as u64;
    part.count_settled(settled, &mut worker.tallies, settings);
    part
}

/// A record's text, and where it stands.
#[derive(Debug, Clone, Copy)]
struct Place<'a> {
    position: RecordPos,
    /// Bytes before it on its first line.
    lead: u32,
    bytes: &'a [u8],
}

impl<'a> Place<'a> {
    /// A part of it.
    fn within(self, span: Span) -> Self {
        let before = &self.bytes[..span.range().start];
        let at = LineIndex::locate(before, before.len());
        let position = RecordPos {
            offset: self.position.offset + u64::from(span.start),
            line: self.position.line + at.line - 1,
            ..self.position
        };
        let column = u32::try_from(at.column - 1).unwrap_or(u32::MAX);
        let lead = if at.line == 1 { self.lead + column } else { column };
        Place { position, lead, bytes: &self.bytes[span.range()] }
    }
}

struct Scan<'a> {
    process: Process,
    settings: &'a Settings,
    worker: &'a mut Worker,
    part: Part,
    settled: Settled,
    /// Records may be recalled, and what is found out about them remembered:
    may_recall: bool,
    /// the one that is read now.
    recalls: bool,
}

impl Scan<'_> {
    fn read(&mut self, place: Place<'_>) {
        let line = if self.may_recall { clean(place.bytes) } else { None };
        self.recalls = line.is_some();
        if line.and_then(|line| self.recall(line, place)).is_none() {
            self.take(read_record(place.bytes), place);
        }
    }

    /// Counts a record whose like was seen before; `None` if it has to be read.
    fn recall(&mut self, line: &str, place: Place<'_>) -> Option<()> {
        let Self { part, settled, settings, process, worker, .. } = self;
        let Worker { tallies, memo, outliner, .. } = &mut **worker;
        let recalled = memo.recall(*process, line, outliner, settings)?;
        let (memory, told) = (recalled.memory, recalled.told);
        let read = OnceCell::new();
        let value = |statement: usize, at: usize| {
            let known = recalled.key_value(line, (statement, at), outliner);
            let read = || {
                let all: &Option<Values> = read.get_or_init(|| values_of(place.bytes, settings));
                all.as_ref()?.get(statement)?.get(at).cloned()
            };
            debug_assert!(known.is_none() || format!("{known:?}") == format!("{:?}", read()), "the same value");
            known.or_else(read)
        };
        let one = || Occurrence {
            position: place.position,
            lead: place.lead,
            origin: memory.kind.origin,
            time: told.time_millis,
            millis: told.duration_millis.unwrap_or(0),
            application: told.app_name.map(CompactString::from),
            observed_shards: told.n_shards,
            logged: process.version,
        };
        let mut sink = Sink { part, settled, tallies, settings };
        sink.count(&memory.kind, &told, place.position, || Repeat { memory, one: one(), record: place.bytes, value });
        Some(())
    }

    /// Counts and judges what was read at `place`.
    fn take(&mut self, record: Record, place: Place<'_>) {
        match record {
            Record::Slow(event) => self.slow(&event, place),
            Record::Explain(event) => self.explain(&event, place),
            Record::Other(fact) => {
                self.part.counts.other_records += 1;
                self.part.counts.blank += u64::from(place.bytes.trim_ascii().is_empty());
                self.part.counts.vague += u64::from(fact == Fact::Vague);
                self.process.learn(&fact);
                self.part.processes.learn(place.position.source, &fact);
                if let (Fact::Version(version), None) = (&fact, self.settings.version) {
                    self.part.versions.insert(*version);
                }
                if let Fact::Trouble(trouble) = &fact {
                    self.trouble(trouble, place);
                }
            }
            Record::Bad(error) => unread(&mut self.part, place, error),
            Record::Several(parts) => {
                for inner in parts {
                    self.take(inner.record, place.within(inner.span));
                }
            }
        }
    }

    /// A message on a chunk that does not move.
    fn trouble(&mut self, trouble: &Trouble, place: Place<'_>) {
        let settings = self.settings;
        let Some(rule) = settings.enabled(jumbo_or_failed_migration::RULE.code) else { return };
        let namespace = trouble.namespace.as_deref().map(|name| settings.namespace_map.apply(&Namespace::parse(name)));
        let namespace = namespace.map_or_else(String::new, |name| name.as_str().to_owned());
        // What the cluster keeps for itself is balanced like the rest, and no concern of its users.
        if namespace.starts_with("config.") || !settings.filters.admit_message(trouble.time_millis, &namespace) {
            return;
        }
        let at = (place.position, place.lead);
        self.worker.tallies.direct.add_trouble(rule, trouble, namespace, at, place.bytes);
    }

    /// Counts a record that was read in full, and remembers what was found.
    fn slow(&mut self, event: &Event, place: Place<'_>) {
        let Self { part, settled, settings, process, worker, recalls, .. } = self;
        let Worker { tallies, memo, outliner, .. } = &mut **worker;
        let kind = Kind::of(event, *process, settings);
        let mut judged = judge(event, place.position, process.version, settings);
        (judged.own.lead, judged.own.origin) = (place.lead, kind.origin);
        if *recalls
            && Memory::is_of_outline(&judged, settings)
            && let Some(line) = clean(place.bytes)
        {
            memo.insert(*process, (line, event), outliner, settings, || Memory::of(&kind, &judged));
        }
        let mut sink = Sink { part, settled, tallies, settings };
        sink.count(&kind, &Told::by_event(event), place.position, || Read { judged, record: place.bytes });
    }

    /// An explain is nobody's traffic: it is judged, and is no slow query.
    fn explain(&mut self, event: &Event, place: Place<'_>) {
        let Self { part, settings, process, worker, .. } = self;
        let namespace = settings.namespace_map.apply(&event.namespace);
        let told = Told::by_event(event);
        if !settings.filters.admit(&told, namespace.as_str()) {
            part.counts.filtered_explains += 1;
            return;
        }
        part.counts.explains += 1;
        let explained = event.plan.as_ref().and_then(|plan| plan.version).or(process.version);
        part.note(&told, settings.version_for(explained, event.newest_writer));
        let mut judged = judge(event, place.position, explained, settings);
        judged.own.lead = place.lead;
        part.appearances.extend(Appearance::of(&judged.statements));
        worker.tallies.add(&judged, Some(place.bytes), settings);
    }
}

/// A line or a document that is too long to be kept.
#[must_use]
pub fn oversize(position: RecordPos, length: u64, lines: u64) -> Part {
    let mut part = Part { end: position.offset + length, ..Part::default() };
    part.counts.lines = lines;
    let what = if lines > 1 { "document" } else { "line" };
    let why = format!("a {what} of {length} bytes: the longest that is read has {LINE_CAP}");
    unread(&mut part, Place { position, lead: 0, bytes: &[] }, SyntaxError::new(Span::default(), why));
    part
}

/// A line shown as not understood is cut to so many bytes.
const UNREAD_BYTES: usize = 1024;

fn unread(part: &mut Part, place: Place<'_>, error: SyntaxError) {
    part.counts.not_understood += 1;
    part.count_unread(place.position.source, 1);
    if part.unread.len() < UNREAD_SHOWN {
        let unread = shown(place, error);
        if part.unread_first.is_empty() {
            part.unread_first.push(unread.clone());
        }
        part.unread.push(unread);
    }
}

/// The line on which reading failed.
fn shown(place: Place<'_>, error: SyntaxError) -> Unread {
    let at = error.span.range().start.min(place.bytes.len());
    let start = memchr::memrchr(b'\n', &place.bytes[..at]).map_or(0, |newline| newline + 1);
    let length = memchr::memchr(b'\n', &place.bytes[start..]).unwrap_or(place.bytes.len() - start);
    let line = place.within(Span::new(start, start + length.min(UNREAD_BYTES)));
    let within = |offset: u32| offset.max(line_start(start)) - line_start(start);
    let at = Span { start: within(error.span.start), end: within(error.span.end) };
    Unread { position: line.position, lead: line.lead, at, why: error.message, line: line.bytes.to_vec() }
}

fn line_start(start: usize) -> u32 {
    u32::try_from(start).unwrap_or(u32::MAX)
}
