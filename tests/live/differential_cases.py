"""The operations that differential testing draws: reads and writes of every form on one collection."""

from differential_filters import Filters
from differential_pipelines import OUTER, Pipelines

LOCALES = [{"locale": "en", "strength": 2}, {"locale": "simple"}, {"locale": "fr"}]


class Operations:
    """Draws whole operations on one collection, as members of a case."""

    def __init__(self, draw, key, edges, collection, views):
        self.draw, self.collection, self.views = draw, collection, views
        self.filters, self.pipelines = Filters(draw, key, edges), Pipelines(draw, key, edges)
        self.inserted = 0

    def read(self):
        roll = self.draw.random()
        self.filters.variables, self.pipelines.variables = {}, {}
        if roll < 0.55:
            case = {"op": "find", "filter": self.filters.filter()}
            options = self.draw.choice(
                [
                    {},
                    {},
                    {},
                    {"limit": 1},
                    {"sort": {"z": 1}},
                    {"sort": {self.filters.key[0]: -1}, "skip": 2, "limit": 5},
                    {"projection": {"z": 1}},
                    {"hint": {"$natural": 1}},
                    {"hint": {"_id": 1}},
                ]
            )
        elif roll < 0.85:
            case, options = {"op": "aggregate", "pipeline": self.pipelines.pipeline()}, {}
        else:
            case, options = {"op": "aggregate", "pipeline": self.pipelines.foreign(self.collection), "outer": OUTER}, {}
        if self.views and "outer" not in case and self.draw.random() < 0.08:
            case["view"] = self.draw.choice(self.views)
        variables = self.filters.variables | self.pipelines.variables
        if variables:
            options = {**options, "let": variables}
        if options:
            case["options"] = options
        return self.with_collation(case)

    def with_collation(self, case):
        # A view has its own collation, which an operation on it may not change.
        if self.draw.random() < 0.12 and "view" not in case:
            case["collation"] = self.draw.choice(LOCALES)
        return case

    def write(self):
        (kind,) = self.draw.choices(["update", "delete", "insert"], [5, 3, 2])
        self.filters.variables = {}
        if kind == "insert":
            return self.insert()
        case = {"op": kind, "filter": self.filters.filter(self.draw.choice([0, 0, 1, 2]))}
        if self.draw.random() < 0.25:
            case["filter"]["_id"] = self.filters.equality("_id")
        if kind == "delete":
            case["limit"] = self.draw.choice([0, 1, 1])
        else:
            case.update(update=self.update(), multi=self.draw.random() < 0.3, upsert=self.draw.random() < 0.35)
        if self.filters.variables:
            case["options"] = {"let": self.filters.variables}
        return self.with_collation(case)

    def update(self):
        filters, path = self.filters, self.filters.path()
        return self.draw.choice(
            [
                {"$set": {"u": 1}},
                {"$set": {"u": 1}},
                {"$inc": {"u": 1}},
                {"$set": {path: filters.value(path)}},
                {"$unset": {path: 1}},
                {"$setOnInsert": {path: 5}},
                filters.document(),
                filters.document(),
                filters.document(),
                {**filters.document(), "_id": filters.value("_id")},
                {},
                {"z": 1},
                [{"$set": {"u": 1}}],
                [{"$set": {path: {"$literal": filters.value(path)}}}],
                [{"$replaceWith": {"$literal": filters.document()}}],
                [{"$unset": path}],
            ]
        )

    def insert(self):
        document = self.filters.document(0.15)
        if "_id" not in document:
            self.inserted += 1
            document["_id"] = f"new {self.inserted}"
        return {"op": "insert", "document": document}
