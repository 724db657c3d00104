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
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from hedgerow.arrays import Bools, Ints

__all__ = [
    "Levels",
    "Passes",
    "Spread",
    "averaging_passes",
    "leaf_passes",
    "least_squares_passes",
]

Numbers = NDArray[Any]
"""Floats, or objects that are exact fractions."""


@dataclass(frozen=True, eq=False)
class Levels:
    """The nodes of a tree by their depth.

    Args:
        parent: The parent of each node, -1 for the root, which is node 0. A parent comes before
            its children.

    Example:
        >>> levels = Levels(np.array([-1, 0, 0, 1, 1]))
        >>> [nodes.tolist() for nodes in levels.nodes]
        [[0], [1, 2], [3, 4]]
        >>> levels.sums(2, np.array([5.0, 7.0])).tolist()
        [12.0, 0.0]
    """

    parent: Ints

    @cached_property
    def nodes(self) -> tuple[Ints, ...]:
        """The nodes of each level, the root's first."""
        parent = self.parent
        if (np.diff(parent) >= 0).all():
            # breadth first: a level ends where the parents begin to lie in it
            ends = [1]
            while ends[-1] < len(parent):
                ends.append(int(np.searchsorted(parent, ends[-1])))
                if ends[-1] == ends[-2]:
                    raise ValueError("a parent must come before its children")
            return tuple(np.split(np.arange(len(parent)), ends[:-1])[: len(ends)])
        depth = np.zeros(len(parent), np.int64)
        above = parent.copy()
        while (deeper := above >= 0).any():
            depth += deeper
            above = np.where(deeper, parent[above], -1)
        order = np.argsort(depth, kind="stable")
        return tuple(np.split(order, np.flatnonzero(np.diff(depth[order])) + 1))

    @cached_property
    def up(self) -> tuple[Ints, ...]:
        """For each level the places of its nodes' parents in the level above."""
        place = np.zeros(len(self.parent), np.int64)
        found = [np.empty(0, np.int64)]
        for above, here in zip(self.nodes, self.nodes[1:], strict=False):
            place[above] = np.arange(len(above))
            found.append(place[self.parent[here]])
        return tuple(found)

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
        values = _rows(self.own, measured) * measured
        for level in range(len(self.levels.nodes) - 1, 0, -1):
            above = self.levels.nodes[level - 1]
            summed = self.levels.sums(level, values[self.levels.nodes[level]])
            values[above] += _rows(1 - self.own[above], measured) * summed
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
            final[here] += _rows(self.share[here], first) * apart[self.levels.up[level]]
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


def _rows(weights: Numbers, like: Numbers) -> Numbers:
    """Weights of nodes, ready to multiply rows that may have several columns."""
    return weights.reshape(len(weights), *(1,) * (like.ndim - 1))


def _ones(like: Numbers) -> Numbers:
    """One per node, of the same kind of numbers; whole numbers would not divide exactly."""
    exact = like.dtype == object
    return np.full(len(like), Fraction(1) if exact else 1.0, object if exact else np.float64)


def least_squares_passes(parent: Ints, variance: Numbers) -> Passes:
    """The weights of generalised least squares.

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
