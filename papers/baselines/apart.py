"""Methods of other packages, each in an environment and a process of its own.

Such packages pin versions that cannot live beside ours. `install` makes an environment, and
`run_apart` runs a script of this folder in it that imports nothing of hedgerow.

AIM, MST and PrivBayes of dpmm 0.1.9 (`Dpmm`): AIM can take hours unless `settings` bound its model,
as `AIM_FINISHES` does. Their guarantee is (epsilon, delta) with a delta above 0, where ours is
pure; a tenth of epsilon finds the bins of numeric attributes.

AIM and MST of OpenDP 0.16 (`OpenDP`), which asks for keys and cuts. Numbers are cut into 32 equal
cells with the lowest code apart, which looks at no data. Estimation is that of mbi (Private-PGM).
With a delta of 0 the noise is Laplace, else Gaussian.
"""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import tempfile
from collections.abc import Callable, Mapping
from dataclasses import KW_ONLY, dataclass, field
from fractions import Fraction
from pathlib import Path
from typing import Any, Literal

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from pyarrow import csv

from hedgerow.arrays import Ints
from hedgerow.data import read
from hedgerow.errors import UsageError
from hedgerow.estimate.cells import values_of
from hedgerow.privacy.budget import Budget, Number, rho_of_epsilon
from hedgerow.schema import Attribute, Categorical, Numeric, Schema

__all__ = [
    "AIM_FINISHES", "DPMM", "OPENDP", "Dpmm", "OpenDP", "Package", "Unfinished", "equal_cells",
    "find_python", "install", "run_apart",
]  # fmt: skip


class Unfinished(UsageError):
    """A method did not finish within the CPU seconds that it was given."""


@dataclass(frozen=True)
class Package:
    """A package with an environment of its own.

    Args:
        name: What pip is asked for.
        pythons: The versions of Python that it can be installed in.
        beside: What else it needs there.
    """

    name: str
    pythons: tuple[tuple[int, int], ...] = ((3, 10), (3, 11))
    beside: str = ""


DPMM = Package("dpmm==0.1.9")
OPENDP = Package("opendp[mbi]==0.16.0", ((3, 12), (3, 13)), "pandas scikit-learn")


def run_apart(
    runner: str,
    job: Mapping[str, Any],
    rows: pa.Table,
    read: Callable[[Path], pa.Table],
    *,
    package: Package,
    python: Path,
) -> tuple[pa.Table, float]:
    """Simulated rows, and the CPU seconds they took.

    Args:
        runner: The script of this folder.
        job: What it is told: the `method`, the `limit` of CPU seconds (None for none; not on
            Windows), and what else it needs. Added are the files with the raw rows (`rows`), for
            the rows it makes (`made`) and for its CPU seconds (`cost`).
        rows: The raw rows.
        read: Reads the rows that were made.
        package: What must be installed.
        python: The interpreter of the environment that has it.

    Raises:
        Unfinished: If it was given up.
    """
    with tempfile.TemporaryDirectory() as folder:
        paths = {name: str(Path(folder) / name) for name in ("rows", "made", "cost")}
        csv.write_csv(rows, paths["rows"])
        task = Path(folder) / "job.json"
        task.write_text(json.dumps({**paths, **job}), encoding="utf-8")
        # no threads, since CPU time is compared
        alone = {
            **os.environ, "OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1",
            "XLA_FLAGS": "--xla_cpu_multi_thread_eigen=false intra_op_parallelism_threads=1",
        }  # fmt: skip
        # -I: neither our own packages nor the folder of the runner, where this file lies
        words = [str(python), "-I", str(Path(__file__).parent / runner), str(task)]
        done = subprocess.run(words, env=alone, capture_output=True, text=True, check=False)
        if job["limit"] is not None and done.returncode == -signal.SIGXCPU:
            raise Unfinished(f"{job['method']} did not finish within {job['limit']} CPU seconds.")
        if done.returncode:
            last = done.stderr.strip().splitlines()[-1:] or ["no message"]
            raise UsageError(
                f"{job['method']} of {package.name} did not finish: {last[0]}",
                hint=f"Is {package.name} installed for {python}?",
            )
        cost = json.loads(Path(paths["cost"]).read_text(encoding="utf-8"))
        return read(Path(paths["made"])), float(cost["cpu_seconds"])


def find_python(folder: Path) -> Path | None:
    """The interpreter of an environment in a folder, if there is one."""
    for place in ("bin/python", "Scripts/python.exe"):
        if (folder / place).exists():
            return folder / place
    return None


def install(folder: Path, package: Package = DPMM) -> Path:
    """Makes an environment with a package in a folder if need be, and returns its interpreter.

    Args:
        folder: Where it is, or is to be.
        package: What is installed there.

    Raises:
        UsageError: If this Python is none that it runs in, or it cannot be installed.
    """
    python, name = find_python(folder), package.name
    if python is None:
        if sys.version_info[:2] not in package.pythons:
            fitting = " or ".join(f"{major}.{minor}" for major, minor in package.pythons)
            raise UsageError(
                f"{name} needs Python {fitting}.",
                hint=f"Make an environment of such a Python in {folder}, and install it there.",
            )
        subprocess.run([sys.executable, "-m", "venv", folder], check=True)
        python = find_python(folder)
        assert python is not None
    words = [str(python), "-I", "-c", f"import {name.partition('==')[0].partition('[')[0]}"]
    if subprocess.run(words, capture_output=True, check=False).returncode:
        words = [str(python), "-m", "pip", "install", "--quiet", name, *package.beside.split()]
        if subprocess.run(words, capture_output=True, check=False).returncode:
            raise UsageError(
                f"{name} cannot be installed here.",
                hint="Is there a network, or an index of packages?",
            )
    return python


AIM_FINISHES: Mapping[str, Any] = {"max_model_size": 1, "gen_kwargs": {"n_iters": 100}}
"""The megabytes of its model, and the steps of its estimation in each round."""


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
        names = [*(a.name for a in schema.attributes)]
        if schema.target is not None:
            names.append(schema.target.name)
        job = {
            "method": self.method, "epsilon": epsilon, "delta": self.delta, "seed": seed,
            "number": len(rows), "limit": self.limit, "settings": dict(self.settings),
            **_domain(schema),
        }  # fmt: skip
        return run_apart(
            "dpmm_runner.py", job, rows.select(names), lambda made: _read(made, schema),
            package=DPMM, python=python,
        )  # fmt: skip


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


CELLS = 32  # of a number, besides its lowest code
DEFAULTS: Mapping[str, Any] = {"estimator": "mirror_descent", "steps": 1000}


@dataclass(frozen=True)
class OpenDP:
    """A method of OpenDP.

    Args:
        method: "aim" or "mst".
        delta: The delta of its guarantee; 0 for pure epsilon.
        settings: Arguments of the method, and `estimator` and `steps` of mbi's estimation.
        limit: After how many CPU seconds it is given up; not on Windows.

    Example:
        >>> OpenDP("mst").delta
        0
    """

    method: Literal["aim", "mst"]
    _: KW_ONLY
    delta: Number = 0
    settings: Mapping[str, Any] = field(default_factory=dict)
    limit: int | None = None

    def publish(
        self, rows: pa.Table, schema: Schema, epsilon: Number, seed: int, python: Path
    ) -> tuple[pa.Table, float]:
        """Simulated rows, as many as were given, and the CPU seconds they took.

        Args:
            rows: The raw rows, with the columns of the schema.
            schema: The public schema.
            epsilon: The whole epsilon.
            seed: Of the values inside cells; the noise is OpenDP's own and cannot be repeated.
            python: The interpreter of the environment with OpenDP.

        Raises:
            Unfinished: If it was given up.
        """
        budget = Budget.of(epsilon, self.delta)
        cells = [equal_cells(attribute) for attribute in schema.columns]
        codes = read(rows, schema).codes
        names = [f"c{place}" for place in range(len(cells))]
        job = {
            "method": self.method, "number": len(rows), "limit": self.limit,
            "budget": _spent(budget), "settings": {**DEFAULTS, **self.settings},
            "cells": {n: int(cell[-1]) + 1 for n, cell in zip(names, cells, strict=True)},
        }  # fmt: skip
        inside = {
            name: cell[codes[:, place]]
            for place, (name, cell) in enumerate(zip(names, cells, strict=True))
        }
        random = np.random.default_rng(seed)

        def decode(made: Path) -> pa.Table:
            # a gap is a cell that OpenDP adds for unknown values, and that noise may fill
            kinds = csv.ConvertOptions(column_types=dict.fromkeys(names, pa.int64()))
            drawn = csv.read_csv(made, convert_options=kinds).drop_null()
            columns = {}
            for name, attribute, cell in zip(names, schema.columns, cells, strict=True):
                start = np.flatnonzero(np.diff(cell, prepend=-1))
                width = np.diff(np.append(start, len(cell)))
                chosen = drawn[name].to_numpy()
                code = start[chosen] + (random.random(len(chosen)) * width[chosen]).astype(np.int64)
                columns[attribute.name] = values_of(attribute, code, random)
            return pa.table(columns)

        return run_apart(
            "opendp_runner.py", job, pa.table(inside), decode, package=OPENDP, python=python
        )


def _spent(budget: Budget) -> dict[str, float]:
    """The budget in OpenDP's words; never above the budget."""
    if not budget.delta:
        return {"epsilon": float(budget.epsilon)}
    rho = rho_of_epsilon(Fraction(budget.epsilon), Fraction(budget.delta))
    return {"rho": float(np.nextafter(float(rho), 0))}


def equal_cells(attribute: Attribute) -> Ints:
    """The cell of each code: a value, or one of 32 equal parts with the lowest code apart."""
    if isinstance(attribute, Categorical):
        return np.arange(attribute.size)
    grid, size = attribute.grid, attribute.size
    if grid <= CELLS:
        return np.arange(size)
    parts = np.arange(1, CELLS) * grid // CELLS
    edges = np.unique(np.concatenate([[1], parts, np.arange(grid, size)]))
    return np.searchsorted(edges, np.arange(size), side="right")
