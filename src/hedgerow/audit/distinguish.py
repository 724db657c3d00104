"""Statistical distinguishers: does an event happen more often than epsilon allows?

A method is run many times on each of two neighbours, and the runs in which an event happened are
counted. Clopper-Pearson bounds hold for any number of runs, so a bound on epsilon that is above
the claim is wrong with the stated probability only.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import numpy as np

from hedgerow.arrays import Floats
from hedgerow.privacy.keystream import Keystream
from hedgerow.privacy.sampler import Sampler, SecureSampler

__all__ = ["ERROR", "Draw", "Trial", "at_least", "at_most", "epsilon_bound", "tally"]

ERROR = 1e-6
"""How likely all bounds of one audit together may be wrong."""

Draw = Callable[[Any, Sampler], Any]
"""Runs something on a table; gives what an adversary sees."""


@dataclass(frozen=True, kw_only=True)
class Trial:
    """Neighbours, and what might tell them apart.

    Args:
        name: Such as "T1".
        words: What is asked, in a sentence.
        one: A table, or transactions.
        other: Its neighbour.
        events: What may be seen, by name: each says of one run whether it happened.
    """

    name: str
    words: str
    one: Any
    other: Any
    events: Mapping[str, Callable[[Any], bool]]


def tally(
    trial: Trial,
    draw: Draw,
    runs: int,
    seed: int | None = None,
    stop: Callable[[], bool] = lambda: False,
) -> tuple[dict[str, tuple[int, int]], int]:
    """How often each event happened on either neighbour, and in how many runs of each.

    Args:
        trial: The neighbours and the events.
        draw: What is run.
        runs: How often, on each.
        seed: Makes it repeatable.
        stop: Asked before each run; true ends early. It must not look at what was drawn.
    """
    sampler = SecureSampler(Keystream(seed))
    hits = {name: [0, 0] for name in trial.events}
    done = 0
    while done < runs and not stop():
        for side, table in enumerate((trial.one, trial.other)):
            seen = draw(table, sampler)
            for name, event in trial.events.items():
                hits[name][side] += bool(event(seen))
        done += 1
    return {name: (count[0], count[1]) for name, count in hits.items()}, done


@lru_cache(maxsize=8)
def _log_choose(runs: int) -> Floats:
    logs = np.concatenate([[0.0], np.cumsum(np.log(np.arange(1, runs + 1)))])
    return np.asarray(logs[-1] - logs - logs[::-1])


def _upper_tail(hits: int, runs: int, p: float) -> float:
    """P[Bin(runs, p) >= hits]."""
    j = np.arange(hits, runs + 1)
    log_p = _log_choose(runs)[hits:] + j * math.log(p) + (runs - j) * math.log1p(-p)
    return float(np.exp(np.logaddexp.reduce(log_p)))


@lru_cache(maxsize=1 << 12)
def at_least(hits: int, runs: int, error: float) -> float:
    """The Clopper-Pearson bound below a probability; wrong with probability `error` at most.

    Example:
        >>> at_least(0, 100, 1e-6), at_least(100, 100, 1e-6) > 0.87
        (0.0, True)
    """
    if hits == 0:
        return 0.0
    low, high = 0.0, 1.0
    for _ in range(60):
        middle = (low + high) / 2
        if _upper_tail(hits, runs, middle) < error:
            low = middle
        else:
            high = middle
    return low


def at_most(hits: int, runs: int, error: float) -> float:
    """The Clopper-Pearson bound above a probability; wrong with probability `error` at most."""
    return 1.0 - at_least(runs - hits, runs, error)


def epsilon_bound(hits: tuple[int, int], runs: int, delta: float, error: float) -> float:
    """An epsilon that any true claim must reach, from the hits on two neighbours.

    Both directions are tried, each with two bounds: each may err with a quarter of `error`.

    Args:
        hits: How often the event happened on either.
        runs: In how many runs of each.
        delta: The delta of the claim.
        error: How likely the answer may be too large.
    """

    def direction(one: int, other: int) -> float:
        surplus = at_least(one, runs, error / 4) - delta
        return math.log(surplus / at_most(other, runs, error / 4)) if surplus > 0 else 0.0

    return max(0.0, direction(*hits), direction(*hits[::-1])) if runs else 0.0
