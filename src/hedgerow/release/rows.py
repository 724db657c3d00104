"""`RowsRelease`: generalised rows, each standing for people who were generalised to it.

Rows of a personal release overlap: one person may be "a lawyer, 30 to 40" and another "anybody,
37". They partition nothing, so a count over everybody cannot be pieced together from them: people
in cells that are not listed are missing, and nobody can say how many.
"""

from __future__ import annotations

import math
import os
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from hedgerow.errors import UsageError
from hedgerow.estimate.answers import Answers, read_many
from hedgerow.estimate.noise import half_width
from hedgerow.estimate.rows_bounds import least_by_noise, least_by_sampling
from hedgerow.estimate.synthesize import draw_rows
from hedgerow.measured.conversion import exact
from hedgerow.measured.generalized import check_names, csv_blocks, dictionary
from hedgerow.measured.partition import Partition, Parts
from hedgerow.optimise.hierarchy import generalised_attributes
from hedgerow.release.booking import Booking, note_saved
from hedgerow.release.files import check_file, read_table, write_folder
from hedgerow.release.formats import ROWS_FILES
from hedgerow.release.manifest import check_guarantee, common_manifest, schema_of
from hedgerow.schema import Attribute, Schema
from hedgerow.store.frames import as_kind
from hedgerow.store.validation import broken

if TYPE_CHECKING:
    from hedgerow.schema.query import Query

__all__ = ["RowsRelease"]

Ints = NDArray[np.int64]

CELLS, TABLE = ROWS_FILES


@dataclass(frozen=True, repr=False)
class RowsRelease:
    """Generalised rows and how many people each stands for.

    Args:
        schema: The public description of the table.
        method: "supermodular".
        settings: The method's settings, as JSON would hold them.
        guarantee: What is promised.
        ledger: What was spent on what, and by which rule rows were left out.
        lo: The first code of each row in each attribute, the class as the last one.
        hi: One past the last code.
        counts: With the mode "noisy" noisy counts; with "sampled" how many kept people there are,
            which is exact: the one exact number that a release may hold.
        frontier: What other settings would have meant, computed on the side table.
        frame_kind: The kind of frame that answers come in unless another is asked for.
        booking: Its entry in a budget ledger, if it was just published with one.

    Example:
        >>> schema = Schema.from_dict({"name": "ages", "unit": "row", "attributes": {
        ...     "age": {"type": "numeric", "low": 0, "high": 99}}})
        >>> release = RowsRelease(schema, "supermodular", {"mode": "noisy"}, {"epsilon": "1"}, {},
        ...                       np.array([[0], [40]]), np.array([[100], [50]]),
        ...                       np.array([31, 17]))
        >>> release.generalized().to_pydict()
        {'age': ['[0, 99]', '[40, 50)'], 'count': [31, 17]}
    """

    schema: Schema
    method: str
    settings: dict[str, Any]
    guarantee: dict[str, Any]
    ledger: dict[str, Any]
    lo: Ints
    hi: Ints
    counts: Ints
    frontier: dict[str, Any] = field(default_factory=dict)
    frame_kind: str = field(default="arrow", compare=False)
    booking: Booking | None = field(default=None, compare=False)

    __hash__ = None  # type: ignore[assignment]

    def __eq__(self, other: object) -> bool:
        """Whether both say the same."""
        if not isinstance(other, RowsRelease):
            return NotImplemented
        plain = ("schema", "method", "settings", "guarantee", "ledger", "frontier")
        arrays = ("lo", "hi", "counts")
        return all(getattr(self, name) == getattr(other, name) for name in plain) and all(
            np.array_equal(getattr(self, name), getattr(other, name)) for name in arrays
        )

    def __repr__(self) -> str:
        """The method, the schema and the guarantee on one line."""
        return (
            f"RowsRelease({self.method!r}, schema={self.schema.name!r}, "
            f"epsilon={self.guarantee.get('epsilon')}, rows={len(self.counts)})"
        )

    @property
    def attributes(self) -> tuple[Attribute, ...]:
        """The columns of the rows: predictors, then the class."""
        return generalised_attributes(self.schema)

    @property
    def share(self) -> float:
        """The share of people that was kept: 1 unless people were sampled."""
        kept = self.ledger.get("suppression", {}).get("share")
        return 1.0 if kept is None else float(exact(kept))

    @property
    def _listing(self) -> tuple[float, int]:
        """The rate of the noise, and from which noisy count on rows are listed."""
        try:
            rule = self.ledger["suppression"]
            return float(exact(rule["rate"])), int(exact(rule["threshold"]))
        except (LookupError, TypeError, ValueError, ArithmeticError):
            raise broken("manifest.json", "the rule by which rows are listed is missing") from None

    def generalized(self, kind: str | None = None) -> Any:
        """The rows in words, and their counts, in canonical order.

        Args:
            kind: The kind of frame wanted.
        """
        return self._frame(self._table(), kind)

    def synthesize(
        self, n: int | None = None, seed: int | None = None, kind: str | None = None
    ) -> Any:
        """Records drawn inside the generalised rows, in random order.

        Values are uniform inside a generalised value, so whatever people left open says nothing.

        Args:
            n: How many; without it, as many as the release counts.
            seed: For the same rows again.
            kind: The kind of frame wanted.
        """
        # the class is generalised like all other columns, so it is drawn like them
        flat = replace(self.schema, attributes=self.attributes, target=None)
        every = np.arange(len(self.counts))
        rows = draw_rows(flat, cast(Partition, _Listed(self)), every, self.counts[:, None], n, seed)
        return self._frame(rows, kind)

    def count(self, queries: Any, level: float = 0.95) -> Answers:
        """Answers count queries as far as generalised rows can.

        The estimate spreads each row evenly over what it covers. People whose rows are not listed
        are missing in it, so it is too low on the whole, and there is no upper end: the truth may
        be any number from `low` on. The lower end counts listed rows wholly inside a query alone,
        less what noise or sampling may have added (`hedgerow.estimate.rows_bounds`).

        Args:
            queries: As for `Release.count`.
            level: The probability that the lower end holds, at least.
        """
        if not 0 < level < 1:
            raise UsageError(
                "the level of an interval must lie between 0 and 1",
                hint="Use 0.95 for intervals that hold the truth 95 times in 100.",
            )
        asked = read_many(queries, self.schema)
        found = np.zeros((3, len(asked)))
        for place, query in enumerate(asked):
            found[:, place] = self._weigh(query, 1 - level)
        estimate, inside, deviation = found
        noise = half_width(deviation, level)
        endless = np.full(len(asked), math.inf)
        below = np.maximum(estimate - noise - inside, 0.0)
        return Answers(estimate, inside, endless, noise, below, endless, level)

    def _weigh(self, query: Query, alpha: float) -> tuple[float, float, float]:
        """Estimate, lower end and standard deviation of the noise."""
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
        share = self.share
        estimate = float((part * self.counts).sum()) / share
        if share < 1:
            least = least_by_sampling(inside, share, alpha)
            spread = (part**2 * self.counts).sum() * (1 - share) / share**2
        else:
            rate, threshold = self._listing
            least = least_by_noise(inside, int(whole.sum()), rate, threshold, alpha)
            spread = 2 * (part**2).sum() / rate**2
        return estimate, math.ceil(least - 1e-9), math.sqrt(spread)

    def save(self, path: str | os.PathLike[str], overwrite: bool = False) -> None:
        """Writes the release to a folder, whole or not at all; `Release.load` reads it."""
        check_names(self.schema)
        write_folder(path, overwrite, self._contents(), self._manifest)
        note_saved(self.booking, path)

    def _contents(self) -> Iterator[tuple[str, Any]]:
        yield CELLS, self._codes()
        yield TABLE, csv_blocks(self._table())

    def _manifest(self, files: dict[str, str]) -> dict[str, Any]:
        return {**common_manifest(self, files), "kind": "rows", "frontier": self.frontier}

    @staticmethod
    def from_folder(path: str | Path, manifest: dict[str, Any]) -> RowsRelease:
        """Reads a release whose manifest was read; every file is held to its hash.

        Raises:
            ReleaseError: Names the file and what is wrong with it.
        """
        check_guarantee(manifest["guarantee"])
        schema = schema_of(manifest)
        sizes = [attribute.size for attribute in generalised_attributes(schema)]
        names = [f"{end}_{place}" for place in range(len(sizes)) for end in ("lo", "hi")]
        table = read_table(path, CELLS, manifest, [*names, "count"])
        check_file(path, TABLE, manifest)
        if table.column_names != [*names, "count"] or any(
            column.type != pa.int64() or column.null_count for column in table.columns
        ):
            raise broken(CELLS, "the columns are not those of generalised rows")
        columns = [column.to_numpy() for column in table.columns]
        shape = (table.num_rows, len(sizes))
        lo = np.stack(columns[0:-1:2], axis=1).reshape(shape)
        hi = np.stack(columns[1:-1:2], axis=1).reshape(shape)
        if ((lo < 0) | (hi <= lo) | (hi > np.asarray(sizes)[None, :])).any():
            raise broken(CELLS, "a row lies outside the domain of the schema")
        if (columns[-1] < 0).any():
            raise broken(CELLS, "a count is negative")
        release = RowsRelease(
            schema, manifest["method"], manifest["settings"], manifest["guarantee"],
            manifest["ledger"], lo, hi, columns[-1], manifest["frontier"],
        )  # fmt: skip
        release._check_labels()
        return release

    def _check_labels(self) -> None:
        """A categorical interval that is no node of its taxonomy has no name."""
        try:
            self._table()
        except KeyError:
            raise broken(CELLS, "a row is no node of a taxonomy") from None

    def _codes(self) -> pa.Table:
        columns: dict[str, Any] = {}
        for place in range(self.lo.shape[1]):
            columns[f"lo_{place}"] = self.lo[:, place]
            columns[f"hi_{place}"] = self.hi[:, place]
        return pa.table({**columns, "count": self.counts})

    def _table(self) -> pa.Table:
        columns: dict[str, Any] = {}
        for place, attribute in enumerate(self.attributes):
            parts = _Listed(self).parts(place, np.arange(len(self.counts)))
            labels = [
                attribute.label(low, high)
                for low, high in zip(parts.lo.tolist(), parts.hi.tolist(), strict=True)
            ]
            index = parts.index.astype(np.int32)
            columns[attribute.name] = dictionary(index, tuple(labels))
        return pa.table({**columns, "count": pa.array(self.counts)})

    def _frame(self, table: pa.Table, kind: str | None) -> Any:
        return as_kind(table, self.frame_kind if kind is None else kind)


class _Listed:
    """The rows in the form in which regions are drawn from."""

    def __init__(self, release: RowsRelease) -> None:
        self._release = release

    def parts(self, place: int, rows: Ints) -> Parts:
        pairs = np.stack([self._release.lo[rows, place], self._release.hi[rows, place]], axis=1)
        distinct, index = np.unique(pairs, axis=0, return_inverse=True)
        return Parts(index.reshape(-1).astype(np.int64), distinct[:, 0], distinct[:, 1])
