sh.shardCollection("insights.events", { workspaceId: 1, at: 1 });
