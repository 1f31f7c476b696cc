#!/usr/bin/env python3
"""Holds `shardlint route --cases` against the router of a real cluster, on operations drawn from a seed.

Every operation runs on a cluster of five shards that is started here, and the shards that get a part of it are read from
their logs. What `shardlint` answers otherwise is shrunk, the server being asked again at every step, and printed as a
case with the shards that the server asked (`shardsHit`) or its `error`, ready to be recorded.
Ends with 1 if any case differs. Needs pymongo.
"""

import argparse
import collections
import contextlib
import copy
import json
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from bson import Int64, MaxKey, MinKey, json_util
from pymongo.errors import DuplicateKeyError, PyMongoError

from cluster import Cluster
from differential_cases import LOCALES, Operations
from differential_pipelines import OUTER, Pipelines
from differential_values import edge_value, seeded

REPOSITORY = Path(__file__).resolve().parents[2]
DATABASE = "differential"
KEYS = [
    {"a": 1},
    {"a": 1},
    {"a": 1, "b": 1},
    {"a": 1, "b": 1},
    {"a": 1, "b": 1, "c": 1},
    {"a.b": 1},
    {"a.b": 1, "c": 1},
    {"a.b": 1, "a.c": 1},
    {"a.b.c": 1},
    {"_id": 1},
    {"a": 1, "_id": 1},
    {"b": 1, "a.b": 1},
    {"a": "hashed"},
    {"a.b": "hashed"},
    {"_id": "hashed"},
    {"a": 1, "b": "hashed"},
    {"a": "hashed", "b": 1},
    {"a": 1, "b.c": "hashed", "d": 1},
    {"a.b": "hashed", "c": 1},
]
PER_COLLECTION = 120
VIEWS = 3
SHRINKS = 25  # differing cases that are shrunk; the others are only counted
ASKED_AT_ONCE = 4
# What the router itself refuses: ShardKeyNotFound, InvalidOptions. Whatever else is refused before a shard is asked is
# bad input, which a log never tells of.
REFUSALS = {61, 72}


class Differential:
    """One run: the cluster, the binary, and what was counted."""

    def __init__(self, cluster, binary, seed):
        self.cluster, self.binary, self.seed = cluster, binary, seed
        self.counts, self.forms, self.asked = collections.Counter(), set(), 0
        cluster.create_database(DATABASE)
        cluster.router[DATABASE][OUTER].insert_one({"_id": 1, "x": 5})
        self.database = cluster.router[DATABASE]

    def collection(self, number):
        """A new sharded collection, and a source of operations on it."""
        draw = seeded(self.seed, number)
        key, name = draw.choice(KEYS), f"c{self.seed}_{number}"
        edges = self.sorted_edges([self.edge(draw, key) for _ in range(draw.choice([1, 2, 3, 4, 5, 7, 10]))], key)
        owning = draw.sample(self.cluster.names, draw.choice([1, 2, 3, 4, 5, 5, 5]))
        # The index on `_id` has the collation of the collection, and a shard key needs a simple one.
        collation = None if list(key) == ["_id"] else draw.choice([None, None, None, None, LOCALES[0], LOCALES[2]])
        chunks = self.cluster.shard(DATABASE, name, key, edges, [draw.choice(owning) for _ in range(len(edges) + 1)], collation)
        base = {
            "ns": f"{DATABASE}.{name}",
            "shardKey": key,
            "chunks": chunks,
            "allShards": self.cluster.names,
            "serverVersion": self.cluster.version,
        }
        if collation:
            base["collectionCollation"] = collation
        views = self.views(Pipelines(draw, key, edges), name) if number % 3 == 0 and not collation else []
        return base, Operations(draw, key, edges, name, views)

    @staticmethod
    def edge(draw, key):
        """A bound of chunks; the first field takes few values, so that later ones bound chunks as well."""
        few = seeded(draw.choice("pqrs"), *key)
        edge, plain = {}, True
        for place, (field, kind) in enumerate(key.items()):
            value = (
                Int64(draw.getrandbits(64) - 2**63)
                if kind == "hashed"
                else edge_value(few if place == 0 and len(key) > 1 else draw)
            )
            plain = plain and (place == 0 or draw.random() < 0.7)
            edge[field] = value if plain else draw.choice([MinKey(), MinKey(), MinKey(), MaxKey()])
        return edge

    def sorted_edges(self, edges, key):
        """The edges in the server's order, equal ones once: a unique index knows both."""
        fields = [(f"f{place}", 1) for place in range(len(key))]
        scratch = self.cluster.config.local.scratch
        scratch.drop()
        scratch.create_index(fields, unique=True)
        for number, edge in enumerate(edges):
            values = {f"f{place}": edge[field] for place, field in enumerate(key)}
            with contextlib.suppress(DuplicateKeyError):
                scratch.insert_one({"_id": number, **values})
        return [edges[row["_id"]] for row in scratch.find().sort(fields)]

    def views(self, pipelines, name):
        views = []
        for number in range(VIEWS):
            view = {"name": f"{name}_v{number}", "viewOn": name, "pipeline": pipelines.pipeline()}
            try:
                self.database.command({"create": view["name"], "viewOn": name, "pipeline": view["pipeline"]})
                views.append(view)
            except PyMongoError:
                self.counts["views refused"] += 1
        return views

    def run(self, cases):
        """Asks the server all `cases`, which are on one collection, and returns them as rows with its answers."""
        comments = [f"case {self.asked + n}" for n in range(len(cases))]
        self.asked += len(cases)
        with ThreadPoolExecutor(ASKED_AT_ONCE) as pool:
            errors = list(pool.map(self.send, cases, comments))
        reached = self.cluster.reached(DATABASE, {cases[0]["ns"].split(".", 1)[1]})
        rows = []
        for case, comment, error in zip(cases, comments, errors):
            row = {**case, "shardsHit": sorted(reached.get(comment, []))}
            rows.append(row | {"error": error} if error else row)
        return rows

    def send(self, case, comment):
        """Runs one operation through the router. Returns its error."""
        try:
            reply = self.database.command(command_of(case) | {"comment": comment}, codec_options=self.database.codec_options)
        except PyMongoError as error:
            return {"code": getattr(error, "code", None) or 0, "errmsg": str(error).split(", full error")[0][:300]}
        errors = reply.get("writeErrors")
        return {"code": errors[0]["code"], "errmsg": errors[0].get("errmsg", "")[:300]} if errors else None

    def answers(self, rows):
        """What `shardlint` says to the rows, with and without their chunks."""
        questions = []
        for number, row in enumerate(rows):
            question = {name: value for name, value in row.items() if name not in ("shardsHit", "error")}
            blind = {name: value for name, value in question.items() if name != "chunks"}
            questions += [question | {"id": f"{number}"}, blind | {"id": f"{number} blind"}]
        text = "".join(to_json(question) + "\n" for question in questions)
        run = subprocess.run([self.binary, "route", "--cases", "-"], input=text.encode(), capture_output=True, check=False)
        found = {answer["id"]: answer for answer in map(json.loads, run.stdout.splitlines())}
        return [(found.get(f"{number}"), found.get(f"{number} blind")) for number in range(len(rows))]

    def disagreements(self, cases):
        """The rows of `cases` together with why the answers differ, or None where they agree or nothing is to be compared."""
        rows = self.run(cases)
        answers = self.answers(rows)
        self.abstained = [row for row, (answer, _) in zip(rows, answers) if row["shardsHit"] and abstains(answer)]
        return [(row, difference(row, *each)) for row, each in zip(rows, answers)]

    def shrink(self, row, why):
        """The smallest row that still differs and that leaving members out leads to."""
        while True:
            case = {name: value for name, value in row.items() if name not in ("shardsHit", "error")}
            smaller = [candidate for candidate in shrunk(case) if reads_collection(candidate)]
            differing = [pair for pair in self.disagreements(smaller) if pair[1]] if smaller else []
            if not differing:
                return row, why
            row, why = min(differing, key=lambda pair: len(to_json(pair[0])))


def reads_collection(case):
    """Whether the pipeline of an operation on the unsharded collection names the sharded one."""
    return "outer" not in case or case["ns"].split(".", 1)[1] in to_json(case["pipeline"])


def command_of(case):
    name = case["ns"].split(".", 1)[1]
    target = case.get("outer") or case.get("view", {}).get("name") or name
    options = dict(case.get("options", {}))
    collation = {"collation": case["collation"]} if case.get("collation") else {}
    match case["op"]:
        case "find":
            return {"clusterFind": target, "filter": case["filter"], **options, **collation}
        case "aggregate":
            return {"clusterAggregate": target, "pipeline": case["pipeline"], "cursor": {}, **options, **collation}
        case "update":
            update = {"q": case["filter"], "u": case["update"], "multi": case["multi"], "upsert": case["upsert"], **collation}
            return {"clusterUpdate": target, "updates": [update], **options}
        case "delete":
            return {"clusterDelete": target, "deletes": [{"q": case["filter"], "limit": case["limit"], **collation}], **options}
        case _:
            return {"clusterInsert": target, "documents": [case["document"]]}


def to_json(value):
    return json_util.dumps(value, json_options=json_util.CANONICAL_JSON_OPTIONS)


def difference(row, answer, blind):
    """Why an answer is not what the server did, or None."""
    error, hit = row.get("error"), set(row["shardsHit"])
    refused = error is not None and not hit
    if refused and not is_refusal(error):
        return None
    if answer is None or "failed" in answer:
        return f"no answer: {(answer or {}).get('failed')}"
    code = (answer.get("error") or {}).get("code")
    if abstains(answer):
        return None
    shards = set(answer["shards"] or [])
    if refused:
        return None if code == error["code"] else f"error {code} with {told(shards)}, the server's is {error['code']}"
    if code is not None:
        return f"error {code}, the server asked {told(hit)}"
    if not (hit <= shards if error else hit == shards):
        return f"{answer['class']}, shards {told(shards)}, the server asked {told(hit)}"
    if answer["class"] != (blind or {}).get("class"):
        return f"class {answer['class']} with chunks, {(blind or {}).get('class')} without"
    reads = row["op"] in ("find", "aggregate")
    return f"class targeted with {told(hit)}" if reads and answer["class"] == "targeted" and len(hit) > 1 else None


def abstains(answer):
    """Whether an answer leaves open which shards are asked."""
    return answer is not None and answer.get("shards", ...) is None and answer["error"] is None


def is_refusal(error):
    """Whether the router refused to route, rather than to read, the operation."""
    return error["code"] in REFUSALS


def told(shards):
    return "{" + ",".join(sorted(shards)) + "}"


def shrunk(case):
    """All cases with one member less somewhere, or one logical operator replaced by its only member."""
    for name in ("collation", "options", "view"):
        if name in case:
            yield {other: value for other, value in case.items() if other != name}
    for flag in ("upsert", "multi"):
        if case.get(flag):
            yield case | {flag: False}
    for part in ("filter", "pipeline", "update", "document", "options"):
        if part in case:
            for smaller in without_one(case[part]):
                yield case | {part: smaller}


def without_one(value):
    if isinstance(value, dict):
        for name, member in value.items():
            rest = {other: each for other, each in value.items() if other != name}
            yield rest
            if name in ("$and", "$or", "$nor") and isinstance(member, list):
                yield from (rest | each for each in member if isinstance(each, dict))
            if name in ("$eq", "$not", "$elemMatch") and isinstance(member, dict):
                yield rest | member
            for smaller in without_one(member):
                yield {other: smaller if other == name else each for other, each in value.items()}
    elif isinstance(value, list):
        for place, member in enumerate(value):
            yield value[:place] + value[place + 1 :]
            for smaller in without_one(member):
                yield [*value[:place], smaller, *value[place + 1 :]]


def main():
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("--seed", type=int, default=1, help="of the first collection's operations (default 1)")
    options.add_argument("--count", type=int, default=3000, help="operations (default 3000)")
    options.add_argument("--seconds", type=float, help="stop drawing after this time, however few there are")
    options.add_argument("--binary", default=REPOSITORY / "target/debug/shardlint", help="default target/debug/shardlint")
    options.add_argument("--mongod", default=REPOSITORY / "target/mongod/mongod", help="default target/mongod/mongod")
    options.add_argument("--port", type=int, default=27600, help="first of six ports (default 27600)")
    options.add_argument("--out", type=argparse.FileType("w"), help="write all rows to this file, as JSON lines")
    options.add_argument(
        "--abstained", type=argparse.FileType("w"), help="write the rows that shardlint leaves open to this file"
    )
    options = options.parse_args()
    for needed, source in ((options.mongod, "tests/live/install-mongod fetches it"), (options.binary, "cargo build makes it")):
        if not Path(needed).is_file():
            sys.exit(f"differential: there is no {needed}; {source}")
    with Cluster(options.mongod, options.port) as cluster:
        sys.exit(hunt(Differential(cluster, options.binary, options.seed), options))


def hunt(run, options):
    end = time.monotonic() + (options.seconds or float("inf"))
    done, number = 0, 0
    while done < options.count and time.monotonic() < end:
        base, operations = run.collection(number)
        draw = operations.write if number % 3 == 2 else operations.read
        # Writes have collections of their own: what a read does next may depend on the documents it finds.
        numbers = range(done, min(done + PER_COLLECTION, options.count))
        cases = [{"id": f"{options.seed}-{each}"} | base | copy.deepcopy(draw()) for each in numbers]
        rows = run.disagreements(cases)
        run.counts["abstained"] += len(run.abstained)
        if options.abstained:
            options.abstained.writelines(to_json(row) + "\n" for row in run.abstained)
        for row, why in rows:
            run.counts[
                "refused" if row.get("error") and not row["shardsHit"] and not is_refusal(row["error"]) else "compared"
            ] += 1
            if options.out:
                options.out.write(to_json(row) + "\n")
            if why:
                tell(run, row, why)
        done += len(cases)
        number += 1
    counts = run.counts
    print(
        f"seed {options.seed}: {counts['compared']} operations compared, {counts['different']} differ; "
        f"{counts['abstained']} left open, {counts['refused']} not understood by the server"
    )
    return 1 if counts["different"] else 0


def tell(run, row, why):
    """Prints a differing row, shrunk; of rows that shrink to the same form only the first."""
    run.counts["different"] += 1
    if run.counts["different"] <= SHRINKS:
        row, why = run.shrink(row, why)
        form = form_of(row)
        if form in run.forms:
            return
        run.forms.add(form)
    print(f"{why}\n{to_json(row)}", flush=True)


def form_of(row):
    """What an operation looks like without its values."""
    parts = [
        row.get(part)
        for part in ("op", "filter", "pipeline", "update", "document", "options", "collation", "multi", "upsert", "limit")
    ]
    return json.dumps([list(row["shardKey"]), parts], default=lambda value: type(value).__name__)


if __name__ == "__main__":
    main()
