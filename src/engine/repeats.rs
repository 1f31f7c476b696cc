//! Records that repeat what is remembered, added up by memory before they are counted: that takes a look at one place
//! instead of one at each shape, group and collection. Whoever reads a tally settles first. Sums do not depend on what is
//! settled when, and what may be shown or kept of a record is never added up.

use std::sync::Arc;

use compact_str::CompactString;
use indexmap::IndexMap;
use rustc_hash::{FxBuildHasher, FxHashMap};
use smallvec::SmallVec;

use crate::model::Origin;
use crate::rules::Sieve;

use super::judge::limits;
use super::memo::Memory;
use super::settings::Settings;
use super::stats::Surpassed;
use super::sums::{Occurrence, Share, Sums};
use super::usage::showing;

/// So many memories have sums of their own, and so many applications. Beyond, all is settled.
const MOST_MEMORIES: usize = 2048;
const MOST_APPLICATIONS: usize = 64;

/// So many records of one memory are added up.
const MOST_RECORDS: usize = 256;

/// The sums, by memory and by whether the records came through a router.
#[derive(Debug, Clone, Default)]
pub struct Repeats {
    sums: IndexMap<(usize, bool), Repeated, FxBuildHasher>,
    /// Numbers of applications; 0 is that of records that name none.
    applications: FxHashMap<CompactString, u8>,
}

/// The records that repeat one memory.
#[derive(Debug, Clone)]
pub struct Repeated {
    /// What they repeat. While it is held here, no other lies at its address.
    pub memory: Arc<Memory>,
    /// What they add up to.
    pub sums: Sums,
    /// Where the shares of applications are, by their numbers; 0 if there is none yet.
    shares: Vec<u8>,
    /// Behind what none of them is shown, as far as it is known.
    pub surpassed: Option<Surpassed>,
    /// Which of them show key values that may be kept, by statement that shows some.
    pub sieves: SmallVec<[Sieve; 1]>,
}

impl Repeats {
    /// The records that repeat `memory`.
    pub fn of(&mut self, memory: &Arc<Memory>, is_routed: bool) -> &mut Repeated {
        let key = (Arc::as_ptr(memory).addr(), is_routed);
        self.sums.entry(key).or_insert_with(|| Repeated::new(Arc::clone(memory)))
    }

    /// Adds a record; returns whether it may be shown, and whether key values of it may be kept. What has to be counted before
    /// more is added up is told to `settle`, with whether it came through a router.
    pub fn add(
        &mut self,
        memory: &Arc<Memory>,
        one: &Occurrence,
        settings: &Settings,
        mut settle: impl FnMut(&Repeated, bool),
    ) -> (bool, bool) {
        let number = match &one.application {
            None => 0,
            Some(name) => match self.applications.get(name) {
                Some(number) => *number,
                None => self.number(name, &mut settle),
            },
        };
        let is_routed = one.origin == Origin::ThroughRouter;
        let repeated = self.of(memory, is_routed);
        let share = repeated.share(number, one, settings);
        repeated.sums.add(one, share);
        if repeated.sums.durations.len() >= MOST_RECORDS {
            repeated.settle(|repeated| settle(repeated, is_routed));
        }
        (repeated.may_show(one), repeated.may_keep(one))
    }

    /// The number of an application that has none yet.
    fn number(&mut self, name: &CompactString, settle: impl FnMut(&Repeated, bool)) -> u8 {
        if self.applications.len() >= MOST_APPLICATIONS {
            self.settle(settle);
        }
        let number = u8::try_from(self.applications.len() + 1).expect("they are few");
        self.applications.insert(name.clone(), number);
        number
    }

    /// Whether more memories have sums of their own than should.
    #[must_use]
    pub fn is_full(&self) -> bool {
        self.sums.len() > MOST_MEMORIES
    }

    /// Tells all that has to be counted, and is empty then.
    pub fn settle(&mut self, mut settle: impl FnMut(&Repeated, bool)) {
        self.applications.clear();
        for ((_, is_routed), mut repeated) in self.sums.drain(..) {
            repeated.settle(|repeated| settle(repeated, is_routed));
        }
    }
}

impl Repeated {
    fn new(memory: Arc<Memory>) -> Self {
        let sieves =
            showing(memory.about().statements).map(|(_, first, of)| Sieve::new(&of.key_values, first)).collect();
        Self { memory, sums: Sums::default(), shares: Vec::new(), surpassed: None, sieves }
    }

    /// The place of the share of the application with that number.
    fn share(&mut self, number: u8, one: &Occurrence, settings: &Settings) -> usize {
        let number = usize::from(number);
        if let Some(known) = self.shares.get(number).filter(|known| **known > 0) {
            return usize::from(*known) - 1;
        }
        let statements = self.memory.about().statements;
        let limits = limits(one.application.as_deref(), statements, settings);
        self.sums.shares.push(Share::new(one.application.clone(), statements.len(), limits));
        self.shares.resize(self.shares.len().max(number + 1), 0);
        self.shares[number] = u8::try_from(self.sums.shares.len()).expect("there are no more than applications");
        self.sums.shares.len() - 1
    }

    /// Whether it is not known that a record is surpassed by others that are shown.
    #[must_use]
    pub fn may_show(&self, one: &Occurrence) -> bool {
        self.surpassed.is_none_or(|surpassed| !surpassed.hides(one))
    }

    /// Whether it is not known that no key value of a record is kept.
    #[must_use]
    pub fn may_keep(&self, one: &Occurrence) -> bool {
        self.sieves.iter().any(|sieve| sieve.passes(one.position))
    }

    fn settle(&mut self, settle: impl FnOnce(&Self)) {
        if !self.sums.shares.is_empty() {
            settle(self);
        }
        self.sums.clear();
        self.shares.clear();
    }
}
