//! What one thread keeps from chunk to chunk: its tallies and its memory. All of it merges with that of other threads in any
//! order, so it does not show which thread read what.

use crate::model::Origin;
use crate::syntax::{Outliner, Record, read_record};

use super::judge::{Judged, judge};
use super::memo::Memo;
use super::pairing::Held;
use super::settings::Settings;
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
}

impl Tallies {
    /// Counts a record. One that was recalled is judged anew if it becomes an example.
    pub fn count(&mut self, judged: &Judged, record: Option<&[u8]>, settings: &Settings) {
        self.saw_router |= judged.origin == Origin::Router;
        let shown = judged.is_recalled.then(|| record.filter(|_| self.would_show(judged))).flatten();
        let anew = shown.and_then(|record| judged_anew(judged, record, settings));
        let record = record.filter(|_| !judged.is_recalled || anew.is_some());
        self.tally(judged.origin).add(anew.as_ref().unwrap_or(judged), record, settings.keep());
    }

    fn tally(&mut self, origin: Origin) -> &mut Tally {
        if origin == Origin::ThroughRouter { &mut self.through_router } else { &mut self.direct }
    }

    /// Whether a record may become an example, whether or not it turns out to have come through a router. If a router's own
    /// records are seen, those that came through it are not shown; if not, they are counted with the others. So it is
    /// enough to be surpassed among the others.
    fn would_show(&self, judged: &Judged) -> bool {
        self.direct.would_show(judged)
            && (judged.origin != Origin::ThroughRouter || self.through_router.would_show(judged))
    }

    /// Keeps a record whose fate is open, with its bytes if it may become an example.
    #[must_use]
    pub fn hold(&self, judged: Judged, record: &[u8]) -> Held {
        let record = self.direct.would_show(&judged).then(|| record.into());
        Held { judged, record }
    }

    /// Adds what another thread counted, or what was settled later.
    pub fn merge(&mut self, other: Self) {
        self.direct.merge(other.direct);
        self.through_router.merge(other.through_router);
        self.saw_router |= other.saw_router;
    }
}

/// The record of `recalled`, read in full and judged by itself.
fn judged_anew(recalled: &Judged, record: &[u8], settings: &Settings) -> Option<Judged> {
    let Record::Slow(event) = read_record(record) else { return None };
    let judged = judge(&event, recalled.position, recalled.logged, settings);
    Some(Judged { origin: recalled.origin, lead: recalled.lead, ..judged })
}
