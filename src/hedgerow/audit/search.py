"""Neighbors by search, and draws that are forced: what tells two tables apart best?"""

from __future__ import annotations

import math
from collections.abc import Callable, Hashable, Sequence
from dataclasses import replace
from functools import partial
from itertools import pairwise
from typing import Any

import numpy as np

from hedgerow.arrays import Floats, Ints, Words
from hedgerow.audit.enumeration import published
from hedgerow.audit.neighbors import Pair, pair_of, picker, random_pair
from hedgerow.audit.records import Pick, records_of
from hedgerow.audit.replay import DivergedError, record, replay
from hedgerow.errors import UsageError
from hedgerow.methods.api import run
from hedgerow.methods.publisher import Publisher
from hedgerow.privacy.budget import Budget
from hedgerow.privacy.keystream import Keystream
from hedgerow.privacy.sampler import C, Candidates, Choices, Listing, Rates, Sampler, SecureSampler
from hedgerow.schema import Schema

# Neighbors by search: which two tables does a method tell apart best?
#
# Tables are drawn at random, from none to some hundred records, scattered or in a few heaps, with
# any record more; some are as large as the public rules of a method need to change their minds. A
# pair is worth what the likelihood ratios of replayed transcripts say: the mean of their absolute
# logarithms. The best third of the pairs is looked at again with more transcripts, beside copies in
# which something was changed, until one is left.


CANDIDATES = 24
"""With how many pairs a search begins."""

_HEAPS = (1, 1, 2, 2, 3, 5, 8, 13, 14, 15, 21, 34, 55, 100, 150)
_MOST_ROWS = 1000  # up to which changes of rules are looked for
_MOST = 10.0  # a larger ratio is worth no more: the event is as good as certain


def log_ratios(
    method: Publisher, pair: Pair, budget: Budget, seed: int, number: int
) -> tuple[Floats, Floats]:
    """The logarithms of likelihood ratios of transcripts, each of the table it was drawn from.

    A transcript that the other table cannot have, or whose release would be another, is infinite.

    Args:
        method: What is published.
        pair: The neighbors.
        budget: What is claimed.
        seed: Makes the transcripts repeatable.
        number: How many are drawn from each table.
    """
    releases: list[Any] = []

    def on(table: Any) -> Callable[[Sampler], object]:
        return lambda sampler: releases.append(run(table, method, budget, sampler))

    found: tuple[list[float], list[float]] = ([], [])
    sampler = SecureSampler(Keystream(seed))
    for _ in range(number):
        for side, drawn_from in enumerate(pair.tables):
            transcript = record(on(drawn_from), sampler)
            try:
                one, other = (replay(on(table), transcript) for table in pair.tables)
                same = published(releases[-1]) == published(releases[-2])
                ratio = math.inf
                if same and len(one) == len(other):
                    steps = zip(one, other, strict=True)
                    ratio = sum(float((b.log_p - a.log_p).sum()) for a, b in steps)
                    ratio = ratio if side else -ratio
            except DivergedError:
                ratio = math.inf
            found[side].append(ratio)
            releases.clear()
    return np.asarray(found[0]), np.asarray(found[1])


def worth(method: Publisher, pair: Pair, budget: Budget, seed: int, number: int) -> float:
    """How well a pair is told apart: the mean of its absolute log-likelihood ratios."""
    ratios = np.abs(np.concatenate(log_ratios(method, pair, budget, seed, number)))
    return float(np.minimum(ratios, _MOST).mean())


def search_pair(
    method: Publisher,
    schemas: Callable[[Pick], Schema],
    budget: Budget,
    seed: int,
    candidates: int = CANDIDATES,
    stop: Callable[[], bool] = lambda: False,
) -> Pair | None:
    """The neighbors that a method tells apart best among many; None if it can publish none.

    Args:
        method: What is published.
        schemas: Makes schemas up.
        budget: What is claimed.
        seed: Makes the search repeatable.
        candidates: With how many pairs it begins.
        stop: Asked before each pair; true ends early.

    Example:
        >>> from hedgerow.audit.neighbors import TINY_TABLES
        >>> from hedgerow.methods.diffgen import DiffGen
        >>> schema = TINY_TABLES["2 values and a class"]
        >>> pair = search_pair(DiffGen(), lambda pick: schema, Budget.of(1), 1, candidates=4)
        >>> pair.words
        'by search'
    """
    pick = picker(seed)
    pairs: list[Pair] = []
    for _ in range(20 * candidates):
        schema = schemas(pick)
        if fits(method, schema, budget):
            pairs.append(_any_pair(schema, pick, partial(_turns, method, schema, budget)))
        if len(pairs) == candidates:
            break
    number = 1
    while len(pairs) > 1:
        pairs += [_changed(pair, pick) for pair in pairs[: len(pairs) // 4]]
        worths: list[float] = []
        for place, pair in enumerate(pairs):
            if place and stop():
                break
            worths.append(worth(method, pair, budget, seed + place, number))
        order = np.argsort(-np.asarray(worths), kind="stable")
        pairs = [pairs[place] for place in order[: max(1, len(order) // 3)]]
        number *= 2
    return replace(pairs[0], words="by search") if pairs else None


def fits(method: Publisher, schema: Schema, budget: Budget) -> bool:
    """Whether a method can publish such tables at all; a score may need a class."""
    try:
        method.plan(schema, budget.epsilon, budget.delta)
    except UsageError:
        return False
    return True


def _turns(method: Publisher, schema: Schema, budget: Budget) -> list[int]:
    """The numbers of records after which one more changes what a public rule says."""
    plans = [
        method.plan(schema, budget.epsilon, budget.delta, rows=rows) for rows in range(_MOST_ROWS)
    ]
    return [rows for rows, (a, b) in enumerate(pairwise(plans)) if a != b]


def _any_pair(schema: Schema, pick: Pick, turns: Callable[[], list[int]]) -> Pair:
    """A few records anywhere, or heaps of equal ones, or as many as a public rule looks for."""
    pair = random_pair(schema, pick)
    kind = pick(0, 5)
    if kind < 2:
        return pair
    rows: list[tuple[int, ...]] = []
    if kind == 2 and (numbers := turns()):
        rows += [pair.extra] * numbers[pick(0, len(numbers) - 1)]
        return pair_of("", schema, rows, pair.extra)
    for row in _rows(pair)[: pick(0, 3)]:
        rows += [row] * _HEAPS[pick(0, len(_HEAPS) - 1)]
    extra = rows[pick(0, len(rows) - 1)] if rows and pick(0, 1) else pair.extra
    return pair_of("", schema, rows, extra)


def _changed(pair: Pair, pick: Pick) -> Pair:
    """Another pair nearby: a record less or more, or another record that one of them has."""
    schema, rows = pair.without.schema, _rows(pair)
    other = random_pair(schema, pick)
    what = pick(0, 3)
    if what == 0 and rows:
        rows.pop(pick(0, len(rows) - 1))
    elif what == 1 and rows:
        rows.append(rows[pick(0, len(rows) - 1)])
    elif what == 2 and rows:
        return pair_of("", schema, rows, rows[pick(0, len(rows) - 1)])
    else:
        return pair_of("", schema, rows, other.extra)
    return pair_of("", schema, rows, pair.extra)


def _rows(pair: Pair) -> list[tuple[int, ...]]:
    """The records of the smaller table."""
    return records_of(pair.without.schema).of(pair.without)


# Do rules read noisy numbers alone? What was drawn is forced on quite different data.
#
# A method's rules (how large a tree grows, how many items a core has, which pairs are counted) may
# read public facts and what was drawn. So if the outcomes of one run are forced on any other data
# of the same schema, everything that the run asks for and everything that it publishes must be the
# same: the data may show in nothing but the exact numbers that a mechanism is handed. Neighbors
# are too much alike to show that; here one table is empty and another has thousands of records.


Facts = list[tuple[str, Hashable]]


class _Forced:
    """Forces outcomes, and notes all that is public about every draw that is asked for."""

    def __init__(self, outcomes: list[tuple[str, Any]]) -> None:
        self._outcomes = iter(outcomes)
        self.facts: Facts = []

    def _next(self, kind: str, *public: Hashable) -> Any:
        self.facts.append((kind, public))
        recorded, outcome = next(self._outcomes, ("nothing more", None))
        if recorded != kind:
            raise DivergedError(f"the method asked to {kind} where it drew {recorded} before")
        return outcome

    def select(self, candidates: Candidates, rates: Rates, flip: bool) -> Choices:
        forced: Choices = self._next("select", _rates(rates), flip, _offered(candidates))
        if len(forced.part) != len(candidates.start) - 1:
            raise DivergedError("the method chose for other nodes than before")
        return forced

    def laplace(self, exact: Ints, rates: Rates) -> Ints:
        return self._noise("laplace", exact, rates)

    def gaussian(self, exact: Ints, rates: Rates) -> Ints:
        return self._noise("gaussian", exact, rates)

    def _noise(self, kind: str, exact: Ints, rates: Rates) -> Ints:
        forced: Ints = self._next(kind, _rates(rates), exact.shape)
        if forced.shape != exact.shape:
            raise DivergedError("the method counted other places than before")
        return forced

    def coin(self, bounds: Ints) -> Ints:
        return np.asarray(self._next("coin", tuple(bounds.tolist()))[1])

    def listed(self, cells: C, counts: Ints, rule: Listing) -> tuple[C, Ints]:
        forced: tuple[C, Ints] = self._next(rule.law, rule)
        return forced

    def words(self, number: int) -> Words:
        raise DivergedError("what was drawn under the seal cannot be forced")


def _rates(rates: Rates) -> Hashable:
    """What every item of a draw pays and gets, and for what."""
    values = tuple(rates.values[place] for place in rates.which.tolist())
    prices = tuple(rates.prices[place] for place in rates.which.tolist()) if rates.prices else ()
    return rates.purpose, values, prices


def _offered(candidates: Candidates) -> Hashable:
    """The candidates of every node and their weights, however scores cut them into runs."""
    nodes = []
    for first, stop in zip(candidates.start[:-1].tolist(), candidates.start[1:].tolist(),
                           strict=True):  # fmt: skip
        count = candidates.count[first:stop]
        columns = [
            np.repeat(column[first:stop], count)
            for column in (candidates.part, candidates.first, candidates.weight)
        ]
        within = np.arange(count.sum()) - np.repeat(np.cumsum(count) - count, count)
        columns[1] = np.where(columns[1] < 0, -1, columns[1] + within)
        nodes.append(tuple(sorted(zip(*(column.tolist() for column in columns), strict=True))))
    return tuple(nodes)


def first_difference(
    runs: Sequence[Callable[[Sampler], Hashable]], sampler: Sampler | None = None, seed: int = 0
) -> str | None:
    """Forces what the first of some runs drew on all of them.

    Args:
        runs: The same method on different data; each gives all that it would publish.
        sampler: Draws for the first; by default from a seed.
        seed: The seed.

    Returns:
        What differs, or None.

    Example:
        >>> first_difference([lambda sampler: 1, lambda sampler: 2])
        'what is published differs although all draws are the same'
    """
    outcomes = record(runs[0], sampler or SecureSampler(Keystream(seed)))
    seen: list[tuple[Facts, Hashable]] = []
    for one in runs:
        forced = _Forced(outcomes)
        try:
            told = one(forced)
        except DivergedError as error:
            return str(error)
        if len(forced.facts) < len(outcomes):
            return "the method drew less than before"
        seen.append((forced.facts, told))
    for facts, told in seen[1:]:
        for place, (before, now) in enumerate(zip(seen[0][0], facts, strict=True)):
            if before != now:
                return f"draw {place + 1}, a {now[0]}, is another although all before are the same"
        if told != seen[0][1]:
            return "what is published differs although all draws are the same"
    return None


def unlike_tables(schema: Schema, pick: Pick, many: int) -> list[Any]:
    """Data of a schema that have nothing in common: none at all, a few records, and many.

    Args:
        schema: The public schema.
        pick: Picks whole numbers.
        many: How many records the largest has; public rules should have turned by then.
    """
    source = np.random.default_rng(pick(0, 2**31 - 1))
    return records_of(schema).unlike((0, 3, many), source)


def check_rules(
    method: Publisher, tables: Sequence[Any], budget: Budget, seed: int = 0
) -> str | None:
    """Forces a run on each of some tables on all others.

    Args:
        method: What is audited.
        tables: Data of one schema.
        budget: What is spent.
        seed: Makes it repeatable.

    Returns:
        What differs, or None.
    """

    def on(table: Any) -> Callable[[Sampler], Hashable]:
        def told(sampler: Sampler) -> Hashable:
            outcome = run(table, method, budget, sampler)
            return repr(method.chosen(table.schema, outcome)), published(outcome)

        return told

    for number, first in enumerate(tables):
        others = [table for table in tables if table is not first]
        found = first_difference([on(first), *map(on, others)], seed=seed + number)
        if found is not None:
            return found
    return None


# The most telling transcript: of every draw, an outcome that one more record makes likelier.
#
# Chance rarely lets all draws of a run lean the same way, so random transcripts show a loss that is
# spread over many draws only in part. A guarantee without a delta holds for every transcript that
# is possible, however unlikely, so the audit may as well take one that adds all losses up.


class Telling:
    """A sampler that draws nothing: counts come out high, and whatever holds records passes.

    Args:
        rows: By how much counts are moved: at least as many rows as neighbors may differ in.

    Example:
        >>> from fractions import Fraction
        >>> rates = Rates.alike(Fraction(1), 1)
        >>> Telling(2).laplace(np.array([[5]]), rates).tolist()
        [[7]]
    """

    def __init__(self, rows: int = 1) -> None:
        self._rows = rows
        self._sampler = SecureSampler(
            Keystream(seed=0)
        )  # for words, which cannot be replayed anyway

    def select(self, candidates: Candidates, rates: Rates, flip: bool) -> Choices:
        """See `Sampler.select`: the best."""
        chosen = []
        for first, stop in zip(candidates.start[:-1], candidates.start[1:], strict=True):
            run = first + int(candidates.score[first:stop].argmax())
            chosen.append((candidates.part[run], max(-1, candidates.first[run])))
        part, cut = np.asarray(chosen, dtype=np.int64).reshape(-1, 2).T
        return Choices(part, cut)

    def laplace(self, exact: Ints, rates: Rates) -> Ints:
        """See `Sampler.laplace`."""
        return exact + self._rows

    def gaussian(self, exact: Ints, rates: Rates) -> Ints:
        """See `Sampler.gaussian`: far out, where one more record tells more and more."""
        return exact + 10 * self._rows

    def coin(self, bounds: Ints) -> Ints:
        """See `Sampler.coin`: the last."""
        return np.maximum(bounds - 1, 0)

    def listed(self, cells: C, counts: Ints, rule: Listing) -> tuple[C, Ints]:
        """See `Sampler.listed`: whatever holds records and can be listed."""
        if rule.law == "keep":
            return cells[counts >= rule.threshold], counts[counts >= rule.threshold]
        if not rule.number:
            return cells, np.maximum(counts + self._rows, rule.threshold)
        order = np.argsort(cells)
        values = np.maximum(counts[order] + self._rows, rule.threshold)
        return cells[order], np.minimum(values, rule.threshold) if rule.law == "mark" else values

    def words(self, number: int) -> Words:
        """See `Sampler.words`."""
        return self._sampler.words(number)
