//! How a slow query is counted: at once, or when it is known what its thread did next. Whether it was judged by itself or
//! repeats what is remembered makes no difference to that.

use std::sync::Arc;

use crate::rules::KeyValue;
use crate::syntax::Told;
use crate::text::RecordPos;

use super::judge::{Judged, JudgedStatement};
use super::known::{Counting, Kind};
use super::memo::Memory;
use super::pairing::{Held, Pairing, Settled};
use super::roster::Appearance;
use super::scan::Part;
use super::settings::Settings;
use super::sums::Occurrence;
use super::worker::Tallies;

/// A slow query that counts.
pub trait Slow {
    /// Its statements.
    fn statements(&self) -> &[JudgedStatement];
    /// What to keep of it while its fate is open.
    fn hold(self, tallies: &mut Tallies) -> Held;
    /// Counts it.
    fn count(self, tallies: &mut Tallies, settings: &Settings);
}

/// A record that was judged by itself, and its bytes.
pub struct Read<'a> {
    /// The record, judged.
    pub judged: Judged,
    /// Its bytes.
    pub record: &'a [u8],
}

/// A record that repeats what is remembered.
pub struct Repeat<'a, V> {
    /// What it is about.
    pub memory: &'a Arc<Memory>,
    /// What it tells for itself.
    pub one: Occurrence,
    /// Its bytes.
    pub record: &'a [u8],
    /// Makes its key values, by their statements and their places in these.
    pub value: V,
}

impl Slow for Read<'_> {
    fn statements(&self) -> &[JudgedStatement] {
        &self.judged.statements
    }

    fn hold(self, tallies: &mut Tallies) -> Held {
        tallies.hold(self.judged, self.record)
    }

    fn count(self, tallies: &mut Tallies, settings: &Settings) {
        tallies.add(&self.judged, Some(self.record), settings);
    }
}

impl<V: Fn(usize, usize) -> Option<KeyValue>> Slow for Repeat<'_, V> {
    fn statements(&self) -> &[JudgedStatement] {
        self.memory.about().statements
    }

    fn hold(self, tallies: &mut Tallies) -> Held {
        tallies.hold_repeat(self.memory, self.one, self.record, self.value)
    }

    fn count(self, tallies: &mut Tallies, settings: &Settings) {
        tallies.repeat(self.memory, &self.one, Some(self.record), self.value, settings);
    }
}

/// Where slow queries are counted.
pub struct Sink<'a> {
    /// The part of the input that is read.
    pub part: &'a mut Part,
    /// What became of records whose fate was open.
    pub settled: &'a mut Settled,
    /// The tallies of the thread.
    pub tallies: &'a mut Tallies,
    /// What was asked.
    pub settings: &'a Settings,
}

impl Sink<'_> {
    /// Counts a slow query of that kind; `slow` is asked for only if it is looked at.
    pub fn count<S: Slow>(&mut self, kind: &Kind, told: &Told<'_>, position: RecordPos, slow: impl FnOnce() -> S) {
        let Self { part, settled, tallies, settings } = self;
        part.counts.slow_queries += 1;
        part.counts.truncated += u64::from(kind.is_truncated);
        part.processes.note(position.source, kind.origin);
        let command = |pairing: &mut Pairing, batch, settled: &mut Settled| {
            pairing.command(told.context, position.offset, kind.origin, batch, settled);
        };
        match kind.counting {
            Counting::Internal => {
                part.counts.internal += 1;
                return;
            }
            Counting::NotAQuery => {
                part.counts.not_queries += 1;
                return command(&mut part.pairing, None, settled);
            }
            Counting::Alone | Counting::Waiting | Counting::Batch => {}
        }
        if !settings.filters.admit(told, &kind.namespace) {
            part.counts.filtered += 1;
            return;
        }
        part.note(told, kind.version);
        let slow = slow();
        part.appearances.extend(Appearance::of(slow.statements()));
        match kind.counting {
            Counting::Waiting => {
                part.pairing.write(told.context, kind.batch.clone(), Box::new(slow.hold(tallies)));
            }
            Counting::Batch => {
                let batch = (kind.batch.clone(), slow.hold(tallies));
                command(&mut part.pairing, Some(batch), settled);
            }
            _ => {
                command(&mut part.pairing, None, settled);
                slow.count(tallies, settings);
            }
        }
    }
}
