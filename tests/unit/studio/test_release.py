"""Pages about releases of every kind, from the golden folders."""

from __future__ import annotations

import json
import os
import shutil
from pathlib import Path
from typing import Any

import pytest

import hedgerow as hr

GOLDEN = Path(__file__).parents[2] / "golden"
PAGES = ("", "/table", "/query", "/tree", "/rows", "/compare", "/evaluate", "/report", "/dossier")


def folders() -> list[str]:
    return sorted(path.parent.name for path in GOLDEN.glob("*/manifest.json"))


@pytest.fixture
def release(browser: Any) -> Any:
    """Puts a golden release into the folder of the studio."""

    def put(name: str) -> dict[str, str]:
        shutil.copytree(GOLDEN / name, browser.root / name)
        return {"release": name}

    return put


# one of each method, and of what changes the pages about it
KINDS = [
    "cdiffgen-tuned-1", "diffgen-tuned-1", "diffgen-tuned-1-sparse", "diffmulti-paper-1-delta",
    "diffpart-tuned-3", "diffpart-tuned-3-tree", "marginals-tuned-1-named",
    "marginals-tuned-1-person", "marginals-tuned-1-plain", "supermodular-tuned-1",
    "supermodular-tuned-1-sampled",
]  # fmt: skip
SHEETS = ["diffgen-tuned-1-sparse", "diffmulti-tuned-1", "diffpart-tuned-3",
          "marginals-tuned-1-named", "supermodular-tuned-1"]  # fmt: skip


@pytest.mark.slow
@pytest.mark.parametrize("name", KINDS)
def test_every_kind_of_release_has_its_pages(
    browser: Any, release: Any, told: Any, name: str
) -> None:
    at = release(name)
    for page in PAGES:
        shown = browser.get(f"/release{page}", params=at)
        assert shown.status_code == 200, (page, told(shown))
        if page not in ("/report", "/dossier"):
            assert " style=" not in shown.text
            assert "Public." in told(shown) or "CONFIDENTIAL: " in told(shown)


@pytest.mark.slow
@pytest.mark.parametrize("name", SHEETS)
def test_every_kind_of_release_can_be_had_as_a_workbook(
    browser: Any, release: Any, name: str
) -> None:
    found = browser.get("/release/download", params=release(name) | {"as": "workbook"})
    assert found.status_code == 200 and found.content.startswith(b"PK")
    assert f'filename="{name}.xlsx"' in found.headers["content-disposition"]


def test_releases_are_put_side_by_side(browser: Any, release: Any, told: Any) -> None:
    one, other = (release(name) for name in folders()[:2])
    page = browser.post("/release/compare", one | {"other": other["release"]})
    assert page.status_code == 200, told(page)
    assert "(best)" in told(page) or "epsilon" in told(page)
    assert f"hedgerow compare {one['release']} {other['release']}" in told(page)
    page = browser.post("/release/compare", one | {"other": "../elsewhere"})
    assert page.status_code == 404


def test_a_release_that_was_changed_is_not_opened(browser: Any, release: Any, told: Any) -> None:
    at = release(folders()[0])
    with (browser.root / at["release"] / "regions.parquet").open("ab") as file:
        file.write(b"x")
    page = browser.get("/release", params=at)
    assert page.status_code == 400
    assert "regions.parquet" in told(page) and "Public." not in told(page)
    (browser.root / at["release"] / "manifest.json").write_text("{}", encoding="utf-8")
    assert browser.get("/release", params=at).status_code == 400
    assert browser.get("/").status_code == 200


def test_a_zip_holds_the_files_of_the_release_alone(browser: Any, release: Any) -> None:
    import io
    import zipfile

    at = release(folders()[0])
    folder = browser.root / at["release"]
    (folder / "secret.txt").write_text("x", encoding="utf-8")
    manifest = json.loads((folder / "manifest.json").read_bytes())
    own = {f"{folder.name}/{name}" for name in ("manifest.json", *manifest["files"])}
    found = browser.get("/release/download", params=at | {"as": "zip"})
    assert set(zipfile.ZipFile(io.BytesIO(found.content)).namelist()) == own
    # a manifest comes from a stranger and can name any file: such a release is not opened
    for name in ("secret.txt", "../people.csv", str(browser.root / "people.csv")):
        lie = manifest | {"files": manifest["files"] | {name: "0" * 64}}
        (folder / "manifest.json").write_text(json.dumps(lie), encoding="utf-8")
        found = browser.get("/release/download", params=at | {"as": "zip"})
        assert not zipfile.is_zipfile(io.BytesIO(found.content)) and "lists other" in found.text


def test_synthetic_rows_look_as_in_their_file(browser: Any, told: Any) -> None:
    made = hr.publish(
        browser.root / "people.csv", hr.Schema.load(browser.root / "clinic.yaml"), epsilon=1, seed=1
    )
    made.save(browser.root / "release")
    words = told(browser.get("/release/rows", params={"release": "release"}))
    shown = words.partition("A few of them")[2].partition("All of them")[0].split()
    assert "true" in shown and "True" not in shown and "False" not in shown
    file = browser.get("/release/download", params={"release": "release", "as": "rows"})
    assert "true" in file.text and "True" not in file.text
    page = told(browser.get("/release/table", params={"release": "release"}))
    assert "Only where, such as: age in [" in page


def test_a_release_is_verified_once_until_a_file_of_it_changes(
    browser: Any, release: Any, told: Any, monkeypatch: Any
) -> None:
    from hedgerow.present import report

    read: list[Path] = []
    opens = report.open_and_verify
    monkeypatch.setattr(report, "open_and_verify", lambda one: read.append(one) or opens(one))
    at = release("marginals-tuned-1")
    folder = browser.root / at["release"]
    for page in ("", "", "/table", "/report", "/dossier"):
        assert browser.get(f"/release{page}", params=at).status_code == 200
    assert len(read) == 1
    table = next(folder.glob("tables/*.csv"))
    kept, times = table.read_bytes(), (table.stat().st_atime, table.stat().st_mtime)
    table.write_bytes(kept.replace(b"1", b"2", 1))
    os.utime(table, times)  # as large and as old as before
    changed = browser.get("/release", params=at)
    assert changed.status_code == 400 and "its hash differs" in told(changed)
    table.write_bytes(kept)
    assert browser.get("/release", params=at).status_code == 200 and len(read) == 2
    (folder / "more").symlink_to(browser.root, target_is_directory=True)
    browser.get("/release", params=at)
    assert len(read) == 3


def test_reports_lead_back_to_the_studio(browser: Any, release: Any) -> None:
    at = release(folders()[0])
    for page in ("report", "dossier"):
        text = browser.get(f"/release/{page}", params=at).text
        assert f'<a href="/release?release={at["release"]}">Back to the studio</a>' in text
        download = browser.get("/release/download", params=at | {"as": page}).text
        assert "Back to the studio" not in download


@pytest.mark.slow
def test_a_release_is_held_against_the_raw_data(browser: Any, told: Any) -> None:
    schema = hr.Schema.load(browser.root / "clinic.yaml")
    hr.publish(browser.root / "people.csv", schema, epsilon=1).save(browser.root / "out")
    at = {"release": "out", "data": "people.csv"}
    first = browser.get("/release/evaluate", params=at)
    assert 'value="not-private-out"' in first.text
    assert "hedgerow evaluate people.csv out --out not-private-out.json" in told(first)
    page = browser.finish(browser.post("/release/evaluate", at | {"out": "held", "quick": "yes"}))
    words = told(page)
    assert page.url.path == "/release/evaluate" and "NOT PRIVATE: computed from the raw" in words
    for heading in ("Values", "Tables", "Counts", "Predictions"):
        assert f">{heading}</h2>" in page.text
    assert "hedgerow evaluate people.csv out --out held.json --quick" in words
    kept = browser.root / "held.json"
    assert kept.stat().st_mode & 0o777 == 0o600 and not json.loads(kept.read_text())["private"]
    again = browser.post("/release/evaluate", at | {"out": "held"})  # it is there already
    assert again.status_code == 400 and 'value="held"' in again.text
