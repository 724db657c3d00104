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
from typing import Any

import numpy as np

from hedgerow.arrays import Floats, Ints, Words
from hedgerow.audit.gaussian_law import gaussian_mass
from hedgerow.audit.replay_laws import listing_law, selection_law
from hedgerow.audit.replay_trace import DivergedError, Step, Trace
from hedgerow.privacy.sampler import C, Candidates, Choices, Listing, Rates, Sampler, flat

__all__ = ["record", "replay"]


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

    def gaussian(self, exact: Ints, rates: Rates) -> Ints:
        drawn = self._inner.gaussian(exact, rates)
        self.outcomes.append(("gaussian", drawn))
        return drawn

    def coin(self, bounds: Ints) -> Ints:
        drawn = self._inner.coin(bounds)
        self.outcomes.append(("coin", (bounds.tolist(), drawn)))
        return drawn

    def listed(self, cells: C, counts: Ints, rule: Listing) -> tuple[C, Ints]:
        drawn = self._inner.listed(cells, counts, rule)
        self.outcomes.append((rule.law, drawn))
        return drawn

    def words(self, number: int) -> Words:
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
        self.trace.append(
            Step(
                kind="select",
                purpose=rates.purpose,
                log_p=log_p,
                laws=tuple(laws),
                prices=_prices(rates),
            )
        )
        return forced

    def laplace(self, exact: Ints, rates: Rates) -> Ints:
        def law(rate: Floats, size: Ints) -> Floats:
            weight = np.log(np.tanh(rate / 2)) * size.shape[1]  # (1 - a)/(1 + a) for each number
            return np.asarray(weight - rate * size.sum(axis=1))

        return self._noise("laplace", exact, rates, law)

    def gaussian(self, exact: Ints, rates: Rates) -> Ints:
        def law(rate: Floats, size: Ints) -> Floats:
            mass = {value: gaussian_mass(value) for value in set(rate.tolist())}
            weight = np.asarray([mass[value] for value in rate.tolist()]) * size.shape[1]
            return np.asarray(-weight - rate * (size.astype(np.float64) ** 2).sum(axis=1) / 2)

        return self._noise("gaussian", exact, rates, law)

    def _noise(
        self, kind: str, exact: Ints, rates: Rates, law: Callable[[Floats, Ints], Floats]
    ) -> Ints:
        forced: Ints = self._next(kind)
        if forced.shape != exact.shape:
            raise DivergedError("the method counted other places than before")
        rate = np.asarray([float(value) for value in rates.values])[rates.which]
        log_p = law(rate, np.abs(forced - exact).reshape(len(rate), -1))
        step = Step(kind=kind, purpose=rates.purpose, log_p=log_p, rates=rate,
                    prices=_prices(rates), exact=exact.reshape(len(rate), -1))  # fmt: skip
        self.trace.append(step)
        return forced

    def coin(self, bounds: Ints) -> Ints:
        before, forced = self._next("coin")
        if before != bounds.tolist():
            raise DivergedError("the method tossed other coins than before")
        return np.asarray(forced)

    def listed(self, cells: C, counts: Ints, rule: Listing) -> tuple[C, Ints]:
        forced: tuple[C, Ints] = self._next(rule.law)
        log_p = np.asarray([listing_law(cells, counts, forced, rule)])
        # noise is paid in epsilon, save for what delta stands for; decisions of a gate cost less
        # together, and what records cost that are kept is told by delta alone
        price = np.asarray([float(rule.rate)] if rule.law != "keep" else [])
        self.trace.append(
            Step(kind=rule.law, purpose=rule.purpose, log_p=log_p, rates=price, prices=price)
        )
        return forced

    def words(self, number: int) -> Words:
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
