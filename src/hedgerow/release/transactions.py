"""`TransactionsRelease`: published transactions, and what can be made of them."""

from __future__ import annotations

import os
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa

from hedgerow.errors import ReleaseError
from hedgerow.estimate.answers import Answers, check_level
from hedgerow.estimate.itemsets.answers import answer_sets, read_sets
from hedgerow.estimate.itemsets.frequent import frequent_sets
from hedgerow.estimate.itemsets.listing import list_itemsets
from hedgerow.estimate.itemsets.model import ItemsetModel, model_of
from hedgerow.estimate.itemsets.rows import rows_table
from hedgerow.estimate.synthesize import check_whole
from hedgerow.measured.itemsets import Itemsets
from hedgerow.measured.measurements import Measurement
from hedgerow.release.booking import Booking, note_saved
from hedgerow.release.files import write
from hedgerow.schema import Items, Schema
from hedgerow.store.frames import as_kind

__all__ = ["TransactionsRelease"]


@dataclass(frozen=True, repr=False)
class TransactionsRelease:
    """Noisy counts of itemsets, with the guarantee they were made under.

    Args:
        schema: The public description of the transactions.
        method: The name of the method, such as "diffpart".
        settings: The method's settings, as JSON would hold them.
        guarantee: What is promised.
        ledger: What was spent on what.
        partition: The public regions.
        measurements: The noisy counts.
        frame_kind: The kind of frame that answers come in unless another is asked for.
        booking: Its entry in a budget ledger, if it was just published with one.

    Example:
        >>> from fractions import Fraction
        >>> from hedgerow.measured.itemsets import CoreCells
        >>> schema = Schema.from_dict({
        ...     "name": "shop", "unit": "row", "items": {"universe": ["milk", "tea"]}})
        >>> counted = Measurement("cell", "region", np.arange(4),
        ...                       np.array([[1], [60], [31], [9]]), False,
        ...                       np.ones(4, np.int64), Fraction(1))
        >>> release = TransactionsRelease(schema, "diffpart", {}, {"epsilon": "1"}, {},
        ...                         CoreCells(np.array([0, 1]), np.array([0])), (counted,))
        >>> release
        TransactionsRelease('diffpart', schema='shop', epsilon=1, regions=4)
        >>> release.itemsets().to_pydict()
        {'count': [60, 31, 9], 'items': [['milk'], ['tea'], ['milk', 'tea']]}
        >>> release.count(["milk", "tea"]).low.tolist(), release.count("milk").high.tolist()
        ([6.0], [73.0])
    """

    schema: Schema
    method: str
    settings: dict[str, Any]
    guarantee: dict[str, Any]
    ledger: dict[str, Any]
    partition: Itemsets
    measurements: tuple[Measurement, ...]
    frame_kind: str = field(default="arrow", compare=False)
    booking: Booking | None = field(default=None, compare=False)

    __hash__ = None  # type: ignore[assignment]

    def __repr__(self) -> str:
        """The method, the schema and the guarantee on one line."""
        return (
            f"TransactionsRelease({self.method!r}, schema={self.schema.name!r}, "
            f"epsilon={self.guarantee.get('epsilon')}, regions={self.partition.cells})"
        )

    @property
    def items(self) -> Items:
        """The public universe."""
        if self.schema.items is None:
            raise ReleaseError(
                "the schema of this release describes a table, not transactions",
                hint="Ask whoever published the release for a fresh copy.",
            )
        return self.schema.items

    @cached_property
    def model(self) -> ItemsetModel:
        """What the measurements say about all itemsets; made when it is first needed."""
        return model_of(self.items, self.partition, self.measurements)

    def itemsets(self, kind: str | None = None) -> Any:
        """The itemsets whose noisy count stands out of the noise, with that count.

        A row stands for the records with just these items (and so many others, where the
        column `others` is there), so that no record counts in two rows. How many records hold some
        items among others is for `count` to say. Without estimates, and the largest first.

        Args:
            kind: The kind of frame wanted.
        """
        listed = list_itemsets(self.items, self.partition, self.measurements)
        return self._frame(listed.table(), kind)

    def count(self, itemsets: Any, level: float = 0.95) -> Answers:
        """How many records hold all items of a set, whatever else they hold?

        Args:
            itemsets: One itemset, such as [1, 4] or ["milk", "tea"], or a list of itemsets. The
                empty set is in every record.
            level: The probability that an interval holds the truth, at least.

        Returns:
            Estimates with intervals, in the order of the sets. There is no upper bound where
            small counts were left out of the release (schedule `paper`).

        Raises:
            UsageError: If a set cannot be understood, or the level is not between 0 and 1.
        """
        share = check_level(level)
        return answer_sets(self.model, read_sets(itemsets, self.items), share)

    def frequent(self, k: int = 20, level: float = 0.95, kind: str | None = None) -> Any:
        """The k itemsets that most records hold, as far as the release tells.

        Args:
            k: How many; fewer are found if fewer are estimated to be in any record.
            level: The probability that an interval holds the truth, at least, for a set that was
                not picked for its count.
            kind: The kind of frame wanted.

        Returns:
            A frame with the columns `items`, `estimate`, `low` and `high`, the largest first.

        Raises:
            UsageError: If k or the level cannot be meant.
        """
        share = check_level(level)
        sets, estimate = frequent_sets(self.model, self.items, k, share)
        answers = answer_sets(self.model, sets, share)
        names = self.items.labels
        columns = {
            "items": pa.array([[names[c] for c in one] for one in sets], pa.list_(pa.string())),
            "estimate": estimate,
            "low": answers.low,
            "high": answers.high,
        }
        return self._frame(pa.table(columns), kind)

    def synthesize(
        self,
        n: int | None = None,
        seed: int | None = None,
        kind: str | None = None,
        form: str = "lists",
    ) -> Any:
        """Made-up transactions that follow the release, in random order.

        Args:
            n: How many; without it, as many as the release counts.
            seed: For the same ones again.
            kind: The kind of frame wanted.
            form: "lists", one row per record with the list of its items, or "long", one row per
                record and item.

        Raises:
            UsageError: If n is negative, the form is unknown, or there is nothing to draw from.
        """
        check_whole("the number of records", n, "Ask for 0 records or more.")
        check_whole("the seed", seed, "Leave the seed out, or give 0 or more.")
        start, codes = self.model.draw(n, np.random.default_rng(seed))
        return self._frame(rows_table(self.items, start, codes, form), kind)

    def save(self, path: str | os.PathLike[str], overwrite: bool = False) -> None:
        """Writes the release to a folder, whole or not at all.

        Args:
            path: The folder, which must not exist yet.
            overwrite: Whether a release that is there already may be replaced.

        Raises:
            ReleaseError: If the folder may not be replaced or cannot be written.
        """
        write(self, path, overwrite)
        note_saved(self.booking, path)

    @staticmethod
    def load(path: str | Path) -> Any:
        """Reads a release of any kind, as `Release.load` does."""
        from hedgerow.release.table import Release

        return Release.load(path)

    def _frame(self, table: pa.Table, kind: str | None) -> Any:
        return as_kind(table, self.frame_kind if kind is None else kind)
