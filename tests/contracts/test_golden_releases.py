"""Releases that were written once: every later version reads, verifies and answers them alike.

The same seeds also still give the same releases. `tests/golden/write.py` writes the folders and
their values, on purpose.
"""

from __future__ import annotations

import json
import shutil
import sys
from dataclasses import replace
from functools import cache
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

import hedgerow
from hedgerow.release.files import KINDS

GOLDEN = Path(__file__).parents[1] / "golden"


@cache
def golden() -> ModuleType:
    sys.path.insert(0, str(GOLDEN))
    try:
        import cases
    finally:
        sys.path.remove(str(GOLDEN))
    return cases  # type: ignore[no-any-return]


CASES = list(golden().CASES)


@cache
def values() -> dict[str, Any]:
    return json.loads(golden().VALUES.read_text("utf-8"))  # type: ignore[no-any-return]


CLOSE = {"rel": 1e-6, "abs": 1e-6}
# a fit ends within a fiftieth of the noise, which step is the last hangs on the last digits of a
# processor and of NumPy, and rows that stand for records are whole
FITTED = {"rel": 1e-3, "abs": 0.5}


def same(found: Any, expected: Any, near: dict[str, float]) -> None:
    """Numbers may differ a little from one machine to another; nothing else may."""
    if isinstance(expected, dict):
        assert found.keys() == expected.keys()
        for name in expected:
            same(found[name], expected[name], near)
    elif isinstance(expected, list):
        assert len(found) == len(expected)
        for one, other in zip(found, expected, strict=True):
            same(one, other, near)
    elif isinstance(expected, float):
        assert found == pytest.approx(expected, **near)
    else:
        assert found == expected


def near(name: str) -> dict[str, float]:
    return FITTED if name.startswith("marginals") else CLOSE


def test_every_kind_and_method_is_there() -> None:
    folders = {path.name for path in GOLDEN.iterdir() if (path / "manifest.json").exists()}
    assert folders == set(CASES) == set(values())
    manifests = [json.loads((GOLDEN / n / "manifest.json").read_text("utf-8")) for n in CASES]
    assert {manifest["kind"] for manifest in manifests} == set(KINDS)
    assert {manifest["method"] for manifest in manifests} == {
        "marginals", "diffmulti", "diffgen", "cdiffgen", "diffpart", "supermodular"}  # fmt: skip
    for name, manifest in zip(CASES, manifests, strict=True):
        words = manifest["method"], *manifest["settings"]["schedule"].split("-")
        assert tuple(name.split("-")[:3]) == words


@pytest.mark.parametrize("name", CASES)
def test_a_golden_folder_loads_verifies_and_answers(name: str) -> None:
    release = hedgerow.Release.load(GOLDEN / name)
    same(golden().values_of(release), values()[name], near(name))
    # the runs were seeded, and say so; everything else holds
    failed = [check for check in hedgerow.verify(GOLDEN / name).checks if not check.ok]
    assert [check.name for check in failed] == ["private"]
    more = replace(release, settings=release.settings | {"rows": 1234})
    failed = [check for check in hedgerow.verify(more).checks if not check.ok]
    assert [check.name for check in failed] == ["private", "settings"]


@pytest.mark.parametrize("name", CASES)
def test_a_folder_whose_estimator_is_not_known_here(name: str, tmp_path: Path) -> None:
    """It is held to what was measured alone; where that holds no rows, it fails."""
    shutil.copytree(GOLDEN / name, tmp_path / "r")
    manifest = json.loads((tmp_path / "r/manifest.json").read_text("utf-8"))
    manifest["rows"]["estimator"] = 99
    manifest["package_version"] = "0.0.1"
    (tmp_path / "r/manifest.json").write_text(json.dumps(manifest), "utf-8")
    verdict = hedgerow.verify(tmp_path / "r")
    failed = {check.name for check in verdict.checks if not check.ok}
    assert failed == ({"private"} if manifest["kind"] == "marginals" else {"private", "counts"})
    assert "what README.md" in verdict.unchecked[-2]
    assert "could be the raw ones" in verdict.unchecked[-1]


@pytest.mark.parametrize("name", CASES)
def test_the_same_seed_gives_the_same_values(name: str) -> None:
    same(golden().values_of(golden().publish(name)), values()[name], near(name))
