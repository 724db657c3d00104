"""How far off the tables that a schema names will be, before anything is spent.

Each named table is measured directly, so the law of its noise is known; only what else the release
measures, and that counts are not negative, makes its errors smaller. Noise of a table of columns is
split into what all its cells share, what each column adds, what two columns add, and so on
(analysis of variance). These parts are independent of each other for Gaussian noise and
uncorrelated for Laplace noise. Another table that holds the same columns measures the same part
again; the model weighs both by their precision, so the part that is left has the variance

    1 / (1 / v + 1 / v_1 + 1 / v_2 + ...).

Pairs of attributes that are chosen later are left out: nobody knows which. Then noise is drawn by
this law, added up where a table shows several cells as one, and 95% of what is drawn lies below the
error that is promised. Everything here follows from the schema, the budget and a guess at the
number of rows.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import chain, combinations
from math import prod

import numpy as np

from hedgerow.arrays import Floats, Ints
from hedgerow.measured.tables import Cells
from hedgerow.methods.marginals import Marginals, Shares, base_tables, named_columns, share_budget
from hedgerow.methods.publisher import Publisher
from hedgerow.privacy.budget import Number
from hedgerow.release.histogram import bands
from hedgerow.release.tabulate import divisions_of
from hedgerow.schema import Schema

ROWS = 10_000  # where nobody said how many
LEVEL = 0.95
_DRAWN = 40_000  # cells, at least
_MOST_DRAWS = 4_000


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
        """The table in words, such as "illness by region"."""
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
    paying = next(part for part in budgets.parts if part.name == budgets.growth)
    shares = share_budget(schema, paying, rows, method.pairs)
    unit, pure = float(paying.unit), paying.name == "epsilon"
    cells = Cells.of(schema, shares.parts)
    tables = [named_columns(schema, table) for table in schema.tables]

    def variance(units: int, tables: int) -> float:
        amount = unit * units / tables
        return 2 / amount**2 if pure else 1 / (2 * amount)

    measured = [
        (columns, variance(units, 1)) for columns, units in zip(tables, shares.named, strict=True)
    ]
    measured += [
        (columns, variance(_paid(shares, purpose), len(base)))
        for purpose, base in base_tables(cells, shares).items()
        for columns in base
    ]
    random = np.random.default_rng(0)  # the same promise wherever it is asked for
    found = []
    for place, columns in enumerate(tables):
        others = measured[:place] + measured[place + 1 :]
        starts = [_shown(schema, cells, column) for column in columns]
        errors = _draw_errors(cells, columns, measured[place][1], others, starts, pure, random)
        found.append(
            ExpectedError(
                names=tuple(schema.columns[column].name for column in columns),
                cells=prod(map(len, starts)),
                error=float(np.quantile(errors, LEVEL)),
                rows=rows,
            )
        )
    return tuple(found)


def _paid(shares: Shares, purpose: str) -> int:
    return shares.single if purpose == "single" else shares.by_class


def _shown(schema: Schema, cells: Cells, column: int) -> Ints:
    """Where, among the cells of a column, those begin that a release shows as one."""
    if column == cells.attributes:
        return np.arange(cells.classes)
    edges, attribute = cells.edges[column], schema.columns[column]
    ((_, parts),) = divisions_of(schema, (attribute.name,), None, lambda _: bands(attribute, edges))
    return np.unique(np.searchsorted(edges[:-1], [low for _, low, _ in parts]))


def _draw_errors(
    cells: Cells,
    columns: tuple[int, ...],
    variance: float,
    others: Sequence[tuple[tuple[int, ...], float]],
    starts: Sequence[Ints],
    pure: bool,
    random: np.random.Generator,
) -> Floats:
    """How far off the cells that are shown are, in many draws of the noise of a table.

    Args:
        cells: The cells of all columns.
        columns: The columns of the table.
        variance: Of its noise.
        others: Other tables that are measured, each with the variance of its noise.
        starts: For each column the cells at which those begin that are shown as one.
        pure: Whether noise is Laplace noise.
        random: Where noise comes from.
    """
    shape = cells.shape(columns)
    draws = min(_MOST_DRAWS, max(1, -(-_DRAWN // prod(map(len, starts)))))
    draw = random.laplace if pure else random.normal
    scale = np.sqrt(variance / 2 if pure else variance)
    noise = draw(0.0, scale, (draws, *shape))
    axes = range(len(columns))
    parts: dict[tuple[int, ...], Floats] = {}
    for kept in chain.from_iterable(combinations(axes, size) for size in range(len(columns) + 1)):
        away = tuple(axis + 1 for axis in axes if axis not in kept)
        mean = noise.mean(axis=away, keepdims=True)
        parts[kept] = mean - sum(part for inner, part in parts.items() if {*inner} < {*kept})
    left = np.zeros_like(noise)
    for kept, part in parts.items():
        again = 0.0  # how often more precisely the part is measured by other tables
        for other, spread in others:
            if {columns[axis] for axis in kept} <= {*other}:
                common = [axis for axis in axes if columns[axis] in other]
                beside = [column for column in other if column not in columns]
                own = variance * prod(shape[axis] for axis in axes if axis not in common)
                again += own / (spread * prod(cells.shape(beside)))
        left += part / np.sqrt(1 + again)
    for axis, begin in enumerate(starts):
        left = np.add.reduceat(left, begin, axis=axis + 1)
    return np.abs(left).ravel()
