"""How far off the tables that a schema names will be, before anything is spent.

Each named table is measured directly, at a price that follows from the budget and the weights, so
the law of its noise is known. Noise is drawn by this law, added up where a table shows several
cells as one, and 95% of what is drawn lies below the error that is promised. What else a release
measures, and that counts are not negative, mostly makes errors smaller: nothing is promised of it.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from hedgerow.arrays import Ints
from hedgerow.measured.tables import Cells
from hedgerow.methods.marginals import Marginals, named_columns, share_budget
from hedgerow.methods.publisher import Publisher
from hedgerow.privacy.budget import Number
from hedgerow.release.histogram import bands
from hedgerow.release.tabulate import divisions_of
from hedgerow.schema import Schema

ROWS = 10_000  # where nobody said how many
LEVEL = 0.95
_DRAWN = 40_000  # cells, at least


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
    cells = Cells.of(schema, shares.parts)
    random = np.random.default_rng(0)  # the same promise wherever it is asked for
    found = []
    for table, units in zip(schema.tables, shares.named, strict=True):
        columns = named_columns(schema, table)
        starts = [_shown(schema, cells, column) for column in columns]
        amount = float(paying.unit) * units
        shape = (max(1, -(-_DRAWN // math.prod(map(len, starts)))), *cells.shape(columns))
        if paying.name == "epsilon":
            noise = random.laplace(0.0, 1 / amount, shape)
        else:
            noise = random.normal(0.0, 1 / math.sqrt(2 * amount), shape)
        for axis, begin in enumerate(starts):
            noise = np.add.reduceat(noise, begin, axis=axis + 1)
        found.append(
            ExpectedError(
                names=tuple(schema.columns[column].name for column in columns),
                cells=math.prod(map(len, starts)),
                error=float(np.quantile(np.abs(noise), LEVEL)),
                rows=rows,
            )
        )
    return tuple(found)


def _shown(schema: Schema, cells: Cells, column: int) -> Ints:
    """Where, among the cells of a column, those begin that a release shows as one."""
    if column == cells.attributes:
        return np.arange(cells.classes)
    edges, attribute = cells.edges[column], schema.columns[column]
    ((_, parts),) = divisions_of(schema, (attribute.name,), None, lambda _: bands(attribute, edges))
    return np.unique(np.searchsorted(edges[:-1], [low for _, low, _ in parts]))
