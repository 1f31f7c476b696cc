sh.shardCollection("hotel.guests", { lastName: 1, guestNo: 1 });
db.getSiblingDB("hotel").guests.createIndex({ lastName: 1, guestNo: 1 });
db.getSiblingDB("hotel").guests.createIndex({ lastName: 1 }, { collation: { locale: "en", strength: 2 } });
