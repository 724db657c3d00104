"""Public regions: of records, which also become generalized tables, and of transactions."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from hedgerow.arrays import Bools, Floats, Ints, Small
from hedgerow.errors import ReleaseError, UsageError
from hedgerow.estimate.measurements import Alike, Measurement
from hedgerow.schema import Attribute, Categorical, Numeric, Schema
from hedgerow.schema.attributes import RESERVED
from hedgerow.schema.items import WEIGHT, Items, ItemTree
from hedgerow.store.untrusted import broken

# Public regions: how a release cuts the domain into boxes of integer codes.
#
# A region is an interval of codes in every predictor. Two shapes exist: a tree, whose leaves are
# the regions (DiffMulti), and a grid, the product of one cut per attribute (DiffGen). Both number
# their regions from 0 in the lexicographic order of their lower corners, so the number of a region
# follows from the region itself and never from the order in which data arrived.


MOST_CELLS = 2**62
"""Region numbers are 64-bit integers, with room to spare for arithmetic on them."""


@dataclass(frozen=True)
class Parts:
    """The distinct intervals of one attribute among some regions.

    Args:
        index: For each region, which interval it has.
        lo: The first code of each interval.
        hi: One past the last code of each interval.
    """

    index: Ints
    lo: Ints
    hi: Ints


@dataclass(frozen=True, eq=False, kw_only=True)
class TreePartition(Alike):
    """The leaves of a tree of boxes.

    Args:
        parent: The parent of each node, -1 for the root (node 0). Nodes stand in breadth-first
            order; the children of a node are contiguous and ordered by their codes.
        depth: The depth of each node, 0 for the root.
        split: The attribute that splits each node, -1 for a leaf.
        lo: The first code of each node in each attribute, shape [nodes, attributes].
        hi: One past the last code of each node in each attribute.

    Example:
        >>> tree = TreePartition.of([(-1, 0, [0, 0], [4, 2]), (0, -1, [0, 0], [3, 2]),
        ...                          (0, -1, [3, 0], [4, 2])])
        >>> tree.cells, tree.locate(np.array([[2, 1], [3, 0]])).tolist()
        (2, [0, 1])
    """

    parent: Small
    depth: NDArray[np.int16]
    split: NDArray[np.int16]
    lo: Small
    hi: Small

    @staticmethod
    def of(nodes: list[tuple[int, int, list[int], list[int]]]) -> TreePartition:
        """Builds a small tree from (parent, split, lo, hi) of each node."""
        depth: list[int] = []
        for parent, *_ in nodes:
            depth.append(0 if parent < 0 else depth[parent] + 1)
        return TreePartition(
            parent=np.array([node[0] for node in nodes], np.int32),
            depth=np.array(depth, np.int16),
            split=np.array([node[1] for node in nodes], np.int16),
            lo=np.array([node[2] for node in nodes], np.int32),
            hi=np.array([node[3] for node in nodes], np.int32),
        )

    def __repr__(self) -> str:
        """Its size only: the arrays are long."""
        return f"TreePartition(nodes={len(self.parent)}, cells={self.cells})"

    @cached_property
    def leaves(self) -> Ints:
        """The node of each region, in region order."""
        nodes = np.flatnonzero(self.split < 0)
        corners = self.lo[nodes]
        return nodes[np.lexsort(corners.T[::-1])].astype(np.int64)

    @cached_property
    def region_of_node(self) -> Ints:
        """The region of each node, -1 for a node that is not a leaf."""
        regions = np.full(len(self.parent), -1, np.int64)
        regions[self.leaves] = np.arange(len(self.leaves))
        return regions

    @property
    def cells(self) -> int:
        """The number of regions."""
        return len(self.leaves)

    @property
    def divided(self) -> frozenset[int]:
        """The attributes that some node is split by."""
        return frozenset(np.unique(self.split[self.split >= 0]).tolist())

    def bounds(self, regions: Ints) -> tuple[Small, Small]:
        """The lower and the upper corners of regions, two arrays [regions, attributes]."""
        nodes = self.leaves[regions]
        return self.lo[nodes], self.hi[nodes]

    def parts(self, attribute: int, regions: Ints) -> Parts:
        """The distinct intervals of an attribute among regions, in the order of their codes."""
        nodes = self.leaves[regions]
        lo = self.lo[nodes, attribute].astype(np.int64)
        hi = self.hi[nodes, attribute].astype(np.int64)
        width = int(hi.max(initial=0)) + 1
        keys, index = np.unique(lo * width + hi, return_inverse=True)
        return Parts(index.astype(np.int64), keys // width, keys % width)

    def locate(self, codes: NDArray[np.integer]) -> Ints:
        """The region of each row of codes, shape [rows, attributes]."""
        # all children by their parents and first codes, in which each row goes down a level a time
        up = self.parent[1:].astype(np.int64)
        children = np.argsort(up, kind="stable") + 1
        up, most = up[children - 1], int(self.hi.max(initial=0)) + 1
        keys = up * most + self.lo[children, self.split[up]]
        node = np.zeros(len(codes), np.int64)
        while len(rows := np.flatnonzero(self.split[node] >= 0)):
            here = node[rows]
            code = codes[rows, self.split[here]].astype(np.int64)
            place = np.searchsorted(keys, here * most + code, side="right") - 1
            node[rows] = children[place]
        return self.region_of_node[node]

    def check(self, sizes: tuple[int, ...]) -> None:
        """Refuses what is not a tree that cuts the whole domain into disjoint boxes.

        Raises:
            ReleaseError: Names the rule that is broken.
        """
        nodes, attributes = len(self.parent), len(sizes)
        same = len(self.depth) == len(self.split) == nodes
        if not (nodes and same and self.lo.shape == self.hi.shape == (nodes, attributes)):
            raise _broken("its columns do not fit each other or the schema")
        whole = np.array(sizes, np.int64)
        if self.parent[0] != -1 or (self.lo[0] != 0).any() or (self.hi[0] != whole).any():
            raise _broken("its first node is not the whole domain")
        up = self.parent[1:].astype(np.int64)
        if (up < 0).any() or (up >= np.arange(1, nodes)).any():
            raise _broken("a node stands before its parent")
        steps = np.concatenate(([0], self.depth[up].astype(np.int64) + 1))
        if (self.depth != steps).any() or (np.diff(self.depth) < 0).any():
            raise _broken("its nodes are not in breadth-first order")
        many = np.bincount(up, minlength=nodes)
        if (self.split >= attributes).any() or ((self.split >= 0) != (many > 0)).any():
            raise _broken("a node is split but has no children, or the other way round")
        if nodes > 1:
            self._check_children(up, many)

    def _check_children(self, up: Ints, many: Ints) -> None:
        """Children stand side by side, and tile their parent along the attribute that splits it."""
        here = np.arange(len(up))
        starts = np.concatenate(([True], up[1:] != up[:-1]))
        ends = np.concatenate((starts[1:], [True]))
        if np.count_nonzero(starts) != np.count_nonzero(many):
            raise _broken("the children of a node are apart")
        along = self.split[up].astype(np.int64)
        lo, hi = self.lo[1:], self.hi[1:]
        low, high = lo[here, along], hi[here, along]
        expected = np.where(starts, self.lo[up, along], np.concatenate(([0], high[:-1])))
        fits = (low == expected) & (high > low) & (~ends | (high == self.hi[up, along]))
        others = np.ones(lo.shape, bool)
        others[here, along] = False
        moved = ((lo != self.lo[up]) | (hi != self.hi[up])) & others
        if not fits.all() or moved.any():
            raise _broken("the children of a node do not fill it exactly")


@dataclass(frozen=True, eq=False)
class GridPartition(Alike):
    """The product of one cut per attribute.

    Args:
        edges: Per attribute the increasing code edges; the first is 0 and the last the number of
            codes. Part j holds the codes from edges[j] up to, not including, edges[j + 1].

    Example:
        >>> grid = GridPartition((np.array([0, 2, 5]), np.array([0, 1, 2, 3])))
        >>> grid.cells, grid.locate(np.array([[1, 2], [2, 0]])).tolist()
        (6, [2, 3])
    """

    edges: tuple[Small, ...]

    def __repr__(self) -> str:
        """Its size only."""
        return f"GridPartition(parts={self.shape}, cells={self.cells})"

    @cached_property
    def shape(self) -> tuple[int, ...]:
        """The number of parts of each attribute."""
        return tuple(len(edges) - 1 for edges in self.edges)

    @cached_property
    def cells(self) -> int:
        """The number of regions."""
        return math.prod(self.shape)

    @property
    def divided(self) -> frozenset[int]:
        """The attributes that are cut into several parts."""
        return frozenset(place for place, parts in enumerate(self.shape) if parts > 1)

    @cached_property
    def _strides(self) -> tuple[int, ...]:
        """How far apart the numbers of neighboring parts are; the first attribute leads."""
        return tuple(math.prod(self.shape[place + 1 :]) for place in range(len(self.shape)))

    def _part(self, attribute: int, regions: Ints) -> Ints:
        return regions // self._strides[attribute] % self.shape[attribute]

    def bounds(self, regions: Ints) -> tuple[Small, Small]:
        """The lower and the upper corners of regions, two arrays [regions, attributes]."""
        lo = np.empty((len(regions), len(self.edges)), np.int32)
        hi = np.empty_like(lo)
        for attribute, edges in enumerate(self.edges):
            part = self._part(attribute, regions)
            lo[:, attribute], hi[:, attribute] = edges[part], edges[part + 1]
        return lo, hi

    def parts(self, attribute: int, regions: Ints) -> Parts:
        """The intervals of an attribute, and which of them each region has."""
        edges = self.edges[attribute].astype(np.int64)
        return Parts(self._part(attribute, regions), edges[:-1], edges[1:])

    def locate(self, codes: NDArray[np.integer]) -> Ints:
        """The region of each row of codes, shape [rows, attributes]."""
        region = np.zeros(len(codes), np.int64)
        for attribute, edges in enumerate(self.edges):
            part_of_code = np.repeat(np.arange(len(edges) - 1), np.diff(edges))
            region += part_of_code[codes[:, attribute]] * self._strides[attribute]
        return region

    def check(self, sizes: tuple[int, ...]) -> None:
        """Refuses what does not cut every attribute from end to end.

        Raises:
            ReleaseError: Names the rule that is broken.
        """
        if len(self.edges) != len(sizes):
            raise _broken("it does not have one cut per attribute of the schema")
        for edges, size in zip(self.edges, sizes, strict=True):
            if len(edges) < 2 or edges[0] != 0 or edges[-1] != size or (np.diff(edges) <= 0).any():
                raise _broken("the parts of an attribute do not fill it exactly")
        if self.cells > MOST_CELLS:
            raise _broken("it has more regions than can be numbered")


Partition = TreePartition | GridPartition


def _broken(rule: str) -> ReleaseError:
    return broken("the regions of this release are not a partition", rule)


# The generalized table: one row per region and class, in words or in typed bounds.
#
# Labels are made once per distinct interval of an attribute and shared by dictionary columns, so
# that a million rows cost about as much as their integers.


_ROWS_PER_BLOCK = 100_000
# quoted although CSV does not ask for it: what a spreadsheet might take for a formula, and blanks
# at the ends, which readers like to strip
_QUOTED = re.compile(r'[",\r\n]|^[=+\-@\s]|\s$')


def check_names(schema: Schema) -> None:
    """Refuses a schema with a column called like one of the release's own.

    Raises:
        UsageError: Names the column.
    """
    names = [attribute.name for attribute in schema.attributes]
    names += [] if schema.target is None else [schema.target.name]
    for name in names:
        if name in RESERVED:
            raise UsageError(
                f"the column {name!r} is called like a column of a release",
                hint=f"Call the attribute otherwise: {name}_value: {{column: {name}, ...}}.",
            )


def check_against(schema: Schema, partition: Partition) -> None:
    """Refuses regions that do not fit the schema.

    Raises:
        ReleaseError: Names the rule that is broken.
    """
    partition.check(tuple(attribute.size for attribute in schema.attributes))
    # every region of a grid tells all its intervals; of a tree, all regions must be asked
    listed = np.arange(1 if isinstance(partition, GridPartition) else partition.cells)
    for place, attribute in enumerate(schema.attributes):
        if isinstance(attribute, Categorical):
            parts = partition.parts(place, listed)
            spans = set(attribute.taxonomy.spans)
            if not spans.issuperset(zip(parts.lo.tolist(), parts.hi.tolist(), strict=True)):
                raise _broken(f"a region is no node of the taxonomy of {attribute.name!r}")


def generalized_table(
    schema: Schema, partition: Partition, regions: Ints, counts: Ints, errors: Floats
) -> pa.Table:
    """The table that people read: `region`, the attributes as labels, the class, estimates, errors.

    Args:
        schema: Names and labels.
        partition: The regions.
        regions: The regions to list, increasing.
        counts: Their counts, shape [regions, classes].
        errors: How far noise may move each, not finite where nobody knows.
    """
    columns = _columns(schema, partition, regions, counts.shape[1], _labels)
    columns["estimate"] = pa.array(counts.ravel())
    unknown = ~np.isfinite(errors.ravel())
    # rounded first, so that all machines agree
    whole = np.ceil(np.round(np.where(unknown, 0.0, errors.ravel()), 6)).astype(np.int64)
    columns["typical_error"] = pa.array(whole, mask=unknown)
    return pa.table(columns)


def typed_table(schema: Schema, partition: Partition, regions: Ints, counts: Ints) -> pa.Table:
    """The table that programs read: as above, but numeric attributes as typed bounds.

    `<name>_low` is the first value and `<name>_high` the first value beyond; both are null for a
    region that holds only the "other" code. `<name>_other`, for attributes that have such a code,
    says whether the region holds it.
    """
    taken = {attribute.name for attribute in schema.attributes} | {"count"}
    taken |= set() if schema.target is None else {schema.target.name}

    def typed(attribute: Attribute, parts: Parts, classes: int) -> dict[str, pa.Array]:
        if isinstance(attribute, Categorical):
            return _labels(attribute, parts, classes)
        index, columns = np.repeat(parts.index, classes), {}
        for end, values in bounds_of(attribute, parts.lo[index], parts.hi[index]).items():
            name = f"{attribute.name}_{end}"
            while name in taken:  # an attribute may be called like the bound of another
                name += "_"
            taken.add(name)
            columns[name] = values
        return columns

    columns = _columns(schema, partition, regions, counts.shape[1], typed)
    columns["count"] = pa.array(counts.ravel())
    return pa.table(columns)


def _columns(
    schema: Schema,
    partition: Partition,
    regions: Ints,
    classes: int,
    columns_of: Callable[[Attribute, Parts, int], dict[str, pa.Array]],
) -> dict[str, pa.Array]:
    """The columns of all tables of regions: their numbers, the attributes, and the class."""
    check_names(schema)
    columns = {"region": pa.array(np.repeat(regions, classes))}
    for place, attribute in enumerate(schema.attributes):
        columns |= columns_of(attribute, partition.parts(place, regions), classes)
    if schema.target is not None:
        codes = np.tile(np.arange(len(schema.classes), dtype=np.int32), len(regions))
        columns[schema.target.name] = dictionary(codes, schema.classes)
    return columns


def dictionary(index: Small, labels: tuple[str, ...]) -> pa.DictionaryArray:
    """A text column that names each distinct label once."""
    return pa.DictionaryArray.from_arrays(pa.array(index), pa.array(labels, pa.string()))


def _labels(attribute: Attribute, parts: Parts, times: int) -> dict[str, pa.Array]:
    labels: dict[str, int] = {}
    rank = np.empty(len(parts.lo), np.int32)
    for place, (lo, hi) in enumerate(zip(parts.lo.tolist(), parts.hi.tolist(), strict=True)):
        rank[place] = labels.setdefault(attribute.label(lo, hi), len(labels))
    return {attribute.name: dictionary(np.repeat(rank[parts.index], times), tuple(labels))}


def numbers(
    attribute: Numeric, codes: Ints, nulls: Bools | None = None, inside: Ints | int = 0
) -> pa.Array:
    """The lower grid points of codes, typed: int64, float64 or date32; or numbers beyond them."""
    common = attribute.low.denominator * attribute.step.denominator
    low, step = int(attribute.low * common), int(attribute.step * common)
    if attribute.kind == "decimal":
        # one correctly rounded division of whole numbers gives the double nearest to the decimal
        return pa.array((low + codes * step) / common, pa.float64(), mask=nulls)
    whole = low + codes * step + inside
    if attribute.kind == "date":
        return pa.array(whole.astype("datetime64[D]"), pa.date32(), mask=nulls)
    return pa.array(whole, pa.int64(), mask=nulls)


def bounds_of(attribute: Numeric, lo: Ints, hi: Ints) -> dict[str, pa.Array]:
    """The bounds of intervals of codes, typed; null where they hold only "other"."""
    only_other = lo >= attribute.grid
    bounds = {
        "low": numbers(attribute, lo, only_other),
        "high": numbers(attribute, np.minimum(hi, attribute.grid), only_other),
    }
    if attribute.has_other:
        bounds["other"] = pa.array(hi > attribute.grid)
    return bounds


def csv_blocks(table: pa.Table) -> Iterator[bytes]:
    r"""A generalized table as CSV, some rows at a time: UTF-8, a header, lines that end in `\n`.

    Example:
        >>> table = pa.table({"region": [0], "age": dictionary(np.zeros(1, np.int32), ("[1, 2)",))})
        >>> b"".join(csv_blocks(table))
        b'region,age\n0,"[1, 2)"\n'
    """
    yield (",".join(map(_quoted, table.column_names)) + "\n").encode()
    for batch in table.to_batches(max_chunksize=_ROWS_PER_BLOCK):
        lines = map(",".join, zip(*map(_fields, batch.columns), strict=True))
        yield "".join(f"{line}\n" for line in lines).encode()


def _fields(column: pa.Array) -> list[str]:
    if isinstance(column, pa.DictionaryArray):
        labels = list(map(_quoted, column.dictionary.to_pylist()))
        return [labels[code] for code in column.indices.to_pylist()]
    values = column.to_pylist()
    if pa.types.is_string(column.type):
        return ["" if text is None else _quoted(text) for text in values]
    return ["" if number is None else str(number) for number in values]


def _quoted(text: str) -> str:
    return '"' + text.replace('"', '""') + '"' if _QUOTED.search(text) else text


# The public regions of transactions: sets of records that hold the same items, or nearly so.

MOST_CORE = 20
_MOST_BINS = 64


@dataclass(frozen=True, eq=False)
class CoreCells(Alike):
    """Which items of a core a record holds, and about how many items beside them.

    Cell number = mask * bins + bin: bit b of the mask stands for the item `core[b]`, and bin j
    holds the records with `rest[j]` up to, not including, `rest[j + 1]` items outside the core.
    Where the core is the whole universe there is one bin.

    Args:
        core: The items of the core, by increasing code.
        rest: The lower ends of the bins; the first is 0.

    Example:
        >>> cells = CoreCells(np.array([2, 5]), np.array([0, 1, 3]))
        >>> cells.cells
        12
    """

    core: Ints
    rest: Ints

    def __repr__(self) -> str:
        """Its size only."""
        return f"CoreCells(core={len(self.core)}, bins={len(self.rest)})"

    @property
    def cells(self) -> int:
        """The number of regions."""
        return len(self.rest) << len(self.core)

    def check(self, items: Items) -> None:
        """Refuses what cannot be the cells of a core of this universe.

        Raises:
            ReleaseError: Names the rule that is broken.
        """
        if len(self.core) > MOST_CORE or len(self.rest) > _MOST_BINS:
            raise _broken("its core is larger than any")
        if (np.diff(self.core) <= 0).any() or (
            len(self.core) and not 0 <= self.core[0] <= self.core[-1] < items.size
        ):
            raise _broken("its core does not consist of items of the universe, in their order")
        if not len(self.rest) or self.rest[0] != 0 or (np.diff(self.rest) <= 0).any():
            raise _broken("its bins do not begin at 0 and increase")
        if len(self.rest) > 1 and len(self.core) == items.size:
            raise _broken("it counts items beside a core that is the whole universe")


@dataclass(frozen=True, eq=False, kw_only=True)
class CutTree(Alike):
    """Partitions by hierarchy cuts: a record lies in one if its items generalize to its cut.

    Every record's items lie under the nodes of its partition's cut, and every node of the cut has
    one of them below it. An expanded partition replaced one node of its cut by some of that node's
    children; what is left of it are the records of none of the sub-partitions that were kept.

    Args:
        parent: The partition that each was made from, -1 for the first, which holds all records.
        split: The node of the cut that was expanded, -1 if none was.
        cut_start: Where each partition's cut begins in `cut`, and the end of the last.
        cut: The nodes of the `schema.ItemTree`, increasing within a partition.

    Example:
        >>> tree = CutTree(parent=np.array([-1, 0]), split=np.array([0, -1]), cut_start=np.array([0,
        ...                1, 3]), cut=np.array([0, 1, 2]))
        >>> tree.cells, tree.nodes(1).tolist()
        (2, [1, 2])
    """

    parent: Ints
    split: Ints
    cut_start: Ints
    cut: Ints

    def __repr__(self) -> str:
        """Its size only."""
        return f"CutTree(partitions={self.cells})"

    @property
    def cells(self) -> int:
        """The number of partitions."""
        return len(self.parent)

    def nodes(self, partition: int) -> Ints:
        """The cut of a partition."""
        return self.cut[self.cut_start[partition] : self.cut_start[partition + 1]]

    def entries(self, partitions: Ints) -> tuple[Ints, Ints]:
        """How many nodes the cut of each of some partitions has, and which, one after the other."""
        number = np.diff(self.cut_start)[partitions]
        first = np.repeat(self.cut_start[partitions] - np.cumsum(number) + number, number)
        return number, self.cut[first + np.arange(len(first))]

    @cached_property
    def owner(self) -> Ints:
        """The partition of each entry of `cut`."""
        return np.repeat(np.arange(self.cells), np.diff(self.cut_start))

    @cached_property
    def depth(self) -> Ints:
        """How many expansions led to each partition."""
        depth = np.zeros(self.cells, np.int64)
        for partition in range(1, self.cells):  # parents stand before their children
            depth[partition] = depth[self.parent[partition]] + 1
        return depth

    def leaves(self, tree: ItemTree) -> Bools:
        """Which partitions have a cut of items alone: their records are known exactly."""
        inner = np.zeros(self.cells, np.int64)
        np.add.at(inner, self.owner, tree.children[self.cut] > 0)
        return np.asarray(inner == 0)

    def check(self, items: Items) -> None:
        """Refuses what does not follow from the universe's tree by expansions.

        Raises:
            ReleaseError: Names the rule that is broken.
        """
        tree, size = ItemTree.of(items), self.cells
        if not size or len(self.split) != size or len(self.cut_start) != size + 1:
            raise _broken("its columns have different lengths")
        if self.cut_start[0] != 0 or self.cut_start[-1] != len(self.cut):
            raise _broken("its cuts are not where they should be")
        if (np.diff(self.cut_start) < 1).any() or self.cut.min() < 0 or self.cut.max() >= len(tree):
            raise _broken("a cut is empty or names no node of the universe's tree")
        if self.parent[0] != -1 or self.nodes(0).tolist() != [0]:
            raise _broken("it does not begin with all records")
        if (self.parent[1:] < 0).any() or (self.parent[1:] >= np.arange(1, size)).any():
            raise _broken("a partition stands before the one it was made from")
        if (np.diff(self.parent) < 0).any():
            raise _broken("its partitions are not in canonical order")
        before: tuple[int, ...] = ()
        for partition in range(1, size):
            up = int(self.parent[partition])
            kept = set(self.nodes(up).tolist())
            node = int(self.split[up])
            cut = self.nodes(partition).tolist()
            fresh = set(cut) - kept
            if node not in kept or not fresh or set(cut) != (kept - {node}) | fresh:
                raise _broken("a cut does not follow from the one it was made from")
            if sorted(set(cut)) != cut or (tree.parent[list(fresh)] != node).any():
                raise _broken("a cut does not follow from the one it was made from")
            same = up == self.parent[partition - 1]
            bits = tuple(sorted(fresh, reverse=True))  # as a mask would be compared
            if same and bits <= before:
                raise _broken("its partitions are not in canonical order")
            before = bits
        expanded = np.flatnonzero(self.split >= 0)
        if any(int(self.split[p]) not in self.nodes(p) for p in expanded.tolist()):
            raise _broken("a partition was expanded at a node that its cut does not hold")
        if (tree.children[self.split[expanded]] == 0).any():
            raise _broken("a partition was expanded at an item")


Itemsets = CoreCells | CutTree


def cap_of(measurement: Measurement) -> int:
    """How many items of a record count in full, for weighted supports.

    The weights of a record add up to the cap, and their squares to no more than it: a record with t
    items beyond the cap has t (cap / t)^2 = cap^2 / t.
    """
    if measurement.law == "gaussian":
        return measurement.max_contribution // WEIGHT**2
    return measurement.max_contribution // WEIGHT
