"""What a consumer writes; `make dist` checks it by `mypy --strict` against the installed wheel."""

from __future__ import annotations

from fractions import Fraction
from pathlib import Path

import numpy as np
import numpy.typing as npt

import hedgerow as hr
from hedgerow.errors import BudgetError, HedgerowError
from hedgerow.sklearn import RegionClassifier, Synthesizer

Numbers = npt.NDArray[np.float64]


def published(data: Path, folder: Path) -> hr.Release:
    schema: hr.Schema = hr.Schema.load(folder / "schema.yaml")
    for epsilon in (1, 0.5, "1/3", Fraction(1, 3), np.float64(0.1)):
        hr.publish(data, schema, epsilon=epsilon)
    hr.publish(data, folder / "schema.yaml", "diffgen", 1, "1e-9")
    hr.publish(data, {"name": "people", "unit": "row"}, hr.DiffGen)
    method = hr.DiffMulti(depth=4)
    method.plan(schema, epsilon=1)
    try:
        return hr.publish(
            data, schema, method, 1, seed=np.int64(3), out=folder / "release", overwrite=True
        )
    except BudgetError as error:
        raise SystemExit(f"{error.message} {error.hint or ''}") from error
    except HedgerowError as error:
        raise SystemExit(error.exit_code) from None


def asked(folder: Path) -> tuple[float, Numbers]:
    release = hr.Release.load(folder, kind="pandas")
    table: hr.TableRelease = hr.TableRelease.load(folder)
    regions: int = len(table.regions)
    answers = release.count(["age in [30, 50]", "smoker = yes"], level=0.9)
    widths: Numbers = answers.high - answers.low
    first: float = float(answers.estimate[0])
    counts = release.table("age", "smoker", share=True, simultaneous=True, bins={"age": [0, 50]})
    lines: int = len(counts)
    release.synthesize(100, seed=1)
    release.save(folder / "copy")
    sound: bool = bool(hr.verify(folder, raise_on_failure=True))
    return (first if sound else float(regions + lines)), widths


def learnt(features: Numbers, labels: npt.NDArray[np.str_]) -> object:
    model: RegionClassifier = RegionClassifier(epsilon=1, bounds=(0, 100), classes=["no", "yes"])
    fitted: RegionClassifier = model.fit(features, labels)
    made: Synthesizer = Synthesizer(epsilon="0.5", bounds=[(0, 1), (0, 2)]).fit(features)
    return fitted.predict(features), made.sample(10, seed=2)
