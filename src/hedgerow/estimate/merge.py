"""Evidence: what all measurements of a release say about the nodes and cells of one tree.

A cell is a class of a region. Class counts and totals make one tree in one of two ways:

- classes below: a tree of totals, whose leaves divide by class. So for DiffMulti, which measures
  totals of nodes on its way down and classes of leaves, and for DiffGen, whose tree is a root with
  all regions below it.
- classes on top: the total divides by class, and each class has a copy of the tree. So for
  CDiffGen, which measures the classes of every node.

Several measurements of the same thing are merged by the inverse of their variances.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np

from hedgerow.arrays import Floats, Ints
from hedgerow.measured.measurements import Measurement
from hedgerow.measured.partition import Partition, TreePartition

__all__ = ["Evidence", "Merged", "gather", "is_censored"]


@dataclass(frozen=True, eq=False)
class Merged:
    """One best measurement of each place, or none.

    Args:
        values: Shape [places, columns]; 0 where nothing was measured.
        variance: Of the noise on each number of a place, infinite where nothing was measured.
        tail: The same with 2 / epsilon^2, the variance of the continuous Laplace law, for the
            discrete one: a little more, and what bounds on the tails are made of.
    """

    values: Floats
    variance: Floats
    tail: Floats


@dataclass(frozen=True, eq=False, kw_only=True)
class Evidence:
    """The merged measurements on a tree.

    Args:
        parent: The parent of each node, -1 for the root.
        leaves: The node of each region.
        classes: The number of classes, 1 if there is none.
        nodes: Of each node: its total (one column), or with classes on top its classes.
        cells: With classes below, the classes of each region. None if there is no class to tell
            apart, or with classes on top.
        total: With classes on top, the total of the root, one place.
    """

    parent: Ints
    leaves: Ints
    classes: int
    nodes: Merged
    cells: Merged | None = None
    total: Merged | None = None


def is_censored(measurements: Iterable[Measurement]) -> bool:
    """Whether cells are listed by a threshold, so that plain least squares does not apply."""
    return any(m.threshold is not None or m.klass is not None for m in measurements)


def gather(partition: Partition, measurements: Sequence[Measurement], classes: int) -> Evidence:
    """Sorts measurements into a tree and merges those of the same thing.

    With classes on top, a total of an inner node other than the root fits into no tree together
    with class counts of other nodes; it is left aside.

    Args:
        partition: The regions.
        measurements: What was measured, not thresholded.
        classes: The number of classes, 1 if there is none.
    """
    if isinstance(partition, TreePartition):
        parent, leaves = partition.parent.astype(np.int64), partition.leaves
    else:
        parent = np.zeros(partition.cells + 1, np.int64)
        parent[0] = -1
        leaves = np.arange(1, partition.cells + 1)
    region = np.full(len(parent), -1, np.int64)
    region[leaves] = np.arange(len(leaves))
    totals: list[tuple[Ints, Measurement]] = []
    classed: list[tuple[Ints, Measurement]] = []
    for measurement in measurements:
        nodes = measurement.where if measurement.at == "node" else leaves[measurement.where]
        by_class = measurement.by_class and classes > 1
        (classed if by_class else totals).append((nodes, measurement))
    if classes == 1:
        return Evidence(
            parent=parent, leaves=leaves, classes=1, nodes=_merge(totals, len(parent), 1)
        )
    if any((region[nodes] < 0).any() for nodes, _ in classed):
        nodes_by_class = _merge(classed, len(parent), classes)
        total = _merge(totals, len(parent), 1)
        root = Merged(total.values[:1], total.variance[:1], total.tail[:1])
        return Evidence(
            parent=parent, leaves=leaves, classes=classes, nodes=nodes_by_class, total=root
        )
    cells = _merge([(region[nodes], m) for nodes, m in classed], len(leaves), classes)
    return Evidence(
        parent=parent,
        leaves=leaves,
        classes=classes,
        nodes=_merge(totals, len(parent), 1),
        cells=cells,
    )


def _merge(parts: Sequence[tuple[Ints, Measurement]], places: int, columns: int) -> Merged:
    weight, spread = np.zeros(places), np.zeros(places)
    weighted = np.zeros((places, columns))
    for where, measurement in parts:
        share = 1 / measurement.variance
        weight += np.bincount(where, share, places)
        spread += np.bincount(where, share**2 * measurement.tail_variance, places)
        for column in range(columns):
            values = share * measurement.values[:, column]
            weighted[:, column] += np.bincount(where, values, places)
    known = weight > 0
    weight[~known] = 1
    return Merged(
        weighted / weight[:, None],
        np.where(known, 1 / weight, math.inf),
        np.where(known, spread / weight**2, math.inf),
    )
