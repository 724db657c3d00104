"""AIM, MST and PrivBayes of the package dpmm 0.1.9, in an environment and process of their own.

dpmm pins old versions of NumPy and pandas, so it cannot live beside us: `install` makes an
environment for it, and `Dpmm.publish` runs `dpmm_runner.py` there. AIM can take hours unless
`settings` bound its model, as `AIM_FINISHES` does. Their guarantee is (epsilon,
delta) with a delta above 0, where ours is pure; a tenth of epsilon finds the bins of numeric
attributes.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import KW_ONLY, dataclass, field
from pathlib import Path
from typing import Any, Literal

import pyarrow as pa
import pyarrow.compute as pc
from pyarrow import csv

from hedgerow.experiments.baselines import apart
from hedgerow.experiments.baselines.apart import Unfinished, find_python, run_apart
from hedgerow.schema import Numeric, Schema

__all__ = ["AIM_FINISHES", "Dpmm", "Unfinished", "find_python", "install"]

PACKAGE = "dpmm==0.1.9"
PYTHONS = ((3, 10), (3, 11))  # the versions that dpmm can be installed in
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
            package=PACKAGE, python=python,
        )  # fmt: skip


def install(folder: Path, package: str = PACKAGE) -> Path:
    """Makes an environment with dpmm, or another package for the same Pythons; see `apart`."""
    return apart.install(folder, package, PYTHONS)


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
