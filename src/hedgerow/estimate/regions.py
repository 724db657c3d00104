"""The regions that a query meets: one descent of the tree per query, and sums of counts."""

from __future__ import annotations

import math
import os
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from hedgerow.arrays import Floats, Ints
from hedgerow.compiled import helper, kernel
from hedgerow.estimate.consistency import Fit, Levels
from hedgerow.estimate.partition import GridPartition, Partition, TreePartition
from hedgerow.estimate.queries import Conditions, grouped

if TYPE_CHECKING:
    from hedgerow.schema.query import Query

# Trees to descend for answers, with all that a descent needs to know of each node.


BITS = 62
"""How many attributes have a bit of their own; beyond, they share them, which is slower only."""


Index = tuple[Ints, Ints, int, Floats]
"""A tree of boxes with the weights and variances of its counts.

- Of each node its first child, one past its last child, the attribute that divides it, its first
  code and one past its last in the attribute that divides its parent, and which attributes are
  divided in and below it, as bits. Shape [nodes, 6].
- The number of codes of each attribute.
- The number of levels.
- Of each node the weight of its own measurement in its first value; its share in what its parent is
  off by; the variance of its first value, by the tails of the noise; the sum of its children's;
  with classes below, the variance of a class of all its regions together, by the tails, else 0; and
  the consistent counts of its classes. Shape [nodes, 5 + classes].
"""


def _shape(parent: Ints, split: Ints, low: Ints, high: Ints, levels: Levels) -> Ints:
    """The first part of an `Index`."""
    nodes = len(parent)
    many = np.bincount(parent[1:], minlength=nodes)
    first = np.zeros(nodes, np.int64)
    first[parent[:0:-1]] = np.arange(nodes - 1, 0, -1)  # the last to be written is the first child
    divided = np.where(split < 0, 0, np.int64(1) << (split % BITS))
    for below in levels.nodes[:0:-1]:
        np.bitwise_or.at(divided, parent[below], divided[below])
    return np.column_stack([first, first + many, split, low, high, divided]).astype(np.int64)


def tree_index(partition: TreePartition, fit: Fit) -> Index:
    """The tree of a release."""
    parent, levels = fit.passes.levels.parent, fit.passes.levels
    split = partition.split.astype(np.int64)
    along = np.append(0, split[parent[1:]])
    low, high = (end[np.arange(len(parent)), along] for end in (partition.lo, partition.hi))
    spread = fit.passes.spread(fit.measured.tail)
    apart = np.zeros(len(parent))
    if fit.by_class is not None:
        apart[fit.leaves] = fit.by_class.tail
        apart = levels.gathered(apart)
    columns = [fit.passes.own, fit.passes.share, spread.first, spread.below, apart, fit.counts]
    shape = _shape(parent, split, low, high, levels)
    sizes = partition.hi[0].astype(np.int64)
    return shape, sizes, len(levels.nodes), np.column_stack(columns)


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
    leaves = fit.leaves
    spread = fit.passes.spread(fit.measured.tail)
    cells = fit.by_class
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
    split, parent = np.full(nodes, -1, np.int64), np.zeros(nodes, np.int64)
    low, high = np.zeros(nodes, np.int64), np.zeros(nodes, np.int64)
    for level, parts in enumerate(shape):
        here = slice(offset[level + 1], offset[level + 2])
        split[offset[level] : offset[level + 1]] = level
        parent[here] = offset[level] + np.repeat(np.arange(size[level]), parts)
        edges = partition.edges[attributes[level]].astype(np.int64)
        low[here], high[here] = np.tile(edges[:-1], size[level]), np.tile(edges[1:], size[level])
    variance, share = flat[:, 0].copy(), flat[:, 1]
    below = np.where(split >= 0, variance, 0.0)
    variance[0] = spread.first[0]
    own = np.zeros(nodes)
    own[0] = fit.passes.own[0]
    sizes = np.array([partition.edges[a][-1] for a in attributes], np.int64)
    rest = [own, share / share[parent], variance, below, flat[:, 2:]]
    levels = Levels(np.append(-1, parent[1:]))
    return _shape(parent, split, low, high, levels), sizes, len(size), np.column_stack(rest)


# The loops that answer count queries: one descent of the tree per query.
#
# A query weighs each leaf by the share of it that it overlaps. Three sums come out of one descent:
#
# 0. inner: leaves that lie wholly inside;
# 1. even: every leaf by its share, as if records lay evenly inside it;
# 2. touched: every leaf that the query overlaps at all.
#
# A node wholly inside counts as a whole and a node that is disjoint not at all, so the descent
# follows the edges of the query. It also ends at a node below which no attribute is divided that
# the query cuts: all leaves there have the same share.
#
# Beside its estimate, each sum has a variance. Restricted to the subtree of a node, the sum is `a`
# times the node's final count plus something made of first-pass values below it; `r` is the
# variance of that and `c` its covariance with the node's own first-pass value (0 under least
# squares). With the children's a, c and r, their shares b, the variances V of their first values,
# and w the node's weight of its own measurement:
#
#     a = sum(a_i b_i)
#     r = sum((a_i - a)^2 V_i + 2 (a_i - a) c_i + r_i)
#     c = (1 - w) sum((a_i - a) V_i + c_i)
#
# since the final count of child i is its first value plus b_i times what the node's final count
# differs from the sum of the children's first values. Children that are disjoint have a = c = r = 0
# and are not visited: sums over them follow from the sum of all V.


FIRST, END, SPLIT, LOW, HIGH, DIVIDED = range(6)
COUNT, SHARE, VARIANCE, ALONE, OWN, BELOW = range(6)

_DUST = 1e-9  # code units that are rounding errors of the query's bounds


@helper
def _overlap(low: float, high: float, lows: Floats, highs: Floats, begin: int, end: int) -> float:
    """The share of an interval that some intervals cover; exactly 0 or 1 where it is."""
    if high <= lows[begin] or low >= highs[end - 1]:
        return 0.0
    covered = 0.0
    for i in range(begin, end):
        left, right = max(low, lows[i]), min(high, highs[i])
        if right > left:
            covered += right - left
    if covered <= _DUST:
        return 0.0
    if covered >= high - low - _DUST:
        return 1.0
    return covered / (high - low)


@helper
def _give(sums: Floats, at: int, share: float, v: float, a: float, c: float, r: float) -> None:
    """Adds a child to the sums of its parent."""
    sums[at] += a * share
    sums[at + 1] += a * v
    sums[at + 2] += a * a * v
    sums[at + 3] += c
    sums[at + 4] += a * c
    sums[at + 5] += r


def _descend_steps(shape: Ints, *rest: Any) -> int:
    return 40 * len(shape) * (len(rest[4]) - 1)


@kernel(steps=_descend_steps)
def descend(
    shape: Ints,
    weights: Floats,
    sizes: Ints,
    deepest: int,
    whole: float,
    start: Ints,
    attribute: Ints,
    begin: Ints,
    lows: Floats,
    highs: Floats,
    out: Floats,
) -> None:
    """Answers queries on a tree.

    Args:
        shape: Of each node, side by side to be near in memory: its first child, one past its last
            (children stand side by side), the attribute that divides it, its first code and one
            past its last in the attribute that divides its parent, and which attributes are
            divided in and below it, as bits.
        weights: Likewise: the count that is asked for, its share in what its parent is off by, the
            variance of its first value, `r` of it when wholly inside, the weight of its own
            measurement, and the sum of the variances of its children's first values.
        sizes: The number of codes of each attribute.
        deepest: The number of levels.
        whole: `a` of a node wholly inside.
        start: Where the conditions of each query begin; one more than there are queries.
        attribute: The attribute of each condition.
        begin: Where the intervals of each condition begin; one more than there are conditions.
        lows: The lower ends of intervals, in code units.
        highs: The upper ends.
        out: For each query and sum: the estimate, a, c and r at the root.
    """
    attributes = len(sizes)
    condition = np.full(attributes, -1, dtype=np.int64)
    fraction = np.ones(attributes)
    node = np.zeros(deepest + 1, dtype=np.int64)
    child = np.zeros(deepest + 1, dtype=np.int64)
    last = np.zeros(deepest + 1, dtype=np.int64)
    cut = np.zeros(deepest + 1, dtype=np.int64)  # how many attributes the query cuts, at this depth
    bits = np.zeros(deepest + 1, dtype=np.int64)  # which they are
    alike = attributes > BITS  # several attributes have the same bit
    before = np.ones(deepest + 1)
    # per depth and sum, over the children seen so far: a b, a V, a^2 V, c, a c, r
    sums = np.zeros((deepest + 1) * 18)
    for query in range(len(start) - 1):
        empty = False
        cut[0], bits[0] = 0, 0
        for i in range(start[query], start[query + 1]):
            s = attribute[i]
            part = _overlap(0.0, sizes[s], lows, highs, begin[i], begin[i + 1])
            condition[s], fraction[s] = i, part
            empty |= part == 0.0
            if part < 1.0:
                cut[0] += 1
                bits[0] |= 1 << s % BITS
        if not empty and (cut[0] == 0 or bits[0] & shape[0, DIVIDED] == 0):
            # the root itself: wholly inside, or all leaves are cut alike, which are then no part
            # of the inner sum
            weight = 1.0
            for i in range(start[query], start[query + 1]):
                weight *= fraction[attribute[i]]
            for k in range(3):
                w = 1.0 if k == 2 or cut[0] == 0 else weight * k
                out[query, k, 0] = w * weights[0, COUNT]
                out[query, k, 1] = w * whole
                out[query, k, 3] = w * w * weights[0, ALONE]
        elif not empty:
            depth = 0
            node[0], child[0], last[0] = 0, shape[0, FIRST], shape[0, END]
            sums[:18] = 0.0
            while True:
                here = node[depth]
                s = shape[here, SPLIT]
                i = condition[s]
                part = fraction[s]
                crossed, crossed_bits = cut[depth], bits[depth]
                at = depth * 18
                u = child[depth]
                end = last[depth]
                down = False
                while u < end:
                    if i >= 0:
                        low, high = shape[u, LOW], shape[u, HIGH]
                        part = _overlap(low, high, lows, highs, begin[i], begin[i + 1])
                        if part == 0.0:
                            u += 1
                            continue
                        crossed = cut[depth] + (part < 1.0) - (fraction[s] < 1.0)
                        crossed_bits = bits[depth]
                        if part < 1.0:
                            crossed_bits |= 1 << s % BITS
                        elif not alike:
                            crossed_bits &= ~(1 << s % BITS)
                    if crossed > 0 and crossed_bits & shape[u, DIVIDED] != 0:
                        down = True
                        break
                    count, share = weights[u, COUNT], weights[u, SHARE]
                    v, alone = weights[u, VARIANCE], weights[u, ALONE]
                    weight = part
                    for j in range(start[query], start[query + 1]):
                        if attribute[j] != s:
                            weight *= fraction[attribute[j]]
                    for k in range(3):
                        w = 1.0 if k == 2 or crossed == 0 else weight * k
                        out[query, k, 0] += w * count
                        _give(sums, at + 6 * k, share, v, w * whole, 0.0, w * w * alone)
                    u += 1
                if down:
                    child[depth] = u + 1
                    depth += 1
                    before[depth] = fraction[s]
                    fraction[s] = part
                    node[depth], cut[depth], bits[depth] = u, crossed, crossed_bits
                    child[depth], last[depth] = shape[u, FIRST], shape[u, END]
                    sums[depth * 18 : depth * 18 + 18] = 0.0
                    continue
                own, below = weights[here, OWN], weights[here, BELOW]
                for k in range(3):
                    o = at + 6 * k
                    a = sums[o]
                    r = sums[o + 2] + a * (a * below - 2 * sums[o + 1])
                    r = max(0.0, r + 2 * (sums[o + 4] - a * sums[o + 3]) + sums[o + 5])
                    c = (1 - own) * (sums[o + 1] - a * below + sums[o + 3])
                    if depth:
                        _give(sums, o - 18, weights[here, SHARE], weights[here, VARIANCE], a, c, r)
                    else:
                        out[query, k, 1], out[query, k, 2], out[query, k, 3] = a, c, r
                if depth == 0:
                    break
                fraction[shape[node[depth - 1], SPLIT]] = before[depth]
                depth -= 1
        for i in range(start[query], start[query + 1]):
            condition[attribute[i]], fraction[attribute[i]] = -1, 1.0


# The counts of regions inside a query, summed, with the variances of the sums.


INNER, EVEN, TOUCHED = range(3)


_BATCH = 1000  # queries that a thread answers at a time


def sums(partition: Partition, fit: Fit, queries: Sequence[Query]) -> tuple[Floats, Floats]:
    """The inner, even and touched sum of each query, and their variances by the tails.

    Args:
        partition: The regions.
        fit: Their consistent counts.
        queries: The queries.

    Returns:
        Two arrays of shape [queries, 3].
    """
    # on a grid, attributes that a query does not name are summed out first
    on_grid = isinstance(partition, GridPartition)
    groups = grouped(queries, lambda query: tuple(a for a, _ in query.where) if on_grid else ())
    estimate, variance = np.zeros((len(queries), 3)), np.zeros((len(queries), 3))
    for attributes, members in groups.items():
        index = (
            grid_index(partition, fit, attributes)
            if isinstance(partition, GridPartition)
            else tree_index(partition, fit)
        )
        for classes, some in grouped([queries[q] for q in members], lambda q: q.classes).items():
            here = members[some]
            asked = Conditions.of([queries[q] for q in here], with_class=False)
            estimate[here], variance[here] = _sums(index, fit, asked, attributes, classes)
    return estimate, variance


def _sums(
    index: Index,
    fit: Fit,
    asked: Conditions,
    attributes: tuple[int, ...],
    classes: tuple[int, ...] | None,
) -> tuple[Floats, Floats]:
    """The three sums of queries on the same classes."""
    shape, sizes, deepest, columns = index
    own_of, share, variance, below, apart = columns[:, :5].T
    chosen = list(range(fit.classes)) if classes is None else list(classes)
    many, of = len(chosen), fit.classes
    on_top, by_cover = fit.total is not None, fit.rule == "none"
    estimate = columns[:, 5:][:, chosen].sum(axis=1)
    whole = 1.0 if on_top else many / of
    alone = apart * (many * (1 - many / of))
    if on_top and by_cover:
        # without adjustment a node wholly inside is counted by its own measurement alone
        nodes = fit.measured
        passes = replace(fit.passes, own=np.isfinite(nodes.variance).astype(np.float64))
        estimate = passes.first(nodes.values[:, chosen]).sum(axis=1)
        alone, whole = many * passes.spread(nodes.tail).first, 0.0
    weights = np.column_stack([estimate, share, variance, alone, own_of, below])
    out, start = np.zeros((asked.queries, 3, 4)), asked.start
    place = np.searchsorted(attributes, asked.place) if attributes else asked.place

    def some(begin: int) -> None:
        descend(
            shape, weights, sizes, deepest, whole,
            start[begin : begin + _BATCH + 1], place, asked.begin, asked.lows,
            asked.highs, out[begin : begin + _BATCH],
        )  # fmt: skip

    # the loops run without Python's lock, so threads share the work
    with ThreadPoolExecutor(os.cpu_count()) as pool:
        list(pool.map(some, range(0, len(out), _BATCH)))
    sums, a, c, r = np.moveaxis(out, 2, 0)
    root = variance[0]
    if on_top and not by_cover:
        # one level more: the total, below it the classes, which share alike what it is off by
        assert fit.total is not None
        own, mean = fit.total_own, many * a / of
        rest = many * ((a - mean) ** 2 * root + 2 * (a - mean) * c + r)
        rest += (of - many) * mean**2 * root
        c = (1 - own) * (many * ((a - mean) * root + c) - (of - many) * mean * root)
        noise = float(fit.total.tail[0]) if own else 0.0
        root = own**2 * noise + (1 - own) ** 2 * of * root
        a, r = mean, rest
    return sums, np.maximum(a**2 * root + 2 * a * c + r, 0.0)
