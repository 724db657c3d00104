"""Records of items as they come in, block by block, and what was odd about them."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from hedgerow.arrays import Bools, Ints, Small
from hedgerow.errors import DataError, DataWarning
from hedgerow.table.readers.source import no_records
from hedgerow.table.transactions.lookup import Lookup
from hedgerow.table.transactions.preparation import ItemTally

__all__ = ["Noted", "Records", "Sink"]

_PLACES = 3  # named in a complaint; more would begin to count records

Places = Callable[[Sequence[int]], list[str]]
Sink = Callable[[Small, Ints], None]


@dataclass(frozen=True, kw_only=True)
class Noted:
    """What was odd about some of the records.

    Args:
        foreign: The first places at which a foreign item stands.
        mark: What looks like a separator that the schema does not name.
        useful: Whether any record has an item of the universe.
        empty: Whether there was no record.
    """

    foreign: tuple[int, ...] = ()
    mark: str | None = None
    useful: bool = False
    empty: bool = True


class Records:
    """Takes the items of records and applies the rules for them.

    Args:
        lookup: Knows the universe and the rules.
        what: How messages call the source.
        places: Turns record numbers (from 0) into words such as `line 12`.
        sink: Takes the codes of records and the number of each one's codes, block by block; without
            it they are kept here.
        first: The number of the first record.
        tally: Counts what becomes of records, for whoever holds them.
    """

    def __init__(
        self,
        lookup: Lookup,
        what: str,
        places: Places,
        sink: Sink | None = None,
        first: int = 0,
        tally: ItemTally | None = None,
    ) -> None:
        self._lookup = lookup
        self._sink = sink
        self.tally = tally
        self.what = what
        self._places = places
        self._codes = _Grown(np.int32)
        self._ends = _Grown(np.int64)
        self._ends.add(np.zeros(1, np.int64))
        self._foreign: list[int] = []
        self._odd: int | None = None
        self._seen = first
        self._useful = False
        self.empty = True  # until a record was seen, whatever rules make of it

    def add(self, codes: Small, sizes: Ints) -> None:
        """Takes the codes of the next records and the number of each one's codes."""
        self.empty = self.empty and not len(sizes)
        if self.tally is not None:
            self.tally.add(codes, sizes)
        codes, sizes, foreign = self._lookup.settle(codes, sizes)
        self.note(foreign, self._seen)
        self._seen += len(foreign)
        # The dummy is a record's last resort: it does not show that the universe is right.
        self._useful = self._useful or bool((codes != self._lookup.dummy).any())
        if self._sink is not None:
            self._sink(codes, sizes)
            return
        ends = np.cumsum(sizes)
        ends += self._codes.used
        self._codes.add(codes)
        self._ends.add(ends)

    def note(self, foreign: Bools, first: int) -> None:
        """Remembers the first places at which a foreign item stands."""
        room = _PLACES - len(self._foreign)
        if room and foreign.any():
            self._foreign += [first + int(place) for place in np.flatnonzero(foreign)[:room]]

    def note_odd(self, place: int) -> None:
        """Remembers the first of the next records that is not proper text."""
        if self._odd is None:
            self._odd = self._seen + place

    def check(self) -> None:
        """Raises a DataError if there was a foreign item and the schema forbids them."""
        if self._lookup.items.foreign == "drop" or not self._foreign:
            return
        where = ", ".join(self._places(self._foreign))
        raise DataError(
            f"{self.what}, {where}: an item is not in the universe, and the schema says "
            "`foreign: error` (the first places are named)",
            hint="Correct the data or the universe, or leave such items out with `foreign: drop`.",
        )

    def warnings(self) -> list[str]:
        """What a steward should hear although no rule forbids it.

        These sentences depend on private data. They are for whoever holds the data, and must
        not become part of a release.
        """
        found = []
        if self._odd is not None:
            (where,) = self._places([self._odd])
            found.append(
                f"{self.what}, {where}: the text is not encoded in UTF-8, so items there count as "
                "foreign. Save the file as UTF-8."
            )
        if self._lookup.mark is not None:
            found.append(
                f"{self.what}: the text holds '{self._lookup.mark}', and no item of the universe "
                f"does. Is `separator: '{self._lookup.mark}'` missing in the schema?"
            )
        if not self._useful:
            found.append(
                f"{self.what}: no record has an item of the universe, so a release will say "
                "nothing. Check the universe, and the separator or column, in the schema."
            )
        return found

    @property
    def noted(self) -> Noted:
        """What another process has to know of these records, but not the records."""
        return Noted(
            foreign=tuple(self._foreign),
            mark=self._lookup.mark,
            useful=self._useful,
            empty=self.empty,
        )

    def merge(self, noted: Noted) -> None:
        """Adds what another process noted of later records."""
        self._foreign = sorted([*self._foreign, *noted.foreign])[:_PLACES]
        self._lookup.mark = self._lookup.mark or noted.mark
        self._useful = self._useful or noted.useful
        self.empty = self.empty and noted.empty

    def done(self, allow_empty: bool) -> None:
        """Refuses what breaks the schema and warns of what is odd, when all records were seen."""
        if self.empty and not allow_empty:
            raise no_records(self.what)
        self.check()
        for sentence in self.warnings():
            warnings.warn(sentence, DataWarning, stacklevel=4)

    def finish(self) -> tuple[Ints, Small]:
        """Where each record begins (and the last one ends), and all codes."""
        return self._ends.finish(), self._codes.finish()


class _Grown:
    """An array that grows by blocks, without a second copy of it at the end."""

    def __init__(self, dtype: Any) -> None:
        self.array: Any = np.empty(0, dtype)
        self.used = 0

    def add(self, block: NDArray[Any]) -> None:
        end = self.used + len(block)
        if end > len(self.array):
            self.array.resize(max(end, len(self.array) * 3 // 2), refcheck=False)
        self.array[self.used : end] = block
        self.used = end

    def finish(self) -> Any:
        self.array.resize(self.used, refcheck=False)
        return self.array
