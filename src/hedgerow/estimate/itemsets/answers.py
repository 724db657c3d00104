"""Answers about itemsets: counts, the most frequent sets, association rules, and a list to read."""

from __future__ import annotations

import json
import math
import numbers
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from statistics import NormalDist
from typing import Any

import numpy as np
import pyarrow as pa

from hedgerow.arrays import Floats, Ints
from hedgerow.errors import UsageError
from hedgerow.estimate.answers import Answers
from hedgerow.estimate.itemsets.model import ItemsetModel
from hedgerow.estimate.queries import MEASURED, MODELED
from hedgerow.measured.itemsets import CoreCells, Itemsets
from hedgerow.measured.measurements import Law, Measurement
from hedgerow.schema import Items
from hedgerow.schema.item_tree import ItemTree

# Answers to questions about itemsets: how many records hold all of these items?


def read_sets(itemsets: Any, items: Items) -> list[Ints]:
    """One itemset or many, in labels, as increasing arrays of codes.

    Args:
        itemsets: An itemset, as a set or tuple of labels such as {1, 4}; or a list, which is always
            one of several itemsets. A label or number by itself is a set of one. The empty itemset
            is in every record. The label of a group of the taxonomy stands for anything of the
            group.
        items: The universe.

    Raises:
        UsageError: If something is no itemset of the universe.

    Example:
        >>> clicks = Items(range(1, 18))
        >>> [one.tolist() for one in read_sets({4, 1}, clicks)]
        [[0, 3]]
        >>> [one.tolist() for one in read_sets([4, 1], clicks)]
        [[3], [0]]
        >>> [one.tolist() for one in read_sets([[1, "4"], []], clicks)]
        [[0, 3], []]
        >>> from hedgerow.schema.taxonomy import Taxonomy
        >>> shop = Items(Taxonomy.from_nested("goods", {"dairy": ["milk", "butter"], "tea": None}))
        >>> [one.tolist() for one in read_sets(("dairy", "tea"), shop)]
        [[2, 4]]
    """
    if _is_label(itemsets) or isinstance(itemsets, tuple | set | frozenset):
        itemsets = [itemsets]
    if isinstance(itemsets, (bytes, bytearray)) or not isinstance(itemsets, Iterable):
        raise _unreadable(itemsets)
    return [_codes(one, items) for one in itemsets]


def _is_label(thing: object) -> bool:
    whole = isinstance(thing, numbers.Integral) and not isinstance(thing, (bool, np.bool_))
    return isinstance(thing, str) or whole


def _codes(one: Any, items: Items) -> Ints:
    if _is_label(one):
        one = [one]
    if isinstance(one, (bytes, bytearray)) or not isinstance(one, Iterable):
        raise _unreadable(one)
    labels = list(one)
    for label in labels:
        if not _is_label(label):
            raise _unreadable(label)
    codes = np.unique(np.array([_code(str(label), items) for label in labels], np.int64))
    # who holds an item holds its group, so the group says nothing more
    inside = codes[codes < items.size]

    def held(code: int) -> bool:
        low, high = items.taxonomy.spans[code - items.size]
        return bool(((inside >= low) & (inside < high)).any())

    said = [code >= items.size and held(code) for code in codes.tolist()]
    return codes[~np.array(said, np.bool_)]


def _code(label: str, items: Items) -> int:
    """The code of an item, or that of a group (see `ItemsetModel`)."""
    group = items.group_of(label)
    return items.code_of(label) if group is None else items.size + group


def _unreadable(thing: object) -> UsageError:
    return UsageError(
        f"an itemset cannot be read from type {type(thing).__name__}",
        hint="Give a list of items, such as [1, 4] or ['milk', 'tea'], or a list of such lists.",
    )


def answer_sets(model: ItemsetModel, sets: Sequence[Ints], level: float) -> Answers:
    """Answers with intervals, in the order of the sets; estimates lie in their intervals."""
    low, high = model.bounds(sets, level)
    low = np.maximum(np.ceil(low - 1e-9), 0.0)
    high = np.maximum(np.floor(high + 1e-9), low)
    counted = model.estimates(sets)
    basis = np.array([MEASURED if model.counted(one) else MODELED for one in sets], np.str_)
    estimate = np.clip(counted, low, high)
    nothing, below, above = np.zeros(len(sets)), estimate - low, high - estimate
    return Answers(
        estimate=estimate,
        low=low,
        high=high,
        noise=nothing,
        uniformity_low=below,
        uniformity_high=above,
        level=level,
        basis=basis,
    )


# The itemsets that most records hold, found level by level.
#
# No set is in more records than any of its parts. Estimates are held to that: a set counts for no
# more than the sets it was joined from. Then every part of one of the k best sets is itself among
# the k best, so that it is enough to keep k sets of each size.


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


# Association rules: of those who hold some items, how many hold another one, too?
#
# The rule A -> b has the confidence s(A and b) / s(A), for supports s, and the lift s(A and b) n /
# (s(A) s(b)): how many times as many hold b among those with A as among all n records.
#
# **Intervals.** A ratio of counts lies between the lower end of one over the upper end of the other
# and the other way round, wherever all of these ends hold at once. Each of the k counts has an
# interval that fails with a probability of at most (1 - level) / k, so all hold at the level. That
# is for a rule that was not picked for what the release says of it.


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


# The list of itemsets that people read: those whose noisy count stands out of the noise.
#
# It is made of noisy counts as they were drawn, so that writing it costs next to nothing. Of all
# places that are empty, at most half a one on average has noise that reaches the threshold t. For M
# places and Laplace noise with a = exp(-epsilon), that is M a^t / (1 + a) <= 1/2. Gaussian noise
# reaches t no more often than a normal noise with the same variance reaches t - 1/2 (step 3 of
# `hedgerow.estimate.noise`), and that must be at most 1 / (2 M).


_LINES_PER_BLOCK = 10_000


@dataclass(frozen=True, eq=False, kw_only=True)
class ListedItemsets:
    """Itemsets with noisy counts, the largest first, equal ones in the order of their places.

    Args:
        count: The noisy counts.
        start: Where the items of each begin, and the end of the last.
        codes: Places in `labels`.
        labels: What items and groups of items are called.
        others: How many other items the records have, in words; None if that says nothing.
    """

    count: Ints
    start: Ints
    codes: Ints
    labels: Sequence[str]
    others: tuple[Sequence[str], Ints] | None

    def table(self) -> pa.Table:
        """The columns `count`, `items` and, where it tells something, `others`."""
        labels = pa.array(self.labels, pa.string()).take(pa.array(self.codes))
        lists = pa.ListArray.from_arrays(pa.array(self.start.astype(np.int32)), labels)
        columns = {"count": pa.array(self.count), "items": lists}
        if self.others is not None:
            words, which = self.others
            columns["others"] = pa.array(words, pa.string()).take(pa.array(which))
        return pa.table(columns)


def public_threshold(variance: float, places: int, law: Law = "laplace") -> int:
    """The least count that stands out among so many places.

    Args:
        variance: That of the continuous law of the noise: 2 / epsilon^2 if it is Laplace.
        places: How many places there are.
        law: The law of the noise.

    Example:
        >>> public_threshold(2.0, 2**17), public_threshold(200.0, 100)
        (13, 47)
        >>> public_threshold(2.0, 2**17, "gaussian"), public_threshold(200.0, 100, "gaussian")
        (7, 37)
    """
    places = max(places, 1)
    if law == "gaussian":
        below = 0.5 - math.sqrt(variance) * NormalDist().inv_cdf(1 / (2 * places))
    else:
        epsilon = math.sqrt(2 / variance)
        below = math.log(2 * places / (1 + math.exp(-epsilon))) / epsilon
    return max(1, math.ceil(below))


def list_itemsets(
    items: Items, partition: Itemsets, measurements: Sequence[Measurement]
) -> ListedItemsets:
    """The itemsets that stand out of the noise."""
    core = isinstance(partition, CoreCells)
    name = "cell" if core else "leaf"
    empty = np.zeros(0, np.int64)
    where, count = empty, empty
    for found in measurements:
        if found.name == name and len(found.where):
            variance, which = np.unique(found.tail_variance, return_inverse=True)
            listed = not core and len(found.where) < partition.cells  # they passed a threshold
            places = 1 if listed else partition.cells
            least = [public_threshold(one, places, found.law) for one in variance.tolist()]
            values = found.values[:, 0]
            stand = np.ones(len(values), bool) if listed else values >= np.array(least)[which]
            order = np.lexsort((found.where[stand], -values[stand]))
            where, count = found.where[stand][order], values[stand][order]
    if isinstance(partition, CoreCells):
        return _cells(items, partition, where, count)
    number = np.diff(partition.cut_start)[where]
    start = np.concatenate(([0], np.cumsum(number)))
    first = np.repeat(partition.cut_start[where] - start[:-1], number)
    codes = partition.cut[first + np.arange(int(start[-1]))]
    return ListedItemsets(
        count=count, start=start, codes=codes, labels=ItemTree.of(items).labels, others=None
    )


def _cells(items: Items, partition: CoreCells, where: Ints, count: Ints) -> ListedItemsets:
    mask, place = np.divmod(where, len(partition.rest))
    holds = (mask[:, None] >> np.arange(len(partition.core)) & 1).astype(bool)
    start = np.concatenate(([0], np.cumsum(holds.sum(axis=1))))
    codes = partition.core[np.nonzero(holds)[1]]
    if len(partition.rest) == 1 and len(partition.core) == items.size:
        return ListedItemsets(
            count=count, start=start, codes=codes, labels=items.labels, others=None
        )
    last = [*(partition.rest[1:] - 1).tolist(), None]
    words = [
        f"{low} or more" if high is None else str(low) if low == high else f"{low} to {high}"
        for low, high in zip(partition.rest.tolist(), last, strict=True)
    ]
    return ListedItemsets(
        count=count, start=start, codes=codes, labels=items.labels, others=(words, place)
    )


def text_blocks(listed: ListedItemsets) -> Iterator[bytes]:
    """The list as text: a head, then one line for each itemset, fields divided by tabs."""
    about = "count, then the items"
    if listed.others is not None:
        about = "count, how many other items, then the items"
    yield (
        f"# {about}, divided by tabs. Counts are noisy, as they were drawn; only those are\n"
        "# listed that stand out of the noise. How many records hold some items, whatever else\n"
        "# they hold? hedgerow.Release.load(folder).count({...}) estimates it, with an interval.\n"
    ).encode()
    names = [_field(label) for label in listed.labels]
    start, codes, counts = listed.start.tolist(), listed.codes.tolist(), listed.count.tolist()
    for begin in range(0, len(counts), _LINES_PER_BLOCK):
        lines = []
        for place in range(begin, min(begin + _LINES_PER_BLOCK, len(counts))):
            fields = [str(counts[place])]
            if listed.others is not None:
                fields.append(listed.others[0][listed.others[1][place]])
            fields += [names[code] for code in codes[start[place] : start[place + 1]]]
            lines.append("\t".join(fields) + "\n")
        yield "".join(lines).encode()


def _field(label: str) -> str:
    """A label as a field; one that would be misread is written as JSON writes it."""
    plain = label.isprintable() and not label.startswith(('"', "#"))
    return label if plain else json.dumps(label, ensure_ascii=False)
