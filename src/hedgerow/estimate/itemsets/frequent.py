"""The itemsets that most records hold, found level by level.

No set is in more records than any of its parts. Estimates are held to that: a set counts for no
more than the sets it was joined from. Then every part of one of the k best sets is itself among the
k best, so that it is enough to keep k sets of each size.
"""

from __future__ import annotations

import numpy as np

from hedgerow.arrays import Floats, Ints
from hedgerow.errors import UsageError
from hedgerow.estimate.itemsets.answers import answer_sets
from hedgerow.estimate.itemsets.model import ItemsetModel
from hedgerow.schema import Items

__all__ = ["MOST_FREQUENT", "frequent_sets"]


MOST_FREQUENT = 10_000


def frequent_sets(
    model: ItemsetModel, items: Items, k: int, share: float
) -> tuple[list[Ints], Floats]:
    """The k sets with the largest estimates, the largest first, equal ones smaller sets first.

    Fewer are found if fewer are estimated to be in any record.

    Args:
        model: What tells estimates.
        items: The universe.
        k: How many sets.
        share: The level of the intervals that estimates are held to, as `count` holds them.

    Raises:
        UsageError: If k is no whole number from 1.
    """
    if isinstance(k, bool) or not isinstance(k, (int, np.integer)) or not 1 <= k <= MOST_FREQUENT:
        raise UsageError(
            f"the number of itemsets is no whole number from 1 to {MOST_FREQUENT}",
            hint="Ask for 20, for example.",
        )
    best: dict[tuple[int, ...], float] = {}
    # sets, and what bounds their counts
    level: dict[tuple[int, ...], float] = {(code,): np.inf for code in range(items.size)}
    while level:
        sets = list(level)
        answers = answer_sets(model, [np.array(one) for one in sets], share)
        found = np.minimum(answers.estimate, np.array(list(level.values())))
        here = _top(dict(zip(sets, found.tolist(), strict=True)), k)
        best = _top(best | here, k)
        level = _join({one: value for one, value in here.items() if one in best})
    return [np.array(one) for one in best], np.array(list(best.values()))


def _top(found: dict[tuple[int, ...], float], k: int) -> dict[tuple[int, ...], float]:
    """The k largest that are above 0, in canonical order."""
    order = sorted((-value, len(one), one) for one, value in found.items() if value > 0)
    return {one: -value for value, _, one in order[:k]}


def _join(level: dict[tuple[int, ...], float]) -> dict[tuple[int, ...], float]:
    """Sets of one item more, all of whose parts are there, with the least of their estimates."""
    heads: dict[tuple[int, ...], list[int]] = {}
    for one in sorted(level):
        heads.setdefault(one[:-1], []).append(one[-1])
    joined: dict[tuple[int, ...], float] = {}
    for head, tails in heads.items():
        for place, first in enumerate(tails):
            for second in tails[place + 1 :]:
                one = (*head, first, second)
                parts = [level.get(one[:i] + one[i + 1 :], -1.0) for i in range(len(one))]
                if min(parts) > 0:
                    joined[one] = min(parts)
    return joined
