"""What is measured is what was used; nothing here is timed against a limit."""

from __future__ import annotations

import numpy as np

from hedgerow.evaluation import cpu_seconds, peak_bytes


def test_the_best_of_several_runs_counts():
    calls: list[int] = []
    result, seconds = cpu_seconds(lambda: calls.append(1) or len(calls), repeats=3)
    assert result == 3
    assert seconds >= 0


def test_peak_memory_is_the_calls_own():
    kept = np.ones(1 << 20)  # was there before, so it does not count
    result, peak = peak_bytes(lambda: float(np.zeros(1 << 18).sum()))
    assert result == 0 and kept[0] == 1
    assert 8 << 18 <= peak < 8 << 20
