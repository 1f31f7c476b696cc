// The help desk. Every customer of ours is a tenant, and a tenant lives on one shard.
sh.enableSharding("desk");
sh.shardCollection("desk.tickets", { tenantId: 1, _id: 1 });

use desk
db.tickets.createIndex({ tenantId: 1, _id: 1 });
db.tickets.createIndex({ tenantId: 1, status: 1, updatedAt: -1 });
db.tickets.createIndex({ assigneeId: 1, status: 1 });
