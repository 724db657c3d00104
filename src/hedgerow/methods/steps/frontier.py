"""Risk against utility on the side table: where the settings lie, and what others would mean.

The side table is public, or was paid for, so the picture is free. Its rows take the part of the
records, each with the weights of the settings.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from hedgerow.arrays import Small
from hedgerow.optimise.exact import LARGEST
from hedgerow.optimise.model import Aim, Forest, Worth
from hedgerow.optimise.side import Side
from hedgerow.optimise.solve import solve

__all__ = ["frontier", "place_of"]

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
