"""Engines of tables: rows that lie in parts, are asked part by part, and answers that add up.

A question is public but for the sizes that shape it; it is the same for every part of the rows.
Parts of the rows (a table in memory, chunks of a scratch file, partitions on a cluster) answer it
one by one, and the sum of their answers is what an engine gives, sealed.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor, wait
from dataclasses import dataclass
from functools import partial
from itertools import chain
from operator import methodcaller
from typing import Any, NamedTuple, Self, TypeVar

import numpy as np
from numpy.typing import NDArray

from hedgerow.arrays import Bools, Bytes, Ints, Small
from hedgerow.compiled import helper, kernel
from hedgerow.counting.engine import (
    Codes,
    Domain,
    FilledCells,
    Histograms,
    Split,
    TableCounts,
    batches,
    cells_of,
)
from hedgerow.counting.sealed import Sealed
from hedgerow.data.source import Progress, silent

T = TypeVar("T")
U = TypeVar("U")

DENSE = 24  # a part is counted densely if it has fewer cells than this times the node's rows

Spans = Small  # [2, nodes]: where each node's rows begin and end
Words = NDArray[Any]  # rows as words of 32 bits, or of 64


class Crew:
    """Threads that are there until they are dismissed; kernels hold no lock, so they help.

    Args:
        size: How many.

    Example:
        >>> crew = Crew(2)
        >>> list(crew.map(abs, [-1, 2, -3]))
        [1, 2, 3]
        >>> crew.dismiss()
    """

    def __init__(self, size: int) -> None:
        self.size = size
        self._pool = ThreadPoolExecutor(size, thread_name_prefix="hedgerow")

    def map(self, work: Callable[[T], U], items: Iterable[T]) -> Iterator[U]:
        """Results in the order of the items, of which only a few are taken in advance."""
        ahead: deque[Future[U]] = deque()
        try:
            for item in items:
                ahead.append(self._pool.submit(work, item))
                if len(ahead) > self.size:
                    yield ahead.popleft().result()
            while ahead:
                yield ahead.popleft().result()
        finally:  # after an error or an interrupt nobody works on
            for future in ahead:
                future.cancel()
            wait(ahead)

    def dismiss(self) -> None:
        """Ends the threads."""
        self._pool.shutdown()


# Packed rows: every code in as few bytes as its attribute needs, a row's codes side by side.


_WORD, _WIDE = 4, 8  # rows are moved in words, and begin at one
_UNPACKED = 1 << 16  # rows


class Packed(NamedTuple):
    """Packed rows as kernels read them: the same bytes in units of 1, 2 and 4, and the layout."""

    r8: Bytes
    r16: NDArray[np.uint16]
    r32: NDArray[np.uint32]
    width: Ints
    place: Ints


@dataclass(frozen=True)
class RowLayout:
    """Where each column lies in a packed row: the predictors, then the class.

    Wide columns come first, so that each lies at a multiple of its width.

    Args:
        width: The bytes of each column: 1, 2 or 4.
        place: Where each column begins, in units of its width.
        stride: The bytes of a row.

    Example:
        >>> layout = RowLayout.of_sizes([300, 2, 2])
        >>> layout.width.tolist(), layout.place.tolist(), layout.stride
        ([2, 1, 1], [0, 2, 3], 4)
    """

    width: Ints
    place: Ints
    stride: int

    @staticmethod
    def of_sizes(sizes: Sequence[int]) -> RowLayout:
        """The layout of columns with so many codes each."""
        width = np.array([1 if n <= 1 << 8 else 2 if n <= 1 << 16 else 4 for n in sizes], np.int64)
        place = np.empty(len(sizes), dtype=np.int64)
        end = 0
        for column in np.argsort(-width, kind="stable").tolist():
            place[column] = end // width[column]
            end += int(width[column])
        return RowLayout(width, place, -(-end // _WORD) * _WORD)

    @staticmethod
    def of(domain: Domain) -> RowLayout:
        """The layout of a domain's rows."""
        return RowLayout.of_sizes([*domain.sizes.tolist(), domain.classes])

    @staticmethod
    def of_matrix(codes: NDArray[Any]) -> RowLayout:
        """The layout of rows that are as wide everywhere as in a matrix, and fill whole words."""
        columns, wide = codes.shape[1], codes.itemsize
        width = np.full(columns, wide, dtype=np.int64)
        return RowLayout(width, np.arange(columns), -(-columns * wide // _WIDE) * _WIDE)

    def pack(self, columns: Sequence[NDArray[Any]]) -> Bytes:
        """Packs columns of codes.

        Example:
            >>> layout = RowLayout.of_sizes([300, 2])
            >>> layout.column(layout.pack([np.array([258]), np.array([1])]), 0).tolist()
            [258]
        """
        rows = np.zeros((len(columns[0]), self.stride), dtype=np.uint8)
        for column, width, place in zip(columns, self.width, self.place, strict=True):
            rows.view(f"u{width}")[:, place] = column
        return rows

    def column(self, rows: Bytes, column: int) -> NDArray[Any]:
        """One column of packed rows."""
        return rows.view(f"u{self.width[column]}")[:, self.place[column]]

    def blocks(self, rows: Bytes) -> Iterator[NDArray[Any]]:
        """All columns, [rows, columns], in the widest type that one of them has, block by block."""
        for first in range(0, len(rows), _UNPACKED):
            some = rows[first : first + _UNPACKED]
            codes = np.empty((len(some), len(self.width)), dtype=f"u{self.width.max()}")
            for column in range(len(self.width)):
                codes[:, column] = self.column(some, column)
            yield codes

    def view(self, rows: Bytes) -> Packed:
        """Packed rows as kernels read them."""
        r16, r32 = rows.view(np.uint16), rows.view(np.uint32)
        return Packed(rows, r16, r32, self.width, self.place)


# The loops over packed rows. They hold no lock, so that threads run them side by side.
#
# Rows of a part lie grouped by node: node i's from `bounds[0, i]` to `bounds[1, i]`.


@helper
def _code(rows: Packed, row: Any, width: Any, place: Any) -> Any:
    if width == 1:
        return np.int64(rows.r8[row, place])
    if width == 2:
        return np.int64(rows.r16[row, place])
    return np.int64(rows.r32[row, place])


@helper
def _sort(keys: Ints, size: Any) -> None:
    """Sorts the first keys; by insertion while they are few."""
    if size > 48:
        keys[:size] = np.sort(keys[:size])
        return
    for i in range(1, size):
        key = keys[i]
        j = i - 1
        while j >= 0 and keys[j] > key:
            keys[j + 1] = keys[j]
            j -= 1
        keys[j + 1] = key


@helper
def _fill(
    codes: Any, places: Any, offsets: Any, rows: Packed, first: Any, last: Any, step: Any,
    scratch: Small,
) -> None:  # fmt: skip
    """Counts codes of one width in some rows, each by its row's class."""
    class_width, class_place = rows.width[-1], np.uint64(rows.place[-1])
    number = np.uint64(places.size)
    if class_width == codes.itemsize:  # then the class lies in the same view
        for row in range(np.uint64(first), np.uint64(last)):
            klass = np.uint64(codes[row, class_place])
            for j in range(number):
                scratch[offsets[j] + np.uint64(codes[row, places[j]]) * step + klass] += 1
    else:
        for row in range(np.uint64(first), np.uint64(last)):
            klass = np.uint64(_code(rows, row, class_width, class_place))
            for j in range(number):
                scratch[offsets[j] + np.uint64(codes[row, places[j]]) * step + klass] += 1


def _histograms(
    rows: Packed, bounds: Spans, lo: Small, hi: Small, wanted: Bools, scratch: Small, keys: Ints,
    answer: Histograms,
) -> None:  # fmt: skip
    """`histograms` by NumPy: all parts of all nodes in one row of cells."""
    begin, end = bounds.astype(np.int64)
    start, code, counts = answer
    classes = counts.shape[1]
    width = np.where(wanted, hi - lo, 0).astype(np.int64)
    ends = np.cumsum(width).reshape(width.shape)
    offset = ends - width - lo
    node = np.repeat(np.arange(len(begin)), end - begin)
    at = np.arange(len(node)) + np.repeat(end - np.cumsum(end - begin), end - begin)
    views = rows.r8, rows.r16, rows.r32
    columns = [views[w >> 1][at, p] for w, p in zip(rows.width, rows.place, strict=True)]
    cells = np.stack(columns[:-1], axis=1) + offset[node]
    places = (cells * classes + columns[-1][:, None])[wanted[node]]
    total = int(width.sum()) * classes
    if total <= DENSE * len(places):
        dense = np.bincount(places, minlength=total)
        present = np.flatnonzero(dense)
        times = dense[present]
    else:
        present, times = np.unique(places, return_counts=True)
    occurs, entry = np.unique(present // classes, return_inverse=True)
    last = np.searchsorted(occurs, ends.ravel())
    start[0], start[1:] = 0, last
    code[: len(occurs)] = occurs - np.repeat(offset.ravel(), np.diff(start))
    counts[: len(occurs)] = 0
    counts[entry, present % classes] = times


@kernel(
    steps=lambda rows, bounds, lo, *rest: (
        100 + (int((bounds[1] - bounds[0]).sum(dtype=np.int64)) + len(bounds.T)) * len(lo.T) // 16
    ),
    small=_histograms,
)
def histograms(
    rows: Packed, bounds: Spans, lo: Small, hi: Small, wanted: Bools, scratch: Small, keys: Ints,
    answer: Histograms,
) -> None:  # fmt: skip
    """Class counts of every code that occurs, for each wanted attribute of each node.

    Entry e of segment (node, attribute) says that `code[e]` occurs with class k in `counts[e, k]`
    records; codes increase within a segment; segment i lies from `start[i]` to `start[i + 1]`.
    Rows lie grouped by node, so what is counted stays in cache. The innermost loops take unsigned
    places: numba asks of a signed one whether it counts from the end.
    """
    start, code, counts = answer.start, answer.code, answer.counts
    attributes, classes = lo.shape[1], np.int64(counts.shape[1])
    class_width, class_place = rows.width[attributes], np.uint64(rows.place[attributes])
    number = np.zeros(3, dtype=np.uint64)
    places = np.empty((3, attributes), dtype=np.uint64)
    offsets = np.empty((3, attributes), dtype=np.uint64)  # below 0 they wrap around, and back
    step = np.uint64(classes)
    seen = np.empty(scratch.size + 1, dtype=np.uint32)
    entry = np.int64(0)
    segment = np.int64(0)
    for node in range(bounds.shape[1]):
        first, last = np.int64(bounds[0, node]), np.int64(bounds[1, node])
        size = last - first
        # the row loop fills all small parts of the node at once, by the width of their codes
        number[:] = 0
        used = np.int64(0)
        for a in range(attributes):
            cells = np.int64(hi[node, a] - lo[node, a]) * classes
            if wanted[node, a] and cells <= DENSE * size:
                group = rows.width[a] >> 1  # 0, 1, 2
                places[group, number[group]] = rows.place[a]
                offsets[group, number[group]] = used - np.int64(lo[node, a]) * classes
                number[group] += np.uint64(1)
                used += cells
        scratch[:used] = 0
        ones, twos, fours = number[0], number[1], number[2]
        if ones:
            _fill(rows.r8, places[0, :ones], offsets[0, :ones], rows, first, last, step, scratch)
        if twos:
            _fill(rows.r16, places[1, :twos], offsets[1, :twos], rows, first, last, step, scratch)
        if fours:
            _fill(rows.r32, places[2, :fours], offsets[2, :fours], rows, first, last, step, scratch)
        place = np.uint64(0)
        for a in range(attributes):
            start[segment] = entry
            segment += 1
            if not wanted[node, a]:
                continue
            width = np.uint64(hi[node, a] - lo[node, a])
            if np.int64(width) * classes <= DENSE * size:
                # a branch for each code would be guessed wrong too often
                number_seen = np.uint64(0)
                for value in range(width):
                    at = place + value * step
                    some = scratch[at]
                    for k in range(np.uint64(1), step):
                        some |= scratch[at + k]
                    seen[number_seen] = value
                    number_seen += np.uint64(some != 0)
                for j in range(number_seen):
                    code[entry] = lo[node, a] + seen[j]
                    at = place + seen[j] * step
                    for k in range(step):
                        counts[entry, k] = scratch[at + k]
                    entry += 1
                place += width * step
                continue
            code_width, code_place = rows.width[a], np.uint64(rows.place[a])
            for row in range(np.uint64(first), np.uint64(last)):
                klass = _code(rows, row, class_width, class_place)
                key = _code(rows, row, code_width, code_place) * classes + klass
                keys[np.int64(row) - first] = key
            _sort(keys, size)
            previous = np.int64(-1)
            for j in range(size):
                seen_code = keys[j] // classes
                if seen_code != previous:
                    code[entry] = seen_code
                    for k in range(classes):
                        counts[entry, k] = 0
                    entry += 1
                    previous = seen_code
                counts[entry - 1, keys[j] - seen_code * classes] += 1
    start[segment] = entry


@helper
def _child(value: Any, edges: Small, first: Any, number: Any) -> Any:
    """How many of the edges are not above a code: the child it belongs to."""
    if number <= 8:
        which = np.int64(0)
        for e in range(first, first + number):
            which += value >= edges[e]
        return which
    left, right = np.int64(0), number
    while left < right:
        middle = (left + right) // 2
        if value >= edges[first + middle]:
            left = middle + 1
        else:
            right = middle
    return left


@helper
def _divide(
    codes: Any, place: Any, rows: Packed, first: Any, last: Any, edges: Small, start: Any,
    number: Any, child_of: Small, counts: Ints,
) -> None:  # fmt: skip
    """Finds the child of each row of a node, and counts the classes of its children."""
    class_width, class_place = rows.width[-1], np.uint64(rows.place[-1])
    alike = class_width == codes.itemsize  # then the class lies in the same view
    edge = np.int64(edges[start]) if number == 1 else np.int64(0)
    for row in range(first, last):
        code = np.int64(codes[row, place])
        if number == 1:
            which = np.uint64(code >= edge)
        else:
            which = np.uint64(_child(code, edges, start, number))
        child_of[row - first] = which
        if alike:
            counts[which, np.uint64(codes[row, class_place])] += 1
        else:
            counts[which, np.uint64(_code(rows, row, class_width, class_place))] += 1


def _route(
    rows: Packed, words: Words, moved: Words, bounds: Spans, into: Small, attribute: Ints,
    edge_start: Ints, edges: Small, move: bool, child_of: Small, inner: Spans, counts: Ints,
) -> None:  # fmt: skip
    """`route` by NumPy, node by node."""
    views, classes = (rows.r8, rows.r16, rows.r32), counts.shape[1]
    klass = views[rows.width[-1] >> 1][:, rows.place[-1]]
    child = 0
    for node, (first, last) in enumerate(bounds.T.tolist()):
        cuts, a = edges[edge_start[node] : edge_start[node + 1]], attribute[node]
        codes = views[rows.width[a] >> 1][first:last, rows.place[a]]
        which = np.searchsorted(cuts, codes, side="right")
        children = slice(child, child + len(cuts) + 1)
        cells = np.bincount(
            which * classes + klass[first:last], minlength=classes * (len(cuts) + 1)
        )
        counts[children] = cells.reshape(-1, classes)
        inner[1, children] = into[node] + np.cumsum(counts[children].sum(axis=1))
        inner[0, children] = np.append(into[node], inner[1, children][:-1])
        if move:
            order = np.argsort(which, kind="stable")
            moved[into[node] : into[node] + last - first] = words[first:last][order]
        child = children.stop


@kernel(
    steps=lambda rows, words, moved, bounds, *rest: (
        100 * len(bounds.T) + int((bounds[1] - bounds[0]).sum(dtype=np.int64)) // 8
    ),
    small=_route,
)
def route(
    rows: Packed, words: Words, moved: Words, bounds: Spans, into: Small, attribute: Ints,
    edge_start: Ints, edges: Small, move: bool, child_of: Small, inner: Spans, counts: Ints,
) -> None:  # fmt: skip
    """Counts the classes of each node's children and, if asked to, moves rows to them, stably.

    `words` holds the same bytes as `rows`; a node's rows go to `moved` from `into[node]` on, its
    children one after another. The inner edges of node i's children lie from `edge_start[i]` to
    `edge_start[i + 1]`. The loops take unsigned places: numba asks of a signed one whether it
    counts from the end.
    """
    width = np.uint64(words.shape[1])
    most = 1
    for node in range(bounds.shape[1]):
        most = max(most, edge_start[node + 1] - edge_start[node] + 1)
    cursor = np.empty(most, dtype=np.uint64)
    child = 0
    for node in range(bounds.shape[1]):
        a, start = attribute[node], edge_start[node]
        number = edge_start[node + 1] - start
        first, last = np.uint64(bounds[0, node]), np.uint64(bounds[1, node])
        place, here = np.uint64(rows.place[a]), counts[child : child + number + 1]
        if rows.width[a] == 1:
            _divide(rows.r8, place, rows, first, last, edges, start, number, child_of, here)
        elif rows.width[a] == 2:
            _divide(rows.r16, place, rows, first, last, edges, start, number, child_of, here)
        else:
            _divide(rows.r32, place, rows, first, last, edges, start, number, child_of, here)
        at = np.int64(into[node])
        for c in range(number + 1):
            inner[0, child + c] = cursor[c] = at
            for k in range(counts.shape[1]):
                at += here[c, k]
            inner[1, child + c] = at
        if move:
            for row in range(first, last):
                which = np.uint64(child_of[row - first])
                target = cursor[which]
                cursor[which] = target + np.uint64(1)
                for word in range(width):
                    moved[target, word] = words[row, word]
        child += number + 1


# Histograms, cells and sums, asked of every part.

_SMALL = 1 << 31  # below this many rows 32 bits count them


@dataclass(frozen=True, kw_only=True)
class HistogramQuestion:
    """The histograms of a batch of nodes.

    Args:
        nodes: Their places among the latest children.
        lo: [nodes, attributes], the nodes' regions.
        hi: The same.
        wanted: Which histograms are asked for.
        classes: The number of classes.
        wide: Whether counts need 64 bits.
    """

    nodes: Ints
    lo: Small
    hi: Small
    wanted: Bools
    classes: int
    wide: bool

    def count(self, rows: Bytes, layout: RowLayout, bounds: Spans) -> Histograms:
        """What a part answers, whose rows lie grouped by node: from `bounds[0]` to `bounds[1]`."""
        size = (bounds[1] - bounds[0]).astype(np.int64)
        width = np.where(self.wanted, self.hi - self.lo, 0).astype(np.int64)
        dense = np.where(width * self.classes <= DENSE * size[:, None], width, 0)
        scratch = np.empty(int(dense.sum(axis=1).max(initial=0)) * self.classes, np.int32)
        keys = np.empty(int(size.max(initial=0)), np.int64)
        room = int(np.minimum(width, size[:, None]).sum())
        answer = self.none(room)
        histograms(layout.view(rows), bounds, self.lo, self.hi, self.wanted, scratch, keys, answer)
        used = int(answer.start[-1])
        return answer._replace(code=answer.code[:used], counts=answer.counts[:used])

    def add(self, answers: Sequence[Histograms]) -> Histograms:
        """The sum of what several parts answered."""
        if len(answers) == 1:
            return answers[0]
        width = (self.hi - self.lo).ravel().astype(np.int64)
        ends = np.cumsum(width)
        offset = ends - width - self.lo.ravel()
        cells: list[Any] = [
            np.repeat(offset, np.diff(answer.start)) + answer.code for answer in answers
        ]
        every = np.concatenate(cells)
        if width.sum() <= DENSE * len(every):
            there = np.zeros(int(width.sum()), np.bool_)
            there[every] = True
            occurs, place = np.flatnonzero(there), np.empty(len(there), np.int64)
            place[occurs] = np.arange(len(occurs))
            cells = [place[part] for part in cells]
        else:
            occurs = np.unique(every)
            cells = [np.searchsorted(occurs, part) for part in cells]
        total = self.none(len(occurs))
        total.start[1:] = np.searchsorted(occurs, ends)
        total.code[:] = occurs - np.repeat(offset, np.diff(total.start))
        total.counts[:] = 0
        for part, answer in zip(cells, answers, strict=True):
            total.counts[part] += answer.counts
        return total

    def none(self, room: int = 0) -> Histograms:
        """What no row answers, with room for so many codes."""
        kind = np.int64 if self.wide else np.int32
        start = np.zeros(self.lo.size + 1, np.int64)
        return Histograms(start, np.empty(room, np.int32), np.empty((room, self.classes), kind))


def split_rows(
    rows: Bytes, moved: Bytes | None, layout: RowLayout, bounds: Spans, into: Small, split: Split,
    classes: int,
) -> tuple[Spans, Ints]:  # fmt: skip
    """Where the children's rows lie and how many there are of each class.

    Args:
        rows: Rows grouped by node.
        moved: Takes the rows of all nodes that are split, grouped by child; None if no child will
            be split again.
        layout: Where the codes lie.
        bounds: Where the rows of the split's nodes lie.
        into: Where they go to in `moved`.
        split: The split.
        classes: The number of classes.
    """
    children = len(split.edges) + len(split.nodes)
    inner = np.empty((2, children), dtype=np.int32)
    counts = np.zeros((children, classes), dtype=np.int64)
    child_of = np.empty(int((bounds[1] - bounds[0]).max(initial=0)), dtype=np.int32)
    target = rows if moved is None else moved
    word = np.uint32 if layout.stride % 8 else np.uint64  # the wider one moves faster
    route(
        layout.view(rows), rows.view(word), target.view(word), bounds, into, split.attribute,
        split.edge_start, split.edges, moved is not None, child_of, inner, counts,
    )  # fmt: skip
    return inner, counts


def sum_cells(parts: Sequence[FilledCells]) -> FilledCells:
    """Adds up the cells of several parts.

    Example:
        >>> one = (np.array([1, 4]), np.array([2, 3]))
        >>> [column.tolist() for column in sum_cells([one, one])]
        [[1, 4], [4, 6]]
    """
    every, counts = (np.concatenate(column) for column in zip(*parts, strict=True))
    number, place = np.unique(every, return_inverse=True)
    total = np.zeros(len(number), np.int64)
    np.add.at(total, place, counts)
    return number, total


def row_sums(part: Any, question: TableCounts) -> Ints:
    """What a part's rows contribute to a sum."""
    total = np.zeros(question.room, dtype=np.int64)
    for codes in part.blocks():
        question.add(codes, total)
    return total


def sum_counts(parts: Sequence[Ints]) -> Ints:
    """Adds up counts."""
    return np.asarray(np.sum(parts, axis=0, dtype=np.int64))


class Part:
    """Records that lie together and answer by themselves."""

    noted: Any = None  # what was odd about them as they were read
    answer: Any = None  # what they answered to the latest change; to being read, how many there are


class RowPart(Part):
    """Some of the rows, grouped by the nodes of the latest level.

    Args:
        rows: Packed rows, which all belong to the root.
        layout: Where the codes of a row lie.
        classes: The number of classes.
        codes: The same rows as a matrix, if they lie in memory as such too.
    """

    def __init__(
        self, rows: Bytes, layout: RowLayout, classes: int, codes: Codes | None = None
    ) -> None:
        self.rows, self.layout, self.classes, self.codes = rows, layout, classes, codes
        self.bounds: Spans = np.array([[0], [len(rows)]], dtype=np.int32)
        # rows of nodes that were not split, so that nobody asks for them but with all others
        self.closed: tuple[Bytes, ...] = ()
        column = layout.column(rows, -1)
        self.answer = np.bincount(column, minlength=classes).astype(np.int64)[None, :]

    def count(self, question: HistogramQuestion) -> Histograms:
        """The histograms of nodes."""
        return question.count(self.rows, self.layout, self.bounds.take(question.nodes, axis=1))

    def split(self, places: Ints, split: Split) -> Ints:
        """Groups rows by the children of nodes with these places, and counts these by class."""
        bounds, moved = self.bounds.take(places, axis=1), None
        into = bounds[0]
        if not split.final:
            # rows that may be split again lie together, and no other row is copied twice
            size = bounds[1] - bounds[0]
            into = (np.cumsum(size) - size).astype(np.int32)
            moved = np.empty((int(size.sum()), self.layout.stride), dtype=np.uint8)
            if self.codes is None and len(moved) < len(self.rows):
                stays = np.ones(len(self.rows), dtype=np.bool_)
                for first, last in bounds.T.tolist():
                    stays[first:last] = False
                self.closed = (*self.closed, self.rows[stays])
        self.bounds, counts = split_rows(
            self.rows, moved, self.layout, bounds, into, split, self.classes
        )
        self.rows = self.rows if moved is None else moved
        return counts

    def blocks(self) -> Iterable[Codes]:
        """The codes of all rows, block by block."""
        if self.codes is not None:
            return [self.codes]
        return chain.from_iterable(map(self.layout.blocks, (self.rows, *self.closed)))


class Parted:
    """Records in parts that answer one by one; in memory there is one.

    What lies elsewhere is given back by `close`, or at the end of a `with` block.
    """

    _part: Any
    _told: Progress = staticmethod(silent)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Gives back what lies elsewhere."""

    def watch(self, told: Progress) -> None:
        """Has the share of the records told that each pass has seen."""
        self._told = told

    def _ask(self, ask: Callable[[Any], T], add: Callable[[Sequence[T]], T], none: T) -> T:
        """What all parts answer, added up; `none` is an answer of no record."""
        return ask(self._part)

    def _change(self, change: Callable[[Any], T], add: Callable[[Sequence[T]], T], none: T) -> T:
        """The same where the answer comes of a change of the part."""
        return self._ask(change, add, none)


class Engine(Parted):
    """Exact counts at any size: what a publisher may ask of the data, under seal.

    Rows lie in parts; where these lie, an engine of its own says. Every engine gives the same
    integers. Nodes are numbered by the publisher; node 0 holds all rows.

    Args:
        domain: The attributes.
        layout: Where the codes of a row lie.
        batch: How many bytes a batch of histograms may take until it has been scored.
        copies: How many answers are kept side by side.
    """

    def __init__(self, domain: Domain, layout: RowLayout, batch: int, copies: int) -> None:
        self.domain = domain
        self._counts = np.zeros((1, domain.classes), np.int64)  # rows of each class in each node
        self._layout = layout
        self._batch = batch
        self._copies = copies
        self._first = 0  # the number of the latest level's first node

    def histograms(
        self, nodes: Ints, lo: Small, hi: Small, wanted: Bools
    ) -> Iterator[tuple[slice, Sealed[Histograms]]]:
        """Histograms of nodes in batches that fit the memory setting, in order."""
        classes, wide = self.domain.classes, int(self._counts[0].sum()) >= _SMALL
        width = np.where(wanted, hi - lo, 0).astype(np.int64)
        entries = np.minimum(width, self._counts[nodes].sum(axis=1)[:, None]).sum(axis=1)
        each = 4 + (8 if wide else 4) * classes  # bytes, and a candidate for each
        for part in batches(entries * (each * self._copies + 40), self._batch):
            question = HistogramQuestion(
                nodes=nodes[part] - self._first, lo=lo[part], hi=hi[part], wanted=wanted[part],
                classes=classes, wide=wide,
            )  # fmt: skip
            ask = methodcaller("count", question)
            yield part, Sealed(self._ask(ask, question.add, question.none()))

    def split(self, split: Split) -> None:
        """Routes the rows of nodes to their children; the parents hold no rows from then on.

        Only children of the latest split may be split or asked for histograms afterwards: a tree
        grows level by level. Class counts of any node can be had at any time.
        """
        none = np.zeros((len(split.edges) + len(split.nodes), self.domain.classes), np.int64)
        change = methodcaller("split", split.nodes - self._first, split)
        counts = self._change(change, sum_counts, none)
        self._counts, self._first = np.concatenate([self._counts, counts]), split.first_child

    def class_counts(self, nodes: Ints) -> Sealed[Ints]:
        """The number of rows of each class in each node: [nodes, classes]."""
        return Sealed(self._counts[nodes])

    def cell_counts(self, edges: tuple[Small, ...]) -> Sealed[FilledCells]:
        """Nonempty cells of a product of cuts, and their rows.

        A cell's number is its place in the product (first attribute most significant), times the
        number of classes, plus the class. Cells come in increasing order.
        """
        ask = partial(cells_of, edges=edges, classes=self.domain.classes)
        return Sealed(self._ask(ask, sum_cells, (np.zeros(0, np.int64), np.zeros(0, np.int64))))

    def sums(self, question: TableCounts) -> Sealed[Ints]:
        """The sum over all rows of what each contributes."""
        none = np.zeros(question.room, np.int64)
        return Sealed(self._ask(partial(row_sums, question=question), sum_counts, none))
