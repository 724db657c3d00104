"""Every engine gives the same integers: those of brute force."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from fractions import Fraction
from functools import cache
from itertools import pairwise
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hedgerow.counting import sealed
from hedgerow.counting.engine import Split, TableCounts
from hedgerow.counting.memory import MemoryEngine
from hedgerow.counting.parts import Engine, RowPart, sum_counts
from hedgerow.counting.streamed import DEFAULT_MEMORY, Memory, StreamedEngine
from hedgerow.data import Table
from hedgerow.errors import LeakError
from hedgerow.schema import Attribute, Categorical, Numeric, Schema, Taxonomy

TINY = Memory(chunk=40, rows=0, bounds=0, batch=1)  # all on disk, a few rows a chunk, one node


@cache
def client() -> Any:
    """A cluster inside this process, until the last test of this file."""
    distributed = pytest.importorskip("distributed")
    return distributed.Client(
        processes=False, n_workers=3, threads_per_worker=2, memory_limit=0,
        dashboard_address="127.0.0.1:0", set_as_default=False,
    )  # fmt: skip


@pytest.fixture(scope="module", autouse=True)
def end_of_the_cluster(workers: None) -> Iterator[None]:
    """Or it would go on, and take its share of the processor from all later tests."""
    yield
    if client.cache_info().currsize:
        client().close()
        client.cache_clear()


def on_cluster(table: Table) -> Engine:
    from hedgerow.counting.cluster import ClusterEngine

    engine = ClusterEngine(table.schema, client(), 1 << 16)
    rows = engine._layout.pack(list(table.codes.T))
    shape = {"layout": engine._layout, "classes": engine.domain.classes}
    engine._start(RowPart, np.array_split(rows, 5), **shape)
    engine._counts = engine._latest(sum_counts)
    return engine


def streamed(table: Table, memory: int | Memory = DEFAULT_MEMORY) -> Engine:
    engine = StreamedEngine(table.schema, memory)
    engine.fill([engine._layout.pack(list(table.codes.T))])
    return engine


ENGINES: dict[str, Callable[[Table], Engine]] = {
    "memory": MemoryEngine,
    "memory, one node a batch": lambda table: MemoryEngine(table, batch=1),
    "memory, few entries a batch": lambda table: MemoryEngine(table, batch=400),
    "streamed": streamed,
    "streamed, tiny chunks on disk": lambda table: streamed(table, TINY),
    "streamed, some on disk": lambda table: streamed(
        table, Memory(chunk=90, rows=100, bounds=100, batch=5000)
    ),
    "dask": on_cluster,
}


def looks(number: int) -> Any:
    """So many examples for each engine in `make audit`; in `make test` half of them, and a fifth on
    a cluster, which is a hundred times as slow."""
    short = [(name, number // (5 if name == "dask" else 2)) for name in ENGINES]
    whole = [pytest.param(name, number, marks=pytest.mark.long) for name in ENGINES]
    return pytest.mark.parametrize(("name", "looks"), [*short, *whole])


OPEN: list[Any] = []


def made(name: str, table: Table) -> Any:
    """An engine that is closed when its test is over, or when ten others have been made."""
    close_all_but(9)  # an example makes many, each with files of its own, and those are limited
    OPEN.append(ENGINES[name](table))
    return OPEN[-1]


def close_all_but(number: int) -> None:
    while len(OPEN) > number:
        getattr(OPEN.pop(0), "close", bool)()


@pytest.fixture(autouse=True)
def closed() -> Iterator[None]:
    yield
    close_all_but(0)


TREES = [
    Taxonomy(("only",), (-1,)),
    Taxonomy.flat(["a", "b"]),
    Taxonomy.flat([f"v{i}" for i in range(12)]),  # more children than the linear search serves
    Taxonomy.from_nested(
        "Any", {"L": ["a", "b", "c"], "M": ["d", "e"], "R": {"S": ["f", "g"], "T": ["h", "i"]}}
    ),
]


def numeric(name: str, size: int) -> Numeric:
    return Numeric(name, low=Fraction(0), high=Fraction(size - 1), step=Fraction(1), kind="integer")


@st.composite
def tables(draw: st.DrawFn) -> Table:
    attributes: list[Attribute] = []
    for i in range(draw(st.integers(1, 4))):
        size = draw(st.sampled_from([0, 2, 3, 9, 70_000]))
        tree = draw(st.sampled_from(TREES))
        attributes.append(numeric(f"n{i}", size) if size else Categorical(f"c{i}", tree))
    classes = draw(st.integers(0, 4))
    target = (
        Categorical("class", Taxonomy.flat([f"k{i}" for i in range(classes)]))
        if classes > 1
        else None
    )
    schema = Schema("simulated", tuple(attributes), target=target, unit="row")
    rows = draw(st.sampled_from([0, 1, 2, 40]))
    rng = np.random.default_rng(draw(st.integers(0, 2**32)))
    # few distinct codes far apart, so that parts are counted densely and by sorting
    columns = [rng.choice(rng.integers(0, a.size, 5), rows) for a in attributes]
    columns.append(rng.integers(0, max(1, len(schema.classes)), rows))
    wide = max(a.size for a in attributes) > 65_536
    dtype = np.uint32 if wide or draw(st.booleans()) else np.uint16
    return Table(schema, np.ascontiguousarray(np.stack(columns, axis=1).astype(dtype)))


def opened(content: sealed.Sealed[Any]) -> Any:
    return content.open(sealed._KEY)


class Brute:
    """Regions as masks over the rows."""

    def __init__(self, table: Table) -> None:
        self.rows = table.codes.astype(np.int64)
        self.attributes = table.schema.attributes
        self.classes = max(1, len(table.schema.classes))
        self.lo = [[0] * len(self.attributes)]
        self.hi = [[a.size for a in self.attributes]]

    def inside(self, node: int) -> np.ndarray:
        codes = self.rows[:, :-1]
        return self.rows[((codes >= self.lo[node]) & (codes < self.hi[node])).all(axis=1)]

    def counts(self, node: int) -> list[int]:
        return np.bincount(self.inside(node)[:, -1], minlength=self.classes).tolist()

    def histogram(self, node: int, a: int) -> list[tuple[int, list[int]]]:
        rows = self.inside(node)
        return [
            (
                int(code),
                np.bincount(rows[rows[:, a] == code][:, -1], minlength=self.classes).tolist(),
            )
            for code in np.unique(rows[:, a])
        ]

    def ways(self, node: int, a: int) -> list[list[int]]:
        """All lists of inner edges that may split an attribute of a node."""
        lo, hi = self.lo[node][a], self.hi[node][a]
        attribute = self.attributes[a]
        if isinstance(attribute, Numeric):
            return [[cut] for cut in {lo + 1, (lo + hi) // 2, hi - 1} if lo < cut < hi]
        tree = attribute.taxonomy
        below = tree.children[tree.node(lo, hi)]
        return [[tree.spans[child][0] for child in below[1:]]] if below else []

    def split(self, node: int, a: int, edges: list[int]) -> None:
        for lo, hi in pairwise([self.lo[node][a], *edges, self.hi[node][a]]):
            self.lo.append([*self.lo[node][:a], lo, *self.lo[node][a + 1 :]])
            self.hi.append([*self.hi[node][:a], hi, *self.hi[node][a + 1 :]])


@looks(40)
def test_an_engine_equals_brute_force(name: str, looks: int) -> None:
    @given(data=st.data())
    @settings(max_examples=looks, deadline=None, derandomize=True)
    def equal(data: st.DataObject) -> None:
        table = data.draw(tables())
        before = table.codes.copy()
        engine, brute = made(name, table), Brute(table)
        attributes = len(brute.attributes)
        nodes = [0]
        levels = data.draw(st.integers(1, 4))
        for level in range(levels):
            # histograms of all nodes, of some attributes
            wanted = np.array(data.draw(st.lists(
                st.booleans(), min_size=len(nodes) * attributes, max_size=len(nodes) * attributes,
            ))).reshape(len(nodes), attributes)  # fmt: skip
            lo, hi = (
                np.array([side[n] for n in nodes], dtype=np.int32) for side in (brute.lo, brute.hi)
            )
            asked = 0
            for batch, content in engine.histograms(np.array(nodes), lo, hi, wanted):
                assert batch.start == asked  # in order, without gaps
                asked = batch.stop
                found = opened(content)
                for i in range(batch.start, batch.stop):
                    for a in range(attributes):
                        segment = (i - batch.start) * attributes + a
                        entries = slice(found.start[segment], found.start[segment + 1])
                        codes, counts = found.code[entries], found.counts[entries]
                        listed = list(zip(codes.tolist(), counts.tolist(), strict=True))
                        assert listed == (brute.histogram(nodes[i], a) if wanted[i, a] else [])
            assert asked == len(nodes)
            # split some of the nodes
            choices = [
                (node, a, edges) for node in nodes for a in range(attributes)
                for edges in brute.ways(node, a)
            ]  # fmt: skip
            picked = {}
            for node, a, edges in data.draw(st.permutations(choices))[:6]:
                picked[node] = (a, edges)
            if not picked:
                break
            splitting = sorted(picked)
            first_child = len(brute.lo)
            for node in splitting:
                brute.split(node, *picked[node])
            edges = [picked[node][1] for node in splitting]
            engine.split(
                Split(
                    nodes=np.array(splitting),
                    attribute=np.array([picked[node][0] for node in splitting]),
                    edge_start=np.cumsum([0, *map(len, edges)]),
                    edges=np.array(sum(edges, []), dtype=np.int32),
                    first_child=first_child,
                    final=level == levels - 1,
                )
            )
            nodes = list(range(first_child, len(brute.lo)))
            assert opened(engine.class_counts(np.array(nodes))).tolist() == [
                brute.counts(node) for node in nodes
            ]
        everything = np.arange(len(brute.lo))
        assert opened(engine.class_counts(everything)).tolist() == [
            brute.counts(node) for node in everything
        ]
        assert np.array_equal(table.codes, before), "the caller's table was changed"

    equal()


@looks(40)
def test_cells_equal_brute_force(name: str, looks: int) -> None:
    @given(data=st.data())
    @settings(max_examples=looks, deadline=None, derandomize=True)
    def equal(data: st.DataObject) -> None:
        table = data.draw(tables())
        engine = made(name, table)
        edges = []
        for attribute in table.schema.attributes:
            inner = data.draw(st.sets(st.integers(1, max(1, attribute.size - 1)), max_size=3))
            ends = sorted({0, attribute.size} | {e for e in inner if e < attribute.size})
            edges.append(np.array(ends, dtype=np.int32))
        expected: dict[int, int] = {}
        classes = max(1, len(table.schema.classes))
        for row in table.codes.tolist():
            cell = 0
            for code, cut in zip(row, edges, strict=False):
                cell = cell * (len(cut) - 1) + sum(code >= edge for edge in cut.tolist()) - 1
            cell = cell * classes + row[-1]
            expected[cell] = expected.get(cell, 0) + 1
        cells, counts = opened(engine.cell_counts(tuple(edges)))
        assert list(zip(cells.tolist(), counts.tolist(), strict=True)) == sorted(expected.items())

    equal()


@looks(25)
def test_sums_over_rows_equal_brute_force(name: str, looks: int) -> None:
    @given(data=st.data())
    @settings(max_examples=looks, deadline=None, derandomize=True)
    def equal(data: st.DataObject) -> None:
        table = data.draw(tables())
        engine = made(name, table)
        sizes = [attribute.size for attribute in table.schema.attributes]
        sizes.append(max(1, len(table.schema.classes)))
        # four groups of codes at most; the first code of wide columns lies in none
        parts = {
            column: np.arange(size) // -(-size // 4) - (size > 4)
            for column, size in enumerate(sizes)
        }
        number = data.draw(st.integers(1, 4))
        asked = tuple(
            tuple(data.draw(st.permutations(range(len(sizes))))[: data.draw(st.integers(1, 3))])
            for _ in range(number)
        )
        question = TableCounts(asked, parts)
        expected = [np.zeros(shape, np.int64) for shape in question.shapes]
        for row in table.codes.tolist():
            for columns, counts in zip(asked, expected, strict=True):
                cell = tuple(int(parts[column][row[column]]) for column in columns)
                if min(cell) >= 0:
                    counts[cell] += 1
        flat = [count for counts in expected for count in counts.ravel().tolist()]
        assert opened(engine.sums(question)).tolist() == flat

    equal()


@pytest.mark.parametrize("name", ENGINES)
def test_answers_are_sealed(name: str) -> None:
    schema = Schema("one", (numeric("n", 3),), unit="row")
    engine = made(name, Table(schema, np.zeros((2, 2), dtype=np.uint16)))
    lo, hi = np.zeros((1, 1), np.int32), np.full((1, 1), 3, np.int32)
    ((_, histogram),) = engine.histograms(np.array([0]), lo, hi, np.ones((1, 1), np.bool_))
    answers: list[Any] = [
        histogram,
        engine.class_counts(np.array([0])),
        engine.cell_counts((np.array([0, 3], dtype=np.int32),)),
        engine.sums(TableCounts(((0,),), {0: np.arange(3)})),
    ]
    for answer in answers:
        with pytest.raises(LeakError):
            len(answer)


def test_batches_bound_the_entries() -> None:
    """A batch holds one node at least, and otherwise no more entries than it may."""
    rng = np.random.default_rng(3)
    schema = Schema("one", (numeric("n", 50), numeric("m", 50)), unit="row")
    codes = np.stack([rng.integers(0, 50, 60), rng.integers(0, 50, 60), np.zeros(60, np.int64)], 1)
    engine = MemoryEngine(Table(schema, np.ascontiguousarray(codes.astype(np.uint16))), batch=1)
    engine.split(
        Split(
            nodes=np.array([0]),
            attribute=np.array([0]),
            edge_start=np.array([0, 1]),
            edges=np.array([25], np.int32),
            first_child=1,
            final=False,
        )
    )
    lo = np.array([[0, 0], [25, 0]], dtype=np.int32)
    hi = np.array([[25, 50], [50, 50]], dtype=np.int32)
    batches = [b for b, _ in engine.histograms(np.array([1, 2]), lo, hi, np.ones((2, 2), np.bool_))]
    assert batches == [slice(0, 1), slice(1, 2)]


@pytest.mark.parametrize("name", ENGINES)
def test_cells_are_counted_over_all_rows_whatever_was_split(name: str) -> None:
    rng = np.random.default_rng(8)
    schema = Schema("one", (numeric("n", 20), numeric("m", 5)), unit="row")
    codes = np.stack([rng.integers(0, 20, 90), rng.integers(0, 5, 90), np.zeros(90, np.int64)], 1)
    engine = made(name, Table(schema, np.ascontiguousarray(codes.astype(np.uint16))))
    edges = (np.array([0, 7, 20], np.int32), np.array([0, 2, 5], np.int32))
    before = opened(engine.cell_counts(edges))
    engine.split(
        Split(
            nodes=np.array([0]),
            attribute=np.array([0]),
            edge_start=np.array([0, 1]),
            edges=np.array([9], np.int32),
            first_child=1,
            final=False,
        )
    )
    for node, first in ((2, 3), (3, 5)):  # the other child is closed each time
        cut = np.array([14 if node == 2 else 11], np.int32)
        engine.split(
            Split(
                nodes=np.array([node]),
                attribute=np.array([0]),
                edge_start=np.array([0, 1]),
                edges=cut,
                first_child=first,
                final=False,
            )
        )
        after = opened(engine.cell_counts(edges))
        assert [column.tolist() for column in after] == [column.tolist() for column in before]
