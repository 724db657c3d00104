"""The learned distinguisher: neighbors by search, and a classifier that picks the event."""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Hashable, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import partial
from itertools import pairwise
from statistics import NormalDist
from typing import Any

import numpy as np

from hedgerow.arrays import Bools, Floats, Ints, Small
from hedgerow.audit.distinguish import Draw, at_least, at_most
from hedgerow.audit.neighbors import Pair, Pick, pair_of, picker, random_pair, records_of
from hedgerow.audit.replay import DivergedError, freeze, record, replay
from hedgerow.data import Table
from hedgerow.errors import UsageError
from hedgerow.estimate.measurements import Measurement
from hedgerow.estimate.partition import CoreCells, CutTree, GridPartition, TreePartition
from hedgerow.estimate.tables import ROUNDS, Cells
from hedgerow.methods.api import run
from hedgerow.methods.publisher import Outcome, Publisher
from hedgerow.methods.supermodular import RowsOutcome
from hedgerow.privacy.budget import Budget
from hedgerow.privacy.keystream import Keystream
from hedgerow.privacy.sampler import Sampler, SecureSampler
from hedgerow.schema import Schema

# What an adversary sees of a release, as numbers: the features of the learned distinguisher.
#
# An adversary of differential privacy knows everything but whether one record is there: the schema,
# all other records, and that record. So every noisy number is looked at twice: by its public place
# (a box of codes, a set of items), and together with all others whose place holds the record, as
# the evidence that it gives for the record if its noise is what the release says it is.


Seen = tuple[Small, Floats]
"""One release: the features that it has, and the value of each. All others are missing."""


class Viewer:
    """Turns releases about two neighbors into features, numbering these as they come up.

    Args:
        pair: The neighbors; both are known to the adversary.

    Example:
        >>> from hedgerow.audit.neighbors import TINY_TABLES, tiny_pairs
        >>> from hedgerow.privacy.budget import Budget
        >>> from hedgerow.privacy.sampler import SecureSampler
        >>> from hedgerow.privacy.keystream import Keystream
        >>> from hedgerow.methods.api import run
        >>> from hedgerow.methods.diffgen import DiffGen
        >>> pair = tiny_pairs(TINY_TABLES["a 4x2 grid"])[1]
        >>> viewer = Viewer(pair)
        >>> sampler = SecureSampler(Keystream(seed=1))
        >>> which, values = viewer(run(pair.with_it, DiffGen(), Budget.of(1), sampler))
        >>> which.tolist() == list(range(len(which))), len(which) == len(values)
        (True, True)
    """

    def __init__(self, pair: Pair) -> None:
        self._pair = pair
        self._number: dict[Hashable, int] = {}
        self._known: dict[bytes, tuple[bool, Ints]] = {}

    def __call__(self, outcome: Outcome | RowsOutcome) -> Seen:
        """The features of one release."""
        book = outcome.ledger.book(outcome.published, outcome.sharing)
        beside = [outcome.plan.to_dict(), book, getattr(outcome, "frontier", None)]
        seen: dict[Hashable, float] = {("facts", hash(json.dumps(beside, default=str))): 1.0}
        if isinstance(outcome, RowsOutcome):
            number = len(outcome.counts)
            listed = Measurement(
                name="list", at="region", where=np.arange(number), by_class=False,
                values=np.asarray(outcome.counts).reshape(-1, 1),
                units=np.ones(number, np.int64), unit=Fraction(1),
            )  # fmt: skip
            self._numbers(seen, listed, _boxes(outcome.lo, outcome.hi))
        else:
            for measurement in outcome.measurements:
                self._numbers(seen, measurement, _places(outcome.partition, measurement))
                if isinstance(outcome.partition, Cells):
                    self._tables(seen, measurement, outcome.partition)
        numbers = [self._number.setdefault(key, len(self._number)) for key in seen]
        return np.asarray(numbers, np.int32), np.asarray(list(seen.values()), np.float64)

    def _numbers(
        self, seen: dict[Hashable, float], measurement: Measurement, places: list[Any]
    ) -> None:
        """Every noisy number by its place, and the evidence of those that may count the record."""
        name, rows = measurement.name, measurement.values.tolist()
        klasses = measurement.klass.tolist() if measurement.klass is not None else None
        before = 0
        for i, (place, row) in enumerate(zip(places, rows, strict=True)):
            for column, value in enumerate(row):
                klass = klasses[i] if klasses else column
                seen[name, place, klass] = value
                # numbers that share their noise give themselves away by what lies between them
                seen[name, place, klass, "step"] = value - before
                before = value
        seen[name, "places"] = len(rows)
        seen[name, "order", hash(tuple(places))] = 1.0  # the order may tell, as well as the places
        seen[name, "fractions"] = float(any(value % 1 for row in rows for value in row))
        if not isinstance(self._pair.without, Table) or measurement.at not in ("node", "region"):
            return
        price = measurement.units * float(measurement.unit)
        here = [i for i, place in enumerate(places) if self._know(place)[0]]
        for step, i in enumerate(here):
            exact, klass, row = self._know(places[i])[1], self._pair.extra[-1], rows[i]
            if klasses and klasses[i] != klass:
                continue
            if measurement.by_class:
                exact = exact[klass : klass + 1]
                row = row if klasses else row[klass : klass + 1]
            more = sum(row) - int(exact.sum())
            # one more record is exp(price) times as likely from its exact count on, and else less
            evidence = float(price[i]) * (2 * min(max(more, 0), 1) - 1)
            seen[name, "surplus", step] = more
            for total in ((name, "evidence"), "evidence"):
                seen[total] = seen.get(total, 0.0) + evidence

    def _tables(self, seen: dict[Hashable, float], measurement: Measurement, cells: Cells) -> None:
        """The evidence of every table, in one cell of which the record is."""
        grouped, start = measurement.name in ROUNDS, 0
        codes = self._pair.without.codes
        for step, table in enumerate(measurement.tables):
            shape = cells.shape(table, grouped=grouped)
            parts = cells.parts(table, grouped=grouped)
            here = [int(parts[column][self._pair.extra[column]]) for column in table]
            same = [parts[c][codes[:, c]] == part for c, part in zip(table, here, strict=True)]
            place = start + int(np.ravel_multi_index(here, shape))
            more = int(measurement.values[place, 0]) - int(np.all(same, axis=0).sum())
            rate = float(measurement.units[place] * measurement.unit)
            gaussian = measurement.law == "gaussian"
            evidence = rate * (more - 0.5 if gaussian else 2 * min(max(more, 0), 1) - 1)
            seen[measurement.name, "surplus", step] = more
            for total in ((measurement.name, "evidence"), "evidence"):
                seen[total] = seen.get(total, 0.0) + evidence
            start += math.prod(shape)

    def _know(self, box: bytes) -> tuple[bool, Ints]:
        """Whether a box of codes holds the record, and the exact counts of the others by class."""
        if box not in self._known:
            lo, hi = np.frombuffer(box, np.int64).reshape(2, -1)
            codes = self._pair.without.codes.astype(np.int64)
            width = len(lo)
            extra = np.asarray(self._pair.extra[:width])
            inside = ((codes[:, :width] >= lo) & (codes[:, :width] < hi)).all(axis=1)
            classes = codes[inside, -1]
            exact = np.bincount(classes, minlength=1 + int(self._pair.extra[-1]))
            self._known[box] = bool(((extra >= lo) & (extra < hi)).all()), exact
        return self._known[box]


def _boxes(lo: Any, hi: Any) -> list[bytes]:
    """Boxes of codes, each as its two corners."""
    corners = np.concatenate([lo, hi], axis=1).astype(np.int64)
    return [row.tobytes() for row in corners]


def _places(partition: Any, measurement: Measurement) -> list[Any]:
    """The public places of a measurement: what they are, not their numbers in one release."""
    numbers: list[Any] = measurement.where.tolist()
    if measurement.tables:  # cells of which tables follows from draws
        return [(measurement.tables, place) for place in numbers]
    if measurement.at not in ("node", "region"):
        return numbers
    if isinstance(partition, Cells):
        ends = np.array([edges[-1] for edges in partition.edges])
        return _boxes(0 * ends[None], ends[None]) * len(numbers)
    if isinstance(partition, TreePartition):
        nodes = (
            partition.leaves[measurement.where] if measurement.at == "region" else measurement.where
        )
        return _boxes(partition.lo[nodes], partition.hi[nodes])
    if isinstance(partition, GridPartition):
        if measurement.at == "region":
            return _boxes(*partition.bounds(measurement.where))
        whole = np.asarray([[edges[[0, -1]] for edges in partition.edges]] * len(numbers))
        return _boxes(whole[:, :, 0], whole[:, :, 1])  # a grid has no nodes but all of it
    if isinstance(partition, CutTree):
        return [partition.nodes(place).tobytes() for place in numbers]
    assert isinstance(partition, CoreCells)
    core = partition.core.tobytes()
    return [(core, place) for place in numbers]


COLUMNS = 120
"""How many indicators the classifier has at most: those that tell most by themselves."""

_QUANTILES = (0.02, 0.1, 0.25, 0.4, 0.5, 0.6, 0.75, 0.9, 0.98)
_RARE = 0.002  # the share of releases that an indicator must hold in, or not hold in
_TELLS = 2.5  # standard deviations by which an indicator must tell the neighbors apart
_RIDGE = 3.0
_STEPS = 12
_FOLDS = 3


Score = Callable[[Sequence[Seen]], Floats]
"""The scores of some releases: large where the second neighbor is the more likely."""


@dataclass(frozen=True, kw_only=True)
class Event:
    """An event that was learned: the score of a release reaches a threshold.

    Args:
        score: A sum of indicators.
        threshold: The score from which on the event has happened.
        flipped: Whether low scores are meant, and the negative score must reach the threshold.
        bound: The bound on epsilon on the releases that it was learned from: no evidence, as the
            event was picked by it.
    """

    score: Score
    threshold: float
    flipped: bool
    bound: float

    def happens(self, seen: Sequence[Seen]) -> Bools:
        """In which of some releases the event happened."""
        score = self.score(seen)
        return np.asarray((-score if self.flipped else score) >= self.threshold)


@dataclass(frozen=True, kw_only=True)
class Learned:
    """What a learned distinguisher found.

    Args:
        bound: An epsilon that any true claim must reach.
        hits: How often the event happened in the half that judges: where it is the more likely
            first.
        runs: How many releases of each neighbor that half has.
        trained: The bound on the half that was learned from, which proves nothing.
    """

    bound: float
    hits: tuple[int, int]
    runs: int
    trained: float


def distinguish(
    pair: Pair,
    draw: Draw,
    runs: int,
    delta: float,
    error: float,
    seed: int | None = None,
    stop: Callable[[], bool] = lambda: False,
) -> Learned:
    """Learns to tell two neighbors apart, and bounds epsilon by what was learned.

    Args:
        pair: The neighbors.
        draw: Publishes; it is a black box but for what its releases hold.
        runs: How many releases of each there are: half to learn from, half to judge by.
        delta: The delta of the claim.
        error: How likely the bound may be too large.
        seed: Makes it repeatable; without it each release has a secure stream of its own.
        stop: Asked before each run; true ends early. It must not look at what was drawn.
    """
    sampler, viewer = SecureSampler(Keystream(seed)), Viewer(pair)
    seen: tuple[list[Seen], list[Seen]] = ([], [])
    while len(seen[0]) < runs and not stop():
        for side, table in enumerate(pair.tables):
            sampler = sampler if seed is not None else SecureSampler(Keystream())
            seen[side].append(viewer(draw(table, sampler)))
    half = len(seen[0]) // 2
    event = learn((seen[0][:half], seen[1][:half]), delta, error)
    fresh = len(seen[0]) - half
    if event is None:
        return Learned(bound=0.0, hits=(0, 0), runs=fresh, trained=0.0)
    often, seldom = (int(event.happens(side[half:]).sum()) for side in seen)
    often, seldom = (often, seldom) if event.flipped else (seldom, often)
    surplus = at_least(often, fresh, error / 2) - delta
    bound = math.log(surplus / at_most(seldom, fresh, error / 2)) if surplus > 0 else 0.0
    return Learned(bound=max(0.0, bound), hits=(often, seldom), runs=fresh, trained=event.bound)


def learn(seen: tuple[Sequence[Seen], Sequence[Seen]], delta: float, error: float) -> Event | None:
    """The event that seems to tell two neighbors apart best; None if nothing was seen to.

    Args:
        seen: As many releases of the one as of the other.
        delta: The delta of the claim.
        error: How likely the bound that the event is picked for may be too large.

    Example:
        >>> one = [(np.array([0]), np.array([float(i % 4)])) for i in range(400)]
        >>> other = [(np.array([0]), np.array([float(i % 4 + 1)])) for i in range(400)]
        >>> learn((one, other), 0.0, 1e-3).bound > 1
        True
    """
    runs = len(seen[0])
    together = [*seen[0], *seen[1]]
    if runs < 8:
        return None
    labels = np.repeat([0.0, 1.0], runs)
    fold = np.arange(2 * runs) % _FOLDS
    score = np.zeros(2 * runs)
    for part in range(_FOLDS):
        kept = [together[i] for i in np.flatnonzero(fold != part)]
        held = [together[i] for i in np.flatnonzero(fold == part)]
        score[fold == part] = _fit(kept, labels[fold != part])(held)
    best: tuple[float, float, bool] = (0.0, math.inf, False)
    for flipped in (False, True):
        scores = -score if flipped else score
        sides = [np.sort(side) for side in (scores[:runs], scores[runs:])]
        steps = np.unique(np.quantile(scores, np.linspace(0, 1, 400), method="nearest"))
        seldom, often = (runs - np.searchsorted(side, steps) for side in sides)
        if flipped:
            seldom, often = often, seldom
        bounds = _bounds(often, seldom, runs, delta, error)
        place = int(np.argmax(bounds))
        best = max(best, (float(bounds[place]), float(steps[place]), flipped))
    bound, threshold, flipped = best
    return Event(score=_fit(together, labels), threshold=threshold, flipped=flipped, bound=bound)


def _bounds(often: Ints, seldom: Ints, runs: int, delta: float, error: float) -> Floats:
    """About the bounds on epsilon that counts will give: the arcsine stands for exact limits."""
    wide = NormalDist().inv_cdf(1 - error / 2) / (2 * math.sqrt(runs))

    def limit(hits: Ints, side: int) -> Floats:
        angle = np.arcsin(np.sqrt((hits + 0.375) / (runs + 0.75))) + side * wide
        return np.asarray(np.sin(np.clip(angle, 0, math.pi / 2)) ** 2)

    surplus = np.maximum(limit(often, -1) - delta, 1e-300)
    return np.asarray(np.log(surplus / limit(seldom, 1)))


def _fit(seen: Sequence[Seen], labels: Floats) -> Score:
    """Picks indicators, and weighs them together."""
    feature, least = _informative(seen, labels)
    if not len(feature):
        return lambda some: np.zeros(len(some))
    weight = _logistic(_indicators(seen, feature, least), labels)
    return lambda some: np.asarray(_indicators(some, feature, least) @ weight)


def _flatten(seen: Sequence[Seen]) -> tuple[Ints, Small, Floats]:
    """The features of all releases: of which release each is, which it is, and its value."""
    rows = np.repeat(np.arange(len(seen)), [len(which) for which, _ in seen])
    which, values = (np.concatenate(column) for column in zip(*seen, strict=True))
    return rows, which, values


def _informative(seen: Sequence[Seen], labels: Floats) -> tuple[Small, Floats]:
    """The indicators that tell the two halves of some releases apart best, one by one.

    Returns:
        Which feature each looks at, and the value that it must reach; minus infinity if it is
        enough to be there.
    """
    rows, which, values = _flatten(seen)
    order = np.argsort(which, kind="stable")
    which, values, side = which[order], values[order], labels[rows[order]]
    names, start = np.unique(which, return_index=True)
    rare = max(4.0, _RARE * len(seen))
    indicators: list[tuple[float, int, float]] = []
    for name, first, stop in zip(names, start, np.append(start[1:], len(which)), strict=True):
        if stop - first < rare:
            continue
        here = values[first:stop]
        cuts = np.unique(np.quantile(here, _QUANTILES, method="higher"))
        cuts = np.append(cuts[cuts > here.min()], -np.inf)
        holds = here[:, None] >= cuts
        total = holds.sum(axis=0)
        more = 2 * holds[side[first:stop] > 0].sum(axis=0) - total
        spread = np.sqrt(total * np.maximum(1 - total / len(seen), 1e-9))
        for place in np.flatnonzero((total >= rare) & (total <= len(seen) - rare)).tolist():
            tells = abs(more[place]) / spread[place]
            if tells >= _TELLS:
                indicators.append((-tells, int(name), float(cuts[place])))
    indicators = sorted(indicators)[:COLUMNS]
    _, picked, least = zip(*indicators, strict=True) if indicators else ((), (), ())
    return np.asarray(picked, np.int32), np.asarray(least, np.float64)


def _indicators(seen: Sequence[Seen], feature: Small, least: Floats) -> Floats:
    """One row for each release, one column for each indicator."""
    wanted, column = np.unique(feature, return_inverse=True)
    dense = np.full((len(seen), len(wanted)), np.nan)
    rows, which, values = _flatten(seen)
    place = np.minimum(np.searchsorted(wanted, which), len(wanted) - 1)
    known = wanted[place] == which
    dense[rows[known], place[known]] = values[known]
    return np.asarray(dense[:, column] >= least, np.float64)  # what is missing reaches nothing


def _logistic(x: Floats, labels: Floats) -> Floats:
    """Weights of a logistic regression with a little ridge, by Newton's method.

    The intercept is left out: the sides are of one size, and thresholds shift it anyway.
    """
    middle = x.mean(axis=0)
    x = x - middle
    weight = np.zeros(x.shape[1])
    for _ in range(_STEPS):
        sampler = 1 / (1 + np.exp(-np.clip(x @ weight, -30, 30)))
        slope = x.T @ (labels - sampler) - _RIDGE * weight
        bend = (x * (sampler * (1 - sampler))[:, None]).T @ x + _RIDGE * np.eye(len(weight))
        step = np.linalg.solve(bend, slope)
        weight += step
        if np.abs(step).max() < 1e-4:
            break
    return weight


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

    ratios: tuple[list[float], list[float]] = ([], [])
    sampler = SecureSampler(Keystream(seed))
    for _ in range(number):
        for side, drawn_from in enumerate(pair.tables):
            transcript = record(on(drawn_from), sampler)
            try:
                one, other = (replay(on(table), transcript) for table in pair.tables)
                same = freeze(releases[-1]) == freeze(releases[-2])
                ratio = math.inf
                if same and len(one) == len(other):
                    steps = zip(one, other, strict=True)
                    ratio = sum(float((b.log_p - a.log_p).sum()) for a, b in steps)
                    ratio = ratio if side else -ratio
            except DivergedError:
                ratio = math.inf
            ratios[side].append(ratio)
            releases.clear()
    return np.asarray(ratios[0]), np.asarray(ratios[1])


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
