//! What was found out about records, by their outlines: a log tells the same few hundred things a million times, and what
//! it says again is not read again. Only what the outline decides is remembered; whatever a record tells for itself is
//! counted from the record.

use std::hash::BuildHasher;
use std::mem::size_of;
use std::sync::Arc;

use rustc_hash::{FxBuildHasher, FxHashMap};

use crate::rules::{Finding, KeyValue};
use crate::syntax::{Found, Outline, Outliner, Patterns, Record, Told, read_record};
use crate::text::{Fingerprint, Span};

use super::judge::{About, Judged, JudgedStatement, Raised, Standing};
use super::known::Kind;
use super::prototype::Prototype;
use super::scan::Process;
use super::settings::Settings;

/// What was found out about a record, without what it tells for itself: of many outlines it is the same.
#[derive(Debug, Clone, PartialEq)]
pub struct Memory {
    /// What such a record is.
    pub kind: Kind,
    standing: Standing,
    plan: Option<Arc<str>>,
    statements: Arc<[JudgedStatement]>,
}

impl Memory {
    /// What is worth remembering of a record, if its outline decides what was found: where a chunk map is declared, values do.
    pub fn of(kind: &Kind, judged: &Judged, settings: &Settings) -> Option<Self> {
        let has_chunks = |namespace: &str| settings.catalog.get(namespace).is_some_and(|found| found.chunks.is_some());
        let values_decide = judged.statements.iter().any(|statement| has_chunks(&statement.namespace));
        (!values_decide).then(|| Self {
            kind: kind.clone(),
            standing: judged.standing,
            plan: judged.plan.clone(),
            statements: judged.statements.iter().map(counted).collect(),
        })
    }

    /// About how much of the heap it takes.
    fn bytes(&self) -> usize {
        let of_statement = |statement: &JudgedStatement| {
            let JudgedStatement { namespace, shape, key_values, raised, hidden, .. } = statement;
            size_of::<JudgedStatement>()
                + namespace.len()
                + shape.text.len()
                + size_of_val(key_values.as_slice())
                + size_of_val(raised.as_slice())
                + size_of_val(hidden.as_slice())
        };
        size_of::<Self>() + self.statements.iter().map(of_statement).sum::<usize>()
    }

    /// What a record with this outline is about. Words and places are not those of it.
    #[must_use]
    pub fn about(&self) -> About<'_> {
        About { standing: self.standing, plan: self.plan.as_ref(), statements: &self.statements }
    }
}

/// What is counted of a statement. Words and places are taken from a record that is shown, which is read in full.
fn counted(statement: &JudgedStatement) -> JudgedStatement {
    let wordless = |raised: &Raised| {
        let severity = Some(raised.severity());
        let finding =
            Finding { severity, message: String::new(), help: None, labels: Vec::new(), subject: None, source: None };
        Raised { finding, ..*raised }
    };
    JudgedStatement {
        namespace: statement.namespace.clone(),
        shape: statement.shape.clone(),
        shards: statement.shards.clone(),
        reason: String::new(),
        place: Span::default(),
        access: statement.access.clone(),
        key_values: statement.key_values.iter().map(KeyValue::typed).collect(),
        raised: statement.raised.iter().map(wordless).collect(),
        hidden: statement.hidden.clone(),
        ..*statement
    }
}

/// So many bytes are remembered, and so many outlines; a log with more of them hardly repeats itself.
const MOST_BYTES: usize = 4 << 20;
const MOST: usize = 8_000;

/// So many outlines are remembered the first time that they are seen. Beyond, those that never come again are not worth it.
const AT_ONCE: usize = 3_000;

/// The memory of one thread.
#[derive(Debug, Default)]
pub struct Memo {
    /// The verdict depends on the version and the role of the process too.
    processes: Vec<(Process, Memories)>,
    /// How many outlines are known, and about how many bytes they take with all that is known of them.
    outlines: usize,
    bytes: usize,
    seen: Seen,
}

/// What is remembered of the records of one process.
#[derive(Debug, Default)]
struct Memories {
    /// Each is there once, however many outlines it is of.
    all: Vec<Arc<Memory>>,
    /// Their places, by the shape of the first statement,
    by_shape: FxHashMap<Fingerprint, Vec<u32>>,
    /// by outline: its names, and what its values are,
    by_key: FxHashMap<Box<[u8]>, Endings>,
    /// and by what the lines look like.
    patterns: Patterns<Option<Prototype>>,
}

/// Places of memories, by the ends of keys that begin alike.
type Endings = FxHashMap<Box<[u8]>, u32>;

/// Which outlines were seen lately, by their hashes: each has one place, and whoever comes last has it.
#[derive(Debug, Default)]
struct Seen {
    places: Vec<u32>,
}

impl Seen {
    const PLACES: usize = 1 << 13;

    /// Whether that hash was seen before.
    fn again(&mut self, hash: u64) -> bool {
        self.places.resize(Self::PLACES, 0);
        let (place, rest) = (hash as usize % Self::PLACES, (hash >> 32) as u32 | 1);
        std::mem::replace(&mut self.places[place], rest) == rest
    }
}

/// What is known of a record.
pub struct Recalled<'m, 'l> {
    /// What was found out about the first of its outline.
    pub memory: &'m Arc<Memory>,
    /// What it tells for itself.
    pub told: Told<'l>,
    /// Its pattern.
    like: Option<(&'m Memories, u32)>,
}

impl Recalled<'_, '_> {
    /// A key value of it, by its statement and its place among those that the statement shows, if it can be told from that of
    /// another record of its pattern. The record is the one that the outliner has looked at last.
    pub fn key_value(&self, record: &str, (statement, at): (usize, usize), outliner: &Outliner) -> Option<KeyValue> {
        let (memories, pattern) = self.like?;
        let of = self.memory.statements.get(statement)?.key_values.len();
        let prototype = memories.patterns.about(pattern).as_ref()?;
        prototype.value(record, statement, (at, of), |span| memories.patterns.moved(pattern, span, outliner))
    }
}

impl Memo {
    /// What is known of records such as `line`, which is one.
    pub fn recall<'a>(
        &mut self,
        process: Process,
        line: &'a str,
        outliner: &mut Outliner,
        settings: &Settings,
    ) -> Option<Recalled<'_, 'a>> {
        let marks = settings.marks();
        let (_, memories) = self.processes.iter_mut().find(|(known, _)| *known == process)?;
        if let Some(Found { known, pattern, told }) = memories.patterns.find(line, outliner, marks) {
            let memories = &*memories;
            debug_assert_eq!(
                outliner.read(line, marks).and_then(|outline| memories.of(&outline)),
                Some(known),
                "a line has the outline of its pattern: {line}"
            );
            return Some(Recalled { memory: &memories.all[known as usize], told, like: Some((memories, pattern)) });
        }
        let outline = outliner.read(line, marks)?;
        let (known, told) = (memories.of(&outline)?, outline.told);
        let about = || match read_record(line.as_bytes()) {
            Record::Slow(event) => Prototype::of(&event, line, settings),
            _ => None,
        };
        memories.patterns.learn(line, outliner, marks, known, about);
        Some(Recalled { memory: &memories.all[known as usize], told, like: None })
    }

    /// Remembers what a record of that outline is, if it is worth it.
    pub fn insert(&mut self, process: Process, outline: &Outline<'_, '_>, memory: impl FnOnce() -> Option<Memory>) {
        if self.outlines >= AT_ONCE && !self.seen.again(hash(outline)) {
            return;
        }
        let Some(memory) = memory() else { return };
        if self.outlines >= MOST || self.bytes >= MOST_BYTES {
            *self = Self { seen: std::mem::take(&mut self.seen), ..Self::default() };
        }
        let known = self.processes.iter().position(|(known, _)| *known == process);
        let at = known.unwrap_or_else(|| {
            self.processes.push((process, Memories::default()));
            self.processes.len() - 1
        });
        self.outlines += 1;
        self.bytes += self.processes[at].1.insert(outline, memory);
    }
}

impl Memories {
    fn of(&self, outline: &Outline<'_, '_>) -> Option<u32> {
        self.by_key.get(outline.key)?.get(outline.ending).copied()
    }

    /// Makes a memory known by its outline; returns about how many bytes that takes.
    fn insert(&mut self, outline: &Outline<'_, '_>, memory: Memory) -> usize {
        let (place, mut bytes) = self.place(memory);
        let by_ending = match self.by_key.get_mut(outline.key) {
            Some(known) => known,
            None => {
                bytes += outline.key.len() + size_of::<(Box<[u8]>, Endings)>();
                self.by_key.entry(outline.key.into()).or_default()
            }
        };
        by_ending.insert(outline.ending.into(), place);
        bytes + outline.ending.len() + size_of::<(Box<[u8]>, u32)>()
    }

    /// The place of a memory, and about how many bytes it takes if it is a new one.
    fn place(&mut self, memory: Memory) -> (u32, usize) {
        let Self { all, by_shape, .. } = self;
        let places = by_shape.entry(memory.statements[0].fingerprint).or_default();
        if let Some(known) = places.iter().find(|known| *all[**known as usize] == memory) {
            return (*known, 0);
        }
        let place = u32::try_from(all.len()).expect("they are few");
        let bytes = memory.bytes();
        places.push(place);
        all.push(Arc::new(memory));
        (place, bytes)
    }
}

fn hash(outline: &Outline<'_, '_>) -> u64 {
    FxBuildHasher.hash_one((outline.key, outline.ending))
}

#[cfg(test)]
mod tests {
    use super::super::judge::judge;
    use crate::text::{RecordPos, SourceId};

    use super::*;

    /// The memory of some slow queries with these filters.
    fn memo(filters: impl Iterator<Item = String>) -> Memo {
        let (mut memo, mut outliner) = (Memo::default(), Outliner::default());
        let (settings, process) = (Settings::default(), Process::default());
        for filter in filters {
            let command = format!(r#"{{"find":"t","filter":{filter},"$db":"shop"}}"#);
            let line = format!(
                r#"{{"t":{{"$date":"2026-11-30T08:17:00.824Z"}},"s":"I","c":"COMMAND","id":51803,"ctx":"conn1","msg":"Slow query","attr":{{"type":"command","ns":"shop.t","command":{command},"durationMillis":7}}}}"#
            );
            let Record::Slow(event) = read_record(line.as_bytes()) else { panic!("a slow query: {line}") };
            let outline = outliner.read(&line, settings.marks()).expect("an outline");
            let judged = judge(&event, RecordPos { source: SourceId(0), offset: 0, line: 1 }, None, &settings);
            memo.insert(process, &outline, || Memory::of(&Kind::of(&event, process, &settings), &judged, &settings));
        }
        memo
    }

    #[test]
    fn outlines_that_were_judged_alike_share_a_memory() {
        let lists = (1..=3)
            .map(|count| {
                format!(r#"{{"a":{{"$in":[{}]}}}}"#, (1..=count).map(|n| n.to_string()).collect::<Vec<_>>().join(","))
            })
            .chain(["{}".to_owned()]);
        let memo = memo(lists);
        // One value, several, no filter.
        assert_eq!((memo.outlines, memo.processes[0].1.all.len()), (4, 3));
    }

    #[test]
    fn of_very_many_outlines_those_are_remembered_that_come_again() {
        let unique = |n: usize| format!(r#"{{"a":{{"$mod":[{n},0]}}}}"#);
        let never_again = memo((0..3 * AT_ONCE).map(unique));
        assert_eq!(never_again.outlines, AT_ONCE);
        let once_more = memo((0..AT_ONCE + 50).chain(AT_ONCE..AT_ONCE + 50).map(unique));
        assert_eq!(once_more.outlines, AT_ONCE + 50);
        assert!(memo((0..2 * MOST).flat_map(|n| [n, n]).map(unique)).outlines <= MOST);
    }
}
