"""What is tried on simulated or public data: methods, queries, and accuracy targets."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pyarrow as pa

from hedgerow.arrays import Floats, Ints
from hedgerow.data import Table, Transactions, read, read_transactions
from hedgerow.errors import DataError, UsageError
from hedgerow.estimate.cells import values_of
from hedgerow.evaluation.measures import (
    exact_supports,
    random_itemsets,
    relative_errors,
    top_itemsets,
    top_utility,
)
from hedgerow.evaluation.workload import exact_counts, random_conjunctions
from hedgerow.methods.api import release_of, run
from hedgerow.methods.publisher import Publisher
from hedgerow.privacy.budget import Number
from hedgerow.privacy.keystream import Keystream
from hedgerow.privacy.sampler import SecureSampler
from hedgerow.release import Release, TransactionsRelease
from hedgerow.release.tabulate import cells_of, divisions_of
from hedgerow.schema import Attribute, Items, Numeric, Query, Schema
from hedgerow.schema.conditions import suggest

# Data simulated from a schema alone, for trying settings where no private data may be used.
#
# One simple model for tables and transactions. People are of a few hidden kinds. Every kind has
# habits of its own: a narrow part of each numeric scale, an order of preference among values or
# items, a class. With probability `dependence` a value follows the habit of the person's kind, else
# what is common to all: a hump somewhere on a numeric scale, values of which the k-th in some order
# is as frequent as 1/k^2, items of which it is as frequent as 1/k. Real data differs: only what is
# in the schema is taken from it.

KINDS = 6
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
            (1 - dependence) * _common(attribute, random)[None, :]
            + dependence * np.stack([_habit(attribute, random) for _ in range(KINDS)])
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
            for one in range(len(self.shares)):
                mine = np.flatnonzero(kind == one)
                edges = np.cumsum(column[one])
                found = np.searchsorted(edges, random.random(len(mine)) * edges[-1], side="right")
                codes[mine, place] = np.minimum(found, sizes[place] - 1)
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


def as_frame(table: Table) -> pa.Table:
    """Rows of a simulated or public table in the words of its schema."""
    schema, random = table.schema, np.random.default_rng(0)
    return pa.table(
        {
            attribute.name: values_of(attribute, table.codes[:, place].astype(np.int64), random)
            for place, attribute in enumerate(schema.columns)
        }
    )


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
    found: Floats = weights / weights.sum()
    return found


def _common(attribute: Attribute, random: np.random.Generator) -> Floats:
    if isinstance(attribute, Numeric):
        return _hump(attribute, random.uniform(0.1, 0.9), 0.12)
    return _falling(attribute.size, 2)[random.permutation(attribute.size)]


def _habit(attribute: Attribute, random: np.random.Generator) -> Floats:
    if isinstance(attribute, Numeric):
        return _hump(attribute, random.uniform(0, 1), 0.05)
    return _falling(attribute.size, 3)[random.permutation(attribute.size)]


def _hump(attribute: Numeric, middle: float, width: float) -> Floats:
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


@dataclass(frozen=True, kw_only=True)
class Result:
    """One run."""

    specializations: int | None
    depth: int | None
    regions: int
    values: Values


def _published(
    data: Table | Transactions, method: Publisher, epsilon: Number, delta: Number, seed: int
) -> tuple[Any, Release]:
    budget = method.plan(data.schema, epsilon, delta).budget
    done = run(data, method, budget, SecureSampler(Keystream(seed)))
    words = {"epsilon": str(budget.epsilon), "private": False}
    return done, release_of(data.schema, method, done, words)


def published(
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
    return _published(data, method, epsilon, delta, seed)[1]


class TableTrial:
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
        self.floor = None
        if test is not None:
            largest = np.bincount(table.codes[:, -1].astype(np.int64)).argmax()
            self.floor = float(100 * np.mean(test.codes[:, -1] == largest))

    def run(self, method: Publisher, epsilon: Number, delta: Number, seed: int) -> Result:
        """Publishes the table and compares."""
        done, release = _published(self.table, method, epsilon, delta, seed)
        values = self._errors(release.count(self.queries).estimate)
        if self.test is not None:
            told = release.majority(self.test.codes[:, :-1])
            if told is not None:
                values["accuracy"] = float(100 * np.mean(told == self.test.codes[:, -1]))
        number = release.describe().number
        return Result(
            specializations=done.plan.specializations,
            depth=done.plan.depth,
            regions=number,
            values=values,
        )

    def _errors(self, estimate: Floats) -> Values:
        bound = max(1.0, _SANITY * self.table.codes.shape[0])
        off = np.abs(estimate - self.truth) / np.maximum(self.truth, bound)
        return {"median_error": float(np.median(off)), "mean_error": float(off.mean())}


class TransactionsTrial:
    """Transactions to publish, and sets of items with their true supports."""

    blind = floor = ceiling = None

    def __init__(self, transactions: Transactions, seed: int) -> None:
        items = transactions.schema.transaction_items
        self.transactions, self.labels = transactions, items.labels
        # of rare items hardly any set is in a record, and answering 0 would always be right
        supports = np.bincount(transactions.codes, minlength=items.size)
        known = np.argsort(-supports, kind="stable")[:FREQUENT].tolist()
        drawn = random_itemsets(len(known), LONGEST, QUERIES, seed)
        self.sets = [tuple(sorted(known[place] for place in one)) for one in drawn]
        self.truth = exact_supports(transactions, self.sets)
        self.top = top_itemsets(transactions, TOP)

    def run(self, method: Publisher, epsilon: Number, delta: Number, seed: int) -> Result:
        """Publishes the transactions and compares."""
        schema = self.transactions.schema
        _, made = _published(self.transactions, method, epsilon, delta, seed)
        release = made.expect(TransactionsRelease)
        asked = [[self.labels[code] for code in one] for one in self.sets]
        told = np.asarray(release.count(asked).estimate, dtype=np.float64)
        off = relative_errors(self.truth, told, len(self.transactions.start) - 1)
        listed = release.frequent(TOP, kind="arrow").to_pydict()
        pairs = [
            (tuple(sorted(map(schema.transaction_items.code_of, one))), float(support))
            for one, support in zip(listed["items"], listed["estimate"], strict=True)
        ]
        values = {
            "median_itemset_error": float(np.median(off)),
            "mean_itemset_error": float(off.mean()),
            "top_utility": top_utility(self.top, pairs),
        }
        return Result(
            specializations=None, depth=None, regions=release.partition.cells, values=values
        )


class Simulated:
    """Data simulated anew for each run."""

    def __init__(self, schema: Schema, rows: int, dependence: float) -> None:
        self.schema, self.rows, self.dependence = schema, rows, dependence

    def data_of(self, seed: int) -> Table | Transactions:
        """People from another population."""
        if self.schema.kind == "transactions":
            return simulated_transactions(self.schema, self.rows, self.dependence, seed)
        return HiddenKinds.of(self.schema, self.dependence, seed).draw(self.rows, seed + 1)

    def trial(self, seed: int) -> TableTrial | TransactionsTrial:
        """Another population, and people from it."""
        if self.schema.kind == "transactions":
            transactions = simulated_transactions(self.schema, self.rows, self.dependence, seed)
            return TransactionsTrial(transactions, seed)
        people = HiddenKinds.of(self.schema, self.dependence, seed)
        table = people.draw(self.rows, seed + 1)
        if self.schema.target is None:
            return TableTrial(table, None, None, seed)
        test = people.draw(TEST_ROWS, seed + 2)
        return TableTrial(table, test, people.best_accuracy(test), seed)


class Public:
    """A public table: for each run other rows of it are published, the rest are tested on."""

    def __init__(self, schema: Schema, source: Any, rows: int | None) -> None:
        self.schema = schema
        self.data: Any
        if schema.kind == "table":
            self.data = read(source, schema)
            there = self.data.codes.shape[0]
        else:
            self.data = read_transactions(source, schema)
            there = len(self.data.start) - 1
        # a third is kept back where there are classes to tell
        most = there - there // 3 if schema.target is not None else there
        if most < 1:
            raise DataError("The public table has no rows.", hint="Name another one.")
        self.rows = min(rows or most, most)

    def data_of(self, seed: int) -> Table | Transactions:
        """Other rows of the table."""
        trial = self.trial(seed)
        return trial.table if isinstance(trial, TableTrial) else trial.transactions

    def trial(self, seed: int) -> TableTrial | TransactionsTrial:
        """Other rows of the table."""
        random = np.random.default_rng(seed)
        if self.schema.kind == "transactions":
            chosen = np.sort(random.permutation(len(self.data.start) - 1)[: self.rows])
            return TransactionsTrial(_some(self.data, chosen), seed)
        order = random.permutation(self.data.codes.shape[0])
        table = Table(self.schema, self.data.codes[order[: self.rows]])
        if self.schema.target is None:
            return TableTrial(table, None, None, seed)
        rest = order[self.rows :][:TEST_ROWS]
        return TableTrial(table, Table(self.schema, self.data.codes[rest]), None, seed)


def _some(transactions: Transactions, chosen: Ints) -> Transactions:
    size = np.diff(transactions.start)[chosen]
    start = np.concatenate([[0], np.cumsum(size)]).astype(np.int64)
    place = np.repeat(transactions.start[chosen] - start[:-1], size) + np.arange(start[-1])
    return Transactions(transactions.schema, start, transactions.codes[place])


# How accurate numbers of a release are to be, in the words of whoever will use them.
#
#     count of 500 within 60      the count of a value, or of a band of a number, that about 500
#                                 records have is off by at most 60 (or 12%, of these 500)
#     job within 2%               every share in the table of job is off by at most 2 points
#     illness by home within 60 a count in this table, which the release will measure, is off by
#                                 at most 60 (or 1%, of all records) in 95 of 100 cases
#
# Errors are compared on data that is simulated or public.


NEAREST = 5  # counts that a target about a count is tried on, in each release
_FAR = 2.0  # a count that is so many times larger or smaller is not "about" the one that is meant
_NUMBER = r"(\d[\d,_]*(?:\.\d+)?|\.\d+)"
_TARGET = re.compile(rf"\s*(.+?)\s+within\s+{_NUMBER}\s*(%?)\s*", re.I | re.S)
_COUNT = re.compile(rf"count\s+of\s+{_NUMBER}", re.I)


@dataclass(frozen=True, kw_only=True)
class AccuracyTarget:
    """How accurate a number of a release should be.

    Args:
        text: As it was written.
        bound: The error that is allowed: in records, or in shares of all records.
        count: About how many records are counted; None for a target about a table.
        attribute: Whose table it is about.
        columns: The columns of the named table that it is about.
        share: Whether the error is a share.
    """

    text: str
    bound: float
    count: float | None = None
    attribute: str | None = None
    columns: tuple[str, ...] = ()
    share: bool = False

    def format_error(self, error: float) -> str:
        """An error in the terms of the target.

        Example:
            >>> AccuracyTarget(text="", bound=1, count=500).format_error(61.2)
            '61'
            >>> AccuracyTarget(text="", bound=0.02, attribute="a", share=True).format_error(0.0213)
            '2.1%'
        """
        return f"{error:.1%}" if self.share else f"{error:,.{0 if error >= 10 else 1}f}"


Cells = Mapping[str, tuple[Floats, Floats]]
"""For each attribute (or "item") the estimates of the cells of its table, and their true counts."""


def read_target(text: str, schema: Schema) -> AccuracyTarget:
    """Reads a target.

    Raises:
        UsageError: If it cannot be understood, or no attribute has that name.

    Example:
        >>> schema = Schema.from_dict({"name": "s", "unit": "row", "attributes": {
        ...     "job": {"type": "categorical", "values": ["cook", "nurse"]}}})
        >>> read_target("count of 500 within 12%", schema).bound
        60.0
        >>> read_target("job within 2%", schema).bound
        0.02
        >>> from hedgerow import sample
        >>> read_target("readmitted by home within 60", sample.schema()).columns
        ('readmitted', 'home')
    """
    match = _TARGET.fullmatch(text)
    if match is None:
        raise UsageError(
            f"the target {text!r} cannot be understood",
            hint='Write "count of 500 within 60", or "job within 2%" for the table of job.',
        )
    what, number, percent = match[1], _number(match[2]), bool(match[3])
    if number <= 0:
        raise UsageError(f"the target {text!r} allows no error", hint="Every release has some.")
    count = _COUNT.fullmatch(what)
    if count is not None:
        about = _number(count[1])
        if about <= 0:
            raise UsageError(f"the target {text!r} counts nobody", hint="Name a count above 0.")
        bound = about * number / 100 if percent else number
        return AccuracyTarget(text=text, bound=bound, count=about)
    bound = number / 100 if percent else number
    names = [column.name for column in schema.columns]
    if what not in names and " " in what.strip() and names:
        (table,) = replace(schema, tables=()).with_tables([what]).tables
        columns = tuple(schema.columns[place].name for place in table.places)
        return AccuracyTarget(text=text, bound=bound, columns=columns, share=percent)
    if what not in names:
        raise UsageError(
            f"the target {text!r} is about an attribute that the schema does not have",
            hint=suggest(what, names, "Its attributes")
            if names
            else 'For transactions, write "count of 500 within 60".',
        )
    if not percent:
        raise UsageError(
            f"the target {text!r} does not say percent",
            hint=f'Shares of a table are meant: write "{what} within 2%".',
        )
    return AccuracyTarget(text=text, bound=bound, attribute=what, share=True)


def _number(text: str) -> float:
    return float(text.replace(",", "").replace("_", ""))


def cells_of_release(release: Release, data: Any, names: Sequence[str] | None = None) -> Cells:
    """What a release says of the cells of one-way tables, beside the truth.

    Args:
        release: A release of simulated or public data.
        data: That data, as it was published.
        names: Which attributes; all without it.
    """
    if isinstance(data, Transactions):
        (spread,) = release.histograms()
        truth = np.bincount(data.codes, minlength=len(spread.counts)).astype(np.float64)
        return {"item": (spread.counts, truth)}
    schema, found = release.schema, {}
    target = [] if schema.target is None else [schema.target.name]
    for name in names or [*(attribute.name for attribute in schema.attributes), *target]:
        _, cells = cells_of(schema, divisions_of(schema, (name,), None, release.bands), Query(()))
        found[name] = release.estimate(cells), exact_counts(data, cells)
    return found


def errors_of(target: AccuracyTarget, cells: Cells, records: int) -> Floats:
    """The errors that a target is about, in one release.

    For a table that is one: the largest error of its shares. For a count they are those of the
    five cells, of any attribute, whose true counts are nearest to the one that is meant; none if no
    count is within a factor of two of it.

    Args:
        target: The target.
        cells: What `cells_of_release` gave.
        records: How many records there are.
    """
    if target.attribute is not None:
        told, truth = cells[target.attribute]
        total = max(1.0, float(told.sum()))
        return np.asarray([np.abs(told / total - truth / max(1, records)).max()])
    assert target.count is not None
    told = np.concatenate([estimate for estimate, _ in cells.values()])
    truth = np.concatenate([one for _, one in cells.values()])
    distance = np.abs(np.log(np.maximum(truth, 0.5) / target.count))
    chosen = np.argsort(distance, kind="stable")[:NEAREST]
    chosen = chosen[distance[chosen] <= np.log(_FAR)]
    return np.asarray(np.abs(told - truth)[chosen])
