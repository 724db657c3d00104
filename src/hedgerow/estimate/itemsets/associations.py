"""Association rules: of those who hold some items, how many hold another one, too?

The rule A -> b has the confidence s(A and b) / s(A), for supports s, and the lift
s(A and b) n / (s(A) s(b)): how many times as many hold b among those with A as among all n records.

**Intervals.** A ratio of counts lies between the lower end of one over the upper end of the other
and the other way round, wherever all of these ends hold at once. Each of the k counts has an
interval that fails with a probability of at most (1 - level) / k, so all hold at the level. That is
for a rule that was not picked for what the release says of it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from hedgerow.arrays import Floats, Ints
from hedgerow.estimate.itemsets.answers import answer_sets
from hedgerow.estimate.itemsets.frequent import frequent_sets
from hedgerow.estimate.itemsets.model import ItemsetModel
from hedgerow.schema import Items

__all__ = ["Associations", "find_associations"]


@dataclass(frozen=True, eq=False, kw_only=True)
class Associations:
    """Rules, the largest confidence first; a row for each in every field.

    Args:
        given: The items that are held.
        then: The item that is held too.
        support: How many records hold all of them: estimates and the ends of intervals, [rules, 3].
        confidence: The same for confidences.
        lift: The same for lifts.
    """

    given: Sequence[Ints]
    then: Ints
    support: Floats
    confidence: Floats
    lift: Floats


def find_associations(
    model: ItemsetModel, items: Items, k: int, least: float, level: float
) -> Associations:
    """The rules of the k most frequent itemsets, from a least confidence on.

    Args:
        model: What tells estimates.
        items: The universe.
        k: How many itemsets.
        least: The least estimated confidence.
        level: The probability that an interval holds the truth, at least.
    """
    sets, _ = frequent_sets(model, items, k, level)
    rules = [
        (np.delete(one, place), int(item))
        for one in sets
        if len(one) > 1
        for place, item in enumerate(one)
    ]
    given, then = [one for one, _ in rules], np.array([item for _, item in rules], np.int64)
    every = [np.array([item]) for item in then]
    both = [np.union1d(one, item) for one, item in zip(given, every, strict=True)]

    def counts(sets: Sequence[Ints], together: int) -> Floats:
        answers = answer_sets(model, sets, 1 - (1 - level) / together)
        return np.stack([answers.estimate, answers.low, answers.high], axis=1)

    first, second = [0, 1, 2], [0, 2, 1]  # an end of a quotient has the other end below
    with np.errstate(divide="ignore", invalid="ignore"):
        confidence = np.nan_to_num(counts(both, 2) / counts(given, 2)[:, second], posinf=1.0)
        among_all = counts(every, 4) / counts([np.zeros(0, np.int64)], 4)[:, second]
        one_of_four = np.nan_to_num(counts(both, 4) / counts(given, 4)[:, second], posinf=1.0)
        lift = np.minimum(one_of_four, 1.0) / among_all[:, second]
    confidence = np.minimum(confidence, 1.0)
    lift = np.nan_to_num(lift[:, first], nan=0.0, posinf=np.inf)
    order = np.lexsort((-lift[:, 0], -confidence[:, 0]))
    order = order[confidence[order, 0] >= least]
    return Associations(
        given=[given[place] for place in order],
        then=then[order],
        support=counts(both, 1)[order],
        confidence=confidence[order],
        lift=lift[order],
    )
