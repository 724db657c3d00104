"""How far estimates of itemsets are typically off: a guess by a model, never called an interval.

A single item is off by the noise that shrinkage leaves in its support, and by what weights and
sizes leave open (`itemsets.supports`). A set inside the core is off by the noise of its cells. Any
other set is off because its items are, and because items
that were not counted together are taken to be independent, given how many a record has. A pair with
shares p and q of the n records is off by phi n sqrt(p (1 - p) q (1 - q)), if phi is the correlation
that the model lacks, which is taken to be `PHI`.

So a set with estimate e (or what independent items would give, if that is more) has, with the
supports s and shares p = s / n of its items,

    scale^2 = e^2 sum_a var_a / s_a^2 + phi^2 e^2 sum_ab (1 - p_a) (1 - p_b) / (p_a p_b) + e + 1,

and 1.96 scale is its typical error. It is far too small for items outside the core that depend on
each other strongly.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import combinations
from typing import TYPE_CHECKING

import numpy as np

from hedgerow.arrays import Floats, Ints

if TYPE_CHECKING:
    from hedgerow.estimate.itemsets.core import CoreModel

__all__ = ["PHI", "typical_errors"]


_FACTOR = 1.96  # of a normal law, for 95%
PHI = 0.04  # about what pairs of frequent items have in the sets of `benchmarks/baskets.py`


def typical_errors(model: CoreModel, sets: Sequence[Ints], estimate: Floats) -> Floats:
    """The typical error of each set.

    Args:
        model: The model that counts.
        sets: The sets.
        estimate: What it counts.
    """
    found = np.zeros(len(sets))
    for place, one in enumerate(sets):
        if not model.never(one):
            found[place] = _variance(model, one, max(float(estimate[place]), 0.0))
    return np.asarray(_FACTOR * np.sqrt(found))


def _variance(model: CoreModel, one: Ints, counted: float) -> float:
    if not len(one):
        return model.total_variance
    if len(one) == 1 and one[0] < model.items.size and model.supports is not None:
        return float(model.single_variance[one[0]])
    inside = bool((one < model.items.size).all()) and bool((model.bit[one] >= 0).all())
    if inside:
        return float(model.table_variance[(np.int64(1) << model.bit[one]).sum()])
    if model.supports is None:  # groups of a universe that was counted as a whole
        return float(model.total_variance)
    number = max(model.total, 1.0)
    held, spread, core = [], [], []
    for code in one.tolist():
        members = model.members(code)
        spread.append(float(model.single_variance[members].sum()))
        # a support that was taken for nothing may still be as large as its noise
        held.append(max(float(model.singles[members].sum()), spread[-1] ** 0.5, 1.0))
        core.append(code < model.items.size and model.bit[code] >= 0)
    if len(one) == 1:
        return spread[0]
    shares = np.minimum(np.array(held) / number, 0.99)
    counted = max(counted, number * float(np.prod(shares)))
    apart = sum(
        (1 / shares[a] - 1) * (1 / shares[b] - 1)
        for a, b in combinations(range(len(one)), 2)
        if not (core[a] and core[b])
    )
    noisy = sum(own / most**2 for own, most in zip(spread, held, strict=True))
    return float(counted**2 * (noisy + PHI**2 * apart) + counted + 1)
