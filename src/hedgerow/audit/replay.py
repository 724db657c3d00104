"""The replay audit: how much more likely is what was drawn, had one record been there or not?

A run on a table D is recorded: its transcript is every outcome that was drawn. The same method is
then run again on D and on a neighbour D', with the outcomes forced, while each mechanism tells the
exact probability of what it was forced to. For a pure guarantee the log-likelihood ratio of every
transcript must stay within epsilon, and no transcript of D may be impossible under D'. For zCDP
the Renyi divergence of each step's two laws must stay within its charge, and so must the ratio of
each step that is paid in epsilon. Steps that cannot see the record must have ratio 1 exactly.

Laws are in `replay_laws`, what is said about two traces in `replay_trace`. All three compute with
floats: they judge mechanisms and are none.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

from hedgerow.audit.replay_laws import hidden_law, listing_law, selection_law, tail
from hedgerow.audit.replay_trace import Comparison, DivergedError, Step, Trace, compare
from hedgerow.privacy.sampler import Cells, Rates, Sampler, flat
from hedgerow.privacy.selection import Candidates, Choices

__all__ = [
    "Comparison",
    "DivergedError",
    "Step",
    "Trace",
    "compare",
    "record",
    "replay",
    "selection_law",
    "tail",
]

Ints = NDArray[np.int64]
Floats = NDArray[np.float64]


class _Recorder:
    """Draws, and keeps what was drawn."""

    def __init__(self, inner: Sampler) -> None:
        self._inner = inner
        self.outcomes: list[tuple[str, Any]] = []

    def select(self, candidates: Candidates, rates: Rates, flip: bool) -> Choices:
        drawn = self._inner.select(candidates, rates, flip)
        self.outcomes.append(("select", drawn))
        return drawn

    def laplace(self, exact: Ints, rates: Rates) -> Ints:
        drawn = self._inner.laplace(exact, rates)
        self.outcomes.append(("laplace", drawn))
        return drawn

    def coin(self, bounds: Ints) -> Ints:
        drawn = self._inner.coin(bounds)
        self.outcomes.append(("coin", (bounds.tolist(), drawn)))
        return drawn

    def sparse(
        self,
        cells: Ints,
        counts: Ints,
        number: int,
        rate: Fraction,
        threshold: int,
        purpose: str = "",
    ) -> tuple[Ints, Ints]:
        drawn = self._inner.sparse(cells, counts, number, rate, threshold, purpose)
        self.outcomes.append(("sparse", drawn))
        return drawn

    def mark(
        self,
        cells: Ints,
        counts: Ints,
        number: int,
        rate: Fraction,
        threshold: int,
        purpose: str = "",
    ) -> Ints:
        drawn = self._inner.mark(cells, counts, number, rate, threshold, purpose)
        self.outcomes.append(("mark", drawn))
        return drawn

    def nonempty(
        self, cells: Cells, counts: Ints, rate: Fraction, threshold: int, purpose: str = ""
    ) -> tuple[Cells, Ints]:
        drawn = self._inner.nonempty(cells, counts, rate, threshold, purpose)
        self.outcomes.append(("nonempty", drawn))
        return drawn

    def keep(
        self, cells: Cells, counts: Ints, share: Fraction, least: int, purpose: str = ""
    ) -> tuple[Cells, Ints]:
        drawn = self._inner.keep(cells, counts, share, least, purpose)
        self.outcomes.append(("keep", drawn))
        return drawn

    def words(self, number: int) -> NDArray[np.uint64]:
        return self._inner.words(number)


class _Replayer:
    """Forces outcomes, and tells how likely they were."""

    def __init__(self, outcomes: list[tuple[str, Any]]) -> None:
        self._outcomes: Iterator[tuple[str, Any]] = iter(outcomes)
        self.trace: Trace = []

    def _next(self, kind: str) -> Any:
        recorded, outcome = next(self._outcomes, ("nothing more", None))
        if recorded != kind:
            raise DivergedError(f"the method asked to {kind} where it drew {recorded} before")
        return outcome

    def finish(self) -> None:
        """Makes sure that nothing was left out."""
        if next(self._outcomes, None) is not None:
            raise DivergedError("the method drew less than before")

    def select(self, candidates: Candidates, rates: Rates, flip: bool) -> Choices:
        forced: Choices = self._next("select")
        nodes = len(candidates.start) - 1
        if len(forced.part) != nodes:
            raise DivergedError("the method chose for other nodes than before")
        uniform = flat(candidates) & flip
        log_p = np.empty(nodes)
        laws = []
        for node in range(nodes):
            rate = float(rates.values[rates.which[node]])
            law, places = selection_law(candidates, node, rate, bool(uniform[node]))
            laws.append(law)
            place = places.get((int(forced.part[node]), int(forced.cut[node])))
            log_p[node] = -math.inf if place is None else law[place]
        self.trace.append(Step("select", rates.purpose, log_p, tuple(laws), prices=_prices(rates)))
        return forced

    def laplace(self, exact: Ints, rates: Rates) -> Ints:
        forced: Ints = self._next("laplace")
        if forced.shape != exact.shape:
            raise DivergedError("the method counted other places than before")
        rate = np.asarray([float(value) for value in rates.values])[rates.which]
        size = np.abs(forced - exact).reshape(len(rate), -1)
        weight = np.log(np.tanh(rate / 2)) * size.shape[1]  # (1 - a)/(1 + a) for each number
        log_p = weight - rate * size.sum(axis=1)
        step = Step("laplace", rates.purpose, log_p, rates=rate, prices=_prices(rates),
                    exact=exact.reshape(len(rate), -1))  # fmt: skip
        self.trace.append(step)
        return forced

    def coin(self, bounds: Ints) -> Ints:
        before, forced = self._next("coin")
        if before != bounds.tolist():
            raise DivergedError("the method tossed other coins than before")
        return np.asarray(forced)

    def sparse(
        self,
        cells: Ints,
        counts: Ints,
        number: int,
        rate: Fraction,
        threshold: int,
        purpose: str = "",
    ) -> tuple[Ints, Ints]:
        forced: tuple[Ints, Ints] = self._next("sparse")
        e = float(rate)
        exact = dict(zip(cells.tolist(), counts.tolist(), strict=True))
        listed = dict(zip(*(column.tolist() for column in forced), strict=True))
        log_p = hidden_law(e, exact, set(listed), number, threshold)
        for cell, value in listed.items():
            size = abs(value - exact.get(cell, 0))
            log_p += math.log(math.tanh(e / 2)) - e * size if value >= threshold else -math.inf
        price = np.asarray([e])  # paid in epsilon
        self.trace.append(Step("sparse", purpose, np.asarray([log_p]), rates=price, prices=price))
        return forced

    def mark(
        self,
        cells: Ints,
        counts: Ints,
        number: int,
        rate: Fraction,
        threshold: int,
        purpose: str = "",
    ) -> Ints:
        forced: Ints = self._next("mark")
        e = float(rate)
        exact = dict(zip(cells.tolist(), counts.tolist(), strict=True))
        log_p = hidden_law(e, exact, set(forced.tolist()), number, threshold)
        for cell in forced.tolist():
            log_p += math.log(tail(e, threshold - exact.get(cell, 0)))
        price = np.asarray([e])  # paid in epsilon; decisions of a gate cost less together
        self.trace.append(Step("mark", purpose, np.asarray([log_p]), rates=price, prices=price))
        return forced

    def nonempty(
        self, cells: Cells, counts: Ints, rate: Fraction, threshold: int, purpose: str = ""
    ) -> tuple[Cells, Ints]:
        e = float(rate)

        def listed(value: int, count: int) -> float:
            if value < threshold:
                return -math.inf
            return math.log(math.tanh(e / 2)) - e * abs(value - count)

        def hidden(count: int) -> float:
            return math.log1p(-tail(e, threshold - count))

        forced: tuple[Cells, Ints] = self._next("nonempty")
        log_p = np.asarray([listing_law(cells, counts, forced, listed, hidden)])
        price = np.asarray([e])  # paid in epsilon, save for what delta stands for
        self.trace.append(Step("nonempty", purpose, log_p, rates=price, prices=price))
        return forced

    def keep(
        self, cells: Cells, counts: Ints, share: Fraction, least: int, purpose: str = ""
    ) -> tuple[Cells, Ints]:
        s = float(share)

        def kept(value: int, count: int) -> float:
            if not 0 <= value <= count:
                return -math.inf
            ways = math.comb(count, value)
            return math.log(ways) + value * math.log(s) + (count - value) * math.log1p(-s)

        def listed(value: int, count: int) -> float:
            return kept(value, count) if value >= least else -math.inf

        def hidden(count: int) -> float:
            below = [kept(value, count) for value in range(min(least, count + 1))]
            return float(np.logaddexp.reduce(below))

        forced: tuple[Cells, Ints] = self._next("keep")
        log_p = np.asarray([listing_law(cells, counts, forced, listed, hidden)])
        self.trace.append(Step("keep", purpose, log_p))
        return forced

    def words(self, number: int) -> NDArray[np.uint64]:
        raise DivergedError("what was drawn under the seal cannot be forced")


def _prices(rates: Rates) -> Floats:
    """What each item was charged."""
    if not rates.prices:
        return np.zeros(0)
    return np.asarray([float(price) for price in rates.prices])[rates.which]


def record(run: Callable[[Sampler], object], sampler: Sampler) -> list[tuple[str, Any]]:
    """Runs a method with real draws and returns its transcript."""
    recorder = _Recorder(sampler)
    run(recorder)
    return recorder.outcomes


def replay(run: Callable[[Sampler], object], outcomes: list[tuple[str, Any]]) -> Trace:
    """Runs a method with forced outcomes and returns how likely each step was."""
    replayer = _Replayer(outcomes)
    run(replayer)
    replayer.finish()
    return replayer.trace
