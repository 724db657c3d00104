from __future__ import annotations

import json
import shutil
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import yaml

Hedge = Callable[..., Any]


def test_a_page_and_markdown(hedge: Hedge, published: Path, tmp_path: Path) -> None:
    for name, begins in (("d.html", "<!DOCTYPE html>"), ("d.md", "# ")):
        out = tmp_path / name
        done = hedge("dossier", published, "--out", out)
        assert done.exit_code == 0, done.stderr
        text = out.read_text(encoding="utf-8")
        assert text.startswith(begins) and "Signature" in text and "epsilon" in text
        assert str(published) not in text
    assert hedge("dossier", published, "--out", out).exit_code == 6


def test_the_ledger_knows_total_and_date(hedge: Hedge, survey: Path, tmp_path: Path) -> None:
    ledger, release = tmp_path / "clinic.ledger", tmp_path / "release"
    assert hedge("ledger", ledger, "--open", "clinic", "--epsilon", 3).exit_code == 0
    done = hedge(
        "publish", survey / "people.csv", "--schema", survey / "schema.yaml", "--epsilon", 1,
        "--out", release, "--ledger", ledger, "--dataset", "clinic",
    )  # fmt: skip
    assert done.exit_code == 0, done.stderr
    out, record = tmp_path / "d.md", tmp_path / "r.yaml"
    done = hedge("dossier", release, "--ledger", ledger, "--out", out, "--record", record, "--json")
    assert done.exit_code == 0, done.stderr
    facts = json.loads(done.stdout)
    assert "deployment.basic.data_product_region" in facts["to_complete"]
    assert facts["warnings"] == []
    text = out.read_text(encoding="utf-8")
    assert "This release has the number 1 in it" in text and "| epsilon | 1 | 2 | 3 |" in text
    made = yaml.safe_load(record.read_text(encoding="utf-8"))
    assert "within a total" in made["deployment"]["deployment_model"]["release_type_details"]
    manifest = release / "manifest.json"
    manifest.write_text(manifest.read_text("utf-8") + "\n", "utf-8")  # the id stays, the hash not
    done = hedge("dossier", release, "--ledger", ledger, "--out", out, "--overwrite")
    assert done.exit_code == 0 and "another release by its hash" in " ".join(done.stderr.split())
    assert "This release is not in it" in out.read_text(encoding="utf-8")


def test_a_ledger_without_the_release(hedge: Hedge, published: Path, tmp_path: Path) -> None:
    ledger = tmp_path / "x.ledger"
    hedge("ledger", ledger, "--open", "clinic", "--epsilon", 3)
    done = hedge("dossier", published, "--ledger", ledger, "--out", tmp_path / "d.md")
    assert done.exit_code == 2 and "--dataset" in done.stderr
    words = ("dossier", published, "--ledger", ledger, "--dataset", "clinic")
    done = hedge(*words, "--out", tmp_path / "d.md")
    assert done.exit_code == 0 and "not booked" in done.stderr


@pytest.mark.parametrize(
    "more, words",
    [
        (["--out", "x.pdf"], ".html or .md"),
        (["--record", "x.json"], ".yaml"),
        (["--catalog", "x.json"], ".zip"),
        (["--catalog", "x.zip", "--url", "clinic"], "web address"),
        (["--record", "x.yaml"], "--published"),
    ],
)
def test_mistakes(hedge: Hedge, published: Path, more: list[str], words: str) -> None:
    done = hedge("dossier", published, *more)
    assert done.exit_code == 2 and words in done.stderr


def test_without_a_name_it_is_written_beside_the_release(
    hedge: Hedge, published: Path, tmp_path: Path
) -> None:
    release, out = tmp_path / "release", tmp_path / "dossier.html"
    shutil.copytree(published, release)
    done = hedge("dossier", release)
    assert done.exit_code == 0 and out.exists() and "dossier.html" in done.stdout, done.stderr
    assert hedge("dossier", release).exit_code == 6  # it is there already
    assert hedge("verify", release).exit_code == 0


def test_releases_that_fail_their_checks(hedge: Hedge, published: Path, tmp_path: Path) -> None:
    release, out = tmp_path / "release", tmp_path / "d.md"
    shutil.copytree(published, release)
    (release / "more.txt").touch()
    done = hedge("dossier", release, "--out", out)
    assert done.exit_code == 1 and "DO NOT RELY" in out.read_text(encoding="utf-8")
    (release / "more.txt").unlink()
    out.unlink()
    with (release / "table.csv").open("a", encoding="utf-8") as file:
        file.write("\n")
    assert hedge("dossier", release, "--out", out).exit_code == 6 and not out.exists()


def test_nothing_is_written_into_a_release(hedge: Hedge, published: Path) -> None:
    done = hedge("dossier", published, "--out", published / "d.html")
    assert done.exit_code == 2


def test_a_name_without_an_ending(hedge: Hedge, tmp_path: Path) -> None:
    golden = Path(__file__).parents[1] / "golden" / "diffmulti-tuned-1"
    done = hedge("dossier", golden, "--out", tmp_path / "dos")
    assert done.exit_code == 2 and "has no ending" in done.stderr and "dos.html" in done.stderr
    hedge("dossier", golden, "--out", tmp_path / "dos.md")
    assert "`" not in (tmp_path / "dos.md").read_text(encoding="utf-8")


def test_an_archive_for_portals(hedge: Hedge, published: Path, tmp_path: Path) -> None:
    out = tmp_path / "catalog.zip"
    done = hedge("dossier", published, "--catalog", out, "--json")
    assert done.exit_code == 0, done.stderr
    facts = json.loads(done.stdout)
    assert facts["catalog"] == str(out) and "--url" in facts["unsaid"]
    assert facts["dossier"] is None and not (published.parent / "dossier.html").exists()
    with zipfile.ZipFile(out) as archive:
        names = set(archive.namelist())
    assert {"datapackage.json", "croissant.json", "dcat.jsonld", "values.csv"} < names
    assert hedge("dossier", published, "--catalog", out).exit_code == 6
    assert hedge("dossier", published, "--catalog", published / "c.zip").exit_code == 2
