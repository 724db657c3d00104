"""Records of items as they come in, from columns or blocks, and what was odd about them."""

from __future__ import annotations

import difflib
import re
import unicodedata
import warnings
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from hedgerow.arrays import Bools, Bytes, Ints, Small
from hedgerow.data.encode import is_list, listed, plain_array, text_of
from hedgerow.data.item_kernels import FOREIGN, NOTHING, find_items, index_keys, settle, split_items
from hedgerow.data.people import person_ids, person_numbers
from hedgerow.data.source import Progress, Source, no_records
from hedgerow.data.table import MANY
from hedgerow.errors import DataError, DataWarning, UsageError
from hedgerow.schema import Items

# From texts and numbers to the codes of items, and from items to records.


Codes = Small

_BLANKS = re.compile(r"[ \t-\r]+")


class Lookup:
    """Finds the codes of items. What it makes of one never depends on others.

    Example:
        >>> from hedgerow.schema.items import (Items)
        >>> known = Lookup(Items(("milk", "rye bread"), separator=","))
        >>> known.find(pa.array([" milk", "tea", None, "rye bread"]), "item").tolist()
        [0, -1, -2, 1]
        >>> [part.tolist() for part in known.split(pa.array(["milk, tea,", None]))]
        [[0, -1], [2, 0]]
    """

    def __init__(self, items: Items) -> None:
        self.items = items
        self._separable = False
        self.mark: str | None = None  # what seems to separate items, though the schema says not
        universe = items.universe
        self._range = universe if isinstance(universe, range) else None
        low, high = (0, 0) if self._range is None else (self._range[0], self._range[-1])
        known: dict[str, int] = {}
        if self._range is None:
            known = {label: code for code, label in enumerate(items.given)}
            for code, label in enumerate(items.given):
                if label.isascii() and label == label.strip():
                    continue
                bare = label.strip()  # items are read without blanks around them
                for form in (bare, *(unicodedata.normalize(f, bare) for f in ("NFC", "NFD"))):
                    known.setdefault(form, code)
        data, ends = _bytes_of(pa.array(list(known), pa.large_string()))
        slots = np.full(1 << (2 * len(known)).bit_length(), -1, np.int32)
        data = data.copy()  # the loops are compiled for keys that could be written to
        index_keys(data, ends, slots)
        key_codes = np.fromiter(known.values(), np.int32, len(known))
        self._known = (self._range is not None, low, high, data, ends, key_codes, slots)

    @property
    def dummy(self) -> int:
        """The code that stands for an empty record; -1 if such records are dropped."""
        return -1 if self.items.dummy is None else self.items.dummy

    def check_separator(self) -> None:
        """Refuses a universe whose items could not be told apart in a text."""
        separator = self.items.separator
        if self._range is not None or self._separable:
            return
        for label in self.items.given:
            if _BLANKS.search(label.strip()) if separator == " " else separator in label:
                raise UsageError(
                    f"the item {label!r} holds what separates items in the data",
                    hint='Name another separator in the schema, such as `separator: ";"`, or '
                    "give the data as lists or as one row for each item.",
                )
        self._separable = True

    def split(self, texts: Any) -> tuple[Codes, Ints]:
        """The codes of the items in an Arrow array of texts, and how many each text has."""
        data, ends = _bytes_of(texts)
        begin, end = ends[:-1], ends[1:].copy()
        if texts.null_count:
            gone = texts.is_null().to_numpy(zero_copy_only=False)
            end[gone] = begin[gone]
        return self.split_bytes(data, begin, end)

    def split_bytes(self, data: Bytes, begin: Ints, end: Ints) -> tuple[Codes, Ints]:
        """The codes of the items in pieces of bytes, and how many each piece has."""
        self._look_for_marks(data)
        codes = np.empty(data.size // 2 + len(begin), np.int32)
        sizes = np.empty(len(begin), np.int64)
        separator = ord(self.items.separator)
        used = split_items(data, begin, end, separator, *self._known, codes, sizes)
        return codes[:used], sizes

    def _look_for_marks(self, data: Bytes) -> None:
        """Notes a usual separator that stands in the data and in no item."""
        if self.mark is None:
            self.mark = next((mark for mark in self._marks if (data == ord(mark)).any()), None)

    @cached_property
    def _marks(self) -> tuple[str, ...]:
        labels = () if self._range is not None else self.items.given
        others = [mark for mark in ",;|" if mark != self.items.separator]
        return tuple(mark for mark in others if not any(mark in label for label in labels))

    def find(self, array: Any, column: str) -> Codes:
        """The code of each value of an Arrow array; FOREIGN or NOTHING if it has none."""
        array = plain_array(array, column)
        kind = array.type
        if pa.types.is_null(kind):
            return np.full(len(array), NOTHING, np.int32)
        if pa.types.is_integer(kind) and self._range is not None:
            return self._find_numbers(array)
        if pa.types.is_string(kind):
            return self._find_texts(array)
        if not pa.types.is_dictionary(kind):
            array = array.dictionary_encode()
        values = array.dictionary
        if not pa.types.is_string(values.type):
            values = pa.array([text_of(value) for value in listed(values)], pa.string())
        codes = np.append(self._find_texts(values), np.int32(NOTHING))
        places = array.indices.cast(pa.int64()).fill_null(len(values))
        found: Codes = codes[places.to_numpy(zero_copy_only=False)]
        return found

    def _find_texts(self, array: Any) -> Codes:
        data, ends = _bytes_of(array)
        codes = np.empty(len(array), np.int32)
        find_items(data, ends[:-1], ends[1:], *self._known, codes)
        if array.null_count:
            codes[array.is_null().to_numpy(zero_copy_only=False)] = NOTHING
        return codes

    def _find_numbers(self, array: Any) -> Codes:
        assert self._range is not None
        missing = array.is_null().to_numpy(zero_copy_only=False) if array.null_count else None
        values = array.fill_null(0).to_numpy(zero_copy_only=False)
        low, high = self._range[0], self._range[-1]
        if values.dtype == np.uint64:  # numbers beyond the signed ones are in no range
            values = np.minimum(values, np.uint64((1 << 63) - 1))
        values = values.astype(np.int64)
        codes = np.where((values >= low) & (values <= high), values - low, FOREIGN)
        if missing is not None:
            codes[missing] = NOTHING
        return codes.astype(np.int32)

    def settle(self, codes: Codes, sizes: Ints) -> tuple[Codes, Ints, Bools]:
        """Applies the rules for records.

        Args:
            codes: The codes of all items, record by record.
            sizes: The number of codes of each record.

        Returns:
            The codes and sizes of the records that stay, and which records of those that came
            in have a foreign item.
        """
        out = np.empty(len(codes) + len(sizes), np.int32)
        out_sizes = np.empty(len(sizes), np.int64)
        foreign = np.empty(len(sizes), np.bool_)
        cap = self.items.most
        used, kept = settle(codes, sizes, cap, self.dummy, out, out_sizes, foreign)
        return out[:used], out_sizes[:kept], foreign


def _bytes_of(texts: Any) -> tuple[Bytes, Ints]:
    """The bytes of an Arrow array of texts, and where each text ends (before it: begins)."""
    large = pa.types.is_large_string(texts.type)
    _, offsets, content = texts.buffers()
    if offsets is None or not len(texts):
        return np.frombuffer(b"", np.uint8), np.zeros(len(texts) + 1, np.int64)
    offset: Any = np.frombuffer(offsets, np.int64 if large else np.int32)
    ends: Ints = offset[texts.offset : texts.offset + len(texts) + 1].astype(np.int64)
    if content is None or not content.size:
        return np.frombuffer(b"", np.uint8), ends
    # Nothing before or after the slice is looked at, so that work follows its own size.
    first = int(ends[0])
    return np.frombuffer(content, np.uint8)[first : int(ends[-1])], ends - first


# What became of transactions on the way from the data to the counts. NOT PRIVATE.
#
# Everything here is an exact count of private data. It is for whoever holds the data, and must not
# become part of a release, nor change one.


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


# Records of items as they come in, block by block, and what was odd about them.


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


# Transactions in the columns of a table: lists, texts of several items, or person and item.


def read_columns(
    source: Source,
    lookup: Lookup,
    progress: Progress | None = None,
    sink: Sink | None = None,
    tally: ItemTally | None = None,
) -> Records:
    """Reads the records from the columns that the schema names; other columns are ignored.

    Raises:
        DataError: If a column is not there or cannot be read.
    """
    items = lookup.items
    records = Records(lookup, source.what, source.places, sink, tally=tally)
    if items.person is not None and items.item is not None:
        _read_long(source, items.person, items.item, lookup, records, progress)
        return records
    column = column_of(source, items)
    for batch in source.batches(_places(source, [column])):
        records.add(*items_of(batch.column(0), column, lookup))
        _tell(source, progress)
    return records


def items_of(array: Any, column: str, lookup: Lookup) -> tuple[Small, Ints]:
    """The codes of all items of an array's records, and how many each record has."""
    if isinstance(array, pa.ExtensionArray):
        array = array.storage
    if is_list(array.type):
        sizes = pc.list_value_length(array).cast(pa.int64()).fill_null(0)
        codes = lookup.find(array.flatten(), column)
        return codes, sizes.to_numpy(zero_copy_only=False).copy()  # one kind of array for all
    array = plain_array(array, column)
    if pa.types.is_dictionary(array.type):
        array = pc.take(array.dictionary, array.indices)
    if pa.types.is_string(array.type):
        lookup.check_separator()
        return lookup.split(array)
    return lookup.find(array, column), np.ones(len(array), np.int64)  # an item for each record


def _read_long(
    source: Source,
    person: str,
    item: str,
    lookup: Lookup,
    records: Records,
    progress: Progress | None,
) -> None:
    """Reads a table with one row for each item of a person; rows without a person are dropped."""
    people: list[Any] = []
    parts: list[Small] = []
    seen = 0
    for batch in source.batches(_places(source, [person, item])):
        ids, known = person_ids(batch.column(0), person)
        codes = lookup.find(batch.column(1), item)
        foreign = (codes == FOREIGN) & known
        records.note(foreign, seen)
        if records.tally is not None:
            gone = int((~known).sum())
            records.tally.add_rows(batch.num_rows, gone, int(foreign.sum()))
        seen += batch.num_rows
        records.empty = not seen
        # From here on a foreign item is none: its row has been noted.
        parts.append(np.where(codes < 0, np.int32(NOTHING), codes)[known])
        people.append(ids.filter(pa.array(known)))
        _tell(source, progress)
    if not people:
        return
    who = person_numbers(people)
    order = np.argsort(who, kind="stable")
    records.add(np.concatenate(parts)[order], np.bincount(who).astype(np.int64))


def _tell(source: Source, progress: Progress | None) -> None:
    if progress is not None and source.share is not None:
        progress(min(1.0, source.share()))


def column_of(source: Source, items: Items) -> str:
    """The column that holds the items of each record."""
    if items.column is not None:
        _places(source, [items.column])
        return items.column
    if len(source.names) != 1:
        raise DataError(
            f"{source.what}: the schema does not say which column holds the items",
            hint="Write `column: ...` below `items:` in the schema, or `person: ...` and "
            "`item: ...` if there is one row for each item.",
        )
    return source.names[0]


def _places(source: Source, wanted: list[str]) -> list[int]:
    absent = [name for name in wanted if name not in source.names]
    if absent:
        # Without a header the names would be somebody's values, so only near ones are shown.
        near = difflib.get_close_matches(absent[0], source.names, n=1, cutoff=0.8)
        raise DataError(
            f"{source.what}: there {'is no column' if len(absent) == 1 else 'are no columns'} "
            f"{', '.join(map(repr, absent))}",
            hint=f"Did you mean {near[0]!r}? Use one spelling in the data and in the schema."
            if near
            else "Name the column as the data does. A CSV file's first line must hold the names; "
            "a text file with one record per line needs no `column` in the schema.",
        )
    return [source.names.index(name) for name in wanted]
