"""What is told to dpmm and OpenDP, and what is made of their rows; neither need be there."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
from fractions import Fraction
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pyarrow as pa
import pytest

from hedgerow.errors import UsageError
from hedgerow.privacy.budget import rho_of_epsilon
from hedgerow.schema import Schema
from papers.baselines import apart

SCHEMA = Schema.from_dict(
    {
        "name": "small",
        "unit": "row",
        "attributes": {
            "age": {"type": "numeric", "low": 0, "high": 9, "step": 1},
            "job": {"type": "categorical", "values": ["1", "2"]},
            "ill": {"type": "categorical", "values": ["no", "yes"], "role": "class"},
        },
    }
)
ROWS = pa.table({"age": [1, 2], "job": ["1", "2"], "ill": ["no", "yes"], "name": ["x", "y"]})


def test_a_job_holds_what_the_schema_says_and_rows_come_back(monkeypatch):
    jobs = []

    def fake(words, **_):
        job = json.loads(Path(words[-1]).read_text(encoding="utf-8"))
        job["columns"] = Path(job["rows"]).read_text(encoding="utf-8").splitlines()[0]
        jobs.append(job)
        Path(job["made"]).write_text(
            "age,job,ill\n3.7,1,yes\n5.0,,no\n12.0,2,no\n", encoding="utf-8"
        )
        Path(job["cost"]).write_text('{"cpu_seconds": 1.5}', encoding="utf-8")
        return SimpleNamespace(returncode=0)

    monkeypatch.setattr(subprocess, "run", fake)
    rows, seconds = apart.Dpmm("aim").publish(ROWS, SCHEMA, 0.5, 3, Path("python"))
    assert seconds == 1.5
    assert rows.to_pydict() == {"age": [4, 9], "job": ["1", "2"], "ill": ["yes", "no"]}
    (job,) = jobs
    assert job["columns"] == '"age","job","ill"'  # no identifier leaves
    assert job["categorical"] == ["job", "ill"]
    assert job["domain"]["age"] == {"lower": 0.0, "upper": 9.0}
    assert (job["epsilon"], job["delta"], job["number"]) == (0.5, 1e-9, 2)
    assert (job["settings"], job["limit"]) == ({}, None)
    apart.Dpmm("aim", delta=1e-6, settings=apart.AIM_FINISHES, limit=9).publish(
        ROWS, SCHEMA, 0.5, 3, Path("python")
    )
    assert jobs[1]["settings"] == {"max_model_size": 1, "gen_kwargs": {"n_iters": 100}}
    assert (jobs[1]["delta"], jobs[1]["limit"]) == (1e-6, 9)


@pytest.mark.skipif(not hasattr(signal, "SIGXCPU"), reason="this system does not limit CPU seconds")
def test_what_is_ended_for_its_cpu_seconds_is_told(monkeypatch):
    ended = SimpleNamespace(returncode=-getattr(signal, "SIGXCPU", 0), stderr="")
    monkeypatch.setattr(subprocess, "run", lambda *_, **__: ended)
    with pytest.raises(apart.Unfinished, match="within 9 CPU seconds"):
        apart.Dpmm("aim", limit=9).publish(ROWS, SCHEMA, 1.0, 1, Path("python"))
    with pytest.raises(UsageError, match="no message"):  # nobody limited this one
        apart.Dpmm("aim").publish(ROWS, SCHEMA, 1.0, 1, Path("python"))


def test_another_package_can_be_installed(tmp_path, monkeypatch):
    python = tmp_path / "bin" / "python"
    python.parent.mkdir()
    python.touch()
    asked = []

    def fake(words, **_):
        asked.append(words)
        return SimpleNamespace(returncode=len(asked) % 2)  # the first is not there, the rest works

    monkeypatch.setattr(subprocess, "run", fake)
    assert apart.install(tmp_path, apart.Package("sdnist==2.4")) == python
    assert asked[0][-1] == "import sdnist" and asked[1][-1] == "sdnist==2.4"


@pytest.mark.slow
def test_an_environment_without_dpmm_is_told():
    with pytest.raises(UsageError, match="did not finish"):
        apart.Dpmm("mst").publish(ROWS, SCHEMA, 1.0, 1, Path(sys.executable))


def test_a_python_that_is_too_new_is_told(tmp_path):
    with pytest.raises(UsageError, match="needs Python"):
        apart.install(tmp_path / "absent", apart.Package("dpmm==0.1.9", ((2, 7),)))
    assert apart.find_python(tmp_path) is None


BINNED = Schema.from_dict(
    {
        "name": "small",
        "unit": "row",
        "attributes": {
            "age": {"type": "numeric", "low": 0, "high": 99, "step": 1},
            "job": {"type": "categorical", "values": ["a", "b"]},
            "ill": {"type": "categorical", "values": ["no", "yes"], "role": "class"},
        },
    }
)
FEW = pa.table({"age": [0, 99], "job": ["a", "b"], "ill": ["no", "yes"]})


def test_numbers_are_cut_evenly_with_the_lowest_code_apart():
    age, job = (apart.equal_cells(attribute) for attribute in BINNED.attributes)
    sizes = np.bincount(age)
    assert sizes.sum() == 100 and len(sizes) == 33
    assert sizes[0] == 1 and set(sizes[2:]) == {3, 4}  # the second cell lacks the lowest code
    assert job.tolist() == [0, 1]


@pytest.mark.parametrize("delta", [0, "1e-6"])
def test_a_job_holds_cells_alone_and_rows_come_back(delta, monkeypatch):
    jobs = []

    def fake(words, **_):
        job = json.loads(Path(words[-1]).read_text(encoding="utf-8"))
        job["read"] = Path(job["rows"]).read_text(encoding="utf-8").splitlines()
        jobs.append(job)
        Path(job["made"]).write_text("c0,c1,c2\n32,1,0\n0,,1\n0,0,1\n", encoding="utf-8")
        Path(job["cost"]).write_text('{"cpu_seconds": 2.5}', encoding="utf-8")
        return SimpleNamespace(returncode=0)

    monkeypatch.setattr(subprocess, "run", fake)
    method = apart.OpenDP("aim", delta=delta, settings={"steps": 7}, limit=9)
    rows, seconds = method.publish(FEW, BINNED, "0.5", 1, Path("python"))
    assert seconds == 2.5
    assert rows["job"].to_pylist() == ["b", "a"] and rows["ill"].to_pylist() == ["no", "yes"]
    high, low = rows["age"].to_pylist()
    assert 96 <= high <= 99 and low == 0
    (job,) = jobs
    assert job["read"] == ['"c0","c1","c2"', "0,0,0", "32,1,1"]
    assert job["cells"] == {"c0": 33, "c1": 2, "c2": 2}
    assert (job["number"], job["limit"]) == (2, 9)
    assert job["settings"] == {"estimator": "mirror_descent", "steps": 7}
    if delta:
        rho = rho_of_epsilon(Fraction(1, 2), Fraction(1, 10**6))
        assert job["budget"].keys() == {"rho"}
        assert rho * Fraction(999_999, 10**6) < Fraction(job["budget"]["rho"]) <= rho
    else:
        assert job["budget"] == {"epsilon": 0.5}
