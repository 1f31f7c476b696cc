[ { _id: "books.ledger", key: { company: 1 } } ]
[ { ns: "books.ledger", min: { company: MinKey }, max: { company: "northwind" }, shard: "rs0" },
  { ns: "books.ledger", min: { company: "northwind" }, max: { company: "oxbow" }, shard: "rs2", jumbo: true },
  { ns: "books.ledger", min: { company: "oxbow" }, max: { company: MaxKey }, shard: "rs1" } ]
{ ns: "books.ledger", shards: [
  { shardName: "rs0", numOrphanedDocs: 0, numOwnedDocuments: 812000, ownedSizeBytes: 415744000, orphanedSizeBytes: 0 },
  { shardName: "rs1", numOrphanedDocs: 0, numOwnedDocuments: 779000, ownedSizeBytes: 398848000, orphanedSizeBytes: 0 },
  { shardName: "rs2", numOrphanedDocs: 0, numOwnedDocuments: 3910000, ownedSizeBytes: 2001920000, orphanedSizeBytes: 0 } ] }
db.adminCommand({ analyzeShardKey: "books.ledger", key: { company: 1 } })
{ keyCharacteristics: { numDocsTotal: 5501000, avgDocSizeBytes: 512, isUnique: false, numDistinctValues: 184,
    mostCommonValues: [ { value: { company: "northwind" }, frequency: 3880000 }, { value: { company: "acorn" }, frequency: 91000 } ],
    monotonicity: { type: "not monotonic" } } }
