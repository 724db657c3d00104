"""AIM and MST of OpenDP 0.16, in an environment and process of their own.

OpenDP asks for keys and cuts. Numbers are cut into 32 equal cells with the lowest code apart, which
looks at no data. Estimation is that of mbi (Private-PGM). With a delta of 0 the noise is Laplace,
else Gaussian.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import KW_ONLY, dataclass, field
from fractions import Fraction
from pathlib import Path
from typing import Any, Literal

import numpy as np
import pyarrow as pa
from pyarrow import csv

from hedgerow.arrays import Ints
from hedgerow.estimate.synthesize import values_of
from hedgerow.experiments.baselines import apart
from hedgerow.experiments.baselines.apart import run_apart
from hedgerow.privacy.budget import Budget, Number, rho_of_epsilon
from hedgerow.schema import Attribute, Categorical, Schema
from hedgerow.table import read

__all__ = ["OpenDP", "equal_cells", "install"]

PACKAGE = "opendp[mbi]==0.16.0"
PYTHONS = ((3, 12), (3, 13))
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
            "opendp_runner.py", job, pa.table(inside), decode, package=PACKAGE, python=python
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


def install(folder: Path) -> Path:
    """Makes an environment with OpenDP if need be, and returns its interpreter; see `apart`."""
    return apart.install(folder, f"{PACKAGE} pandas scikit-learn", PYTHONS)
