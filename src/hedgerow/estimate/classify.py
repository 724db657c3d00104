"""Which class a region mostly holds, with the help of its ancestors.

A small region's counts are mostly noise. In a tree its parent is larger and much like it, so the
parent's shares are the better guess wherever the region itself says little. All of it is computed
from published numbers.
"""

from __future__ import annotations

import numpy as np

from hedgerow.arrays import Floats, Ints
from hedgerow.estimate.cells import Cells
from hedgerow.estimate.fit import Fit
from hedgerow.measured.partition import Partition, TreePartition

__all__ = ["class_shares", "class_weights", "probabilities_of"]


_SPREAD = 0.05
"""How far a node's class shares lie from its parent's, as a variance, about. Anything between
0.03 and 0.1 serves UCI Adult alike."""


def class_shares(partition: Partition, fit: Fit) -> Floats:
    """The shares of the classes in each region, shape [regions, classes].

    From the top down, a node's shares are the mean of its own and of its parent's, weighted by
    how much noise its own carry. Regions of a grid have no ancestors, and stand for themselves.
    """
    if not isinstance(partition, TreePartition) or len(partition.parent) == 1:
        return fit.cells
    parent, depth = partition.parent, partition.depth
    noise = np.zeros(len(parent))
    noise[partition.leaves] = fit.variance
    levels = [np.flatnonzero(depth == level) for level in range(int(depth.max()) + 1)]
    for nodes in levels[:0:-1]:
        np.add.at(noise, parent[nodes], noise[nodes])  # no less than it is: estimates agree better
    counts = np.maximum(fit.counts, 0)
    size = counts.sum(axis=1)
    own = counts / np.maximum(size, 1e-9)[:, None]
    weight = size**2 * _SPREAD / (size**2 * _SPREAD + noise + 1e-9)
    shares = own.copy()
    for nodes in levels[1:]:
        mine = weight[nodes, None]
        shares[nodes] = mine * own[nodes] + (1 - mine) * shares[parent[nodes]]
    found: Floats = shares[partition.leaves]
    return found


def class_weights(partition: Partition, cells: Cells, found: Ints) -> Floats:
    """How much each class weighs in some regions; in those that are suppressed, as in the whole.

    Args:
        partition: The regions.
        cells: What is known about the listed ones.
        found: The regions asked about, such as those of rows.
    """
    shares = cells.values if cells.fit is None else class_shares(partition, cells.fit)
    every = np.vstack([shares, cells.values.sum(axis=0)])
    place = np.searchsorted(cells.regions, found)
    listed = np.append(cells.regions, -1)[place] == found
    return np.asarray(every[np.where(listed, place, len(cells.regions))])


def probabilities_of(weights: Floats) -> Floats:
    """Weights of classes as probabilities, shape [rows, classes].

    Example:
        >>> probabilities_of(np.array([[3.0, 1.0], [3.0, -1.0], [-2.0, -1.0]])).tolist()
        [[0.75, 0.25], [1.0, 0.0], [0.0, 1.0]]
    """
    best = weights == weights.max(axis=1, keepdims=True)
    weights = np.where(weights.max(axis=1, keepdims=True) > 0, np.maximum(weights, 0), best)
    return np.asarray(weights / weights.sum(axis=1, keepdims=True))
