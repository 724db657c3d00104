"""Questions about packed rows, and answers that can be added up.

A question is public but for the sizes that shape it; it is the same for every part of the rows.
Parts of the rows (chunks of a scratch file, partitions on a cluster) answer it one by one, and the
sum of their answers is turned into what an engine gives.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor, wait
from dataclasses import dataclass
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from hedgerow.arrays import Bools, Ints, Small
from hedgerow.counting.engine import Bytes, Domain, Histograms, Layout, RowSums, Split, views
from hedgerow.counting.sealed import Sealed
from hedgerow.counting.streaming import chunk_kernels as kernels

# A few threads that work through a list of things to do. Kernels hold no lock, so they help.

T = TypeVar("T")
U = TypeVar("U")


class Crew:
    """Threads that are there until they are dismissed.

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


Bounds = Small  # [2, nodes]: where each node's rows begin and end

DENSE = 24  # a part is counted densely if it has fewer cells than this times the node's rows
LEFT_OUT = -(1 << 61)
_SMALL = 1 << 31  # below this many rows 32 bits count them
_FEW_CELLS = 1 << 22
_UNPACKED = 1 << 16  # rows


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
        cell: Where the dense histogram of each segment lies, see `chunk_kernels.tally`.
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
        """Adds rows that lie grouped by node."""
        begin, end = bounds[0, self.nodes], bounds[1, self.nodes]
        columns = (*views(rows), layout.width, layout.place, begin, end)
        if self.cells:
            kernels.tally(*columns, self.cell, self.classes, tally.counts)
        if self.sparse.any():
            size = (end - begin).astype(np.int64)
            keys = np.empty(int(self.sparse.sum(axis=1) @ size), dtype=np.int64)
            kernels.collect(*columns, self.sparse, self.classes, keys)
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
            kernels.place_keys(part, size, self.sparse, filled, keys)
        room = self.cells // self.classes + len(keys)
        found = Histograms(
            start=np.empty(nodes * attributes + 1, dtype=np.int64),
            code=np.empty(room, dtype=np.int32),
            counts=np.empty((room, self.classes), dtype=tally.counts.dtype),
        )
        kernels.compress(
            tally.counts, self.cell, self.lo, self.hi, keys, start, self.sparse, self.classes,
            found.start, found.code, found.counts,
        )  # fmt: skip
        return found


def histogram_questions(
    nodes: Ints,
    size: Ints,
    lo: Small,
    hi: Small,
    wanted: Bools,
    classes: int,
    rows: int,
    memory: int,
    copies: int,
) -> Iterator[tuple[slice, HistogramQuestion]]:
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
    total = np.cumsum(need)
    first = 0
    while first < len(nodes):
        before = total[first] - need[first]
        last = max(first + 1, int(np.searchsorted(total, before + memory, "right")))
        part = slice(first, last)
        offset = np.cumsum(cells[part].ravel()).reshape(last - first, -1) - cells[part]
        dense = wanted[part] & ~sparse[part]
        yield (
            part,
            HistogramQuestion(
                nodes=nodes[part],
                lo=lo[part],
                hi=hi[part],
                cell=np.where(dense, offset - lo[part].astype(np.int64) * classes, LEFT_OUT),
                cells=int(cells[part].sum()),
                sparse=np.ascontiguousarray(sparse[part]),
                classes=classes,
                wide=wide,
            ),
        )
        first = last


def split_rows(
    rows: Bytes,
    moved: Bytes | None,
    layout: Layout,
    bounds: Bounds,
    into: Small,
    split: Split,
    classes: int,
) -> tuple[Bounds, Ints]:
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
    most = int((bounds[1] - bounds[0]).max(initial=0))
    target = rows if moved is None else moved
    kernels.route(
        *views(rows), target.view(np.uint32), layout.width, layout.place, bounds[0], bounds[1],
        into, split.attribute, split.edge_start, split.edges, moved is not None,
        np.empty(most, dtype=np.int32), inner[0], inner[1], counts,
    )  # fmt: skip
    return inner, counts


Cells = tuple[Ints, Ints]


def cells_of(rows: Bytes, layout: Layout, edges: Sequence[Small], classes: int) -> Cells:
    """The nonempty cells of a product of cuts, in increasing order, and their rows."""
    number = classes
    lookups: list[Ints] = []
    for cut in reversed(edges):
        place = np.repeat(np.arange(len(cut) - 1, dtype=np.int64), np.diff(cut))
        lookups.insert(0, place * number)
        number *= len(cut) - 1
    start = np.cumsum([0, *map(len, lookups)])[:-1].astype(np.int64)
    cell = np.empty(len(rows), dtype=np.int64)
    kernels.cells(
        *views(rows), layout.width, layout.place, np.concatenate(lookups), start, classes, cell
    )
    if number <= _FEW_CELLS:
        counts = np.bincount(cell, minlength=number).astype(np.int64)
        found = np.flatnonzero(counts)
        return found, counts[found]
    found, counts = np.unique(cell, return_counts=True)
    return found, counts.astype(np.int64)


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


def summed(rows: Bytes, layout: Layout, question: RowSums) -> Ints:
    """What packed rows contribute to a sum."""
    total = np.zeros(question.room, dtype=np.int64)
    for first in range(0, len(rows), _UNPACKED):
        question.add(layout.codes(rows[first : first + _UNPACKED]), total)
    return total


class PartsEngine(ABC):
    """Counts rows that lie in parts: see `Engine`. Where the parts lie, an engine of its own says.

    Args:
        domain: The attributes.
        batch: How many bytes a batch of histograms may take until it has been scored.
        copies: How many tallies are kept side by side.
    """

    def __init__(self, domain: Domain, batch: int, copies: int) -> None:
        self.domain = domain
        self._layout = Layout.of(domain)
        self._batch = batch
        self._copies = copies
        self._first = 0  # the number of the latest level's first node
        self._counts = np.zeros((1, domain.classes), dtype=np.int64)

    @abstractmethod
    def _tally(self, question: HistogramQuestion) -> Tally:
        """What all parts answer to a question about nodes of the latest level."""

    @abstractmethod
    def _split(self, places: Ints, split: Split) -> Ints:
        """Moves rows; `places` are those of the nodes in the latest level.

        Returns:
            The class counts of the children.
        """

    @abstractmethod
    def _cells(self, edges: tuple[Small, ...]) -> Cells:
        """The nonempty cells of a product of cuts."""

    @abstractmethod
    def _sums(self, question: RowSums) -> Ints:
        """The sum over all rows of what each contributes."""

    def histograms(
        self, nodes: Ints, lo: Small, hi: Small, wanted: Bools
    ) -> Iterator[tuple[slice, Sealed[Histograms]]]:
        """See `Engine.histograms`."""
        for part, question in histogram_questions(
            nodes - self._first, self._counts[nodes].sum(axis=1), lo, hi, wanted,
            self.domain.classes, int(self._counts[0].sum()), self._batch, self._copies,
        ):  # fmt: skip
            yield part, Sealed(question.finish(self._tally(question)))

    def split(self, split: Split) -> None:
        """See `Engine.split`."""
        counts = self._split(split.nodes - self._first, split)
        self._counts = np.concatenate([self._counts, counts])
        self._first = split.first_child

    def class_counts(self, nodes: Ints) -> Sealed[Ints]:
        """See `Engine.class_counts`."""
        return Sealed(self._counts[nodes])

    def cell_counts(self, edges: tuple[Small, ...]) -> Sealed[tuple[Ints, Ints]]:
        """See `Engine.cell_counts`."""
        return Sealed(self._cells(edges))

    def sums(self, question: RowSums) -> Sealed[Ints]:
        """See `Engine.sums`."""
        return Sealed(self._sums(question))
