"""Trees to descend for answers, with all that a descent needs to know of each node."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from hedgerow.arrays import Floats, Ints
from hedgerow.estimate.consistency import Levels
from hedgerow.estimate.fit import Fit
from hedgerow.measured.partition import GridPartition, TreePartition

__all__ = ["BITS", "Index", "grid_index", "tree_index"]


BITS = 62
"""How many attributes have a bit of their own; beyond, they share them, which is slower only."""


@dataclass(frozen=True, eq=False, kw_only=True)
class Index:
    """A tree of boxes with the weights and variances of its counts.

    Args:
        shape: Of each node its first child, one past its last child, the attribute that divides
            it, its first code and one past its last in the attribute that divides its parent, and
            which attributes are divided in and below it, as bits. Shape [nodes, 6].
        sizes: The number of codes of each attribute.
        deepest: The number of levels.
        own: The weight of each node's own measurement in its first value.
        share: Its share in what its parent is off by.
        variance: The variance of its first value, by the tails of the noise.
        below: The sum of its children's.
        apart: With classes below: the variance of a class of all its regions together, by the
            tails; else 0.
        counts: The consistent counts of its classes, shape [nodes, classes].
    """

    shape: Ints
    sizes: Ints
    deepest: int
    own: Floats
    share: Floats
    variance: Floats
    below: Floats
    apart: Floats
    counts: Floats


def tree_index(partition: TreePartition, fit: Fit) -> Index:
    """The tree of a release."""
    parent, nodes = fit.evidence.parent, len(fit.evidence.parent)
    many = np.bincount(parent[1:], minlength=nodes)
    first = np.zeros(nodes, np.int64)
    first[parent[:0:-1]] = np.arange(nodes - 1, 0, -1)  # the last to be written is the first child
    split = partition.split.astype(np.int64)
    along = np.append(0, split[parent[1:]])
    everyone = np.arange(nodes)
    spread = fit.passes.spread(fit.measured.tail)
    apart = np.zeros(nodes)
    if fit.evidence.cells is not None:
        apart[fit.evidence.leaves] = fit.evidence.cells.tail
        apart = fit.passes.levels.gathered(apart)
    low, high = partition.lo[everyone, along], partition.hi[everyone, along]
    divided = _divided(split, fit.passes.levels)
    return Index(
        shape=np.column_stack([first, first + many, split, low, high, divided]).astype(np.int64),
        sizes=partition.hi[0].astype(np.int64),
        deepest=len(fit.passes.levels.nodes),
        own=fit.passes.own,
        share=fit.passes.share,
        variance=spread.first,
        below=spread.below,
        apart=apart,
        counts=fit.counts,
    )


def _divided(split: Ints, levels: Levels) -> Ints:
    """The attributes that are divided in and below each node, as bits."""
    bits = np.where(split < 0, 0, np.int64(1) << (split % BITS))
    for nodes in levels.nodes[:0:-1]:
        np.bitwise_or.at(bits, levels.parent[nodes], bits[nodes])
    return bits


def grid_index(partition: GridPartition, fit: Fit, attributes: Sequence[int]) -> Index:
    """A tree over some attributes of a grid, all others summed out.

    Level by level it divides one attribute into its parts. Queries on these attributes alone have
    the same answers as on all cells: nothing was measured between the root and the cells, so a sum
    of cells is as good a leaf as a cell.

    Args:
        partition: The grid.
        fit: Its consistent counts.
        attributes: The attributes to keep, increasing; in the tree they are numbered from 0.
    """
    leaves = fit.evidence.leaves
    spread = fit.passes.spread(fit.measured.tail)
    cells = fit.evidence.cells
    columns = np.column_stack(
        [
            spread.first[leaves],
            fit.passes.share[leaves],
            np.zeros(len(leaves)) if cells is None else cells.tail,
            fit.counts[leaves],
        ]
    )
    # an attribute that is not divided is no dimension: arrays have few, schemas may have hundreds
    divided = [a for a, parts in enumerate(partition.shape) if parts > 1]
    dropped = tuple(place for place, a in enumerate(divided) if a not in attributes)
    kept = columns.reshape(*(partition.shape[a] for a in divided), -1).sum(axis=dropped)
    shape = [partition.shape[a] for a in attributes]
    size = [math.prod(shape[:level]) for level in range(len(shape) + 1)]
    # each level sums out what is not yet divided
    wide = columns.shape[1]
    flat = np.concatenate([kept.reshape(several, -1, wide).sum(axis=1) for several in size])
    offset = np.cumsum([0, *size])
    nodes = int(offset[-1])
    first, many = np.zeros(nodes, np.int64), np.zeros(nodes, np.int64)
    split, parent = np.full(nodes, -1, np.int64), np.zeros(nodes, np.int64)
    low, high = np.zeros(nodes, np.int64), np.zeros(nodes, np.int64)
    for level, parts in enumerate(shape):
        here = slice(offset[level], offset[level + 1])
        below = slice(offset[level + 1], offset[level + 2])
        first[here] = offset[level + 1] + np.arange(size[level]) * parts
        many[here], split[here] = parts, level
        parent[below] = offset[level] + np.repeat(np.arange(size[level]), parts)
        edges = partition.edges[attributes[level]].astype(np.int64)
        low[below], high[below] = np.tile(edges[:-1], size[level]), np.tile(edges[1:], size[level])
    variance, shares = flat[:, 0].copy(), flat[:, 1]
    inner = many > 0
    below_each = np.where(inner, variance, 0.0)
    variance[0] = spread.first[0]
    own = np.zeros(nodes)
    own[0] = fit.passes.own[0]
    bits = _divided(split, Levels(np.append(-1, parent[1:])))
    return Index(
        shape=np.column_stack([first, first + many, split, low, high, bits]),
        sizes=np.array([partition.edges[a][-1] for a in attributes], np.int64),
        deepest=len(shape) + 1,
        own=own,
        share=shares / shares[parent],
        variance=variance,
        below=below_each,
        apart=flat[:, 2].copy(),
        counts=flat[:, 3:],
    )
