"""Tables of counts: cells, totals, intervals, remarks."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

import hedgerow as hr
from hedgerow import sample
from hedgerow.errors import UsageError
from hedgerow.estimate.answers import Answers, reliability
from hedgerow.present.tables import how_to_read, lines
from hedgerow.release.count_tables import CountTable, tabulate
from hedgerow.schema import Numeric
from hedgerow.schema.schema import display_label


@pytest.fixture(scope="module")
def release() -> hr.Release:
    people, schema = sample.people(3000, seed=3), sample.schema()
    return hr.publish(people, schema, hr.DiffMulti(), epsilon=2, seed=1)


@pytest.fixture(scope="module")
def shop() -> hr.Release:
    rows = pa.table({"items": sample.transactions(3000, seed=1)})
    return hr.publish(rows, sample.shop_schema(), epsilon=2, seed=1)


def test_cells_are_those_of_count_and_add_up_whatever_they_are_made_of(release: Any) -> None:
    whole = release.count_all().estimate[0]
    for names in (["occupation"], ["age"], ["readmitted"], ["age", "smoker"], ["home", "bmi"]):
        found = release.table(*names)
        assert found.answers.estimate.sum() == pytest.approx(whole, rel=1e-9)
        assert found.total.estimate[0] == whole
    smokers = release.table("smoker", "readmitted")
    asked = release.count([
        f"smoker = {a} and readmitted = {b}" for a, b in zip(*smokers.labels, strict=True)
    ])  # fmt: skip
    for name in ("estimate", "low", "high", "typical_error"):
        assert np.array_equal(getattr(smokers.answers, name), getattr(asked, name))


def test_a_condition_meets_the_cells_of_its_own_attribute(release: Any) -> None:
    found = release.table("age", where="age in [30, 50] and smoker = yes", bins={"age": [40]})
    asked = release.count(["age in [30, 39] and smoker = yes", "age in [40, 50] and smoker = yes"])
    assert found.labels == (("[18, 40)", "[40, 99]"),)
    assert np.array_equal(found.answers.estimate, asked.estimate)
    by_class = release.table("readmitted", where="readmitted = yes")
    assert by_class.labels == (("yes",),)


def test_levels_of_a_taxonomy_and_bands(release: Any) -> None:
    groups = release.table("occupation", bins={"occupation": 1})
    assert groups.labels == (("At work", "Not at work", "other"),)
    leaves = release.table("occupation")
    assert len(leaves) == 21 and leaves.labels[0][0] == "nurse"
    days = release.table("admitted", bins={"admitted": ["2024-07-01"]})
    assert len(days) == 2 and days.labels[0][1].startswith("[2024-07-01")


def test_values_stand_alone_where_they_are_counted_alone() -> None:
    """Up to 64 values of a taxonomy have cells of their own; of more, groups are shown."""
    groups = {"A": [f"a{n}" for n in range(24)], "B": [f"b{n}" for n in range(40)]}
    schema = hr.Schema.from_dict({"name": "s", "unit": "row", "attributes": {
        "few": {"type": "categorical", "taxonomy": groups},
        "many": {"type": "categorical", "taxonomy": {**groups, "C": ["c"]}}}})  # fmt: skip
    rows = pa.table({"few": ["a1", "b2"] * 20, "many": ["a1", "c"] * 20})
    release: Any = hr.publish(rows, schema, epsilon=1, seed=1)
    assert release.table("few").labels[0] == (*groups["A"], *groups["B"])
    assert release.table("many").labels == (("A", "B", "c"),)


def test_bands_begin_where_they_were_asked_for_though_it_cuts_a_cell(release: Any) -> None:
    bins = {"admitted": ["2024-04-01", "2024-05-01", "2024-12-31"]}
    months = release.table("admitted", bins=bins)
    assert months.labels[0][1:3] == ("[2024-04-01, 2024-05-01)", "[2024-05-01, 2024-12-31)")
    asked = release.count(["admitted in [2024-04-01, 2024-04-30]", "admitted = 2024-12-31"])
    for name in ("estimate", "low", "high"):
        assert getattr(months.answers, name)[[1, 3]].tolist() == getattr(asked, name).tolist()
    shown = display_label(release.schema, "admitted", months.labels[0][1])
    assert shown.replace("\u00a0", " ") == "2024-04-01 to 2024-04-30"
    with pytest.raises(UsageError, match=r"steps of 0\.5, and 20\.3 lies inside one") as refusal:
        release.table("bmi", bins={"bmi": [20.3]})
    assert refusal.value.hint == "Begin at 20 or 20.5."


def test_shares_hold_if_cells_and_total_do(release: Any) -> None:
    found = release.table("smoker", share=True)
    cells = release.count(["smoker = no", "smoker = yes"], level=1 - 0.025)
    total = release.count_all(level=1 - 0.025)
    assert found.answers.estimate.sum() == pytest.approx(1)
    assert np.allclose(found.answers.low, cells.low / total.high)
    assert np.allclose(found.answers.high, np.minimum(cells.high / total.low, 1))
    assert found.level == 0.95


def test_all_cells_at_once_share_the_error(release: Any) -> None:
    found = release.table("sex", simultaneous=True, level=0.9)
    texts = [f"sex = {label}" for label in found.labels[0]]
    asked = release.count(texts, level=1 - 0.1 / len(texts))
    assert np.array_equal(found.answers.low, asked.low)
    assert np.array_equal(found.answers.high, asked.high)


def test_every_kind_of_frame(release: Any) -> None:
    found = release.table("sex", "smoker")
    columns = ["sex", "smoker", "estimate", "low", "high", "typical_error", "reliability", "basis"]
    assert found.to_arrow().column_names == columns
    assert list(found.to_frame("pandas").columns) == columns
    assert found.to_frame("polars").columns == columns


def test_the_largest_come_first(release: Any) -> None:
    every, few = release.table("age"), release.table("age", top=3)
    assert few.answers.estimate.tolist() == sorted(every.answers.estimate)[:-4:-1]
    assert (
        few.labels[0][0] == every.labels[0][every.answers.estimate.argmax()]
        and few.total.estimate == every.total.estimate
    )


@pytest.mark.parametrize(
    ("estimate", "half", "told"),
    [(100, 32, "good"), (100, 33, "fair"), (100, 65, "fair"), (100, 66, "mostly noise"),
     (0, 0, "mostly noise"), (-3, 1, "mostly noise")],
)  # fmt: skip
def test_remarks_follow_the_coefficient_of_variation(
    estimate: float, half: float, told: str
) -> None:
    one, none = np.array([float(estimate)]), np.array([np.nan])
    for typical in (None, np.array([float(half)])):
        low, high = (one - half, one + half) if typical is None else (none, none)
        found = Answers(
            estimate=one, low=low, high=high, noise=none, uniformity_low=none,
            uniformity_high=none, level=0.95, typical_error=typical,
        )  # fmt: skip
        assert reliability(found) == (told,)
        for basis, poor in (("measured", told), ("modeled", "modeled"), *SAID):
            words = reliability(replace(found, basis=np.array([basis])))
            # a guess that is mostly noise is called noise; what nobody knows never is
            assert words == (told if basis == "modeled" and told == "mostly noise" else poor,)


SAID = [(word, word) for word in ("assumed even", "not measured")]


def test_every_cell_has_a_remark(release: Any, shop: Any) -> None:
    regions = hr.publish(sample.people(800, seed=3), sample.schema(), hr.DiffMulti(), 1, seed=1)
    for found in (
        release.table("age", "smoker"), regions.table("age"), shop.table("item", "item"),
    ):  # fmt: skip
        assert all(found.reliability)
        assert all(line[-1] for line in lines(found, release.schema))
    place = min(regions.partition.divided)
    cut = regions.table(regions.schema.attributes[place].name, "home", "readmitted")
    assert set(cut.reliability) <= {"assumed even", "not measured", "good", "fair"}
    # long records count for less than one of each item, and by how much is a model's
    assert shop.count([[], ["milk"]]).basis.tolist() == ["measured", "modeled"]


def test_bands_are_what_was_measured() -> None:
    people, schema = sample.people(3000, seed=3), sample.schema()
    grid: Any = hr.publish(people, schema, hr.DiffGen(), epsilon=9, seed=1)
    divided = [schema.attributes[place] for place in sorted(grid.partition.divided)]
    numbers = [one for one in divided if isinstance(one, Numeric)]
    assert "age" in [one.name for one in numbers]
    for one in numbers:
        assert set(grid.table(one.name).answers.basis) == {"measured"}
    inside = next(age for age in range(19, 99) if age - 18 not in grid.measured_edges(0))
    ages = grid.table("age", bins={"age": [inside]})
    assert set(ages.answers.basis) == {"assumed even"}


def test_what_was_not_measured_is_not_ranked() -> None:
    three = np.array([5.0, 90.0, 20.0])
    answers = Answers(
        estimate=three, low=three, high=three, noise=three, uniformity_low=three,
        uniformity_high=three, level=0.95, basis=np.array(["measured", "not measured", "measured"]),
    )  # fmt: skip
    table = CountTable(
        names=("a",), labels=(("x", "y", "z"),), answers=answers, total=answers, by="count",
        simultaneous=False,
    )  # fmt: skip
    assert table.largest(2).labels == (("z", "x"),)
    assert table.largest(3).labels == (("z", "x", "y"),)
    arrow = table.to_arrow()
    for name in ("estimate", "low", "high"):
        assert [one is None for one in arrow[name].to_pylist()] == [False, True, False]


def test_cells_that_were_picked_are_called_so(release: Any) -> None:
    words = "picked by their estimates"
    for options, picked in (
        ({}, False), ({"top": 3}, True), ({"top": 3, "simultaneous": True}, False),
        ({"top": 1000}, False),
    ):  # fmt: skip
        table = release.table("age", **options)
        told = " ".join(how_to_read(table, release.schema))
        assert table.picked == picked == (words in told)
    wide, all_cells = (release.table("age", simultaneous=True, top=n) for n in (3, None))
    kept = [all_cells.labels[0].index(one) for one in wide.labels[0]]
    assert wide.answers.high.tolist() == all_cells.answers.high[kept].tolist()


def test_pairs_of_items_are_picked(shop: Any) -> None:
    assert not shop.table("item").picked and shop.table("item", top=2).picked
    assert not shop.table("item", top=2, simultaneous=True).picked
    for options in ({"top": 3}, {"top": 3, "simultaneous": True}):
        assert shop.table("item", "item", **options).picked
    every = len(shop.items.labels)
    assert not shop.table("item", "item", top=every).picked


def test_the_total_of_shares_is_all(release: Any) -> None:
    found = lines(release.table("smoker", share=True), release.schema)
    assert found[-1] == ["total", "100%", "", "", ""]


def test_regions_alone_have_tables_too() -> None:
    people = sample.people(500, seed=3)
    release = hr.publish(people, sample.schema(), hr.DiffGen(), epsilon=2, seed=1)
    found = release.table("smoker")
    assert found.answers.typical_error is None and len(found) == 2
    assert found.to_arrow().column_names == [
        "smoker", "estimate", "low", "high", "typical_error", "reliability", "basis"
    ]  # fmt: skip


def test_items_and_pairs_of_them(shop: Any) -> None:
    items = shop.table("item")
    estimates = items.answers.estimate
    assert (np.diff(estimates) <= 0).all() and len(items) == len(shop.items.labels)
    pairs = shop.table("item", "item", top=4)
    assert pairs.names == ("item", "with") and len(pairs) == 6
    # a keyword, which no name after a dot can be
    assert pairs.to_arrow().column_names[:2] == ["item", "with"]
    assert pairs[0].with_ == pairs["with"][0] == pairs[0][1]
    first = [pairs.labels[0][0], pairs.labels[1][0]]
    assert shop.count([first]).estimate[0] == pairs.answers.estimate[0]
    label = items.labels[0][0]
    held = shop.table("item", where=[label], share=True, top=1)
    assert held.labels == ((label,),) and held.answers.estimate[0] == pytest.approx(1)


def test_generalized_rows_know_lower_ends() -> None:
    people = sample.people(800, seed=3)
    with pytest.warns(hr.errors.DataWarning, match="generalizations, too many"):
        release = hr.publish(
            people, sample.schema(), hr.Supermodular(), epsilon=3, delta="1e-6", seed=1
        )
    found = release.table(next(n for n in release.schema if n not in release.unmeasured))
    assert np.isinf(found.answers.high).all() and set(found.reliability) == {"assumed even"}


@pytest.mark.parametrize(
    ("names", "more", "told"),
    [
        ((), {}, "needs attributes"),
        (("sex", "sex"), {}, "each of them once"),
        (("sexx",), {}, "no attribute 'sexx'"),
        (("sex",), {"bins": {"age": [20]}}, "which the table does not have"),
        (("age",), {"bins": {"age": [200]}}, "200 is not between"),
        (("age",), {"bins": {"age": 2}}, "lower ends"),
        (("age",), {"bins": {"age": []}}, "lower ends"),
        (("home",), {"bins": {"home": 9}}, "no level 9"),
        (("home",), {"bins": {"home": [1]}}, "level of its taxonomy"),
        (("age",), {"where": "age > 98", "bins": {"age": [20]}, "by": "share"}, "by cannot be"),
        (("bmi", "admitted", "home", "occupation", "age"), {}, "cells"),
        (("age",), {"level": 2}, "level"),
    ],
)
def test_what_cannot_be_tabulated(release: Any, names: Any, more: Any, told: str) -> None:
    with pytest.raises(UsageError, match=told):
        release.table(*names, **more)


def test_what_cannot_be_tabulated_of_items(shop: Any) -> None:
    for names, more in ((("age",), {}), (("item",) * 3, {}), (("item",), {"bins": {"item": 1}})):
        with pytest.raises(UsageError, match="tables of items"):
            shop.table(*names, **more)
    with pytest.raises(UsageError, match="no pairs"):
        shop.table("item", "item", top=1)


def test_nobody_has_no_shares() -> None:
    def nothing(cells: list[Any], level: float) -> Answers:
        zero = np.zeros(len(cells))
        return Answers(
            estimate=zero,
            low=zero,
            high=zero,
            noise=zero,
            uniformity_low=zero,
            uniformity_high=zero,
            level=level,
        )

    found = tabulate(("a",), (("x", "y"),), [1, 2], 0, nothing, "share", 0.95, False)
    assert found.answers.estimate.tolist() == [0, 0] and found.answers.high.tolist() == [1, 1]
    assert found.answers.low.tolist() == [0, 0]
    with pytest.raises(UsageError, match="so sure"):
        tabulate(("a",), (("x",),), [1], 0, nothing, "count", 1 - 1e-13, True)


@pytest.mark.parametrize("method", ["marginals", "diffmulti"])
def test_no_estimate_of_any_table_lies_on_an_end_of_its_interval(method: str) -> None:
    """Noise may leave nothing of an interval: from 0 to 0 looked like certainty."""
    people, schema = sample.people(8000, seed=3), sample.schema()
    release: Any = hr.publish(people, schema, method, epsilon="0.1", seed=11)
    seen = 0
    for _, table in release.plain_tables():
        numbers = (
            table[name].to_numpy(zero_copy_only=False) for name in ("estimate", "low", "high")
        )
        estimate, low, high = (np.maximum(one.astype(float), 0.0) for one in numbers)
        assert (estimate < high).all() and ((low < estimate) | (estimate == 0)).all()
        seen += int((estimate == 0).sum())
    assert seen > 0 or method != "marginals"
