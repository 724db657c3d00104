"""Forced draws: how likely are they on a neighbor, and does anything else depend on the data?"""

from __future__ import annotations

import dataclasses
import json
import math
from collections.abc import Callable, Collection, Hashable, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Any, TypeVar

import numpy as np

from hedgerow.arrays import Floats, Ints, Words
from hedgerow.audit.neighbors import Pick, records_of
from hedgerow.methods.api import run
from hedgerow.methods.publisher import Outcome, Publisher
from hedgerow.privacy.budget import Budget
from hedgerow.privacy.keystream import Keystream
from hedgerow.privacy.sampler import (
    C,
    Candidates,
    CellNodes,
    Choices,
    Listing,
    Rates,
    Sampler,
    SecureSampler,
    flat,
)
from hedgerow.schema import Schema

# The exact law of discrete Gaussian noise, for audits: it judges a mechanism and is none.


_REACH = 90.0  # z^2 rate beyond which Gaussian noise is left out: a part exp(-45) of what is added


def gaussian_mass(rate: float, center: float = 0.0) -> float:
    """The logarithm of the sum over all whole z of exp(-rate (z - center)^2 / 2).

    Term by term where few terms count, and by its Fourier series (Poisson's formula) else; both are
    left off where a further term is less than the rounding of floats.

    Example:
        >>> round(gaussian_mass(1.0), 9) == round(0.5 * math.log(2 * math.pi) + 5.35e-9, 9)
        True
    """
    if rate > 1:
        z = round(center) + np.arange(-12, 13)
        return float(np.logaddexp.reduce(-rate * (z - center) ** 2 / 2))
    waves = sum(
        2 * math.exp(-2 * (math.pi * j) ** 2 / rate) * math.cos(2 * math.pi * j * (center % 1))
        for j in (1, 2, 3)
    )
    return 0.5 * math.log(2 * math.pi / rate) + math.log1p(waves)


@lru_cache(maxsize=4096)
def gaussian_tail(rate: float, m: int) -> float:
    """P[Z >= m] for Z with P[z] proportional to exp(-rate z^2 / 2).

    Example:
        >>> gaussian_tail(0.5, 1) + gaussian_tail(0.5, 0)  # Z and -Z have the same law
        1.0
    """
    if m <= 0:
        return 1 - gaussian_tail(rate, 1 - m)
    z = np.arange(m, math.ceil(math.sqrt(m * m + _REACH / rate)) + 2, dtype=np.float64)
    return float(np.exp(np.logaddexp.reduce(-rate * z * z / 2) - gaussian_mass(rate)))


# Traces of replayed runs: how likely every step was, and what tells two traces apart.
#
# This module computes with floats: it judges mechanisms and is none.


ORDERS = (1.001, 1.5, 2.0, 3.0, 5.0, 10.0, 30.0, 100.0, 1000.0)
"""Renyi orders at which zCDP is checked."""


class DivergedError(AssertionError):
    """The method asked for other draws on the neighbor: it branched on private data."""


@dataclass(frozen=True, kw_only=True)
class Step:
    """One call of a mechanism.

    Args:
        kind: "select", "laplace", "gaussian", "sparse", "mark", "nonempty" or "keep".
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


@dataclass(frozen=True, kw_only=True)
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


def compare(one: Trace, other: Trace, paid_in_rho: Collection[str] = ()) -> Comparison:
    """Compares the same transcript on two neighbors.

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
    return Comparison(
        log_ratio=log_ratio, touched=tuple(touched), divergence=divergence, strain=strain
    )


def _strain(step: Step, items: list[int], losses: list[float]) -> float:
    """The largest loss as a share of its price, where prices are told."""
    if not step.prices.size:
        return 0.0
    shares = [loss / step.prices[item] for item, loss in zip(items, losses, strict=True)]
    return float(max(shares, default=0.0))


def _laws_differ(a: Step, b: Step, item: int) -> bool:
    if a.kind in ("laplace", "gaussian"):
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
    if a.kind == "gaussian":
        return math.fsum(
            order * e * by * by / 2
            + (gaussian_mass(e, order * by) - gaussian_mass(e)) / (order - 1)
            for by in np.abs(a.exact[item] - b.exact[item]).tolist()
            if by
        )
    moved = np.abs(a.exact[item] - b.exact[item]) if a.kind == "laplace" else np.ones(1)
    if moved.max() > 1:
        return math.inf  # what is paid for is that a count moves by one
    # so that its loss is e or -e
    one = float(np.logaddexp((order - 1) * e, -order * e) - np.log1p(np.exp(-e))) / (order - 1)
    return float(moved.sum()) * one


# The exact laws of all draws, for the replay audit: how likely was what came out?
#
# This module computes with floats: it judges mechanisms and is none.


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


def listing_law(cells: C, counts: Ints, forced: tuple[C, Ints], rule: Listing) -> float:
    """The log-probability of a list of cells: each is independent of all others.

    Example:
        >>> from fractions import Fraction
        >>> rule = Listing(law="mark", rate=Fraction(1), threshold=2, number=10)
        >>> nobody = np.zeros(0, dtype=np.int64)
        >>> nothing = listing_law(nobody, nobody, (nobody, nobody), rule)
        >>> math.isclose(nothing, 10 * math.log1p(-tail(1.0, 2)))
        True
    """
    e, threshold = float(rule.rate), rule.threshold

    def law_of(value: int, count: int) -> float:
        if value < threshold:
            return -math.inf
        if rule.law == "keep":
            return kept_law(value, count, e)
        if rule.law == "mark":
            return math.log(tail(e, threshold - count))
        return math.log(math.tanh(e / 2)) - e * abs(value - count)

    def hidden(count: int) -> float:
        if rule.law != "keep":
            return math.log1p(-tail(e, threshold - count))
        below = [kept_law(value, count, e) for value in range(min(threshold, count + 1))]
        return float(np.logaddexp.reduce(below))

    exact = dict(zip(_keys(cells), counts.tolist(), strict=True))
    shown = dict(zip(_keys(forced[0]), forced[1].tolist(), strict=True))
    empty = 0  # cells that nobody is in, and that were not listed
    if rule.number:
        if not all(0 <= cell < rule.number for (cell,) in shown):
            raise DivergedError("the method drew from other cells than before")
        empty = rule.number - len(exact.keys() | shown.keys())
        if empty < 0:
            raise DivergedError("the method drew from fewer cells than it filled")
    elif not shown.keys() <= exact.keys():
        return -math.inf  # a cell that nobody is in is never listed
    log_p = empty * hidden(0) if empty else 0.0
    log_p += sum(law_of(value, exact.get(cell, 0)) for cell, value in shown.items())
    return log_p + sum(hidden(count) for cell, count in exact.items() if cell not in shown)


def kept_law(value: int, count: int, share: float) -> float:
    """The log-probability that so many of a cell's records are kept, each with a probability."""
    if not 0 <= value <= count:
        return -math.inf
    ways = math.comb(count, value)
    return math.log(ways) + value * math.log(share) + (count - value) * math.log1p(-share)


def _keys(cells: CellNodes | Ints) -> list[tuple[int, ...]]:
    """Cells as keys, be they numbered or have a node of every attribute."""
    return list(map(tuple, cells.tolist() if cells.ndim > 1 else cells[:, None].tolist()))


_Drawn = TypeVar("_Drawn")


class _Recorder:
    """Draws, and keeps what was drawn."""

    def __init__(self, inner: Sampler) -> None:
        self._inner = inner
        self.outcomes: list[tuple[str, Any]] = []

    def _keep(self, kind: str, drawn: _Drawn) -> _Drawn:
        self.outcomes.append((kind, drawn))
        return drawn

    def select(self, candidates: Candidates, rates: Rates, flip: bool) -> Choices:
        return self._keep("select", self._inner.select(candidates, rates, flip))

    def laplace(self, exact: Ints, rates: Rates) -> Ints:
        return self._keep("laplace", self._inner.laplace(exact, rates))

    def gaussian(self, exact: Ints, rates: Rates) -> Ints:
        return self._keep("gaussian", self._inner.gaussian(exact, rates))

    def coin(self, bounds: Ints) -> Ints:
        return self._keep("coin", (bounds.tolist(), self._inner.coin(bounds)))[1]

    def listed(self, cells: C, counts: Ints, rule: Listing) -> tuple[C, Ints]:
        return self._keep(rule.law, self._inner.listed(cells, counts, rule))

    def words(self, number: int) -> Words:
        return self._inner.words(number)


class _Replayer:
    """Forces outcomes, and tells how likely each was."""

    def __init__(self, outcomes: list[tuple[str, Any]]) -> None:
        self._outcomes = iter(outcomes)
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
        """See `Sampler.select`."""
        forced: Choices = self._next("select")
        if len(forced.part) != len(candidates.start) - 1:
            raise DivergedError("the method chose for other nodes than before")
        self._note_choice(candidates, rates, flip, forced)
        return forced

    def laplace(self, exact: Ints, rates: Rates) -> Ints:
        """See `Sampler.laplace`."""
        return self._noise("laplace", exact, rates)

    def gaussian(self, exact: Ints, rates: Rates) -> Ints:
        """See `Sampler.gaussian`."""
        return self._noise("gaussian", exact, rates)

    def _noise(self, kind: str, exact: Ints, rates: Rates) -> Ints:
        forced: Ints = self._next(kind)
        if forced.shape != exact.shape:
            raise DivergedError("the method counted other places than before")
        self._note_noise(kind, exact, rates, forced)
        return forced

    def coin(self, bounds: Ints) -> Ints:
        """See `Sampler.coin`."""
        before, forced = self._next("coin")
        if before != bounds.tolist():
            raise DivergedError("the method tossed other coins than before")
        return np.asarray(forced)

    def listed(self, cells: C, counts: Ints, rule: Listing) -> tuple[C, Ints]:
        """See `Sampler.listed`."""
        forced: tuple[C, Ints] = self._next(rule.law)
        self._note_list(cells, counts, rule, forced)
        return forced

    def words(self, number: int) -> Words:
        """See `Sampler.words`."""
        raise DivergedError("what was drawn under the seal cannot be forced")

    def _note_choice(
        self, candidates: Candidates, rates: Rates, flip: bool, forced: Choices
    ) -> None:
        uniform = flat(candidates) & flip
        log_p = np.empty(len(forced.part))
        laws = []
        for node in range(len(log_p)):
            rate = float(rates.values[rates.which[node]])
            law, places = selection_law(candidates, node, rate, bool(uniform[node]))
            laws.append(law)
            place = places.get((int(forced.part[node]), int(forced.cut[node])))
            log_p[node] = -math.inf if place is None else law[place]
        self.trace.append(Step(
            kind="select", purpose=rates.purpose, log_p=log_p, laws=tuple(laws),
            prices=_prices(rates),
        ))  # fmt: skip

    def _note_noise(self, kind: str, exact: Ints, rates: Rates, forced: Ints) -> None:
        rate = np.asarray([float(value) for value in rates.values])[rates.which]
        size = np.abs(forced - exact).reshape(len(rate), -1)
        if kind == "laplace":  # (1 - a)/(1 + a) for each number
            log_p = np.log(np.tanh(rate / 2)) * size.shape[1] - rate * size.sum(axis=1)
        else:
            mass = {value: gaussian_mass(value) for value in set(rate.tolist())}
            weight = np.asarray([mass[value] for value in rate.tolist()]) * size.shape[1]
            log_p = -weight - rate * (size.astype(np.float64) ** 2).sum(axis=1) / 2
        self.trace.append(Step(
            kind=kind, purpose=rates.purpose, log_p=log_p, rates=rate, prices=_prices(rates),
            exact=exact.reshape(len(rate), -1),
        ))  # fmt: skip

    def _note_list(
        self, cells: CellNodes | Ints, counts: Ints, rule: Listing, forced: tuple[Any, Ints]
    ) -> None:
        log_p = np.asarray([listing_law(cells, counts, forced, rule)])
        # noise is paid in epsilon, save for what delta stands for; decisions of a gate cost less
        # together, and what records cost that are kept is told by delta alone
        price = np.asarray([float(rule.rate)] if rule.law != "keep" else [])
        self.trace.append(
            Step(kind=rule.law, purpose=rule.purpose, log_p=log_p, rates=price, prices=price)
        )


def _prices(rates: Rates) -> Floats:
    """What each item was charged."""
    if not rates.prices:
        return np.zeros(0)
    return np.asarray([float(price) for price in rates.prices])[rates.which]


def record(publish: Callable[[Sampler], object], sampler: Sampler) -> list[tuple[str, Any]]:
    """Runs a method with real draws and returns its transcript."""
    recorder = _Recorder(sampler)
    publish(recorder)
    return recorder.outcomes


def replay(publish: Callable[[Sampler], object], outcomes: list[tuple[str, Any]]) -> Trace:
    """Runs a method with forced outcomes and returns how likely each step was."""
    replayer = _Replayer(outcomes)
    publish(replayer)
    replayer.finish()
    return replayer.trace


def freeze(outcome: Outcome) -> tuple[Any, ...]:
    """All of an outcome that is published, as something that can be compared and hashed."""
    book = outcome.ledger.book(outcome.published, outcome.sharing)
    facts = json.dumps([outcome.plan.to_dict(), book], sort_keys=True, default=str)
    return facts, _freeze(outcome.parts)


def _freeze(value: Any) -> Any:
    if isinstance(value, np.ndarray):
        return value.shape, str(value.dtype), value.tobytes()
    if isinstance(value, dict):
        value = tuple(value.items())
    if isinstance(value, tuple | list):
        return tuple(_freeze(item) for item in value)
    if dataclasses.is_dataclass(value):
        return tuple(_freeze(getattr(value, item.name)) for item in dataclasses.fields(value))
    return value


# Do rules read noisy numbers alone? What was drawn is forced on quite different data.
#
# A method's rules (how large a tree grows, how many items a core has, which pairs are counted) may
# read public facts and what was drawn. So if the outcomes of one run are forced on any other data
# of the same schema, everything that the run asks for and everything that it publishes must be the
# same: the data may show in nothing but the exact numbers that a mechanism is handed. Neighbors
# are too much alike to show that; here one table is empty and another has thousands of records.


Facts = list[tuple[str, Hashable]]


class _Noter(_Replayer):
    """Notes all that is public about every draw that is asked for, and not how likely it was."""

    def __init__(self, outcomes: list[tuple[str, Any]]) -> None:
        super().__init__(outcomes)
        self.facts: Facts = []

    def _note_choice(
        self, candidates: Candidates, rates: Rates, flip: bool, forced: Choices
    ) -> None:
        self.facts.append(("select", (_rates(rates), flip, _sort_candidates(candidates))))

    def _note_noise(self, kind: str, exact: Ints, rates: Rates, forced: Ints) -> None:
        self.facts.append((kind, _rates(rates)))

    def _note_list(
        self, cells: CellNodes | Ints, counts: Ints, rule: Listing, forced: tuple[Any, Ints]
    ) -> None:
        self.facts.append((rule.law, rule))


def _rates(rates: Rates) -> Hashable:
    """What every item of a draw pays and gets, and for what."""
    values = tuple(rates.values[place] for place in rates.which.tolist())
    prices = tuple(rates.prices[place] for place in rates.which.tolist()) if rates.prices else ()
    return rates.purpose, values, prices


def _sort_candidates(candidates: Candidates) -> Hashable:
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


def first_difference(runs: Sequence[Callable[[Sampler], Hashable]], seed: int = 0) -> str | None:
    """Forces what the first of some runs drew on all of them.

    Args:
        runs: The same method on different data; each gives all that it would publish.
        seed: Draws for the first.

    Returns:
        What differs, or None.

    Example:
        >>> first_difference([lambda sampler: 1, lambda sampler: 2])
        'what is published differs although all draws are the same'
    """
    outcomes = record(runs[0], SecureSampler(Keystream(seed)))
    seen: list[tuple[Facts, Hashable]] = []
    for one in runs:
        noter = _Noter(outcomes)
        try:
            release = one(noter)
            noter.finish()
        except DivergedError as error:
            return str(error)
        seen.append((noter.facts, release))
    for facts, release in seen[1:]:
        for place, (before, now) in enumerate(zip(seen[0][0], facts, strict=True)):
            if before != now:
                return f"draw {place + 1}, a {now[0]}, is another although all before are the same"
        if release != seen[0][1]:
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
        def publish(sampler: Sampler) -> Hashable:
            outcome = run(table, method, budget, sampler)
            return repr(method.chosen(table.schema, outcome)), freeze(outcome)

        return publish

    for number, first in enumerate(tables):
        others = [table for table in tables if table is not first]
        difference = first_difference([on(first), *map(on, others)], seed=seed + number)
        if difference is not None:
            return difference
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
        self._sampler = SecureSampler(Keystream(seed=0))  # for words, which are never replayed

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
