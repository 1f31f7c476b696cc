sh.shardCollection("port.containers", { shipId: 1, bay: 1 });
