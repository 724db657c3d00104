"""What settings would be worth: errors against epsilon, on data that is made up or public.

Nobody may try settings on the private table and keep the best: that uses the data without paying.
Here every run publishes a table that was made up from the schema (`hedgerow.evaluate.made_up`), or
a PUBLIC one that the user names, and compares the release with that table. No other data is opened.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from hedgerow.errors import DataError, UsageError
from hedgerow.evaluate.classify import by_regions, mean_and_error
from hedgerow.evaluate.itemsets import (
    exact_supports,
    random_itemsets,
    relative_errors,
    top_itemsets,
    top_utility,
)
from hedgerow.evaluate.made_up import HiddenKinds, as_frame, made_up_baskets
from hedgerow.evaluate.workload import exact_counts, random_conjunctions
from hedgerow.privacy.budget import Number, read_number
from hedgerow.privacy.chance import Dice
from hedgerow.privacy.keystream import Keystream
from hedgerow.publish.api import run
from hedgerow.publish.publisher import Publisher
from hedgerow.publish.supermodular import RowsOutcome, Supermodular
from hedgerow.release import Release, RowsRelease
from hedgerow.release.basket_release import BasketRelease
from hedgerow.schema import Schema
from hedgerow.table import Baskets, Table, read, read_baskets

__all__ = ["MEASURES", "Point", "Simulation", "Spread", "simulate"]

MEASURES = {
    "median_error": "median relative error of range counts",
    "mean_error": "mean relative error of range counts",
    "accuracy": "classes told right by the majority of regions, in percent",
    "median_itemset_error": "median relative error of supports of random sets of frequent items",
    "mean_itemset_error": "mean relative error of the same",
    "top_utility": "utility of the 20 most frequent sets: 1 if they and their supports are right",
}

QUERIES = 300
TOP = 20
LONGEST = 3  # items in a random set
FREQUENT = 50  # such sets are drawn from so many of the most frequent items
MOST_ROWS = 1_000_000
TEST_ROWS = 4000
MOST_POINTS = 200
_SANITY = 0.001

Method = tuple[str, Publisher]
Values = dict[str, float]


@dataclass(frozen=True)
class Spread:
    """The mean over runs, the least and the largest."""

    mean: float
    low: float
    high: float

    @staticmethod
    def of(values: Sequence[float]) -> Spread:
        """The spread of the results of runs.

        Example:
            >>> Spread.of([1.0, 2.0, 6.0])
            Spread(mean=3.0, low=1.0, high=6.0)
        """
        return Spread(mean_and_error(values)[0], min(values), max(values))


@dataclass(frozen=True)
class Point:
    """What one method with its settings comes to at one epsilon.

    Args:
        setting: The method and what was set, in words.
        epsilon: As it was given.
        specialisations: How many were allowed, in the middle of the runs; None where methods have
            none.
        depth: How many of them on one path.
        regions: How many regions, or listed rows or sets, releases had on average.
        measures: The results by the names in `MEASURES`.
    """

    setting: str
    epsilon: str
    specialisations: int | None
    depth: int | None
    regions: float
    measures: dict[str, Spread]


@dataclass(frozen=True)
class Simulation:
    """Errors by setting and epsilon, and what they were measured on.

    Args:
        schema: The schema's name.
        rows: How many rows each release was made from.
        runs: How many runs each point has.
        public: The name of the public table, or None if data was made up.
        dependence: How strongly columns depend on each other, if data was made up.
        points: The results.
        blind: The median error of somebody who knows the number of rows and spreads them evenly
            over the domain of the schema.
        floor: Classes told right by somebody who knows no attribute, in percent.
        ceiling: Classes told right by somebody who knows the model that made the rows up.
    """

    schema: str
    rows: int
    runs: int
    public: str | None
    dependence: float | None
    points: tuple[Point, ...]
    blind: float | None = None
    floor: float | None = None
    ceiling: float | None = None

    @property
    def measures(self) -> tuple[str, ...]:
        """The names of what was measured at any point."""
        return tuple(
            name for name in MEASURES if any(name in point.measures for point in self.points)
        )

    def to_dict(self) -> dict[str, Any]:
        """The results for other programs."""
        about = {
            "schema": self.schema, "rows": self.rows, "runs": self.runs,
            "data": "made up" if self.public is None else "public",
            "public": self.public, "dependence": self.dependence,
            "blind": self.blind, "floor": self.floor, "ceiling": self.ceiling,
            "measures": {name: MEASURES[name] for name in self.measures},
        }  # fmt: skip
        points = [
            {
                "setting": point.setting, "epsilon": point.epsilon,
                "specialisations": point.specialisations, "depth": point.depth,
                "regions": point.regions,
                **{name: vars(spread) for name, spread in point.measures.items()},
            }
            for point in self.points
        ]  # fmt: skip
        return about | {"points": points}


def simulate(
    schema: Schema,
    methods: Sequence[Method],
    epsilons: Sequence[Number],
    *,
    delta: Number = 0,
    rows: int | None = None,
    runs: int = 5,
    dependence: float = 0.5,
    public: Any = None,
    seed: int = 1,
    progress: Callable[[float], None] = lambda share: None,
) -> Simulation:
    """Publishes made-up or public data again and again, and measures how far releases are off.

    NEVER name a private table as `public`: nothing here is private, and what it finds would be
    read off that table.

    Args:
        schema: The public schema.
        methods: Methods, each with what to call it.
        epsilons: The epsilons to try.
        delta: The same for all.
        rows: How many rows to publish, as anyone may know; 10,000 made-up ones by default, or all
            of the public table but those it is tested on.
        runs: How often each is tried: made-up data and noise are drawn anew each time, and are the
            same for all methods.
        dependence: How strongly made-up columns depend on each other, from 0 to 1.
        public: A PUBLIC table that keeps to the schema: whatever `hedgerow.table.read` takes.
        seed: For the same results again.
        progress: Called with the share that is done.

    Example:
        >>> from hedgerow.publish.diffgen import DiffGen
        >>> schema = Schema.from_dict({"name": "s", "attributes": {
        ...     "age": {"type": "numeric", "low": 0, "high": 99},
        ...     "ill": {"type": "boolean", "role": "class"}}})
        >>> found = simulate(schema, [("diffgen", DiffGen())], ["0.5"], rows=500, runs=1)
        >>> [point.epsilon for point in found.points], found.measures
        (['0.5'], ('median_error', 'mean_error', 'accuracy'))
    """
    _check(schema, methods, epsilons, delta, rows, runs)
    source: _Source
    if public is None:
        source = _MadeUp(schema, rows or 10_000, dependence)
    else:
        source = _Public(schema, public, rows)
    found: dict[tuple[int, int], list[_Result]] = {}
    trials = []
    total = runs * len(methods) * len(epsilons)
    for number in range(runs):
        trial = source.trial(seed * 1000 + number)
        trials.append((trial.blind, trial.floor, trial.ceiling))
        for m, (_, method) in enumerate(methods):
            for e, epsilon in enumerate(epsilons):
                result = trial.run(method, epsilon, delta, seed * 1000 + number)
                found.setdefault((m, e), []).append(result)
                progress(sum(map(len, found.values())) / total)
    points = tuple(
        _point(methods[m][0], str(epsilons[e]), found[m, e])
        for m in range(len(methods))
        for e in range(len(epsilons))
    )
    return Simulation(
        schema.name, source.rows, runs, None if public is None else str(public),
        dependence if public is None else None, points,
        *(_mean(column) for column in zip(*trials, strict=True)),
    )  # fmt: skip


@dataclass(frozen=True)
class _Result:
    """One run."""

    specialisations: int | None
    depth: int | None
    regions: int
    values: Values


def _point(setting: str, epsilon: str, results: list[_Result]) -> Point:
    measures = {
        name: Spread.of([result.values[name] for result in results]) for name in results[0].values
    }
    regions = float(np.mean([result.regions for result in results]))
    return Point(
        setting, epsilon, _middle([result.specialisations for result in results]),
        _middle([result.depth for result in results]), regions, measures,
    )  # fmt: skip


class _TableTrial:
    """A table to publish, rows to tell classes of, and questions with their true answers."""

    def __init__(self, table: Table, test: Table | None, ceiling: float | None, seed: int) -> None:
        schema = table.schema
        self.table, self.test, self.ceiling = table, test, ceiling
        most = min(4, len(schema.attributes))
        self.queries = random_conjunctions(schema, QUERIES, (min(2, most), most), seed)
        self.truth = exact_counts(table, self.queries)
        sizes = [attribute.size for attribute in schema.attributes]
        covered = [
            np.prod([sum(high - low for low, high in spans) / sizes[a] for a, spans in query.where])
            for query in self.queries
        ]
        self.blind = self._errors(table.codes.shape[0] * np.asarray(covered))["median_error"]
        self.frame = None if test is None else as_frame(test)
        self.floor = None
        if test is not None:
            largest = np.bincount(table.codes[:, -1].astype(np.int64)).argmax()
            self.floor = float(100 * np.mean(test.codes[:, -1] == largest))

    def run(self, method: Publisher, epsilon: Number, delta: Number, seed: int) -> _Result:
        schema = self.table.schema
        budget = method.plan(schema, epsilon, delta).budget
        done: Any = run(self.table, method, budget, Dice(Keystream(seed)))
        words = {"epsilon": str(budget.epsilon), "private": False}
        if isinstance(done, RowsOutcome):
            book = {"suppression": done.plan.rule}
            listed = RowsRelease(
                schema, method.name, {}, words, book, done.lo, done.hi, done.counts
            )
            return _Result(None, None, len(done.counts), self._asked(listed))
        release = Release(
            schema, method.name, method.settings(), words, {}, done.partition, done.measurements
        )
        values = self._asked(release)
        if self.frame is not None:
            values["accuracy"] = by_regions(release, self.frame)
        return _Result(done.plan.specialisations, done.plan.depth, release.partition.cells, values)

    def _asked(self, release: Release | RowsRelease) -> Values:
        return self._errors(release.count(list(self.queries)).estimate)

    def _errors(self, estimate: NDArray[np.float64]) -> Values:
        bound = max(1.0, _SANITY * self.table.codes.shape[0])
        off = np.abs(estimate - self.truth) / np.maximum(self.truth, bound)
        return {"median_error": float(np.median(off)), "mean_error": float(off.mean())}


class _BasketTrial:
    """Transactions to publish, and sets of items with their true supports."""

    blind = floor = ceiling = None

    def __init__(self, baskets: Baskets, seed: int) -> None:
        assert baskets.schema.items is not None
        items = baskets.schema.items
        self.baskets, self.labels = baskets, items.labels
        # of rare items hardly any set is in a record, and answering 0 would always be right
        supports = np.bincount(baskets.codes, minlength=items.size)
        known = np.argsort(-supports, kind="stable")[:FREQUENT].tolist()
        drawn = random_itemsets(len(known), LONGEST, QUERIES, seed)
        self.sets = [tuple(sorted(known[place] for place in one)) for one in drawn]
        self.truth = exact_supports(baskets, self.sets)
        self.top = top_itemsets(baskets, TOP)

    def run(self, method: Publisher, epsilon: Number, delta: Number, seed: int) -> _Result:
        schema = self.baskets.schema
        assert schema.items is not None
        budget = method.plan(schema, epsilon, delta).budget
        done = run(self.baskets, method, budget, Dice(Keystream(seed)))
        words = {"epsilon": str(budget.epsilon), "private": False}
        partition: Any = done.partition
        release = BasketRelease(
            schema, method.name, method.settings(), words, {}, partition, done.measurements
        )
        asked = [[self.labels[code] for code in one] for one in self.sets]
        told = np.asarray(release.count(asked).estimate, dtype=np.float64)
        off = relative_errors(self.truth, told, len(self.baskets.start) - 1)
        listed = release.frequent(TOP, kind="arrow").to_pydict()
        pairs = [
            (tuple(sorted(schema.items.code_of(label) for label in one)), float(support))
            for one, support in zip(listed["items"], listed["estimate"], strict=True)
        ]
        values = {
            "median_itemset_error": float(np.median(off)),
            "mean_itemset_error": float(off.mean()),
            "top_utility": top_utility(self.top, pairs),
        }
        return _Result(None, None, partition.cells, values)


class _MadeUp:
    """Data made up anew for each run."""

    def __init__(self, schema: Schema, rows: int, dependence: float) -> None:
        self.schema, self.rows, self.dependence = schema, rows, dependence

    def trial(self, seed: int) -> _TableTrial | _BasketTrial:
        if self.schema.items is not None:
            baskets = made_up_baskets(self.schema, self.rows, self.dependence, seed)
            return _BasketTrial(baskets, seed)
        people = HiddenKinds.of(self.schema, self.dependence, seed)
        table = people.draw(self.rows, seed + 1)
        if self.schema.target is None:
            return _TableTrial(table, None, None, seed)
        test = people.draw(TEST_ROWS, seed + 2)
        return _TableTrial(table, test, people.best_accuracy(test), seed)


class _Public:
    """A public table: for each run other rows of it are published, the rest are tested on."""

    def __init__(self, schema: Schema, source: Any, rows: int | None) -> None:
        self.schema = schema
        self.data: Any
        if schema.items is None:
            self.data = read(source, schema)
            there = self.data.codes.shape[0]
        else:
            self.data = read_baskets(source, schema)
            there = len(self.data.start) - 1
        # a third is kept back where there are classes to tell
        most = there - there // 3 if schema.target is not None else there
        if most < 1:
            raise DataError("The public table has no rows.", hint="Name another one.")
        self.rows = min(rows or most, most)

    def trial(self, seed: int) -> _TableTrial | _BasketTrial:
        random = np.random.default_rng(seed)
        if self.schema.items is not None:
            chosen = np.sort(random.permutation(len(self.data.start) - 1)[: self.rows])
            return _BasketTrial(_some(self.data, chosen), seed)
        order = random.permutation(self.data.codes.shape[0])
        table = Table(self.schema, self.data.codes[order[: self.rows]])
        if self.schema.target is None:
            return _TableTrial(table, None, None, seed)
        rest = order[self.rows :][:TEST_ROWS]
        return _TableTrial(table, Table(self.schema, self.data.codes[rest]), None, seed)


_Source = _MadeUp | _Public


def _some(baskets: Baskets, chosen: NDArray[np.int64]) -> Baskets:
    size = np.diff(baskets.start)[chosen]
    start = np.concatenate([[0], np.cumsum(size)]).astype(np.int64)
    place = np.repeat(baskets.start[chosen] - start[:-1], size) + np.arange(start[-1])
    return Baskets(baskets.schema, start, baskets.codes[place])


def _check(
    schema: Schema,
    methods: Sequence[Method],
    epsilons: Sequence[Number],
    delta: Number,
    rows: int | None,
    runs: int,
) -> None:
    """Refuses what cannot be run before anything is made up or opened."""
    if not methods or not epsilons:
        raise UsageError("There is nothing to try.", hint="Name a method and an epsilon.")
    if len(methods) * len(epsilons) > MOST_POINTS:
        raise UsageError(
            f"These are {len(methods) * len(epsilons)} combinations, which is too many.",
            hint=f"Try at most {MOST_POINTS} at a time.",
        )
    if rows is not None and rows > MOST_ROWS:
        raise UsageError(
            f"More than {MOST_ROWS:,} rows would take long.",
            hint=f"Ask for {MOST_ROWS}: with more rows errors are smaller still.",
        )
    if runs < 1 or (rows is not None and rows < 1):
        raise UsageError("rows and runs must be at least 1.", hint="Leave them out.")
    for _, method in methods:
        if isinstance(method, Supermodular) and method.weight_columns:
            raise UsageError(
                "People's own weights cannot be made up.", hint="Leave --weight-column out."
            )
        for epsilon in epsilons:
            method.plan(schema, read_number("epsilon", epsilon), delta)


def _middle(numbers: Sequence[int | None]) -> int | None:
    known = sorted(number for number in numbers if number is not None)
    return known[len(known) // 2] if known else None


def _mean(numbers: Sequence[float | None]) -> float | None:
    known = [number for number in numbers if number is not None]
    return float(np.mean(known)) if known else None
