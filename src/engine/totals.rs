//! The rules that look at a collection as a whole, run once all input is counted; and who carries the shard key, for the
//! summary.

use std::cmp::Reverse;
use std::collections::BTreeMap;

use crate::catalog::{Catalog, Collection};
use crate::report::{ClassCount, Diagnostic, KeyCoverage};
use crate::routing::Class;
use crate::rules::{Check, Cost, KeyUse, NamespaceContext, NamespaceTotals, ShapeTotals};

use super::declarations::{DeclarationTexts, declared};
use super::judge::Standing;
use super::settings::Settings;
use super::tally::{ShapeStats, Tally, index};
use super::usage::{NamespaceUsage, Usage};

/// Runs the rules on collections.
#[must_use]
pub fn check_namespaces(tally: &Tally, settings: &Settings, texts: &DeclarationTexts) -> Vec<Diagnostic> {
    let (version, _) = settings.version_for(None, None);
    let mut diagnostics = Vec::new();
    for (namespace, (collection, shapes)) in by_namespace(tally, &settings.catalog) {
        let totals = totals(namespace, &shapes, tally.usage.of(namespace));
        let context = NamespaceContext {
            totals: &totals,
            collection,
            catalog: &settings.catalog,
            version,
            thresholds: &settings.thresholds,
        };
        for &rule in &settings.rules {
            let Check::Namespace(check) = rule.check else { continue };
            let mut found = Vec::new();
            check(&context, &mut found);
            diagnostics.extend(found.iter().filter_map(|found| {
                let diagnostic = declared(rule, &found.finding, texts)?;
                Some(Diagnostic { count: found.cost.calls.max(1), millis: found.cost.millis, ..diagnostic })
            }));
        }
    }
    diagnostics
}

/// Declared collections and those that declarations by glob cover, with the shapes of their queries, costliest first.
fn by_namespace<'a>(
    tally: &'a Tally,
    catalog: &'a Catalog,
) -> BTreeMap<&'a str, (&'a Collection, Vec<&'a ShapeStats>)> {
    let is_name = |name: &str| !name.contains(['*', '?', '[', '{']);
    let named = catalog.collections().filter(|collection| is_name(&collection.pattern));
    let mut all: BTreeMap<&str, (&Collection, Vec<&ShapeStats>)> =
        named.map(|collection| (collection.pattern.as_str(), (collection, Vec::new()))).collect();
    for stats in tally.shapes.values().chain(tally.others.values()) {
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
        for stats in shapes {
            let calls = stats.standings[index(Standing::Judged(class))];
            // The time of a shape whose class varies is shared out by calls.
            let millis = u128::from(stats.millis) * u128::from(calls) / u128::from(stats.count().max(1));
            sum.add(Cost { calls, millis: u64::try_from(millis).unwrap_or(u64::MAX) });
        }
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
