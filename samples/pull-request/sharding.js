// Loans are looked up by member, so a member's loans lie together.
sh.shardCollection("library.loans", { memberId: 1 });
db.loans.createIndex({ memberId: 1 });
db.loans.createIndex({ bookId: 1 });
