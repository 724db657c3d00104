"""Noise on every cell of the contingency table, and what can be made of it.

Basic (Dwork et al. 2006), for tables and for transactions: the baseline of the DiffGen and DiffPart
papers. Its error grows with the number of cells that a question covers, and in many dimensions
nearly every record is alone in its cell.

DPCube (Xiao et al. 2014), as far as the DiffMulti paper describes it: half of epsilon buys noisy
counts of all cells. A kd-tree over these noisy numbers, which costs nothing, finds parts whose
cells are alike; the other half buys counts of these parts. Cells and parts are then made to agree
by least squares. A part is cut where that leaves the least squared deviation from the halves'
means, until what is left is no more than noise would leave.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass
from typing import ClassVar, Literal

import numpy as np

from hedgerow.arrays import Floats, Ints, Small
from hedgerow.counting.items import ItemEngine
from hedgerow.counting.parts import Engine
from hedgerow.errors import UsageError
from hedgerow.estimate.partition import (
    MOST_CELLS,
    MOST_CORE,
    CoreCells,
    GridPartition,
    TreePartition,
)
from hedgerow.methods.diffgen import count_cells
from hedgerow.methods.plan import Plan
from hedgerow.methods.publisher import Outcome, make_measurement
from hedgerow.privacy.curator import Curator
from hedgerow.privacy.ledger import Allowance
from hedgerow.schema import Categorical, Schema
from papers.baselines.base import UNITS, Baseline

__all__ = ["ContingencyTable", "DPCube", "ItemsetTable", "finest_edges"]

_ROOT = np.zeros(1, dtype=np.int64)
_ALL_OF_IT = Allowance("leaf", "epsilon", units=None, uses=1)


@dataclass(frozen=True)
class ContingencyTable(Baseline):
    """Noisy counts of all combinations of values; where these are very many, of the listed ones.

    Args:
        max_cells: The most cells: numeric attributes are cut into as many equal parts as fit.

    Example:
        >>> ContingencyTable().name
        'contingency'
    """

    max_cells: int = MOST_CELLS // 1024

    name: ClassVar[str] = "contingency"

    def allowances(self, schema: Schema) -> Iterable[Allowance]:
        """See `Baseline.allowances`."""
        return [_ALL_OF_IT]

    def publish(self, engine: Engine, schema: Schema, plan: Plan, curator: Curator) -> Outcome:
        """See `Baseline.publish`."""
        edges = finest_edges(schema, self.max_cells // max(1, len(schema.classes)))
        partition = GridPartition(edges)
        found = tuple(count_cells(engine, curator, partition))
        return Outcome(
            plan=plan,
            partition=partition,
            measurements=found,
            ledger=curator.ledger,
            published=_ROOT,
            sharing=partition.cells,
        )


def finest_edges(schema: Schema, most: int) -> tuple[Small, ...]:
    """Every value apart; if that makes too many cells, numeric attributes in equal parts.

    A public rule: the attribute with the most parts is halved until the cells fit.

    Example:
        >>> schema = Schema.from_dict({"name": "s", "unit": "row", "attributes": {
        ...     "age": {"type": "numeric", "low": 0, "high": 7},
        ...     "home": {"type": "categorical", "values": ["flat", "house"]}}})
        >>> [edges.tolist() for edges in finest_edges(schema, 8)]
        [[0, 2, 4, 6, 8], [0, 1, 2]]
    """
    parts = [attribute.size for attribute in schema.attributes]
    numeric = [
        place
        for place, attribute in enumerate(schema.attributes)
        if not isinstance(attribute, Categorical)
    ]
    while math.prod(parts) > most:
        widest = max(numeric, key=lambda place: parts[place], default=None)
        if widest is None or parts[widest] == 1:
            raise UsageError(
                "the contingency table has too many cells to be numbered.",
                hint="Take fewer attributes; that it does not scale is why other methods exist.",
            )
        parts[widest] = -(-parts[widest] // 2)
    sizes = [attribute.size for attribute in schema.attributes]
    return tuple(
        np.unique(np.linspace(0, size, number + 1).round()).astype(np.int32)
        for size, number in zip(sizes, parts, strict=True)
    )


@dataclass(frozen=True)
class ItemsetTable(Baseline):
    """The same for transactions: noisy counts of all 2^n sets of n items.

    Example:
        >>> ItemsetTable().data
        'transactions'
    """

    name: ClassVar[str] = "itemsets"
    data: ClassVar[Literal["table", "transactions"]] = "transactions"

    def allowances(self, schema: Schema) -> Iterable[Allowance]:
        """See `Baseline.allowances`."""
        items = schema.transaction_items
        if items.size > MOST_CORE:
            raise UsageError(
                f"{items.size} items have too many sets to count them all.",
                hint=f"Take a universe of at most {MOST_CORE} items.",
            )
        return [Allowance("cell", "epsilon", units=None, uses=1)]

    def publish(self, engine: ItemEngine, schema: Schema, plan: Plan, curator: Curator) -> Outcome:
        """See `Baseline.publish`."""
        partition = CoreCells(np.arange(schema.transaction_items.size), np.zeros(1, dtype=np.int64))
        exact = engine.cells(partition.core, partition.rest).map(lambda cells: cells[None, :])
        noisy, units = curator.laplace("cell", 0, _ROOT, exact)
        where = np.arange(partition.cells)
        drawn = (where, noisy[0][:, None], np.repeat(units, partition.cells))
        found = (make_measurement(curator, "cell", "region", [drawn]),)
        return Outcome(
            plan=plan,
            partition=partition,
            measurements=found,
            ledger=curator.ledger,
            published=_ROOT,
            sharing=partition.cells,
        )


MOST_CUBE_CELLS = 100_000


@dataclass(frozen=True)
class DPCube(Baseline):
    """Settings of DPCube.

    Args:
        tolerance: How many times the squared deviation of pure noise a part may have.

    Example:
        >>> DPCube().name
        'dpcube'
    """

    tolerance: float = 1.5

    name: ClassVar[str] = "dpcube"

    def allowances(self, schema: Schema) -> Iterable[Allowance]:
        """See `Baseline.allowances`."""
        cells = math.prod(attribute.size for attribute in schema.attributes)
        if cells > MOST_CUBE_CELLS:
            raise UsageError(
                "dpcube counts every combination of values, and here there are too many.",
                hint=f"Take attributes with at most {MOST_CUBE_CELLS} combinations.",
            )
        return [
            Allowance("cell", "epsilon", units=(UNITS // 2,), uses=1),
            Allowance("leaf", "epsilon", units=None, uses=1),
        ]

    def publish(self, engine: Engine, schema: Schema, plan: Plan, curator: Curator) -> Outcome:
        """See `Baseline.publish`."""
        shape = tuple(int(size) for size in engine.domain.sizes)
        number, classes = math.prod(shape), engine.domain.classes

        def dense(cells: tuple[Ints, Ints]) -> Ints:
            counts = np.zeros(number * classes, dtype=np.int64)
            counts[cells[0]] = cells[1]
            return counts.reshape(number, classes)

        exact = engine.cell_counts(tuple(np.arange(size + 1, dtype=np.int32) for size in shape))
        counts = exact.map(dense)
        noisy, paid = curator.laplace("cell", 0, np.zeros(number, dtype=np.int64), counts)
        rate = float(curator.noise_rate("cell", int(paid[0])))
        cube = noisy.reshape(*shape, classes).astype(np.float64)
        tree, parts = _partition(cube, self.tolerance * 0.5 / math.sinh(rate / 2) ** 2)
        # the parts are disjoint, so one charge serves all
        leaf_of = tree.locate(np.stack(np.unravel_index(np.arange(number), shape), axis=1))
        node_of = tree.leaves[leaf_of]
        part_of = _above(tree, parts)[node_of]

        def sums(cells: Ints) -> Ints:
            found = np.zeros((len(parts), classes), dtype=np.int64)
            np.add.at(found, part_of, cells)
            return found

        accounts = np.zeros(len(parts), dtype=np.int64)
        again, units = curator.laplace("leaf", 0, accounts, counts.map(sums))
        found = (
            make_measurement(curator, "cell", "node", [(node_of, noisy, paid)], by_class=True),
            make_measurement(curator, "leaf", "node", [(parts, again, units)], by_class=True),
        )
        return Outcome(
            plan=plan,
            partition=tree,
            measurements=found,
            ledger=curator.ledger,
            published=_ROOT,
            sharing=tree.cells,
        )


def _partition(cube: Floats, variance: float) -> tuple[TreePartition, Ints]:
    """A tree down to single cells, and its nodes that are the parts.

    Nodes come breadth first, so that parents stand before their children.
    """
    attributes = cube.ndim - 1
    sizes = cube.shape[:-1]
    lo, hi = [[0] * attributes], [list(sizes)]
    parent, depth, split, part = [-1], [0], [-1], [False]
    inside = [False]  # whether the node lies in a part already
    for node in range(10**9):
        if node == len(lo):
            break
        box = cube[tuple(slice(a, b) for a, b in zip(lo[node], hi[node], strict=True))]
        cells = box.size // cube.shape[-1]
        if not inside[node]:
            flat = box.reshape(cells, -1)
            spread = ((flat - flat.mean(axis=0)) ** 2).sum() / max(1, flat.size - flat.shape[1])
            part[node] = bool(cells == 1 or spread <= variance)
        if cells == 1:
            continue
        a, cut = _cut(box)
        split[node] = a
        for low, high in ((0, cut), (cut, box.shape[a])):
            lo.append([*lo[node][:a], lo[node][a] + low, *lo[node][a + 1 :]])
            hi.append([*hi[node][:a], lo[node][a] + high, *hi[node][a + 1 :]])
            parent.append(node)
            depth.append(depth[node] + 1)
            split.append(-1)
            part.append(False)
            inside.append(inside[node] or part[node])
    tree = TreePartition(
        parent=np.asarray(parent, dtype=np.int32),
        depth=np.asarray(depth, dtype=np.int16),
        split=np.asarray(split, dtype=np.int16),
        lo=np.asarray(lo, dtype=np.int32),
        hi=np.asarray(hi, dtype=np.int32),
    )
    return tree, np.flatnonzero(part)


def _cut(box: Floats) -> tuple[int, int]:
    """The attribute and the place that leave the least squared deviation from the means."""
    best, where = -1.0, (0, 1)
    total = box.reshape(-1, box.shape[-1]).sum(axis=0)
    cells = box.size // box.shape[-1]
    for a in range(box.ndim - 1):
        if box.shape[a] < 2:
            continue
        others = tuple(b for b in range(box.ndim - 1) if b != a)
        left = np.cumsum(box.sum(axis=others), axis=0)[:-1]
        number = cells // box.shape[a] * np.arange(1, box.shape[a])[:, None]
        # what the halves' means explain
        explained = (left**2 / number + (total - left) ** 2 / (cells - number)).sum(axis=1)
        if explained.max() > best or where == (0, 1) and best < 0:
            best, where = float(explained.max()), (a, int(explained.argmax()) + 1)
    return where


def _above(tree: TreePartition, parts: Ints) -> Ints:
    """For each node that lies in a part, the place of this part in the list."""
    found = np.full(len(tree.parent), -1, dtype=np.int64)
    found[parts] = np.arange(len(parts))
    for node in range(1, len(tree.parent)):
        if found[node] < 0:
            found[node] = found[tree.parent[node]]
    return found
