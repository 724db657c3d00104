"""Rows that lie in parts: packed, asked one part after another, and answers that add up.

A question is public but for the sizes that shape it; it is the same for every part of the rows.
Parts of the rows (chunks of a scratch file, partitions on a cluster) answer it one by one, and the
sum of their answers is turned into what an engine gives.
"""

from __future__ import annotations

from abc import abstractmethod
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor, wait
from dataclasses import dataclass
from functools import partial
from typing import Any, NamedTuple, TypeVar

import numpy as np
from numpy.typing import NDArray

from hedgerow.arrays import Bools, Bytes, Ints, Small
from hedgerow.compiled import helper, kernel
from hedgerow.counting.engine import (
    DENSE,
    Cells,
    Domain,
    Engine,
    Histograms,
    RowSums,
    Split,
    batches,
    cells_of,
)
from hedgerow.counting.sealed import Sealed

T = TypeVar("T")
U = TypeVar("U")

Bounds = Small  # [2, nodes]: where each node's rows begin and end
Counts = NDArray[Any]  # 32 bits while all rows together are fewer than 2^31, else 64
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
class Layout:
    """Where each column lies in a packed row: the predictors, then the class.

    Wide columns come first, so that each lies at a multiple of its width.

    Args:
        width: The bytes of each column: 1, 2 or 4.
        place: Where each column begins, in units of its width.
        stride: The bytes of a row.

    Example:
        >>> layout = Layout.of_sizes([300, 2, 2])
        >>> layout.width.tolist(), layout.place.tolist(), layout.stride
        ([2, 1, 1], [0, 2, 3], 4)
    """

    width: Ints
    place: Ints
    stride: int

    @staticmethod
    def of_sizes(sizes: Sequence[int]) -> Layout:
        """The layout of columns with so many codes each."""
        width = np.array([1 if n <= 1 << 8 else 2 if n <= 1 << 16 else 4 for n in sizes], np.int64)
        place = np.empty(len(sizes), dtype=np.int64)
        end = 0
        for column in np.argsort(-width, kind="stable").tolist():
            place[column] = end // width[column]
            end += int(width[column])
        return Layout(width, place, -(-end // _WORD) * _WORD)

    @staticmethod
    def of(domain: Domain) -> Layout:
        """The layout of a domain's rows."""
        return Layout.of_sizes([*domain.sizes.tolist(), domain.classes])

    @staticmethod
    def of_matrix(codes: NDArray[Any]) -> Layout:
        """The layout of rows that are as wide everywhere as in a matrix, and fill whole words."""
        columns, wide = codes.shape[1], codes.itemsize
        width = np.full(columns, wide, dtype=np.int64)
        return Layout(width, np.arange(columns), -(-columns * wide // _WIDE) * _WIDE)

    def pack(self, columns: Sequence[NDArray[Any]]) -> Bytes:
        """Packs columns of codes.

        Example:
            >>> layout = Layout.of_sizes([300, 2])
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


@kernel()
def add_dense(rows: Packed, bounds: Bounds, cell: Ints, classes: int, counts: Counts) -> None:
    """Adds each row to the dense histograms of its node.

    The cell of (code c, class k) of a segment is `cell[node, attribute] + c * classes + k`; an
    attribute whose `cell` is below -2^60 is left out.
    """
    attributes = rows.width.size - 1
    number = np.empty(3, dtype=np.int64)
    places = np.empty((3, attributes), dtype=np.int64)
    offsets = np.empty((3, attributes), dtype=np.int64)
    class_width, class_place = rows.width[attributes], rows.place[attributes]
    for node in range(bounds.shape[1]):
        first, last = np.int64(bounds[0, node]), np.int64(bounds[1, node])
        if first == last:
            continue
        number[:] = 0
        for a in range(attributes):
            if cell[node, a] < -(1 << 60):
                continue
            group = rows.width[a] >> 1  # 0, 1, 2
            places[group, number[group]] = rows.place[a]
            offsets[group, number[group]] = cell[node, a]
            number[group] += 1
        ones, twos, fours = number[0], number[1], number[2]
        for row in range(first, last):
            klass = _code(rows, row, class_width, class_place)
            for i in range(ones):
                counts[offsets[0, i] + np.int64(rows.r8[row, places[0, i]]) * classes + klass] += 1
            for i in range(twos):
                counts[offsets[1, i] + np.int64(rows.r16[row, places[1, i]]) * classes + klass] += 1
            for i in range(fours):
                counts[offsets[2, i] + np.int64(rows.r32[row, places[2, i]]) * classes + klass] += 1


@kernel()
def list_keys(rows: Packed, bounds: Bounds, sparse: Bools, classes: int, keys: Ints) -> None:
    """Lists code * classes + class of every row, segment after segment, where asked to."""
    attributes = rows.width.size - 1
    class_width, class_place = rows.width[attributes], rows.place[attributes]
    used = 0
    for node in range(bounds.shape[1]):
        first, last = np.int64(bounds[0, node]), np.int64(bounds[1, node])
        if first == last:
            continue
        for a in range(attributes):
            if not sparse[node, a]:
                continue
            width, place = rows.width[a], rows.place[a]
            for row in range(first, last):
                klass = _code(rows, row, class_width, class_place)
                keys[used] = _code(rows, row, width, place) * classes + klass
                used += 1


@kernel()
def place_keys(keys: Ints, size: Ints, sparse: Bools, filled: Ints, target: Ints) -> None:
    """Puts one chunk's keys into their segments; `filled` is where each segment goes on."""
    used = 0
    for node in range(size.size):
        if size[node] == 0:
            continue
        for a in range(sparse.shape[1]):
            if sparse[node, a]:
                place = filled[node, a]
                target[place : place + size[node]] = keys[used : used + size[node]]
                filled[node, a] += size[node]
                used += size[node]


@kernel()
def compress(
    counts: Counts, cell: Ints, lo: Small, hi: Small, keys: Ints, key_start: Ints, sparse: Bools,
    classes: int, start: Ints, code_out: Small, counts_out: Counts,
) -> None:  # fmt: skip
    """From dense cells and listed keys to the codes that occur, segment after segment."""
    nodes, attributes = sparse.shape
    entry = 0
    for node in range(nodes):
        for a in range(attributes):
            segment = node * attributes + a
            start[segment] = entry
            if sparse[node, a]:
                first, last = key_start[segment], key_start[segment + 1]
                keys[first:last] = np.sort(keys[first:last])
                previous = np.int64(-1)
                for i in range(first, last):
                    code = keys[i] // classes
                    if code != previous:
                        code_out[entry] = code
                        counts_out[entry, :] = 0
                        entry += 1
                        previous = code
                    counts_out[entry - 1, keys[i] - code * classes] += 1
            elif cell[node, a] >= -(1 << 60):
                at = cell[node, a] + np.int64(lo[node, a]) * classes
                for value in range(lo[node, a], hi[node, a]):
                    seen = False
                    for k in range(classes):
                        if counts[at + k]:
                            seen = True
                    if seen:
                        code_out[entry] = value
                        for k in range(classes):
                            counts_out[entry, k] = counts[at + k]
                        entry += 1
                    at += classes
    start[nodes * attributes] = entry


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
    rows: Packed, words: Words, moved: Words, bounds: Bounds, into: Small, attribute: Ints,
    edge_start: Ints, edges: Small, move: bool, child_of: Small, inner: Bounds, counts: Ints,
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


def _route_steps(rows: Packed, words: Words, moved: Words, bounds: Bounds, *rest: Any) -> int:
    return 100 * len(bounds.T) + int((bounds[1] - bounds[0]).sum(dtype=np.int64)) // 8


@kernel(steps=_route_steps, small=_route)
def route(
    rows: Packed, words: Words, moved: Words, bounds: Bounds, into: Small, attribute: Ints,
    edge_start: Ints, edges: Small, move: bool, child_of: Small, inner: Bounds, counts: Ints,
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

LEFT_OUT = -(1 << 61)
_SMALL = 1 << 31  # below this many rows 32 bits count them


@dataclass
class Tally:
    """What parts of the rows answered to one question, added up.

    Args:
        counts: The dense histograms of all nodes, one after another.
        keys: For each part, the listed keys and the number of rows of each node.
    """

    counts: NDArray[Any]
    keys: list[tuple[Ints, Ints]]

    def add(self, other: Tally) -> None:
        """Adds another answer to this one."""
        self.counts += other.counts
        self.keys += other.keys


@dataclass(frozen=True, kw_only=True)
class HistogramQuestion:
    """The histograms of a batch of nodes.

    Args:
        nodes: Their places among the latest children.
        lo: [nodes, attributes], the nodes' regions.
        hi: The same.
        cell: Where the dense histogram of each segment lies, see `add_dense`.
        cells: How many cells there are.
        sparse: Which segments are counted by sorting.
        classes: The number of classes.
        wide: Whether counts need 64 bits.
    """

    nodes: Ints
    lo: Small
    hi: Small
    cell: Ints
    cells: int
    sparse: Bools
    classes: int
    wide: bool

    def tally(self) -> Tally:
        """An answer to which nothing has been added."""
        return Tally(np.zeros(self.cells, dtype=np.int64 if self.wide else np.int32), [])

    def count(self, rows: Bytes, layout: Layout, bounds: Bounds, tally: Tally) -> None:
        """Adds rows that lie grouped by node; `bounds` are those of this question's nodes."""
        packed = layout.view(rows)
        if self.cells:
            add_dense(packed, bounds, self.cell, self.classes, tally.counts)
        if self.sparse.any():
            size = (bounds[1] - bounds[0]).astype(np.int64)
            keys = np.empty(int(self.sparse.sum(axis=1) @ size), dtype=np.int64)
            list_keys(packed, bounds, self.sparse, self.classes, keys)
            tally.keys.append((keys, size))

    def finish(self, tally: Tally) -> Histograms:
        """The histograms, when all rows have been added."""
        nodes, attributes = self.sparse.shape
        total = np.zeros(nodes, dtype=np.int64)
        for _, size in tally.keys:
            total += size
        start = np.concatenate([[0], np.cumsum((self.sparse * total[:, None]).ravel())])
        keys = np.empty(int(start[-1]), dtype=np.int64)
        filled = start[:-1].reshape(nodes, attributes).copy()
        for part, size in tally.keys:
            place_keys(part, size, self.sparse, filled, keys)
        room = self.cells // self.classes + len(keys)
        answer = Histograms(
            start=np.empty(nodes * attributes + 1, dtype=np.int64),
            code=np.empty(room, dtype=np.int32),
            counts=np.empty((room, self.classes), dtype=tally.counts.dtype),
        )
        compress(
            tally.counts, self.cell, self.lo, self.hi, keys, start, self.sparse, self.classes,
            answer.start, answer.code, answer.counts,
        )  # fmt: skip
        return answer


def histogram_questions(
    nodes: Ints, size: Ints, lo: Small, hi: Small, wanted: Bools, classes: int, rows: int,
    memory: int, copies: int,
) -> Iterator[tuple[slice, HistogramQuestion]]:  # fmt: skip
    """Cuts the question for many nodes into batches that fit into memory, one node at least.

    Args:
        nodes: The nodes' places among the latest children.
        size: How many rows each has.
        lo: [nodes, attributes], the nodes' regions.
        hi: The same.
        wanted: Which histograms are asked for.
        classes: The number of classes.
        rows: How many rows there are in all.
        memory: How many bytes a batch may need until it has been scored.
        copies: How many tallies are kept side by side.
    """
    wide = rows >= _SMALL
    width = np.where(wanted, hi - lo, 0).astype(np.int64)
    sparse = wanted & (width * classes > DENSE * size[:, None])
    cells = np.where(sparse, 0, width) * classes
    keys = sparse.sum(axis=1) * size
    count = 8 if wide else 4
    entry = 4 + count * classes + 40  # what is found, and a candidate for it
    need = cells.sum(axis=1) * (count * copies + -(-entry // classes)) + keys * (16 + entry)
    for part in batches(need, memory):
        inside = cells[part]
        offset = np.cumsum(inside.ravel()).reshape(inside.shape) - inside
        dense = wanted[part] & ~sparse[part]
        question = HistogramQuestion(
            nodes=nodes[part],
            lo=lo[part],
            hi=hi[part],
            cell=np.where(dense, offset - lo[part].astype(np.int64) * classes, LEFT_OUT),
            cells=int(inside.sum()),
            sparse=np.ascontiguousarray(sparse[part]),
            classes=classes,
            wide=wide,
        )
        yield part, question


def split_rows(
    rows: Bytes, moved: Bytes | None, layout: Layout, bounds: Bounds, into: Small, split: Split,
    classes: int,
) -> tuple[Bounds, Ints]:  # fmt: skip
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


def sum_cells(parts: Sequence[Cells]) -> Cells:
    """Adds up the cells of several parts.

    Example:
        >>> one = (np.array([1, 4]), np.array([2, 3]))
        >>> [column.tolist() for column in sum_cells([one, one])]
        [[1, 4], [4, 6]]
    """
    number = np.concatenate([part[0] for part in parts])
    counts = np.concatenate([part[1] for part in parts])
    if not len(number):
        return number, counts
    order = np.argsort(number, kind="stable")
    number, counts = number[order], counts[order]
    first = np.flatnonzero(np.concatenate([[True], number[1:] != number[:-1]]))
    return number[first], np.add.reduceat(counts, first)


def row_cells(layout: Layout, edges: Sequence[Small], classes: int, rows: Bytes) -> Cells:
    """The nonempty cells of packed rows."""
    return cells_of(layout.blocks(rows), edges, classes)


def row_sums(layout: Layout, question: RowSums, rows: Bytes) -> Ints:
    """What packed rows contribute to a sum."""
    total = np.zeros(question.room, dtype=np.int64)
    for codes in layout.blocks(rows):
        question.add(codes, total)
    return total


def sum_counts(parts: Sequence[Ints]) -> Ints:
    """Adds up counts."""
    return np.asarray(np.sum(parts, axis=0, dtype=np.int64))


class PartsEngine(Engine):
    """Counts rows that lie in parts. Where the parts lie, an engine of its own says.

    Args:
        domain: The attributes.
        batch: How many bytes a batch of histograms may take until it has been scored.
        copies: How many tallies are kept side by side.
    """

    def __init__(self, domain: Domain, batch: int, copies: int) -> None:
        super().__init__(domain)
        self._layout = Layout.of(domain)
        self._batch = batch
        self._copies = copies
        self._first = 0  # the number of the latest level's first node

    @abstractmethod
    def _tally(self, question: HistogramQuestion) -> Tally:
        """What all parts answer to a question about nodes of the latest level."""

    @abstractmethod
    def _move(self, places: Ints, split: Split) -> Ints:
        """Moves rows; `places` are those of the nodes in the latest level.

        Returns:
            The class counts of the children.
        """

    @abstractmethod
    def _ask(self, ask: Callable[[Bytes], T], add: Callable[[Sequence[T]], T], none: T) -> T:
        """What the packed rows of all parts answer, added up; `none` is an answer of no row."""

    def histograms(
        self, nodes: Ints, lo: Small, hi: Small, wanted: Bools
    ) -> Iterator[tuple[slice, Sealed[Histograms]]]:
        """See `Engine.histograms`."""
        for part, question in histogram_questions(
            nodes - self._first, self._counts[nodes].sum(axis=1), lo, hi, wanted,
            self.domain.classes, int(self._counts[0].sum()), self._batch, self._copies,
        ):  # fmt: skip
            yield part, Sealed(question.finish(self._tally(question)))

    def _split(self, split: Split) -> Ints:
        counts = self._move(split.nodes - self._first, split)
        self._first = split.first_child
        return counts

    def _cells(self, edges: tuple[Small, ...]) -> Cells:
        ask = partial(row_cells, self._layout, edges, self.domain.classes)
        return self._ask(ask, sum_cells, (np.zeros(0, np.int64), np.zeros(0, np.int64)))

    def _sums(self, question: RowSums) -> Ints:
        ask = partial(row_sums, self._layout, question)
        return self._ask(ask, sum_counts, np.zeros(question.room, np.int64))
