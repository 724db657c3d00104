from __future__ import annotations

import numpy as np
import pytest

from hedgerow.estimate.intervals.tables import Sums, Tables

COUNTS = {"a": np.array([10.0, 30.0, 25.0]), "b": np.array([40.0, 20.0]), "c": np.ones(5) * 13}
NOISE, TOTAL = 3.0, (70.0, 50.0)


def tables(shift: dict[str, np.ndarray] | None = None, total: float = TOTAL[0]) -> Tables:
    counts = {name: table + (shift or {}).get(name, 0.0) for name, table in COUNTS.items()}
    return Tables(counts=counts, deviation=NOISE, total=(total, TOTAL[1]))


def chosen(names: tuple[str, ...], shift: dict[str, np.ndarray] | None = None) -> Sums:
    """The first two cells of a, and the last of b: together if both are wanted."""
    moved = {name: table + (shift or {}).get(name, 0.0) for name, table in COUNTS.items()}
    cells = {"a": moved["a"][:2], "b": moved["b"][1:]}
    return Sums(
        table=np.array([list(COUNTS).index(name) for name in names]),
        value=np.array([cells[name].sum() for name in names]),
        cells=np.array([len(cells[name]) for name in names]),
        group=np.zeros(len(names), np.int64),
        groups=1,
    )


@pytest.mark.parametrize("names", [("a",), ("b",), ("a", "b")])
def test_the_variance_is_that_of_the_weights(names: tuple[str, ...]) -> None:
    """Each weight is found by moving one number, since all of it is linear."""

    def value(shift: dict[str, np.ndarray] | None = None, total: float = TOTAL[0]) -> float:
        return float(tables(shift, total).at_least(chosen(names, shift))[0][0])

    square = (value(total=TOTAL[0] + 1) - value()) ** 2 * TOTAL[1]
    for name, table in COUNTS.items():
        for place in range(len(table)):
            moved = np.zeros(len(table))
            moved[place] = 1.0
            square += (value({name: moved}) - value()) ** 2 * NOISE**2
    assert tables().at_least(chosen(names))[1] == pytest.approx([square])


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
    assert found.at_least(chosen(("a",)))[0] == pytest.approx([solved[0] + solved[1]])


def test_groups_of_sums_do_not_meet() -> None:
    one, two = chosen(("a",)), chosen(("a", "b"))
    both = Sums(
        table=np.concatenate([one.table, two.table]),
        value=np.concatenate([one.value, two.value]),
        cells=np.concatenate([one.cells, two.cells]),
        group=np.array([1, 0, 0]),
        groups=2,
    )
    for found, first, second in zip(
        tables().at_least(both), tables().at_least(two), tables().at_least(one), strict=True
    ):
        assert found.tolist() == pytest.approx([first[0], second[0]])


def test_the_number_without_some_tables() -> None:
    def without(*names: str) -> tuple[float, float]:
        places = np.array([list(COUNTS).index(name) for name in names])
        sums = Sums(table=places, value=places * 0.0, cells=places * 0, group=places * 0, groups=1)
        value, variance = tables().without(sums)
        return float(value[0]), float(variance[0])

    assert without("a", "b", "c") == pytest.approx(TOTAL)
    weight = 1 / (2 * NOISE**2)
    value, variance = without("a", "c")
    assert variance == pytest.approx(1 / (weight + 1 / TOTAL[1]))
    assert value == pytest.approx((60 * weight + 70 / TOTAL[1]) * variance)
