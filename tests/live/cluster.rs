//! A sharded cluster for the time of a test: a config server and three shards, all on loopback. It needs no mongos, because
//! since 5.1 a shard has the router's code inside: `clusterFind` sent to it routes as mongos does, and its explain
//! names the shards in the router's format.

use std::path::Path;

use mongodb::bson::{Bson, Document, doc};
use mongodb::sync::Collection;
use serde_json::{Value, json};

use crate::server::Server;

const SHARDS: [&str; 3] = ["shard0", "shard1", "shard2"];
const DATABASE: &str = "shop";

/// A running cluster with a database `shop` and without balancer.
pub struct Cluster {
    config: Server,
    shards: Vec<Server>,
}

impl Cluster {
    /// Starts all servers and joins them.
    pub fn start(mongod: &Path) -> Self {
        let parameters = ["--setParameter", "enableTestCommands=1", "--setParameter", "orphanCleanupDelaySecs=0"];
        let member = |set: &str, role: &str| {
            let mut server = Server::start(mongod, &[&["--replSet", set, role][..], &parameters].concat());
            server.initiate(set, role == "--configsvr");
            server
        };
        let config = member("config", "--configsvr");
        let shards: Vec<Server> = SHARDS.iter().map(|name| member(name, "--shardsvr")).collect();
        for (name, server) in SHARDS.iter().zip(&shards) {
            let set = format!("{name}/{}", server.address());
            config
                .admin(doc! { "_configsvrAddShard": set, "name": name, "writeConcern": { "w": "majority" } })
                .unwrap();
        }
        config.admin(doc! { "_configsvrBalancerStop": 1 }).unwrap();
        let database =
            doc! { "_configsvrCreateDatabase": DATABASE, "primaryShardId": SHARDS[0], "enableSharding": true };
        config.admin(with_majority(database)).unwrap();
        Self { config, shards }
    }

    /// Shards a new collection and deals its key space out: `edges` between the chunks, the shards in turn.
    pub fn shard(&self, collection: &str, key: &Document, edges: &[Document]) {
        let database = self.config_collection("databases").find_one(doc! { "_id": DATABASE }).run().unwrap().unwrap();
        let mut create = doc! {
            "_shardsvrCreateCollection": collection, "shardKey": key, "databaseVersion": database.get("version").unwrap(),
        };
        if key.values().any(|kind| kind.as_str() == Some("hashed")) {
            create.insert("numInitialChunks", 1);
        }
        let shard = &self.shards[0].client;
        shard.database(DATABASE).run_command(with_majority(create)).run().unwrap();
        let end = |value: Bson| key.keys().map(|field| (field.clone(), value.clone())).collect::<Document>();
        let bounds = [&[end(Bson::MinKey)], edges, &[end(Bson::MaxKey)]].concat();
        for (chunk, pair) in bounds.windows(2).enumerate() {
            // A range that stays where it is would not be cut off, so each goes away first.
            for shard in [SHARDS[(chunk + 1) % SHARDS.len()], SHARDS[chunk % SHARDS.len()]] {
                self.move_range(collection, &pair[0], &pair[1], shard);
            }
        }
    }

    fn move_range(&self, collection: &str, min: &Document, max: &Document, to: &str) {
        let namespace = format!("{DATABASE}.{collection}");
        let command = doc! {
            "_configsvrMoveRange": namespace, "toShard": to, "min": min, "max": max, "waitForDelete": true,
        };
        self.config.admin(with_majority(command)).unwrap();
    }

    /// The chunks of a collection, as `config.chunks` has them.
    pub fn chunks(&self, collection: &str) -> Value {
        let namespace = format!("{DATABASE}.{collection}");
        let entry = self.config_collection("collections").find_one(doc! { "_id": namespace }).run().unwrap().unwrap();
        let of_collection = doc! { "uuid": entry.get("uuid").unwrap() };
        let chunks = self.config_collection("chunks").find(of_collection).sort(doc! { "min": 1 }).run().unwrap();
        let bound = |chunk: &Document, name: &str| {
            Bson::from(chunk.get_document(name).unwrap().clone()).into_canonical_extjson()
        };
        let chunk = |chunk: Document| json!({ "min": bound(&chunk, "min"), "max": bound(&chunk, "max"), "shard": chunk.get_str("shard").unwrap() });
        chunks.map(|each| chunk(each.unwrap())).collect()
    }

    /// The shards that the router's code asks for a find, by name, sorted.
    pub fn asked(&self, collection: &str, filter: &Document) -> Vec<String> {
        let database = self.shards[0].client.database(DATABASE);
        let find = doc! { "clusterFind": collection, "filter": filter };
        // Explain does not refresh a stale routing table; a plain find does.
        database.run_command(find.clone()).run().unwrap();
        let plan = database.run_command(doc! { "explain": find, "verbosity": "queryPlanner" }).run().unwrap();
        let winning =
            plan.get_document("queryPlanner").and_then(|planner| planner.get_document("winningPlan")).unwrap();
        let shards = winning.get_array("shards").unwrap().iter();
        let name = |shard: &Bson| shard.as_document().unwrap().get_str("shardName").unwrap().to_owned();
        let mut names: Vec<String> = shards.map(name).collect();
        names.sort();
        names
    }

    /// The server that acted as the router.
    pub fn router(&self) -> &Server {
        &self.shards[0]
    }

    fn config_collection(&self, name: &str) -> Collection<Document> {
        self.config.client.database("config").collection(name)
    }
}

fn with_majority(mut command: Document) -> Document {
    command.insert("writeConcern", doc! { "w": "majority" });
    command
}
