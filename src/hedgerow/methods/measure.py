"""From what a curator drew to the measurements of a release."""

from __future__ import annotations

import math
from collections.abc import Sequence
from fractions import Fraction

import numpy as np

from hedgerow.arrays import Ints
from hedgerow.counting.engine import Engine
from hedgerow.measured.measurements import Measurement, Place
from hedgerow.privacy.curator import Curator
from hedgerow.privacy.sampler import Rates

_ROOT = np.zeros(1, dtype=np.int64)


def measured(
    curator: Curator,
    purpose: str,
    at: Place,
    drawn: Sequence[tuple[Ints, Ints, Ints]],
    *,
    by_class: bool = False,
    max_contribution: int = 1,
) -> Measurement:
    """Describes noisy counts by the rate of their noise, whatever budget paid for it.

    Args:
        curator: Who drew them.
        purpose: What paid for them.
        at: What the places are numbers of.
        drawn: Places, noisy counts and units of the charges, draw by draw.
        by_class: Whether every class was counted apart.
        max_contribution: See `Measurement`.
    """
    where, values, units = (np.concatenate(column) for column in zip(*drawn, strict=True))
    order = np.argsort(where)
    where, values, units = where[order], values[order], units[order]
    rates = Rates.of(units, lambda unit: curator.noise_rate(purpose, unit, max_contribution))
    common = math.lcm(*(rate.denominator for rate in rates.values))
    scaled = np.asarray([int(rate * common) for rate in rates.values], dtype=np.int64)[rates.which]
    unit = Fraction(1, common)
    return Measurement(
        name=purpose, at=at, where=where, values=values, by_class=by_class, units=scaled, unit=unit,
        max_contribution=max_contribution, law=curator.law(purpose),
    )  # fmt: skip


def buy_rows(curator: Curator, engine: Engine) -> tuple[Measurement, int]:
    """The noisy number of rows, from which public rules may then choose settings.

    Returns:
        The measurement, and the number that rules read, which is not below 0.
    """
    root = np.zeros(1, dtype=np.int64)
    total = engine.class_counts(root).map(class_totals)
    noisy, units = curator.laplace("rows", 0, root, total)
    return measured(curator, "rows", "node", [(root, noisy, units)]), max(0, int(noisy[0, 0]))


def count_leaves(
    curator: Curator, engine: Engine, depth: Ints, leaves: Ints, *, alike: bool = False
) -> list[Measurement]:
    """Class counts of the leaves of a tree, with all that each path has left.

    Args:
        curator: Who charges and draws.
        engine: The private data.
        depth: The depth of every node.
        leaves: The leaves.
        alike: Whether all leaves get the same: what the path that spent the most has left.
    """
    found = []
    regions = np.arange(len(leaves))
    for purpose in ("leaf", "spare"):
        if not curator.ledger.allows(purpose):
            continue
        rest = curator.ledger.left(curator.ledger.budget_of(purpose), leaves)
        left = rest > 0
        price = np.full(len(leaves), rest.min()) if alike else rest
        drawn = []
        # level by level, so that the ledger tells depths apart
        for level in sorted(set(depth[leaves[left]].tolist())):
            here = regions[left & (depth[leaves] == level)]
            exact = engine.class_counts(leaves[here])
            counts = curator.noisy(purpose, level, leaves[here], exact, price[here])
            drawn.append((here, *counts))
        if drawn:
            found.append(measured(curator, purpose, "region", drawn, by_class=True))
    return found


def class_totals(class_counts: Ints) -> Ints:
    """Sums over classes, as one column."""
    totals: Ints = class_counts.sum(axis=1, keepdims=True)
    return totals
