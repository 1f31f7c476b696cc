[ { _id: "club.visits", key: { memberId: 1 } }, { _id: "club.members", key: { _id: 1 } } ]
[ { ns: "club.visits", min: { memberId: MinKey }, max: { memberId: 3000 }, shard: "rs0" },
  { ns: "club.visits", min: { memberId: 3000 }, max: { memberId: 6000 }, shard: "rs1" },
  { ns: "club.visits", min: { memberId: 6000 }, max: { memberId: MaxKey }, shard: "rs2" } ]
[ { _id: "rs0", host: "rs0/192.0.2.31:27018", state: 1 }, { _id: "rs1", host: "rs1/192.0.2.32:27018", state: 1 },
  { _id: "rs2", host: "rs2/192.0.2.33:27018", state: 1 } ]
[ { _id: "club", primary: "rs1", version: { lastMod: 1 } } ]
