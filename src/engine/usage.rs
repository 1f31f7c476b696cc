//! By namespace: which applications carry the shard key, and which shards their calls go to. Mergeable in any order, and
//! bounded: of a namespace with very many applications those with the least hashes are kept, each with exact counts.

use std::collections::BTreeMap;

use rustc_hash::FxHashMap;

use crate::rules::{Carried, Cost, KeyUse, KeyValue, KeyValues, Sieve};
use crate::text::Fingerprint;

use super::judge::JudgedStatement;
use super::sums::{Occurrence, Sums};

/// So many applications of a namespace are kept apart.
const MOST_APPLICATIONS: usize = 64;

/// What was counted, by namespace.
#[derive(Debug, Clone, Default)]
pub struct Usage {
    namespaces: FxHashMap<String, NamespaceUsage>,
}

/// What was counted for one namespace.
#[derive(Debug, Clone, Default)]
pub struct NamespaceUsage {
    /// All calls.
    pub key_use: KeyUse,
    /// By name, with the name's hash.
    applications: FxHashMap<String, (Fingerprint, KeyUse)>,
    /// The values of its key.
    pub values: KeyValues,
    /// By shard, if a chunk map is known.
    pub shards: BTreeMap<String, Cost>,
}

impl Usage {
    /// Keeps those of the key values of a record that belong to the samples; `value` makes them, by statement and by place
    /// among those that the statement shows.
    pub fn sample(
        &mut self,
        statements: &[JudgedStatement],
        one: &Occurrence,
        value: impl Fn(usize, usize) -> Option<KeyValue>,
    ) {
        for (at, first, statement) in showing(statements) {
            let usage = self.namespace(&statement.namespace);
            usage.values.sample(&statement.key_values, (one.position, first), one.time, |n| value(at, n));
        }
    }

    /// Tells which key values of a record would be kept, by statement and by place among those that the statement shows.
    pub fn wanted(&self, statements: &[JudgedStatement], one: &Occurrence, mut tell: impl FnMut(usize, usize)) {
        let nothing = KeyValues::default();
        for (at, first, statement) in showing(statements) {
            let values = self.namespaces.get(&statement.namespace).map_or(&nothing, |usage| &usage.values);
            values.wanted(&statement.key_values, (one.position, first)).for_each(|n| tell(at, n));
        }
    }

    /// Lets the sieves of the statements that show key values know what is kept by now.
    pub fn tighten(&self, statements: &[JudgedStatement], sieves: &mut [Sieve]) {
        for ((.., statement), sieve) in showing(statements).zip(sieves) {
            if let Some(usage) = self.namespaces.get(&statement.namespace) {
                usage.values.tighten(&statement.key_values, sieve);
            }
        }
    }

    fn namespace(&mut self, name: &str) -> &mut NamespaceUsage {
        if !self.namespaces.contains_key(name) {
            self.namespaces.insert(name.to_owned(), NamespaceUsage::default());
        }
        self.namespaces.get_mut(name).expect("it was inserted")
    }

    /// Counts the statement at that place of some records.
    pub fn count(&mut self, statement: &JudgedStatement, at: usize, sums: &Sums) {
        if statement.carried.is_none() && statement.shards.is_none() && statement.key_values.is_empty() {
            return;
        }
        let (usage, cost) = (self.namespace(&statement.namespace), sums.cost(at));
        usage.values.count(&statement.key_values, cost.calls);
        for shard in statement.shards.iter().flatten() {
            match usage.shards.get_mut(shard) {
                Some(known) => known.add(cost),
                None => drop(usage.shards.insert(shard.clone(), cost)),
            }
        }
        let Some(carried) = statement.carried else { return };
        usage.key_use.count(carried, cost);
        for share in &sums.shares {
            if let Some(application) = &share.application {
                usage.count_application(application, carried, share.cost(at));
            }
        }
    }

    /// Adds what was counted in another part of the input.
    pub fn merge(&mut self, later: Self) {
        for (namespace, usage) in later.namespaces {
            match self.namespaces.get_mut(&namespace) {
                Some(mine) => mine.merge(usage),
                None => drop(self.namespaces.insert(namespace, usage)),
            }
        }
    }

    /// What was counted for a namespace.
    #[must_use]
    pub fn of(&self, namespace: &str) -> Option<&NamespaceUsage> {
        self.namespaces.get(namespace)
    }

    /// All namespaces, by name.
    #[must_use]
    pub fn sorted(&self) -> Vec<(&str, &NamespaceUsage)> {
        let mut all: Vec<_> = self.namespaces.iter().map(|(name, usage)| (name.as_str(), usage)).collect();
        all.sort_unstable_by_key(|(name, _)| *name);
        all
    }
}

impl NamespaceUsage {
    /// The applications, the busiest first.
    #[must_use]
    pub fn applications(&self) -> Vec<(&str, KeyUse)> {
        let mut all: Vec<_> = self.applications.iter().map(|(name, (_, uses))| (name.as_str(), *uses)).collect();
        all.sort_by_key(|(name, uses)| (std::cmp::Reverse(uses.all.calls), *name));
        all
    }

    fn count_application(&mut self, name: &str, carried: Carried, cost: Cost) {
        if let Some((_, known)) = self.applications.get_mut(name) {
            return known.count(carried, cost);
        }
        let mut uses = KeyUse::default();
        uses.count(carried, cost);
        self.add_application(name.to_owned(), hash(name), &uses);
    }

    fn add_application(&mut self, name: String, hash: Fingerprint, uses: &KeyUse) {
        self.applications.entry(name).or_insert_with(|| (hash, KeyUse::default())).1.add(uses);
        // Whoever is among the least of all is among the least of every part, so what is kept is counted in full.
        if self.applications.len() > MOST_APPLICATIONS {
            let last = self.applications.iter().map(|(name, (hash, _))| (*hash, name)).max();
            if let Some(name) = last.map(|(_, name)| name.clone()) {
                self.applications.remove(&name);
            }
        }
    }

    fn merge(&mut self, later: Self) {
        self.key_use.add(&later.key_use);
        self.values.merge(later.values);
        for (name, (hash, uses)) in later.applications {
            self.add_application(name, hash, &uses);
        }
        for (shard, cost) in later.shards {
            self.shards.entry(shard).or_default().add(cost);
        }
    }
}

/// The statements that show key values, with their places, and how many values those before them show.
pub fn showing(statements: &[JudgedStatement]) -> impl Iterator<Item = (usize, usize, &JudgedStatement)> {
    let mut first = 0;
    let counted = statements.iter().enumerate().map(move |(at, statement)| {
        let before = first;
        first += statement.key_values.len();
        (at, before, statement)
    });
    counted.filter(|(_, _, statement)| !statement.key_values.is_empty())
}

fn hash(name: &str) -> Fingerprint {
    Fingerprint::of(&["application-1", name])
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rules::Carried;

    fn one(first: bool) -> KeyUse {
        let mut uses = KeyUse::default();
        uses.count(Carried { first, whole: false, ranged: false }, Cost::one(1));
        uses
    }

    #[test]
    fn of_many_applications_the_same_are_kept_wherever_the_input_is_cut_and_their_counts_are_exact() {
        let names: Vec<String> = (0..300).map(|n| format!("app{}", n % 150)).collect();
        let count = |cut: usize| {
            let mut parts = [NamespaceUsage::default(), NamespaceUsage::default()];
            for (at, name) in names.iter().enumerate() {
                parts[usize::from(at >= cut)].add_application(name.clone(), hash(name), &one(true));
            }
            let [mut first, second] = parts;
            first.merge(second);
            first.applications().iter().map(|(name, uses)| ((*name).to_owned(), uses.all.calls)).collect::<Vec<_>>()
        };
        let whole = count(0);
        assert_eq!((whole.len(), whole.iter().all(|(_, calls)| *calls == 2)), (MOST_APPLICATIONS, true));
        assert!([1, 77, 150, 299].into_iter().all(|cut| count(cut) == whole));
    }
}
