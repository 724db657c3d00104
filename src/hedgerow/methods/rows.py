"""Generalized rows: the side table that they are read off, and what a run hands over."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from hedgerow.arrays import Ints, Small
from hedgerow.counting.memory import MemoryEngine
from hedgerow.data import CodeMatrix
from hedgerow.estimate.cells import estimate_cells, whole_counts
from hedgerow.estimate.synthesize import draw_codes
from hedgerow.measured.partition import TreePartition
from hedgerow.methods.diffmulti import DiffMulti
from hedgerow.methods.plan import RowsPlan
from hedgerow.optimize.exact import LARGEST
from hedgerow.optimize.model import Aim, Forest, Worth
from hedgerow.optimize.side import Side
from hedgerow.optimize.solve import solve
from hedgerow.privacy.budget import Budget
from hedgerow.privacy.ledger import Ledger
from hedgerow.privacy.sampler import Sampler
from hedgerow.schema import Schema

MOST_SIDE_ROWS = 50_000  # of a side table that we make; more would only cost time
_ROOT = np.zeros(1, dtype=np.int64)


@dataclass(frozen=True)
class SideRows:
    """A side table that was read already: its rows, as codes."""

    rows: CodeMatrix


@dataclass(frozen=True, kw_only=True)
class RowsOutcome:
    """A finished run: all of it was drawn or is public.

    Args:
        plan: What was spent on what.
        ledger: The books.
        lo: The first code of each listed row in each attribute.
        hi: One past the last code.
        counts: Noisy counts, or how many people were kept.
        frontier: What other settings would have meant, on the side table.
    """

    plan: RowsPlan
    ledger: Ledger
    lo: Ints
    hi: Ints
    counts: Ints
    frontier: dict[str, Any]

    kind: ClassVar[str] = "rows"  # of release that it makes

    # what is asked of every outcome

    @property
    def published(self) -> Ints:
        """The ledger's account of all rows: everybody's."""
        return _ROOT

    @property
    def sharing(self) -> int:
        """How many rows share it."""
        return len(self.counts)

    @property
    def parts(self) -> dict[str, Any]:
        """All that was drawn and leaves, by the names that a release has for it."""
        names = ("lo", "hi", "counts", "frontier")
        return {name: getattr(self, name) for name in names}


def made_side(
    engine: MemoryEngine, schema: Schema, budget: Budget, sampler: Sampler
) -> NDArray[Any]:
    """Synthetic rows of a DiffMulti release of the table; the budget was charged by the caller.

    All that is drawn at random after the release is drawn with a fixed seed, so that the rows are
    a function of the transcript.
    """
    made = DiffMulti()
    outcome = made.run(engine, schema, made.plan_for(schema, budget), sampler)
    assert isinstance(outcome.partition, TreePartition)
    classes = max(1, len(schema.classes))
    found = estimate_cells(outcome.partition, outcome.measurements, classes)
    counts = whole_counts(found)
    if not counts.any():  # nothing is known, so nobody is likelier than another
        counts = np.ones_like(counts)
    number = min(max(int(counts.sum()), 1000), MOST_SIDE_ROWS)
    tree, places = outcome.partition, range(len(schema.attributes))
    parts = [tree.parts(place, found.regions) for place in places]
    # codes and no values: read again, what was other could break a rule after it was paid for
    columns = draw_codes(schema, parts, counts, number, seed=0)
    return np.stack([codes for _, codes in columns], axis=1).astype(np.uint32)


def gather(forest: Forest, nodes: Small, counts: Ints) -> tuple[Small, Ints]:
    """Adds up what fell to the same row; rows in canonical order, by codes."""
    by_codes = np.lexsort((-forest.hi, forest.lo))
    rank = np.empty(len(by_codes), np.int64)
    rank[by_codes] = np.arange(len(by_codes))
    order = np.lexsort(rank[nodes].T[::-1])
    nodes, counts = nodes[order], counts[order]
    if not len(nodes):
        return nodes, counts
    first = np.flatnonzero(np.append(True, (nodes[1:] != nodes[:-1]).any(axis=1)))
    return nodes[first], np.add.reduceat(counts, first)


# Risk against utility on the side table: where the settings lie, and what others would mean.
#
# The side table is public, or was paid for, so the picture is free. Its rows take the part of the
# records, each with the weights of the settings.


_FACTORS = (0.01, 0.03, 0.1, 0.3, 1.0, 3.0, 10.0, 30.0, 100.0)
_RECORDS, _FEW = 100, 12  # how many are solved; few where a lattice is too large to list


def frontier(forest: Forest, side: Side, worth: Worth, aim: Aim) -> dict[str, Any]:
    """Mean risk and utility of side rows, for the settings and for stricter and laxer ones."""
    leaves = _some_rows(forest, side)
    points = []
    for factor in _FACTORS:
        if aim.risk is not None:
            other = replace(aim, risk=aim.risk * factor)
        elif aim.utility is not None:  # which has a largest value, so its factors are smaller
            other = replace(aim, utility=aim.utility * factor**0.25)
        else:
            other = replace(aim, trade=aim.trade * factor)
        points.append(place_of(forest, side, worth, other, leaves))
    return {
        "model": aim.model,
        "records": len(leaves),
        "most_utility": float(worth.utility[leaves].sum(axis=1).mean()),
        "points": points,
        "chosen": points[_FACTORS.index(1.0)],
    }


def place_of(forest: Forest, side: Side, worth: Worth, aim: Aim, leaves: Small) -> dict[str, float]:
    """The mean utility and risk of some records, and the setting they come from."""
    found = solve(forest, side, worth, aim, leaves, np.ones(leaves.shape))
    top = np.maximum(worth.weight[forest.root], worth.floor).sum() / side.rows
    setting = {
        "threshold": {"risk_threshold": aim.risk or 0.0},
        "least-risk": {"least_utility": aim.utility or 0.0},
        "aggregate": {"trade": aim.trade},
    }[aim.model]
    return {
        **setting,
        "utility": float(np.where(found.solved, found.utility, 0.0).mean()),
        "risk": float(np.where(found.solved, found.risk, top).mean()),
    }


def _some_rows(forest: Forest, side: Side) -> Small:
    """Some distinct side rows, evenly spaced in their order, as leaf nodes."""
    number = _RECORDS if forest.largest_lattice() <= LARGEST else _FEW
    every = len(side.then)
    picked = np.unique(np.linspace(0, every - 1, min(number, every)).astype(np.int64))
    first = np.searchsorted(side.start, picked, "right") - 1
    ranks = np.concatenate([side.first[first], side.second[side.then[picked]]], axis=1)
    leaves = np.empty(ranks.shape, np.int32)
    ends = np.append(forest.leaf[1:], len(forest.leaf_node)).tolist()
    for place, (start, end) in enumerate(zip(forest.leaf.tolist(), ends, strict=True)):
        nodes = forest.leaf_node[start:end]
        # the leaf whose ranks are just this one
        held = nodes[side.node_hi[nodes] > side.node_lo[nodes]]
        by_rank = np.empty(int(side.ranks[place]), np.int32)
        by_rank[side.node_lo[held]] = held
        leaves[:, place] = by_rank[ranks[:, place]]
    return leaves
