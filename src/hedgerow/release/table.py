"""`TableRelease`: a table by its regions, and what can be made of it without private data."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from hedgerow.arrays import Bools, Floats, Ints
from hedgerow.errors import ReleaseError
from hedgerow.estimate.answers import USUAL, Answers, answer, by_model, with_queries
from hedgerow.estimate.asked import check_level, read_many
from hedgerow.estimate.basis import MEASURED, MODELLED, basis_of, cell_edges, counted_together
from hedgerow.estimate.cells import Cells, estimate_cells, whole_counts
from hedgerow.estimate.censored import answer_listed
from hedgerow.estimate.classify import class_shares, class_weights
from hedgerow.estimate.fit import RULES, Fit
from hedgerow.estimate.intervals.conditions import Conditions
from hedgerow.estimate.intervals.counts import guaranteed_ends, measured_tables
from hedgerow.estimate.intervals.typical import TypicalError
from hedgerow.estimate.marginals.model import Model, fit_model
from hedgerow.estimate.noise import half_width
from hedgerow.estimate.region_sums import EVEN, sums
from hedgerow.estimate.synthesize import draw_rows
from hedgerow.measured.generalized import (
    check_against,
    csv_blocks,
    generalized_table,
    typed_table,
)
from hedgerow.measured.marginals import Marginals
from hedgerow.measured.partition import GridPartition, Partition
from hedgerow.release.base import Questions
from hedgerow.release.description import Description, noisy_counts, protected_rows
from hedgerow.release.files import Content
from hedgerow.release.histogram import bands
from hedgerow.release.predicting import PredictingRelease
from hedgerow.schema import Query
from hedgerow.store.frames import Frame

__all__ = ["TableRelease"]


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
        >>> from hedgerow.measured import GridPartition, Measurement
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
        {'region': [0, 1], 'age': ['[0, 40)', '[40, 99]'], 'count': [3, 1], 'give_or_take': [4, 4]}
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
        """The generalised table: `region`, the attributes, the class, `count`, `give_or_take`.

        One row per region and class, in canonical order, with values like `Professional` and
        `[18, 40)`.

        Args:
            kind: The kind of frame wanted.

        Raises:
            UsageError: If an attribute is called `region` or `count`, or the kind is unknown.

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

    def to_arrow(self) -> pa.Table:
        """The generalised table, as `generalized` gives it."""
        return self.generalized("arrow")

    @cached_property
    def marginals(self) -> Marginals | None:
        """See `Release.marginals`."""
        return Marginals.of(self.schema, self.measurements)

    @cached_property
    def model(self) -> Model | None:
        """Where records lie and which class they have, if the release has marginals."""
        marginals = self.marginals
        fitted = self.estimates.fit
        if marginals is None or fitted is None or not self.counts.any():
            return None
        shares = class_shares(self.partition, fitted)
        return fit_model(marginals, self.partition, self.estimates, shares, with_regions=True)

    def synthesize(
        self, n: int | None = None, seed: int | None = None, kind: str | None = None
    ) -> Frame:
        """Rows like those of the table, in random order; see `Release.synthesize`.

        They are drawn evenly inside the regions; with marginals, where these say that records lie.
        """
        places = range(len(self.schema.attributes))
        parts = [self.partition.parts(place, self.regions) for place in places]
        return self._frame(draw_rows(self.schema, parts, self.counts, n, seed, self.model), kind)

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
        if self.model is not None:
            return self.model.probabilities(codes.astype(np.int64))
        return class_weights(self.partition, self.estimates, self.partition.locate(codes))

    def count(self, queries: Questions, level: float = 0.95) -> Answers:
        """Answers count queries: how many records are there that meet some conditions?

        Args:
            queries: One query or many: text such as "age in [30, 50] and job in Professional", a
                mapping such as {"age": (30, 50), "job": "Professional"}, or a `Query`.
            level: The probability that an interval holds the truth, at least.

        Returns:
            Estimates with intervals, in the order of the queries. The parts of an interval are
            told apart: noise, and what it matters where records lie inside regions that the
            query cuts. Each says whether it was measured (`hedgerow.estimate.basis`).

        Raises:
            UsageError: If a query cannot be understood, or the level is not between 0 and 1.

        Example:
            >>> from fractions import Fraction
            >>> from hedgerow.measured import GridPartition, Measurement
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
        found, errors = self.estimates.fit, self._errors
        if found is not None and errors is not None:
            estimate, conditions = errors.model.count(asked), Conditions.of(asked)
            by_regions = sums(self.partition, self._bounding, asked)
            ends = guaranteed_ends(errors.measured, conditions, *by_regions, share)
            answers = by_model(estimate, errors.of(conditions, estimate), ends, share)
            together = counted_together(errors.measured, conditions)
            basis = basis_of(asked, together, self._unmeasured, MODELLED)
            return replace(with_queries(answers, asked, self.schema), basis=basis)
        if found is not None:
            answers = answer(self.partition, found, asked, share)
            together = np.asarray(answers.basis == MEASURED)
        else:
            classes = max(1, len(self.schema.classes))
            answers = answer_listed(self.partition, self.measurements, classes, asked, share)
            together = np.maximum(answers.uniformity_low, answers.uniformity_high) <= _DUST
        answers = with_queries(answers, asked, self.schema)
        return replace(answers, basis=basis_of(asked, together, self._unmeasured))

    def estimate(self, queries: Questions) -> Floats:
        """See `Release.estimate`."""
        if self.model is None:
            return super().estimate(queries)
        return self.model.count(read_many(queries, self.schema))

    @property
    def _unmeasured(self) -> frozenset[int]:
        counted = 0 if self.marginals is None else len(self.marginals.single)
        return frozenset(range(counted, len(self.schema.attributes))) - self.partition.divided

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
        if self._errors is not None and place in self._errors.measured.edges:
            return cell_edges(self._errors.measured, place)
        if isinstance(self.partition, GridPartition) and place in self.partition.divided:
            return self.partition.edges[place].astype(np.int64)
        return np.empty(0, np.int64)

    @cached_property
    def _bounding(self) -> Fit:
        """The counts of regions for guaranteed ends: without the number that steered the rules."""
        fixed = [one for one in self.measurements if one.name != "rows"]
        found = estimate_cells(self.partition, fixed, max(1, len(self.schema.classes))).fit
        assert found is not None
        return found

    @cached_property
    def _errors(self) -> TypicalError | None:
        """How far counts by the model are off, and the tables that intervals come from."""
        model, found = self.model, self.estimates.fit
        if model is None or found is None:
            return None
        deviations = {m.name: float(m.tail_variance.max()) ** 0.5 for m in self.measurements}
        counted, variance = sums(self.partition, self._bounding, [Query(())])
        total = float(counted[0, EVEN]), float(variance[0, EVEN])
        return TypicalError(model, measured_tables(model.marginals, deviations, total))

    def _readable(self) -> Iterator[tuple[str, Content]]:
        published = (self.schema, self.partition, self.regions, self.counts)
        yield REGIONS, typed_table(*published)
        yield TABLE, csv_blocks(generalized_table(*published, self.count_errors))

    def check(self) -> None:
        """See `MeasuredRelease.check`."""
        check_against(self.schema, self.partition)
        _ = self.marginals  # which looks at all cells of its tables
        self._check_places({}, [one for one in self.measurements if one.at != "cell"])

    def _locate(self, rows: Frame) -> tuple[Ints, Bools]:
        codes, known = self._encoded(rows)
        return self.partition.locate(codes), known
