"""The filters and documents that differential testing draws: every operator of the query language on the fields of a shard
key, their parents and children, and other fields.

They are written to be understood by the server, mostly: some hold what it refuses, and are passed over by the caller.
"""

from bson import Decimal128, Int64, Regex

from differential_values import ARRAYS, REGEXES, SCALARS, any_value, is_literal

TYPES = [
    "double",
    "string",
    "object",
    "array",
    "binData",
    "undefined",
    "objectId",
    "bool",
    "date",
    "null",
    "regex",
    "javascript",
    "int",
    "timestamp",
    "long",
    "decimal",
    "minKey",
    "maxKey",
    "number",
    1,
    2,
    10,
    -1,
    127,
    "dbPointer",
    "symbol",
]
RANGES = ["$gt", "$gte", "$lt", "$lte"]


class Filters:
    """Draws filters on the fields of a shard key, their parents and children, and other fields."""

    def __init__(self, draw, key, edges):
        self.draw, self.key, self.edges = draw, list(key), edges
        self.others = [
            "z",
            "_id",
            "a",
            "b",
            "a.b",
            *(f"{field}.x" for field in key),
            *(f"{field}.0" for field in key),
            *(field.rsplit(".", 1)[0] for field in key if "." in field),
        ]
        self.variables, self.top = {}, True

    def chance(self, share):
        return self.draw.random() < share

    def path(self):
        return self.draw.choice(self.key) if self.chance(0.75) else self.draw.choice(self.others)

    def value(self, path=None):
        edges = [edge[path] for edge in self.edges if path in edge and not isinstance(edge[path], Int64)]
        return any_value(self.draw, edges or [value for edge in self.edges for value in edge.values()])

    def filter(self, depth=None):
        depth = self.draw.choice([1, 2, 2, 2, 3]) if depth is None else depth
        roll = self.draw.random()
        if roll < 0.03:
            return {}
        if roll < 0.45:
            return self.on_key(depth)
        return self.members(depth)

    def on_key(self, depth):
        """Most of the key's fields, mostly by equality: what reaches a single shard."""
        filter = {}
        for field in self.key:
            if self.chance(0.88):
                filter[field] = self.equality(field) if self.chance(0.65) else self.condition(field, depth)
        if any("." in field for field in self.key) and self.chance(0.25):
            filter = nested(filter)
        if self.chance(0.3):
            filter.update(self.members(depth - 1))
        return filter

    def equality(self, path):
        value = self.value(path)
        forms = [{"$eq": value}, {"$in": [value]}, {"$all": [value]}]
        return value if is_literal(value) and self.chance(0.7) else self.draw.choice(forms)

    def members(self, depth):
        filter = {}
        for _ in range(self.draw.choice([1, 1, 1, 2, 2, 3])):
            roll = self.draw.random()
            if depth > 0 and roll < 0.33:
                operator = self.draw.choice(["$and", "$or", "$or", "$or", "$nor"])
                filter[operator] = [self.filter(depth - 1) for _ in range(self.draw.choice([1, 2, 2, 3]))]
            elif roll < 0.43 and self.top:
                filter["$expr"] = self.expression(depth)
            elif 0.43 <= roll < 0.46:
                filter.update(self.oddity())
            else:
                path = self.path()
                filter[path] = self.condition(path, depth)
        return filter

    def oddity(self):
        return self.draw.choice(
            [
                {"$comment": "c"},
                {"$alwaysTrue": 1},
                {"$alwaysFalse": 1},
                {"$where": "true"},
                {"$sampleRate": 0.5},
                {"$text": {"$search": "x"}},
                {"geo": {"$near": [0, 0]}},
                {"geo": {"$geoWithin": {"$center": [[0, 0], 1]}}},
                {"$jsonSchema": self.schema()},
            ]
        )

    def schema(self):
        field, draw = self.draw.choice(self.key).split(".")[0], self.draw
        of_field = draw.choice(
            [
                {"minimum": 5},
                {"enum": [5]},
                {"enum": [5, 100]},
                {"bsonType": "int"},
                {"type": "number"},
                {"type": "string"},
                {"not": {"enum": [5]}},
                {"pattern": "^a"},
                {"anyOf": [{"enum": [5]}, {"enum": [7]}]},
                {"allOf": [{"enum": [5]}]},
                {"properties": {"b": {"enum": [5]}}},
            ]
        )
        return draw.choice(
            [
                {},
                {"required": [field]},
                {"properties": {field: of_field}},
                {"required": [field], "properties": {field: of_field}},
                {"minProperties": 1},
                {"allOf": [{"required": [field], "properties": {field: of_field}}]},
                {"anyOf": [{"properties": {field: of_field}}]},
                {"additionalProperties": False},
            ]
        )

    def regex(self):
        """A regex with a literal start, or pieces in any order; not every order is one."""
        pieces = [
            "a",
            "b",
            "m",
            "ab",
            ".",
            "*",
            "+",
            "?",
            "^",
            "$",
            "|",
            "\\Q",
            "\\E",
            "[ab]",
            "(a)",
            "{2}",
            "\\.",
            "\\d",
            "\\n",
            "\\\\",
            " ",
            "#",
            "x",
            "\\A",
            "é",
            "-",
            "]",
        ]
        start = self.draw.choice(["^", "^", "^", "^a", "\\A", "^\\Q", "", "^(", "^^"])
        return start + "".join(self.draw.choices(pieces, k=self.draw.choice([0, 1, 2, 3, 4]))) + (")" if start == "^(" else "")

    def condition(self, path, depth):
        if self.chance(0.3):
            return self.equality(path)
        condition = self.operator(path, depth)
        if self.chance(0.2):
            condition.update(self.operator(path, depth))
        return condition

    def operator(self, path, depth):
        draw, value = self.draw, self.value(path)
        (kind,) = draw.choices(
            [
                "range",
                "between",
                "in",
                "nin",
                "ne",
                "eq",
                "exists",
                "type",
                "mod",
                "regex",
                "not",
                "all",
                "values",
                "objects",
                "size",
                "bits",
            ],
            [9, 6, 7, 2, 3, 3, 3, 4, 1, 3, 4, 3, 3, 4, 1, 1],
        )
        match kind:
            case "range":
                return {draw.choice(RANGES): value}
            case "between":
                return {draw.choice(RANGES[:2]): value, draw.choice(RANGES[2:]): self.value(path)}
            case "in" | "nin":
                return {f"${kind}": [self.value(path) for _ in range(draw.choice([0, 1, 2, 2, 3, 4]))]}
            case "ne" | "eq":
                return {f"${kind}": value}
            case "exists":
                return {"$exists": draw.choice([True, False, 1, 0, None, "x"])}
            case "type":
                return {"$type": draw.choice(TYPES) if self.chance(0.7) else draw.sample(TYPES, draw.choice([1, 2, 3]))}
            case "mod":
                return {"$mod": [draw.choice([2, 3, 5]), draw.choice([0, 1])]}
            case "regex":
                regex = (
                    draw.choice(REGEXES)
                    if self.chance(0.5)
                    else Regex(self.regex(), draw.choice(["", "", "i", "s", "x", "m", "sx"]))
                )
                return draw.choice(
                    [{"$regex": regex}, {"$regex": regex.pattern, "$options": draw.choice(["", "i", "s", "x", "m"])}]
                )
            case "not":
                inner = draw.choice(REGEXES) if self.chance(0.15) else self.operator(path, depth - 1)
                return {"$not": inner}
            case "all":
                return {"$all": self.all_members(path, depth)}
            case "values":
                return {"$elemMatch": self.operator(path, depth - 1)}
            case "objects":
                return {"$elemMatch": self.inside(path, depth)}
            case "size":
                return {"$size": draw.choice([0, 1])}
            case _:
                return {draw.choice(["$bitsAllSet", "$bitsAnyClear"]): draw.choice([5, [0, 2]])}

    def all_members(self, path, depth):
        if self.chance(0.3):
            return [
                {"$elemMatch": self.operator(path, depth - 1) if self.chance(0.5) else self.inside(path, depth)}
                for _ in range(self.draw.choice([1, 2]))
            ]
        return [self.value(path) for _ in range(self.draw.choice([0, 1, 1, 2, 2]))]

    def inside(self, path, depth):
        """A filter for the members of an array of documents: paths continue `path` where the key does."""
        tails = [field[len(path) + 1 :] for field in self.key if field.startswith(path + ".")] or ["x", "b"]
        inner = Filters(self.draw, tails, [{tail: edge.get(f"{path}.{tail}", 5) for tail in tails} for edge in self.edges])
        inner.others, inner.top = ["x", "z"], False  # `$expr` is for documents, not for members of arrays
        return inner.members(max(depth - 1, 0))

    def expression(self, depth):
        draw = self.draw
        roll = draw.random()
        if depth > 0 and roll < 0.3:
            operator = draw.choice(["$and", "$or", "$and", "$or", "$not"])
            count = 1 if operator == "$not" else draw.choice([0, 1, 2, 2, 3])
            return {operator: [self.expression(depth - 1) for _ in range(count)]}
        if roll < 0.36:
            return draw.choice(
                [
                    True,
                    False,
                    1,
                    0,
                    None,
                    {"$literal": 5},
                    "$a",
                    {"$in": ["$a", [5, 7]]},
                    {"$gt": [{"$rand": {}}, 2]},
                    {"$let": {"vars": {"q": "$a"}, "in": {"$eq": ["$$q", 5]}}},
                    {"$cond": [True, {"$eq": ["$a", 5]}, False]},
                ]
            )
        operator = draw.choice(["$eq", "$eq", "$eq", "$gt", "$gte", "$lt", "$lte", "$ne", "$cmp"])
        operands = [self.field(), self.constant() if self.chance(0.9) else self.field()]
        return {operator: operands[::-1] if self.chance(0.35) else operands}

    def field(self):
        return self.draw.choice(["$", "$", "$", "$", "$$ROOT.", "$$CURRENT."]) + self.path()

    def constant(self):
        draw = self.draw
        if self.chance(0.25):
            name = draw.choice(["v", "w"])
            self.variables.setdefault(name, self.value())
            return draw.choice(["$$" + name, "$$" + name, {"$add": ["$$" + name, 1]}, f"$${name}.b"])
        if self.chance(0.2):
            return draw.choice(
                [
                    {"$add": [2, 3]},
                    {"$multiply": [10, 10.0]},
                    {"$subtract": [5, 5]},
                    {"$concat": ["a", "b"]},
                    {"$toInt": "5"},
                    {"$literal": [5]},
                    [5],
                    {"b": 5},
                    "$$REMOVE",
                    {"$toString": 5},
                    {"$divide": [10, 2]},
                    {"$toLower": "M"},
                    {"$abs": -5},
                    {"$dateFromString": {"dateString": "2020-01-01"}},
                    {"$toDate": Int64(0)},
                    {"$mod": [105, 100]},
                    {"$cond": [True, 5, 7]},
                    {"$ifNull": [None, 5]},
                    {"$arrayElemAt": [[5, 7], 1]},
                    {"$max": [5, 100]},
                    {"$toDecimal": "5.5"},
                    {"$toLong": 5},
                    {"$not": [True]},
                    {"$size": [[1, 2]]},
                    {"$concatArrays": [[5], [7]]},
                    {"$mergeObjects": [{"b": 5}]},
                    {"$substrCP": ["ab", 0, 1]},
                    {"$toObjectId": "5f0000000000000000000001"},
                    {"$floor": 5.5},
                    {"$round": [5.5]},
                    {"$trunc": [100.9]},
                    {"$pow": [10, 2]},
                    {"$sqrt": 25},
                    {"$type": 5},
                ]
            )
        value = self.value()
        return value if isinstance(value, (int, float, bool, Decimal128)) else {"$literal": value}

    def document(self, spare=0.1):
        """A document for an insert or a replacement: the key's fields, some missing, parents sometimes odd."""
        document = {}
        for field in self.key:
            if self.chance(1 - spare):
                document[field] = self.draw.choice(ARRAYS) if self.chance(0.05) else self.value(field)
        if self.chance(0.93):  # otherwise the names of a dotted key are taken literally
            document = nested(document)
        if self.chance(0.08):
            document[self.key[0].split(".")[0]] = self.draw.choice(ARRAYS + SCALARS)
        if self.chance(0.5):
            document["z"] = 1
        return document


def nested(flat):
    """`{"a.b": 5}` as `{a: {b: 5}}`."""
    result = {}
    for path, value in flat.items():
        *parents, last = path.split(".")
        place = result
        for parent in parents:
            if not isinstance(place.get(parent), dict):
                place[parent] = {}
            place = place[parent]
        place[last] = value
    return result
