"""Pictures of tables."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import hedgerow as hr
from hedgerow import sample
from hedgerow.errors import UsageError


def test_bars_are_the_estimates_and_lines_the_intervals() -> None:
    release = hr.publish(sample.people(1500, seed=3), sample.schema(), epsilon=1, seed=1)
    table = release.table("occupation", by="share")
    figure: Any = release.plot("occupation", by="share")
    (axes,) = figure.axes
    widths = [bar.get_width() for bar in axes.patches]
    assert np.allclose(widths, 100 * np.maximum(table.answers.estimate, 0))
    ends = np.array([line[:, 0] for line in axes.collections[0].get_segments()])
    assert np.allclose(ends, 100 * np.stack([table.answers.low, table.answers.high], axis=1))
    pale = [bar.get_facecolor() for bar in axes.patches]
    marks = [one == "unreliable" for one in table.reliability]
    assert any(marks) and len({c for c, mark in zip(pale, marks, strict=True) if mark}) == 1
    assert "mostly noise" in axes.get_xlabel()


def test_too_many_bars_are_refused() -> None:
    release = hr.publish(sample.people(500, seed=3), sample.schema(), epsilon=1, seed=1)
    with pytest.raises(UsageError, match="told apart"):
        release.plot("occupation", "age")
