"""Consistent counts: every node of a tree equals the sum of its children.

Whatever was measured about the nodes of a tree, with whatever noise, two passes make one
consistent set of counts of it. The first goes up: a node's value is its own measurement, weighed
against the sum of its children's values. The second goes down: what a node's final count differs
from the sum of its children's values is shared out among them. A rule fixes both weights:

- least squares: the inverse of the variances. Of all unbiased linear estimates this is the best
  (Gauss and Markov), node by node and for every sum of nodes, since a value of the first pass is
  the inverse-variance mean of independent estimates, and what a child keeps of its own in the
  second is uncorrelated with all that its parent's count rests on.
- averaging: by numbers of nodes, as CDiffGen's paper does. If every leaf is measured
  it is unbiased too; it is best only for full trees with one variance.
- leaves only: measurements of inner nodes are passed over.

All arithmetic is generic: arrays of floats, or arrays of exact fractions for small trees.

Count queries are then sums of these counts: one descent of the tree per query.
"""

from __future__ import annotations

import math
import os
from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from hedgerow.arrays import Bools, Floats, Ints
from hedgerow.compiled import helper, kernel
from hedgerow.estimate.measurements import Measurement
from hedgerow.estimate.partition import GridPartition, Partition, TreePartition
from hedgerow.estimate.queries import Conditions, grouped

if TYPE_CHECKING:
    from hedgerow.schema.query import Query

# Evidence: what all measurements of a release say about the nodes and cells of one tree.
#
# A cell is a class of a region. Class counts and totals make one tree in one of two ways:
#
# - classes below: a tree of totals, whose leaves divide by class. So for DiffMulti, which measures
#   totals of nodes on its way down and classes of leaves, and for DiffGen, whose tree is a root
#   with all regions below it.
# - classes on top: the total divides by class, and each class has a copy of the tree. So for
#   CDiffGen, which measures the classes of every node.
#
# Several measurements of the same thing are merged by the inverse of their variances.


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


def is_censored(measurements: Iterable[Measurement]) -> bool:
    """Whether cells are listed by a threshold, so that plain least squares does not apply."""
    return any(m.threshold is not None or m.klass is not None for m in measurements)


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


Numbers = NDArray[Any]
"""Floats, or objects that are exact fractions."""


class Levels:
    """The nodes of a tree by their depth.

    Args:
        parent: The parent of each node, -1 for the root, which is node 0. A parent comes before
            its children.

    Attributes:
        nodes: The nodes of each level, the root's first.
        up: For each level the places of its nodes' parents in the level above.

    Example:
        >>> levels = Levels(np.array([-1, 0, 0, 1, 1]))
        >>> [nodes.tolist() for nodes in levels.nodes]
        [[0], [1, 2], [3, 4]]
        >>> levels.sums(2, np.array([5.0, 7.0])).tolist()
        [12.0, 0.0]
    """

    def __init__(self, parent: Ints) -> None:
        if (parent >= np.arange(len(parent))).any():
            raise ValueError("a parent must come before its children")
        depth = np.zeros(len(parent), np.int64)
        above = parent.copy()
        while (deeper := above >= 0).any():
            depth += deeper
            above = np.where(deeper, parent[above], -1)
        order = np.argsort(depth, kind="stable")
        self.parent = parent
        self.nodes = np.split(order, np.flatnonzero(np.diff(depth[order])) + 1)
        place = np.zeros(len(parent), np.int64)
        for nodes in self.nodes:
            place[nodes] = np.arange(len(nodes))
        self.up = [place[parent[nodes]] for nodes in self.nodes]

    def sums(self, level: int, values: Numbers) -> Numbers:
        """Sums the values of a level's nodes by parent: one row for each node of the level above.

        Args:
            level: The level, from 1 on.
            values: One row per node of the level: numbers, or several columns of them.
        """
        up, size = self.up[level], len(self.nodes[level - 1])
        if values.dtype == object:
            exact = np.zeros((size, *values.shape[1:]), object)
            np.add.at(exact, up, values)
            return exact
        if values.ndim == 1:
            return np.bincount(up, values, size)
        columns = [np.bincount(up, column, size) for column in values.T]
        return np.stack(columns, axis=1) if columns else np.zeros((size, 0))

    def gathered(self, values: Numbers) -> Numbers:
        """Bottom-up sums: what lies on the leaves, added up at every node.

        Args:
            values: One row per node; what inner nodes hold is passed over.
        """
        total = values.copy()
        for level in range(len(self.nodes) - 1, 0, -1):
            up, above = self.up[level], self.nodes[level - 1]
            summed = self.sums(level, total[self.nodes[level]])
            inner = np.bincount(up, minlength=len(above)) > 0
            total[above[inner]] = summed[inner]
        return total


@dataclass(frozen=True, eq=False, kw_only=True)
class Spread:
    """Variances of what the two passes compute.

    Args:
        first: Of each node's value after the first pass.
        below: Of the sum of its children's.
        pull: How much of its first value is in its final count.
        final: Of its final count; infinite where it cannot be told.
    """

    first: Numbers
    below: Numbers
    pull: Numbers
    final: Numbers


@dataclass(frozen=True, eq=False, kw_only=True)
class Passes:
    """The weights of the two passes.

    Args:
        levels: The tree.
        own: How much of a node's first value is its own measurement; the rest is the sum of its
            children's first values. 0 where nothing was measured.
        share: How much of the difference at its parent a node takes on.
        blind: Nodes whose count the measurements do not tell; they share what is left evenly.
    """

    levels: Levels
    own: Numbers
    share: Numbers
    blind: Bools

    def first(self, measured: Numbers) -> Numbers:
        """The first pass: the value of each node from what was measured in and below it."""
        values = (self.own * measured.T).T
        for level in range(len(self.levels.nodes) - 1, 0, -1):
            above = self.levels.nodes[level - 1]
            summed = self.levels.sums(level, values[self.levels.nodes[level]])
            values[above] += ((1 - self.own[above]) * summed.T).T
        return values

    def second(self, first: Numbers, root: Numbers | None = None) -> Numbers:
        """The second pass: consistent counts.

        Args:
            first: What the first pass gave.
            root: The final count of the root, if more is known of it than the first pass knew.
        """
        final = first.copy()
        if root is not None:
            final[0] = root
        for level in range(1, len(self.levels.nodes)):
            above, here = self.levels.nodes[level - 1], self.levels.nodes[level]
            apart = final[above] - self.levels.sums(level, first[here])
            final[here] += (self.share[here] * apart[self.levels.up[level]].T).T
        return final

    def spread(self, variance: Numbers, pull: Any = 1, rest: Any = 0) -> Spread:
        """The variances, exactly, whatever rule the weights follow.

        A final count is `pull` times its own first value, plus something from outside its
        subtree, which is independent of it.

        Args:
            variance: Of each measurement; where nothing was measured it is passed over.
            pull: How much of the root's first value is in its final count.
            rest: The variance of what else is in the root's final count.
        """
        own, nodes = self.own, self.levels.nodes
        drawn = np.where(own == 0, 0, variance) * own**2
        first, below = drawn.copy(), np.zeros_like(drawn)
        for level in range(len(nodes) - 1, 0, -1):
            above = nodes[level - 1]
            below[above] = self.levels.sums(level, first[nodes[level]])
            first[above] += (1 - own[above]) ** 2 * below[above]
        pulls, rests = np.zeros_like(drawn), np.zeros_like(drawn)
        pulls[0], rests[0] = pull, rest
        for level in range(1, len(nodes)):
            here = nodes[level]
            up = self.levels.parent[here]
            from_siblings = self.share[here] * (pulls[up] * (1 - own[up]) - 1)
            pulls[here] = 1 + from_siblings
            from_above = pulls[up] ** 2 * drawn[up] + rests[up]
            others = below[up] - first[here]
            rests[here] = self.share[here] ** 2 * from_above + from_siblings**2 * others
        final = np.where(self.blind, math.inf, pulls**2 * first + rests)
        return Spread(first=first, below=below, pull=pulls, final=final)


def _ones(like: Numbers) -> Numbers:
    """One per node, of the same kind of numbers; whole numbers would not divide exactly."""
    exact = like.dtype == object
    return np.full(len(like), Fraction(1) if exact else 1.0, object if exact else np.float64)


def least_squares_passes(parent: Ints, variance: Numbers) -> Passes:
    """The weights of generalized least squares.

    Args:
        parent: The parent of each node, -1 for the root.
        variance: Of each node's measurement, above 0; infinite where nothing was measured.
    """
    levels = Levels(parent)
    nodes = levels.nodes
    zero = np.zeros_like(variance)
    measured = variance != math.inf
    free = np.zeros(len(parent), bool)  # nothing tells the count from below
    own, known, share = zero.copy(), zero.copy(), zero.copy()
    frees = np.zeros(len(parent), np.int64)  # how many children are free
    summed = zero.copy()
    for level in range(len(nodes) - 1, -1, -1):
        here = nodes[level]
        leaf = np.ones(len(here), bool)
        if level + 1 < len(nodes):
            below, up = nodes[level + 1], levels.up[level + 1]
            leaf = np.bincount(up, minlength=len(here)) == 0
            frees[here] = np.bincount(up, free[below], len(here)).astype(np.int64)
            summed[here] = levels.sums(level + 1, np.where(free[below], 0, known[below]))
        blocked = leaf | (frees[here] > 0)
        alone, joint = here[measured[here] & blocked], here[measured[here] & ~blocked]
        passed = here[~measured[here] & ~blocked]
        own[alone], known[alone] = 1, variance[alone]
        total = summed[joint] + variance[joint]
        own[joint] = summed[joint] / total
        known[joint] = summed[joint] * variance[joint] / total
        known[passed] = summed[passed]
        free[here] = ~measured[here] & blocked
    up = parent[1:]
    closed = frees[up] == 0
    inside = np.flatnonzero(closed) + 1
    share[inside] = known[inside] / summed[parent[inside]]
    lost = np.flatnonzero(~closed & free[1:]) + 1
    share[lost] = _ones(share)[lost] / frees[parent[lost]]
    blind = free.copy()
    for here in nodes[1:]:
        blind[here] &= (frees[parent[here]] > 1) | blind[parent[here]]
    return Passes(levels=levels, own=own, share=share, blind=blind)


def averaging_passes(parent: Ints, variance: Numbers) -> Passes:
    """The weights of CDiffGen's paper (its Algorithm 2): own by leaves among nodes, shares alike.

    It is repaired: children, siblings and the root enter the second pass with the values of the
    first. As printed, with the noisy ones, all that was learnt on the way up would be lost.

    Args:
        parent: The parent of each node, -1 for the root.
        variance: Only tells what was measured at all: the rest is infinite.
    """
    levels = Levels(parent)
    one = _ones(variance)
    leaves, size = levels.gathered(one), one.copy()
    children = np.bincount(parent[1:], minlength=len(parent))
    for level in range(len(levels.nodes) - 1, 0, -1):
        size[levels.nodes[level - 1]] += levels.sums(level, size[levels.nodes[level]])
    share = np.zeros_like(variance)
    share[1:] = one[1:] / children[parent[1:]]
    own = np.where(variance == math.inf, 0 * one, leaves / size)
    return Passes(
        levels=levels, own=own, share=share, blind=least_squares_passes(parent, variance).blind
    )


def leaf_passes(parent: Ints, variance: Numbers) -> Passes:
    """The weights that take leaves as they were measured, and everything else from them."""
    inner = np.bincount(parent[1:], minlength=len(parent)) > 0
    return least_squares_passes(parent, np.where(inner, math.inf, variance))


# The consistent counts of a release, from all its measurements at once.


RULES: dict[str, Callable[[Ints, Floats], Passes]] = {
    "least squares": least_squares_passes,
    "averaging": averaging_passes,
    "none": leaf_passes,
}
"""What a method's setting `consistency` may say: how counts of a tree are made to agree.

The last two are those of papers: averages from the bottom up and back, or counts as they are.
"""


class Fit:
    """Consistent counts of every class at every node, from measurements that are not thresholded.

    With classes on top, a total of an inner node other than the root fits into no tree together
    with class counts of other nodes; it is left aside.

    Args:
        partition: The regions.
        measurements: What was measured.
        classes: The number of classes, 1 if there is none.
        rule: How they are made to agree, one of `RULES`.

    Attributes:
        leaves: The node of each region.
        total: With classes on top, the total of the root, one place; else None.
        by_class: With classes below, the classes of each region; else None.
        measured: What each node itself was taken to measure: its total, or with classes on top its
            classes; with classes below, a leaf's total merged with the sum of its classes.
        passes: The weights of the rule.
        total_own: With classes on top, how much of the total was measured as such.
        counts: The counts, shape [nodes, classes], not rounded.
        variance: The variance of the counts of each region's classes, shape [regions].
    """

    def __init__(
        self, partition: Partition, measurements: Sequence[Measurement], classes: int,
        rule: str = "least squares",
    ) -> None:  # fmt: skip
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
        total = _merge(totals, len(parent), 1)
        self.leaves, self.classes, self.rule = leaves, classes, rule
        self.total: Merged | None = None
        self.by_class: Merged | None = None
        self.measured, self.total_own = total, 0.0
        if any((region[nodes] < 0).any() for nodes, _ in classed):
            self.measured = _merge(classed, len(parent), classes)
            self.total = Merged(total.values[:1], total.variance[:1], total.tail[:1])
            self._divide_total(self.total, parent)
            return
        own = np.ones(len(leaves))
        if classes > 1:
            regions = [(region[nodes], m) for nodes, m in classed]
            self.by_class = _merge(regions, len(leaves), classes)
            self.measured, own = self._with_classes(total, self.by_class)
        self._divide_leaves(own, parent)

    @property
    def cells(self) -> Floats:
        """The counts of the regions, shape [regions, classes]."""
        return self.counts[self.leaves]

    def _divide_leaves(self, own: Floats, parent: Ints) -> None:
        """A tree of totals; where there are classes, each leaf divides by class.

        Args:
            own: How much of each leaf's total was measured as such.
            parent: The parent of each node.
        """
        cells, classes, leaves, nodes = self.by_class, self.classes, self.leaves, self.measured
        self.passes = passes = RULES[self.rule](parent, nodes.variance)
        totals = passes.second(passes.first(nodes.values))
        spread = passes.spread(nodes.variance)
        self.counts, self.variance = totals, spread.final[leaves]
        if cells is None:
            return
        missing = totals[leaves] - cells.values.sum(1, keepdims=True)
        counts = np.zeros((len(parent), classes))
        counts[leaves] = cells.values + missing / classes
        self.counts = passes.levels.gathered(counts)
        # a class is its own measurement and an equal share of what its region's total is off by
        known = cells.variance
        pull = spread.pull[leaves] * (1 - own)
        with np.errstate(invalid="ignore"):
            variance = known + (self.variance + classes * known * (1 - 2 * pull)) / classes**2
            variance += 2 * known * (pull - 1) / classes
        self.variance = np.where(np.isfinite(known), variance, math.inf)

    def _with_classes(self, nodes: Merged, cells: Merged) -> tuple[Merged, Floats]:
        """The nodes with each leaf's total merged with the sum of its classes, or replaced by it.

        And how much of each leaf's total was measured as such.
        """
        leaves, classes = self.leaves, self.classes
        measured, summed = nodes.variance[leaves], classes * cells.variance
        with np.errstate(invalid="ignore"):
            own = np.where(np.isinf(summed), 1.0, summed / (summed + measured))
        own[(np.isinf(measured) | (self.rule == "none")) & np.isfinite(summed)] = 0.0
        rest = 1 - own
        values, variances = nodes.values.copy(), []
        values[leaves, 0] = own * values[leaves, 0] + rest * cells.values.sum(1)
        for total, parts in ((nodes.variance, cells.variance), (nodes.tail, cells.tail)):
            variance, alone = total.copy(), total[leaves]
            with np.errstate(invalid="ignore"):
                both = own**2 * alone + rest**2 * classes * parts
            variance[leaves] = np.where(own == 0, classes * parts, np.where(own == 1, alone, both))
            variances.append(variance)
        return Merged(values, *variances), own

    def _divide_total(self, total: Merged, parent: Ints) -> None:
        """The total divides by class, and each class has a tree of its own."""
        nodes, classes, none = self.measured, self.classes, self.rule == "none"
        self.passes = passes = RULES[self.rule](parent, nodes.variance)
        first = passes.first(nodes.values)
        root = float(passes.spread(nodes.variance).first[0])  # of each class
        measured = float(total.variance[0])
        own = 0.0 if math.isinf(measured) or none else classes * root
        own = own / (own + measured) if own else 0.0
        if passes.blind[0] and math.isfinite(measured) and not none:
            own = 1.0  # the tree alone cannot tell the total
        apart = own * (float(total.values[0, 0]) - first[0].sum())
        self.total_own, self.counts = own, passes.second(first, first[0] + apart / classes)
        noise = measured if own else 0.0
        rest = (own / classes) ** 2 * (noise + (classes - 1) * root)
        spread = passes.spread(nodes.variance, 1 - own / classes, rest)
        self.variance = spread.final[self.leaves]


# The regions that a query meets.
#
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
