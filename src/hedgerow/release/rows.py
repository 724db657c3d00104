"""`RowsRelease`: generalized rows, each standing for people who were generalized to it.

Rows of a personal release overlap: one person may be "a lawyer, 30 to 40" and another "anybody,
37". They partition nothing, so a count over everybody cannot be pieced together from them: people
in rows that are suppressed are missing, and nobody can say how many.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Self

import numpy as np
import pyarrow as pa

from hedgerow.arrays import Ints
from hedgerow.errors import ReleaseError, UsageError
from hedgerow.estimate.answers import Answers, least_by_noise, least_by_sampling, with_queries
from hedgerow.estimate.cells import draw_rows, stand_for
from hedgerow.estimate.measurements import exact
from hedgerow.estimate.noise import half_width
from hedgerow.estimate.partition import Parts, csv_blocks, dictionary
from hedgerow.estimate.queries import MEASURED, MODELED, basis_of, read_many
from hedgerow.optimize.model import generalized_attributes
from hedgerow.release.base import Description, Questions, Release, noisy_counts, protected_rows
from hedgerow.release.files import Content, check_derived, read_table
from hedgerow.release.manifest import MANIFEST, Document
from hedgerow.release.plain_files import ROWS_SEED, weighted
from hedgerow.schema import CLASS, Attribute
from hedgerow.schema.query import Query
from hedgerow.store.frames import Frame
from hedgerow.store.untrusted import broken
from hedgerow.suggestions import answer_mistakes

CELLS, TABLE = "cells.parquet", "table.csv"
FRONTIER_WORDS = {
    "threshold": ("risk_threshold", "risk at most"),
    "least-risk": ("least_utility", "utility at least"),
    "aggregate": ("trade", "lambda"),
}
"""The setting that a model's frontier varies, and what it is called."""


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class RowsRelease(Release):
    """Generalized rows and how many people each stands for.

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

    def describe(self) -> Description:
        """See `Release.describe`."""
        people = self.schema.unit_names[1]
        return Description(
            parts="rows",
            part="generalized row",
            number=len(self.counts),
            summary=f"It holds generalized rows, each shared by several {people}.",
            people=f"{people} published",
            counts=self._made(),
            processed="Estimates, intervals and synthetic rows follow from published rows.",
            largest=f"rows that most {people} share",
            protected=protected_rows(self.schema),
            suppressed=self._suppressed(),
        )

    def _made(self) -> str:
        if self.settings.get("mode") == "sampled":
            those = self.schema.unit_names[1]
            return (
                f"No noise is added to published counts: they are exact counts of {those} who were "
                "sampled at random, and rows that too few of them share are suppressed. Sampling "
                "and suppression together are what protects them."
            )
        return f"{noisy_counts(self.guarantee)} Rows below a public threshold are suppressed."

    def _suppressed(self) -> str | None:
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
        return generalized_attributes(self.schema)

    @property
    def sampling_rate(self) -> float:
        """The probability with which a person was sampled: 1 in the mode "noisy"."""
        rule = self.ledger.get("suppression", {})
        try:
            rate = float(exact(rule.get("sampling_rate", 1)))
        except (AttributeError, TypeError, ValueError, ArithmeticError):
            raise _no_rule() from None
        if not 0 < rate <= 1:
            raise _no_rule()
        return rate

    @property
    def _publishing(self) -> tuple[float, int]:
        """The rate of the noise, and from which noisy count on rows are published."""
        try:
            rule = self.ledger["suppression"]
            return float(exact(rule["rate"])), int(exact(rule["threshold"]))
        except (LookupError, TypeError, ValueError, ArithmeticError):
            raise _no_rule() from None

    def generalized(self, kind: str | None = None) -> Frame:
        """The rows in words, and their counts, in canonical order.

        Args:
            kind: The kind of frame wanted.
        """
        return self._frame(self._table(), kind)

    @answer_mistakes
    def synthesize(
        self, n: int | None = None, *, seed: int | None = None, kind: str | None = None
    ) -> Frame:
        """Records drawn inside the generalized rows; see `Release.synthesize`.

        Values are uniform inside a generalized value, so whatever people left open says nothing.
        """
        # the class is generalized like all other columns, so it is drawn like them
        flat = replace(self.schema, attributes=self.attributes, target=None)
        parts = [self._parts(place) for place in range(len(self.attributes))]
        counts = self.counts
        if n is None:  # of everybody, not of those who were sampled
            counts = np.rint(counts / self.sampling_rate).astype(np.int64)
        return self._frame(draw_rows(flat, parts, counts[:, None], n, seed), kind)

    def stand_ins(self) -> pa.Table:
        """See `Release.stand_ins`: those of a generalized row add up to its estimated count."""
        flat = replace(self.schema, attributes=self.attributes, target=None)
        parts = [self._parts(place) for place in range(len(self.attributes))]
        rows, weights = stand_for(flat, parts, self.counts[:, None], ROWS_SEED)
        return weighted(rows, self.schema, weights / self.sampling_rate)

    @answer_mistakes
    def count(self, queries: Questions, *, level: float = 0.95) -> Answers:
        """Answers count queries as far as generalized rows can.

        The estimate spreads each row evenly over what it covers. People whose rows are suppressed
        are missing in it, so it is too low on the whole, and there is no upper end: the truth may
        be any number from `low` on. The lower end counts rows wholly inside a query alone,
        less what noise or sampling may have added (`hedgerow.estimate.answers`).

        Args:
            queries: As for `TableRelease.count`.
            level: The probability that the lower end holds, at least.
        """
        if not 0 < level < 1:
            raise UsageError(
                "the level of an interval must lie between 0 and 1",
                hint="Use 0.95 for intervals that hold the truth 95 times in 100.",
            )
        asked = read_many(queries, self.schema)
        found = np.zeros((4, len(asked)))
        for place, query in enumerate(asked):
            found[:, place] = self._weigh(query, 1 - level)
        estimate, inside, deviation, cut = found
        noise = half_width(deviation, level)
        endless = np.full(len(asked), math.inf)
        below = np.maximum(estimate - noise - inside, 0.0)
        basis = basis_of(asked, cut == 0, self._unmeasured)
        # even a query that cuts no row misses people whose rows are suppressed
        basis = np.where(basis == MEASURED, MODELED, basis)
        answers = Answers(
            estimate=estimate,
            low=inside,
            high=endless,
            noise=noise,
            uniformity_low=below,
            uniformity_high=endless,
            level=level,
            basis=basis,
        )
        return with_queries(answers, asked, self.schema)

    @property
    def _unmeasured(self) -> frozenset[int]:
        """The attributes that all rows leave open; `CLASS` for the class."""
        sizes = np.array([attribute.size for attribute in self.attributes])
        every = np.all((self.lo == 0) & (self.hi == sizes), axis=0) & (sizes > 1)
        known = len(self.schema.attributes)
        return frozenset(p if p < known else CLASS for p in np.flatnonzero(every).tolist())

    @property
    def unmeasured(self) -> tuple[str, ...]:
        """See `Release.unmeasured`."""
        found = self._unmeasured
        columns = [*range(len(self.schema.attributes)), CLASS]
        return tuple(self.attributes[place].name for place in columns if place in found)

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
            rate, threshold = self._publishing
            least = least_by_noise(inside, int(whole.sum()), rate, threshold, alpha)
            spread = 2 * (part**2).sum() / rate**2
        cut = bool(((part > 1e-12) & ~whole).any())
        return estimate, math.ceil(least - 1e-9), math.sqrt(spread), cut

    def own_files(self) -> Iterator[tuple[str, Content]]:
        """See `Release.own_files`."""
        yield CELLS, self._codes()
        yield TABLE, csv_blocks(self._table())

    def entries(self) -> Document:
        """See `Release.entries`."""
        return {"frontier": self.frontier}

    @classmethod
    def from_folder(cls, path: Path, manifest: Document) -> Self:
        """See `Release.from_folder`."""
        shared = cls._shared(manifest)
        schema = shared["schema"]
        sizes = [attribute.size for attribute in generalized_attributes(schema)]
        names = [f"{end}_{place}" for place in range(len(sizes)) for end in ("lo", "hi")]
        table = read_table(path, CELLS, manifest, [*names, "count"])
        check_derived(path, manifest, cls.sources)
        if table.column_names != [*names, "count"] or any(
            column.type != pa.int64() or column.null_count for column in table.columns
        ):
            raise broken(CELLS, "the columns are not those of generalized rows")
        columns = [column.to_numpy() for column in table.columns]
        shape = (table.num_rows, len(sizes))
        lo = np.stack(columns[0:-1:2], axis=1).reshape(shape)
        hi = np.stack(columns[1:-1:2], axis=1).reshape(shape)
        if ((lo < 0) | (hi <= lo) | (hi > np.asarray(sizes)[None, :])).any():
            raise broken(CELLS, "a row lies outside the domain of the schema")
        if (columns[-1] < 0).any():
            raise broken(CELLS, "a count is negative")
        found = {"lo": lo, "hi": hi, "counts": columns[-1], "frontier": manifest["frontier"]}
        release = cls(**shared, **found)
        release._check_labels()
        return release

    def _check_labels(self) -> None:
        """A categorical interval that is no node of its taxonomy has no name."""
        try:
            self._table()
        except KeyError:
            raise broken(CELLS, "a row is no node of a taxonomy") from None

    def _codes(self) -> pa.Table:
        columns: dict[str, pa.Array] = {}
        for place in range(self.lo.shape[1]):
            columns[f"lo_{place}"] = self.lo[:, place]
            columns[f"hi_{place}"] = self.hi[:, place]
        return pa.table({**columns, "count": self.counts})

    def _table(self) -> pa.Table:
        columns: dict[str, pa.Array] = {}
        for place, attribute in enumerate(self.attributes):
            parts = self._parts(place)
            labels = [
                attribute.label(low, high)
                for low, high in zip(parts.lo.tolist(), parts.hi.tolist(), strict=True)
            ]
            index = parts.index.astype(np.int32)
            columns[attribute.name] = dictionary(index, tuple(labels))
        return pa.table({**columns, "count": pa.array(self.counts)})

    def _parts(self, place: int) -> Parts:
        """The distinct intervals of a column among the rows."""
        pairs = np.stack([self.lo[:, place], self.hi[:, place]], axis=1)
        distinct, index = np.unique(pairs, axis=0, return_inverse=True)
        return Parts(index.reshape(-1).astype(np.int64), distinct[:, 0], distinct[:, 1])


def _no_rule() -> ReleaseError:
    return broken(MANIFEST, "the rule by which rows are suppressed is missing or malformed")
