"""Releases of tables: by regions, as noisy tables with a model, and as generalized rows."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace
from fractions import Fraction
from functools import cached_property
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from hedgerow.arrays import Floats, Ints
from hedgerow.errors import ReleaseError, UsageError
from hedgerow.estimate.answers import (
    USUAL,
    Answers,
    answer,
    answer_listed,
    by_model,
    least_by_noise,
    least_by_sampling,
)
from hedgerow.estimate.cells import (
    CellCounts,
    check_whole,
    class_weights,
    draw_rows,
    estimate_cells,
    rows_of,
    stand_for,
    whole_counts,
)
from hedgerow.estimate.consistency import RULES
from hedgerow.estimate.graphical import GraphicalModel, fit_model
from hedgerow.estimate.intervals import Bounds, sum_ends
from hedgerow.estimate.measurements import exact, half_width
from hedgerow.estimate.partition import (
    GridPartition,
    Partition,
    Parts,
    check_against,
    csv_blocks,
    dictionary,
    generalized_table,
    typed_table,
)
from hedgerow.estimate.queries import (
    MEASURED,
    MODELED,
    RULED_OUT,
    Conditions,
    basis_of,
    find_ruled_out,
    read_many,
)
from hedgerow.estimate.tables import Cells, Tables
from hedgerow.release.base import MeasuredRelease, Questions, Release, noisy_counts
from hedgerow.release.count_tables import Values, divided
from hedgerow.release.files import MANIFEST, ROWS_SEED, Content, Document, read_table, weighted
from hedgerow.schema import CLASS, Attribute, Numeric, Query, Schema
from hedgerow.store.frames import Frame
from hedgerow.store.untrusted import broken
from hedgerow.suggestions import answer_mistakes

REGIONS, CELLS, TABLE = "regions.parquet", "cells.parquet", "table.csv"
FRONTIER_WORDS = {
    "threshold": ("risk_threshold", "risk at most"),
    "least-risk": ("least_utility", "utility at least"),
    "aggregate": ("trade", "lambda"),
}
"""The setting that a model's frontier varies, and what it is called."""

_DUST = 1e-6  # records: what rounding makes of a query that cuts no region
_MOST_ROWS = 1 << 24  # a release may come from anybody, and claim any number


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class TableRelease(MeasuredRelease):
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
    tells_classes = True

    partition: Partition

    def _describe(self) -> dict[str, Any]:
        return {
            "parts": "regions",
            "part": "region",
            "number": self.partition.cells,
            "summary": "It holds noisy counts of groups. No raw record is in it, and no exact "
            "count.",
            "largest": "largest regions",
        }

    @cached_property
    def estimates(self) -> CellCounts:
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
        published = self.schema, self.partition, self.regions, self.counts, self.count_errors
        return self._frame(generalized_table(*published), kind)

    def _draw(self, n: int | None, seed: int | None) -> pa.Table:
        """See `Release._draw`: rows are drawn evenly inside the regions."""
        return draw_rows(self.schema, self._parts, self.counts, n, seed)

    def stand_ins(self) -> pa.Table:
        """See `Release.stand_ins`: those of a region and class add up to its count."""
        rows, weights = stand_for(self.schema, self._parts, self.counts, ROWS_SEED)
        return weighted(rows, self.schema, weights)

    @property
    def _parts(self) -> list[Parts]:
        """What each attribute may be in each region."""
        places = range(len(self.schema.attributes))
        return [self.partition.parts(place, self.regions) for place in places]

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
        codes, known = self._encoded(rows)
        return self._beside(rows, {"region": pa.array(self.partition.locate(codes), mask=~known)})

    def _weights(self, codes: NDArray[np.integer]) -> Floats:
        """How likely classes are, before noise that is below 0 is cut off; see `predict`."""
        return class_weights(self.partition, self.estimates, self.partition.locate(codes))

    def _answer(self, queries: list[Query], level: float) -> Answers:
        """See `Release.count`.

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
        fit = self.estimates.fit
        if fit is not None:
            answers = answer(self.partition, fit, queries, level)
            together = np.asarray(answers.basis == MEASURED)
        else:
            classes = max(1, len(self.schema.classes))
            answers = answer_listed(self.partition, self.measurements, classes, queries, level)
            together = np.maximum(answers.uniformity_low, answers.uniformity_high) <= _DUST
        basis = basis_of(queries, together, self._unmeasured)
        if not self.schema.rules:
            return replace(answers, basis=basis)
        nobody = find_ruled_out(self.schema, Conditions.of(queries))
        numbers = ("estimate", "low", "high", "noise", "uniformity_low", "uniformity_high")
        none: Any = {name: np.where(nobody, 0.0, getattr(answers, name)) for name in numbers}
        return replace(answers, **none, basis=np.where(nobody, RULED_OUT, basis))

    @property
    def _unmeasured(self) -> frozenset[int]:
        return frozenset(range(len(self.schema.attributes))) - self.partition.divided

    def measured_edges(self, place: int) -> Ints:
        """The edges, in codes, of the cells in which a column was counted over everybody.

        Empty if there are none: regions of a tree divide a column differently here and there.
        """
        if isinstance(self.partition, GridPartition) and place in self.partition.divided:
            return self.partition.edges[place].astype(np.int64)
        return np.empty(0, np.int64)

    def own_files(self) -> Iterator[tuple[str, Content]]:
        """See `Release.own_files`."""
        yield from super().own_files()
        published = (self.schema, self.partition, self.regions, self.counts)
        yield REGIONS, typed_table(*published)
        yield TABLE, csv_blocks(generalized_table(*published, self.count_errors))

    def check(self) -> None:
        """See `Release.check`."""
        check_against(self.schema, self.partition)
        self._check_places({})


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class MarginalsRelease(MeasuredRelease):
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
    tells_classes = True
    estimator = 4

    partition: Cells

    def _describe(self) -> dict[str, Any]:
        return {
            "parts": "tables",
            "part": "table",
            "number": len(self.tables.tables),
            "summary": "It holds noisy tables of attributes, alone and together. No raw record is "
            "in it, and no exact count.",
            "largest": "tables",
            "suppressed": None,
            "processed": "One model is fitted to all noisy tables; estimates and synthetic rows "
            "come from it, intervals from the tables.",
        }

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

    def _draw(self, n: int | None, seed: int | None) -> pa.Table:
        """See `Release._draw`."""
        check_whole("n", n)
        check_whole("seed", seed)
        rows = round(self.tables.number) if n is None else n
        if n is None and rows > _MOST_ROWS:
            raise UsageError(
                "this release counts very many records, more than are drawn unasked",
                hint="Say how many rows you want (--rows, n=).",
            )
        random = np.random.default_rng(seed)
        codes = self.model.draw(rows, random)
        return rows_of(self.schema, codes, random)

    def _weights(self, codes: NDArray[np.integer]) -> Floats:
        """See `Release._weights`."""
        return self.model.probabilities(codes.astype(np.int64))

    def _answer(self, queries: list[Query], level: float) -> Answers:
        """Estimates by the model, and intervals that do not depend on it."""
        estimate = self.model.count(queries)
        return by_model(self.bounds, queries, estimate, level, self._unmeasured)

    def estimate(self, queries: Questions) -> Floats:
        """See `Release.estimate`."""
        return self.model.count(read_many(queries, self.schema))

    @cached_property
    def _unmeasured(self) -> frozenset[int]:
        counted = {column for table in self.tables.tables for column in table.columns}
        return frozenset(set(self.partition.counted) - counted)

    def bands(self, place: int) -> tuple[int, ...]:
        """See `Release.bands`. Bands of many records are divided as finely as was counted."""
        known: dict[int, tuple[int, ...]] = vars(self).setdefault("_bands", {})
        if place not in known:
            found, edges = super().bands(place), self.measured_edges(place)
            if isinstance(self.schema.columns[place], Numeric) and len(edges) > len(found):
                spans = pairwise(edges.tolist())
                cells = [Query(((place, ((float(low), float(high)),)),)) for low, high in spans]
                found = divided(found, edges, self.model.count(cells))
            known[place] = found
        return known[place]

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
        ends = values.least, values.most
        return sum_ends(self.bounds, group, place, ends, level, mean=mean)

    def stand_ins(self) -> pa.Table:
        """See `Release.stand_ins`: each row stands for as many records as any other.

        Counts and tables are counts of these rows, so sums of weights agree with them.
        """
        rows = rows_of(self.schema, self.model.stand_ins, np.random.default_rng(ROWS_SEED))
        return weighted(rows, self.schema, self.tables.number / max(1, rows.num_rows))

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
        """See `Release.check`."""
        self.partition.check(self.schema)
        _ = self.tables  # which looks at all cells


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class RowsRelease(Release):
    """Generalized rows, each standing for people who were generalized to it.

    Rows of a personal release overlap: one person may be "a lawyer, 30 to 40" and another "anybody,
    37". They partition nothing, so a count over everybody cannot be pieced together from them:
    people in rows that are suppressed are missing, and nobody can say how many.

    Args:
        lo: The first code of each row in each attribute, the class as the last one.
        hi: One past the last code.
        counts: With the mode "noisy" noisy counts; with "sampled" how many sampled people there
            are, which is exact: the one exact number that a release may hold.
        frontier: What other settings would have meant, computed on the side table.

    Example:
        >>> from hedgerow.schema import Schema
        >>> schema = Schema.from_dict({"name": "ages", "unit": "row", "attributes": {
        ...     "age": {"type": "numeric", "low": 0, "high": 99}}})
        >>> release = RowsRelease(
        ...     schema=schema, method="supermodular", settings={"mode": "noisy"},
        ...     guarantee={"epsilon": "1"}, ledger={}, lo=np.array([[0], [40]]),
        ...     hi=np.array([[100], [50]]), counts=np.array([31, 17]))
        >>> release.generalized().to_pydict()
        {'age': ['[0, 99]', '[40, 50)'], 'count': [31, 17]}
    """

    kind = "rows"
    sources = (CELLS,)
    derived = (TABLE,)
    entries_of_kind = {"frontier": dict}

    lo: Ints
    hi: Ints
    counts: Ints
    frontier: Document = field(default_factory=dict)

    def _describe(self) -> dict[str, Any]:
        people = self.schema.unit_names[1]
        if self.settings.get("mode") == "sampled":
            counts = (
                f"No noise is added to published counts: they are exact counts of {people} who "
                "were sampled at random, and rows that too few of them share are suppressed. "
                "Sampling and suppression together are what protects them."
            )
        else:
            noise = noisy_counts(self.guarantee)
            counts = f"{noise} Rows below a public threshold are suppressed."
        return {
            "parts": "rows",
            "part": "generalized row",
            "number": len(self.counts),
            "summary": f"It holds generalized rows, each shared by several {people}.",
            "people": f"{people} published",
            "counts": counts,
            "processed": "Estimates, intervals and synthetic rows follow from published rows.",
            "largest": f"rows that most {people} share",
        }

    def _suppression(self) -> str | None:
        rule = self.ledger.get("suppression")
        one, those = self.schema.unit_names
        if not isinstance(rule, dict) or "threshold" not in rule:
            return None  # in a file from anybody it may be anything
        if "sampling_rate" not in rule:
            return (
                f"Only rows with a noisy count of at least {rule['threshold']} are published. "
                f"Nothing is said of how many {those} are in rows that are suppressed."
            )
        return (
            f"Each {one} was sampled with probability {rule['sampling_rate']}; counts are of "
            f"sampled {those}. Generalized rows with fewer than {rule['threshold']} of them are "
            "suppressed, and nothing is said of how many that were."
        )

    @property
    def attributes(self) -> tuple[Attribute, ...]:
        """The columns of the rows: predictors, then the class."""
        return self.schema.columns

    @property
    def sampling_rate(self) -> float:
        """The probability with which a person was sampled: 1 in the mode "noisy"."""
        rate: float = self._rule("sampling_rate", float, 1)
        if not 0 < rate <= 1:
            raise _no_rule()
        return rate

    def _rule(self, name: str, kind: Callable[[Fraction], Any], usual: object = None) -> Any:
        """A number of the rule by which rows are suppressed, in a file from anybody."""
        try:
            return kind(exact(self.ledger.get("suppression", {}).get(name, usual)))
        except (AttributeError, TypeError, ValueError, ArithmeticError):
            raise _no_rule() from None

    def generalized(self, kind: str | None = None) -> Frame:
        """The rows in words, and their counts, in canonical order.

        Args:
            kind: The kind of frame wanted.
        """
        columns: dict[str, pa.Array] = {}
        for place, attribute in enumerate(self.attributes):
            parts = self._parts(place)
            spans = zip(parts.lo.tolist(), parts.hi.tolist(), strict=True)
            labels = tuple(attribute.label(low, high) for low, high in spans)
            columns[attribute.name] = dictionary(parts.index.astype(np.int32), labels)
        return self._frame(pa.table({**columns, "count": pa.array(self.counts)}), kind)

    def _draw(self, n: int | None, seed: int | None) -> pa.Table:
        """See `Release._draw`: values are uniform inside a generalized value.

        So whatever people left open says nothing.
        """
        counts = self.counts
        if n is None:  # of everybody, not of those who were sampled
            counts = np.rint(counts / self.sampling_rate).astype(np.int64)
        return draw_rows(*self._flat, counts[:, None], n, seed)

    def stand_ins(self) -> pa.Table:
        """See `Release.stand_ins`: those of a generalized row add up to its estimated count."""
        rows, weights = stand_for(*self._flat, self.counts[:, None], ROWS_SEED)
        return weighted(rows, self.schema, weights / self.sampling_rate)

    @property
    def _flat(self) -> tuple[Schema, list[Parts]]:
        """The class is generalized like all other columns, so it is drawn like them."""
        flat = replace(self.schema, attributes=self.attributes, target=None)
        return flat, [self._parts(place) for place in range(len(self.attributes))]

    def _answer(self, queries: list[Query], level: float) -> Answers:
        """Answers count queries as far as generalized rows can.

        The estimate spreads each row evenly over what it covers. People whose rows are suppressed
        are missing in it, so it is too low on the whole, and there is no upper end: the truth may
        be any number from `low` on. The lower end counts rows wholly inside a query alone,
        less what noise or sampling may have added (`hedgerow.estimate.answers`).
        """
        weighed = [self._weigh(query, 1 - level) for query in queries]
        estimate, inside, deviation, cut = np.array(weighed, np.float64).reshape(-1, 4).T
        noise = half_width(deviation, level)
        endless = np.full(len(queries), math.inf)
        basis = basis_of(queries, cut == 0, self._unmeasured)
        return Answers(
            estimate=estimate,
            low=inside,
            high=endless,
            noise=noise,
            uniformity_low=np.maximum(estimate - noise - inside, 0.0),
            uniformity_high=endless,
            level=level,
            # even a query that cuts no row misses people whose rows are suppressed
            basis=np.where(basis == MEASURED, MODELED, basis),
        )

    @property
    def _unmeasured(self) -> frozenset[int]:
        """The attributes that all rows leave open; `CLASS` for the class."""
        sizes = np.array([attribute.size for attribute in self.attributes])
        every = np.all((self.lo == 0) & (self.hi == sizes), axis=0) & (sizes > 1)
        known = len(self.schema.attributes)
        return frozenset(p if p < known else CLASS for p in np.flatnonzero(every).tolist())

    def _weigh(self, query: Query, alpha: float) -> tuple[float, float, float, bool]:
        """Estimate, lower end, standard deviation of the noise, and whether a row is cut."""
        part = np.ones(len(self.counts))
        for place, intervals in query.where:
            lo, hi = self.lo[:, place], self.hi[:, place]
            met = np.zeros(len(part))
            for low, high in intervals:
                met += np.maximum(0.0, np.minimum(hi, high) - np.maximum(lo, low))
            part *= met / (hi - lo)
        if query.classes is not None:
            lo, hi = self.lo[:, -1:], self.hi[:, -1:]
            classes = np.asarray(query.classes)[None, :]
            part *= ((classes >= lo) & (classes < hi)).sum(axis=1) / (hi - lo)[:, 0]
        whole = part >= 1 - 1e-12
        inside = float(self.counts[whole].sum())
        share = self.sampling_rate
        estimate = float((part * self.counts).sum()) / share
        if share < 1:
            least = least_by_sampling(inside, share, alpha)
            spread = (part**2 * self.counts).sum() * (1 - share) / share**2
        else:
            rate, threshold = self._rule("rate", float), self._rule("threshold", int)
            least = least_by_noise(inside, int(whole.sum()), rate, threshold, alpha)
            spread = 2 * (part**2).sum() / rate**2
        cut = bool(((part > 1e-12) & ~whole).any())
        return estimate, math.ceil(least - 1e-9), math.sqrt(spread), cut

    def own_files(self) -> Iterator[tuple[str, Content]]:
        """See `Release.own_files`."""
        columns: dict[str, Ints] = {}
        for place, (lo, hi) in enumerate(zip(self.lo.T, self.hi.T, strict=True)):
            columns |= {f"lo_{place}": lo, f"hi_{place}": hi}
        yield CELLS, pa.table({**columns, "count": self.counts})
        yield TABLE, csv_blocks(self.generalized("arrow"))

    def entries(self) -> Document:
        """See `Release.entries`."""
        return {"frontier": self.frontier}

    @classmethod
    def _read(cls, path: Path, manifest: Document, schema: Schema) -> dict[str, Any]:
        sizes = [attribute.size for attribute in schema.columns]
        names = [f"{end}_{place}" for place in range(len(sizes)) for end in ("lo", "hi")]
        table = read_table(path, CELLS, manifest, [*names, "count"])
        if any(column.type != pa.int64() or column.null_count for column in table.columns):
            raise broken(CELLS, "the columns are not those of generalized rows")
        *ends, counts = (column.to_numpy() for column in table.columns)
        lo, hi = (np.stack(ends[end::2], axis=1) for end in (0, 1))
        if ((lo < 0) | (hi <= lo) | (hi > np.asarray(sizes)[None, :])).any():
            raise broken(CELLS, "a row lies outside the domain of the schema")
        if (counts < 0).any():
            raise broken(CELLS, "a count is negative")
        return {"lo": lo, "hi": hi, "counts": counts, "frontier": manifest["frontier"]}

    def check(self) -> None:
        """See `Release.check`: an interval that is no node of its taxonomy has no name."""
        try:
            self.generalized("arrow")
        except KeyError:
            raise broken(CELLS, "a row is no node of a taxonomy") from None

    def _parts(self, place: int) -> Parts:
        """The distinct intervals of a column among the rows."""
        pairs = np.stack([self.lo[:, place], self.hi[:, place]], axis=1)
        distinct, index = np.unique(pairs, axis=0, return_inverse=True)
        return Parts(index.reshape(-1).astype(np.int64), distinct[:, 0], distinct[:, 1])


def _no_rule() -> ReleaseError:
    return broken(MANIFEST, "the rule by which rows are suppressed is missing or malformed")
