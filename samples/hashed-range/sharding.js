// Entry numbers only grow, so the key is hashed: new entries spread over all four shards.
sh.enableSharding('ledger')
sh.shardCollection('ledger.entries', { entryNo: 'hashed' })
db.getSiblingDB('ledger').entries.createIndex({ entryNo: 1 })
