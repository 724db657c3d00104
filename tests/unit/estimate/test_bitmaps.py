from __future__ import annotations

import numpy as np
import pytest

from hedgerow.arrays import Ints
from hedgerow.estimate import graphical
from hedgerow.estimate.graphical import Bitmaps
from hedgerow.schema import Query

SIZES = [1, 2, 7, 64, 65, 300, 4]  # the class is the last


def rows(number: int) -> Ints:
    random = np.random.default_rng(number)
    codes = np.stack([random.integers(0, size, number) for size in SIZES], axis=1)
    codes[:, 5] //= 7  # many codes that no row has
    return codes


def queries(number: int, whole: bool) -> list[Query]:
    random = np.random.default_rng(4)
    asked = []
    for _ in range(number):
        where = []
        for place in np.sort(random.choice(len(SIZES) - 1, random.integers(0, 5), replace=False)):
            ends = np.sort(random.uniform(0, SIZES[place], 2 * random.integers(1, 5)))
            if whole:
                ends = np.unique(np.round(ends))
            ends = ends[: len(ends) // 2 * 2].reshape(-1, 2)
            where.append((int(place), tuple((float(a), float(b)) for a, b in ends)))
        asked.append(Query(tuple(where), (1, 2) if random.random() < 0.3 else None))
    return asked


def one_by_one(codes: Ints, query: Query) -> float:
    part = np.full(len(codes), 0.5)
    for place, intervals in query.where:
        code = codes[:, place].astype(np.float64)
        covered = np.zeros(len(code))
        for low, high in intervals:
            covered += np.clip(np.minimum(code + 1, high) - np.maximum(code, low), 0, 1)
        part *= covered
    if query.classes is not None:
        part *= np.isin(codes[:, -1], query.classes)
    return float(part.sum())


@pytest.mark.slow
@pytest.mark.parametrize("whole", [True, False], ids=["whole codes", "parts of codes"])
@pytest.mark.parametrize("room", [1 << 27, 1 << 13, 1], ids=["all", "digits", "bits"])
@pytest.mark.parametrize("number", [1, 64, 1000])
def test_counts_are_those_of_the_rows(
    monkeypatch: pytest.MonkeyPatch, room: int, number: int, whole: bool
) -> None:
    monkeypatch.setattr(graphical, "_MOST_BYTES", room)
    monkeypatch.setattr(graphical, "_BATCH", 50)
    codes, asked = rows(number), queries(60, whole)  # more than a batch
    counts = Bitmaps(codes, 0.5, SIZES).count(asked)
    assert counts == pytest.approx([one_by_one(codes, one) for one in asked], abs=1e-6)
