from __future__ import annotations

import datetime
from dataclasses import replace

import numpy as np
import pyarrow as pa
import pytest

from hedgerow.errors import UsageError
from hedgerow.estimate.partition import GridPartition


def test_rows_lie_in_their_regions_as_often_as_counted(tree_release):
    rows = tree_release.synthesize(seed=1, kind="arrow")
    assert rows.column_names == ["age", "job", "born", "size", "well", "pay"]
    assert rows.num_rows == tree_release.counts.sum()
    regions = tree_release.assign(rows)["region"]
    assert regions.null_count == 0
    pay = [["low", "high"].index(value) for value in rows["pay"].to_pylist()]
    counted = np.zeros((3, 2), int)
    np.add.at(counted, (regions.to_numpy(), pay), 1)
    assert np.array_equal(counted, tree_release.counts)


def test_values_fill_their_domain_and_no_more(grid_release):
    rows = grid_release.synthesize(n=20_000, seed=3, kind="arrow")
    ages = [age for age in rows["age"].to_pylist() if age is not None]
    assert (min(ages), max(ages)) == (17, 90)
    assert rows["age"].null_count > 0  # the "other" code
    born = rows["born"].to_pylist()
    assert min(born) == datetime.date(2000, 1, 1)
    assert max(born) == datetime.date(2000, 12, 31)  # the last week is cut short by the bound
    assert len(set(born)) == 366
    assert sorted(set(rows["size"].to_pylist())) == [k / 10 for k in range(21)]
    assert set(rows["job"].to_pylist()) == {"Engineer", "Lawyer", "Dancer", "=Writer"}
    assert rows["well"].type == pa.bool_()
    assert rows["age"].type == pa.int64()
    assert rows["born"].type == pa.date32()


def test_rows_are_uniform_inside_a_region(grid_release):
    rows = grid_release.synthesize(n=40_000, seed=5, kind="pandas")
    young = rows[rows["age"] < 40]["age"].value_counts()
    assert len(young) == 23
    expected = young.sum() / 23
    assert (abs(young - expected) < 6 * expected**0.5).all()


def test_a_seed_repeats_and_none_does_not(grid_release):
    first = grid_release.synthesize(n=50, seed=9, kind="arrow")
    assert first.equals(grid_release.synthesize(n=50, seed=9, kind="arrow"))
    assert not first.equals(grid_release.synthesize(n=50, seed=10, kind="arrow"))
    assert not grid_release.synthesize(n=50).equals(grid_release.synthesize(n=50))


def test_rows_are_shuffled(grid_release):
    rows = grid_release.synthesize(n=200, seed=2, kind="arrow")
    regions = grid_release.assign(rows)["region"].to_numpy()
    assert (np.diff(regions) < 0).any()


def test_how_many(grid_release):
    assert grid_release.synthesize(n=0, kind="arrow").num_rows == 0
    assert grid_release.synthesize(n=7, kind="arrow").num_rows == 7
    with pytest.raises(UsageError, match="negative"):
        grid_release.synthesize(n=-1)


def test_nobody_to_draw_from(grid_release):
    leaf = grid_release.measurements[0]
    empty = replace(grid_release, measurements=(replace(leaf, values=leaf.values * 0),))
    assert empty.synthesize(kind="arrow").num_rows == 0
    with pytest.raises(UsageError, match="nothing to draw from"):
        empty.synthesize(n=5)


def test_sparse_rows_come_from_listed_regions(sparse_release):
    rows = sparse_release.synthesize(seed=0, kind="arrow")
    assert rows.num_rows == 12
    assert set(sparse_release.assign(rows)["region"].to_pylist()) == {0, 2}


def test_wide_integer_steps_are_filled():
    from fractions import Fraction

    from hedgerow.estimate.cells import draw_rows
    from hedgerow.schema import Numeric, Schema

    schema = Schema(
        "x",
        (Numeric("w", low=Fraction(0), high=Fraction(10), step=Fraction(4), kind="integer"),),
        unit="row",
    )
    grid = GridPartition((np.array([0, 3], np.int32),))
    parts = [grid.parts(0, np.arange(1))]
    rows = draw_rows(schema, parts, np.array([[3000]]), seed=1)
    assert sorted(set(rows["w"].to_pylist())) == list(range(11))


@pytest.mark.parametrize("rows", ["x", 1.5, True, -1])
def test_rows_that_are_no_number(tree_release, rows):
    with pytest.raises(UsageError, match=r"^n "):
        tree_release.synthesize(rows)


@pytest.mark.parametrize("seed", ["x", 1.5, -3, [1]])
def test_seeds_that_are_no_number(tree_release, seed):
    with pytest.raises(UsageError, match="seed"):
        tree_release.synthesize(3, seed=seed)


def test_numbers_of_numpy_are_numbers(tree_release):
    assert tree_release.synthesize(np.int64(3), seed=np.int64(1), kind="arrow").num_rows == 3


def test_very_many_rows_are_drawn_only_when_asked_for(grid_release):
    leaf = grid_release.measurements[0]
    many = replace(grid_release, measurements=(replace(leaf, values=leaf.values + 2**40),))
    with pytest.raises(UsageError, match="very many"):
        many.synthesize()
    assert many.synthesize(5, seed=1).num_rows == 5
