"""What is published without noise must follow from what has it."""

from __future__ import annotations

import hashlib
import json
import shutil
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from pyarrow import parquet

import hedgerow as hr
from hedgerow.release.manifest import package_version
from hedgerow.verification.class_rounds import check_logits
from hedgerow.verification.prices import Failed

GOLDEN = Path(__file__).parents[2] / "golden"
NAMES = ("diffmulti-tuned-3-marginals", "diffmulti-tuned-3-marginals-delta")


def changed(release: Any, name: str, logits: Any) -> Any:
    found = tuple(replace(m, logits=logits(m)) if m.name == name else m
                  for m in release.measurements)  # fmt: skip
    return replace(release, measurements=found)


@pytest.fixture(scope="module", params=NAMES)
def release(request: Any) -> Any:
    return hr.Release.load(GOLDEN / request.param)


def test_logits_are_computed_again(release: Any) -> None:
    assert "follows from the noisy numbers" in check_logits(release)


@pytest.mark.parametrize("name", ["leaf", "residual"])
def test_other_logits_are_found(release: Any, name: str) -> None:
    for where in (0, -1):

        def moved(m: Any, where: int = where) -> Any:
            other = m.logits.copy()
            other.flat[where] += 3
            return other

        with pytest.raises(Failed, match="do not follow"):
            check_logits(changed(release, name, moved))


def test_nothing_else_has_logits(release: Any) -> None:
    names = {m.name for m in release.measurements}
    for name in sorted(names - {"leaf", "residual"}):
        strange = changed(release, name, lambda m: np.full_like(m.values, 7))
        checks = {check.name: check for check in hr.verify(strange).checks}
        assert not checks["measurements"].ok and "logits" in checks["measurements"].words
    plain = hr.Release.load(GOLDEN / "diffmulti-tuned-3")
    with pytest.raises(Failed, match="no round"):
        check_logits(changed(plain, "leaf", lambda m: np.zeros_like(m.values)))


def test_items_have_no_logits() -> None:
    shop = hr.Release.load(GOLDEN / "diffpart-tuned-3")
    strange = changed(shop, "support", lambda m: np.full_like(m.values, 7))
    assert any("logits" in check.words for check in hr.verify(strange).checks if not check.ok)


@pytest.mark.parametrize("name", ["measurements.parquet", "partition.parquet"])
def test_a_file_that_holds_more_is_found(name: str, tmp_path: Path) -> None:
    folder = tmp_path / "r"
    shutil.copytree(GOLDEN / NAMES[0], folder)
    manifest = json.loads((folder / "manifest.json").read_text("utf-8"))
    manifest["package_version"] = package_version()
    rows = parquet.read_table(folder / name)
    parquet.write_table(rows.append_column("exact", pa.array([1] * len(rows))), folder / name)
    manifest["files"][name] = hashlib.sha256((folder / name).read_bytes()).hexdigest()
    (folder / "manifest.json").write_text(json.dumps(manifest), "utf-8")
    checks = {check.name: check for check in hr.verify(folder).checks}
    assert not checks["counts"].ok and name in checks["counts"].words
