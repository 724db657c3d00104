"""Neighbours to try: simulated tables, and the record that one of two has more.

Whoever picks is handed in as a function, so that hypothesis can shrink what it finds and the
command can draw from a plain generator.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np

from hedgerow.schema import Schema
from hedgerow.table import Table, Transactions

__all__ = [
    "TINY_TABLES",
    "TINY_UNIVERSES",
    "Pair",
    "Pick",
    "deep_pairs",
    "edge_cases",
    "long_schema",
    "pair_of",
    "picker",
    "random_pair",
    "random_schema",
    "random_universe",
    "short_or_long_schema",
    "tiny_pairs",
]

Pick = Callable[[int, int], int]
"""Picks a whole number from low to high, both included."""

_MOST_ROWS = 12  # small tables: one record weighs most where few others are


@dataclass(frozen=True)
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


def pair_of(words: str, schema: Schema, rows: Any, extra: tuple[int, ...]) -> Pair:
    """A pair from the codes of a table and of one record.

    Args:
        words: What is special about it.
        schema: The public schema.
        rows: The codes of the records: predictors, then the class; or items.
        extra: The codes of the record that the neighbour has in addition.
    """
    if schema.items is not None:
        return Pair(
            words, _transactions(schema, rows), _transactions(schema, [*rows, extra]), tuple(extra)
        )
    codes = np.asarray(rows, dtype=np.uint32).reshape(-1, len(extra))
    more = np.concatenate([codes, np.asarray([extra], dtype=np.uint32)])
    return Pair(words, Table(schema, codes), Table(schema, more), tuple(extra))


def _transactions(schema: Schema, records: Any) -> Transactions:
    start = np.concatenate([[0], np.cumsum([len(record) for record in records])])
    codes = [code for record in records for code in sorted(record)]
    return Transactions(schema, start.astype(np.int64), np.asarray(codes, dtype=np.int32))


def _sizes(schema: Schema) -> list[int]:
    """The number of codes of every predictor, and of classes."""
    return [attribute.size for attribute in schema.attributes] + [max(1, len(schema.classes))]


def edge_cases(schema: Schema, pick: Pick) -> list[Pair]:
    """The neighbours at which mistakes show first, on any schema."""
    if schema.items is not None:
        return _transaction_edge_cases(schema, pick)
    sizes = _sizes(schema)
    low, high = tuple(0 for _ in sizes), tuple(size - 1 for size in sizes)
    middle = tuple(size // 2 for size in sizes)
    unseen = (*middle[:-1], high[-1])
    first, last = (*low[:-1], 0), (*high[:-1], 0)
    seen = [(*middle[:-1], 0), (*high[:-1], max(0, high[-1] - 1))]
    tied = [first, (*low[:-1], high[-1]), last, (*high[:-1], high[-1])]

    def crowd(number: int) -> list[tuple[int, ...]]:
        return [tuple(pick(0, size - 1) for size in sizes) for _ in range(number)]

    return [
        pair_of("empty table", schema, [], middle),
        pair_of("alone in its region", schema, [first] * 12, last),
        pair_of("low grid end", schema, crowd(15), low),
        pair_of("high grid end", schema, crowd(15), high),
        pair_of("unseen class", schema, seen * 6, unseen),
        pair_of("ties", schema, tied, tied[1]),
        pair_of("one of many", schema, crowd(40), middle),
    ]


def _some_items(schema: Schema, pick: Pick) -> tuple[int, ...]:
    """Any set of items but the empty one."""
    assert schema.items is not None
    items = schema.items.size
    number = pick(1, min(items, 8))
    return tuple(sorted({pick(0, items - 1) for _ in range(number)}))


def _transaction_edge_cases(schema: Schema, pick: Pick) -> list[Pair]:
    assert schema.items is not None
    items = schema.items.size
    everything, last = tuple(range(min(items, 12))), (items - 1,)
    crowd = [_some_items(schema, pick) for _ in range(30)]
    ends = [(0,), last]
    return [
        pair_of("no transactions", schema, [], everything),
        pair_of("no transactions, one item", schema, [], (0,)),
        pair_of("alone with its item", schema, [(0,)] * 9, last),
        pair_of("many items", schema, [(0,)] * 9 + [everything] * 3, everything),
        pair_of("one of many, last item", schema, crowd, last),
        pair_of("one of many", schema, crowd, everything),
        pair_of("a new set of known items", schema, ends * 5, tuple(sorted({0, items - 1}))),
    ]


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
    if schema.items is not None:
        records = [_some_items(schema, pick) for _ in range(pick(0, _MOST_ROWS))]
        return pair_of("at random", schema, records, _some_items(schema, pick))
    sizes = _sizes(schema)

    def row() -> tuple[int, ...]:
        return tuple(pick(0, size - 1) for size in sizes)

    rows = [row() for _ in range(pick(0, _MOST_ROWS))]
    return pair_of("at random", schema, rows, row())


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


def short_or_long_schema(pick: Pick) -> Schema:
    """Either of both."""
    return long_schema(pick) if pick(0, 1) else random_schema(pick)


def random_universe(pick: Pick) -> Schema:
    """A small universe of items, under a tree of any fan-out."""
    universe = {"universe": {"range": [1, pick(1, 7)]}, "fan_out": pick(2, 8)}
    return Schema.from_dict({"name": "simulated", "unit": "row", "items": universe})


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
    if schema.items is not None:
        low: tuple[int, ...] = (0,)
        high: tuple[int, ...] = (0, schema.items.size - 1)
    else:
        sizes = _sizes(schema)
        low, high = tuple(0 for _ in sizes), tuple(size - 1 for size in sizes)
    return [
        pair_of("no records", schema, [], low),
        pair_of("one record and another", schema, [low], high),
    ]
