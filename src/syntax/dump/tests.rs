//! Dumps of each kind and form, invented in the formats of servers and shells.

use super::*;
use crate::text::Span;

/// What a dump says, one line for each thing, in the order of the kinds.
fn told(text: &str) -> Vec<String> {
    let dump = dumps(text);
    assert_eq!(dump.errors, [], "{text}");
    let cut = |node: &Node| text[node.span.range()].to_owned();
    let collection = |c: &DumpedCollection| {
        let key = c.key.as_ref().map_or_else(|| "unsharded".to_owned(), cut);
        let unique = c.unique.as_ref().map_or("", |unique| if unique.value { " unique" } else { " not unique" });
        format!("{}: {key}{unique}", c.namespace.value)
    };
    let chunk = |c: &DumpedChunk| {
        let of = match &c.of {
            ChunkOf::Namespace(name) => name.clone(),
            ChunkOf::Uuid(uuid) => format!("{:02x}…", uuid[0]),
            ChunkOf::Unnamed => "?".to_owned(),
        };
        format!("{of}: {}..{} on {}", cut(&c.min), cut(&c.max), c.shard)
    };
    let mut told: Vec<String> = dump.collections.iter().map(collection).collect();
    told.extend(dump.chunks.iter().map(chunk));
    told.extend(dump.shards.iter().map(|shard| {
        let zones = shard.zones.as_ref().filter(|zones| !zones.is_empty());
        format!(
            "shard {}{}",
            shard.name.value,
            zones.map_or_else(String::new, |zones| format!(" in {}", zones.join(", ")))
        )
    }));
    told.extend(dump.zones.iter().map(|range| {
        assert_eq!(text[range.zone.span.range()].trim_matches(['\'', '"']), range.zone.value);
        format!("{}: {}..{} in {}", range.namespace.value, cut(&range.min), cut(&range.max), range.zone.value)
    }));
    told.extend(dump.indexes.iter().map(|list| format!("{} indexes", list.indexes.len())));
    told
}

#[test]
fn every_form_of_a_document_says_the_same() {
    for text in [
        r#"{"_id":"s.c","lastmodEpoch":{"$oid":"6b0d36d1f6ae615295ebb65e"},"key":{"a":{"$numberInt":"1"}},"unique":true,"uuid":{"$binary":{"base64":"DMZSO+igQdym6eqRi0Izew==","subType":"04"}}}"#,
        r#"[{"_id":"s.c","key":{"a":1.0},"unique":true,"uuid":{"$uuid":"0cc6523b-e8a0-41dc-a6e9-ea918b42337b"}}]"#,
        "[\n  {\n    _id: 's.c',\n    lastmod: ISODate('2026-11-30T08:41:53.485Z'),\n    uuid: new UUID(\"0cc6523b-e8a0-41dc-a6e9-ea918b42337b\"),\n    key: { a: Long('1') },\n    unique: true\n  }\n]",
        "mongos> db.collections.find()\n{ \"_id\" : \"s.c\", \"dropped\" : false, \"key\" : { \"a\" : NumberLong(1) }, \"unique\" : true, \"uuid\" : UUID(\"0cc6523b-e8a0-41dc-a6e9-ea918b42337b\") }\n",
        r#"{"cursor":{"firstBatch":[{"_id":"s.c","key":{"a":1},"unique":true,"uuid":{"$uuid":"0cc6523b-e8a0-41dc-a6e9-ea918b42337b"}}],"id":0,"ns":"config.collections"},"ok":1}"#,
    ] {
        let dump = dumps(text);
        let collection = &dump.collections[0];
        assert_eq!((dump.collections.len(), collection.namespace.value.as_str()), (1, "s.c"), "{text}");
        assert_eq!(collection.uuid.as_ref().map(|uuid| uuid[..2].to_vec()), Some(vec![0x0c, 0xc6]), "{text}");
        assert!(collection.key.is_some() && collection.unique.as_ref().is_some_and(|unique| unique.value), "{text}");
        assert!(dump.complete && dump.errors.is_empty() && dump.passed_over.is_empty(), "{text}");
    }
}

#[test]
fn several_kinds_stand_in_one_text_in_any_order() {
    let text = r#"
        { "_id" : "d", "primary" : "s1", "partitioned" : true }
        { "_id" : "d.c-x_MinKey", "ns" : "d.c", "min" : { "x" : { "$minKey" : 1 } }, "max" : { "x" : NumberLong("-7") }, "shard" : "s1" }
        { "_id" : ObjectId("6b0d36d12dd7ce2a44bc24dd"), "uuid" : UUID("0cc6523b-e8a0-41dc-a6e9-ea918b42337b"), "min" : { "a.b" : MinKey }, "max" : { "a.b" : MaxKey }, "shard" : "s2" }
        { "_id" : "s1", "host" : "s1/h:1", "state" : 1 }
        { "_id" : "d.old", "dropped" : true, "lastmodEpoch" : ObjectId("000000000000000000000000") }
        { "_id" : "d.c", "dropped" : false, "key" : { "x" : "hashed" }, "unique" : false }
        { "_id" : "d.t", "key" : { "_id" : 1 }, "unique" : false, "unsplittable" : true }
        { "_id" : { "ns" : "d.c", "min" : { "x" : 1 } }, "ns" : "d.c", "min" : { "x" : 1 }, "max" : { "x" : 2 }, "tag" : "EU" }
        { "_id" : "balancer", "stopped" : false }
        [ { "v" : 2, "key" : { "_id" : 1 }, "name" : "_id_" } ]
    "#;
    assert_eq!(
        told(text),
        [
            "d.old: unsharded",
            "d.c: { \"x\" : \"hashed\" } not unique",
            "d.t: unsharded",
            "d.c: { \"x\" : { \"$minKey\" : 1 } }..{ \"x\" : NumberLong(\"-7\") } on s1",
            "0c…: { \"a.b\" : MinKey }..{ \"a.b\" : MaxKey } on s2",
            "shard s1",
            "d.c: { \"x\" : 1 }..{ \"x\" : 2 } in EU",
            "1 indexes",
        ]
    );
    assert_eq!(dumps(text).passed_over, []);
}

#[test]
fn only_a_whole_listing_is_complete() {
    let listed = "[ { _id: 's.c', key: { a: 1 } } ]";
    for (text, complete) in [
        (listed.to_owned(), true),
        (format!("[direct: mongos] config> db.collections.find()\n{listed}"), true),
        (format!("test> db.getSiblingDB('config').collections.find({{}}, {{ key: 1 }}).toArray()\n{listed}"), true),
        (format!("config> db.collections.find({{ _id: /^s/ }})\n{listed}"), false),
        (format!("use config\ndb.collections.find()\n{listed}"), true),
        (format!("use config\ndb.collections.find({{ _id: 's.c' }})\n{listed}"), false),
        (format!("config> db.collections.find().limit(1)\n{listed}"), false),
        ("{\n  _id: 's.c',\n  key: { a: 1 }\n}".to_owned(), false),
        ("{ \"_id\" : \"s.c\", \"key\" : { \"a\" : 1 } }\nType \"it\" for more\n".to_owned(), false),
        (format!("{listed}\n{{ _id: 's.d', key: {{ a: }} }}"), false),
        ("databases\n[ { database: { _id: 's' }, collections: { 's.c': { shardKey: { a: 1 } } } } ]".to_owned(), false),
    ] {
        let dump = dumps(&text);
        assert_eq!((dump.complete, dump.collections.len()), (complete, 1), "{text}");
    }
}

#[test]
fn what_is_malformed_or_unknown_is_told_in_place() {
    let text = "[ { _id: 's.c', key: { a: 1 } } ]\n{ _id: 's.d' key: 1 }\n";
    let dump = dumps(text);
    assert_eq!((dump.errors[0].span, dump.collections.len()), (Span::new(47, 50), 1));
    let text = "{ \"_id\": \"s1\", \"host\": \"h:1\" }\n{ \"x\": 1 }\n";
    assert_eq!(dumps(text).passed_over, [Span::new(31, 41)]);
}

const STATUS: &str = r#"MongoDB shell version v4.2.0
--- Sharding Status --- 
  sharding version: {
  	"_id" : 1,
  	"clusterId" : ObjectId("5d8f8930a76645a15dd91245")
  }
  shards:
        {  "_id" : "rs1",  "host" : "rs1/a:1",  "state" : 1,  "tags" : [ "EU", "west coast" ] }
        {  "_id" : "rs2",  "host" : "rs2/b:1",  "state" : 1 }
  active mongoses:
        "4.2.0" : 1
  balancer:
        Currently running:  no
        Migration Results for the last 24 hours: 
                1 : Success
  databases:
        {  "_id" : "config",  "primary" : "config",  "partitioned" : true }
        {  "_id" : "shop",  "primary" : "rs1",  "partitioned" : true,  "version" : {  "lastMod" : 1 } }
                shop.carts
                        shard key: { "owner" : 1, "n" : 1.0 }
                        unique: true
                        balancing: true
                        chunks:
                                rs1	1
                                rs2	1
                        { "owner" : { "$minKey" : 1 }, "n" : { "$minKey" : 1 } } -->> { "owner" : "m",
 "n" : 5 } on : rs1 Timestamp(2, 0) 
                        { "owner" : "m", "n" : 5 } -->> { "owner" : { "$maxKey" : 1 }, "n" : { "$maxKey" : 1 } } on : rs2 Timestamp(2, 1) jumbo 
                         tag: EU  { "owner" : "a" } -->> { "owner" : "m" }
                         tag: west coast  { "owner" : "m" } -->> { "owner" :
 { "$maxKey" : 1 } }
                shop.big
                        shard key: { "_id" : "hashed" }
                        unique: false
                        balancing: false
                        chunks:
                                rs1	32
                        too many chunks to print, use verbose if you want to force print
                shop.elided
                        shard key: { "x" : 1 }
                        chunks:
                                rs1	3
                        { "x" : { "$minKey" : 1 } } -->> { "x" : 0 } on : rs1 Timestamp(1, 0) 
                        ...
        {  "_id" : "test",  "primary" : "rs2",  "partitioned" : false }
"#;

#[test]
fn the_report_of_the_legacy_shell_is_read_by_its_words() {
    let expected = [
        "shop.carts: { \"owner\" : 1, \"n\" : 1.0 } unique",
        "shop.big: { \"_id\" : \"hashed\" } not unique",
        "shop.elided: { \"x\" : 1 }",
        "shop.carts: { \"owner\" : { \"$minKey\" : 1 }, \"n\" : { \"$minKey\" : 1 } }..{ \"owner\" : \"m\",\n \"n\" : 5 } on rs1",
        "shop.carts: { \"owner\" : \"m\", \"n\" : 5 }..{ \"owner\" : { \"$maxKey\" : 1 }, \"n\" : { \"$maxKey\" : 1 } } on rs2",
        "shard rs1 in EU, west coast",
        "shard rs2",
        "shop.carts: { \"owner\" : \"a\" }..{ \"owner\" : \"m\" } in EU",
        "shop.carts: { \"owner\" : \"m\" }..{ \"owner\" :\n { \"$maxKey\" : 1 } } in west coast",
    ];
    assert_eq!(told(STATUS), expected);
    let flat: String = STATUS.lines().map(|line| format!("{}\r\n", line.trim_start())).collect();
    assert_eq!(told(&flat).len(), expected.len());
    assert!(!dumps(STATUS).complete);
}

#[test]
fn the_report_of_mongosh_is_read_by_its_blocks() {
    let text = "[direct: mongos] test> sh.status()
shardingVersion
{ _id: 1, clusterId: ObjectId('67133cee033a81de4b213e77') }
---
shards
[
  { _id: 'shard1', host: 'shard1/a:1', state: 1, tags: [ 'EU' ], replSetConfigVersion: Long('-1') },
  { _id: 'shard2', host: 'shard2/b:1', state: 1 }
]
---
active mongoses
[ { '8.0.1': 1 } ]
---
balancer
{ 'Currently enabled': 'yes', 'Currently running': 'no' }
---
shardedDataDistribution
[ { ns: 'shop.orders', shards: [ { shardName: 'shard1', numOwnedDocuments: 5 } ] } ]
---
databases
[
  { database: { _id: 'config', primary: 'config', partitioned: true }, collections: {} },
  {
    database: { _id: 'shop', primary: 'shard1' },
    collections: {
      'shop.orders': {
        shardKey: { 'customer.id': 1 },
        unique: false,
        balancing: true,
        chunkMetadata: [ { shard: 'shard1', nChunks: 1 }, { shard: 'shard2', nChunks: 1 } ],
        chunks: [
          { min: { 'customer.id': MinKey() }, max: { 'customer.id': 0 }, 'on shard': 'shard1', 'last modified': Timestamp({ t: 1, i: 0 }) },
          { min: { 'customer.id': 0 }, max: { 'customer.id': MaxKey() }, 'on shard': 'shard2', 'last modified': Timestamp({ t: 1, i: 1 }), jumbo: 'yes' }
        ],
        tags: [ { tag: 'EU', min: { 'customer.id': MinKey() }, max: { 'customer.id': 0 } } ]
      },
      'shop.big': {
        shardKey: { a: 'hashed' },
        unique: true,
        chunkMetadata: { shard1: 1024 },
        chunks: [ 'too many chunks to print, use verbose if you want to force print' ],
        tags: []
      }
    }
  }
]
";
    let expected = [
        "shop.orders: { 'customer.id': 1 } not unique",
        "shop.big: { a: 'hashed' } unique",
        "shop.orders: { 'customer.id': MinKey() }..{ 'customer.id': 0 } on shard1",
        "shop.orders: { 'customer.id': 0 }..{ 'customer.id': MaxKey() } on shard2",
        "shard shard1 in EU",
        "shard shard2",
        "shop.orders: { 'customer.id': MinKey() }..{ 'customer.id': 0 } in EU",
    ];
    assert_eq!(told(text), expected);
    assert_eq!(dumps(text).passed_over, []);
}

#[test]
fn counts_of_chunks_that_nothing_can_hold_make_no_chunk_map() {
    let text = "shardingVersion\n{ _id: 1 }\n---\ndatabases\n[ { database: { _id: 's', primary: 'x' }, collections: { 's.c': { shardKey: { a: 1 }, unique: false, chunkMetadata: [ { shard: 'x', nChunks: Long('9223372036854775807') }, { shard: 'y', nChunks: 1 } ], chunks: [ { min: { a: MinKey() }, max: { a: MaxKey() }, 'on shard': 'x' } ] } } } ]\n";
    assert_eq!(told(text), ["s.c: { a: 1 } not unique"]);
}

#[test]
fn the_distribution_of_a_collection_says_nothing_that_routing_needs_and_is_no_error() {
    for text in [
        "Shard rs1 at rs1/localhost:27011\n data : 1.16MiB docs : 4999 chunks : 2\n estimated docs per chunk : 2499\n\nTotals\n data : 1.16MiB docs : 5001 chunks : 3\n Shard rs1 contains 100% data\n",
        "Shard shard1 at shard1/a:27018\n{\n  data: '22KiB',\n  docs: 492,\n  chunks: 1\n}\n---\nTotals\n{ data: '45KiB', docs: 1000, chunks: 2, 'Shard shard1': [ '49.17 % data' ] }\n",
    ] {
        assert!(begins_dump(text), "{text}");
        assert_eq!((told(text).len(), dumps(text).passed_over.len()), (0, 0), "{text}");
    }
}

#[test]
fn both_shells_count_the_chunks_of_each_shard() {
    let told = "databases:\n{ \"_id\" : \"s\" }\n s.c\n shard key: { \"a\" : 1 }\n chunks:\n rs0\t90\n rs1\t10\n too many chunks to print, use verbose if you want to force print\n";
    let legacy = format!("--- Sharding Status --- \n{told}");
    let mongosh = "databases\n[ { database: { _id: 's' }, collections: { 's.c': { shardKey: { a: 1 }, chunkMetadata: [ { shard: 'rs0', nChunks: 90 }, { shard: 'rs1', nChunks: 10 } ], chunks: [ 'too many chunks to print' ], tags: [] } } } ]";
    for text in [legacy.as_str(), mongosh] {
        let dump = dumps(text);
        let found: Vec<_> =
            dump.distributions[0].value.parts.iter().map(|part| (part.shard.as_str(), part.chunks)).collect();
        assert_eq!(found, [("rs0", Some(90)), ("rs1", Some(10))], "{text}");
        assert_eq!(dump.distributions[0].namespace.as_deref(), Some("s.c"));
    }
}

#[test]
fn all_indexes_of_an_export_belong_to_their_collections() {
    let text = r#"{"generatedAt":"2026-10-03T04:37:08.904Z","collections":{"shop.orders":[{"v":2,"key":{"_id":1},"name":"_id_"},{"v":2,"key":{"customerId":1},"name":"customerId_1"}]},"shardKeys":{"shop.orders":{"customerId":1}}}"#;
    assert_eq!(told(text), ["shop.orders: {\"customerId\":1}", "2 indexes"]);
    assert_eq!(dumps(text).indexes[0].namespace.as_ref().map(|name| name.value.as_str()), Some("shop.orders"));
}

#[test]
fn every_truncation_is_read_without_a_panic() {
    for end in 0..STATUS.len() {
        for error in dumps(&STATUS[..end]).errors {
            assert!(STATUS[..end].get(error.span.range()).is_some(), "{end}: {error:?}");
        }
    }
}

#[test]
fn a_report_of_very_many_blank_lines_is_read_in_time() {
    let text = format!("--- Sharding Status ---\n  databases:\n{}x\n", "\n".repeat(1_000_000));
    assert_eq!(dumps(&text).errors, []);
}
