"""`MarginalsRelease`: noisy tables of columns and the model that is fitted to them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import pairwise

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from hedgerow.arrays import Floats, Ints
from hedgerow.errors import UsageError
from hedgerow.estimate.answers import Answers, by_model, typical_error, with_queries
from hedgerow.estimate.cells import check_whole, rows_of
from hedgerow.estimate.graphical import GraphicalModel, fit_model
from hedgerow.estimate.intervals import Bounds, sum_ends
from hedgerow.estimate.queries import (
    MODELED,
    RULED_OUT,
    Conditions,
    basis_of,
    check_level,
    find_ruled_out,
    read_many,
)
from hedgerow.estimate.tables import Cells, Tables
from hedgerow.release.base import Description, Questions, noisy_counts, protected_rows
from hedgerow.release.measured import PredictingRelease
from hedgerow.release.plain_files import ROWS_SEED, weighted
from hedgerow.release.summaries import Values, bands, divided
from hedgerow.schema import CLASS, Numeric, Query
from hedgerow.store.frames import Frame
from hedgerow.suggestions import answer_mistakes

_MOST_ROWS = 1 << 24  # a release may come from anybody, and claim any number


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class MarginalsRelease(PredictingRelease):
    """Noisy tables of attributes, by the class and by each other, under a guarantee.

    Args:
        partition: The cells of attributes and their groups.
        measurements: The noisy counts.

    Example:
        >>> from hedgerow import publish, sample
        >>> release = publish(sample.people(500), sample.schema(), "marginals", epsilon=10, seed=1)
        >>> release.tables.tables[0].kind, release.synthesize(3, seed=1).num_rows
        ('by_class', 3)
    """

    kind = "marginals"
    of = "table"
    shapes = ("cells",)
    derived = ()
    estimator = 3

    partition: Cells

    def describe(self) -> Description:
        """See `Release.describe`."""
        return Description(
            parts="tables",
            part="table",
            number=len(self.tables.tables),
            summary="It holds noisy tables of attributes, alone and together. No raw record is in "
            "it, and no exact count.",
            people=f"{self.schema.unit_names[1]} counted",
            largest="tables",
            counts=noisy_counts(self.guarantee),
            protected=protected_rows(self.schema),
            suppressed=None,
            processed="One model is fitted to all noisy tables; estimates and synthetic rows come "
            "from it, intervals from the tables.",
        )

    @cached_property
    def tables(self) -> Tables:
        """What was measured, table by table."""
        return Tables.of(self.schema, self.partition, self.measurements)

    @cached_property
    def model(self) -> GraphicalModel:
        """The model that all estimates come from."""
        return fit_model(self.tables)

    def _prepare(self, progress: Callable[[float], None]) -> None:
        """See `Release._prepare`: fits the model."""
        if "model" not in self.__dict__:
            self.__dict__["model"] = fit_model(self.tables, progress=progress)

    @cached_property
    def bounds(self) -> Bounds:
        """What is sure about counts, but for the noise."""
        return Bounds(self.tables)

    @answer_mistakes
    def synthesize(
        self, n: int | None = None, *, seed: int | None = None, kind: str | None = None
    ) -> Frame:
        """Rows like those of the table, in random order; see `Release.synthesize`."""
        check_whole("n", n)
        check_whole("seed", seed)
        rows = round(self.tables.number) if n is None else n
        if n is None and rows > _MOST_ROWS:
            raise UsageError(
                "this release counts very many records, more than are drawn unasked",
                hint="Say how many rows you want (--rows, n=).",
            )
        random = np.random.default_rng(seed)
        codes, classes = self.model.draw(rows, random)
        return self._frame(rows_of(self.schema, codes, classes, random), kind)

    def _weights(self, codes: NDArray[np.integer]) -> Floats:
        """See `PredictingRelease._weights`."""
        return self.model.probabilities(codes.astype(np.int64))

    @answer_mistakes
    def count(self, queries: Questions, *, level: float = 0.95) -> Answers:
        """See `Release.count`: estimates by the model, and intervals that do not depend on it."""
        share = check_level(level)
        asked = read_many(queries, self.schema)
        estimate, conditions = self.model.count(asked), Conditions.of(asked)
        ends = self.bounds.ends(conditions, share)
        nobody = find_ruled_out(self.schema, conditions)
        typical = np.where(nobody, 0.0, typical_error(self.bounds, conditions, estimate))
        answers = with_queries(by_model(estimate, typical, ends, share), asked, self.schema)
        together = self.bounds.together(conditions)
        basis = basis_of(asked, together, self._unmeasured, MODELED)
        return replace(answers, basis=np.where(nobody, RULED_OUT, basis))

    def estimate(self, queries: Questions) -> Floats:
        """See `Release.estimate`."""
        return self.model.count(read_many(queries, self.schema))

    @cached_property
    def _unmeasured(self) -> frozenset[int]:
        counted = {column for table in self.tables.tables for column in table.columns}
        return frozenset(set(self.partition.counted) - counted)

    @property
    def unmeasured(self) -> tuple[str, ...]:
        """See `Release.unmeasured`."""
        return tuple(self.schema.attributes[place].name for place in sorted(self._unmeasured))

    def bands(self, place: int) -> tuple[int, ...]:
        """See `Release.bands`. Bands of many records are divided as finely as was counted."""
        if place not in self._bands:
            edges, column = self.measured_edges(place), self.schema.columns[place]
            found = bands(column, edges) if len(edges) else super().bands(place)
            if isinstance(column, Numeric) and len(edges) > len(found):
                spans = pairwise(edges.tolist())
                cells = [Query(((place, ((float(low), float(high)),)),)) for low, high in spans]
                found = divided(found, edges, self.model.count(cells))
            self._bands[place] = found
        return self._bands[place]

    @cached_property
    def _bands(self) -> dict[int, tuple[int, ...]]:
        return {}

    def measured_edges(self, place: int) -> Ints:
        """The edges, in codes, of the cells in which a column was counted over everybody.

        Parts of cells are left out where noise hides how records lie in them.
        """
        if place in (CLASS, self.partition.attributes):
            return np.arange(self.partition.classes + 1)
        if place in self._unmeasured:
            return np.empty(0, np.int64)
        return self.tables.informative_edges(place)

    def sum_ends(
        self, place: int, group: Query, level: float, *, mean: bool
    ) -> tuple[float, float] | None:
        """See `Release.sum_ends`."""
        number = self.schema.attributes[place]
        assert isinstance(number, Numeric)
        values = Values.of(number, self.partition.edges[place])
        asked = Conditions.of([group])
        ends = values.least, values.most
        return sum_ends(self.bounds, asked, place, ends, level, mean=mean)

    def stand_ins(self) -> pa.Table:
        """See `Release.stand_ins`: each row stands for as many records as any other.

        Counts and tables are counts of these rows, so sums of weights agree with them.
        """
        codes, classes = self.model.stand_ins
        rows = rows_of(self.schema, codes, classes, np.random.default_rng(ROWS_SEED))
        return weighted(rows, self.schema, self.model.total / max(1, rows.num_rows))

    def counted_tables(self) -> list[tuple[str, ...]]:
        """See `Release.counted_tables`: also what was named or chosen."""
        names = [one.name for one in self.schema.columns]
        together = [
            tuple(names[column] for column in sorted(table.columns))
            for table in self.tables.tables
            if len(table.columns) > 1
        ]
        return list(dict.fromkeys([*super().counted_tables(), *together]))

    def check(self) -> None:
        """See `MeasuredRelease.check`."""
        self.partition.check(self.schema)
        _ = self.tables  # which looks at all cells
