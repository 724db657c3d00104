"""Two verifiers that share no code agree on every golden folder and on forgeries of them."""

from __future__ import annotations

import functools
import hashlib
import json
import shutil
import sys
from collections.abc import Callable
from dataclasses import replace
from importlib import util
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import hedgerow as hr
from hedgerow.estimate.answers import Answers, reliability
from hedgerow.estimate.partition import csv_blocks

ROOT = Path(__file__).parents[2]
GOLDEN = ROOT / "tests" / "golden"
FOLDERS = sorted(path.parent.name for path in GOLDEN.glob("*/manifest.json"))
FILE = ROOT / "verifier" / "verify_release.py"

_spec = util.spec_from_file_location("verify_release", FILE)
assert _spec is not None and _spec.loader is not None
second = util.module_from_spec(_spec)
sys.modules["verify_release"] = second
_spec.loader.exec_module(second)

Manifest = dict[str, Any]
Forge = Callable[[Manifest, Path], None]
Copy = Callable[[str, Path], tuple[Path, Manifest]]


def both(folder: Path) -> tuple[bool, bool]:
    try:
        first = bool(hr.verify(folder))
    except hr.errors.ReleaseError:  # there is no manifest that could be read
        first = False
    return first, all(ok for _, ok, _ in second.verify(folder))


def write(folder: Path, manifest: Manifest) -> None:
    text = json.dumps(manifest, indent=2, ensure_ascii=False)
    (folder / "manifest.json").write_text(text + "\n", "utf-8")


@pytest.fixture(scope="module")
def copy_of(tmp_path_factory: pytest.TempPathFactory) -> Copy:
    """Copies golden folders that claim to come from a private run, as real ones would."""

    @functools.cache
    def private(name: str) -> Path:
        folder, release = tmp_path_factory.mktemp(name) / "release", hr.load(GOLDEN / name)
        replace(release, guarantee=release.guarantee | {"private": True}).save(folder)
        return folder

    def copy(name: str, to: Path) -> tuple[Path, Manifest]:
        folder = Path(shutil.copytree(private(name), to / "release"))
        return folder, json.loads((folder / "manifest.json").read_text("utf-8"))

    return copy


@pytest.mark.parametrize("name", FOLDERS)
def test_both_hold_golden_folders(name: str, copy_of: Copy, tmp_path: Path) -> None:
    assert both(GOLDEN / name) == (False, False)  # runs with a seed
    assert both(copy_of(name, tmp_path)[0]) == (True, True)


def entry(purpose: str, units: int) -> Forge:
    def forge(manifest: Manifest, _: Path) -> None:
        next(e for e in manifest["ledger"]["entries"] if e["purpose"] == purpose)["units"] += units

    return forge


def numbers(change: Callable[[pa.Table], pa.Table], name: str = "measurements.parquet") -> Forge:
    def forge(manifest: Manifest, folder: Path) -> None:
        pq.write_table(change(pq.read_table(folder / name)), folder / name)

    return forge


def put(*place: Any) -> Forge:
    *keys, last, value = place

    def forge(manifest: Manifest, _: Path) -> None:
        at: Any = manifest
        for key in keys:
            at = at[key]
        at[last] = value

    return forge


def text(name: str, old: str, new: str) -> Forge:
    def forge(_: Manifest, folder: Path) -> None:
        said = (folder / name).read_text("utf-8")
        assert old in said
        (folder / name).write_text(said.replace(old, new, 1), "utf-8")

    return forge


def column(name: str, change: Callable[[Any], Any]) -> Callable[[pa.Table], pa.Table]:
    def make(table: pa.Table) -> pa.Table:
        place, kind = table.column_names.index(name), table.schema.field(name).type
        values = pa.array([change(value) for value in table[name].to_pylist()], kind)
        return table.set_column(place, name, values)

    return make


def lose(name: str) -> Forge:
    return lambda _, folder: (folder / name).unlink()


def other_file(_: Manifest, folder: Path) -> None:
    (folder / "tables" / "people.csv").write_text("name\nAda\n", "utf-8")


def listed_file(manifest: Manifest, folder: Path) -> None:
    (folder / "people.csv").write_text("name\nAda\n", "utf-8")
    manifest["files"]["people.csv"] = ""


def link(_: Manifest, folder: Path) -> None:
    (folder / "README.md").unlink()
    (folder / "README.md").symlink_to(folder / "manifest.json")


def domain(manifest: Manifest, _: Path) -> None:
    manifest["schema"]["name"] += " of others"


def table(name: str, change: Callable[[dict[str, Any]], dict[str, Any]]) -> Forge:
    """Other numbers in a table, in both of its forms."""

    def forge(_: Manifest, folder: Path) -> None:
        path = folder / "tables" / f"{name}.parquet"
        rows = pq.read_table(path)
        made = pa.Table.from_pylist([change(dict(row)) for row in rows.to_pylist()], rows.schema)
        pq.write_table(made, path)
        path.with_suffix(".csv").write_bytes(b"".join(csv_blocks(made)))

    return forge


def worth_of(row: dict[str, Any]) -> dict[str, Any]:
    """A row whose word is that of its numbers."""
    none = np.full(1, np.nan)
    numbers = {name: np.array([row[name]]) for name in ("estimate", "low", "high", "typical_error")}
    answers = Answers(
        noise=none, uniformity_low=none, uniformity_high=none, level=0.95,
        basis=np.array([row["basis"]]), **numbers,
    )  # fmt: skip
    return row | {"reliability": reliability(answers)[0]}


def described(manifest: Manifest, folder: Path) -> None:
    """A column of the first table is described by another name."""
    path = folder / "tables-metadata.json"
    told = json.loads(path.read_text("utf-8"))
    told["tables"][0]["tableSchema"]["columns"][0]["name"] = "height"
    path.write_text(json.dumps(told), "utf-8")


FORGERIES: dict[str, tuple[str, Forge]] = {
    "a smaller epsilon": ("marginals-tuned-1", put("guarantee", "epsilon", "1/2")),
    "a smaller delta": ("marginals-tuned-1-delta", put("guarantee", "delta", "1/10000000")),
    "no delta": ("diffmulti-paper-1-delta", put("guarantee", "delta", "0")),
    "other accounting": ("marginals-tuned-1", put("guarantee", "accounting", "zcdp")),
    "another unit": ("marginals-tuned-1", put("guarantee", "neighbors", "replace one row")),
    "a draft that is hidden": ("marginals-tuned-1", put("guarantee", "began_as_draft", None)),
    "not private": ("marginals-tuned-1", put("guarantee", "private", False)),
    "nobody vouched": ("marginals-tuned-1", put("guarantee", "row_wise_query", False)),
    "fewer rows of a person": ("marginals-tuned-1-person", put("ledger", "person_rows", 1)),
    "a smaller budget": (
        "diffgen-tuned-1", put("ledger", "budgets", "epsilon", "unit", "1/200000"),
    ),
    "more units": ("diffgen-tuned-1", put("ledger", "budgets", "epsilon", "units", 200_000)),
    "a cheaper conversion": (
        "marginals-tuned-1-delta", put("ledger", "conversion", "epsilon", "1/2"),
    ),
    "another delta converted": (
        "marginals-tuned-1-delta", put("ledger", "conversion", "delta", "1/10000000"),
    ),
    "finer noise": ("marginals-tuned-1", put("measurements", 1, "unit", "1/100")),
    "finer noise in rho": ("marginals-tuned-1-delta", put("measurements", 1, "unit", "1/1048576")),
    "coarser noise": ("diffgen-tuned-1", put("measurements", 1, "unit", "1/100000")),
    "a record counts less": ("diffpart-tuned-3", put("measurements", 1, "max_contribution", 1)),
    "a law that is not known": ("marginals-tuned-1", put("measurements", 1, "law", "none")),
    "a count that is not known": ("marginals-tuned-1", put("measurements", 1, "name", "exact")),
    "a cheaper entry": ("diffmulti-tuned-1", entry("leaf", -500)),
    "a dearer entry": ("diffgen-tuned-1", entry("leaf", 7)),
    "fewer leaves": ("diffmulti-tuned-1", put("ledger", "paths", 0, "leaves", 9)),
    "a path that spends more": (
        "diffmulti-tuned-1", put("ledger", "paths", 0, "spent", "epsilon", "leaf", 99_000),
    ),
    "a lower threshold": ("supermodular-tuned-1", put("ledger", "suppression", "threshold", 1)),
    "more are sampled": (
        "supermodular-tuned-1-sampled", put("ledger", "suppression", "sampling_rate", "3/5"),
    ),
    "another schema": ("marginals-tuned-1", domain),
    "another format": ("marginals-tuned-1", put("format_version", 3)),
    "a kind that is not known": ("marginals-tuned-1", put("kind", "mystery")),
    "a new entry": ("marginals-tuned-1", put("exact_rows", 1000)),
    "a lost file": ("marginals-tuned-1", lose("rows.parquet")),
    "a lost table": ("marginals-tuned-1", lose("tables/age.csv")),
    "a stranger's file": ("marginals-tuned-1", other_file),
    "a file that is listed": ("marginals-tuned-1", listed_file),
    "a link": ("marginals-tuned-1", link),
    "units of a number": (
        "diffmulti-tuned-1", numbers(column("units", lambda value: value * 2)),
    ),
    "regions that overlap": (
        "diffmulti-tuned-1",
        numbers(column("lo", lambda codes: [max(0, c - 1) for c in codes]), "partition.parquet"),
    ),
    "other labels in CSV": ("marginals-tuned-1", text("tables/ill.csv", "yes", "no")),
    "other numbers in CSV": ("diffmulti-tuned-1", text("tables/ill.csv", "yes,", "yes,1")),
    "other numbers in both": (
        "marginals-tuned-1",
        numbers(column("estimate", lambda value: value * 2), "tables/ill.parquet"),
    ),
    "lower ends above estimates": (
        "marginals-tuned-1", table("job__ill", lambda row: row | {"low": row["low"] + 40}),
    ),
    "upper ends below estimates": (
        "diffmulti-tuned-1", table("ill", lambda row: row | {"high": row["high"] - 60}),
    ),
    "half the typical error": (
        "marginals-tuned-1",
        table("age__ill", lambda row: row | {"typical_error": row["typical_error"] / 2}),
    ),
    "all is good": (
        "marginals-tuned-1", table("age__ill", lambda row: row | {"reliability": "good"}),
    ),
    "a smaller epsilon on the page": (
        "marginals-tuned-1", text("README.md", "psilon 1", "psilon 0.01"),
    ),
    "a higher level on the page": (
        "marginals-tuned-1", text("README.md", "least 95%", "least 99.9%"),
    ),
    "a smaller epsilon of the tables": (
        "diffgen-tuned-1", text("tables-metadata.json", "epsilon 1", "epsilon 0.01"),
    ),
    "a column of another name": ("marginals-tuned-1", described),
    "a table of the page": (
        "marginals-tuned-1", text("README.md", "tables/ill.csv", "tables/ail.csv"),
    ),
    "no settings": ("marginals-tuned-1", put("settings", {})),
    "another method": ("marginals-tuned-1", put("method", "diffmulti")),
    "other ages": (
        "marginals-tuned-1", numbers(column("age", lambda age: (age + 1) % 40), "rows.parquet"),
    ),
    "other ages in regions": (
        "diffmulti-tuned-1", numbers(column("age", lambda age: (age + 1) % 40), "rows.parquet"),
    ),
    "other weights": (
        "marginals-tuned-1", numbers(column("weight", lambda value: value * 2), "rows.parquet"),
    ),
}  # fmt: skip


def forged(forgery: tuple[str, Forge], copy_of: Copy, to: Path) -> Path:
    """A forged copy of a golden folder, whose forger knows how to hash."""
    name, forge = forgery
    folder, manifest = copy_of(name, to)
    forge(manifest, folder)
    for file in manifest["files"]:
        if (folder / file).is_file():
            found = hashlib.sha256((folder / file).read_bytes()).hexdigest()
            manifest["files"][file] = found
    write(folder, manifest)
    return folder


@pytest.mark.parametrize("forgery", FORGERIES)
def test_both_see_a_forgery(forgery: str, copy_of: Copy, tmp_path: Path) -> None:
    assert both(forged(FORGERIES[forgery], copy_of, tmp_path)) == (False, False)


UNSEEN: dict[str, tuple[str, Forge]] = {
    "narrower intervals": (
        "marginals-tuned-1",
        table("job", lambda row: row | {"low": row["low"] + 3, "high": row["high"] - 3}),
    ),
    "smaller errors, with their words": (
        "marginals-tuned-1",
        table("job__ill", lambda row: worth_of(row | {"typical_error": row["typical_error"] / 4})),
    ),
}  # fmt: skip
"""What takes the model and its intervals, which the second verifier does not compute."""


@pytest.mark.parametrize("forgery", UNSEEN)
def test_the_first_alone_computes_intervals_and_errors(
    forgery: str, copy_of: Copy, tmp_path: Path
) -> None:
    assert both(forged(UNSEEN[forgery], copy_of, tmp_path)) == (False, True)


def test_every_byte_that_changes_is_seen(copy_of: Copy, tmp_path: Path) -> None:
    folder, manifest = copy_of("diffmulti-tuned-1", tmp_path)
    for file in manifest["files"]:
        whole = (folder / file).read_bytes()
        (folder / file).write_bytes(whole[:-1] + bytes([whole[-1] ^ 1]))
        assert not all(ok for _, ok, _ in second.verify(folder))
        (folder / file).write_bytes(whole)
    assert both(folder) == (True, True)


def test_it_is_one_small_file_that_needs_pyarrow_alone() -> None:
    lines = FILE.read_text("utf-8").splitlines()
    imported = [
        line.split()[1].split(".")[0] for line in lines if line.startswith(("import ", "from "))
    ]
    assert len(lines) <= 400 and "hedgerow" not in imported
    assert set(imported) - set(sys.stdlib_module_names) == {"pyarrow"}


def test_terms_of_use_are_no_promises(tmp_path: Path) -> None:
    described = {"name": "old", "unit": "row", "attributes": {"old": {"type": "boolean"}}}
    for about in ({}, {"institution": "St Anne", "license": "half of it, 50%, epsilon 9.9."}):
        schema = hr.Schema.from_dict(described | {"metadata": about})
        hr.publish(
            pa.table({"old": [True] * 300}), schema, epsilon=1, out=tmp_path / str(len(about))
        )
        assert both(tmp_path / str(len(about))) == (True, True)
    plain, told = ((tmp_path / name / "README.md").read_text("utf-8") for name in "02")
    assert "\n- Ask whoever gave you this folder.\n" in plain
    assert "\n- Publisher: St Anne\n- License: half of it, 50&#37;, epsilon&#32;9.9.\n" in told
