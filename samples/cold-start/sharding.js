// Readings are kept in the order of their time. It looked natural.
sh.shardCollection("plant.readings", { at: 1 });
db.getSiblingDB("plant").readings.createIndex({ at: 1 });
