// Runs once, when the cluster is set up.
print("sharding accounts.users");
sh.enableSharding("accounts");

use accounts
db.users.createIndex({ region: 1, userId: 1 });
db.users.createIndex({ email: 1 }, { unique: true });       // nobody signs up twice

sh.shardCollection("accounts.users", { region: 1, userId: 1 });
