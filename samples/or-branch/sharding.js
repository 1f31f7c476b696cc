// What production does at set-up; the test suite runs against one mongod with slowms 0.
db.adminCommand({ shardCollection: "crm.contacts", key: { accountId: 1, email: 1 }, unique: true });

db = db.getSiblingDB("crm");
db.contacts.createIndex({ accountId: 1, email: 1 }, { unique: true });
db.contacts.createIndex({ sharedWith: 1 });
