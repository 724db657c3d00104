"""What became of transactions on the way from the data to the counts. NOT PRIVATE.

Everything here is an exact count of private data. It is for whoever holds the data, and must not
become part of a release, nor change one.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from hedgerow.arrays import Ints, Small
from hedgerow.schema.items import Items
from hedgerow.table.preparation import MANY
from hedgerow.table.transactions.kernels import FOREIGN

__all__ = ["ItemPreparation", "ItemTally"]


@dataclass(frozen=True, kw_only=True)
class ItemPreparation:
    """What became of transactions. NOT PRIVATE.

    Args:
        records: How many records were read: lines, lists, or people with their rows.
        rows: How many rows were read, if there is one for each item; else None.
        unidentified: How many of these have no person.
        items: How many items the records hold, as they were read.
        foreign: Items outside the universe, which are left out.
        repeated: Items that their record holds already, which count once.
        capped: Items that the cap on items per record leaves out.
        over: Records with more items than the cap allows.
        empty: Records without an item of the universe.
        dropped: Records that are not counted: the empty ones, unless `(empty)` stands for them.
        max_items: The cap, if there is one.
    """

    records: int
    rows: int | None
    unidentified: int
    items: int
    foreign: int
    repeated: int
    capped: int
    over: int
    empty: int
    dropped: int
    max_items: int | None

    @property
    def counted(self) -> int:
        """The records that a release counts."""
        return self.records - self.dropped

    def warnings(self) -> list[str]:
        """What matters: more than 5% of the items, records or rows are not counted as they are."""
        found = []
        for number, of, what, fit in (
            (self.foreign, self.items, "items are not in the universe", "Is it complete?"),
            (self.capped, self.items, "items are left out by the cap on items per record",
             "Is the cap too low?"),
            (self.dropped, self.records, "records have no item of the universe and are dropped",
             "`empty: dummy` would count them."),
            (self.unidentified, self.rows or 0, "rows have no person and are dropped",
             "Is the column right?"),
        ):  # fmt: skip
            if number > MANY * of:
                found.append(f"{number / of:.1%} of the {what}. {fit}")
        return found


class ItemTally:
    """Counts block by block what becomes of records. NOT PRIVATE.

    Args:
        items: The universe and the rules.

    Example:
        >>> tally = ItemTally(Items(("milk", "tea", "rice"), max_items=1))
        >>> tally.add(np.array([0, 0, 1, FOREIGN], np.int32), np.array([3, 1]))
        >>> found = tally.finish()
        >>> found.repeated, found.capped, found.over, found.foreign, found.counted
        (1, 1, 1, 1, 1)
    """

    def __init__(self, items: Items) -> None:
        self._rules = items
        self._records = self._items = self._foreign = self._repeated = 0
        self._capped = self._over = self._empty = 0
        self._rows: int | None = None
        self._unidentified = 0

    def add(self, codes: Small, sizes: Ints) -> None:
        """Looks at the codes of some records, before any rule applies, and at their numbers."""
        self._records += len(sizes)
        record = np.repeat(np.arange(len(sizes)), sizes)
        known, foreign = codes >= 0, codes == FOREIGN
        width = self._rules.size
        distinct = np.unique(record[known] * width + codes[known].astype(np.int64)) // width
        held = np.bincount(distinct, minlength=len(sizes))
        cap = self._rules.max_items or width
        self._items += int(known.sum() + foreign.sum())
        self._foreign += int(foreign.sum())
        self._repeated += int(known.sum()) - len(distinct)
        self._capped += int(np.maximum(held - cap, 0).sum())
        self._over += int((held > cap).sum())
        self._empty += int((held == 0).sum())

    def add_rows(self, rows: int, unidentified: int, foreign: int) -> None:
        """Takes what is seen of rows of one item each, before they become records."""
        self._rows = (self._rows or 0) + rows
        self._unidentified += unidentified
        self._items += foreign
        self._foreign += foreign

    def finish(self) -> ItemPreparation:
        """The counts, when all records were seen."""
        return ItemPreparation(
            records=self._records,
            rows=self._rows,
            unidentified=self._unidentified,
            items=self._items,
            foreign=self._foreign,
            repeated=self._repeated,
            capped=self._capped,
            over=self._over,
            empty=self._empty,
            dropped=self._empty if self._rules.dummy is None else 0,
            max_items=self._rules.max_items,
        )
