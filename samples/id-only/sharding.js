// Trips belong to the depot that drives them.
sh.shardCollection("fleet.trips", { depotId: 1, tripNo: 1 });
db.getSiblingDB("fleet").trips.createIndex({ depotId: 1, tripNo: 1 });
db.getSiblingDB("fleet").trips.createIndex({ state: 1, closedAt: 1 });
