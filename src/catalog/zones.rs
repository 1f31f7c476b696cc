//! Zones as declared to the ranges of each collection, statement by statement as a server takes them: a range that is not
//! on the key, is empty, overlaps one before it, or belongs to a zone of no shard is told in place and left aside.

use std::cmp::Ordering;
use std::collections::{BTreeMap, BTreeSet};

use crate::model::{Node, ShardKey, Value, WrittenZoneRange, ZoneRange};
use crate::syntax::declaration::ZoneStatement;
use crate::syntax::dump::DumpedShard;
use crate::text::{SourceId, Span};

use super::builder::Conflict;
use super::chunks::{compare_keys, stored};
use super::lookup::Catalog;

/// What is declared about zones, in order.
#[derive(Debug, Clone, Default)]
pub(super) struct Zones {
    statements: Vec<(SourceId, ZoneStatement)>,
    /// The zones of each dumped shard, if its document tells them.
    dumped: BTreeMap<String, Option<BTreeSet<String>>>,
}

impl Zones {
    pub(super) fn add(&mut self, source: SourceId, statements: impl IntoIterator<Item = ZoneStatement>) {
        self.statements.extend(statements.into_iter().map(|statement| (source, statement)));
    }

    pub(super) fn shard(&mut self, shard: &DumpedShard) {
        let zones = shard.zones.as_ref().map(|zones| zones.iter().cloned().collect::<BTreeSet<_>>());
        let known = self.dumped.entry(shard.name.value.clone()).or_default();
        if let Some(zones) = zones {
            known.get_or_insert_default().extend(zones);
        }
    }

    /// Gives the collections of the catalog their ranges, once their keys are known.
    pub(super) fn complete(self, catalog: &mut Catalog) -> Vec<Conflict> {
        catalog.zone_shards = self.shards();
        let mut conflicts = Vec::new();
        let mut by_collection: BTreeMap<String, Ranges> = BTreeMap::new();
        for (source, statement) in self.statements {
            let (name, change) = match statement {
                ZoneStatement::AddShard { .. } | ZoneStatement::RemoveShard { .. } => continue,
                ZoneStatement::AddRange(range) => (range.namespace.value.clone(), Change::Add(range)),
                ZoneStatement::RemoveRange { namespace, min, max } => (namespace, Change::Remove(min, max)),
                ZoneStatement::RemoveRanges { namespace } => (namespace, Change::RemoveAll),
            };
            // Without a key there is nothing to hold a range against.
            let Some(key) = catalog.get(&name).and_then(|collection| collection.shard_key()) else { continue };
            let ranges = by_collection.entry(name).or_default();
            if let Err((span, message)) = ranges.change(key, source, change) {
                conflicts.push(Conflict { source, span, message });
            }
        }
        let mut told = BTreeSet::new();
        for (name, mut ranges) in by_collection {
            ranges.0.retain(|_, (zone_span, range)| {
                let shards = catalog.zone_shards.as_ref();
                let is_empty = shards.is_some_and(|zones| !zones.contains_key(&range.zone));
                if is_empty && told.insert(range.zone.clone()) {
                    let message = format!("no shard belongs to zone `{}`, so nothing can lie there", range.zone);
                    conflicts.push(Conflict { source: range.source, span: *zone_span, message });
                }
                !is_empty
            });
            if let Some(collection) = catalog.exactly(&name) {
                collection.zones = ranges.0.into_values().map(|(_, range)| range).collect();
            }
        }
        conflicts
    }

    /// The shards of each zone that has any; `None` if nothing tells to which zones shards belong.
    fn shards(&self) -> Option<BTreeMap<String, BTreeSet<String>>> {
        let mut is_told = !self.dumped.is_empty() && self.dumped.values().all(Option::is_some);
        let mut zones: BTreeMap<String, BTreeSet<String>> = BTreeMap::new();
        for (shard, of) in &self.dumped {
            for zone in of.iter().flatten() {
                zones.entry(zone.clone()).or_default().insert(shard.clone());
            }
        }
        for (_, statement) in &self.statements {
            match statement {
                ZoneStatement::AddShard { shard, zone } => {
                    is_told = true;
                    zones.entry(zone.clone()).or_default().insert(shard.clone());
                }
                ZoneStatement::RemoveShard { shard, zone } => {
                    zones.entry(zone.clone()).or_default().remove(shard);
                }
                _ => {}
            }
        }
        zones.retain(|_, shards| !shards.is_empty());
        is_told.then_some(zones)
    }
}

/// What a statement does to the ranges of one collection.
enum Change {
    Add(WrittenZoneRange),
    Remove(Node, Node),
    RemoveAll,
}

/// The ranges of one collection by their lower bounds, each with the place of its zone's name.
#[derive(Default)]
struct Ranges(BTreeMap<Bound, (Span, ZoneRange)>);

impl Ranges {
    fn change(&mut self, key: &ShardKey, source: SourceId, change: Change) -> Result<(), (Span, String)> {
        match change {
            Change::Add(range) => self.add(key, source, &range),
            Change::RemoveAll => {
                self.0.clear();
                Ok(())
            }
            Change::Remove(min, max) => {
                let (min, max) = (Bound(bound(key, &min)?), Bound(bound(key, &max)?));
                if self.0.get(&min).is_some_and(|(_, range)| compare_keys(&range.max, &max.0).is_eq()) {
                    self.0.remove(&min);
                }
                Ok(())
            }
        }
    }

    fn add(&mut self, key: &ShardKey, source: SourceId, written: &WrittenZoneRange) -> Result<(), (Span, String)> {
        let (min, max) = (bound(key, &written.min)?, bound(key, &written.max)?);
        let zone = &written.zone;
        if compare_keys(&min, &max).is_ge() {
            let why =
                format!("this range of zone `{}` ends where it begins, or before: `max` is exclusive", zone.value);
            return Err((written.max.span, why));
        }
        let (low, high) = (Bound(min), Bound(max));
        let below = self.0.range(..&high).next_back().map(|(_, (_, range))| range);
        if let Some(other) = below.filter(|range| compare_keys(&range.max, &low.0).is_gt()) {
            let is_same = compare_keys(&other.min, &low.0).is_eq() && compare_keys(&other.max, &high.0).is_eq();
            return match is_same {
                true if other.zone == zone.value => Ok(()),
                true => Err((zone.span, format!("this range belongs to zone `{}` already", other.zone))),
                false => {
                    let why = format!("this range of zone `{}` overlaps one of zone `{}`", zone.value, other.zone);
                    Err((written.span, why))
                }
            };
        }
        let range = ZoneRange { min: low.0.clone(), max: high.0, zone: zone.value.clone(), source, span: written.span };
        self.0.insert(low, (zone.span, range));
        Ok(())
    }
}

/// The values of a bound: those of the first fields of the key, in its order; the server adds MinKey for the others.
fn bound(key: &ShardKey, node: &Node) -> Result<Vec<Value>, (Span, String)> {
    let fields = node.as_document().map(|document| document.fields.as_slice()).unwrap_or_default();
    if fields.is_empty() || fields.len() > key.fields.len() {
        let what = "a bound of a zone has the first fields of the key, or all";
        return Err((node.span, format!("{what}; expected fields of `{key}`")));
    }
    let mut values = Vec::with_capacity(key.fields.len());
    for (field, part) in fields.iter().zip(&key.fields) {
        if field.name != part.path {
            let why = format!("a bound of a zone has the fields of the key `{key}` in order; expected `{}`", part.path);
            return Err((field.name_span, why));
        }
        values.push(stored(&field.node, part)?);
    }
    values.resize(key.fields.len(), Value::MinKey);
    Ok(values)
}

/// A bound in the order of keys.
struct Bound(Vec<Value>);

impl Ord for Bound {
    fn cmp(&self, other: &Self) -> Ordering {
        compare_keys(&self.0, &other.0)
    }
}

impl PartialOrd for Bound {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl PartialEq for Bound {
    fn eq(&self, other: &Self) -> bool {
        self.cmp(other).is_eq()
    }
}

impl Eq for Bound {}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::catalog::Builder;
    use crate::syntax::declaration::declarations;
    use crate::syntax::dump::dumps;

    /// The ranges of `s.c` in a script or a dump, and what is wrong: the text at fault and the message.
    fn zones(text: &str) -> (Vec<String>, Vec<(String, String)>) {
        let mut builder = Builder::default();
        if text.starts_with("sh.") {
            let declared = declarations(text);
            assert_eq!(declared.errors, [], "{text}");
            builder.script(SourceId(0), &declared);
        } else {
            builder.dump(SourceId(0), &dumps(text), None);
        }
        let (catalog, conflicts) = builder.finish();
        let ranges = catalog.get("s.c").map(|collection| collection.zones.as_slice()).unwrap_or_default();
        let told = |range: &ZoneRange| format!("{} {}", range.zone, &text[range.span.range()]);
        let wrong = conflicts.iter().map(|c| (text[c.span.range()].to_owned(), c.message.clone())).collect();
        (ranges.iter().map(told).collect(), wrong)
    }

    fn wrong(statement: &str) -> Vec<(String, String)> {
        zones(&format!("sh.shardCollection('s.c', {{ a: 1, b: 1 }})\n{statement}")).1
    }

    #[test]
    fn ranges_of_a_script_are_kept_in_the_order_of_the_key() {
        let text = "sh.addShardTag('rs0', 'EU'); sh.addShardToZone('rs1', 'US')\n\
                    sh.updateZoneKeyRange('s.c', { a: 5 }, { a: MaxKey }, 'US')\n\
                    sh.addTagRange('s.c', { a: MinKey, b: MinKey }, { a: 5 }, 'EU')\n\
                    sh.updateZoneKeyRange('s.c', { a: 5, b: MinKey }, { a: MaxKey }, 'US')\n\
                    sh.shardCollection('s.c', { a: 1, b: 1 })";
        let (ranges, wrong) = zones(text);
        assert_eq!(wrong, []);
        assert_eq!(
            ranges,
            [
                "EU sh.addTagRange('s.c', { a: MinKey, b: MinKey }, { a: 5 }, 'EU')",
                "US sh.updateZoneKeyRange('s.c', { a: 5 }, { a: MaxKey }, 'US')"
            ]
        );
    }

    #[test]
    fn bounds_that_are_not_on_the_key_are_told_where_they_stand() {
        for (bounds, at, message) in [
            ("{ c: 1 }, { c: 2 }", "c", "in order; expected `a`"),
            ("{ b: 1, a: 1 }, { b: 2, a: 1 }", "b", "in order; expected `a`"),
            ("{ a: 1 }, { a: 1, c: 1 }", "c", "in order; expected `b`"),
            ("{ a: 1, b: 1, c: 1 }, { a: 2 }", "{ a: 1, b: 1, c: 1 }", "expected fields of `{ a: 1, b: 1 }`"),
            ("{}, { a: 2 }", "{}", "expected fields of `{ a: 1, b: 1 }`"),
            ("{ a: 2 }, { a: 2 }", "{ a: 2 }", "ends where it begins, or before"),
            ("{ a: 'x' }, { a: 2 }", "{ a: 2 }", "ends where it begins, or before"),
        ] {
            let told = wrong(&format!("sh.updateZoneKeyRange('s.c', {bounds}, 'EU')"));
            assert_eq!(told.len(), 1, "{bounds}: {told:?}");
            assert!(told[0].0 == at && told[0].1.contains(message), "{bounds}: {told:?}");
        }
        assert_eq!(
            wrong("sh.updateZoneKeyRange('s.c', { a: 2 }, { a: 2, b: 1 }, 'EU')"),
            [],
            "a prefix begins at MinKey"
        );
        let hashed =
            "sh.shardCollection('s.c', { a: 'hashed' })\nsh.addTagRange('s.c', { a: 'x' }, { a: MaxKey }, 'EU')";
        assert_eq!(zones(hashed).1[0].0, "'x'");
    }

    #[test]
    fn of_overlapping_ranges_the_later_one_is_told() {
        let text = "sh.updateZoneKeyRange('s.c', { a: 5 }, { a: 9 }, 'EU')\n";
        for (later, at) in [
            ("sh.updateZoneKeyRange('s.c', { a: 1 }, { a: 6 }, 'US')", None),
            ("sh.updateZoneKeyRange('s.c', { a: 8, b: 4 }, { a: 20 }, 'EU')", None),
            ("sh.updateZoneKeyRange('s.c', { a: 1 }, { a: 20 }, 'EU')", None),
            ("sh.updateZoneKeyRange('s.c', { a: 6 }, { a: 7 }, 'US')", None),
            ("sh.updateZoneKeyRange('s.c', { a: 5 }, { a: 9 }, 'US')", Some("'US'")),
        ] {
            let told = wrong(&format!("{text}{later}"));
            assert_eq!(told.iter().map(|(text, _)| text.as_str()).collect::<Vec<_>>(), [at.unwrap_or(later)]);
        }
        for beside in ["{ a: 1 }, { a: 5 }, 'US'", "{ a: 9 }, { a: 10 }, 'US'", "{ a: 5 }, { a: 9 }, 'EU'"] {
            assert_eq!(wrong(&format!("{text}sh.updateZoneKeyRange('s.c', {beside})")), [], "{beside}");
        }
    }

    #[test]
    fn what_is_taken_out_makes_room() {
        let text = "sh.updateZoneKeyRange('s.c', { a: 5 }, { a: 9 }, 'EU')\n";
        let later = "sh.updateZoneKeyRange('s.c', { a: 1 }, { a: 6 }, 'US')";
        for removal in [
            "sh.removeRangeFromZone('s.c', { a: 5 }, { a: 9 })",
            "sh.removeTagRange('s.c', { a: 5, b: MinKey }, { a: 9 }, 'EU')",
            "sh.updateZoneKeyRange('s.c', { a: 5 }, { a: 9 }, null)",
            "db.adminCommand({ updateZoneKeyRange: 's.c', min: { a: 5 }, max: { a: 9 }, zone: null })",
            "sh.reshardCollection('s.c', { a: 1, z: 1 }, false, { zones: [{ min: { a: 6 }, max: { a: 7 }, zone: 'EU' }] })",
            "db.adminCommand({ reshardCollection: 's.c', key: { a: 1 } })",
        ] {
            assert_eq!(wrong(&format!("{text}{removal}\n{later}")), [], "{removal}");
        }
        assert_eq!(wrong(&format!("{text}sh.removeRangeFromZone('s.c', {{ a: 5 }}, {{ a: 8 }})\n{later}")).len(), 1);
    }

    #[test]
    fn a_zone_without_a_shard_is_told_once_where_the_shards_of_zones_are_known() {
        let ranges = "sh.addTagRange('s.c', { a: 1 }, { a: 2 }, 'EU')\nsh.addTagRange('s.c', { a: 3 }, { a: 4 }, 'EU')";
        assert_eq!(wrong(ranges), []);
        assert_eq!(wrong(&format!("sh.addShardTag('rs0', 'EU')\n{ranges}")), []);
        let told = wrong(&format!("sh.addShardTag('rs0', 'US')\n{ranges}"));
        let message = "no shard belongs to zone `EU`, so nothing can lie there";
        assert_eq!(told, [("'EU'".to_owned(), message.to_owned())]);
        assert_eq!(wrong(&format!("sh.addShardTag('rs0', 'EU'); sh.removeShardTag('rs0', 'EU')\n{ranges}")).len(), 1);
    }

    #[test]
    fn a_dump_of_shards_tells_their_zones_if_it_is_no_projection() {
        for (shards, is_told) in [
            (r#"{"_id":"rs0","host":"rs0/h:1","state":1,"tags":["EU"]}"#, false),
            (r#"{"_id":"rs0","host":"rs0/h:1","state":1,"tags":[]}"#, true),
            (r#"{"_id":"rs0","host":"rs0/h:1","state":1}"#, true),
            (r#"{"_id":"rs0","host":"rs0/h:1"}"#, false),
        ] {
            let rest = r#"{"_id":"s.c","key":{"a":1}} {"ns":"s.c","min":{"a":1},"max":{"a":2},"tag":"EU"}"#;
            let (ranges, wrong) = zones(&format!("{shards} {rest}"));
            assert_eq!((ranges.len(), wrong.len()), if is_told { (0, 1) } else { (1, 0) }, "{shards}");
        }
    }

    #[test]
    fn many_ranges_take_no_longer_each() {
        let mut text = "sh.shardCollection('s.c', { a: 1 })\n".to_owned();
        (0..20_000).for_each(|n| text += &format!("sh.addTagRange('s.c', {{ a: {n} }}, {{ a: {} }}, 'EU')\n", n + 1));
        assert_eq!(zones(&text).0.len(), 20_000);
    }
}
