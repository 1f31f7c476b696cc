// From the wiki. Since then somebody ran reshardCollection with { region: 1, salonId: 1 }.
sh.shardCollection("salon.bookings", { salonId: 1 });
