//! One block of a log: every record accounted for, every slow query judged. Knows nothing of the blocks beside it; what
//! reaches over its edges is left open in [`Pairing`].

use std::collections::BTreeSet;

use crate::input::LINE_CAP;
use crate::model::{Event, Namespace, Origin, ServerVersion, Traffic};
use crate::rules::jumbo_or_failed_migration;
use crate::syntax::{Fact, Record, Role, SyntaxError, read_record};
use crate::text::{LineIndex, RecordPos, SourceId, Span};

use super::blocks::Block;
use super::judge::{Judged, judge};
use super::pairing::{BatchKey, Held, Pairing, Settled};
use super::settings::Settings;
use super::tally::{Tally, joined};

/// What is known about the process whose log is read, at the start of a chunk.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Process {
    /// From Build Info.
    pub version: Option<ServerVersion>,
    /// From the options.
    pub role: Option<Role>,
}

impl Process {
    /// Takes in what a record tells.
    pub fn learn(&mut self, fact: &Fact) {
        match fact {
            Fact::Version(version) => self.version = Some(*version),
            Fact::Role(role) => self.role = Some(*role),
            Fact::Restart => *self = Self::default(),
            Fact::Plain | Fact::Trouble(_) => {}
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
    /// Lines that no format explains.
    pub not_understood: u64,
    /// Slow-query records that the server cut.
    pub truncated: u64,
    /// Slow queries and explains left out by the filters.
    pub filtered: u64,
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
        self.not_understood += more.not_understood;
        self.truncated += more.truncated;
        self.filtered += more.filtered;
        self.duplicates += more.duplicates;
        self.internal += more.internal;
        self.not_queries += more.not_queries;
        self.explains += more.explains;
    }
}

/// What a part of the input holds.
#[derive(Debug, Default)]
pub struct Part {
    /// Records by kind.
    pub counts: Counts,
    /// Clients' operations.
    pub direct: Tally,
    /// A shard's records of operations that came through a router.
    pub through_router: Tally,
    /// A router's own record of a client's operation was seen.
    pub saw_router: bool,
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
    /// The offset behind its last line.
    pub end: u64,
}

impl Part {
    /// Adds the part of the same source behind this one.
    pub fn merge(&mut self, later: Self, settings: &Settings) {
        let mut settled = Settled::default();
        self.pairing.merge(later.pairing, later.end, &mut settled);
        self.counts.add(later.counts);
        self.direct.merge(later.direct);
        self.through_router.merge(later.through_router);
        self.saw_router |= later.saw_router;
        self.seen = joined(self.seen, later.seen);
        self.versions.extend(later.versions);
        self.version_assumed |= later.version_assumed;
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
        self.count_settled(settled, settings);
    }

    /// The end of a source: what waits for a partner counts now.
    pub fn finish_source(&mut self, settings: &Settings) {
        let mut settled = Settled::default();
        self.pairing.finish(&mut settled);
        self.count_settled(settled, settings);
    }

    fn count_unread(&mut self, source: SourceId, count: u64) {
        match self.unread_by_source.last_mut() {
            Some((last, sum)) if *last == source => *sum += count,
            _ => self.unread_by_source.push((source, count)),
        }
    }

    fn count_settled(&mut self, settled: Settled, settings: &Settings) {
        self.counts.duplicates += settled.duplicates;
        for held in settled.counted {
            self.count(&held.judged, &held.record, settings);
        }
    }

    fn count(&mut self, judged: &Judged, record: &[u8], settings: &Settings) {
        self.saw_router |= judged.origin == Origin::Router;
        let tally = if judged.origin == Origin::ThroughRouter { &mut self.through_router } else { &mut self.direct };
        tally.add(judged, record, settings.keep());
    }
}

/// Reads and judges every record of `block`.
#[must_use]
pub fn scan(block: &Block, mut process: Process, settings: &Settings) -> Part {
    let mut part = Part::default();
    let mut settled = Settled::default();
    for record in block.records() {
        part.counts.lines += record.lines;
        if record.is_split {
            // The runtime's own records: what it split is told by the first of them.
            part.counts.other_records += record.lines - 1;
        }
        let place = Place { position: record.position, lead: record.lead, bytes: record.bytes };
        take(read_record(record.bytes), place, &mut process, settings, &mut part, &mut settled);
    }
    part.end = block.chunk.pos.offset + block.chunk.bytes.len() as u64;
    part.count_settled(settled, settings);
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

/// Counts and judges what was read at `place`.
fn take(
    record: Record,
    place: Place<'_>,
    process: &mut Process,
    settings: &Settings,
    part: &mut Part,
    settled: &mut Settled,
) {
    match record {
        Record::Slow(event) => slow(&event, place, *process, settings, part, settled),
        Record::Explain(event) => explain(&event, place, *process, settings, part),
        Record::Other(fact) => {
            part.counts.other_records += 1;
            part.counts.blank += u64::from(place.bytes.trim_ascii().is_empty());
            process.learn(&fact);
            if let (Fact::Version(version), None) = (&fact, settings.version) {
                part.versions.insert(*version);
            }
            if let (Fact::Trouble(trouble), Some(rule)) = (fact, settings.enabled(jumbo_or_failed_migration::RULE.code))
            {
                let namespace =
                    trouble.namespace.as_deref().map(|name| settings.namespace_map.apply(&Namespace::parse(name)));
                let namespace = namespace.map_or_else(String::new, |name| name.as_str().to_owned());
                part.direct.add_trouble(rule, &trouble, namespace, (place.position, place.lead), place.bytes);
            }
        }
        Record::Bad(error) => unread(part, place, error),
        Record::Several(parts) => {
            for inner in parts {
                take(inner.record, place.within(inner.span), process, settings, part, settled);
            }
        }
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

/// An explain is nobody's traffic: it is judged, and is no slow query.
fn explain(event: &Event, place: Place<'_>, process: Process, settings: &Settings, part: &mut Part) {
    let namespace = settings.namespace_map.apply(&event.namespace);
    if !settings.filters.admit(event, namespace.as_str()) {
        part.counts.filtered += 1;
        return;
    }
    part.counts.explains += 1;
    let explained = event.plan.as_ref().and_then(|plan| plan.version).or(process.version);
    let judged = judged(event, place, explained, settings, part);
    part.count(&judged, place.bytes, settings);
}

/// Judges a record, and notes by whose rules.
fn judged(
    event: &Event,
    place: Place<'_>,
    version: Option<ServerVersion>,
    settings: &Settings,
    part: &mut Part,
) -> Judged {
    part.seen = joined(part.seen, event.time_millis.map(|time| (time, time)));
    let (applied, assumed) = settings.version_for(version, event.newest_writer);
    part.versions.insert(applied);
    part.version_assumed |= assumed;
    Judged { lead: place.lead, ..judge(event, place.position, version, settings) }
}

fn slow(
    event: &Event,
    place: Place<'_>,
    process: Process,
    settings: &Settings,
    part: &mut Part,
    settled: &mut Settled,
) {
    let Place { position, bytes: line, .. } = place;
    part.counts.slow_queries += 1;
    part.counts.truncated += u64::from(event.truncated.is_some());
    let origin = origin(event, process);
    let namespace = settings.namespace_map.apply(&event.namespace);
    match &event.traffic {
        Traffic::Internal(_) => {
            part.counts.internal += 1;
            return;
        }
        Traffic::NotAQuery(_) => {
            part.counts.not_queries += 1;
            part.pairing.command(&event.context, position.offset, origin, None, settled);
            return;
        }
        Traffic::Query | Traffic::BatchStatement | Traffic::BatchCommand => {}
    }
    if !settings.filters.admit(event, namespace.as_str()) {
        part.counts.filtered += 1;
        return;
    }
    let mut judged = judged(event, place, process.version, settings, part);
    judged.origin = origin;
    match event.traffic {
        Traffic::BatchStatement => {
            part.pairing.write(&event.context, batch_key(event), Held::new(judged, line));
        }
        Traffic::BatchCommand => {
            let batch = (batch_key(event), Held::new(judged, line));
            part.pairing.command(&event.context, position.offset, origin, Some(batch), settled);
        }
        _ => {
            part.pairing.command(&event.context, position.offset, origin, None, settled);
            part.count(&judged, line, settings);
        }
    }
}

/// A process that says it is a router writes only records of clients' operations.
fn origin(event: &Event, process: Process) -> Origin {
    match (event.origin, process.role) {
        (Origin::Direct, Some(Role::Router)) => Origin::Router,
        (origin, _) => origin,
    }
}

fn batch_key(event: &Event) -> BatchKey {
    let named = |namespace: &Namespace| namespace.as_str().to_owned();
    let namespace = event.statements.first().map_or_else(|| named(&event.namespace), |s| named(&s.namespace));
    BatchKey { verb: event.verb, namespace }
}
