//! What one thread keeps from chunk to chunk: its tallies and its memory. All of it merges with that of other threads in any
//! order, so it does not show which thread read what.

use std::sync::Arc;

use crate::model::{Event, Origin};

use crate::rules::KeyValue;
use crate::syntax::{Outliner, Record, read_record};

use super::exchange::Exchange;
use super::judge::{Judged, judge, key_values_of};
use super::memo::Memo;
use super::pairing::Held;
use super::roster::Folding;
use super::settings::Settings;
use super::sightings::Sightings;
use super::tally::{Keep, Own, Tally};

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
    /// One for the logs of that many processes, with its part in what the threads tell each other.
    #[must_use]
    pub fn among(logs: usize, exchange: Exchange) -> Self {
        Self { tallies: Tallies::among(logs), memo: Memo::new(exchange), ..Self::default() }
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

    /// Counts a record. One that was recalled is judged anew if it becomes an example, and its key `values` are asked for
    /// only if one of them is kept.
    pub fn count(
        &mut self,
        judged: &Judged,
        record: Option<&[u8]>,
        values: impl FnOnce() -> Option<Values>,
        settings: &Settings,
    ) {
        self.saw_router |= judged.origin == Origin::Router;
        let keep = settings.keep();
        match record {
            Some(bytes) if !judged.is_recalled => self.add(judged, bytes, keep),
            Some(bytes) if self.would(judged, Tally::would_show) || self.sightings.would_keep(judged) => {
                match judged_anew(judged, bytes, settings) {
                    Some(anew) => self.add(&anew, bytes, keep),
                    None => self.tally(judged.origin).add(judged, Own::Nothing, keep),
                }
            }
            _ if judged.is_recalled && self.would(judged, Tally::would_keep) => {
                let values = values();
                self.tally(judged.origin).add(judged, values.as_deref().map_or(Own::Nothing, Own::Values), keep);
            }
            _ => self.tally(judged.origin).add(judged, Own::Nothing, keep),
        }
    }

    /// Counts a record that was judged by itself.
    fn add(&mut self, judged: &Judged, record: &[u8], keep: Keep) {
        self.sightings.see(judged, record);
        self.tally(judged.origin).add(judged, Own::Record(record), keep);
    }

    fn tally(&mut self, origin: Origin) -> &mut Tally {
        if origin == Origin::ThroughRouter { &mut self.through_router } else { &mut self.direct }
    }

    /// Whether a record may be shown or kept, whether or not it turns out to have come through a router. If a router's own
    /// records are seen, those that came through it are not shown; if not, they are counted with the others. So it is
    /// enough to be surpassed among the others.
    fn would(&self, judged: &Judged, among: fn(&Tally, &Judged) -> bool) -> bool {
        among(&self.direct, judged) && (judged.origin != Origin::ThroughRouter || among(&self.through_router, judged))
    }

    /// Keeps a record whose fate is open, with its bytes or its key values if something of them may be shown or kept.
    #[must_use]
    pub fn hold(&self, judged: Judged, record: &[u8], values: impl FnOnce() -> Option<Values>) -> Held {
        let shows = self.direct.would_show(&judged) || self.sightings.would_keep_if_routed(&judged);
        let keeps = self.direct.would_keep(&judged);
        let record = (shows || keeps && !judged.is_recalled).then(|| record.into());
        let values = if keeps && judged.is_recalled { values() } else { None };
        Held { judged, record, values }
    }

    /// Counts those shapes together that are folded.
    pub fn fold(&mut self, folding: &Folding) {
        self.direct.fold(folding);
        self.through_router.fold(folding);
    }

    /// Whether more shapes are told apart here than are expected to be in the end.
    #[must_use]
    pub fn is_crowded(&self, folding: &Folding) -> bool {
        [&self.direct, &self.through_router].into_iter().any(|tally| folding.is_crowded(tally.shapes.len()))
    }

    /// Adds what another thread counted, or what was settled later.
    pub fn merge(&mut self, other: Self) {
        self.direct.merge(other.direct);
        self.through_router.merge(other.through_router);
        self.saw_router |= other.saw_router;
        self.sightings.merge(other.sightings);
    }
}

/// The record of `recalled`, read in full and judged by itself.
fn judged_anew(recalled: &Judged, record: &[u8], settings: &Settings) -> Option<Judged> {
    let event = read(record)?;
    let judged = judge(&event, recalled.position, recalled.logged, settings);
    Some(Judged { origin: recalled.origin, lead: recalled.lead, ..judged })
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
