"""What settings would be worth: errors against epsilon, on data that is simulated or public.

Nobody may try settings on the private table and keep the best: that uses the data without paying.
Here every run publishes a table simulated from the schema, or a PUBLIC one that the user names, and
compares the release with that table. No other data is opened.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from functools import partial
from itertools import product
from typing import Any

import numpy as np

from hedgerow.arrays import Floats
from hedgerow.data import Table, Transactions, read, read_transactions
from hedgerow.data.source import Progress, silent
from hedgerow.errors import DataError, UsageError
from hedgerow.evaluation.measures import (
    exact_counts,
    exact_supports,
    random_conjunctions,
    random_itemsets,
    relative_errors,
    top_itemsets,
    top_utility,
)
from hedgerow.methods.api import release_of, run
from hedgerow.methods.publisher import Publisher
from hedgerow.methods.supermodular import Supermodular
from hedgerow.privacy.budget import Number, read_number
from hedgerow.privacy.keystream import Keystream
from hedgerow.privacy.sampler import SecureSampler
from hedgerow.release import Release, TransactionsRelease
from hedgerow.schema import Attribute, Items, Numeric, Schema
from hedgerow.suggestions import check_arguments

# Data simulated from a schema alone, for trying settings where no private data may be used.
#
# One simple model for tables and transactions. People are of a few hidden kinds. Every kind has
# habits of its own: a narrow part of each numeric scale, an order of preference among values or
# items, a class. With probability `dependence` a value follows the habit of the person's kind, else
# what is common to all: a hump somewhere on a numeric scale, values of which the k-th in some order
# is as frequent as 1/k^2, items of which it is as frequent as 1/k. Real data differs: only what is
# in the schema is taken from it.

KINDS = 6
# how near to the edge of a number most people may be, how far they spread, and how fast values fall
COMMON, HABIT = (0.1, 0.12, 2), (0.0, 0.05, 3)
_OTHER = 0.02  # how often a number is missing, where the schema has a place for that
_LENGTH = 5  # how many items a record has on average, before repeated ones are dropped


@dataclass(frozen=True)
class HiddenKinds:
    """A simulated population for a table.

    Args:
        schema: The public schema, of a table.
        shares: How frequent each kind of people is.
        columns: For each predictor, then the class, the chances of its codes in each kind.

    Example:
        >>> schema = Schema.from_dict({"name": "s", "unit": "row", "attributes": {
        ...     "age": {"type": "numeric", "low": 0, "high": 99},
        ...     "ill": {"type": "boolean", "role": "class"}}})
        >>> people = HiddenKinds.of(schema, dependence=0.5, seed=1)
        >>> people.draw(4, seed=2).codes.shape
        (4, 2)
        >>> 50 < people.best_accuracy(people.draw(2000, seed=3)) < 100
        True
    """

    schema: Schema
    shares: Floats
    columns: tuple[Floats, ...]

    @staticmethod
    def of(schema: Schema, dependence: float, seed: int) -> HiddenKinds:
        """Makes up a population.

        Args:
            schema: The public schema.
            dependence: From 0 (all columns independent) to 1.
            seed: For the same population again.
        """
        check_dependence(dependence)
        random = np.random.default_rng(seed)
        columns = [
            (1 - dependence) * _chances(attribute, random, *COMMON)[None, :]
            + dependence * np.stack([_chances(attribute, random, *HABIT) for _ in range(KINDS)])
            for attribute in schema.attributes
        ]
        if schema.target is not None:
            size = schema.target.size
            own = np.eye(size)[np.arange(KINDS) % size]  # kinds take turns, so that classes differ
            columns.append((1 - dependence) * _falling(size, 1)[None, :] + dependence * own)
        return HiddenKinds(schema, _falling(KINDS, 1), tuple(columns))

    def draw(self, rows: int, seed: int) -> Table:
        """Draws people.

        Args:
            rows: How many.
            seed: For the same people again.
        """
        random = np.random.default_rng(seed)
        kind = random.choice(len(self.shares), rows, p=self.shares)
        sizes = [column.shape[1] for column in self.columns]
        wide = max(sizes) > 1 << 16
        # the class comes last, and is 0 where there is none
        codes = np.zeros((rows, len(self.schema.attributes) + 1), np.uint32 if wide else np.uint16)
        for place, column in enumerate(self.columns):
            for one, edges in enumerate(np.cumsum(column, axis=1)):
                mine = np.flatnonzero(kind == one)
                picks = np.searchsorted(edges, random.random(len(mine)) * edges[-1], side="right")
                codes[mine, place] = np.minimum(picks, sizes[place] - 1)
        return Table(self.schema, codes)

    def best_accuracy(self, table: Table) -> float:
        """How often, in percent, somebody who knows this whole model guesses the class right."""
        known = np.log(self.shares)[:, None] + np.zeros(table.codes.shape[0])
        with np.errstate(divide="ignore"):
            for place, column in enumerate(self.columns[:-1]):
                known += np.log(column)[:, table.codes[:, place]]
        weight = np.exp(known - known.max(axis=0))
        guess = (weight.T @ self.columns[-1]).argmax(axis=1)
        return float(100 * np.mean(guess == table.codes[:, -1]))


def simulated_transactions(
    schema: Schema, records: int, dependence: float, seed: int
) -> Transactions:
    """Makes up transactions, by the same model.

    A record has one item or more, five on average before repeated ones are dropped.

    Args:
        schema: The public schema, of transactions.
        records: How many.
        dependence: From 0 (items are independent) to 1.
        seed: For the same ones again.

    Example:
        >>> schema = Schema.from_dict({
        ...     "name": "shop", "unit": "row", "items": {"universe": ["milk", "tea"]}})
        >>> transactions = simulated_transactions(schema, 3, 0.5, seed=1)
        >>> len(transactions.start)
        4
    """
    check_dependence(dependence)
    items: Items = schema.transaction_items
    random = np.random.default_rng(seed)
    size = len(items.given)
    common = _falling(size, 1)[random.permutation(size)]
    habits = [_falling(size, 1.5)[random.permutation(size)] for _ in range(KINDS)]
    kind = random.choice(KINDS, records, p=_falling(KINDS, 1))
    length = random.geometric(1 / _LENGTH, records)
    length = np.minimum(length, min(size, items.max_items or size))
    owner = np.repeat(np.arange(records), length)
    code = random.choice(size, len(owner), p=common)
    follows = random.random(len(owner)) < dependence
    for one, habit in enumerate(habits):
        mine = np.flatnonzero(follows & (kind[owner] == one))
        code[mine] = random.choice(size, len(mine), p=habit)
    pairs = np.unique(owner * size + code)  # a set holds an item once
    owner, code = np.divmod(pairs, size)
    start = np.concatenate([[0], np.cumsum(np.bincount(owner, minlength=records))])
    return Transactions(schema, start.astype(np.int64), code.astype(np.int32))


def check_dependence(dependence: float) -> None:
    """Refuses what is no number from 0 to 1."""
    if not 0 <= dependence <= 1:
        raise UsageError(
            "dependence must be a number from 0 to 1.",
            hint="0 makes all columns independent; 0.5 is the usual.",
        )


def _falling(size: int, power: float) -> Floats:
    """Chances in the proportions 1, 1/2, 1/3 and so on, to a power."""
    weights = np.arange(1, size + 1, dtype=np.float64) ** -power
    shares: Floats = weights / weights.sum()
    return shares


def _chances(
    attribute: Attribute, random: np.random.Generator, edge: float, width: float, power: int
) -> Floats:
    """The chances of codes: a hump somewhere on a numeric scale, or some order of preference."""
    if not isinstance(attribute, Numeric):
        return _falling(attribute.size, power)[random.permutation(attribute.size)]
    middle = random.uniform(edge, 1 - edge)
    place = (np.arange(attribute.grid) + 0.5) / attribute.grid
    weights = np.exp(-(((place - middle) / width) ** 2) / 2)
    weights /= weights.sum()
    if not attribute.has_other:
        return weights
    return np.append(weights * (1 - _OTHER), _OTHER)


# One try of a simulation: simulated or public data, a release of it, and how far it is off.
#
# No private data comes here: a table is opened only if the user named it as public.


QUERIES = 300
TOP = 20
TEST_ROWS = 4000
LONGEST = 3  # items in a random set
FREQUENT = 50  # such sets are drawn from so many of the most frequent items
_SANITY = 0.001

Values = dict[str, float]


Judge = Callable[[Release], tuple[int, Values]]
"""How many regions a release has, and what it is off by."""


@dataclass(frozen=True, kw_only=True)
class Trial:
    """Data to publish, and how releases of it are judged.

    Args:
        data: A table or transactions.
        judge: Compares a release with it.
        blind: The median error of somebody who spreads all records evenly over the domain.
        floor: Classes told right by somebody who knows no attribute, in percent.
        ceiling: The same by somebody who knows the model that made the records up.
    """

    data: Any
    judge: Judge
    blind: float | None = None
    floor: float | None = None
    ceiling: float | None = None


def _publish_seeded(
    data: Table | Transactions, method: Publisher, epsilon: Number, delta: Number, seed: int
) -> tuple[Any, Release]:
    budget = method.plan(data.schema, epsilon, delta).budget
    done = run(data, method, budget, SecureSampler(Keystream(seed)))
    words = {"epsilon": str(budget.epsilon), "private": False}
    return done, release_of(data.schema, method, done, words)


def publish_seeded(
    data: Table | Transactions, method: Publisher, epsilon: Number, delta: Number, seed: int
) -> Release:
    """A seeded release of data that is simulated or public: NOT PRIVATE.

    Args:
        data: The data.
        method: The method and its settings.
        epsilon: The privacy budget.
        delta: The same.
        seed: For the same release again.
    """
    return _publish_seeded(data, method, epsilon, delta, seed)[1]


def _try_table(table: Table, test: Table | None, ceiling: float | None, seed: int) -> Trial:
    """A table to publish, rows to tell classes of, and questions with their true answers."""
    schema, records = table.schema, table.codes.shape[0]
    most = min(4, len(schema.attributes))
    queries = random_conjunctions(schema, QUERIES, (min(2, most), most), seed)
    truth = exact_counts(table, queries)

    def errors(estimate: Floats) -> Values:
        off = np.abs(estimate - truth) / np.maximum(truth, max(1.0, _SANITY * records))
        return {"median_error": float(np.median(off)), "mean_error": float(off.mean())}

    def judge(release: Release) -> tuple[int, Values]:
        values = errors(release.count(queries).estimate)
        told = None if test is None else release.majority(test.codes[:, :-1])
        if test is not None and told is not None:
            values["accuracy"] = float(100 * np.mean(told == test.codes[:, -1]))
        return release.describe().number, values

    sizes = [attribute.size for attribute in schema.attributes]
    covered = [
        np.prod([sum(high - low for low, high in spans) / sizes[a] for a, spans in query.where])
        for query in queries
    ]
    floor = None
    if test is not None:
        largest = np.bincount(table.codes[:, -1].astype(np.int64)).argmax()
        floor = float(100 * np.mean(test.codes[:, -1] == largest))
    blind = errors(records * np.asarray(covered))["median_error"]
    return Trial(data=table, judge=judge, blind=blind, floor=floor, ceiling=ceiling)


def _try_transactions(transactions: Transactions, seed: int) -> Trial:
    """Transactions to publish, and sets of items with their true supports."""
    items = transactions.schema.transaction_items
    # of rare items hardly any set is in a record, and answering 0 would always be right
    supports = np.bincount(transactions.codes, minlength=items.size)
    known = np.argsort(-supports, kind="stable")[:FREQUENT].tolist()
    drawn = random_itemsets(len(known), LONGEST, QUERIES, seed)
    sets = [tuple(sorted(known[place] for place in one)) for one in drawn]
    truth, top = exact_supports(transactions, sets), top_itemsets(transactions, TOP)

    def judge(made: Release) -> tuple[int, Values]:
        release = made.expect(TransactionsRelease)
        asked = [[items.labels[code] for code in one] for one in sets]
        told = np.asarray(release.count(asked).estimate, dtype=np.float64)
        off = relative_errors(truth, told, len(transactions.start) - 1)
        listed = release.frequent(TOP, kind="arrow").to_pydict()
        pairs = [
            (tuple(sorted(map(items.code_of, one))), float(support))
            for one, support in zip(listed["items"], listed["estimate"], strict=True)
        ]
        return release.partition.cells, {
            "median_itemset_error": float(np.median(off)),
            "mean_itemset_error": float(off.mean()),
            "top_utility": top_utility(top, pairs),
        }

    return Trial(data=transactions, judge=judge)


def source_of(
    schema: Schema, rows: int | None, dependence: float, public: Any
) -> tuple[int, Callable[[int], Trial]]:
    """How many records each run has, and what gives them: simulated, but for a public table."""
    if public is None:
        rows = rows or 10_000
        return rows, partial(_simulated, schema, rows, dependence)
    tables = schema.kind == "table"
    data: Any = read(public, schema) if tables else read_transactions(public, schema)
    there = data.codes.shape[0] if tables else len(data.start) - 1
    # a third is kept back where there are classes to tell
    most = there - there // 3 if schema.target is not None else there
    if most < 1:
        raise DataError("The public table has no rows.", hint="Name another one.")
    rows = min(rows or most, most)
    return rows, partial(_public, data, there, rows)


def _simulated(schema: Schema, rows: int, dependence: float, seed: int) -> Trial:
    """Another population, and people from it."""
    if schema.kind == "transactions":
        return _try_transactions(simulated_transactions(schema, rows, dependence, seed), seed)
    people = HiddenKinds.of(schema, dependence, seed)
    table = people.draw(rows, seed + 1)
    if schema.target is None:
        return _try_table(table, None, None, seed)
    test = people.draw(TEST_ROWS, seed + 2)
    return _try_table(table, test, people.best_accuracy(test), seed)


def _public(data: Any, there: int, rows: int, seed: int) -> Trial:
    """Other rows of a public table are published for each run, and the rest are tested on."""
    order = np.random.default_rng(seed).permutation(there)
    if data.schema.kind == "transactions":
        chosen = np.sort(order[:rows])
        size = np.diff(data.start)[chosen]
        start = np.concatenate([[0], np.cumsum(size)]).astype(np.int64)
        place = np.repeat(data.start[chosen] - start[:-1], size) + np.arange(start[-1])
        return _try_transactions(Transactions(data.schema, start, data.codes[place]), seed)
    test = None
    if data.schema.target is not None:
        test = Table(data.schema, data.codes[order[rows:][:TEST_ROWS]])
    return _try_table(Table(data.schema, data.codes[order[:rows]]), test, None, seed)


# Errors by setting and epsilon.

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
        points = [asdict(point) for point in self.points]
        return about | {"points": [point | point.pop("measures") for point in points]}


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
    rows, draw = source_of(schema, rows, dependence, public)
    points = list(product(methods, epsilons))
    results: list[list[tuple[Any, int, Values]]] = [[] for _ in points]
    trials = []
    for number in range(runs):
        trial = draw(seed * 1000 + number)
        trials.append((trial.blind, trial.floor, trial.ceiling))
        for place, ((_, method), epsilon) in enumerate(points):
            done, release = _publish_seeded(
                trial.data, method, epsilon, delta, seed * 1000 + number
            )
            results[place].append((done.plan, *trial.judge(release)))
            progress((number * len(points) + place + 1) / (runs * len(points)))
    blind, floor, ceiling = (_mean(column) for column in zip(*trials, strict=True))
    return Simulation(
        schema=schema.name, rows=rows, runs=runs,
        public=None if public is None else str(public),
        dependence=dependence if public is None else None, blind=blind, floor=floor,
        ceiling=ceiling, points=tuple(
            _point(setting, str(epsilon), some, schema.kind == "table")
            for ((setting, _), epsilon), some in zip(points, results, strict=True)
        ),
    )  # fmt: skip


def _point(
    setting: str, epsilon: str, results: list[tuple[Any, int, Values]], tables: bool
) -> Point:
    plans, regions, measured = zip(*results, strict=True)
    measures = {}
    for name in measured[0]:
        values = [one[name] for one in measured]
        measures[name] = Spread(float(np.mean(values)), min(values), max(values))
    return Point(
        setting=setting, epsilon=epsilon,
        specializations=_middle([one.specializations for one in plans]) if tables else None,
        depth=_middle([one.depth for one in plans]) if tables else None,
        regions=float(np.mean(regions)), measures=measures,
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
