"""The values that differential testing draws: of every BSON type, and beside every edge of the chunks."""

import datetime
import math
import random

from bson import Binary, Code, Decimal128, Int64, MaxKey, MinKey, ObjectId, Regex, Timestamp
from bson.datetime_ms import DatetimeMS

NUMBERS = [
    0,
    -0.0,
    1,
    5,
    5.0,
    5.5,
    -1,
    10,
    100,
    100.5,
    Int64(5),
    Int64(7),
    Decimal128("5"),
    Decimal128("5.5"),
    Decimal128("6.5"),
    Decimal128("-0"),
    2**31,
    -(2**31),
    2**53 + 1,
    float(2**53),
    2**63 - 1,
    -(2**63),
    9.223372036854775807e18,
    1e19,
    -1e19,
    5e-324,
    1.7976931348623157e308,
    Decimal128("1E+400"),
    Decimal128("-1E+400"),
    Decimal128("0.1"),
    0.1,
    Decimal128("9223372036854775807.5"),
]
ENDS_OF_NUMBERS = [math.nan, math.inf, -math.inf, Decimal128("NaN"), Decimal128("Infinity"), Decimal128("-Infinity")]
STRINGS = ["", "a", "ab", "A", "b", "m", "z", "é", "\u00ff", "a\0b", "\0", "\U0001f600", "5", "^b"]
DOCUMENTS = [{}, {"b": 5}, {"b": 5, "c": 1}, {"b": {"c": 5}}, {"c": 1}, {"b": None}, {"x": "a"}, {"b": MinKey()}, {"b": "m"}]
OTHERS = [
    None,
    True,
    False,
    ObjectId("000000000000000000000000"),
    ObjectId("5f0000000000000000000001"),
    ObjectId("ffffffffffffffffffffffff"),
    DatetimeMS(0),
    DatetimeMS(1577836800000),
    DatetimeMS(-1),
    DatetimeMS(-(2**63)),
    DatetimeMS(2**63 - 1),
    Timestamp(0, 0),
    Timestamp(1, 1),
    Timestamp(2**32 - 1, 2**32 - 1),
    Binary(b""),
    Binary(b"abc"),
    Binary(b"\x00" * 16, 4),
    Binary(bytes(range(16)), 4),
    Binary(b"\x01" * 16, 3),
    Binary(b"x", 128),
    Code("x"),
    Code("x", {"y": 1}),
]
ENDS = [MinKey(), MaxKey()]
REGEXES = [
    Regex("^a"),
    Regex("^ab*"),
    Regex("^m.", "s"),
    Regex("b"),
    Regex("^a", "i"),
    Regex("^"),
    Regex("^a|b"),
    Regex(r"\Aab"),
    Regex(r"^a\.b"),
    Regex("^z"),
    Regex("^5"),
    Regex("^é"),
    Regex("^a b", "x"),
    Regex(r"^\Qa.b\E"),
]
ARRAYS = [[], [5], [[5]], [5, "a"], ["m"], [None], [{"b": 5}], [[]], [MaxKey()], [MinKey()], [1, 100], [{}], [True]]
SCALARS = NUMBERS + STRINGS + OTHERS


def edge_value(draw):
    """A value that may bound a chunk; arrays and regexes may not."""
    kinds = [(NUMBERS, 10), (STRINGS, 5), (OTHERS, 5), (DOCUMENTS, 2), (ENDS_OF_NUMBERS, 2)]
    (pool,) = draw.choices([kind for kind, _ in kinds], [weight for _, weight in kinds])
    return draw.choice(pool)


def any_value(draw, edges=()):
    """Any value; half of them are an edge of a chunk or lie beside one."""
    if edges and draw.random() < 0.5:
        value = draw.choice(edges)
        return beside(draw, value) if draw.random() < 0.5 else value
    kinds = [(NUMBERS, 9), (ENDS_OF_NUMBERS, 2), (STRINGS, 5), (DOCUMENTS, 3), (OTHERS, 5), (ENDS, 1), (REGEXES, 1), (ARRAYS, 2)]
    (pool,) = draw.choices([kind for kind, _ in kinds], [weight for _, weight in kinds])
    return draw.choice(pool)


def beside(draw, value):
    """A near value: the next number, the same number of another type, a longer string, a wider document."""
    match value:
        case bool() | None:
            return draw.choice([True, False, None, ObjectId("ffffffffffffffffffffffff")])
        case int() if abs(value) < 2**52:
            return draw.choice([value - 1, value + 1, float(value), Int64(value), Decimal128(str(value)), value + 0.5])
        case int():
            return draw.choice([float(value), Decimal128(str(value)), Decimal128(f"{value}.5")])
        case float() if math.isfinite(value):
            return draw.choice([math.nextafter(value, math.inf), math.nextafter(value, -math.inf), -value])
        case str():
            return draw.choice(
                [value + "\0", value[:-1], value + "a", value.upper(), Regex("^" + (value[:1] if value[:1].isalnum() else "b"))]
            )
        case dict():
            return draw.choice([{**value, "z": 1}, dict(list(value.items())[:-1]), [value], {"$db": 1} if value else {"": 0}])
        case DatetimeMS():
            millis = int(value)
            return DatetimeMS(max(-(2**63), min(2**63 - 1, millis + draw.choice([-1, 1]))))
        case datetime.datetime():
            return value + datetime.timedelta(milliseconds=draw.choice([-1, 1]))
        case Timestamp():
            return Timestamp(value.time, value.inc ^ 1)
        case ObjectId():
            return draw.choice([ObjectId(f"{(int(str(value), 16) ^ 1):024x}"), True, Timestamp(0, 0)])
        case Decimal128():
            return draw.choice([5, math.nan, math.inf, 0])
        case _:
            return any_value(draw)


def is_literal(value):
    """Whether a filter takes `{path: value}` for a value, not for operators."""
    return not (isinstance(value, dict) and any(name.startswith("$") for name in value))


def seeded(*parts):
    """A generator of its own for each part of a run, so that one part's draws do not move another's."""
    return random.Random("/".join(map(str, parts)))
