"""Figures of benchmarks are kept as JSON, and compared."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from types import ModuleType

import pytest

BENCHMARKS = Path(__file__).parents[2] / "benchmarks"


@pytest.fixture
def results(monkeypatch: pytest.MonkeyPatch) -> ModuleType:
    monkeypatch.syspath_prepend(str(BENCHMARKS))
    import results

    return results


def test_benchmarks_share_a_file(results: ModuleType, tmp_path: Path) -> None:
    file = tmp_path / "run.json"
    for value in (2.0, 3.0):  # the second run replaces the first
        for benchmark in ("speed", "use"):
            found = results.Results(benchmark)
            found.add(value, "s", "DiffGen", "1000 rows")
            found.add(float("nan"), "s", "not to be had")
            found.write(file)
    figure = {"value": 3.0, "unit": "s", "better": "less"}
    names = ["speed/DiffGen/1000 rows", "use/DiffGen/1000 rows"]
    assert results.read_run(file)["figures"] == dict.fromkeys(names, figure)


def test_a_name_is_given_once(results: ModuleType) -> None:
    found = results.Results("speed")
    found.add(1, "s", "twice")
    with pytest.raises(ValueError, match="noted before"):
        found.add(1, "s", "twice")


def test_two_runs_are_compared(results: ModuleType, tmp_path: Path) -> None:
    before, after = results.Results("use"), results.Results("use")
    for found, seconds, right in ((before, 2.0, 80.0), (after, 3.0, 88.0)):
        found.add(seconds, "s", "time")
        found.add(right, "%", "accuracy", better="more")
    before.add(1, "s", "gone")
    before.write(tmp_path / "before.json")
    after.write(tmp_path / "after.json")
    script = [sys.executable, BENCHMARKS / "compare_runs.py"]
    files = [tmp_path / "before.json", tmp_path / "after.json"]
    done = subprocess.run([*script, *files], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    lines = [line.split() for line in done.stdout.splitlines()]
    assert ["use/time", "2", "3", "1.500", "s,", "worse"] in lines
    assert ["use/accuracy", "80", "88", "1.100", "%,", "better"] in lines
    assert ["only", "before:", "use/gone"] in lines
    for tolerance, code in ((1.4, 1), (1.6, 0)):
        words = [*script, *files, "--tolerance", str(tolerance)]
        assert subprocess.run(words, capture_output=True).returncode == code
