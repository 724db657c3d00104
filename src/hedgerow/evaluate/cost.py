"""What a run costs the machine."""

from __future__ import annotations

import time
import tracemalloc
from collections.abc import Callable
from typing import TypeVar

__all__ = ["cpu_seconds", "peak_bytes"]

T = TypeVar("T")


def cpu_seconds(call: Callable[[], T], repeats: int = 1) -> tuple[T, float]:
    """The result of a call and the CPU seconds of this process that it took.

    Args:
        call: What to run.
        repeats: How often; the shortest run counts, since other programs only make runs longer.

    Example:
        >>> cpu_seconds(lambda: sum(range(10)))[0]
        45
    """
    best = float("inf")
    for _ in range(repeats):
        start = time.process_time()
        result = call()
        best = min(best, time.process_time() - start)
    return result, best


def peak_bytes(call: Callable[[], T]) -> tuple[T, int]:
    """The result of a call and the most memory it held at a time, beyond what was there before.

    What Python and NumPy allocate is counted, not what libraries allocate by themselves. Counting
    makes calls slow, so time and memory are measured in different runs.

    Args:
        call: What to run.

    Example:
        >>> peak_bytes(lambda: bytes(1_000_000))[1] >= 1_000_000
        True
    """
    tracemalloc.start()
    try:
        before, _ = tracemalloc.get_traced_memory()
        tracemalloc.reset_peak()
        result = call()
        return result, tracemalloc.get_traced_memory()[1] - before
    finally:
        tracemalloc.stop()
