"""What is told to OpenDP, and what is made of its cells; OpenDP itself need not be there."""

from __future__ import annotations

import json
import subprocess
from fractions import Fraction
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pyarrow as pa
import pytest

from hedgerow.experiments.baselines import opendp
from hedgerow.privacy.budget import rho_of_epsilon
from hedgerow.schema import Schema

SCHEMA = Schema.from_dict(
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
ROWS = pa.table({"age": [0, 99], "job": ["a", "b"], "ill": ["no", "yes"]})


def test_numbers_are_cut_evenly_with_the_lowest_code_apart():
    age, job = (opendp.equal_cells(attribute) for attribute in SCHEMA.attributes)
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
    method = opendp.OpenDP("aim", delta=delta, settings={"steps": 7}, limit=9)
    rows, seconds = method.publish(ROWS, SCHEMA, "0.5", 1, Path("python"))
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
