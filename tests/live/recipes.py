#!/usr/bin/env python3
"""Runs the shell parts of docs/ci.md as they stand, in a project of a made-up team, against a real mongod.

Each recipe is run on three commits: the first is clean (exit 0), the second adds a broadcast, the third changes the shard
key, so that a query which was bounded becomes a broadcast (both exit 1, and the report names the rule, the shape, the missing field
and what it was before). What the team has and this machine may not have is stood in for by small programs on the path:
`npm` and `pytest` are the test suite, `docker` starts the same mongod, `atlas` hands out a log.
"""
import argparse
import gzip
import os
import re
import shutil
import stat
import subprocess
import sys
import tempfile
import textwrap
from pathlib import Path

REPOSITORY = Path(__file__).resolve().parents[2]
KEY = 'sh.shardCollection("shop.orders", { customerId: 1, _id: 1 });\n'
OTHER_KEY = 'sh.shardCollection("shop.orders", { region: 1, _id: 1 });\n'
UNIQUE = 'db.getSiblingDB("shop").orders.createIndex({ number: 1 }, { unique: true });\n'

SUITE = '''
import os, sys, time
from pathlib import Path
import pymongo
{here}

client = pymongo.MongoClient(os.environ["MONGODB_URI"], serverSelectionTimeoutMS=20000)
client.admin.command({{"profile": 0, "slowms": 0}})
orders = client["shop_test_7f3a"]["orders"]
orders.insert_one({{"customerId": 7, "status": "open"}})
list(orders.find({{"customerId": 7}}, comment=here()))
if Path("broadcast").exists():
    list(orders.find({{"status": "s3cret"}}, comment=here()))
'''

STANDINS = {
    "npm": 'exec "$PYTHON" "$PROJECT/suite.py"',
    "pytest": 'exec "$PYTHON" "$PROJECT/suite.py"',
    "git": "exit 0",
    "docker": '''
        case "$1" in
          run) mkdir -p "$PROJECT/container"
               while [ "$1" != mongo:6.0 ]; do shift; done; shift
               mongod --dbpath "$PROJECT/container" --port 27017 --bind_ip 127.0.0.1 "$@" \\
                 --logpath "$PROJECT/container.log" --fork > /dev/null ;;
          logs) cat "$PROJECT/container.log" ;;
          rm) mongod --dbpath "$PROJECT/container" --shutdown > /dev/null; rm -r "$PROJECT/container" "$PROJECT/container.log" ;;
          *) exit 1 ;;
        esac''',
    "atlas": '[ "$1 $2 $4 $5" = "logs download mongos.gz --out" ] && cp "$PROJECT/production.gz" "$6"',
}


def blocks(page):
    """The marked blocks of the page, by name."""
    return dict(re.findall(r"<!-- run: ([\w-]+) -->\n```\w+\n(.*?)```", page, re.S))


class Team:
    """A project in a folder of its own."""

    def __init__(self, folder, recipes, mongod, shardlint):
        self.folder, self.recipes = folder, recipes
        tools = folder / "tools"
        tools.mkdir()
        for name, text in STANDINS.items():
            path = tools / name
            path.write_text(f"#!/bin/sh\nset -e\n{textwrap.dedent(text)}\n")
            path.chmod(path.stat().st_mode | stat.S_IXUSR)
        (tools / "mongod").symlink_to(mongod)
        (tools / "shardlint").symlink_to(shardlint)
        (folder / "suite.py").write_text(SUITE.format(here=recipes["here"]))
        self.environment = dict(
            os.environ,
            PATH=f"{tools}:{os.environ['PATH']}",
            PROJECT=str(folder),
            PYTHON=sys.executable,
            HOST="host",
            LOGS=str(folder / "production"),
        )

    def commit(self, key=KEY, broadcast=False):
        """The state of the project at one commit; logs of earlier runs are gone."""
        (self.folder / "sharding.js").write_text(key)
        flag = self.folder / "broadcast"
        flag.touch() if broadcast else flag.unlink(missing_ok=True)
        for left in ["target", "mongod.log", "mongod-data", "production"]:
            path = self.folder / left
            shutil.rmtree(path) if path.is_dir() else path.unlink(missing_ok=True)

    def shell(self, text, **environment):
        """Runs shell lines as a CI system does; the exit code and everything printed."""
        run = subprocess.run(
            ["sh", "-e", "-c", text], cwd=self.folder, env=self.environment | environment,
            stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, timeout=300,
        )
        return run.returncode, run.stdout

    def with_log(self, log, text):
        """Runs a recipe whose own server, outside the shell part, writes to `log`."""
        data = self.folder / "mongod-data"
        data.mkdir(exist_ok=True)
        start = f"mongod --dbpath mongod-data --port 27217 --bind_ip 127.0.0.1 --logpath '{self.folder / log}' --fork"
        assert self.shell(start)[0] == 0
        try:
            return self.shell(text, MONGODB_URI="mongodb://127.0.0.1:27217")
        finally:
            self.shell("mongod --dbpath mongod-data --shutdown")

    def run(self, name):
        """Runs one recipe in the way it needs."""
        text = self.recipes[name]
        if name in ("testcontainers", "mongodb-memory-server"):
            return self.with_log("mongod.log", text)
        if name == "pymongo-inmemory":
            return self.with_log("mongod-data/mongod.log", text)
        if name in ("nightly", "atlas"):
            production = self.folder / "production"
            production.mkdir()
            code, said = self.with_log("production/mongos.log", "npm test")
            assert code == 0, said
            log = (production / "mongos.log").read_bytes().replace(b"shop_test_7f3a", b"shop")
            (production / "mongos.log").write_bytes(log)
            (self.folder / "production.gz").write_bytes(gzip.compress(log))
        return self.shell(text)


def action(team):
    """Runs the step of action.yml that checks, as a runner does: bash, inputs in variables, outputs in files."""
    text = (REPOSITORY / "action.yml").read_text()
    step = re.search(r"id: check\n.*?run: \|\n((?: {8}[^\n]*\n|\n)+)", text, re.S).group(1)
    files = {name: team.folder / name.lower() for name in ("GITHUB_OUTPUT", "GITHUB_STEP_SUMMARY")}
    for path in files.values():
        path.write_text("")
    inputs = {
        "INPUTS": "mongod.log\n",
        "SCHEMA": "sharding.js",
        "BASELINE": "shardlint-baseline.json",
        "ARGS": "--ns-map shop_test_*=shop",
        "REPORTS": str(team.folder / "reports"),
    }
    suite = team.recipes["mongod"].split("shardlint check")[0]
    assert team.shell(suite)[0] == 0
    run = subprocess.run(
        ["bash", "--noprofile", "--norc", "-eo", "pipefail", "-c", textwrap.dedent(step)], cwd=team.folder,
        env=team.environment | inputs | {name: str(path) for name, path in files.items()},
        stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, timeout=300,
    )
    outputs = dict(line.split("=", 1) for line in files["GITHUB_OUTPUT"].read_text().splitlines())
    assert run.returncode == 0 and Path(outputs["sarif"]).exists(), run.stdout
    assert files["GITHUB_STEP_SUMMARY"].read_text() == Path(outputs["markdown"]).read_text()
    return int(outputs["exit-code"]), run.stdout


def expect(name, commit, result, code, *parts):
    """Ends the run unless the recipe ended so and said so."""
    got, said = result
    missing = [part for part in parts if part not in said]
    if got != code or missing:
        sys.exit(f"{name}, {commit}: exit {got} instead of {code}, lacks {missing}\n{said}")
    print(f"{name}, {commit}: exit {code}")


def reports_name_it(team, name, was):
    """SARIF and Markdown of the recipe that writes them: shape, field, what was before, and no literal."""
    for file in ("shardlint.sarif", "shardlint.md"):
        text = (team.folder / file).read_text()
        for part in (*was, "suite.py"):
            assert part in text, f"{name}: {file} lacks {part}\n{text}"
        assert "s3cret" not in text, f"{name}: {file} shows a literal"


def main():
    arguments = argparse.ArgumentParser(description=__doc__)
    arguments.add_argument("--mongod", required=True)
    arguments.add_argument("--shardlint", required=True)
    options = arguments.parse_args()
    recipes = blocks((REPOSITORY / "docs/ci.md").read_text())
    with tempfile.TemporaryDirectory() as folder:
        team = Team(Path(folder).resolve(), recipes, Path(options.mongod).resolve(), Path(options.shardlint).resolve())
        team.commit()
        expect("baseline", "the first commit", team.run("baseline"), 0, "wrote `shardlint-baseline.json`")
        gates = [name for name in recipes if name not in ("baseline", "here", "declarations")]
        assert len(gates) == 8, gates
        for name in gates:
            team.commit()
            expect(name, "a clean commit", team.run(name), 0)
            team.commit(broadcast=True)
            broadcast = ["SL101", "`find` on `shop.orders` is sent to every shard", "suite.py:"]
            expect(name, "a broadcast is added", team.run(name), 1, *broadcast)
            if name == "mongod":
                reports_name_it(team, name, ["SL101", "{ status: ? }", "customerId", "new"])
            team.commit(key=OTHER_KEY)
            expect(name, "the key is changed", team.run(name), 1, "SL902", "was multi-shard in the baseline and is broadcast now")
            if name == "mongod":
                reports_name_it(team, name, ["SL902", "{ customerId: ? }", "region", "was multi-shard"])
        team.commit()
        expect("action.yml", "a clean commit", action(team), 0)
        team.commit(broadcast=True)
        expect("action.yml", "a broadcast is added", action(team), 1, "::error file=suite.py,line=", "title=SL101")
        team.commit()
        expect("declarations", "a clean commit", team.run("declarations"), 0)
        team.commit(key=KEY + UNIQUE)
        expect("declarations", "a unique index is added", team.run("declarations"), 1, "SL403", "sharding.js:2:")


if __name__ == "__main__":
    main()
