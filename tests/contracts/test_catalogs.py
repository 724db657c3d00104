"""Files for catalogs pass the validators of their formats, and these notice what is wrong."""

from __future__ import annotations

import json
import shutil
import subprocess
import zipfile
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

import hedgerow as hr
from hedgerow import sample
from hedgerow.errors import ReleaseError, UsageError
from hedgerow.present.catalog import Listing, catalog, open_answers, write_archive
from hedgerow.release import Release
from hedgerow.sample.survey import shop_schema, transactions
from hedgerow.schema import Metadata

ROOT = Path(__file__).parents[2]
PYTHON = ROOT / ".venv-validators" / "bin" / "python"
ABOUT = Metadata(
    institution="St Anne", contact="data@stanne.example", license="CC BY 4.0", period="2024"
)
CATEGORY = "https://data.example.org/categories/EHRS"
LISTING = Listing(url="https://data.example.org/clinic/", published="2026-01-31")
HEALTH = replace(LISTING, health=CATEGORY)

needs_validators = pytest.mark.skipif(
    not PYTHON.exists(), reason="no validators: make .venv-validators/made"
)


@pytest.fixture(scope="module")
def releases() -> dict[str, Release]:
    people, schema = sample.people(400, seed=3), sample.schema()
    baskets = pa.table({"items": transactions(300, seed=1)})
    stated = replace(schema, metadata=ABOUT)
    return {
        "marginals": hr.publish(people, stated, epsilon=1),
        "table": hr.publish(people, schema, "diffgen", epsilon=1),
        "rows": hr.publish(people, stated, hr.Supermodular(), epsilon=4, delta="1e-6"),
        "transactions": hr.publish(baskets, shop_schema(), epsilon=1),
    }


def write(release: Release, listing: Listing, folder: Path) -> Path:
    folder.mkdir(exist_ok=True)
    files = catalog(release, hr.verify(release), listing)
    write_archive(files, folder / "catalog.zip")
    with zipfile.ZipFile(folder / "catalog.zip") as archive:
        archive.extractall(folder / "files")
    return folder / "files"


def shift(name: str, change: Callable[[Any], object]) -> Callable[[Path], None]:
    def shifted(folder: Path) -> None:
        document = json.loads((folder / name).read_text("utf-8"))
        change(document)
        (folder / name).write_text(json.dumps(document), "utf-8")

    return shifted


def spoil_cell(folder: Path) -> None:
    path = folder / "tables" / "readmitted.csv"
    lines = path.read_text("utf-8").splitlines()
    lines[1] = lines[1].replace(lines[1].split(",")[1], "many")
    path.write_text("\n".join(lines) + "\n", "utf-8")


KINDS = {"marginals": HEALTH, "table": Listing(), "rows": LISTING, "transactions": Listing()}
BREAKS = (
    spoil_cell,  # of both CSV on the Web and Data Package
    shift("croissant.json", lambda it: it["recordSet"][0]["field"][0].pop("dataType")),
    shift("dcat.jsonld", lambda it: it["dcat:distribution"][0].pop("dcat:accessURL")),
)


@pytest.fixture(scope="module")
def faults(
    releases: dict[str, Release], tmp_path_factory: pytest.TempPathFactory
) -> dict[str, list[str]]:
    """What validators say of every kind, and of one that is broken, all asked at once."""
    root = tmp_path_factory.mktemp("catalogs")
    folders = {kind: write(releases[kind], KINDS[kind], root / kind) for kind in KINDS}
    folders["broken"] = root / "broken"
    shutil.copytree(folders["marginals"], folders["broken"])
    for spoil in BREAKS:
        spoil(folders["broken"])
    script = ROOT / "tests" / "validators" / "validate.py"
    done = subprocess.run(
        [PYTHON, script, *folders.values()],
        capture_output=True, text=True, check=False, timeout=300,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    lines: dict[str, list[str]] = {name: [] for name in folders}
    for line in done.stdout.splitlines():
        number, _, fault = line.partition(": ")
        lines[[*folders][int(number)]].append(fault)
    return lines


@needs_validators
@pytest.mark.slow
@pytest.mark.parametrize("kind", KINDS)
def test_every_kind_passes(faults: dict[str, list[str]], kind: str) -> None:
    assert faults[kind] == []


@needs_validators
@pytest.mark.slow
def test_validators_notice_what_is_wrong(faults: dict[str, list[str]]) -> None:
    formats = {line.partition(":")[0] for line in faults["broken"]}
    assert formats == {"csvw", "frictionless", "croissant", "dcat"}


def test_the_archive_holds_the_release_s_own_tables(
    releases: dict[str, Release], tmp_path: Path
) -> None:
    release = releases["marginals"]
    release.save(tmp_path / "release")
    files = write(release, LISTING, tmp_path)
    for path in (tmp_path / "release" / "tables").glob("*.csv"):
        assert (files / "tables" / path.name).read_bytes() == path.read_bytes()
    words = (files / "data-dictionary.csv").read_text("utf-8").splitlines()
    assert words[1].startswith("age,number,18,99,1,82,")
    assert "home,Ashmoor Town,Ashmoor" in (files / "values.csv").read_text("utf-8").splitlines()


def test_what_is_open_is_named(releases: dict[str, Release]) -> None:
    assert open_answers(releases["marginals"], LISTING) == []
    assert open_answers(releases["table"], Listing()) == [
        "metadata: institution", "metadata: contact", "metadata: license", "--url",
    ]  # fmt: skip
    for kind, listing in (("table", HEALTH), ("marginals", Listing(health=CATEGORY))):
        with pytest.raises(UsageError, match="publisher"):
            catalog(releases[kind], hr.verify(releases[kind]), listing)


@pytest.mark.parametrize("address", ["clinic", "file:///etc/passwd", "https://a b", "https://[x"])
def test_an_address_is_one_of_the_web(address: str) -> None:
    with pytest.raises(UsageError, match="web address"):
        Listing(url=address)


def test_a_test_release_has_none() -> None:
    release = hr.publish(sample.people(200, seed=3), sample.schema(), epsilon=1, seed=5)
    with pytest.raises(ReleaseError, match="seed"):
        catalog(release, hr.verify(release), Listing())
