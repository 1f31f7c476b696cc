sh.shardCollection("retail.stock", { storeId: 1, sku: 1 });
db.getSiblingDB("retail").stock.createIndex({ storeId: 1, sku: 1 });
db.getSiblingDB("retail").stock.createIndex({ sku: 1 });
