"""The pipelines that differential testing draws: a `$match` behind stages that it may or may not pass, on the sharded
collection or on an unsharded one that reads it.
"""

from differential_filters import Filters
from differential_values import is_literal

OUTER = "u0"  # an unsharded collection with the one document {_id: 1, x: 5}


class Pipelines(Filters):
    """Draws pipelines that have a `$match` behind stages that it may or may not pass."""

    def __init__(self, draw, key, edges):
        super().__init__(draw, key, edges)
        self.new_names = ["n", "k", "_id.k", "x.y", "_id"]

    def path(self):
        if self.chance(0.15):
            name = self.draw.choice(self.new_names)
            return name if self.chance(0.7) else name + ".b"
        return super().path()

    def pipeline(self, stages=None):
        stages = stages or [self.stage() for _ in range(self.draw.choice([0, 1, 1, 1, 2, 2, 3]))]
        if self.chance(0.95):
            stages = [*stages, {"$match": self.filter(self.draw.choice([0, 1, 1, 2]))}]
        if self.chance(0.15):
            stages = [*stages, self.stage()]
        return stages

    def source(self):
        """A path to read: of the key, whole or the first step of it."""
        path = Filters.path(self)
        return path if self.chance(0.7) else path.split(".")[0]

    def stage(self):
        draw, path, source = self.draw, Filters.path(self), self.source()
        name = draw.choice(self.new_names[:2])
        plain = [
            {"$sort": {draw.choice(["z", path]): 1}},
            {"$sort": {draw.choice(["z", path]): -1}},
            {"$limit": 5},
            {"$skip": 1},
            {"$sample": {"size": 3}},
            {"$match": self.filter(1)},
            {"$match": self.filter(1)},
            {"$count": "n"},
            {"$sortByCount": "$" + source},
            {"$replaceRoot": {"newRoot": "$$ROOT"}},
            {"$replaceWith": {"a": "$a"}},
            {"$facet": {"f": [{"$match": {"z": 1}}]}},
            {"$unwind": "$" + draw.choice(["z", path])},
            {
                "$unwind": {
                    "path": "$" + path,
                    "includeArrayIndex": draw.choice(["i", "a", "b"]),
                    "preserveNullAndEmptyArrays": True,
                }
            },
            {"$bucket": {"groupBy": "$" + path, "boundaries": [0, 5, 10], "default": "x"}},
            {"$unset": draw.choice(["z", path])},
            {"$fill": {"output": {draw.choice(["z", path]): {"value": 5}}}},
            {"$fill": {"sortBy": {"z": 1}, "output": {draw.choice(["z", path]): {"method": "locf"}}}},
            {"$setWindowFields": {"partitionBy": "$" + path, "sortBy": {"z": 1}, "output": {name: {"$sum": "$z"}}}},
            {"$densify": {"field": "z", "range": {"step": 1, "bounds": "full"}}},
        ]
        shaping = [
            {"$project": self.projection(path, source, name)},
            {"$project": self.projection(path, source, name)},
            {draw.choice(["$addFields", "$set"]): self.fields(path, source, name)},
            {draw.choice(["$addFields", "$set"]): self.fields(path, source, name)},
            {"$group": self.group(source)},
            {"$group": self.group(source)},
            self.redact(),
            self.redact(),
            *self.joins(path, source),
        ]
        return draw.choice(plain if self.chance(0.45) else shaping)

    def projection(self, path, source, name):
        return self.draw.choice(
            [
                {path: 1},
                {path: 0},
                {"z": 0},
                {"z": 1},
                {path: True, "z": 1},
                {name: "$" + source},
                {name: "$" + source, path: 1},
                {"x": {"y": "$" + source}},
                {"x.y": "$" + source},
                {name: "$$ROOT." + source},
                {name: "$$ROOT"},
                {name: {"$add": ["$" + source, 1]}},
                {path: {"$literal": 5}},
                {path: "$z"},
                {"_id": 0, path: 1},
                {"_id": 0},
                {path + ".x": 1},
                {path: {"b": 1}},
                {"_id": "$" + source},
                {name: {"k": "$" + source}},
                {name: "$$CURRENT." + source},
                {name: {"$literal": "$a"}},
            ]
        )

    def fields(self, path, source, name):
        return self.draw.choice(
            [
                {name: "$" + source},
                {name: "$$ROOT." + source},
                {"x.y": "$" + source},
                {"x": {"y": "$" + source}},
                {name: 5},
                {path: 5},
                {path: "$" + path},
                {path: "$z"},
                {path + ".x": 5},
                {path.split(".")[0] + ".q": 5},
                {name: {"$add": ["$" + source, 1]}},
                {name: "$" + source, "k2": "$" + name},
                {"z": 1},
                {name: {"k": "$" + source}},
                {path: "$$REMOVE"},
                {"_id": "$" + source},
                {name: "$$ROOT"},
            ]
        )

    def group(self, source):
        identity = self.draw.choice(
            [
                "$" + source,
                {"k": "$" + source},
                {"k": "$" + source, "j": "$z"},
                {"k": 5},
                None,
                "$z",
                {"k": {"$add": ["$" + source, 1]}},
                "$$ROOT." + source,
                {"k": {"j": "$" + source}},
                "$_id",
            ]
        )
        return self.draw.choice(
            [{"_id": identity}, {"_id": identity, "n": {"$sum": 1}}, {"_id": identity, "a": {"$first": "$a"}}]
        )

    def redact(self):
        return {"$redact": self.draw.choice(["$$KEEP", "$$DESCEND", {"$cond": [{"$eq": ["$z", 1]}, "$$PRUNE", "$$DESCEND"]}])}

    def joins(self, path, source):
        target = self.draw.choice(["j", "j", "j", path, path.split(".")[0], "x.y"])
        return [
            {"$lookup": {"from": OUTER, "localField": source, "foreignField": "x", "as": target}},
            {"$lookup": {"from": OUTER, "pipeline": [], "as": target}},
            {
                "$graphLookup": {
                    "from": OUTER,
                    "startWith": "$" + source,
                    "connectFromField": "x",
                    "connectToField": "_id",
                    "as": target,
                }
            },
            {
                "$lookup": {
                    "from": OUTER,
                    "localField": "z",
                    "foreignField": source,
                    "let": {"q": "$" + source},
                    "pipeline": [{"$match": {"$expr": {"$eq": ["$$q", "$x"]}}}],
                    "as": target,
                }
            },
            {"$unionWith": OUTER},
            {"$unionWith": {"coll": OUTER, "pipeline": [{"$match": {"x": 5}}]}},
        ]

    def foreign(self, collection):
        """A pipeline on the unsharded collection that reads the sharded one."""
        draw, path = self.draw, Filters.path(self)
        inner = self.pipeline() if self.chance(0.8) else []
        local = draw.choice(["x", "x", "x", "_id", "z"])
        kind = draw.choice(["equal", "both", "pipeline", "variables", "union", "graph"])
        before = draw.choice([[], [], [], [{"$match": {"_id": 1}}], [{"$limit": 1}]])
        match kind:
            case "equal":
                stage = {"$lookup": {"from": collection, "localField": local, "foreignField": path, "as": "j"}}
            case "both":
                stage = {"$lookup": {"from": collection, "localField": local, "foreignField": path, "pipeline": inner, "as": "j"}}
            case "pipeline":
                stage = {"$lookup": {"from": collection, "pipeline": inner, "as": "j"}}
            case "variables":
                match_on = {"$match": {"$expr": {draw.choice(["$eq", "$eq", "$gt", "$lte"]): ["$" + path, "$$q"]}}}
                stage = {
                    "$lookup": {
                        "from": collection,
                        "let": {"q": draw.choice(["$x", "$z", "$_id", 5])},
                        "pipeline": [match_on, *inner][: draw.choice([1, 4])],
                        "as": "j",
                    }
                }
            case "union":
                stage = {"$unionWith": {"coll": collection, "pipeline": inner} if self.chance(0.9) else collection}
            case _:
                stage = {
                    "$graphLookup": {
                        "from": collection,
                        "startWith": draw.choice(["$x", "$_id", "$z", 5]),
                        "connectFromField": "q",
                        "connectToField": path,
                        "as": "j",
                    }
                }
                if self.chance(0.4):
                    stage["$graphLookup"]["restrictSearchWithMatch"] = self.filter(1)
        value = self.value(path)
        matched = value if is_literal(value) else {"$eq": value}
        after = draw.choice(
            [
                [],
                [],
                [],
                [{"$match": {"j." + path: matched}}],
                [{"$unwind": "$j"}],
                [{"$unwind": "$j"}, {"$match": {"j." + path: matched}}],
            ]
        )
        return [*before, stage, *after]
