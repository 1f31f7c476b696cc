sh.enableSharding("shop");
sh.shardCollection("shop.carts", { customerId: 1 }, true /* one cart per customer */);
