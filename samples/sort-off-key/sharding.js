// A site's articles lie together, in the order of their slugs. Large sites span two shards.
sh.shardCollection("news.articles", { siteId: 1, slug: 1 });
sh.splitAt("news.articles", { siteId: "fjord", slug: "m" });
sh.splitAt("news.articles", { siteId: "harbour", slug: "k" });

db.getSiblingDB("news").articles.createIndex({ siteId: 1, slug: 1 });
db.getSiblingDB("news").articles.createIndex({ siteId: 1, publishedAt: -1 });
