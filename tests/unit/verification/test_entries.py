"""Weights in settings, and honest releases of all kinds, whose entries are those of the format."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

import hedgerow as hr
from hedgerow import sample
from hedgerow.release import Release
from hedgerow.verification import verify
from hedgerow.verification.verify import check_entries

GOLDEN = Path(__file__).parents[2] / "golden"
FOLDERS = sorted(path.name for path in GOLDEN.iterdir() if path.is_dir() and path.name[0] != "_")


@pytest.mark.parametrize("name", FOLDERS)
def test_what_is_published_has_the_entries_of_the_format(name: str) -> None:
    manifest = json.loads((GOLDEN / name / "manifest.json").read_text("utf-8"))
    assert "not known here" not in check_entries(manifest)
    failed = {check.name for check in verify(GOLDEN / name).checks if not check.ok}
    assert failed == {"private"}  # golden releases are seeded


@pytest.fixture(scope="module")
def weighted() -> Release:
    names = [one.name for one in sample.schema().columns]
    weights: dict[str, Any] = dict.fromkeys(names, 1)
    weights["smoker"] = {"true": 2, "false": 0.5}
    method = hr.Supermodular(weights=weights)
    return hr.publish(sample.people(300, seed=3), sample.schema(), method, epsilon=4, delta="1e-6")


def test_weights_are_settings(weighted: Release, tmp_path: Path) -> None:
    weighted.save(tmp_path / "r")
    assert verify(tmp_path / "r").ok


@pytest.mark.parametrize(
    "change",
    [
        {"weights": {"Alice bought 7": 1}},
        {"weights": {"age": "Alice bought 7"}},
        {"weights": {"age": {"Alice": 7}}},
        {"weights": {"smoker": {"Alice": 7}}},
        {"weights": {"smoker": {"true": "Alice"}}},
        {"weights": ["Alice", 7]},
        {"weight_columns": {"Alice bought 7": "x"}},
        {"weight_columns": {"age": 7}},
        {"weight_bounds": ["Alice", 7]},
        {"weight_bounds": [0, 1, 7]},
    ],
)
def test_nothing_else_goes_along_among_weights(weighted: Release, change: dict[str, Any]) -> None:
    verdict = verify(replace(weighted, settings=weighted.settings | change))
    assert {check.name for check in verdict.checks if not check.ok} == {"weights"}


def test_columns_of_own_weights_are_named(weighted: Release) -> None:
    named = replace(weighted, settings=weighted.settings | {"weight_columns": {"age": "my own"}})
    (found,) = (check for check in verify(named).checks if check.name == "weights")
    assert found.ok and "'my own'" in found.words
