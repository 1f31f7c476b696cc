sh.shardCollection("stats.views", { siteId: 1, page: 1 });
db.getSiblingDB("stats").views.createIndex({ siteId: 1, page: 1, day: 1 }, { unique: true });
