"""Exact enumeration: the whole law of what a method publishes, on tiny tables.

A method is run again and again with a sampler that takes one outcome of every draw after another,
until all paths have been taken, and multiplies their probabilities. So the law of the release is
known in full, up to the rounding of floats, and two neighbors' laws can be compared: for a pure
guarantee no outcome may be more than exp(epsilon) times as likely, and with a delta the
hockey-stick divergence at epsilon may not exceed delta.

Noisy counts have infinitely many outcomes, so a noisy count is clamped to a public window as it is
drawn: the ends stand for "at most" and "at least". What does that prove?

- A count that is clamped after the noise is still a draw of a mechanism with the same price
  (clamping looks at the noisy value alone). The method over clamped counts is an ordinary run of
  the method over another count mechanism, so all claims must hold of it: no false alarms.
- A path on which every noisy count lies inside the window has the probability that it has without
  a window, exactly. Where a method does the same for all values beyond an end (it takes negative
  sizes for 0, and the last counts feed nothing), so have the others, as events. What a window can
  hide is a flaw that shows beyond its ends only.
- A window of two values loses nothing of the noise itself: P[count >= 1] is exp(rate) times as
  large for a true count of 1 as for 0, exactly the price.
- Weighted supports are counted in small parts of a record, with rates to match. For them the
  window is told in whole records, and has two values: below its upper end, or not.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np

from hedgerow.arrays import Floats, Ints, Words
from hedgerow.audit.replay import freeze, gaussian_tail, kept_law, selection_law, tail
from hedgerow.methods.api import run
from hedgerow.methods.publisher import Publisher
from hedgerow.privacy.budget import Budget
from hedgerow.privacy.sampler import C, Candidates, Choices, Listing, Rates, Sampler, flat
from hedgerow.schema.items import WEIGHT

Law = dict[Any, float]
"""What may come out, and how likely."""

Tail = Callable[[float, int], float]

_FINE = 1 / 64  # rates below are those of parts of a record; that of a whole one is larger


class TooManyPathsError(Exception):
    """The law has more paths than may be taken."""


class _Path:
    """One path through all draws: takes what the script says, then first outcomes."""

    def __init__(self, script: list[int], window: tuple[int, int]) -> None:
        self._script = script
        self._window = window
        self.taken: list[tuple[int, int]] = []  # the outcome of each draw, and how many it has
        self.log_p = 0.0

    def _fork(self, log_law: Floats) -> int:
        """One draw from finitely many outcomes."""
        at = len(self.taken)
        outcome = self._script[at] if at < len(self._script) else 0
        self.taken.append((outcome, len(log_law)))
        self.log_p += float(log_law[outcome])
        return outcome

    def select(self, candidates: Candidates, rates: Rates, flip: bool) -> Choices:
        """See `Sampler.select`."""
        flips = flat(candidates) & flip
        chosen = []
        for node in range(len(candidates.start) - 1):
            rate = float(rates.values[rates.which[node]])
            log_law, places = selection_law(candidates, node, rate, bool(flips[node]))
            chosen.append(list(places)[self._fork(log_law)])
        part, cut = np.asarray(chosen, dtype=np.int64).reshape(-1, 2).T
        return Choices(part, cut)

    def laplace(self, exact: Ints, rates: Rates) -> Ints:
        """See `Sampler.laplace`."""
        return self._noise(exact, rates, tail)

    def gaussian(self, exact: Ints, rates: Rates) -> Ints:
        """See `Sampler.gaussian`."""
        return self._noise(exact, rates, gaussian_tail)

    def _noise(self, exact: Ints, rates: Rates, above: Tail) -> Ints:
        if not exact.size:
            return exact
        rows = exact.reshape(len(rates.which), -1)
        values = np.empty_like(rows)
        for (row, column), count in np.ndenumerate(rows):
            rate = float(rates.values[rates.which[row]])
            most = max(self._window[1], 1) * WEIGHT
            weighed = rate < _FINE and above is tail  # sums of weights have no Gaussian noise
            window = (most - 1, most) if weighed else self._window
            values[row, column] = self._noisy(int(count), rate, window, above)
        return values.reshape(exact.shape)

    def coin(self, bounds: Ints) -> Ints:
        """See `Sampler.coin`."""
        drawn = [self._fork(np.full(bound, -math.log(bound))) for bound in bounds.tolist()]
        return np.asarray(drawn, dtype=np.int64)

    def listed(self, cells: C, counts: Ints, rule: Listing) -> tuple[C, Ints]:
        """See `Sampler.listed`: of every cell, whatever is not listed is one outcome."""
        rate, least, (low, high) = float(rule.rate), rule.threshold, self._window
        if rule.number:  # empty cells, too
            every = np.arange(rule.number)
            counts = np.bincount(cells, counts, rule.number).astype(np.int64)
            cells = every.astype(cells.dtype)
        most = {"mark": least, "sparse": least + high - low}.get(rule.law, max(least, high))
        drawn = [
            self._fork(np.asarray([kept_law(value, count, rate) for value in range(count + 1)]))
            if rule.law == "keep"
            else self._noisy(count, rate, (least - 1, most))
            for count in counts.tolist()
        ]
        values = np.asarray(drawn, dtype=np.int64)
        return cells[values >= least], values[values >= least]

    def words(self, number: int) -> Words:
        """See `Sampler.words`: there are too many to go through."""
        raise TooManyPathsError("what is drawn under the seal cannot be gone through")

    def _noisy(self, exact: int, rate: float, window: tuple[int, int], above: Tail = tail) -> int:
        low, high = window
        # noise and its negative have one law: small probabilities are no differences of large ones
        far = [abs(value - exact) for value in range(low + 1, high)]
        inside = [above(rate, size) - above(rate, size + 1) for size in far]
        masses = [above(rate, exact - low), *inside, above(rate, high - exact)]
        return low + self._fork(np.log(masses))


def _next_script(taken: list[tuple[int, int]]) -> list[int] | None:
    """The next path in order, or None after the last."""
    while taken and taken[-1][0] + 1 == taken[-1][1]:
        taken.pop()
    if not taken:
        return None
    return [outcome for outcome, _ in taken[:-1]] + [taken[-1][0] + 1]


def law(
    draw: Callable[[Sampler], Any], window: tuple[int, int] = (0, 1), most_paths: int = 100_000
) -> Law:
    """The law of whatever a function of a sampler returns.

    Args:
        draw: The function; what it returns must be hashable.
        window: Noisy counts are clamped to this, both ends included.
        most_paths: How many paths may be taken.

    Raises:
        TooManyPathsError: There are more.

    Example:
        >>> from fractions import Fraction
        >>> rates = Rates.alike(Fraction(1), 1)
        >>> coin = law(lambda sampler: int(sampler.laplace(np.array([[0]]), rates)[0, 0]))
        >>> sorted(coin), round(sum(coin.values()), 12)
        ([0, 1], 1.0)
    """
    chances: Law = {}
    script: list[int] | None = []
    paths = 0
    while script is not None:
        paths += 1
        if paths > most_paths:
            raise TooManyPathsError(f"there are more than {most_paths} paths")
        path = _Path(script, window)
        key = draw(path)
        chances[key] = chances.get(key, 0.0) + math.exp(path.log_p)
        script = _next_script(path.taken)
    return chances


def law_of(
    method: Publisher,
    table: Any,
    budget: Budget,
    window: tuple[int, int] = (0, 1),
    most_paths: int = 100_000,
) -> Law:
    """The law of all that a method publishes about a table.

    Args:
        method: The method.
        table: The table.
        budget: What it may spend.
        window: Noisy counts are clamped to this.
        most_paths: How many paths may be taken.
    """
    return law(lambda sampler: freeze(run(table, method, budget, sampler)), window, most_paths)


def hockey_stick(one: Law, other: Law, epsilon: float) -> float:
    """By how much one law exceeds exp(epsilon) times the other, in either direction.

    Example:
        >>> hockey_stick({"a": 1.0}, {"a": 0.5, "b": 0.5}, 0.0)
        0.5
    """
    keys = one.keys() | other.keys()
    factor = math.exp(epsilon)

    def exceeds(p: Law, q: Law) -> float:
        return math.fsum(max(0.0, p.get(key, 0.0) - factor * q.get(key, 0.0)) for key in keys)

    return max(exceeds(one, other), exceeds(other, one))


def epsilon_between(one: Law, other: Law, delta: float = 0.0) -> float:
    """The smallest epsilon that both laws keep with a delta: a bound on what may be claimed.

    Example:
        >>> epsilon_between({"a": 0.75, "b": 0.25}, {"a": 0.25, "b": 0.75}) == math.log(3)
        True
    """
    if one.keys() == other.keys():
        most = max(abs(math.log(one[key] / other[key])) for key in one)
    else:
        most = math.inf
    if not delta:
        return most
    high = min(most, 700.0) if hockey_stick(one, other, min(most, 700.0)) <= delta else math.inf
    if math.isinf(high):
        return high
    low = 0.0
    for _ in range(60):
        middle = (low + high) / 2
        if hockey_stick(one, other, middle) <= delta:
            high = middle
        else:
            low = middle
    return high
