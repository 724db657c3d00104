"""Rows as bits, in which very many conjunctions are counted.

Rows stand 64 to a word. For every column there are bitmaps that tell which rows have some codes, so
that each condition is the exclusive or of a few of them, a query is the conjunction of its
conditions, and its count is the number of bits. Reading a release must not compile anything, so all
of it is NumPy on arrays of words.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import chain, product
from math import floor, prod
from operator import itemgetter
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from hedgerow.arrays import Floats, Ints

if TYPE_CHECKING:
    from hedgerow.schema.query import Intervals, Query

Words = NDArray[np.uint64]

WORD = 64
_MOST_BYTES = 1 << 27  # of all bitmaps; beyond, they are fewer and conditions need more of them
_MOST_BITS = 8  # values whose sets all have a bitmap
_BATCH, _BLOCK = 4096, 128  # queries: read at a time, and summed up at a time
_DUST = 1e-9  # code units that are rounding errors of the query's bounds


class Bitmaps:
    """Rows to count in, each of which stands for as many records as any other.

    Args:
        codes: The rows, [rows, columns]; the class, if there is one, is the last column.
        weight: How many records a row stands for.
        sizes: How many codes each column has.

    Example:
        >>> from hedgerow.schema.query import Query
        >>> rows = Bitmaps(np.array([[0, 5], [1, 6], [1, 7]]), 2.0, [2, 8])
        >>> rows.count([Query(((0, ((1.0, 2.0),)),)), Query(((1, ((5.0, 6.5),)),))]).tolist()
        [4.0, 3.0]
    """

    def __init__(self, codes: Ints, weight: float, sizes: Sequence[int]) -> None:
        self._codes, self._weight, self._sizes = codes, weight, sizes
        self._everybody = _packed(np.ones(len(codes), np.bool_))
        words = len(self._everybody)
        self._levels = 1
        while (
            self._levels < WORD
            and sum(_bitmaps(size, self._levels) for size in sizes) * words * 8 > _MOST_BYTES
        ):
            self._levels += 1
        self._known: dict[int, _Values | _Numbers] = {}

    def count(self, queries: Sequence[Query]) -> Floats:
        """How many records the rows stand for that meet each query."""
        counts = np.zeros(len(queries))
        for start in range(0, len(queries), _BATCH):
            self._some(queries[start : start + _BATCH], counts[start:])
        return counts

    def _some(self, queries: Sequence[Query], counts: Floats) -> None:
        conditions, owners, parts = _terms(queries, len(self._sizes) - 1)
        bitmaps = self._of_conditions(list(chain.from_iterable(conditions)))
        stop = 0
        room = np.empty((_BLOCK, len(self._everybody)), np.uint8)
        one, other = (np.empty_like(self._everybody) for _ in range(2))
        meant: list[int] = []
        times: list[float] = []

        def flush() -> None:
            sums = room[: len(meant)].sum(axis=1, dtype=np.int64)
            np.add.at(counts, meant, sums * (np.array(times) * self._weight))
            meant.clear()
            times.clear()

        for owner, part, several in zip(owners, parts, conditions, strict=True):
            met = self._everybody
            start, stop = stop, stop + len(several)
            asked = bitmaps[start:stop]
            if not all(asked):  # nobody has any of the codes
                continue
            for masks in asked:
                mask = masks[0]
                if len(masks) > 1:
                    mask = np.bitwise_xor(mask, masks[1], other)
                    for more in masks[2:]:
                        np.bitwise_xor(mask, more, mask)
                if met is self._everybody:
                    met = mask
                    if mask is other:
                        one, other = other, one
                else:
                    met = np.bitwise_and(met, mask, one)
            np.bitwise_count(met, room[len(meant)])
            meant.append(owner)
            times.append(part)
            if len(meant) == _BLOCK:
                flush()
        flush()

    def _of_conditions(self, conditions: list[tuple[int, Intervals]]) -> list[list[Words]]:
        """The bitmaps of each condition, the exclusive or of which are the rows that meet it."""
        places = np.fromiter(map(itemgetter(0), conditions), np.int64, len(conditions))
        many = 2 * np.fromiter(map(len, map(itemgetter(1), conditions)), np.int64, len(places))
        ends = _ends(conditions).astype(np.int64)
        begin = np.cumsum(many) - many
        found: list[list[Words]] = [[]] * len(conditions)
        for place in np.unique(places[many > 0]).tolist():
            here = np.flatnonzero((places == place) & (many > 0))
            if place not in self._known:
                kind = _Values if self._sizes[place] <= WORD else _Numbers
                codes = np.ascontiguousarray(self._codes[:, place])
                self._known[place] = kind(codes, self._sizes[place], self._levels)
            mine = np.repeat(begin[here] - np.cumsum(many[here]) + many[here], many[here])
            chosen = ends[mine + np.arange(len(mine))]
            for at, masks in zip(
                here.tolist(), self._known[place].masks(chosen, many[here]), strict=True
            ):
                found[at] = masks
        return found


class _Values:
    """Bitmaps of an attribute with few codes: of all sets of some neighboring codes."""

    def __init__(self, codes: Ints, size: int, levels: int) -> None:
        self._size = size
        self._bits = min(size, _set_bits(levels))
        self._sets: list[Words] = []
        self._starts = range(0, size, self._bits)
        small = codes.astype(np.uint8)
        for start in self._starts:
            sets = np.empty((1 << min(self._bits, size - start), _words(codes)), np.uint64)
            sets[0] = 0
            for bit in range(min(self._bits, size - start)):
                one = _packed(small == start + bit)
                np.bitwise_or(sets[: 1 << bit], one, sets[1 << bit : 2 << bit])
            self._sets += list(sets)

    def masks(self, ends: Ints, many: Ints) -> Iterable[list[Words]]:
        """The bitmaps of conditions, given the ends of their intervals."""
        ends = np.clip(ends, 0, self._size)
        ones = np.left_shift(np.uint64(1), ends.astype(np.uint64) % WORD)
        ones[ends == WORD] = 0
        lows, highs = ones[::2], ones[1::2]
        # the codes from low up to high: 2^high - 2^low, where all of it wraps around
        wanted = np.add.reduceat(highs - lows, (np.cumsum(many) - many) // 2)
        step, all_of_them = np.uint64(self._bits), np.uint64((1 << self._bits) - 1)
        place = np.stack([wanted >> np.uint64(start) & all_of_them for start in self._starts], 1)
        there = place > 0
        first = np.arange(len(self._starts), dtype=np.uint64) << step
        sets, flat = self._sets, (place + first)[there].tolist()
        stops = np.cumsum(there.sum(axis=1)).tolist()
        return [
            [sets[i] for i in flat[start:stop]]
            for start, stop in zip([0, *stops], stops, strict=False)
        ]


class _Numbers:
    """Bitmaps of an attribute with many codes: of those below an end, or of the digits of that."""

    def __init__(self, codes: Ints, size: int, levels: int) -> None:
        there = np.bincount(codes, minlength=size) > 0
        self._there, rank = np.flatnonzero(there), (np.cumsum(there) - 1)[codes]
        number = len(self._there) + 1
        levels = min(levels, number.bit_length())
        base = max(2, int(np.ceil(number ** (1 / levels))))
        while base**levels < number:
            base += 1
        self._base = base
        self._below: list[list[Words]] = []
        word = np.arange(_words(codes))
        for level in range(levels):
            digit = rank // base**level % base
            below = np.zeros((min(base, number) + 1, len(word)), np.uint64)
            for bit in range(WORD):  # one row of each word
                several = digit[bit::WORD] + 1
                below[several, word[: len(several)]] |= np.uint64(1 << bit)
            self._below.append(list(np.bitwise_or.accumulate(below, axis=0, out=below)))

    def masks(self, ends: Ints, many: Ints) -> Iterable[list[Words]]:
        """The bitmaps of conditions, given the ends of their intervals."""
        rank = np.searchsorted(self._there, ends).tolist()
        stops = np.cumsum(many).tolist()
        if len(self._below) == 1:  # the usual case, for which there is no arithmetic
            (below,) = self._below
            return [
                [below[one] for one in rank[start:stop] if one]
                for start, stop in zip([0, *stops], stops, strict=False)
            ]
        return [
            [self._up_to(one) for one in rank[start:stop] if one]
            for start, stop in zip([0, *stops], stops, strict=False)
        ]

    def _up_to(self, rank: int) -> Words:
        """The rows with a lower rank: with a lower first digit, or the same one and so on."""
        found = None
        for below in self._below:
            rank, digit = divmod(rank, self._base)
            if found is None:
                found = below[digit]
            else:
                found = below[digit] ^ ((below[digit] ^ below[digit + 1]) & found)
        assert found is not None
        return found


def _terms(
    queries: Sequence[Query], last: int
) -> tuple[list[tuple[tuple[int, Intervals], ...]], list[int], list[float]]:
    """Conjunctions of whole codes, the query that each belongs to, and what it counts for.

    Args:
        queries: The queries.
        last: The column of the class.
    """
    several = [query.where + _of_class(query, last) for query in queries]
    ends = _ends(chain.from_iterable(several))
    if np.array_equal(ends, np.floor(ends)):
        return several, list(range(len(queries))), [1.0] * len(queries)
    conditions: list[tuple[tuple[int, Intervals], ...]] = []
    owners: list[int] = []
    parts: list[float] = []
    for number, where in enumerate(several):
        levels = [[(place, *one) for one in _levels(intervals)] for place, intervals in where]
        for term in product(*levels):
            conditions.append(tuple((place, intervals) for place, _, intervals in term))
            owners.append(number)
            parts.append(prod(part for _, part, _ in term))
    return conditions, owners, parts


def _of_class(query: Query, last: int) -> tuple[tuple[int, Intervals], ...]:
    if query.classes is None:
        return ()
    return ((last, tuple((float(code), float(code + 1)) for code in query.classes)),)


def _ends(conditions: Iterable[tuple[int, Intervals]]) -> Floats:
    """The ends of all intervals, one after the other."""
    each = chain.from_iterable
    return np.fromiter(each(each(map(itemgetter(1), conditions))), np.float64)


def _levels(intervals: Intervals) -> list[tuple[float, Intervals]]:
    """Codes that are covered alike, and how far."""
    wholly: list[tuple[float, float]] = []
    partly: dict[int, float] = {}
    for low, high in intervals:
        first, last = (round(end) if abs(end - round(end)) < _DUST else end for end in (low, high))
        begin, end = -floor(-first), floor(last)
        if begin < end:
            wholly.append((float(begin), float(end)))
        for code in {floor(first), end} - {*range(begin, end)} if begin <= end else {end}:
            part = min(last, code + 1) - max(first, code)
            if part > _DUST:
                partly[code] = min(1.0, partly.get(code, 0.0) + part)
    found: list[tuple[float, Intervals]] = [(1.0, tuple(wholly))] if wholly else []
    found += [(part, ((float(code), float(code + 1)),)) for code, part in partly.items()]
    return found


def _set_bits(levels: int) -> int:
    return max(1, _MOST_BITS >> (levels - 1))


def _bitmaps(size: int, levels: int) -> int:
    """How many bitmaps an attribute needs."""
    if size <= WORD:
        bits = min(size, _set_bits(levels))
        return -(-size // bits) << bits
    return int(levels * (size ** (1 / levels) + 2))


def _words(rows: NDArray[Any]) -> int:
    return -(-len(rows) // WORD)


def _packed(rows: NDArray[np.bool_]) -> Words:
    """Truth values as bits of words."""
    padded = np.zeros(_words(rows) * WORD, np.bool_)
    padded[: len(rows)] = rows
    return np.packbits(padded, bitorder="little").view("<u8").astype(np.uint64)
