from __future__ import annotations

import csv
import datetime
import io
from dataclasses import replace

import numpy as np
import pytest

from hedgerow.errors import ReleaseError, UsageError
from hedgerow.estimate.partition import (
    GridPartition,
    TreePartition,
    check_against,
    check_names,
    csv_blocks,
    typed_table,
)
from hedgerow.schema import Categorical, Numeric, Schema, Taxonomy


def test_one_row_per_region_and_class_in_canonical_order(tree_release):
    table = tree_release.generalized("arrow")
    assert table.column_names == [
        "region",
        "age",
        "job",
        "born",
        "size",
        "well",
        "pay",
        "estimate",
    ] + ["typical_error"]
    rows = table.to_pydict()
    assert rows["region"] == [0, 0, 1, 1, 2, 2]
    assert rows["age"] == ["[17, 40)"] * 2 + ["[40, 90] or other"] * 4
    assert rows["job"] == ["Any", "Any", "Professional", "Professional", "Artist", "Artist"]
    assert rows["born"][0] == "[2000-01-01, 2000-12-31]"
    assert rows["pay"] == ["low", "high"] * 3
    assert np.array_equal(np.reshape(rows["estimate"], (3, 2)), tree_release.counts)


@pytest.mark.parametrize("kind", ["pandas", "polars", "arrow"])
def test_the_frame_is_of_the_kind_asked_for(grid_release, kind):
    table = replace(grid_release, frame_kind=kind).generalized()
    assert type(table).__module__.split(".")[0] == {"arrow": "pyarrow"}.get(kind, kind)
    assert list(table["region"])[0] in (0,) or table["region"][0].as_py() == 0
    assert len(table["job"]) == 8


def test_an_unknown_kind_is_refused(grid_release):
    with pytest.raises(UsageError, match="'excel'"):
        grid_release.generalized("excel")


def test_without_a_class_there_is_one_row_per_region(grid_release):
    leaf = grid_release.measurements[0]
    release = replace(
        grid_release,
        schema=replace(grid_release.schema, target=None),
        measurements=(replace(leaf, values=leaf.values[:, :1]),),
    )
    table = release.generalized("arrow")
    assert "pay" not in table.column_names
    assert table["estimate"].to_pylist() == [5, 2, 7, 0]


def test_typed_bounds_are_half_open(tree_release):
    table = typed_table(
        tree_release.schema, tree_release.partition, tree_release.regions, tree_release.counts
    )
    row = table.slice(2, 1).to_pylist()[0]
    assert (row["age_low"], row["age_high"], row["age_other"]) == (40, 91, True)
    assert (row["born_low"], row["born_high"]) == (
        datetime.date(2000, 1, 1),
        datetime.date(2000, 1, 1) + datetime.timedelta(days=53 * 7),
    )
    assert (row["size_low"], row["size_high"]) == (0.0, 2.1)
    assert "born_other" not in row
    assert (row["job"], row["pay"]) == ("Professional", "low")


def test_a_region_of_other_alone_has_no_bounds():
    age = Numeric(
        "age", low=_fraction(0), high=_fraction(9), step=_fraction(1), kind="integer",
        missing="other",
    )  # fmt: skip
    schema = Schema("x", (age,), unit="row")
    grid = GridPartition((np.array([0, 10, 11], np.int32),))
    table = typed_table(schema, grid, np.arange(2), np.array([[1], [2]]))
    assert table.to_pydict() == {
        "region": [0, 1],
        "age_low": [0, None],
        "age_high": [10, None],
        "age_other": [False, True],
        "count": [1, 2],
    }


def _fraction(value):
    from fractions import Fraction

    return Fraction(value)


def test_bounds_never_take_the_name_of_another_attribute():
    a = Numeric("a", low=_fraction(0), high=_fraction(1), step=_fraction(1), kind="integer")
    schema = Schema("x", (a, replace(a, name="a_low")), unit="row")
    grid = GridPartition((np.array([0, 2]), np.array([0, 2])))
    names = typed_table(schema, grid, np.arange(1), np.array([[1]])).column_names
    assert len(set(names)) == len(names)


def test_reserved_names_are_refused():
    class Fake:  # the schema itself refuses such names; a release must not rely on it
        attributes = (Categorical("count", Taxonomy.flat(["a", "b"])),)
        target = None

    with pytest.raises(UsageError, match="'count'"):
        check_names(Fake())  # type: ignore[arg-type]


def test_csv_reads_back_and_quotes_what_spreadsheets_take_for_formulas(grid_release):
    sizes = [attribute.size for attribute in grid_release.schema.attributes]
    cut = GridPartition(
        (
            np.array([0, sizes[0]], np.int32),
            np.arange(5, dtype=np.int32),
            *[np.array([0, size], np.int32) for size in sizes[2:]],
        )
    )
    release = replace(grid_release, partition=cut)
    table = release.generalized("arrow")
    text = b"".join(csv_blocks(table)).decode()
    assert '"=Writer"' in text
    assert '"[17, 90] or other"' in text
    assert "\r" not in text
    rows = list(csv.DictReader(io.StringIO(text)))
    expected = [{key: str(value) for key, value in row.items()} for row in table.to_pylist()]
    assert rows == expected


def test_regions_that_are_no_taxonomy_node_are_refused(grid_release):
    edges = list(grid_release.partition.edges)
    edges[1] = np.array([0, 1, 4], np.int32)
    with pytest.raises(ReleaseError, match="'job'"):
        check_against(grid_release.schema, GridPartition(tuple(edges)))


def test_the_leaves_of_a_tree_are_held_to_the_taxonomy_too():
    schema = Schema("x", (Categorical("job", Taxonomy.flat(["a", "b", "c"])),), unit="row")
    good = [(-1, 0, [0], [3]), *[(0, -1, [k], [k + 1]) for k in range(3)]]
    check_against(schema, TreePartition.of(good))
    bad = [(-1, 0, [0], [3]), (0, -1, [0], [2]), (0, -1, [2], [3])]
    with pytest.raises(ReleaseError, match="'job'"):
        check_against(schema, TreePartition.of(bad))
