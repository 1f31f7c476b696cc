//! What the live test does to the server, and the class that each operation must be given. Each case has a collection of
//! its own, named after it, so that the shapes of a report lead back to the case.

use mongodb::bson::{Bson, Document, doc};
use mongodb::options::{Collation, IndexOptions};
use mongodb::sync::{Collection, Database};
use mongodb::{IndexModel, error::Result};

/// All collections of this database have this key.
pub const RANGED: (&str, &str) = ("ranged", "{ customerId: 1, orderId: 1 }");
/// And those of this one that.
pub const HASHED: (&str, &str) = ("hashed", "{ deviceId: \"hashed\" }");

type Run = fn(&Collection<Document>) -> Result<()>;

/// One operation and its class.
pub struct Case {
    /// `ranged` or `hashed`.
    pub database: &'static str,
    /// The collection.
    pub name: &'static str,
    /// `operation` of the shape in the report.
    pub operation: &'static str,
    /// What the report must say.
    pub class: &'static str,
    run: Run,
}

const fn ranged(name: &'static str, operation: &'static str, class: &'static str, run: Run) -> Case {
    Case { database: RANGED.0, name, operation, class, run }
}

const fn hashed(name: &'static str, operation: &'static str, class: &'static str, run: Run) -> Case {
    Case { database: HASHED.0, name, operation, class, run }
}

/// Reads all batches of a find.
fn find(collection: &Collection<Document>, filter: Document) -> Result<()> {
    collection.find(filter).batch_size(2).comment("app/orders.rs:41").run()?.collect::<Result<Vec<_>>>().map(drop)
}

fn aggregate(collection: &Collection<Document>, pipeline: Vec<Document>) -> Result<()> {
    collection.aggregate(pipeline).run()?.collect::<Result<Vec<_>>>().map(drop)
}

fn paid() -> Document {
    doc! { "$set": { "status": "paid" } }
}

fn full_key() -> Document {
    doc! { "customerId": "c3", "orderId": 3 }
}

/// All cases.
pub const CASES: &[Case] = &[
    ranged("find_by_the_full_key", "find", "targeted", |c| find(c, full_key())),
    ranged("find_by_a_prefix", "find", "multi-shard", |c| find(c, doc! { "customerId": "c3" })),
    ranged("find_by_a_range", "find", "multi-shard", |c| find(c, doc! { "customerId": { "$gte": "c3", "$lt": "c6" } })),
    ranged("find_by_some_values", "find", "multi-shard", |c| find(c, doc! { "customerId": { "$in": ["c1", "c2"] } })),
    ranged("find_by_no_key", "find", "broadcast", |c| find(c, doc! { "status": "new" })),
    ranged("find_by_the_second_field", "find", "broadcast", |c| find(c, doc! { "orderId": 3 })),
    ranged("find_by_id", "find", "broadcast", |c| find(c, doc! { "_id": 3 })),
    ranged("find_everything", "find", "broadcast", |c| find(c, doc! {})),
    ranged("find_all_but_one", "find", "broadcast", |c| find(c, doc! { "customerId": { "$ne": "c3" } })),
    ranged("find_by_or_with_an_unkeyed_branch", "find", "broadcast", |c| {
        find(c, doc! { "$or": [full_key(), { "status": "new" }] })
    }),
    ranged("find_by_or_with_keyed_branches", "find", "multi-shard", |c| {
        find(c, doc! { "$or": [full_key(), { "customerId": "c5", "status": "new" }] })
    }),
    ranged("find_ignoring_case", "find", "broadcast", |c| {
        let collation =
            Collation::builder().locale("en").strength(mongodb::options::CollationStrength::Secondary).build();
        c.find(doc! { "customerId": "c3" }).collation(collation).run()?.collect::<Result<Vec<_>>>().map(drop)
    }),
    ranged("aggregate_with_the_match_first", "aggregate", "targeted", |c| {
        aggregate(c, vec![doc! { "$match": full_key() }, doc! { "$group": { "_id": "$status" } }])
    }),
    ranged("aggregate_with_the_match_behind_a_sort", "aggregate", "targeted", |c| {
        aggregate(c, vec![doc! { "$sort": { "status": 1 } }, doc! { "$match": full_key() }])
    }),
    ranged("aggregate_with_the_match_behind_a_limit", "aggregate", "broadcast", |c| {
        aggregate(c, vec![doc! { "$limit": 5 }, doc! { "$match": full_key() }])
    }),
    ranged("count_of_everything", "count", "broadcast", |c| c.estimated_document_count().run().map(drop)),
    ranged("distinct_by_a_prefix", "distinct", "multi-shard", |c| {
        c.distinct("status", doc! { "customerId": "c3" }).run().map(drop)
    }),
    ranged("update_one_by_the_full_key", "update", "targeted", |c| c.update_one(full_key(), paid()).run().map(drop)),
    ranged("update_one_by_id", "update", "broadcast", |c| c.update_one(doc! { "_id": 3 }, paid()).run().map(drop)),
    ranged("update_many_by_no_key", "update", "broadcast", |c| {
        c.update_many(doc! { "status": "new" }, paid()).run().map(drop)
    }),
    ranged("replace_one_by_the_full_key", "update", "targeted", |c| {
        c.replace_one(full_key(), doc! { "customerId": "c3", "orderId": 3, "status": "replaced" }).run().map(drop)
    }),
    ranged("delete_one_by_the_full_key", "delete", "targeted", |c| c.delete_one(full_key()).run().map(drop)),
    ranged("delete_many_by_no_key", "delete", "broadcast", |c| c.delete_many(doc! { "status": "new" }).run().map(drop)),
    ranged("find_and_modify_by_the_full_key", "findAndModify", "targeted", |c| {
        c.find_one_and_update(full_key(), paid()).run().map(drop)
    }),
    ranged("find_and_modify_by_id", "findAndModify", "broadcast", |c| {
        c.find_one_and_delete(doc! { "_id": 3 }).run().map(drop)
    }),
    hashed("find_by_a_value", "find", "targeted", |c| find(c, doc! { "deviceId": 7 })),
    hashed("find_by_some_values", "find", "multi-shard", |c| find(c, doc! { "deviceId": { "$in": [7, 8] } })),
    hashed("find_by_a_range", "find", "broadcast", |c| find(c, doc! { "deviceId": { "$gte": 3, "$lt": 9 } })),
];

/// Fills each collection with ten documents and runs its operation.
pub fn run(database: impl Fn(&str) -> Database) {
    for case in CASES {
        let collection = database(case.database).collection::<Document>(case.name);
        let rows = (0..10).map(|n| {
            doc! { "_id": n, "customerId": format!("c{n}"), "orderId": n, "deviceId": n, "status": if n < 7 { "new" } else { "sent" } }
        });
        collection.insert_many(rows).run().unwrap();
        let index = IndexModel::builder().keys(doc! { "customerId": 1, "orderId": 1 });
        collection.create_index(index.options(IndexOptions::default()).build()).run().unwrap();
        (case.run)(&collection).unwrap_or_else(|error| panic!("{}: {error}", case.name));
    }
}

/// A read whose list of values is longer than what the server logs of a command.
pub fn run_a_long_list(database: &Database) {
    let values: Vec<Bson> = (0..2000).map(|n| Bson::String(format!("a-rather-long-status-{n}"))).collect();
    let collection = database.collection::<Document>("long_list");
    find(&collection, doc! { "status": { "$in": values }, "customerId": "c3" }).unwrap();
}
