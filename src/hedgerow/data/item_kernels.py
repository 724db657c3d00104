"""The loops that read transactions: bytes to items, and items to records that follow the rules."""

from __future__ import annotations

from typing import Any

import numpy as np

from hedgerow.arrays import Bools, Bytes, Ints, Small
from hedgerow.compiled import helper, kernel

Codes = Small

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


@kernel()
def index_keys(keys: Bytes, ends: Ints, slots: Codes) -> None:
    """Fills a hash table of the keys' numbers; its size is a power of two, -1 is a free slot."""
    mask = slots.size - 1
    for key in range(ends.size - 1):
        slot = _hash(keys, ends[key], ends[key + 1]) & mask
        while slots[slot] >= 0:
            slot = (slot + 1) & mask
        slots[slot] = key


@helper
def _find_text(
    data: Bytes, first: int, last: int, keys: Bytes, ends: Ints, codes: Codes, slots: Codes
) -> int:
    mask = slots.size - 1
    slot = _hash(data, first, last) & mask
    while slots[slot] >= 0:
        key = slots[slot]
        begin = ends[key]
        if ends[key + 1] - begin == last - first:
            same = True
            for place in range(last - first):
                if data[first + place] != keys[begin + place]:
                    same = False
                    break
            if same:
                return int(codes[key])
        slot = (slot + 1) & mask
    return FOREIGN


@helper
def _find_number(data: Bytes, first: int, last: int, low: int, high: int) -> int:
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
    if value < low or value > high:
        return FOREIGN
    return value - low


@kernel()
def split_items(
    data: Bytes,
    begin: Ints,
    end: Ints,
    separator: int,
    ranged: bool,
    low: int,
    high: int,
    keys: Bytes,
    ends: Ints,
    key_codes: Codes,
    slots: Codes,
    codes: Codes,
    sizes: Ints,
) -> int:
    """Splits texts into items; gives the number of all items.

    Args:
        data: The bytes of all texts.
        begin: Where each text begins.
        end: Where it ends.
        separator: The byte between items; 32 stands for any blanks.
        ranged: Whether the universe is a range, from low to high, and not the keys.
        low: The first item of a range.
        high: The last.
        keys: The bytes of all keys.
        ends: Where each key ends, and before it, 0.
        key_codes: The code of each key.
        slots: The hash table of the keys.
        codes: Takes the codes of all items.
        sizes: Takes the number of items of each text.
    """
    used = 0
    for text in range(begin.size):
        before = used
        place = begin[text]
        stop = end[text]
        while place < stop:
            if separator == 32:
                while place < stop and _blank(data[place]):
                    place += 1
                first = place
                while place < stop and not _blank(data[place]):
                    place += 1
                last = place
            else:
                first = place
                while place < stop and data[place] != separator:
                    place += 1
                last = place
                place += 1
                while first < last and _blank(data[first]):
                    first += 1
                while first < last and _blank(data[last - 1]):
                    last -= 1
            if first < last:
                if ranged:
                    codes[used] = _find_number(data, first, last, low, high)
                else:
                    codes[used] = _find_text(data, first, last, keys, ends, key_codes, slots)
                used += 1
        sizes[text] = used - before
    return used


@kernel()
def find_items(
    data: Bytes,
    begin: Ints,
    end: Ints,
    ranged: bool,
    low: int,
    high: int,
    keys: Bytes,
    ends: Ints,
    key_codes: Codes,
    slots: Codes,
    codes: Codes,
) -> None:
    """Looks up texts of one item each; blanks around an item do not count."""
    for text in range(begin.size):
        first = begin[text]
        last = end[text]
        while first < last and _blank(data[first]):
            first += 1
        while first < last and _blank(data[last - 1]):
            last -= 1
        if first == last:
            codes[text] = NOTHING
        elif ranged:
            codes[text] = _find_number(data, first, last, low, high)
        else:
            codes[text] = _find_text(data, first, last, keys, ends, key_codes, slots)


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
    codes: Codes,
    sizes: Ints,
    max_items: int,
    dummy: int,
    out: Codes,
    out_sizes: Ints,
    foreign: Bools,
) -> tuple[int, int]:
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
