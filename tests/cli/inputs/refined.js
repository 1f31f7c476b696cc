sh.shardCollection("shop.orders", { customerId: 1 })
db.adminCommand({ refineCollectionShardKey: "shop.orders", key: { customerId: 1, createdAt: 1 } })
