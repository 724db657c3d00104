"""Tables of counts that were measured, and the edges of the bands that they count."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property

import numpy as np

from hedgerow.arrays import Bools, Floats, Ints
from hedgerow.estimate.measurements import Alike, Law, Measurement
from hedgerow.schema import Attribute, Categorical, Schema
from hedgerow.schema.attributes import OTHER
from hedgerow.store.untrusted import broken

# The cells in which attributes are counted: public, from the schema and from noisy numbers.


PARTS = 16  # of a numeric attribute, and of a cell that is counted again
MOST_VALUES, MANY_PARTS = 64, 32  # of more values groups are counted, or neighbors
_LARGE = 4  # a group of more than such a part of all values is cut into neighbors


def edges_of(attribute: Attribute, parts: int = PARTS) -> Ints:
    """The edges of the cells in which an attribute is counted.

    Values are cells; of very many values, groups of the taxonomy are, as small ones as there is
    room for, and of a group without room for its parts, neighbors. A number is cut into parts, of
    equal width or, on a logarithmic scale, by a constant factor away from zero; its lowest code,
    zero, values that the schema names and "other" are cells of their own, since very many records
    may lie there and few beside it.

    Example:
        >>> from hedgerow.schema import Schema
        >>> schema = Schema.from_dict({"name": "s", "unit": "row", "attributes": {
        ...     "ill": {"type": "boolean"},
        ...     "gain": {"type": "numeric", "low": -20, "high": 59, "step": 1}}})
        >>> [edges_of(attribute).tolist()[:7] for attribute in schema.attributes]
        [[0, 1, 2], [0, 1, 5, 10, 15, 20, 21]]
        >>> schema = Schema.from_dict({"name": "s", "unit": "row", "attributes": {
        ...     "pay": {"type": "numeric", "low": 0, "high": 65535, "scale": "log",
        ...             "common": [700]}}})
        >>> edges_of(schema.attributes[0]).tolist()[8:15]
        [128, 256, 512, 700, 701, 1024, 2048]
    """
    size = attribute.size
    if isinstance(attribute, Categorical):
        if size <= MOST_VALUES:
            return np.arange(size + 1)
        return _grouped(attribute)
    grid = attribute.grid
    if grid <= parts:
        return np.array(sorted({*range(grid + 1), size}), np.int64)
    zero = int(-attribute.low // attribute.step)  # may lie outside
    if attribute.scale == "log":
        edges = {0, grid, size}
        if zero < grid:
            edges |= {zero + away for away in _growing(max(1, -zero), grid - zero, parts)}
        if zero > 0:
            edges |= {zero - away for away in _growing(max(1, zero - grid), zero, parts)}
    else:
        edges = {*(np.arange(parts + 1) * grid // parts).tolist(), size}
    for code in own_codes(attribute):
        edges |= {code, code + 1}
    return np.array(sorted(edges), np.int64)


def _grouped(attribute: Categorical) -> Ints:
    """Cells of many values: the largest group is divided while there is room for its parts.

    Example:
        >>> from hedgerow.schema import Schema
        >>> groups = {"A": [f"a{i}" for i in range(60)], "B": [f"b{i}" for i in range(30)]}
        >>> kinds = {"type": "categorical", "taxonomy": groups}
        >>> made = Schema.from_dict({"name": "s", "unit": "row", "attributes": {"kind": kinds}})
        >>> edges = edges_of(made.attributes[0]).tolist()
        >>> edges[:3], edges[60:64]
        ([0, 1, 2], [60, 63, 66, 69])
    """
    taxonomy = attribute.taxonomy
    whole = {0: taxonomy.spans[0]}
    open_groups = [0]

    def leaves(node: int) -> tuple[int, int]:
        low, high = taxonomy.spans[node]
        return high - low, -low

    while open_groups:
        node = max(open_groups, key=leaves)
        open_groups.remove(node)
        parts = taxonomy.children[node]
        if len(whole) - 1 + len(parts) <= MOST_VALUES:
            del whole[node]
            whole |= {part: taxonomy.spans[part] for part in parts}
            open_groups += [part for part in parts if taxonomy.children[part]]
    edges = {attribute.size, *own_codes(attribute), *(code + 1 for code in own_codes(attribute))}
    for low, high in whole.values():
        large = (high - low) * _LARGE > attribute.size  # too large to be one cell
        number = (high - low) * MANY_PARTS // attribute.size if large else 1
        edges |= {low + (high - low) * part // number for part in range(number)}
    return np.array(sorted(edges), np.int64)


def own_codes(attribute: Attribute) -> set[int]:
    """The codes that may hold very many records, or none, whatever lies beside them.

    The lowest number, zero, values that the schema names, and "other". Of numbers all are cells.
    """
    if isinstance(attribute, Categorical):
        rules = attribute.missing, attribute.outside
        return {attribute.taxonomy.leaves.index(OTHER)} if OTHER in rules else set()
    values = (Fraction(0), attribute.low, *attribute.common)
    codes = {int((value - attribute.low) // attribute.step) for value in values}
    return {code for code in codes if 0 <= code < attribute.grid} | {
        *range(attribute.grid, attribute.size)
    }


def _growing(near: int, far: int, parts: int) -> list[int]:
    """Whole numbers that grow by a constant factor, `parts` times; the same on every machine."""
    powers = []
    for part in range(parts + 1):
        power = near ** (parts - part) * far**part
        for _ in range(parts.bit_length() - 1):  # four square roots are a sixteenth one
            power = math.isqrt(power)
        powers.append(power)
    return powers


def recounted(attribute: Attribute, edges: Ints, counts: Ints, rows: int) -> Ints:
    """The cells of an attribute that are counted again: large ones of numbers, with several codes.

    Args:
        attribute: The attribute.
        edges: The edges of its cells.
        counts: Their noisy counts.
        rows: The noisy number of rows.
    """
    if isinstance(attribute, Categorical):
        return np.empty(0, np.int64)
    return np.flatnonzero((np.diff(edges) > 1) & (counts * PARTS > rows))


def fine_edges(low: int, high: int) -> Ints:
    """The edges of the parts in which a cell is counted again.

    Example:
        >>> fine_edges(4, 7).tolist()
        [4, 5, 6, 7]
    """
    parts = min(PARTS, high - low)
    return low + np.arange(parts + 1, dtype=np.int64) * (high - low) // parts


# Tables of columns: in what cells attributes are counted, and the noisy tables of a release.
#
# Columns are the attributes of a schema, in its order, and then its class, if there is one. Each
# attribute has *cells*, which follow from the schema: values of categories, parts of numbers. Cells
# are gathered in *groups* wherever attributes meet each other: of numbers about equally full, of
# categories the rare ones together. Groups follow from noisy numbers that were published before.


ROUNDS = (
    "pairs", "second_pairs", "third_pairs", "fourth_pairs", "fifth_pairs", "sixth_pairs",
    "seventh_pairs", "eighth_pairs", "more_pairs",
)  # fmt: skip
"""Pairs that were chosen, round by round; the last one that was planned, if not the first, has
the last name."""
KINDS = ("single", "by_class", "named", *ROUNDS, "again")
"""The names of the measurements that are tables of columns."""

_COLUMNS = {
    "single": (1,), "by_class": (2,), "named": (2, 3), "again": (1, 2),
    **dict.fromkeys(ROUNDS, (2, 3)), "pairs": (2,),
}  # fmt: skip
MOST_TABLE = 1 << 20  # cells of one table
_FILE, _CELLS = "measurements.parquet", "partition.parquet"


@dataclass(frozen=True, eq=False, kw_only=True)
class Cells(Alike):
    """The cells and groups of all columns: public.

    Args:
        edges: The edges of each attribute's cells, in codes.
        group: The group of each cell of each attribute.
        classes: How many classes there are; 0 without a class.

    Example:
        >>> schema = Schema.from_dict({"name": "s", "unit": "row", "attributes": {
        ...     "ill": {"type": "boolean"}, "age": {"type": "numeric", "low": 0, "high": 99}}})
        >>> cells = Cells.of(schema, 16)
        >>> cells.shape((0, 1)), cells.edges[1].tolist()[:4]
        ((2, 17), [0, 1, 6, 12])
    """

    edges: tuple[Ints, ...]
    group: tuple[Ints, ...]
    classes: int

    @staticmethod
    def of(schema: Schema, parts: int) -> Cells:
        """The cells that follow from a schema, each a group of its own.

        Args:
            schema: The public schema.
            parts: In how many parts numbers are cut.
        """
        edges = tuple(
            np.union1d(edges_of(attribute, parts), np.array([*schema.cuts(place)], np.int64))
            for place, attribute in enumerate(schema.attributes)
        )
        return Cells(
            edges=edges,
            group=tuple(np.arange(len(cut) - 1) for cut in edges),
            classes=len(schema.classes),
        )

    def check(self, schema: Schema) -> None:
        """Refuses cells and groups that are none of the schema's attributes.

        Raises:
            ReleaseError: If codes are left out, or groups are numbered with gaps.
        """
        for attribute, edges, group in zip(schema.attributes, self.edges, self.group, strict=True):
            if not len(group) or edges[0] != 0 or (np.diff(edges) <= 0).any():
                raise broken(_CELLS, "the cells of an attribute do not hold all of its codes")
            if len(edges) - 1 > MOST_TABLE or edges[-1] != attribute.size:
                raise broken(_CELLS, "the cells of an attribute do not hold all of its codes")
            if group.max() >= len(group) or not np.array_equal(
                np.unique(group), np.arange(int(group.max()) + 1)
            ):  # the largest first: a stranger's may be very large
                raise broken(_CELLS, "the groups of an attribute are not numbered from 0 on")

    @property
    def attributes(self) -> int:
        """How many attributes there are; the class is the column of this number."""
        return len(self.edges)

    @property
    def cells(self) -> int:
        """How many cells all attributes have together."""
        return sum(len(group) for group in self.group)

    @cached_property
    def groups(self) -> tuple[int, ...]:
        """How many groups each column has; a class is always whole."""
        many = [int(group.max()) + 1 for group in self.group]
        return (*many, self.classes) if self.classes else tuple(many)

    @cached_property
    def counted(self) -> tuple[int, ...]:
        """The attributes that tell something: those with more than one value."""
        return tuple(a for a, cut in enumerate(self.edges) if cut[-1] > 1)

    def size(self, column: int, *, grouped: bool = False) -> int:
        """How many cells, or groups, a column has."""
        if column == self.attributes or grouped:
            return self.groups[column]
        return len(self.edges[column]) - 1

    def shape(self, table: Sequence[int], *, grouped: bool = False) -> tuple[int, ...]:
        """How many cells, or groups, the columns of a table have."""
        return tuple(self.size(column, grouped=grouped) for column in table)

    def parts(self, columns: Sequence[int], *, grouped: bool = False) -> dict[int, Ints]:
        """The cell, or group, of each code of some columns."""
        lookups: dict[int, Ints] = {}
        for column in columns:
            if column == self.attributes:
                lookups[column] = np.arange(self.classes)
                continue
            edges = self.edges[column]
            cell = np.repeat(np.arange(len(edges) - 1), np.diff(edges))
            lookups[column] = self.group[column][cell] if grouped else cell
        return lookups


@dataclass(frozen=True, eq=False, kw_only=True)
class NoisyTable:
    """One noisy table.

    Args:
        kind: One of `KINDS`.
        columns: Its columns.
        values: Its noisy counts, one axis for each column.
        variance: The variance of each of them.
        tail: The variance of a continuous noise whose tails bound theirs.
        law: The law of their noise.
    """

    kind: str
    columns: tuple[int, ...]
    values: Ints
    variance: float
    tail: float
    law: Law

    @property
    def grouped(self) -> bool:
        """Whether it counts groups, and not cells."""
        return self.kind in ROUNDS


_UNEVEN = 10.0 ** np.arange(-3, 0.5, 0.5)  # how unevenly cells may be filled


@dataclass(frozen=True, eq=False, kw_only=True)
class CellParts:
    """How the records of a cell that was counted again lie in its parts.

    They lie evenly but for shares that differ from that as a Dirichlet law of some unevenness rho
    lets them: by the variance rho m (1 - m) for a part that would hold m. Noise of the variance v
    (of shares) leaves rho / (rho + k v) of what was seen in k parts. How uneven an attribute is
    follows from all of its cells that were counted again.

    Args:
        edges: The edges of the parts.
        even: The shares if records lay evenly.
        seen: How far the noisy counts lie from that, in shares that add up to 0.
        weight: How much of that is believed.
        noise: The variance of each share, as far as the noise makes it.
        doubt: The variance of the weight.
    """

    edges: Ints
    even: Floats
    seen: Floats
    weight: float
    noise: float
    doubt: float

    @property
    def shares(self) -> Floats:
        """How much of the cell each part holds; noise may take it below 0."""
        return self.even + self.weight * self.seen

    @property
    def informative(self) -> bool:
        """Whether what was counted says more of the parts than that they are even."""
        return 2 * self.weight >= 1

    def variance(self, held: Floats) -> Floats:
        """Of the share of the cell that some parts hold.

        Args:
            held: How far each part is held, [several, parts].
        """
        apart = (held**2).sum(axis=1) - held.sum(axis=1) ** 2 / len(self.even)
        return np.asarray(self.noise * apart + self.doubt * (held @ self.seen) ** 2)


@dataclass(frozen=True, eq=False, kw_only=True)
class Tables:
    """All that was measured.

    Args:
        schema: The public schema.
        cells: The cells and groups.
        tables: The tables of columns.
        fine: Of some attributes and cells, the counts of their parts and their variance.
        totals: How many records there are by what counted nothing else, each with its variance.
    """

    schema: Schema
    cells: Cells
    tables: tuple[NoisyTable, ...]
    fine: dict[tuple[int, int], tuple[Ints, float]]
    totals: tuple[tuple[float, float], ...]

    @staticmethod
    def of(schema: Schema, cells: Cells, measurements: Sequence[Measurement]) -> Tables:
        """Sorts the measurements of a release into tables.

        Raises:
            ReleaseError: If they are not the tables that their heads name.
        """
        if len({m.name for m in measurements}) < len(measurements):
            raise broken(_FILE, "something was measured twice under one name")
        tables: list[NoisyTable] = []
        fine: dict[tuple[int, int], tuple[Ints, float]] = {}
        totals = []
        for m in measurements:
            if m.threshold is not None or m.klass is not None or m.by_class:
                raise broken(_FILE, "the tables are not described as they should be")
            if m.at == "node" and m.name == "rows" and m.where.tolist() == [0]:
                totals.append((float(m.values[0, 0]), float(m.variance[0])))
            elif m.at == "cell" and m.name in KINDS:
                tables += _tables(cells, m)
            elif m.at != "cell" or m.name != "fine":
                raise broken(_FILE, f"nobody knows what {m.name!r} counts")
        sorted_out = Tables(
            schema=schema, cells=cells, tables=tuple(tables), fine=fine, totals=tuple(totals)
        )
        for m in measurements:
            if m.name == "fine":
                fine |= _fine(sorted_out, m)
        return sorted_out

    @cached_property
    def number(self) -> float:
        """How many records there are: the mean of all that counted them, by their variances."""
        known = [*self.totals]
        known += [(float(t.values.sum()), t.variance * t.values.size) for t in self.tables]
        weights = sum(1 / variance for _, variance in known)
        if not weights:
            return 1.0
        return max(1.0, sum(value / variance for value, variance in known) / weights)

    @cached_property
    def single(self) -> tuple[tuple[Floats, float] | None, ...]:
        """How many records lie in each cell of each attribute, and the variance of that.

        By all tables of cells, each summed over its other columns; None where none counts it.
        """
        columns: list[tuple[Floats, float] | None] = []
        for a in range(self.cells.attributes):
            total, weight = np.zeros(self.cells.size(a)), 0.0
            for table in self.tables:
                if a in table.columns and not table.grouped:
                    axis = table.columns.index(a)
                    others = tuple(x for x in range(len(table.columns)) if x != axis)
                    number = table.values.size // table.values.shape[axis]
                    total += table.values.sum(axis=others) / (table.variance * number)
                    weight += 1 / (table.variance * number)
            columns.append((total / weight, 1 / weight) if weight else None)
        return tuple(columns)

    @cached_property
    def parts(self) -> dict[tuple[int, int], CellParts]:
        """How records lie in the cells that were counted again, by attribute and cell."""
        parts: dict[tuple[int, int], CellParts] = {}
        for attribute in sorted({a for a, _ in self.fine}):
            known = self.single[attribute]
            raw = []
            for (a, cell), (counts, variance) in self.fine.items():
                if a == attribute:
                    edges = self.parts_of(a, cell)
                    even = np.diff(edges) / (edges[-1] - edges[0])
                    number = float(counts.sum()) if known is None else float(known[0][cell])
                    seen = (counts - counts.mean()) / max(1.0, number) + 1 / len(even) - even
                    raw.append((cell, edges, even, seen, variance / max(1.0, number) ** 2))
            likely = -np.log(_UNEVEN) / 4  # so that they are 0.1 on average
            for *_, seen, noise in raw:
                each = noise + _UNEVEN / len(seen)
                likely -= ((len(seen) - 1) * np.log(each) + (seen**2).sum() / each) / 2
            likely = np.exp(likely - likely.max())
            likely /= likely.sum()
            for cell, edges, even, seen, noise in raw:
                weights = _UNEVEN / (_UNEVEN + len(seen) * noise)
                weight = float(likely @ weights)
                parts[attribute, cell] = CellParts(
                    edges=edges, even=even, seen=seen, weight=weight, noise=weight * noise,
                    doubt=float(likely @ (weights - weight) ** 2),
                )  # fmt: skip
        return parts

    def informative_edges(self, attribute: int) -> Ints:
        """The edges of an attribute's cells, and of the parts of those that parts tell of."""
        finer = [
            one.edges for (a, _), one in self.parts.items() if a == attribute and one.informative
        ]
        return np.unique(np.concatenate([self.cells.edges[attribute], *finer]))

    @property
    def deciding(self) -> dict[int, Ints]:
        """The whole numbers that public rules read of each attribute: of one table, summed up."""
        read: dict[int, Ints] = {}
        for table in self.tables:
            first = table.columns[0]
            known = first in read or first == self.cells.attributes
            if table.kind in ("single", "by_class") and not known:
                read[first] = table.values.sum(axis=tuple(range(1, len(table.columns))))
        return read

    def recounted(self) -> list[tuple[int, int]]:
        """The cells of numbers that are counted again in parts, since very many lie there."""
        rows = max(0, round(self.totals[0][0])) if self.totals else 0
        return [
            (a, cell)
            for a, counts in sorted(self.deciding.items())
            for cell in recounted(
                self.schema.attributes[a], self.cells.edges[a], counts, rows
            ).tolist()
        ]

    def parts_of(self, attribute: int, cell: int) -> Ints:
        """The edges of the parts in which a cell is counted again."""
        edges = self.cells.edges[attribute]
        return fine_edges(int(edges[cell]), int(edges[cell + 1]))


def _tables(cells: Cells, m: Measurement) -> list[NoisyTable]:
    """The tables of a measurement, one after the other."""
    columns = cells.attributes + bool(cells.classes)
    tables, taken = [], 0
    for table in m.tables:
        if (
            len(table) not in _COLUMNS[m.name]
            or len(set(table)) < len(table)
            or not all(0 <= c < columns for c in table)
        ):
            raise broken(_FILE, "a table names columns that it cannot have")
        shape = cells.shape(table, grouped=m.name in ROUNDS)
        here = slice(taken, taken := taken + math.prod(shape))
        if taken > len(m.where) or len({*m.units[here]}) != 1:
            raise broken(_FILE, "a table has other cells than its columns")
        tables.append(
            NoisyTable(
                kind=m.name,
                columns=table,
                values=m.values[here, 0].reshape(shape),
                variance=float(m.variance[here][0]),
                tail=float(m.tail_variance[here][0]),
                law=m.law,
            )
        )
    if taken != len(m.where) or not np.array_equal(m.where, np.arange(taken)):
        raise broken(_FILE, "a table has other cells than its columns")
    return tables


def _fine(tables: Tables, m: Measurement) -> dict[tuple[int, int], tuple[Ints, float]]:
    """The parts of cells that were counted again, which follow from what was counted before."""
    fine: dict[tuple[int, int], tuple[Ints, float]] = {}
    taken = 0
    for a, cell in tables.recounted():
        here = slice(taken, taken := taken + len(tables.parts_of(a, cell)) - 1)
        if taken <= len(m.where):
            fine[a, cell] = m.values[here, 0], float(m.variance[here][0])
    if taken != len(m.where) or not np.array_equal(m.where, np.arange(taken)):
        raise broken(_FILE, "other cells were counted again than those that are large")
    return fine


def ruled_apart(schema: Schema, cells: Cells) -> tuple[Ints, ...]:
    """Which cells of each attribute no rule of the schema tells apart: those of one number."""
    apart = []
    for a, edges in enumerate(cells.edges):
        seen = np.zeros(len(edges) - 1, np.int64)
        for query in (query for rule in schema.rules for query in rule.impossible):
            if a in (where := dict(query.where)):
                seen = 2 * seen + covered(edges, where[a])
                seen = np.unique(seen, return_inverse=True)[1]
        apart.append(seen.astype(np.int64))
    return tuple(apart)


def covered(edges: Ints, intervals: Sequence[tuple[float, float]]) -> Bools:
    """Which cells lie wholly in some intervals of codes."""
    inside = np.zeros(len(edges) - 1, np.bool_)
    for low, high in intervals:
        inside |= (edges[:-1] >= low) & (edges[1:] <= high)
    return inside


def group_cells(attribute: Attribute, counts: Ints, groups: int, least: int, apart: Ints) -> Ints:
    """The group of each cell of an attribute, none of which joins what a rule tells apart.

    Args:
        attribute: The attribute.
        counts: The noisy number of records in each cell.
        groups: How many groups a number has, about.
        least: How many records make a category worth a group of its own.
        apart: Cells of different numbers are told apart by a rule.
    """
    if isinstance(attribute, Categorical):
        return group_categories(counts, least, apart)
    return group_numbers(counts, groups, apart)


def group_numbers(counts: Ints, groups: int, apart: Ints) -> Ints:
    """The group of each cell of a number: neighbors, about equally full.

    Example:
        >>> group_numbers(np.array([0, 800, 10, 10, 10, 10]), 3, np.zeros(6, int)).tolist()
        [0, 0, 1, 1, 1, 1]
    """
    if len(counts) <= groups:
        return np.arange(len(counts))
    mass = np.cumsum(np.maximum(counts, 0))
    level = np.concatenate([[0], mass[:-1] * groups // max(1, int(mass[-1]))])
    new = (np.diff(level) > 0) | (np.diff(apart) != 0)
    return np.concatenate([[0], np.cumsum(new)]).astype(np.int64)


def group_categories(counts: Ints, least: int, apart: Ints) -> Ints:
    """The group of each category: the rare ones are together, if there are several.

    Example:
        >>> group_categories(np.array([900, 3, 80, 5]), 50, np.zeros(4, int)).tolist()
        [0, 1, 2, 1]
    """
    key = np.where(counts < least, apart, apart.max(initial=0) + 1 + np.arange(len(counts)))
    first: dict[int, int] = {}
    return np.array([first.setdefault(one, len(first)) for one in key.tolist()], np.int64)
