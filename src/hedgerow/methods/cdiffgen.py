"""CDiffGen: DiffGen with consistent counts at every node (Qian, Song and Liang).

DiffGen's specializations, taken in order, make a tree: each step splits every region that has the
specialized value. Every node of the tree publishes noisy class counts, so a range count can be
answered by a few large nodes instead of many small ones; least squares then makes all counts agree
(`estimate.consistency`, after the fact and for free).

Protected: one record (or one person with a public cap on records), added or removed.

Spent on each record: growing as in DiffGen, then its counts, one on each level of its path.

| step                            | mechanism        | `paper`            | `tuned`              |
|---------------------------------|------------------|--------------------|----------------------|
| rows, cut, select: the tree     | as in DiffGen    | half at most       | 1% + 40%             |
| count: the classes of each node | discrete Laplace | half, levels alike | the rest, see below  |

Of what `tuned` leaves for counts, the middle level gets 15%, other inner levels a token, leaves the
rest (`_shares`).

Departures of `paper` from the paper (C.. as in docs/algorithms/cdiffgen.md), and those of DiffGen:

- the tree is paid for (C2), and the sensitivity is the number of levels, not of edges (C1);
- every node is counted, empty ones too, and a public cap keeps the tree small enough for that (C6);
- misprints are put right, for as printed the tree stays inconsistent: averages use the values of
  their first pass, and a difference is shared among a parent's children (C4), a cover ends (C5).

`tuned` also gives a leaf on a short path what its path has left (C3), and its levels unequal parts,
and makes all counts agree by exact least squares, without a count below 0.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any, ClassVar

import numpy as np

from hedgerow.arrays import Ints, Small
from hedgerow.counting.engine import Domain
from hedgerow.counting.parts import Engine
from hedgerow.estimate.partition import GridPartition, TreePartition
from hedgerow.methods.diffgen import GridPublisher, grow_cuts
from hedgerow.methods.diffmulti import GrowingTree
from hedgerow.methods.plan import Budgets, half_of, leaf_allowances
from hedgerow.methods.publisher import (
    Job,
    Outcome,
    make_measurement,
)
from hedgerow.privacy.ledger import Allowance
from hedgerow.privacy.sampler import Choices
from hedgerow.suggestions import answer_mistakes

GROWTH_UNITS = 40_000  # of DiffGen's units
PAPER_STEP = 1_000  # units of one step of the paper's schedule, so that levels divide finely
MOST_CELLS, MOST_COUNTS = 1_000_000, 10_000_000
_ROOT = np.zeros(1, dtype=np.int64)


@answer_mistakes
@dataclass(frozen=True, kw_only=True)
class CDiffGen(GridPublisher):
    """Settings of CDiffGen.

    Args:
        score: The score that guides the choices, one of docs/algorithms/scores.md; by default
            "max" with a class, otherwise "ncp".
        schedule: "tuned", or "paper" for the published method, with the tree paid for.
        specializations: How many values are specialized; by default set by a public rule from
            epsilon and a noisy number of rows ("paper": 10).
        max_cells: The largest number of regions; a value whose specialization would make more is
            skipped.

    Example:
        >>> CDiffGen(specializations=10).settings()["consistency"]
        'least squares'
    """

    max_cells: int = 200_000

    name: ClassVar[str] = "cdiffgen"
    most_cells: ClassVar[int] = MOST_CELLS
    most_counts: ClassVar[int] = MOST_COUNTS
    growth_units: ClassVar[int] = GROWTH_UNITS
    step_units: ClassVar[int] = PAPER_STEP

    def settings(self) -> dict[str, Any]:
        """See `Publisher.settings`."""
        consistency = "averaging" if self.schedule == "paper" else "least squares"
        return super().settings() | {"consistency": consistency}

    def counting(self, budgets: Budgets, size: int) -> tuple[Allowance, ...]:
        """See `GridPublisher.counting`: every level is counted."""
        count = Allowance("count", "epsilon", units=None, uses=size + 1)
        return (count, *(() if self.schedule == "paper" else leaf_allowances(budgets)[1:]))

    def grow(self, job: Job) -> Outcome:
        """See `TablePublisher.grow`."""
        engine, curator, ledger = job.engine, job.curator, job.curator.ledger
        # grow
        cuts = grow_cuts(job, self.schedule, self.max_cells)
        tree = tree_of_cuts(engine.domain, cuts.steps)
        job.progress(0.5, "counting regions")
        if ledger.allows("spare") and ledger.left("rho", _ROOT)[0]:
            drawn = (_ROOT, *curator.noisy("spare", 0, _ROOT, engine.class_counts(_ROOT)))
            job.found.append(make_measurement(curator, "spare", "node", [drawn], by_class=True))
        # count
        exact = engine.cell_counts(cuts.edges()).map(_node_counts(engine, tree, cuts.edges()))
        if self.schedule == "paper":
            levels = int(tree.depth.max()) + 1
            shares = np.full(len(tree.parent), half_of(job.plan.budgets) // levels, dtype=np.int64)
        else:
            shares = _shares(tree, int(ledger.left("epsilon", _ROOT)[0]))
        counted = []
        for depth in range(int(tree.depth.max()) + 1):
            nodes = np.flatnonzero(tree.depth == depth)
            if depth:
                ledger.open(tree.parent[nodes].astype(np.int64))
            here = exact.map(partial(np.take, indices=nodes, axis=0))
            counted.append((nodes, *curator.laplace("count", depth, nodes, here, shares[nodes])))
        job.found.append(make_measurement(curator, "count", "node", counted, by_class=True))
        return job.finish(tree, tree.leaves, 1)


def tree_of_cuts(domain: Domain, steps: list[tuple[int, int, int, int]]) -> TreePartition:
    """The tree that single-dimensional specializations make, taken in order.

    Args:
        domain: The public domain.
        steps: The attribute, the interval [lo, hi) and the cut of each specialized value; it
            splits every region that has this value. A cut of -1 stands for a taxonomy node.
    """
    tree = GrowingTree(domain)
    for attribute, lo, hi, cut in steps:
        has_value = (tree.lo[:, attribute] == lo) & (tree.hi[:, attribute] == hi)
        nodes = np.flatnonzero(has_value & (tree.split_on < 0))
        choices = Choices(np.full(len(nodes), attribute), np.full(len(nodes), cut))
        tree.specialize(nodes, choices, final=False)
    tree.sort_by_level()
    return tree.partition()


def _shares(tree: TreePartition, units: int) -> Ints:
    """The units of each node's counts: on every path they add up to all units, exactly.

    The middle level gets 15%, all other inner levels a token of at most 0.1%, and a leaf the rest.
    Most conditions cut most subtrees, so that leaves must answer them; one level of about
    the square root as many nodes answers the others, and further levels cost more than they win.
    """
    deepest = int(tree.depth.max())
    # tokens together take 10% at most, however deep the tree is
    token = max(1, min(units // 1000, units // (10 * (deepest + 1))))
    prices = np.full(deepest + 1, token, dtype=np.int64)
    prices[deepest // 2] = max(1, units * 15 // 100)
    left = np.full(len(tree.parent), units, dtype=np.int64)
    share = np.zeros(len(tree.parent), dtype=np.int64)
    for depth in range(deepest + 1):
        nodes = np.flatnonzero(tree.depth == depth)
        if depth:
            left[nodes] = (left - share)[tree.parent[nodes]]
        share[nodes] = np.where(tree.split[nodes] >= 0, prices[depth], left[nodes])
    return share


def _node_counts(
    engine: Engine, tree: TreePartition, edges: tuple[Small, ...]
) -> Callable[[tuple[Ints, Ints]], Ints]:
    """From nonempty cells of the product of cuts to class counts of all nodes, under the seal."""
    classes = engine.domain.classes
    grid = GridPartition(edges)
    leaf_of_cell = np.empty(grid.cells, dtype=np.int64)
    leaf_of_cell[grid.locate(tree.lo[tree.leaves])] = tree.leaves

    def compute(cells: tuple[Ints, Ints]) -> Ints:
        counts = np.zeros((len(tree.parent), classes), dtype=np.int64)
        counts[leaf_of_cell[cells[0] // classes], cells[0] % classes] = cells[1]
        for depth in range(int(tree.depth.max()), 0, -1):
            nodes = np.flatnonzero(tree.depth == depth)
            np.add.at(counts, tree.parent[nodes], counts[nodes])
        return counts

    return compute
