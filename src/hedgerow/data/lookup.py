"""Items as codes: found in texts and numbers, and made into records that follow the rules."""

from __future__ import annotations

import re
import unicodedata
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from hedgerow.arrays import Bools, Bytes, Ints, Small
from hedgerow.compiled import helper, kernel
from hedgerow.data.encode import is_list, plain_array, text_of, to_list
from hedgerow.errors import UsageError
from hedgerow.schema import Items

# The loops: bytes to items, and items to records.

Codes = Small

_BLANKS = re.compile(r"[ \t-\r]+")
FOREIGN, NOTHING = -1, -2  # an item outside the universe; no item at all, such as a blank

_DIGITS = 18  # numbers of more digits are in no range


@kernel()
def find_lines(data: Bytes) -> tuple[Ints, Ints]:
    """Where each line begins and ends, whatever its line break: LF, CRLF or CR.

    A last line without a line break is a line if it has any byte. A byte order mark at the start of
    a line is no part of it: if that were so in the first line alone, a line put before it would
    change how it is read.
    """
    number = 0
    for place in range(data.size):
        if data[place] == 10 or data[place] == 13:
            number += 1
    begin = np.empty(number + 1, np.int64)
    end = np.empty(number + 1, np.int64)
    used = 0
    first = 0
    for place in range(data.size):
        if data[place] == 10 or data[place] == 13:
            if data[place] == 10 and place > 0 and data[place - 1] == 13:  # CRLF broke already
                first = place + 1
                continue
            begin[used] = first
            end[used] = place
            used += 1
            first = place + 1
    if first < data.size:
        begin[used] = first
        end[used] = data.size
        used += 1
    for line in range(used):
        first = begin[line]
        long = end[line] - first >= 3
        if long and data[first] == 0xEF and data[first + 1] == 0xBB and data[first + 2] == 0xBF:
            begin[line] += 3
    return begin[:used], end[:used]


@helper
def _blank(byte: int) -> bool:
    return byte == 32 or 9 <= byte <= 13


@helper
def _hash(data: Bytes, first: int, last: int) -> Any:
    mixed = np.uint64(0xCBF29CE484222325)  # FNV-1a
    for place in range(first, last):
        mixed ^= np.uint64(data[place])
        mixed *= np.uint64(0x100000001B3)
    return np.int64((mixed ^ (mixed >> np.uint64(32))) & np.uint64(0x7FFFFFFF))


class Known(NamedTuple):
    """The items of a universe, as the loops look them up.

    Args:
        ranged: Whether the universe is a range, from low to high, and not the keys.
        low: The first item of a range.
        high: The last.
        keys: The bytes of all keys.
        ends: Where each key ends, and before it, 0.
        codes: The code of each key.
        slots: A hash table of the keys' numbers; its size is a power of two, -1 is a free slot.
    """

    ranged: bool
    low: int
    high: int
    keys: Bytes
    ends: Ints
    codes: Codes
    slots: Codes


@kernel()
def index_keys(known: Known) -> None:
    """Fills the hash table."""
    mask = known.slots.size - 1
    for key in range(known.ends.size - 1):
        slot = _hash(known.keys, known.ends[key], known.ends[key + 1]) & mask
        while known.slots[slot] >= 0:
            slot = (slot + 1) & mask
        known.slots[slot] = key


@helper
def _find_text(data: Bytes, first: int, last: int, known: Known) -> int:
    mask = known.slots.size - 1
    slot = _hash(data, first, last) & mask
    while known.slots[slot] >= 0:
        key = known.slots[slot]
        begin = known.ends[key]
        if known.ends[key + 1] - begin == last - first:
            same = True
            for place in range(last - first):
                if data[first + place] != known.keys[begin + place]:
                    same = False
                    break
            if same:
                return int(known.codes[key])
        slot = (slot + 1) & mask
    return FOREIGN


@helper
def _find_number(data: Bytes, first: int, last: int, known: Known) -> int:
    """A number counts if it is written as we would write it: `007` is another text than `7`."""
    place = first
    negative = data[place] == 45
    if negative:
        place += 1
    digits = last - place
    if digits == 0 or digits > _DIGITS or (data[place] == 48 and (digits > 1 or negative)):
        return FOREIGN
    value = 0
    while place < last:
        digit = int(data[place]) - 48
        if digit < 0 or digit > 9:
            return FOREIGN
        value = value * 10 + digit
        place += 1
    if negative:
        value = -value
    if value < known.low or value > known.high:
        return FOREIGN
    return value - known.low


@helper
def _find(data: Bytes, first: int, last: int, known: Known) -> int:
    """The code of an item, of which blanks around it are no part."""
    while first < last and _blank(data[first]):
        first += 1
    while first < last and _blank(data[last - 1]):
        last -= 1
    if first == last:
        return NOTHING
    if known.ranged:
        return _find_number(data, first, last, known)
    return _find_text(data, first, last, known)


@kernel()
def split_items(
    data: Bytes, begin: Ints, end: Ints, separator: int, known: Known, codes: Codes, sizes: Ints
) -> int:
    """Splits texts into items; gives the number of all items.

    Args:
        data: The bytes of all texts.
        begin: Where each text begins.
        end: Where it ends.
        separator: The byte between items; 32 stands for any blanks.
        known: The universe.
        codes: Takes the codes of all items.
        sizes: Takes the number of items of each text.
    """
    used = 0
    for text in range(begin.size):
        before = used
        place = begin[text]
        while place < end[text]:
            first = place
            if separator == 32:
                while place < end[text] and not _blank(data[place]):
                    place += 1
            else:
                while place < end[text] and data[place] != separator:
                    place += 1
            code = _find(data, first, place, known)
            if code != NOTHING:
                codes[used] = code
                used += 1
            place += 1
        sizes[text] = used - before
    return used


@kernel()
def find_items(data: Bytes, begin: Ints, end: Ints, known: Known, codes: Codes) -> None:
    """Looks up texts of one item each."""
    for text in range(begin.size):
        codes[text] = _find(data, begin[text], end[text], known)


@helper
def _mix(mixed: Any) -> Any:
    """The finaliser of splitmix64."""
    mixed = (mixed ^ (mixed >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    mixed = (mixed ^ (mixed >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return mixed ^ (mixed >> np.uint64(31))


@helper
def _sort(values: Any) -> None:
    """Sorts in place, by Shell's method: numpy's sorting takes numba seconds to compile."""
    gap = 1
    while gap < values.size // 3:
        gap = 3 * gap + 1
    while gap > 0:
        for i in range(gap, values.size):
            value = values[i]
            j = i
            while j >= gap and values[j - gap] > value:
                values[j] = values[j - gap]
                j -= gap
            values[j] = value
        gap //= 3


@helper
def truncate(record: Codes, max_items: int) -> None:
    """Puts the items that stay to the front, in order.

    Items are ranked by a hash of the whole set and the item: by nothing but the record itself,
    and not always in favour of the same items.
    """
    whole = np.uint64(0)
    for place in range(record.size):
        whole = _mix(whole + np.uint64(record[place]) + np.uint64(0x9E3779B97F4A7C15))
    ranks = np.empty(record.size, np.uint64)
    for place in range(record.size):
        item = _mix(np.uint64(record[place]) + np.uint64(0x9E3779B97F4A7C15))
        ranks[place] = _mix(whole ^ item)
    ordered = ranks.copy()
    _sort(ordered)
    last = ordered[max_items - 1]
    room = max_items  # for those of the last rank, should several share it
    for place in range(record.size):
        room -= ranks[place] < last
    used = 0
    for place in range(record.size):
        if ranks[place] < last or (ranks[place] == last and room > 0):
            room -= ranks[place] == last
            record[used] = record[place]
            used += 1


@kernel()
def settle(
    codes: Codes, sizes: Ints, max_items: int, dummy: int, out: Codes, out_sizes: Ints,
    foreign: Bools,
) -> tuple[int, int]:  # fmt: skip
    """Makes records of items: distinct, in order, at most so many, and none empty.

    Args:
        codes: The codes of all items, record by record; negative ones are left out.
        sizes: The number of codes of each record.
        max_items: The public cap.
        dummy: The code that stands for an empty record; if negative, such records are dropped.
        out: Takes the items.
        out_sizes: Takes the number of items of each record that stays.
        foreign: Takes whether each record, also one that is dropped, has a foreign item.

    Returns:
        The number of items and the number of records that were written.
    """
    used = 0
    kept = 0
    place = 0
    for record in range(sizes.size):
        first = used
        ordered = True
        foreign[record] = False
        for code in codes[place : place + sizes[record]]:
            if code < 0:
                foreign[record] |= code == FOREIGN
                continue
            ordered &= used == first or out[used - 1] < code
            out[used] = code
            used += 1
        place += sizes[record]
        if not ordered:
            _sort(out[first:used])
            last = first
            for spot in range(first + 1, used):
                if out[spot] != out[last]:
                    last += 1
                    out[last] = out[spot]
            used = last + 1
        if used - first > max_items:
            truncate(out[first:used], max_items)
            used = first + max_items
        if used == first and dummy >= 0:
            out[used] = dummy
            used += 1
        if used > first:
            out_sizes[kept] = used - first
            kept += 1
    return used, kept


# The items of a universe, in whatever form they come.


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
        self._known = Known(
            ranged=self._range is not None,
            low=low,
            high=high,
            keys=data.copy(),  # the loops are compiled for keys that could be written to
            ends=ends,
            codes=np.fromiter(known.values(), np.int32, len(known)),
            slots=np.full(1 << (2 * len(known)).bit_length(), -1, np.int32),
        )
        index_keys(self._known)

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
        used = split_items(data, begin, end, separator, self._known, codes, sizes)
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
            values = pa.array([text_of(value) for value in to_list(values)], pa.string())
        codes = np.append(self._find_texts(values), np.int32(NOTHING))
        places = array.indices.cast(pa.int64()).fill_null(len(values))
        answer: Codes = codes[places.to_numpy(zero_copy_only=False)]
        return answer

    def _find_texts(self, array: Any) -> Codes:
        data, ends = _bytes_of(array)
        codes = np.empty(len(array), np.int32)
        find_items(data, ends[:-1], ends[1:], self._known, codes)
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
