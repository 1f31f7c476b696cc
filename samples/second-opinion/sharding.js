// Whoever is at the desk has the copy in hand, so branch and copy find its loans.
sh.shardCollection("library.loans", { branch: 1, copyId: 1 });
