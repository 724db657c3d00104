"""Neighbours to try: simulated tables, and the record that one of two has more.

Whoever picks is handed in as a function, so that hypothesis can shrink what it finds and the
command can draw from a plain generator.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np

from hedgerow.audit.records import Codes, Pick, records_of
from hedgerow.schema import Schema

__all__ = [
    "TINY_TABLES",
    "TINY_UNIVERSES",
    "Pair",
    "Pick",
    "deep_pairs",
    "edge_cases",
    "large_universe",
    "long_schema",
    "pair_of",
    "picker",
    "random_pair",
    "random_schema",
    "random_universe",
    "tiny_pairs",
]

_MOST_ROWS = 12  # small tables: one record weighs most where few others are


@dataclass(frozen=True, kw_only=True)
class Pair:
    """Two tables, or two sets of transactions, that differ in one record.

    Args:
        words: What is special about them.
        without: The smaller one: a `Table` or `Transactions`.
        with_it: The same with one record more.
        extra: The codes of that record.
    """

    words: str
    without: Any
    with_it: Any
    extra: tuple[int, ...]

    @property
    def tables(self) -> tuple[Any, Any]:
        """Both, the smaller first."""
        return self.without, self.with_it


def picker(seed: int) -> Pick:
    """Picks from an ordinary generator.

    Example:
        >>> 1 <= picker(5)(1, 3) <= 3
        True
    """
    source = np.random.default_rng(seed)
    return lambda low, high: int(source.integers(low, high + 1))


def pair_of(words: str, schema: Schema, rows: Sequence[Codes], extra: Codes) -> Pair:
    """A pair from the codes of a table and of one record.

    Args:
        words: What is special about it.
        schema: The public schema.
        rows: The codes of the records: predictors, then the class; or items.
        extra: The codes of the record that the neighbour has in addition.
    """
    records = records_of(schema)
    return Pair(
        words=words,
        without=records.data(rows),
        with_it=records.data([*rows, extra]),
        extra=tuple(extra),
    )


def edge_cases(schema: Schema, pick: Pick) -> list[Pair]:
    """The neighbours at which mistakes show first, on any schema."""
    sketches = records_of(schema).edge_cases(pick)
    return [pair_of(words, schema, rows, extra) for words, rows, extra in sketches]


DEEP = Schema.from_dict(
    {"name": "deep", "unit": "row", "items": {"universe": {"range": [1, 256]}, "fan_out": 2}}
)
"""A universe whose tree has eight levels."""


def deep_pairs(epsilon: Fraction) -> list[Pair]:
    """Transactions that lie so far down a tree that a gate decides about them on every level.

    All records have the same item, so that every partition on the path holds all of them, and they
    are so many that the gate asks for about as much as there is on the first, second, ... level.

    Args:
        epsilon: What all decisions of the gate may cost a record.
    """
    beta = 2.0**3  # two children, and one more
    scale = (2 * beta - 1) / ((beta - 1) * float(epsilon))
    step = math.ceil(scale * math.log(beta))
    return [
        pair_of(f"{rows} records {level} steps down", DEEP, [(255,)] * rows, (255,))
        for level in range(9)
        for rows in (level * step, level * step + step // 2, (level + 1) * step - 1)
    ]


def random_pair(schema: Schema, pick: Pick) -> Pair:
    """Any small table of a schema, and any record."""
    records = records_of(schema)
    rows = [records.random(pick) for _ in range(pick(0, _MOST_ROWS))]
    return pair_of("at random", schema, rows, records.random(pick))


def random_schema(pick: Pick) -> Schema:
    """A small schema: one to three predictors, numeric or with a taxonomy, and a class."""
    attributes: dict[str, Any] = {}
    for name in "abc"[: pick(1, 3)]:
        if pick(0, 1):
            attributes[name] = {"type": "numeric", "low": 0, "high": pick(1, 12), "step": 1}
        else:
            groups = [pick(1, 3) for _ in range(pick(1, 3))]
            attributes[name] = {
                "type": "categorical",
                "taxonomy": {
                    f"{name}{group}": [f"{name}{group}{leaf}" for leaf in range(size)]
                    for group, size in enumerate(groups)
                },
            }
    values = [f"k{i}" for i in range(pick(1, 3))]
    attributes["class"] = {"type": "categorical", "role": "class", "values": values}
    return Schema.from_dict({"name": "simulated", "unit": "row", "attributes": attributes})


def long_schema(pick: Pick) -> Schema:
    """The same with attributes that have more codes than a table of marginals has parts."""
    attributes: dict[str, Any] = {
        "long": {"type": "numeric", "low": 0, "high": pick(16, 40), "step": 1}
    }
    if pick(0, 2) == 0:
        attributes["many"] = {
            "type": "categorical",
            "values": [f"m{i}" for i in range(pick(65, 70))],
        }
    if pick(0, 1):
        attributes["few"] = {"type": "categorical", "values": ["x", "y", "z"]}
    if pick(0, 2):
        values = [f"k{i}" for i in range(pick(1, 3))]
        attributes["class"] = {"type": "categorical", "role": "class", "values": values}
    return Schema.from_dict({"name": "simulated", "unit": "row", "attributes": attributes})


def random_universe(pick: Pick) -> Schema:
    """A small universe of items, under a tree of any fan-out."""
    return _universe(pick(1, 7), pick)


def large_universe(pick: Pick) -> Schema:
    """A universe with more sets of items than are counted one by one, so that a delta is spent."""
    return _universe(pick(18, 22), pick)


def _universe(size: int, pick: Pick) -> Schema:
    items = {"universe": {"range": [1, size]}, "fan_out": pick(2, 8)}
    return Schema.from_dict({"name": "simulated", "unit": "row", "items": items})


TINY_TABLES = {
    "a 4x2 grid": Schema.from_dict({"name": "grid", "unit": "row", "attributes": {
        "a": {"type": "numeric", "low": 0, "high": 3, "step": 1},
        "b": {"type": "categorical", "values": ["x", "y"]}}}),
    "2 values and a class": Schema.from_dict({"name": "classes", "unit": "row", "attributes": {
        "a": {"type": "categorical", "values": ["x", "y"]},
        "c": {"type": "categorical", "role": "class", "values": ["no", "yes"]}}}),
    "a 4x4 grid": Schema.from_dict({"name": "square", "unit": "row", "attributes": {
        "a": {"type": "numeric", "low": 0, "high": 3, "step": 1},
        "b": {"type": "categorical", "taxonomy": {"x": ["x1", "x2"], "y": ["y1", "y2"]}}}}),
}  # fmt: skip
"""Domains of at most 4x4 cells."""

TINY_UNIVERSES = {
    f"{items} items": Schema.from_dict(
        {
            "name": "few items",
            "unit": "row",
            "items": {"universe": {"range": [1, items]}, "fan_out": 2},
        }
    )
    for items in (2, 3, 4)
}
"""Universes with at most 15 sets of items."""


def tiny_pairs(schema: Schema) -> list[Pair]:
    """Neighbours whose whole laws can be compared."""
    low, high = records_of(schema).ends()
    return [
        pair_of("no records", schema, [], low),
        pair_of("one record and another", schema, [low], high),
    ]
