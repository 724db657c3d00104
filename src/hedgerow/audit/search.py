"""Neighbours by search: which two tables does a method tell apart best?

Tables are drawn at random, from none to some hundred records, scattered or in a few heaps, with any
record more; some are as large as the public rules of a method need to change their minds. A pair is
worth what the likelihood ratios of replayed transcripts say: the mean of their absolute logarithms.
The best third of the pairs is looked at again with more transcripts, beside copies in which
something was changed, until one is left.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import replace
from functools import partial
from itertools import pairwise
from typing import Any

import numpy as np

from hedgerow.arrays import Floats
from hedgerow.audit.enumeration import published
from hedgerow.audit.neighbours import Pair, pair_of, picker, random_pair
from hedgerow.audit.records import Pick, records_of
from hedgerow.audit.replay import record, replay
from hedgerow.audit.replay_trace import DivergedError
from hedgerow.errors import UsageError
from hedgerow.privacy.budget import Budget
from hedgerow.privacy.keystream import Keystream
from hedgerow.privacy.sampler import Sampler, SecureSampler
from hedgerow.publish.api import run
from hedgerow.publish.publisher import Publisher
from hedgerow.schema import Schema

__all__ = ["fits", "CANDIDATES", "log_ratios", "search_pair", "worth"]

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
        pair: The neighbours.
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
    """The neighbours that a method tells apart best among many; None if it can publish none.

    Args:
        method: What is published.
        schemas: Makes schemas up.
        budget: What is claimed.
        seed: Makes the search repeatable.
        candidates: With how many pairs it begins.
        stop: Asked before each pair; true ends early.

    Example:
        >>> from hedgerow.audit.neighbours import TINY_TABLES
        >>> from hedgerow.publish.diffgen import DiffGen
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
