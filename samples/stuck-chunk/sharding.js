[ { _id: "books.ledger", key: { company: 1 } } ]
[ { ns: "books.ledger", min: { company: MinKey }, max: { company: "northwind" }, shard: "rs0" },
  { ns: "books.ledger", min: { company: "northwind" }, max: { company: "oxbow" }, shard: "rs2", jumbo: true },
  { ns: "books.ledger", min: { company: "oxbow" }, max: { company: MaxKey }, shard: "rs1" } ]
{ ns: "books.ledger", shards: [
  { shardName: "rs0", numOrphanedDocs: 0, numOwnedDocuments: 81200, ownedSizeBytes: 41574400, orphanedSizeBytes: 0 },
  { shardName: "rs1", numOrphanedDocs: 0, numOwnedDocuments: 77900, ownedSizeBytes: 39884800, orphanedSizeBytes: 0 },
  { shardName: "rs2", numOrphanedDocs: 0, numOwnedDocuments: 391000, ownedSizeBytes: 200192000, orphanedSizeBytes: 0 } ] }
db.adminCommand({ analyzeShardKey: "books.ledger", key: { company: 1 } })
{ keyCharacteristics: { numDocsTotal: 550100, avgDocSizeBytes: 512, isUnique: false, numDistinctValues: 184,
    mostCommonValues: [ { value: { company: "northwind" }, frequency: 388000 }, { value: { company: "acorn" }, frequency: 9100 } ],
    monotonicity: { type: "not monotonic" } } }
