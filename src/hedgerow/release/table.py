"""`TableRelease`: a table by its regions, and what can be made of it without private data."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from hedgerow.arrays import Bools, Floats, Ints
from hedgerow.errors import ReleaseError
from hedgerow.estimate.answers import USUAL, Answers, answer, answer_listed, with_queries
from hedgerow.estimate.cells import (
    Cells,
    class_weights,
    draw_rows,
    estimate_cells,
    stand_for,
    whole_counts,
)
from hedgerow.estimate.consistency import RULES
from hedgerow.estimate.noise import half_width
from hedgerow.estimate.partition import (
    GridPartition,
    Partition,
    check_against,
    csv_blocks,
    generalized_table,
    typed_table,
)
from hedgerow.estimate.queries import (
    MEASURED,
    RULED_OUT,
    Conditions,
    basis_of,
    check_level,
    find_ruled_out,
    read_many,
)
from hedgerow.release.base import Description, Questions, noisy_counts, protected_rows
from hedgerow.release.files import Content
from hedgerow.release.measured import PredictingRelease
from hedgerow.release.plain_files import ROWS_SEED, weighted
from hedgerow.release.summaries import bands
from hedgerow.store.frames import Frame
from hedgerow.suggestions import answer_mistakes

REGIONS, TABLE = "regions.parquet", "table.csv"

_DUST = 1e-6  # records: what rounding makes of a query that cuts no region


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class TableRelease(PredictingRelease):
    """Noisy measurements on public regions of a table, with the guarantee they were made under.

    Args:
        partition: The public regions: a tree or a grid.
        measurements: The noisy counts.

    Example:
        >>> from fractions import Fraction
        >>> from hedgerow.estimate.measurements import Measurement
        >>> from hedgerow.estimate.partition import GridPartition
        >>> from hedgerow.schema import Schema
        >>> schema = Schema.from_dict({"name": "ages", "unit": "row", "attributes": {
        ...     "age": {"type": "numeric", "low": 0, "high": 99}}})
        >>> counted = Measurement(name="leaf", at="region", where=np.array([0, 1]),
        ...                       values=np.array([[3], [1]]), by_class=False,
        ...                       units=np.array([1, 1]), unit=Fraction(1))
        >>> release = TableRelease(
        ...     schema=schema, method="diffgen", settings={}, guarantee={"epsilon": "1"}, ledger={},
        ...     partition=GridPartition((np.array([0, 40, 100]),)), measurements=(counted,))
        >>> release
        TableRelease('diffgen', schema='ages', epsilon=1, regions=2)
        >>> release.generalized().to_pydict()
        {'region': [0, 1], 'age': ['[0, 40)', '[40, 99]'], 'estimate': [3, 1],
        'typical_error': [4, 4]}
    """

    kind = of = "table"
    shapes = ("tree", "grid")
    derived = (REGIONS, TABLE)

    partition: Partition

    def describe(self) -> Description:
        """See `Release.describe`."""
        return Description(
            parts="regions",
            part="region",
            number=self.partition.cells,
            summary="It holds noisy counts of groups. No raw record is in it, and no exact count.",
            people=f"{self.schema.unit_names[1]} counted",
            largest="largest regions",
            counts=noisy_counts(self.guarantee),
            protected=protected_rows(self.schema),
            suppressed=self._suppressed(),
        )

    @cached_property
    def estimates(self) -> Cells:
        """What the measurements say about each published region and class, before rounding."""
        classes = max(1, len(self.schema.classes))
        rule = self.settings.get("consistency", "least squares")
        if not isinstance(rule, str) or rule not in RULES:
            raise ReleaseError(
                "the setting 'consistency' of this release is not known to this version",
                hint="Install a later version of hedgerow.",
            )
        return estimate_cells(self.partition, self.measurements, classes, rule)

    @property
    def regions(self) -> Ints:
        """The published regions: all of them, or in a thresholded release those above it."""
        return self.estimates.regions

    @cached_property
    def counts(self) -> Ints:
        """The counts of the published regions, shape [regions, classes]: whole and not negative."""
        return whole_counts(self.estimates)

    @cached_property
    def count_errors(self) -> Floats:
        """How far noise may move the count of each class in each region, with 95% (give or take).

        Not finite where a class was suppressed or not counted. Shape [regions, classes].
        """
        variance = self.estimates.variance
        unknown = np.where(variance > 0, 0.0, np.nan)
        return np.asarray(half_width(np.sqrt(variance), USUAL) + unknown)

    def generalized(self, kind: str | None = None) -> Frame:
        """The generalized table: `region`, the attributes, the class, `estimate`, `typical_error`.

        One row per region and class, in canonical order, with values like `Professional` and
        `[18, 40)`.

        Args:
            kind: The kind of frame wanted.

        Raises:
            UsageError: If an attribute is called like one of these, or the kind is unknown.

        Example:
            >>> from hedgerow import publish, sample
            >>> people, schema = sample.people(500), sample.schema()
            >>> release = publish(people, schema, "diffgen", epsilon=10, seed=1)
            >>> release.generalized().column_names[:3]
            ['region', 'age', 'sex']
        """
        return self._frame(
            generalized_table(
                self.schema, self.partition, self.regions, self.counts, self.count_errors
            ),
            kind,
        )

    @answer_mistakes
    def synthesize(
        self, n: int | None = None, *, seed: int | None = None, kind: str | None = None
    ) -> Frame:
        """Rows like those of the table, in random order; see `Release.synthesize`.

        They are drawn evenly inside the regions.
        """
        places = range(len(self.schema.attributes))
        parts = [self.partition.parts(place, self.regions) for place in places]
        return self._frame(draw_rows(self.schema, parts, self.counts, n, seed), kind)

    def stand_ins(self) -> pa.Table:
        """See `Release.stand_ins`: those of a region and class add up to its count."""
        places = range(len(self.schema.attributes))
        parts = [self.partition.parts(place, self.regions) for place in places]
        rows, weights = stand_for(self.schema, parts, self.counts, ROWS_SEED)
        return weighted(rows, self.schema, weights)

    @answer_mistakes
    def assign(self, rows: Frame) -> Frame:
        """The region that each row falls into.

        Args:
            rows: A frame or a file with the predictors of the schema; other columns are ignored.

        Returns:
            A frame of the kind of the rows, in their order, with the one column `region`; null
            where the schema would refuse or drop the row.

        Example:
            >>> from hedgerow import publish, sample
            >>> people, schema = sample.people(500), sample.schema()
            >>> release = publish(people, schema, "diffgen", epsilon=10, seed=1)
            >>> release.assign(sample.people(3, seed=2)).to_pydict()
            {'region': [9, 31, 14]}
        """
        found, known = self._locate(rows)
        return self._beside(rows, {"region": pa.array(found, mask=~known)})

    def _weights(self, codes: NDArray[np.integer]) -> Floats:
        """How likely classes are, before noise that is below 0 is cut off; see `predict`."""
        return class_weights(self.partition, self.estimates, self.partition.locate(codes))

    @answer_mistakes
    def count(self, queries: Questions, *, level: float = 0.95) -> Answers:
        """Answers count queries: how many records are there that meet some conditions?

        Args:
            queries: One query or many: text such as "age in [30, 50] and job in Professional", a
                mapping such as {"age": (30, 50), "job": "Professional"}, or a `Query`.
            level: The probability that an interval holds the truth, at least.

        Returns:
            Estimates with intervals, in the order of the queries. The parts of an interval are
            told apart: noise, and what it matters where records lie inside regions that the
            query cuts. Each says whether it was measured (`hedgerow.estimate.queries`).

        Raises:
            UsageError: If a query cannot be understood, or the level is not between 0 and 1.

        Example:
            >>> from fractions import Fraction
            >>> from hedgerow.estimate.measurements import Measurement
            >>> from hedgerow.estimate.partition import GridPartition
            >>> from hedgerow.schema import Schema
            >>> schema = Schema.from_dict({"name": "ages", "unit": "row", "attributes": {
            ...     "age": {"type": "numeric", "low": 0, "high": 99}}})
            >>> counted = Measurement(name="leaf", at="region", where=np.array([0, 1]),
            ...                       values=np.array([[30], [80]]),
            ...                       by_class=False, units=np.array([1, 1]), unit=Fraction(1))
            >>> release = TableRelease(
            ...     schema=schema, method="diffgen", settings={}, guarantee={"epsilon": "1"},
            ...     ledger={}, partition=GridPartition((np.array([0, 40, 100]),)),
            ...     measurements=(counted,))
            >>> answers = release.count(["age < 40", "age < 70"])
            >>> answers.estimate.tolist(), answers.low.tolist(), answers.high.tolist()
            ([30.0, 70.0], [27.0, 27.0], [33.0, 114.0])
        """
        share = check_level(level)
        asked = read_many(queries, self.schema)
        found = self.estimates.fit
        if found is not None:
            answers = answer(self.partition, found, asked, share)
            together = np.asarray(answers.basis == MEASURED)
        else:
            classes = max(1, len(self.schema.classes))
            answers = answer_listed(self.partition, self.measurements, classes, asked, share)
            together = np.maximum(answers.uniformity_low, answers.uniformity_high) <= _DUST
        answers = with_queries(answers, asked, self.schema)
        basis = basis_of(asked, together, self._unmeasured)
        if not self.schema.rules:
            return replace(answers, basis=basis)
        nobody = find_ruled_out(self.schema, Conditions.of(asked))
        numbers = ("estimate", "low", "high", "noise", "uniformity_low", "uniformity_high")
        none: dict[str, Any] = {
            name: np.where(nobody, 0.0, getattr(answers, name)) for name in numbers
        }
        return replace(answers, **none, basis=np.where(nobody, RULED_OUT, basis))

    @property
    def _unmeasured(self) -> frozenset[int]:
        return frozenset(range(len(self.schema.attributes))) - self.partition.divided

    @property
    def unmeasured(self) -> tuple[str, ...]:
        """See `Release.unmeasured`."""
        return tuple(self.schema.attributes[place].name for place in sorted(self._unmeasured))

    def bands(self, place: int) -> tuple[int, ...]:
        """See `Release.bands`."""
        found = self.measured_edges(place)
        return bands(self.schema.columns[place], found) if len(found) else super().bands(place)

    def measured_edges(self, place: int) -> Ints:
        """The edges, in codes, of the cells in which a column was counted over everybody.

        Empty if there are none: regions of a tree divide a column differently here and there.
        """
        if isinstance(self.partition, GridPartition) and place in self.partition.divided:
            return self.partition.edges[place].astype(np.int64)
        return np.empty(0, np.int64)

    def _readable(self) -> Iterator[tuple[str, Content]]:
        published = (self.schema, self.partition, self.regions, self.counts)
        yield REGIONS, typed_table(*published)
        yield TABLE, csv_blocks(generalized_table(*published, self.count_errors))

    def check(self) -> None:
        """See `MeasuredRelease.check`."""
        check_against(self.schema, self.partition)
        self._check_places({}, self.measurements)

    def _locate(self, rows: Frame) -> tuple[Ints, Bools]:
        codes, known = self._encoded(rows)
        return self.partition.locate(codes), known
