"""How far off the numbers of a release will be before anything is spent, and what epsilon it takes.

Each named table is measured directly, at a price that follows from the budget and the weights, so
the law of its noise is known. Noise is drawn by this law, added up where a table shows several
cells as one, and 95% of what is drawn lies below the error that is promised. What else a release
measures, and that counts are not negative, mostly makes errors smaller: nothing is promised of it.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from typing import Any

import numpy as np

from hedgerow.arrays import Floats, Ints
from hedgerow.data import Transactions
from hedgerow.data.source import Progress, silent
from hedgerow.errors import UsageError
from hedgerow.estimate.tables import Cells
from hedgerow.evaluation.measures import exact_counts
from hedgerow.evaluation.simulate import publish_seeded, source_of
from hedgerow.methods.marginals import Marginals, named_columns, share_budget
from hedgerow.methods.publisher import Publisher
from hedgerow.privacy.budget import Number
from hedgerow.release import Release
from hedgerow.release.count_tables import bands, cells_of, divisions_of
from hedgerow.schema import Query, Schema
from hedgerow.schema.conditions import suggest

ROWS = 10_000  # where nobody said how many
LEVEL = 0.95
_DRAWN = 40_000  # cells, at least
_HUNDREDTH = 0.01  # smaller shares have two digits more


@dataclass(frozen=True, kw_only=True)
class ExpectedError:
    """How far off one named table will be.

    Args:
        names: Its columns.
        cells: How many cells the release shows of it.
        error: In 95 of 100 cells the count is off by less.
        rows: The number of rows that this was worked out for.
    """

    names: tuple[str, ...]
    cells: int
    error: float
    rows: int

    @property
    def title(self) -> str:
        """The table in words, such as "illness by home"."""
        return " by ".join(self.names)

    def describe(self) -> str:
        """The promise as a sentence.

        Example:
            >>> ExpectedError(names=("ill", "home"), cells=4, error=31.4, rows=1000).describe()
            'ill by home: each count is off by less than 32 in 95 of 100 cases'
        """
        return (
            f"{self.title}: each count is off by less than {self.format_error()} in 95 of 100 cases"
        )

    def format_error(self) -> str:
        """The error as a number that is not too small: rounded up to a whole count."""
        return f"{np.ceil(self.error):,.0f}"

    def format_share(self) -> str:
        """The error as a share of all rows."""
        share = self.error / self.rows
        return f"{share:.0%}" if share >= _HUNDREDTH else f"{share:.2%}"


def expected_errors(
    schema: Schema,
    method: Publisher,
    epsilon: Number = 1,
    delta: Number = 0,
    rows: int | None = None,
) -> tuple[ExpectedError, ...]:
    """How far off each table that a schema names will be, in the schema's order; opens no data.

    Args:
        schema: The public schema, with its tables (see `Schema.with_tables`).
        method: The method; one that does not measure named tables promises nothing.
        epsilon: The privacy budget.
        delta: The same.
        rows: About how many rows there are, as anyone may know; 10,000 without it.

    Example:
        >>> from hedgerow import Marginals, sample
        >>> schema = sample.schema().with_tables(["readmitted sex"])
        >>> (one,) = expected_errors(schema, Marginals(), epsilon=1, rows=2000)
        >>> one.title, one.cells, one.error < 40
        ('readmitted by sex', 6, True)
    """
    if not schema.tables or not isinstance(method, Marginals):
        return ()
    rows = rows or ROWS
    budgets = method.plan(schema, epsilon, delta, rows).budgets
    paying = budgets.paying
    shares = share_budget(schema, paying, rows, method.pairs)
    cells = Cells.of(schema, shares.parts)
    random = np.random.default_rng(0)  # the same promise wherever it is asked for
    promises = []
    for table, units in zip(schema.tables, shares.named, strict=True):
        columns = named_columns(schema, table)
        starts = [_starts_shown(schema, cells, column) for column in columns]
        amount = float(paying.unit) * units
        shape = (max(1, -(-_DRAWN // math.prod(map(len, starts)))), *cells.shape(columns))
        if paying.name == "epsilon":
            noise = random.laplace(0.0, 1 / amount, shape)
        else:
            noise = random.normal(0.0, 1 / math.sqrt(2 * amount), shape)
        for axis, begin in enumerate(starts):
            noise = np.add.reduceat(noise, begin, axis=axis + 1)
        promises.append(ExpectedError(
            names=tuple(schema.columns[column].name for column in columns),
            cells=math.prod(map(len, starts)), error=float(np.quantile(np.abs(noise), LEVEL)),
            rows=rows,
        ))  # fmt: skip
    return tuple(promises)


def _starts_shown(schema: Schema, cells: Cells, column: int) -> Ints:
    """Where, among the cells of a column, those begin that a release shows as one."""
    if column == cells.attributes:
        return np.arange(cells.classes)
    edges, attribute = cells.edges[column], schema.columns[column]
    ((_, parts),) = divisions_of(schema, (attribute.name,), None, lambda _: bands(attribute, edges))
    return np.unique(np.searchsorted(edges[:-1], [low for _, low, _ in parts]))


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


TableCells = Mapping[str, tuple[Floats, Floats]]
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


def cells_of_release(release: Release, data: Any, names: Sequence[str] | None = None) -> TableCells:
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
    schema, tables = release.schema, {}
    target = [] if schema.target is None else [schema.target.name]
    for name in names or [*(attribute.name for attribute in schema.attributes), *target]:
        _, cells = cells_of(schema, divisions_of(schema, (name,), None, release.bands), Query(()))
        tables[name] = release.estimate(cells), exact_counts(data, cells)
    return tables


def errors_of(target: AccuracyTarget, cells: TableCells, records: int) -> Floats:
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


# Which epsilon reaches accuracy targets, on simulated or public data.
#
# No private data comes here. Errors are expected at 95%: on tables like those that were tried, a
# release of the planned epsilon keeps to it in 95 of 100 cases. Since real data differs from
# simulated data, bounds are held with a margin. Errors of named tables follow from the law of their
# noise , so nothing is tried and no margin is needed.

EPSILONS = ("0.05", "0.1", "0.15", "0.2", "0.3", "0.5", "0.7", "1", "1.5", "2", "3", "5", "7", "10")
FIRST = ("0.1", "0.5", "2", "10")  # tried for every method; others only where they decide
MARGIN = 1.15  # for what real data has and simulated data lacks
_BETWEEN = 2  # more at most that a bisection between two of these tries
_TAIL = 2.2  # 95% of errors are below so many root mean squares: 1.96 for normal, 2.12 for Laplace
_SPREAD = 2.0  # and of largest errors below the mean and so many standard deviations


@dataclass(frozen=True, kw_only=True)
class TargetResult:
    """What an accuracy target takes.

    Args:
        target: The target.
        epsilon: The least epsilon that was tried and reaches it; None if none does.
        errors: For each epsilon that was tried, the error at 95%, with its margin; None where no
            count is near the one that is meant.
    """

    target: AccuracyTarget
    epsilon: str | None
    errors: dict[str, float | None]


@dataclass(frozen=True, kw_only=True)
class AccuracyPlan:
    """A plan by accuracy.

    Args:
        setting: The method and its settings, in words.
        epsilon: The least epsilon that reaches all targets; None if none does.
        targets: What each target takes.
        rows: How many rows were tried.
        runs: How many releases of each epsilon were tried; none if all targets are named tables.
        public: The public table that was named, or None if rows were simulated.
    """

    setting: str
    epsilon: str | None
    targets: tuple[TargetResult, ...]
    rows: int
    runs: int
    public: str | None

    def to_dict(self) -> dict[str, Any]:
        """All of it for JSON."""
        return asdict(self)


def error_at_95(target: AccuracyTarget, runs: Sequence[Floats]) -> float | None:
    """The error that 95% of cases stay below, from the errors of some runs.

    Args:
        target: The target.
        runs: The errors of each run.

    Example:
        >>> target = AccuracyTarget(text="", bound=1, count=9)
        >>> round(error_at_95(target, [np.array([3.0, -4.0])]), 1)
        8.9
    """
    errors = np.concatenate([*runs, np.zeros(0)])
    if not len(errors):
        return None
    if target.count is not None:
        usual = _TAIL * float(np.sqrt(np.mean(errors**2)))
    else:
        usual = float(errors.mean() + _SPREAD * errors.std())
    return MARGIN * usual


def most_epsilons(targets: int) -> int:
    """How many epsilons are tried for each method, at most.

    Example:
        >>> most_epsilons(1), most_epsilons(40)
        (6, 14)
    """
    return min(len(EPSILONS), len(FIRST) + _BETWEEN * targets)


def plan_by_accuracy(
    schema: Schema,
    targets: Sequence[AccuracyTarget],
    methods: Sequence[tuple[str, Publisher]],
    *,
    delta: Number = 0,
    rows: int | None = None,
    runs: int = 10,
    dependence: float = 0.5,
    public: Any = None,
    seed: int = 1,
    progress: Progress = silent,
    stage: Callable[[str], None] = lambda words: None,
) -> tuple[AccuracyPlan, ...]:
    """The least epsilon of a public list that reaches all targets, for each method, the best first.

    NEVER name a private table as `public`.

    Args:
        schema: The public schema.
        targets: How accurate numbers should be.
        methods: Methods, each with what to call it.
        delta: The same for all.
        rows: How many rows the data has, as anyone may know; 10,000 by default.
        runs: How many releases of each epsilon are tried.
        dependence: How strongly simulated columns depend on each other, from 0 to 1.
        public: A PUBLIC table that keeps to the schema, instead of simulated rows.
        seed: For the same results again.
        progress: Called after each release with the share that is done of those that may be needed.
        stage: Called with what is done next, in words.

    Example:
        >>> from hedgerow.methods.diffgen import DiffGen
        >>> schema = Schema.from_dict({"name": "s", "unit": "row", "attributes": {
        ...     "ill": {"type": "boolean"}}})
        >>> target = read_target("ill within 90%", schema)
        >>> plan_by_accuracy(schema, [target], [("d", DiffGen())], rows=500, runs=1)[0].epsilon
        '0.05'
    """
    if not targets or not methods:
        raise UsageError("there is nothing to plan", hint="Name a target and a method.")
    if runs < 1 or (rows is not None and rows < 1):
        raise UsageError("rows and runs must be at least 1.", hint="Leave them out.")
    schema = with_targets(schema, targets)
    rows, draw = source_of(schema, rows, dependence, public)
    if all(target.columns for target in targets):
        runs = 0
    stage("making rows")
    data = [draw(seed * 1000 + number).data for number in range(runs)]
    plans = []
    most = most_epsilons(len(targets)) * max(1, runs)
    for place, (setting, method) in enumerate(methods):

        def tell_try(done: int, epsilon: str, place: int = place, setting: str = setting) -> None:
            progress((place + done / most) / len(methods))
            stage(f"{setting}, epsilon {epsilon}")

        results = _search(schema, method, targets, delta, data, rows, seed, tell_try)
        progress((place + 1) / len(methods))  # fewer releases may have been enough
        needed = [one.epsilon for one in results]
        known = [EPSILONS.index(epsilon) for epsilon in needed if epsilon is not None]
        plans.append(AccuracyPlan(
            setting=setting, epsilon=None if None in needed else EPSILONS[max(known)],
            targets=results, rows=rows, runs=runs,
            public=None if public is None else str(public),
        ))  # fmt: skip
    progress(1.0)
    return tuple(sorted(plans, key=_order))


def with_targets(schema: Schema, targets: Sequence[AccuracyTarget]) -> Schema:
    """The schema with the tables that targets are about, which a release then measures too."""
    for target in targets:
        tables = ({schema.columns[place].name for place in one.places} for one in schema.tables)
        if target.columns and {*target.columns} not in tables:
            schema = schema.with_tables([list(target.columns)])
    return schema


def _order(plan: AccuracyPlan) -> tuple[int, int]:
    missed = sum(one.epsilon is None for one in plan.targets)
    least = len(EPSILONS) if plan.epsilon is None else EPSILONS.index(plan.epsilon)
    return missed, least


def _search(
    schema: Schema, method: Publisher, targets: Sequence[AccuracyTarget], delta: Number,
    data: Sequence[Any], rows: int, seed: int, tell: Callable[[int, str], None],
) -> tuple[TargetResult, ...]:  # fmt: skip
    """Tries epsilons for one method, each of them once."""
    tried: dict[str, list[float | None]] = {}

    def reaches(epsilon: str, place: int) -> bool:
        if epsilon not in tried:
            tried[epsilon] = errors_at(epsilon)
        error = tried[epsilon][place]
        return error is not None and error <= targets[place].bound

    def errors_at(epsilon: str) -> list[float | None]:
        """The error at 95% of each target."""
        counted = any(target.count is not None for target in targets)
        names = [target.attribute for target in targets if target.attribute is not None]
        runs: list[list[Floats]] = [[] for _ in targets]
        for number, one in enumerate(data):
            tell(len(tried) * len(data) + number, epsilon)
            release = publish_seeded(one, method, epsilon, delta, seed * 1000 + number)
            cells = cells_of_release(release, one, None if counted else names)
            records = len(one.start) - 1 if hasattr(one, "start") else len(one.codes)
            for place, target in enumerate(targets):
                if not target.columns:
                    runs[place].append(errors_of(target, cells, records))
        promises = expected_errors(schema, method, epsilon, delta, rows)
        named = {frozenset(promise.names): promise.error for promise in promises}
        errors = []
        for target, some in zip(targets, runs, strict=True):
            error = named.get(frozenset(target.columns))
            error = error_at_95(target, some) if error is None else error
            errors.append(error / rows if error and target.columns and target.share else error)
        return errors

    def least(place: int) -> str | None:
        """The least epsilon that reaches a target, by bisection below the least that was seen to.

        Errors mostly fall as epsilon grows, but not always: a rule that divides numbers further
        can make them larger. So one epsilon that fails does not rule out smaller ones.
        """
        known = sorted(EPSILONS.index(epsilon) for epsilon in tried)
        reached = [at for at in known if reaches(EPSILONS[at], place)]
        if not reached:
            return None
        high = reached[0]
        low = max([at for at in known if at < high], default=-1)
        while high - low > 1:
            middle = (low + high) // 2
            low, high = (low, middle) if reaches(EPSILONS[middle], place) else (middle, high)
        return EPSILONS[high]

    for epsilon in FIRST:
        tried[epsilon] = errors_at(epsilon)
    needed = [least(place) for place in range(len(targets))]
    order = sorted(tried, key=EPSILONS.index)
    return tuple(
        TargetResult(
            target=target, epsilon=needed[place],
            errors={epsilon: tried[epsilon][place] for epsilon in order},
        )
        for place, target in enumerate(targets)
    )  # fmt: skip
