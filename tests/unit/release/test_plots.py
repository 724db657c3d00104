"""Pictures of tables."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

import hedgerow as hr
from hedgerow import sample
from hedgerow.errors import UsageError
from hedgerow.estimate.answers import Answers
from hedgerow.release.count_tables import CountTable, draw_table


def grid() -> hr.Release:
    """A release that divides stays and sexes, everywhere alike."""
    method = hr.DiffGen(score="ncp", specializations=8)
    return hr.publish(sample.people(1500, seed=3), sample.schema(), method, epsilon=1, seed=1)


def test_bars_are_the_estimates_and_lines_the_intervals() -> None:
    release = grid()
    table = release.table("stay", share=True)
    axes: Any = release.plot("stay", share=True)
    widths = [bar.get_width() for bar in axes.patches]
    assert np.allclose(widths, 100 * np.maximum(table.answers.estimate, 0))
    ends = np.array([line[:, 0] for line in axes.collections[0].get_segments()])
    assert np.allclose(ends, 100 * np.stack([table.answers.low, table.answers.high], axis=1))
    pale = [bar.get_facecolor() for bar in axes.patches]
    marks = [one == "mostly noise" for one in table.reliability]
    assert any(marks) and len({c for c, mark in zip(pale, marks, strict=True) if mark}) == 1
    assert "mostly noise" in axes.get_xlabel()


def test_intervals_that_leave_the_frame_end_in_an_arrow() -> None:
    release = hr.publish(sample.people(1500, seed=3), sample.schema(), hr.DiffMulti(), 1, seed=1)
    table = release.table("age")
    axes: Any = release.plot("age")
    frame = axes.get_xlim()[1]
    (arrows,) = axes.lines
    assert "arrow" in axes.get_xlabel() and "assumed even" in axes.get_xlabel()
    assert set(arrows.get_ydata()) == set(np.flatnonzero(table.answers.high > frame).tolist())
    ends = np.array([line[:, 0] for line in axes.collections[0].get_segments()])
    assert ends.max() <= frame and len(ends) == len(table)


def two_cells() -> CountTable:
    """A table with the intervals 80 to 120 and 0 to 200."""
    low, high = np.array([80.0, 0.0]), np.array([120.0, 200.0])
    nothing = np.zeros(2)
    answers = Answers(
        estimate=np.array([100.0, 5.0]),
        low=low,
        high=high,
        noise=nothing,
        uniformity_low=nothing,
        uniformity_high=nothing,
        level=0.95,
    )
    return CountTable(
        names=("a",), labels=(("x", "y"),), answers=answers, total=answers, by="count",
        simultaneous=False,
    )  # fmt: skip


def test_the_typical_error_stays_within_the_interval() -> None:
    table = two_cells()
    answers = replace(table.answers, typical_error=np.array([30.0, 2.0]))
    axes: Any = draw_table(replace(table, answers=answers), "t")
    assert [line[:, 0].tolist() for line in axes.collections[1].get_segments()] == [
        [80.0, 120.0],
        [3.0, 7.0],
    ]


def test_an_interval_that_fits_is_seen_to_its_end() -> None:
    axes: Any = draw_table(two_cells(), "t")
    assert axes.get_xlim()[1] >= 200 and not axes.lines and "arrow" not in axes.get_xlabel()


def test_too_many_bars_are_refused() -> None:
    release = hr.publish(sample.people(500, seed=3), sample.schema(), epsilon=1, seed=1)
    with pytest.raises(UsageError, match="told apart"):
        release.plot("occupation", "age")


def test_other_says_what_is_in_it_and_bars_fill_the_frame() -> None:
    axes: Any = grid().plot("sex")
    assert [one.get_text() for one in axes.get_yticklabels()][-1] == "other (incl. missing)"
    assert axes.get_ylim() == (2.6, -0.6)


def test_of_two_values_the_second_is_drawn_for_each_group() -> None:
    table = grid().table("readmitted", by="occupation", share=True)
    axes: Any = table.plot()
    yes = table.answers.estimate[np.array(table.labels[0]) == "yes"]
    drawn = [bar.get_width() for bar in axes.patches]
    assert np.allclose(drawn, 100 * np.maximum(yes, 0)) and len(drawn) == 21
    assert axes.get_legend() is None
    assert axes.get_xlabel().startswith("share of readmitted yes (%)")


def test_many_groups_have_no_legend() -> None:
    many: Any = grid().table("smoker", by="occupation").plot()
    assert many.get_legend() is None
    few: Any = grid().table("smoker", by="sex").plot()
    assert len(few.get_legend().legend_handles) == 3


def test_a_file_is_no_place_to_draw_on() -> None:
    with pytest.raises(UsageError, match="writes no file") as refusal:
        grid().table("sex").plot("x.png")  # type: ignore[arg-type]
    assert refusal.value.hint == "Write .plot().figure.savefig('x.png')."
