"""What settings would be worth: errors against epsilon, on data that is simulated or public.

Nobody may try settings on the private table and keep the best: that uses the data without paying.
Here every run publishes a table simulated from the schema (`hedgerow.evaluation.trials`), or a
PUBLIC one that the user names, and compares the release with that table. No other data is opened.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from hedgerow.data.source import Progress, silent
from hedgerow.errors import UsageError
from hedgerow.evaluation.classify import mean_and_error
from hedgerow.evaluation.trials import Public, Result, Simulated
from hedgerow.methods.publisher import Publisher
from hedgerow.methods.supermodular import Supermodular
from hedgerow.privacy.budget import Number, read_number
from hedgerow.schema import Schema
from hedgerow.suggestions import check_arguments

MEASURES = {
    "median_error": "median relative error of range counts",
    "mean_error": "mean relative error of range counts",
    "accuracy": "classes that the release predicts right, in percent",
    "median_itemset_error": "median relative error of supports of random sets of frequent items",
    "mean_itemset_error": "mean relative error of the same",
    "top_utility": "utility of the 20 most frequent sets: 1 if they and their supports are right",
}

MOST_ROWS = 1_000_000
MOST_POINTS = 200

Method = tuple[str, Publisher]


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


@dataclass(frozen=True, kw_only=True)
class Point:
    """What one method with its settings comes to at one epsilon.

    Args:
        setting: The method and what was set, in words.
        epsilon: As it was given.
        specializations: How many were allowed, in the middle of the runs; None where methods have
            none.
        depth: How many of them on one path.
        regions: How many regions, tables, or listed rows or sets, releases had on average.
        measures: The results by the names in `MEASURES`.
    """

    setting: str
    epsilon: str
    specializations: int | None
    depth: int | None
    regions: float
    measures: dict[str, Spread]


@dataclass(frozen=True, kw_only=True)
class Simulation:
    """Errors by setting and epsilon, and what they were measured on.

    Args:
        schema: The schema's name.
        rows: How many rows each release was made from.
        runs: How many runs each point has.
        public: The name of the public table, or None if data was simulated.
        dependence: How strongly columns depend on each other, if data was simulated.
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
            "data": "simulated" if self.public is None else "public",
            "public": self.public, "dependence": self.dependence,
            "blind": self.blind, "floor": self.floor, "ceiling": self.ceiling,
            "measures": {name: MEASURES[name] for name in self.measures},
        }  # fmt: skip
        points = [
            {
                "setting": point.setting, "epsilon": point.epsilon,
                "specializations": point.specializations, "depth": point.depth,
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
    progress: Progress = silent,
) -> Simulation:
    """Publishes simulated or public data again and again, and measures how far releases are off.

    NEVER name a private table as `public`: nothing here is private, and what it finds would be
    read off that table.

    Args:
        schema: The public schema.
        methods: Methods, each with what to call it.
        epsilons: The epsilons to try.
        delta: The same for all.
        rows: How many rows to publish, as anyone may know; 10,000 simulated ones by default, or all
            of the public table but those it is tested on.
        runs: How often each is tried: simulated data and noise are drawn anew each time, and are
            the same for all methods.
        dependence: How strongly simulated columns depend on each other, from 0 to 1.
        public: A PUBLIC table that keeps to the schema: whatever `hedgerow.data.read` takes.
        seed: For the same results again.
        progress: Called with the share that is done.

    Example:
        >>> from hedgerow.methods.diffgen import DiffGen
        >>> schema = Schema.from_dict({"name": "s", "unit": "row", "attributes": {
        ...     "age": {"type": "numeric", "low": 0, "high": 99},
        ...     "ill": {"type": "boolean", "role": "class"}}})
        >>> found = simulate(schema, [("diffgen", DiffGen())], ["0.5"], rows=500, runs=1)
        >>> [point.epsilon for point in found.points], found.measures
        (['0.5'], ('median_error', 'mean_error', 'accuracy'))
    """
    check_arguments(simulate, locals())
    _check(schema, methods, epsilons, delta, rows, runs)
    source: Simulated | Public
    if public is None:
        source = Simulated(schema, rows or 10_000, dependence)
    else:
        source = Public(schema, public, rows)
    found: dict[tuple[int, int], list[Result]] = {}
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
    blind, floor, ceiling = (_mean(column) for column in zip(*trials, strict=True))
    return Simulation(
        schema=schema.name, rows=source.rows, runs=runs,
        public=None if public is None else str(public),
        dependence=dependence if public is None else None, points=points,
        blind=blind, floor=floor, ceiling=ceiling,
    )  # fmt: skip


def _point(setting: str, epsilon: str, results: list[Result]) -> Point:
    measures = {
        name: Spread.of([result.values[name] for result in results]) for name in results[0].values
    }
    regions = float(np.mean([result.regions for result in results]))
    return Point(
        setting=setting, epsilon=epsilon,
        specializations=_middle([result.specializations for result in results]),
        depth=_middle([result.depth for result in results]), regions=regions, measures=measures,
    )  # fmt: skip


def _check(
    schema: Schema,
    methods: Sequence[Method],
    epsilons: Sequence[Number],
    delta: Number,
    rows: int | None,
    runs: int,
) -> None:
    """Refuses what cannot be run before anything is simulated or opened."""
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
                "People's own weights cannot be simulated.", hint="Leave --weight-column out."
            )
        for epsilon in epsilons:
            method.plan(schema, read_number("epsilon", epsilon), delta)


def _middle(numbers: Sequence[int | None]) -> int | None:
    known = sorted(number for number in numbers if number is not None)
    return known[len(known) // 2] if known else None


def _mean(numbers: Sequence[float | None]) -> float | None:
    known = [number for number in numbers if number is not None]
    return float(np.mean(known)) if known else None
