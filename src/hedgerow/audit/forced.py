"""Do rules read noisy numbers alone? What was drawn is forced on quite different data.

A method's rules (how large a tree grows, how many items a core has, which pairs are counted) may
read public facts and what was drawn. So if the outcomes of one run are forced on any other data of
the same schema, everything that the run asks for and everything that it publishes must be the same:
the data may show in nothing but the exact numbers that a mechanism is handed. Neighbours are too
much alike to show that; here one table is empty and another has thousands of records.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Sequence
from typing import Any

import numpy as np

from hedgerow.arrays import Ints, Words
from hedgerow.audit.enumeration import published
from hedgerow.audit.records import Pick, records_of
from hedgerow.audit.replay import record
from hedgerow.audit.replay_trace import DivergedError
from hedgerow.privacy.budget import Budget
from hedgerow.privacy.keystream import Keystream
from hedgerow.privacy.sampler import C, Candidates, Choices, Listing, Rates, Sampler, SecureSampler
from hedgerow.publish.api import run
from hedgerow.publish.publisher import Publisher
from hedgerow.schema import Schema

__all__ = ["check_rules", "first_difference", "unlike_tables"]

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
