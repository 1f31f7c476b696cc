//! SL603: one shard carries most of the time: of one collection, by a hot value or by where its chunks lie; or of the cluster,
//! by collections that are not sharded. Which shards a call reaches is known where chunks are declared, and where primaries are.

use std::collections::{BTreeMap, BTreeSet};

use super::declared_index::{among, finding, label_in};
use super::finding::{Finding, Label, Severity};
use super::key_values::shown;
use super::literal::literal;
use super::rule::{Check, Evidence, Rule, Status};
use super::thresholds::Thresholds;
use super::totals::{ClusterContext, Cost, NamespaceContext, NamespaceFinding, calls, percent};
use crate::model::{Document, Field, Namespace, Node, Statement, Value, Verb};
use crate::routing::{Cluster, route};
use crate::text::{Located, SourceId, Span};

/// The rule.
pub static RULE: Rule = Rule {
    code: "SL603",
    name: "hot-shard",
    summary: "one shard carries most of the time of a collection",
    severity: Severity::Warning,
    needs: &[Evidence::Log, Evidence::Key, Evidence::Chunks],
    since: "0.1.0",
    status: Status::Stable,
    fan_out_rank: None,
    explanation: EXPLANATION,
    page: include_str!("../../docs/rules/SL603.md"),
    check: Check::Cluster(check),
};

/// From this share of a shard's time on, in percent, its collections that are not sharded are what makes it hot.
const MOST_OF_IT: u64 = 50;

fn check(ctx: &ClusterContext<'_>, findings: &mut Vec<NamespaceFinding>) {
    findings.extend(ctx.collections.iter().filter_map(of_collection));
    findings.extend(of_primary(ctx));
}

/// One shard carries most of the time of one collection.
fn of_collection(ctx: &NamespaceContext<'_>) -> Option<NamespaceFinding> {
    let (totals, home) = (ctx.totals, ctx.collection.source);
    let key = ctx.collection.shard_key()?;
    let chunks = ctx.collection.chunks.as_ref()?;
    let owning: BTreeSet<&str> = chunks.chunks.iter().map(|chunk| chunk.shard.as_str()).collect();
    let asked = totals.shards.iter().map(|(shard, _)| *shard);
    // A load that a zone keeps on its shards is meant to be there; that one of these carries it alone is not.
    let groups = ctx.catalog.alike(ctx.collection, owning.iter().copied().chain(asked));
    let (zones, owners, (shard, most, all)) = groups.iter().find_map(|(zones, group)| {
        let owners = owning.intersection(group).count() as u64;
        let loads = totals.shards.iter().copied().filter(|(shard, _)| group.contains(shard)).collect();
        Some((zones, owners, hottest(&loads, owners, ctx.thresholds)?))
    })?;
    let message = format!(
        "`{shard}` carries {} % of the time of `{}`{}: {} of {} that reach its {owners} shards",
        percent(most.millis, all.millis),
        totals.namespace,
        among(ctx.collection, zones),
        calls(most.calls),
        all.calls,
    );
    let text = format!("its chunks lie on {owners} shards, so a fair share is {} %", 100 / owners);
    let mut labels = vec![label_in(home, home, key.span, text)];
    let hot = hot_value(ctx, shard);
    labels.extend(hot.as_ref().map(|hot| label_in(home, home, key.span, hot.clone())));
    let mut found = finding(ctx.collection, "shard", home, message, labels);
    found.subject = Some((totals.namespace.to_owned(), "shard".to_owned()));
    let field = &key.first().path;
    found.help = Some(if hot.is_some() {
        format!(
            "treat this value of `{field}` apart (cache, own collection), or refine the key so that it can be split"
        )
    } else {
        format!("move ranges from `{shard}` to other shards: no single value of `{field}` makes it hot")
    });
    Some(NamespaceFinding { finding: found, cost: most })
}

/// The value that more calls ask for than any other, if it has a large share of them and lies on `shard`.
fn hot_value(ctx: &NamespaceContext<'_>, shard: &str) -> Option<String> {
    let key = ctx.collection.shard_key()?;
    let values = ctx.totals.values?.field(0)?;
    let by_value = values.by_value();
    let (value, count) = by_value.first()?;
    let share = percent(*count, values.sampled());
    if share < ctx.thresholds.hot_value_percent || shards_of(ctx, value)? != [shard] {
        return None;
    }
    let shown = literal(&shown(value), value.type_name());
    Some(format!("{share} % of the values asked for `{}` are `{shown}`, which lies on `{shard}`", key.first().path))
}

/// The shards on which documents with a value of the key's first field may lie.
fn shards_of(ctx: &NamespaceContext<'_>, value: &Value) -> Option<Vec<String>> {
    let key = ctx.collection.shard_key()?;
    let node = |value: Value| Node { value, span: Span::default() };
    let field = Field { name: key.first().path.clone(), name_span: Span::default(), node: node(value.clone()) };
    let filter = Document { fields: vec![field], partial: false };
    let namespace = Namespace::parse(ctx.totals.namespace);
    let mut statement = Statement::new(Verb::Find, namespace, Span::default(), Span::default());
    statement.filter = Some(node(Value::Document(filter)));
    let all_shards = ctx.catalog.shards.as_deref();
    let cluster = Cluster { collection: ctx.collection, all_shards, version: ctx.version, explain: false };
    route(&statement, cluster).shards
}

/// The load of each shard, and which collections that are not sharded it holds.
#[derive(Default)]
struct Loads<'a> {
    all: BTreeMap<&'a str, Cost>,
    unsharded: BTreeMap<&'a str, Vec<(&'a str, Cost)>>,
}

impl<'a> Loads<'a> {
    fn of(ctx: &ClusterContext<'a>) -> Self {
        let mut loads = Self::default();
        for (shard, cost) in ctx.collections.iter().flat_map(|collection| &collection.totals.shards) {
            loads.all.entry(shard).or_default().add(*cost);
        }
        for &(namespace, cost) in ctx.unsharded {
            let Some((_, home)) = home(ctx, namespace) else { continue };
            loads.all.entry(home.value.as_str()).or_default().add(cost);
            loads.unsharded.entry(home.value.as_str()).or_default().push((namespace, cost));
        }
        loads
    }
}

/// One shard carries most of the time of the cluster, and that of collections which are not sharded.
fn of_primary(ctx: &ClusterContext<'_>) -> Option<NamespaceFinding> {
    let Loads { all: loads, unsharded: mut on_primary } = Loads::of(ctx);
    let shards = ctx.catalog.shards.as_ref().map(Vec::len).or(ctx.catalog.shard_count).unwrap_or(loads.len());
    let (shard, load, all) = hottest(&loads, shards as u64, ctx.thresholds)?;
    let mut unsharded = on_primary.remove(shard)?;
    unsharded.sort_by_key(|(name, cost)| (std::cmp::Reverse(cost.millis), *name));
    let mut sum = Cost::default();
    unsharded.iter().for_each(|(_, cost)| sum.add(*cost));
    let (longest, cost) = *unsharded.first()?;
    if percent(sum.millis, load.millis) < MOST_OF_IT {
        return None;
    }
    let (source, place) = home(ctx, longest)?;
    let of_all = |cost: Cost| percent(cost.millis, all.millis);
    let message = format!(
        "`{shard}` carries {} % of the time of the cluster, {} % with {}",
        of_all(load),
        of_all(sum),
        match unsharded.len() {
            1 => format!("`{longest}`, which is not sharded"),
            n => format!("{n} collections that are not sharded, of which `{longest}` takes {} %", of_all(cost)),
        },
    );
    let text = format!("`{longest}` lies here");
    Some(NamespaceFinding {
        finding: Finding {
            severity: None,
            message,
            help: Some(format!("shard `{longest}`, or move it: `moveCollection` (8.0), `movePrimary` before")),
            labels: vec![Label::new(place.span, text)],
            subject: Some((longest.to_owned(), "primary shard".to_owned())),
            source: Some(*source),
        },
        cost: sum,
    })
}

/// The shard of a collection that is not sharded: it was moved there, or it is the primary shard of the database.
fn home<'a>(ctx: &ClusterContext<'a>, namespace: &str) -> Option<&'a (SourceId, Located<String>)> {
    let homes = &ctx.catalog.homes;
    homes.get(namespace).or_else(|| homes.get(namespace.split('.').next()?))
}

/// The shard with most of the time, if it has far more than its share: its load, and that of all.
fn hottest<'a>(loads: &BTreeMap<&'a str, Cost>, shards: u64, thresholds: &Thresholds) -> Option<(&'a str, Cost, Cost)> {
    let mut all = Cost::default();
    loads.values().for_each(|cost| all.add(*cost));
    let (shard, most) = loads.iter().max_by_key(|(name, cost)| (cost.millis, std::cmp::Reverse(**name)))?;
    let least = thresholds.hot_shard_percent.max(2 * 100 / shards.max(1));
    let is_hot = all.millis > 0 && percent(most.millis, all.millis) >= least;
    (shards > 1 && all.calls >= thresholds.fewest_calls && is_hot).then_some((*shard, *most, all))
}

const EXPLANATION: &str = r#"
# Why is one shard of my cluster much busier than the others?

## What it says

With a chunk map (a dump of `config.chunks`) the shards of each call are known. One of them carries at least
`hot_shard_percent` percent of the time (default 60), and at least twice its fair share. A call counts for every shard
that it reaches. If one value of the key has at least `hot_value_percent` percent of the values asked for (default 20)
and lies on that shard, it is named. Where zones have ranges of the collection, shards are held against those of the
same zones only, and against none if nothing declares which shards belong to a zone.

With `config.databases` or `sh.status()` the primary shard of each database is known too, on which the collections lie
that are not sharded. If they are at least half of the time of a hot shard, they are told instead, the longest by name.

## Why it costs you

The cluster is as fast as its busiest shard, and the others are paid for without use.

## Fires on

```toml
[thresholds]
fewest-calls = 5
```

```js
[ { _id: "shop.orders", key: { customerId: 1 } } ]
[ { ns: "shop.orders", min: { customerId: MinKey }, max: { customerId: 100 }, shard: "rs0" },
  { ns: "shop.orders", min: { customerId: 100 }, max: { customerId: 200 }, shard: "rs1" },
  { ns: "shop.orders", min: { customerId: 200 }, max: { customerId: MaxKey }, shard: "rs2" } ]
```

```json
{"t":{"$date":"2024-05-14T09:12:03.000+00:00"},"s":"I","c":"COMMAND","id":51803,"ctx":"conn42","msg":"Slow query","attr":{"type":"command","ns":"shop.orders","command":{"find":"orders","filter":{"customerId":100},"$db":"shop"},"nShards":1,"nreturned":1,"durationMillis":20}}
{"t":{"$date":"2024-05-14T09:12:03.040+00:00"},"s":"I","c":"COMMAND","id":51803,"ctx":"conn42","msg":"Slow query","attr":{"type":"command","ns":"shop.orders","command":{"find":"orders","filter":{"customerId":102},"$db":"shop"},"nShards":1,"nreturned":1,"durationMillis":20}}
{"t":{"$date":"2024-05-14T09:12:03.080+00:00"},"s":"I","c":"COMMAND","id":51803,"ctx":"conn42","msg":"Slow query","attr":{"type":"command","ns":"shop.orders","command":{"find":"orders","filter":{"customerId":104},"$db":"shop"},"nShards":1,"nreturned":1,"durationMillis":20}}
{"t":{"$date":"2024-05-14T09:12:03.120+00:00"},"s":"I","c":"COMMAND","id":51803,"ctx":"conn42","msg":"Slow query","attr":{"type":"command","ns":"shop.orders","command":{"find":"orders","filter":{"customerId":106},"$db":"shop"},"nShards":1,"nreturned":1,"durationMillis":20}}
{"t":{"$date":"2024-05-14T09:12:03.160+00:00"},"s":"I","c":"COMMAND","id":51803,"ctx":"conn42","msg":"Slow query","attr":{"type":"command","ns":"shop.orders","command":{"find":"orders","filter":{"customerId":108},"$db":"shop"},"nShards":1,"nreturned":1,"durationMillis":20}}
{"t":{"$date":"2024-05-14T09:12:03.200+00:00"},"s":"I","c":"COMMAND","id":51803,"ctx":"conn42","msg":"Slow query","attr":{"type":"command","ns":"shop.orders","command":{"find":"orders","filter":{"customerId":110},"$db":"shop"},"nShards":1,"nreturned":1,"durationMillis":20}}
{"t":{"$date":"2024-05-14T09:12:03.240+00:00"},"s":"I","c":"COMMAND","id":51803,"ctx":"conn42","msg":"Slow query","attr":{"type":"command","ns":"shop.orders","command":{"find":"orders","filter":{"customerId":112},"$db":"shop"},"nShards":1,"nreturned":1,"durationMillis":20}}
{"t":{"$date":"2024-05-14T09:12:03.280+00:00"},"s":"I","c":"COMMAND","id":51803,"ctx":"conn42","msg":"Slow query","attr":{"type":"command","ns":"shop.orders","command":{"find":"orders","filter":{"customerId":114},"$db":"shop"},"nShards":1,"nreturned":1,"durationMillis":20}}
{"t":{"$date":"2024-05-14T09:12:03.320+00:00"},"s":"I","c":"COMMAND","id":51803,"ctx":"conn42","msg":"Slow query","attr":{"type":"command","ns":"shop.orders","command":{"find":"orders","filter":{"customerId":200},"$db":"shop"},"nShards":1,"nreturned":1,"durationMillis":20}}
{"t":{"$date":"2024-05-14T09:12:03.360+00:00"},"s":"I","c":"COMMAND","id":51803,"ctx":"conn42","msg":"Slow query","attr":{"type":"command","ns":"shop.orders","command":{"find":"orders","filter":{"customerId":202},"$db":"shop"},"nShards":1,"nreturned":1,"durationMillis":20}}
```

## Silent on

```toml
[thresholds]
fewest-calls = 5
```

```js
[ { _id: "shop.orders", key: { customerId: 1 } } ]
[ { ns: "shop.orders", min: { customerId: MinKey }, max: { customerId: 100 }, shard: "rs0" },
  { ns: "shop.orders", min: { customerId: 100 }, max: { customerId: 200 }, shard: "rs1" },
  { ns: "shop.orders", min: { customerId: 200 }, max: { customerId: MaxKey }, shard: "rs2" } ]
```

```json
{"t":{"$date":"2024-05-14T09:12:03.000+00:00"},"s":"I","c":"COMMAND","id":51803,"ctx":"conn42","msg":"Slow query","attr":{"type":"command","ns":"shop.orders","command":{"find":"orders","filter":{"customerId":100},"$db":"shop"},"nShards":1,"nreturned":1,"durationMillis":20}}
{"t":{"$date":"2024-05-14T09:12:03.040+00:00"},"s":"I","c":"COMMAND","id":51803,"ctx":"conn42","msg":"Slow query","attr":{"type":"command","ns":"shop.orders","command":{"find":"orders","filter":{"customerId":102},"$db":"shop"},"nShards":1,"nreturned":1,"durationMillis":20}}
{"t":{"$date":"2024-05-14T09:12:03.080+00:00"},"s":"I","c":"COMMAND","id":51803,"ctx":"conn42","msg":"Slow query","attr":{"type":"command","ns":"shop.orders","command":{"find":"orders","filter":{"customerId":104},"$db":"shop"},"nShards":1,"nreturned":1,"durationMillis":20}}
{"t":{"$date":"2024-05-14T09:12:03.120+00:00"},"s":"I","c":"COMMAND","id":51803,"ctx":"conn42","msg":"Slow query","attr":{"type":"command","ns":"shop.orders","command":{"find":"orders","filter":{"customerId":106},"$db":"shop"},"nShards":1,"nreturned":1,"durationMillis":20}}
{"t":{"$date":"2024-05-14T09:12:03.160+00:00"},"s":"I","c":"COMMAND","id":51803,"ctx":"conn42","msg":"Slow query","attr":{"type":"command","ns":"shop.orders","command":{"find":"orders","filter":{"customerId":108},"$db":"shop"},"nShards":1,"nreturned":1,"durationMillis":20}}
{"t":{"$date":"2024-05-14T09:12:03.200+00:00"},"s":"I","c":"COMMAND","id":51803,"ctx":"conn42","msg":"Slow query","attr":{"type":"command","ns":"shop.orders","command":{"find":"orders","filter":{"customerId":200},"$db":"shop"},"nShards":1,"nreturned":1,"durationMillis":20}}
{"t":{"$date":"2024-05-14T09:12:03.240+00:00"},"s":"I","c":"COMMAND","id":51803,"ctx":"conn42","msg":"Slow query","attr":{"type":"command","ns":"shop.orders","command":{"find":"orders","filter":{"customerId":202},"$db":"shop"},"nShards":1,"nreturned":1,"durationMillis":20}}
{"t":{"$date":"2024-05-14T09:12:03.280+00:00"},"s":"I","c":"COMMAND","id":51803,"ctx":"conn42","msg":"Slow query","attr":{"type":"command","ns":"shop.orders","command":{"find":"orders","filter":{"customerId":204},"$db":"shop"},"nShards":1,"nreturned":1,"durationMillis":20}}
{"t":{"$date":"2024-05-14T09:12:03.320+00:00"},"s":"I","c":"COMMAND","id":51803,"ctx":"conn42","msg":"Slow query","attr":{"type":"command","ns":"shop.orders","command":{"find":"orders","filter":{"customerId":206},"$db":"shop"},"nShards":1,"nreturned":1,"durationMillis":20}}
{"t":{"$date":"2024-05-14T09:12:03.360+00:00"},"s":"I","c":"COMMAND","id":51803,"ctx":"conn42","msg":"Slow query","attr":{"type":"command","ns":"shop.orders","command":{"find":"orders","filter":{"customerId":208},"$db":"shop"},"nShards":1,"nreturned":1,"durationMillis":20}}
```

## How to fix

If one key value is hot, no balancer helps: cache it, or refine the key so that the value can be split
(`refineCollectionShardKey`, 4.4). If the value is not hot but the chunks of busy values lie together, move ranges
(`moveRange`, 6.0; `moveChunk` before). If the shard is the primary of databases with unsharded collections, move those
(`movePrimary`, or `moveCollection` since 8.0).

## When to ignore

A load that comes in turns, now on this shard and now on that: see a longer time.

## Versions

All. Sources: <https://www.mongodb.com/docs/manual/core/sharding-balancer-administration/>.
"#;
