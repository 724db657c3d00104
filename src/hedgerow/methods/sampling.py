"""Generalizations drawn at random: P(x) proportional to exp(sharpness * value(x)).

Floats are harmless here, and so is a chain that has not quite settled. A record's generalization
may follow any law that depends on that record and on public facts alone; what protects people is
what happens to the counts afterwards (docs/algorithms/supermodular.md). So the law may be a little
off, but it must be the record's own: nothing else that is private may go into it.

Lattices that can be listed are drawn from exactly, up to rounding. Beyond, `sample_point` does what
the paper's Sample-Point does, repaired. A point of the Lovasz extension is an order of the
elements, that is a maximal chain of generalizations, together with a weight for each member; to
round it is to choose a member. We draw a maximal chain through the present generalization,
uniformly, and choose a member of it by exp(sharpness * value) / (number of maximal chains through
it). Both are draws from the conditional laws of one joint law, whose share for x is just
exp(sharpness * value(x)): the chain keeps the law that is wanted, exactly, whatever the value
function is. So layers of equal sensitivity are not needed, nor is log-concavity. Every maximal
chain holds the record itself and the most general values, so the two ends are never far apart.
In between, one attribute at a time is drawn anew with the others kept, which keeps the law too.
"""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from hedgerow.arrays import Floats, Ints, Small
from hedgerow.optimize.exact import LARGEST, lattice
from hedgerow.optimize.model import Aim, Forest, Worth
from hedgerow.optimize.side import Record, Side

Words = Callable[[int], NDArray[np.uint64]]  # so many random words

STEPS = 64
"""Moves of the chain before its end is taken."""


def draw_nodes(
    forest: Forest,
    side: Side,
    worth: Worth,
    aim: Aim,
    sharpness: float,
    leaves: Small,
    factor: Floats,
    times: Ints,
    words: Words,
    largest: int = LARGEST,
    progress: Callable[[float], None] = lambda _: None,
) -> tuple[Small, Ints]:
    """Draws a generalization for each of the people who share a record.

    Args:
        forest: The hierarchies.
        side: The side table.
        worth: Utility and sensitivity.
        aim: What is looked for; a generalization that it forbids is never drawn.
        sharpness: 0 for all alike; the larger, the nearer to the best.
        leaves: The leaf nodes of distinct records.
        factor: What each record multiplies its weights by.
        times: How many people have each record.
        words: Where sampler comes from: gives so many random words.
        largest: Lattices up to this size are listed.
        progress: Called with the share of the records that is done.

    Returns:
        Generalized values, and how many people got each.
    """
    nodes, numbers = [], []
    lengths = forest.depth[leaves].astype(np.int64) + 1
    for place, sizes in enumerate(lengths.tolist()):
        many = int(times[place])
        progress(place / len(leaves))
        if math.prod(sizes) <= largest:
            _, utility, sensitivity, counts = lattice(
                forest, side, worth, leaves[place], factor[place]
            )
            law = np.cumsum(_law(aim, sharpness, utility, sensitivity, counts))
            picked = np.searchsorted(law, uniforms(words, many) * law[-1], "right")
            drawn, number = np.unique(np.minimum(picked, len(law) - 1), return_counts=True)
            points = np.stack(np.unravel_index(drawn, sizes), axis=1)
        else:
            record = Record.of(forest, side, worth, leaves[place], factor[place])
            ends = [sample_point(record, aim, sharpness, words) for _ in range(many)]
            points, number = np.unique(np.stack(ends), axis=0, return_counts=True)
        nodes.append(_climb(forest, leaves[place], points))
        numbers.append(number)
    if not nodes:
        return np.zeros((0, leaves.shape[1]), np.int32), np.zeros(0, np.int64)
    return np.concatenate(nodes), np.concatenate(numbers).astype(np.int64)


def sample_point(
    record: Record, aim: Aim, sharpness: float, words: Words, steps: int = STEPS
) -> Ints:
    """One generalization of a record, by moves along maximal chains; begins at the top."""
    point = record.heights.copy()
    number = record.elements
    for _ in range(steps):
        sampler = uniforms(words, number + 3)
        points, counts = record.chain(_chain_through(record, point, sampler[3:]))
        log_weight = _log_law(
            aim, sharpness, record.utilities(points), record.sensitivities(points), counts
        ) - _log_chains(record.heights, points)
        point = points[_pick(log_weight, sampler[0])]
        place = int(sampler[1] * len(point))
        points = np.repeat(point[None, :], record.heights[place] + 1, axis=0)
        points[:, place] = np.arange(len(points))
        counts = record.along(points)
        log_weight = _log_law(
            aim, sharpness, record.utilities(points), record.sensitivities(points), counts
        )
        point = points[_pick(log_weight, sampler[2])]
    return point


def _pick(log_weight: Floats, sampler: float) -> int:
    weight = np.cumsum(np.exp(log_weight - log_weight.max()))
    return min(int(np.searchsorted(weight, sampler * weight[-1], "right")), len(weight) - 1)


def uniforms(words: Words, number: int) -> Floats:
    """Numbers from 0 to below 1, of 53 bits each."""
    return (words(number) >> np.uint64(11)).astype(np.float64) * 2.0**-53


def _log_law(
    aim: Aim, sharpness: float, utility: Floats, sensitivity: Floats, counts: Ints
) -> Floats:
    if aim.risk is not None:
        allowed = (counts > 0) & (counts * aim.risk >= sensitivity)
        if not allowed.any():  # not even the most general values, which come last, are
            allowed[-1] = True
        return np.where(allowed, sharpness * utility, -np.inf)
    if aim.utility is not None:
        allowed = (counts > 0) & (utility >= aim.utility * (1 - 1e-12))
        if not allowed.any():
            allowed[-1] = True
        return np.where(allowed, -sharpness * sensitivity / np.maximum(counts, 1), -np.inf)
    value = aim.trade * counts / sensitivity + utility**aim.kappa
    return np.asarray(sharpness * value)


def _law(aim: Aim, sharpness: float, utility: Floats, sensitivity: Floats, counts: Ints) -> Floats:
    log_law = _log_law(aim, sharpness, utility, sensitivity, counts)
    return np.asarray(np.exp(log_law - log_law.max()))


def _chain_through(record: Record, point: Ints, keys: Floats) -> Ints:
    """A maximal chain through a point, uniformly: steps of all attributes in random order."""
    below = record.level_of <= point[record.attribute_of]
    order = np.empty(record.elements, np.int64)
    first = 0
    for part in (below, ~below):
        members = np.flatnonzero(part)
        shuffled = members[np.argsort(keys[members], kind="stable")]
        # the attributes come in this order; each takes its own steps from below
        places = record.attribute_of[shuffled]
        by_attribute = np.argsort(places, kind="stable")
        order[first + by_attribute] = np.sort(members)
        first += len(members)
    return order


def _log_chains(heights: Ints, points: Ints) -> Floats:
    """The logarithm of how many maximal chains lead through each point."""
    factorials = np.cumsum(np.log(np.maximum(np.arange(int(heights.sum()) + 1), 1)))
    steps = points.sum(axis=1)
    inside = factorials[points].sum(axis=1) + factorials[heights[None, :] - points].sum(axis=1)
    return np.asarray(factorials[steps] + factorials[heights.sum() - steps] - inside)


def _climb(forest: Forest, leaves: Small, points: Ints) -> Small:
    """The nodes at so many steps above the leaves of a record."""
    found = np.empty(points.shape, np.int32)
    for column, leaf in enumerate(leaves.tolist()):
        chain = []
        while leaf >= 0:
            chain.append(leaf)
            leaf = int(forest.parent[leaf])
        found[:, column] = np.asarray(chain, np.int32)[points[:, column]]
    return found
