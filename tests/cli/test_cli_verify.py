from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import hedgerow

Hedge = Callable[..., Any]


def test_a_sound_release(hedge: Hedge, published: Path) -> None:
    done = hedge("verify", published)
    assert done.exit_code == 0, done.stdout + done.stderr
    assert "Verified: epsilon = 1, as stated.\n" in done.stdout
    assert "Nobody can tell from a release alone:\n  - who made it:" in done.stdout
    assert "Recomputed" not in done.stdout
    assert "Nobody can tell" in done.stdout


def test_json(hedge: Hedge, published: Path) -> None:
    facts = json.loads(hedge("verify", published, "--json").stdout)
    assert facts["ok"] is True and facts["epsilon"] == "1" and facts["delta"] == "0"
    assert all(check["ok"] for check in facts["checks"])


def test_a_release_that_was_tampered_with(hedge: Hedge, published: Path, tmp_path: Path) -> None:
    copy = shutil.copytree(published, tmp_path / "copy")
    manifest = json.loads((copy / "manifest.json").read_text(encoding="utf-8"))
    manifest["guarantee"]["epsilon"] = "1/10"
    (copy / "manifest.json").write_text(json.dumps(manifest), encoding="utf-8")
    done = hedge("verify", copy)
    assert done.exit_code == 6 and "guarantee" in done.stderr and "NO" in done.stdout
    done = hedge("verify", copy, "--json")
    assert done.exit_code == 6 and json.loads(done.stdout)["ok"] is False


def test_a_file_that_was_changed(hedge: Hedge, published: Path, tmp_path: Path) -> None:
    copy = shutil.copytree(published, tmp_path / "copy")
    with (copy / "table.csv").open("a", encoding="utf-8") as table:
        table.write("9,9\n")
    assert hedge("verify", copy).exit_code == 6


@pytest.mark.parametrize("method", [hedgerow.DiffMulti, hedgerow.DiffGen, hedgerow.CDiffGen])
@pytest.mark.parametrize("delta", ["0", "1e-9"])
def test_releases_of_every_method_are_verified(
    hedge: Hedge, survey: Path, tmp_path: Path, method: Any, delta: str
) -> None:
    schema = hedgerow.Schema.load(survey / "schema.yaml")
    release = hedgerow.publish(survey / "people.csv", schema, method(), epsilon=1, delta=delta)
    release.save(tmp_path / "r")
    done = hedge("verify", tmp_path / "r")
    assert done.exit_code == 0, done.stdout


def test_other_files_are_named(hedge: Hedge, published: Path, tmp_path: Path) -> None:
    shutil.copytree(published, tmp_path / "r")
    (tmp_path / "r" / "people.csv").touch()
    done = hedge("verify", tmp_path / "r")
    assert done.exit_code == 6 and "other files" in done.stderr and "people.csv" in done.stdout


def test_a_stray_file_is_to_be_removed(hedge, published, tmp_path) -> None:
    import shutil

    shutil.copytree(published, tmp_path / "copy")
    (tmp_path / "copy" / "notes.txt").write_text("ours")
    done = hedge("verify", tmp_path / "copy")
    assert done.exit_code == 6 and "Remove the files" in done.stderr
