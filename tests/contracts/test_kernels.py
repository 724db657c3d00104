"""Every loop that has two forms gives the same results in both, to the last bit."""

from __future__ import annotations

import copy
import inspect
import random
import sys
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import hedgerow
from hedgerow.compiled import Kernel
from hedgerow.data.text import copy_values, split_records
from hedgerow.sample import write

pytestmark = pytest.mark.kernels

sys.path.insert(0, str(Path(__file__).parents[1] / "golden"))
try:
    import cases
finally:
    sys.path.pop(0)

ROOM = {"scratch", "keys", "child_of", "cumulative", "room", "content"}  # nobody reads it later


def bits(values: Any) -> Any:
    if isinstance(values, np.ndarray):
        return values.tobytes()
    return tuple(map(bits, values)) if isinstance(values, tuple) else values


@pytest.fixture
def both(monkeypatch: pytest.MonkeyPatch) -> Iterator[Counter[str]]:
    """Runs both forms at each call, and counts the calls."""
    seen: Counter[str] = Counter()

    def call(self: Kernel[Any, Any], *given: Any) -> Any:
        if self._steps is None:
            return self.compiled(*given)
        other = copy.deepcopy(given)  # which can be written to: numba would compile another form
        found, expected = self.compiled(*given), self.plain(*other)
        assert found == expected
        for name, one, two in zip(
            inspect.signature(self.py_func).parameters, given, other, strict=True
        ):
            assert name in ROOM or bits(one) == bits(two), (self.py_func.__name__, name)
        seen[self.py_func.__name__] += 1
        return found

    monkeypatch.setattr(Kernel, "__call__", call)
    yield seen
    assert seen


@pytest.mark.parametrize("name", cases.CASES)
def test_of_releases(name: str, both: Counter[str]) -> None:
    release = cases.publish(name)
    cases.values_of(release)


def test_of_the_sample(both: Counter[str], tmp_path: Path) -> None:
    write(tmp_path)
    release = hedgerow.publish(
        tmp_path / "people.csv", tmp_path / "schema.yaml", hedgerow.DiffMulti(), epsilon=1, seed=3
    )
    release.count(["age > 50", "smoker = yes and age < 40 and readmitted = yes"])
    release.synthesize(500, seed=1, kind="arrow")
    assert {
        "split_records", "copy_values", "histograms", "route", "score_nodes",
        "fill_laplace", "descend",
    } <= set(both)  # fmt: skip


def blocks(source: random.Random) -> bytes:
    """Lines of a file, some of them malformed."""
    if source.random() < 0.5:
        return bytes(source.choices(b'a",\n\r', k=source.randrange(14)))
    value = [b"", b"a", b"ab", b'""', b'"a,b"', b'"a""b"', b'"a"b']
    line = source.choice([b"\n", b"\r\n", b"\r"])
    lines = [b",".join(source.choices(value, k=3)) for _ in range(source.randrange(5))]
    return line.join(lines) + source.choice([b"", line, line + line])


def test_of_lines() -> None:
    source = random.Random(5)
    for _ in range(2000):
        data = np.frombuffer(blocks(source), np.uint8)
        width = source.choice([1, 3, 3])
        slots = np.array([0, -1, 1])[:width]
        settings = (
            source.random() < 0.5, 44, source.random() < 0.2, source.random() < 0.5,
            source.choice([3, 1000]), slots,
        )  # fmt: skip
        found = []
        for form in (split_records.python, split_records.plain):
            room = np.zeros((2, 2, len(data) + 1), np.int32), np.zeros(len(data) + 1, np.int64)
            ended = form(data, *settings, *room[0], room[1])
            begin, end = room[0][0, :, : ended[0]], room[0][1, :, : ended[0]]
            found.append((ended, begin.tolist(), end.tolist(), room[1][: ended[0]].tolist()))
        assert found[0] == found[1]
        texts = []
        for form in (copy_values.python, copy_values.plain):
            offsets, content = np.zeros(len(begin[0]) + 1, np.int32), np.zeros(len(data), np.uint8)
            used = form(data, begin[0], end[0], offsets, content)
            texts.append((used, offsets.tolist(), content[:used].tolist()))
        assert texts[0] == texts[1]
