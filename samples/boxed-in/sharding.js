// Parcels are scanned one by one, so the tracking number spreads them.
sh.shardCollection("depot.parcels", { trackingId: "hashed" });
