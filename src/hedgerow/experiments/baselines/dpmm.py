"""AIM, MST and PrivBayes of the package dpmm 0.1.9, in an environment and process of their own.

dpmm pins old versions of NumPy and pandas, so it cannot live beside us: `install` makes an
environment for it, and `Dpmm.publish` runs `dpmm_runner.py` there. AIM can take hours unless
`settings` bound its model, as `AIM_FINISHES` does. Their guarantee is (epsilon,
delta) with a delta above 0, where ours is pure; a tenth of epsilon finds the bins of numeric
attributes.
"""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import tempfile
from collections.abc import Mapping
from dataclasses import KW_ONLY, dataclass, field
from pathlib import Path
from typing import Any, Literal

import pyarrow as pa
import pyarrow.compute as pc
from pyarrow import csv

from hedgerow.errors import UsageError
from hedgerow.schema import Numeric, Schema

__all__ = ["AIM_FINISHES", "Dpmm", "Unfinished", "find_python", "install"]

PACKAGE = "dpmm==0.1.9"
PYTHONS = ((3, 10), (3, 11))  # the versions that dpmm can be installed in
AIM_FINISHES: Mapping[str, Any] = {"max_model_size": 1, "gen_kwargs": {"n_iters": 100}}
"""The megabytes of its model, and the steps of its estimation in each round."""


class Unfinished(UsageError):
    """A method did not finish within the CPU seconds that it was given."""


@dataclass(frozen=True)
class Dpmm:
    """A method of dpmm.

    Args:
        method: "aim", "mst" or "privbayes".
        delta: The delta of its guarantee.
        settings: Arguments of dpmm's pipeline that are not its defaults.
        limit: After how many CPU seconds it is given up; not on Windows.

    Example:
        >>> Dpmm("mst").delta
        1e-09
    """

    method: Literal["aim", "mst", "privbayes"]
    _: KW_ONLY
    delta: float = 1e-9
    settings: Mapping[str, Any] = field(default_factory=dict)
    limit: int | None = field(default=None, kw_only=True)

    def publish(
        self, rows: pa.Table, schema: Schema, epsilon: float, seed: int, python: Path
    ) -> tuple[pa.Table, float]:
        """Simulated rows, as many as were given, and the CPU seconds they took.

        Args:
            rows: The raw rows, with the columns of the schema.
            schema: The public schema.
            epsilon: The whole epsilon.
            seed: For the same rows again; such a run is not private.
            python: The interpreter of the environment with dpmm.

        Raises:
            Unfinished: If it was given up.
        """
        with tempfile.TemporaryDirectory() as folder:
            paths = {name: str(Path(folder) / name) for name in ("rows", "made", "cost")}
            names = [*(a.name for a in schema.attributes)]
            if schema.target is not None:
                names.append(schema.target.name)
            csv.write_csv(rows.select(names), paths["rows"])
            job = {
                **paths, "method": self.method, "epsilon": epsilon, "delta": self.delta,
                "seed": seed, "number": len(rows), "limit": self.limit,
                "settings": dict(self.settings), **_domain(schema),
            }  # fmt: skip
            task = Path(folder) / "job.json"
            task.write_text(json.dumps(job), encoding="utf-8")
            runner = Path(__file__).parent / "dpmm_runner.py"
            # no threads, since CPU time is compared
            alone = {**os.environ, "OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1"}
            # -I: neither our own packages nor the folder of the runner, where this file lies
            words = [str(python), "-I", str(runner), str(task)]
            done = subprocess.run(words, env=alone, capture_output=True, text=True, check=False)
            if self.limit is not None and done.returncode == -signal.SIGXCPU:
                raise Unfinished(f"{self.method} did not finish within {self.limit} CPU seconds.")
            if done.returncode:
                last = done.stderr.strip().splitlines()[-1:] or ["no message"]
                raise UsageError(
                    f"{self.method} of dpmm did not finish: {last[0]}",
                    hint=f"Is {PACKAGE} installed for {python}?",
                )
            cost = json.loads(Path(paths["cost"]).read_text(encoding="utf-8"))
            return _read(Path(paths["made"]), schema), float(cost["cpu_seconds"])


def find_python(folder: Path) -> Path | None:
    """The interpreter of an environment in a folder, if there is one."""
    for place in ("bin/python", "Scripts/python.exe"):
        if (folder / place).exists():
            return folder / place
    return None


def install(folder: Path, package: str = PACKAGE) -> Path:
    """Makes an environment with a package in a folder if need be, and returns its interpreter.

    Raises:
        UsageError: If this Python is too new for the package, or it cannot be installed.
    """
    found = find_python(folder)
    if found is None:
        if sys.version_info[:2] not in PYTHONS:
            raise UsageError(
                f"{package} needs Python 3.10 or 3.11.",
                hint=f"Make an environment of such a Python in {folder}, and install it there.",
            )
        subprocess.run([sys.executable, "-m", "venv", folder], check=True)
        found = find_python(folder)
        assert found is not None
    words = [str(found), "-I", "-c", f"import {package.partition('==')[0]}"]
    known = subprocess.run(words, capture_output=True, check=False)
    if known.returncode:
        words = [str(found), "-m", "pip", "install", "--quiet", package]
        done = subprocess.run(words, capture_output=True, text=True, check=False)
        if done.returncode:
            raise UsageError(
                f"{package} cannot be installed here.",
                hint="Is there a network, or an index of packages?",
            )
    return found


def _domain(schema: Schema) -> dict[str, Any]:
    """What is publicly known, in dpmm's words."""
    domain: dict[str, Any] = {}
    categorical = []
    for attribute in (*schema.attributes, *([schema.target] if schema.target else [])):
        if isinstance(attribute, Numeric):
            domain[attribute.name] = {
                "lower": float(attribute.low), "upper": float(attribute.high),
            }  # fmt: skip
        else:
            categorical.append(attribute.name)
            domain[attribute.name] = {"categories": list(attribute.taxonomy.leaves)}
    return {"domain": domain, "categorical": categorical}


def _read(path: Path, schema: Schema) -> pa.Table:
    """The synthetic rows, with numbers put onto the schema's grid.

    Rare values that a model has merged come back as gaps; rows with gaps are left out.
    """
    kinds: dict[str, pa.DataType] = {}
    for attribute in schema.attributes:
        kinds[attribute.name] = pa.float64() if isinstance(attribute, Numeric) else pa.string()
    if schema.target is not None:
        kinds[schema.target.name] = pa.string()
    options = csv.ConvertOptions(column_types=kinds, strings_can_be_null=True)
    rows = csv.read_csv(path, convert_options=options)
    columns = {}
    for name, column in zip(rows.column_names, rows.columns, strict=True):
        grid = next((a for a in schema.attributes if a.name == name), None)
        if isinstance(grid, Numeric) and grid.kind == "integer":
            whole = pc.round(column).cast(pa.int64())
            low, high = pa.scalar(int(grid.low)), pa.scalar(int(grid.high))
            column = pc.max_element_wise(pc.min_element_wise(whole, high), low)
        columns[name] = column
    return pa.table(columns).drop_null()
