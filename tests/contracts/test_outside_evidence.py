"""Benchmarks that set releases beside other packages: what is run, kept and read of them."""

from __future__ import annotations

import argparse
import json
from pathlib import Path
from types import ModuleType
from typing import Any

import pyarrow as pa
import pytest

from hedgerow import sample
from papers.baselines import apart

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


def test_rows_of_another_package_are_made_once(
    compare: ModuleType, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    rows, schema = sample.people(30), sample.schema()
    asked = []

    class Slow(apart.OpenDP):
        def publish(self, *words: Any) -> tuple[pa.Table, float]:
            asked.append(words)
            return rows, 7.5

    monkeypatch.setattr(compare, "install", lambda folder, package: folder)
    for limit in (9, 90):  # how long it may take does not change what it gives
        make = compare.specialist(Slow("aim", limit=limit), tmp_path / "rows", tmp_path)
        for epsilon in ("1", "1", "0.1"):
            made = make(rows, schema, epsilon, 3)
            assert (made.rows, made.answers, made.seconds) == (rows, None, 7.5)
    assert [words[2] for words in asked] == [1.0, 0.1]


def test_each_entry_stands_beside_those_of_its_delta(compare: ModuleType, tmp_path: Path) -> None:
    given = argparse.Namespace(
        ours=["default", "diffmulti"], out=tmp_path, opendp=None, dpmm=tmp_path, limit=9, all=False
    )
    entries = compare.entries_of(given)
    for role, names in (
        ("ours", {"default", "diffmulti"}), ("simple", {"one-way tables", "tables by class"}),
    ):  # fmt: skip
        for delta in ("0", compare.DELTA):
            of_role = {n for n, e in entries.items() if (e.role, e.delta) == (role, delta)}
            assert of_role == {f"{name}, delta {delta}" for name in names}
    pure = {n for n, e in entries.items() if (e.role, e.delta) == ("specialist", "0")}
    assert pure == {"AIM, delta 0", "MST, delta 0"}  # dpmm's have a delta
    assert entries["AIM of dpmm, delta 1e-6"].role == "specialist"


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
