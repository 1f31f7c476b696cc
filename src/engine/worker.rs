//! What one thread keeps from chunk to chunk: its tallies and its memory. All of it merges with that of other threads in any
//! order, so it does not show which thread read what.

use std::sync::Arc;

use crate::model::{Event, Origin};

use crate::rules::KeyValue;
use crate::syntax::{Outliner, Record, read_record};

use super::judge::{Judged, judge, key_values_of};
use super::memo::{Memo, Memory};
use super::pairing::Held;
use super::repeats::{Repeated, Repeats};
use super::roster::Folding;
use super::settings::Settings;
use super::sightings::Sightings;
use super::sums::Occurrence;
use super::tally::Tally;

/// The tallies of a run or of a part of it.
#[derive(Debug, Clone, Default)]
pub struct Tallies {
    /// Clients' operations.
    pub direct: Tally,
    /// A shard's records of operations that came through a router.
    pub through_router: Tally,
    /// A router's own record of a client's operation was seen.
    pub saw_router: bool,
    /// Which shards saw the same operation.
    pub sightings: Sightings,
    /// What has not been counted yet in those.
    repeats: Repeats,
}

/// The state of one thread.
#[derive(Debug, Default)]
pub struct Worker {
    /// What it counted.
    pub tallies: Tallies,
    /// What it knows.
    pub memo: Memo,
    /// Makes outlines.
    pub outliner: Outliner,
    /// Which shapes it knows to be folded.
    folding: Option<Arc<Folding>>,
}

impl Worker {
    /// One for the logs of that many processes.
    #[must_use]
    pub fn among(logs: usize) -> Self {
        Self { tallies: Tallies::among(logs), ..Self::default() }
    }

    /// Whether it tells more shapes apart than are expected to be in the end.
    #[must_use]
    pub fn is_crowded(&self) -> bool {
        self.folding.as_ref().is_some_and(|folding| self.tallies.is_crowded(folding))
    }

    /// Folds what is known to be folded by now: what becomes known is, and what was folded comes again.
    pub fn settle(&mut self, now: Option<&Arc<Folding>>) {
        let Some(now) = now else { return };
        let is_news = self.folding.as_ref().is_none_or(|known| !Arc::ptr_eq(known, now));
        if is_news || self.tallies.is_crowded(now) {
            self.tallies.fold(now);
            self.folding = Some(Arc::clone(now));
        }
    }
}

impl Tallies {
    /// Those of the logs of that many processes, before any is read.
    #[must_use]
    pub fn among(logs: usize) -> Self {
        Self { sightings: Sightings::among(logs), ..Self::default() }
    }

    /// Counts a record that was judged by itself. Without its bytes it is not shown.
    pub fn add(&mut self, judged: &Judged, record: Option<&[u8]>, settings: &Settings) {
        let (one, keep) = (&judged.own, settings.keep());
        self.saw_router |= one.origin == Origin::Router;
        let tally = self.tally(one.origin);
        tally.count(judged.about(), &judged.sums(), keep.per_event.then_some(one.position));
        tally
            .usage
            .sample(&judged.statements, one, |statement, at| Some(judged.statements[statement].key_values[at].clone()));
        if let Some(record) = record {
            tally.show(judged, record, keep);
            self.sightings.see(judged, record);
        }
    }

    /// Counts a record that repeats `memory`. It is judged by itself if it is shown, for which its bytes are needed, and asked
    /// for those of its key values that are kept, by their statements and their places in these.
    pub fn repeat(
        &mut self,
        memory: &Arc<Memory>,
        one: &Occurrence,
        record: Option<&[u8]>,
        value: impl Fn(usize, usize) -> Option<KeyValue>,
        settings: &Settings,
    ) {
        self.saw_router |= one.origin == Origin::Router;
        let Self { direct, through_router, repeats, .. } = self;
        let (may_show, may_keep) = repeats.add(memory, one, settings, counting(direct, through_router));
        if let Some(record) = record {
            let shows = may_show && self.would_show(memory, one, one.origin == Origin::ThroughRouter);
            if (shows || self.sightings.would_keep(one))
                && let Some(anew) = judged_anew(one, record, settings)
            {
                self.tally(one.origin).show(&anew, record, settings.keep());
                self.sightings.see(&anew, record);
            }
        }
        if may_keep {
            self.tally(one.origin).usage.sample(memory.about().statements, one, value);
            self.tighten(memory, one.origin);
        }
        self.settle_crowd();
    }

    fn tally(&mut self, origin: Origin) -> &mut Tally {
        if origin == Origin::ThroughRouter { &mut self.through_router } else { &mut self.direct }
    }

    /// Whether a record may be shown, whether or not it turns out to have come through a router. If a router's own records are
    /// seen, those that came through it are not shown; if not, they are counted with the others. So it is enough to be
    /// surpassed among the others. What surpasses it is noted.
    fn would_show(&mut self, memory: &Arc<Memory>, one: &Occurrence, is_routed: bool) -> bool {
        let statements = memory.about().statements;
        let Self { direct, through_router, repeats, .. } = self;
        let among = |tally: &Tally| tally.would_show(statements, one);
        let surpassed = if !among(direct) {
            direct.surpassed(statements, one)
        } else if is_routed && !among(through_router) {
            through_router.surpassed(statements, one)
        } else {
            return true;
        };
        repeats.of(memory, is_routed).surpassed = surpassed;
        false
    }

    /// Notes which key values are kept by now of records that repeat a memory.
    fn tighten(&mut self, memory: &Arc<Memory>, origin: Origin) {
        let (is_routed, statements) = (origin == Origin::ThroughRouter, memory.about().statements);
        let Self { direct, through_router, repeats, .. } = self;
        let tally = if is_routed { through_router } else { direct };
        tally.usage.tighten(statements, &mut repeats.of(memory, is_routed).sieves);
    }

    /// What to keep of a record that was judged by itself while its fate is open: its bytes only if it may be shown.
    #[must_use]
    pub fn hold(&self, judged: Judged, record: &[u8]) -> Held {
        let one = &judged.own;
        let shows = self.direct.would_show(&judged.statements, one) || self.sightings.would_keep_if_routed(one);
        Held::Judged { judged, record: shows.then(|| record.into()) }
    }

    /// The same of a record that repeats `memory`: its bytes if it may be shown, and those of its key values that may be kept.
    #[must_use]
    pub fn hold_repeat(
        &mut self,
        memory: &Arc<Memory>,
        one: Occurrence,
        record: &[u8],
        value: impl Fn(usize, usize) -> Option<KeyValue>,
    ) -> Held {
        let known = self.repeats.of(memory, false);
        let (may_show, may_keep) = (known.may_show(&one), known.may_keep(&one));
        let shows = may_show && self.would_show(memory, &one, false) || self.sightings.would_keep_if_routed(&one);
        let mut values = Vec::new();
        if may_keep {
            self.direct.usage.wanted(memory.about().statements, &one, |statement, at| {
                values.extend(value(statement, at).map(|value| ((statement, at), value)));
            });
            self.tighten(memory, Origin::Direct);
        }
        self.settle_crowd();
        Held::Repeat { memory: Arc::clone(memory), one, record: shows.then(|| record.into()), values }
    }

    /// Counts what was held and counts now.
    pub fn add_held(&mut self, held: &Held, settings: &Settings) {
        match held {
            Held::Judged { judged, record } => self.add(judged, record.as_deref(), settings),
            Held::Repeat { memory, one, record, values } => {
                let kept = |statement, at| {
                    let kept = values.iter().find(|(of, _)| *of == (statement, at));
                    kept.map(|(_, value)| value.clone())
                };
                self.repeat(memory, one, record.as_deref(), kept, settings);
            }
        }
    }

    /// Counts what has been added up so far.
    pub fn settle(&mut self) {
        let Self { direct, through_router, repeats, .. } = self;
        repeats.settle(counting(direct, through_router));
    }

    fn settle_crowd(&mut self) {
        if self.repeats.is_full() {
            self.settle();
        }
    }

    /// Counts those shapes together that are folded.
    pub fn fold(&mut self, folding: &Folding) {
        self.settle();
        self.direct.fold(folding);
        self.through_router.fold(folding);
    }

    /// Whether more shapes are told apart here than are expected to be in the end.
    #[must_use]
    pub fn is_crowded(&self, folding: &Folding) -> bool {
        [&self.direct, &self.through_router].into_iter().any(|tally| folding.is_crowded(tally.shapes.len()))
    }

    /// Adds what another thread counted, or what was settled later.
    pub fn merge(&mut self, mut other: Self) {
        other.settle();
        self.direct.merge(other.direct);
        self.through_router.merge(other.through_router);
        self.saw_router |= other.saw_router;
        self.sightings.merge(other.sightings);
    }
}

/// Counts records that were added up, where they belong.
fn counting(direct: &mut Tally, through_router: &mut Tally) -> impl FnMut(&Repeated, bool) {
    |repeated, is_routed| {
        let tally = if is_routed { &mut *through_router } else { &mut *direct };
        tally.count(repeated.memory.about(), &repeated.sums, None);
    }
}

/// A record, read in full and judged by itself.
fn judged_anew(one: &Occurrence, record: &[u8], settings: &Settings) -> Option<Judged> {
    let event = read(record)?;
    Some(Judged { own: one.clone(), ..judge(&event, one.position, one.logged, settings) })
}

/// The key values of each statement of a record.
pub type Values = Vec<Vec<KeyValue>>;

/// The key values of a record that is read for them.
pub fn values_of(record: &[u8], settings: &Settings) -> Option<Values> {
    let event = read(record)?;
    Some(event.statements.iter().map(|statement| key_values_of(statement, settings)).collect())
}

fn read(record: &[u8]) -> Option<Box<Event>> {
    if let Record::Slow(event) = read_record(record) { Some(event) } else { None }
}
