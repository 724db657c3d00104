from __future__ import annotations

import numpy as np
import pytest

from hedgerow.estimate.intervals.tables import Sum, Tables, cover

COUNTS = {"a": np.array([10.0, 30.0, 25.0]), "b": np.array([40.0, 20.0]), "c": np.ones(5) * 13}
NOISE, TOTAL = 3.0, (70.0, 50.0)


def tables(shift: dict[str, np.ndarray] | None = None, total: float = TOTAL[0]) -> Tables:
    counts = {name: table + (shift or {}).get(name, 0.0) for name, table in COUNTS.items()}
    return Tables(counts=counts, deviation=NOISE, total=(total, TOTAL[1]))


def chosen(shift: dict[str, np.ndarray] | None = None) -> dict[str, Sum]:
    moved = {name: table + (shift or {}).get(name, 0.0) for name, table in COUNTS.items()}
    return {"a": Sum(float(moved["a"][:2].sum()), 2), "b": Sum(float(moved["b"][1]), 1)}


@pytest.mark.parametrize("names", [("a",), ("b",), ("a", "b")])
def test_the_variance_is_that_of_the_weights(names: tuple[str, ...]) -> None:
    """Each weight is found by moving one number, since all of it is linear."""

    def value(shift: dict[str, np.ndarray] | None = None, total: float = TOTAL[0]) -> float:
        sums = chosen(shift)
        return tables(shift, total).at_least({name: sums[name] for name in names})[0]

    square = (value(total=TOTAL[0] + 1) - value()) ** 2 * TOTAL[1]
    for name, table in COUNTS.items():
        for place in range(len(table)):
            moved = np.zeros(len(table))
            moved[place] = 1.0
            square += (value({name: moved}) - value()) ** 2 * NOISE**2
    sums = chosen()
    assert tables().at_least({n: sums[n] for n in names})[1] == pytest.approx(square)


def test_a_single_sum_is_the_least_squares_one() -> None:
    # unknown: the cells of all tables, which have one sum; equations weighted by 1 / noise
    sizes = [len(table) for table in COUNTS.values()]
    unknown = sum(sizes) - len(sizes) + 1  # all cells but the last of each table, and the sum
    rows, right = [], []
    start = 0
    for table in COUNTS.values():
        for place in range(len(table)):
            row = np.zeros(unknown)
            if place < len(table) - 1:
                row[start + place] = 1
            else:
                row[start : start + len(table) - 1] = -1
                row[-1] = 1
            rows.append(row / NOISE)
            right.append(table[place] / NOISE)
        start += len(table) - 1
    rows.append(np.eye(unknown)[-1] / TOTAL[1] ** 0.5)
    right.append(TOTAL[0] / TOTAL[1] ** 0.5)
    solved = np.linalg.lstsq(np.array(rows), np.array(right), rcond=None)[0]
    found = tables()
    assert found.number == pytest.approx(solved[-1])
    assert found.at_least({"a": chosen()["a"]})[0] == pytest.approx(solved[0] + solved[1])


def test_the_number_without_some_tables() -> None:
    value, variance = tables().without({"a", "b", "c"})
    assert (value, variance) == TOTAL
    value, variance = tables().without({"a", "c"})
    weight = 1 / (2 * NOISE**2)
    assert variance == pytest.approx(1 / (weight + 1 / TOTAL[1]))
    assert value == pytest.approx((60 * weight + 70 / TOTAL[1]) * variance)


def test_cover() -> None:
    edges = np.array([0, 1, 10, 20])
    found = cover(edges, ((0.0, 1.0), (5.0, 20.0)))
    assert found.inner.tolist() == [True, False, True] and found.cut.tolist() == [1]
    assert cover(edges, ((1.0, 10.0),)).cut.tolist() == []
    assert not cover(edges, ()).touched.any()
