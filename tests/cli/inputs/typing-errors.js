// Three statements that no server would take, and one that is none of our business.
sh.shardCollection("shop.orders", { customerId: 1, orderId: -1 });
sh.shardCollection("shop.carts", { sessionId: "hash" });
sh.shardCollection("shop.items" { sku: 1 });
rs.status();
