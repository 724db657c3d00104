"""Benchmarks that set releases beside other packages: what is read of them, and who is ahead."""

from __future__ import annotations

import json
import math
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

BENCHMARKS = Path(__file__).parents[2] / "benchmarks"


@pytest.fixture
def compare(monkeypatch: pytest.MonkeyPatch) -> ModuleType:
    monkeypatch.syspath_prepend(str(BENCHMARKS))
    import compare

    return compare


@pytest.fixture
def sdnist(monkeypatch: pytest.MonkeyPatch) -> ModuleType:
    monkeypatch.syspath_prepend(str(BENCHMARKS))
    import sdnist

    return sdnist


def line(error: float, auc: float) -> dict[str, tuple[float, float]]:
    return {"error": (error, math.nan), "auc": (auc, math.nan)}


def test_those_ahead_are_told_beside_ours_of_the_same_delta(compare: ModuleType) -> None:
    pure, approximate = compare.OURS["0"], compare.OURS[compare.DELTA]
    aim = compare.Entry(compare.raw, compare.DELTA, "limit 9")
    entries = {**compare.METHODS, "AIM": aim}
    lines = {
        ("raw rows", ""): line(0, 1),
        (pure, "1"): line(0.3, 0.8),
        (approximate, "1"): line(0.1, 0.9),
        ("marginals", "1"): line(0.2, 0.7),
        ("AIM", "1"): line(0.2, 0.95),
        ("AIM", "0.1"): line(0.0, 1.0),  # ours was not measured there
    }
    assert list(compare.ahead(lines, entries)) == [
        f"- error, epsilon 1: marginals 0.200, {pure} 0.300",
        f"- auc, epsilon 1: AIM 0.950, {approximate} 0.900",
    ]
    lines["AIM", "1"] = line(math.nan, math.nan)  # it did not finish
    assert len(list(compare.ahead(lines, entries))) == 1


def test_figures_are_read_from_a_report_of_sdnist(sdnist: ModuleType, tmp_path: Path) -> None:
    (tmp_path / "c.csv").write_text(",A,B,C\nA,0,-0.3,0.1\nB,-0.3,0,0.2\nC,0.1,0.2,0\n", "utf-8")
    told: dict[str, Any] = {
        "k_marginal": {"k_marginal_synopsys": {"k_marginal_score": 970,
                                               "sub_sampling_equivalent": 10}},
        "Correlations": {"kendall correlation difference": {"correlation_difference": "c.csv"}},
        "propensity mean square error": {"pmse_score": 0.01},
        "inconsistencies": {"summary": [{"Percent Records Inconsistent": 0.5},
                                        {"Percent Records Inconsistent": 0.25}]},
        "unique_exact_matches": {"percent records matched in target data": 12.5},
    }  # fmt: skip
    found = sdnist.measures(json.loads(json.dumps(told)), tmp_path)
    assert found.pop("correlation") == pytest.approx(0.2)
    assert found == {
        "k-marginal": 970, "like a sample of": 10, "propensity": 0.01, "inconsistent": 0.75,
        "matches": 12.5,
    }  # fmt: skip
    assert {*found, "correlation", "cpu"} == set(sdnist.MEASURES)
