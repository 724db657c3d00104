"""The replay audit: how much more likely is what was drawn, had one record been there or not?

A run on a table D is recorded: its transcript is every outcome that was drawn. The same method is
then run again on D and on a neighbour D', with the outcomes forced, while each mechanism tells the
exact probability of what it was forced to. For a pure guarantee the log-likelihood ratio of every
transcript must stay within epsilon, and no transcript of D may be impossible under D'. For zCDP
the Renyi divergence of each step's two laws must stay within its charge, and so must the ratio of
each step that is paid in epsilon. Steps that cannot see the record must have ratio 1 exactly.

This module computes with floats: it judges mechanisms and is none.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Collection, Iterator
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

from hedgerow.privacy.chance import Cells, Chance, Rates, flat
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

ORDERS = (1.001, 1.5, 2.0, 3.0, 5.0, 10.0, 30.0, 100.0, 1000.0)
"""Renyi orders at which zCDP is checked."""


class DivergedError(AssertionError):
    """The method asked for other draws on the neighbour: it branched on private data."""


@dataclass(frozen=True)
class Step:
    """One call of a mechanism.

    Args:
        kind: "select", "laplace", "sparse", "mark", "nonempty" or "keep".
        purpose: What was bought.
        log_p: The log-probability of the outcome, item by item; items see disjoint records.
        laws: For a selection, the log-probabilities of all candidates, item by item.
        rates: For noise, the rate of each item.
        exact: For noise on counts, the counts of each item.
        prices: What each item was charged; empty if the mechanism did not tell.
    """

    kind: str
    purpose: str
    log_p: Floats
    laws: tuple[Floats, ...] = ()
    rates: Floats = field(default_factory=lambda: np.zeros(0))
    exact: Ints = field(default_factory=lambda: np.zeros((0, 0), np.int64))
    prices: Floats = field(default_factory=lambda: np.zeros(0))


Trace = list[Step]


@dataclass(frozen=True)
class Comparison:
    """What tells two runs with the same transcript apart.

    Args:
        log_ratio: The log-likelihood ratio of the outcomes, by purpose; infinite if impossible.
        touched: For each step, how many items had another probability: at most one may.
        divergence: For each order, the sum over steps paid in rho of the Renyi divergence between
            the two laws, divided by the order: at most rho under zCDP.
        strain: The largest loss of any one step, as a share of what it was charged: at most 1.
    """

    log_ratio: dict[str, float]
    touched: tuple[int, ...]
    divergence: dict[float, float]
    strain: float

    @property
    def loss(self) -> float:
        """The log-likelihood ratio of the whole transcript."""
        return sum(self.log_ratio.values())


class _Recorder:
    """Draws, and keeps what was drawn."""

    def __init__(self, inner: Chance) -> None:
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
        log_p = _hidden(e, exact, set(listed), number, threshold)
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
        log_p = _hidden(e, exact, set(forced.tolist()), number, threshold)
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
        log_p = np.asarray([_listing_law(cells, counts, forced, listed, hidden)])
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
        log_p = np.asarray([_listing_law(cells, counts, forced, listed, hidden)])
        self.trace.append(Step("keep", purpose, log_p))
        return forced

    def words(self, number: int) -> NDArray[np.uint64]:
        raise DivergedError("what was drawn under the seal cannot be forced")


def _listing_law(
    cells: Cells,
    counts: Ints,
    forced: tuple[Cells, Ints],
    listed: Callable[[int, int], float],
    hidden: Callable[[int], float],
) -> float:
    """The log-probability of a list of cells: each is independent of all others."""
    exact = dict(zip(map(tuple, cells.tolist()), counts.tolist(), strict=True))
    shown = dict(zip(map(tuple, forced[0].tolist()), forced[1].tolist(), strict=True))
    if not shown.keys() <= exact.keys():
        return -math.inf  # a cell that nobody is in is never listed
    log_p = sum(listed(value, exact[cell]) for cell, value in shown.items())
    return log_p + sum(hidden(count) for cell, count in exact.items() if cell not in shown)


def _hidden(
    e: float, exact: dict[int, int], listed: set[int], number: int, threshold: int
) -> float:
    """The log-probability that all cells but the listed ones stay below a threshold."""
    if not all(0 <= cell < number for cell in listed):
        raise DivergedError("the method drew from other cells than before")
    hidden = [count for cell, count in exact.items() if cell not in listed]
    empty = number - len(listed) - len(hidden)
    if empty < 0:
        raise DivergedError("the method drew from fewer cells than it filled")
    return empty * math.log1p(-tail(e, threshold)) + sum(
        math.log1p(-tail(e, threshold - count)) for count in hidden
    )


def _prices(rates: Rates) -> Floats:
    """What each item was charged."""
    if not rates.prices:
        return np.zeros(0)
    return np.asarray([float(price) for price in rates.prices])[rates.which]


def tail(e: float, m: int) -> float:
    """P[DLap(e) >= m].

    Example:
        >>> tail(1.0, 1) + tail(1.0, 0)  # Z and -Z have the same law
        1.0
    """
    a = math.exp(-e)
    return a**m / (1 + a) if m >= 0 else 1 - a ** (1 - m) / (1 + a)


def selection_law(
    candidates: Candidates, node: int, rate: float, flips: bool
) -> tuple[Floats, dict[tuple[int, int], int]]:
    """Log-probabilities of all candidates of a node, and the place of each (part, cut).

    Args:
        candidates: The candidates of all nodes.
        node: Which node.
        rate: The rate of the mechanism there.
        flips: Whether it is permute-and-flip.
    """
    runs = range(candidates.start[node], candidates.start[node + 1])
    score = np.concatenate([np.repeat(candidates.score[r], candidates.count[r]) for r in runs])
    weight = np.concatenate([np.repeat(candidates.weight[r], candidates.count[r]) for r in runs])
    places: dict[tuple[int, int], int] = {}
    for r in runs:
        for offset in range(candidates.count[r]):
            first = int(candidates.first[r])
            cut = first + offset if first >= 0 else -1
            places[int(candidates.part[r]), cut] = len(places)
    x = rate * (score.max() - score).astype(np.float64)
    if flips:
        return _permute_and_flip_law(x), places
    log_weight = np.log(weight.astype(np.float64)) - x
    return log_weight - np.logaddexp.reduce(log_weight), places


def _permute_and_flip_law(x: Floats) -> Floats:
    """The logarithms of P[c] = q_c * integral over t of the product of 1 - t q_j over j != c.

    The integrand is a polynomial of degree n - 1, for which Gauss-Legendre with ceil(n/2) points
    is exact.
    """
    q = np.exp(-x)
    points, weights = np.polynomial.legendre.leggauss(max(1, math.ceil(len(q) / 2)))
    t = (points + 1) / 2
    factors = np.log1p(-t[:, None] * q[None, :])  # all points lie inside, so no factor is 0
    others = factors.sum(axis=1)[:, None] - factors
    integral = np.logaddexp.reduce(np.log(weights / 2)[:, None] + others, axis=0)
    return np.asarray(-x + integral)


def record(run: Callable[[Chance], object], chance: Chance) -> list[tuple[str, Any]]:
    """Runs a method with real draws and returns its transcript."""
    recorder = _Recorder(chance)
    run(recorder)
    return recorder.outcomes


def replay(run: Callable[[Chance], object], outcomes: list[tuple[str, Any]]) -> Trace:
    """Runs a method with forced outcomes and returns how likely each step was."""
    replayer = _Replayer(outcomes)
    run(replayer)
    replayer.finish()
    return replayer.trace


def compare(one: Trace, other: Trace, paid_in_rho: Collection[str] = ()) -> Comparison:
    """Compares the same transcript on two neighbours.

    Args:
        one: The trace on D.
        other: The trace on D'.
        paid_in_rho: The purposes whose Renyi divergences are added up.
    """
    if len(one) != len(other):
        raise DivergedError("one run took more steps than the other")
    log_ratio: dict[str, float] = {}
    touched = []
    divergence = dict.fromkeys(ORDERS, 0.0)
    strain = 0.0
    for a, b in zip(one, other, strict=True):
        differ = a.log_p != b.log_p
        touched.append(int(differ.sum()))
        ratio = float((b.log_p[differ] - a.log_p[differ]).sum())
        log_ratio[a.purpose] = log_ratio.get(a.purpose, 0.0) + ratio
        if a.purpose in paid_in_rho:
            # an outcome may be equally likely although the laws differ, so all items are compared
            items = [i for i in range(len(a.log_p)) if _laws_differ(a, b, i) or differ[i]]
            for order in ORDERS:
                losses = [_divergence(a, b, i, order) / order for i in items]
                divergence[order] += sum(losses)
                strain = max(strain, _strain(a, items, losses))
        else:
            items = np.flatnonzero(differ).tolist()
            losses = np.abs(b.log_p[items] - a.log_p[items]).tolist()
            strain = max(strain, _strain(a, items, losses))
    return Comparison(log_ratio, tuple(touched), divergence, strain)


def _strain(step: Step, items: list[int], losses: list[float]) -> float:
    """The largest loss as a share of its price, where prices are told."""
    if not step.prices.size:
        return 0.0
    shares = [loss / step.prices[item] for item, loss in zip(items, losses, strict=True)]
    return float(max(shares, default=0.0))


def _laws_differ(a: Step, b: Step, item: int) -> bool:
    if a.kind == "laplace":
        return not np.array_equal(a.exact[item], b.exact[item])
    if a.kind != "select":
        return False
    if a.laws[item].shape != b.laws[item].shape:
        raise DivergedError("the method had other candidates than before")
    return not np.array_equal(a.laws[item], b.laws[item])


def _divergence(a: Step, b: Step, item: int, order: float) -> float:
    """The larger Renyi divergence of one item's two laws, of either from the other."""
    if a.kind == "select":
        p, q = a.laws[item], b.laws[item]
        return max(
            float(np.logaddexp.reduce(order * u + (1 - order) * v)) / (order - 1)
            for u, v in ((p, q), (q, p))
        )
    e = float(a.rates[item])
    moved = np.abs(a.exact[item] - b.exact[item]) if a.kind == "laplace" else np.ones(1)
    if moved.max() > 1:
        return math.inf  # what is paid for is that a count moves by one
    # so that its loss is e or -e
    one = float(np.logaddexp((order - 1) * e, -order * e) - np.log1p(np.exp(-e))) / (order - 1)
    return float(moved.sum()) * one
