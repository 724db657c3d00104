"""Items as codes: found in texts and numbers, and made into records that follow the rules.

What is made of an item never depends on another one, nor of a record on others.
"""

from __future__ import annotations

import re
import unicodedata
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from hedgerow.arrays import Bools, Bytes, Ints, Small, Words
from hedgerow.data.encode import flat_array, is_list, plain_array, text_of, to_list
from hedgerow.data.people import GOLDEN, first_rows, mix
from hedgerow.errors import UsageError
from hedgerow.schema import Items

Codes = Small

_BLANKS = re.compile(r"[ \t-\r]+")
_NUMBER = re.compile(rb"0|-?[1-9]\d{0,17}")  # as we would write it: `007` is another text than `7`
_BITS = 31  # of the code of an item
FOREIGN, NOTHING = -1, -2  # an item outside the universe; no item at all, such as a blank


def find_lines(data: Bytes) -> tuple[Ints, Ints]:
    """Where each line begins and ends, whatever its line break: LF, CRLF or CR.

    A last line without a line break is a line if it has any byte. A byte order mark at the start of
    a line is no part of it: if that were so in the first line alone, a line put before it would
    change how it is read.
    """
    breaks = np.flatnonzero((data == 10) | (data == 13))
    after_cr = np.zeros(len(breaks), bool)  # CRLF broke already
    after_cr[1:] = (data[breaks[1:]] == 10) & (data[breaks[1:] - 1] == 13)
    end = breaks[~after_cr]
    begin = np.concatenate([[0], breaks[~np.append(after_cr, False)[1:]] + 1])
    if begin[-1] < len(data):
        end = np.append(end, len(data))
    begin = begin[: len(end)]
    marked = end - begin >= 3
    for place, byte in enumerate((0xEF, 0xBB, 0xBF)):
        marked[marked] = data[begin[marked] + place] == byte
    return begin + 3 * marked, end


def settle(codes: Codes, sizes: Ints, max_items: int, dummy: int) -> tuple[Codes, Ints, Bools]:
    """Makes records of items: distinct, in order, at most so many, and none empty.

    Args:
        codes: The codes of all items, record by record; negative ones are left out.
        sizes: The number of codes of each record.
        max_items: The public cap.
        dummy: The code that stands for an empty record; if negative, such records are dropped.

    Returns:
        The codes and sizes of the records that stay, and which records of those that came in have a
        foreign item.

    Example:
        >>> settle(np.array([2, 1, 2, -1, 0], np.int32), np.array([3, 1, 1]), 9, -1)[:2]
        (array([1, 2, 0], dtype=int32), array([2, 1]))
    """
    records = np.repeat(np.arange(len(sizes)), sizes)
    foreign = np.bincount(records[codes == FOREIGN], minlength=len(sizes)) > 0
    known = codes >= 0
    keys = np.sort(records[known] << _BITS | codes[known])
    keys = keys[np.diff(keys, prepend=-1) > 0]
    records, codes = keys >> _BITS, (keys & ((1 << _BITS) - 1)).astype(np.int32)
    sizes = np.bincount(records, minlength=len(sizes))
    long = sizes > max_items
    if long.any():
        ranks = np.zeros(len(codes), np.uint64)
        ranks[long[records]] = rank_items(codes[long[records]], sizes[long])
        stay = first_rows((records,), ranks, max_items)
        codes, sizes = codes[stay], np.minimum(sizes, max_items)
    if dummy >= 0:
        first = np.cumsum(sizes) - sizes
        codes, sizes = np.insert(codes, first[sizes == 0], dummy), np.maximum(sizes, 1)
    return codes, sizes[sizes > 0], foreign


def rank_items(codes: Codes, sizes: Ints) -> Words:
    """The ranks of the items of records, of which those of the lowest ranks stay.

    Items are ranked by a hash of the whole set and the item: by nothing but the record itself,
    and not always in favour of the same items.

    Args:
        codes: The items of all records, in order.
        sizes: The number of items of each record.
    """
    order = np.argsort(-sizes, kind="stable")  # so that the records with more items come first
    first, falling = (np.cumsum(sizes) - sizes)[order], -sizes[order]
    whole = np.zeros(len(sizes), np.uint64)
    for place in range(int(sizes.max())):
        many = int(np.searchsorted(falling, -place))
        items = codes[first[:many] + place].astype(np.uint64)
        whole[order[:many]] = mix(whole[order[:many]] + items + GOLDEN)
    return mix(np.repeat(whole, sizes) ^ mix(codes.astype(np.uint64) + GOLDEN))


class Lookup:
    """Finds the codes of items.

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
        # of the record that stands for an empty one; -1 if such records are dropped
        self.dummy = -1 if items.dummy is None else items.dummy
        self.mark: str | None = None  # what seems to separate items, though the schema says not
        self._range = items.universe if isinstance(items.universe, range) else None
        self._separable = self._range is not None
        labels = () if self._range is not None else items.given
        known = {label: code for code, label in enumerate(labels)}
        for code, label in enumerate(labels):
            if label.isascii() and label == label.strip():
                continue
            bare = label.strip()  # items are read without blanks around them
            for form in (bare, *(unicodedata.normalize(f, bare) for f in ("NFC", "NFD"))):
                known.setdefault(form, code)
        self._codes = {form.encode(): code for form, code in known.items()}
        # usual separators that stand in no item
        others = [mark for mark in ",;|" if mark != items.separator]
        self._marks = [mark for mark in others if not any(mark in label for label in labels)]

    def check_separator(self) -> None:
        """Refuses a universe whose items could not be told apart in a text."""
        separator = self.items.separator
        if self._separable:
            return
        for label in self.items.given:
            if _BLANKS.search(label.strip()) if separator == " " else separator in label:
                raise UsageError(
                    f"the item {label!r} holds what separates items in the data",
                    hint='Name another separator in the schema, such as `separator: ";"`, or '
                    "give the data as lists or as one row for each item.",
                )
        self._separable = True

    def split_bytes(self, data: Bytes, begin: Ints, end: Ints) -> tuple[Codes, Ints]:
        """The codes of the items in pieces of bytes, and how many each piece has."""
        ends = np.empty(2 * len(begin) + 1, np.int32)  # of each piece, and of what is between them
        ends[:-1:2], ends[1::2], ends[-1] = begin, end, len(data)
        buffers = [None, pa.py_buffer(ends), pa.py_buffer(data)]
        parts = pa.Array.from_buffers(pa.string(), 2 * len(begin), buffers)
        return self.split(parts.take(pa.array(np.arange(0, len(parts), 2))))

    def split(self, texts: Any) -> tuple[Codes, Ints]:
        """The codes of the items in an Arrow array of texts, and how many each text has."""
        if self.items.separator == " ":
            parts = pc.ascii_split_whitespace(texts)
        else:
            parts = pc.split_pattern(texts, self.items.separator)
        words = parts.flatten().cast(pa.binary()).dictionary_encode()
        if self.mark is None:
            whole = b" ".join(words.dictionary.to_pylist())
            self.mark = next((mark for mark in self._marks if mark.encode() in whole), None)
        codes = self._codes_of(words)
        items = codes != NOTHING
        record = pc.list_parent_indices(parts).to_numpy()
        return codes[items], np.bincount(record[items], minlength=len(texts))

    def find(self, array: Any, column: str) -> Codes:
        """The code of each value of an Arrow array; FOREIGN or NOTHING if it has none."""
        array = plain_array(array, column)
        if pa.types.is_null(array.type):
            return np.full(len(array), NOTHING, np.int32)
        if not pa.types.is_dictionary(array.type):
            array = array.dictionary_encode()
        values = array.dictionary
        if not pa.types.is_string(values.type):
            values = pa.array([text_of(value) for value in to_list(values)], pa.string())
        return self._codes_of(
            pa.DictionaryArray.from_arrays(array.indices, values.cast(pa.binary()))
        )

    def _codes_of(self, words: Any) -> Codes:
        """The code of each value of a dictionary, of which each word is looked up once."""
        codes = np.array([*map(self._code, words.dictionary.to_pylist()), NOTHING], np.int32)
        places = words.indices.cast(pa.int64()).fill_null(len(codes) - 1)
        found: Codes = codes[places.to_numpy(zero_copy_only=False)]
        return found

    def _code(self, word: bytes | None) -> int:
        """The code of an item, of which blanks around it are no part."""
        item = (word or b"").strip()
        if not item:
            return NOTHING
        if self._range is None:
            return self._codes.get(item, FOREIGN)
        if _NUMBER.fullmatch(item) is None or int(item) not in self._range:
            return FOREIGN
        return int(item) - self._range[0]


def items_of(array: Any, column: str, lookup: Lookup) -> tuple[Small, Ints]:
    """The codes of all items of an array's records, and how many each record has."""
    if isinstance(array, pa.ExtensionArray):
        array = array.storage
    if is_list(array.type):
        sizes = pc.list_value_length(array).cast(pa.int64()).fill_null(0)
        codes = lookup.find(array.flatten(), column)
        return codes, sizes.to_numpy(zero_copy_only=False).copy()  # one kind of array for all
    array = flat_array(array, column)
    if pa.types.is_string(array.type):
        lookup.check_separator()
        return lookup.split(array)
    return lookup.find(array, column), np.ones(len(array), np.int64)  # an item for each record
