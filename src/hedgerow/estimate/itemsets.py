"""Models of published transactions: what can be asked of each, and that of hierarchy cuts."""

from __future__ import annotations

import json
import math
import numbers
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import cached_property, lru_cache
from itertools import pairwise
from statistics import NormalDist
from typing import Any

import numpy as np
import pyarrow as pa

from hedgerow.arrays import Bools, Floats, Ints
from hedgerow.errors import ReleaseError, UsageError
from hedgerow.estimate.answers import Answers
from hedgerow.estimate.cells import project
from hedgerow.estimate.core import CoreModel, ItemsetModel, assemble_records, draw_cells
from hedgerow.estimate.measurements import Law, Measurement, half_width
from hedgerow.estimate.partition import CoreCells, CutTree, Itemsets
from hedgerow.estimate.queries import MEASURED, MODELED
from hedgerow.estimate.supports import Supports
from hedgerow.schema import Items
from hedgerow.schema.items import WEIGHT, ItemTree
from hedgerow.store.untrusted import broken

# Answers from partitions by hierarchy cuts.
#
# A record of a partition has an item under every node of its cut and none elsewhere. So a set is
# surely in all records of a partition whose cut holds its items themselves, surely in none if an
# item lies under no node of the cut, and possibly in some of the others: there its items are taken
# to come independently, by their supports, given that each node of the cut has at least one.
#
# The interval of a count does not need that: the truth is at least the count of the partitions
# where the set is sure, and at most that of those where it is possible.


_LEAST = 1e-9


class CutModel(ItemsetModel):
    """What the partitions of hierarchy cuts tell.

    Args:
        items: The public universe.
        partition: The partitions.
        leaf: Their noisy counts: of all, each without its sub-partitions, or only of those leaves
            that reached a threshold.
        supports: What was measured of single items, if anything.

    Attributes:
        tree: The tree over the universe.
        complete: Whether every partition was counted, so that no record is missing.
        possible: Which partitions can hold a record, by public rules.
        counts: The noisy count of each partition, 0 where none is known or possible.
        tails: The variance of the noise on each count, by its tails.
        hold: The probability that a record holds each item.
        steps: Minus the log of the probability to hold none of the items before each code.
        some: For each node of the tree the probability to hold at least one item under it.
    """

    def __init__(
        self, *, items: Items, partition: CutTree, leaf: Measurement, supports: Supports | None
    ) -> None:
        super().__init__(items, supports)
        self.partition, self.tree = partition, ItemTree.of(items)
        self.complete = len(leaf.where) == partition.cells
        self.possible: Bools = np.diff(partition.cut_start) <= items.most
        self.counts, self.tails = np.zeros((2, partition.cells))
        self.counts[leaf.where] = leaf.values[:, 0]
        self.tails[leaf.where] = 2 / (leaf.units * float(leaf.unit)) ** 2
        self.counts[~self.possible] = self.tails[~self.possible] = 0.0
        self.hold = np.full(items.size, min(0.5, 1 / items.size))
        if supports is not None:
            total = float(supports.size.values.sum())
            hold = np.maximum(supports.singles[0], 0.5) / max(total, 1.0)
            self.hold = np.clip(hold, _LEAST, 0.5)
        self.steps = np.concatenate(([0.0], np.cumsum(-np.log1p(-self.hold))))
        self.some = -np.expm1(-(self.steps[self.tree.hi] - self.steps[self.tree.lo]))

    @cached_property
    def _cover(self) -> Callable[[int], Ints]:
        """For each partition the node of its cut that an item lies under, -1 if there is none."""

        @lru_cache(maxsize=256)
        def cover(code: int) -> Ints:
            cut, tree = self.partition.cut, self.tree
            entries = np.flatnonzero((tree.lo[cut] <= code) & (code < tree.hi[cut]))
            cover = np.full(self.partition.cells, -1, np.int64)
            cover[self.partition.owner[entries]] = cut[entries]
            return cover

        return cover

    def _touches(self, code: int) -> tuple[Bools, Bools, Floats]:
        """Where anything of a group is possible, where it is sure, and how likely elsewhere."""
        span = self.members(code)
        low, high = int(span[0]), int(span[-1]) + 1
        cut, tree, owner = self.partition.cut, self.tree, self.partition.owner
        first, last = tree.lo[cut], tree.hi[cut]
        within, around = (low <= first) & (last <= high), (first < low) | (high < last)
        meets = (first < high) & (low < last) & around
        possible, sure = np.zeros((2, self.partition.cells), np.bool_)
        sure[owner[within]] = True
        possible[owner[within | meets]] = True
        some = -np.expm1(-(self.steps[high] - self.steps[low]))
        share = np.ones(self.partition.cells)
        share[owner[meets]] = np.minimum(some / self.some[cut[meets]], 1.0)
        share[sure] = 1.0
        return possible, sure, share

    def _weights(self, one: Ints) -> tuple[Ints, Floats, Bools]:
        """The partitions that may hold a set, the share of each that does, and where it is sure."""
        groups = [self._touches(code) for code in one.tolist() if code >= self.items.size]
        one = one[one < self.items.size]
        covers = [self._cover(code) for code in one.tolist()]
        can = [self.possible, *(cover >= 0 for cover in covers), *(one[0] for one in groups)]
        where = np.flatnonzero(np.all(can, axis=0))
        share, sure = np.ones(len(where)), np.ones(len(where), np.bool_)
        for _, certain, likely in groups:
            share *= likely[where]
            sure &= certain[where]
        for place, cover in enumerate(covers):
            node = cover[where]
            fresh = np.ones(len(where), np.bool_)
            for earlier in covers[:place]:
                fresh &= earlier[where] != node
            given = np.where(fresh, self.some[node], 1.0)
            item = self.tree.children[node] == 0
            share *= np.where(item, 1.0, np.minimum(self.hold[one[place]] / given, 1.0))
            sure &= item
        return where, share, sure

    def _value(self, one: Ints) -> tuple[float, float]:
        """The estimated number of records that hold a set, and its standard error by the noise."""
        if self.never(one):
            return 0.0, 0.0
        if self.supports is not None and self._is_item(one):
            return float(self.supports.singles[0][one[0]]), self.supports.standard_error
        where, share, _ = self._weights(one)
        return float(self.counts[where] @ share), math.sqrt(self.tails[where] @ share**2)

    def estimates(self, sets: Sequence[Ints]) -> Floats:
        """See `ItemsetModel.estimates`."""
        return np.array([self._value(one)[0] for one in sets])

    def error(self, one: Ints, estimate: float) -> float:
        """See `ItemsetModel.error`."""
        return self._value(one)[1]

    def counted(self, one: Ints) -> bool:
        """See `ItemsetModel.counted`: sets that no partition leaves open, single items in full."""
        if self.supports is not None and self._is_item(one):
            return self.supports.full
        return self.never(one) or (self.complete and bool(self._weights(one)[2].all()))

    def _is_item(self, one: Ints) -> bool:
        return len(one) == 1 and bool(one[0] < self.items.size)

    def bounds(self, sets: Sequence[Ints], level: float) -> tuple[Floats, Floats]:
        """Intervals that hold the true counts at a level, each by itself.

        Where leaves are missing there is no upper bound, and listed counts were listed for being
        high: no noise of any of the 2^items leaves reaches further than the bound used, by the
        union bound. Otherwise supports, where they were measured, take half of the error and the
        partitions the other half.
        """
        low, high = np.zeros(len(sets)), np.zeros(len(sets))
        for place, one in enumerate(sets):
            if self.never(one):
                continue
            where, _, sure = self._weights(one)
            if not self.complete:
                counted = where[self.tails[where] > 0]
                rate = np.sqrt(2 / self.tails[counted])
                reach = (self.items.size * math.log(2) - math.log(1 - level)) / rate + 1
                low[place] = np.maximum(self.counts[counted] - reach, 0.0).sum()
                high[place] = math.inf
                continue
            shared = self.supports if len(one) else None
            at = level if shared is None else (1 + level) / 2
            spread = np.array([self.tails[where[sure]].sum(), self.tails[where].sum()])
            width = np.where(spread > 0, half_width(np.sqrt(spread), at), 0.0)
            low[place] = self.counts[where[sure]].sum() - width[0]
            high[place] = self.counts[where].sum() + width[1]
            if shared is not None:
                # the least of the upper bounds that supports give; half of the error is for sizes
                groups = [self.members(code) for code in one.tolist()]
                error = (1 - at) / (1 << (len(one) - 1).bit_length())  # few levels, slow to get
                most = shared.most_in_all(groups, error, (1 - at) / 2, normal=False)
                high[place] = max(min(high[place], most), low[place])
        return low, high

    def draw(self, n: int | None, random: np.random.Generator) -> tuple[Ints, Ints]:
        """Simulated records: where each begins, and the codes of their items, increasing."""
        counted = self.tails > 0
        total = max(float(self.counts[counted].sum()), 0.0)
        weights = project(self.counts, counted.astype(np.float64), total)
        cell = draw_cells(weights, n, random)
        number, node = self.partition.entries(cell)
        record = np.repeat(np.arange(len(cell)), number)
        lo, hi = self.tree.lo[node], self.tree.hi[node]
        none = np.zeros(0, np.int64)
        records, codes = [none], [none]
        # the first item under a node is drawn given that there is one, all others as they come
        some = -np.log1p(-random.random(len(record)) * self.some[node])
        while len(record):
            code = np.searchsorted(self.steps, self.steps[lo] + some, side="left") - 1
            code = np.maximum(code, lo)
            if len(codes) == 1:
                code = np.minimum(code, hi - 1)
            here = code < hi
            record, lo, hi = record[here], code[here] + 1, hi[here]
            records.append(record)
            codes.append(code[here])
            here = lo < hi
            record, lo, hi = record[here], lo[here], hi[here]
            some = random.exponential(size=len(record))
        return assemble_records(np.concatenate(records), np.concatenate(codes), len(cell), random)


def model_of(
    items: Items, partition: Itemsets, measurements: Sequence[Measurement]
) -> ItemsetModel:
    """The model for some regions.

    Raises:
        ReleaseError: If they were not counted as they should be.
    """
    named = {measurement.name: measurement for measurement in measurements}
    support, size, supports = named.get("support"), named.get("size"), None
    for counted, places in ((support, np.arange(items.size)), (size, None)):
        if counted is not None and not _fits(counted, places):
            raise _lacking(f"its measurement {counted.name!r} is not as it should be")
    if size is not None and size.law != "laplace":
        raise _lacking("its measurement 'size' has another noise than it should have")
    if support is not None:
        # what a record of one item adds: to the sum of weights, or to that of their squares
        if support.max_contribution % (WEIGHT**2 if support.law == "gaussian" else WEIGHT):
            raise _lacking("the weights of its measurement 'support' are unknown")
        if size is not None:
            supports = Supports(items=items, support=support, size=size)
    if isinstance(partition, CoreCells):
        cell = named.get("cell")
        if cell is None or not _fits(cell, np.arange(partition.cells)):
            raise _lacking("a cell was not counted")
        if supports is None and len(partition.core) < items.size:
            raise _lacking("the items beyond its core were not counted")
        return CoreModel(items=items, partition=partition, cell=cell, supports=supports, size=size)
    leaf = named.get("leaf")
    if leaf is None or leaf.values.shape[1] != 1:
        raise _lacking("no partition was counted")
    return CutModel(items=items, partition=partition, leaf=leaf, supports=supports)


def _fits(measurement: Measurement, places: Ints | None) -> bool:
    """Whether it has one number at each of these places, all at one rate."""
    where, units = measurement.where, measurement.units
    alike = measurement.values.shape[1] == 1 and len(units) > 0 and bool((units == units[0]).all())
    if places is None:  # the lower ends of bins
        return alike and bool(where[0] >= 0) and bool((np.diff(where) > 0).all())
    return alike and np.array_equal(where, places)


def _lacking(what: str) -> ReleaseError:
    return broken("this release cannot be read as transactions", what)


# Answers about itemsets: counts, the most frequent sets, association rules, and a list to read.

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
    return [_codes(one, items) for one in _parts_of(itemsets)]


def _is_label(thing: object) -> bool:
    whole = isinstance(thing, numbers.Integral) and not isinstance(thing, (bool, np.bool_))
    return isinstance(thing, str) or whole


def _codes(one: Any, items: Items) -> Ints:
    codes = set()
    for label in _parts_of([one] if _is_label(one) else one):
        if not _is_label(label):
            raise _unreadable(label)
        group = items.group_of(str(label))
        code = items.code_of(str(label)) if group is None else items.size + group
        codes.add(code)  # see `ItemsetModel`
    # who holds an item holds its group, so the group says nothing more
    for group in [code for code in codes if code >= items.size]:
        low, high = items.taxonomy.spans[group - items.size]
        if any(low <= code < high for code in codes):
            codes.remove(group)
    return np.array(sorted(codes), np.int64)


def _parts_of(thing: Any) -> Iterable[Any]:
    if isinstance(thing, (bytes, bytearray)) or not isinstance(thing, Iterable):
        raise _unreadable(thing)
    return thing


def _unreadable(thing: object) -> UsageError:
    return UsageError(
        f"an itemset cannot be read from type {type(thing).__name__}",
        hint="Give a list of items, such as [1, 4] or ['milk', 'tea'], or a list of such lists.",
    )


def answer_sets(model: ItemsetModel, sets: Sequence[Ints], level: float) -> Answers:
    """Answers with intervals, in the order of the sets.

    Where noise put an interval beside the estimate, it is stretched to hold it, as in `by_model`.
    """
    low, high = model.bounds(sets, level)
    low = np.maximum(np.ceil(low - 1e-9), 0.0)
    high = np.maximum(np.floor(high + 1e-9), low)
    estimate = np.maximum(model.estimates(sets), 0.0)
    low = np.where(estimate < low, np.maximum(np.ceil(estimate) - 1, 0.0), low)
    high = np.where(estimate > high, np.floor(estimate) + 1, high)
    basis = np.array([MEASURED if model.counted(one) else MODELED for one in sets], np.str_)
    nothing, below, above = np.zeros(len(sets)), estimate - low, high - estimate
    return Answers(
        estimate=estimate,
        low=low,
        high=high,
        noise=nothing,
        uniformity_low=below,
        uniformity_high=above,
        level=level,
        standard_error=np.array(list(map(model.error, sets, estimate.tolist()))),
        basis=basis,
    )


# The itemsets that most records hold, found level by level.
#
# No set is in more records than any of its parts. Estimates are held to that: a set counts for no
# more than the sets it was joined from. Then every part of one of the k best sets is itself among
# the k best, so that it is enough to keep k sets of each size.


MOST_FREQUENT = 10_000


def frequent_sets(model: ItemsetModel, items: Items, k: int) -> tuple[list[Ints], Floats]:
    """The k sets with the largest estimates, the largest first, equal ones smaller sets first.

    Fewer are found if fewer are estimated to be in any record.

    Args:
        model: What tells estimates.
        items: The universe.
        k: How many sets.

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
        counts = np.maximum(model.estimates([np.array(one) for one in sets]), 0.0)
        counts = np.minimum(counts, np.array(list(level.values())))
        here = _top(dict(zip(sets, counts.tolist(), strict=True)), k)
        best = _top(best | here, k)
        level = _join({one: value for one, value in here.items() if one in best})
    return [np.array(one) for one in best], np.array(list(best.values()))


def _top(counts: dict[tuple[int, ...], float], k: int) -> dict[tuple[int, ...], float]:
    """The k largest that are above 0, in canonical order."""
    order = sorted((-value, len(one), one) for one, value in counts.items() if value > 0)
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


def find_associations(
    model: ItemsetModel, items: Items, k: int, least: float, level: float
) -> pa.Table:
    """The rules of the k most frequent itemsets, from a least confidence on, the largest first.

    The columns `given` and `then` have items; for supports, confidences and lifts there are columns
    with estimates and with the ends of intervals, such as `lift`, `lift_low` and `lift_high`.

    Args:
        model: What tells estimates.
        items: The universe.
        k: How many itemsets.
        least: The least estimated confidence.
        level: The probability that an interval holds the truth, at least.
    """
    sets, _ = frequent_sets(model, items, k)
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
    names = items.labels
    columns: dict[str, Any] = {
        "given": pa.array([[names[c] for c in given[x]] for x in order], pa.list_(pa.string())),
        "then": pa.array([names[then[x]] for x in order], pa.string()),
    }
    numbers = {"support": counts(both, 1), "confidence": confidence, "lift": lift}
    for name, found in numbers.items():
        for column, end in enumerate(("", "_low", "_high")):
            columns[name + end] = found[order, column]
    return pa.table(columns)


# The list of itemsets that people read: those whose noisy count stands out of the noise.
#
# It is made of noisy counts as they were drawn, so that writing it costs next to nothing. Of all
# places that are empty, at most half a one on average has noise that reaches the threshold t. For M
# places and Laplace noise with a = exp(-epsilon), that is M a^t / (1 + a) <= 1/2. Gaussian noise
# reaches t no more often than a normal noise with the same variance reaches t - 1/2 (step 3 of
# `hedgerow.estimate.measurements`), and that must be at most 1 / (2 M).


_LINES_PER_BLOCK = 10_000


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
) -> pa.Table:
    """The itemsets that stand out of the noise, the largest first, equal ones in canonical order.

    The columns are `count`, the noisy one, `items` and, where it says something, `others`: how many
    other items the records have, in words.
    """
    core = isinstance(partition, CoreCells)
    name = "cell" if core else "leaf"
    empty = np.zeros(0, np.int64)
    where, count = empty, empty
    for counted in measurements:
        if counted.name == name and len(counted.where):
            variance, which = np.unique(counted.tail_variance, return_inverse=True)
            listed = not core and len(counted.where) < partition.cells  # they passed a threshold
            places = 1 if listed else partition.cells
            least = [public_threshold(one, places, counted.law) for one in variance.tolist()]
            values = counted.values[:, 0]
            stand = np.ones(len(values), bool) if listed else values >= np.array(least)[which]
            order = np.lexsort((counted.where[stand], -values[stand]))
            where, count = counted.where[stand][order], values[stand][order]
    columns = {"count": pa.array(count)}
    if isinstance(partition, CoreCells):
        mask, place = np.divmod(where, len(partition.rest))
        holds = (mask[:, None] >> np.arange(len(partition.core)) & 1).astype(bool)
        number, codes = holds.sum(axis=1), partition.core[np.nonzero(holds)[1]]
        labels = items.labels
        if len(partition.rest) > 1 or len(partition.core) < items.size:
            rest = partition.rest.tolist()
            words = [
                str(low) if low == end - 1 else f"{low} to {end - 1}" for low, end in pairwise(rest)
            ]
            words.append(f"{rest[-1]} or more")
            columns["others"] = pa.array(words, pa.string()).take(pa.array(place))
    else:
        number, codes = partition.entries(where)
        labels = ItemTree.of(items).labels
    start = pa.array(np.concatenate(([0], np.cumsum(number))).astype(np.int32))
    held = pa.array(labels, pa.string()).take(pa.array(codes))
    columns["items"] = pa.ListArray.from_arrays(start, held)
    return pa.table(columns).select(sorted(columns, key=["count", "items", "others"].index))


def text_blocks(listed: pa.Table) -> Iterator[bytes]:
    """The list as text: a head, then one line for each itemset, fields divided by tabs."""
    names = [name for name in ("count", "others") if name in listed.column_names]
    about = "count, then the items"
    if len(names) > 1:
        about = "count, how many other items, then the items"
    yield (
        f"# {about}, divided by tabs. Counts are noisy, as they were drawn; only those are\n"
        "# listed that stand out of the noise. How many records hold some items, whatever else\n"
        "# they hold? hedgerow.Release.load(folder).count({...}) estimates it, with an interval.\n"
    ).encode()
    for batch in listed.to_batches(max_chunksize=_LINES_PER_BLOCK):
        heads = zip(*(map(str, batch[name].to_pylist()) for name in names), strict=True)
        held = (map(_field, labels) for labels in batch["items"].to_pylist())
        lines = ("\t".join([*head, *one]) for head, one in zip(heads, held, strict=True))
        yield "".join(f"{line}\n" for line in lines).encode()


def _field(label: str) -> str:
    """A label as a field; one that would be misread is written as JSON writes it."""
    plain = label.isprintable() and not label.startswith(('"', "#"))
    return label if plain else json.dumps(label, ensure_ascii=False)
