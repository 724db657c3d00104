"""Every engine for transactions gives the same integers as counting record by record."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterator
from fractions import Fraction
from functools import cache
from itertools import pairwise
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hedgerow.counting.items import Expansion, ItemPart, Masks, MemoryItems, child_bounds
from hedgerow.counting.parts import sum_counts
from hedgerow.counting.streamed import DEFAULT_MEMORY, Memory, StreamedItems
from hedgerow.data import Transactions
from hedgerow.schema import Schema
from hedgerow.schema.items import WEIGHT


@cache
def client() -> Any:
    """A cluster inside this process, until the last test of this file."""
    distributed = pytest.importorskip("distributed")
    return distributed.Client(
        processes=False, n_workers=2, threads_per_worker=1, memory_limit=0,
        dashboard_address="127.0.0.1:0", set_as_default=False,
    )  # fmt: skip


@pytest.fixture(scope="module", autouse=True)
def end_of_the_cluster(workers: None) -> Iterator[None]:
    """Or it would go on, and take its share of the processor from all later tests."""
    yield
    if client.cache_info().currsize:
        client().close()
        client.cache_clear()


def on_cluster(data: Transactions) -> Any:
    from hedgerow.counting.cluster import ClusterItems

    engine = ClusterItems(data.schema, client())
    ends = np.linspace(0, len(data.start) - 1, 4).astype(int).tolist()
    parts = [
        (data.start[i : j + 1] - data.start[i], data.codes[data.start[i] : data.start[j]])
        for i, j in pairwise(ends)
    ]
    engine._start(ItemPart, parts)
    engine._held = engine._latest(sum_counts)
    return engine


def streamed(data: Transactions, memory: int | Memory = DEFAULT_MEMORY) -> Any:
    engine = StreamedItems(data.schema, memory)
    engine.take(data.codes, np.diff(data.start))
    engine.flush()
    return engine


ENGINES: dict[str, Any] = {
    "memory": MemoryItems,
    "streamed": streamed,
    "streamed, tiny chunks on disk": lambda made: streamed(
        made, Memory(chunk=50, rows=0, bounds=0, batch=1)
    ),
    "dask": on_cluster,
}
# An engine takes 80 ms on a cluster and 1 ms elsewhere; `make audit` tries 60 examples on each.
LOOKS = [
    *((name, 8 if name == "dask" else 30) for name in ENGINES),
    *(pytest.param(name, 60, marks=pytest.mark.long) for name in ENGINES),
]
each = pytest.mark.parametrize(("name", "looks"), LOOKS)
ITEMS = 9
EACH = np.arange(ITEMS)


def transactions(records: list[list[int]]) -> Transactions:
    schema = Schema.from_dict(
        {"name": "some", "unit": "row", "items": {"universe": {"range": [1, ITEMS]}}}
    )
    start = np.concatenate([[0], np.cumsum([len(r) for r in records])]).astype(np.int64)
    codes = np.asarray([code for r in records for code in r], dtype=np.int32)
    return Transactions(schema, start, codes)


OPEN: list[Any] = []


def made(name: str, data: Transactions) -> Any:
    """An engine that is closed when its test is over, or when ten others have been made."""
    close_all_but(9)  # an example makes many, each with files of its own, and those are limited
    OPEN.append(ENGINES[name](data))
    return OPEN[-1]


def close_all_but(number: int) -> None:
    while len(OPEN) > number:
        getattr(OPEN.pop(0), "close", bool)()


@pytest.fixture(autouse=True)
def closed() -> Iterator[None]:
    yield
    close_all_but(0)


def look(sealed: Any) -> Any:
    return sealed._Sealed__content


one = st.lists(st.integers(0, ITEMS - 1), min_size=1, max_size=ITEMS, unique=True).map(sorted)
records = st.lists(one, max_size=25)


@each
def test_sizes_and_supports(name: str, looks: int) -> None:
    @settings(max_examples=looks, deadline=None)
    @given(records)
    def equal(data: list[list[int]]) -> None:
        engine = made(name, transactions(data))
        edges = np.array([1, 2, 4])
        found = look(engine.sizes(edges)).tolist()
        assert found == [
            sum(len(r) == 1 for r in data),
            sum(2 <= len(r) < 4 for r in data),
            sum(len(r) >= 4 for r in data),
        ]
        exact = Counter(code for r in data for code in r)
        found = look(engine.supports(ITEMS, EACH, ITEMS))
        assert found.tolist() == [WEIGHT * exact[code] for code in range(ITEMS)]
        weighed: Counter[int] = Counter()
        for r in data:
            for code in r:
                weighed[code] += WEIGHT if len(r) <= 2 else math.floor(Fraction(2 * WEIGHT, len(r)))
        assert look(engine.supports(2, EACH, ITEMS)).tolist() == [weighed[c] for c in range(ITEMS)]
        groups = np.array([0, 1, 1, 0, 2, 2, 2, 0, 1])
        assert look(engine.supports(2, groups, 4)).tolist() == [
            sum(weighed[code] for code in range(ITEMS) if groups[code] == group)
            for group in range(4)
        ]

    equal()


@pytest.mark.parametrize("cap", [1, 2, 5])
def test_a_record_adds_no_more_than_the_cap(cap: int) -> None:
    for size in range(1, ITEMS + 1):
        engine = MemoryItems(transactions([list(range(size))]))
        assert look(engine.supports(cap, EACH, ITEMS)).sum() <= WEIGHT * cap


@each
def test_a_record_counts_for_the_same_items_whatever_else_is_there(name: str, looks: int) -> None:
    @settings(max_examples=looks, deadline=None)
    @given(records, st.randoms(use_true_random=False))
    def equal(data: list[list[int]], source: Any) -> None:
        data = data[:3] if name == "dask" else data  # an engine for each record
        alone = sum(
            (look(made(name, transactions([r])).supports(2, EACH, ITEMS)) for r in data),
            np.zeros(ITEMS, np.int64),
        )
        source.shuffle(data)
        assert (
            look(made(name, transactions(data)).supports(2, EACH, ITEMS)).tolist() == alone.tolist()
        )

    equal()


@each
def test_cells(name: str, looks: int) -> None:
    @settings(max_examples=looks, deadline=None)
    @given(records, st.sets(st.integers(0, ITEMS - 1), max_size=4))
    def equal(data: list[list[int]], chosen: set[int]) -> None:
        core, rest = np.array(sorted(chosen), dtype=np.int64), np.array([0, 1, 3])
        found = look(made(name, transactions(data)).cells(core, rest))
        expected = Counter()
        for r in data:
            mask = sum(1 << bit for bit, code in enumerate(core.tolist()) if code in r)
            others = len(set(r) - chosen)
            expected[mask * 3 + (others >= 1) + (others >= 3)] += 1
        assert found.tolist() == [expected[cell] for cell in range(3 << len(chosen))]

    equal()


@each
def test_expansions(name: str, looks: int) -> None:
    """Two levels: stretches of three items, then single items; some sub-partitions are kept."""

    @settings(max_examples=looks, deadline=None)
    @given(records, st.data())
    def equal(data: list[list[int]], draw: Any) -> None:
        engine = made(name, transactions(data))
        held = {0: list(data)}
        level, stretch = [0], [(0, 3, 6, 9), (3, 4, 5, 6)]
        for edges in stretch:
            if not level:
                return
            starts = np.arange(len(level) + 1) * len(edges)
            expansion = Expansion(np.array(level), starts, np.array(edges * len(level)))
            masks = look(engine.expand(expansion))
            kept = []
            for place, partition in enumerate(level):
                groups: dict[int, list[list[int]]] = {}
                for r in held[partition]:
                    mask = sum(
                        1 << b
                        for b, (low, high) in enumerate(zip(edges, edges[1:], strict=False))
                        if any(low <= code < high for code in r)
                    )
                    groups.setdefault(mask, []).append(r)
                mask, count = masks.of(place)
                assert mask.tolist() == sorted(groups)
                assert count.tolist() == [len(groups[key]) for key in sorted(groups)]
                for key in range(1, 8):
                    if draw.draw(st.booleans()):
                        kept.append((place, key, groups.get(key, [])))
            first = len(held)
            engine.keep(
                np.array([place for place, _, _ in kept], dtype=np.int64),
                np.array([key for _, key, _ in kept], dtype=np.int64),
                first,
            )
            for offset, (place, _, members) in enumerate(kept):
                held[first + offset] = members
                held[level[place]] = [
                    r for r in held[level[place]] if not any(r is m for m in members)
                ]
            counts = look(engine.counts(np.arange(len(held))))
            assert counts[:, 0].tolist() == [len(held[p]) for p in range(len(held))]
            level = list(range(first, len(held)))

    equal()


def test_every_child_has_a_place_and_a_mask() -> None:
    found = Masks(np.array([0, 1]), np.array([1]), np.array([5]))
    begin = np.zeros(1, np.int64)
    assert child_bounds(begin, found, np.array([0]), np.array([1]))[1].tolist() == [5]
    with pytest.raises(ValueError, match="shorter|longer"):
        child_bounds(begin, found, np.array([0, 0]), np.array([1]))


@pytest.mark.parametrize("items", [1 << 16, (1 << 16) + 1, 70_000])
def test_codes_of_items_beyond_16_bits(items: int) -> None:
    schema = Schema.from_dict(
        {"name": "many", "unit": "row", "items": {"universe": {"range": [1, items]}}}
    )
    codes = np.array([3, items - 1, items - 1], np.int32)
    data, each_item = Transactions(schema, np.array([0, 2, 3]), codes), np.arange(items)
    engines = (MemoryItems(data), streamed(data))
    OPEN.append(engines[1])
    for engine in engines:
        found = look(engine.supports(2, each_item, items))
        assert np.flatnonzero(found).tolist() == [3, items - 1]
