//! What was found out about records, by their outlines: a log tells the same few hundred things a million times, and what
//! it says again is not read again. Only what the outline decides is remembered; whatever a record tells for itself is
//! counted from the record.
//!
//! Each thread has its own memory, and takes in what the others found out; what was found out is there once for all of them.

use std::hash::BuildHasher;
use std::mem::size_of;
use std::sync::Arc;

use indexmap::IndexMap;
use rustc_hash::{FxBuildHasher, FxHashMap};

use crate::model::Event;
use crate::rules::{Finding, KeyValue};
use crate::syntax::{Found, Marks, Outline, Outliner, Pattern, Patterns, Record, Told, read_record};
use crate::text::{Fingerprint, Span};

use super::exchange::{Exchange, Lesson, News};
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
    /// Whether the outline of a record decides what was found: where a chunk map is declared, values do.
    #[must_use]
    pub fn is_of_outline(judged: &Judged, settings: &Settings) -> bool {
        let has_chunks = |namespace: &str| settings.catalog.get(namespace).is_some_and(|found| found.chunks.is_some());
        !judged.statements.iter().any(|statement| has_chunks(&statement.namespace))
    }

    /// What is worth remembering of a record.
    #[must_use]
    pub fn of(kind: &Kind, judged: &Judged) -> Self {
        Self {
            kind: kind.clone(),
            standing: judged.standing,
            plan: judged.plan.clone(),
            statements: judged.statements.iter().map(counted).collect(),
        }
    }

    /// About how much of the heap it takes.
    #[must_use]
    pub fn bytes(&self) -> usize {
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
    /// The memories of the other threads.
    exchange: Exchange,
}

/// What is remembered of the records of one process.
#[derive(Debug, Default)]
struct Memories {
    /// Each is there once, however many outlines it is of.
    all: Vec<Arc<Memory>>,
    /// Their places, by the shape of the first statement,
    by_shape: FxHashMap<Fingerprint, Vec<u32>>,
    /// and by outline: its names, and what its values are.
    by_key: IndexMap<Box<[u8]>, Endings, FxBuildHasher>,
    /// What lines of known keys look like.
    patterns: Patterns<Option<Arc<Prototype>>>,
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
    /// That of a thread with this part in what the threads tell each other.
    #[must_use]
    pub fn new(exchange: Exchange) -> Self {
        Self { exchange, ..Self::default() }
    }

    /// What is known of records such as `line`, which is one.
    pub fn recall<'a>(
        &mut self,
        process: Process,
        line: &'a str,
        outliner: &mut Outliner,
        settings: &Settings,
    ) -> Option<Recalled<'_, 'a>> {
        let marks = settings.marks();
        let mut found = self.find(process, line, outliner, marks);
        if found.is_none_or(|(_, known)| known.is_none()) && self.take_in() {
            found = self.find(process, line, outliner, marks);
        }
        let Some((found, known)) = found else { return self.recall_by_outline(process, line, outliner, settings) };
        let memories = self.of(process);
        debug_assert!(memories.is_outline((found.key, known), line, outliner, marks), "that of its pattern: {line}");
        Some(memories.recalled(found, known?))
    }

    /// The pattern that a line follows, and the place of what is known of its outline.
    fn find<'a>(
        &mut self,
        process: Process,
        line: &'a str,
        outliner: &mut Outliner,
        marks: Marks,
    ) -> Option<(Found<'a>, Option<u32>)> {
        let (_, memories) = self.processes.iter_mut().find(|(known, _)| *known == process)?;
        let found = memories.patterns.find(line, outliner, marks)?;
        Some((found, memories.by_key[found.key as usize].get(outliner.ending()).copied()))
    }

    /// Remembers what a record was found to be, if it has an outline and it is worth it. The outline decides what is found.
    pub fn insert(
        &mut self,
        process: Process,
        (line, event): (&str, &Event),
        outliner: &mut Outliner,
        settings: &Settings,
        memory: impl FnOnce() -> Memory,
    ) -> Option<()> {
        let marks = settings.marks();
        if let Some((found, _)) = self.find(process, line, outliner, marks) {
            let (key, _) = self.of(process).by_key.get_index(found.key as usize)?;
            let key = key.clone();
            return self.insert_outline(process, (&key, outliner.lasting_ending()?), memory);
        }
        if !self.of(process).patterns.is_worth_it() {
            let Outline { key, ending, .. } = outliner.read(line, marks)?;
            return self.insert_outline(process, (key, ending), memory);
        }
        let (Outline { key, ending, .. }, pattern) = outliner.pattern(line, marks)?;
        self.insert_outline(process, (key, ending), memory)?;
        self.learn(process, key, (line, pattern), || Prototype::of(event, line, settings).map(Arc::new))
    }

    /// Remembers what records of an outline are, if it is worth it, and tells it.
    fn insert_outline(
        &mut self,
        process: Process,
        (key, ending): (&[u8], &[u8]),
        memory: impl FnOnce() -> Memory,
    ) -> Option<()> {
        if self.outlines >= AT_ONCE && !self.seen.again(FxBuildHasher.hash_one((key, ending))) {
            return None;
        }
        let memory = self.remember(process, (key, ending), &Arc::new(memory()));
        let news = || News::Outline { ending: ending.into(), memory };
        self.exchange.tell(|| Lesson { process, key: key.into(), news: news() });
        Some(())
    }

    /// Makes the pattern of a line with that key known, and tells it.
    fn learn(
        &mut self,
        process: Process,
        key: &[u8],
        (line, pattern): (&str, Pattern),
        about: impl FnOnce() -> Option<Arc<Prototype>>,
    ) -> Option<()> {
        let memories = self.of(process);
        let learned = memories.learn(key, (line, &pattern), about)?;
        let prototype = memories.patterns.about(learned).clone();
        let news = || News::Pattern { line: line.into(), pattern: Box::new(pattern), prototype };
        self.exchange.tell(|| Lesson { process, key: key.into(), news: news() });
        Some(())
    }

    /// What is known of a line that follows no pattern. Its own is made known from now on.
    fn recall_by_outline<'a>(
        &mut self,
        process: Process,
        line: &'a str,
        outliner: &mut Outliner,
        settings: &Settings,
    ) -> Option<Recalled<'_, 'a>> {
        let marks = settings.marks();
        let outline = outliner.read(line, marks)?;
        let memories = self.of(process);
        let (known, told) = (memories.of(&outline)?, outline.told);
        let mut found = None;
        if memories.patterns.is_worth_it()
            && let Some((outline, pattern)) = outliner.pattern(line, marks)
        {
            let about = || match read_record(line.as_bytes()) {
                Record::Slow(event) => Prototype::of(&event, line, settings).map(Arc::new),
                _ => None,
            };
            self.learn(process, outline.key, (line, pattern), about);
            // What shows its key values is known now, so it need not be read for them.
            found = self.find(process, line, outliner, marks);
        }
        let memories = self.of(process);
        Some(match found {
            Some((found, _)) => memories.recalled(found, known),
            None => Recalled { memory: &memories.all[known as usize], told, like: None },
        })
    }

    /// Takes in what the other threads found out; whether that is anything.
    fn take_in(&mut self) -> bool {
        let lessons = self.exchange.heard();
        for lesson in &lessons {
            let Lesson { process, key, news } = &**lesson;
            match news {
                News::Outline { ending, memory } => drop(self.remember(*process, (key, ending), memory)),
                News::Pattern { line, pattern, prototype } => {
                    let memories = self.of(*process);
                    if memories.patterns.is_worth_it() {
                        memories.learn(key, (line, pattern), || prototype.clone());
                    }
                }
            }
        }
        !lessons.is_empty()
    }

    /// Remembers that; returns the memory that is kept, which was there before if another outline has the same.
    fn remember(&mut self, process: Process, outline: (&[u8], &[u8]), memory: &Arc<Memory>) -> Arc<Memory> {
        let memories = self.with_room(process);
        let (place, of_memory) = memories.place(memory);
        let kept = Arc::clone(&memories.all[place as usize]);
        let of_outline = memories.name(outline, place);
        self.bytes += of_memory + of_outline.unwrap_or(0);
        self.outlines += usize::from(of_outline.is_some());
        kept
    }

    /// What is remembered of a process, when something is to be added. If there is no room, all is forgotten.
    fn with_room(&mut self, process: Process) -> &mut Memories {
        if self.outlines >= MOST || self.bytes >= MOST_BYTES {
            let Self { seen, exchange, .. } = std::mem::take(self);
            *self = Self { seen, exchange, ..Self::default() };
        }
        self.of(process)
    }

    fn of(&mut self, process: Process) -> &mut Memories {
        let known = self.processes.iter().position(|(known, _)| *known == process);
        let at = known.unwrap_or_else(|| {
            self.processes.push((process, Memories::default()));
            self.processes.len() - 1
        });
        &mut self.processes[at].1
    }
}

impl Memories {
    fn of(&self, outline: &Outline<'_, '_>) -> Option<u32> {
        self.by_key.get(outline.key)?.get(outline.ending).copied()
    }

    /// What is known, at that place, of a line that follows a pattern.
    fn recalled<'a>(&self, Found { pattern, told, .. }: Found<'a>, known: u32) -> Recalled<'_, 'a> {
        Recalled { memory: &self.all[known as usize], told, like: Some((self, pattern)) }
    }

    /// Makes the pattern of a line with that key known, if an outline with the key is known; its number, if it is a new one.
    fn learn(
        &mut self,
        key: &[u8],
        (line, pattern): (&str, &Pattern),
        about: impl FnOnce() -> Option<Arc<Prototype>>,
    ) -> Option<u32> {
        let number = u32::try_from(self.by_key.get_index_of(key)?).ok()?;
        self.patterns.learn(line, pattern, number, about)
    }

    /// Whether a line that was just looked at has the outline that its pattern gives it.
    fn is_outline(&self, (key, known): (u32, Option<u32>), line: &str, outliner: &mut Outliner, marks: Marks) -> bool {
        let ending = outliner.ending().to_owned();
        match outliner.read(line, marks) {
            Some(outline) => {
                let key = self.by_key.get_index(key as usize).map(|(key, _)| &**key);
                (key, &*ending) == (Some(outline.key), outline.ending)
            }
            None => known.is_none(),
        }
    }

    /// Makes the memory at a place known by an outline; returns about how many bytes that takes, `None` if it is known.
    fn name(&mut self, (key, ending): (&[u8], &[u8]), place: u32) -> Option<usize> {
        let mut bytes = ending.len() + size_of::<(Box<[u8]>, u32)>();
        let by_ending = match self.by_key.get_mut(key) {
            Some(known) => known,
            None => {
                bytes += key.len() + size_of::<(Box<[u8]>, Endings)>();
                self.by_key.entry(key.into()).or_default()
            }
        };
        if by_ending.contains_key(ending) {
            return None;
        }
        by_ending.insert(ending.into(), place);
        Some(bytes)
    }

    /// The place of a memory, and about how many bytes it takes if it is a new one.
    fn place(&mut self, memory: &Arc<Memory>) -> (u32, usize) {
        let Self { all, by_shape, .. } = self;
        let places = by_shape.entry(memory.statements[0].fingerprint).or_default();
        if let Some(known) = places.iter().find(|known| all[**known as usize] == *memory) {
            return (*known, 0);
        }
        let place = u32::try_from(all.len()).expect("they are few");
        places.push(place);
        all.push(Arc::clone(memory));
        (place, memory.bytes())
    }
}

#[cfg(test)]
mod tests {
    use super::super::judge::judge;
    use crate::text::{RecordPos, SourceId};

    use super::*;

    fn slow_query(filter: &str) -> String {
        let command = format!(r#"{{"find":"t","filter":{filter},"$db":"shop"}}"#);
        format!(
            r#"{{"t":{{"$date":"2026-11-30T08:17:00.824Z"}},"s":"I","c":"COMMAND","id":51803,"ctx":"conn1","msg":"Slow query","attr":{{"type":"command","ns":"shop.t","command":{command},"durationMillis":7}}}}"#
        )
    }

    /// Reads a slow query in full, and has it remembered.
    fn read(memo: &mut Memo, line: &str, outliner: &mut Outliner) {
        let (settings, process) = (Settings::default(), Process::default());
        let Record::Slow(event) = read_record(line.as_bytes()) else { panic!("a slow query: {line}") };
        let judged = judge(&event, RecordPos { source: SourceId(0), offset: 0, line: 1 }, None, &settings);
        let memory = || Memory::of(&Kind::of(&event, process, &settings), &judged);
        memo.insert(process, (line, &event), outliner, &settings, memory);
    }

    /// Whether a slow query is known: by its outline or by its pattern.
    fn knows(memo: &mut Memo, line: &str, outliner: &mut Outliner) -> bool {
        memo.recall(Process::default(), line, outliner, &Settings::default()).is_some()
    }

    /// The memory of some slow queries with these filters.
    fn memo(filters: impl Iterator<Item = String>) -> Memo {
        let (mut memo, mut outliner) = (Memo::default(), Outliner::default());
        filters.for_each(|filter| read(&mut memo, &slow_query(&filter), &mut outliner));
        memo
    }

    fn two() -> [Memo; 2] {
        let mut both = Exchange::among(2).map(Memo::new);
        [(); 2].map(|()| both.next().expect("two"))
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
    fn a_line_of_a_known_pattern_whose_values_are_new_makes_an_outline_and_no_pattern() {
        let (mut memo, mut outliner) = (Memo::default(), Outliner::default());
        let with = |values: &str| slow_query(&format!(r#"{{"a":{{"$in":[{values}]}}}}"#));
        read(&mut memo, &with("1"), &mut outliner);
        let follows = |memo: &mut Memo, outliner: &mut Outliner| {
            let line = with("1,2");
            let found = memo.find(Process::default(), &line, outliner, Settings::default().marks());
            found.map(|(found, known)| (found.pattern, known.is_some()))
        };
        assert_eq!(follows(&mut memo, &mut outliner), Some((0, false)));
        assert!(!knows(&mut memo, &with("1,2"), &mut outliner));
        read(&mut memo, &with("1,2"), &mut outliner);
        assert_eq!(follows(&mut memo, &mut outliner), Some((0, true)));
        assert_eq!((memo.outlines, memo.processes[0].1.by_key.len()), (2, 1));
    }

    #[test]
    fn numbers_that_only_say_how_many_make_no_outlines() {
        let (mut memo, mut outliner) = (Memo::default(), Outliner::default());
        let stages =
            ["{\"$sample\":{\"size\":#}}", "{\"$bucketAuto\":{\"groupBy\":\"$b\",\"buckets\":#}}", "{\"$skip\":#}"];
        let filter = r#"{"filter":{"$expr":{"$gt":[{"$size":"$b"},#]}},"find":"t""#.to_owned();
        let commands = stages.map(|stage| format!(r#"{{"aggregate":"t","pipeline":[{stage}]"#));
        for command in commands.into_iter().chain([filter]) {
            let line = |number: &str| {
                let command = command.replace('#', number);
                slow_query("{}").replace(r#"{"find":"t","filter":{}"#, &command)
            };
            read(&mut memo, &line("7"), &mut outliner);
            assert!(knows(&mut memo, &line("12"), &mut outliner), "{command}");
            assert!(!knows(&mut memo, &line("\"12\""), &mut outliner), "{command}");
        }
        let compared = |with: &str| slow_query(&format!(r#"{{"$expr":{{"$eq":["$b",{with}]}}}}"#));
        read(&mut memo, &compared("7"), &mut outliner);
        assert!(!knows(&mut memo, &compared("12"), &mut outliner), "a value of the field");
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

    #[test]
    fn a_thread_knows_what_another_one_read_and_both_have_one_copy_of_it() {
        let ([mut one, mut other], mut outliner) = (two(), Outliner::default());
        let line = slow_query(r#"{"a":1}"#);
        assert!(!knows(&mut other, &line, &mut outliner));
        read(&mut one, &line, &mut outliner);
        assert!(knows(&mut other, &line, &mut outliner));
        assert!(Arc::ptr_eq(&one.processes[0].1.all[0], &other.processes[0].1.all[0]));
        assert_eq!((other.outlines, other.bytes), (one.outlines, one.bytes));
        read(&mut other, &line, &mut outliner);
        assert!(knows(&mut one, &line, &mut outliner));
        assert!(!knows(&mut one, &slow_query(r#"{"b":1}"#), &mut outliner));
        assert_eq!((one.outlines, one.processes[0].1.all.len()), (1, 1), "what two found out counts once");
    }

    #[test]
    fn a_pattern_that_another_thread_made_is_followed_and_where_it_shows_key_values_is_known() {
        let ([mut one, mut other], mut outliner) = (two(), Outliner::default());
        let (process, settings) = (Process::default(), Settings::default());
        let line = slow_query(r#"{"a":1}"#);
        read(&mut one, &line, &mut outliner);
        let next = slow_query(r#"{"a":4711}"#);
        assert!(other.find(process, &next, &mut outliner, settings.marks()).is_none());
        let recalled = other.recall(process, &next, &mut outliner, &settings).expect("known");
        let (memories, pattern) = recalled.like.expect("a pattern");
        let prototype = memories.patterns.about(pattern).as_ref().expect("one");
        assert_eq!(Arc::strong_count(prototype), 2, "one for both");
        let database = |line: &str| line.find("\"$db\"").map(|at| Span::new(at, at + 5)).expect("it is there");
        assert_eq!(memories.patterns.moved(pattern, database(&line), &outliner), Some(database(&next)));
    }

    #[test]
    fn what_is_told_is_forgotten_like_what_was_read() {
        let (mut both, mut outliner) = (two(), Outliner::default());
        let unique = |n: usize| slow_query(&format!(r#"{{"a":{{"$mod":[{n},0]}}}}"#));
        for n in 0..3 * AT_ONCE {
            read(&mut both[n % 2], &unique(n), &mut outliner);
            assert!(!knows(&mut both[(n + 1) % 2], &slow_query("{}"), &mut outliner));
        }
        assert_eq!(both.each_ref().map(|memo| memo.outlines), [AT_ONCE; 2], "at first sight, by both together");
        for n in (0..2 * MOST).flat_map(|n| [n, n]) {
            read(&mut both[0], &unique(n), &mut outliner);
            assert!(!knows(&mut both[1], &slow_query("{}"), &mut outliner));
        }
        assert!(both.iter().all(|memo| memo.outlines <= MOST && memo.bytes <= MOST_BYTES + (1 << 16)));
    }
}
