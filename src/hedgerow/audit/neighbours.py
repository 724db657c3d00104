"""Neighbours to try: made-up tables, and the record that one of two has more.

Whoever picks is handed in as a function, so that hypothesis can shrink what it finds and the
command can draw from a plain generator.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from hedgerow.schema import Schema
from hedgerow.table import Table

__all__ = ["Pair", "Pick", "edge_cases", "pair_of", "picker", "random_pair", "random_schema"]

Pick = Callable[[int, int], int]
"""Picks a whole number from low to high, both included."""

Codes = NDArray[np.uint32]

_MOST_ROWS = 12  # small tables: one record weighs most where few others are


@dataclass(frozen=True)
class Pair:
    """Two tables that differ in one record.

    Args:
        words: What is special about them.
        without: The smaller table.
        with_it: The same with one record more.
        extra: The codes of that record.
    """

    words: str
    without: Table
    with_it: Table
    extra: tuple[int, ...]

    @property
    def tables(self) -> tuple[Table, Table]:
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
        rows: The codes of the records: predictors, then the class.
        extra: The codes of the record that the neighbour has in addition.
    """
    codes = np.asarray(rows, dtype=np.uint32).reshape(-1, len(extra))
    more = np.concatenate([codes, np.asarray([extra], dtype=np.uint32)])
    return Pair(words, Table(schema, codes), Table(schema, more), tuple(extra))


def _sizes(schema: Schema) -> list[int]:
    """The number of codes of every predictor, and of classes."""
    return [attribute.size for attribute in schema.attributes] + [max(1, len(schema.classes))]


def edge_cases(schema: Schema, pick: Pick) -> list[Pair]:
    """The neighbours at which mistakes show first, on any schema."""
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


def random_pair(schema: Schema, pick: Pick) -> Pair:
    """Any small table of a schema, and any record."""
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
    return Schema.from_dict({"name": "made up", "attributes": attributes})
