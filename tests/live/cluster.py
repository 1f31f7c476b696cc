"""A sharded MongoDB on loopback for the time of a `with` block: a config server and shards, no mongos.

A shard can play the router: since 5.1 a mongod has the router's code inside, under names such as `clusterFind`, and sends
the parts of an operation to the shards as a mongos does. A collection is laid out through zones that exist before it is
sharded, so its chunks stand where they are wanted at once. Which shards an operation reached is read from their logs:
every command is logged (slowms 0) together with its `comment`. Needs pymongo; what is asked and compared is the caller's.
"""

import json
import subprocess
import tempfile
import time
from concurrent.futures import ThreadPoolExecutor
from itertools import pairwise
from pathlib import Path

import pymongo
from bson import MaxKey, MinKey

MAJORITY = {"w": "majority"}
STALE = 13388  # StaleConfig: the shard refused the router's outdated table, and is asked again


class Server:
    """One mongod, the only member of its replica set."""

    def __init__(self, mongod, folder, name, port, role):
        self.name, self.address, self.role = name, f"127.0.0.1:{port}", role
        self.log = Path(folder) / f"{name}.log"
        self.read_to = 0
        data = Path(folder) / name
        data.mkdir()
        parameters = ["enableTestCommands=1", "diagnosticDataCollectionEnabled=false", "maxLogSizeKB=200"]
        command = [mongod, "--dbpath", data, "--logpath", self.log, "--port", str(port), "--bind_ip", "127.0.0.1"]
        command += ["--nounixsocket", "--slowms", "0", "--wiredTigerCacheSizeGB", "0.25", "--replSet", name, role]
        for parameter in parameters:
            command += ["--setParameter", parameter]
        self.process = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        self.client = pymongo.MongoClient(self.address, directConnection=True, datetime_conversion="DATETIME_AUTO")

    def initiate(self, seconds=60):
        """Makes it the primary of its set; returns when it is."""
        members = [{"_id": 0, "host": self.address}]
        config = {"_id": self.name, "members": members, "configsvr": self.role == "--configsvr"}
        end = time.monotonic() + seconds
        self.client.admin.command("replSetInitiate", config)
        while not self.client.admin.command("hello").get("isWritablePrimary"):
            if self.process.poll() is not None or time.monotonic() > end:
                raise RuntimeError(f"{self.name} does not become primary")
            time.sleep(0.05)

    def new_records(self, until):
        """The log's records since the last call, up to the one that holds the text `until`."""
        with open(self.log, "rb") as log:
            log.seek(self.read_to)
            lines, last = [], b""
            end = time.monotonic() + 30
            while until.encode() not in last:
                line = log.readline()
                last = last + line if last and not last.endswith(b"\n") else line
                if last.endswith(b"\n"):
                    lines.append(last)
                elif time.monotonic() > end:
                    raise RuntimeError(f"{self.log} does not tell of {until}")
                elif not line:
                    time.sleep(0.01)
            self.read_to = log.tell()
        return lines

    def stop(self):
        """Ends it at once: an orderly end takes a primary 15 seconds, and nobody wants its data."""
        self.client.close()
        self.process.kill()
        self.process.wait()


class Cluster:
    """`shards` shards named shard0, shard1, ...; shard0 is the primary shard of every database, and the router."""

    def __init__(self, mongod, port=27600, shards=5):
        self.mongod, self.port = mongod, port
        self.names = [f"shard{number}" for number in range(shards)]
        self.servers, self.sentinels = [], 0

    def __enter__(self):
        self.folder = tempfile.TemporaryDirectory(prefix="differential-", ignore_cleanup_errors=True)
        try:
            self._start()
        except BaseException:
            self.__exit__()
            raise
        return self

    def __exit__(self, *_):
        for server in self.servers:
            server.stop()
        self.folder.cleanup()

    def _start(self):
        for number, name in enumerate(["config", *self.names]):
            role = "--shardsvr" if number else "--configsvr"
            self.servers.append(Server(self.mongod, self.folder.name, name, self.port + number, role))
        with ThreadPoolExecutor() as pool:
            list(pool.map(Server.initiate, self.servers))
        self.config, self.shards = self.servers[0].client, self.servers[1:]
        self.router = self.shards[0].client
        for shard in self.shards:
            joining = {"_configsvrAddShard": f"{shard.name}/{shard.address}", "name": shard.name, "writeConcern": MAJORITY}
            self.config.admin.command(joining)
            self.config.config.shards.update_one({"_id": shard.name}, {"$set": {"tags": [shard.name]}})
        self.config.admin.command({"_configsvrBalancerStop": 1})
        self.version = self.router.server_info()["version"]

    def create_database(self, name):
        creation = {"_configsvrCreateDatabase": name, "primaryShardId": self.names[0], "enableSharding": True}
        self.config.admin.command({**creation, "writeConcern": MAJORITY})

    def shard(self, database, name, key, edges, owners, collation=None):
        """A new collection on `key`, cut at `edges`, its pieces on `owners` in turn. Returns its chunks."""
        namespace = f"{database}.{name}"
        ends = [dict.fromkeys(key, MinKey()), *edges, dict.fromkeys(key, MaxKey())]
        zones = [
            {"_id": {"ns": namespace, "min": low}, "ns": namespace, "min": low, "max": high, "tag": owner}
            for (low, high), owner in zip(pairwise(ends), owners, strict=True)
        ]
        self.config.config.tags.insert_many(zones)
        version = self.config.config.databases.find_one({"_id": database})["version"]
        sharding = {"_shardsvrCreateCollection": name, "shardKey": key, "databaseVersion": version}
        if collation:
            self.router[database].create_collection(name, collation=collation)
            sharding["collation"] = {"locale": "simple"}
        self.router[database].command({**sharding, "writeConcern": MAJORITY})
        uuid = self.config.config.collections.find_one({"_id": namespace})["uuid"]
        chunks = self.config.config.chunks.find({"uuid": uuid}).sort("min", 1)
        return [{part: chunk[part] for part in ("min", "max", "shard")} for chunk in chunks]

    def reached(self, database, names):
        """By comment, the shards that got a part of an operation on one of the collections `names` since the last call."""
        self.sentinels += 1
        sentinel = f"sentinel {self.sentinels}"
        shards = {}
        for shard in self.shards:
            shard.client.admin.command({"ping": 1, "comment": sentinel})
        for shard in self.shards:
            for line in shard.new_records(sentinel):
                part = _part_of_operation(line, database, names)
                if part:
                    shards.setdefault(part, set()).add(shard.name)
        return shards


def _part_of_operation(line, database, names):
    """The comment of the command that this log line tells of, if the router sent it to do the operation's own work."""
    if b'"comment":"' not in line or b'"Slow query"' not in line:
        return None
    record = json.loads(line)["attr"]
    command = record.get("command", {})
    verb = next(iter(command), None)
    if verb not in ("find", "aggregate", "update", "delete", "insert") or record.get("errCode") == STALE:
        return None
    if command[verb] not in names or command.get("$db") != database:
        return None
    stages = command.get("pipeline") or [{}]
    return None if "$mergeCursors" in stages[0] else command["comment"]
