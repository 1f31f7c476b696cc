// The newspapers' archive. Pages are read by outlet, newest first.
sh.enableSharding("press");
sh.shardCollection("press.articles", { outletId: 1, publishedAt: 1 });
