[ { _id: "shop.orders", key: { customerId: 1 } } ]
[ { v: 2, key: { _id: 1 }, name: "_id_", ns: "shop.orders" },
  { v: 2, key: { customerId: 1 }, name: "customerId_1", ns: "shop.orders" } ]
