"""Marginals beside the regions: which tables of attributes there are, and their cells. All public.

Regions tell little about where records lie inside them. A release with marginals also holds noisy
tables of the whole data: every attribute by class in a few parts (`single`), numbers code by code
(`fine`), and some pairs of attributes that were chosen as the most dependent (`pair`). Parts follow
from the schema, groups of parts from the noisy numbers, so nothing else needs to be stored; a cell
is a number in a fixed order.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from hedgerow.measured.measurements import Measurement
from hedgerow.schema import Attribute, Categorical, Schema
from hedgerow.store.validation import broken

__all__ = [
    "MARGINALS",
    "Marginals",
    "Pairs",
    "edges_of",
    "fine_attributes",
    "group_edges",
    "pair_number",
]

Ints = NDArray[np.int64]

MARGINALS = ("one_way", "fine", "two_way")
"""The names of the measurements of marginals."""

PARTS = 16  # of a numeric attribute
MOST_VALUES, MANY_PARTS = 64, 32  # a categorical attribute with more values is cut like a number
MOST_FINE = 1 << 16
MOST_RELATED = 60  # of more attributes no pair is looked at: there are too many
GROUPS = 8
_FILE = "measurements.parquet"


def edges_of(attribute: Attribute) -> Ints:
    """The edges of the parts in which an attribute is counted.

    Example:
        >>> from hedgerow.schema import Schema
        >>> schema = Schema.from_dict({"name": "s", "unit": "row", "attributes": {
        ...     "ill": {"type": "boolean"}}})
        >>> edges_of(schema.attributes[0]).tolist()
        [0, 1, 2]
    """
    size = attribute.size
    if isinstance(attribute, Categorical):
        parts = size if size <= MOST_VALUES else MANY_PARTS
    else:
        parts = min(size, PARTS)
    return np.arange(parts + 1, dtype=np.int64) * size // parts


def fine_attributes(schema: Schema) -> tuple[int, ...]:
    """The attributes that are counted code by code too, because their parts hold several."""
    return tuple(
        place
        for place, attribute in enumerate(schema.attributes)
        if len(edges_of(attribute)) - 1 < attribute.size <= MOST_FINE
    )


def group_edges(attribute: Attribute, counts: Ints) -> Ints:
    """The edges of the groups in which an attribute meets another: parts of about equal mass.

    Args:
        attribute: The attribute.
        counts: The noisy number of records in each of its parts.

    Example:
        >>> from hedgerow.schema import Schema
        >>> schema = Schema.from_dict({"name": "s", "unit": "row", "attributes": {
        ...     "age": {"type": "numeric", "low": 0, "high": 159, "step": 1}}})
        >>> group_edges(schema.attributes[0], np.array([800] + [10] * 15)).tolist()
        [0, 10, 50, 160]
    """
    edges = edges_of(attribute)
    if isinstance(attribute, Categorical) and attribute.size <= MOST_VALUES:
        return edges
    mass = np.cumsum(np.maximum(counts, 0))
    level = mass * GROUPS // max(1, int(mass[-1]))
    ends = np.flatnonzero(np.diff(np.concatenate([[0], level[:-1]])) > 0) + 1
    return np.concatenate([[0], edges[ends], edges[-1:]])


def pair_number(one: int, other: int) -> int:
    """The number of a pair of attributes, of which the later comes first.

    Example:
        >>> [pair_number(1, 0), pair_number(2, 0), pair_number(2, 1)]
        [0, 1, 2]
    """
    return one * (one - 1) // 2 + other


@dataclass(frozen=True, eq=False)
class Pairs:
    """How the cells of all pairs of attributes are numbered.

    Args:
        parts: The edges of the parts of each attribute.
        edges: The edges of its groups, each of which is made of parts.
        start: The number of the first cell of each pair; one more than there are pairs, which
            there are none of if there are very many attributes.
    """

    parts: tuple[Ints, ...]
    edges: tuple[Ints, ...]
    start: Ints

    @staticmethod
    def of(schema: Schema, single: Sequence[Ints]) -> Pairs:
        """The numbering that follows from the noisy tables of single attributes."""
        parts = tuple(edges_of(attribute) for attribute in schema.attributes)
        edges = tuple(
            group_edges(attribute, table.sum(axis=1))
            for attribute, table in zip(schema.attributes, single, strict=True)
        )
        related = len(edges) if len(edges) <= MOST_RELATED else 0
        sizes = [
            (len(edges[one]) - 1) * (len(edges[other]) - 1)
            for one in range(related)
            for other in range(one)
        ]
        return Pairs(parts, edges, np.cumsum([0, *sizes]).astype(np.int64))

    def shape(self, one: int, other: int) -> tuple[int, int]:
        """How many groups both attributes have."""
        return len(self.edges[one]) - 1, len(self.edges[other]) - 1

    def cells(self, one: int, other: int) -> Ints:
        """The numbers of the cells of a pair."""
        number = pair_number(one, other)
        return np.arange(self.start[number], self.start[number + 1])


@dataclass(frozen=True, eq=False)
class Marginals:
    """The noisy tables of a release with marginals.

    Args:
        schema: The public schema.
        single: Of each attribute, the counts of its parts: [parts, classes], or [parts, 1].
        fine: Of some attributes, the counts of their codes.
        pairs: How pairs are numbered.
        pair: Of some pairs, the counts of their groups.
        noise: The standard deviation of each kind's noise.
    """

    schema: Schema
    single: tuple[Ints, ...]
    fine: dict[int, Ints]
    pairs: Pairs
    pair: dict[tuple[int, int], Ints]
    noise: dict[str, float]

    @property
    def by_class(self) -> bool:
        """Whether single attributes were counted by class."""
        return bool(self.single[0].shape[1] == max(1, len(self.schema.classes)))

    @staticmethod
    def of(schema: Schema, measurements: Sequence[Measurement]) -> Marginals | None:
        """Sorts the cells of a release into tables, if it has marginals.

        Raises:
            ReleaseError: If they are not the cells that the schema gives.
        """
        cells = [m for m in measurements if m.at == "cell"]
        named = {m.name: m for m in cells}
        if not named:
            return None
        for measurement in cells:
            listed = measurement.threshold is not None or measurement.klass is not None
            apart = measurement.by_class and measurement.name != "one_way"
            if listed or apart or not len(measurement.where) or len(named) < len(cells):
                raise broken(_FILE, "the tables of marginals are not described as they should be")
        if "one_way" not in named or not named.keys() <= set(MARGINALS):
            raise broken(_FILE, "marginals is there without tables of single attributes")
        sizes = [len(edges_of(attribute)) - 1 for attribute in schema.attributes]
        whole = named["one_way"]
        if not np.array_equal(whole.where, np.arange(sum(sizes))):
            raise broken(_FILE, "the tables of single attributes are not those of the schema")
        single = tuple(np.split(whole.values, np.cumsum(sizes)[:-1]))
        fine: dict[int, Ints] = {}
        if "fine" in named:
            places = fine_attributes(schema)
            ends = np.cumsum([schema.attributes[place].size for place in places])
            codes = named["fine"]
            if not len(ends) or not np.array_equal(codes.where, np.arange(ends[-1])):
                raise broken(_FILE, "the codes that were counted are not those of the schema")
            fine = dict(zip(places, np.split(codes.values[:, 0], ends[:-1]), strict=True))
        if "two_way" in named and len(single) > MOST_RELATED:
            raise broken(_FILE, "pairs were counted of more attributes than are related")
        pairs = Pairs.of(schema, single)
        pair = _pair_tables(pairs, named["two_way"]) if "two_way" in named else {}
        noise = {name: float(np.sqrt(m.variance[0])) for name, m in named.items()}
        return Marginals(schema, single, fine, pairs, pair, noise)


def _pair_tables(pairs: Pairs, measurement: Measurement) -> dict[tuple[int, int], Ints]:
    """The tables of the pairs that were counted, each of which must be whole."""
    chosen = np.unique(np.searchsorted(pairs.start, measurement.where, side="right") - 1)
    found: dict[tuple[int, int], Ints] = {}
    taken = 0
    for number in chosen.tolist():
        one = int((1 + np.sqrt(1 + 8 * number)) // 2)
        other = number - pair_number(one, 0)
        if one >= len(pairs.edges):
            raise broken(_FILE, "a pair of attributes was counted that does not exist")
        cells = pairs.cells(one, other)
        here = slice(taken, taken + len(cells))
        if not np.array_equal(measurement.where[here], cells):
            raise broken(_FILE, "a pair of attributes was counted in part")
        found[one, other] = measurement.values[here, 0].reshape(pairs.shape(one, other))
        taken += len(cells)
    if taken != len(measurement.where):
        raise broken(_FILE, "a pair of attributes was counted twice")
    return found
