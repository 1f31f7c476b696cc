//! The rules that look at a collection as a whole, run once all input is counted; and who carries the shard key, for the
//! summary.

use std::cmp::Reverse;
use std::collections::BTreeMap;

use crate::catalog::{Catalog, Collection};
use crate::report::{ClassCount, Diagnostic, KeyCoverage};
use crate::routing::Class;
use crate::rules::{Check, ClusterContext, Cost, KeyUse, NamespaceContext, NamespaceTotals, ShapeTotals};

use super::declarations::{DeclarationTexts, declared};
use super::judge::Standing;
use super::settings::Settings;
use super::stats::{ShapeStats, index};
use super::tally::Tally;
use super::usage::{NamespaceUsage, Usage};

/// Runs the rules on collections and on the cluster.
#[must_use]
pub fn check_namespaces(tally: &Tally, settings: &Settings, texts: &DeclarationTexts) -> Vec<Diagnostic> {
    let (version, _) = settings.version_for(None, None);
    let Settings { catalog, thresholds, .. } = settings;
    let counted: Vec<(&Collection, NamespaceTotals<'_>)> = by_namespace(tally, catalog)
        .into_iter()
        .filter(|(namespace, _)| settings.filters.admit_namespace(namespace))
        .map(|(namespace, (collection, shapes))| (collection, totals(namespace, &shapes, tally.usage.of(namespace))))
        .collect();
    let context = |(collection, totals)| NamespaceContext { totals, collection, catalog, version, thresholds };
    let collections: Vec<NamespaceContext<'_>> =
        counted.iter().map(|(collection, totals)| context((*collection, totals))).collect();
    let unsharded = unsharded(tally, catalog);
    let cluster = ClusterContext { collections: &collections, unsharded: &unsharded, catalog, thresholds };
    let mut diagnostics = Vec::new();
    for &rule in &settings.rules {
        let mut found = Vec::new();
        match rule.check {
            Check::Namespace(check) => collections.iter().for_each(|context| check(context, &mut found)),
            Check::Cluster(check) => check(&cluster, &mut found),
            Check::Statement(_) | Check::Declaration(_) | Check::Engine => {}
        }
        diagnostics.extend(found.iter().filter_map(|found| {
            let diagnostic = declared(rule, &found.finding, texts)?;
            Some(Diagnostic { count: found.cost.calls.max(1), millis: found.cost.millis, ..diagnostic })
        }));
    }
    diagnostics
}

/// The calls of collections that are not sharded, by name.
fn unsharded<'a>(tally: &'a Tally, catalog: &Catalog) -> Vec<(&'a str, Cost)> {
    let is_unsharded = |stats: &&ShapeStats| catalog.get(&stats.namespace).is_some_and(Collection::is_unsharded);
    let mut sums: BTreeMap<&str, Cost> = BTreeMap::new();
    for stats in tally.shapes.values().chain(tally.others.values()).map(Box::as_ref).filter(is_unsharded) {
        let cost = of_class(stats, Class::Unsharded);
        if cost.calls > 0 {
            sums.entry(&stats.namespace).or_default().add(cost);
        }
    }
    sums.into_iter().collect()
}

/// The calls of a shape that have that class. The time of one whose class varies is shared out by calls.
fn of_class(stats: &ShapeStats, class: Class) -> Cost {
    let calls = stats.standings[index(Standing::Judged(class))];
    let millis = u128::from(stats.millis) * u128::from(calls) / u128::from(stats.count().max(1));
    Cost { calls, millis: u64::try_from(millis).unwrap_or(u64::MAX) }
}

/// Declared collections and those that declarations by glob cover, with the shapes of their queries, costliest first.
fn by_namespace<'a>(
    tally: &'a Tally,
    catalog: &'a Catalog,
) -> BTreeMap<&'a str, (&'a Collection, Vec<&'a ShapeStats>)> {
    let named = catalog.collections().filter(|collection| !collection.is_glob());
    let mut all: BTreeMap<&str, (&Collection, Vec<&ShapeStats>)> =
        named.map(|collection| (collection.pattern.as_str(), (collection, Vec::new()))).collect();
    for stats in tally.shapes.values().chain(tally.others.values()).map(Box::as_ref) {
        let Some(collection) = catalog.named(&stats.namespace) else { continue };
        all.entry(&stats.namespace).or_insert((collection, Vec::new())).1.push(stats);
    }
    for (_, shapes) in all.values_mut() {
        shapes.sort_by_key(|stats| (Reverse(stats.millis), Reverse(stats.count()), stats.operation, &stats.shape));
    }
    all
}

fn totals<'a>(namespace: &'a str, shapes: &[&'a ShapeStats], usage: Option<&'a NamespaceUsage>) -> NamespaceTotals<'a> {
    let by_class = |class: Class| {
        let mut sum = Cost::default();
        shapes.iter().for_each(|stats| sum.add(of_class(stats, class)));
        sum
    };
    NamespaceTotals {
        namespace,
        shapes: shapes.iter().map(|stats| shape_totals(stats)).collect(),
        key_use: usage.map_or_else(KeyUse::default, |usage| usage.key_use),
        targeted: by_class(Class::Targeted),
        multi_shard: by_class(Class::MultiShard),
        broadcast: by_class(Class::Broadcast),
        values: usage.map(|usage| &usage.values),
        shards: usage
            .map(|usage| usage.shards.iter().map(|(shard, cost)| (shard.as_str(), *cost)).collect())
            .unwrap_or_default(),
    }
}

fn shape_totals(stats: &ShapeStats) -> ShapeTotals<'_> {
    ShapeTotals {
        operation: stats.operation,
        shape: &stats.shape,
        cost: Cost { calls: stats.count(), millis: stats.millis },
        key_use: stats.key_use,
        access: stats.access.as_ref(),
    }
}

/// Who carries the shard key of which collection: all applications together, then each if there are several.
#[must_use]
pub fn key_coverage(usage: &Usage, catalog: &Catalog) -> Vec<KeyCoverage> {
    let mut rows = Vec::new();
    for (namespace, usage) in usage.sorted() {
        let Some(key) = catalog.get(namespace).and_then(Collection::shard_key) else { continue };
        if usage.key_use.all.calls == 0 {
            continue;
        }
        let row = |application: Option<&str>, uses: &KeyUse| KeyCoverage {
            namespace: namespace.to_owned(),
            application: application.map(str::to_owned),
            first_field: key.first().path.clone(),
            calls: count(uses.all),
            with_first_field: count(uses.first),
            with_whole_key: count(uses.whole),
        };
        rows.push(row(None, &usage.key_use));
        let applications = usage.applications();
        if applications.len() > 1 {
            rows.extend(applications.iter().map(|(name, uses)| row(Some(name), uses)));
        }
    }
    rows
}

fn count(cost: Cost) -> ClassCount {
    ClassCount { count: cost.calls, millis: cost.millis }
}
