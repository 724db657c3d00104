from __future__ import annotations

import numpy as np
import pytest

from hedgerow.estimate.marginals import bitmaps
from hedgerow.estimate.marginals.bitmaps import Bitmaps, Weighed, in_words
from hedgerow.schema import Query

SIZES = [1, 2, 7, 64, 65, 300]


def rows(number: int) -> Weighed:
    random = np.random.default_rng(number)
    codes = np.stack([random.integers(0, size, number) for size in SIZES], axis=1)
    codes[:, 5] //= 7  # many codes that no row has
    return in_words(Weighed(codes, random.random(number)))


def queries(number: int, whole: bool) -> list[Query]:
    random = np.random.default_rng(4)
    found = []
    for _ in range(number):
        where = []
        for place in np.sort(random.choice(len(SIZES), random.integers(0, 5), replace=False)):
            ends = np.sort(random.uniform(0, SIZES[place], 2 * random.integers(1, 5)))
            if whole:
                ends = np.unique(np.round(ends))
            ends = ends[: len(ends) // 2 * 2].reshape(-1, 2)
            where.append((int(place), tuple((float(a), float(b)) for a, b in ends)))
        found.append(Query(tuple(where), (1, 2) if random.random() < 0.3 else None))
    return found


def one_by_one(weighed: Weighed, shares: np.ndarray, query: Query) -> float:
    part = weighed.weight.copy()
    for place, intervals in query.where:
        code = weighed.synthetic[:, place].astype(np.float64)
        covered = np.zeros(len(code))
        for low, high in intervals:
            covered += np.clip(np.minimum(code + 1, high) - np.maximum(code, low), 0, 1)
        part *= covered
    if query.classes is not None:
        part *= shares[:, list(query.classes)].sum(axis=1)
    return float(part.sum())


@pytest.mark.parametrize("whole", [True, False], ids=["whole codes", "parts of codes"])
@pytest.mark.parametrize("room", [1 << 27, 1 << 13, 1], ids=["all", "digits", "bits"])
@pytest.mark.parametrize("number", [1, 64, 1000])
def test_counts_are_those_of_the_rows(
    monkeypatch: pytest.MonkeyPatch, room: int, number: int, whole: bool
) -> None:
    monkeypatch.setattr(bitmaps, "_MOST_BYTES", room)
    monkeypatch.setattr(bitmaps, "_BATCH", 50)
    monkeypatch.setattr(bitmaps, "_BLOCK", 7)
    weighed, asked = rows(number), queries(60, whole)  # more than a batch
    shares = np.random.default_rng(1).dirichlet(np.ones(4), number)
    shares = np.rint(shares * 2**14) / 2**14
    shares[:, 0] += 1 - shares.sum(axis=1)
    counter = Bitmaps(weighed, SIZES)
    found = counter.count(asked, {(1, 2): counter.planes(shares, (1, 2))})
    assert found == pytest.approx([one_by_one(weighed, shares, one) for one in asked], abs=1e-6)


def test_all_classes_together_are_everybody() -> None:
    counter = Bitmaps(rows(500), SIZES)
    shares = np.random.default_rng(2).dirichlet(np.ones(3), 500)
    planes = {(one,): counter.planes(shares, (one,)) for one in range(3)}
    parts = counter.count([Query((), one) for one in planes], planes)
    assert parts.sum() == pytest.approx(counter.count([Query()])[0])
    assert parts / parts.sum() == pytest.approx(shares.mean(axis=0), abs=0.03)


def test_words_change_no_total() -> None:
    weight = np.random.default_rng(3).random(1000)
    found = in_words(Weighed(np.zeros((1000, 1), np.int64), weight))
    assert found.weight.sum() == pytest.approx(weight.sum())
    assert np.abs(found.weight - np.sort(weight)).max() < 0.1
    assert len(np.unique(found.weight)) == 16
