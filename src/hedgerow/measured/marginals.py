"""Marginals beside the regions: which tables of attributes there are, and their cells. All public.

Regions tell little about where records lie inside them. A release with marginals also holds noisy
tables of the whole data: attributes in cells, and the class (`one_way`), large cells of numbers
again in parts (`fine`), some pairs of attributes that depend on each other (`two_way`, and `extra`
for pairs that close rings), and rounds that tell by how much a model of the class is off
(`residual`). Cells follow from the schema, parts and groups from the noisy numbers, so nothing else
needs to be stored; a place is a number in a fixed order.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np

from hedgerow.arrays import Ints
from hedgerow.measured.edges import (
    GROUPS,
    edges_of,
    fine_edges,
    group_edges,
    groups_of,
    recounted,
)
from hedgerow.measured.measurements import Measurement
from hedgerow.schema import Schema
from hedgerow.store.validation import broken

__all__ = [
    "MARGINALS",
    "CellMap",
    "Marginals",
    "Pairs",
    "Round",
    "pair_number",
]


MARGINALS = ("one_way", "fine", "two_way", "extra", "residual")
"""The names of the measurements of marginals."""

MOST_RELATED = 100  # the attributes of which pairs are looked at: the first ones
MOST_ROUNDS = 1_000
MOST_LOGIT = 1 << 20
_FILE = "measurements.parquet"


def pair_number(one: int, other: int) -> int:
    """The number of a pair of attributes, of which the later comes first.

    Example:
        >>> [pair_number(1, 0), pair_number(2, 0), pair_number(2, 1)]
        [0, 1, 2]
    """
    return one * (one - 1) // 2 + other


@dataclass(frozen=True, eq=False)
class CellMap:
    """How the cells of all attributes, and of the class, are numbered.

    Args:
        edges: The edges of the cells of each attribute.
        start: The number of the first cell of each attribute; then that of the first class, and
            one past the last class.
        first_code: The number of the first code of each attribute, counted through all of them.
    """

    edges: tuple[Ints, ...]
    start: Ints
    first_code: Ints

    @staticmethod
    def of(schema: Schema) -> CellMap:
        """The numbering that follows from a schema."""
        edges = tuple(edges_of(attribute) for attribute in schema.attributes)
        sizes = [*(len(cut) - 1 for cut in edges), len(schema.classes)]
        codes = [attribute.size for attribute in schema.attributes]
        return CellMap(
            edges,
            np.cumsum([0, *sizes]).astype(np.int64),
            np.cumsum([0, *codes[:-1]]).astype(np.int64),
        )

    @property
    def cells(self) -> int:
        """How many cells the attributes have together."""
        return int(self.start[-2])

    def tables(self, counted: int) -> list[int]:
        """Which of so many attributes have a table: not those with one value, if others have."""
        several = [place for place in range(counted) if self.edges[place][-1] > 1]
        return several or list(range(counted))

    def numbers(self, places: Sequence[int]) -> Ints:
        """The numbers of the cells of some attributes and of the class."""
        parts = [np.arange(self.start[place], self.start[place + 1]) for place in places]
        return np.concatenate([*parts, np.arange(self.start[-2], self.start[-1])])


@dataclass(frozen=True, eq=False)
class Pairs:
    """How the cells of all pairs of attributes are numbered.

    Args:
        edges: The edges of the groups of each attribute that may be in a pair; the first ones.
        start: The number of the first cell of each pair; one more than there are pairs.
    """

    edges: tuple[Ints, ...]
    start: Ints

    @staticmethod
    def of(schema: Schema, single: Sequence[Ints], groups: int = GROUPS) -> Pairs:
        """The numbering that follows from the noisy tables of the attributes that were counted."""
        related = min(len(single), MOST_RELATED)
        edges = tuple(
            group_edges(attribute, table, groups)
            for attribute, table in zip(schema.attributes[:related], single, strict=False)
        )
        sizes = [
            (len(edges[one]) - 1) * (len(edges[other]) - 1)
            for one in range(related)
            for other in range(one)
        ]
        return Pairs(edges, np.cumsum([0, *sizes]).astype(np.int64))

    def shape(self, one: int, other: int) -> tuple[int, int]:
        """How many groups both attributes have."""
        return len(self.edges[one]) - 1, len(self.edges[other]) - 1

    def cells(self, one: int, other: int) -> Ints:
        """The numbers of the cells of a pair."""
        number = pair_number(one, other)
        return np.arange(self.start[number], self.start[number + 1])


@dataclass(frozen=True, eq=False, kw_only=True)
class Round:
    """One round of class residuals.

    Args:
        attribute: The attribute whose cells were looked at.
        klass: The class.
        values: Of each cell the noisy sum of (1 if a record has the class, else 0) - p, in 256ths,
            with p by the regions' logits and the shifts of all rounds before.
        shift: What was then added to the logit of this class in each cell, in 64ths.
    """

    attribute: int
    klass: int
    values: Ints
    shift: Ints


@dataclass(frozen=True, kw_only=True, eq=False)
class Marginals:
    """The noisy tables of a release with marginals.

    Args:
        schema: The public schema.
        cells: How cells are numbered.
        single: Of each attribute that was counted, the counts of its cells; none of one with a
            single value, which everybody has.
        classes: The counts of the classes; empty if there are none.
        fine: Of some attributes and cells, the counts of their parts.
        pairs: How pairs are numbered.
        pair: Of some pairs, the counts of their groups.
        extra: The same of further pairs, which were chosen by what those had told.
        base: The logits of each region, [regions, classes]; None without rounds.
        rounds: The rounds.
        noise: The standard deviation of each kind's noise.
    """

    schema: Schema
    cells: CellMap
    single: tuple[Ints, ...]
    classes: Ints
    fine: Mapping[tuple[int, int], Ints]
    pairs: Pairs
    pair: Mapping[tuple[int, int], Ints]
    extra: Mapping[tuple[int, int], Ints] = field(default_factory=dict)
    base: Ints | None = None
    rounds: tuple[Round, ...] = ()
    noise: Mapping[str, float] = field(default_factory=dict)

    @property
    def all_pairs(self) -> list[tuple[int, int]]:
        """The pairs that were counted."""
        return sorted([*self.pair, *self.extra])

    @staticmethod
    def of(schema: Schema, measurements: Sequence[Measurement]) -> Marginals | None:
        """Sorts the cells of a release into tables, if it has marginals.

        Raises:
            ReleaseError: If they are not the cells that the schema gives.
        """
        listed = [m for m in measurements if m.at == "cell"]
        named = {m.name: m for m in listed}
        if not named:
            return None
        for m in listed:
            if m.threshold is not None or m.klass is not None or m.by_class or not len(m.where):
                raise broken(_FILE, "the tables of marginals are not described as they should be")
        if len(named) < len(listed) or "one_way" not in named or not named.keys() <= set(MARGINALS):
            raise broken(_FILE, "marginals are there without tables of single attributes, or twice")
        cells = CellMap.of(schema)
        single, classes = _single(cells, named["one_way"])
        rows = next((max(0, int(m.values[0, 0])) for m in measurements if m.name == "rows"), 0)
        fine: dict[tuple[int, int], Ints] = {}
        if "fine" in named:
            fine = _fine(schema, cells, single, rows, named["fine"])
        pairs = Pairs.of(schema, single, groups_of(named["one_way"], rows))
        pair = _pair_tables(pairs, named["two_way"]) if "two_way" in named else {}
        extra = _pair_tables(pairs, named["extra"]) if "extra" in named else {}
        base: Ints | None = None
        rounds: tuple[Round, ...] = ()
        if "residual" in named:
            base, rounds = _rounds(schema, cells, measurements, named["residual"])
        noise = {name: float(np.sqrt(m.variance.max())) for name, m in named.items()}
        return Marginals(
            schema=schema, cells=cells, single=single, classes=classes, fine=fine, pairs=pairs,
            pair=pair, extra=extra, base=base, rounds=rounds, noise=noise,
        )  # fmt: skip


def _single(cells: CellMap, whole: Measurement) -> tuple[tuple[Ints, ...], Ints]:
    """The tables of attributes, of which some may be missing at the end, and of the class."""
    places = whole.where
    counted = int(np.searchsorted(cells.start, places[places < cells.cells].max(initial=-1) + 1))
    # the first releases counted attributes with a single value, too
    for there in (cells.tables(counted), list(range(counted))):
        if there and np.array_equal(places, cells.numbers(there)):
            break
    else:
        raise broken(_FILE, "the tables of single attributes are not those of the schema")
    while counted < len(cells.edges) and cells.edges[counted][-1] == 1:
        counted += 1
    sizes = [len(cells.edges[place]) - 1 if place in there else 0 for place in range(counted)]
    *single, classes = np.split(whole.values[:, 0], np.cumsum(sizes))
    return tuple(single), classes


def _fine(
    schema: Schema, cells: CellMap, single: Sequence[Ints], rows: int, measurement: Measurement
) -> dict[tuple[int, int], Ints]:
    """The cells that were counted again, which follow from what was counted before."""
    found: dict[tuple[int, int], Ints] = {}
    taken = 0
    for a, table in enumerate(single):
        if not len(table):
            continue
        edges = cells.edges[a]
        for cell in recounted(schema.attributes[a], edges, table, rows).tolist():
            parts = fine_edges(int(edges[cell]), int(edges[cell + 1]))
            here = slice(taken, taken + len(parts) - 1)
            if not np.array_equal(measurement.where[here], cells.first_code[a] + parts[:-1]):
                raise broken(_FILE, "other cells were counted again than those that are large")
            found[a, cell] = measurement.values[here, 0]
            taken += len(parts) - 1
    if taken != len(measurement.where):
        raise broken(_FILE, "other cells were counted again than those that are large")
    return found


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


def _rounds(
    schema: Schema, cells: CellMap, measurements: Sequence[Measurement], residual: Measurement
) -> tuple[Ints, tuple[Round, ...]]:
    """The logits of the regions, and the rounds, each of which is one attribute and one class."""
    base = next((m.logits for m in measurements if m.name == "leaf"), None)
    if base is None or residual.logits is None or len(schema.classes) < 2:
        raise broken(_FILE, "rounds of residuals are there without the logits they speak of")
    if max(np.abs(base).max(initial=0), np.abs(residual.logits).max()) > MOST_LOGIT:
        raise broken(_FILE, "a logit is larger than any")
    table, cell = np.divmod(residual.where, cells.cells)
    firsts = np.flatnonzero(np.concatenate([[True], np.diff(table) > 0]))
    rounds: list[Round] = []
    for first, last in zip(firsts, [*firsts[1:], len(table)], strict=True):
        number, klass = divmod(int(table[first]), len(schema.classes))
        a = int(np.searchsorted(cells.start[:-1], cell[first], side="right")) - 1
        here = np.arange(cells.start[a], cells.start[a + 1])
        if number != len(rounds) or not np.array_equal(cell[first:last], here):
            raise broken(_FILE, "a round of residuals is not one attribute and one class")
        part = slice(int(first), int(last))
        rounds.append(
            Round(
                attribute=a,
                klass=klass,
                values=residual.values[part, 0],
                shift=residual.logits[part, 0],
            )
        )
    if len(rounds) > MOST_ROUNDS:
        raise broken(_FILE, "there are more rounds of residuals than any method makes")
    return base, tuple(rounds)
