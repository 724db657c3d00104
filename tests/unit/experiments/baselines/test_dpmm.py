"""What is told to dpmm, and what is made of its rows; dpmm itself need not be there."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace

import pyarrow as pa
import pytest

from hedgerow.errors import UsageError
from hedgerow.experiments.baselines import dpmm
from hedgerow.schema import Schema

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
    rows, seconds = dpmm.Dpmm("aim").publish(ROWS, SCHEMA, 0.5, 3, Path("python"))
    assert seconds == 1.5
    assert rows.to_pydict() == {"age": [4, 9], "job": ["1", "2"], "ill": ["yes", "no"]}
    (job,) = jobs
    assert job["columns"] == '"age","job","ill"'  # no identifier leaves
    assert job["categorical"] == ["job", "ill"]
    assert job["domain"]["age"] == {"lower": 0.0, "upper": 9.0}
    assert (job["epsilon"], job["delta"], job["number"]) == (0.5, 1e-9, 2)
    assert (job["settings"], job["limit"]) == ({}, None)
    dpmm.Dpmm("aim", delta=1e-6, settings=dpmm.AIM_FINISHES, limit=9).publish(
        ROWS, SCHEMA, 0.5, 3, Path("python")
    )
    assert jobs[1]["settings"] == {"max_model_size": 1, "gen_kwargs": {"n_iters": 100}}
    assert (jobs[1]["delta"], jobs[1]["limit"]) == (1e-6, 9)


@pytest.mark.skipif(not hasattr(signal, "SIGXCPU"), reason="this system does not limit CPU seconds")
def test_what_is_ended_for_its_cpu_seconds_is_told(monkeypatch):
    ended = SimpleNamespace(returncode=-getattr(signal, "SIGXCPU", 0), stderr="")
    monkeypatch.setattr(subprocess, "run", lambda *_, **__: ended)
    with pytest.raises(dpmm.Unfinished, match="within 9 CPU seconds"):
        dpmm.Dpmm("aim", limit=9).publish(ROWS, SCHEMA, 1.0, 1, Path("python"))
    with pytest.raises(UsageError, match="no message"):  # nobody limited this one
        dpmm.Dpmm("aim").publish(ROWS, SCHEMA, 1.0, 1, Path("python"))


def test_another_package_can_be_installed(tmp_path, monkeypatch):
    python = tmp_path / "bin" / "python"
    python.parent.mkdir()
    python.touch()
    asked = []

    def fake(words, **_):
        asked.append(words)
        return SimpleNamespace(returncode=len(asked) % 2)  # the first is not there, the rest works

    monkeypatch.setattr(subprocess, "run", fake)
    assert dpmm.install(tmp_path, "sdnist==2.4") == python
    assert asked[0][-1] == "import sdnist" and asked[1][-1] == "sdnist==2.4"


def test_an_environment_without_dpmm_is_told():
    with pytest.raises(UsageError, match="did not finish"):
        dpmm.Dpmm("mst").publish(ROWS, SCHEMA, 1.0, 1, Path(sys.executable))


def test_a_python_that_is_too_new_is_told(tmp_path, monkeypatch):
    monkeypatch.setattr(dpmm, "PYTHONS", ())
    with pytest.raises(UsageError, match="needs Python"):
        dpmm.install(tmp_path / "absent")
    assert dpmm.find_python(tmp_path) is None
