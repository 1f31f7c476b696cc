//! What was found out about records, by their outlines: a log tells the same few hundred things a million times, and what
//! it says again is not read again. Only what the outline decides is remembered; whatever a record tells for itself is
//! counted from the record.

use std::sync::Arc;

use rustc_hash::FxHashMap;

use crate::rules::{Finding, KeyValue};
use crate::syntax::{Found, Outline, Outliner, Patterns, Record, Told, read_record};
use crate::text::RecordPos;

use super::judge::{Judged, JudgedStatement, Raised, Standing, limits};
use super::known::Kind;
use super::prototype::Prototype;
use super::scan::Process;
use super::settings::Settings;

/// What was found out about the first record of an outline.
#[derive(Debug, Clone)]
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

    /// A record with this outline, judged.
    pub fn recall(&self, told: &Told<'_>, position: RecordPos, process: Process, settings: &Settings) -> Judged {
        Judged {
            position,
            origin: self.kind.origin,
            time: told.time_millis,
            millis: told.duration_millis.unwrap_or(0),
            standing: self.standing,
            application: told.app_name.map(str::to_owned),
            observed_shards: told.n_shards,
            comment: None,
            plan: self.plan.clone(),
            operation_name: None,
            shard_version: None,
            continues: false,
            lead: 0,
            limits: limits(told.app_name, &self.statements, settings),
            logged: process.version,
            statements: Arc::clone(&self.statements),
            is_recalled: true,
        }
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
        access: statement.access.clone(),
        key_values: statement.key_values.clone(),
        raised: statement.raised.iter().map(wordless).collect(),
        hidden: statement.hidden.clone(),
        ..*statement
    }
}

/// So many outlines are remembered; a log with more of them hardly repeats itself.
const MOST: usize = 8_000;

/// The memory of one thread.
#[derive(Debug, Default)]
pub struct Memo {
    /// The verdict depends on the version and the role of the process too.
    processes: Vec<(Process, Memories)>,
}

/// What is remembered of the records of one process.
#[derive(Debug, Default)]
struct Memories {
    all: Vec<Memory>,
    /// Their places, by outline
    by_key: FxHashMap<Box<[u8]>, u32>,
    /// and by what their lines look like.
    patterns: Patterns<Option<Prototype>>,
}

/// What is known of a record.
pub struct Recalled<'m, 'l> {
    /// What was found out about the first of its outline.
    pub memory: &'m Memory,
    /// What it tells for itself.
    pub told: Told<'l>,
    /// Its pattern.
    like: Option<(&'m Memories, u32)>,
}

impl Recalled<'_, '_> {
    /// Its key values, as far as they can be told from those of another record of its pattern. The record is the one that
    /// the outliner has looked at last.
    pub fn key_values(&self, record: &[u8], outliner: &Outliner, settings: &Settings) -> Option<Vec<Vec<KeyValue>>> {
        let (memories, pattern) = self.like?;
        let prototype = memories.patterns.about(pattern).as_ref()?;
        prototype.values(record, |span| memories.patterns.moved(pattern, span, outliner), settings)
    }
}

impl Memo {
    /// What is known of records such as `line`, which is one.
    pub fn recall<'a>(
        &mut self,
        process: Process,
        line: &'a [u8],
        outliner: &mut Outliner,
        settings: &Settings,
    ) -> Option<Recalled<'_, 'a>> {
        let marks = settings.marks();
        let (_, memories) = self.processes.iter_mut().find(|(known, _)| *known == process)?;
        if let Some(Found { known, pattern, told }) = memories.patterns.find(line, outliner, marks) {
            let memories = &*memories;
            debug_assert_eq!(
                outliner.read(line, marks).and_then(|outline| memories.by_key.get(outline.key)),
                Some(&known),
                "a line has the outline of its pattern: {}",
                String::from_utf8_lossy(line)
            );
            return Some(Recalled { memory: &memories.all[known as usize], told, like: Some((memories, pattern)) });
        }
        let outline = outliner.read(line, marks)?;
        let (known, told) = (*memories.by_key.get(outline.key)?, outline.told);
        let about = || match read_record(line) {
            Record::Slow(event) => Prototype::of(&event, line, settings),
            _ => None,
        };
        memories.patterns.learn(line, outliner, marks, known, about);
        Some(Recalled { memory: &memories.all[known as usize], told, like: None })
    }

    /// Remembers.
    pub fn insert(&mut self, process: Process, outline: &Outline<'_, '_>, memory: Memory) {
        let size: usize = self.processes.iter().map(|(_, memories)| memories.all.len()).sum();
        if size >= MOST {
            self.processes.clear();
        }
        let known = self.processes.iter().position(|(known, _)| *known == process);
        let at = known.unwrap_or_else(|| {
            self.processes.push((process, Memories::default()));
            self.processes.len() - 1
        });
        let Memories { all, by_key, .. } = &mut self.processes[at].1;
        by_key.insert(outline.key.into(), u32::try_from(all.len()).expect("they are few"));
        all.push(memory);
    }
}
