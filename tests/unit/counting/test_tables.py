"""Tables of columns: the loop and its NumPy twin count what counting by hand does."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from hedgerow.counting import engine as sums
from hedgerow.counting.engine import TableCounts, add_tables


def by_hand(question: TableCounts, rows: Any) -> list[int]:
    several = [np.zeros(shape, np.int64) for shape in question.shapes]
    for row in rows.tolist():
        for columns, counts in zip(question.tables, several, strict=True):
            cell = tuple(int(question.parts[column][row[column]]) for column in columns)
            if min(cell) >= 0:
                counts[cell] += 1
    return [count for counts in several for count in counts.ravel().tolist()]


@pytest.mark.parametrize("form", ["py_func", "plain"])
@pytest.mark.parametrize("seed", range(5))
def test_both_forms_count_alike(form: str, seed: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """Whichever runs is chosen by the size of the data, so that small tests see only one."""
    monkeypatch.setattr(sums, "add_tables", getattr(add_tables, form))
    rng = np.random.default_rng(seed)
    rows = np.stack([rng.integers(0, 5, 60), rng.integers(0, 3, 60), rng.integers(0, 4, 60)], 1)
    parts = {0: np.array([1, -1, 0, 2, -1]), 1: np.arange(3), 2: np.array([0, 0, 1, 1])}
    question = TableCounts(((0,), (1, 0), (2, 1, 0), (2,)), parts)
    out = np.zeros(question.room, np.int64)
    question.add(rows.astype(np.uint16), out)
    assert out.tolist() == by_hand(question, rows)
    question.add(rows.astype(np.uint16), out)  # it adds, and does not begin anew
    assert out.tolist() == [2 * count for count in by_hand(question, rows)]
