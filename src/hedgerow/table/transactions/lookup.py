"""From texts and numbers to the codes of items, and from items to records."""

from __future__ import annotations

import re
import unicodedata
from functools import cached_property
from typing import Any

import numpy as np
import pyarrow as pa

from hedgerow.arrays import Bools, Bytes, Ints, Small
from hedgerow.errors import UsageError
from hedgerow.schema.items import Items
from hedgerow.table.encode import listed, plain_array, text_of
from hedgerow.table.transactions.kernels import (
    FOREIGN,
    NOTHING,
    find_items,
    index_keys,
    settle,
    split_items,
)

__all__ = ["Lookup"]

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
